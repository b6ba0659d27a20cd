"""Parse plain numbers, and tell whether their dots may separate thousands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "PADDED",
    "Numbers",
    "is_number",
    "read_numbers",
    "to_number",
]

PADDED = re.compile(r"0\d{2,}")  # a code, such as a postal code; 01 to 12 may be months
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # with a thousands separator, so not 0.123
_UNGROUPED = re.compile(r"[+-]?(0|[1-9]\d{0,2})")  # below a thousand: neither 05 nor 1e-5


class Numbers(NamedTuple):
    """The numbers of some texts."""

    values: NDArray[np.float64]
    grouped: NDArray[np.float64] | None  # if dots are thousands separators; None if they cannot be
    mark: str  # "." if it is certainly a decimal point, else ""


def to_number(cell: str) -> float:
    """Parse a number.

    Examples
    --------
    >>> to_number(" 2.5e3 ")
    2500.0
    >>> to_number("1_000")
    Traceback (most recent call last):
        ...
    ValueError: 1_000
    """
    if "_" in cell:  # 1_000 is a number in Python, but a name in a table
        raise ValueError(cell)
    return float(cell)


def is_number(cell: str) -> bool:
    """Whether `to_number` accepts a cell.

    Examples
    --------
    >>> is_number("1e3"), is_number("five")
    (True, False)
    """
    try:
        to_number(cell)
    except ValueError:
        return False
    return True


def read_numbers(texts: Sequence[str], *, padded: bool = True) -> Numbers | None:
    """Parse texts, without missing ones, as plain numbers; None if one is not.

    With `padded`, numbers with leading zeros such as 05123 are codes, not numbers.

    Examples
    --------
    >>> read_numbers(["1.250", "7"])
    Numbers(values=array([1.25, 7.  ]), grouped=array([1250.,    7.]), mark='')
    >>> read_numbers(["1.25", "7"]).mark, read_numbers(["05123", "7"])
    ('.', None)
    """
    try:
        values = np.array([to_number(text) for text in texts], dtype=np.float64)
    except ValueError:
        return None
    if padded and any(map(PADDED.fullmatch, texts)):
        return None
    finite = values[np.isfinite(values)]
    dotted = [text for text in texts if "." in text]
    if dotted and all((_GROUPED if "." in text else _UNGROUPED).fullmatch(text) for text in texts):
        return Numbers(values, np.array([float(text.replace(".", "")) for text in texts]), "")
    certain = (finite != np.floor(finite)).any() or not all(map(_GROUPED.fullmatch, dotted))
    return Numbers(values, None, "." if certain else "")
