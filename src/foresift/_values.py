"""What the objects of a column are: text, numbers, missing values; or why they are of no use."""

from __future__ import annotations

import datetime
import decimal
import functools
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["date_error", "floats_of", "is_missing", "kind_of_values", "require_number"]

# The first that fits is taken: a Python bool is an integer too.
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
    """Say what an object column holds, or raise if that is not one kind of usable value.

    Returns
    -------
    str
        "text", "bytes", "bool", "number", "missing" (nothing else), or "other" if `any_category` allows it.

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
            " number: make columns of plain values of it, or drop it."
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
    return TypeError(
        f"{label} holds dates or times ({dtype}); convert it to a number first, for instance of days since a"
        " fixed day, or to a category."
    )


def is_missing(value: Any) -> bool:
    """Whether one object stands for a missing value: None, NaN, pandas.NA or NaT."""
    kind = _kind_of_type(value.__class__)
    return kind == "missing" or (kind == "float" and bool(value != value))


def floats_of(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Read an argument of any shape as float64, None as NaN, or say that it is none of numbers.

    Examples
    --------
    >>> floats_of([1, None], "scores")
    array([ 1., nan])
    >>> floats_of(["a"], "scores")
    Traceback (most recent call last):
        ...
    ValueError: scores must hold numbers only: convert it, or leave out what is no number.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind != "c":  # of which NumPy would keep the real part, with a warning
            with np.errstate(over="ignore"):
                return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{name} must hold numbers only: convert it, or leave out what is no number.")


def require_number(value: Any, name: str) -> None:
    """Raise unless an argument is a single real number.

    Examples
    --------
    >>> require_number("a", "alpha")
    Traceback (most recent call last):
        ...
    TypeError: alpha must be a number, but is 'a'.
    """
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, but is {value!r}.")
