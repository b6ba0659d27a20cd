"""Columns that have no test: why, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foresift.selectors.relevance.testing import Tested

__all__ = ["LEFT", "nothing_left", "reasons_of"]

MAX_NAMES = 3  # that are listed
LEFT = "nothing of it is left"


def reasons_of(untested: Sequence[int], tested: Tested, otherwise: str) -> dict[int, str]:
    """Why each of the untested columns has no test: nothing of it is left, or what holds for all others."""
    why = otherwise if tested.why is None else "its values do not vary enough, or the rows are too few"
    gone = ""
    if tested.removed is not None:
        gone = f"after {tested.removed}, {LEFT}"
    return {column: gone if gone and tested.gone[column] else why for column in untested}


def nothing_left(reasons: Mapping[int, str], names: Sequence[str] | None) -> list[str]:
    """Say of which columns nothing is left, and how to keep them; `reasons` are those of `reasons_of`.

    Examples
    --------
    >>> why = "after the season of the target is removed, nothing of it is left"
    >>> print(*nothing_left({0: "its values do not vary enough", 2: why}, ["a", "b", "weekday"]))
    weekday was not tested: after the season of the target is removed, nothing of it is left. To keep it, use
    keep=['weekday'].
    >>> print(*nothing_left({0: why, 2: why}, None))
    2 columns were not tested (0, 2): after the season of the target is removed, nothing of them is left. ...
    """
    columns = [column for column, why in reasons.items() if why.endswith(LEFT)]
    if not columns:
        return []
    why, labels = reasons[columns[0]], [column if names is None else names[column] for column in columns]
    if len(columns) == 1:
        which = f"column {labels[0]}" if names is None else str(labels[0])
        return [f"{which} was not tested: {why}. To keep it, use keep={labels!r}."]
    listed, more = ", ".join(map(str, labels[:MAX_NAMES])), len(labels) - MAX_NAMES
    do = "name them in keep" if more > 0 else f"use keep={labels!r}"
    listed += f" and {more:,} more" if more > 0 else ""
    why = why.replace("of it is", "of them is")
    return [f"{len(labels):,} columns were not tested ({listed}): {why}. To keep them, {do}."]
