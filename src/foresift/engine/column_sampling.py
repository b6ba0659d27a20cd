"""How a forest learns, while it grows, which features to draw more often (Rogers & Gunn 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from foresift.engine.candidate_gains import GainSums, bits_gained
from foresift.engine.criteria import node_complexity
from foresift.engine.node_table import NodeTable

__all__ = [
    "LEARNING",
    "NAMES",
    "ConfidenceSampling",
    "FixedSampling",
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


class Sampling(Protocol):
    """A distribution over features that may change with every tree."""

    weights: NDArray[np.float64] | None  # sums to one; None: uniform
    learns: bool  # whether `learn` wants to see the trees, with every trial

    def learn(self, tables: Sequence[NodeTable]) -> None:
        """Take notice of more trees."""

    def update(self) -> None:
        """Set `weights` by what has been learned."""


class FixedSampling:
    """The same distribution for all trees; None is uniform."""

    learns = False

    def __init__(self, weights: NDArray[np.float64] | None) -> None:
        self.weights = weights

    def learn(self, tables: Sequence[NodeTable]) -> None:
        """Learn nothing."""

    def update(self) -> None:
        """Change nothing."""


class ConfidenceSampling:
    """The distribution nearest to where it began inside confidence intervals of mean gains (section 3.1).

    Parameters
    ----------
    n_features : int
        Number of features.
    unit : float
        Weight of one observation, in bits of node complexity.
    confidence : float
        Confidence of the intervals.
    start : ndarray of shape (n_features,), default=None
        Mean gains to begin with; None begins uniform.

    Attributes
    ----------
    sums : GainSums
        The gains so far.
    intervals : ndarray of shape (n_features, 2)
        Intervals at the last update.
    sizes : list of float
        Mean size of the intervals at every update; NaN as long as there are none.
    changes : list of float
        How far every update moved the weights; see `moved`.
    """

    learns = True

    def __init__(
        self, n_features: int, unit: float, confidence: float, start: NDArray[np.float64] | None = None
    ) -> None:
        self.sums = GainSums(n_features)
        self.unit, self.confidence, self.start = unit, confidence, start
        self.intervals = np.full((n_features, 2), np.nan)
        self.weights = None if start is None else inside_intervals(self.intervals, start)
        self.sizes: list[float] = []
        self.changes: list[float] = []

    def learn(self, tables: Sequence[NodeTable]) -> None:
        """Add the gains of trees."""
        self.sums.add_trees(tables)

    def update(self) -> None:
        """Work out intervals and weights anew."""
        before = self.weights
        self.intervals = self.sums.intervals(self.unit, self.confidence)
        self.weights = inside_intervals(self.intervals, self.start)
        self.changes.append(moved(before, self.weights))
        sizes = self.intervals[:, 1] - self.intervals[:, 0]
        known = ~np.isnan(sizes)
        self.sizes.append(float(sizes[known].mean()) if known.any() else float("nan"))


class SoftSampling:
    """Weights that grow with the gain a feature has brought to the trees so far (eq. 11; Borisov et al.).

    Parameters
    ----------
    n_features : int
        Number of features.
    start : float
        Weight of every feature before the first tree: C times the entropy of the whole data.

    Attributes
    ----------
    changes : list of float
        How far every update moved the weights; see `moved`.
    """

    learns = True

    def __init__(self, n_features: int, start: float) -> None:
        self.totals = np.full(n_features, start)
        self.weights: NDArray[np.float64] | None = None
        self.changes: list[float] = []

    def learn(self, tables: Sequence[NodeTable]) -> None:
        """Add what each feature gained in trees, every split by its share of the rows."""
        for table in tables:
            self.totals += bits_gained(table, len(self.totals))

    def update(self) -> None:
        """Scale the totals to a sum of one."""
        before, total = self.weights, self.totals.sum()
        self.weights = self.totals / total if total > 0 else None
        self.changes.append(moved(before, self.weights))


def moved(before: NDArray[np.float64] | None, after: NDArray[np.float64] | None) -> float:
    """Total variation distance of two distributions: the share of the draws that fall elsewhere.

    Parameters
    ----------
    before, after : ndarray of shape (n_features,) or None
        Weights that sum to one; None is uniform.

    Returns
    -------
    float
        0 if they are the same, 1 if they have nothing in common.

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
    class_counts: NDArray[np.float64],
    whole_tree: Callable[[], NodeTable],
    *,
    confidence: float,
    weight_unit: float,
    soft_constant: float,
) -> Sampling:
    """Make the sampling of that name for data with these class counts.

    `whole_tree` grows an unpruned tree on all rows that tries every feature at every node, and records that.
    """
    if name == "uniform":
        return FixedSampling(None)
    if name == "soft":
        shares = class_counts[class_counts > 0] / class_counts.sum()
        return SoftSampling(n_features, soft_constant * float(-(shares @ np.log2(shares))))
    unit = weight_unit * float(node_complexity(class_counts))
    if name == "confidence":
        return ConfidenceSampling(n_features, unit, confidence)
    tree = whole_tree()
    sums = GainSums(n_features)
    sums.add_trees([tree])
    if name == "two-stage":
        return FixedSampling(inside_intervals(np.full((n_features, 2), np.nan), sums.mean))
    # What is known of trees beforehand: the complexity of their splits is the weight of one observation.
    splits = tree.counts[~tree.is_leaf]
    unit = float(node_complexity(splits).mean()) if len(splits) else unit
    return ConfidenceSampling(n_features, unit, confidence, start=sums.mean)


