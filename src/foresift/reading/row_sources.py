"""Open what may be larger than memory as rows in batches: files, folders, streams, queries, Dask."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from foresift.data.row_source import BATCH_ROWS, RowSource
from foresift.errors import InputError
from foresift.reading.arrow_folders import ArrowFolder
from foresift.reading.arrow_rows import FileRows, QueryRows, StreamRows
from foresift.reading.csv_rows import CsvRows
from foresift.reading.dask_rows import DaskRows, is_dask_frame
from foresift.reading.delimited import Delimited
from foresift.reading.files import open_table
from foresift.reading.row_columns import Columns

__all__ = ["is_row_source", "open_rows"]

_MAGIC = {b"PAR1": "Parquet", b"PARE": "Parquet", b"ARROW1": "Feather"}
_WILD = re.compile(r"[*?\[]")
# Libraries whose queries run again whenever they are read; streams of others may be read only once.
_QUERIES = frozenset({"duckdb", "ibis", "datafusion"})


def is_row_source(X: Any) -> bool:
    """Whether X is read in batches: a path, a stream, a dataset or a query, but no table in memory.

    Examples
    --------
    >>> table = pa.table({"size": [1.0]})
    >>> is_row_source("sales.parquet"), is_row_source(table.to_reader()), is_row_source(table)
    (True, True, False)
    """
    if isinstance(X, str | os.PathLike | RowSource) or _is_dataset(X) or is_dask_frame(X) or _is_lazy(X):
        return True
    if not hasattr(X, "__arrow_c_stream__"):
        return False
    frame = nw.from_native(X, allow_series=True, pass_through=True)
    return not isinstance(frame, nw.DataFrame | nw.Series)


def open_rows(
    X: Any, y: Any, *, drop: Collection[str] = (), columns: Collection[str] | None = None
) -> RowSource:
    """Open rows that need not fit in memory.

    Parameters
    ----------
    X : str, path, or object
        A Parquet, Feather or CSV file (which may be packed), a folder or pattern of Parquet files; a polars
        LazyFrame; a Dask DataFrame; a `pyarrow` dataset or RecordBatchReader; a DuckDB relation; or anything
        else with `__arrow_c_stream__`.
    y : str
        Name of the target column; for a Dask DataFrame also a Dask Series with the same partitions.
    drop : collection of str, default=()
        Columns that are not read.
    columns : collection of str or None, default=None
        The features; None: all columns but the target.

    Returns
    -------
    RowSource
        Its batches have the features by name, and the target as an array.

    Raises
    ------
    InputError
        If X cannot be read, or lacks a column.

    Examples
    --------
    >>> stream = pa.table({"size": [1.5, 2.5], "colour": ["red", None], "kind": ["a", "b"]}).to_reader()
    >>> X, y = next(open_rows(stream, "kind").batches())
    >>> X["size"], X["colour"].codes, y
    (array([1.5, 2.5]), array([ 0, -1], dtype=int32), array(['a', 'b'], dtype=object))
    """
    if isinstance(X, RowSource):
        return X
    drop, columns = _names(drop, "drop"), None if columns is None else _names(columns, "columns")
    if is_dask_frame(X):
        return DaskRows(X, y, drop=drop, columns=columns)
    if not isinstance(y, str):
        raise InputError(
            f"X is read in batches: name its target column, y='...', instead of {type(y).__name__}."
        )
    wanted = Columns(y, drop, columns)
    if isinstance(X, str | os.PathLike):
        return _open_path(os.fspath(X), wanted)
    if _is_dataset(X):
        return QueryRows(_of_dataset(X), X.schema, wanted, "the dataset", X.count_rows())
    if _is_lazy(X):
        return _open_lazy(X, wanted)
    library = type(X).__module__.partition(".")[0]
    if library in _QUERIES:
        return _open_query(X, wanted, library)
    if hasattr(X, "__arrow_c_stream__"):
        return StreamRows(pa.RecordBatchReader.from_stream(X), wanted, "the stream")
    raise InputError(f"X is a {type(X).__name__}, which cannot be read in batches: save it as Parquet.")


def _names(given: Any, what: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if all(isinstance(name, str) for name in names):
        return names
    raise InputError(f"{what} must hold names of columns, not {given!r}.")


def _is_dataset(X: Any) -> bool:
    dataset = sys.modules.get("pyarrow.dataset")  # it imports pandas
    return dataset is not None and isinstance(X, dataset.Dataset)


def _is_lazy(X: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.LazyFrame)


def _open_path(path: str, wanted: Columns) -> RowSource:
    if os.path.isdir(path):
        return FileRows(ArrowFolder(Path(path), path), wanted)
    if _WILD.search(path) and not os.path.lexists(path):
        return FileRows(_matching(path), wanted)
    if _form_of(path):
        return FileRows(ArrowFolder(Path(path).parent, path, [Path(path)]), wanted)
    opened = open_table(path, target=wanted.target, max_memory=float("inf"))
    if not isinstance(opened.origin, Delimited):
        raise InputError(
            f"{path} ({opened.how}) is not read in batches: save it as CSV or Parquet, or read it at once,"
            " X, y = foresift.read(path, target=...)."
        )
    return CsvRows(opened.origin, wanted)


def _form_of(path: str) -> str:
    """Parquet or Feather, by the first bytes; empty for anything else, also what cannot be opened."""
    try:
        with open(path, "rb") as file:
            start = file.read(6)
    except OSError:
        return ""
    return next((form for mark, form in _MAGIC.items() if start.startswith(mark)), "")


def _matching(pattern: str) -> ArrowFolder:
    """The files that match a pattern; names of folders such as year=2024 below its fixed part are columns."""
    paths = [Path(path) for path in glob.glob(pattern, recursive=True)]
    if not paths:
        raise InputError(f"No file matches {pattern}: correct the pattern, or name a folder.")
    fixed = pattern[: _WILD.search(pattern).start()]  # type: ignore[union-attr]
    return ArrowFolder(Path(os.path.dirname(fixed) or "."), pattern, paths)


def _of_dataset(dataset: Any) -> Any:
    def read(names: list[str]) -> Iterable[pa.RecordBatch]:
        # Few batches ahead: each takes memory.
        return dataset.to_batches(
            columns=names, batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1
        )

    return read


def _open_query(query: Any, wanted: Columns, library: str) -> RowSource:
    def read(names: list[str]) -> Any:
        if library == "duckdb":  # other columns need not be computed
            some = query.project(", ".join('"' + name.replace('"', '""') + '"' for name in names))
            return pa.RecordBatchReader.from_stream(some)
        return pa.RecordBatchReader.from_stream(query)

    few = query.limit(0) if library == "duckdb" else query
    return QueryRows(read, pa.RecordBatchReader.from_stream(few).schema, wanted, f"the {library} query")


def _open_lazy(frame: Any, wanted: Columns) -> RowSource:
    if not hasattr(frame, "collect_batches"):
        raise InputError(
            "This version of polars does not give a LazyFrame in batches: update polars, or write it with"
            " sink_parquet and name that file."
        )
    try:
        schema = frame.head(0).collect().to_arrow().schema
    except Exception as error:  # polars has no common class of its errors in all versions
        raise InputError(f"The LazyFrame cannot be read ({str(error).splitlines()[0]}).") from error

    def read(names: list[str]) -> Iterator[pa.RecordBatch]:
        for rows in frame.select(names).collect_batches(chunk_size=BATCH_ROWS, lazy=True):
            yield from rows.to_arrow().to_batches()

    return QueryRows(read, schema, wanted, "the LazyFrame")
