"""The target: the classes of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from foresift.data.containers import values_of
from foresift.data.encoding import factorize
from foresift.data.values import is_missing, kind_of_values

__all__ = ["Target"]


@dataclass(frozen=True, eq=False)
class Target:
    """The class of every row.

    Attributes
    ----------
    codes : ndarray of int32 of shape (n_rows,)
        A position in `labels`.
    labels : ndarray of shape (n_classes,)
        The sorted class labels.
    """

    codes: NDArray[np.int32]
    labels: NDArray[Any]

    @classmethod
    def of(cls, y: Any, n_rows: int) -> Target:
        """Check y and code it.

        Examples
        --------
        >>> target = Target.of(["no", "yes", "no"], 3)
        >>> target.codes.tolist(), target.labels.tolist(), target.n_classes
        ([0, 1, 0], ['no', 'yes'], 2)
        """
        return cls(*_coded(y, n_rows))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    def take(self, rows: NDArray[Any]) -> Target:
        """The target of some rows; absent classes stay."""
        return Target(self.codes[rows], self.labels)

    def take_present(self, rows: NDArray[Any]) -> Target:
        """The target of some rows, without absent classes.

        Examples
        --------
        >>> Target.of(["a", "b", "c"], 3).take_present(np.array([2, 0])).codes
        array([1, 0], dtype=int32)
        """
        present, codes = np.unique(self.codes[rows], return_inverse=True)
        return Target(codes.astype(np.int32), self.labels[present])

    def counts(self, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Weight of every class.

        Examples
        --------
        >>> Target.of(["no", "yes", "no"], 3).counts()
        array([2., 1.])
        """
        return np.bincount(self.codes, weights, minlength=self.n_classes).astype(np.float64)

    def values(self, rows: Any = slice(None)) -> NDArray[Any]:
        """The labels of the rows, for models of other libraries."""
        return np.asarray(self.labels.take(self.codes[rows]))

    def require_two_classes(self, estimator: Any = None, weights: NDArray[Any] | None = None) -> None:
        """Raise unless rows of positive weight have at least two classes.

        Examples
        --------
        >>> Target.of(["yes", "yes"], 2).require_two_classes()
        Traceback (most recent call last):
            ...
        ValueError: y has one class, 'yes': a classifier needs at least two classes...
        """
        who = "a classifier" if estimator is None else type(estimator).__name__
        if weights is not None and len(np.unique(self.codes[weights > 0])) == 1 < self.n_classes:
            raise ValueError(
                f"Only one class has rows with a positive sample_weight: {who} needs at least two classes."
            )
        if self.n_classes == 1:
            raise ValueError(
                f"y has one class, {self.labels.tolist()[0]!r}: {who} needs at least two classes."
                " Check the target column, or the rows that were kept."
            )


def _coded(y: Any, n_rows: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """Return the class code of every row and the sorted labels."""
    if sparse.issparse(y):
        raise TypeError("Sparse data was passed for y, but dense data is required: pass y.toarray().ravel().")
    native = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame) and native.shape[1] == 1:
        native = native[:, 0]
    # NumPy turns NaN in a list of text into the text "nan", so such a list is checked item by item.
    items = None if hasattr(y, "dtype") or hasattr(y, "__array__") else np.asarray(y, dtype=object)
    y = column_or_1d(values_of(native) if isinstance(native, nw.Series) else native, warn=True)
    checked = items if items is not None and items.ndim == 1 and y.dtype.kind in "US" else y
    kind = kind_of_values(checked, "y") if checked.dtype == object else "number"
    if checked.dtype == object and any(map(is_missing, set(checked.tolist()))):
        raise ValueError("Input y contains NaN: drop the rows whose target is missing, or give it a label.")
    assert_all_finite(y, input_name="y")
    check_consistent_length(np.broadcast_to(0.0, n_rows), y)
    if kind != "text":  # text always names classes, and checking a million strings again takes a second
        check_classification_targets(y)
    text = y.dtype.kind in "OU"
    labels, codes = factorize(y.astype(object) if text else y, "y")
    return codes, labels.astype(y.dtype)
