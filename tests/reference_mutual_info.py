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
