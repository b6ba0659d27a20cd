"""Excel workbooks and OpenDocument spreadsheets, read by calamine in a process of its own."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.feather
from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from foresift.errors import InputError, near_names
from foresift.reading.arrow_columns import array_of, text_of
from foresift.reading.arrow_files import ArrowFile, first_line
from foresift.reading.delimited import bare_name
from foresift.reading.unpacking import close_with

__all__ = ["Excel", "convert"]

_CONVERT = (
    "import json, sys; path, *args = json.loads(sys.argv[1]); sys.path[:] = path;"
    " from foresift.reading.excel import convert; sys.exit(convert(*args))"
)
_REFUSED, _FAILED = 3, 4  # exit codes: with a sentence for the user, with the reason of a failure
_THREADS = 10**9  # address space of pyarrow's threads
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # the part of an old container that holds a new workbook
_TITLE_ROWS = 20  # that may be above the header
_MAX_NAMES = 8  # sheets or columns listed in messages
_SPARSE = 0.05  # a column with fewer filled cells may consist of merged ones


class Excel(ArrowFile):
    """A sheet of a workbook, called `source` in messages.

    By default it is the first visible sheet whose header has the column `target`, or else the first with two
    rows. The header is the first row that is not blank; rows of fewer cells may be above it if it has the
    target.

    A damaged workbook can end the process that reads it: one cell with a wrong address may ask for terabytes
    of memory. So another process converts the sheet to a Feather file.
    """

    def __init__(
        self, file: BinaryIO, source: str, *, sheet: str = "", target: str = "", max_bytes: float = math.inf
    ) -> None:
        converted: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        close_with(self, converted)
        args = json.dumps([[*map(str, sys.path)], source, sheet, target, max_bytes])
        command = [sys.executable, "-P", "-c", _CONVERT, args]
        done = subprocess.run(command, stdin=file, stdout=converted, stderr=subprocess.PIPE)
        said = done.stderr.decode(errors="replace").split("\n")[-1]
        if done.returncode == _REFUSED:
            raise InputError(said)
        if done.returncode == _FAILED:
            raise InputError(f"{source} is no Excel workbook, or a damaged one ({said}).")
        if done.returncode:
            what = f"a workbook that takes more than {max_bytes / 1e9:g} GB of memory (--max-memory)"
            raise InputError(f"{source} is {what}, or a damaged one.")
        super().__init__(converted, source, "Feather")
        self.suffix = ".csv"
        about = json.loads(self.schema.metadata[b"foresift"])
        self.detail = f", sheet {about['sheet']!r}"
        if others := about["others"]:
            more = ", ..." if len(others) > _MAX_NAMES else ""
            self.notes = [
                f"This is the sheet {about['sheet']!r}; the workbook also has"
                f" {', '.join(map(repr, others[:_MAX_NAMES]))}{more} (--sheet NAME)."
            ]
        if about["title"]:
            self.notes = [*self.notes, f"Skipped the cells above the header in row {about['row']}."]
        for name, n_empty in list(about["sparse"].items())[:_MAX_NAMES]:
            self.notes = [
                *self.notes,
                f"Column {name!r} is empty in {n_empty:,} of {self.n_rows:,} rows (merged cells?).",
            ]

    def write(self, file: IO[bytes], names: Sequence[str]) -> None:
        """Write some of the columns to a CSV file."""
        with io.TextIOWrapper(file, "utf-8", newline="") as text:
            writer = csv.writer(text)
            writer.writerow(names)
            columns = self.read(list(names)).select(list(names)).columns
            writer.writerows(zip(*(map(text_of, column.to_pylist()) for column in columns), strict=True))


def convert(source: str, sheet: str, target: str, max_bytes: float) -> int:
    """Write a sheet of the workbook on standard input to standard output; return the exit code."""
    try:
        _limit_memory(max_bytes)
        table = _table_of(_opened(source, max_bytes), source, sheet, target)
        pyarrow.feather.write_feather(table, sys.stdout.buffer)
        return 0
    except InputError as error:
        said, code = str(error), _REFUSED
    except BaseException as error:  # such as a panic of calamine, which is no Exception
        said, code = first_line(error) or type(error).__name__, _FAILED
    sys.stderr.buffer.write(f"\n{' '.join(said.split())}".encode(errors="replace"))
    return code


def _limit_memory(max_bytes: float) -> None:
    """Limit the memory of this process, where the system can do that; else it may grow until it fails."""
    if sys.platform == "linux" and max_bytes < math.inf:
        import resource

        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit, hard = int(now + max_bytes + _THREADS), resource.getrlimit(resource.RLIMIT_AS)[1]
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _opened(source: str, max_bytes: float) -> CalamineWorkbook:
    """Open the workbook on standard input; raise if it is another kind of archive, or too large."""
    file = sys.stdin.buffer
    file.seek(0)
    if file.read(2) == b"PK":
        parts = zipfile.ZipFile(file).infolist()
        if not any(part.filename.startswith("xl/") or part.filename == "content.xml" for part in parts):
            raise InputError(f"{source} is a ZIP archive and no workbook: save the table as CSV or Parquet.")
        if (size := sum(part.file_size for part in parts)) > max_bytes:
            raise InputError(
                f"{source} unpacks to {size / 1e9:.3g} GB, above the limit of {max_bytes / 1e9:g} GB: save"
                " the table as CSV or Parquet, or raise the limit (--max-memory)."
            )
    elif _ENCRYPTED in file.read():
        raise InputError(f"{source} is protected by a password: save it without one.")
    file.seek(0)
    return CalamineWorkbook.from_filelike(file)


class _Sheet(NamedTuple):
    """A sheet without blank rows and columns around its cells, and where the header is."""

    name: str
    rows: list[list[Any]]
    header: int
    row: int  # number of the header in the sheet
    has_target: bool

    @classmethod
    def of(cls, book: CalamineWorkbook, name: str, target: str) -> _Sheet:
        sheet = book.get_sheet_by_name(name)
        rows = sheet.to_python()
        filled = [i for i, row in enumerate(rows) if any(map(_is_filled, row))] or [0]
        header, has_target, widest = filled[0], False, 0
        for i, row in enumerate(rows[:_TITLE_ROWS]):
            width = sum(map(_is_filled, row))
            names = [bare_name(text_of(cell) or "") for cell in row]
            if target and bare_name(target) in names and width > widest:
                header, has_target = i, True
                break
            widest = max(width, widest)
        return cls(name, rows[: filled[-1] + 1], header, (sheet.start or (0, 0))[0] + header + 1, has_target)


def _table_of(book: CalamineWorkbook, source: str, name: str, target: str) -> pa.Table:
    """The table on a sheet, with the choice of the sheet and of the header in its metadata."""
    sheets = [each for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
    names = [each.name for each in sheets]
    if name and name not in names:
        there = ", ".join(map(repr, names[:_MAX_NAMES])) or "none"
        raise InputError(f"{source} has no sheet {name!r} (--sheet); there are {there}.")
    visible = [each.name for each in sheets if each.visible == SheetVisibleEnum.Visible] or names
    found = _chosen(book, [name] if name else visible, target)
    if found is None:
        where = f"The sheet {name!r} of {source}" if name else source
        raise InputError(f"{where} holds no table: a header and rows are needed.")
    about: dict[str, Any] = {
        "sheet": found.name,
        "others": [] if name else [other for other in visible if other != found.name],
        "row": found.row,
        "title": any(map(_is_filled, chain.from_iterable(found.rows[: found.header]))),
    }
    table = _typed(found.rows[found.header], found.rows[found.header + 1 :])
    about["sparse"] = {
        name: column.null_count
        for name, column in zip(table.column_names, table.columns, strict=True)
        if (1 - _SPARSE) * len(column) < column.null_count < len(column)
    }
    return table.replace_schema_metadata({"foresift": json.dumps(about)})


def _chosen(book: CalamineWorkbook, names: list[str], target: str) -> _Sheet | None:
    """The first sheet with the target, else with a name like it, else with two rows; None if there is none.

    Without the target the table is refused later; that message suggests names of this sheet.
    """
    found, cells = None, []
    for name in names:
        sheet = _Sheet.of(book, name, target)
        if sheet.has_target:
            return sheet
        if found is None and len(sheet.rows) > sheet.header + 1:
            found = sheet
        cells += [cell for cell in chain.from_iterable(sheet.rows[:_TITLE_ROWS]) if isinstance(cell, str)]
    if target and (near := next((cell for cell in near_names(target, cells) if cell.strip()), "")):
        sheets = (_Sheet.of(book, name, near) for name in names)
        return next((sheet for sheet in sheets if sheet.has_target), found)
    return found


def _typed(header: list[Any], rows: list[list[Any]]) -> pa.Table:
    """Make columns of cells, without blank columns on both sides."""
    names = [text_of(cell) or "" for cell in header]
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    filled = [j for j, cells in enumerate(columns) if names[j].strip() or any(map(_is_filled, cells))]
    arrays = []
    for cells in columns[filled[0] : filled[-1] + 1]:
        array = array_of([None if cell == "" else cell for cell in cells])
        if pa.types.is_floating(array.type):  # as all numbers of a workbook
            with contextlib.suppress(pa.ArrowInvalid):
                array = array.cast(pa.int64())
        arrays.append(array)
    named = enumerate(names[filled[0] : filled[-1] + 1], start=1)
    return pa.table(arrays, [name if name.strip() else f"column {i}" for i, name in named])


def _is_filled(cell: Any) -> bool:
    return not isinstance(cell, str) or bool(cell.strip())
