"""Degree-based pruning of a tree, and its errors in cross-validation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.folds import rows_of_split
from foresift.data.table import Table
from foresift.engine.node_table import NODE_DTYPE, NodeTable, leaves

__all__ = ["GivenFolds", "StratifiedFolds", "errors_by_degree", "prune_splits", "pruning_degrees"]


def pruning_degrees(tree: NodeTable) -> NDArray[np.float64]:
    """Degree of pruning that deletes the split of each node of a binary tree; -1 for a leaf.

    Pruning to a degree deletes the final splits (whose sides are leaves) that save no more training errors,
    as a fraction of all rows, and repeatedly those that become final. So the degree of a split is the larger
    of what it saves itself and of the degrees below it.

    Examples
    --------
    >>> from foresift import CartClassifier
    >>> tree = CartClassifier(criterion="ssv").fit([[1], [2], [3], [4], [5]], [0, 0, 1, 1, 0]).node_table_
    >>> pruning_degrees(tree).tolist()
    [0.2, -1.0, 0.2, -1.0, -1.0]
    """
    parent, first = tree.nodes["parent"], tree.nodes["first_child"]
    fullest = tree.counts.max(axis=1)
    saved = np.bincount(parent[1:], fullest[1:], minlength=len(parent)) - fullest
    # Rounded, because equal sums of real weights may differ in the last digits; and 0, not -0.
    degrees = np.where(tree.is_leaf, -1.0, np.abs(np.round(saved / tree.nodes["size"][0], 12)))
    levels, at = [], np.zeros(1, dtype=np.intp)
    while len(at := at[first[at] >= 0]):
        levels.append(at)
        at = np.concatenate([first[at], first[at] + 1])
    for level in reversed(levels):
        below = np.maximum(degrees[first[level]], degrees[first[level] + 1])
        degrees[level] = np.maximum(degrees[level], below)
    return degrees


def prune_splits(tree: NodeTable, degree: float) -> NodeTable:
    """Prune a tree to a degree; see `pruning_degrees`.

    Examples
    --------
    >>> from foresift import CartClassifier
    >>> tree = CartClassifier(criterion="ssv").fit([[1], [2], [3], [4], [5]], [0, 0, 1, 1, 0]).node_table_
    >>> prune_splits(tree, 0.1).n_leaves, prune_splits(tree, 0.2).n_leaves
    (3, 1)
    """
    is_split = pruning_degrees(tree) > np.round(degree, 12)
    kept = np.append(True, is_split[tree.nodes["parent"][1:]])
    number = np.cumsum(kept) - 1
    nodes = tree.nodes[kept]
    nodes["parent"][1:] = number[nodes["parent"][1:]]
    inner = is_split[kept]
    nodes["first_child"][inner] = number[nodes["first_child"][inner]]
    for name in set(NODE_DTYPE.names or ()) - {"parent", "size"}:
        nodes[name][~inner] = leaves(1)[name]
    return _without_unused_sets(
        replace(tree, nodes=nodes, counts=tree.counts[kept], tried=None, permuted=None)
    )


def _without_unused_sets(tree: NodeTable) -> NodeTable:
    nodes = tree.nodes
    nominal = np.argsort(nodes["category_set"], kind="stable")[(nodes["category_set"] < 0).sum() :]
    sets = nodes["category_set"][nominal]
    begin, size = tree.set_offsets[sets], np.diff(tree.set_offsets)[sets]
    offsets = np.append(0, np.cumsum(size)).astype(np.int32)
    nodes["category_set"][nominal] = np.arange(len(sets))
    entries = np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], size)
    return replace(
        tree, set_offsets=offsets, set_codes=tree.set_codes[entries], set_branches=tree.set_branches[entries]
    )


def errors_by_degree(
    tree: NodeTable,
    reached: NDArray[np.int32],
    classes: NDArray[np.int32],
    weights: NDArray[np.float64],
    degrees: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weight of the rows that the tree misclassifies when pruned to each of the ascending degrees.

    `reached` is the leaf of the unpruned tree that every row reaches.

    Examples
    --------
    >>> from foresift import CartClassifier
    >>> X, y = [[1], [2], [3], [4], [5]], np.array([0, 0, 1, 1, 0])
    >>> model = CartClassifier(criterion="ssv").fit(X, y)
    >>> errors_by_degree(model.node_table_, model.apply(X)[:, 0], y, np.ones(5), np.array([0.1, 0.5]))
    array([0., 2.])
    """
    predicted, parent = tree.counts.argmax(axis=1), tree.nodes["parent"]
    n_degrees = len(degrees)
    # A node is a leaf between its own degree and that of its parent.
    since = np.searchsorted(degrees, pruning_degrees(tree))
    until = np.append(n_degrees, since[parent[1:]])
    changes = np.zeros(n_degrees + 1)
    at = reached
    while len(at):
        wrong = predicted[at] != classes
        for when, sign in ((since, 1.0), (until, -1.0)):
            changes += sign * np.bincount(when[at[wrong]], weights[wrong], minlength=n_degrees + 1)
        up = at > 0
        at, classes, weights = parent[at[up]], classes[up], weights[up]
    return np.cumsum(changes)[:-1]


