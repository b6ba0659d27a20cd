"""Columns of CSV text, read with pyarrow one block of rows at a time."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.reading.cells import MISSING, Column, parse_texts
from foresift.reading.numbers import PADDED, read_numbers
from foresift.reading.text_blocks import Block, IrregularText, TextBlocks

__all__ = ["Coded", "Kept", "Reading", "Rows", "read_text_columns", "texts_of"]

_TALL = 4096  # rows
_WIDE = 1000  # columns
_TILE = 2**18  # bytes that fit in the cache
_REFUSALS = 8  # of one block, before all its columns are looked at
_INTEGER = re.compile(r"-?\d{1,18}")
_PLAIN = re.compile(r"[ \t]*-?\d+(\.\d*)?([eE][+-]?\d+)?[ \t]*")
_COMMAED = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d{1,3})?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_COLUMN = re.compile(r"In CSV column #(\d+)")


def read_text_columns(
    source: TextBlocks,
    names: Sequence[str],
    *,
    text: Collection[str] = (),
    drop: Collection[str] = (),
    missing: Collection[str] = MISSING,
    declared: bool = False,
    kept: Kept | None = None,
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
    declared : bool, default=False
        Whether the file says which columns are numeric: then 05123 is a number, and 1,5 is none.
    kept : Kept or None, default=None
        What keeps the cells; None: all cells are kept.

    Examples
    --------
    >>> from foresift.reading.text_blocks import blocks_of_rows
    >>> cells = [["1", "red"], ["?", "blue"], ["2.5", "red"]]
    >>> size, colour = read_text_columns(blocks_of_rows(lambda: cells), ["size", "colour"])
    >>> size.values, colour.values, colour.texts
    (array([1. , nan, 2.5]), array([0, 1, 0], dtype=int32), ['red', 'blue'])
    """
    dropped, surplus = set(drop), range(len(names), source.width)
    wanted = [j for j, name in enumerate(names) if name not in dropped]
    always = {j for j in wanted if names[j] in set(text)}
    padded = not declared
    points, commas = (Reading(source, missing, padded, mark, kept) for mark in ".,")
    begun = {j: [row[j] for row in source.head] for j in wanted if j not in always}
    numeric = [j for j, cells in begun.items() if points.are_numbers(cells)]
    others = {} if declared else {j: begun[j] for j in begun.keys() - set(numeric)}
    commaed = [j for j, cells in others.items() if commas.are_numbers(cells)]
    texts, numbers = points.read(numeric, sorted({*wanted, *surplus}.difference(numeric, commaed)))
    if any(cell.strip() for j in surplus for cell in texts.pop(j).known):
        raise IrregularText("cells beyond the header")

    def parsed(texts: dict[int, Coded]) -> dict[int, Column]:
        raw = {j: Column(names[j], coded.codes(), list(coded.known)) for j, coded in texts.items()}
        return {
            j: parse_texts(column, text=j in always, missing=missing, padded=padded)
            for j, column in raw.items()
        }

    found = {j: Column(names[j], values) for j, values in numbers.items()}
    for j, values in commas.read(commaed, ())[1].items():
        certain = not all(_THOUSANDS.fullmatch(cell.strip()) for cell in begun[j] if "," in cell)
        if certain or _has_decimals(values, ","):
            found[j] = Column(names[j], values, mark=",")
    late = [j for j in wanted if j not in texts and j not in found]
    columns = found | parsed(texts | points.read((), late)[0])
    if any(each.mark == "," or _may_have_decimal_commas(each.texts or []) for each in columns.values()):
        # Then the dots of other columns may separate thousands, which only their text shows.
        pointed = {j: replace(columns[j], mark=".") for j in numbers if _has_decimals(numbers[j], ".")}
        columns |= pointed | parsed(points.read((), [j for j in numbers if j not in pointed])[0])
    return [columns[j] for j in wanted]


def _has_decimals(values: NDArray[np.float64], mark: str) -> bool:
    """Whether a mark in some cells cannot separate thousands, as far as the numbers show it.

    Beside 1.234 a number such as 4000 has no thousands dots; 1,234 and 4000 may well be both in one column.
    """
    for some in (values[:1000], values):  # most columns are told by a few cells
        finite = np.abs(some[np.isfinite(some)])
        broken = finite[finite != np.floor(finite)]
        large = broken if mark == "," else finite
        odd = (broken < 1) | (np.rint(broken * 1000) / 1000 != broken)
        if len(broken) and ((large >= 1000).any() or odd.any()):
            return True
    return False


def _may_have_decimal_commas(texts: Sequence[str]) -> bool:
    return any("," in text for text in texts) and all(
        any(map(str.isdigit, text)) or not any(map(str.isalnum, text)) for text in texts
    )


