"""Rows of a CSV file of any size in batches, with the types that a file that fits in memory would have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.coded_column import CodedColumn
from foresift.data.encoding import MAX_CATEGORIES
from foresift.data.row_source import Batch, RowSource
from foresift.errors import InputError
from foresift.reading.amounts import decimal_mark, read_amounts
from foresift.reading.cells import MISSING, Column, parse_texts
from foresift.reading.csv_scan import Scan, Texts, is_plain
from foresift.reading.dates import Dates, dates_like, read_dates
from foresift.reading.delimited import Delimited
from foresift.reading.kinds import FEW, ColumnOptions, Decision, decide, without_dashes
from foresift.reading.numbers import to_number
from foresift.reading.row_columns import Columns
from foresift.reading.splitting import marks_of
from foresift.reading.text_blocks import IrregularText, TextBlocks
from foresift.reading.text_columns import Reading, read_text_columns, texts_of

__all__ = ["CsvRows"]

_MANY = "too many different texts to be categories"


@dataclass(frozen=True, eq=False)
class _Table:
    """What the texts of a column become: numbers, or categories."""

    name: str
    known: dict[str, int]
    values: NDArray[Any]  # of every known text, and of missing: numbers, or positions in `categories`
    categories: NDArray[Any] | None
    parse: Callable[[Sequence[str]], NDArray[np.float64]] | None  # further texts, if there are

    def of(self, coded: Any) -> Any:
        """Values of the cells of a block."""
        texts = texts_of(coded)
        places = np.array([self.known.get(text, -2) for text in texts] + [-1])
        values = self.values[places]  # a text that is not known is wrong here
        if len(new := np.flatnonzero(places == -2)):
            values[new] = self._parsed([texts[i] for i in new.tolist()])
        cells = values[coded.indices.fill_null(-1).to_numpy()]
        return cells if self.categories is None else CodedColumn(cells, self.categories)

    def _parsed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        if self.parse is None:
            raise InputError(
                f"Column {self.name!r} has a text that was not there when the file was read first: do not"
                " change the file meanwhile."
            )
        bare = [text.strip() for text in texts]
        present = [text for text in bare if text not in MISSING]
        numbers = self.parse(present)
        if np.isnan(numbers).any():
            odd = present[int(np.isnan(numbers).argmax())]
            raise InputError(
                f"Column {self.name!r} has {odd!r} after {len(self.known):,} different cells that are"
                " written in another way: correct it, or leave the column out (drop)."
            )
        found = iter(numbers)
        return np.array([np.nan if text in MISSING else next(found) for text in bare])


class CsvRows(RowSource):
    r"""A CSV file. All its cells are looked at first, then it can be read in batches.

    Types, missing values, decimal commas and dates are as `foresift.read` finds them, and so are columns that
    are left out: constants, columns that count the rows, and text with too many values. What depends on all
    numbers of a column at once is not seen: row numbers in another order are a number like any other.

    Parameters
    ----------
    file : Delimited
        The file.
    wanted : Columns
        Which columns are read.

    Attributes
    ----------
    decisions : list of Decision
        What was decided of every feature.

    Examples
    --------
    >>> import io
    >>> file = Delimited(io.BytesIO(b"size;kind\n1,5;a\n?;b\n"), "demo")
    >>> [(X["size"], y) for X, y in CsvRows(file, Columns("kind")).batches()]
    [(array([1.5, nan]), array(['a', 'b'], dtype=object))]
    """

    def __init__(self, file: Delimited, wanted: Columns) -> None:
        self.source, self._target = file.source, wanted.target
        self._origin = file  # without it the file would be closed
        names = wanted.of(file.names, file.source)
        place = {name: j for j, name in enumerate(file.names)}
        drop = set(file.names).difference(names)

        def look(blocks: TextBlocks) -> tuple[TextBlocks, Scan, list[Column]]:
            scan = Scan()
            columns = read_text_columns(blocks, file.names, text=[wanted.target], drop=drop, kept=scan)
            return blocks, scan, columns

        self._blocks, scan, columns = file.with_blocks(look)
        own = scan.texts[place[wanted.target]]
        self.n_rows = own.n_rows
        if not self.n_rows:
            raise InputError(f"{file.source} has a header but no rows.")
        self._tables: dict[int, _Table] = {}
        self._marks: dict[str, list[int]] = {".": [], ",": []}  # numeric columns by their decimal mark
        self._order: list[tuple[str, int]] = []
        self.decisions: list[Decision] = []
        columns = [c if c.name == wanted.target else _without_dashes(c) for c in columns]
        comma, dots = marks_of(columns, semicolons=file.delimiter == ";")
        for column in columns:
            j = place[column.name]
            if column.name == wanted.target:
                self._tables[j], self._whole = _target(column, own, comma=comma, dots=dots)
            elif not self._decide(column, j, scan, comma=comma, dots=dots):
                continue
            self._order.append((column.name, j))
        if len(self._order) == 1:
            why = "; ".join(f"{d.name}: {d.why}" for d in self.decisions[:5])
            raise InputError(f"{file.source} has no column besides the target {wanted.target!r} ({why}).")

    def n_rows_of(self, part: int) -> int:
        """All rows."""
        return self.n_rows

    def _decide(self, column: Column, j: int, scan: Scan, *, comma: bool, dots: bool) -> bool:
        """Settle how a column is read; false if it is left out."""
        if column.texts is None and np.isinf(column.values).any():
            raise InputError(
                f"Column {column.name!r} holds an infinite number (inf): leave such cells empty, or leave the"
                " column out (drop)."
            )
        options = ColumnOptions(keep_ids=True)
        decision, values = decide(column, options, decimal_comma=comma, thousands_dot=dots)
        texts = scan.texts.get(j)
        counting = scan.counts_rows(j) and self.n_rows > FEW
        self.decisions.append(_left_out(decision, values, texts, counting=counting))
        if self.decisions[-1].left_out:
            return False
        if texts is None:
            self._marks["," if column.mark == "," else "."].append(j)
        else:
            self._tables[j] = _table(column, texts, decision, values, comma=comma)
        return True

    def batches(self, part: int = 0) -> Iterator[Batch]:
        """The rows, as many as there are in a block of text."""
        points, commas = (Reading(self._blocks, mark=mark) for mark in ".,")
        for block in self._blocks.blocks():
            values: dict[int, Any] = {}
            for reading, mark, text in ((points, ".", list(self._tables)), (commas, ",", [])):
                numeric = self._marks[mark]
                try:
                    found, still = reading.values(block, numeric, text) if numeric or text else ({}, [])
                except IrregularText:
                    still = [-1]
                if len(still) != len(numeric):
                    raise InputError(f"{self.source} changed while it was read: do not change it meanwhile.")
                values |= found
            cells = {
                name: self._tables[j].of(values[j]) if j in self._tables else values[j]
                for name, j in self._order
            }
            yield Batch(cells, self._labels(cells.pop(self._target)))

    def _labels(self, y: Any) -> NDArray[Any]:
        """Classes as text or whole numbers, or a quantity."""
        if isinstance(y, CodedColumn):
            return y.decoded()
        if np.isnan(y).any():
            raise InputError(_missing(self._target))
        return y.astype(np.int64) if self._whole else y


def _missing(target: str) -> str:
    return f"Target {target!r} has missing values: drop the rows whose target is missing."


def _without_dashes(column: Column) -> Column:
    found = without_dashes(column)
    return replace(found, absent=found.absent.partition(" in ")[0])  # cells are not counted


def _target(column: Column, texts: Texts, *, comma: bool, dots: bool) -> tuple[_Table, bool]:
    """How the target is read, numbers if all its cells are; and whether these are whole."""
    if texts.missing or (column.values[:-1] < 0).any():
        raise InputError(_missing(column.name))
    parsed = parse_texts(column)
    if parsed.texts is None and np.isinf(parsed.values).any():
        raise InputError(
            f"Target {column.name!r} holds an infinite number (inf): drop or correct these rows."
        )
    decision, values = decide(parsed, ColumnOptions(keep_ids=True), decimal_comma=comma, thousands_dot=dots)
    if decision.kind == "numeric":
        own = values[:-1]
        whole = not texts.full and bool((own % 1 == 0).all() and (np.abs(own) < 2**53).all())
        return _table(parsed, texts, decision, values, comma=comma), whole
    if texts.full:
        raise InputError(
            f"Target {column.name!r} has more than {len(texts.known):,} different texts: give a column of"
            " classes or of numbers."
        )
    return _table(column, texts, decision, column.labels(), comma=comma), False


def _left_out(decision: Decision, values: NDArray[Any], texts: Texts | None, *, counting: bool) -> Decision:
    """Leave out what says nothing, or is different in every row."""
    if texts is not None and len(texts.known) == 1 and not texts.missing and not decision.left_out:
        return Decision(decision.name, "constant", f"every cell is {next(iter(texts.known))}", left_out=True)
    if decision.left_out:
        return decision
    if counting and decision.kind == "numeric":
        return Decision(
            decision.name, "id", "numbers that count the rows", left_out=True, keep_by="--numeric"
        )
    if texts is not None and values.dtype == object:
        n_values = len(set(values.tolist()) - {None})
        if texts.full or n_values > MAX_CATEGORIES:
            return Decision(decision.name, "id", _MANY, left_out=True, doubtful=decision.doubtful)
    return decision


def _table(column: Column, texts: Texts, decision: Decision, values: NDArray[Any], *, comma: bool) -> _Table:
    if values.dtype == object:
        categories = sorted({text for text in values if text is not None})
        place = {text: i for i, text in enumerate(categories)}
        codes = np.array([place.get(text, -1) for text in values], dtype=np.int32)
        known = np.empty(len(categories), dtype=object)
        known[:] = categories
        return _Table(column.name, texts.known, codes, known, None)
    parse = _more(column, decision, comma=comma) if texts.full else None
    return _Table(column.name, texts.known, values, None, parse)


def _more(
    column: Column, decision: Decision, *, comma: bool
) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """What parses texts beyond those that are kept, as these are."""
    if decision.kind == "date" and column.texts:
        dates: Dates | None = read_dates(column.texts)
        assert dates is not None
        return lambda texts: dates_like(texts, dates)
    if column.texts:
        mark = decimal_mark(column.texts)
        comma = mark == "," or (comma and not mark)

        def amounts(texts: Sequence[str]) -> NDArray[np.float64]:
            found = read_amounts(texts, decimal_comma=comma) if texts else None
            if found is not None and decimal_mark(texts) in ("", "," if comma else "."):
                return found.numbers
            alone = [read_amounts([text], decimal_comma=comma) is not None for text in texts]
            return np.where(alone, 0.0 if not all(alone) else np.nan, np.nan)  # the odd one is told

        return amounts
    grouped = column.grouped is not None and decision.why.startswith("thousands")
    return lambda texts: np.array(
        [
            to_number(text.replace(".", "") if grouped else text) if is_plain(text) else np.nan
            for text in texts
        ]
    )
