"""Groups of columns and columns that are kept by request, as the report of a selection shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from foresift.report.drawing import shortened
from foresift.report.numbers import TYPESET

__all__ = ["COLUMNS", "kind_text", "lengths", "size_text"]

COLUMNS = "columns"  # what sizes count, if nothing else is said


def kind_text(feature: dict[str, Any]) -> str:
    """The kind of a column, and its group.

    Examples
    --------
    >>> kind_text({"kind": "numeric", "group": "sensor 3"}), kind_text({"kind": "date"})
    ('numeric, in sensor 3', 'date')
    """
    group = "" if feature.get("group") is None else f"in {shortened(feature['group'])}"
    return ", ".join(filter(None, [feature.get("kind"), group]))


def size_text(size: int, counts: str = COLUMNS) -> str:
    """A size of a curve in words.

    Examples
    --------
    >>> size_text(1200), size_text(1, "columns and groups beside those kept by request")
    ('1,200 columns', '1 column or group beside those kept by request')
    """
    if size == 1:
        counts = counts.replace("columns and groups", "column or group").replace("columns", "column", 1)
    return f"{TYPESET.count(size)} {counts}"


def lengths(features: Iterable[dict[str, Any]], sizes: Sequence[int]) -> list[int]:
    """How many columns a selection of each size has; there may be more columns than `features`, best first.

    Examples
    --------
    >>> of_group = {"rank": 1, "group": "sensor 3"}
    >>> lengths([{"rank": 0, "requested": True}, of_group, of_group, {"rank": 2}], [0, 1, 2, 3])
    [1, 3, 4, 5]
    """
    ends, before = [0], None
    for feature in features:
        unit = (feature.get("group"), feature.get("rank"))
        if not (feature.get("requested") or (unit[0] is not None and unit == before)):
            ends.append(ends[-1])
        ends[-1] += 1
        before = unit
    return [ends[min(size, len(ends) - 1)] + max(0, size - len(ends) + 1) for size in sizes]
