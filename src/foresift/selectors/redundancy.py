"""Which features tell nothing that better ones do not tell already."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foresift import _core
from foresift.data.sklearn_compat import Progress
from foresift.data.table import Schema, Table
from foresift.selectors.evidence import gather_evidence
from foresift.selectors.uncertainty import symmetrical_uncertainty

__all__ = ["explained_shares", "redundant_with"]

MAX_TREES, MIN_TREES, ROWS_IN_ALL = 400, 50, 400_000  # small tables have few nodes, so more trees
LOT = 4  # rows, at least, that are predicted about the same and exchange their values

# For pairs of columns.
RELATED = 0.1  # symmetrical uncertainty of quantiles: two normal columns with a correlation of about 0.6
PARTNERS = 3  # kept columns a candidate is compared with
QUANTILES, CATEGORIES = 8, 15  # parts of a numeric and of a nominal column, at most
MAX_ROWS = 4000
N_SHUFFLES = 8
CELLS = 2**20  # of tables of counts at a time
STEPS = 10  # in which the work is told


def explained_shares(
    table: Table,
    weights: NDArray[np.float64] | None,
    candidates: NDArray[np.intp],
    redundant_from: float,
    n_wanted: int | None,
    seed: int,
    options: dict[str, Any],
) -> NDArray[np.float64]:
    """Share of each feature's gain above chance that the better features, as far as kept, account for.

    An approximate Markov blanket. For every candidate, best first, a shadow is made that keeps what the
    features kept so far know of it and forgets the rest: rows are ordered by how the kept ones predict the
    candidate (out of fold), and neighbours exchange their values. In a forest of the kept ones and the
    candidate, the shadow of a copy gains as much in its place; that of a feature with news of its own, also
    if it has them only together with others, gains no more than chance.

    Parameters
    ----------
    table : Table
        The data.
    weights : ndarray or None
        Weights of the rows.
    candidates : ndarray of int
        Columns, best first.
    redundant_from : float
        Candidates with at least this share are not kept.
    n_wanted : int or None
        Stop when so many are kept.
    seed : int
        Draws folds, shuffles and columns.
    options : dict
        Further options of `gather_evidence`.

    Returns
    -------
    ndarray of shape (n_features,)
        Shares from 0 to 1; 0 for the best feature, NaN for columns that were not asked for.
    """
    shares = np.full(table.n_columns, np.nan)
    table, weights = _that_count(table, weights, candidates)
    rows = np.arange(table.n_rows)

    def known_ranks(column: int) -> _Ranks:
        return _known_ranks(table, column, rows)

    kept: list[int] = []
    for candidate, column in enumerate(candidates.tolist()):
        if n_wanted is not None and len(kept) == n_wanted:
            break
        rng = np.random.default_rng([seed, column])
        if any(_same(table, candidate, other, known_ranks) for other in kept):
            shares[column] = 1.0
        else:
            shares[column] = _share(table, weights, kept, candidate, rng, options) if kept else 0.0
        if shares[column] < redundant_from:
            kept.append(candidate)
    return shares


def _that_count(
    table: Table, weights: NDArray[np.float64] | None, columns: NDArray[np.intp]
) -> tuple[Table, NDArray[np.float64] | None]:
    """Return these columns, in this order, without the rows of weight 0, and the weights of the others."""
    rows = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights > 0)
    store = _core.ColumnStore(len(rows), 65_536)
    for column in columns.tolist():
        _add(store, table, column, _codes(table, column)[rows])
    fewer = Table(store, Schema(None, (None,) * len(columns)), table.target.take(rows))
    return fewer, None if weights is None else weights[rows]


def redundant_with(
    table: Table,
    weights: NDArray[np.float64] | None,
    candidates: NDArray[np.intp],
    redundant_from: float,
    seed: int,
    progress: Progress | None = None,
) -> NDArray[np.intp]:
    """For each feature the better one, not redundant itself, that it is redundant with.

    The question is that of `explained_shares`, put to pairs of columns and answered without forests: a
    candidate is compared with the `PARTNERS` kept columns it is related to most. Rows next to each other in
    the kept column exchange their values of the candidate, which leaves what the kept one knows of it. What
    the candidate tells about the classes is its mutual information with them, alone and beside the kept
    column, above what it is after shuffling; the share of it that is left is what the kept one accounts for.
    Numeric columns count by quantiles, at most `MAX_ROWS` rows are looked at. One column costs at most as
    many tests as there are partners, and one table of counts with every kept one.

    Parameters
    ----------
    table, weights, candidates, redundant_from, seed
        As in `explained_shares`.
    progress : Progress or None, default=None
        Is told `STEPS` times that a part of the work is done.

    Returns
    -------
    ndarray of int of shape (n_features,)
        The feature that accounts for the largest share, if it is at least `redundant_from`; else -1.
    """
    leaders = np.full(table.n_columns, -1)
    n_told = 0
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
            if progress is not None and due > n_told:
                progress.advance(due - n_told)
            n_told = due
    elif progress is not None:
        progress.advance(STEPS)
    return leaders


class _Pairs:
    """What pairs of columns tell about each other and about the classes; what is of one column is kept."""

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
        self._target = table.target.codes[rows].astype(np.int64)
        n_quantiles = max(2, min(QUANTILES, math.isqrt(len(rows) // 4)))
        self._parts = np.array([_parts(table, int(j), rows, n_quantiles) for j in columns], dtype=np.int64)
        self._n_parts = int(self._parts.max()) + 1
        # The same for all pairs, so that the outcome for one does not depend on which others were asked.
        self._keys = rng.random((N_SHUFFLES, len(rows)))
        self._anywhere = np.argsort(self._keys, axis=1)
        # What is worked out of one column is wanted again for every pair: as much is kept as is no burden.
        self._exchanges = lru_cache(max(PARTNERS, CELLS // self._keys.size))(self._exchanges_of)
        self._ranks = lru_cache(max(1 + PARTNERS, CELLS // len(self._counted)))(
            lambda column: _known_ranks(table, column, self._counted)
        )

    def leader(self, i: int, kept: list[int], redundant_from: float) -> int:
        """Which of the kept accounts for most of column i, if for enough; else -1."""
        relations = self.relations(i, kept)
        best, most = -1, redundant_from
        for at in np.argsort(-relations, kind="stable")[:PARTNERS]:
            k = kept[at]
            if relations[at] < RELATED:
                break
            if _same(self._table, int(self._columns[i]), int(self._columns[k]), self._ranks):
                return k
            share = self.share(i, k, float(relations[at]))
            if share > most or (best < 0 and share == most):
                best, most = k, share
        return best

    def relations(self, i: int, others: list[int]) -> NDArray[np.float64]:
        """Symmetrical uncertainty of column i and each of the others."""
        size = self._n_parts
        found = [np.empty(0)]
        lot = max(1, CELLS // max(size * size, len(self._rows)))
        for begin in range(0, len(others), lot):
            parts = self._parts[others[begin : begin + lot]] * size + self._parts[i]
            found.append(symmetrical_uncertainty(self._counts(parts, size * size).reshape(-1, size, size)))
        return np.concatenate(found)

    def share(self, i: int, k: int, relation: float) -> float:
        """Share of what column i tells about the classes that column k accounts for."""
        own, beside = self._parts[i], self._parts[k]
        next_to, same_part = self._exchanges(k)
        shadows, anywhere, inside = own[next_to], own[self._anywhere], own[same_part]
        alone = self._information(np.vstack([own, shadows, anywhere]), np.zeros_like(beside))
        together = self._information(np.vstack([own, shadows, inside]), beside)
        told = (alone + together).reshape(-1)
        chance = told[1 + N_SHUFFLES :]
        above = told[: 1 + N_SHUFFLES] - chance.mean()
        # Neither alone nor beside k does it tell more than chance: what it tells, it tells with others. What
        # counts then is how much the two columns are the same.
        if above[0] <= 2 * chance.std():
            return relation
        return float(np.clip(above[1:].mean() / above[0], 0, 1))

    def _information(self, parts: NDArray[np.int64], given: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mutual information of each row of `parts` and the classes, given other parts."""
        n_given, size, n_classes = int(given.max()) + 1, self._n_parts, self._table.target.n_classes
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
        """Rows that exchange their values: those next to each other in column k, those of the same part."""
        return _sources(self._lots_of(k), self._keys), _sources(self._parts[k], self._keys)

    def _lots_of(self, k: int) -> NDArray[np.intp]:
        """Rows next to each other in column k, at least `LOT` of them, or those of one category."""
        if self._table.store.is_nominal(int(self._columns[k])):
            return self._parts[k]
        codes = _codes(self._table, int(self._columns[k]))[self._rows]
        order = np.argsort(codes, kind="stable")
        level = np.cumsum(np.diff(codes[order], prepend=codes[order[0]]) != 0)
        lots = np.empty(len(codes), dtype=np.intp)
        lots[order] = _merged(level, LOT)
        return lots


