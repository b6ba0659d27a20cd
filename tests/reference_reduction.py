"""Slow, literal reference of the variance reduction of one column, and of its distribution by chance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


def variance(y: Any, weights: Any) -> float:
    """Population variance, in exact arithmetic where that matters: sums of products of all pairs."""
    y, weights = np.asarray(y, dtype=np.longdouble), np.asarray(weights, dtype=np.longdouble)
    if weights.sum() == 0:
        return 0.0
    mean = (weights * y).sum() / weights.sum()
    return float((weights * (y - mean) ** 2).sum() / weights.sum())


def splits(x: Sequence[float], nominal: bool) -> Iterator[list[np.ndarray]]:
    """All splits of the known rows, as masks of the branches; NaN and -1 of a nominal column are missing."""
    x = np.asarray(x, dtype=float)
    known = ~np.isnan(x)
    values = np.unique(x[known])
    if nominal:
        yield [known & (x == value) for value in values]
    else:
        for value in values[:-1]:
            yield [known & (x <= value), known & (x > value)]


def reductions(x: Any, y: Any, nominal: bool = False, weights: Any = None) -> list[float]:
    """Reduction of every split: over the known rows, times their fraction (N7)."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=np.longdouble)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    used = weights > 0
    x, y, weights = x[used], y[used], weights[used]
    known = ~np.isnan(x)
    found = []
    for branches in splits(x, nominal):
        inside = weights[known].sum()
        children = sum(weights[b].sum() / inside * variance(y[b], weights[b]) for b in branches)
        reduction = variance(y[known], weights[known]) - children
        found.append(float(reduction * inside / weights.sum()))
    return found


def best_reduction(x: Any, y: Any, nominal: bool = False, weights: Any = None) -> float:
    """Largest reduction of any split, at least 0."""
    return max(reductions(x, y, nominal, weights), default=0.0)


def null_reductions(x: Any, y: Any, nominal: bool = False) -> np.ndarray:
    """Best reduction for every order of y among the known rows, each equally likely."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    known = np.flatnonzero(~np.isnan(x))
    found = []
    for order in itertools.permutations(y[known]):
        permuted = y.copy()
        permuted[known] = order
        found.append(best_reduction(x, permuted, nominal))
    return np.array(found)


def sum_tail(values: Sequence[int], m: int, s: int) -> float:
    """Probability that m of these whole numbers, drawn without replacement, sum up to s or more."""
    ways = [[0] * (sum(values) + 1) for _ in range(m + 1)]  # by how many are drawn, and their sum
    ways[0][0] = 1
    for value in values:
        for k in range(m, 0, -1):
            for total in range(len(ways[0]) - 1, value - 1, -1):
                ways[k][total] += ways[k - 1][total - value]
    return sum(ways[m][s:]) / math.comb(len(values), m)
