"""Mean ranks of methods over many data sets, and which of them do not differ significantly (Demsar 2006)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foresift.report.drawing import Scale, number_text, shortened, ticks

__all__ = ["rank_diagram", "rank_groups"]

WIDTH = 640.0
EDGE = 170.0  # room for names on either side of the axis
LINE = 24.0  # height of a name
BELOW_AXIS = 22.0
MAX_CHARACTERS = 16  # of a name beside the axis


def rank_groups(mean_ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """Groups of methods that are closer to each other than the critical difference.

    Parameters
    ----------
    mean_ranks : sequence of float
        Ascending.
    critical_difference : float
        Least difference that counts.

    Returns
    -------
    list of (int, int)
        First and last method of each group of two or more that is not part of a larger one.

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
    """Place a critical difference diagram on paper.

    Parameters
    ----------
    ranks : dict
        `methods` (names), `mean_ranks` (1 is best), `critical_difference`, and if known `n`, the number of
        data sets.

    Returns
    -------
    dict
        Names with their lines, bars of groups, ticks and the ruler of the critical difference.

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
    half = (k + 1) // 2  # the better half stands on the left, from the top; the others on the right
    methods = []
    for i, (mean, name) in enumerate(pairs):
        left = i < half
        methods.append(
            {
                "name": name,
                "label": name if len(name) <= MAX_CHARACTERS else name[: MAX_CHARACTERS - 1] + "…",
                "rank": number_text(mean, 2),
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
        "difference": number_text(difference, 2),
        "n": ranks.get("n"),
        "width": WIDTH,
        "height": first_name + LINE * half,
        "axis": top,
        "left": EDGE,
        "right": WIDTH - EDGE,
    }
