"""Columns of a file: cells gathered into numbers or into coded text, some rows at a time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from foresift.reading.numbers import NumberColumns

__all__ = ["MISSING", "Column", "gather", "settled"]

MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})
CELLS = 2**14  # that are held as text at a time: 1 MB or so
MORE_CELLS = 2**18  # where more than a few columns are text
FEW_TEXTS = 100


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
    pointed : bool
        Whether the numbers have decimal points beyond doubt.
    absent : str
        Which texts among numbers were taken as missing, and in how many cells; empty if none was.
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


def settled(column: Column, *, text: bool = False) -> Column:
    """Read the texts of a column as the cells of a CSV file are read.

    Parameters
    ----------
    column : Column
        Of text, as a typed file has it.
    text : bool, default=False
        Whether it stays text, numbers or not.

    Returns
    -------
    Column
        As `gather` makes it: some texts are missing, and if all others are numbers, it is one of numbers.

    Examples
    --------
    >>> settled(Column("size", np.array([0, 1, 2, 0], dtype=np.int32), ["1.5", "?", " 2"])).values
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
    # Columns of text are added to one by one, which takes its time for a few rows.
    at_once = max(1, (CELLS if len(texts) <= FEW_TEXTS else MORE_CELLS) // max(1, n_columns))
    while some := list(islice(rows, at_once)):
        if numbers is not None:
            numbers.add(some)
        for j, column in texts.items():
            column.add([row[j] for row in some])


class _Text:
    """The cells of one column of text, so far."""

    def __init__(self, missing: Collection[str]) -> None:
        self._missing = missing
        self._codes: dict[str, int] = {}  # of stripped text
        self._seen: dict[str, int] = {}  # of cells as they stand
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
