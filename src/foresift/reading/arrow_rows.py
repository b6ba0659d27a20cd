"""Rows in batches from Arrow: Parquet and Feather files, datasets, streams, and queries that make streams."""

from __future__ import annotations

import tempfile
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from foresift.data.coding import other_columns
from foresift.data.row_source import BATCH_ROWS, Batch, RowSource
from foresift.errors import InputError, no_room
from foresift.reading.arrow_batches import batch_of, regrouped, require_usable
from foresift.reading.arrow_files import check_names, first_line
from foresift.reading.arrow_folders import ArrowFolder
from foresift.reading.row_columns import Columns

__all__ = ["FileRows", "QueryRows", "StreamRows"]

T = TypeVar("T")
Batches = Callable[[list[str]], Iterable[pa.RecordBatch]]


class _ArrowRows(RowSource):
    """Batches of Arrow of which some columns count."""

    def __init__(self, schema: pa.Schema, wanted: Columns, source: str) -> None:
        check_names(source, schema.names)
        self.source, self._target = source, wanted.target
        self.names = wanted.of(schema.names, source)
        require_usable(pa.schema([schema.field(name) for name in self.names]), source)

    @abstractmethod
    def _read(self, part: int) -> Iterable[pa.RecordBatch]:
        """Batches of a part as they come, of any number of rows."""

    def batches(self, part: int = 0) -> Iterator[Batch]:
        """The rows of a part, in batches of one size."""
        for table in regrouped(self._same(guarded(self._read(part), self.source))):
            yield batch_of(table, self._target)

    def _same(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches with all columns in one order; one of another schema is none."""
        for batch in batches:
            names = batch.schema.names
            if set(names).issuperset(self.names):
                yield batch.select(self.names)
            else:
                raise InputError(other_columns(tuple(self.names), tuple(names), len(names)))


class FileRows(_ArrowRows):
    """Parquet or Feather files with the same columns; every file is a part.

    Parameters
    ----------
    files : ArrowFolder
        The files; they are opened again whenever they are read, so that a copy works anywhere.
    wanted : Columns
        Which columns are read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pyarrow import parquet
    >>> with TemporaryDirectory() as folder:
    ...     for k in range(2):
    ...         parquet.write_table(pa.table({"size": [1.0, 2.0], "kind": [k, k]}), f"{folder}/{k}.parquet")
    ...     rows = FileRows(ArrowFolder(Path(folder), "demo"), Columns("kind"))
    ...     [y.tolist() for part in range(rows.n_parts) for _, y in rows.batches(part)]
    [[0, 0], [1, 1]]
    """

    def __init__(self, files: ArrowFolder, wanted: Columns) -> None:
        super().__init__(files.schema, wanted, files.source)
        files.require_one_type(self.names)
        self._files = files

    @property
    def n_parts(self) -> int:
        """Number of files."""
        return len(self._files.rows_of_parts)

    def n_rows_of(self, part: int) -> int:
        """Rows of a file, by its metadata."""
        return self._files.rows_of_parts[part]

    def _read(self, part: int) -> Iterable[pa.RecordBatch]:
        return self._files.batches(part, self.names, BATCH_ROWS)


class QueryRows(_ArrowRows):
    """What can be read as a stream again and again, such as a dataset or a query.

    Parameters
    ----------
    read : callable
        Takes names of columns, and returns batches that have at least these.
    schema : pyarrow.Schema
        All columns.
    wanted : Columns
        Which columns are read.
    source : str
        What messages call it.
    n_rows : int or None, default=None
        Number of rows, if it is known.

    Examples
    --------
    >>> table = pa.table({"size": [1.0, 2.0], "kind": ["a", "b"]})
    >>> rows = QueryRows(lambda names: table.select(names).to_batches(), table.schema, Columns("kind"), "X")
    >>> [X["size"] for X, y in rows.batches()]
    [array([1., 2.])]
    """

    def __init__(
        self, read: Batches, schema: pa.Schema, wanted: Columns, source: str, n_rows: int | None = None
    ) -> None:
        super().__init__(schema, wanted, source)
        self._open, self._n_rows = read, n_rows

    def n_rows_of(self, part: int) -> int | None:
        """All rows, if they are counted."""
        return self._n_rows

    def _read(self, part: int) -> Iterable[pa.RecordBatch]:
        return self._open(self.names)


class StreamRows(_ArrowRows):
    """A stream that can be read only once: its columns are copied to a file without a name first.

    Parameters
    ----------
    reader : pyarrow.RecordBatchReader
        The stream.
    wanted : Columns
        Which columns are read.
    source : str
        What messages call it.

    Examples
    --------
    >>> stream = pa.table({"size": [1.0, 2.0], "kind": ["a", "b"]}).to_reader()
    >>> rows = StreamRows(stream, Columns("kind"), "the stream")
    >>> [X["size"].tolist() for _ in range(2) for X, y in rows.batches()]
    [[1.0, 2.0], [1.0, 2.0]]
    """

    def __init__(self, reader: Any, wanted: Columns, source: str) -> None:
        super().__init__(reader.schema, wanted, source)
        self._reader, self._copy, self._n_rows = reader, None, 0

    def n_rows_of(self, part: int) -> int:
        """All rows, which are read for this."""
        self._copied()
        return self._n_rows

    def _read(self, part: int) -> Iterable[pa.RecordBatch]:
        return pa.ipc.open_stream(self._copied())

    def _copied(self) -> pa.Buffer:
        """The stream in a file that is gone when nobody uses it any more, however the process ends."""
        if self._copy is not None:
            return self._copy
        fields = [self._reader.schema.field(name) for name in self.names]
        try:
            with tempfile.TemporaryFile(prefix="foresift-") as file:
                with pa.ipc.new_stream(pa.PythonFile(file, "w"), pa.schema(fields)) as writer:
                    for batch in guarded(self._reader, self.source):
                        batch.validate(full=True)
                        writer.write_batch(batch.select(self.names))
                        self._n_rows += len(batch)
                file.flush()
                self._copy = pa.py_buffer(np.memmap(file, dtype=np.uint8, mode="r"))
        except pa.ArrowInvalid as error:
            raise InputError(f"Cannot read {self.source}: damaged ({first_line(error)}).") from error
        except OSError as error:
            what = f"a copy of {self.source} (it can be read only once)"
            raise no_room(what, error, "save the rows as Parquet and name that file") from error
        return self._copy


def guarded(batches: Iterable[T], source: str) -> Iterator[T]:
    """The same batches; what goes wrong while they are made is one sentence.

    Examples
    --------
    >>> list(guarded(iter([1, 2]), "demo"))
    [1, 2]
    """
    number = 0
    try:
        for batch in batches:
            number += 1
            yield batch
    except (InputError, MemoryError):
        raise
    except Exception as error:
        raise InputError(
            f"Reading {source} failed after {number:,} batches of rows ({type(error).__name__}:"
            f" {first_line(error)}): see that it can be read to its end."
        ) from error
