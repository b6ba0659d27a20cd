"""Displays of columns: the target over the values of one, and the associations of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from foresift.report.column_view import Pictures, pictures_of
from foresift.report.plots.display import ACCENT, GREY, INK, TINT, Display, label, pyplot

__all__ = ["AssociationDisplay", "ColumnDisplay", "plot_columns"]

COLOURS = [ACCENT, "#b8791a", "#4a6fb0", "#b0506a", "#7a6a9e", "#868f8a"]


class ColumnDisplay(Display):
    """The target over the values of a column: shares of classes, or means and quartiles of a quantity.

    Parameters
    ----------
    name : str
        Name of the column.
    labels : sequence of str
        Ranges or categories of the column.
    targets : array-like of shape (n_parts, n_numbers)
        The target in each of them: shares of the classes, or mean, lower and upper quartile.
    overall : sequence of float
        The same of all rows.
    classes : sequence of str, default=()
        The classes; none for a quantity.
    target : str, default="target"
        Name of the target.
    words : str, default=""
        What the picture shows, in a sentence.

    Examples
    --------
    >>> from foresift.plots import ColumnDisplay
    >>> display = ColumnDisplay("age", ["18 to 30", "31 to 70"], [[0.2, 0.8], [0.6, 0.4]], [0.4, 0.6],
    ...                         classes=["yes", "no"]).plot()
    >>> display.ax_.get_xlabel(), [text.get_text() for text in display.ax_.get_yticklabels()]
    ('share of yes', ['18 to 30', '31 to 70'])
    """

    def __init__(
        self,
        name: str,
        labels: Sequence[str],
        targets: ArrayLike,
        overall: Sequence[float],
        *,
        classes: Sequence[str] = (),
        target: str = "target",
        words: str = "",
    ) -> None:
        self.name, self.labels, self.overall = name, list(labels), list(overall)
        self.targets = np.asarray(targets, dtype=np.float64)
        self.classes, self.target, self.words = list(classes), target, words

    @classmethod
    def from_selection(cls, d: Mapping[str, Any], name: str, *, ax: Any = None) -> ColumnDisplay:
        """Draw a column of a selection.

        Parameters
        ----------
        d : dict
            What `Selection.to_dict()` returns.
        name : str
            Name of the column.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.
        """
        return cls._of(_pictures(d), _rows(d), name).plot(ax=ax)

    @classmethod
    def _of(cls, pictures: Pictures, rows: Mapping[str, Any], name: str) -> ColumnDisplay:
        if name not in rows:
            raise ValueError(f"There is no column {name!r}; the first ones are {', '.join(list(rows)[:5])}.")
        drawn = pictures.draw(name, rows[name].get("relevant"))
        if drawn is None:
            raise ValueError(f"There is no profile of {name!r}: only the kept and the best columns have one.")
        targets = [part["target"] for part in pictures.profiles["columns"][name]["parts"]]
        labels = [row["label"] for row in drawn["rows"]]
        about: dict[str, Any] = {"classes": pictures.classes, "target": pictures.target}
        return cls(name, labels, targets, pictures.overall, **about, words=drawn["words"])

    def _size(self) -> tuple[float, float]:
        return 4.8, 1.2 + 0.28 * max(len(self.labels), 3)

    def _draw(self, ax: Any) -> None:
        at = np.arange(len(self.labels))
        if not self.classes:
            mean, low, high = self.targets.T
            ax.hlines(at, low, high, color=TINT, linewidth=7)
            ax.plot(mean, at, "o", color=ACCENT, markersize=6)
        elif len(self.classes) == 2:
            ax.barh(at, self.targets[:, 0], height=0.62, color=ACCENT, alpha=0.8)
            ax.set_xlim(left=0)
        else:
            ends = np.cumsum(self.targets, axis=1)
            for k, (name, colour) in enumerate(zip(self.classes, COLOURS, strict=False)):
                begin = ends[:, k - 1] if k else 0.0
                ax.barh(at, self.targets[:, k], left=begin, height=0.62, color=colour, label=label(name))
            ax.legend(fontsize="x-small", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        if len(self.classes) <= 2:
            ax.axvline(self.overall[0], color=INK, linestyle=(0, (2, 1.2)), linewidth=1.2)
        ax.set_yticks(at, [label(text) for text in self.labels])
        ax.set_ylim(len(at) - 0.4, -0.6)
        shown = f"share of {label(self.classes[0])}" if len(self.classes) == 2 else "share of each class"
        ax.set(
            title=label(self.name), xlabel=shown if self.classes else f"{label(self.target)}: mean, quartiles"
        )


class AssociationDisplay(Display):
    """Associations of columns as a heat map, from 0 to 1.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    values : array-like of shape (n, n)
        Their associations; NaN where unknown.

    Examples
    --------
    >>> from foresift.plots import AssociationDisplay
    >>> display = AssociationDisplay(["age", "born"], [[1, 0.98], [0.98, 1]]).plot()
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['age', 'born']
    """

    def __init__(self, names: Sequence[str], values: ArrayLike) -> None:
        self.names, self.values = list(names), np.asarray(values, dtype=np.float64)

    @classmethod
    def from_selection(cls, d: Mapping[str, Any], *, ax: Any = None) -> AssociationDisplay:
        """Draw the associations of the kept and the redundant columns of a selection.

        Parameters
        ----------
        d : dict
            What `Selection.to_dict()` returns.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.
        """
        found = d.get("associations")
        if not found:
            raise ValueError(
                "This selection has no associations: fewer than two columns are kept or redundant."
            )
        return cls(found["names"], found["values"]).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        side = 1.6 + 0.34 * max(len(self.names), 3)
        return side + 0.8, side

    def _draw(self, ax: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        n = len(self.names)
        colours = LinearSegmentedColormap.from_list("association", ["#ffffff", ACCENT])
        shown = ax.imshow(self.values, vmin=0, vmax=1, cmap=colours.with_extremes(bad=GREY))
        names = [label(name) for name in self.names]
        ax.set_yticks(np.arange(n), names)
        ax.set_xticks(np.arange(n), names, rotation=60, ha="right", rotation_mode="anchor")
        ax.figure.colorbar(shown, ax=ax, shrink=0.7, label="association")


def plot_columns(
    d: Mapping[str, Any], columns: Sequence[str] | None = None, *, max_columns: int = 6, width: int = 2
) -> list[ColumnDisplay]:
    """Draw several columns of a selection in one figure.

    Parameters
    ----------
    d : dict
        What `Selection.to_dict()` returns.
    columns : sequence of str, default=None
        Names of columns; None takes the kept ones, best first.
    max_columns : int, default=6
        How many of the kept ones.
    width : int, default=2
        Pictures beside each other.

    Returns
    -------
    list of ColumnDisplay
        One display for each column; they share `figure_`.
    """
    rows, pictures = _rows(d), _pictures(d)
    if columns is None:
        columns = [name for name, row in rows.items() if row.get("kept")][:max_columns]
    if not len(columns):
        raise ValueError("No column was kept: name the columns to draw.")
    displays = [ColumnDisplay._of(pictures, rows, str(name)) for name in columns]
    width = max(1, min(width, len(displays)))
    lines = [displays[i : i + width] for i in range(0, len(displays), width)]
    heights = [max(one._size()[1] for one in line) for line in lines]
    size = (4.8 * width, sum(heights))
    grid = {"height_ratios": heights}
    figure, axes = pyplot().subplots(
        len(lines), width, figsize=size, layout="constrained", squeeze=False, gridspec_kw=grid
    )
    for ax, display in zip(axes.ravel(), displays, strict=False):
        display.plot(ax=ax)
    for ax in axes.ravel()[len(displays) :]:
        figure.delaxes(ax)
    return displays


def _rows(d: Mapping[str, Any]) -> dict[str, Any]:
    return {row["name"]: row for row in d["features"]}


def _pictures(d: Mapping[str, Any]) -> Pictures:
    found = pictures_of(dict(d), (d.get("data") or {}).get("target"))
    if found is None:
        raise ValueError(
            "This selection has no profiles of columns: an earlier version made it. Run select again."
        )
    return found
