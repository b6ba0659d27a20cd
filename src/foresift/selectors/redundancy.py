"""Redundancy by pairs of columns: for each feature the better one that it is redundant with."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from foresift.data.sklearn_compat import Progress
from foresift.data.table import Table
from foresift.selectors.uncertainty import symmetrical_uncertainty

__all__ = ["redundant_with"]

MIN_BLOCK = 4  # rows with similar values, at least, that exchange their values of another column
RELATED = 0.1  # symmetrical uncertainty of quantiles: two normal columns with a correlation of about 0.6
PARTNERS = 3  # kept columns that a candidate is compared with
QUANTILES, CATEGORIES = 8, 15  # the largest number of parts of a numeric and of a nominal column
MAX_ROWS = 4000
N_PERMUTATIONS = 8
CELLS = 2**20  # of tables of counts at a time
STEPS = 10  # of the progress


def redundant_with(
    table: Table,
    weights: NDArray[np.float64] | None,
    candidates: NDArray[np.intp],
    redundant_from: float,
    seed: int,
    progress: Progress | None = None,
) -> NDArray[np.intp]:
    """For each feature the better one, not redundant itself, that it is redundant with.

    As `explained_gain.explained_shares`, but for pairs of columns and without forests. A candidate is
    compared with the `PARTNERS` most related kept columns. Rows with neighbouring values in the kept column
    exchange their values of the candidate, so that only the information of the kept column about it remains.
    The information of the candidate is its mutual information with the classes, alone and given the kept
    column, minus its mean after permutation; the share that remains after the exchange is explained by the
    kept column. Numeric columns are cut into quantiles, and at most `MAX_ROWS` rows are used. A candidate
    costs a table of counts for every kept column, and at most `PARTNERS` tests.

    Parameters
    ----------
    table, weights, candidates, redundant_from, seed
        As in `explained_shares`.
    progress : Progress or None, default=None
        Advanced `STEPS` times.

    Returns
    -------
    ndarray of int of shape (n_features,)
        The feature that explains the largest share, if it is at least `redundant_from`; else -1.
    """
    leaders = np.full(table.n_columns, -1)
    n_done = 0
    if len(candidates):
        pairs = _Pairs(table, weights, candidates, seed)
        kept: list[int] = []  # positions among the candidates, as in `pairs`
        for i in range(len(candidates)):
            leader = pairs.leader(i, kept, redundant_from)
            if leader < 0:
                kept.append(i)
            else:
                leaders[candidates[i]] = candidates[leader]
            due = STEPS * (i + 1) // len(candidates)
            if progress is not None and due > n_done:
                progress.advance(due - n_done)
            n_done = due
    elif progress is not None:
        progress.advance(STEPS)
    return leaders


class _Pairs:
    """Information of pairs of columns about each other and about the classes."""

    def __init__(
        self,
        table: Table,
        weights: NDArray[np.float64] | None,
        columns: NDArray[np.intp],
        seed: int,
    ) -> None:
        rng = np.random.default_rng([seed, 1])
        self._table, self._columns = table, columns
        self._counted = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights > 0)
        n_rows = min(MAX_ROWS, len(self._counted))
        self._rows = rows = np.sort(rng.choice(self._counted, n_rows, replace=False))
        self._weights = np.ones(len(rows)) if weights is None else weights[rows]
        n_quantiles = max(2, min(QUANTILES, math.isqrt(len(rows) // 4)))
        self._target = table.target.take(rows).strata(n_quantiles).astype(np.int64)
        self._n_classes = int(self._target.max()) + 1
        self._parts = np.array([_parts(table, int(j), rows, n_quantiles) for j in columns], dtype=np.int64)
        self._n_parts = int(self._parts.max()) + 1
        # The same for all pairs, so that the result for one does not depend on the others.
        self._keys = rng.random((N_PERMUTATIONS, len(rows)))
        self._anywhere = np.argsort(self._keys, axis=1)
        # Every pair needs the results of its columns again: a limited amount is cached.
        self._exchanges = lru_cache(max(PARTNERS, CELLS // self._keys.size))(self._exchanges_of)
        self._ranks = lru_cache(max(1 + PARTNERS, CELLS // len(self._counted)))(
            lambda column: known_ranks(table, column, self._counted)
        )

    def leader(self, i: int, kept: list[int], redundant_from: float) -> int:
        """The kept column that explains most of column i, if that is enough; else -1."""
        relations = self.relations(i, kept)
        best, most = -1, redundant_from
        for at in np.argsort(-relations, kind="stable")[:PARTNERS]:
            k = kept[at]
            if relations[at] < RELATED:
                break
            if equivalent(self._table, int(self._columns[i]), int(self._columns[k]), self._ranks):
                return k
            share = self.share(i, k, float(relations[at]))
            if share > most or (best < 0 and share == most):
                best, most = k, share
        return best

    def relations(self, i: int, others: list[int]) -> NDArray[np.float64]:
        """Symmetrical uncertainty of column i and each of the others."""
        size = self._n_parts
        found = [np.empty(0)]
        step = max(1, CELLS // max(size * size, len(self._rows)))
        for begin in range(0, len(others), step):
            parts = self._parts[others[begin : begin + step]] * size + self._parts[i]
            found.append(symmetrical_uncertainty(self._counts(parts, size * size).reshape(-1, size, size)))
        return np.concatenate(found)

    def share(self, i: int, k: int, relation: float) -> float:
        """Share of the information of column i about the classes that column k explains."""
        own, given = self._parts[i], self._parts[k]
        next_to, same_part = self._exchanges(k)
        shadows, anywhere, inside = own[next_to], own[self._anywhere], own[same_part]
        alone = self._information(np.vstack([own, shadows, anywhere]), np.zeros_like(given))
        together = self._information(np.vstack([own, shadows, inside]), given)
        information = (alone + together).reshape(-1)
        chance = information[1 + N_PERMUTATIONS :]
        above = information[: 1 + N_PERMUTATIONS] - chance.mean()
        # Column i is not informative alone or given k, but only with others: then the relation of the two
        # columns decides.
        if above[0] <= 2 * chance.std():
            return relation
        return float(np.clip(above[1:].mean() / above[0], 0, 1))

    def _information(self, parts: NDArray[np.int64], given: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mutual information of each row of `parts` and the classes, given other parts."""
        n_given, size, n_classes = int(given.max()) + 1, self._n_parts, self._n_classes
        cells = (given * size + parts) * n_classes + self._target
        shape = (len(parts), n_given, size, n_classes)
        counts = self._counts(cells, n_given * size * n_classes).reshape(shape)

        def entropies(some: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(entr(some).reshape(len(parts), -1).sum(axis=1))

        shares = counts / self._weights.sum()
        by_class, by_part = shares.sum(axis=2), shares.sum(axis=3)
        return entropies(by_class) + entropies(by_part) - entropies(shares) - entropies(by_part.sum(axis=2))

    def _counts(self, cells: NDArray[np.int64], n_cells: int) -> NDArray[np.float64]:
        """Weight in each cell, for every row of `cells`."""
        cells = cells + n_cells * np.arange(len(cells))[:, np.newaxis]
        weights = np.broadcast_to(self._weights, cells.shape).reshape(-1)
        return np.asarray(np.bincount(cells.reshape(-1), weights, n_cells * len(cells)), dtype=np.float64)

    def _exchanges_of(self, k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Sources of exchanges among neighbours in column k, and among rows of the same part."""
        column = int(self._columns[k])
        blocks = self._parts[k]
        if not self._table.store.is_nominal(column):
            blocks = blocks_of(codes_of(self._table, column)[self._rows], MIN_BLOCK)
        return exchange(blocks, self._keys), exchange(self._parts[k], self._keys)


def blocks_of(values: NDArray[Any], size: int) -> NDArray[np.intp]:
    """Block of every row: rows of neighbouring values, joined until there are at least `size`."""
    order = np.argsort(values, kind="stable")
    level = np.cumsum(np.diff(values[order], prepend=values[order[0]]) != 0)
    block_of_level, block, n_rows = [], 0, 0
    for count in np.bincount(level).tolist():
        if n_rows >= size:
            block, n_rows = block + 1, 0
        block_of_level.append(block)
        n_rows += count
    blocks = np.empty(len(values), dtype=np.intp)
    blocks[order] = np.array(block_of_level)[level]
    return blocks


def exchange(blocks: NDArray[Any], keys: NDArray[np.float64]) -> NDArray[np.intp]:
    """Source of the value of every row: the next row of its block in the order of the keys, cyclically."""
    order = np.argsort(blocks + keys, axis=1)
    ordered = blocks[order[0]]  # the same blocks in every order
    first = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    following = np.roll(order, -1, axis=1)
    following[:, np.append(first[1:], len(blocks)) - 1] = order[:, first]
    sources = np.empty_like(order)
    np.put_along_axis(sources, order, following, axis=1)
    return sources


def _parts(table: Table, column: int, rows: NDArray[np.intp], n_quantiles: int) -> NDArray[np.int64]:
    """Quantiles, or the most frequent categories and one for the rest; missing is a part of its own."""
    codes = codes_of(table, column)[rows]
    missing = table.store.n_values(column)
    counts = np.bincount(codes, minlength=missing + 1)
    if table.store.is_nominal(column):
        of_code = np.minimum(np.argsort(np.argsort(-counts, kind="stable")), CATEGORIES)
        return np.asarray(of_code[codes])
    counts, n_missing = counts[:missing], counts[missing]
    if np.count_nonzero(counts) <= n_quantiles:
        of_code = np.cumsum(counts > 0) - 1
    else:
        ranks = np.cumsum(counts)
        of_code = (n_quantiles * (ranks - 1)) // int(ranks[-1])
    of_code = np.append(np.maximum(of_code, 0), max(0, int(of_code.max(initial=-1))) + (n_missing > 0))
    return np.asarray(of_code[codes])


Ranks = tuple[NDArray[np.bool_], NDArray[np.intp]]


def known_ranks(table: Table, column: int, rows: NDArray[np.intp]) -> Ranks:
    """Mask of the missing values of a column in these rows, and the ranks of the others."""
    codes = codes_of(table, column)[rows]
    unknown = codes == table.store.n_values(column)
    return unknown, np.unique(codes[~unknown], return_inverse=True)[1]


def equivalent(table: Table, a: int, b: int, ranks: Callable[[int], Ranks]) -> bool:
    """Whether two columns are equivalent by their ranks: equal or reversed, or categories renamed."""
    nominal = table.store.is_nominal(a)
    if nominal != table.store.is_nominal(b):
        return False
    (unknown, first), (other, second) = ranks(a), ranks(b)
    if not np.array_equal(unknown, other):  # missing in the same rows
        return False
    if not len(first) or first.max() != second.max():
        return not len(first)
    if nominal:
        n_values = int(first.max()) + 1
        return len(np.unique(first * n_values + second)) == n_values
    return np.array_equal(first, second) or np.array_equal(first, second.max() - second)


def codes_of(table: Table, column: int) -> NDArray[np.int64]:
    """Codes of a column."""
    return np.asarray(table.store.codes(column), dtype=np.int64)
