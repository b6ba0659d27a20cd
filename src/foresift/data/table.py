"""The table: X and y from any container as a column store, its schema and the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.containers import Source, label_of, read
from foresift.data.dependence import Dependence
from foresift.data.encoding import MAX_CATEGORIES, as_numbers, factorize, parts_of, single_columns
from foresift.data.schema import Schema
from foresift.data.sklearn_compat import check_features
from foresift.data.target import Target

__all__ = [
    "MAX_CATEGORIES",
    "Nominal",
    "Numeric",
    "Schema",
    "Table",
    "UncodedTable",
    "make_table",
    "nominal_mask",
]


class Numeric(NamedTuple):
    """Adjacent numeric columns: the index of the first, and an (n, width) array, NaN for missing."""

    start: int
    values: NDArray[Any]


class Nominal(NamedTuple):
    """One nominal column: its index, label and categories, and the code of every row, -1 for missing."""

    at: int
    label: str
    categories: NDArray[Any]
    codes: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class UncodedTable:
    """X and y, validated, whose columns are read one after another and not kept.

    Attributes
    ----------
    source : Source
        The opened X.
    target : Target or None
        The target; None without y.
    nominal : ndarray of bool or None
        Mask of the nominal columns, None if their dtype decides.
    """

    source: Source
    target: Any  # a Target, except in a table without y
    nominal: NDArray[np.bool_] | None
    _categories: dict[int, NDArray[Any]] = field(default_factory=dict)
    _units: dict[int, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.source.n_columns

    @property
    def schema(self) -> Schema:
        """Names, categories and units of the columns; complete after `columns` has been read to the end."""
        units = tuple(self._units.get(j, "") for j in range(self.n_columns)) if self._units else ()
        return Schema(self.source.names, tuple(map(self._categories.get, range(self.n_columns))), units)

    @classmethod
    def open(
        cls, X: Any, y: Any, categorical_features: Any, estimator: Any = None, task: str = "classification"
    ) -> UncodedTable:
        """Validate X and y; the parameters are those of `make_table`.

        Examples
        --------
        >>> from sklearn.base import BaseEstimator
        >>> X = {"size": [1.5, None], "colour": ["red", "blue"]}
        >>> table = UncodedTable.open(X, ["no", "yes"], "from_dtype", BaseEstimator())
        >>> [type(part).__name__ for part in table.columns()]
        ['Numeric', 'Nominal']
        """
        source = read(X, estimator)
        if estimator is not None:
            pandas = X if source.pandas else None
            check_features(estimator, pandas, source.names, source.n_columns, reset=True, y=y)
        target = None if y is None else Target.of(y, source.n_rows, task, estimator)
        return cls(source, target, nominal_mask(categorical_features, source))

    def columns(self) -> Iterator[Numeric | Nominal]:
        """Read X in the order of its columns; floats are views, other types are copied block by block."""
        labels = self.source.labels
        advice = "Use categorical_features='from_dtype', name it in categorical_features, or encode it."
        for start, part, nominal, unit in parts_of(self.source, self.nominal):
            if unit:
                self._units[start] = unit
            if not nominal:
                yield Numeric(start, as_numbers(part, start, labels, advice))
                continue
            for j, values in single_columns(part, start, labels):
                self._categories[j], codes = factorize(values, label_of(labels, j))
                yield Nominal(j, label_of(labels, j), self._categories[j], codes)


@dataclass(frozen=True, eq=False)
class Table:
    """Training data in the format of the tree engine.

    Attributes
    ----------
    store : ColumnStore
        Order-preserving integer codes of every column.
    schema : Schema
        Names and categories of the columns.
    target : Target
        The target; None for a table without y.
    dependence : Dependence or None
        Which rows belong together; None if they are independent.
    """

    store: _core.ColumnStore
    schema: Schema
    target: Any = None  # a Target, except in a table without y
    dependence: Dependence | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.store.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.store.n_columns

    def take(self, columns: NDArray[np.intp]) -> Table:
        """Table of some of the columns, in this order, without recoding.

        Examples
        --------
        >>> table = make_table({"size": [2.5, 1.5], "colour": ["red", "blue"]}, ["no", "yes"])
        >>> table.take(np.array([1])).schema.names
        ('colour',)
        """
        numbers = columns.tolist()
        return Table(self.store.take(numbers), self.schema.take(numbers), self.target, self.dependence)

    def with_target(self, target: Target) -> Table:
        """The same columns with another target."""
        return Table(self.store, self.schema, target, self.dependence)

    def numbers(self) -> NDArray[np.float64]:
        """The values of all columns: codes of categories, the largest value of a bin, NaN for missing."""
        out = np.empty((self.n_rows, self.n_columns))
        for j in range(self.n_columns):
            known = np.arange(self.store.n_values(j)) if self.store.is_nominal(j) else self.store.values(j)
            out[:, j] = np.append(known, np.nan)[np.asarray(self.store.codes(j))]
        return out

    def codes(self) -> NDArray[np.uint16]:
        """The codes of all columns, of shape (n_rows, n_columns)."""
        columns = [np.asarray(self.store.codes(j)) for j in range(self.n_columns)]
        return np.stack(columns, axis=1, dtype=np.uint16)

    def take_rows(self, rows: NDArray[np.intp]) -> Table:
        """Table of some of the rows, with the same codes as `make_table` of these rows, but without sorting.

        Values, categories and classes that do not occur are removed. Only a column of more than `max_bins`
        values keeps the bins of the whole table.

        Examples
        --------
        >>> X = {"size": [2.5, 1.5, 3.5], "colour": ["red", "blue", "red"]}
        >>> table = make_table(X, ["no", "yes", "no"])
        >>> some = table.take_rows(np.array([2, 0]))
        >>> some.store.codes(0).tolist(), some.schema.categories[1].tolist(), some.target.labels.tolist()
        ([1, 0], ['red'], ['no'])
        """
        categories = list(self.schema.categories)
        for j in np.flatnonzero(self.schema.nominal).tolist():
            codes, known = np.asarray(self.store.codes(j))[rows], categories[j]
            assert known is not None
            present = np.bincount(codes, minlength=len(known))[: len(known)] > 0
            categories[j] = known[present]
        store = self.store.take_rows(np.asarray(rows, dtype=np.uint32))
        target = None if self.target is None else self.target.take_present(rows)
        dependence = None if self.dependence is None else self.dependence.take(rows)
        return Table(store, replace(self.schema, categories=tuple(categories)), target, dependence)


def make_table(
    X: Any,
    y: Any = None,
    *,
    categorical_features: Any = "from_dtype",
    max_bins: int = 65_536,
    estimator: Any = None,
    task: str = "classification",
) -> Table:
    """Validate X and y and code them for the tree engine.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or mapping of shape (n_rows, n_columns)
        NumPy array, nested lists, pandas or polars frame, pyarrow table, any SciPy sparse matrix (never made
        dense as a whole), or a mapping from column name to 1-D array. NaN, None, pandas.NA and null are
        missing values and stay missing. Integers beyond 2**53 are rounded to float64. Dates are days, and
        times seconds, since 1970 (UTC); times of day are seconds since midnight, durations seconds.
    y : array-like of shape (n_rows,), default=None
        Class labels: text, integers or booleans; or finite numbers if task="regression". None may be missing.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal. "from_dtype": those of categories (ordered ones too), text or booleans.
        None: no column. A list of names or indices, or a mask: exactly those, a numeric one by its distinct
        values; then, as with None, text elsewhere is an error and booleans count as 0 and 1.
    max_bins : int, default=65536
        A numeric column with more distinct values is cut into this many quantile bins.
    estimator : estimator, default=None
        Gets `n_features_in_` and `feature_names_in_`, and is named in messages.
    task : {"classification", "regression"}, default="classification"
        Whether y holds classes or a quantity.

    Returns
    -------
    Table
        One column of codes per column of X. Categories are those that occur, in sorted order, whatever the
        dtype declares: equal values have equal codes in every container.

    Examples
    --------
    >>> table = make_table({"size": [2.5, None, 1.5], "colour": ["red", "blue", "red"]}, ["no", "yes", "no"])
    >>> table.store.codes(0).tolist(), table.store.codes(1).tolist()
    ([1, 2, 0], [1, 0, 1])
    >>> table.schema.categories[1].tolist(), table.target.labels.tolist(), table.target.codes.tolist()
    (['blue', 'red'], ['no', 'yes'], [0, 1, 0])
    """
    uncoded = UncodedTable.open(X, y, categorical_features, estimator, task)
    store = _core.ColumnStore(uncoded.n_rows, max_bins)
    for part in uncoded.columns():
        if isinstance(part, Nominal):
            store.add_nominal(part.codes, len(part.categories))
        else:
            store.add_numeric(part.values)
    return Table(store, uncoded.schema, uncoded.target)


def nominal_mask(wanted: Any, source: Source) -> NDArray[np.bool_] | None:
    """Mask of the nominal columns, None if their dtype decides."""
    if isinstance(wanted, str) and wanted == "from_dtype":
        return None
    mask = np.zeros(source.n_columns, dtype=bool)
    if wanted is None:
        return mask
    chosen = np.asarray(wanted)
    if chosen.size == 0:
        return mask
    if chosen.ndim != 1 or chosen.dtype.kind not in "biuUO":
        raise ValueError(
            "categorical_features must be 'from_dtype', None, or a list of column names, of indices, or of"
            f" one boolean per column; got {wanted!r}."
        )
    if chosen.dtype.kind == "b":
        if len(chosen) != source.n_columns:
            raise ValueError(
                f"categorical_features is a mask for {len(chosen)} columns, but X has {source.n_columns}."
            )
        return chosen
    if chosen.dtype.kind in "iu":
        unknown = [int(j) for j in chosen if not 0 <= j < source.n_columns]
        positions = [int(j) for j in chosen]
    else:
        position = {name: j for j, name in enumerate(source.names or ())}
        unknown = [name for name in chosen.tolist() if name not in position]
        positions = [position.get(name, -1) for name in chosen.tolist()]
    if unknown:
        has = f"{source.n_columns} columns" + ("" if source.names else " without names")
        raise ValueError(f"categorical_features contains unknown columns: {unknown}; X has {has}.")
    mask[positions] = True
    return mask