def _sources(lots: NDArray[Any], keys: NDArray[np.float64]) -> NDArray[np.intp]:
    """For every row the one it takes its value from: the next one of its lot in the order of the keys."""
    order = np.argsort(lots + keys, axis=1)
    ordered = lots[order[0]]  # the same lots in every order
    first = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    following = np.roll(order, -1, axis=1)
    following[:, np.append(first[1:], len(lots)) - 1] = order[:, first]
    sources = np.empty_like(order)
    np.put_along_axis(sources, order, following, axis=1)
    return sources


def _parts(table: Table, column: int, rows: NDArray[np.intp], n_quantiles: int) -> NDArray[np.int64]:
    """Quantiles, or the commonest categories and one for the rest; missing is a part of its own."""
    codes = _codes(table, column)[rows]
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


def _share(
    table: Table,
    weights: NDArray[np.float64] | None,
    kept: list[int],
    candidate: int,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> float:
    shadow = _shadow(table, kept, candidate, rng)
    codes = _codes(table, candidate)
    # The same draws of columns for both: a shadow that differs little meets almost the same nodes.
    seed = int(rng.integers(2**63))
    n_estimators = max(MIN_TREES, min(MAX_TREES, ROWS_IN_ALL // table.n_rows))
    options = {**options, "n_estimators": n_estimators}
    own = _above_chance(table, weights, kept, candidate, codes, seed, options)
    # A candidate that is no better than chance beside the kept ones has nothing left to be explained.
    if not own > 0:
        return 1.0
    return float(np.clip(_above_chance(table, weights, kept, candidate, shadow, seed, options) / own, 0, 1))


def _above_chance(
    table: Table,
    weights: NDArray[np.float64] | None,
    kept: list[int],
    candidate: int,
    codes: NDArray[np.int64],
    seed: int,
    options: dict[str, Any],
) -> float:
    """Mean gain above chance of the candidate, with these codes, in a forest with the kept columns."""
    store = _core.ColumnStore(table.n_rows, 65_536)
    for column in kept:
        _add(store, table, column, _codes(table, column))
    _add(store, table, candidate, codes)
    together = Table(store, Schema(None, (None,) * (len(kept) + 1)), table.target)
    evidence = gather_evidence(
        together,
        weights,
        Progress(None, None, "", {}),
        bound="exact",
        max_features=1,
        seed=seed,
        **options,
    )
    return float((evidence.mean - evidence.per_weight(evidence.chance))[-1])


def _shadow(table: Table, kept: list[int], candidate: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Codes of the candidate, shuffled among rows for which the kept features predict about the same."""
    known = np.column_stack([_codes(table, column) for column in kept]).astype(np.float32)
    codes = _codes(table, candidate)
    nominal = table.store.is_nominal(candidate)
    model = DecisionTreeClassifier if nominal else DecisionTreeRegressor
    folds = KFold(5, shuffle=True, random_state=int(rng.integers(2**32)))
    n_rows = len(codes)
    if n_rows < 10:
        return rng.permutation(codes)
    tree = model(min_samples_leaf=2, random_state=0)
    predicted = cross_val_predict(tree, known, codes, cv=folds)
    order = np.argsort(predicted, kind="stable")
    level = np.cumsum(np.diff(predicted[order], prepend=predicted[order[0]]) != 0)
    if not nominal:  # predicted categories have no order: neighbours are those of the same
        level = _merged(level, LOT)
    # In random order inside a level, every row takes the value of the next one, the last that of the first.
    order = order[np.lexsort((rng.random(n_rows), level))]
    first = np.flatnonzero(np.diff(level, prepend=-1))
    source = np.roll(order, -1)
    source[np.append(first[1:], n_rows) - 1] = order[first]
    shadow = np.empty_like(codes)
    shadow[order] = codes[source]
    return shadow


def _merged(level: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """Join neighbouring levels until each has at least `size` rows; rows are in the order of their levels."""
    counts = np.bincount(level)
    lots, lot, n = np.zeros(len(counts), dtype=np.intp), 0, 0
    for k, count in enumerate(counts):
        if n >= size:
            lot, n = lot + 1, 0
        lots[k] = lot
        n += count
    return lots[level]


_Ranks = tuple[NDArray[np.bool_], NDArray[np.intp]]


def _known_ranks(table: Table, column: int, rows: NDArray[np.intp]) -> _Ranks:
    """Where a column is missing in these rows, and the ranks of its values elsewhere."""
    codes = _codes(table, column)[rows]
    unknown = codes == table.store.n_values(column)
    return unknown, np.unique(codes[~unknown], return_inverse=True)[1]


def _same(table: Table, a: int, b: int, ranks: Callable[[int], _Ranks]) -> bool:
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


def _codes(table: Table, column: int) -> NDArray[np.int64]:
    codes: NDArray[np.int64] = np.asarray(table.store.codes(column), dtype=np.int64)
    return codes


def _add(store: _core.ColumnStore, table: Table, column: int, codes: NDArray[np.int64]) -> None:
    """Add codes as a column of their kind: ranks split like the values they stand for."""
    n_values = table.store.n_values(column)
    if table.store.is_nominal(column):
        store.add_nominal(np.where(codes == n_values, -1, codes).astype(np.int32), n_values)
    else:
        store.add_numeric(np.where(codes == n_values, np.nan, codes)[:, np.newaxis])
