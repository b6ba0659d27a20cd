"""Read and write Parquet and Feather files with pyarrow."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from foresift.errors import InputError
from foresift.reading.cells import Column, parse_texts

__all__ = ["ArrowFile"]

_CELLS = 2**22  # read at a time


class ArrowFile:
    """A Parquet or Feather file, seekable and called `source` in messages; `form` is its format.

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
            import pyarrow.dataset
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
                self._schema, self._parquet = _open_parquet(file)
                self.n_rows = self._parquet.metadata.num_rows
            else:
                self._schema = pa.ipc.open_file(file).schema
                file.seek(0)
                self.n_rows = pyarrow.dataset.FeatherFileFormat().make_fragment(file).count_rows()
            self.names: list[str] = list(self._schema.names)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{source} is no {form} file, or a damaged one ({_first_line(error)})."
            ) from error

    def columns(
        self, names: Sequence[str], text: Collection[str] = (), max_bytes: float = np.inf
    ) -> Iterator[Column]:
        """Read columns one by one, those in `text` as text; raise if they take more than `max_bytes`."""
        import pyarrow as pa

        for name in names:
            kind = self._schema.field(name).type
            if not _usable(kind):
                raise InputError(
                    f"Column {name!r} of {self.source} holds values of type {kind}: make plain columns of"
                    f" them, or leave it out (--drop {name!r})."
                )
        self._refuse_above(max_bytes, names)
        width = max(1, _CELLS // max(1, self.n_rows))
        for start in range(0, len(names), width):
            some = list(names[start : start + width])
            try:
                part = self._read(some, max_bytes)
                part.validate(full=True)  # a damaged file could crash the process later
                if part.num_rows != self.n_rows:
                    raise pa.ArrowInvalid(f"{part.num_rows:,} rows where {self.n_rows:,} should be")
                for name in some:
                    yield _column(name, part.column(name), self._schema.field(name).type, name in text)
            except (pa.ArrowException, OSError) as error:
                what = "damaged, or too large for the memory" if isinstance(error, MemoryError) else "damaged"
                raise InputError(f"{self.source}: {what} ({_first_line(error)}).") from error

    def write(self, path: str, names: Sequence[str]) -> None:
        """Write some of the columns to another file of the same format."""
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet

        table = self._read(list(names)).select(list(names))
        if self.form == "Parquet":
            fields = [self._schema.field(name) for name in names]  # text as text, not as categories
            table = table.cast(pa.schema(fields, table.schema.metadata))
            pyarrow.parquet.write_table(table, path)
        else:
            pyarrow.feather.write_feather(table, path)

    def _read(self, names: list[str], max_bytes: float = np.inf) -> Any:
        import pyarrow as pa

        if self.form == "Parquet":
            # A name with a dot also selects parts of a nested column, which are ignored.
            return self._parquet.read(columns=names)
        self._file.seek(0)
        places = [self._schema.get_field_index(name) for name in names]
        options = pa.ipc.IpcReadOptions(included_fields=places)
        reader = pa.ipc.open_file(self._file, options=options)
        batches, size = [], 0
        for i in range(reader.num_record_batches):
            batches.append(reader.get_batch(i))
            # Text may decompress to far more than the number of rows suggests. `nbytes` would read offsets
            # that are not validated yet.
            size += batches[-1].get_total_buffer_size()
            if size > max_bytes:
                raise self._too_large(size, max_bytes)
        return pa.Table.from_batches(batches, reader.schema)

    def _refuse_above(self, max_bytes: float, names: Collection[str]) -> None:
        """Raise if the columns would take too much memory, by the metadata of the file."""
        # Eight bytes per number, and two columns more for the one that is being read.
        need = 8 * self.n_rows * (len(names) + 2)
        if self.form == "Parquet":
            about = self._parquet.metadata
            groups = [about.row_group(i) for i in range(about.num_row_groups)]
            # Long text takes more, unless its columns are dropped.
            if sum(group.total_byte_size for group in groups) > max_bytes:
                columns = (group.column(j) for group in groups for j in range(group.num_columns))
                wanted = set(names)
                unpacked = sum(c.total_uncompressed_size for c in columns if c.path_in_schema in wanted)
                need = max(need, unpacked)
        if need > max_bytes:
            raise self._too_large(need, max_bytes)

    def _too_large(self, need: float, max_bytes: float) -> InputError:
        return InputError(
            f"{self.source} has {self.n_rows:,} rows and takes {need / 1e9:.3g} GB of memory or more, above"
            f" the limit of {max_bytes / 1e9:g} GB: use fewer rows, drop columns (--drop), or raise the limit"
            " (--max-memory)."
        )


def _open_parquet(file: BinaryIO) -> tuple[Any, Any]:
    """Return the schema of a Parquet file, and the file opened with text as dictionaries, to save memory."""
    from pyarrow.parquet import ParquetFile

    plain = ParquetFile(file)
    schema = plain.schema_arrow
    texts = [field.name for field in schema if _is_text(field.type)]
    return schema, ParquetFile(file, metadata=plain.metadata, read_dictionary=texts)


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    tests = (types.is_string, types.is_large_string, getattr(types, "is_string_view", types.is_string))
    return any(test(kind) for test in tests)


def _usable(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        return _usable(kind.value_type)
    plain = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_temporal)
    return (
        _is_text(kind) or types.is_null(kind) or (any(t(kind) for t in plain) and not types.is_interval(kind))
    )


def _column(name: str, values: Any, kind: Any, as_text: bool) -> Column:
    """Make a column of Arrow values whose declared type is `kind`."""
    import pyarrow as pa
    from pyarrow import types

    declared = "categorical" if types.is_dictionary(kind) or types.is_boolean(kind) else None
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_dictionary(values.type) and not _is_text(values.type.value_type):
        values = values.cast(values.type.value_type)
    if types.is_temporal(kind) and not as_text:
        numbers, unit = _moments(values)
        return Column(name, numbers, declared="date", unit=unit)
    if (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)) and not declared:
        numbers = _floats(values)
        mark = "." if not types.is_integer(kind) and np.isfinite(numbers).any() else ""
        column = Column(name, numbers, declared="numeric", mark=mark)
        if not as_text:
            return column
        values = pa.chunked_array([pa.array(column.labels(), pa.string())])
    elif types.is_null(kind):
        return Column(name, np.full(len(values), np.nan), declared="numeric")
    codes, texts = _coded(values)
    return parse_texts(Column(name, codes, texts, declared), text=as_text or declared is not None)


def _coded(values: Any) -> tuple[NDArray[np.int32], list[str]]:
    """Codes of texts, -1 for null, and the distinct texts in order of occurrence."""
    import pyarrow as pa
    from pyarrow import compute, types

    known = None
    if types.is_dictionary(values.type):  # coded already, but perhaps with unused texts
        values = values.unify_dictionaries()
        known = values.chunk(0).dictionary
        values = pa.chunked_array([chunk.indices for chunk in values.chunks])
    elif not types.is_string(values.type):
        values = values.cast(pa.string())
    coded = compute.dictionary_encode(values).combine_chunks()
    texts = coded.dictionary if known is None else known.take(coded.dictionary)
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    return codes, [text or "" for text in texts.to_pylist()]  # a category may be null


def _floats(values: Any) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    return compute.cast(values, pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)


def _moments(values: Any) -> tuple[Any, str]:
    """Dates and times as numbers, and their unit."""
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
