"""The command `foresift compare`: methods, classifiers and sizes judged on unseen rows, resumable."""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from foresift.comparison import Comparison

__all__ = ["command"]

# Reads a file: what there is to compare, and the labels of the target.
Read = Callable[[Path, str], tuple[Any, Any]]
STOPPED = 130  # Ctrl-C, as shells count it


def command(read: Read, mistakes: tuple[type[Exception], ...] = ()) -> Callable[..., None]:
    """Make the command.

    Parameters
    ----------
    read : callable
        ``read(path, target)`` returns the columns and the labels.
    mistakes : tuple of exception classes
        What `read` raises if the file will not do, beside ValueError.

    Returns
    -------
    callable
        For `typer.Typer.command`.

    Examples
    --------
    >>> app = typer.Typer()
    >>> _ = app.command("compare")(command(lambda path, target: ({}, [])))
    """

    def compare(
        data: Annotated[Path, typer.Argument(metavar="DATA", help="A table with a header line.")],
        target: Annotated[str, typer.Option(metavar="COL", help="The column to explain.")],
        methods: Annotated[
            str, typer.Option(metavar="A,B", help="See `foresift methods`; none is always there.")
        ] = "forest-gain,relevance,info-gain,relieff,random",
        classifiers: Annotated[
            str,
            typer.Option(metavar="A,B", help="Of rf, c45, nb, knn, knn-manhattan, svm, svm-linear, mlp."),
        ] = "rf",
        cv: Annotated[
            str,
            typer.Option(help="Folds, as 10; 3x10: three times; 0.3: a share for testing, 20x0.3: 20 times."),
        ] = "10",
        sizes: Annotated[
            str, typer.Option(metavar="1,2,5", help="Numbers of features; own: what the method selects.")
        ] = "own",
        scoring: Annotated[str, typer.Option(metavar="A,B", help="Scorers of scikit-learn.")] = "accuracy",
        store: Annotated[
            Path | None, typer.Option(metavar="F.sqlite", help="Keep results there, and go on if it exists.")
        ] = None,
        jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = 1,
        seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Equal seeds, equal results.")] = 0,
        scheduler: Annotated[
            str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler: run there, not here.")
        ] = None,
        retry_failed: Annotated[
            bool, typer.Option("--retry-failed", help="Try again what failed before.")
        ] = False,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, and only the best.")] = False,
    ) -> None:
        """Compare methods: how well classifiers do with what each of them selects, on rows it has not seen.

        A run that was stopped goes on with the same command, if it has a --store.
        """
        from foresift.cluster import ClusterError
        from foresift.experiment import WorkerLost
        from foresift.store import StoreError

        told: tuple[type[Exception], ...] = (ValueError, StoreError, ClusterError, WorkerLost, *mistakes)
        try:
            if jobs == 0:
                raise ValueError("--jobs is a number of processes, or -1 for all cores; it cannot be 0.")
            repeats, folds = split_option(cv)
            columns, labels = read(data, target)
            arguments = {
                "methods": _names(methods),
                "classifiers": _names(classifiers),
                "sizes": _sizes(sizes),
                "cv": folds,
                "repeats": repeats,
                "scoring": _names(scoring),
                "store": store,
                "n_jobs": jobs,
                "random_state": seed,
                "name": data.stem,
                "retry_failed": retry_failed,
                "progress": not quiet and not as_json,
            }
            found = _compared(columns, labels, arguments, scheduler)
        except told as error:
            _end(" ".join(str(error).split()), 2)
        except KeyboardInterrupt as stopped:
            _end(_how_to_go_on(stopped, store), STOPPED)
        _show(found, as_json=as_json, quiet=quiet)

    return compare


def _compared(columns: Any, labels: Any, arguments: dict[str, Any], scheduler: str | None) -> Comparison:
    from foresift.comparison import compare

    with contextlib.ExitStack() as stack:
        if scheduler is not None:
            import joblib

            from foresift.cluster import connected

            client = stack.enter_context(connected(scheduler))
            stack.enter_context(joblib.parallel_config("dask", client=client))
        return compare(columns, labels, **arguments)


def _show(found: Comparison, *, as_json: bool, quiet: bool) -> None:
    from rich.console import Console

    from foresift.comparison_text import render

    if as_json:
        typer.echo(json.dumps(found.to_dict(), allow_nan=False, ensure_ascii=False))
    elif not found.rows:
        _end(f"everything failed, first: {found.failures[0]['error']}", 1)
    elif quiet:
        best = found.best()
        typer.echo(f"{best.method} {best.size} {best.classifier} {best.scorer} {best.mean:.4f}")
    else:
        render(found.rows, found.about, found.failures, Console())


def split_option(text: str) -> tuple[int, int | float]:
    """Read a way to split: how many times, and folds or a share.

    Examples
    --------
    >>> split_option("10"), split_option("3x10"), split_option("20x0.3")
    ((1, 10), (3, 10), (20, 0.3))
    """
    times, _, how = text.lower().rpartition("x")
    try:
        return int(times or 1), float(how) if "." in how else int(how)
    except ValueError:
        raise ValueError(
            f"--cv is {text!r}: give a number of folds (10), times x folds (3x10), or times x share (20x0.3)."
        ) from None


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _sizes(text: str) -> list[int | str]:
    try:
        return [name if name == "own" else int(name) for name in _names(text)]
    except ValueError:
        raise ValueError(f"--sizes is {text!r}: give numbers of features, or own, as in own,2,5.") from None


def _how_to_go_on(stopped: KeyboardInterrupt, store: Path | None) -> str:
    if store is None:
        return "stopped; nothing is kept without --store F.sqlite."
    typed = shlex.join(["foresift", *sys.argv[1:]])
    return f"{str(stopped) or 'Stopped.'} To go on: {typed}"


def _end(message: str, code: int) -> NoReturn:
    typer.echo(f"foresift: {message}", err=True)
    raise typer.Exit(code)
