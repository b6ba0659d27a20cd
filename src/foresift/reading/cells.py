"""Columns of a file: numbers, or coded text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from foresift.reading.numbers import read_numbers

__all__ = ["MISSING", "Column", "parse_texts"]

MISSING = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"})


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
    mark : {"", ".", ","}
        Decimal mark of the numbers in the text of the file, if it is certain.
    absent : str
        The texts among numbers that count as missing, and in how many cells; empty if none.
    """

    name: str
    values: NDArray[np.float64] | NDArray[np.int32]
    texts: list[str] | None = None
    declared: str | None = None
    unit: str = ""
    grouped: NDArray[np.float64] | None = None
    mark: str = ""
    absent: str = ""

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the missing cells."""
        return np.isnan(self.values) if self.texts is None else self.values < 0

    def rows(self, wanted: NDArray[np.bool_]) -> Column:
        """Return some rows of the column, without the texts that occur in others only.

        Examples
        --------
        >>> Column("x", np.array([1.0, np.nan, 2.5])).rows(np.array([True, False, True])).values
        array([1. , 2.5])
        """
        grouped = None if self.grouped is None else self.grouped[wanted]
        values = self.values[wanted]
        if self.texts is None:
            return replace(self, values=values, grouped=grouped)
        used = np.bincount(values[values >= 0].astype(np.intp), minlength=len(self.texts)) > 0
        codes = np.append(np.cumsum(used) - 1, -1).astype(np.int32)
        texts = [text for text, is_used in zip(self.texts, used.tolist(), strict=True) if is_used]
        return replace(self, values=codes[values.astype(np.intp)], texts=texts)

    def labels(self) -> NDArray[np.object_]:
        """Return the cells as text, None for missing; whole numbers without a fraction.

        Examples
        --------
        >>> Column("x", np.array([1.0, np.nan, 2.5])).labels()
        array(['1', None, '2.5'], dtype=object)
        """
        if self.texts is not None:
            return np.array([*self.texts, None], dtype=object)[self.values]
        known, places = np.unique(self.values, return_inverse=True)  # one NaN, the last
        texts = [
            None if x != x else str(int(x)) if x.is_integer() and abs(x) < 2**53 else repr(x)
            for x in known.tolist()
        ]
        return np.array(texts, dtype=object)[places]


def parse_texts(
    column: Column, *, text: bool = False, missing: Collection[str] = MISSING, padded: bool = True
) -> Column:
    """Strip the texts of a column, and make it numeric if all are numbers or missing.

    Parameters
    ----------
    column : Column
        A column of text.
    text : bool, default=False
        Whether numbers stay text.
    missing : collection of str
        Texts that are missing values.
    padded : bool, default=True
        Whether numbers with leading zeros, such as 05123, make a column text.

    Examples
    --------
    >>> parse_texts(Column("size", np.array([0, 1, 2, 0], dtype=np.int32), ["1.5", "?", " 2"])).values
    array([1.5, nan, 2. , 1.5])
    """
    codes: dict[str, int] = {}
    for stripped in map(str.strip, column.texts or []):
        if stripped not in missing:
            codes.setdefault(stripped, len(codes))
    known = [codes.get(raw.strip(), -1) for raw in column.texts or []]
    values = np.array([*known, -1], dtype=np.int32)[column.values]
    numbers = None if text else read_numbers(list(codes), padded=padded)
    if numbers is None:
        return replace(column, values=values, texts=list(codes))
    grouped = None if numbers.grouped is None else np.append(numbers.grouped, np.nan)[values]
    plain = np.append(numbers.values, np.nan)[values]
    return replace(column, values=plain, texts=None, grouped=grouped, mark=numbers.mark)
