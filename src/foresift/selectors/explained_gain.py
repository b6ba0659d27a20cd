"""Redundancy by forests: the share of a feature's gain that better features explain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from foresift import _core
from foresift.data.sklearn_compat import Progress
from foresift.data.table import Schema, Table
from foresift.selectors.evidence import gather_evidence
from foresift.selectors.redundancy import (
    MIN_BLOCK,
    Ranks,
    blocks_of,
    codes_of,
    equivalent,
    exchange,
    known_ranks,
)

__all__ = ["explained_shares"]

MAX_TREES, MIN_TREES, MAX_ROWS = 400, 50, 400_000  # of all trees: small tables have few nodes each


def explained_shares(
    table: Table,
    weights: NDArray[np.float64] | None,
    candidates: NDArray[np.intp],
    redundant_from: float,
    n_wanted: int | None,
    seed: int,
    options: dict[str, Any],
    given: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Share of each feature's gain above chance that is explained by the better features that are kept.

    An approximate Markov blanket. For every candidate, best first, a shadow is made that keeps only the
    information of the kept features about it: rows are ordered by the out-of-fold predictions of the
    candidate from the kept ones, and neighbours exchange their values. In a forest of the kept ones and the
    candidate, the shadow of a copy has the same gain as the copy; that of a feature with information of its
    own, also if only together with others, gains no more than by chance.

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
        Stop when this number is kept.
    seed : int
        Seed of folds, permutations and drawn columns.
    options : dict
        Further options of `gather_evidence`.
    given : ndarray of int
        Columns that are kept from the start.

    Returns
    -------
    ndarray of shape (n_features,)
        Shares from 0 to 1; 0 for the best feature, NaN for columns that are no candidates.
    """
    shares = np.full(table.n_columns, np.nan)
    table, weights = _restricted(table, weights, np.append(given, candidates))
    rows = np.arange(table.n_rows)

    def ranks(column: int) -> Ranks:
        return known_ranks(table, column, rows)

    kept = list(range(len(given)))
    for candidate, column in enumerate(candidates.tolist(), len(given)):
        if n_wanted is not None and len(kept) == len(given) + n_wanted:
            break
        rng = np.random.default_rng([seed, column])
        if any(equivalent(table, candidate, other, ranks) for other in kept):
            shares[column] = 1.0
        else:
            shares[column] = _share(table, weights, kept, candidate, rng, options) if kept else 0.0
        if shares[column] < redundant_from:
            kept.append(candidate)
    return shares


def _restricted(
    table: Table, weights: NDArray[np.float64] | None, columns: NDArray[np.intp]
) -> tuple[Table, NDArray[np.float64] | None]:
    """These columns, in this order, without the rows of weight 0, and the weights of the other rows."""
    rows = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights > 0)
    store = _core.ColumnStore(len(rows), 65_536)
    for column in columns.tolist():
        _add(store, table, column, codes_of(table, column)[rows])
    fewer = Table(store, Schema(None, (None,) * len(columns)), table.target.take(rows))
    return fewer, None if weights is None else weights[rows]


def _share(
    table: Table,
    weights: NDArray[np.float64] | None,
    kept: list[int],
    candidate: int,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> float:
    shadow = _shadow(table, kept, candidate, rng)
    codes = codes_of(table, candidate)
    # The same drawn columns for both: a shadow that differs little gets almost the same nodes.
    seed = int(rng.integers(2**63))
    n_estimators = max(MIN_TREES, min(MAX_TREES, MAX_ROWS // table.n_rows))
    options = {**options, "n_estimators": n_estimators}
    own = _above_chance(table, weights, kept, candidate, codes, seed, options)
    # A candidate without a gain above chance beside the kept ones has nothing to be explained.
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
        _add(store, table, column, codes_of(table, column))
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
    """Codes of the candidate, permuted among rows with similar predictions from the kept features."""
    known = np.column_stack([codes_of(table, column) for column in kept]).astype(np.float32)
    codes = codes_of(table, candidate)
    nominal = table.store.is_nominal(candidate)
    model = DecisionTreeClassifier if nominal else DecisionTreeRegressor
    folds = KFold(5, shuffle=True, random_state=int(rng.integers(2**32)))
    n_rows = len(codes)
    if n_rows < 10:
        return rng.permutation(codes)
    tree = model(min_samples_leaf=2, random_state=0)
    predicted = cross_val_predict(tree, known, codes, cv=folds)
    blocks = blocks_of(predicted, 1 if nominal else MIN_BLOCK)  # predicted categories have no order
    keys = np.empty((1, n_rows))
    keys[0, np.argsort(predicted, kind="stable")] = rng.random(n_rows)
    return codes[exchange(blocks, keys)[0]]


def _add(store: _core.ColumnStore, table: Table, column: int, codes: NDArray[np.int64]) -> None:
    """Add codes as a column of the same type; ranks split like the values they represent."""
    n_values = table.store.n_values(column)
    if table.store.is_nominal(column):
        store.add_nominal(np.where(codes == n_values, -1, codes).astype(np.int32), n_values)
    else:
        store.add_numeric(np.where(codes == n_values, np.nan, codes)[:, np.newaxis])
