"""Coordinates of scores over the number of columns: lines, bands, ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from foresift.report.drawing import Scale, ticks
from foresift.report.numbers import TYPESET, unknown

__all__ = ["curves", "hit_areas", "known_points", "name_ends"]

WIDTH, HEIGHT = 640.0, 280.0  # of the drawing, with margins for its labels:
LEFT, RIGHT, TOP, BOTTOM = 58.0, 14.0, 12.0, 56.0
MIN_APART = 42.0  # of two labels of the horizontal axis
MAX_CHARACTERS = 16  # of a name at the end of a line
CHARACTER, LINE = 6.5, 14.0  # approximate width of a character and height of a name
LEADER = 20.0  # from the last point to its name


def known_points(points: Sequence[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """Points that have a size `n` and a `score`, smallest size first.

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
    """Coordinates of lines of scores over sizes on one pair of axes.

    Parameters
    ----------
    series : sequence of sequences of dict
        What `known_points` returns, for every line; none of them empty.
    metric : str or None
        Name of the scores.
    names : sequence of str
        Names to write at the ends of the lines.
    across : float or None, default=None
        A score to draw a horizontal line at.

    Returns
    -------
    dict
        `lines`: points, `path`, `band` and position of the name of every line; `x_ticks`, `y_ticks`;
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
    wide = max(sizes) > 20 * min((n for n in sizes if n > 0), default=1)
    far = (lambda n: math.log(n or 0.5)) if wide else float
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
        "y_ticks": [(y(tick), TYPESET.tick(metric, tick)) for tick in ticks(y.low, y.high, 4)],
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": right,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
    }


def name_ends(heights: Sequence[float]) -> list[float]:
    """Heights for the names of lines: as near to the ends of the lines as possible without overlapping.

    Examples
    --------
    >>> name_ends([100.0, 50.0, 100.0])
    [93.0, 50.0, 107.0]
    """
    from sklearn.isotonic import isotonic_regression

    n, low, high = len(heights), TOP, HEIGHT - BOTTOM
    apart = min(LINE, (high - low) / max(n - 1, 1))
    order = sorted(range(n), key=lambda i: heights[i])
    # After subtracting the minimal distances, the names only have to be in order: isotonic regression.
    loose = [heights[i] - apart * k for k, i in enumerate(order)]
    placed = isotonic_regression(loose, y_min=low, y_max=high - apart * (n - 1))
    places = {i: round(float(at) + apart * k, 1) for k, (i, at) in enumerate(zip(order, placed, strict=True))}
    return [places[i] for i in range(n)]


def _place(point: dict[str, Any], x: float, y: Scale, metric: str | None) -> dict[str, Any]:
    low: Any = point.get("low")
    high: Any = point.get("high")
    at = y(point["score"])
    return {
        "n": point["n"],
        "x": x,
        "y": at,
        "low": at if unknown(low) else y(low),
        "high": at if unknown(high) else y(high),
        "text": TYPESET.with_interval(partial(TYPESET.score, metric), point["score"], low, high),
    }


def hit_areas(line: Sequence[dict[str, Any]]) -> list[tuple[float, float]]:
    """Begin and width of the strip around each point of a line in which a click selects the point.

    Examples
    --------
    >>> hit_areas([{"x": 70.0}, {"x": 614.0}])
    [(58.0, 284.0), (342.0, 284.0)]
    """
    edges = [LEFT, *((a["x"] + b["x"]) / 2 for a, b in pairwise(line)), WIDTH - RIGHT]
    return [(round(begin, 1), round(end - begin, 1)) for begin, end in pairwise(edges)]


def _apart(places: dict[float, float]) -> list[tuple[float, str]]:
    """Labels of the sizes that do not overlap; the last size always has one."""
    labels: list[tuple[float, str]] = []
    for n in sorted(places, reverse=True):
        if not labels or labels[-1][0] - places[n] >= MIN_APART:
            labels.append((places[n], TYPESET.count(n)))
    return labels
