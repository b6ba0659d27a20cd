"""Absolute linear correlation of columns, nominal ones by the indicators of their categories."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foresift.data.explained import exponents, filled, scaled_deviations
from foresift.data.table import Table
from foresift.selectors.correlations import Correlations

__all__ = ["LinearCorrelations"]

_CELLS = 2**21  # of columns that are standardised at a time
_ROUNDING = 1e-12  # what is less is rounding error
_SMALLEST = 2.0**-500  # of the deviations, relative to the largest: their squares are normal numbers


class LinearCorrelations(Correlations):
    """Absolute correlation of the columns with a quantity, and with each other on demand (Hall 2000).

    That of two numeric columns is Pearson's. A nominal column stands for the indicators of its categories:
    the correlation is the mean, over the rows, of that of the indicator of the row's category. A missing
    number counts as the mean, a missing category as the most frequent one.

    Parameters
    ----------
    table : Table
        The data; the target is a quantity.
    weights : ndarray of shape (n_rows,) or None
        Number of rows that each row counts for.
    like_weka : bool, default=False
        Like Weka's CfsSubsetEval, weight columns by their standard deviations, and set the correlation of a
        constant column with any other to 1.

    Attributes
    ----------
    n_columns : int
        Number of columns.
    with_class : ndarray of shape (n_columns,)
        Correlation of every column and the quantity; 0 for a constant column.
    deviations : ndarray of shape (n_columns,)
        Weight of every column in the merit: 1, or the standard deviation in some common unit.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> X = {"a": [1, 2, 3, 4], "b": ["p", "p", "q", "q"]}
    >>> correlations = LinearCorrelations(make_table(X, [1, 3, 5, 7], task="regression"), None)
    >>> correlations.with_class.round(3), correlations.between(0).round(3)
    (array([1.   , 0.894]), array([1.   , 0.894]))
    """

    def __init__(self, table: Table, weights: NDArray[np.float64] | None, *, like_weka: bool = False) -> None:
        super().__init__()
        self.n_columns = table.n_columns
        self._like_weka = like_weka
        weights = np.ones(table.n_rows) if weights is None else weights
        rows = np.flatnonzero(weights)
        self._shares = weights[rows] / weights.sum()
        self._is_nominal = table.schema.nominal
        self._numeric, self._nominal = np.flatnonzero(~self._is_nominal), np.flatnonzero(self._is_nominal)
        self._indicators = _Indicators(table, self._nominal, rows, weights[rows])
        spread, exponent = np.zeros(self.n_columns), np.zeros(self.n_columns, dtype=np.intp)
        spread[self._nominal] = self._indicators.spread
        self._numbers = np.empty((len(self._numeric), len(rows)))
        width = max(1, _CELLS // table.n_rows)
        for first in range(0, len(self._numeric), width):
            part = slice(first, first + width)
            columns = self._numeric[part]
            values = table.take(columns).numbers()[rows]
            self._numbers[part], spread[columns], exponent[columns] = _standardised(values, self._shares)
        self._constant = spread == 0
        self.deviations = _in_one_unit(spread, exponent) if like_weka else np.ones(self.n_columns)
        target, _, _ = _standardised(table.target.y[rows, np.newaxis], self._shares)
        self.with_class = self._with_number(target[0])

    def _between(self, column: int) -> NDArray[np.float64]:
        if self._is_nominal[column]:
            values = self._with_nominal(int(np.searchsorted(self._nominal, column)))
        else:
            values = self._with_number(self._numbers[np.searchsorted(self._numeric, column)])
        return np.where(self._constant | self._constant[column], 1.0, values) if self._like_weka else values

    def _with_number(self, other: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._joined(np.abs(self._numbers @ other), self._indicators.with_number(other))

    def _with_nominal(self, at: int) -> NDArray[np.float64]:
        return self._joined(self._indicators.with_numbers(at, self._numbers), self._indicators.between(at))

    def _joined(self, numeric: NDArray[np.float64], nominal: NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.empty(self.n_columns)
        values[self._numeric], values[self._nominal] = numeric, nominal
        return np.where(values > _ROUNDING, np.minimum(values, 1.0), 0.0)


def _standardised(
    values: NDArray[np.float64], shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
    """Columns as rows of unit length, whose products are correlations; their deviations times powers of two.

    The standard deviation of a column is the second times 2 to the power of the third.
    """
    missing = np.isnan(values)
    values = filled(np.nan_to_num(values), missing)
    shares = shares[:, np.newaxis]
    from_mean = np.where(missing, 0.0, scaled_deviations(values, np.where(missing, 0.0, shares)))
    parts = (np.sqrt(shares) * from_mean).T
    spread = np.sqrt((parts**2).sum(axis=1))
    return parts / np.where(spread > 0, spread, 1.0)[:, np.newaxis], spread, exponents(values)


def _in_one_unit(spread: NDArray[np.float64], exponent: NDArray[np.intp]) -> NDArray[np.float64]:
    """Deviations relative to a power of two near the largest; like Weka, 1 for a constant column."""
    spread, exponent = np.where(spread > 0, spread, 1.0), np.where(spread > 0, exponent, 0)
    return np.maximum(np.ldexp(spread, exponent - exponent.max()), _SMALLEST)


class _Indicators:
    """The indicators of the categories of nominal columns."""

    def __init__(
        self, table: Table, columns: NDArray[np.intp], rows: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> None:
        n_rows, n_columns = len(rows), len(columns)
        self._row_shares = weights / weights.sum()
        self._codes = np.empty((n_rows, n_columns), dtype=np.int64)
        shares: list[NDArray[np.float64]] = []
        others: list[NDArray[np.float64]] = []
        for at, column in enumerate(columns.tolist()):
            codes, n_values = np.asarray(table.store.codes(column))[rows], table.store.n_values(column)
            counts = np.bincount(codes, weights, minlength=n_values + 1)[:n_values]
            largest = counts.argmax() if n_values else 0
            self._codes[:, at] = np.where(codes == n_values, largest, codes)
            share = _sums(self._codes[:, at], self._row_shares, n_values)
            rest = 1.0 - share
            rest[largest] = np.delete(share, largest).sum()  # exactly 0 if there are no others
            shares.append(share)
            others.append(rest)
        sizes = np.array([len(share) for share in shares], dtype=np.int64)
        self._first = np.cumsum(sizes) - sizes  # category of every column
        self._column = np.repeat(np.arange(n_columns), sizes)  # of every category
        self._share, self._others = np.concatenate([[], *shares]), np.concatenate([[], *others])
        self._variance = self._share * self._others
        self.spread = np.sqrt(self._by_column(self._share * self._variance))
        ones, ends = np.ones(self._codes.size), np.arange(n_rows + 1) * n_columns
        shape = n_rows, len(self._share)
        self._all = sparse.csr_array((ones, (self._codes + self._first).ravel(), ends), shape=shape)
        varies = self._variance > 0
        self._scale = np.sqrt(np.divide(self._share, self._others, out=np.zeros(shape[1]), where=varies))

    def with_number(self, other: NDArray[np.float64]) -> NDArray[np.float64]:
        """Correlation of every nominal column with a standardised number."""
        return self._by_column(np.abs(self._all.T @ (np.sqrt(self._row_shares) * other)) * self._scale)

    def with_numbers(self, at: int, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Correlation of one nominal column with every standardised number."""
        sums = (self._of_column(at, np.sqrt(self._row_shares)).T @ numbers.T).T
        return np.asarray(np.abs(sums) @ self._scale[self._column == at])

    def between(self, at: int) -> NDArray[np.float64]:
        """Correlation of one nominal column with every nominal column."""
        joint = (self._all.T @ self._of_column(at, self._row_shares)).tocoo()
        one, other = joint.row, joint.col + self._first[at]
        covariance = np.abs(joint.data - self._share[one] * self._share[other])
        size = np.sqrt(self._variance[one] * self._variance[other])
        parts = np.divide(joint.data * covariance, size, out=np.zeros(len(one)), where=size > 0)
        return _sums(self._column[one], parts, len(self._first))

    def _of_column(self, at: int, values: NDArray[np.float64]) -> sparse.csr_array:
        """Indicators of one column times a number per row."""
        shape = len(values), int((self._column == at).sum())
        return sparse.csr_array((values, self._codes[:, at], np.arange(len(values) + 1)), shape=shape)

    def _by_column(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return _sums(self._column, values, len(self._first))


def _sums(groups: NDArray[np.intp], values: NDArray[np.float64], n_groups: int) -> NDArray[np.float64]:
    return np.bincount(groups, values, minlength=n_groups).astype(np.float64, copy=False)
