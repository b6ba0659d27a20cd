"""Texts, ticks and scales that all drawings share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from foresift.report.numbers import finite, unknown

__all__ = ["BAR", "Scale", "shortened", "ticks", "words"]

BAR = 200.0  # width of the drawing of a score
MAX_CHARACTERS = 300


def shortened(value: Any, length: int = MAX_CHARACTERS) -> str:
    """Text of a name or value, cut off at `length` characters.

    Examples
    --------
    >>> shortened("age"), shortened("x" * 1000, 5)
    ('age', 'xxxx…')
    """
    text = str(value)
    return text if len(text) <= length else text[: length - 1] + "…"


def words(metric: Any) -> str:
    """Name of a metric with spaces.

    Examples
    --------
    >>> words("balanced_accuracy"), words(None)
    ('balanced accuracy', 'score')
    """
    return shortened(metric or "score").replace("_", " ")


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """About `about` round numbers (multiples of 1, 2 or 5 times a power of ten) inside a range.

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
    """A linear map from data to coordinates of a drawing.

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
        """Coordinate of a value, rounded to a hundredth, never outside the drawing."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.stop - self.start), 2)

    def at(self, value: Any) -> float | None:
        """Coordinate of a value that may be missing."""
        return None if unknown(value) else self(value)

    @classmethod
    def around(cls, values: Sequence[Any], start: float, stop: float, *, zero: bool = False) -> Scale:
        """Scale that covers all known values, and with `zero` also 0."""
        known = finite(values) + ([0.0] if zero else [])
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        if not (high - low > 0 and math.isfinite(high - low)):
            low, high = low / 2 - 0.5, high / 2 + 0.5
        return cls(low, high, start, stop)
