"""What the displays share: where they draw, their colours, and names as labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.report.drawing import shortened, unknown

__all__ = ["ACCENT", "GREY", "INK", "TINT", "Display", "label", "numbers"]

ACCENT, GREY, INK, TINT = "#17654f", "#868f8a", "#1c2320", "#dfeee7"
LABEL = 40  # characters of a name beside an axis


class Display:
    """What all displays share: where they draw, `ax_` and `figure_`."""

    ax_: Any
    figure_: Any

    def _axes(self, ax: Any, size: tuple[float, float]) -> Any:
        """Axes to draw on, new ones if none are given, and keep them."""
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots(figsize=size, layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        ax.spines[["top", "right"]].set_visible(False)
        return ax


def label(name: Any) -> str:
    """A name as a label: short, and with no dollar sign that would begin a formula."""
    text = shortened(name)
    text = text if len(text) <= LABEL else text[: LABEL - 1] + "…"
    return "".join(c if c.isprintable() else " " for c in text).replace("$", r"\$")


def numbers(rows: Sequence[Mapping[str, Any]], key: str) -> NDArray[np.float64]:
    """Values of a key, NaN where there is none."""
    return np.array([np.nan if unknown(row.get(key)) else float(row[key]) for row in rows], dtype=np.float64)
