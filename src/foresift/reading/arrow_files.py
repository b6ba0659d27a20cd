"""Read and write Parquet and Feather files with pyarrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import IO, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from pyarrow.parquet import ParquetFile

from foresift.errors import InputError
from foresift.reading.arrow_columns import is_text, is_usable, to_column
from foresift.reading.cells import Column
from foresift.reading.unpacking import Progress, ignore

__all__ = ["ArrowFile", "ArrowTable", "check_names", "first_line"]

_CELLS = 2**22  # read at a time


class ArrowTable:
    """A table with the types of Arrow, called `source` in messages; here it is in memory.

    Examples
    --------
    >>> table = ArrowTable(pa.table({"size": [1, None], "kind": ["a", "b"]}), "demo")
    >>> [column.values for column in table.columns(["size"])]
    [array([ 1., nan])]
    """

    suffix = ".parquet"  # of what `write` makes
    detail = ""  # after the format, in messages
    notes: Sequence[str] = ()  # sentences on what was read

    def __init__(self, table: pa.Table, source: str) -> None:
        self._table, self.source = table, source
        self.schema, self.n_rows = table.schema, table.num_rows

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    def read(self, names: list[str], max_bytes: float = np.inf) -> pa.Table:
        """Read some of the columns as they are, text perhaps as dictionaries."""
        return self._table.select(names)

    def size(self, names: Collection[str], max_bytes: float) -> float:
        """Memory in bytes that the columns take at least: eight per number, and two columns while reading."""
        return 8 * self.n_rows * (len(names) + 2)

    def columns(
        self,
        names: Sequence[str],
        text: Collection[str] = (),
        max_bytes: float = np.inf,
        progress: Progress = ignore,
    ) -> Iterator[Column]:
        """Read columns one by one, those in `text` as text; raise if they take more than `max_bytes`."""
        for name in names:
            kind = self.schema.field(name).type
            if not is_usable(kind):
                raise InputError(
                    f"Column {name!r} of {self.source} holds values of type {kind}: make plain columns of"
                    f" them, or leave it out (--drop {name!r})."
                )
        if not self.n_rows:
            raise InputError(f"{self.source} has a header but no rows.")
        if (need := self.size(names, max_bytes)) > max_bytes:
            raise self._too_large(need, max_bytes)
        width = max(1, _CELLS // max(1, self.n_rows))
        for start in range(0, len(names), width):
            some = list(names[start : start + width])
            try:
                part = self.read(some, max_bytes)
                for name in some:
                    yield to_column(name, part.column(name), self.schema.field(name).type, name in text)
            except (pa.ArrowException, OSError) as error:
                what = "damaged, or too large for the memory" if isinstance(error, MemoryError) else "damaged"
                raise InputError(f"{self.source}: {what} ({first_line(error)}).") from error
            progress((start + len(some)) / len(names))

    def write(self, file: IO[bytes], names: Sequence[str]) -> None:
        """Write some of the columns to a Parquet file, text as text and not as categories."""
        table = self.read(list(names)).select(list(names))
        fields = [self.schema.field(name) for name in names]
        pyarrow.parquet.write_table(table.cast(pa.schema(fields, table.schema.metadata)), file)

    def _too_large(self, need: float, max_bytes: float, do: str = "drop columns (--drop)") -> InputError:
        return InputError(
            f"{self.source} has {self.n_rows:,} rows and takes {need / 1e9:.3g} GB of memory or more, above"
            f" the limit of {max_bytes / 1e9:g} GB: use fewer rows, {do}, or raise the limit (--max-memory)."
        )


class ArrowFile(ArrowTable):
    """A Parquet or Feather file, seekable and called `source` in messages; `form` is its format.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> pyarrow.feather.write_feather(pa.table({"size": [1, None], "kind": ["a", "b"]}), file)
    >>> [column.values for column in ArrowFile(file, "demo", "Feather").columns(["size"])]
    [array([ 1., nan])]
    """

    def __init__(self, file: BinaryIO, source: str, form: str) -> None:
        self._file, self.source, self.form = file, source, form
        self.suffix = f".{form.lower()}"
        file.seek(0)
        try:
            plain = ParquetFile(file) if form == "Parquet" else pa.ipc.open_file(file)
            self.schema = plain.schema_arrow if form == "Parquet" else plain.schema
            check_names(source, self.names)
            if form == "Parquet":
                self.n_rows = plain.metadata.num_rows
                texts = [field.name for field in self.schema if is_text(field.type)]
                # Text as dictionaries, to save memory.
                self._parquet = ParquetFile(file, metadata=plain.metadata, read_dictionary=texts)
            else:
                self.n_rows = _count_rows(plain, file)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{source} is no {form} file, or a damaged one ({first_line(error)})."
            ) from error

    def read(self, names: list[str], max_bytes: float = np.inf) -> pa.Table:
        """Read some of the columns as they are, text of Parquet files as dictionaries."""
        # A name with a dot also selects parts of a nested column, which are ignored.
        is_parquet = self.form == "Parquet"
        table = self._parquet.read(columns=names) if is_parquet else self._read_feather(names, max_bytes)
        table.validate(full=True)  # a damaged file could crash the process later
        if table.num_rows != self.n_rows:
            raise pa.ArrowInvalid(f"{table.num_rows:,} rows where {self.n_rows:,} should be")
        return table

    def batches(self, names: list[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        """Read some of the columns, at most `n_rows` rows at a time."""
        if self.form == "Parquet":
            batches = self._parquet.iter_batches(n_rows, columns=names)
        else:
            reader = self._feather(names)
            batches = map(reader.get_batch, range(reader.num_record_batches))
        for batch in batches:
            batch.validate(full=True)
            whole = batch.select(names)
            yield from (whole.slice(first, n_rows) for first in range(0, len(whole), n_rows))

    def _feather(self, names: list[str]) -> Any:
        self._file.seek(0)
        places = [self.schema.get_field_index(name) for name in names]
        return pa.ipc.open_file(self._file, options=pa.ipc.IpcReadOptions(included_fields=places))

    def _read_feather(self, names: list[str], max_bytes: float) -> pa.Table:
        reader = self._feather(names)
        batches, size = [], 0
        for i in range(reader.num_record_batches):
            batches.append(reader.get_batch(i))
            # Text may decompress to far more than the number of rows suggests. `nbytes` would read offsets
            # that are not validated yet.
            size += batches[-1].get_total_buffer_size()
            if size > max_bytes:
                raise self._too_large(size, max_bytes)
        return pa.Table.from_batches(batches, reader.schema)

    def size(self, names: Collection[str], max_bytes: float) -> float:
        """Memory in bytes that the columns take at least, by the metadata of the file."""
        need = super().size(names, max_bytes)
        if self.form == "Parquet":
            about = self._parquet.metadata
            groups = [about.row_group(i) for i in range(about.num_row_groups)]
            # Long text takes more, unless its columns are dropped.
            if sum(group.total_byte_size for group in groups) > max_bytes:
                columns = (group.column(j) for group in groups for j in range(group.num_columns))
                wanted = set(names)
                unpacked = sum(c.total_uncompressed_size for c in columns if c.path_in_schema in wanted)
                need = max(need, unpacked)
        return need

    def write(self, file: IO[bytes], names: Sequence[str]) -> None:
        """Write some of the columns to another file of the same format."""
        if self.form == "Parquet":
            super().write(file, names)
        else:
            pyarrow.feather.write_feather(self.read(list(names)).select(list(names)), file)


def _count_rows(reader: Any, file: BinaryIO) -> int:
    if hasattr(reader, "count_rows"):
        return reader.count_rows()
    import pyarrow.dataset  # of old versions; it imports pandas

    file.seek(0)
    return pyarrow.dataset.FeatherFileFormat().make_fragment(file).count_rows()


def check_names(source: str, names: Sequence[str]) -> None:
    """Raise if a file has no columns, or two of the same name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"{source}: more than one column is named {twice[0]!r}; give each its own name.")
    if not names:
        raise InputError(f"{source} has no columns.")


def first_line(error: BaseException) -> str:
    r"""Return the beginning of a message, for a sentence.

    Examples
    --------
    >>> first_line(ValueError("No such type.\nMore about it"))
    'No such type'
    """
    return str(error).split("\n")[0].split(". Detail:")[0].rstrip(".")[:120]
