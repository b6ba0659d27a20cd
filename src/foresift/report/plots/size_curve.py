"""Scores over the number of columns as places on paper: lines, bands, ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from foresift.report.drawing import Scale, metric_text, tick_text, ticks, unknown, with_interval

__all__ = ["curves", "hit_areas", "known_points", "name_ends"]

WIDTH, HEIGHT = 640.0, 280.0  # of the drawing, with room for its labels:
LEFT, RIGHT, TOP, BOTTOM = 58.0, 14.0, 12.0, 56.0
MIN_APART = 42.0  # of two labels of the horizontal axis
MAX_CHARACTERS = 16  # of a name at the end of a line
CHARACTER, LINE = 6.5, 14.0  # about what a name takes in width and height
LEADER = 20.0  # from the last point to its name


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


def curves(
    series: Sequence[Sequence[dict[str, Any]]],
    metric: str | None,
    *,
    names: Sequence[str] = (),
    across: float | None = None,
) -> dict[str, Any]:
    """Place lines of scores over sizes on one pair of axes.

    Parameters
    ----------
    series : sequence of sequences of dict
        What `known_points` returns, for every line; none of them empty.
    metric : str or None
        What the scores are.
    names : sequence of str
        Of the lines, if they are to stand at their ends.
    across : float or None, default=None
        A score to draw a line at.

    Returns
    -------
    dict
        `lines`: of every line its points, `path` and `band`, and where its name stands; `x_ticks`, `y_ticks`;
        `across`; the frame.

    Examples
    --------
    >>> drawn = curves([[{"n": 1, "score": 0.8}, {"n": 2, "score": 0.9}]], "accuracy")
    >>> drawn["lines"][0]["path"]
    '70.0,224.0 614.0,12.0'
    >>> drawn["x_ticks"]
    [(614.0, '2'), (70.0, '1')]
    """
    points = [p for line in series for p in line]
    heights = [across, *(p.get(key) for p in points for key in ("score", "low", "high"))]
    y = Scale.around(heights, HEIGHT - BOTTOM, TOP)
    sizes = [p["n"] for p in points]
    # Sizes that double look evenly spaced only on a logarithmic scale.
    far = math.log if min(sizes) > 0 and max(sizes) > 20 * min(sizes) else float
    longest = max((min(len(name), MAX_CHARACTERS) for name in names), default=0)
    right = WIDTH - RIGHT - (LEADER + CHARACTER * longest if names else 0.0)
    x = Scale.around([far(n) for n in sizes], LEFT + 12, right - 12)
    lines = [[_place(p, x(far(p["n"])), y, metric) for p in line] for line in series]
    ends = name_ends([line[-1]["y"] for line in lines])
    return {
        "lines": [
            {
                "points": line,
                "path": " ".join(f"{p['x']},{p['y']}" for p in line),
                "band": " ".join(
                    [f"{p['x']},{p['high']}" for p in line] + [f"{p['x']},{p['low']}" for p in line[::-1]]
                ),
                "leader": f"{line[-1]['x'] + 5},{line[-1]['y']} {right + LEADER - 8},{end}",
                "end": (right + LEADER - 4, end),
            }
            for line, end in zip(lines, ends, strict=True)
        ],
        "across": y.at(across),
        "x_ticks": _apart({n: x(far(n)) for n in sizes}),
        "y_ticks": [(y(tick), tick_text(metric, tick)) for tick in ticks(y.low, y.high, 4)],
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": right,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
    }


def name_ends(heights: Sequence[float]) -> list[float]:
    """Heights for the names of lines: as near to the ends of the lines as they can be without overlapping.

    Parameters
    ----------
    heights : sequence of float
        Where the lines end.

    Returns
    -------
    list of float
        Where their names stand, in the same order from top to bottom; less far apart if there are many.

    Examples
    --------
    >>> name_ends([100.0, 50.0, 100.0])
    [93.0, 50.0, 107.0]
    """
    from sklearn.isotonic import isotonic_regression

    n, low, high = len(heights), TOP, HEIGHT - BOTTOM
    apart = min(LINE, (high - low) / max(n - 1, 1))
    order = sorted(range(n), key=lambda i: heights[i])
    # Less their least distances, the names have only to be in order: the nearest such places (least squares).
    loose = [heights[i] - apart * k for k, i in enumerate(order)]
    placed = isotonic_regression(loose, y_min=low, y_max=high - apart * (n - 1))
    places = {i: round(float(at) + apart * k, 1) for k, (i, at) in enumerate(zip(order, placed, strict=True))}
    return [places[i] for i in range(n)]


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
        if not labels or labels[-1][0] - places[n] >= MIN_APART:
            labels.append((places[n], f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"))
    return labels
