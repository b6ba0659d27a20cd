"""A bar with the time left, for long runs on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["bar"]


@contextmanager
def bar(n_known: int, n_units: int) -> Iterator[Callable[[int, int, int], None]]:
    """Draw a bar on standard error; call what it yields with units finished, failed among them, and wanted.

    Examples
    --------
    >>> with bar(0, 2) as report:
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

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    # The speed is that of the last minutes: methods take very different times.
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=300) as progress:
        task = progress.add_task("units", total=n_units, completed=n_known)

        def report(finished: int, failed: int, wanted: int) -> None:
            what = f"units, {failed} failed" if failed else "units"
            progress.update(task, completed=finished, description=what)

        yield report
