"""How far a command is, on a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

__all__ = ["bar"]

_WORDS = {
    "reading": "reading the table",
    "ranking": "ranking the columns",
    "checking": "checking on unseen rows",
    "repeating": "repeating on parts of the rows",
    "writing": "writing",
}


@contextlib.contextmanager
def bar(wanted: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show what is being done on stderr, if that is a terminal; nothing of it stays there.

    Parameters
    ----------
    wanted : bool
        Whether to show anything.

    Yields
    ------
    callable
        Takes what is done, in how many steps (0 or 1: nobody knows how long it takes), and how many more of
        them are done.

    Examples
    --------
    >>> with bar(False) as tell:
    ...     tell("ranking", 1, 0)
    """
    if not wanted or not sys.stderr.isatty():
        yield lambda what, n_steps, done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    show = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*show, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("")

        def tell(what: str, n_steps: int, done: int) -> None:
            if done == 0:
                total = n_steps if n_steps > 1 else None
                progress.reset(task, total=total, description=_WORDS.get(what, what))
            else:
                progress.advance(task, done)

        yield tell