class Kept:
    """What is kept of the cells of a file: here, all."""

    def rows(self, columns: Sequence[int]) -> Rows:
        """Keeps numeric columns."""
        return Rows(columns)

    def text(self, column: int) -> Coded:
        """Keeps the text of one column."""
        return Coded()


class Reading:
    """How text is read: what is missing, whether leading zeros make codes, and the decimal mark."""

    def __init__(
        self,
        source: TextBlocks,
        missing: Collection[str] = MISSING,
        padded: bool = True,
        mark: str = ".",
        kept: Kept | None = None,
    ) -> None:
        self._source, self._missing, self._padded, self._mark = source, missing, padded, mark
        self._kept = kept or Kept()
        columns = zip(*source.head, strict=True)
        self._whole = {j for j, cells in enumerate(columns) if all(map(_INTEGER.fullmatch, cells))}

    def are_numbers(self, cells: Sequence[str]) -> bool:
        """Whether cells are numbers or missing."""
        present = [text for text in map(str.strip, cells) if text not in self._missing]
        if self._mark == ",":
            return all(map(_COMMAED.fullmatch, present)) and not any(map(PADDED.fullmatch, present))
        return read_numbers(present, padded=self._padded) is not None

    def read(
        self, numeric: Sequence[int], text: Sequence[int]
    ) -> tuple[dict[int, Coded], dict[int, NDArray[np.float64]]]:
        """Read some columns as numbers and some as text; those that are no numbers after all are left out.

        If the first block shows that a column is text, it is read as text.
        """
        texts, rows = {j: self._kept.text(j) for j in text}, self._kept.rows(numeric)
        n_bytes = 0
        for block in self._source.blocks() if numeric or text else ():
            values, numeric = self.values(block, numeric, list(texts), first=not n_bytes)
            n_bytes += len(block.text)
            for j in values.keys() - set(numeric):
                if j not in texts:
                    texts[j] = self._kept.text(j)
                texts[j].add(values[j])
            rows.add({j: values[j] for j in numeric}, max(1.0, self._source.n_bytes / n_bytes))
        return texts, rows.take(numeric)

    def values(
        self, block: Block, numeric: Sequence[int], text: list[int], *, first: bool = False
    ) -> tuple[dict[int, Any], Sequence[int]]:
        """Read a block, and tell which columns are still numeric; text is coded as Arrow does it."""
        import pyarrow as pa

        if not block.plain:
            self._whole.clear()
        padded = _padded_columns(block, self._source) if self._padded and numeric else ()
        odd = self._not_numbers(block, [j for j in numeric if j in padded])
        n_refusals = 0
        while True:
            numeric = [j for j in numeric if j not in odd]
            text += odd if first else ()
            if not (numeric or text):
                return {}, []
            try:
                table = self._arrow(block, numeric, text, self._missing)
            except pa.ArrowInvalid as error:
                if not numeric:
                    raise IrregularText(str(error)) from error
                place = _COLUMN.match(str(error))
                refused = {int(place[1])}.intersection(numeric) if place else set(numeric)
                n_refusals += 1
                if n_refusals > _REFUSALS:
                    self._whole.clear()
                    refused |= self._not_numbers(block, numeric, plain=True)
                if n_refusals > 2 * _REFUSALS:
                    refused = set(numeric)
                odd = refused - self._whole  # an integer may be another number
                self._whole -= refused
                continue
            whole = {
                int(j): _one_chunk(column)
                for j, column in zip(table.column_names, table.columns, strict=True)
            }
            n_nulls = {j: whole[j].null_count for j in numeric}
            values = whole | {j: whole[j].to_numpy(zero_copy_only=False) for j in numeric}
            # NaN that is not missing may be a word that pyarrow alone takes for a number.
            unknown = [j for j in numeric if j not in self._whole and np.isnan(values[j]).sum() != n_nulls[j]]
            odd = self._not_numbers(block, unknown)
            if not odd:
                return values, numeric

    def _not_numbers(self, block: Block, columns: Sequence[int], plain: bool = False) -> set[int]:
        """Columns with a cell that is no number or, with `plain`, that pyarrow may not take for one."""
        import pyarrow as pa

        if not columns:
            return set()
        try:
            table = self._arrow(block, (), columns, ())
        except pa.ArrowInvalid as error:
            raise IrregularText(str(error)) from error
        cells = (texts_of(_one_chunk(column)) for column in table.columns)
        test = self._are_plain if plain else self.are_numbers
        return {j for j, texts in zip(columns, cells, strict=True) if not test(texts)}

    def _are_plain(self, cells: Sequence[str]) -> bool:
        nulls = set(_spaced(self._missing))
        return all(cell in nulls or _PLAIN.fullmatch(cell.replace(self._mark, ".")) for cell in cells)

    def _arrow(
        self, block: Block, numeric: Sequence[int], text: Sequence[int], missing: Collection[str]
    ) -> Any:
        """Read some columns of a block with pyarrow; text as codes."""
        import pyarrow as pa
        from pyarrow import csv

        coded = pa.dictionary(pa.int32(), pa.string())
        if len(numeric) + len(text) > _WIDE:  # each column has its own copy of these texts
            whole = block.text.tobytes()
            known = _spaced(text for text in missing if text.encode() in whole)
            nulls = [text for text in known if text.encode() in whole]
            del whole
        else:
            nulls = _spaced(missing)
        return csv.read_csv(
            pa.py_buffer(block.text),
            read_options=csv.ReadOptions(
                column_names=[str(j) for j in range(self._source.width)],
                block_size=len(block.text) + 1,
                use_threads=False,  # they take more time in all, for wide tables much more
            ),
            parse_options=csv.ParseOptions(
                delimiter=self._source.delimiter,
                quote_char='"' if block.quoted else False,
                newlines_in_values=block.quoted,
            ),
            convert_options=csv.ConvertOptions(
                column_types={
                    **{str(j): pa.int64() if j in self._whole else pa.float64() for j in numeric},
                    **{str(j): coded for j in text},
                },
                include_columns=[str(j) for j in (*numeric, *text)],
                decimal_point=self._mark,
                null_values=nulls,
                strings_can_be_null=bool(nulls),
            ),
        )


