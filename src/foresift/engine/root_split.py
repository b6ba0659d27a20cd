"""Gain and split information of the best split of every column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.table import Table
from foresift.engine.grow import make_grower
from foresift.engine.node_table import NodeTable

__all__ = ["root_gains", "split_information"]


def root_gains(table: Table, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Gain of the best split of every column: in bits, or as a share of the variance of a quantity.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> root_gains(make_table([[1.0, 5.0], [2.0, 5.0]], ["a", "b"]), None)
    array([1., 0.])
    """
    grower = make_grower(
        table,
        weights,
        criterion=table.target.criterion,
        missing="fractional",
        multiway=True,
        min_leaf=0.0,
        min_split=0.0,
        min_gain=1e300,
        max_depth=1,
        max_features=table.n_columns,
        record_tried=True,
    )
    tried = NodeTable.from_core(grower.grow([0])[0], tried=True).tried
    assert tried is not None
    gains = np.zeros(table.n_columns)
    gains[tried["feature"]] = tried["gain"]  # no candidates if all rows of positive weight are of one class
    return gains / table.target.gain_unit(weights)


def split_information(
    table: Table, weights: NDArray[np.float64] | None, columns: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Split information of the best split of each column, in bits; missing values are one more branch.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> table = make_table([[1.0], [2.0], [3.0], [np.nan]], ["a", "b", "b", "b"])
    >>> split_information(table, None, np.array([0]))
    array([1.5])
    """
    store, target = table.store, table.target.codes
    weights = np.ones(table.n_rows) if weights is None else weights
    used = slice(None) if weights.all() else np.flatnonzero(weights)
    target, weights = target[used], weights[used]
    information = np.empty(len(columns))
    for k, j in enumerate(columns.tolist()):
        codes = np.asarray(store.codes(j))[used]
        if store.is_nominal(j):
            sizes = _weigh(codes, weights)
        else:
            sizes = _sides(np.append(store.values(j), np.nan), codes, target, table.target.n_classes, weights)
        shares = sizes[sizes > 0] / sizes.sum()
        information[k] = -(shares @ np.log2(shares))
    return information


def _sides(
    values: NDArray[np.float64],
    codes: NDArray[Any],
    target: NDArray[np.int32],
    n_classes: int,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weight below and above the best cut of a numeric column, and of its missing values."""
    if len(values) * n_classes <= len(codes) // 2:  # merge rows of the same code and class
        counts = _weigh(codes * np.intp(n_classes) + target, weights)
        cells = np.flatnonzero(counts)
        codes, target, weights = cells // n_classes, (cells % n_classes).astype(np.int32), counts[cells]
    x = values[codes]
    _, threshold, _ = _core.best_split(x, target, n_classes, weights, "entropy", "known")
    return _weigh(2 * np.isnan(x) + (x > threshold), weights)


def _weigh(items: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.bincount(items, weights), dtype=np.float64)
