"""Cells of many columns turned into numbers, some rows at a time, for files of any shape."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["PADDED", "NumberColumns", "Numbers", "is_number", "to_number"]

PADDED = re.compile(r"0\d{2,}")  # a code, such as a postal one; 01 to 12 may well be months
_PADDED_CELL = re.compile(r"\n[ \t]*0\d{2,}[ \t]*(?=\n)")  # of cells between ends of lines
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # no thousands in 0.123
_UNGROUPED = re.compile(r"[+-]?(0|[1-9]\d{0,2})")  # what stands beside them: neither 05 nor 1e-5


class Numbers(NamedTuple):
    """The cells of a column as numbers, NaN for missing."""

    values: NDArray[np.float64]
    grouped: NDArray[np.float64] | None  # with dots between thousands; None if that cannot be
    pointed: bool  # whether a point is before a fraction, beyond doubt


def to_number(cell: str) -> float:
    """Read a number as tables write it.

    Examples
    --------
    >>> to_number(" 2.5e3 ")
    2500.0
    >>> to_number("1_000")
    Traceback (most recent call last):
        ...
    ValueError: 1_000
    """
    if "_" in cell:  # Python reads 1_000 as a number, a table means a name
        raise ValueError(cell)
    return float(cell)


def is_number(cell: str) -> bool:
    """Say whether `to_number` reads a cell.

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
    """Columns that are numbers as far as is known; all cells of some rows are read at once.

    So neither many rows nor many columns take long, and nothing is kept of them but the numbers.

    Parameters
    ----------
    columns : sequence of int
        Numbers of the columns that may be numeric, ascending.
    missing : collection of str
        Cells that mean a missing value; none of them is a number.
    padded : bool
        Whether a column with leading zeros, as 05123, is none of numbers.

    Attributes
    ----------
    columns : list of int
        Those of which every cell so far is a number or missing.

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
        self._blocks: list[tuple[list[int], NDArray[np.float64]]] = []  # which columns, and rows of them
        self._may_group = np.ones(len(self.columns), dtype=bool)  # not clear yet that dots are fractions
        self._pointed: set[int] = set()  # columns with a point that is not between thousands
        self._grouped: dict[int, dict[int, NDArray[np.float64]]] = {}  # by column, and number of the block

    def add(self, rows: list[list[str]]) -> None:
        """Read some rows; a column with a cell that is no number is let go."""
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
        self._look_at_dots(cells, numbers)

    def _read(self, cells: list[str], text: str) -> tuple[NDArray[np.float64], set[str]]:
        """The numbers, row by row, and the cells that are none."""
        missing, width = self._missing, len(self.columns)
        odd = {cell for cell in cells if "_" in cell} if "_" in text else set()
        try:  # the fast way: nothing is missing
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

    def _look_at_dots(self, cells: list[str], numbers: NDArray[np.float64]) -> None:
        """See what the numbers no longer tell: how many digits follow a point."""
        if not self._may_group.any():
            return
        width = len(self.columns)
        dots = np.fromiter(("." in cell for cell in cells), bool, len(cells)).reshape(-1, width)
        self._may_group &= ~((np.abs(numbers) >= 1000) & ~dots).any(axis=0)  # dots would be in such numbers
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
        """Give away the columns that are numbers, by number; their values are the rows of one array."""
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
            # Where all dots are between thousands, or may be, no fraction is told; else it is one of a point.
            there = values[np.isfinite(values)]
            fractions = not may_group and bool((there != np.floor(there)).any())
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
