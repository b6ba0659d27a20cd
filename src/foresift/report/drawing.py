"""What pictures have in common whoever draws them: numbers as text, ticks, scales."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

__all__ = [
    "DASH",
    "PERCENT",
    "PERCENT_SIGN",
    "Scale",
    "decimals_for",
    "difference_text",
    "finite",
    "metric_text",
    "number_text",
    "pvalue_text",
    "share_text",
    "shortened",
    "tick_text",
    "ticks",
    "unknown",
    "with_interval",
]

PERCENT_SIGN = "\N{NO-BREAK SPACE}%"
MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"  # what stands where there is no number
PERCENT = {"accuracy", "balanced accuracy", "balanced_accuracy"}  # metrics that are shares of rows
MAX_CHARACTERS = 300


def unknown(value: Any) -> bool:
    """Whether there is no number.

    Examples
    --------
    >>> unknown(None), unknown(float("nan")), unknown(0)
    (True, True, False)
    """
    return value is None or value != value


def finite(values: Iterable[Any]) -> list[float]:
    """Keep the numbers among values that may be missing.

    Parameters
    ----------
    values : iterable
        Numbers, None, NaN or infinite.

    Returns
    -------
    list of float
        The finite ones.

    Examples
    --------
    >>> finite([1, None, float("nan"), 2.5])
    [1.0, 2.5]
    """
    return [float(value) for value in values if value is not None and math.isfinite(value)]


def decimals_for(values: Iterable[Any], digits: int = 3) -> int:
    """Decimals that show the largest of these values with so many digits, so that a column lines up.

    Parameters
    ----------
    values : iterable
        Numbers; what is missing or infinite does not count.
    digits : int, default=3
        Digits of the largest.

    Returns
    -------
    int
        From 0 to 9.

    Examples
    --------
    >>> decimals_for([0.213, 0.0004]), decimals_for([12.3, 4.5]), decimals_for([1234.5]), decimals_for([])
    (3, 1, 0, 2)
    """
    largest = max((abs(value) for value in finite(values)), default=1.0)
    exponent = math.floor(math.log10(largest)) if largest > 0 else 0
    return min(9, max(0, digits - 1 - exponent))


def number_text(value: Any, decimals: int) -> str:
    """Write a number that may be missing.

    Parameters
    ----------
    value : float or None
        The number.
    decimals : int
        Digits after the point.

    Returns
    -------
    str
        With a real minus sign, thousands parted by commas; a dash for None and NaN.

    Examples
    --------
    >>> number_text(0.5, 2), number_text(12345.6, 0), number_text(-0.001, 1), number_text(None, 2) == DASH
    ('0.50', '12,346', '0.0', True)
    """
    if unknown(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    if abs(value) >= 1e9:  # nobody reads so many digits
        return f"{value:.3g}".replace("-", MINUS)
    text = f"{value:,.{decimals}f}"
    if not text.strip("-0.,"):
        text = text.lstrip("-")
    return text.replace("-", MINUS)


def share_text(value: Any) -> str:
    r"""Write a share in percent.

    Examples
    --------
    >>> share_text(0.25)
    '25\xa0%'
    """
    return DASH if unknown(value) else f"{100 * value:.0f}{PERCENT_SIGN}"


def pvalue_text(value: Any) -> str:
    """Write a p-value.

    Examples
    --------
    >>> pvalue_text(0.0213), pvalue_text(1e-9)
    ('0.021', '< 0.001')
    """
    if unknown(value):
        return DASH
    return "< 0.001" if value < 0.001 else number_text(value, 3)


def metric_text(metric: str | None, value: Any) -> str:
    r"""Write the score of a classifier as people say it: accuracies in percent.

    Examples
    --------
    >>> metric_text("accuracy", 0.925), metric_text("log loss", 0.4)
    ('92.5\xa0%', '0.400')
    """
    if (metric or "") not in PERCENT:
        return number_text(value, 3)
    return DASH if unknown(value) else number_text(100 * value, 1) + PERCENT_SIGN


def difference_text(metric: str | None, value: Any) -> str:
    """Write a difference of two such scores, with its sign and without a unit: of accuracies in points.

    Examples
    --------
    >>> difference_text("accuracy", 0.012), difference_text("log loss", 0.4)
    ('+1.2', '+0.400')
    """
    percent = (metric or "") in PERCENT
    text = number_text(None if unknown(value) else 100 * value if percent else value, 1 if percent else 3)
    return f"+{text}" if not unknown(value) and value > 0 else text


def tick_text(metric: str | None, value: float) -> str:
    r"""Write the score of a classifier at a tick, in as few digits as it has.

    Examples
    --------
    >>> tick_text("accuracy", 0.9), tick_text("log loss", 0.25)
    ('90\xa0%', '0.25')
    """
    text = f"{100 * value:g}{PERCENT_SIGN}" if (metric or "") in PERCENT else f"{value:g}"
    return text.replace("-", MINUS)


def with_interval(text: str, low: str, high: str) -> str:
    """Put the interval of a number beside it, as far as it is known.

    Examples
    --------
    >>> with_interval("3", "2", "5"), with_interval("3", "2", DASH)
    ('3 (2 to 5)', '3')
    """
    return text if DASH in (low, high) else f"{text} ({low} to {high})"


def shortened(value: Any) -> str:
    """Text of a name or value, cut off where nobody would read on.

    Examples
    --------
    >>> shortened("age"), len(shortened("x" * 1000))
    ('age', 300)
    """
    text = str(value)
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers that divide a range evenly.

    Parameters
    ----------
    low, high : float
        Ends of the range.
    about : int, default=5
        How many are wanted, about.

    Returns
    -------
    list of float
        Multiples of 1, 2 or 5 times a power of ten inside the range; none if the range is empty.

    Examples
    --------
    >>> ticks(0.83, 0.97)
    [0.84, 0.86, 0.88, 0.9, 0.92, 0.94, 0.96]
    >>> ticks(0, 3, about=3)
    [0.0, 1.0, 2.0, 3.0]
    """
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return []
    exponent = math.floor(math.log10(span / about))
    step, exponent = next(
        ((step, exponent) for step in (1, 2, 5) if span / (step * 10.0**exponent) <= 1.5 * about),
        (1, exponent + 1),
    )
    unit = step * 10.0**exponent
    first, last = math.ceil(low / unit - 1e-9), math.floor(high / unit + 1e-9)
    return [round(i * unit, max(0, -exponent)) for i in range(first, last + 1)]


class Scale(NamedTuple):
    """A linear map from data to places on the paper.

    Examples
    --------
    >>> Scale.around([0.2, 0.6, None], 0, 100, zero=True)(0.3)
    50.0
    """

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """Place of a value, rounded to a hundredth, never outside the paper."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.stop - self.start), 2)

    def at(self, value: Any) -> float | None:
        """Place of a value that may be missing."""
        return None if unknown(value) else self(value)

    @classmethod
    def around(cls, values: Sequence[Any], start: float, stop: float, *, zero: bool = False) -> Scale:
        """Scale that holds all values, and with `zero` also 0; missing ones do not count."""
        known = finite(values) + ([0.0] if zero else [])
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        if not (high - low > 0 and math.isfinite(high - low)):
            low, high = low / 2 - 0.5, high / 2 + 0.5
        return cls(low, high, start, stop)
