"""Codes of many columns at a time, and how often each occurs: of a wide table a call per column is slow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.table import Table

__all__ = ["CodeCounts", "code_counts"]

_CELLS = 2**17  # codes at a time, which stay in the cache


class CodeCounts(NamedTuple):
    """Some columns by codes, with the counts of one column after those of another.

    Attributes
    ----------
    columns : ndarray of int of shape (n_columns,)
        The columns.
    places : ndarray of int of shape (n_columns, n_rows)
        Where the count of the code of every row is.
    counts : ndarray of int
        Rows of every code of every column. The last code of a column stands for missing values.
    starts, missing : ndarray of int of shape (n_columns,)
        Where the first count of every column is, and that of its missing values.
    """

    columns: NDArray[np.intp]
    places: NDArray[np.intp]
    counts: NDArray[np.intp]
    starts: NDArray[np.intp]
    missing: NDArray[np.intp]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of codes of every column, with that of missing values."""
        return self.missing + 1 - self.starts

    def each(self) -> Iterator[NDArray[np.intp]]:
        """The counts of every column."""
        for start, missing in zip(self.starts.tolist(), self.missing.tolist(), strict=True):
            yield self.counts[start : missing + 1]


def code_counts(table: Table, columns: NDArray[Any], rows: NDArray[np.intp]) -> Iterator[CodeCounts]:
    """Count the codes of columns in some rows, as many columns at a time as fit in the cache.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> table = make_table({"size": [2.5, None, 1.5], "colour": ["red", "blue", "red"]})
    >>> (found,) = code_counts(table, np.array([0, 1]), np.arange(3))
    >>> found.counts, found.starts, found.missing
    (array([1, 1, 1, 1, 2, 0]), array([0, 3]), array([2, 5]))
    """
    store, every_row = table.store, len(rows) == table.n_rows
    step = max(1, _CELLS // max(1, table.n_rows))
    for begin in range(0, len(columns), step):
        some = np.asarray(columns[begin : begin + step], dtype=np.intp)
        missing = np.cumsum([store.n_values(j) + 1 for j in some.tolist()]) - 1
        starts = np.concatenate([[0], missing[:-1] + 1])
        places = np.empty((len(some), len(rows)), dtype=np.intp)
        for row, j in zip(places, some.tolist(), strict=True):
            codes = np.asarray(store.codes(j))
            row[:] = codes if every_row else codes[rows]
        places += starts[:, np.newaxis]
        yield CodeCounts(
            some, places, np.bincount(places.ravel(), minlength=missing[-1] + 1), starts, missing
        )
