"""Slow, literal twins of the single-pass rankers and of rank aggregation: the definitions written out."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np


def problem(
    seed: int, n: int = 40, p: int = 12, n_classes: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Few values and many, ties, constant columns, missing values, offsets; whole weights, some of them 0."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p))
    X[:, :4] = rng.integers(0, 3, size=(n, 4))
    X[:, 1] += y
    X[:, 3] = 7.3  # constant
    X[:, 4] = np.where(y == 0, 0.1, 0.7)  # two values, one of them only in one class
    X[:, 5] += 1e9
    X[rng.random((n, p)) < 0.15 * (np.arange(p) >= 6)] = np.nan
    X[:, 7] = np.nan
    X[1:, 8] = np.nan
    X[y == 1, 9] = np.nan
    return X, y, rng.integers(0, 3, size=n).astype(float)


def repeated(x: Any, y: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows as often as their whole weights say, less those where x is missing."""
    times = np.asarray(weights, dtype=int)
    x, y = np.repeat(np.asarray(x, dtype=float), times), np.repeat(np.asarray(y), times)
    return x[~np.isnan(x)], y[~np.isnan(x)]


def moments(values: Any) -> tuple[Fraction, Fraction]:
    """Mean and sum of squared deviations from it, exact."""
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    return mean, sum((value - mean) ** 2 for value in exact)


def correlation(a: Any, b: Any) -> float:
    """Pearson's r by its formula; 0 where one of the two does not vary."""
    (a_mean, a_spread), (b_mean, b_spread) = moments(a), moments(b)
    if a_spread == 0 or b_spread == 0:
        return 0.0
    top = sum((Fraction(u) - a_mean) * (Fraction(v) - b_mean) for u, v in zip(a, b, strict=True))
    return math.copysign(math.sqrt(top**2 / (a_spread * b_spread)), top)


def pearson(x: Any, y: Any, weights: Any) -> float:
    """Largest |r| of x and the indicator of a class."""
    x, y = repeated(x, y, weights)
    return max((abs(correlation(x.tolist(), [float(v == c) for v in y])) for c in set(y)), default=0.0)


def f_score(x: Any, y: Any, weights: Any) -> float:
    """Largest |m0 - m1| / (s0 + s1) of a class against the rest (Grabczewski & Jankowski eq. 1)."""
    x, y = repeated(x, y, weights)
    scores = [0.0]
    for c in set(y):
        inside, outside = x[y == c].tolist(), x[y != c].tolist()
        if min(len(inside), len(outside)) < 2:
            continue
        (m0, spread0), (m1, spread1) = moments(inside), moments(outside)
        s0, s1 = math.sqrt(spread0 / (len(inside) - 1)), math.sqrt(spread1 / (len(outside) - 1))
        if s0 + s1 > 0:
            scores.append(float(abs(m0 - m1)) / (s0 + s1))
        elif m0 != m1:
            scores.append(math.inf)
    return max(scores)


def best_indicator(score: Any, x: Any, y: Any, weights: Any) -> float:
    """Best score of an indicator of a category of x; None is missing."""
    categories = {value for value in x if value is not None}
    columns = [[math.nan if v is None else float(v == c) for v in x] for c in categories]
    return max((score(column, y, weights) for column in columns), default=0.0)


# --- rank aggregation ---


def ranks(scores: Any) -> np.ndarray:
    """1 + number of better scores + half the number of other equal ones; NaN is worse than all."""
    keys = [-math.inf if math.isnan(s) else s for s in scores]
    return np.array([1 + sum(o > s for o in keys) + (sum(o == s for o in keys) - 1) / 2 for s in keys])


def orders(places: Any) -> list[np.ndarray]:
    """Every ranking without ties that a ranking with ties allows."""
    n = len(places)
    allowed = []
    for order in itertools.permutations(range(n)):
        if all(places[a] <= places[b] for a, b in itertools.pairwise(order)):
            strict = np.empty(n)
            strict[list(order)] = np.arange(1, n + 1)
            allowed.append(strict)
    return allowed


def borda(places: Any, top: int) -> np.ndarray:
    """Points of one ranking, averaged over the orders of its ties."""
    return np.mean([np.maximum(top + 1 - strict, 0) for strict in orders(places)], axis=0)


def votes(places: Any, top: int) -> np.ndarray:
    """Whether a column is among the best of one ranking, averaged over the orders of its ties."""
    return np.mean([strict <= top for strict in orders(places)], axis=0)


def rho(ratios: Any) -> float:
    """Rho score of one item: min over k of P(at least k of m uniform numbers are <= the k-th ratio)."""
    placed, m = sorted(ratios), len(ratios)
    return min(
        sum(math.comb(m, j) * r**j * (1 - r) ** (m - j) for j in range(k, m + 1))
        for k, r in enumerate(placed, start=1)
    )
