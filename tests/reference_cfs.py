"""Slow, literal twins for CFS: cuts by description length, symmetrical uncertainty, merit, searches."""

from __future__ import annotations

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
        self.with_class = [uncertainty(column, y) for column in columns]
        self.between = [[uncertainty(a, b) for b in columns] for a in columns]
        if like_weka:
            self.with_class = [0.0 if value < 1e-6 else value for value in self.with_class]
            self.between = [[1.0 if value < 1e-6 else value for value in row] for row in self.between]

    def merit(self, subset: Sequence[int]) -> float:
        """Hall's merit, k mean(r_cf) / sqrt(k + k (k - 1) mean(r_ff)); 0 of no features."""
        k = len(subset)
        if k == 0:
            return 0.0
        r_cf = np.mean([self.with_class[i] for i in subset])
        pairs = [self.between[i][j] for i, j in itertools.combinations(subset, 2)]
        r_ff = np.mean(pairs) if pairs else 0.0
        return round(float(k * r_cf / math.sqrt(k + k * (k - 1) * r_ff)), 12)

    def best_of_all(self) -> float:
        """Largest merit of any subset."""
        sizes = range(1, self.n_columns + 1)
        return max(self.merit(s) for k in sizes for s in itertools.combinations(range(self.n_columns), k))


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


def best_first(correlations: Correlations, n_stale: int) -> list[int]:
    """Best-first search with a list of `n_stale` open subsets, one extension at a time."""
    best: list[int] = []
    opened: list[list[int]] = [[]]
    stale = 0
    while stale < n_stale and opened:
        subset = opened.pop(0)
        improved = False
        for i in range(correlations.n_columns):
            if i in subset:
                continue
            extended = [*subset, i]
            merit = correlations.merit(extended)
            behind = [j for j, other in enumerate(opened) if merit > correlations.merit(other)]
            opened.insert(behind[0] if behind else len(opened), extended)
            del opened[n_stale:]
            if merit > correlations.merit(best) + 1e-5:
                best, improved = extended, True
        stale = 0 if improved else stale + 1
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
