"""Columns of CSV text, read with pyarrow one block of rows at a time."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.reading.cells import MISSING, Column, parse_texts
from foresift.reading.numbers import PADDED, has_decimal_point, is_number, may_be_thousands
from foresift.reading.text_blocks import Block, IrregularText, TextBlocks

__all__ = ["read_text_columns"]

_INTEGER, _NUMBER, _TEXT = range(3)  # what a column has been so far
_WHOLE = re.compile(r"-?\d{1,18}")
_TALL = 4096  # rows
_TILE = 2**18  # bytes that fit in the cache
_WIDE = 1000  # columns: more take longer with threads
_ONE_BY_ONE = 8  # columns of a block that are looked at singly before all are
_COLUMN = re.compile(r"In CSV column #(\d+)")


def read_text_columns(
    source: TextBlocks,
    names: Sequence[str],
    *,
    text: Collection[str] = (),
    drop: Collection[str] = (),
    missing: Collection[str] = MISSING,
    padded: bool = True,
) -> list[Column]:
    """Read the columns of CSV text; raise `IrregularText` if pyarrow cannot split it into cells.

    A column is numeric if all its cells are numbers or missing; otherwise its cells are stripped text.

    Parameters
    ----------
    source : TextBlocks
        The text.
    names : sequence of str
        Names of the first columns; further ones must be blank.
    text, drop : collection of str
        Columns that are always text, and columns that are not read.
    missing : collection of str
        Cells that are missing values.
    padded : bool, default=True
        Whether numbers with leading zeros, such as 05123, make a column text.

    Examples
    --------
    >>> from foresift.reading.text_blocks import blocks_of_rows
    >>> cells = [["1", "red"], ["?", "blue"], ["2.5", "red"]]
    >>> size, colour = read_text_columns(blocks_of_rows(lambda: cells), ["size", "colour"])
    >>> size.values, colour.values, colour.texts
    (array([1. , nan, 2.5]), array([0, 1, 0], dtype=int32), ['red', 'blue'])
    """
    wanted = [j for j, name in enumerate(names) if name not in set(drop)]
    always = {j for j in wanted if names[j] in set(text)}
    first = _Reading(source, missing, padded)
    for j in (*wanted, *range(len(names), source.width)):
        first.expect(j, _TEXT if j in always or j >= len(names) else _INTEGER)
    first.read()
    for j in range(len(names), source.width):
        if any(cell.strip() for cell in first.texts[j].known):
            raise IrregularText(f"cells in column {j + 1}")
    again = _Reading(source, missing, padded)
    for j in first.unsettled():
        again.expect(j, _TEXT)
    again.read()
    numbers = first.numbers.take([j for j in wanted if j not in again.texts and j not in first.texts])
    columns = []
    for j in wanted:
        coded = again.texts.get(j) or first.texts.get(j)
        if coded is None:
            columns.append(Column(names[j], numbers[j], pointed=first.pointed[j]))
        else:
            raw = Column(names[j], coded.codes(), list(coded.known))
            columns.append(parse_texts(raw, text=j in always, missing=missing, padded=padded))
    return columns


@dataclass(eq=False)
class _Reading:
    """One reading of the text from start to end."""

    source: TextBlocks
    missing: Collection[str]
    padded: bool
    kinds: dict[int, int] = field(default_factory=dict)  # of the columns that are read
    late: list[int] = field(default_factory=list)  # columns with text after blocks of numbers
    pointed: dict[int, bool] = field(default_factory=dict)  # whether numbers certainly have decimal points
    texts: dict[int, _Coded] = field(default_factory=dict)

    def expect(self, column: int, kind: int) -> None:
        """Read a column; what it begins with shows whether it has at least this kind."""
        self.pointed[column] = False
        self.kinds[column] = kind
        if kind != _TEXT:
            self._see(column, [row[column].strip() for row in self.source.head])

    def read(self) -> None:
        """Read all blocks."""
        if not self.kinds:
            return
        self.texts = {j: _Coded() for j, kind in self.kinds.items() if kind == _TEXT}
        self.numbers = _Rows([j for j in self.kinds if j not in self.texts])
        n_rows = n_bytes = 0
        for number, block in enumerate(self.source.blocks()):
            if not self.kinds:  # all of them are read again
                return
            self._look_at(block, self._suspects(block))
            values = self._values(block)
            n_rows, n_bytes = n_rows + len(next(iter(values.values()))), n_bytes + len(block.text)
            n_expected = int(1.1 * n_rows * max(1.0, self.source.n_bytes / n_bytes))
            for j, kind in list(self.kinds.items()):
                if kind != _TEXT:
                    self.numbers.add(j, values[j], n_expected)
                elif number == 0 or j in self.texts:
                    self.texts.setdefault(j, _Coded()).add(values[j])
                else:
                    self.late.append(j)
                    del self.kinds[j]
            self.numbers.next_block()

    def unsettled(self) -> list[int]:
        """Columns that must be read again as text: late text, and dots that may separate thousands."""
        for j in (j for j, kind in self.kinds.items() if kind == _NUMBER and not self.pointed[j]):
            values = self.numbers.row(j)
            finite = values[np.isfinite(values)]
            if (finite == np.floor(finite)).all() or may_be_thousands(values):
                self.late.append(j)
            else:
                self.pointed[j] = True
        return self.late

    def _suspects(self, block: Block) -> list[int]:
        """Columns with cells that pyarrow, unlike us, may read as numbers: 05123 and 0x1F."""
        numeric = [j for j, kind in self.kinds.items() if kind != _TEXT]
        found = _padded_columns(block, self.source) if self.padded and numeric else set()
        if block.hexadecimal:
            found |= {j for j in numeric if self.kinds[j] == _INTEGER}
        return [j for j in numeric if j in found]

    def _values(self, block: Block) -> dict[int, Any]:
        """Numbers of numeric columns as arrays, and coded text; what is no number changes the kind."""
        values: dict[int, Any] = {}
        while rest := {j: kind for j, kind in self.kinds.items() if j not in values}:
            try:
                table = _typed(block, self.source, rest, self.missing)
            except _Refused as refused:
                numeric = [j for j, kind in rest.items() if kind != _TEXT]
                if not numeric:
                    raise IrregularText(str(refused)) from refused
                one = refused.column in numeric and len(values) < _ONE_BY_ONE
                values |= self._look_at(block, [refused.column] if one else numeric)
                continue
            odd = []
            for j, column in zip(rest, table.columns, strict=True):
                values[j] = column.combine_chunks() if rest[j] == _TEXT else column.to_numpy()
                # NaN that is not missing may be a word that pyarrow alone takes for a number.
                if rest[j] == _NUMBER and np.isnan(values[j]).sum() != column.null_count:
                    odd.append(j)
            values |= self._look_at(block, odd)
        return values

    def _look_at(self, block: Block, columns: Sequence[int]) -> dict[int, Any]:
        """Look at the cells of some columns of a block one by one."""
        if not columns:
            return {}
        try:
            table = _typed(block, self.source, dict.fromkeys(columns, _TEXT), ())
        except _Refused as refused:
            raise IrregularText(str(refused)) from refused
        values = {}
        for j, column in zip(columns, table.columns, strict=True):
            coded = column.combine_chunks()
            numbers = self._look(j, coded.dictionary.to_pylist())
            values[j] = coded if numbers is None else numbers[coded.indices.to_numpy()]
        return values

    def _look(self, column: int, cells: Sequence[str]) -> NDArray[np.float64] | None:
        """Find the kind of a column that has these cells too, and return their numbers; None for text."""
        present = [text for text in map(str.strip, cells) if text not in self.missing]
        self._see(column, present)
        if self.kinds[column] == _TEXT:
            return None
        values = np.full(len(cells), np.nan)
        values[[cell.strip() not in self.missing for cell in cells]] = list(map(float, present))
        return values

    def _see(self, column: int, texts: Sequence[str]) -> None:
        """Find the kind of a column that has these stripped cells too."""
        for text in texts:
            whole = _WHOLE.fullmatch(text)
            if text in self.missing or (whole and text[0] != "0"):
                continue
            if not is_number(text) or (self.padded and PADDED.fullmatch(text)):
                self.kinds[column] = _TEXT
                return
            if not whole:
                self.kinds[column] = max(self.kinds[column], _NUMBER)
                self.pointed[column] |= has_decimal_point(text)


class _Rows:
    """Numeric columns as rows of one array, which grows if there are more cells than expected."""

    def __init__(self, columns: Sequence[int]) -> None:
        self._place = {j: i for i, j in enumerate(columns)}
        self._whole = np.empty((len(columns), 0))
        self._start = self._stop = 0

    def add(self, column: int, values: NDArray[Any], n_expected: int) -> None:
        """Add cells to a column; room is made for `n_expected` in all, which costs nothing until it is used."""
        self._stop = self._start + len(values)
        if self._stop > self._whole.shape[1]:
            grown = np.empty((len(self._whole), max(n_expected, self._stop)))
            grown[:, : self._start] = self._whole[:, : self._start]
            self._whole = grown
        self._whole[self._place[column], self._start : self._stop] = values

    def next_block(self) -> None:
        self._start = self._stop

    def row(self, column: int) -> NDArray[np.float64]:
        return self._whole[self._place[column], : self._stop]

    def take(self, columns: Sequence[int]) -> dict[int, NDArray[np.float64]]:
        """Some of the columns; of a wide table as all rows of an array, which is faster to read."""
        if self._stop < _TALL:
            rows = self._whole[[self._place[j] for j in columns], : self._stop]
            return dict(zip(columns, rows, strict=True))
        return {j: self.row(j) for j in columns}


class _Coded:
    """Text of one column so far, as positions in the distinct texts."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self._blocks: list[NDArray[np.int32]] = []

    def add(self, coded: Any) -> None:
        codes = [self.known.setdefault(text, len(self.known)) for text in coded.dictionary.to_pylist()]
        places = coded.indices.fill_null(-1).to_numpy()
        self._blocks.append(np.array([*codes, -1], dtype=np.int32)[places])

    def codes(self) -> NDArray[np.int32]:
        return np.concatenate(self._blocks) if self._blocks else np.empty(0, dtype=np.int32)


