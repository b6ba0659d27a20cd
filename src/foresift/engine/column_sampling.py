"""Distributions from which a forest draws candidate columns, fixed or adaptive (Rogers & Gunn 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from foresift.data.plain_state import saved
from foresift.data.target import Target
from foresift.engine.candidate_gains import GainSums, total_gains
from foresift.engine.node_table import NodeTable, complexities

__all__ = [
    "LEARNING",
    "NAMES",
    "ConfidenceSampling",
    "Sampling",
    "SoftSampling",
    "checked_weights",
    "draw_columns",
    "inside_intervals",
    "moved",
    "named_sampling",
    "weights_by",
]

LEARNING = {"confidence", "two-stage+confidence", "soft"}
NAMES = {"uniform", "two-stage", *LEARNING}


@saved
class Sampling:
    """A fixed distribution over features, and the base of the adaptive ones."""

    learns = False  # whether `learn` needs the trees, with all split candidates

    def __init__(self, weights: NDArray[np.float64] | None) -> None:
        self.weights = weights  # sums to one; None: uniform
        self.changes: list[float] = []  # of the weights by every update; see `moved`

    def learn(self, tables: Sequence[NodeTable]) -> None:
        """Learn from more trees."""

    def update(self) -> None:
        """Update `weights`."""


@saved
class ConfidenceSampling(Sampling):
    """The distribution nearest to its start inside the confidence intervals of mean gains (section 3.1).

    Parameters
    ----------
    n_features : int
        Number of features.
    unit : float
        Weight of one observation, in bits of node complexity.
    confidence : float
        Confidence of the intervals.
    gain_unit : float, default=1.0
        Unit of the gains.
    start : ndarray of shape (n_features,), default=None
        Initial mean gains; None starts uniform.

    Attributes
    ----------
    sums : GainSums
        The gains so far.
    intervals : ndarray of shape (n_features, 2)
        Intervals at the last update.
    sizes : list of float
        Mean size of the intervals at every update; NaN without intervals.
    """

    learns = True

    def __init__(
        self,
        n_features: int,
        unit: float,
        confidence: float,
        gain_unit: float = 1.0,
        start: NDArray[np.float64] | None = None,
    ) -> None:
        self.sums = GainSums(n_features, gain_unit)
        self.unit, self.confidence, self.start = unit, confidence, start
        self.intervals = np.full((n_features, 2), np.nan)
        super().__init__(None if start is None else inside_intervals(self.intervals, start))
        self.sizes: list[float] = []

    def learn(self, tables: Sequence[NodeTable]) -> None:
        """Add the gains of trees."""
        self.sums.add_trees(tables)

    def update(self) -> None:
        """Compute new intervals and weights."""
        before = self.weights
        self.intervals = self.sums.intervals(self.unit, self.confidence)
        self.weights = inside_intervals(self.intervals, self.start)
        self.changes.append(moved(before, self.weights))
        sizes = self.intervals[:, 1] - self.intervals[:, 0]
        known = ~np.isnan(sizes)
        self.sizes.append(float(sizes[known].mean()) if known.any() else float("nan"))


@saved
class SoftSampling(Sampling):
    """Weights proportional to the total gain of a feature in the trees so far (eq. 11; Borisov et al.).

    `start` is the weight of every feature before the first tree: C times the impurity of all rows.
    """

    learns = True

    def __init__(self, n_features: int, start: float) -> None:
        super().__init__(None)
        self.totals = np.full(n_features, start)

    def learn(self, tables: Sequence[NodeTable]) -> None:
        """Add the gains of trees, weighted by the fraction of rows at each split."""
        for table in tables:
            self.totals += total_gains(table, len(self.totals))

    def update(self) -> None:
        """Scale the totals to a sum of one."""
        before, total = self.weights, self.totals.sum()
        self.weights = self.totals / total if total > 0 else None
        self.changes.append(moved(before, self.weights))


def moved(before: NDArray[np.float64] | None, after: NDArray[np.float64] | None) -> float:
    """Total variation distance of two distributions, from 0 to 1; None is uniform.

    Examples
    --------
    >>> round(moved(None, np.array([0.5, 0.3, 0.1, 0.1])), 3)
    0.3
    """
    if after is None:
        before, after = after, before
    if after is None:
        return 0.0
    return float(np.abs(after - (1 / len(after) if before is None else before)).sum() / 2)


def named_sampling(
    name: str,
    n_features: int,
    target: Target,
    weights: NDArray[np.float64] | None,
    whole_tree: Callable[[], NodeTable],
    *,
    confidence: float,
    weight_unit: float,
    soft_constant: float,
) -> Sampling:
    """Make the sampling of that name for a target and weights of the rows.

    `whole_tree` grows an unpruned tree on all rows, with all features as recorded candidates at every node.
    """
    if name == "uniform":
        return Sampling(None)
    if name == "soft":
        return SoftSampling(n_features, soft_constant * target.impurity(weights))
    unit, gain_unit = weight_unit * target.complexity(weights), target.gain_unit(weights)
    if name == "confidence":
        return ConfidenceSampling(n_features, unit, confidence, gain_unit)
    tree = whole_tree()
    sums = GainSums(n_features, gain_unit)
    sums.add_trees([tree])
    if name == "two-stage":
        return Sampling(inside_intervals(np.full((n_features, 2), np.nan), sums.mean))
    # One observation weighs as much as the average split of this tree.
    splits = complexities(tree, ~tree.is_leaf)
    unit = float(splits.mean()) if len(splits) else unit
    return ConfidenceSampling(n_features, unit, confidence, gain_unit, sums.mean)


def inside_intervals(
    intervals: NDArray[np.float64], start: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Choose a distribution inside confidence intervals, as uniform as the paper's simple rule makes it.

    Every value is as close to its start as its interval allows (NaN: no interval), not negative, and scaled
    to a sum of one. The default start, also for NaN, is half way between the largest lower and the smallest
    upper limit.

    Examples
    --------
    >>> inside_intervals(np.array([[0.1, 0.5], [0.3, 0.4]]))  # both may be 0.35
    array([0.5, 0.5])
    >>> inside_intervals(np.array([[0.1, 0.2], [0.4, 0.6], [np.nan, np.nan]])).round(3)
    array([0.222, 0.444, 0.333])
    """
    lower, upper = intervals.T
    known = ~np.isnan(lower)
    if start is not None:
        known_start = ~np.isnan(start)
        middle = start[known_start].mean() if known_start.any() else 0.0
        goals = np.where(known_start, start, middle)
    elif known.any():
        goals = np.full(len(lower), (lower[known].max() + upper[known].min()) / 2)
    else:
        goals = np.ones(len(lower))
    values = np.maximum(np.where(known, np.clip(goals, lower, upper), goals), 0.0)
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))


