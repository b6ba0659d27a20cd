"""Displays of many selections, trees or data sets: stability, convergence, critical differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from foresift.report.plots.display import ACCENT, GREY, INK, Display, label
from foresift.report.plots.rank_diagram import rank_diagram

__all__ = ["ConvergenceDisplay", "CriticalDifferenceDisplay", "StabilityDisplay"]


class StabilityDisplay(Display):
    """Heat map of how often features are selected.

    Parameters
    ----------
    rows : sequence of str
        Names of the subsamples, splits or methods that selected.
    names : sequence of str
        Names of the features.
    shares : array-like of shape (n_rows, n_features)
        How often each row selected each feature: True and False, or shares from 0 to 1.

    Examples
    --------
    >>> from foresift.plots import StabilityDisplay
    >>> selections = [[0, 1, 0], [1, 1, 0]]
    >>> display = StabilityDisplay.from_selections(selections, ["age", "income", "noise"])
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]  # none for features never selected
    ['income', 'age']
    """

    def __init__(self, rows: Sequence[Any], names: Sequence[Any], shares: ArrayLike) -> None:
        self.rows, self.names = list(rows), list(names)
        self.shares = np.asarray(shares, dtype=np.float64)
        if self.shares.shape != (len(self.rows), len(self.names)):
            raise ValueError(
                f"shares has shape {self.shares.shape}, but there are {len(self.rows)} rows and "
                f"{len(self.names)} features."
            )

    @classmethod
    def from_selections(
        cls,
        selections: ArrayLike,
        names: Sequence[Any] | None = None,
        *,
        max_features: int = 40,
        ax: Any = None,
    ) -> StabilityDisplay:
        """Draw selections made on different samples of the rows.

        Parameters
        ----------
        selections : array-like of bool of shape (n_selections, n_features)
            Which features each selection kept.
        names : sequence of str, default=None
            Names of the features; None numbers them.
        max_features : int, default=40
            The largest number of features shown: those selected most often.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.
        """
        shares = np.asarray(selections, dtype=np.float64)
        names = [f"x{j}" for j in range(shares.shape[1])] if names is None else list(names)
        often = shares.mean(axis=0)
        order = [int(j) for j in np.argsort(-often, kind="stable")[:max_features] if often[j] > 0]
        rows = [f"{i}" for i in range(1, len(shares) + 1)]
        return cls(rows, [names[j] for j in order], shares[:, order]).plot(ax=ax)

    @classmethod
    def from_comparison(
        cls, d: Mapping[str, Any], size: Any = None, *, max_features: int = 40, ax: Any = None
    ) -> StabilityDisplay:
        """Draw how often the methods of a comparison select each feature.

        Parameters
        ----------
        d : dict
            What `Comparison.to_dict()` returns.
        size : int or "own", default=None
            Number of selected features; None takes the first size of each method.
        max_features : int, default=40
            The largest number of features shown: those selected most often.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.
        """
        chosen = {
            method: sizes[str(size)] if size is not None else next(iter(sizes.values()))
            for method, sizes in (d.get("selected") or {}).items()
            if (size is None and sizes) or str(size) in sizes
        }
        if not chosen:
            raise ValueError(f"No method of this comparison selected features of size {size}.")
        totals: dict[Any, float] = {}
        for shares in chosen.values():
            for name, share in shares.items():
                totals[name] = totals.get(name, 0.0) + share
        names = sorted(totals, key=lambda name: -totals[name])[:max_features]
        table = [[shares.get(name, 0.0) for name in names] for shares in chosen.values()]
        return cls(list(chosen), names, table).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        n_rows, n_names = self.shares.shape
        longest = max((len(label(name)) for name in self.names), default=0)
        return 2.2 + 0.3 * max(n_names, 6), 0.6 + 0.075 * longest + 0.24 * max(n_rows, 7)

    def _draw(self, ax: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        n_rows, n_names = self.shares.shape
        colours = LinearSegmentedColormap.from_list("foresift", ["#f4f3ef", ACCENT])
        self.image_ = ax.imshow(self.shares, aspect="auto", cmap=colours, vmin=0, vmax=1)
        ax.set_xticks(np.arange(n_names), [label(name) for name in self.names], rotation=90)
        ax.set_yticks(np.arange(n_rows), [label(row) for row in self.rows])
        if not np.isin(self.shares, (0, 1)).all():
            self.figure_.colorbar(self.image_, ax=ax, label="share of the selections", fraction=0.05)


class ConvergenceDisplay(Display):
    """Convergence of a forest's sampling distribution while it grows.

    Parameters
    ----------
    changes : array-like of shape (n_updates,)
        Change of the distribution at every update, from 0 to 1.
    interval_sizes : array-like of shape (n_updates,), default=None
        Mean size of the confidence intervals of the gains after every update.
    update_every : int, default=1
        Trees between two updates.
    step : str, default="trees"
        Label of the horizontal axis.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from foresift import SiftForestClassifier
    >>> from foresift.plots import ConvergenceDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = SiftForestClassifier(20, feature_sampling="confidence", random_state=0).fit(X, y)
    >>> display = ConvergenceDisplay.from_forest(forest)
    >>> display.ax_.get_xlabel(), len(display.changes)
    ('trees', 20)
    """

    def __init__(
        self,
        changes: ArrayLike,
        *,
        interval_sizes: ArrayLike | None = None,
        update_every: int = 1,
        step: str = "trees",
    ) -> None:
        self.changes = np.asarray(changes, dtype=np.float64)
        self.interval_sizes = None if interval_sizes is None else np.asarray(interval_sizes, dtype=np.float64)
        self.update_every, self.step = update_every, step

    @classmethod
    def from_forest(cls, forest: Any, *, ax: Any = None) -> ConvergenceDisplay:
        """Draw the history of a fitted estimator that learns a sampling distribution.

        Parameters
        ----------
        forest : SiftForestClassifier or FeatureBoostingSelector
            Fitted; a forest needs a `feature_sampling` that learns.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.
        """
        if "change" in getattr(forest, "history_", ()):  # of each iteration
            return cls(np.abs(forest.history_["change"]), step="iterations").plot(ax=ax)
        changes = getattr(forest, "weight_changes_", None)
        if changes is None:
            raise ValueError(
                f"This {type(forest).__name__} has not learned a sampling distribution: fit a forest with "
                'feature_sampling="confidence", "two-stage+confidence" or "soft", or take feature-boosting.'
            )
        sizes = getattr(forest, "mean_interval_sizes_", None)
        return cls(changes, interval_sizes=sizes, update_every=forest.update_every).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        trees = self.update_every * np.arange(1, len(self.changes) + 1)
        ax.plot(trees, self.changes, color=ACCENT, label="change of the distribution")
        ax.set(xlabel=self.step, ylabel="change of the distribution", ylim=(0, None))
        if self.interval_sizes is not None:
            beside = ax.twinx()
            beside.plot(trees, self.interval_sizes, color=GREY, linestyle="--")
            known = self.interval_sizes[np.isfinite(self.interval_sizes)]
            if known.any():  # the first intervals may be huge
                beside.set_ylim(0, 3 * np.median(known))
            beside.set_ylabel("mean size of the intervals (dashed)", color=INK)
            beside.spines["top"].set_visible(False)


class CriticalDifferenceDisplay(Display):
    """Mean ranks of methods over data sets; bars join those that do not differ significantly (Demsar 2006).

    Parameters
    ----------
    methods : sequence of str
        Names.
    mean_ranks : array-like of shape (n_methods,)
        1 is best.
    critical_difference : float
        The smallest significant difference of mean ranks, from `foresift.stats.critical_difference`.

    Attributes
    ----------
    groups : list of (int, int)
        First and last method, in the order of the ranks, of each group without significant differences.

    Examples
    --------
    >>> from foresift.plots import CriticalDifferenceDisplay
    >>> CriticalDifferenceDisplay(["a", "b", "c"], [1.2, 1.9, 2.9], 0.9).plot().groups
    [(0, 1)]
    """

    def __init__(self, methods: Sequence[Any], mean_ranks: ArrayLike, critical_difference: float) -> None:
        self.methods, self.critical_difference = list(methods), float(critical_difference)
        self.mean_ranks = np.asarray(mean_ranks, dtype=np.float64)
        self._drawing = rank_diagram(
            {
                "methods": self.methods,
                "mean_ranks": self.mean_ranks.tolist(),
                "critical_difference": self.critical_difference,
            }
        )
        self.groups = self._drawing["groups"]

    @classmethod
    def from_comparison(cls, d: Mapping[str, Any], *, ax: Any = None) -> CriticalDifferenceDisplay:
        """Draw the ranks of a comparison of several data sets.

        Parameters
        ----------
        d : dict
            What `Comparison.to_dict()` returns, with `ranks`.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.
        """
        ranks = d.get("ranks")
        if not ranks:
            raise ValueError("This comparison has no ranks: they need several data sets.")
        return cls(ranks["methods"], ranks["mean_ranks"], ranks["critical_difference"]).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return self._drawing["width"] / 100, self._drawing["height"] / 100 + 0.2

    def _draw(self, ax: Any) -> None:
        paper = self._drawing
        ax.set(xlim=(0, paper["width"]), ylim=(paper["height"], 0))  # y points down, as in SVG
        ax.set_axis_off()
        axis = paper["axis"]
        ax.plot([paper["left"], paper["right"]], [axis, axis], color=INK, linewidth=1)
        for x, text in paper["ticks"]:
            ax.plot([x, x], [axis - 5, axis], color=INK, linewidth=1)
            ax.text(x, axis - 9, text, ha="center", fontsize=8)
        for line in paper["methods"]:
            ax.plot(
                [line["x"], line["x"], line["end"]], [axis, line["y"], line["y"]], color=GREY, linewidth=1
            )
            side, shift = ("right", -5) if line["left"] else ("left", 5)
            text = f"{label(line['name'])} {line['rank']}"
            ax.text(line["end"] + shift, line["y"], text, ha=side, va="center", fontsize=9)
        for begin, end, y in paper["bars"]:
            ax.plot([begin, end], [y, y], color=ACCENT, linewidth=4, solid_capstyle="round")
        ax.plot(paper["ruler"], [24, 24], color=INK, linewidth=2)
        ax.text(sum(paper["ruler"]) / 2, 18, f"CD {paper['difference']}", ha="center", fontsize=8)
