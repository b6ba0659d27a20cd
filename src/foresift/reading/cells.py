"""Columns of a file: batches of rows collected into numbers or coded text."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from foresift.reading.numbers import NumberColumns

__all__ = ["MISSING", "Column", "gather", "parse_texts"]

MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
CELLS = 2**14  # held as text at a time: about 1 MB
MORE_CELLS = 2**18  # with more than a few text columns
FEW_TEXTS = 100


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a file, as it was read.

    Attributes
    ----------
    name : str
        Its name.
    values : ndarray
        Numbers as float64, NaN for missing; or text as int32 positions in `texts`, -1 for missing.
    texts : list of str or None
        The distinct texts in order of occurrence; None for numbers.
    declared : {"numeric", "categorical", "date"} or None
        The type that the file declares, if any.
    unit : str
        Unit of a date, such as "days since 1970".
    grouped : ndarray or None
        The numbers if dots are thousands separators; None if they cannot be.
    pointed : bool
        Whether the numbers certainly have decimal points.
    absent : str
        The texts among numbers that count as missing, and in how many cells; empty if none.
    """

    name: str
    values: NDArray[np.float64] | NDArray[np.int32]
    texts: list[str] | None = None
    declared: str | None = None
    unit: str = ""
    grouped: NDArray[np.float64] | None = None
    pointed: bool = False
    absent: str = ""

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the missing cells."""
        return np.isnan(self.values) if self.texts is None else self.values < 0

    def rows(self, wanted: NDArray[np.bool_]) -> Column:
        """Return some rows of the column.

        Examples
        --------
        >>> Column("x", np.array([1.0, np.nan, 2.5])).rows(np.array([True, False, True])).values
        array([1. , 2.5])
        """
        grouped = None if self.grouped is None else self.grouped[wanted]
        return replace(self, values=self.values[wanted], grouped=grouped)

    def labels(self) -> NDArray[np.object_]:
        """Return the cells as text, None for missing; whole numbers without a fraction.

        Examples
        --------
        >>> Column("x", np.array([1.0, np.nan, 2.5])).labels()
        array(['1', None, '2.5'], dtype=object)
        """
        if self.texts is not None:
            return np.array([*self.texts, None], dtype=object)[self.values.astype(np.intp)]
        known, places = np.unique(self.values, return_inverse=True)  # one NaN, the last
        texts = [
            None if x != x else str(int(x)) if x.is_integer() and abs(x) < 2**53 else repr(x)
            for x in known.tolist()
        ]
        return np.array(texts, dtype=object)[places]


def gather(
    rows: Callable[[], Iterator[list[str]]],
    names: Sequence[str],
    *,
    text: Collection[str] = (),
    missing: Collection[str] = MISSING,
    padded: bool = False,
) -> list[Column]:
    """Collect rows of cells into columns, without ever holding all cells as text.

    A column is numeric if all its cells are numbers or missing; otherwise its cells are stripped text.

    Parameters
    ----------
    rows : callable
        Returns an iterator over the rows. It is called again if a column begins with numbers and later has
        text.
    names : sequence of str
        Names of the columns.
    text : collection of str
        Columns that are always text.
    missing : collection of str
        Cells that are missing values.
    padded : bool, default=False
        Whether numbers with leading zeros, such as 05123, make a column text.

    Examples
    --------
    >>> columns = gather(lambda: iter([["1", "red"], ["?", "blue"], ["2.5", "red"]]), ["size", "colour"])
    >>> columns[0].values, columns[1].values, columns[1].texts
    (array([1. , nan, 2.5]), array([0, 1, 0], dtype=int32), ['red', 'blue'])
    """
    wanted = dict.fromkeys(text)
    as_text = {j: _Text(missing) for j, name in enumerate(names) if name in wanted}
    numbers = NumberColumns([j for j in range(len(names)) if j not in as_text], missing, padded=padded)
    _fill(rows(), as_text, len(names), numbers)
    found = numbers.take()
    late = {j: _Text(missing) for j in range(len(names)) if j not in found and j not in as_text}
    if late:
        _fill(rows(), late, len(names))
    as_text |= late
    return [
        as_text[j].column(name)
        if j in as_text
        else Column(name, found[j].values, grouped=found[j].grouped, pointed=found[j].pointed)
        for j, name in enumerate(names)
    ]


def parse_texts(column: Column, *, text: bool = False) -> Column:
    """Parse the texts of a column of a typed file like the cells of a CSV file; see `gather`.

    With `text` only missing values are recognised, and numbers stay text.

    Examples
    --------
    >>> parse_texts(Column("size", np.array([0, 1, 2, 0], dtype=np.int32), ["1.5", "?", " 2"])).values
    array([1.5, nan, 2. , 1.5])
    """
    texts, name = column.texts or [], column.name
    (own,) = gather(lambda: ([cell] for cell in texts), [name], text=[name] if text else [], padded=True)
    places = column.values.astype(np.intp)
    if own.texts is not None:
        values = np.append(own.values, -1)[places].astype(np.int32)
        return replace(own, values=values, declared=column.declared)
    numbers = np.append(own.values, np.nan)[places]
    grouped = None if own.grouped is None else np.append(own.grouped, np.nan)[places]
    return replace(own, values=numbers, grouped=grouped, declared=column.declared)


def _fill(
    rows: Iterator[list[str]], texts: dict[int, _Text], n_columns: int, numbers: NumberColumns | None = None
) -> None:
    # Text columns are extended one by one, so small batches of many columns would be slow.
    size = max(1, (CELLS if len(texts) <= FEW_TEXTS else MORE_CELLS) // max(1, n_columns))
    while batch := list(islice(rows, size)):
        if numbers is not None:
            numbers.add(batch)
        for j, column in texts.items():
            column.add([row[j] for row in batch])


class _Text:
    """The cells of one text column so far."""

    def __init__(self, missing: Collection[str]) -> None:
        self._missing = missing
        self._codes: dict[str, int] = {}  # of stripped text
        self._seen: dict[str, int] = {}  # of raw cells
        self._values = array("i")

    def add(self, cells: Sequence[str]) -> None:
        seen, codes = self._seen, self._codes
        for cell in dict.fromkeys(cells):
            if cell not in seen:
                text = cell.strip()
                seen[cell] = -1 if text in self._missing else codes.setdefault(text, len(codes))
        self._values.extend(map(seen.__getitem__, cells))

    def column(self, name: str) -> Column:
        return Column(name, np.array(self._values, dtype=np.int32), list(self._codes))
