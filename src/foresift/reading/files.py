"""Open table files of all supported formats, read their columns, and write some of them."""

from __future__ import annotations

import codecs
import os
import re
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from foresift.errors import InputError, near_names
from foresift.reading.arff import Arff
from foresift.reading.arrow_files import ArrowFile, ArrowTable, check_names
from foresift.reading.arrow_folders import ArrowFolder
from foresift.reading.cells import Column
from foresift.reading.delimited import Delimited, require_text
from foresift.reading.excel import Excel
from foresift.reading.json_lines import JSON_START, JsonLines
from foresift.reading.unpacking import (
    PACKINGS,
    Progress,
    close_with,
    ignore,
    open_packed,
    open_unpacked,
    packing_of,
)

__all__ = ["MAX_MEMORY", "OpenTable", "TableFile", "open_table"]

MAX_MEMORY = 4.0  # GB that a compressed file may decompress to by default
_START = 512  # bytes from which the format is detected
# The first file of an archive that may be a workbook.
_WORKBOOK = re.compile(
    rb"PK\x03\x04.{26}(\[Content_Types\]|_rels/|xl/|doc(Props|Metadata)/|customXml/|mimetype|META-INF/|content\.xml)"
    rb"|\xd0\xcf\x11\xe0",
    re.DOTALL,
)
_FOREIGN = {
    rb"PK\x03\x04.{26}[^\0]{1,200}?\.npy": "an archive of NumPy arrays (.npz)",
    rb"PK\x03\x04": "a ZIP archive, or a damaged Excel workbook",
    rb"<stata_dta>|[\x69\x6c-\x73][\x01\x02]\x01\0": "a Stata file (.dta)",
    rb"\0{12}\xc2\xea\x81\x60|HEADER RECORD\*{7}LIB": "a SAS file",
    rb"\$FL[23]@\(#\)": "an SPSS file (.sav)",
    rb"SQLite format 3": "an SQLite database",
    rb"\x89HDF": "an HDF5 file",
    rb"FEA1": "a Feather file of version 1, which cannot be checked for damage",
    rb"%PDF": "a PDF document",
    rb"\x93NUMPY": "a NumPy array (.npy)",
    rb"\x80[\x02-\x05]": "a Python pickle",
    rb"(?i)\s*<(!doctype html|html)\b": "a web page",
    rb"(?i)\s*<table\b": "an HTML table",
    rb"\s*<\?xml\b": "an XML file",
}
_MAX_NAMES = 3  # files of an archive listed in a message
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ENDINGS = {
    "Parquet": (".parquet", ".pq"),
    "Feather": (".feather", ".arrow"),
    "JSON lines": (".jsonl", ".ndjson"),
    "ARFF": (".arff",),
}


# What reads a format: `names`, `columns`, `write`, and how the format is said.
Origin = Delimited | Arff | ArrowTable


@dataclass(eq=False)
class OpenTable:
    """A file whose format and column names are known, but whose rows are not read yet.

    Attributes
    ----------
    source : str
        Name of the file.
    form : {"CSV", "ARFF", "Parquet", "Feather", "Excel", "JSON lines", "JSON"}
        Its format.
    packed : {"", "gzip", "bzip2", "xz", "zstd"}
        How it is compressed.
    names : list of str
        Names of the columns, exactly as in the file; `column 3` for one without a name.
    """

    source: str
    form: str
    packed: str
    names: list[str]
    max_bytes: float = field(repr=False)
    origin: Origin = field(repr=False)

    @property
    def how(self) -> str:
        """Format of the file, for messages."""
        packed = {"": "", "gzip": "gzipped "}.get(self.packed, f"{self.packed}-packed ")
        return packed + self.form + self.origin.detail

    @property
    def suffix(self) -> str:
        """File name extension of the tables that `write` makes."""
        return self.origin.suffix + PACKINGS.get(self.packed, "")

    @property
    def notes(self) -> Sequence[str]:
        """Sentences on what was read, and what was not."""
        return self.origin.notes

    def write(self, path: Path, names: Collection[str]) -> None:
        """Write some columns unchanged, in the order of the file, in the same format (Excel: as CSV)."""
        with path.open("wb") as plain, open_packed(plain, self.packed, "wb") as file:
            self.origin.write(file, [name for name in self.names if name in names])

    def read(
        self, *, text: Collection[str] = (), drop: Collection[str] = (), progress: Progress = ignore
    ) -> TableFile:
        """Read the columns; those in `text` as text, those in `drop` not at all.

        `progress` is called with the fraction that is done.
        """
        wanted = [name for name in self.names if name not in drop]
        columns = list(self.origin.columns(wanted, text, self.max_bytes, progress))
        if columns and not len(columns[0].values):
            raise InputError(f"{self.source} has a header but no rows.")
        left_out = [name for name in self.names if name in drop]
        return TableFile(**vars(self), columns=columns, left_out=left_out)


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
    sheet: str = "",
    max_memory: float = MAX_MEMORY,
    progress: Progress = ignore,
) -> OpenTable:
    r"""Open a table file and read its column names; raise `InputError` if it is not a table.

    Parameters
    ----------
    path : Path or str
        CSV or TSV, Excel, Parquet, Feather, JSON lines or ARFF, plain or packed with gzip, bzip2, xz or zstd;
        a folder of Parquet files; "-" is standard input.
    target : str, default=""
        The target column: a line that begins with # and contains it is the header, not a comment. In a
        workbook, the sheet that has it is read.
    delimiter, encoding : str or None, default=None
        Of a CSV file; detected by default.
    sheet : str, default=""
        Of a workbook; by default the first one with a table.
    max_memory : float, default=4.0
        Gigabytes that the columns of a typed file may take, and that a compressed file may decompress to.
    progress : callable
        Called with the fraction that is done, if the file must be unpacked or parsed to know its columns.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "fruit.csv")
    ...     _ = path.write_text("weight;kind\n150;apple\n?;plum\n")
    ...     open_table(path).names
    ['weight', 'kind']
    """
    if not str(path):
        raise InputError("The name of the file is empty: name a table, or - for standard input.")
    source = "standard input" if str(path) == "-" else str(path)
    max_bytes = max_memory * 1e9

    def check(sample: bytes) -> None:
        if _form_of(sample[:_START], path, source) in ("CSV", "ARFF") and not encoding:
            require_text(sample, source)

    try:
        if str(path) != "-":
            _check_path(str(path))
        folder = ArrowFolder(Path(path), source) if Path(path).is_dir() and str(path) != "-" else None
        if folder is None:
            file, packed = open_unpacked(path, source, max_bytes, check, progress)
    except OSError as error:
        raise InputError(f"Cannot read {source}: {error.strerror or error}.") from error
    if folder:
        _require_no_sheet(sheet, folder.form, source)
        check_names(source, folder.names)
        return OpenTable(source, folder.form, "", folder.names, max_bytes, folder)
    try:
        form = _form_of(file.read(_START), path, source)
        _require_no_sheet(sheet, form, source)
        origin: Delimited | Arff | ArrowFile | JsonLines
        if form == "CSV":
            origin = Delimited(file, source, delimiter=delimiter, encoding=encoding, target=target)
        elif form == "ARFF":
            origin = Arff(file, source)
        elif form == "Excel":
            origin = Excel(file, source, sheet=sheet, target=target, max_bytes=max_bytes)
        elif form == "JSON lines":
            origin = JsonLines(file, source, encoding=encoding, max_bytes=max_bytes, progress=progress)
            form = origin.form
        else:
            origin = ArrowFile(file, source, form)
        check_names(source, origin.names)
    except BaseException:
        file.close()
        raise
    close_with(origin, file)
    return OpenTable(source, form, packed, origin.names, max_bytes, origin)


