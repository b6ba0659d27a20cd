"""Convert batches of rows to numbers, for files with many rows or many columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["PADDED", "NumberColumns", "Numbers", "is_number", "to_number"]

PADDED = re.compile(r"0\d{2,}")  # a code, such as a postal code; 01 to 12 may be months
_PADDED_CELL = re.compile(r"\n[ \t]*0\d{2,}[ \t]*(?=\n)")  # the same for cells joined by newlines
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # with a thousands separator, so not 0.123
_UNGROUPED = re.compile(r"[+-]?(0|[1-9]\d{0,2})")  # below a thousand: neither 05 nor 1e-5


class Numbers(NamedTuple):
    """The cells of a column as numbers, NaN for missing."""

    values: NDArray[np.float64]
    grouped: NDArray[np.float64] | None  # if dots are thousands separators; None if they cannot be
    pointed: bool  # whether the numbers certainly have decimal points


def to_number(cell: str) -> float:
    """Parse a number.

    Examples
    --------
    >>> to_number(" 2.5e3 ")
    2500.0
    >>> to_number("1_000")
    Traceback (most recent call last):
        ...
    ValueError: 1_000
    """
    if "_" in cell:  # 1_000 is a number in Python, but a name in a table
        raise ValueError(cell)
    return float(cell)


def is_number(cell: str) -> bool:
    """Whether `to_number` accepts a cell.

    Examples
    --------
    >>> is_number("1e3"), is_number("five")
    (True, False)
    """
    try:
        to_number(cell)
    except ValueError:
        return False
    return True


class NumberColumns:
    """Columns whose cells are all numbers or missing so far; only the numbers are kept.

    All cells of a batch of rows are converted at once, which is fast for many rows and for many columns.

    Parameters
    ----------
    columns : sequence of int
        Ascending indices of the columns that may be numeric; the attribute loses those that are not.
    missing : collection of str
        Cells that are missing values; none of them is a number.
    padded : bool
        Whether a column with leading zeros, such as 05123, is not numeric.

    Examples
    --------
    >>> some = NumberColumns([0, 1], {""}, padded=True)
    >>> some.add([["1.5", "x"], ["", "2"]])
    >>> some.columns, some.take()[0].values
    ([0], array([1.5, nan]))
    """

    def __init__(self, columns: Sequence[int], missing: Collection[str], *, padded: bool) -> None:
        self.columns = list(columns)
        self._missing, self._padded = missing, padded
        self._blocks: list[tuple[list[int], NDArray[np.float64]]] = []  # columns, and their values
        self._may_group = np.ones(len(self.columns), dtype=bool)  # dots may be thousands separators
        self._pointed: set[int] = set()  # columns with a point that is not a thousands separator
        self._grouped: dict[int, dict[int, NDArray[np.float64]]] = {}  # by column and block

    def add(self, rows: list[list[str]]) -> None:
        """Convert a batch of rows; a column with a cell that is not a number is removed."""
        if not self.columns:
            return
        cells = _picked(rows, self.columns)
        text = "\n".join(("", *cells, ""))
        numbers, odd = self._read(cells, text)
        if self._padded and _PADDED_CELL.search(text):
            odd |= {cell for cell in cells if PADDED.fullmatch(cell.strip(" \t"))}
        if odd:
            width = len(self.columns)
            out = {i % width for i, cell in enumerate(cells) if cell in odd}
            stay = [i for i in range(width) if i not in out]
            self.columns, numbers = [self.columns[i] for i in stay], numbers[:, stay]
            self._may_group = self._may_group[stay]
            cells = _picked(rows, self.columns)
        self._blocks.append((self.columns, numbers))
        self._check_dots(cells, numbers)

    def _read(self, cells: list[str], text: str) -> tuple[NDArray[np.float64], set[str]]:
        """The numbers, row by row, and the cells that are not numbers."""
        missing, width = self._missing, len(self.columns)
        odd = {cell for cell in cells if "_" in cell} if "_" in text else set()
        try:  # the fast path: nothing is missing
            return np.fromiter(map(float, cells), np.float64, len(cells)).reshape(-1, width), odd
        except ValueError:
            pass

        def number(cell: str) -> float:
            try:
                return float(cell)
            except ValueError:
                if cell.strip() not in missing:
                    odd.add(cell)
                return np.nan

        return np.fromiter(map(number, cells), np.float64, len(cells)).reshape(-1, width), odd

    def _check_dots(self, cells: list[str], numbers: NDArray[np.float64]) -> None:
        """Check whether dots may be thousands separators, which the numbers do not show."""
        if not self._may_group.any():
            return
        width = len(self.columns)
        dots = np.fromiter(("." in cell for cell in cells), bool, len(cells)).reshape(-1, width)
        self._may_group &= ~((np.abs(numbers) >= 1000) & ~dots).any(axis=0)  # thousands without a separator
        for i in np.flatnonzero(self._may_group & dots.any(axis=0)).tolist():
            own = [cells[k * width + i].strip() for k in np.flatnonzero(dots[:, i]).tolist()]
            others = np.flatnonzero(~dots[:, i] & ~np.isnan(numbers[:, i]))
            beside = (cells[k * width + i].strip() for k in others.tolist())
            if all(map(_GROUPED.fullmatch, own)) and all(map(_UNGROUPED.fullmatch, beside)):
                grouped = numbers[:, i].copy()
                grouped[dots[:, i]] = [float(cell.replace(".", "")) for cell in own]
                self._grouped.setdefault(self.columns[i], {})[len(self._blocks) - 1] = grouped
            else:
                self._may_group[i] = False
                self._pointed.add(self.columns[i])

    def take(self) -> dict[int, Numbers]:
        """Return the numeric columns by index, as rows of one array, and release them."""
        ends = np.cumsum([0, *(len(numbers) for _, numbers in self._blocks)])
        whole = np.empty((len(self.columns), ends[-1]))
        for k in reversed(range(len(self._blocks))):
            columns, numbers = self._blocks.pop()
            own = slice(None) if len(columns) == len(whole) else np.searchsorted(columns, self.columns)
            whole[:, ends[k] : ends[k + 1]] = numbers[:, own].T
        found = {}
        for column, values, may_group in zip(self.columns, whole, self._may_group.tolist(), strict=True):
            grouped = None
            if may_group and column in self._grouped:
                grouped = values.copy()
                for k, of_block in self._grouped[column].items():
                    grouped[ends[k] : ends[k + 1]] = of_block
            # If all dots may be thousands separators, there is no certain fraction.
            finite = values[np.isfinite(values)]
            fractions = not may_group and bool((finite != np.floor(finite)).any())
            found[column] = Numbers(values, grouped, fractions or column in self._pointed)
        return found


def _picked(rows: list[list[str]], columns: list[int]) -> list[str]:
    """Cells of some columns, row by row."""
    if not columns:
        return []
    if len(columns) == len(rows[0]):
        return list(chain.from_iterable(rows))
    if len(columns) == 1:
        return [row[columns[0]] for row in rows]
    return list(chain.from_iterable(map(itemgetter(*columns), rows)))
