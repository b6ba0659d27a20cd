"""Open table files of all supported formats, read their columns, and write some of them."""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from foresift.errors import InputError
from foresift.reading.arff import Arff
from foresift.reading.arrow_files import ArrowFile
from foresift.reading.cells import Column
from foresift.reading.delimited import SAMPLE, Delimited, name_of, require_text

__all__ = ["MAX_MEMORY", "OpenTable", "TableFile", "open_table"]

MAX_MEMORY = 4.0  # GB that a compressed file may decompress to by default
_GZIP = b"\x1f\x8b"
_START = 512  # bytes from which the format is detected
_FOREIGN = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"FEA1": "a Feather file of version 1, which cannot be checked for damage",
    b"BZh": "packed with bzip2",
    b"\xfd7zXZ": "packed with xz",
    b"(\xb5/\xfd": "packed with zstd",
    b"%PDF": "a PDF document",
    b"\x93NUMPY": "a NumPy array (.npy)",
}
_FOREIGN_PATTERNS = {
    re.compile(rb"PK\x03\x04.{26}[^\0]{1,200}?\.npy", re.DOTALL): "an archive of NumPy arrays (.npz)",
    re.compile(rb"\x80[\x02-\x05]"): "a Python pickle",
    re.compile(rb"\s*<(!doctype html|html)\b", re.IGNORECASE): "a web page",
    re.compile(rb"\s*<\?xml\b"): "an XML file",
    re.compile(rb"""\s*(\{\s*"[^"]*"\s*:|\[\s*\{\s*")"""): "a JSON file",
}


@dataclass(eq=False)
class OpenTable:
    """A file whose format and column names are known, but whose rows are not read yet.

    Attributes
    ----------
    source : str
        Name of the file.
    form : {"CSV", "ARFF", "Parquet", "Feather"}
        Its format.
    packed : bool
        Whether it is compressed.
    names : list of str
        Names of the columns, exactly as in the file; `column 3` for one without a name.
    """

    source: str
    form: str
    packed: bool
    names: list[str]
    max_bytes: float = field(repr=False)
    origin: Delimited | Arff | ArrowFile = field(repr=False)

    @property
    def how(self) -> str:
        """Format of the file, for messages."""
        how = ("gzipped " if self.packed else "") + self.form
        if isinstance(self.origin, Delimited):
            how += f" with {name_of(self.origin.delimiter)}, {self.origin.encoding}"
        return how

    @property
    def suffix(self) -> str:
        """File name extension of the format."""
        tabs = isinstance(self.origin, Delimited) and self.origin.delimiter == "\t"
        return (".tsv" if tabs else f".{self.form.lower()}") + (".gz" if self.packed else "")

    def write(self, path: Path, names: Collection[str]) -> None:
        """Write some columns unchanged, in the order of the file, to a file of the same format."""
        if isinstance(self.origin, ArrowFile):
            kept = [name for name in self.origin.names if name in names]
            if not self.packed:
                self.origin.write(str(path), kept)
                return
            with tempfile.TemporaryDirectory() as folder:
                plain = Path(folder, "table")
                self.origin.write(str(plain), kept)
                with plain.open("rb") as file, gzip.open(path, "wb") as packed:
                    shutil.copyfileobj(file, packed)
            return
        with (
            (gzip.open if self.packed else open)(path, "wb") as opened,
            io.TextIOWrapper(opened, encoding=self.origin.encoding, newline="") as text,
        ):
            if isinstance(self.origin, Arff):
                self.origin.write(text, names)
            else:
                header = _names(self.origin.header)
                kept_at = [j for j, name in enumerate(header) if name in names]
                _write_rows(text, self.origin, [header[j] for j in kept_at], kept_at)

    def read(self, *, text: Collection[str] = (), drop: Collection[str] = ()) -> TableFile:
        """Read the columns; those in `text` as text, those in `drop` not at all."""
        columns: Sequence[Column]
        if isinstance(self.origin, ArrowFile):
            n_rows = self.origin.n_rows
            wanted = [name for name in self.names if name not in drop]
            columns = list(self.origin.columns(wanted, text, self.max_bytes)) if n_rows else []
        else:
            columns = (
                self.origin.columns(text)
                if isinstance(self.origin, Arff)
                else self.origin.columns(self.names, text, drop)
            )
            n_rows = len(columns[0].values)
        if not n_rows:
            raise InputError(f"{self.source} has a header but no rows.")
        kept = [column for column in columns if column.name not in drop]
        return TableFile(**vars(self), columns=kept, left_out=[name for name in self.names if name in drop])


@dataclass(eq=False)
class TableFile(OpenTable):
    """A file with its columns, except those that the user dropped."""

    columns: list[Column]
    left_out: list[str]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values) if self.columns else 0


