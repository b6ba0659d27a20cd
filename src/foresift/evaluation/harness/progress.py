"""Progress of long runs on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Task

__all__ = ["steps", "units"]

_WORDS = {
    "opening": "opening the table",
    "reading": "reading the table",
    "ranking": "ranking the columns",
    "checking": "cross-validating",
    "repeating": "repeating on parts of the rows",
    "writing": "writing",
}


@contextmanager
def units(n_known: int, n_units: int) -> Iterator[Callable[[int, int, int], None]]:
    """Show a progress bar on standard error, if that is a terminal or a notebook.

    The yielded function takes the numbers of finished, failed and wanted tasks.

    Examples
    --------
    >>> with units(0, 2) as report:
    ...     report(1, 0, 2)
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not sys.stderr.isatty() and not console.is_jupyter:  # a log has no use for a bar
        yield lambda finished, failed, wanted: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    # Estimate the speed from the last minutes: methods take very different times.
    with Progress(*columns, console=console, speed_estimate_period=300) as progress:
        task = progress.add_task("tasks", total=n_units, completed=n_known)

        def report(finished: int, failed: int, wanted: int) -> None:
            what = f"tasks, {failed} failed" if failed else "tasks"
            progress.update(task, completed=finished, description=what)

        yield report


@contextmanager
def steps(wanted: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show the current activity on standard error, if `wanted` and if that is a terminal.

    The yielded function takes the activity, its number of steps (0 or 1: unknown duration), and the number of
    further steps done.

    Examples
    --------
    >>> with steps(False) as report:
    ...     report("ranking", 1, 0)
    """
    if not wanted or not sys.stderr.isatty():
        yield lambda what, n_steps, done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    class Left(ProgressColumn):
        def render(self, task: Task) -> str:
            return _left(task.time_remaining)

    show = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        Left(),
    )
    with Progress(*show, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("")

        def report(what: str, n_steps: int, done: int) -> None:
            if done == 0:
                total = n_steps if n_steps > 1 else None
                progress.reset(task, total=total, description=_WORDS.get(what, what))
            else:
                progress.advance(task, done)

        yield report


def _left(seconds: float | None) -> str:
    if not seconds:
        return ""
    return f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left"
