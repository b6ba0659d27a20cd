"""Numbers as people write them: with money and percent signs, thousands apart, negative in parentheses."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.reading.numbers import to_number

__all__ = ["Amounts", "decimal_mark", "is_quantity", "read_amount", "read_amounts"]

NUMBERED_CLASSES = 50  # more than letters, states or faces on a die
FEW_CLASSES = 10  # numbers that can be classes in the smallest table
_PLAIN = "thousands apart"
ROWS = 5  # that a numbered class has on average, or the numbers are no classes
_GAP = "[ \u00a0\u202f'\u2019]"  # between thousands, where neither comma nor point is
_MONEY = "[$\u20ac\u00a3\u00a5\u20b9]|USD|EUR|GBP|CHF|JPY|INR"
# Whole texts only: 1.234 alone is a fraction in one country and a thousand in the next.
# No thousands begin with a nought: 0,123 is a fraction.
_POINT = rf"(?:\d+|[1-9]\d{{0,2}}(?:,\d{{3}})+|[1-9]\d{{0,2}}(?:{_GAP}\d{{3}})+)(?:\.\d+)?"
_COMMA = rf"(?:\d+|[1-9]\d{{0,2}}(?:\.\d{{3}})+|[1-9]\d{{0,2}}(?:{_GAP}\d{{3}})+)(?:,\d+)?"


def _whole(number: str) -> re.Pattern[str]:
    sign = r"[+\-\u2212]?"
    return re.compile(
        rf"(?P<open>\()?(?P<sign>{sign})\s?(?P<before>{_MONEY})?\s?(?P<sign2>{sign})(?P<number>{number})"
        rf"\s?(?P<after>{_MONEY}|%)?(?P<close>\))?"
    )


# After a space any word may be a unit (36 months); right behind the digits only what can be nothing else.
_WITH_UNIT = re.compile(
    r"(?P<bare>.*\d)(?:\s(?P<word>[^\W\d_]{1,12}[\u00b2\u00b3]?(?:/[^\W\d_]{1,6}[\u00b2\u00b3]?)?)|\s?(?P<sign>\u00b0[CF]?)|"
    r"(?P<close>kg|mg|lbs?|oz|km|cm|mm|mi|ft|min|hrs?|sec|ms|kB|MB|GB|TB|ml|kWh|kW|MW|Hz|mph))"
)
_POINTED, _COMMAED = _whole(_POINT), _whole(_COMMA)


class Amounts(NamedTuple):
    """Texts read as numbers: the numbers, and how the texts are written."""

    numbers: NDArray[np.float64]
    written: str


def read_amounts(texts: Sequence[str], *, decimal_comma: bool = False) -> Amounts | None:
    """Read texts as amounts, if every one of them is one and all have the same unit.

    Parameters
    ----------
    texts : sequence of str
        Without missing ones.
    decimal_comma : bool, default=False
        Whether 1,234 is a fraction rather than a thousand. Texts that can be read in one way only, as 1,5,
        are read so.

    Returns
    -------
    Amounts or None
        Percents as they are written, 12.3 for 12.3%; None if the texts are anything else, or two currencies,
        or percents and plain numbers, or numbers of which not all have the same unit.

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
    how = "" if amounts.written == _PLAIN else amounts.written + ", "
    return Amounts(amounts.numbers, f"{how}in {unit}")


def _without_unit(texts: Sequence[str]) -> tuple[list[str], str]:
    """Take away the unit that all texts end with; no texts if there is none."""
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
    """Read amounts that have no unit but money or percent."""
    for comma in (decimal_comma, not decimal_comma):
        if matches := _matches(texts, comma):
            return _read(matches, comma)
    return None


def _matches(texts: Sequence[str], comma: bool) -> list[re.Match[str]]:
    """The parts of amounts, all with decimal commas or all with points; none if some text does not fit."""
    matches = []
    for text in texts:
        match = (_COMMAED if comma else _POINTED).fullmatch(text)
        if match is None or bool(match["open"]) != bool(match["close"]):
            return []
        matches.append(match)
    return matches


def read_amount(text: str, *, decimal_comma: bool = False) -> float | None:
    """Read one text as a plain number or an amount.

    Examples
    --------
    >>> read_amount("1e3"), read_amount("5 %"), read_amount("five")
    (1000.0, 5.0, None)
    """
    try:
        return to_number(text)
    except ValueError:
        # A unit counts only if all texts of a column have it; 1,5 alone does not say what the others are.
        for comma in (True, False) if decimal_comma else (False,):
            amounts = _read(_matches([text], comma), comma)
            if amounts is not None:
                return float(amounts.numbers[0])
        return None


def decimal_mark(texts: Sequence[str]) -> str:
    """Tell whether fractions follow a comma or a point, beyond doubt: 1,234 could be a thousand.

    Parameters
    ----------
    texts : sequence of str
        Without missing ones.

    Returns
    -------
    str
        A comma or a point; empty if texts fit both, or are no numbers.

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


def is_quantity(labels: Collection[str], n_rows: int, *, decimal_comma: bool = False) -> bool:
    """Say whether labels look like something measured or counted rather than like names of classes.

    Numbers are names if they are few (ratings, digits), or whole, no more than are used as names, and of
    several rows each, as letters of the alphabet are.

    Parameters
    ----------
    labels : collection of str
        The different ones.
    n_rows : int
        Number of rows that have them.
    decimal_comma : bool, default=False
        Whether 1,5 may be a number.

    Returns
    -------
    bool
        True if they are no classes.

    Examples
    --------
    >>> is_quantity([str(i) for i in range(26)], 1000), is_quantity([str(i) for i in range(26)], 100)
    (False, True)
    """
    if len(labels) <= FEW_CLASSES or (len(labels) <= 2 * FEW_CLASSES and len(labels) <= n_rows // ROWS):
        return False
    numbers = [read_amount(label, decimal_comma=decimal_comma) for label in labels]
    if any(number is None for number in numbers):
        return False
    whole = all(float(number).is_integer() for number in numbers if number is not None)
    return not whole or len(labels) > min(NUMBERED_CLASSES, n_rows // ROWS)


def _read(matches: Sequence[re.Match[str]], comma: bool) -> Amounts | None:
    if not matches:
        return None
    units = {match["before"] or match["after"] or "" for match in matches}
    if any(match["before"] and match["after"] for match in matches):
        return None
    if len(units - {""}) > 1 or ("%" in units and len(units) > 1):  # not the same thing counted
        return None
    unit = max(units)
    apart, point = (".", ",") if comma else (",", ".")
    numbers = []
    for match in matches:
        plain = re.sub(_GAP, "", match["number"]).replace(apart, "").replace(point, ".")
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
    if any(apart in cell for cell in cells):
        written.append("thousands dots" if comma else "thousands commas")
    if any(match["open"] for match in matches):
        written.append("negative in parentheses")
    return Amounts(np.array(numbers), ", ".join(written) or _PLAIN)
