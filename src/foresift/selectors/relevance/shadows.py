"""Scores of every column in a forest beside those of its shadows: the same values in permuted rows."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from foresift import _core
from foresift.data.complexity import complexity_of
from foresift.data.sklearn_compat import Progress
from foresift.data.table import Table
from foresift.engine.grow import fold_trees, make_grower, resolve_max_features
from foresift.engine.node_table import NodeTable

__all__ = ["ShadowSums", "deduplicate_columns", "draw_permutations", "gather_shadow_sums", "pool_size"]

POOL = 300  # permutations that the shadows of all columns share
MAX_POOLED_ROWS = 2**19  # of all permutations together: 2 MB, which stay in the cache


class ShadowSums:
    """Sums over trials of weight, and of weight times gain, for every column and each of its shadows.

    Trials below a split on the same column are left out, for the shadows too: what it knows is used up there.

    Parameters
    ----------
    n_features, n_shadows : int
        Number of columns, and of shadows of each.

    Attributes
    ----------
    weight, gain : ndarray of shape (n_features, 1 + n_shadows)
        Sum of the weights, and of weight times gain: of the column, then of its shadows.
    """

    def __init__(self, n_features: int, n_shadows: int) -> None:
        self.weight, self.gain = np.zeros((2, n_features, 1 + n_shadows))

    def add_tree(self, table: NodeTable, node_weight: NDArray[np.float64]) -> None:
        """Add a tree that recorded its trials and those of the shadows; see `_node_weights`."""
        tried, permuted = table.tried, table.permuted
        assert tried is not None
        assert permuted is not None
        weight = node_weight[tried["node"]]
        below = _core.below_own_split(table.arrays[0], table.tried_bytes)
        trials = np.flatnonzero((below == 0) & (weight > 0))
        feature, weight = tried["feature"][trials].astype(np.intp), weight[trials]
        had_turn = np.flatnonzero(~np.isnan(permuted[:1]).any(axis=0))  # the same for every trial

        def summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
            sums = np.bincount(feature, values, minlength=len(self.weight))  # in the order of the trials
            return sums.astype(np.float64, copy=False)

        weights = summed(weight)
        self.weight[:, 0] += weights
        self.weight[:, 1 + had_turn] += weights[:, np.newaxis]
        self.gain[:, 0] += summed(weight * tried["gain"][trials])
        # Of a wide table the gains of all shadows take more than the table does: one shadow after another.
        for shadow in had_turn.tolist():
            self.gain[:, 1 + shadow] += summed(weight * permuted[trials, shadow])

    def add_gains(
        self, column: NDArray[np.intp], weight: NDArray[np.float64], gain: NDArray[np.float64]
    ) -> None:
        """Add gains of columns and shadows, NaN for those that had no turn; see `level_forest.LevelGains`."""
        for shadow, own in enumerate(gain.T):
            had_turn = np.flatnonzero(~np.isnan(own))
            some, weights = column[had_turn], weight[had_turn]
            self.weight[:, shadow] += np.bincount(some, weights, minlength=len(self.weight))
            self.gain[:, shadow] += np.bincount(some, weights * own[had_turn], minlength=len(self.weight))

    def merge(self, other: ShadowSums) -> None:
        """Add what was summed elsewhere."""
        self.weight += other.weight
        self.gain += other.gain

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean gains, of the shape of `gain`; NaN without a trial that counts."""
        known = self.weight > 0
        return np.divide(self.gain, self.weight, out=np.full(known.shape, np.nan), where=known)


