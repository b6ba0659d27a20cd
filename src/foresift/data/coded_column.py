"""A nominal column that comes coded, as in Arrow: a position among few values for every row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CodedColumn"]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """Values of a column, each as its position in `known`, so that no text is looked at cell by cell.

    Attributes
    ----------
    codes : ndarray of int of shape (n_rows,)
        Positions, -1 for missing.
    known : ndarray
        Text as objects, booleans or numbers, each once, in any order; perhaps some that no row has.

    Examples
    --------
    >>> column = CodedColumn(np.array([1, 0, -1]), np.array(["red", "blue"], dtype=object))
    >>> column.decoded(), column[1:].codes
    (array(['blue', 'red', None], dtype=object), array([ 0, -1]))
    """

    codes: NDArray[Any]
    known: NDArray[Any]

    ndim = 1

    @property
    def shape(self) -> tuple[int]:
        """Number of rows."""
        return (len(self.codes),)

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the values."""
        return self.known.dtype

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> CodedColumn:
        return CodedColumn(self.codes[rows], self.known)

    def copy(self) -> CodedColumn:
        """The same, without a view of the codes of more rows."""
        return CodedColumn(self.codes.copy(), self.known)

    def used(self) -> NDArray[np.bool_]:
        """Which of the known values occur."""
        return np.bincount(self.codes + 1, minlength=len(self.known) + 1)[1:] > 0

    def decoded(self) -> NDArray[Any]:
        """The values themselves, None for missing."""
        values = np.empty(len(self.known) + 1, dtype=object)
        values[:-1] = self.known.tolist()
        return values[self.codes]
