"""What every command does when something goes wrong: one sentence on stderr and an exit code."""

import contextlib
import errno
import functools
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn, ParamSpec

import typer

from foresift.cli.terminal import printable
from foresift.errors import InputError, OutputError

__all__ = ["BAD_INPUT", "CLOSED_PIPE", "FAILED", "STOPPED", "as_typed", "guarded"]

FAILED = 1  # the answer could not be had or written
BAD_INPUT = 2  # also typer's for bad options
STOPPED = 130  # Ctrl-C, as shells count it
CLOSED_PIPE = 141  # nobody reads on, as in `foresift ... | head`

P = ParamSpec("P")

_BARE = r"(?<!['\"])\b{}\b(?!['\"])"  # in quotes it is the name of a column
# What messages of the library call its parameters, and what is typed for them here.
_TYPED = {
    r"name (it|the column) in categorical_features": r"take \1 as a category (--categorical NAME)",
    r"\(?\bmethod[ =][\"']([\w-]+)[\"']\)?": r"(--method \1)",
    r"\bcv=([\d.]+)": r"--cv \1",
    r"^(alpha|error)( and error)? changed nothing": r"--\1\2 changed nothing",
    r"--alpha and error changed": "--alpha and --error changed",
    _BARE.format("n_estimators"): "--trees",
    _BARE.format("n_jobs"): "--jobs",
    _BARE.format("random_state"): "--seed",
}


def as_typed(message: str) -> str:
    """Say in a message of the library what is typed in a shell for its parameters.

    Examples
    --------
    >>> as_typed("Use fewer folds, or a share of the rows (cv=0.3).")
    'Use fewer folds, or a share of the rows (--cv 0.3).'
    """
    for pattern, replacement in _TYPED.items():
        message = re.sub(pattern, replacement, message)
    return message


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Make a function a command that ends cleanly whatever happens.

    An `InputError`, or a `ValueError` of the library (whose messages say what to do), is the user's to mend:
    exit code 2. A file that cannot be written, too little memory and anything unforeseen: 1.
    Ctrl-C: 130, with what the KeyboardInterrupt says, if anything. If the function has a parameter `debug`
    and it is true, errors are shown whole.

    Parameters
    ----------
    command : callable
        What the command does.

    Returns
    -------
    callable
        The same, with the same signature, for `typer`.

    Examples
    --------
    >>> @guarded
    ... def greet(name: str) -> None:
    ...     if not name:
    ...         raise InputError("Say whom to greet.")
    ...     print("Hello", name)
    >>> greet("Ada")
    Hello Ada
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with _listening() as heard:
            try:
                if sys.stdout is None:  # foresift ... >&-
                    raise OSError(errno.EBADF, "standard output is closed")
                for stream in (sys.stdout, sys.stderr):
                    if hasattr(stream, "reconfigure"):  # a name that the terminal cannot show is no error
                        stream.reconfigure(errors="replace")
                command(*args, **kwargs)
                sys.stdout.flush()
            except (typer.Exit, typer.Abort):
                raise
            except (KeyboardInterrupt, Exception) as error:
                if isinstance(error, KeyboardInterrupt) or heard:  # libraries may make another error of it
                    _end((isinstance(error, KeyboardInterrupt) and str(error)) or "stopped.", STOPPED)
                if isinstance(error, BrokenPipeError):
                    # What is still in the buffer would fail again at exit.
                    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                    raise typer.Exit(CLOSED_PIPE) from None
                if kwargs.get("debug"):
                    raise
                _end(*_told(error))

    return run


@contextlib.contextmanager
def _listening() -> Iterator[list[int]]:
    """Let Ctrl-C raise KeyboardInterrupt, and note it in the list, while a command is at work.

    What threads of libraries say of their end after that is not shown.
    """
    heard: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield heard
        return

    def listen(number: int, frame: FrameType | None) -> Any:
        heard.append(number)
        raise KeyboardInterrupt

    def fail(args: threading.ExceptHookArgs) -> Any:
        if not heard:
            hook(args)

    before, hook = signal.signal(signal.SIGINT, listen), threading.excepthook
    threading.excepthook = fail
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, before)
        threading.excepthook = hook


def _told(error: Exception) -> tuple[str, int]:
    """Say in one sentence what went wrong, and whose it is to mend."""
    message = " ".join(str(error).split())
    if isinstance(error, OutputError):
        return message, FAILED
    if isinstance(error, InputError) and message:  # may quote what the user typed
        return message, BAD_INPUT
    if isinstance(error, ValueError) and message:
        return as_typed(message), BAD_INPUT
    if (
        isinstance(error, OSError) and error.errno is None and message
    ):  # our own: a data set that is not there
        return message, BAD_INPUT
    if isinstance(error, OSError):
        what = error.strerror or message
        if error.errno == errno.ENOSPC:
            what = "no space left on the device; make room, then run the same command again"
        return f"Cannot write {error.filename or 'the output'}: {what}.", FAILED
    if isinstance(error, MemoryError):
        return "There is not enough memory for this table: take fewer rows or columns.", FAILED
    return f"{type(error).__name__}: {message or 'no message'} (--debug shows where).", FAILED


def _end(message: str, code: int) -> NoReturn:
    typer.echo(f"foresift: {printable(message)}", err=True)
    raise typer.Exit(code)
