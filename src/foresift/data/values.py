"""Types of the values in an object column: text, numbers, missing values."""

from __future__ import annotations

import datetime
import decimal
import functools
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["date_error", "is_missing", "kind_of_values", "without_mask"]

# The first match counts: a Python bool is an integer too.
_KINDS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "bytes": (bytes,),
    "bool": (bool, np.bool_),
    "float": (float, np.floating),
    "date": (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64),
    "number": (numbers.Real, np.integer, decimal.Decimal),
    "complex": (numbers.Complex,),
}


def kind_of_values(values: NDArray[Any], label: str, *, any_category: bool = False) -> str:
    """Return the type of the values in an object column, or raise if they are mixed or not usable.

    It is "text", "bytes", "bool", "number", "missing" (all values are missing), or "other" if `any_category`
    allows it.

    Examples
    --------
    >>> kind_of_values(np.array(["a", None], dtype=object), "column 'c'")
    'text'
    """
    types = {t: _kind_of_type(t) for t in set(map(type, values))}
    kinds = set(types.values()) - {"missing"}
    if "float" in kinds:
        # In a column of text a float is a missing value or a mistake.
        floats = [t for t, kind in types.items() if kind == "float"]
        if kinds <= {"float", "number"} or any(v == v for v in values if type(v) in floats):
            kinds.add("number")
        kinds.remove("float")
    if not kinds:
        return "missing"
    if any_category and not kinds <= {"text", "bytes", "bool", "number"}:
        return "other"
    if "complex" in kinds:
        raise ValueError(f"Complex data not supported: {label}. Split it into real and imaginary parts.")
    if "date" in kinds:
        raise date_error(label, _names(types, "date"))
    if "other" in kinds:
        raise TypeError(
            f"{label} holds values of type {_names(types, 'other')}, but argument must be a string or a"
            " number: convert it to columns of plain values, or drop it."
        )
    if len(kinds) > 1:
        raise TypeError(
            f"{label} mixes values of types {_names(types, *kinds, 'float')}: convert it to one type, for"
            " instance all numbers, or all text with .astype(str)."
        )
    return kinds.pop()


@functools.lru_cache(maxsize=256)
def _kind_of_type(kind: type) -> str:
    # By name, so that pandas is not imported: pandas.NA and pandas.NaT.
    if kind is type(None) or kind.__name__ in ("NAType", "NaTType"):
        return "missing"
    return next((name for name, types in _KINDS.items() if issubclass(kind, types)), "other")


def _names(types: dict[type, str], *kinds: str) -> str:
    return ", ".join(sorted(t.__name__ for t, kind in types.items() if kind in kinds))


def date_error(label: str, dtype: str) -> TypeError:
    """Return the error for a column of dates."""
    return TypeError(
        f"{label} holds dates or times ({dtype}); convert it to a number first, for instance of days since a"
        " fixed day, or to a category."
    )


def is_missing(value: Any) -> bool:
    """Whether an object is a missing value: None, NaN, pandas.NA or NaT."""
    kind = _kind_of_type(value.__class__)
    return kind == "missing" or (kind == "float" and bool(value != value))


def without_mask(data: Any) -> Any:
    """Return a masked array as a plain one, with None for masked values; anything else as it is.

    Examples
    --------
    >>> without_mask(np.ma.array([1.0, 2.0], mask=[False, True]))
    array([1.0, None], dtype=object)
    """
    if not isinstance(data, np.ma.MaskedArray):
        return data
    mask = np.ma.getmaskarray(data)
    if not mask.any():
        return data.data
    items = data.data.astype(object)
    items[mask] = None
    return items
