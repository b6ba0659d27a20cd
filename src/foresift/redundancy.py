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

__all__ = ["explained_shares"]

MOST_TREES, LEAST_TREES, ROWS_IN_ALL = 400, 50, 400_000  # small tables have few nodes, so more trees


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
    candidate (out of fold), and its values are shuffled among neighbours. In a forest of the kept ones, the
    candidate and the twin, the twin of a copy gains as much as the copy; that of a feature with news of its
    own, also if it has them only together with others, gains no more than chance.

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
        Shares, at most 1 but for noise; 0 for the best feature, NaN for columns that were not asked for.
    """
    shares = np.full(table.n_columns, np.nan)
    kept: list[int] = []
    for candidate in candidates.tolist():
        if n_wanted is not None and len(kept) == n_wanted:
            break
        rng = np.random.default_rng([seed, candidate])
        shares[candidate] = _share(table, weights, kept, candidate, rng, options) if kept else 0.0
        if shares[candidate] < redundant_from:
            kept.append(candidate)
    return shares


def _share(
    table: Table,
    weights: NDArray[np.float64] | None,
    kept: list[int],
    candidate: int,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> float:
    twin = _twin(table, kept, candidate, rng)
    store = _core.ColumnStore(table.n_rows, 65_536)
    for column in [*kept, candidate]:
        _add(store, table, column, _codes(table, column))
    _add(store, table, candidate, twin)
    together = Table(store, Schema(None, (None,) * (len(kept) + 2)), table.target, table.classes)
    evidence = gather_evidence(
        together,
        weights,
        Progress(None, None, "", {}),
        bound="exact",
        n_estimators=max(LEAST_TREES, min(MOST_TREES, ROWS_IN_ALL // table.n_rows)),
        max_features=1,
        seed=int(rng.integers(2**63)),
        **options,
    )
    above = evidence.mean - evidence.per_weight(evidence.chance)
    # A candidate that is no better than chance beside the kept ones has nothing left to be explained.
    return float(np.nan_to_num(above[-1] / above[-2], nan=1.0)) if above[-2] > 0 else 1.0


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
    tree = model(min_samples_leaf=5, random_state=0)
    predicted = cross_val_predict(tree, known, codes, cv=folds)
    mixed = rng.permutation(n_rows)  # rows that are predicted alike come in random order
    order = mixed[np.argsort(predicted[mixed], kind="stable")]
    size = int(np.clip(n_rows // 50, 10, 50))
    lot = np.arange(n_rows) // size
    if nominal:  # predicted categories have no order: neighbours are those of the same
        lot = np.unique(predicted[order], return_inverse=True)[1]
    twin = np.empty_like(codes)
    shuffled = np.lexsort((rng.random(n_rows), lot))  # stays inside a lot
    twin[order] = codes[order][shuffled]
    return twin


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
