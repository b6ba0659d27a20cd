"""Mean ranks of methods over many data sets, and which of them do not differ significantly (Demsar 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foresift.report.drawing import Scale, shortened, ticks
from foresift.report.numbers import TYPESET

__all__ = ["rank_diagram", "rank_groups"]

WIDTH = 640.0
EDGE = 170.0  # width for names on either side of the axis
LINE = 24.0  # height of a name
BELOW_AXIS = 22.0
MAX_CHARACTERS = 16  # of a name beside the axis


def rank_groups(mean_ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """First and last method of each maximal group within the critical difference; mean ranks ascend.

    Examples
    --------
    >>> rank_groups([1.2, 2.0, 2.9, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(mean_ranks):
        last = max(
            i for i, other in enumerate(mean_ranks) if other - rank < critical_difference or i == first
        )
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def rank_diagram(ranks: dict[str, Any]) -> dict[str, Any]:
    """Coordinates of a critical difference diagram.

    `ranks` has `methods` (names), `mean_ranks` (1 is best), `critical_difference`, and if known `n`, the
    number of data sets.

    Examples
    --------
    >>> found = rank_diagram({"methods": ["b", "a"], "mean_ranks": [1.8, 1.2], "critical_difference": 1.0})
    >>> [(line["name"], line["rank"]) for line in found["methods"]], found["groups"]
    ([('a', '1.20'), ('b', '1.80')], [(0, 1)])
    """
    pairs = sorted(zip(ranks["mean_ranks"], map(shortened, ranks["methods"]), strict=True))
    means, k = [rank for rank, _ in pairs], len(pairs)
    scale = Scale(1.0, float(max(k, 2)), EDGE, WIDTH - EDGE)
    difference = ranks["critical_difference"]
    groups = rank_groups(means, difference)
    top = 62.0
    first_name = top + BELOW_AXIS + 9 * len(groups)
    half = (k + 1) // 2  # the better half is on the left, from the top; the others are on the right
    methods = []
    for i, (mean, name) in enumerate(pairs):
        left = i < half
        methods.append(
            {
                "name": name,
                "label": shortened(name, MAX_CHARACTERS),
                "rank": TYPESET.number(mean, 2),
                "x": scale(mean),
                "y": first_name + LINE * (i if left else k - 1 - i),
                "end": EDGE - 8 if left else WIDTH - EDGE + 8,
                "left": left,
            }
        )
    return {
        "methods": methods,
        "groups": groups,
        "bars": [
            (scale(means[a]) - 4, scale(means[b]) + 4, top + BELOW_AXIS - 10 + 9 * i)
            for i, (a, b) in enumerate(groups)
        ],
        "ticks": [(scale(tick), f"{tick:g}") for tick in ticks(1, max(k, 2), min(k, 8)) if tick == int(tick)],
        "ruler": (scale(1.0), scale(1.0 + difference)),
        "difference": TYPESET.number(difference, 2),
        "n": ranks.get("n"),
        "width": WIDTH,
        "height": first_name + LINE * half,
        "axis": top,
        "left": EDGE,
        "right": WIDTH - EDGE,
    }
