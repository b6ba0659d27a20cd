"""Error handling of all commands: one sentence on stderr and an exit code."""

import ast
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
from foresift.errors import InputError, OutputError, typed

__all__ = ["BAD_INPUT", "CLOSED_PIPE", "FAILED", "STOPPED", "as_typed", "guarded"]

FAILED = 1  # no result, or it could not be written
BAD_INPUT = 2  # also typer's code for bad options
STOPPED = 130  # Ctrl-C, the convention of shells
CLOSED_PIPE = 141  # as in `foresift ... | head`

P = ParamSpec("P")

_BARE = r"(?<!['\"])\b{}\b(?!['\"])"  # in quotes it is a column name
# Parameters in messages of the library, and the corresponding options of the command line.
_TYPED: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"name (it|the column) in categorical_features": r"take \1 as a category (--categorical NAME)",
    r"\(method \"([\w-]+)\"\)": r"(--method \1)",
    r"\bcv=([\d.]+)": r"--cv \1",
    r"\bgoal=[\"'](\w+)[\"']": r"--goal \1",
    r"\btask=[\"'](\w+)[\"']": r"--task \1",
    r"\bestimator=HistGradientBoosting\w+\(\)": "--estimator boosting",
    r"\blog_target(=True)?": "--log-target",
    r"\blower cv\b": "lower --cv",
    r"^(groups|time) \((.+?)\)": lambda found: typed(f"--{found[1]}", found[2]),
    r"\b(groups|time)=X\['(.+?)'\]": lambda found: typed(f"--{found[1]}", found[2]),
    r"\bpass groups= or time=": "give --groups NAME or --time NAME",
    r"\bpass groups too": "give --groups NAME too",
    r"\bor use time if": "or use --time NAME if",
    r'\bdependence="(\w+)"( needs groups: pass the group of every row)?': lambda found: (
        f"--dependence {found[1]}" + (" needs --groups NAME" if found[2] else "")
    ),
    r"^alpha and error have no effect": "--alpha and --error have no effect",
    r"^(alpha|error) has no effect": r"--\1 has no effect",
    r"\bn_features_to_select cannot be": "--k cannot be",
    r"\bn_features_to_select(?:=| is )(\d+)": r"--k \1",
    r"^keep (names|has)": r"--keep \1",
    r"\bkeep=(\[.+\])": lambda found: typed("--keep", ",".join(map(str, ast.literal_eval(found[1])))),
    r"\bname them in keep\b": "name them in --keep",
    r'\bfeature_groups="one-hot"': "--feature-groups one-hot",
    _BARE.format("feature_groups"): "--feature-groups",
    r"\bn_samples=None takes all": "n_samples=None takes all, in Python",
    _BARE.format("n_estimators"): "--trees",
    _BARE.format("n_jobs"): "--jobs",
    _BARE.format("random_state"): "--seed",
}


def as_typed(message: str) -> str:
    """Replace parameters in a message of the library by command-line options.

    Examples
    --------
    >>> as_typed("Use fewer folds, or a share of the rows (cv=0.3).")
    'Use fewer folds, or a share of the rows (--cv 0.3).'
    """
    for pattern, replacement in _TYPED.items():
        message = re.sub(pattern, replacement, message)
    return message


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Wrap a command so that every error ends with a message and an exit code.

    An `InputError`, or a `ValueError` of the library, is the user's error: exit code 2. A file that cannot be
    written, too little memory and unexpected errors: 1. Ctrl-C: 130, with the message of the
    KeyboardInterrupt, if any. If the command has a parameter `debug` and it is true, errors are raised.

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
        with _interrupts() as interrupts:
            try:
                if sys.stdout is None:  # foresift ... >&-
                    raise OSError(errno.EBADF, "standard output is closed")
                for stream in (sys.stdout, sys.stderr):
                    if hasattr(stream, "reconfigure"):  # names may have characters the terminal cannot show
                        stream.reconfigure(errors="replace")
                command(*args, **kwargs)
                sys.stdout.flush()
            except (typer.Exit, typer.Abort):
                raise
            except (KeyboardInterrupt, Exception) as error:
                if isinstance(error, KeyboardInterrupt) or interrupts:  # libraries may raise another error
                    _exit((isinstance(error, KeyboardInterrupt) and str(error)) or "stopped.", STOPPED)
                if isinstance(error, BrokenPipeError):
                    # Flushing the buffer at exit would fail again.
                    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                    raise typer.Exit(CLOSED_PIPE) from None
                if kwargs.get("debug"):
                    raise
                _exit(*_message_and_code(error))

    return run


@contextlib.contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Let Ctrl-C raise KeyboardInterrupt while a command runs, and record it in the list.

    Errors of threads after that are not shown.
    """
    interrupts: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return

    def interrupt(number: int, frame: FrameType | None) -> Any:
        interrupts.append(number)
        raise KeyboardInterrupt

    def fail(args: threading.ExceptHookArgs) -> Any:
        if not interrupts:
            hook(args)

    before, hook = signal.signal(signal.SIGINT, interrupt), threading.excepthook
    threading.excepthook = fail
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
        threading.excepthook = hook


def _message_and_code(error: Exception) -> tuple[str, int]:
    """One sentence on an error, and the exit code."""
    message = " ".join(str(error).split())
    if isinstance(error, OutputError):
        return message, FAILED
    if isinstance(error, InputError) and message:  # may quote the user's input, so no replacements
        return message, BAD_INPUT
    if isinstance(error, ValueError) and message:
        return as_typed(message), BAD_INPUT
    if isinstance(error, OSError) and error.errno is None and message:  # foresift's own: a missing data set
        return message, BAD_INPUT
    if isinstance(error, OSError):
        what = error.strerror or message
        if error.errno == errno.ENOSPC:
            what = "no space left on the device; free some, then run the same command again"
        return f"Cannot write {error.filename or 'the output'}: {what}.", FAILED
    if isinstance(error, MemoryError):
        return "There is not enough memory for this table: use fewer rows or columns.", FAILED
    return f"{type(error).__name__}: {message or 'no message'} (--debug shows where).", FAILED


def _exit(message: str, code: int) -> NoReturn:
    typer.echo(f"foresift: {printable(message)}", err=True)
    raise typer.Exit(code)
