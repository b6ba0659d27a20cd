"""Associations of columns as a heat map: a triangle of cells, group by group."""

from __future__ import annotations

from typing import Any

from foresift.report.drawing import shortened
from foresift.report.numbers import TYPESET, unknown

__all__ = ["association_view"]

WIDTH, LABELS, TOP = 640.0, 216.0, 8.0
MAX_CELL = 34.0
MAX_CHARACTERS = 22
MAX_NUMBERED = 12  # columns up to which cells have their numbers written in


def association_view(
    associations: dict[str, Any] | None, features: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """Cells below the diagonal, with their strength as an opacity.

    Examples
    --------
    >>> found = {"names": ["a", "b"], "values": [[1, 0.5], [0.5, 1]], "n_left_out": 0}
    >>> shown = association_view(found, [{"name": "a", "kept": True}])
    >>> shown["cells"][0]["title"], shown["cells"][0]["opacity"], shown["strongest"], shown["rows"][0]["kept"]
    ('b and a: 0.50', 0.5, 'b and a, 0.50', True)
    """
    names, values = ((associations or {}).get(key) or [] for key in ("names", "values"))
    if associations is None or len(names) < 2 or len(values) != len(names):
        return None
    kept = {f["name"] for f in features if f.get("kept")}
    size = round(min(MAX_CELL, (WIDTH - LABELS - 30) / len(names)), 2)
    cells, best, strongest = [], -1.0, ""
    for i, row in enumerate(values):
        for j, value in enumerate(row[:i]):
            pair = f"{shortened(names[i], 60)} and {shortened(names[j], 60)}"
            text = "unknown" if unknown(value) else TYPESET.number(value, 2)
            if not unknown(value) and value > best:
                best, strongest = value, f"{pair}, {text}"
            cells.append(
                {
                    "x": round(LABELS + j * size, 2),
                    "y": round(TOP + i * size, 2),
                    "opacity": 0 if unknown(value) else round(value, 2),
                    "title": f"{pair}: {text}",
                    "text": text.removeprefix("0") if not unknown(value) else "",
                    "dark": not unknown(value) and value > 0.55,
                }
            )
    rows = [
        {
            "label": shortened(name, MAX_CHARACTERS),
            "name": shortened(name, 60),
            "number": i + 1,
            "x": round(LABELS + (i + 0.5) * size, 2),
            "y": round(TOP + (i + 0.5) * size + 4, 2),
            "kept": name in kept,
        }
        for i, name in enumerate(names)
    ]
    return {
        "cells": cells,
        "rows": rows,
        "size": round(size - 1, 2),
        "numbers": len(names) <= MAX_NUMBERED,
        "strongest": strongest,
        "width": WIDTH,
        "left": LABELS,
        "height": round(TOP + len(names) * size + 6, 2),
        "n_left_out": associations.get("n_left_out") or 0,
    }
