"""Predicted against actual classes of held-out rows: a table of counts, and how sure predictions are."""

from __future__ import annotations

from typing import Any

from foresift.report.drawing import Scale, shortened, ticks
from foresift.report.numbers import TYPESET

__all__ = ["confusion_view", "probabilities_view"]

MAX_CLASSES = 10
LEVELS = 9  # of shading
WIDTH, HEIGHT = 640.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 34.0, 16.0, 46.0


def confusion_view(check: dict[str, Any] | None) -> dict[str, Any] | None:
    r"""How often each class was predicted for the rows of each; of many classes the rarest are added up.

    Examples
    --------
    >>> found = {"classes": ["no", "yes"], "counts": [[8, 2], [1, 3]]}
    >>> shown = confusion_view({"confusion": found})
    >>> shown["rows"][1]["right"], shown["rows"][1]["cells"][0]
    ('75\xa0%', {'n': '1', 'level': 2, 'right': False})
    """
    found = (check or {}).get("confusion") or {}
    names, counts = found.get("classes") or [], found.get("counts") or []
    if len(names) < 2 or len(counts) != len(names) or not sum(map(sum, counts)):
        return None
    n_classes = len(names)
    names, counts = _merged(names, counts)
    totals = [sum(row) for row in counts]
    rows = []
    for i, (name, row) in enumerate(zip(names, counts, strict=True)):
        cells = [
            {"n": f"{n:,}", "level": round(LEVELS * n / totals[i]) if totals[i] else 0, "right": i == j}
            for j, n in enumerate(row)
        ]
        right = TYPESET.share(row[i] / totals[i]) if totals[i] else TYPESET.missing
        rows.append({"name": name, "cells": cells, "right": right, "n": f"{totals[i]:,}"})
    return {"names": names, "rows": rows, "n": f"{sum(totals):,}", "merged": n_classes > len(names)}


def _merged(names: list[str], counts: list[list[int]]) -> tuple[list[str], list[list[int]]]:
    """The most frequent classes in their order, and the others as one."""
    shown = [shortened(name, 24) for name in names]
    if len(names) <= MAX_CLASSES:
        return shown, counts
    by_size = sorted(range(len(names)), key=lambda i: -sum(counts[i]))
    kept = sorted(by_size[: MAX_CLASSES - 1])
    place = {i: at for at, i in enumerate(kept)}
    n = len(kept) + 1
    merged = [[0] * n for _ in range(n)]
    for i, row in enumerate(counts):
        for j, count in enumerate(row):
            merged[place.get(i, n - 1)][place.get(j, n - 1)] += count
    return [*(shown[i] for i in kept), f"{len(names) - len(kept)} others"], merged


def probabilities_view(check: dict[str, Any] | None) -> dict[str, Any] | None:
    r"""Bars of the held-out rows of two classes by their predicted probability.

    Examples
    --------
    >>> counts = [[8, 1, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 1, 3]]
    >>> check = {"confusion": {"classes": ["no", "yes"]}, "probabilities": {"of": "yes", "counts": counts}}
    >>> shown = probabilities_view(check)
    >>> shown["of"], shown["bars"][0]["text"]
    ('yes', '8 rows of no: predicted probability 0 to 10\xa0%')
    """
    found = (check or {}).get("probabilities") or {}
    counts = found.get("counts") or []
    classes = ((check or {}).get("confusion") or {}).get("classes") or []
    if len(counts) != 2 or len(classes) != 2 or not any(map(sum, counts)) or found.get("of") not in classes:
        return None
    n_bins = len(counts[0])
    x, y = Scale(0.0, 1.0, LEFT, WIDTH - RIGHT), Scale(0.0, max(map(max, counts)), HEIGHT - BOTTOM, TOP)
    focus = classes.index(found["of"])
    width = (x(1.0) - x(0.0)) / n_bins
    bars = []
    for k in range(n_bins):
        for at, of in enumerate((1 - focus, focus)):
            n = counts[of][k]
            low, high = 100 * k // n_bins, 100 * (k + 1) // n_bins
            text = f"{n:,} rows of {shortened(classes[of], 24)}: predicted probability {low} to {high}"
            bars.append(
                {
                    "x": round(x(k / n_bins) + 2 + at * (width - 4) / 2, 2),
                    "width": round((width - 4) / 2 - 1, 2),
                    "y": y(n),
                    "height": round(HEIGHT - BOTTOM - y(n), 2),
                    "focus": of == focus,
                    "text": text + TYPESET.percent,
                }
            )
    return {
        "of": shortened(found["of"], 24),
        "other": shortened(classes[1 - focus], 24),
        "bars": bars,
        "x_ticks": [(x(tick / 5), f"{20 * tick}{TYPESET.percent}") for tick in range(6)],
        "y_ticks": [
            (y(tick), f"{tick:,.0f}") for tick in ticks(0.0, y.high, 3) if tick and tick == int(tick)
        ],
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": HEIGHT - BOTTOM,
    }
