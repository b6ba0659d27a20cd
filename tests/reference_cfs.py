"""Slow, literal twins for CFS: cuts by description length, correlations, merit, searches."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import reference

# --- Fayyad & Irani 1993 ---


def mdl_cuts(x: Any, y: Any, better_encoding: bool = False) -> list[float]:
    """Cut points of a column without missing values, every cut tried by counting rows."""
    rows = sorted(zip(np.asarray(x, dtype=float).tolist(), list(y), strict=True), key=lambda row: row[0])
    return sorted(_cut(rows, better_encoding))


def _cut(rows: list[tuple[float, Any]], better_encoding: bool) -> list[float]:
    classes = sorted({label for _, label in rows})
    places = [i for i in range(1, len(rows)) if rows[i - 1][0] < rows[i][0]]
    if not places:
        return []

    def counts(part: list[tuple[float, Any]]) -> list[int]:
        return [sum(label == known for _, label in part) for known in classes]

    gains = [reference.entropy_gain([counts(rows[:i]), counts(rows[i:])]) for i in places]
    at = places[next(i for i, gain in enumerate(gains) if gain >= max(gains) - 1e-12)]
    left, right = rows[:at], rows[at:]
    delta = math.log2(3 ** len(classes) - 2) - (
        len(classes) * reference.entropy(counts(rows))
        - len({label for _, label in left}) * reference.entropy(counts(left))
        - len({label for _, label in right}) * reference.entropy(counts(right))
    )
    n_places = len(places) if better_encoding else len(rows) - 1
    if max(gains) <= 1e-12 or max(gains) <= (math.log2(n_places) + delta) / len(rows):
        return []
    threshold = (rows[at - 1][0] + rows[at][0]) / 2
    return [threshold, *_cut(left, better_encoding), *_cut(right, better_encoding)]


def intervals(x: Any, y: Any, better_encoding: bool = False) -> list[int | None]:
    """Number of the interval of every value; None where it is missing."""
    known = [i for i, value in enumerate(x) if not np.isnan(value)]
    cuts = mdl_cuts([x[i] for i in known], [y[i] for i in known], better_encoding)
    return [None if np.isnan(value) else sum(value > cut for cut in cuts) for value in x]


# --- symmetrical uncertainty; a missing value is None ---


def contingency(x: Sequence[Any], y: Sequence[Any]) -> dict[tuple[Any, Any], float]:
    """Rows of every pair of values, those with missing values handed out in proportion."""
    n_both = n_pairs = 0
    for a, b in zip(x, y, strict=True):
        n_both += a is None and b is None
        n_pairs += a is not None and b is not None
    known_x, known_y = [a for a in x if a is not None], [b for b in y if b is not None]
    table = {(a, b): 0.0 for a in set(known_x) for b in set(known_y)}
    for a, b in zip(x, y, strict=True):
        if a is not None and b is not None:
            table[a, b] += 1 + n_both / n_pairs
        elif b is not None:
            for value in set(known_x):
                table[value, b] += known_x.count(value) / len(known_x)
        elif a is not None:
            for value in set(known_y):
                table[a, value] += known_y.count(value) / len(known_y)
    if n_pairs == 0:
        table[None, None] = n_both  # nothing says how to hand them out
    return table


def uncertainty(x: Sequence[Any], y: Sequence[Any]) -> float:
    """2 (H(X) + H(Y) - H(X, Y)) / (H(X) + H(Y)) in any unit; 0 if either has one value."""
    if len(set(x) - {None}) < 2 or len(set(y) - {None}) < 2:
        return 0.0
    table = contingency(x, y)
    rows: dict[Any, float] = {}
    columns: dict[Any, float] = {}
    for (a, b), count in table.items():
        rows[a] = rows.get(a, 0.0) + count
        columns[b] = columns.get(b, 0.0) + count
    of_x, of_y, of_both = (reference.entropy(list(part.values())) for part in (rows, columns, table))
    return max(0.0, 2 * (of_x + of_y - of_both) / (of_x + of_y))


class Correlations:
    """All correlations of columns and class, worked out pair by pair."""

    def __init__(self, columns: Sequence[Sequence[Any]], y: Sequence[Any], like_weka: bool = False) -> None:
        self.n_columns = len(columns)
        self.deviations = [1.0] * len(columns)
        self.with_class = [uncertainty(column, y) for column in columns]
        self.between = [[uncertainty(a, b) for b in columns] for a in columns]
        if like_weka:
            self.with_class = [0.0 if value < 1e-6 else value for value in self.with_class]
            self.between = [[1.0 if value < 1e-6 else value for value in row] for row in self.between]

    def merit(self, subset: Sequence[int]) -> float:
        """Hall's merit, with the columns weighted by their deviations; 0 of no features."""
        s = self.deviations
        if not subset:
            return 0.0
        with_class = sum(s[i] * self.with_class[i] for i in subset)
        pairs = sum(s[i] * s[j] * self.between[i][j] for i, j in itertools.combinations(subset, 2))
        return round(float(with_class / math.sqrt(sum(s[i] ** 2 for i in subset) + 2 * pairs)), 12)

    def best_of_all(self) -> float:
        """Largest merit of any subset."""
        sizes = range(1, self.n_columns + 1)
        return max(self.merit(s) for k in sizes for s in itertools.combinations(range(self.n_columns), k))


