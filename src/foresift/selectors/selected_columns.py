"""From all columns of X to the selected ones and back, whatever container X is."""

from __future__ import annotations

from decimal import InvalidOperation
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from foresift.data.containers import read
from foresift.data.sklearn_compat import check_features, output_container
from foresift.data.slices import columns_of, matrix_of, take_columns
from foresift.data.table import Schema
from foresift.data.values import is_missing

__all__ = ["SelectedColumnsMixin"]


class SelectedColumnsMixin(SelectorMixin):
    """`transform` and `inverse_transform` of a selector that has `support_`."""

    support_: NDArray[np.bool_]
    schema_: Schema

    def transform(self, X: Any) -> Any:
        """Keep the selected columns of X.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            Anything that `fit` takes, with the same columns.

        Returns
        -------
        ndarray, sparse matrix or data frame of shape (n, n_selected)
            A sparse matrix (CSR) if X is one; a data frame if `set_output` asks for one (the columns keep
            their dtype if X is a frame of the same library); otherwise an array, of numbers if all selected
            columns are, else of objects. Dates and times become numbers, except in such a frame.
        """
        check_is_fitted(self, "support_")
        output, kept_units = output_container(self), self._units_of_kept()
        plain = isinstance(X, np.ndarray) and X.dtype.kind not in "mM" and not kept_units
        if sparse.issparse(X) or (plain and (output == "default" or X.dtype != object)):
            try:
                return super().transform(X)
            except InvalidOperation:  # a decimal that signals
                raise ValueError(
                    "X contains a value that is no number: use None where one is missing."
                ) from None
        # scikit-learn takes neither mappings nor frames of nullable types with text, and through its arrays
        # of objects the columns of a frame would lose their types.
        source = read(X, self)
        check_features(self, X if source.pandas else None, source.names, source.n_columns, reset=False)
        if source.array is not None and not kept_units:
            return super().transform(source.array)
        kept = take_columns(X, self.get_support(indices=True))
        if output == "default":
            return matrix_of(read(kept, self), kept_units)
        frame = nw.from_native(kept, pass_through=True)
        if isinstance(frame, nw.DataFrame) and nw.get_native_namespace(frame).__name__ == output:
            return frame.to_native()
        columns = map(_plain, columns_of(read(kept, self), kept_units))
        return dict(zip(self.get_feature_names_out(), columns, strict=True))  # set_output makes a frame of it

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected columns back where they were, with zeros in the others.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_selected)
            What `transform` returns; missing values are allowed.

        Returns
        -------
        ndarray or sparse matrix of shape (n, n_features)
            All columns; the removed ones are zero.
        """
        support = self.get_support()
        if sparse.issparse(X):
            return super().inverse_transform(X)
        kept = matrix_of(read(X, self))  # scikit-learn's own would refuse missing values
        if kept.shape[1] != support.sum():
            raise ValueError(
                f"X has a different shape than during fitting: {kept.shape[1]} columns, but {support.sum()}"
                " were selected. Pass what transform returns."
            )
        whole = np.zeros((len(kept), len(support)), dtype=kept.dtype)
        whole[:, support] = kept
        return whole

    def _units_of_kept(self) -> tuple[str, ...]:
        """Units of the selected columns, () if none holds dates or times."""
        units = self.schema_.units
        kept = tuple(units[j] for j in self.get_support(indices=True)) if units else ()
        return kept if any(kept) else ()

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_


def _plain(column: NDArray[Any]) -> NDArray[Any] | list[Any]:
    """Return a column as every data frame library can tell its type and its missing values."""
    if column.dtype == object or (column.dtype.kind == "f" and np.isnan(column).any()):
        return [None if is_missing(value) else value for value in column.tolist()]
    return column
