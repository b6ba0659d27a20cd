"""The schema of a table: names, categories and units of its columns; encodes new data for prediction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foresift.data.containers import as_float, label_of, read, require_finite
from foresift.data.encoding import as_fitted, as_numbers, look_up, parts_of, single_columns
from foresift.data.plain_state import saved
from foresift.data.sklearn_compat import check_features, match_features

__all__ = ["Schema"]


@saved
@dataclass(frozen=True, eq=False)
class Schema:
    """Names and categories of the columns of a table; encodes new data for prediction.

    Attributes
    ----------
    names : tuple of str or None
        Column names; None if the data had none.
    categories : tuple
        One entry per column: None for a numeric column; for a nominal one its sorted categories, where the
        position of a category is its code.
    units : tuple of str
        One entry per column: the unit of dates, times and durations, which are numbers; empty for the others.
        () if there is no such column.
    """

    names: tuple[str, ...] | None
    categories: tuple[NDArray[Any] | None, ...]
    units: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema) or self.n_columns != other.n_columns:
            return False
        if (self.names, self.units) != (other.names, other.units):
            return False
        pairs = zip(self.categories, other.categories, strict=True)
        return all(np.array_equal(a, b) if a is not None and b is not None else a is b for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.categories)

    @property
    def nominal(self) -> NDArray[np.bool_]:
        """Mask of the nominal columns."""
        return np.array([known is not None for known in self.categories], dtype=bool)

    @property
    def kinds(self) -> list[str]:
        """Kind of every column: "categorical", "date" (times and durations too) or "numeric"."""
        pairs = zip(self.categories, self.units or ("",) * self.n_columns, strict=True)
        return [
            "categorical" if known is not None else "date" if unit else "numeric" for known, unit in pairs
        ]

    def take(self, columns: Iterable[int]) -> Schema:
        """The schema of some of the columns, in this order."""
        columns = list(columns)
        return replace(
            self,
            names=None if self.names is None else tuple(self.names[j] for j in columns),
            categories=tuple(self.categories[j] for j in columns),
            units=tuple(self.units[j] for j in columns) if self.units else (),
        )

    def encode(self, X: Any, estimator: Any = None) -> NDArray[Any]:
        """Encode X as the numeric matrix that trees compare with thresholds and category sets.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_columns)
            New data with the columns of the training data, in the same order.
        estimator : estimator, default=None
            Its `feature_names_in_` and `n_features_in_` are compared with X; by default the schema's own.

        Returns
        -------
        ndarray of shape (n, n_columns), float32 or float64
            Numeric columns as they are; dates and times as numbers, in the unit of the training data; nominal
            columns as category codes, -1 for a category that did not occur in training. NaN is missing in all
            of them. X itself, not a copy, if it is a float array, or a mapping of the rows of one, and no
            column is nominal; otherwise C-contiguous. A sparse X becomes dense: see `encode_batches`.

        Examples
        --------
        >>> from foresift.data.table import make_table
        >>> table = make_table({"size": [1.5, 2.5], "colour": ["red", "blue"]})
        >>> table.schema.encode({"size": [9.0, None, 0.5], "colour": ["red", "green", None]})
        array([[ 9. ,  1. ],
               [ nan, -1. ],
               [ 0.5,  nan]])
        """
        source = read(X, estimator)
        if estimator is not None:
            check_features(
                estimator, X if source.pandas else None, source.names, source.n_columns, reset=False
            )
        else:
            match_features("Schema", self.names, self.n_columns, source.names, source.n_columns)
        labels = self.names
        whole = source.matrix if source.array is None else source.array
        if whole is not None and not self.nominal.any() and not self.units:
            numbers = as_float(whole)
            require_finite(numbers, 0, labels)
            return numbers
        out = np.empty((source.n_rows, source.n_columns), np.float32 if source.narrow else np.float64)
        for part in parts_of(source, self.nominal):
            start, values = part.start, as_fitted(part, self.units, labels)
            if not part.nominal:
                block = as_numbers(values, start, labels, "It was numeric when fitted.")
                out[:, start : start + block.shape[1]] = block
                continue
            for j, column in single_columns(values, start, labels):
                known = self.categories[j]
                assert known is not None  # the column is nominal
                out[:, j] = look_up(column, known, label_of(labels, j))
        return out

    def encode_batches(
        self, X: Any, estimator: Any = None, *, max_cells: int = 2**24
    ) -> Iterator[NDArray[Any]]:
        """Encode a sparse X in batches of rows, so that it is never dense as a whole; other X in one batch.

        Examples
        --------
        >>> from foresift.data.table import make_table
        >>> schema = make_table(sparse.eye(4)).schema
        >>> [batch.shape for batch in schema.encode_batches(sparse.eye(4, format="csr"), max_cells=12)]
        [(3, 4), (1, 4)]
        """
        if not sparse.issparse(X) or X.ndim != 2 or X.shape[0] == 0:
            yield self.encode(X, estimator)
            return
        rows = max(1, max_cells // max(1, X.shape[1]))
        X = X.tocsr()
        for first in range(0, X.shape[0], rows):
            yield self.encode(X[first : first + rows], estimator)
