"""Folders of Parquet or Feather files, which are the parts of one table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
from pyarrow import types

from foresift.errors import InputError
from foresift.reading.arrow_columns import is_text
from foresift.reading.arrow_files import ArrowFile, ArrowTable, first_line
from foresift.reading.cells import Column

__all__ = ["ArrowFolder"]

MAX_FILES = 100_000  # a folder with more is hardly one table
_FORMS = {"Parquet": (b"PAR1", (".parquet", ".pq")), "Feather": (b"ARROW1", (".feather", ".arrow"))}
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_NUMERIC = (types.is_integer, types.is_floating, types.is_decimal)


class _Part(NamedTuple):
    path: Path
    keys: dict[str, str | None]  # columns that the names of its folders give
    names: frozenset[str]
    n_rows: int


class ArrowFolder(ArrowTable):
    """A folder of Parquet (or else Feather) files, called `source` in messages.

    Folders named such as `year=2024` are columns. Files and folders whose names begin with a dot or an
    underscore are ignored, and so are files of other formats. `paths` are the files that may count, by
    default all of the folder.
    """

    def __init__(self, folder: Path, source: str, paths: Sequence[Path] | None = None) -> None:
        self.source = source
        if (folder / "_delta_log").is_dir():
            raise InputError(
                f"{source} is a Delta table, whose log says which files count: save the table as Parquet."
            )
        inside = folder.rglob("*") if paths is None else iter(paths)
        self.form, paths = _files_in(folder, inside, source)
        self._parts: list[_Part] = []
        kinds: dict[str, dict[pa.DataType, Path]] = {}  # by column, with an example of each
        for path in paths:
            with path.open("rb") as file:
                one = ArrowFile(file, str(path), self.form)
            self._parts.append(_Part(path, _keys_of(path, folder), frozenset(one.names), one.n_rows))
            for field in one.schema:
                kinds.setdefault(field.name, {}).setdefault(field.type, path)
        self.n_rows = sum(part.n_rows for part in self._parts)
        self.detail = f" folder of {len(paths):,} file{'' if len(paths) == 1 else 's'}"
        self._conflicts: dict[str, str] = {}
        keys = {key: pa.string() for part in self._parts for key in part.keys if key not in kinds}
        self.schema = pa.schema({name: self._common(name, of) for name, of in kinds.items()} | keys)

    @property
    def rows_of_parts(self) -> list[int]:
        """Number of rows of every file."""
        return [part.n_rows for part in self._parts]

    def columns(self, names: Sequence[str], *args: Any, **more: Any) -> Iterator[Column]:
        """Read columns one by one; raise if the type of one differs too much between the files."""
        self.require_one_type(names)
        return super().columns(names, *args, **more)

    def require_one_type(self, names: Sequence[str]) -> None:
        """Raise if the type of a column differs too much between the files."""
        if conflict := next((self._conflicts[name] for name in names if name in self._conflicts), ""):
            raise InputError(conflict)

    def batches(self, number: int, names: list[str], n_rows: int) -> Iterator[pa.RecordBatch]:
        """Read some of the columns of one file, about `n_rows` rows at a time, text as dictionaries."""
        part = self._parts[number]
        wanted = [name for name in names if name in part.names]
        # A Feather file is not in memory as long as nobody looks at it.
        opened = pa.memory_map if self.form == "Feather" else pa.OSFile
        try:
            with opened(str(part.path)) as file:
                one = ArrowFile(file, str(part.path), self.form)
                if not wanted and one.n_rows:  # all columns are in the names of folders
                    yield from self._as_all(part, None, one.n_rows, names).to_batches()
                for batch in one.batches(wanted, n_rows) if wanted else ():
                    yield from self._as_all(part, batch, len(batch), names).to_batches()
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{part.path}: damaged, or gone ({first_line(error)}).") from error

    def read(self, names: list[str], max_bytes: float = np.inf) -> pa.Table:
        """Read some of the columns, text as dictionaries."""
        return pa.concat_tables([self._read_part(part, names, max_bytes) for part in self._parts])

    def size(self, names: Collection[str], max_bytes: float) -> float:
        """Memory in bytes that the columns take at least, by the metadata of the files."""
        need = 0.0
        for part in self._parts:
            with part.path.open("rb") as file:
                need += ArrowFile(file, str(part.path), self.form).size(names, max_bytes / len(self._parts))
        return need

    def _read_part(self, part: _Part, names: list[str], max_bytes: float) -> pa.Table:
        own = None
        if wanted := [name for name in names if name in part.names]:
            try:
                with part.path.open("rb") as file:
                    own = ArrowFile(file, str(part.path), self.form).read(wanted, max_bytes)
            except pa.ArrowException as error:
                raise InputError(f"{part.path}: damaged ({first_line(error)}).") from error
        return self._as_all(part, own, part.n_rows, names)

    def _as_all(self, part: _Part, own: Any, n_rows: int, names: list[str]) -> pa.Table:
        """Rows of one file with the columns and types of all files."""
        columns = {}
        for name in names:
            kind = _stored(self.schema.field(name).type)
            if name in part.names:
                columns[name] = _cast(own.column(name), kind)
            elif value := part.keys.get(name):
                columns[name] = _cast(pa.chunked_array([pa.repeat(value, n_rows)]), kind)
            else:
                columns[name] = pa.nulls(n_rows, kind)
        return pa.table(columns)

    def _common(self, name: str, kinds: dict[pa.DataType, Path]) -> pa.DataType:
        """The type of a column that may have several."""
        (common, first), *others = kinds.items()
        for kind, path in others:
            merged = _merged(common, kind)
            if merged is None:
                self._conflicts[name] = (
                    f"Column {name!r} of {self.source} holds values of type {common} in {first}, but of type"
                    f" {kind} in {path}: save it with one type, or leave it out (--drop {name!r})."
                )
                return pa.null()
            common = merged
        return common


def _merged(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """A type that holds the values of both; None if there is none."""
    if types.is_null(one) or types.is_null(other):
        return one if types.is_null(other) else other
    if _stored(one) == _stored(other):  # text, categories, or both
        return _stored(one) if types.is_dictionary(one) and types.is_dictionary(other) else pa.string()
    if all(any(test(kind) for test in _NUMERIC) for kind in (one, other)):
        both_signed = types.is_signed_integer(one) and types.is_signed_integer(other)
        return pa.int64() if both_signed else pa.float64()
    if all(types.is_date(kind) or types.is_timestamp(kind) for kind in (one, other)):
        return pa.timestamp("us")
    return None


def _files_in(folder: Path, paths: Iterable[Path], source: str) -> tuple[str, list[Path]]:
    """The format of the files in a folder, and those of that format."""
    shown = (path for path in paths if not _is_hidden(path.relative_to(folder)) and path.is_file())
    paths = sorted(islice(shown, MAX_FILES + 1))
    if len(paths) > MAX_FILES:
        raise InputError(f"Cannot read {source}: it is a folder of more than {MAX_FILES:,} files.")
    for form, (mark, endings) in _FORMS.items():
        if own := [path for path in paths if path.name.lower().endswith(endings) or _starts(path, mark)]:
            return form, own
    such = f"; name a file in it, such as {paths[0]}" if paths else ", and empty"
    parts = [path for path in paths if path.name.lower().partition(".")[2].startswith(("csv", "tsv"))]
    if len(parts) > 1:
        such = (
            f"; CSV parts are not joined: name one file, such as {parts[0]}, join them (in pandas: concat),"
            " or save each as Parquet"
        )
    raise InputError(f"Cannot read {source}: it is a folder without Parquet or Feather files{such}.")


def _starts(path: Path, mark: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(mark)) == mark


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _keys_of(path: Path, folder: Path) -> dict[str, str | None]:
    """Columns in the names of folders, such as year=2024."""
    pairs = (part.partition("=") for part in path.relative_to(folder).parent.parts)
    return {
        unquote(key): None if value == _NO_VALUE else unquote(value) for key, mark, value in pairs if mark
    }


def _stored(kind: pa.DataType) -> pa.DataType:
    """The one type in which all parts of a column are read: text and categories as dictionaries."""
    value = kind.value_type if types.is_dictionary(kind) else kind
    if is_text(value):
        return pa.dictionary(pa.int32(), pa.string())
    return pa.dictionary(pa.int32(), value) if types.is_dictionary(kind) else kind


def _cast(values: Any, kind: pa.DataType) -> Any:
    if values.type == kind:
        return values
    if types.is_dictionary(kind) and not types.is_dictionary(values.type):
        values = values.cast(kind.value_type).dictionary_encode()
    return values.cast(kind, safe=False)
