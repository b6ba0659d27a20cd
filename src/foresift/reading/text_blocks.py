"""Cut a CSV file into blocks of whole rows in UTF-8, and see that its quotes are regular."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.reading.unpacking import Progress, ignore

__all__ = ["Block", "IrregularText", "TextBlocks", "blocks_of_file", "blocks_of_rows"]

SIZE, MAX_SIZE = 2**22, 2**25  # bytes of a block; no row is longer
_CELL_BYTES, _MIN_ROWS = 8, 100  # of a block of a wide table
_HEAD, _MIN_HEAD = 2**12, 4  # cells and rows of the first rows, which show what the columns are
_TILE = 2**16  # bytes that are searched for a line end
_LINE_END = re.compile(rb"\r\n|\n|\r")


class Block(NamedTuple):
    """Some rows."""

    text: NDArray[np.uint8]  # in UTF-8
    quoted: bool  # whether there are quotes
    plain: bool = False  # whether there is no x: for pyarrow 0x1F is an integer


class IrregularText(ValueError):
    """The text is no regular CSV: only the csv module can read it, or say what is wrong with it."""


@dataclass(frozen=True)
class TextBlocks:
    """Rows of cells as regular CSV text: all quotes open, close or double one, and rows have as many cells.

    Attributes
    ----------
    blocks : callable
        Returns an iterator over blocks of whole rows, in UTF-8, each valid until the next one is taken. It
        is called again for columns that begin with numbers and later have text.
    width : int
        Number of cells of a row.
    head : list of list of str
        The first rows.
    delimiter : str
        The delimiter.
    n_bytes : int
        About how long the text is; 0 if that is not known.
    """

    blocks: Callable[[], Iterator[Block]]
    width: int
    head: list[list[str]]
    delimiter: str = ","
    n_bytes: int = 0


def blocks_of_rows(rows: Callable[[], Iterable[list[str]]]) -> TextBlocks:
    r"""Write rows of cells anew as regular CSV text.

    Examples
    --------
    >>> [bytes(block.text) for block in blocks_of_rows(lambda: [["1", "a"], ["2", "b,c"]]).blocks()]
    [b'"1","a"\n"2","b,c"\n']
    """
    width = len(next(iter(rows()), []))
    head = list(islice(rows(), max(_MIN_HEAD, _HEAD // max(1, width))))

    def blocks() -> Iterator[Block]:
        remaining = iter(rows())
        while batch := list(islice(remaining, max(1, SIZE // _CELL_BYTES // max(1, width)))):
            text = io.StringIO(newline="")
            csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(batch)
            yield Block(np.frombuffer(text.getvalue().encode(), dtype=np.uint8), True)

    return TextBlocks(blocks, width, head)


def blocks_of_file(
    file: BinaryIO,
    rows: Iterable[list[str]],
    *,
    width: int,
    delimiter: str,
    encoding: str,
    n_above: int,
    progress: Progress = ignore,
) -> TextBlocks:
    r"""Cut a file into blocks, which raise `IrregularText` where it is not regular.

    Parameters
    ----------
    file : binary file
        The file, seekable.
    rows : iterable of list of str
        Its rows.
    width : int
        Number of cells of a row.
    delimiter, encoding : str
        Of the file.
    n_above : int
        Number of lines above the first row.
    progress : callable
        Called with the fraction of the file that has been read.

    Examples
    --------
    >>> text = io.BytesIO(b"size;kind\n1;a\n2;\"b;c\"\n")
    >>> about = {"width": 2, "delimiter": ";", "encoding": "utf-8", "n_above": 1}
    >>> [bytes(block.text) for block in blocks_of_file(text, [["1", "a"]], **about).blocks()]
    [b'1;a\n2;"b;c"\n']
    """
    head = list(islice(rows, max(_MIN_HEAD, _HEAD // width)))
    n_bytes = file.seek(0, io.SEEK_END)

    def blocks() -> Iterator[Block]:
        file.seek(0)
        text = file if encoding == "utf-8" else io.BufferedReader(_Recoded(file, encoding), SIZE)
        size = min(max(SIZE, min(MAX_SIZE, _CELL_BYTES * _MIN_ROWS * width)), n_bytes + 1)
        for block in _whole_rows(text, size, n_above, delimiter):
            yield block
            progress(file.tell() / n_bytes)

    return TextBlocks(blocks, width, head, delimiter, n_bytes)


class _Recoded(io.RawIOBase):
    """The text of a file in UTF-8."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._file, self._rest = file, b""
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = b" "
        while part and not self._rest:
            part = self._file.read(len(buffer))
            self._rest = self._decoder.decode(part, not part).encode()
        some, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(some)] = some
        return len(some)


def _whole_rows(text: Any, size: int, n_above: int, delimiter: str) -> Iterator[Block]:
    """Yield blocks of the rows below some lines; each is overwritten by the next one."""
    buffer, n_held = bytearray(size), 0
    while True:
        if n_held == len(buffer):
            if n_held >= MAX_SIZE:
                raise IrregularText("a row without end")
            buffer = buffer + bytearray(n_held)
        n_read = text.readinto(memoryview(buffer)[n_held:])
        n_bytes, start = n_held + n_read, 0
        if n_above:
            # A line end at the very end may be half of one.
            lines = islice(_LINE_END.finditer(buffer, 0, n_bytes - bool(n_read)), n_above)
            ends = [line.end() for line in lines]
            n_above -= len(ends)
            start = ends[-1] if ends else 0
        if buffer.find(0, start, n_bytes) >= 0:
            raise IrregularText("a NUL byte")
        held = np.frombuffer(buffer, dtype=np.uint8, count=n_bytes)
        quoted = buffer.find(b'"', start, n_bytes) >= 0
        stop = start
        if not n_above:
            stop += _end_of_rows(held[start:], delimiter, quoted, last=not n_read)
        if stop > start:
            yield Block(held[start:stop], quoted, all(buffer.find(x, start, stop) < 0 for x in b"xX"))
        if not n_read:
            return
        n_held = n_bytes - stop
        buffer[:n_held] = buffer[stop:n_bytes]


def _end_of_rows(text: NDArray[np.uint8], delimiter: str, quoted: bool, last: bool) -> int:
    """Where the last whole row ends, 0 if none does; raise if a quote is not regular."""
    quotes = np.flatnonzero(text == ord('"')) if quoted else np.empty(0)
    if quoted:
        beside = np.zeros(256, dtype=bool)
        beside[[*map(ord, ("\n", "\r", '"', delimiter))]] = True
        opening, closing = quotes[::2], quotes[1::2]
        before = text[opening[opening > 0] - 1]
        after = text[closing[closing < len(text) - 1] + 1]
        if not (beside[before].all() and beside[after].all()) or (last and len(quotes) % 2):
            raise IrregularText("a quote within a cell, or one that is not closed")
    if last:
        return len(text)
    for mark, stop in (("\n", len(text)), ("\r", len(text) - 1)):  # a carriage return may be half an end
        while stop > 0:
            start = max(0, stop - _TILE)
            ends = np.flatnonzero(text[start:stop] == ord(mark)) + start
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]  # not within quotes
            if len(ends):
                return int(ends[-1]) + 1
            stop = start
    return 0
