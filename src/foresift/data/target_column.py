"""Read the target as one column, and check that it holds classes."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from foresift.data.containers import values_of
from foresift.data.unread import refuse_unread
from foresift.data.values import without_mask

__all__ = ["has_task", "not_classes", "require_discrete", "target_column"]

# Classifiers that have a regressor of the same name.
_PAIRED = ("CartClassifier", "GEFSClassifier", "NetworkClassifier", "SubsetBaggingClassifier")


def target_column(y: Any, *, warn: bool = True) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return y as an array of one dimension, and the same with its items as they were given."""
    refuse_unread(y, "y")
    if sparse.issparse(y):
        raise TypeError("Sparse data was passed for y, but dense data is required: pass y.toarray().ravel().")
    if isinstance(y, np.ndarray) and y.dtype.kind == "V":
        field = y.dtype.names[0] if y.dtype.names else "name"
        raise TypeError(f"y is a structured array: pass one of its fields, for example y[{field!r}].")
    native = nw.from_native(without_mask(y), allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame) and native.shape[1] == 1:
        native = native[:, 0]
    # NumPy turns NaN in a list of text into the text "nan", so such a list is checked item by item.
    items = None if hasattr(y, "dtype") or hasattr(y, "__array__") else np.asarray(y, dtype=object)
    try:
        y = column_or_1d(values_of(native) if isinstance(native, nw.Series) else native, warn=warn)
    except ValueError as error:
        if "Complex" not in str(error):
            raise
        text = "Complex data not supported: y. Split it into real and imaginary parts."  # not all of y
        raise ValueError(text) from None
    return y, items if items is not None and items.ndim == 1 and y.dtype.kind in "US" else y


def require_discrete(y: NDArray[Any], estimator: Any) -> None:
    """Raise if y is a quantity; a classifier names the regressor to use instead."""
    if y.dtype == object:  # booleans and numbers, of which scikit-learn knows no type
        y = np.array(y.tolist())
    try:
        check_classification_targets(y)
    except ValueError as error:
        if "continuous" not in str(error):
            raise
        instead = ""
        if has_task(estimator):
            instead = estimator._for_quantities or 'set task="regression"'
        elif estimator is not None and is_classifier(estimator):
            who = type(estimator).__name__
            paired = who in _PAIRED
            instead = f"use {who.replace('Classifier', 'Regressor') if paired else 'SiftForestRegressor'}"
        raise not_classes(estimator, instead) from None


def has_task(estimator: Any) -> bool:
    """Whether it is a selector that takes classes and quantities."""
    return hasattr(estimator, "_for_quantities") and "task" in estimator.get_params(deep=False)


def not_classes(estimator: Any, instead: str) -> ValueError:
    """What a method for classes answers to a quantity; `instead` says what else to do."""
    who = "This method" if estimator is None else type(estimator).__name__
    return ValueError(
        f"Unknown label type: continuous. {who} needs classes, but y is a quantity:"
        f" {instead}{', or ' if instead else ''}cut it into classes, for example with pandas.qcut."
    )
