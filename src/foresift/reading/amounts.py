"""Parse formatted numbers: currency and percent signs, thousands separators, units, parentheses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.reading.numbers import to_number

__all__ = ["Amounts", "decimal_mark", "read_amount", "read_amounts"]

_PLAIN = "thousands separators"
_GAP = "[ \u00a0\u202f'\u2019]"  # thousands separators other than comma and point
_MONEY = "[$\u20ac\u00a3\u00a5\u20b9]|USD|EUR|GBP|CHF|JPY|INR"
# Thousands do not begin with a zero: 0,123 is a fraction.
_EXPONENT = r"(?:[eE][+-]?\d{1,3})?"
_POINT = rf"(?:\d+|[1-9]\d{{0,2}}(?:,\d{{3}})+|[1-9]\d{{0,2}}(?:{_GAP}\d{{3}})+)(?:\.\d+)?{_EXPONENT}"
_COMMA = rf"(?:\d+|[1-9]\d{{0,2}}(?:\.\d{{3}})+|[1-9]\d{{0,2}}(?:{_GAP}\d{{3}})+)(?:,\d+)?{_EXPONENT}"


def _whole(number: str) -> re.Pattern[str]:
    sign = r"[+\-\u2212]?"
    return re.compile(
        rf"(?P<open>\()?(?P<sign>{sign})\s?(?P<before>{_MONEY})?\s?(?P<sign2>{sign})(?P<number>{number})"
        rf"\s?(?P<after>{_MONEY}|%)?(?P<close>\))?"
    )


# After a space any word may be a unit (36 months); directly after the digits only known units.
_WITH_UNIT = re.compile(
    r"(?P<bare>.*\d)(?:\s(?P<word>[^\W\d_]{1,12}[\u00b2\u00b3]?(?:/[^\W\d_]{1,6}[\u00b2\u00b3]?)?)|\s?(?P<sign>\u00b0[CF]?)|"
    r"(?P<close>kg|mg|lbs?|oz|km|cm|mm|mi|ft|min|hrs?|sec|ms|kB|MB|GB|TB|ml|kWh|kW|MW|Hz|mph))"
)
_POINTED, _COMMAED = _whole(_POINT), _whole(_COMMA)


class Amounts(NamedTuple):
    """Numbers parsed from texts, and a description of their format."""

    numbers: NDArray[np.float64]
    written: str


def read_amounts(texts: Sequence[str], *, decimal_comma: bool = False) -> Amounts | None:
    """Parse texts, without missing ones, as amounts of one unit; None if they are not.

    `decimal_comma` says whether 1,234 is a fraction; unambiguous texts such as 1,5 do not depend on it.
    Percentages keep their number: 12.3 for 12.3%.

    Examples
    --------
    >>> read_amounts(["$1,234.50", "($7)"])
    Amounts(numbers=array([1234.5,   -7. ]), written='money in $, thousands commas, negative in parentheses')
    >>> read_amounts(["12%", "12"]) is None
    True
    >>> read_amounts(["1 month", "36 months"])
    Amounts(numbers=array([ 1., 36.]), written='in months')
    """
    amounts = _read_bare(texts, decimal_comma)
    if amounts is not None:
        return amounts
    bare, unit = _without_unit(texts)
    amounts = _read_bare(bare, decimal_comma) if bare else None
    if amounts is None:
        return None
    written = "" if amounts.written == _PLAIN else amounts.written + ", "
    return Amounts(amounts.numbers, f"{written}in {unit}")


def _without_unit(texts: Sequence[str]) -> tuple[list[str], str]:
    """Strip the common unit of all texts; no texts if there is none."""
    bare, units = [], set()
    for text in texts:
        match = _WITH_UNIT.fullmatch(text)
        if match is None:
            return [], ""
        bare.append(match["bare"])
        units.add(match["word"] or match["sign"] or match["close"])
        if len({unit.removesuffix("s") for unit in units}) > 1:  # a month, two months
            return [], ""
    return bare, max(units, key=len, default="")


def _read_bare(texts: Sequence[str], decimal_comma: bool) -> Amounts | None:
    """Parse amounts without a unit other than a currency or percent."""
    for comma in (decimal_comma, not decimal_comma):
        if matches := _matches(texts, comma):
            return _read(matches, comma)
    return None


def _matches(texts: Sequence[str], comma: bool) -> list[re.Match[str]]:
    """Match all texts with decimal commas or points; empty if any text does not match."""
    matches = []
    for text in texts:
        match = (_COMMAED if comma else _POINTED).fullmatch(text)
        if match is None or bool(match["open"]) != bool(match["close"]):
            return []
        matches.append(match)
    return matches


def read_amount(text: str, *, decimal_comma: bool = False) -> float | None:
    """Parse one text as a plain number or an amount.

    Examples
    --------
    >>> read_amount("1e3"), read_amount("5 %"), read_amount("five")
    (1000.0, 5.0, None)
    """
    try:
        return to_number(text)
    except ValueError:
        # No units, which all texts of a column must have; a decimal comma only if allowed.
        for comma in (True, False) if decimal_comma else (False,):
            amounts = _read(_matches([text], comma), comma)
            if amounts is not None:
                return float(amounts.numbers[0])
        return None


def decimal_mark(texts: Sequence[str]) -> str:
    """Return the decimal mark of numbers, a comma or a point; empty if it is ambiguous as in 1,234.

    Examples
    --------
    >>> decimal_mark(["1,5", "2"]), decimal_mark(["$1,234", "$2"]), decimal_mark(["0.25 kg", "1 kg"])
    (',', '', '.')
    """
    bare = texts
    for _ in range(2):
        comma, point = (bool(_matches(bare, comma)) for comma in (True, False))
        if comma or point:
            return "" if comma and point else "," if comma else "."
        bare = _without_unit(texts)[0]
    return ""


def _read(matches: Sequence[re.Match[str]], comma: bool) -> Amounts | None:
    if not matches:
        return None
    units = {match["before"] or match["after"] or "" for match in matches}
    if any(match["before"] and match["after"] for match in matches):
        return None
    if len(units - {""}) > 1 or ("%" in units and len(units) > 1):  # mixed units
        return None
    unit = max(units)
    separator, point = (".", ",") if comma else (",", ".")
    numbers = []
    for match in matches:
        plain = re.sub(_GAP, "", match["number"]).replace(separator, "").replace(point, ".")
        signs = (match["sign"] + match["sign2"]).replace("\u2212", "-")
        if len(signs) > 1 or (signs and match["open"]):
            return None
        numbers.append(float(plain) * (-1.0 if match["open"] or signs == "-" else 1.0))
    written = []
    if unit:
        written.append("percents" if unit == "%" else f"money in {unit}")
    cells = [match["number"] for match in matches]
    if any(point in cell for cell in cells) and comma:
        written.append("decimal commas")
    if any(separator in cell for cell in cells):
        written.append("thousands dots" if comma else "thousands commas")
    if any(match["open"] for match in matches):
        written.append("negative in parentheses")
    return Amounts(np.array(numbers), ", ".join(written) or _PLAIN)