def open_table(
    path: Path | str,
    *,
    target: str = "",
    delimiter: str | None = None,
    encoding: str | None = None,
    max_memory: float = MAX_MEMORY,
) -> OpenTable:
    r"""Open a table file and read its column names; raise `InputError` if it is not a table.

    Parameters
    ----------
    path : Path or str
        CSV or TSV, Parquet, Feather or ARFF, plain or gzip; "-" is standard input.
    target : str, default=""
        The target column: a line that begins with # and contains it is the header, not a comment.
    delimiter, encoding : str or None, default=None
        Of a CSV file; detected by default.
    max_memory : float, default=4.0
        Gigabytes that the columns of a Parquet or Feather file may take, and that a gzip file may decompress
        to.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "fruit.csv")
    ...     _ = path.write_text("weight;kind\n150;apple\n?;plum\n")
    ...     open_table(path).names
    ['weight', 'kind']
    """
    if not str(path):
        raise InputError("The name of the file is empty: name a table, or - for standard input.")
    source = "standard input" if str(path) == "-" else str(path)
    max_bytes = max_memory * 1e9
    try:
        file, packed = _open(path, source, max_bytes, encoding)
    except IsADirectoryError as error:
        raise InputError(f"Cannot read {source}: it is a folder; name a file in it.") from error
    except OSError as error:
        raise InputError(f"Cannot read {source}: {error.strerror or error}.") from error
    form = _form_of(file.read(_START), path, source)
    origin: Delimited | Arff | ArrowFile
    if form in ("Parquet", "Feather"):
        origin = ArrowFile(file, source, form)
        names = origin.names
    elif form == "ARFF":
        origin = Arff(file, source)
        names = [column.name for column in origin.attributes]
    else:
        origin = Delimited(file, source, delimiter=delimiter, encoding=encoding, target=target)
        if not any(cell.strip() for cell in origin.header):
            raise InputError(f"{source} is empty: a header line and rows are needed.")
        names = _names(origin.header)
    _check_names(source, names)
    return OpenTable(source, form, packed, names, max_bytes, origin)


def _open(path: Path | str, source: str, max_bytes: float, encoding: str | None) -> tuple[BinaryIO, bool]:
    """Open a file as a seekable, decompressed one; return also whether it was compressed."""
    file: BinaryIO = sys.stdin.buffer if str(path) == "-" else Path(path).open("rb")  # noqa: SIM115
    if str(path) == "-" or not file.seekable():
        file = _spooled(file)
    packed = file.read(2) == _GZIP
    file.seek(0)
    if not packed:
        return file, False
    try:
        unpacked = gzip.GzipFile(fileobj=file)
        # A small file can decompress to any size, so check first whether it is a table.
        sample = unpacked.read(SAMPLE)
        if _form_of(sample[:_START], path, source) in ("CSV", "ARFF") and not encoding:
            require_text(sample, source)
        unpacked.seek(0)
        return _spooled(unpacked, max_bytes, source), True
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{source} is a damaged gzip file ({error}).") from error


def _spooled(file: Any, max_bytes: float = math.inf, source: str = "") -> BinaryIO:
    """Copy a file to an anonymous temporary file."""
    copy: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
    while block := file.read(2**20):
        if copy.tell() + len(block) > max_bytes:
            raise InputError(
                f"{source} is a gzip file that unpacks to more than {max_bytes / 1e9:g} GB: if it should,"
                " raise the limit (--max-memory)."
            )
        copy.write(block)
    copy.seek(0)
    return copy


def _form_of(start: bytes, path: Path | str, source: str) -> str:
    """Detect the format from the first bytes of a file, or else from its name."""
    if start.startswith((b"PAR1", b"PARE")):
        return "Parquet"
    if start.startswith(b"ARROW1"):
        return "Feather"
    bare = start.removeprefix(b"\xef\xbb\xbf")
    by_pattern = (what for pattern, what in _FOREIGN_PATTERNS.items() if pattern.match(bare))
    by_mark = (what for mark, what in _FOREIGN.items() if start.startswith(mark))
    if what := next(chain(by_pattern, by_mark), ""):
        raise InputError(f"{source} is {what}: save the table as CSV or Parquet.")
    name = str(path).lower().removesuffix(".gz")
    for form, endings in {"Parquet": (".parquet", ".pq"), "Feather": (".feather", ".arrow")}.items():
        if start and name.endswith(endings):
            return form
    lines = (
        line.strip().lower() for line in start.decode("latin-1").removeprefix("\xef\xbb\xbf").splitlines()
    )
    first = next((line for line in lines if line and not line.startswith("%")), "")
    return "ARFF" if first.startswith(("@relation", "@attribute")) or name.endswith(".arff") else "CSV"


def _write_rows(text: io.TextIOWrapper, origin: Delimited, header: list[str], kept: list[int]) -> None:
    """Write some columns of a CSV file unchanged."""
    plain, careful = (
        csv.writer(text, delimiter=origin.delimiter, lineterminator="\n", quoting=quoting)
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    plain.writerow(header)
    for row in origin.rows():
        cells = [row[j] for j in kept]
        # Before Python 3.13 the writer does not quote carriage returns, nor empty cells between spaces.
        odd = any("\r" in cell or (not cell and origin.delimiter == " ") for cell in cells)
        (careful if odd else plain).writerow(cells)


def _names(header: Sequence[str]) -> list[str]:
    # Unchanged, with surrounding spaces: programs look columns up by these names.
    return [cell if cell.strip() else f"column {i}" for i, cell in enumerate(header, start=1)]


def _check_names(source: str, names: Sequence[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"{source}: more than one column is named {twice[0]!r}; give each its own name.")
    if not names:
        raise InputError(f"{source} has no columns.")
