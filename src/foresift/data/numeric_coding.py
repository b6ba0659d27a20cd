"""X as a numeric matrix: raw values, or inputs of a network (indicators and standardised numbers)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from foresift.data.plain_state import PlainEstimator, saved
from foresift.data.sklearn_compat import StrOptions, fit_context, table_tags
from foresift.data.table import Nominal, Schema, UncodedTable

__all__ = ["InputCoding", "NumericCoder", "ValueTable"]

_MAX_DEVIATIONS = 1e6  # standardised values are clipped here, so that single precision cannot overflow


@dataclass(frozen=True, eq=False)
class ValueTable:
    """X as one numeric matrix, and y, for methods that compute with values instead of comparing them.

    The codes of a `Table` are ranks, and above 65,536 distinct values one code stands for several values.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns), float32 or float64
        The rows as `Schema.encode` reads them: numbers, category codes, NaN for missing. X itself, not a
        copy, if it is a float array and no column is nominal.
    schema : Schema
        Names and categories of the columns.
    target : Target or None
        The target; None without y.
    """

    values: NDArray[Any]
    schema: Schema
    target: Any  # a Target, except in a table without y

    @classmethod
    def open(
        cls,
        X: Any,
        y: Any = None,
        *,
        categorical_features: Any = "from_dtype",
        estimator: Any = None,
        task: str = "classification",
    ) -> ValueTable:
        """Read X and y; the parameters are those of `make_table`.

        Examples
        --------
        >>> table = ValueTable.open({"size": [2.5, None], "colour": ["red", "blue"]}, ["no", "yes"])
        >>> table.values
        array([[2.5, 1. ],
               [nan, 0. ]])
        >>> table.schema.names, table.target.codes.tolist()
        (('size', 'colour'), [0, 1])
        """
        table = UncodedTable.open(X, y, categorical_features, estimator, task)
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


@saved
@dataclass(frozen=True, eq=False)
class InputCoding:
    """Coding of columns as network inputs, learned from the training rows.

    A nominal column with c categories becomes c indicators. Any other column is standardised to mean 0 and
    standard deviation 1; a constant column becomes 0. A missing value, or a category that did not occur in
    training, is 0 in all inputs of its column.

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
            Weights of the rows.

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
            # 0 if all values but one have almost no weight.
            gain[j] = 1 / deviation if deviation > 0 else 0.0
        return cls(np.concatenate([[0], np.cumsum(widths)]).astype(np.intp), nominal, unit, centre, gain)

    @property
    def n_inputs(self) -> int:
        """Number of inputs of all columns."""
        return int(self.starts[-1])

    def code(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Code the rows of a `ValueTable`, or rows from `Schema.encode`."""
        inputs = np.zeros((len(rows), self.n_inputs), dtype=np.float32)
        for j, start in enumerate(self.starts[:-1]):
            known = np.flatnonzero(rows[:, j] >= 0 if self.nominal[j] else ~np.isnan(rows[:, j]))
            values = rows[known, j]
            if self.nominal[j]:
                inputs[known, start + values.astype(np.intp)] = 1
            elif self.gain[j] > 0:
                with np.errstate(over="ignore"):
                    deviations = (values / self.unit[j] - self.centre[j]) * self.gain[j]
                inputs[known, start] = np.clip(deviations, -_MAX_DEVIATIONS, _MAX_DEVIATIONS)
        return inputs

    def inputs_of(self, columns: ArrayLike) -> NDArray[np.uint32]:
        """Inputs of these columns in order; a repeated column repeats its inputs.

        Examples
        --------
        >>> InputCoding.learn(np.zeros((1, 2)), (None, np.array(["a", "b"]))).inputs_of([1, 0, 1])
        array([1, 2, 0, 1, 2], dtype=uint32)
        """
        blocks = [np.arange(self.starts[j], self.starts[j + 1]) for j in np.asarray(columns)]
        return np.concatenate([np.empty(0, dtype=np.intp), *blocks]).astype(np.uint32)


class NumericCoder(TransformerMixin, PlainEstimator):
    """Encode any table as numbers, for classifiers that support neither categories nor missing values.

    A transformer around `InputCoding`: nominal columns become indicators, others are standardised.

    Parameters
    ----------
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are nominal, as in `SiftForestClassifier`.

    Attributes
    ----------
    schema_ : Schema
        Names and categories of the columns.
    coding_ : InputCoding
        Means and deviations.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> from foresift.data.numeric_coding import NumericCoder
    >>> coder = NumericCoder().fit({"size": [1.0, 3.0, None], "colour": ["red", "blue", "red"]})
    >>> coder.transform({"size": [5.0, None], "colour": ["blue", "green"]})
    array([[3., 1., 0.],
           [0., 0., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    }

    def __init__(self, categorical_features="from_dtype"):
        self.categorical_features = categorical_features

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn categories, means and deviations of the training rows X."""
        table = ValueTable.open(X, categorical_features=self.categorical_features, estimator=self)
        self.schema_ = table.schema
        self.coding_ = InputCoding.learn(table.values, table.schema.categories)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Encode the rows of X as an array of shape (n, n_inputs)."""
        check_is_fitted(self)
        return self.coding_.code(self.schema_.encode(X, self)).astype(np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the outputs: a numeric column keeps its name, an indicator is named column=category."""
        check_is_fitted(self)
        names = self.schema_.names or [f"x{j}" for j in range(self.n_features_in_)]
        return np.array(
            [
                name if categories is None else f"{name}={category}"
                for name, categories in zip(names, self.schema_.categories, strict=True)
                for category in ([None] if categories is None else categories)
            ],
            dtype=object,
        )

    def __sklearn_tags__(self) -> Any:
        return table_tags(super().__sklearn_tags__())
