"""Delimited text files such as CSV: detect encoding and delimiter, and read the rows."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice, takewhile
from typing import IO, BinaryIO, TypeVar

from foresift.errors import InputError
from foresift.reading.cells import Column
from foresift.reading.numbers import is_number
from foresift.reading.text_blocks import IrregularText, TextBlocks, blocks_of_file, blocks_of_rows
from foresift.reading.text_columns import read_text_columns
from foresift.reading.unpacking import SAMPLE, Progress, ignore

__all__ = [
    "DELIMITERS",
    "Delimited",
    "bare_name",
    "name_of",
    "require_text",
    "sniff_delimiter",
    "sniff_encodings",
    "text_lines",
]

T = TypeVar("T")

# In order of preference: commas also occur in text and as decimal marks.
DELIMITERS = ("\t", "|", ";", ",")
_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars", " ": "spaces"}
_SPACES = re.compile(r'("(?:[^"]|"")*")|[ \t]+')  # spaces in quotes are part of a cell
_SEP_LINE = re.compile(r'\ufeff?"?sep=([^\w\s"]|\t)"?(?:\r\n|\r|\n)', re.IGNORECASE)
_FIRST_ROWS = 20  # in which a wrong delimiter shows
MAX_LINE = 2**25  # characters; a line of 100,000 cells is far shorter
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, because it begins with that mark
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f"))


def sniff_encodings(sample: bytes) -> tuple[str, ...]:
    r"""Return possible encodings of a file that begins like this, most likely first; empty for binary data.

    Examples
    --------
    >>> sniff_encodings("na\u00efve".encode()), sniff_encodings("na\u00efve".encode("latin-1"))
    (('utf-8', 'cp1252'), ('cp1252',))
    >>> sniff_encodings(b"\x00\x01\x02\x03\x04")
    ()
    """
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return (encoding,)
    if sample:
        even, odd = (sample[start::2].count(0) / max(1, len(sample[start::2])) for start in (0, 1))
        if max(even, odd) > 0.4 and min(even, odd) < 0.05:  # mostly Latin text in two bytes per character
            return ("utf-16-le" if odd > even else "utf-16-be",)
    if sample.translate(None, _CONTROLS) != sample:
        return ()
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # may end within a character
    except UnicodeDecodeError:
        return ("cp1252",)
    return ("utf-8", "cp1252")


def require_text(sample: bytes, source: str) -> tuple[str, ...]:
    """Return the possible encodings of a file, or raise if it is not text.

    Examples
    --------
    >>> require_text(b"size,kind", "a file")
    ('utf-8', 'cp1252')
    """
    encodings = sniff_encodings(sample)
    if not encodings:
        what = "NUL bytes" if 0 in sample else "control characters"
        raise InputError(f"{source} is not text: it contains {what}.")
    return encodings


def sniff_delimiter(text: str, *, whole: bool = True) -> str:
    r"""Detect the delimiter: the one that splits the header and most rows into equally many cells.

    `text` is the beginning of the file; unless it is the `whole` file, its last line is ignored. Without any
    of `DELIMITERS` the delimiter is a space if runs of spaces split all lines into equally many cells, and
    otherwise a comma, with one column.

    Examples
    --------
    >>> sniff_delimiter("name;price\nplum;1,50\npear;2,20\n")
    ';'
    """
    best, best_share = ",", 0.0
    for mark in DELIMITERS:
        share = _share(text, mark, whole)
        if share > best_share:  # the first of equal ones
            best, best_share = mark, share
    if best_share == 0:
        spaced = "".join(map(_single_spaced, text.splitlines()))
        if spaced.strip().count("\n") and _share(spaced, " ", whole) == 1:
            return " "
    return best


def name_of(delimiter: str) -> str:
    """Name of a delimiter in messages.

    Examples
    --------
    >>> name_of(";"), name_of("~")
    ('semicolons', "'~'")
    """
    return _NAMES.get(delimiter, repr(delimiter))


def _share(text: str, delimiter: str, whole: bool, skip: bool = False) -> float:
    """Fraction of the lines with as many cells as the first; 0 if that has one cell."""
    widths = [len(row) for row in _some_rows(text, delimiter, skip) if row]
    if not whole and len(widths) > 2:
        widths.pop()
    return widths.count(widths[0]) / len(widths) if widths and widths[0] > 1 else 0.0


def _some_rows(text: str, delimiter: str, skip: bool) -> Iterator[list[str]]:
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=skip)
    except csv.Error:  # an unclosed quote
        return


def _single_spaced(line: str) -> str:
    return _SPACES.sub(lambda match: match[1] or " ", line.strip()) + "\n"


def _is_comment(line: str) -> bool:
    return line.startswith("#") or not line.strip()


def _without_comments(text: str, delimiter: str | None, whole: bool, target: str = "") -> tuple[int, str]:
    """Number of comment lines before the header, and the text after them."""
    bare = text.removeprefix("\ufeff")
    lines = io.StringIO(bare, newline="")
    above = list(takewhile(_is_comment, lines))
    while above and not above[-1].strip():
        above.pop()
    if above and _is_header(above[-1], bare[sum(map(len, above)) :], delimiter, whole, target):
        above.pop()
    return len(above), bare[sum(map(len, above)) :] if above else text


def _is_header(line: str, below: str, delimiter: str | None, whole: bool, target: str) -> bool:
    """Whether a line that begins with # is the header, which some programs mark like this."""
    text = line + below
    rows = filter(None, _some_rows(text, delimiter or sniff_delimiter(text, whole=whole), False))
    header, first = next(rows, []), next(rows, [])
    if len(header) != len(first) or len(header) < 2:
        return False
    wanted = bool(target) and target in map(bare_name, header) and target not in map(bare_name, first)
    # After a comment the header follows, which has no numbers.
    return wanted or not line[1].isspace() or any(map(is_number, first))


