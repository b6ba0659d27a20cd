"""Scores over the number of columns as places on paper: lines, bands, ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from foresift.drawing import Scale, metric_text, tick_text, ticks, unknown, with_interval

__all__ = ["curves", "hit_areas", "known_points"]

WIDTH, HEIGHT = 640.0, 280.0  # of the drawing, with room for its labels:
LEFT, RIGHT, TOP, BOTTOM = 58.0, 14.0, 12.0, 56.0
LEAST_APART = 42.0  # of two labels of the horizontal axis


def known_points(points: Sequence[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Points that have a size and a score, smallest size first.

    Parameters
    ----------
    points : sequence of dict or None
        With keys `n`, `score`, `low` and `high`; values may be None.

    Returns
    -------
    list of dict
        Those that can be drawn.

    Examples
    --------
    >>> points = [{"n": 5, "score": 0.9}, {"n": 2, "score": 0.8}, {"n": 9, "score": None}]
    >>> [point["n"] for point in known_points(points)]
    [2, 5]
    """
    known = [p for p in points or [] if p.get("n") is not None and not unknown(p.get("score"))]
    return sorted(known, key=lambda p: p["n"])


def curves(series: Sequence[Sequence[dict[str, Any]]], metric: str | None) -> dict[str, Any]:
    """Place lines of scores over sizes on one pair of axes.

    Parameters
    ----------
    series : sequence of sequences of dict
        What `known_points` returns, for every line; none of them empty.
    metric : str or None
        What the scores are.

    Returns
    -------
    dict
        `lines`: of every line its points, `path` and `band`; `x_ticks`, `y_ticks`; the frame.

    Examples
    --------
    >>> drawn = curves([[{"n": 1, "score": 0.8}, {"n": 2, "score": 0.9}]], "accuracy")
    >>> drawn["lines"][0]["path"]
    '70.0,224.0 614.0,12.0'
    >>> drawn["x_ticks"]
    [(614.0, '2'), (70.0, '1')]
    """
    points = [p for line in series for p in line]
    y = Scale.around([p.get(key) for p in points for key in ("score", "low", "high")], HEIGHT - BOTTOM, TOP)
    sizes = [p["n"] for p in points]
    # Sizes that double look evenly spaced only on a logarithmic scale.
    far = math.log if min(sizes) > 0 and max(sizes) > 20 * min(sizes) else float
    x = Scale.around([far(n) for n in sizes], LEFT + 12, WIDTH - RIGHT - 12)
    lines = [[_place(p, x(far(p["n"])), y, metric) for p in line] for line in series]
    return {
        "lines": [
            {
                "points": line,
                "path": " ".join(f"{p['x']},{p['y']}" for p in line),
                "band": " ".join(
                    [f"{p['x']},{p['high']}" for p in line] + [f"{p['x']},{p['low']}" for p in line[::-1]]
                ),
            }
            for line in lines
        ],
        "x_ticks": _apart({n: x(far(n)) for n in sizes}),
        "y_ticks": [(y(tick), tick_text(metric, tick)) for tick in ticks(y.low, y.high, 4)],
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
    }


def _place(point: dict[str, Any], x: float, y: Scale, metric: str | None) -> dict[str, Any]:
    low, high = y.at(point.get("low")), y.at(point.get("high"))
    at = y(point["score"])
    return {
        "n": point["n"],
        "x": x,
        "y": at,
        "low": at if low is None else low,
        "high": at if high is None else high,
        "text": with_interval(*(metric_text(metric, point.get(key)) for key in ("score", "low", "high"))),
    }


def hit_areas(line: Sequence[dict[str, Any]]) -> list[tuple[float, float]]:
    """Begin and width of the strip around each point of a line in which a click means that point.

    Examples
    --------
    >>> hit_areas([{"x": 70.0}, {"x": 614.0}])
    [(58.0, 284.0), (342.0, 284.0)]
    """
    edges = [LEFT, *((a["x"] + b["x"]) / 2 for a, b in pairwise(line)), WIDTH - RIGHT]
    return [(round(begin, 1), round(end - begin, 1)) for begin, end in pairwise(edges)]


def _apart(places: dict[float, float]) -> list[tuple[float, str]]:
    """Labels of the sizes that do not run into each other; the last one always has one."""
    labels: list[tuple[float, str]] = []
    for n in sorted(places, reverse=True):
        if not labels or labels[-1][0] - places[n] >= LEAST_APART:
            labels.append((places[n], f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"))
    return labels