class GivenFolds:
    """Folds given as pairs of training and held-out rows; those without weight are skipped.

    Examples
    --------
    >>> folds = GivenFolds([([0, 1], [2]), ([1, 2], [0])], np.array([1.0, 0.5, 0.0]))
    >>> folds.n_folds, folds.parts(0, np.array([1.0, 0.5, 0.0]))
    (1, (array([0. , 0.5, 0. ]), array([1., 0., 0.])))
    """

    def __init__(self, pairs: Iterable[Any], weights: NDArray[np.float64]) -> None:
        n = len(weights)
        splits = (rows_of_split(pair, n, fold) for fold, pair in enumerate(pairs))
        times = [[np.bincount(rows, minlength=n) for rows in split] for split in splits]
        self._times = [pair for pair in times if all((part * weights).any() for part in pair)]
        self.n_folds = len(self._times)
        if not times:
            raise ValueError("cv is empty: give pairs of training rows and held-out rows.")

    def parts(
        self, fold: int, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Training weight and held-out weight of every row."""
        train, held = self._times[fold]
        return train * weights, held * weights


class StratifiedFolds:
    """Stratified folds in which a row of weight 2 counts as two rows.

    The copies of a row may be in different folds; if weights are not whole numbers, a row is in one fold. The
    folds depend on the seed and on the values of the rows, not on their order, nor on whether copies are
    repeated rows or weights. There are at most as many folds as copies.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> table = make_table([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> weights = np.array([1.0, 3.0, 2.0, 0.0])
    >>> folds = StratifiedFolds(table, weights, 2, seed=0)
    >>> folds.n_folds, sum(folds.parts(fold, weights)[1] for fold in range(2))
    (2, array([1., 3., 2., 0.]))
    """

    def __init__(self, table: Table, weights: NDArray[np.float64] | None, n_folds: int, seed: int) -> None:
        weights = np.ones(table.n_rows) if weights is None else weights
        whole = bool((weights == np.floor(weights)).all()) and weights.sum() < 2**53
        self._copies = (weights if whole else weights > 0).astype(np.int64)
        rows = np.flatnonzero(self._copies)
        ids = _distinct(table, rows)
        shuffled = np.random.default_rng(seed).permutation(int(ids.max()) + 1)[ids]
        order = rows[np.lexsort((shuffled, table.target.codes[rows]))]
        # Copies are numbered in this order; copy i goes to fold i mod n_folds.
        self._ends = np.zeros(table.n_rows, dtype=np.int64)
        self._ends[order] = np.cumsum(self._copies[order])
        n_copies = int(self._copies.sum())
        self.n_folds = min(n_folds, n_copies) if n_copies > 1 else 0

    def parts(
        self, fold: int, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Training weight and held-out weight of every row."""
        ends = self._ends
        starts = ends - self._copies
        copies = _n_before(ends, fold, self.n_folds) - _n_before(starts, fold, self.n_folds)
        held = weights * copies / np.maximum(self._copies, 1)
        return weights - held, held


def _n_before(end: NDArray[np.int64], fold: int, n_folds: int) -> NDArray[np.int64]:
    """Count the numbers below `end` that are `fold` modulo `n_folds`."""
    return (end + (n_folds - 1 - fold)) // n_folds


def _distinct(table: Table, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Number the distinct rows in lexicographic order; equal rows have equal numbers."""
    ids = np.zeros(len(rows), dtype=np.int64)
    for j in range(table.n_columns):
        codes = np.asarray(table.store.codes(j))[rows]
        _, ids = np.unique(ids * (table.store.n_values(j) + 1) + codes, return_inverse=True)
        if ids.max() + 1 == len(rows):
            break
    return ids
