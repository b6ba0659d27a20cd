"""What the benchmarks share: timing, a table of results, and a line that says with which versions."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from rich.console import Console
from rich.table import Table

import foresift

CONSOLE = Console(width=120)


class Results(Table):
    """A table that also prints each row when it is known."""

    def __init__(self, title: str, columns: tuple[str, ...]) -> None:
        super().__init__(title=title)
        for column in columns:
            self.add_column(column, overflow="fold")

    def add_row(self, *cells: Any, **options: Any) -> None:
        """Add a row and show it."""
        CONSOLE.print(" | ".join(cells))
        super().add_row(*cells, **options)

    def show(self, peers: str = "") -> None:
        """Print the whole table, and what made it."""
        CONSOLE.print(self)
        CONSOLE.print(
            f"foresift {foresift.__version__}, {peers}scikit-learn {sklearn.__version__}, "
            f"NumPy {np.__version__}, Python {platform.python_version()}, {platform.machine()}, "
            f"{os.cpu_count()} cores"
        )


def seconds(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    """Processor time, which does not count what other programs take; for two threads pass a wall clock."""
    start = clock()
    work()
    return clock() - start


def interleaved(
    a: Callable[[], Any], b: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.process_time
) -> tuple[float, float]:
    """Best time of each, the runs taking turns."""
    times = [(seconds(a, clock), seconds(b, clock)) for _ in range(repeats)]
    return min(t for t, _ in times), min(t for _, t in times)