def deduplicate_columns(
    table: Table, weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
    """Find columns with the same codes in every row, and an order of columns by nothing but their codes.

    Parameters
    ----------
    table : Table
        The data.
    weights : ndarray or None
        Weights of the rows; those of weight 0 are not looked at.

    Returns
    -------
    order : ndarray of uint32
        Columns that are not constant, one of each set of equal ones, by a hash of their codes.
    first : ndarray of shape (n_columns,)
        For every column the first one that has the same codes: itself, if there is no other.
    """
    store = table.store
    counted = None if weights is None or weights.all() else weights > 0
    first = np.arange(table.n_columns)
    varies = np.ones(table.n_columns, dtype=bool)
    digests: dict[bytes, int] = {}
    for column in range(table.n_columns):
        codes = np.asarray(store.codes(column))
        missing = store.n_values(column)
        if counted is None:
            varies[column] = missing + store.has_missing(column) > 1
        else:  # ranks among the rows that count, as if there were no others
            values, codes = np.unique(codes[counted], return_inverse=True)
            varies[column], missing = len(values) > 1, len(values) - (values[-1] == missing)
        kind = f"{store.is_nominal(column)} {missing}".encode()
        digest = blake2b(codes.astype("<u2").tobytes(), digest_size=16, key=kind).digest()
        first[column] = digests.setdefault(digest, column)
    order = [column for digest in sorted(digests) if varies[column := digests[digest]]]
    return np.array(order, dtype=np.uint32), first


def pool_size(n_shadows: int, n_rows: int) -> int:
    """Number of permutations that the shadows of all columns share."""
    return max(n_shadows, min(POOL, MAX_POOLED_ROWS // n_rows))


def draw_permutations(n_columns: int, n_shadows: int, n_rows: int, seed: int) -> NDArray[np.uint32]:
    """Draw for every column which permutations of a common pool its shadows have.

    If all columns had the same few permutations, one unlucky permutation would raise the scores of all
    shadows together where columns are correlated, and the result would depend on the seed.

    Returns
    -------
    ndarray of shape (n_columns, n_shadows)
        Numbers of permutations, different ones for the shadows of one column.
    """
    n_pool = pool_size(n_shadows, n_rows)
    first = np.random.default_rng([seed, 3]).integers(n_pool, size=(n_columns, 1), dtype=np.uint32)
    return np.asarray((first + np.arange(n_shadows, dtype=np.uint32)) % n_pool, dtype=np.uint32)


def gather_shadow_sums(
    table: Table,
    weights: NDArray[np.float64] | None,
    progress: Progress,
    *,
    order: NDArray[np.uint32],
    row_maps: NDArray[np.uint32] | None = None,
    n_shadows: int,
    shadows_per_tree: int,
    n_estimators: int,
    max_features: Any,
    max_depth: int | None,
    min_samples_split: int,
    min_share: float,
    nominal_splits: str,
    seed: int,
    n_jobs: int | None,
) -> ShadowSums:
    """Grow trees on all rows, and sum up what columns and shadows gain where the column is tried.

    A shadow has the values of its column in permuted rows, the same permutation in all trees; see
    `draw_permutations`. Weights go with the values if they vary within a class. Shadows are only scored:
    columns split.

    Parameters
    ----------
    table : Table
        The data.
    weights : ndarray or None
        Weights of the rows; those of weight 0 are left out of everything.
    progress : Progress
        Is told of every tree.
    order : ndarray of uint32
        The columns to draw from; see `deduplicate_columns`.
    row_maps : ndarray of uint32 of shape (pool_size, n_rows) or None
        Where rows of the shadows have their values from, if rows depend on each other.
    n_shadows, shadows_per_tree : int
        Shadows of every column, and how many of them every tree scores, in turn.
    n_estimators, max_features, max_depth, min_samples_split, nominal_splits, n_jobs
        As in a forest.
    min_share : float
        Cuts leave at least this share of a node's rows on either side, if the column has such a cut.
    seed : int
        Draws permutations and columns.

    Returns
    -------
    ShadowSums
        The same for any `n_jobs`.
    """
    permutations = np.zeros((table.n_columns, n_shadows), dtype=np.uint32)
    permutations[order] = draw_permutations(len(order), n_shadows, table.n_rows, seed)
    # Constant columns and copies are no candidates; a whole number counts all columns of the table.
    whole = isinstance(max_features, numbers.Integral)
    n_candidates = resolve_max_features(max_features, table.n_columns if whole else len(order))
    grower = make_grower(
        table.with_target(table.target.ranked(weights)),
        weights,
        criterion=table.target.criterion,
        missing="learn",
        multiway=nominal_splits == "multiway",
        correct_nominal=True,
        max_features=min(n_candidates, len(order)),
        max_depth=-1 if max_depth is None else min(max_depth, 2**31 - 1),
        min_split=float(min_samples_split),
        min_share=min_share,
        record_tried=True,
        n_shadows=n_shadows,
        shadow_of=permutations.ravel().tolist(),
        shadow_rows=np.empty(0, np.uint32)
        if row_maps is None
        else row_maps[: permutations.max() + 1].ravel(),
        shadows_per_tree=shadows_per_tree,
        column_order=order.tolist(),
        draw="all",
        seed=seed,
    )

    # Parts of fixed sizes are added up in order, so that rounding does not depend on the threads. Several at
    # once save calls, but trees of many columns take much memory.
    size = -(-n_estimators // 64)
    n_parts = max(1, min(8, 20_000 // table.n_columns, n_estimators // (4 * size * effective_n_jobs(n_jobs))))
    sums = ShadowSums(table.n_columns, n_shadows)

    def read(trees: Iterator[NodeTable]) -> list[ShadowSums]:
        grown = list(trees)
        parts = [ShadowSums(table.n_columns, n_shadows) for _ in range(0, len(grown), size)]
        for k, (tree, weight) in enumerate(zip(grown, _node_weights(grown), strict=True)):
            parts[k // size].add_tree(tree, weight)
        return parts

    def merge(parts: list[ShadowSums]) -> None:
        for part in parts:
            sums.merge(part)

    options: dict[str, Any] = {"size": n_parts * size, "tried": True, "n_jobs": n_jobs, "merge": merge}
    fold_trees(grower, range(n_estimators), progress, read, **options)
    return sums


def _node_weights(trees: list[NodeTable]) -> list[NDArray[np.float64]]:
    """How much each node of each tree counts; leaves where nothing was tried may have any weight."""
    if trees[0].complexity is not None:
        return [tree.complexity for tree in trees if tree.complexity is not None]
    if trees[0].counts.shape[1] <= 2:
        ends = np.cumsum([len(tree.counts) for tree in trees])[:-1]
        return np.split(complexity_of(np.concatenate([tree.counts for tree in trees])), ends)
    # Sums over more classes round by which nodes come together: always those of one tree that were tried.
    weights = []
    for tree in trees:
        assert tree.tried is not None
        tried, weight = np.unique(tree.tried["node"]), np.zeros(len(tree.counts))
        weight[tried] = complexity_of(tree.counts[tried])
        weights.append(weight)
    return weights
