"""Columns of a file: cells gathered into numbers or into coded text, some rows at a time."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

__all__ = ["MISSING", "PADDED", "Column", "gather", "to_number"]

MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
PADDED = re.compile(r"0\d{2,}")  # a code, such as a postal one; 01 to 12 may well be months
_PADDED_CELL = re.compile(r"\n[ \t]*0\d{2,}[ \t]*(?=\n)")  # of cells between ends of lines
_GROUPED = re.compile(r"[+-]?(0|[1-9]\d{0,2}(\.\d{3})?)")  # no thousands in 0.123
CELLS = 2**18  # that are held as text at a time: 20 MB or so


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a file, as it was read.

    Attributes
    ----------
    name : str
        Its name.
    values : ndarray
        float64, NaN for missing; or, of text, int32 positions in `texts`, -1 for missing.
    texts : list of str or None
        The distinct texts in the order in which they come; None for numbers.
    declared : {"numeric", "categorical", "date"} or None
        What the file itself says that the column is, if it does.
    unit : str
        Of a date: what the numbers count, such as "days since 1970".
    grouped : ndarray or None
        The numbers, if dots are between thousands, as in some countries; None if that cannot be: not three
        digits follow each of them, or there is none.
    """

    name: str
    values: NDArray[np.float64] | NDArray[np.int32]
    texts: list[str] | None = None
    declared: str | None = None
    unit: str = ""
    grouped: NDArray[np.float64] | None = None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the missing cells."""
        return np.isnan(self.values) if self.texts is None else self.values < 0

    def rows(self, wanted: NDArray[np.bool_]) -> Column:
        """Return some rows of it.

        Examples
        --------
        >>> Column("x", np.array([1.0, np.nan, 2.5])).rows(np.array([True, False, True])).values
        array([1. , 2.5])
        """
        grouped = None if self.grouped is None else self.grouped[wanted]
        return replace(self, values=self.values[wanted], grouped=grouped)

    def labels(self) -> NDArray[np.object_]:
        """Return the cells as text, None for missing; numbers without a fraction as whole numbers.

        Examples
        --------
        >>> Column("x", np.array([1.0, np.nan, 2.5])).labels()
        array(['1', None, '2.5'], dtype=object)
        """
        if self.texts is not None:
            return np.array([*self.texts, None], dtype=object)[self.values.astype(np.intp)]
        known, places = np.unique(self.values, return_inverse=True)  # one NaN, the last
        texts = [
            None if x != x else str(int(x)) if x == int(x) and abs(x) < 2**53 else repr(x)
            for x in known.tolist()
        ]
        return np.array(texts, dtype=object)[places]


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


def gather(
    rows: Callable[[], Iterator[list[str]]],
    names: Sequence[str],
    *,
    text: Collection[str] = (),
    missing: Collection[str] = MISSING,
    padded: bool = False,
) -> list[Column]:
    """Gather rows of cells into columns, without ever holding all cells as text.

    Parameters
    ----------
    rows : callable
        Starts from the first row again each time it is called; the cells of a row are as many as the names.
        It is called a second time if the first cells of a column are numbers and later ones are not.
    names : sequence of str
        Names of the columns.
    text : collection of str
        Columns whose cells stay text, numbers or not.
    missing : collection of str
        Cells that mean a missing value.
    padded : bool, default=False
        Whether a column stays text if numbers in it have leading zeros: 05123 is a code, not 5123.

    Returns
    -------
    list of Column
        Of numbers if every cell that is there is one, else of text without spaces around it.

    Examples
    --------
    >>> columns = gather(lambda: iter([["1", "red"], ["?", "blue"], ["2.5", "red"]]), ["size", "colour"])
    >>> columns[0].values, columns[1].values, columns[1].texts
    (array([1. , nan, 2.5]), array([0, 1, 0], dtype=int32), ['red', 'blue'])
    """
    wanted = dict.fromkeys(text)
    cells: list[_Cells] = [_Text(missing) if name in wanted else _Numbers(missing, padded) for name in names]
    _fill(rows(), dict(enumerate(cells)), len(names))
    late: dict[int, _Cells] = {}
    for j, column in enumerate(cells):
        if isinstance(column, _Numbers) and not column.fits:
            cells[j] = late[j] = _Text(missing)
    if late:
        _fill(rows(), late, len(names))
    return [column.column(name) for name, column in zip(names, cells, strict=True)]


def _fill(rows: Iterator[list[str]], cells: dict[int, _Cells], n_columns: int) -> None:
    at_once = max(1, CELLS // max(1, n_columns))
    while some := list(islice(rows, at_once)):
        turned = list(zip(*some, strict=True))
        for j, column in cells.items():
            column.add(turned[j])


class _Cells(ABC):
    """The cells of one column, so far."""

    @abstractmethod
    def add(self, cells: Sequence[str]) -> None: ...

    @abstractmethod
    def column(self, name: str) -> Column: ...


class _Numbers(_Cells):
    def __init__(self, missing: Collection[str], padded: bool) -> None:
        self.fits = True
        self._missing, self._padded = missing, padded
        self._grouped: list[NDArray[np.float64]] | None = []  # None once it is clear that dots are fractions
        self._dots = False
        self._parts: list[NDArray[np.float64]] = []

    def add(self, cells: Sequence[str]) -> None:
        if not self.fits:
            return
        try:
            self._parts.append(self._read(cells))
            self._look_at(cells)
        except ValueError:
            self.fits = False
            self._parts = []

    def _look_at(self, cells: Sequence[str]) -> None:
        """See what the numbers no longer tell: zeros in front, and how many digits follow a point."""
        text = "\n".join(("", *cells, ""))
        if self._padded and _PADDED_CELL.search(text):
            raise ValueError("leading zeros")
        if self._grouped is None:
            return
        if "." not in text:
            plain = self._parts[-1]
            if np.nanmax(np.abs(plain), initial=0) < 1000:
                self._grouped.append(plain)
            else:  # dots would be in it
                self._grouped = None
            return
        self._dots = True
        there = [None if cell in self._missing else cell for cell in map(str.strip, cells)]
        if all(cell is None or _GROUPED.fullmatch(cell) for cell in there):
            numbers = (np.nan if cell is None else float(cell.replace(".", "")) for cell in there)
            self._grouped.append(np.fromiter(numbers, np.float64, len(cells)))
        else:
            self._grouped = None

    def _read(self, cells: Sequence[str]) -> NDArray[np.float64]:
        if self._missing is MISSING and "_" not in "".join(cells):
            try:  # the fast way: nothing is missing
                return np.fromiter(map(float, cells), np.float64, len(cells))
            except ValueError:
                pass
        stripped = map(str.strip, cells)
        numbers: Iterable[float] = (np.nan if c in self._missing else to_number(c) for c in stripped)
        return np.fromiter(numbers, np.float64, len(cells))

    def column(self, name: str) -> Column:
        values = np.concatenate(self._parts) if self._parts else np.empty(0)
        return Column(
            name, values, grouped=np.concatenate(self._grouped) if self._dots and self._grouped else None
        )


class _Text(_Cells):
    def __init__(self, missing: Collection[str]) -> None:
        self._missing = missing
        self._codes: dict[str, int] = {}  # of stripped text
        self._seen: dict[str, int] = {}  # of cells as they stand
        self._parts: list[NDArray[np.int32]] = []

    def add(self, cells: Sequence[str]) -> None:
        seen, codes = self._seen, self._codes
        for cell in dict.fromkeys(cells):
            if cell not in seen:
                text = cell.strip()
                seen[cell] = -1 if text in self._missing else codes.setdefault(text, len(codes))
        self._parts.append(np.fromiter(map(seen.__getitem__, cells), np.int32, len(cells)))

    def column(self, name: str) -> Column:
        values = np.concatenate(self._parts) if self._parts else np.empty(0, dtype=np.int32)
        return Column(name, values, list(self._codes))
