"""Slow, literal reference of the greedy information filters: probabilities counted in dictionaries."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def entropy(rows: Iterable[tuple[Any, ...]], weights: Sequence[float]) -> float:
    """Entropy of the tuples, in nats."""
    counts: dict[tuple[Any, ...], float] = defaultdict(float)
    for row, weight in zip(rows, weights, strict=True):
        counts[row] += weight
    total = sum(counts.values())
    return -sum(c / total * math.log(c / total) for c in counts.values() if c > 0)


class Table:
    """Columns of codes, None for missing, and a target, with the definitions of information over them."""

    def __init__(self, columns: list[list[Any]], y: list[Any], weights: list[float], pairwise: bool) -> None:
        self.columns, self.y, self.weights, self.pairwise = columns, y, weights, pairwise

    def rows(self, *columns: list[Any]) -> tuple[list[tuple[Any, ...]], list[float]]:
        kept = [
            (row, weight)
            for row, weight in zip(zip(*columns, strict=True), self.weights, strict=True)
            if weight > 0 and not (self.pairwise and None in row)
        ]
        return [row for row, _ in kept], [weight for _, weight in kept]

    def information(self, a: list[list[Any]], b: list[Any]) -> float:
        """I(A;B), A one column or several."""
        rows, weights = self.rows(*a, b)
        left, right = [row[:-1] for row in rows], [row[-1:] for row in rows]
        return entropy(left, weights) + entropy(right, weights) - entropy(rows, weights)

    def conditional(self, x: list[Any], y: list[Any], w: list[Any]) -> float:
        """I(X;Y|W)."""
        rows, weights = self.rows(x, y, w)
        xw, yw, only = ([tuple(row[k] for k in at) for row in rows] for at in ((0, 2), (1, 2), (2,)))
        return sum(entropy(part, weights) for part in (xw, yw)) - sum(
            entropy(part, weights) for part in (only, rows)
        )

    def joint_entropy(self, *columns: list[Any]) -> float:
        return entropy(*self.rows(*columns))

    def score(self, scheme: str, j: int, chosen: list[int]) -> float:
        """The score of column j after those that were chosen."""
        x, y = self.columns[j], self.y
        relevance = self.information([x], y)
        given = [self.columns[k] for k in chosen]
        if scheme == "mim" or not given:
            return relevance
        if scheme == "mrmr":
            return relevance - sum(self.information([x], w) for w in given) / len(given)
        if scheme == "cmim":
            return min([relevance, *(self.conditional(x, y, w) for w in given)])
        joint = [self.information([x, w], y) for w in given]
        if scheme == "jmi":
            return sum(joint)
        entropies = [self.joint_entropy(x, w, y) for w in given]
        return sum(i / h if h > 0 else 0.0 for i, h in zip(joint, entropies, strict=True))


def greedy(
    scheme: str,
    columns: list[list[Any]],
    y: list[Any],
    n_steps: int,
    weights: list[float] | None = None,
    pairwise: bool = False,
) -> tuple[list[int], list[float], np.ndarray]:
    """Order and scores of the first columns, and the last score of every column; ties to the first column."""
    table = Table(columns, y, [1.0] * len(y) if weights is None else weights, pairwise)
    order: list[int] = []
    scores: list[float] = []
    last = np.zeros(len(columns))
    while len(order) < n_steps:
        left = [j for j in range(len(columns)) if j not in order]
        last[left] = [table.score(scheme, j, order) for j in left]
        best = next(j for j in left if last[j] >= last[left].max() - 1e-11)
        order.append(best)
        scores.append(last[best])
    return order, scores, last


def mrmr_until_chance(
    columns: list[list[Any]], y: list[Any], orders: list[list[int]], groups: list[list[int]] | None = None
) -> tuple[list[int], list[list[float]]]:
    """What mRMR adds until the next column is not above chance, and the best shadow of every order per step.

    The excess information of a column is its information about the target less the mean of that of itself and
    of its shadows. A column is informative if the best column left is above all shadows, and if at this or at
    a worse column more columns than shadows are at least as good. Of groups the best column counts.
    """
    table = Table(columns, y, [1.0] * len(y), False)
    every = [list(range(len(y))), *orders]
    about = [[table.information([[x[i] for i in rows]], y) for rows in every] for x in columns]
    groups = groups or [[j] for j in range(len(columns))]
    best = [[max(about[j][b] for j in group) for b in range(len(every))] for group in groups]
    excess = [[value - sum(values) / len(values) for value in values] for values in best]
    added: list[int] = []
    bests: list[list[float]] = []
    while len(added) < len(groups):
        left = [g for g in range(len(groups)) if g not in added]
        chosen = [j for g in added for j in groups[g]]
        scores = [max(table.score("mrmr", j, chosen) for j in groups[g]) for g in left]
        following = next(g for g, score in zip(left, scores, strict=True) if score >= max(scores) - 1e-11)
        shadows = [excess[g][b] for g in left for b in range(1, len(every))]
        bests.append([max(excess[g][b] for g in left) for b in range(1, len(every))])
        informative: set[int] = set()
        by_excess = sorted(left, key=lambda g: -excess[g][0])
        if excess[by_excess[0]][0] > max(shadows) + 1e-11:
            for g in by_excess:
                as_good = [h for h in left if excess[h][0] >= excess[g][0]]
                if len(as_good) > sum(shadow >= excess[g][0] - 1e-11 for shadow in shadows):
                    informative |= set(as_good)
        if following not in informative:
            break
        added.append(following)
    return added, bests
