"""Slow, literal twins of what the engine does with a quantity: the definitions, and nothing else."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

# A branch is an array of shape (n_rows, 2): value and weight of each of its rows.


def variance(branch: Any) -> float:
    """Population variance of the values, weighted; 0 of no rows."""
    values, weights = np.asarray(branch, dtype=float).reshape(-1, 2).T
    total = math.fsum(weights)
    if total == 0:
        return 0.0
    shift = values[0]  # of 1e9 + noise nothing is lost
    mean = math.fsum(weights * (values - shift)) / total
    return math.fsum(weights * (values - shift - mean) ** 2) / total


def variance_reduction(branches: Sequence[Any]) -> float:
    """Var(parent) - sum_k w_k / w Var(branch k), population variances."""
    sizes = [math.fsum(branch[:, 1]) for branch in branches]
    children = math.fsum(size * variance(branch) for size, branch in zip(sizes, branches, strict=True))
    return variance(np.concatenate(branches)) - children / math.fsum(sizes)


def branch_size(branch: Any) -> float:
    """Weight of a branch, of class counts too."""
    return float(branch[:, 1].sum() if np.ndim(branch) == 2 else np.sum(branch))


def unit(y: Any, weights: Any, criterion: str) -> float:
    """What rounding errors of the scores of a node are measured in."""
    return variance(np.column_stack([y, weights])) if criterion == "variance" else 1.0


def prefixes_by_mean(x: Any, y: Any, weights: Any) -> Iterator[frozenset[int]]:
    """The sets of categories that go left if they are cut in the order of their means (Fisher 1958)."""
    x, y, weights = np.asarray(x), np.asarray(y, dtype=float), np.asarray(weights, dtype=float)
    codes = sorted({int(code) for code in x[weights > 0]})
    codes.sort(key=lambda code: float(np.average(y[x == code], weights=weights[x == code])))
    for n_left in range(1, len(codes)):
        yield frozenset(codes[:n_left])


def complexity(y: Any, weights: Any = None) -> float:
    """Node complexity in bits: Rogers & Gunn (eq. 6-10) with equal values of y in place of classes.

    Weights that are not whole have gamma functions for factorials, and no arrangement is its mirror image.
    """
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    ties: Counter[float] = Counter()
    for value, weight in zip(np.asarray(y, dtype=float).tolist(), weights.tolist(), strict=True):
        ties[value + 0.0] += weight
    counts, n = list(ties.values()), math.fsum(weights)
    if all(float(count).is_integer() for count in counts):
        whole = [round(count) for count in counts]
        ways = math.factorial(round(n)) // math.prod(math.factorial(count) for count in whole)
        mirrored = 0
        if sum(count % 2 for count in whole) <= 1:
            halves = math.prod(math.factorial(count // 2) for count in whole)
            mirrored = math.factorial(round(n) // 2) // halves
        return max(0.0, math.log2(ways) - (1 - mirrored / ways))
    ways = (math.lgamma(n + 1) - math.fsum(math.lgamma(count + 1) for count in counts)) / math.log(2)
    return max(0.0, ways - 1)


def subset_gains(x: Any, y: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """Gains and weights on the left of every division of the categories in two sets; at most 20 of them."""
    codes, at = np.unique(x, return_inverse=True)
    if len(codes) < 2:
        return np.empty(0), np.empty(0)
    weights = np.asarray(weights, dtype=np.longdouble)
    y = np.asarray(y, dtype=float) - np.longdouble(y[0])
    parts = weights * (y - (weights * y).sum() / weights.sum())
    sums, sizes = (np.array([part[at == g].sum() for g in range(len(codes))]) for part in (parts, weights))
    sets = np.arange(1, 2 ** (len(codes) - 1))[:, np.newaxis] >> np.arange(len(codes)) & 1
    left, sums = sets @ sizes, sets @ sums
    return (sums**2 / (left * (weights.sum() - left))).astype(float), left.astype(float)


def tenths(y: Any, weights: Any) -> np.ndarray:
    """Which tenth of the rows of positive weight each row lies in by its value; equal values lie in one."""
    y, used = np.asarray(y, dtype=float), np.asarray(y, dtype=float)[np.asarray(weights) > 0]
    below = np.array([np.sum(used < value) for value in y])
    return np.minimum(below, len(used) - 1) * 10 // len(used)


def cut_gains(x: Any, y: Any, weights: Any, missing: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Thresholds, gains and weights on the left of every cut, by running sums of long doubles.

    The same as `reference.cuts` for many rows: rows with a missing value go "left" or "right" (then the cut
    at inf parts them from all known ones), or are left out ("known"). Rows of weight 0 are not there.
    """
    used = np.asarray(weights) > 0
    x, y = np.asarray(x, dtype=float)[used], np.asarray(y, dtype=float)[used]
    weights = np.asarray(weights, dtype=np.longdouble)[used]
    unknown, share = np.isnan(x), np.longdouble(1)
    if missing == "known":
        share = weights[~unknown].sum() / weights.sum()
        x, y, weights, unknown = x[~unknown], y[~unknown], weights[~unknown], unknown[~unknown]
    if unknown.all():
        return np.empty(0), np.empty(0), np.empty(0)
    y = y - np.longdouble(y[0])
    total, parts = weights.sum(), weights * (y - (weights * y).sum() / weights.sum())
    order = np.flatnonzero(~unknown)[np.argsort(x[~unknown], kind="stable")]
    values, first = x[order], unknown if missing == "left" else np.zeros(len(x), dtype=bool)
    left, sums = (
        weights[first].sum() + np.cumsum(weights[order]),
        parts[first].sum() + np.cumsum(parts[order]),
    )
    last = np.append(values[1:] != values[:-1], missing == "right" and unknown.any())
    thresholds = np.append((values[1:] + values[:-1]) / 2, math.inf)[last]
    left, sums = left[last], sums[last]
    gains = share * sums**2 / (left * (total - left))
    return thresholds, gains.astype(float), left.astype(float)
