"""Displays of a comparison: the scores of each method over the number of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresift.errors import renamed
from foresift.report.plots.display import ACCENT, GREY, INK, Display, label, numbers
from foresift.report.plots.pareto import pareto_front
from foresift.report.plots.size_curve import known_points

__all__ = ["MethodCurvesDisplay", "ParetoDisplay"]

# Distinguishable with colour blindness too (Okabe & Ito 2008), our own green first.
COLOURS = ("#17654f", "#d55e00", "#0072b2", "#cc79a7", "#e69f00", "#56b4e9", "#5c5c5c")
MARKERS = "os^Dv*X"


def _family(
    rows: Sequence[Mapping[str, Any]], estimator: str | None, scorer: str | None
) -> list[Mapping[str, Any]]:
    """Rows of one estimator and scorer, by default the first."""
    if len({row.get("dataset") for row in rows}) > 1:
        raise ValueError("This comparison is of several data sets: draw each of them by itself.")
    for what, key, wanted in (("estimator", "classifier", estimator), ("scorer", "scorer", scorer)):
        known = list(dict.fromkeys(row[key] for row in rows))
        if wanted is not None and wanted not in known:
            raise ValueError(f"There is no {what} {wanted!r} in this comparison; it has {known}.")
        rows = [row for row in rows if row[key] == (known[0] if wanted is None else wanted)]
    return list(rows)


class MethodCurvesDisplay(Display):
    """Scores of methods over the number of features that they select.

    Parameters
    ----------
    curves : mapping of str to (sizes, scores, low, high)
        Numbers of features, scores and their intervals of every method; NaN where unknown.
    none : float, default=NaN
        Score without selection, drawn as a level.
    metric : str, default="score"
        Name of the scores.

    Examples
    --------
    >>> from foresift.plots import MethodCurvesDisplay
    >>> nan = [float("nan")] * 2
    >>> curves = {"info-gain": ([2, 5], [0.7, 0.8], nan, nan), "random": ([2, 5], [0.5, 0.6], nan, nan)}
    >>> display = MethodCurvesDisplay(curves, none=0.79, metric="accuracy").plot()
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['info-gain', 'random', 'no selection']
    """

    def __init__(
        self,
        curves: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]],
        *,
        none: float = float("nan"),
        metric: str = "score",
    ) -> None:
        self.curves: dict[str, tuple[NDArray[np.float64], ...]] = {
            name: tuple(np.asarray(part, dtype=np.float64) for part in parts)
            for name, parts in curves.items()
        }
        self.none, self.metric = none, metric

    @classmethod
    def from_comparison(
        cls,
        d: Mapping[str, Any],
        *,
        estimator: str | None = None,
        scorer: str | None = None,
        ax: Any = None,
        classifier: str | None = None,
    ) -> MethodCurvesDisplay:
        """Draw the curves of a comparison, for one estimator and one scorer.

        Parameters
        ----------
        d : dict
            What `Comparison.to_dict()` returns, of one data set.
        estimator, scorer : str, default=None
            Their names; None is the first.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.
        classifier : str, default=None
            The former name of `estimator`.
        """
        estimator = renamed(estimator, classifier, "classifier", "estimator")
        rows = _family(d["rows"], estimator, scorer)
        points: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if row["size"] != "all":
                point = {"n": row["n_features"], "score": row["mean"]}
                point |= {"low": row["lower"], "high": row["upper"]}
                points.setdefault(row["method"], []).append(point)
        curves: dict[str, Any] = {}
        for method, some in points.items():
            if known := known_points(some):
                curves[method] = tuple(numbers(known, key) for key in ("n", "score", "low", "high"))
        if not curves:
            raise ValueError("This comparison has no scores to draw.")
        none = numbers([row for row in rows if row["size"] == "all"], "mean")
        display = cls(curves, none=float(none[0]) if len(none) else np.nan, metric=rows[0]["scorer"])
        return display.plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 7.2, 4.0

    def _draw(self, ax: Any) -> None:
        spread = 0.012 * max(np.ptp(np.concatenate([c[0] for c in self.curves.values()])), 1.0)
        for i, (name, (sizes, scores, low, high)) in enumerate(self.curves.items()):
            style = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
            at = sizes + spread * (i - (len(self.curves) - 1) / 2)  # so that the intervals do not overlap
            ax.vlines(at, low, high, color=style["color"], linewidth=1, alpha=0.6)
            ax.plot(at, scores, label=label(name), linewidth=1.4, markersize=5, **style)
        if not np.isnan(self.none):
            ax.axhline(self.none, color=INK, linestyle=":", linewidth=1.2, label="no selection")
        ax.set(xlabel="number of columns", ylabel=self.metric.replace("_", " "))
        ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))


class ParetoDisplay(Display):
    """Results as points: their number of features and their score; a line joins those that no other beats.

    Parameters
    ----------
    names : sequence of str
        Name of every result.
    sizes, scores : array-like of shape (n_results,)
        Numbers of features, which may be means, and scores.
    metric : str, default="score"
        Name of the scores.

    Attributes
    ----------
    front : list of int
        The results that score higher than all others with as few features, smallest first.

    Examples
    --------
    >>> from foresift.plots import ParetoDisplay
    >>> display = ParetoDisplay(["cfs", "random", "no selection"], [2, 3, 9], [0.8, 0.6, 0.9]).plot()
    >>> display.front
    [0, 2]
    """

    def __init__(
        self, names: Sequence[str], sizes: ArrayLike, scores: ArrayLike, *, metric: str = "score"
    ) -> None:
        self.names = list(names)
        self.sizes, self.scores = (np.asarray(part, dtype=np.float64) for part in (sizes, scores))
        self.metric = metric
        points = [
            {"n": n, "score": score, "at": at}
            for at, (n, score) in enumerate(zip(self.sizes.tolist(), self.scores.tolist(), strict=True))
        ]
        self.front = [point["at"] for point in pareto_front(points)]

    @classmethod
    def from_comparison(
        cls, d: Mapping[str, Any], *, estimator: str | None = None, scorer: str | None = None, ax: Any = None
    ) -> ParetoDisplay:
        """Draw the results of a comparison, for one estimator and one scorer.

        Parameters
        ----------
        d : dict
            What `Comparison.to_dict()` returns, of one data set.
        estimator, scorer : str, default=None
            Their names; None is the first.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.
        """
        rows = [row for row in _family(d["rows"], estimator, scorer) if row["mean"] is not None]
        if not rows:
            raise ValueError("This comparison has no scores to draw.")
        names = ["no selection" if row["size"] == "all" else row["method"] for row in rows]
        display = cls(names, numbers(rows, "n_features"), numbers(rows, "mean"), metric=rows[0]["scorer"])
        return display.plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        ax.scatter(self.sizes, self.scores, s=28, color=GREY, zorder=2)
        ax.plot(
            self.sizes[self.front], self.scores[self.front], color=ACCENT, marker="o", linewidth=1.4, zorder=3
        )
        for at in self.front:
            place = (self.sizes[at], self.scores[at])
            ax.annotate(
                label(self.names[at]), place, (-6, 5), textcoords="offset points", ha="right", fontsize=8
            )
        ax.margins(x=0.15, y=0.12)
        ax.set(xlabel="number of columns", ylabel=self.metric.replace("_", " "))
