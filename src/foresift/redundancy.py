"""Which features tell nothing that better ones do not tell already."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foresift import _core
from foresift._sklearn import Progress
from foresift.evidence import gather_evidence
from foresift.table import Schema, Table
from foresift.uncertainty import symmetrical_uncertainty

__all__ = ["explained_shares", "redundant_with"]

MOST_TREES, LEAST_TREES, ROWS_IN_ALL = 400, 50, 400_000  # small tables have few nodes, so more trees
PAIR_TREES = 50  # for two columns, each of which is tried at every other node
RELATED = 0.1  # symmetrical uncertainty of quantiles: two normal columns with a correlation of about 0.6
QUANTILES = 8
LOT = 4  # rows, at least, that are predicted about the same and exchange their values


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

    An approximate Markov blanket. For every candidate, best first, a twin is made that keeps what the
    features kept so far know of it and forgets the rest: rows are ordered by how the kept ones predict the
    candidate (out of fold), and neighbours exchange their values. In a forest of the kept ones and the
    candidate, the twin of a copy gains as much in its place; that of a feature with news of its own, also if
    it has them only together with others, gains no more than chance.

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
    kept: list[int] = []
    for candidate in candidates.tolist():
        if n_wanted is not None and len(kept) == n_wanted:
            break
        rng = np.random.default_rng([seed, candidate])
        if any(_same(table, candidate, column) for column in kept):
            shares[candidate] = 1.0
        else:
            shares[candidate] = _share(table, weights, kept, candidate, rng, options) if kept else 0.0
        if shares[candidate] < redundant_from:
            kept.append(candidate)
    return shares


def redundant_with(
    table: Table,
    weights: NDArray[np.float64] | None,
    candidates: NDArray[np.intp],
    redundant_from: float,
    seed: int,
    options: dict[str, Any],
) -> NDArray[np.intp]:
    """For each feature the better one, not redundant itself, that tells the same about the classes.

    As `explained_shares`, but with every better feature alone, and only with those it is related to at all.

    Parameters
    ----------
    table, weights, candidates, redundant_from, seed, options
        As in `explained_shares`.

    Returns
    -------
    ndarray of int of shape (n_features,)
        The feature that accounts for the largest share, if it is at least `redundant_from`; else -1.
    """
    leaders = np.full(table.n_columns, -1)
    kept: list[int] = []
    for candidate in candidates.tolist():
        rng = np.random.default_rng([seed, len(kept)])
        shares = {}
        for column in kept:
            if _same(table, candidate, column):
                shares = {column: 1.0}
                break
            if _relation(table, candidate, column) >= RELATED:
                shares[column] = _share(table, weights, [column], candidate, rng, options, PAIR_TREES)
        if shares and max(shares.values()) >= redundant_from:
            leaders[candidate] = max(shares, key=shares.__getitem__)
        else:
            kept.append(candidate)
    return leaders


def _relation(table: Table, a: int, b: int) -> float:
    """Symmetrical uncertainty of two columns, numeric ones by quantiles."""
    parts = [_parts(table, column) for column in (a, b)]
    size = int(parts[1].max()) + 1
    counts = np.bincount(parts[0] * size + parts[1], minlength=(int(parts[0].max()) + 1) * size)
    return float(symmetrical_uncertainty(counts.reshape(-1, size)))


def _parts(table: Table, column: int) -> NDArray[np.int64]:
    """Categories, or quantiles; missing is one more."""
    codes = _codes(table, column)
    n_values = table.store.n_values(column)
    if table.store.is_nominal(column) or n_values <= QUANTILES:
        return codes
    ranks = np.cumsum(np.bincount(codes, minlength=n_values + 1)[:n_values])
    of_code = np.append((QUANTILES * (ranks - 1)) // max(1, int(ranks[-1])), QUANTILES)
    return np.asarray(of_code[codes])


def _share(
    table: Table,
    weights: NDArray[np.float64] | None,
    kept: list[int],
    candidate: int,
    rng: np.random.Generator,
    options: dict[str, Any],
    most_trees: int = MOST_TREES,
) -> float:
    twin = _twin(table, kept, candidate, rng)
    codes = _codes(table, candidate)
    # The same draws of columns for both: a twin that differs little meets almost the same nodes.
    seed = int(rng.integers(2**63))
    n_estimators = max(LEAST_TREES, min(most_trees, ROWS_IN_ALL // table.n_rows))
    options = {**options, "n_estimators": n_estimators}
    own = _above_chance(table, weights, kept, candidate, codes, seed, options)
    # A candidate that is no better than chance beside the kept ones has nothing left to be explained.
    if not own > 0:
        return 1.0
    return float(np.clip(_above_chance(table, weights, kept, candidate, twin, seed, options) / own, 0, 1))


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
    together = Table(store, Schema(None, (None,) * (len(kept) + 1)), table.target, table.classes)
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


def _twin(table: Table, kept: list[int], candidate: int, rng: np.random.Generator) -> NDArray[np.int64]:
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
    twin = np.empty_like(codes)
    twin[order] = codes[source]
    return twin


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


def _same(table: Table, a: int, b: int) -> bool:
    """Whether two columns tell the same: equal or reversed ranks, or categories by other names."""
    store = table.store
    if store.is_nominal(a) != store.is_nominal(b) or store.n_values(a) != store.n_values(b):
        return False
    first, second, n = _codes(table, a), _codes(table, b), store.n_values(a)
    if not np.array_equal(first == n, second == n):  # missing in the same rows
        return False
    if store.is_nominal(a):
        pairs = np.unique(first * (n + 1) + second)
        return len(pairs) == len(np.unique(first)) == len(np.unique(second))
    return np.array_equal(first, second) or bool(((first == n) | (first == n - 1 - second)).all())


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
