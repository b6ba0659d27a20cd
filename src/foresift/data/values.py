"""Types of the values in an object column: text, numbers, missing values."""

from __future__ import annotations

import datetime
import decimal
import functools
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["TIMES", "is_missing", "kind_of_target", "kind_of_values", "without_mask"]

TIMES = ("date", "datetime", "duration", "time")  # kinds of values that become numbers (`temporal`)

# The first match counts: a Python bool is an integer too, and a datetime is a date.
_KINDS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "bytes": (bytes,),
    "bool": (bool, np.bool_),
    "float": (float, np.floating),
    "datetime": (datetime.datetime, np.datetime64),
    "date": (datetime.date,),
    "duration": (datetime.timedelta, np.timedelta64),
    "time": (datetime.time,),
    "number": (numbers.Real, np.integer, decimal.Decimal),
    "complex": (numbers.Complex,),
}


def kind_of_values(values: NDArray[Any], label: str, *, any_category: bool = False) -> str:
    """Return the type of the values in an object column, or raise if they are mixed or not usable.

    It is "text", "bytes", "bool", "number", one of `TIMES`, "missing" (all values are missing), or "other" if
    `any_category` allows it.

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
    # By name, so that pandas is not imported: pandas.NA, pandas.NaT and pandas.Period.
    if kind is type(None) or kind.__name__ in ("NAType", "NaTType"):
        return "missing"
    if kind.__name__ == "Period":
        return "datetime"
    return next((name for name, types in _KINDS.items() if issubclass(kind, types)), "other")


def _names(types: dict[type, str], *kinds: str) -> str:
    return ", ".join(sorted(t.__name__ for t, kind in types.items() if kind in kinds))


def kind_of_target(values: NDArray[Any]) -> str:
    """Return the type of the values of y, a dtype for other than objects; dates are refused as a target."""
    kind = kind_of_values(values, "y") if values.dtype == object else values.dtype.kind
    if kind in TIMES or kind in "mM":
        held = values.dtype if kind in "mM" else kind
        raise TypeError(
            f"y holds dates or times ({held}); convert it to numbers, for instance days since a fixed day, or"
            " to text if these are classes."
        )
    return kind


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
