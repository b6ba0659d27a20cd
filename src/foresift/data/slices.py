"""Rows and columns of X, whatever container it is, before anything is converted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import check_cv

from foresift.data.containers import Source, read

__all__ = ["columns_of", "matrix_of", "rows_of_split", "sliceable", "splits_of", "take_columns", "take_rows"]


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
    return (X if isinstance(X, np.ndarray) else matrix_of(read(X)))[rows]


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
    return (X if isinstance(X, np.ndarray) else matrix_of(read(X)))[:, columns]


def columns_of(source: Source) -> list[NDArray[Any]]:
    """Every column of an opened X as an array."""
    columns: list[NDArray[Any]] = []
    for block in source.blocks():
        columns.extend(block.values.T if block.values.ndim == 2 else [block.values])
    return columns


def matrix_of(source: Source) -> NDArray[Any]:
    """One array of all columns: of numbers or booleans if it can be, else of objects, never of text."""
    if source.array is not None:
        return source.array
    columns = columns_of(source)
    kinds = {column.dtype.kind for column in columns}
    if kinds <= set("fiu") or kinds == {"b"}:
        return np.column_stack(columns)
    matrix = np.empty((source.n_rows, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        matrix[:, j] = column
    return matrix


def splits_of(cv: Any, labels: NDArray[Any]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to learn from and rows to judge by, from a splitter, a number of folds or pairs of rows.

    Examples
    --------
    >>> [test.tolist() for _, test in splits_of(2, np.array([0, 1, 0, 1]))]
    [[0, 1], [2, 3]]
    """
    if isinstance(cv, str | bytes) or (isinstance(cv, np.ndarray) and not cv.ndim):  # which seem iterable
        raise ValueError(f"cv is {cv!r}: give a number of folds, a splitter, or pairs of row numbers.")
    pairs = cv  # scikit-learn would take pairs apart without a word of what is wrong with them
    if hasattr(cv, "split") or not isinstance(cv, Iterable):
        pairs = check_cv(cv, labels, classifier=True).split(np.zeros((len(labels), 1)), labels)
    return (rows_of_split(pair, len(labels), fold) for fold, pair in enumerate(pairs))


def rows_of_split(pair: Any, n_rows: int, fold: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Read a split that a user may have written: numbers of the rows to learn from and of those to judge by.

    Examples
    --------
    >>> rows_of_split(([0, 1], [False, False, True]), 3, fold=0)
    (array([0, 1]), array([2]))
    >>> rows_of_split(([0, 1], [3]), 3, fold=0)
    Traceback (most recent call last):
        ...
    ValueError: Split 0 of cv has row 3 to judge by: rows are numbered from 0 to 2.
    """
    try:
        train, test = pair
        learn, judge = np.asarray(train), np.asarray(test)
    except (TypeError, ValueError):
        raise ValueError(
            f"Split {fold} of cv is no pair of rows to learn from and rows to judge by: give two lists of row"
            " numbers, or two masks."
        ) from None
    return _row_numbers(learn, n_rows, fold, "learn from"), _row_numbers(judge, n_rows, fold, "judge by")


def _row_numbers(rows: NDArray[Any], n_rows: int, fold: int, what: str) -> NDArray[np.intp]:
    if rows.dtype == bool:
        if rows.shape != (n_rows,):
            raise ValueError(
                f"Split {fold} of cv has a mask of shape {rows.shape} of rows to {what}: give one value for"
                f" each of {n_rows} rows, or numbers of rows."
            )
        rows = np.flatnonzero(rows)
    if not rows.size:
        raise ValueError(f"Split {fold} of cv has no rows to {what}.")
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"Split {fold} of cv: give the rows to {what} as a list of whole numbers, or as a mask."
        )
    if rows.min() < 0 or rows.max() >= n_rows:
        wrong = rows.min() if rows.min() < 0 else rows.max()
        raise ValueError(
            f"Split {fold} of cv has row {wrong} to {what}: rows are numbered from 0 to {n_rows - 1}."
        )
    return rows.astype(np.intp)


def sliceable(X: Any) -> Any:
    """X as it is if rows and columns can be taken from it, else as an array."""
    if sparse.issparse(X):
        return X.tocsr()
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame) and str(frame.implementation) in ("pandas", "polars"):
        return frame.to_native()  # a classifier may want the names and types of the columns
    return X if isinstance(X, np.ndarray) else matrix_of(read(X))
