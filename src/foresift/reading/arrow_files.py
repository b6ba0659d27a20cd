"""Parquet and Feather, read and written with pyarrow."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from foresift.errors import InputError
from foresift.reading.cells import Column

__all__ = ["ArrowFile"]

_CELLS = 2**22  # that are read at a time


class ArrowFile:
    """A Parquet or Feather file.

    Parameters
    ----------
    file : binary file
        One that can be read again from the start.
    source : str
        What to call it in messages.
    form : {"Parquet", "Feather"}
        Its format.

    Attributes
    ----------
    names : list of str
        Its columns.
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> import io, pyarrow as pa, pyarrow.feather
    >>> file = io.BytesIO()
    >>> pyarrow.feather.write_feather(pa.table({"size": [1, None], "kind": ["a", "b"]}), file)
    >>> [column.values for column in ArrowFile(file, "demo", "Feather").columns(["size"])]
    [array([ 1., nan])]
    """

    def __init__(self, file: BinaryIO, source: str, form: str) -> None:
        try:
            import pyarrow as pa
            import pyarrow.feather
            import pyarrow.parquet
        except ImportError as error:
            raise InputError(
                f"{source} is a {form} file, and pyarrow, which reads those, is not installed: pip install"
                " 'foresift[files]', or save it as CSV."
            ) from error
        self._file, self.source, self.form = file, source, form
        file.seek(0)
        try:
            if form == "Parquet":
                self._parquet = pyarrow.parquet.ParquetFile(file)
                self._schema, self.n_rows = self._parquet.schema_arrow, self._parquet.metadata.num_rows
            else:
                self._table = pyarrow.feather.read_table(file, memory_map=False)
                self._schema, self.n_rows = self._table.schema, self._table.num_rows
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"{source} is no {form} file, or a damaged one ({_first_line(error)})."
            ) from error
        self.names: list[str] = list(self._schema.names)

    def columns(self, names: Sequence[str], text: Collection[str] = ()) -> Iterator[Column]:
        """Read columns one after the other; those in `text` as text, whatever they are."""
        import pyarrow as pa

        for name in names:
            kind = self._schema.field(name).type
            if not _usable(kind):
                raise InputError(
                    f"Column {name!r} of {self.source} holds values of type {kind}: make plain columns of"
                    f" them, or leave it out (--drop {name!r})."
                )
        width = max(1, _CELLS // max(1, self.n_rows))
        for start in range(0, len(names), width):
            some = list(names[start : start + width])
            try:
                part = self._read(some)
                for name in some:
                    yield _column(name, part.column(name), name in text)
            except (pa.ArrowException, OSError) as error:
                raise InputError(f"{self.source}: damaged ({_first_line(error)}).") from error

    def write(self, path: str, names: Sequence[str]) -> None:
        """Write some of the columns to another file of the same format."""
        import pyarrow.feather
        import pyarrow.parquet

        table = self._read(list(names)).select(list(names))
        if self.form == "Parquet":
            pyarrow.parquet.write_table(table, path)
        else:
            pyarrow.feather.write_feather(table, path)

    def _read(self, names: list[str]) -> Any:
        if self.form == "Feather":
            return self._table
        # A name with a dot in it also means the parts of a nested column; what was not asked for is not used.
        return self._parquet.read(columns=names)


def _usable(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        return _usable(kind.value_type)
    plain = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_temporal)
    text = (
        types.is_string,
        types.is_large_string,
        types.is_null,
        getattr(types, "is_string_view", types.is_null),
    )
    return any(test(kind) for test in plain + text) and not types.is_interval(kind)


def _column(name: str, values: Any, as_text: bool) -> Column:
    import pyarrow as pa
    from pyarrow import compute, types

    kind = values.type
    declared = "categorical" if types.is_dictionary(kind) or types.is_boolean(kind) else None
    if types.is_dictionary(kind):
        kind = kind.value_type
        values = values.cast(kind)
    if types.is_temporal(kind) and not as_text:
        numbers, unit = _moments(values)
        return Column(name, numbers, declared="date", unit=unit)
    if (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)) and not declared:
        column = Column(name, _floats(values), declared="numeric")
        if not as_text:
            return column
        labels = pa.chunked_array([pa.array(column.labels(), pa.string())])
    elif types.is_null(kind):
        return Column(name, np.full(len(values), np.nan), declared="numeric")
    else:
        labels = values.cast(pa.string())
    coded = compute.dictionary_encode(labels).combine_chunks()
    if isinstance(coded, pa.ChunkedArray):
        coded = (
            coded.chunk(0)
            if coded.num_chunks
            else pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), [])
        )
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    # Text of a typed file is text: an empty one, or "NA", was written on purpose.
    return Column(name, codes, coded.dictionary.to_pylist(), declared)


def _floats(values: Any) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    return compute.cast(values, pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)


def _moments(values: Any) -> tuple[Any, str]:
    """Numbers of dates and times, and what they count."""
    import pyarrow as pa
    from pyarrow import types

    kind = values.type
    if types.is_date(kind):
        return _floats(values.cast(pa.date32()).cast(pa.int32())), "days since 1970"
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
    whole = pa.int32() if types.is_time32(kind) else pa.int64()
    numbers = _floats(values.cast(whole)) / per_second
    if types.is_time(kind):
        return numbers, "seconds since midnight"
    return numbers, "seconds" if types.is_duration(kind) else "seconds since 1970"


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0].rstrip(".")[:120]
