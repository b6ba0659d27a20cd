"""Displays of one selection: its scores, its curve over sizes, its redundant groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresift.report.numbers import unknown
from foresift.report.plots.display import ACCENT, GREY, INK, TINT, Display, label, numbers
from foresift.report.plots.size_curve import known_points
from foresift.report.unit_view import COLUMNS

__all__ = [
    "CurveDisplay",
    "RankingDisplay",
    "RedundancyDisplay",
    "plot_curve",
    "plot_ranking",
    "plot_redundancy",
]


def _or_nan(values: ArrayLike | None, n: int) -> NDArray[np.float64]:
    return np.full(n, np.nan) if values is None else np.asarray(values, dtype=np.float64)


class RankingDisplay(Display):
    """Scores of features with their intervals and the scores expected by chance.

    Parameters
    ----------
    names : sequence of str
        Names of the features, best first.
    scores : array-like of shape (n,)
        Scores of the features; NaN where unknown, here and below.
    low, high : array-like of shape (n,), default=None
        Intervals of the scores.
    chance : array-like of shape (n,), default=None
        The score of an irrelevant feature.
    kept : array-like of bool of shape (n,), default=None
        Features to highlight.

    Examples
    --------
    >>> from foresift.plots import RankingDisplay
    >>> display = RankingDisplay(["age", "noise"], [0.4, 0.1], chance=[0.1, 0.1], kept=[True, False]).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['age', 'noise']
    """

    def __init__(
        self,
        names: Sequence[Any],
        scores: ArrayLike,
        *,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        chance: ArrayLike | None = None,
        kept: ArrayLike | None = None,
    ) -> None:
        self.names = list(names)
        self.scores = np.asarray(scores, dtype=np.float64)
        self.low, self.high, self.chance = (_or_nan(values, len(names)) for values in (low, high, chance))
        self.kept = np.zeros(len(names), dtype=bool) if kept is None else np.asarray(kept, dtype=bool)

    @classmethod
    def from_selection(
        cls, d: Mapping[str, Any], *, max_features: int = 30, ax: Any = None
    ) -> RankingDisplay:
        """Draw the best features of a selection.

        Parameters
        ----------
        d : dict
            What `Selection.to_dict()` returns.
        max_features : int, default=30
            The largest number of features shown.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.
        """
        rows = sorted(d["features"], key=lambda row: np.inf if unknown(row.get("rank")) else row["rank"])
        rows = rows[:max_features]
        known = {key: numbers(rows, key) for key in ("low", "high", "chance")}
        kept = [bool(row.get("kept")) for row in rows]
        display = cls([row["name"] for row in rows], numbers(rows, "score"), kept=kept, **known)
        return display.plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 6.4, 1.2 + 0.26 * max(len(self.names), 3)

    def _draw(self, ax: Any) -> None:
        n = len(self.names)
        at = np.arange(n)
        ax.barh(at, self.scores, height=0.6, color=np.where(self.kept, ACCENT, GREY), alpha=0.8)
        ax.hlines(at, self.low, self.high, color=INK, linewidth=1.4)
        ax.vlines(self.chance, at - 0.42, at + 0.42, color=INK, linestyle=(0, (2, 1.2)), linewidth=1.4)
        ax.set_yticks(at, [label(name) for name in self.names])
        ax.set_ylim(n - 0.4, -0.6)
        ax.set_xlabel("score" if np.isnan(self.chance).all() else "score, and (dashed) its mean by chance")


class CurveDisplay(Display):
    """Score of a model over the number of its features.

    Parameters
    ----------
    sizes : array-like of shape (n,)
        Numbers of features.
    scores : array-like of shape (n,)
        Scores of the model with these numbers of features.
    low, high : array-like of shape (n,), default=None
        Intervals of the scores.
    chosen : int, default=None
        The size to mark.
    metric : str, default="score"
        Name of the scores.
    counts : str, default="columns"
        What the sizes are numbers of.

    Examples
    --------
    >>> from foresift.plots import CurveDisplay
    >>> display = CurveDisplay([1, 2, 3], [0.7, 0.8, 0.8], chosen=2, metric="accuracy").plot()
    >>> display.ax_.get_ylabel()
    'accuracy'
    """

    def __init__(
        self,
        sizes: ArrayLike,
        scores: ArrayLike,
        *,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        chosen: int | None = None,
        metric: str | None = "score",
        counts: str | None = COLUMNS,
    ) -> None:
        self.sizes, self.scores = np.asarray(sizes), np.asarray(scores, dtype=np.float64)
        self.low, self.high = (_or_nan(values, len(self.sizes)) for values in (low, high))
        self.chosen, self.metric, self.counts = chosen, metric or "score", counts or COLUMNS

    @classmethod
    def from_selection(cls, d: Mapping[str, Any], *, ax: Any = None) -> CurveDisplay:
        """Draw the curve of a selection.

        Parameters
        ----------
        d : dict
            What `Selection.to_dict()` returns.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.
        """
        curve = d.get("curve") or {}
        points = known_points(curve.get("points"))
        if not points:
            raise ValueError("This selection has no curve: no sizes were compared when it was made.")
        known: dict[str, Any] = {key: numbers(points, key) for key in ("low", "high")}
        options = {key: curve.get(key) for key in ("chosen", "metric", "counts")}
        return cls([p["n"] for p in points], numbers(points, "score"), **known, **options).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        ax.fill_between(self.sizes, self.low, self.high, color=TINT)
        ax.plot(self.sizes, self.scores, color=ACCENT, marker="o", markersize=4.5, markerfacecolor="white")
        if self.chosen is not None:
            ax.axvline(self.chosen, color=GREY, linestyle=":", linewidth=1.2)
            at = self.sizes == self.chosen
            ax.plot(self.sizes[at], self.scores[at], color=ACCENT, marker="o", markersize=9, linestyle="none")
        if self.sizes.min() > 0 and self.sizes.max() > 20 * self.sizes.min():
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter("{x:g}")
        ax.set(xlabel=f"number of {self.counts}", ylabel=self.metric.replace("_", " "))


class RedundancyDisplay(Display):
    """Groups of redundant features: the best of each, and below it those that are redundant with it.

    Parameters
    ----------
    names : sequence of str
        Names of the features.
    scores : array-like of shape (n,)
        Scores of the features.
    leaders : sequence of str or None
        For every feature the better one it is redundant with, or None.

    Attributes
    ----------
    groups : list of list of int
        Indices of the features of each group, its best first.

    Examples
    --------
    >>> from foresift.plots import RedundancyDisplay
    >>> display = RedundancyDisplay(["age", "income", "born"], [5, 4, 3], [None, None, "age"]).plot()
    >>> display.groups, [label.get_text() for label in display.ax_.get_yticklabels()]
    ([[0, 2]], ['age', 'born'])
    """

    def __init__(self, names: Sequence[Any], scores: ArrayLike, leaders: Sequence[Any]) -> None:
        self.names, self.scores = list(names), np.asarray(scores, dtype=np.float64)
        place = {name: i for i, name in enumerate(self.names)}
        members: dict[int, list[int]] = {}
        for i, leader in enumerate(leaders):
            if leader is not None and leader in place:
                members.setdefault(place[leader], []).append(i)
        self.groups = [[leader, *members[leader]] for leader in sorted(members)]

    @classmethod
    def from_selection(cls, d: Mapping[str, Any], *, ax: Any = None) -> RedundancyDisplay:
        """Draw the groups of a selection.

        Parameters
        ----------
        d : dict
            What `Selection.to_dict()` returns.
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.
        """
        rows = d["features"]
        leaders = [row.get("redundant_with") for row in rows]
        return cls([row["name"] for row in rows], numbers(rows, "score"), leaders).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 6.4, 1.2 + 0.3 * max(sum(map(len, self.groups)), 3)

    def _draw(self, ax: Any) -> None:
        order = [i for group in self.groups for i in group]
        at = 0
        for group in self.groups:
            scores = self.scores[group]
            for offset in range(1, len(group)):  # an elbow from the best to each of the others
                ax.plot(scores[[0, 0, offset]], [at, at + offset, at + offset], color=GREY, linewidth=1.2)
            ax.plot(scores[1:], at + np.arange(1, len(group)), "o", color=GREY, markersize=6)
            ax.plot(scores[0], at, "o", color=ACCENT, markersize=9)
            at += len(group)
        ax.set_yticks(np.arange(len(order)), [label(self.names[i]) for i in order])
        ax.set_ylim(len(order) - 0.4, -0.6)
        ax.set_xlabel("score; each group below its best" if order else "no feature is redundant")


def plot_ranking(d: Mapping[str, Any], **options: Any) -> RankingDisplay:
    """Draw the ranking of a selection; see `RankingDisplay.from_selection`."""
    return RankingDisplay.from_selection(d, **options)


def plot_curve(d: Mapping[str, Any], **options: Any) -> CurveDisplay:
    """Draw the score over the number of features; see `CurveDisplay.from_selection`."""
    return CurveDisplay.from_selection(d, **options)


def plot_redundancy(d: Mapping[str, Any], **options: Any) -> RedundancyDisplay:
    """Draw which features are redundant; see `RedundancyDisplay.from_selection`."""
    return RedundancyDisplay.from_selection(d, **options)