def inside_intervals(
    intervals: NDArray[np.float64], start: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Choose a distribution inside confidence intervals: as even as the paper's simple rule makes it.

    Parameters
    ----------
    intervals : ndarray of shape (n_features, 2)
        Lower and upper ends; NaN for a feature without an interval.
    start : ndarray of shape (n_features,), default=None
        The values to stay close to. By default the same for all: half way between the largest lower and the
        smallest upper end. NaN means that too.

    Returns
    -------
    ndarray of shape (n_features,)
        Every value as close to its start as its interval allows, not negative, scaled to a sum of one.

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
        aims = np.where(known_start, start, middle)
    elif known.any():
        aims = np.full(len(lower), (lower[known].max() + upper[known].min()) / 2)
    else:
        aims = np.ones(len(lower))
    values = np.maximum(np.where(known, np.clip(aims, lower, upper), aims), 0.0)
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))


def weights_by(selector: Any, X: Any, y: Any, sample_weight: Any, seed: int) -> NDArray[np.float64]:
    """Fit a clone of a selector and take its scores as weights: none negative, 0 outside its support.

    Parameters
    ----------
    selector : estimator
        What it is fitted to must give it `scores_` or `feature_importances_`. A score of NaN, no estimate,
        becomes the mean of the others.
    X, y, sample_weight
        The training data.
    seed : int
        Takes the place of a `random_state` of None.

    Returns
    -------
    ndarray of shape (n_features,)
        Weights, not scaled.
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
    if np.isposinf(values).any():  # perfect by themselves: nothing else is needed
        values = np.isposinf(values).astype(np.float64)
    known = ~np.isnan(values)
    middle = values[known].mean() if known.any() else 1.0
    weights = np.maximum(np.where(known, values, middle), 0.0)
    if not weights.any():
        raise ValueError(
            f"feature_sampling: {type(fitted).__name__} gives no column a score above 0 to draw it by; give "
            "another selector, or an array of weights."
        )
    support = fitted.get_support() if hasattr(fitted, "get_support") else getattr(fitted, "support_", True)
    return np.asarray(weights * support)


def checked_weights(given: ArrayLike, n_features: int, name: str = "feature_sampling") -> NDArray[np.float64]:
    """Check the weights of the features, and scale them to a sum of one; messages call them `name`."""
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} is a {type(given).__name__}, no array of weights: give one number per column."
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
    """Draw columns one after another, without replacement, in proportion to their weights; sorted.

    The smallest of exponential variables divided by the weights come out as such draws do.

    Examples
    --------
    >>> draw_columns(np.random.default_rng(0), np.array([0.5, 0.0, 0.3, 0.2]), 3)
    array([0, 2, 3])
    """
    with np.errstate(divide="ignore"):
        keys = rng.standard_exponential(len(weights)) / weights
    return np.sort(np.argpartition(keys, n_columns - 1)[:n_columns])
