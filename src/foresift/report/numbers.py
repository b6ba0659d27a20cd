"""Numbers as text: one set of rules for the terminal, the sentences and the HTML report."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["PERCENT", "PLAIN", "TYPESET", "NumberFormat", "counted", "decimals_for", "finite", "unknown"]

PERCENT = {"accuracy", "balanced accuracy", "balanced_accuracy"}  # metrics written in percent


def unknown(value: Any) -> bool:
    """Whether a value is None or NaN.

    Examples
    --------
    >>> unknown(None), unknown(float("nan")), unknown(0)
    (True, True, False)
    """
    return value is None or value != value


def finite(values: Iterable[Any]) -> list[float]:
    """Keep the finite numbers among values that may be None, NaN or infinite.

    Examples
    --------
    >>> finite([1, None, float("nan"), 2.5])
    [1.0, 2.5]
    """
    return [float(value) for value in values if value is not None and math.isfinite(value)]


def decimals_for(values: Iterable[Any], digits: int = 3) -> int:
    """Decimals (0 to 9) that show the largest finite value with `digits` digits, so that a column lines up.

    Examples
    --------
    >>> decimals_for([0.213, 0.0004]), decimals_for([12.3, 4.5]), decimals_for([1234.5]), decimals_for([])
    (3, 1, 0, 2)
    """
    largest = max((abs(value) for value in finite(values)), default=1.0)
    exponent = math.floor(math.log10(largest)) if largest > 0 else 0
    return min(9, max(0, digits - 1 - exponent))


def counted(n: int, what: str) -> str:
    """Write a count and its noun.

    Examples
    --------
    >>> counted(1, "column"), counted(1200, "row")
    ('1 column', '1,200 rows')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written; any of them may be None or NaN.

    Parameters
    ----------
    minus : str
        The minus sign.
    percent : str
        The percent sign and the space before it.
    missing : str
        The text of None and NaN.

    Examples
    --------
    >>> PLAIN.number(-12345.6, 0), PLAIN.number(-0.001, 1), PLAIN.number(None, 2), PLAIN.signed(0.5, 1)
    ('-12,346', '0.0', '', '+0.5')
    >>> PLAIN.short(0.01234), PLAIN.short(999.7), PLAIN.count(3.0), PLAIN.count(2.5)
    ('0.0123', '1,000', '3', '2.5')
    >>> PLAIN.share(0.25), PLAIN.pvalue(0.0213), PLAIN.pvalue(1e-9)
    ('25 %', '0.021', '<0.001')
    >>> PLAIN.score("accuracy", 0.925), PLAIN.score("log loss", 0.4), PLAIN.difference("accuracy", 0.012)
    ('92.5 %', '0.400', '+1.2')
    >>> PLAIN.tick("accuracy", 0.9), PLAIN.tick("log loss", 0.25)
    ('90 %', '0.25')
    """

    minus: str
    percent: str
    missing: str

    def number(self, value: Any, decimals: int) -> str:
        """Write a number with a fixed number of decimals; what rounds to 0 has no sign."""
        if unknown(value):
            return self.missing
        if math.isinf(value):
            return "∞" if value > 0 else self.minus + "∞"
        if abs(value) >= 1e9:  # nobody reads so many digits
            return f"{value:.3g}".replace("-", self.minus)
        text = f"{value:,.{decimals}f}"
        if not text.strip("-0.,"):
            text = text.lstrip("-")
        return text.replace("-", self.minus)

    def signed(self, value: Any, decimals: int) -> str:
        """Write a number with its sign, unless it rounds to 0."""
        text = self.number(value, decimals)
        return f"+{text}" if not unknown(value) and value > 0 and text.strip("0.,") else text

    def short(self, value: Any, digits: int = 3) -> str:
        """Write a number in a few significant digits."""
        if unknown(value) or math.isinf(value):
            return self.number(value, 0)
        return f"{value:.{digits}g}" if round(abs(value)) < 10**digits else f"{value:,.0f}"

    def count(self, value: Any) -> str:
        """Write a count, which may be a mean of counts."""
        return self.number(value, 1 if not unknown(value) and value % 1 else 0)

    def share(self, value: Any) -> str:
        """Write a share in percent."""
        return self.missing if unknown(value) else f"{100 * value:.0f}{self.percent}"

    def part(self, value: float) -> str:
        """Write a share in percent that is neither rounded to 0 nor to 100.

        Examples
        --------
        >>> PLAIN.part(0.001), PLAIN.part(0.25), PLAIN.part(0.999), PLAIN.part(1.0)
        ('<1 %', '25 %', '>99 %', '100 %')
        """
        if 0 < value < 0.005:
            return f"<1{self.percent}"
        return f">99{self.percent}" if 0.995 <= value < 1 else self.share(value)

    def pvalue(self, value: Any) -> str:
        """Write a p-value."""
        return "<0.001" if not unknown(value) and value < 0.001 else self.number(value, 3)

    def score(self, metric: str | None, value: Any) -> str:
        """Write the score of a model: accuracies in percent."""
        if metric not in PERCENT:
            return self.number(value, 3)
        return self.missing if unknown(value) else self.number(100 * value, 1) + self.percent

    def difference(self, metric: str | None, value: Any) -> str:
        """Write a difference of two scores, with its sign and without a unit: of accuracies in points."""
        if metric not in PERCENT or unknown(value):
            return self.signed(value, 3)
        return self.signed(100 * value, 1)

    def tick(self, metric: str | None, value: float) -> str:
        """Write the score of a model at a tick, in as few digits as it has."""
        text = f"{100 * value:g}{self.percent}" if metric in PERCENT else f"{value:g}"
        return text.replace("-", self.minus)

    def interval(self, write: Callable[[Any], str], low: Any, high: Any) -> str:
        """Write an interval by one of the methods above, or nothing if an end is missing."""
        return "" if unknown(low) or unknown(high) else f"{write(low)} to {write(high)}"

    def with_interval(self, write: Callable[[Any], str], value: Any, low: Any, high: Any) -> str:
        """Write a number, and its interval in brackets if it is known."""
        interval = self.interval(write, low, high)
        return f"{write(value)} ({interval})" if interval else write(value)


PLAIN = NumberFormat("-", " %", "")  # terminal and sentences
TYPESET = NumberFormat("\N{MINUS SIGN}", "\N{NO-BREAK SPACE}%", "\N{EN DASH}")  # HTML
