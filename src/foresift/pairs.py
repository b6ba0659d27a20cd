"""Which features work together in the trees of a forest: splits right below one another, against chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from foresift.node_table import NodeTable

__all__ = ["CoOccurrence", "count_pairs"]

_MOST_FEATURES = 10_000  # matrices of all pairs
_ROUNDS = 200
_FREE = 0.05  # chance of setting even one pair free by mistake


@dataclass(frozen=True, eq=False)
class CoOccurrence:
    """How often two features split right below one another, and how often they would by chance.

    Attributes
    ----------
    observed : ndarray of shape (n_features, n_features)
        Number of splits on one of the two right below a split on the other, in all trees; symmetric, 0 on the
        diagonal.
    expected : ndarray of shape (n_features, n_features)
        The same if the feature of a split did not depend on that of the split above it, but for not being the
        same: every depth of the trees has the features it has, on both sides.
    statistic : ndarray of shape (n_features, n_features)
        Mean over the trees of observed less expected, in units of its standard error; NaN where all trees
        agree.
    pvalues : ndarray of shape (n_features, n_features)
        Probability of so large a statistic by chance (Student's t, one-sided); 1 where there is none.
    """

    observed: NDArray[np.float64]
    expected: NDArray[np.float64]
    statistic: NDArray[np.float64]
    pvalues: NDArray[np.float64]

    @property
    def lift(self) -> NDArray[np.float64]:
        """Observed over expected; above 1 two features seek each other, below they avoid each other."""
        nothing = np.full_like(self.expected, np.nan)
        return np.divide(self.observed, self.expected, out=nothing, where=self.expected > 0)

    def significant(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """Mask of the pairs that work together, the chance of even one false one being `alpha` (Holm)."""
        p = len(self.pvalues)
        first, second = np.triu_indices(p, 1)
        values = self.pvalues[first, second]
        order = np.argsort(values, kind="stable")
        passed = values[order] <= alpha / np.arange(len(values), 0, -1)
        n_passed = len(passed) if passed.all() else int(passed.argmin())
        kept = order[:n_passed]
        mask = np.zeros((p, p), dtype=bool)
        mask[first[kept], second[kept]] = mask[second[kept], first[kept]] = True
        return mask


@dataclass(frozen=True)
class _Edges:
    """Splits right below one on a different feature: both features, and the depth of the lower one."""

    above: NDArray[np.intp]
    below: NDArray[np.intp]
    depth: NDArray[np.intp]

    @classmethod
    def of(cls, table: NodeTable) -> _Edges:
        parent, feature = table.nodes["parent"], table.nodes["feature"].astype(np.intp)
        depth, at = np.zeros(len(parent), dtype=np.intp), parent
        while (there := at >= 0).any():
            depth += there
            at = np.where(there, parent[at], -1)
        lower = np.flatnonzero(~table.is_leaf & (parent >= 0))
        lower = lower[feature[lower] != feature[parent[lower]]]
        return cls(feature[parent[lower]], feature[lower], depth[lower])

    def where(self, bound: NDArray[np.bool_]) -> _Edges:
        kept = bound[self.above, self.below]
        return _Edges(self.above[kept], self.below[kept], self.depth[kept])

    def counts(self, features: NDArray[np.intp], n_depths: int, p: int) -> NDArray[np.float64]:
        return (
            np.bincount(self.depth * p + features, minlength=n_depths * p).reshape(n_depths, p).astype(float)
        )


def count_pairs(tables: Sequence[NodeTable], n_features: int, *, most_free: int = 20) -> CoOccurrence:
    """Count the pairs in some trees and set them beside chance; at least two trees are needed.

    Sums of rows and columns are kept, so a pair that is far above chance lifts pairs of all other features
    too: where the halves of XOR follow each other, noise must follow noise. So the most significant pair is
    set free, that is, left out when chance is fitted, and again, up to `most_free` of them.

    Examples
    --------
    >>> from foresift import SiftForestClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 5))
    >>> y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    >>> forest = SiftForestClassifier(200, max_features=2, random_state=0).fit(X, y)
    >>> np.argwhere(np.triu(count_pairs(forest.node_tables_, 5).significant()))
    array([[0, 1]])
    """
    if n_features > _MOST_FEATURES:
        raise ValueError(
            f"{n_features:,} features make too many pairs; at most {_MOST_FEATURES:,} are: select first."
        )
    if len(tables) < 2:
        raise ValueError("Trees are compared with each other, so at least two are needed: grow more.")
    trees = [_Edges.of(table) for table in tables]
    bound = ~np.eye(n_features, dtype=bool)  # the pairs that chance is fitted to
    found = _against_chance(trees, bound)
    for _ in range(most_free):
        pvalues = np.where(np.triu(bound), found.pvalues, 1.0)
        i, j = np.unravel_index(pvalues.argmin(), pvalues.shape)
        if pvalues[i, j] > _FREE / max(1, np.triu(bound).sum()):
            break
        bound[i, j] = bound[j, i] = False
        found = _against_chance(trees, bound)
    return found


def _against_chance(trees: Sequence[_Edges], bound: NDArray[np.bool_]) -> CoOccurrence:
    p, n = len(bound), len(trees)
    n_depths = 1 + max(int(tree.depth.max(initial=0)) for tree in trees)
    kept = [tree.where(bound) for tree in trees]
    rows = [tree.counts(tree.above, n_depths, p) for tree in kept]
    columns = np.sum([tree.counts(tree.below, n_depths, p) for tree in kept], axis=0)
    tails = _fit_without(np.sum(rows, axis=0), columns, bound)
    heads = _inverse(tails @ bound.T)
    all_heads = _inverse(tails.sum(axis=1, keepdims=True) - tails)
    observed, expected, mean, squares = np.zeros((4, p, p))
    for tree, row in zip(trees, rows, strict=True):
        seen = np.bincount(tree.above * p + tree.below, minlength=p**2).reshape(p, p).astype(float)
        by_chance = (row * heads).T @ tails
        if not bound[~np.eye(p, dtype=bool)].all():
            whole = tree.counts(tree.above, n_depths, p)
            by_chance = np.where(bound, by_chance, (whole * all_heads).T @ tails)
        np.fill_diagonal(by_chance, 0.0)
        seen, by_chance = seen + seen.T, by_chance + by_chance.T  # which of the two was above does not matter
        observed += seen
        expected += by_chance
        excess = seen - by_chance
        mean += excess
        squares += excess**2
    mean /= n
    variance = np.maximum(squares / n - mean**2, 0.0) * n / (n - 1)
    error = np.sqrt(variance / n)
    statistic = np.divide(mean, error, out=np.full_like(mean, np.nan), where=error > 1e-9)
    pvalues = np.where(np.isnan(statistic), 1.0, stats.t.sf(statistic, n - 1))
    return CoOccurrence(observed, expected, statistic, pvalues)


def _inverse(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 1e-9)


def _fit_without(
    rows: NDArray[np.float64], columns: NDArray[np.float64], bound: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Fit expected counts a_i b_j of the bound pairs to the sums of every depth's rows and columns; return b.

    This is iterative proportional fitting of a table with empty cells (quasi-independence): an upper feature
    i meets every lower j with the share b_j of the sum of its bound b.
    """
    b = columns.copy()
    totals = columns.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        a = rows * _inverse(b @ bound.T)
        new = columns * _inverse(a @ bound)
        # Only products count, so the scale is free: keep it at that of the columns.
        new *= totals * _inverse(new.sum(axis=1, keepdims=True))
        done = np.abs(new - b).max(initial=0.0) < 1e-10 * max(1.0, float(columns.max(initial=0.0)))
        b = new
        if done:
            break
    return b
