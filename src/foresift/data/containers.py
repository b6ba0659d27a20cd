"""Read any supported X as blocks of columns: numeric arrays, or object columns of one type."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from foresift.data.coded_column import CodedColumn
from foresift.data.named import NamedArray
from foresift.data.temporal import numbers_of_objects, numbers_of_series, numbers_of_times
from foresift.data.unread import refuse_unread
from foresift.data.values import TIMES, is_missing, kind_of_values

# Cells of one block where reading needs a copy (sparse, integers): 32 MB of float64.
_BLOCK_CELLS = 2**22
_WIDE = (nw.Int128, nw.UInt128)  # NumPy has no such integers
_MANY_ROWS = 4096  # above, columns are read one by one, because copying many at once takes memory


class Block(NamedTuple):
    """Adjacent columns of one type."""

    start: int  # index of the first column
    values: Any  # (n, width) numbers or booleans; or (n,) objects: text, booleans, missing; or a CodedColumn
    nominal: bool  # by dtype
    unit: str = ""  # of a column of dates, times or durations, which is given as numbers


@dataclass(frozen=True)
class Source:
    """An X that can be read block by block, in the order of its columns.

    Attributes
    ----------
    n_rows, n_columns : int
        Its shape.
    labels : sequence or None
        Column labels of a frame or mapping, None for arrays without names.
    blocks : callable
        Returns an iterator over the blocks.
    array : ndarray or None
        X itself if it is a numeric array.
    narrow : bool
        Whether float32 holds every number exactly.
    matrix : ndarray or None
        All columns in one float64 array, without a copy, if a mapping has its columns from one.
    pandas : bool
        Whether X is a pandas frame, whose names scikit-learn reads itself.
    """

    n_rows: int
    n_columns: int
    labels: Sequence[Any] | None
    blocks: Callable[[], Iterator[Block]]
    array: NDArray[Any] | None = None
    narrow: bool = False
    pandas: bool = False
    matrix: NDArray[np.float64] | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        """Column names, None unless all labels are strings (scikit-learn's rule)."""
        if self.labels is None or not all(isinstance(label, str) for label in self.labels):
            return None
        return tuple(self.labels)

    @property
    def texts(self) -> tuple[str, ...] | None:
        """Column labels as unique strings for output, None for arrays without names."""
        if self.labels is None:
            return None
        texts = tuple(map(str, self.labels))
        if len(set(texts)) < len(texts):
            raise _named_twice(texts)
        return texts


def read(X: Any, estimator: Any = None) -> Source:
    """Open X: NumPy, pandas, polars, pyarrow, SciPy sparse, a mapping of columns, or nested lists.

    Values, types of objects and infinity are checked later, when the blocks are read. Error messages name
    `estimator`.

    Examples
    --------
    >>> source = read({"size": [1.5, 2.5], "colour": ["red", None]})
    >>> source.names, source.n_rows
    (('size', 'colour'), 2)
    >>> [block.nominal for block in source.blocks()]
    [False, True]
    """
    if isinstance(X, Mapping) and not sparse.issparse(X):  # a sparse matrix of keys is a dict too
        return _read_mapping(X, estimator)
    if isinstance(X, NamedArray):
        return _read_array(X.values, estimator, X.names)
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError as error:
        names = X.column_names if hasattr(X, "column_names") else X.columns
        raise _named_twice(list(map(str, names))) from error
    if isinstance(frame, nw.DataFrame):
        pandas = frame is not X and nw.dependencies.is_pandas_dataframe(X)
        return _read_frame(frame, estimator, pandas=pandas)
    refuse_unread(X, "X")
    return _read_array(X, estimator)


def _named_twice(texts: Sequence[str]) -> ValueError:
    name, count = Counter(texts).most_common(1)[0]
    many = "Two" if count == 2 else str(count)
    return ValueError(f"{many} columns of X are named {name!r}: rename or drop one of them.")


def _read_array(X: Any, estimator: Any, labels: Sequence[Any] | None = None) -> Source:
    options: dict[str, Any] = {"accept_sparse": True, "ensure_all_finite": False, "estimator": estimator}
    try:
        array = check_array(X, dtype=None, input_name="X", **options)
    except UnicodeDecodeError:  # NumPy makes text of bytes beside text in nested lists
        array = check_array(X, dtype=object, input_name="X", **options)
    if array.dtype.kind == "V":
        raise TypeError("X is a structured array; pass a mapping {name: X[name]} or a data frame.")
    n_rows, n_columns = array.shape
    narrow = array.dtype.kind in "fiub" and _float_type(array.dtype) == np.float32
    if sparse.issparse(array):
        columns = array.tocsc()

        def sparse_blocks() -> Iterator[Block]:
            for start, stop in _spans(n_rows, n_columns):
                yield Block(start, columns[:, start:stop].toarray(order="F"), columns.dtype.kind == "b")

        return Source(n_rows, n_columns, labels, sparse_blocks, narrow=narrow)
    if array.dtype.kind in "fiub":
        blocks = functools.partial(_numeric_blocks, 0, array)
        return Source(n_rows, n_columns, labels, blocks, array=array, narrow=narrow)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # NumPy turned the numbers of a nested list into text

    def object_blocks() -> Iterator[Block]:
        return (_block_of_column(j, array[:, j], False, label_of(labels, j)) for j in range(n_columns))

    return Source(n_rows, n_columns, labels, object_blocks)


def _read_frame(frame: nw.DataFrame[Any], estimator: Any, *, pandas: bool) -> Source:
    labels = frame.columns
    dtypes = list(frame.schema.values())
    _require_shape(frame.shape, estimator)
    # A run of pandas columns is a view. In other libraries it is a copy, but a single column is a view: with
    # many rows avoid the copy, with few rows the overhead per column.
    by_runs = frame.implementation.is_pandas_like() or len(frame) < _MANY_ROWS
    columns = None if by_runs else list(frame.iter_columns())

    def blocks() -> Iterator[Block]:
        start = 0
        while start < len(labels):
            if by_runs and _is_number(dtypes[start]):
                stop = start + 1
                while stop < len(labels) and dtypes[stop] == dtypes[start]:
                    stop += 1
                values = frame[:, start:stop].to_numpy()
                if values.dtype.kind in "fiu":
                    yield from _numeric_blocks(start, values)
                    start = stop
                    continue
            series = frame[:, start] if columns is None else columns[start]
            yield _block_of_series(start, series, label_of(labels, start))
            start += 1

    narrow = all(dtype == nw.Float32 for dtype in dtypes)
    return Source(*frame.shape, labels, blocks, narrow=narrow, pandas=pandas)


def _read_mapping(X: Mapping[Any, Any], estimator: Any) -> Source:
    labels = list(X)
    if not all(isinstance(label, str) for label in labels):
        raise TypeError("The keys of X, a mapping of columns, must be strings: the column names.")
    columns = [_opened(X[label]) for label in labels]
    for j, column in enumerate(columns):
        if isinstance(column, nw.Series | CodedColumn):
            continue
        columns[j] = np.asarray(column)
        if columns[j].dtype.kind in "US" and not isinstance(column, np.ndarray):
            columns[j] = np.asarray(column, dtype=object)
        if columns[j].ndim != 1:
            raise ValueError(
                f"{label_of(labels, j)} has shape {columns[j].shape}; every column of a mapping must be 1-D."
            )
    lengths = {label: len(column) for label, column in zip(labels, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"The columns of X have different lengths: {lengths}.")
    n_rows = next(iter(lengths.values()), 0)
    _require_shape((n_rows, len(labels)), estimator)

    matrix = _one_array(columns)

    def blocks() -> Iterator[Block]:
        if matrix is not None and n_rows < _MANY_ROWS:
            yield Block(0, matrix, False)
            return
        for j, column in enumerate(columns):
            label = label_of(labels, j)
            if isinstance(column, CodedColumn):
                yield Block(j, column, True)
            elif isinstance(column, nw.Series):
                yield _block_of_series(j, column, label)
            else:
                yield _block_of_column(j, column, False, label)

    return Source(n_rows, len(labels), labels, blocks, matrix=matrix)


def _one_array(columns: Sequence[Any]) -> NDArray[np.float64] | None:
    """Return one array with these columns if they are the rows of an array, like the columns of a file."""
    rows = columns[0].base if isinstance(columns[0], np.ndarray) else None
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float64 or rows.ndim != 2:
        return None
    begin, step = rows.__array_interface__["data"][0], rows.strides[0]
    addresses = range(begin, begin + step * len(rows), step) if rows.flags.c_contiguous and rows.size else ()
    if len(columns) != len(addresses):
        return None
    for column, address in zip(columns, addresses, strict=True):
        whole = isinstance(column, np.ndarray) and column.base is rows and column.shape == rows.shape[1:]
        same_strides = whole and column.strides == rows.strides[1:]
        if not same_strides or column.__array_interface__["data"][0] != address:
            return None
    return rows.T


def _opened(column: Any) -> Any:
    """Wrap a series for narwhals; arrays are skipped, because ten thousand of them would take a while."""
    array = isinstance(column, np.ndarray | CodedColumn)
    return column if array else nw.from_native(column, allow_series=True, pass_through=True)


def _require_shape(shape: tuple[int, int], estimator: Any) -> None:
    """Raise scikit-learn's own errors for no rows and no columns."""
    check_array(np.broadcast_to(0.0, shape), ensure_all_finite=False, estimator=estimator, input_name="X")


def _spans(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    width = max(1, _BLOCK_CELLS // n_rows)
    return ((start, min(start + width, n_columns)) for start in range(0, n_columns, width))


def _numeric_blocks(start: int, values: NDArray[Any]) -> Iterator[Block]:
    """Yield floats as one block, because they need no copy, and other numbers in parts."""
    whole = values.dtype in (np.float32, np.float64)
    for first, last in [(0, values.shape[1])] if whole else _spans(*values.shape):
        yield Block(start + first, values[:, first:last], values.dtype.kind == "b")


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric()) and dtype not in (nw.Decimal, *_WIDE)


def _block_of_series(start: int, series: nw.Series[Any], label: str) -> Block:
    dtype = series.dtype
    if dtype.is_nested():
        raise TypeError(f"{label} has dtype {dtype}; make one column of every element, or drop it.")
    times = numbers_of_series(series, label)
    if times is not None:
        return _block_of_times(start, *times)
    nominal = dtype in (nw.Categorical, nw.Enum, nw.String)
    return _block_of_column(start, values_of(series), nominal, label)


def values_of(series: nw.Series[Any]) -> NDArray[Any]:
    """Values of a series of any library as a NumPy array, nulls as NaN or None.

    Examples
    --------
    >>> import polars as pl
    >>> values_of(nw.from_native(pl.Series([1, None]), series_only=True))
    array([ 1., nan])
    """
    if series.dtype in _WIDE:
        series = series.cast(nw.Float64())
    if series.implementation.is_pandas_like() or series.dtype not in (nw.Categorical, nw.Enum, nw.String):
        return series.to_numpy()
    native = series.to_native()
    if series.implementation.is_pyarrow() and series.dtype != nw.String:
        # pyarrow's to_numpy turns a null of a dictionary column into one of its categories
        native = native.cast(native.type.value_type)
    # not to_numpy: that of polars makes every cell as wide as the longest text
    return np.array(nw.from_native(native, series_only=True).to_list(), dtype=object)


def _block_of_column(start: int, values: NDArray[Any], nominal: bool, label: str) -> Block:
    """Return a block of one column; `nominal` says that its dtype is categorical or text."""
    if values.dtype.kind in "fiub":
        return Block(start, values[:, np.newaxis], nominal or values.dtype.kind == "b")
    if values.dtype.kind in "mM":
        if not nominal:
            return _block_of_times(start, *numbers_of_times(values, label))
        missing, values = np.isnat(values), values.astype(str).astype(object)
        values[missing] = None
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {label}. Split it into real and imaginary parts.")
    values = values.astype(object)
    kind = kind_of_values(values, label, any_category=nominal)
    if kind == "other":  # categories such as the intervals of pandas.cut
        values = np.array([None if is_missing(value) else str(value) for value in values], dtype=object)
    elif kind == "number":
        return Block(start, as_float(values)[:, np.newaxis], nominal)
    elif kind in TIMES:
        return _block_of_times(start, *numbers_of_objects(values, kind, label))
    return Block(start, values, True)


def _block_of_times(start: int, numbers: NDArray[np.float64], unit: str) -> Block:
    return Block(start, numbers[:, np.newaxis], False, unit)


def label_of(labels: Sequence[Any] | None, j: int) -> str:
    """Name of column j in a message."""
    return f"column {j}" if labels is None else f"column {labels[j]!r}"


def _float_type(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    small = dtype.itemsize <= (4 if dtype.kind == "f" else 2)
    return np.float32 if small else np.float64


def as_float(values: NDArray[Any]) -> NDArray[Any]:
    """Convert to float32 or float64 without loss (integers up to 2**53), None to NaN; a view if possible.

    Examples
    --------
    >>> as_float(np.array([1, None, True], dtype=object))
    array([ 1., nan,  1.])
    """
    if values.dtype.kind == "O":
        try:
            with np.errstate(over="ignore"):
                return values.astype(np.float64)
        except TypeError:  # pandas.NA
            clean = [None if is_missing(value) else value for value in values]
            return np.array(clean, dtype=np.float64)
        except ValueError as error:  # a decimal that signals
            raise ValueError(
                "X contains a value that is no number: use None where one is missing."
            ) from error
        except OverflowError as error:
            raise ValueError("X contains a number too large for dtype('float64').") from error
    with np.errstate(over="ignore"):  # becomes infinity, which is rejected with a message
        values = values.astype(_float_type(values.dtype), copy=False)
    whole_strides = all(stride % values.itemsize == 0 for stride in values.strides)
    return values if values.flags.aligned and whole_strides else values.copy()


def require_finite(values: NDArray[Any], start: int, labels: Sequence[Any] | None) -> None:
    """Raise if a block of floats holds an infinite value; NaN is allowed.

    Examples
    --------
    >>> require_finite(np.array([[1.0, np.inf]]), 0, ["a", "b"])
    Traceback (most recent call last):
        ...
    ValueError: Input X contains infinity or a value too large for dtype('float64') in column 'b'...
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    rows = max(1, _BLOCK_CELLS // values.shape[1])
    for first in range(0, len(values), rows):
        infinite = np.isinf(values[first : first + rows]).any(axis=0)
        if infinite.any():
            label = label_of(labels, start + int(infinite.argmax()))
            raise ValueError(
                f"Input X contains infinity or a value too large for dtype('float64') in {label}."
                " Replace it by a finite number, or by NaN if it is unknown."
            )
