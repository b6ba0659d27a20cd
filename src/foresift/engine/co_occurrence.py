"""Co-occurrence of features in the trees of a forest: parent and child splits, compared with chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from foresift.data.plain_state import saved
from foresift.engine.node_table import NodeTable

__all__ = ["CoOccurrence", "count_pairs"]

_MAX_FEATURES = 4_000  # a matrix of all pairs takes 128 MB, and about ten are held at once
_ROUNDS = 200
_FREE = 0.05  # probability of excluding any pair by mistake


@saved
@dataclass(frozen=True, eq=False)
class CoOccurrence:
    """How often two features split parent and child nodes, and how often they would by chance.

    Attributes
    ----------
    observed : ndarray of shape (n_features, n_features)
        Number of splits on one feature directly below a split on the other, in all trees; symmetric, 0 on the
        diagonal.
    expected : ndarray of shape (n_features, n_features)
        The same if the feature of a split were independent of a different feature in the parent split, given
        how often each feature occurs at every depth.
    statistic : ndarray of shape (n_features, n_features)
        Mean over the trees of observed minus expected, in units of its standard error; NaN if all trees
        agree.
    pvalues : ndarray of shape (n_features, n_features)
        One-sided p-values of the statistic (Student's t); 1 without a statistic.
    """

    observed: NDArray[np.float64]
    expected: NDArray[np.float64]
    statistic: NDArray[np.float64]
    pvalues: NDArray[np.float64]

    @property
    def lift(self) -> NDArray[np.float64]:
        """Observed over expected: above 1 two features occur together more often than by chance."""
        empty = np.full_like(self.expected, np.nan)
        return np.divide(self.observed, self.expected, out=empty, where=self.expected > 0)

    def significant(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """Mask of the significant pairs, with a family-wise error rate of `alpha` (Holm)."""
        p = len(self.pvalues)
        n_pairs = p * (p - 1) // 2
        first, second = np.nonzero(np.triu(self.pvalues <= alpha, 1))  # no other pair can pass
        values = self.pvalues[first, second]
        order = np.argsort(values, kind="stable")
        passed = values[order] <= alpha / (n_pairs - np.arange(len(values)))
        n_passed = len(passed) if passed.all() else int(passed.argmin())
        kept = order[:n_passed]
        mask = np.zeros((p, p), dtype=bool)
        mask[first[kept], second[kept]] = mask[second[kept], first[kept]] = True
        return mask


@dataclass(frozen=True)
class _Edges:
    """Splits directly below a split on another feature: both features, depth of the lower one, tree."""

    above: NDArray[np.intp]
    below: NDArray[np.intp]
    depth: NDArray[np.intp]
    tree: NDArray[np.intp]

    @classmethod
    def of(cls, tables: Sequence[NodeTable]) -> _Edges:
        parts = [_edges_of(table, number) for number, table in enumerate(tables)]
        return cls(*np.concatenate(parts, axis=1))

    def counts(self, features: NDArray[np.intp], n_depths: int, p: int) -> NDArray[np.float64]:
        return _sums(self.depth, features, 1.0, (n_depths, p))


def _edges_of(table: NodeTable, number: int) -> NDArray[np.intp]:
    parent, feature = table.nodes["parent"], table.nodes["feature"].astype(np.intp)
    lower = np.flatnonzero(~table.is_leaf & (parent >= 0))
    lower = lower[feature[lower] != feature[parent[lower]]]
    return np.stack(
        [feature[parent[lower]], feature[lower], table.levels[lower], np.full(len(lower), number)]
    )


def _sums(
    i: NDArray[np.intp], j: NDArray[np.intp], values: float | NDArray[np.float64], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Matrix with the sums of `values` at (i, j)."""
    weights = np.broadcast_to(np.asarray(values, dtype=np.float64), i.shape)
    sums = np.bincount(i * shape[1] + j, weights, minlength=shape[0] * shape[1])
    return np.asarray(sums, dtype=np.float64).reshape(shape)


def count_pairs(tables: Sequence[NodeTable], n_features: int, *, most_free: int = 20) -> CoOccurrence:
    """Count the pairs in at least two trees and compare them with chance.

    The expected counts keep the sums of rows and columns, so a pair far above chance would also raise the
    excess of pairs of all other features. Therefore the most significant pair is excluded from the fit of the
    expected counts, then the next, up to `most_free` of them.

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
    if n_features > _MAX_FEATURES:
        raise ValueError(
            f"{n_features:,} features have too many pairs: select at most {_MAX_FEATURES:,} of them first."
        )
    if len(tables) < 2:
        raise ValueError("Trees are compared with each other, so at least two are needed: grow more.")
    edges = _Edges.of(tables)
    # Only features that occur in a pair.
    used, where = np.unique(np.concatenate([edges.above, edges.below]), return_inverse=True)
    edges = replace(edges, above=where[: len(edges.above)], below=where[len(edges.above) :])
    p, n_all = len(used), n_features * (n_features - 1) // 2
    free: list[tuple[int, int]] = []  # pairs that the expected counts are not fitted to
    found = _against_chance(edges, p, len(tables), free)
    for _ in range(most_free if p else 0):
        pvalues = np.where(np.triu(np.ones((p, p), dtype=bool), 1), found.pvalues, 1.0)
        for pair in free:
            pvalues[pair] = 1.0
        i, j = map(int, np.unravel_index(pvalues.argmin(), pvalues.shape))
        if pvalues[i, j] > _FREE / max(1, n_all - len(free)):
            break
        free.append((i, j))
        found = _against_chance(edges, p, len(tables), free)
    return found if p == n_features else _expand(found, used, n_features)


def _expand(found: CoOccurrence, used: NDArray[np.intp], n_features: int) -> CoOccurrence:
    """Expand the matrices of the features in use to all features."""
    whole = CoOccurrence(*(np.full((n_features, n_features), empty) for empty in (0.0, 0.0, np.nan, 1.0)))
    for field in fields(found):
        getattr(whole, field.name)[np.ix_(used, used)] = getattr(found, field.name)
    return whole


def _against_chance(edges: _Edges, p: int, n: int, free: Sequence[tuple[int, int]]) -> CoOccurrence:
    """Compare the pairs with chance, tree by tree; the fit excludes the `free` pairs."""
    shape = (1 + int(edges.depth.max(initial=0)), p)
    pairs = np.array([*free, *((j, i) for i, j in free)], dtype=np.intp).reshape(-1, 2).T  # both ways
    is_free = np.isin(edges.above * p + edges.below, pairs[0] * p + pairs[1])
    bound = _Edges(*(getattr(edges, f.name)[~is_free] for f in fields(edges)))
    tails = _fit_without(
        bound.counts(bound.above, *shape), bound.counts(bound.below, *shape), (pairs[0], pairs[1])
    )
    heads = _inverse(_partners(tails, (pairs[0], pairs[1])))
    all_heads = _inverse(_partners(tails, (pairs[0][:0], pairs[1][:0])))
    observed, expected, squares, both = np.zeros((4, p, p))
    ends = np.searchsorted(edges.tree, np.arange(n + 1))
    for first, last in pairwise(ends):
        above, below, depth = (getattr(edges, name)[first:last] for name in ("above", "below", "depth"))
        # Only features that are above another one in this tree have nonzero rows.
        rows, at = np.unique(above, return_inverse=True)
        kept = ~is_free[first:last]
        row = _sums(depth[kept], at[kept], 1.0, (shape[0], len(rows)))
        chance = (row * heads[:, rows]).T @ tails
        whole = _sums(depth, at, 1.0, (shape[0], len(rows)))
        for i, j in zip(*pairs, strict=True):
            if (k := np.searchsorted(rows, i)) < len(rows) and rows[k] == i:
                chance[k, j] = (whole[:, k] * all_heads[:, i]) @ tails[:, j]
        chance[np.arange(len(rows)), rows] = 0.0
        expected[rows] += chance
        # Sum of (s_ij + s_ji - e_ij - e_ji)^2 = d_ij^2 + d_ji^2 + 2 d_ij d_ji with the excess d = s - e.
        np.subtract.at(chance, (at, below), 1.0)
        squares[rows] += chance**2
        inner = chance[:, rows]
        both[np.ix_(rows, rows)] += inner * inner.T
        np.add.at(observed, (above, below), 1.0)
    observed, expected, squares = observed + observed.T, expected + expected.T, squares + squares.T + 2 * both
    mean, squares = (observed - expected) / n, squares / n
    variance = np.maximum(squares - mean**2, 0.0)
    agree = variance <= np.maximum(1e-12 * squares, (n - 1) * 1e-18)  # up to rounding
    error = np.sqrt(variance / (n - 1))
    statistic = np.divide(mean, error, out=np.full_like(mean, np.nan), where=~agree)
    pvalues = np.where(agree, 1.0, stats.t.sf(statistic, n - 1))
    return CoOccurrence(observed, expected, statistic, pvalues)


def _partners(b: NDArray[np.float64], free: tuple[NDArray[np.intp], NDArray[np.intp]]) -> NDArray[np.float64]:
    """Sum of b over the partners of each feature: all but itself and those it has a free pair with."""
    sums = b.sum(axis=1, keepdims=True) - b
    np.subtract.at(sums.T, free[0], b.T[free[1]])
    return np.maximum(sums, 0.0)


def _inverse(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 1e-9)


def _fit_without(
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    free: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> NDArray[np.float64]:
    """Fit expected counts a_i b_j of the other pairs to the row and column sums of every depth; return b.

    This is iterative proportional fitting of a table with structural zeros (quasi-independence).
    """
    b = columns.copy()
    totals = columns.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        a = rows * _inverse(_partners(b, free))
        new = columns * _inverse(_partners(a, free))
        # Only products matter, so the scale is arbitrary: keep that of the columns.
        new *= totals * _inverse(new.sum(axis=1, keepdims=True))
        done = np.abs(new - b).max(initial=0.0) < 1e-10 * max(1.0, float(columns.max(initial=0.0)))
        b = new
        if done:
            break
    return b
