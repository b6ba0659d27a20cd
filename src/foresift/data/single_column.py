"""Read one column and its target for the kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresift.data.containers import as_float
from foresift.data.target import Quantity
from foresift.data.temporal import numbers_of_objects, numbers_of_times
from foresift.data.values import TIMES, is_missing, kind_of_target, kind_of_values, without_mask
from foresift.data.weights import check_sample_weight
from foresift.errors import floats_of

__all__ = ["Problem", "QuantityProblem", "read_counts", "read_problem", "read_quantity"]

_MAX_ROWS = 1e100  # of a class, so that sums and squares cannot overflow
_MAX_CATEGORIES = 65_533  # codes have 16 bits, and missing may become one more category


class Problem(NamedTuple):
    """One column and its classes, ready for the kernels, without rows of weight zero."""

    values: NDArray[np.float64] | None  # numeric column, NaN = missing; None for a nominal one
    codes: NDArray[np.int32] | None  # nominal column, -1 = missing; None for a numeric one
    categories: list[Any]
    y: NDArray[np.int32]
    n_classes: int
    weights: NDArray[np.float64]


class QuantityProblem(NamedTuple):
    """One column and the quantity to predict, without rows of weight zero."""

    codes: NDArray[np.int32]  # in order of the values of the column, -1 = missing
    n_values: int
    nominal: bool
    y: NDArray[np.float64]
    weights: NDArray[np.float64]


def read_counts(counts: ArrayLike, name: str = "class_counts") -> NDArray[np.float64]:
    """Check class counts: finite, not negative, one entry per class along the last axis."""
    array = floats_of(counts, name)
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise ValueError(f"{name} must be finite and not negative.")
    if (array >= _MAX_ROWS).any():
        raise ValueError(f"{name} is too large: numbers of rows must be below {_MAX_ROWS:g}.")
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ValueError(f"{name} needs a last axis with one entry for every class.")
    return array


def read_problem(x: Any, y: Any, nominal: bool | None, sample_weight: Any = None) -> Problem:
    """Read a column and its classes from any containers; if `nominal` is None, the type decides."""
    items, nominal_type = _items(x, "x")
    labels, _ = _items(y, "y")
    weights = _weights(items, labels, sample_weight)
    used = weights > 0
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError("y has infinite values, which cannot be classes: drop those rows first.")
    if labels.dtype.kind == "f" and (labels % 1).any():
        raise ValueError("y must hold classes, but holds numbers that are not whole: bin it first.")
    classes = _encode(labels)[0]
    y_codes, n_classes = classes[used], int(classes.max()) + 1
    if nominal if nominal is not None else nominal_type:
        codes, categories = _encode(items[used])
        if len(categories) > _MAX_CATEGORIES:
            raise ValueError(
                f"x has {len(categories):,} categories, more than {_MAX_CATEGORIES:,}: it looks like an "
                "identifier. Drop it, group its values, or pass nominal=False if it is a number."
            )
        return Problem(None, codes, categories, y_codes, n_classes, weights[used])
    return Problem(_numbers(items)[used], None, [], y_codes, n_classes, weights[used])


def read_quantity(x: Any, y: Any, nominal: bool | None, sample_weight: Any = None) -> QuantityProblem:
    """Read a column and a quantity from any containers; if `nominal` is None, the type decides."""
    items, nominal_type = _items(x, "x")
    values = Quantity.read(y, len(items)).y
    weights = _weights(items, values, sample_weight)
    used = weights > 0
    is_nominal = nominal_type if nominal is None else bool(nominal)
    codes, distinct = _encode((items if is_nominal else _numbers(items))[used])
    return QuantityProblem(codes, len(distinct), is_nominal, values[used], weights[used])


def _weights(items: NDArray[Any], target: NDArray[Any], sample_weight: Any) -> NDArray[np.float64]:
    """Check that every row has a target, and return the weights of the rows."""
    if len(items) != len(target):
        raise ValueError(f"x and y must have the same length, but have {len(items)} and {len(target)} rows.")
    weights = check_sample_weight(sample_weight, len(items))
    if n_missing := int(_missing(target).sum()):
        raise ValueError(f"y has {n_missing} missing value(s): drop those rows first.")
    return np.ones(len(items)) if weights is None else weights


def _numbers(items: NDArray[Any]) -> NDArray[np.float64]:
    try:
        with np.errstate(over="ignore"):  # becomes infinity, which is rejected below
            values = items.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError("x cannot be read as numbers: convert it, or leave nominal=None.") from None
    if np.isinf(values).any():
        raise ValueError("x has infinite values: replace them by NaN (missing) or by finite numbers.")
    return values


def _items(data: Any, name: str) -> tuple[NDArray[Any], bool]:
    """One-dimensional array of the values, and whether their type is nominal."""
    data = without_mask(data)
    series = nw.from_native(data, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype.is_numeric():
            return series.cast(nw.Float64()).to_numpy(), False
        items = np.array([*series.to_list(), None], dtype=object)[:-1]  # None: keep it an array of objects
        if isinstance(series.dtype, nw.Categorical | nw.Enum):
            return items, True
    else:
        # A list of strings and NaN would become an array of strings, "nan" among them.
        items = np.asarray(data, dtype=None if hasattr(data, "dtype") else object)
    if items.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, but has shape {items.shape}.")
    if len(items) == 0:
        raise ValueError(f"{name} is empty: at least one row is needed.")
    if items.dtype.kind in "biufUT":
        return items, items.dtype.kind not in "iuf"
    if items.dtype.kind in "mM" and name != "y":
        return numbers_of_times(items, name)[0], False
    kind = kind_of_target(items) if name == "y" else kind_of_values(items, name)
    if kind in TIMES:
        return numbers_of_objects(items, kind, name)[0], False
    items = items.astype(object)
    return (as_float(items), False) if kind == "number" else (items, True)


def _missing(items: NDArray[Any]) -> NDArray[np.bool]:
    if items.dtype.kind == "O":
        return np.array([is_missing(item) for item in items], dtype=bool)
    return np.isnan(items) if items.dtype.kind == "f" else np.zeros(len(items), dtype=bool)


def _encode(items: NDArray[Any]) -> tuple[NDArray[np.int32], list[Any]]:
    """Codes in order of the distinct values (-1: missing), and the distinct values."""
    known = ~_missing(items)
    distinct, inverse = np.unique(items[known], return_inverse=True)
    codes = np.full(len(items), -1, dtype=np.int32)
    codes[known] = inverse
    return codes, distinct.tolist()
