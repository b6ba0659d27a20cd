"""What a first look at all cells of a CSV file keeps: the distinct texts, and a few telling numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.reading.numbers import PADDED, is_number
from foresift.reading.text_columns import Coded, Kept, Rows, texts_of

__all__ = ["MAX_TEXTS", "Scan", "Telling", "Texts"]

MAX_TEXTS = 2**17  # of a column, that are kept; more are hardly categories


class Texts(Coded):
    """The distinct texts of a column; beyond `MAX_TEXTS` only those that are no plain numbers.

    Examples
    --------
    >>> import pyarrow as pa
    >>> texts = Texts()
    >>> texts.add(pa.array(["a", "b", "a"]).dictionary_encode())
    >>> texts.known, texts.codes(), texts.full
    ({'a': 0, 'b': 1}, array([ 0,  1, -1], dtype=int32), False)
    """

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.full = self.missing = False
        self.n_rows = 0

    def add(self, coded: Any) -> None:
        """Note the texts of a block."""
        self.n_rows += len(coded)
        self.missing = self.missing or coded.null_count > 0
        for text in texts_of(coded):
            if text in self.known:
                continue
            n = len(self.known)
            if n >= 2 * MAX_TEXTS or (n >= MAX_TEXTS and is_plain(text)):
                self.full = True
            else:
                self.known[text] = n

    def codes(self) -> NDArray[np.int32]:
        """Every text once, and a missing cell, so that what becomes of these rows is a table to look up."""
        return np.append(np.arange(len(self.known)), -1).astype(np.int32)


def is_plain(text: str) -> bool:
    """Whether a text is a number, and no code such as 05123.

    Examples
    --------
    >>> is_plain(" 1.5"), is_plain("05123"), is_plain("-")
    (True, False, False)
    """
    return is_number(text) and not PADDED.fullmatch(text.strip())


class Telling(Rows):
    """Of every numeric column a few numbers that decide as all of them would, and whether it counts the rows.

    Examples
    --------
    >>> rows = Telling([0])
    >>> rows.add({0: np.arange(5.0)}, 1.0)
    >>> rows.add({0: np.arange(5.0, 9.0)}, 1.0)
    >>> rows.take([0])[0], rows.counting
    (array([0., 8.]), {0})
    """

    def __init__(self, columns: Sequence[int]) -> None:
        self._found: dict[int, NDArray[np.float64]] = {j: np.empty(0) for j in columns}
        self._steps: dict[int, tuple[float, float]] = {}  # last number, and the step to it
        self.counting = set(columns)

    def add(self, values: dict[int, NDArray[Any]], more: float) -> None:
        """Note the numbers of a block."""
        for j, cells in values.items():
            finite = cells if cells.dtype.kind == "i" else cells[np.isfinite(cells)]
            before = self._found[j]
            found = [before[~np.isfinite(before)]]
            if len(finite) < len(cells):
                found.append(np.unique(cells[~np.isfinite(cells)]))
            some = np.concatenate([before[np.isfinite(before)], *_examples(finite)])
            self._found[j] = np.unique(np.concatenate([*found, *_examples(some)]))
            if j in self.counting and len(cells):
                if len(finite) < len(cells):
                    self.counting.discard(j)
                else:
                    self._count(j, cells)

    def _count(self, j: int, cells: NDArray[Any]) -> None:
        last, step = self._steps.get(j, (np.nan, np.nan))
        steps = np.diff(cells if last != last else np.append(last, cells))
        if len(steps):
            step = float(steps[0]) if step != step else step
            if not step or (steps != step).any() or cells[0] % 1:
                self.counting.discard(j)
        self._steps[j] = float(cells[-1]), step

    def take(self, columns: Sequence[int]) -> dict[int, NDArray[np.float64]]:
        """The telling numbers of some columns, with NaN if any is missing."""
        return {j: self._found[j] for j in columns}


def _examples(finite: NDArray[Any]) -> list[NDArray[Any]]:
    """Smallest and largest number; and, of those with fractions, what shows where a decimal mark may be."""
    if not len(finite):
        return []
    found = [np.array([finite.min(), finite.max()], dtype=np.float64)]
    if finite.dtype.kind != "i":
        size = np.abs(finite)
        broken = finite[size != np.floor(size)]
        if len(broken):
            size = np.abs(broken)
            odd = (size < 1) | (np.rint(size * 1000) / 1000 != size)
            found += [broken[:1], broken[odd][:1], broken[size >= 1000][:1]]
    return found


class Scan(Kept):
    """Keeps what decides of the columns of a file, in memory that does not grow with the file."""

    def __init__(self) -> None:
        self.texts: dict[int, Texts] = {}
        self._rows: list[Telling] = []

    def rows(self, columns: Sequence[int]) -> Telling:
        """Keeps telling numbers."""
        self._rows.append(Telling(columns))
        return self._rows[-1]

    def text(self, column: int) -> Texts:
        """Keeps distinct texts."""
        self.texts[column] = Texts()
        return self.texts[column]

    def counts_rows(self, column: int) -> bool:
        """Whether the numbers of a column count the rows."""
        return any(column in rows.counting for rows in self._rows)