# --- linear correlation, for a quantity ---


def is_nominal(x: Sequence[Any]) -> bool:
    return any(isinstance(value, str) for value in x)


def complete(x: Sequence[Any]) -> list[Any]:
    """A column with its mean, or its commonest category, for missing values."""
    known = [value for value in x if value is not None]
    if is_nominal(x):
        instead = max(sorted(set(known)), key=known.count)  # the first of equals
    else:
        instead = math.fsum(known) / len(known) if known else 0.0
    return [instead if value is None else value for value in x]


def inputs(x: Sequence[Any]) -> dict[Any, Any]:
    """The numbers that stand for a column: itself, or the indicator of each of its categories."""
    return {v: np.array([a == v for a in x], float) for v in set(x)} if is_nominal(x) else {None: np.array(x)}


def pearson(a: Any, b: Any) -> float:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    return abs(a @ b) / math.sqrt((a @ a) * (b @ b))


def linear(x: Sequence[Any], y: Sequence[Any]) -> float:
    """Correlation of the indicators of every pair of categories, times the share of its rows."""
    x, y = complete(x), complete(y)
    total = 0.0
    for v, a in inputs(x).items():
        for w, b in inputs(y).items():
            rows = (np.ones(len(x)) if v is None else a) * (1.0 if w is None else b)
            total += rows.mean() * pearson(a, b)
    return total


def deviation(x: Sequence[Any]) -> float:
    """Weka's: the standard deviation, or sqrt(sum of P P (1 - P)) of a nominal column; 1 of a constant."""
    x = complete(x)
    if len(set(x)) == 1:
        return 1.0
    return math.sqrt(sum((1.0 if v is None else a.mean()) * a.var() for v, a in inputs(x).items()))


class LinearCorrelations(Correlations):
    """All linear correlations of columns and a quantity; text is nominal."""

    def __init__(self, columns: Sequence[Sequence[Any]], y: Sequence[float], like_weka: bool = False) -> None:
        self.n_columns = len(columns)
        self.with_class = [linear(column, y) for column in columns]
        self.between = [[linear(a, b) for b in columns] for a in columns]
        self.deviations = [1.0] * len(columns)
        if like_weka:
            self.deviations = [deviation(column) for column in columns]
            constant = [len(set(complete(column))) == 1 for column in columns]
            for i, j in itertools.product(range(len(columns)), repeat=2):
                self.between[i][j] = 1.0 if constant[i] or constant[j] else self.between[i][j]


# --- searches ---


def forward(correlations: Correlations, n_wanted: int | None = None) -> list[int]:
    """Greedy search that adds."""
    subset: list[int] = []
    while len(subset) < correlations.n_columns and len(subset) != n_wanted:
        others = [i for i in range(correlations.n_columns) if i not in subset]
        best = max(others, key=lambda i: correlations.merit([*subset, i]))  # the first of equals
        if n_wanted is None and correlations.merit([*subset, best]) <= correlations.merit(subset):
            break
        subset.append(best)
    return subset


def backward(correlations: Correlations, n_wanted: int | None = None) -> list[int]:
    """Greedy search that drops; what is left, in column order."""
    subset = list(range(correlations.n_columns))
    while subset and len(subset) != n_wanted:
        merits = {i: correlations.merit([j for j in subset if j != i]) for i in subset}
        worst = max(reversed(subset), key=merits.__getitem__)  # the last of equals
        if n_wanted is None and merits[worst] < correlations.merit(subset):
            break
        subset.remove(worst)
    return subset


def best_first(correlations: Correlations, n_stale: int, direction: str = "forward") -> list[int]:
    """Weka's BestFirst, with a list of `n_stale` open subsets, one neighbour at a time."""
    merit = functools.cache(lambda subset: correlations.merit(sorted(subset)))
    best: list[int] = list(range(correlations.n_columns)) if direction == "backward" else []
    opened = [best]
    stale = 0
    while stale < n_stale and opened:
        subset = opened.pop(0)
        before = best
        steps = [(i, "add") for i in range(correlations.n_columns) if i not in subset]
        steps += [(i, "drop") for i in range(correlations.n_columns) if i in subset]
        for i, step in steps:
            if step == {"forward": "drop", "backward": "add"}.get(direction):
                continue
            other = [*subset, i] if step == "add" else [j for j in subset if j != i]
            value, largest = merit(frozenset(other)), merit(frozenset(best))
            behind = [j for j, known in enumerate(opened) if value > merit(frozenset(known))]
            opened.insert(behind[0] if behind else len(opened), other)
            del opened[n_stale:]
            smaller = value == largest and len(other) < len(best)
            if value - largest > 1e-5 if step == "add" else value > largest or smaller:
                best = other
        stale = stale + 1 if best is before else 0
    return best


def locally_predictive(correlations: Correlations, subset: list[int]) -> list[int]:
    """Extend a subset by what is no more correlated with a member than with the class, best first."""
    subset = list(subset)
    others = [i for i in range(correlations.n_columns) if i not in subset]
    for i in sorted(others, key=lambda i: -round(correlations.with_class[i], 12)):
        own = correlations.with_class[i]
        if own > 1e-12 and all(correlations.between[i][j] <= own + 1e-12 for j in subset):
            subset.append(i)
    return subset
