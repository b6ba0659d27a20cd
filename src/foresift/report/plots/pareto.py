"""Scores against the number of columns: which results no other beats with as few columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foresift.report.drawing import shortened
from foresift.report.plots.size_curve import CHARACTER, LINE, MAX_CHARACTERS, curves, known_points

__all__ = ["pareto_chart", "pareto_front"]

HEADROOM = 0.1  # of the range of the scores


def pareto_front(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The points of `known_points` that score higher than all with as few columns or fewer, smallest first.

    Examples
    --------
    >>> points = [{"n": 2, "score": 0.8}, {"n": 5, "score": 0.7}, {"n": 9, "score": 0.9}]
    >>> [point["n"] for point in pareto_front(points)]
    [2, 9]
    """
    front: list[dict[str, Any]] = []
    for point in sorted(known_points(points), key=lambda p: (p["n"], -p["score"])):
        if not front or point["score"] > front[-1]["score"]:
            front.append(point)
    return front


def pareto_chart(points: Sequence[dict[str, Any]], metric: str | None) -> dict[str, Any] | None:
    """Coordinates of the points, each with a `name`, and of the front; None without two different sizes.

    Names stand at the points of the front, above to the left where there is no other point, unless they would
    overlap.

    Examples
    --------
    >>> points = [{"n": 2, "score": 0.8, "name": "gain"}, {"n": 5, "score": 0.9, "name": "all"}]
    >>> [(p["name"], p["front"], p["label"]) for p in pareto_chart(points, "accuracy")["points"]]
    [('gain', True, 'gain'), ('all', True, 'all')]
    """
    known = [{"n": p["n"], "score": p["score"], "name": p["name"]} for p in known_points(points)]
    if len({p["n"] for p in known}) < 2:
        return None
    front = pareto_front(known)
    low, high = (choose(p["score"] for p in known) for choose in (min, max))
    above = high + HEADROOM * (high - low)  # room for the name of the highest point
    drawn = curves([front, *([p] for p in known if p not in front)], metric, across=above)
    named = [*front, *(p for p in known if p not in front)]
    placed = [point for line in drawn["lines"] for point in line["points"]]
    taken: list[tuple[float, float, float]] = []
    for at, (point, place) in enumerate(zip(named, placed, strict=True)):
        place |= {"name": point["name"], "front": at < len(front), "label": ""}
        text = shortened(point["name"], MAX_CHARACTERS)
        width, begins = CHARACTER * len(text), place["x"] - drawn["left"] - 8 < CHARACTER * len(text)
        left = place["x"] - 4 if begins else place["x"] - 8 - width
        free = all(abs(place["y"] - y) > LINE or left + width < a or left > b for a, b, y in taken)
        if place["front"] and free:
            taken.append((left, left + width, place["y"]))
            place |= {
                "label": text,
                "anchor": "start" if begins else "end",
                "at": place["x"] + (-4 if begins else -8),
            }
    return {**drawn, "points": placed, "path": drawn["lines"][0]["path"]}
