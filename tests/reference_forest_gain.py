"""Slow, literal twins for Rogers & Gunn: what an irrelevant feature gains, how often a feature is drawn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import reference
from scipy import stats

# --- the gain of an irrelevant feature, all values distinct (section 4) ---


@cache
def _gain(left: tuple[int, ...], right: tuple[int, ...]) -> float:
    return reference.entropy_gain([left, right])


def best_gain(labels: Sequence[int], n_classes: int) -> float:
    """Gain in bits of the best cut of rows that lie along a feature in this order; 0 for a single row."""
    best = 0.0
    for cut in range(1, len(labels)):
        sides = [
            tuple(side.count(label) for label in range(n_classes)) for side in (labels[:cut], labels[cut:])
        ]
        best = max(
            best, _gain(*sorted(sides))
        )  # sorted: an arrangement and its reflection get the same float
    return best


def null_gains(n_positive: int, n_negative: int) -> dict[float, float]:
    """{best gain: probability} over every arrangement of the two classes.

    Gains that are equal but for rounding may be separate entries.
    """
    n = n_positive + n_negative
    found: dict[float, int] = {}
    for places in itertools.combinations(range(n), n_positive):
        gain = best_gain([int(place in places) for place in range(n)], 2)
        found[gain] = found.get(gain, 0) + 1
    return {gain: count / math.comb(n, n_positive) for gain, count in sorted(found.items())}


def gains_of_arrangements(counts: Sequence[int]) -> np.ndarray:
    """Best gain of every distinct arrangement of any number of classes; all are equally likely."""
    return np.array([best_gain(labels, len(counts)) for labels in reference.arrangements(counts)])


def expected_gain_exact(counts: Sequence[int]) -> float:
    """Expected best gain of an irrelevant feature at a node with these class counts."""
    return float(gains_of_arrangements(counts).mean())


def variance_gain_exact(counts: Sequence[int]) -> float:
    """Variance of the best gain of an irrelevant feature (of the distribution, not of a sample)."""
    gains = gains_of_arrangements(counts)
    return float(((gains - gains.mean()) ** 2).mean())


def tail_gain_exact(counts: Sequence[int], gain: float) -> float:
    """Probability that an irrelevant feature gains at least `gain`, or less by a rounding error."""
    return float((gains_of_arrangements(counts) >= gain - 1e-12).mean())


# --- the two closed forms ---


def expected_gain_lower(n: int) -> float:
    """Expected best gain with one example of one class: the mean over its n positions (eq. 15-21, R8)."""
    total = 0.0
    for place in range(n):
        total += best_gain([int(row == place) for row in range(n)], 2)
    return total / n


def expected_gain_upper(n: int) -> float:
    """The paper's fit to the expected best gain of equal classes (eq. 22)."""
    return (n / 2) ** -0.82


# --- the same for a given column, with its ties ---


def best_gain_of_column(x: Any, y: Any, nominal: bool = False) -> float:
    """Gain of the best split in two of one column: a cut between distinct values, or two sets of categories.

    Missing values (NaN, -1 in a nominal column) go to the better side; a constant column gains 0.
    """
    if nominal:
        return max(reference.subsets(x, y, "entropy").values(), default=0.0)
    sides = ["left", "right"] if np.isnan(np.asarray(x, dtype=float)).any() else ["none"]
    found = [gain for side in sides for gain in reference.cuts(x, y, "entropy", missing=side).values()]
    return max(found, default=0.0)


def null_gains_of_column(
    x: Any, counts: Sequence[int], nominal: bool = False
) -> tuple[list[float], list[float]]:
    """Gain of a column x under every distinct way to label its rows, and the probability of each."""
    if len(x) != sum(counts):
        raise ValueError("x needs one value for every row in counts")
    gains = [best_gain_of_column(x, labels, nominal) for labels in reference.arrangements(counts)]
    return gains, [1 / len(gains)] * len(gains)


# --- the feature sampling distribution (section 3) ---


def confidence_weights(
    trials: Sequence[tuple[int, float, float]], n_features: int, unit: float, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, intervals and sampling distribution of section 3.1, from every trial so far (R12-R14).

    A trial is (feature, gain, weight). Without an estimate the mean is NaN, without an interval both its ends
    are. The sampling distribution adds up to 1.
    """
    means = np.full(n_features, np.nan)
    intervals = np.full((n_features, 2), np.nan)
    for feature in range(n_features):
        # Weight 0 is no evidence (R2); leaving it out also makes a single observation have S = 0.
        gains = np.array([gain for f, gain, weight in trials if f == feature and weight > 0])
        weights = np.array([weight for f, _, weight in trials if f == feature and weight > 0])
        if len(gains) == 0:
            continue
        means[feature] = (weights * gains).sum() / weights.sum()
        m = weights.sum() / unit
        if m <= 1 or gains.max() == gains.min():  # S = 0 whatever rounding makes of it
            continue
        variance = (weights * (gains - means[feature]) ** 2).sum() / weights.sum() * m / (m - 1)
        half = stats.t.ppf((1 + confidence) / 2, m - 1) * math.sqrt(variance / m)
        intervals[feature] = means[feature] - half, means[feature] + half
    return means, intervals, _most_uniform(intervals)


def _most_uniform(intervals: np.ndarray) -> np.ndarray:
    """For each feature the value in its interval nearest to the midpoint, 0 if negative, normalised (R14)."""
    uniform = np.full(len(intervals), 1 / len(intervals))
    known = ~np.isnan(intervals[:, 0])
    if not known.any():
        return uniform
    highest_lower, lowest_upper = intervals[known, 0].max(), intervals[known, 1].min()
    if highest_lower <= lowest_upper:  # all overlap; asked first, as the ends may be infinite (m close to 1)
        return uniform
    middle = (highest_lower + lowest_upper) / 2
    values = np.full(len(intervals), middle)
    for feature in np.flatnonzero(known):
        lower, upper = intervals[feature]
        values[feature] = max(min(max(middle, lower), upper), 0.0)
    return values / values.sum() if values.sum() > 0 else uniform


def soft_weights(decreases_per_tree: Any, root_entropy: float, C: float) -> np.ndarray:
    """Weights of eq. 11 as R3 reads it: C H(root) + the sum over trees of the feature's total decrease.

    `decreases_per_tree` has one row per tree, one column per feature. The weights are not normalised.
    """
    decreases = np.asarray(decreases_per_tree, dtype=float)
    weights = np.full(decreases.shape[1], C * root_entropy)
    for tree in decreases:
        weights += tree
    return weights
