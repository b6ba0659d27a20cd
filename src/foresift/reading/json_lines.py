"""JSON lines, one record per line; also an array of records."""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import IO, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.json

from foresift.errors import InputError
from foresift.reading import delimited
from foresift.reading.arrow_columns import array_of, is_usable, unified, unified_type
from foresift.reading.arrow_files import ArrowTable
from foresift.reading.delimited import require_text, text_lines
from foresift.reading.unpacking import SAMPLE, Progress, close_with, ignore

__all__ = ["JSON_START", "JsonLines"]

JSON_START = re.compile(rb"""\s*(\{\s*"[^"]*"\s*:|\[\s*\{\s*")""")
_FIRST, _BLOCK = 2**16, 2**22  # bytes of the first block, which tells the types, and of the others
_PER_BYTE = 10  # bytes of memory that a byte of an array takes


class JsonLines(ArrowTable):
    r"""A file of records, seekable and called `source` in messages; a key that a record lacks is missing.

    pyarrow parses the lines; the json module those that it refuses, such as text in a column of numbers.

    Examples
    --------
    >>> table = JsonLines(io.BytesIO(b'{"size": 1.5, "kind": "a"}\n{"kind": 2}\n'), "demo")
    >>> table.read(["size", "kind"]).to_pydict()
    {'size': [1.5, None], 'kind': ['a', '2']}
    """

    suffix = ".jsonl"

    def __init__(
        self,
        file: BinaryIO,
        source: str,
        *,
        encoding: str | None = None,
        max_bytes: float = np.inf,
        progress: Progress = ignore,
    ) -> None:
        self.source, self.n_rows, self._unit, self.form = source, 0, "line", "JSON lines"
        self._file = self._utf8(file, encoding)
        if self._file.read(SAMPLE).lstrip().startswith(b"["):
            self._file, self.form = self._array_as_lines(max_bytes), "JSON"
        size = self._file.seek(0, 2)
        columns: dict[str, list[pa.Array]] = {}
        n_bytes = 0
        for part, n_rows in self._parts(max_bytes):
            own = dict(zip(part.column_names, part.columns, strict=True))
            for name in own:
                columns.setdefault(name, [pa.nulls(self.n_rows)])
            for name, chunks in columns.items():
                chunks.extend(own[name].chunks if name in own else [pa.nulls(n_rows)])
            self.n_rows += n_rows
            n_bytes += part.get_total_buffer_size()
            self._refuse_above(max_bytes, n_bytes)
            progress(self._file.tell() / size)
        super().__init__(pa.table({name: unified(chunks) for name, chunks in columns.items()}), source)
        if self.n_rows == 1 and not any(is_usable(field.type) for field in self.schema):
            raise InputError(
                f"{source} is a JSON file, but not of records: save the table as JSON lines (in pandas:"
                " to_json(..., orient='records', lines=True)), CSV or Parquet."
            )

    def write(self, file: IO[bytes], names: Sequence[str]) -> None:
        """Write some of the columns to a file of JSON lines."""
        for block, number in self._blocks():
            for record in self._records(block, number):
                kept = {name: record[name] for name in names if name in record}
                file.write(json.dumps(kept, ensure_ascii=False).encode() + b"\n")

    def _refuse_above(self, max_bytes: float, need: float) -> None:
        if need > max_bytes:
            raise self._too_large(need, max_bytes, "fewer columns")

    def _parts(self, max_bytes: float) -> Iterator[tuple[pa.Table, int]]:
        """Yield parts of the table, each with its number of rows."""
        kinds: dict[str, pa.DataType] = {}
        for block, number in self._blocks():
            part = _parsed(block, kinds)
            if part is not None:
                yield part, part.num_rows
                continue
            records = list(self._records(block, number))
            names = dict.fromkeys(chain.from_iterable(records))
            # Names that differ in every record would fill any memory with missing values.
            self._refuse_above(max_bytes, 8 * (self.n_rows + len(records)) * len(kinds.keys() | names))
            part = pa.table({name: array_of([record.get(name) for record in records]) for name in names})
            for field in part.schema:
                kinds[field.name] = unified_type([field.type, kinds.get(field.name, pa.null())])
            yield part, len(records)

    def _blocks(self) -> Iterator[tuple[bytes, int]]:
        """Yield blocks of whole lines, each with the number of its first line."""
        self._file.seek(0)
        number, size = 1, _FIRST
        while block := self._file.read(size):
            if not block.endswith(b"\n"):
                rest = self._file.readline(delimited.MAX_LINE)
                if len(rest) == delimited.MAX_LINE:
                    what = f"has a line of more than {delimited.MAX_LINE:,} characters: this is not a table"
                    raise InputError(f"{self.source} {what}.")
                block += rest
            yield block, number
            number, size = number + block.count(b"\n"), _BLOCK

    def _records(self, block: bytes, number: int) -> Iterator[dict[str, Any]]:
        """Parse lines one by one."""
        for i, line in enumerate(block.splitlines(), start=number):
            if not line.strip():
                continue
            record = self._loaded(line, f", {self._unit} {i}")
            if not isinstance(record, dict):
                raise InputError(
                    f'{self.source}, {self._unit} {i}: not a JSON object, such as {{"size": 1}}.'
                )
            yield record

    def _array_as_lines(self, max_bytes: float) -> BinaryIO:
        """Write the records of an array to a temporary file, one per line."""
        self._file.seek(0)
        content = self._file.read()
        if (need := _PER_BYTE * len(content)) > max_bytes:
            raise InputError(
                f"{self.source} is a JSON array of about {need / 1e9:.3g} GB of memory, above the limit"
                f" of {max_bytes / 1e9:g} GB: save it as JSON lines, or raise the limit (--max-memory)."
            )
        self._unit = "record"
        lines: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        close_with(self, lines)
        for record in self._loaded(content, ""):
            lines.write(json.dumps(record).encode() + b"\n")
        return lines

    def _loaded(self, content: bytes, where: str) -> Any:
        """Parse the JSON at a place of the file."""
        try:
            text = content.decode()
            loaded = json.loads(text, object_pairs_hook=_unique)
            return _without_surrogates(loaded) if "\\ud" in text.lower() else loaded
        except UnicodeDecodeError:
            what = "not utf-8 text"
        except json.JSONDecodeError as error:
            line = f" of line {error.lineno}" if not where else ""
            what = f"not valid JSON ({error.msg} at character {error.colno}{line})"
        except RecursionError:
            what = "nested too deeply"
        except ValueError as error:
            what = f"not valid JSON ({str(error).split(':')[0]})"
        raise InputError(f"{self.source}{where}: {what}.")

    def _utf8(self, file: BinaryIO, encoding: str | None) -> BinaryIO:
        """The file from the start, in UTF-8 and without a mark."""
        file.seek(0)
        encoding = encoding or require_text(file.read(SAMPLE), self.source)[0]
        file.seek(0)
        if encoding == "utf-8":
            return file
        copy: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        close_with(self, copy)
        try:
            copy.writelines(line.encode() for line in text_lines(file, encoding, self.source))
        except LookupError:
            raise InputError(f"There is no text encoding {encoding!r}; JSON is in utf-8.") from None
        except UnicodeError as error:
            raise InputError(f"{self.source} is not {encoding} text: save it in UTF-8.") from error
        copy.seek(0)
        return copy


def _parsed(block: bytes, kinds: dict[str, pa.DataType]) -> pa.Table | None:
    """Parse lines with the known types by pyarrow; None if other types or keys, or anything nested, occur.

    Deep nesting would crash pyarrow: a brace that is not the first character of its line could be that.
    """
    n_braces = block.count(b"\n{") + block.startswith(b"{")
    if not kinds or n_braces != block.count(b"{") or b"[" in block:
        return None
    options = pa.json.ParseOptions(
        explicit_schema=pa.schema(kinds), unexpected_field_behavior="error", newlines_in_values=False
    )
    try:
        reading = pa.json.ReadOptions(block_size=len(block) + 1, use_threads=False)
        part = pa.json.read_json(io.BytesIO(block), reading, options)
        part.validate(full=True)
    except pa.ArrowException:
        return None
    return part


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in record if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} twice")
    return record


def _without_surrogates(value: Any) -> Any:
    """Replace halves of characters, which no encoding has."""
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
