"""A quantity as the report shows it: its histogram, and predicted against actual values."""

from __future__ import annotations

from typing import Any

from foresift.report.drawing import Scale, ticks
from foresift.report.numbers import TYPESET, decimals_for, finite

__all__ = ["histogram_view", "predictions_view"]

WIDTH, HEIGHT, SQUARE = 640.0, 200.0, 420.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 14.0, 12.0, 46.0


def histogram_view(quantity: dict[str, Any] | None) -> dict[str, Any] | None:
    """Bars of a histogram, and the range in words.

    Examples
    --------
    >>> quantity = {"edges": [0, 1, 2], "counts": [3, 6], "min": 0, "quartiles": [0.5, 1.2, 1.6], "max": 2}
    >>> shown = histogram_view(quantity)
    >>> shown["bars"][1]["height"], shown["text"]
    (142.0, '0.00 to 2.00; median 1.20, half of the rows between 0.50 and 1.60')
    """
    if not quantity or not quantity.get("counts"):
        return None
    edges, counts = quantity["edges"], quantity["counts"]
    x = Scale.around([edges[0], edges[-1]], LEFT, WIDTH - RIGHT)
    y = Scale(0.0, max(counts), HEIGHT - BOTTOM, TOP)
    decimals = decimals_for([quantity["min"], quantity["max"]])
    number = lambda value: TYPESET.number(value, decimals)  # noqa: E731
    bars = [
        {
            "x": x(low),
            "width": round(max(x(high) - x(low) - 1, 0.5), 2),
            "y": y(count),
            "height": round(HEIGHT - BOTTOM - y(count), 2),
            "text": f"{number(low)} to {number(high)}: {TYPESET.number(count, 0)} rows",
        }
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
    ]
    low, middle, high = quantity["quartiles"]
    text = f"{number(quantity['min'])} to {number(quantity['max'])}; median {number(middle)},"
    return {
        "bars": bars,
        "text": f"{text} half of the rows between {number(low)} and {number(high)}",
        "log": bool(quantity.get("log")),
        **_frame(x, y, WIDTH, HEIGHT, 3),
    }


def predictions_view(check: dict[str, Any] | None) -> dict[str, Any] | None:
    """Points of predicted against actual values of held-out rows, and the line where both are equal.

    Examples
    --------
    >>> shown = predictions_view({"held_out": {"actual": [0.0, 1.0], "predicted": [0.5, 0.5]}})
    >>> shown["points"], shown["line"]
    ([(58.0, 193.0), (406.0, 193.0)], (58.0, 374.0, 406.0, 12.0))
    """
    held_out = (check or {}).get("held_out") or {"actual": [], "predicted": []}
    both = zip(held_out["actual"], held_out["predicted"], strict=True)
    pairs = [pair for pair in both if len(finite(pair)) == 2]
    if len(pairs) < 2:
        return None
    n_rows = (check or {}).get("n_rows") or 0
    values = [value for pair in pairs for value in pair]
    x = Scale.around(values, LEFT, SQUARE - RIGHT)
    y = x._replace(start=SQUARE - BOTTOM, stop=TOP)
    return {
        "points": [(x(actual), y(predicted)) for actual, predicted in pairs],
        "line": (x(x.low), y(x.low), x(x.high), y(x.high)),
        "n": TYPESET.number(len(pairs), 0),
        "of": f"{n_rows:,}" if n_rows > len(pairs) else "",
        **_frame(x, y, SQUARE, SQUARE, 5),
    }


def _frame(x: Scale, y: Scale, width: float, height: float, about: int) -> dict[str, Any]:
    return {
        "x_ticks": [(x(tick), _tick(tick)) for tick in ticks(x.low, x.high, 5)],
        "y_ticks": [(y(tick), _tick(tick)) for tick in ticks(y.low, y.high, about)],
        "width": width,
        "height": height,
        "left": LEFT,
        "right": width - RIGHT,
        "top": TOP,
        "bottom": height - BOTTOM,
    }


def _tick(value: float) -> str:
    """A value at a tick in few characters."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if size <= abs(value) < 1000 * size and abs(value) >= 10_000:
            return TYPESET.tick(None, value / size) + unit
    return TYPESET.tick(None, value)
