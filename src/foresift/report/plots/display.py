"""The base class of all displays, their colours, and names as labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from foresift.errors import InputError
from foresift.report.drawing import shortened
from foresift.report.numbers import unknown

__all__ = ["ACCENT", "GREY", "INK", "TINT", "Display", "label", "numbers", "pyplot"]

ACCENT, GREY, INK, TINT = "#17654f", "#868f8a", "#1c2320", "#dfeee7"
LABEL = 40  # characters of a name beside an axis


class MissingMatplotlib(InputError, ImportError):
    """Raised where something is to be drawn and matplotlib is not installed."""


def pyplot() -> Any:
    """Return matplotlib.pyplot.

    Raises
    ------
    MissingMatplotlib
        If it is not installed; the message says how to install it.
    """
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise MissingMatplotlib("Figures need matplotlib: pip install 'foresift[plots]'.") from error
    return matplotlib.pyplot


class Display:
    """Base class of all displays.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Set by `plot`.
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        self
            The display, with `ax_` and `figure_`.
        """
        plt = pyplot()
        if ax is None:
            ax = plt.subplots(figsize=self._size(), layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        ax.spines[["top", "right"]].set_visible(False)
        self._draw(ax)
        return self

    def _size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return 6.4, 3.6

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


def label(name: Any) -> str:
    """A name as a label: short, and with no dollar sign that would begin a formula."""
    return "".join(c if c.isprintable() else " " for c in shortened(name, LABEL)).replace("$", r"\$")


def numbers(rows: Sequence[Mapping[str, Any]], key: str) -> NDArray[np.float64]:
    """Values of a key; NaN where it is missing."""
    return np.array([np.nan if unknown(row.get(key)) else float(row[key]) for row in rows], dtype=np.float64)