def bare_name(name: str) -> str:
    """Name of a column without surrounding spaces and without the # of a marked header.

    Examples
    --------
    >>> bare_name("# size ")
    'size'
    """
    return name.strip().lstrip("#").strip()


def text_lines(file: BinaryIO, encoding: str, source: str) -> Iterator[str]:
    r"""Yield the lines of a file from the start, with line ends; raise if a line is too long.

    Examples
    --------
    >>> list(text_lines(io.BytesIO(b"a\r\nb"), "utf-8", "demo"))
    ['a\r\n', 'b']
    """
    file.seek(0)
    number = 0
    wrapper = io.TextIOWrapper(file, encoding=encoding, newline="")
    try:
        while line := wrapper.readline(MAX_LINE):
            number += 1
            if len(line) == MAX_LINE:
                raise InputError(
                    f"{source}, line {number} has more than {MAX_LINE:,} characters: this is not a table."
                )
            if "\0" in line:
                raise InputError(f"{source}, line {number}: a NUL byte; this is not a text file.")
            yield line
    finally:
        if not file.closed:
            wrapper.detach()  # otherwise it would close the file


class Delimited:
    r"""A delimited text file, seekable and called `source` in messages.

    By default delimiter and encoding are detected. A line that begins with # and contains the column `target`
    is the header; other such lines before the header are comments, which are skipped and counted in
    `n_comments`.

    Examples
    --------
    >>> table = Delimited(io.BytesIO(b"a;b\n1;x\n\n2;'y'\n"), "demo")
    >>> table.delimiter, table.header, list(table.rows())
    (';', ['a', 'b'], [['1', 'x'], ['2', "'y'"]])
    """

    def __init__(
        self,
        file: BinaryIO,
        source: str,
        *,
        delimiter: str | None = None,
        encoding: str | None = None,
        target: str = "",
    ) -> None:
        self._file, self.source = file, source
        if delimiter and delimiter in '"\r\n':
            raise InputError(f"--delimiter cannot be {delimiter!r}: give the character between the cells.")
        file.seek(0)
        sample = file.read(SAMPLE)
        self._candidates = (encoding,) if encoding else require_text(sample, source)
        self._guesses = () if encoding else self._candidates
        self.encoding = self._candidates[0]
        try:
            io.TextIOWrapper(io.BytesIO(), encoding=self.encoding)  # rejects codecs that are not for text
            text = codecs.getincrementaldecoder(self.encoding)().decode(sample)
        except LookupError:
            raise InputError(
                f"There is no text encoding {encoding!r}; try utf-8, cp1252 or utf-16."
            ) from None
        except UnicodeError as error:  # also UTF-16 without its mark
            raise self._wrong_encoding() from error
        whole = len(sample) < SAMPLE
        sep_line = _SEP_LINE.match(text)  # Excel's declaration of the delimiter
        if sep_line is not None:
            text, delimiter = text[sep_line.end() :], delimiter or sep_line[1]
        n_before = 0
        if not whole and text.startswith("#"):
            n_before, text = self._below_comments(sep_line is not None)
        self.n_comments, text = _without_comments(text, delimiter, whole, target)
        self.n_comments += n_before
        self._n_above = self.n_comments + (sep_line is not None)
        self._hint = ""
        if delimiter is None:
            delimiter = sniff_delimiter(text, whole=whole)
            self._hint = f" (the detected delimiter is {name_of(delimiter)}; --delimiter overrides it)"
        self.delimiter = delimiter
        # Strictly, a quote after spaces is part of the cell; skip the spaces if the rows then match better.
        self._skip = bool(re.search(f'{re.escape(delimiter)} +"', text)) and delimiter != " "
        self._skip = self._skip and _share(text, delimiter, whole, True) > _share(text, delimiter, whole)
        self._check_encoding()
        rows = self._read()
        self.header = next(rows, [])
        self._n_top = self._line  # lines up to the header, which is the last of them
        first = next(rows, [])
        surplus = len(first) - len(self.header)
        self._surplus = surplus == 1 and not first[-1].strip()  # every row ends with a delimiter
        if surplus == -1 and first and not self.header[-1].strip():
            self.header.pop()
        if not any(cell.strip() for cell in self.header):
            raise InputError(f"{source} is empty: a header line and rows are needed.")

    @property
    def names(self) -> list[str]:
        """Names of the columns: the header as it is, with spaces, because programs look columns up by it."""
        return [cell if cell.strip() else f"column {i}" for i, cell in enumerate(self.header, start=1)]

    @property
    def notes(self) -> Sequence[str]:
        """Sentences on what was read: the encoding if it is a guess."""
        if self.encoding != "cp1252" or "cp1252" not in self._guesses:
            return ()
        return ("Read as Windows-1252, because it is not UTF-8 (--encoding overrides it).",)

    @property
    def detail(self) -> str:
        """Delimiter and encoding, for messages."""
        return f" with {name_of(self.delimiter)}, {self.encoding}"

    @property
    def suffix(self) -> str:
        """File name extension of what `write` makes."""
        return ".tsv" if self.delimiter == "\t" else ".csv"

    def columns(
        self,
        names: Sequence[str],
        text: Collection[str] = (),
        max_bytes: float = math.inf,
        progress: Progress = ignore,
    ) -> list[Column]:
        """Read columns, those in `text` as text; text files of any size are read."""
        drop = set(self.names).difference(names)
        return self.with_blocks(
            lambda blocks: read_text_columns(blocks, self.names, text=text, drop=drop), progress
        )

    def with_blocks(self, read: Callable[[TextBlocks], T], progress: Progress = ignore) -> T:
        """Read the file in blocks; once more, written anew, if it turns out not to be regular CSV."""
        try:
            return read(self._blocks(progress))
        except IrregularText:
            return read(blocks_of_rows(self.rows))
        except UnicodeDecodeError as error:
            raise self._wrong_encoding() from error

    def write(self, file: IO[bytes], names: Sequence[str]) -> None:
        """Write some of the columns unchanged."""
        wanted = set(names)
        kept = [j for j, name in enumerate(self.names) if name in wanted]
        text = io.TextIOWrapper(file, encoding=self.encoding, newline="")
        plain, careful = (
            csv.writer(text, delimiter=self.delimiter, lineterminator="\n", quoting=quoting)
            for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
        )
        plain.writerow(names)
        for row in self.rows():
            cells = [row[j] for j in kept]
            # Before Python 3.13 the writer quotes no carriage returns, nor empty cells between spaces.
            odd = any("\r" in cell or (not cell and self.delimiter == " ") for cell in cells)
            (careful if odd else plain).writerow(cells)
        text.detach()  # the file stays open

    def _blocks(self, progress: Progress) -> TextBlocks:
        if self._skip or self.delimiter in '" ' or not self.delimiter.isascii():
            raise IrregularText(f"cells between {self.delimiter!r}")
        return blocks_of_file(
            self._file,
            self.rows(),
            width=len(self.header) + self._surplus,
            delimiter=self.delimiter,
            encoding=self.encoding,
            n_above=self._n_top,
            progress=progress,
        )

    def rows(self) -> Iterator[list[str]]:
        """Yield the rows below the header from the start, each as long as the header."""
        rows = self._read()
        next(rows, [])
        wanted = len(self.header) + self._surplus
        for row in rows:
            if len(row) != wanted or (self._surplus and row[-1].strip()):
                raise self._irregular(len(row), wanted)
            yield row[:-1] if self._surplus else row

    def _irregular(self, n_cells: int, wanted: int) -> InputError:
        """The error for a row of another length; far down the delimiter is hardly wrong."""
        cells = f"{n_cells} cell{'' if n_cells == 1 else 's'}"
        than = "rows above have" if self._surplus else "header has"
        which = f"{wanted} with an empty one at the end" if self._surplus else wanted
        hint = self._hint
        if not hint or self._line > self._n_top + _FIRST_ROWS:
            hint = ": correct the line"
            if n_cells > wanted:
                hint += "; a cell that contains the delimiter needs quotes"
        return InputError(f"{self.source}, line {self._line}: {cells}, but the {than} {which}{hint}.")

    def _below_comments(self, sep_line: bool) -> tuple[int, str]:
        """Number of leading comment lines except the last, and a sample of the text from that one on."""
        self._check_encoding()
        lines = islice(text_lines(self._file, self.encoding, self.source), sep_line, None)
        n_comments, last, sample = 0, "", ""
        try:
            for line in lines:
                sample += line
                if _is_comment(line.removeprefix("\ufeff")) and len(sample) == len(line):
                    n_comments, last, sample = n_comments + 1, line, ""
                elif len(sample) > SAMPLE:
                    break
        except UnicodeDecodeError as error:
            raise self._wrong_encoding() from error
        return max(0, n_comments - 1), last + sample

    def _check_encoding(self) -> None:
        """Use the second possible encoding if the first cannot decode the whole file."""
        if len(self._candidates) == 1:
            return
        with contextlib.suppress(UnicodeDecodeError):  # an endless line is rejected before all of it is read
            next(text_lines(self._file, self.encoding, self.source), "")
        self._file.seek(0)
        decoder = codecs.getincrementaldecoder(self.encoding)()
        try:
            while block := self._file.read(2**20):
                if decoder.getstate()[0] or not block.isascii():  # faster than to decode ASCII
                    decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            self.encoding = self._candidates[1]

    def _read(self) -> Iterator[list[str]]:
        self._line = 0
        csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))  # a cell may be as long as a line
        lines: Iterator[str] = islice(text_lines(self._file, self.encoding, self.source), self._n_above, None)
        if self.delimiter == " ":
            lines = map(_single_spaced, lines)
        reader = csv.reader(lines, delimiter=self.delimiter, strict=True, skipinitialspace=self._skip)
        try:
            for row in reader:
                self._line = reader.line_num + self._n_above
                if row:  # csv gives an empty list for a blank line
                    yield row
        except UnicodeDecodeError as error:
            raise self._wrong_encoding() from error
        except csv.Error as error:
            what = str(error)
            if "field limit" in what or "end of data" in what:
                what = "a quote is not closed"
            raise InputError(
                f"{self.source}, from line {self._line + 1} on: not valid CSV ({what})."
            ) from error

    def _wrong_encoding(self) -> InputError:
        return InputError(
            f"{self.source} is not {self.encoding} text: give its encoding (--encoding), or save it in UTF-8."
        )