class _Refused(Exception):
    """Pyarrow cannot read a block; `column` is where, or -1."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        found = _COLUMN.match(str(error))
        self.column = int(found[1]) if found else -1


def _typed(block: Block, source: TextBlocks, kinds: dict[int, int], missing: Collection[str]) -> Any:
    """Read some columns of a block with pyarrow as these kinds; text as codes."""
    import pyarrow as pa
    from pyarrow import csv as reader

    types = (pa.int64(), pa.float64(), pa.dictionary(pa.int32(), pa.string()))
    if len(kinds) > _WIDE:  # each column has its own copy of the texts that are missing values
        whole = block.text.tobytes()
        nulls = [text for text in missing if text.encode() in whole]
    else:
        nulls = [before + text + after for text in missing for before in ("", " ") for after in ("", " ")]
    try:
        return reader.read_csv(
            pa.py_buffer(block.text),
            read_options=reader.ReadOptions(
                column_names=[str(j) for j in range(source.width)],
                block_size=len(block.text) + 1,
                use_threads=False,
            ),
            parse_options=reader.ParseOptions(
                delimiter=source.delimiter,
                quote_char='"' if block.quoted else False,
                newlines_in_values=block.quoted,
            ),
            convert_options=reader.ConvertOptions(
                column_types={str(j): types[kind] for j, kind in kinds.items()},
                include_columns=[str(j) for j in kinds],
                null_values=nulls,
                strings_can_be_null=bool(nulls),
            ),
        )
    except pa.ArrowInvalid as error:
        raise _Refused(error) from error


def _padded_columns(block: Block, source: TextBlocks) -> set[int]:
    """Columns that may have a cell like 05123 in a block, and perhaps others."""
    text, delimiter = block.text, ord(source.delimiter)
    starts = [np.arange(int(text[0] == ord("0")))]
    for start in range(0, len(text), _TILE):
        tile = text[start : start + _TILE + 1]
        # Before the cell there is a delimiter, or a line end, quote, space or tab: all of them below #.
        found = (tile[:-1] == delimiter) | (tile[:-1] < ord("#"))
        found &= tile[1:] == ord("0")
        starts.append(np.flatnonzero(found) + (start + 1))
    places = np.concatenate(starts)
    for shift in (1, 2):
        places = places[places + shift < len(text)]
        places = places[text[places + shift] - np.uint8(ord("0")) < 10]
    if not len(places):
        return set()
    ends = np.flatnonzero((text == delimiter) | (text == ord("\n")))
    n_ends = len(ends) + (text[-1] != ord("\n"))
    if block.quoted or (text == ord("\r")).any() or n_ends % source.width:
        return set(range(source.width))
    return set((np.searchsorted(ends, places) % source.width).tolist())