def weights_by(selector: Any, X: Any, y: Any, sample_weight: Any, seed: int) -> NDArray[np.float64]:
    """Fit a clone of a selector and return its scores as weights: not negative, 0 outside its support.

    The scores are `scores_` or `feature_importances_`; NaN is replaced by their mean. `seed` replaces a
    `random_state` of None.
    """
    fitted = clone(selector)
    parameters = fitted.get_params()
    if "random_state" in parameters and parameters["random_state"] is None:
        fitted.set_params(random_state=seed % 2**32)
    takes_weights = sample_weight is not None and has_fit_parameter(fitted, "sample_weight")
    fitted.fit(X, y, **({"sample_weight": sample_weight} if takes_weights else {}))
    scores = getattr(fitted, "scores_", None)
    scores = getattr(fitted, "feature_importances_", None) if scores is None else scores
    if scores is None:
        raise ValueError(
            f"feature_sampling: a fitted {type(fitted).__name__} has neither scores_ nor "
            "feature_importances_ to draw columns by; give another selector, or an array of weights."
        )
    values = np.array(scores, dtype=np.float64)
    if np.isposinf(values).any():  # perfect predictors: no others are needed
        values = np.isposinf(values).astype(np.float64)
    known = ~np.isnan(values)
    middle = values[known].mean() if known.any() else 1.0
    weights = np.maximum(np.where(known, values, middle), 0.0)
    if not weights.any():
        raise ValueError(
            f"feature_sampling: {type(fitted).__name__} gives no column a score above 0; give another "
            "selector, or an array of weights."
        )
    support = fitted.get_support() if hasattr(fitted, "get_support") else getattr(fitted, "support_", True)
    return np.asarray(weights * support)


def checked_weights(given: ArrayLike, n_features: int, name: str = "feature_sampling") -> NDArray[np.float64]:
    """Check weights of features, called `name` in messages, and scale them to a sum of one."""
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} is a {type(given).__name__}, not an array of weights: give one number per column."
        ) from None
    if weights.shape != (n_features,):
        raise ValueError(
            f"{name} has shape {weights.shape}, but X has {n_features} columns: "
            "give one weight for each of them."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"{name} must hold finite weights of 0 or more.")
    if not weights.any():
        raise ValueError(f"{name} is 0 for every column: make the weight of one positive.")
    weights /= weights.max()  # so that the sum cannot overflow
    return np.asarray(weights / weights.sum())


def draw_columns(rng: np.random.Generator, weights: NDArray[np.float64], n_columns: int) -> NDArray[np.intp]:
    """Draw columns without replacement, with probabilities proportional to their weights; sorted.

    The smallest exponential variables divided by the weights have the distribution of sequential draws.

    Examples
    --------
    >>> draw_columns(np.random.default_rng(0), np.array([0.5, 0.0, 0.3, 0.2]), 3)
    array([0, 2, 3])
    """
    with np.errstate(divide="ignore"):
        keys = rng.standard_exponential(len(weights)) / weights
    return np.sort(np.argpartition(keys, n_columns - 1)[:n_columns])