def _spaced(texts: Iterable[str]) -> list[str]:
    """Texts, also with a space on one side or both."""
    return [before + text + after for text in texts for before in ("", " ") for after in ("", " ")]


def _one_chunk(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def texts_of(coded: Any) -> list[str]:
    """The distinct texts of a block; `to_pylist` takes longer."""
    return coded.dictionary.to_numpy(zero_copy_only=False).tolist()


class Rows:
    """Numeric columns as rows of one array, which grows if there are more cells than expected."""

    def __init__(self, columns: Sequence[int]) -> None:
        self._place = {j: i for i, j in enumerate(columns)}
        self._whole = np.empty((len(columns), 0))
        self._n_rows = 0

    def add(self, values: dict[int, NDArray[np.float64]], more: float) -> None:
        """Add cells; `more` times as many as there are now are expected in all."""
        start = self._n_rows
        for j, cells in values.items():
            self._n_rows = start + len(cells)
            if self._n_rows > self._whole.shape[1]:
                # Room that is not used costs nothing.
                grown = np.empty((len(self._whole), int(1.1 * more * self._n_rows)))
                grown[:, :start] = self._whole[:, :start]
                self._whole = grown
            self._whole[self._place[j], start : self._n_rows] = cells

    def take(self, columns: Sequence[int]) -> dict[int, NDArray[np.float64]]:
        """Some of the columns; of a table with few rows as all rows of an array, which is faster to read."""
        places = [self._place[j] for j in columns]
        if self._n_rows < _TALL:
            return dict(zip(columns, self._whole[places, : self._n_rows], strict=True))
        return {j: self._whole[i, : self._n_rows] for j, i in zip(columns, places, strict=True)}


class Coded:
    """Text of one column so far, as positions in the distinct texts."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self._blocks = [np.empty(0, dtype=np.int32)]

    def add(self, coded: Any) -> None:
        """Add the cells of a block, as Arrow has coded them."""
        codes = [self.known.setdefault(text, len(self.known)) for text in texts_of(coded)]
        places = coded.indices.fill_null(-1).to_numpy()
        self._blocks.append(np.array([*codes, -1], dtype=np.int32)[places])

    def codes(self) -> NDArray[np.int32]:
        """Positions in the distinct texts, -1 for missing."""
        return np.concatenate(self._blocks)


def _padded_columns(block: Block, source: TextBlocks) -> set[int]:
    """Columns that may have a cell like 05123 in a block, and perhaps others."""
    text, delimiter = block.text, ord(source.delimiter)
    starts = [np.arange(int(text[0] == ord("0")))]
    for start in range(0, len(text), _TILE):
        tile = text[start : start + _TILE + 2]
        # Before the cell there is a delimiter, or a line end, quote, space or tab: none above a comma.
        found = tile[:-2] <= ord(",")
        if delimiter > ord(","):
            found |= tile[:-2] == delimiter
        found &= tile[1:-1] == ord("0")
        found &= tile[2:] >= ord("0")
        starts.append(np.flatnonzero(found) + (start + 1))
    places = np.concatenate(starts)
    for shift in (1, 2):
        places = places[places + shift < len(text)]
        places = places[text[places + shift] - np.uint8(ord("0")) < 10]
    if not len(places):
        return set()
    ends = np.flatnonzero((text == delimiter) | (text == ord("\n")))
    lines = np.flatnonzero(text[ends] == ord("\n"))
    blank = not np.array_equal(lines, np.arange(source.width - 1, len(ends), source.width))
    if block.quoted or blank or (text == ord("\r")).any():
        return set(range(source.width))
    return set((np.searchsorted(ends, places) % source.width).tolist())