def _require_no_sheet(sheet: str, form: str, source: str) -> None:
    if sheet and form != "Excel":
        raise InputError(f"--sheet names a sheet of an Excel workbook, but {source} is {form}.")


def _check_path(path: str) -> None:
    """Raise for what is no path, and for a file that is not there, with files of similar names."""
    place = Path(path)
    if re.match(r"\w{2,}://", path):
        raise InputError(f"Cannot read {path}: it is a web address; download the file first.")
    if place.name.startswith("~$"):
        name = place.name.removeprefix("~$")
        raise InputError(f"{path} is the lock file that Excel makes while {name} is open: name {name}.")
    if os.path.lexists(path):
        return
    missing = f"Cannot read {path}: No such file or directory"
    if "*" in path:
        raise InputError(f"{missing}; name one file, or a folder of Parquet files.")
    if not place.parent.is_dir():
        raise InputError(f"{missing}; there is no folder {place.parent}.")
    near = [str(place.parent / name) for name in near_names(place.name, os.listdir(place.parent))]
    raise InputError(f"{missing}{f'; did you mean {near[0]}?' if near else '.'}")


def _names_in_zip(start: bytes, path: Path | str) -> str:
    """Names of the first files in a ZIP archive; empty if it is none, or has none that can be read."""
    if not start.startswith(b"PK\x03\x04") or not os.path.isfile(path):
        return ""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return ""
    names = [name for name in names if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if not names or names[0].endswith(".npy") or "[Content_Types].xml" in names:
        return ""
    return ", ".join(names[:_MAX_NAMES]) + (", ..." if len(names) > _MAX_NAMES else "")


def _form_of(start: bytes, path: Path | str, source: str) -> str:
    """Detect the format from the first bytes of a file, or else from its name."""
    if start.startswith((b"PAR1", b"PARE")):
        return "Parquet"
    if start.startswith(b"ARROW1"):
        return "Feather"
    if _WORKBOOK.match(start):
        return "Excel"
    bare = start.removeprefix(b"\xef\xbb\xbf")
    if JSON_START.match(bare.replace(b"\0", b"")[2:] if bare[:2] in _UTF16 else bare):
        return "JSON lines"
    if names := _names_in_zip(bare, path):
        raise InputError(f"{source} is a ZIP archive: unpack it first; it contains {names}.")
    if bare[257:262] == b"ustar":
        raise InputError(f"{source} is a tar archive: unpack it first.")
    if what := next((what for mark, what in _FOREIGN.items() if re.match(mark, bare, re.DOTALL)), ""):
        raise InputError(f"{source} is {what}: save the table as CSV or Parquet.")
    if packing_of(start):
        raise InputError(f"{source} is packed twice: unpack it first.")
    name = str(path).lower()
    for ending in PACKINGS.values():
        name = name.removesuffix(ending)
    if form := next((form for form, endings in _ENDINGS.items() if start and name.endswith(endings)), ""):
        return form
    lines = (line.strip().lower() for line in bare.decode("latin-1").splitlines())
    first = next((line for line in lines if line and not line.startswith("%")), "")
    return "ARFF" if first.startswith(("@relation", "@attribute")) else "CSV"
