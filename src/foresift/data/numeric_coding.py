"""X as numbers: as they are, or as inputs of a network (indicators of categories, numbers standardised)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresift.data.moments import Nominal, UncodedTable
from foresift.data.table import Schema

__all__ = ["InputCoding", "ValueTable"]

_FAR = 1e6  # deviations; a value further out counts as this far, so that single precision cannot overflow


@dataclass(frozen=True, eq=False)
class ValueTable:
    """X as one matrix of numbers, and y: for methods that reckon with values instead of comparing them.

    The codes of a `Table` would not do: they are ranks, and where a column has more than 65,536 distinct
    values one code stands for several of them. What such a method predicts on are the values themselves.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns), float32 or float64
        The rows as `Schema.encode` reads them: numbers, category codes, NaN for missing. X itself, not a
        copy, if it is a float array and no column is nominal.
    schema : Schema
        What the columns are.
    target : Target or None
        What is to be predicted; None without y.
    """

    values: NDArray[Any]
    schema: Schema
    target: Any  # a Target, but for a table without y

    @classmethod
    def open(
        cls, X: Any, y: Any = None, *, categorical_features: Any = "from_dtype", estimator: Any = None
    ) -> ValueTable:
        """Read X, once, and y; the parameters are those of `make_table`.

        Examples
        --------
        >>> table = ValueTable.open({"size": [2.5, None], "colour": ["red", "blue"]}, ["no", "yes"])
        >>> table.values
        array([[2.5, 1. ],
               [nan, 0. ]])
        >>> table.schema.names, table.target.codes.tolist()
        (('size', 'colour'), [0, 1])
        """
        table = UncodedTable.open(X, y, categorical_features, estimator)
        shape = table.n_rows, table.n_columns
        values: NDArray[Any] = np.empty(shape, dtype=np.float32 if table.source.narrow else np.float64)
        for part in table.columns():
            if isinstance(part, Nominal):
                values[:, part.at] = np.where(part.codes < 0, np.nan, part.codes)
            elif part.values.shape == shape:
                values = part.values
            else:
                values[:, part.start : part.start + part.values.shape[1]] = part.values
        return cls(values, table.schema, table.target)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.schema.n_columns


@dataclass(frozen=True, eq=False)
class InputCoding:
    """How columns become inputs; learned from the training rows.

    A nominal column with c categories becomes c inputs, 1 for the row's category and 0 for the others. Any
    other column becomes one input, the value less its mean over its standard deviation; a constant column is
    always 0. A missing value is 0 in all inputs of its column, which for a number is the mean; so is a
    category that did not occur in training.

    Attributes
    ----------
    starts : ndarray of int of shape (n_columns + 1,)
        Column j has the inputs starts[j] to starts[j + 1] - 1.
    nominal : ndarray of bool of shape (n_columns,)
        Which columns are nominal.
    unit, centre, gain : ndarray of float64 of shape (n_columns,)
        A number v becomes (v / unit - centre) * gain.
    """

    starts: NDArray[np.intp]
    nominal: NDArray[np.bool_]
    unit: NDArray[np.float64]
    centre: NDArray[np.float64]
    gain: NDArray[np.float64]

    @classmethod
    def learn(
        cls, rows: NDArray[Any], categories: tuple[Any, ...], weights: NDArray[np.float64] | None = None
    ) -> InputCoding:
        """Learn means and deviations.

        Parameters
        ----------
        rows : ndarray of shape (n, n_columns)
            The values of a `ValueTable`.
        categories : tuple
            One entry per column: None for a numeric one (`Schema.categories`).
        weights : ndarray of shape (n,), default=None
            How much each row counts.

        Examples
        --------
        >>> rows = np.array([[1.0, 0.0], [3.0, 2.0], [np.nan, np.nan]])
        >>> coding = InputCoding.learn(rows, (None, np.array(["a", "b", "c"])))
        >>> coding.code(rows)
        array([[-1.,  1.,  0.,  0.],
               [ 1.,  0.,  0.,  1.],
               [ 0.,  0.,  0.,  0.]], dtype=float32)
        """
        nominal = np.array([known is not None for known in categories], dtype=bool)
        widths = [1 if known is None else len(known) for known in categories]
        unit, centre, gain = np.ones((3, len(categories)))
        for j in np.flatnonzero(~nominal):
            used = ~np.isnan(rows[:, j]) if weights is None else ~np.isnan(rows[:, j]) & (weights > 0)
            values = rows[used, j].astype(np.float64)
            if not values.size or values.min() == values.max():
                gain[j] = 0.0
                continue
            unit[j] = np.abs(values).max()  # so that squares neither overflow nor vanish
            values /= unit[j]
            shares = None if weights is None else weights[used]
            centre[j] = np.average(values, weights=shares)
            deviation = np.sqrt(np.average((values - centre[j]) ** 2, weights=shares))
            # Other values than one may have as good as no weight: the column is constant for all that counts.
            gain[j] = 1 / deviation if deviation > 0 else 0.0
        return cls(np.concatenate([[0], np.cumsum(widths)]).astype(np.intp), nominal, unit, centre, gain)

    @property
    def n_inputs(self) -> int:
        """Number of inputs of all columns."""
        return int(self.starts[-1])

    def code(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Code rows that are encoded as in training."""
        inputs = np.zeros((len(rows), self.n_inputs), dtype=np.float32)
        for j, start in enumerate(self.starts[:-1]):
            known = np.flatnonzero(rows[:, j] >= 0 if self.nominal[j] else ~np.isnan(rows[:, j]))
            values = rows[known, j]
            if self.nominal[j]:
                inputs[known, start + values.astype(np.intp)] = 1
            elif self.gain[j] > 0:
                with np.errstate(over="ignore"):
                    deviations = (values / self.unit[j] - self.centre[j]) * self.gain[j]
                inputs[known, start] = np.clip(deviations, -_FAR, _FAR)
        return inputs

    def inputs_of(self, columns: ArrayLike) -> NDArray[np.uint32]:
        """Inputs of these columns, block after block; a column that is named twice gives its block twice.

        Examples
        --------
        >>> InputCoding.learn(np.zeros((1, 2)), (None, np.array(["a", "b"]))).inputs_of([1, 0, 1])
        array([1, 2, 0, 1, 2], dtype=uint32)
        """
        blocks = [np.arange(self.starts[j], self.starts[j + 1]) for j in np.asarray(columns)]
        return np.concatenate([np.empty(0, dtype=np.intp), *blocks]).astype(np.uint32)
