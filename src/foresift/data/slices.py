"""Rows and columns of X, whatever container it is, before anything is converted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foresift.data.containers import Source, read
from foresift.data.encoding import as_fitted
from foresift.data.table import Table

_MAY_BE_TIMES = (nw.Object, nw.Unknown)  # date objects, periods

__all__ = ["TableOfX", "columns_of", "matrix_of", "sliceable", "take_columns", "take_rows"]


@dataclass(frozen=True, eq=False)
class TableOfX(Table):
    """A coded table with the X that it was read from, for models that do not read codes.

    Attributes
    ----------
    X : array-like, data frame, sparse matrix or mapping
        The same rows and columns as they were given; None if only their codes are at hand.
    """

    X: Any = None

    @classmethod
    def of(cls, table: Table, X: Any) -> TableOfX:
        """Join the two."""
        return cls(table.store, table.schema, table.target, table.dependence, X)


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Rows of X, in a container of the same kind; nested lists become an array.

    Examples
    --------
    >>> take_rows({"a": [1, 2, 3], "b": ["x", "y", "z"]}, np.array([2, 0]))
    {'a': array([3, 1]), 'b': array(['z', 'x'], dtype=object)}
    """
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if isinstance(X, Mapping):
        return {name: _rows_of_column(column, rows) for name, column in X.items()}
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        taken = frame[rows]
        return taken if frame is X else taken.to_native()
    return _array_of(X)[rows]


def _rows_of_column(column: Any, rows: NDArray[np.intp]) -> Any:
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        return column[rows]
    series = nw.from_native(column, pass_through=True, series_only=True)
    if isinstance(series, nw.Series):
        taken = series[rows]
        return taken if series is column else taken.to_native()
    values = column if isinstance(column, np.ndarray) else np.asarray(column)
    # Text of fixed width would turn a missing value among it into text as well.
    return (values if values.dtype.kind in "biuf" else np.asarray(column, dtype=object))[rows]


def take_columns(X: Any, columns: NDArray[np.intp]) -> Any:
    """Columns of X, by number, in a container of the same kind; nested lists become an array.

    Examples
    --------
    >>> take_columns({"a": [1, 2, 3], "b": ["x", "y", "z"]}, np.array([1]))
    {'b': ['x', 'y', 'z']}
    """
    if type(X) is np.ndarray:
        return X[:, columns]
    if sparse.issparse(X):
        return X.tocsc()[:, columns].tocsr()
    if isinstance(X, Mapping):
        names = list(X)
        return {names[j]: X[names[j]] for j in columns}
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        taken = frame[:, columns.tolist()]
        return taken if frame is X else taken.to_native()
    return _array_of(X)[:, columns]


def _array_of(X: Any) -> NDArray[Any]:
    """X, an array or nested lists, as an array; dates and times stay such, as their numbers have no unit."""
    if isinstance(X, np.ndarray):
        return X
    source = read(X)
    has_times = source.array is None and any(block.unit for block in source.blocks())
    return np.asarray(X, dtype=object) if has_times else matrix_of(source)


def columns_of(source: Source, units: Sequence[str] | None = None) -> list[NDArray[Any]]:
    """Every column of an opened X as an array; times in these units (`Schema.units`), None for their own."""
    columns: list[NDArray[Any]] = []
    for block in source.blocks():
        values = block.values if units is None else as_fitted(block, units, source.labels)
        columns.extend(values.T if values.ndim == 2 else [values])
    return columns


def matrix_of(source: Source, units: Sequence[str] | None = None) -> NDArray[Any]:
    """One array of all columns: of numbers or booleans if it can be, else of objects, never of text."""
    if source.array is not None and not units:
        return source.array
    columns = columns_of(source, units)
    kinds = {column.dtype.kind for column in columns}
    if kinds <= set("fiu") or kinds == {"b"}:
        return np.column_stack(columns)
    matrix = np.empty((source.n_rows, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        matrix[:, j] = column
    return matrix


def sliceable(X: Any, units: Sequence[str] | None = None) -> Any:
    """X as it is if rows and columns can be taken from it, else as an array.

    Dates, times and durations become numbers, as `Schema.encode` makes them: not every model takes them.
    `units` are those of the training data.
    """
    if sparse.issparse(X):
        return X.tocsr()
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame) and str(frame.implementation) in ("pandas", "polars"):
        # A classifier may want the names and types of the columns.
        return _with_numbers(frame, units).to_native()
    if isinstance(X, np.ndarray) and X.dtype.kind not in "OmM" and not units:
        return X
    source = read(X)
    if isinstance(X, np.ndarray) and not units and not any(block.unit for block in source.blocks()):
        return X
    return matrix_of(source, units)


def _with_numbers(frame: nw.DataFrame[Any], units: Sequence[str] | None) -> nw.DataFrame[Any]:
    """Replace columns of dates, times and durations by their numbers."""
    known = units or ("",) * frame.shape[1]
    some = [
        j
        for j, (dtype, unit) in enumerate(zip(frame.schema.values(), known, strict=True))
        if unit or dtype.is_temporal() or dtype in _MAY_BE_TIMES
    ]
    if not some:
        return frame
    source, new = read(frame[:, some]), []
    for block in source.blocks():
        values = block.values
        if units is not None:
            values = as_fitted(block, [known[j] for j in some], source.labels)
        if block.unit:
            name = frame.columns[some[block.start]]
            new.append(nw.new_series(name, values[:, 0], nw.Float64(), backend=frame.implementation))
    return frame.with_columns(*new) if new else frame
