"""The command `foresift compare`: methods, estimators and sizes scored on held-out rows, resumable."""

import contextlib
import json
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresift.cli.errors import FAILED, guarded
from foresift.cli.table import (
    Categorical,
    Delimiter,
    Drop,
    Encoding,
    File,
    Groups,
    KeepIds,
    MaxMemory,
    Numeric,
    Sheet,
    SkipUnlabelled,
    Target,
    Task,
    Tasks,
    Time,
    column_notes,
    completing,
    names_of,
    notes_on_target,
    option,
    place_of,
    read_columns,
    require_jobs,
)
from foresift.cli.terminal import classes, notes, printable
from foresift.evaluation.registry import ESTIMATORS, METHODS, OTHERS

if TYPE_CHECKING:
    from foresift.evaluation.compare import Comparison

__all__ = ["compare", "print_pairs", "write_pairs"]

_HOW = "How to compare"
_WHERE = "Where it runs"
_OUT = "Output"


@guarded
def compare(
    data: File,
    target: Target,
    task: Task = Tasks.auto,
    methods: Annotated[
        str | None,
        option(
            "See `foresift methods`; `none` (no selection) is always included.",
            _HOW,
            metavar="A,B",
            autocompletion=completing([*METHODS, *OTHERS]),
        ),
    ] = None,
    estimators: Annotated[
        str,
        option(
            f"Of {', '.join(ESTIMATORS)}.",
            _HOW,
            "--estimators",
            "--classifiers",
            metavar="A,B",
            autocompletion=completing([*ESTIMATORS]),
        ),
    ] = "rf",
    cv: Annotated[
        str,
        option(
            "Folds (10), repeats x folds (3x10), test fraction (0.3) or repeats x fraction (20x0.3).", _HOW
        ),
    ] = "10",
    sizes: Annotated[
        str, option("Numbers of features; own: what the method selects.", _HOW, metavar="own,2,5")
    ] = "own",
    scoring: Annotated[
        str | None,
        option("Scorers of scikit-learn; by default accuracy, or r2 for a quantity.", _HOW, metavar="A,B"),
    ] = None,
    seed: Annotated[int, option("Random seed.", _HOW, min=0, max=2**32 - 1)] = 0,
    store: Annotated[
        Path | None, option("Store results in this file; resume if it exists.", _WHERE, metavar="F.sqlite")
    ] = None,
    jobs: Annotated[
        int, option("Processes, each with a copy of the table; -1 for all cores (select: threads).", _WHERE)
    ] = 1,
    scheduler: Annotated[
        str | None, option("Address of a Dask scheduler to run on.", _WHERE, metavar="ADDRESS")
    ] = None,
    retry_failed: Annotated[bool, option("Rerun failed tasks.", _WHERE, "--retry-failed")] = False,
    out: Annotated[
        str | None,
        option(
            "Write report.html, comparison.csv and comparison.json here.", _OUT, "--out", "-o", metavar="DIR"
        ),
    ] = None,
    all_pairs: Annotated[
        bool, option("Compare every two rows too; with --out also in pairs.csv.", _OUT, "--all-pairs")
    ] = False,
    as_json: Annotated[bool, option("Print JSON and nothing else.", _OUT, "--json")] = False,
    quiet: Annotated[bool, option("Print only the best result.", _OUT, "--quiet", "-q")] = False,
    debug: Annotated[bool, option("Show the traceback of an error.", _OUT, "--debug")] = False,
    groups: Groups = "",
    time: Time = "",
    numeric: Numeric = "",
    categorical: Categorical = "",
    drop: Drop = "",
    keep_ids: KeepIds = False,
    skip_unlabelled: SkipUnlabelled = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = "",
    max_memory: MaxMemory = 4.0,
) -> None:
    """Compare methods by how well estimators predict held-out rows from the columns each method selects.

    With a --store, the same command resumes a run that was stopped.

    Exit codes: 0 success, 1 failure, 2 invalid file or options, 130 interrupted.

    For example:

    - `foresift compare customers.csv --target cancelled --methods relevance,relieff --estimators rf,knn`

    - `foresift compare t.csv --target y --cv 10x10 --sizes own,2,5,10 --store t.sqlite --jobs -1 --out t/`
    """
    require_jobs(jobs, "processes")
    repeats, folds = split_option(cv)
    arguments: dict[str, Any] = {
        "methods": None if methods is None else names_of(methods),
        "estimators": names_of(estimators),
        "sizes": _sizes(sizes),
        "cv": folds,
        "repeats": repeats,
        "scoring": None if scoring is None else names_of(scoring),
        "store": store,
        "n_jobs": jobs,
        "random_state": seed,
        "retry_failed": retry_failed,
        "progress": not quiet and not as_json,
    }
    from foresift.evaluation.harness.progress import steps
    from foresift.report.output import folder

    with folder(place_of(out)) as place:
        with steps(arguments["progress"]) as tell:
            table, split = read_columns(
                data,
                target,
                task=task.value,
                numeric=numeric,
                categorical=categorical,
                drop=drop,
                keep_ids=keep_ids,
                skip_unlabelled=skip_unlabelled,
                groups=groups,
                time=time,
                delimiter=delimiter,
                encoding=encoding,
                sheet=sheet,
                max_memory=max_memory,
                tell=tell,
            )
        arguments |= {"name": Path(table.source).stem, "task": split.task, **split.about_rows}
        try:
            found = _compared(split.columns, split.labels, arguments, scheduler)
        except KeyboardInterrupt as stopped:
            raise KeyboardInterrupt(_how_to_resume(stopped, store)) from None
        found.about["target"] = split.target
        found.about["notes"] += [*notes_on_target(split, categorical, task.value), *table.notes, *split.notes]
        if place is not None:
            _write(found, place, all_pairs)
    if not as_json and not quiet:
        target_line = "" if split.task == "regression" else classes(Counter(split.labels.tolist()))
        sys.stdout.write(target_line + notes(column_notes(split)))
    _show(found, all_pairs=all_pairs, as_json=as_json, quiet=quiet)
    if place is not None and not as_json and not quiet:
        _print(f"Report: {place / 'report.html'}")


def _compared(columns: Any, labels: Any, arguments: dict[str, Any], scheduler: str | None) -> "Comparison":
    from foresift.evaluation.compare import compare

    with contextlib.ExitStack() as stack:
        if scheduler is not None:
            import joblib

            from foresift.evaluation.harness.cluster import connected

            client = stack.enter_context(connected(scheduler))
            stack.enter_context(joblib.parallel_config("dask", client=client))
        return compare(columns, labels, **arguments)


def _write(found: "Comparison", place: Path, all_pairs: bool) -> None:
    """Write all files, or none if one fails."""
    from foresift.report import comparison_html
    from foresift.report.output import together

    plain = found.to_dict(all_pairs=all_pairs)
    with together(place) as new:
        if plain["rows"]:
            write_csv(new("comparison.csv"), list(plain["rows"][0]), plain["rows"])
        if all_pairs:
            write_pairs(new("pairs.csv"), plain["pairs"])
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1)
        new("comparison.json").write_text(text + "\n", encoding="utf-8")
        new("report.html").write_text(comparison_html(plain), encoding="utf-8")


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as a CSV file."""
    import csv

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def write_pairs(path: Path, pairs: Iterable[dict[str, Any]]) -> None:
    """Write what `Comparison.pairs` returns as a CSV file."""
    from foresift.evaluation.compare.pairs import COLUMNS

    write_csv(path, COLUMNS, pairs)


def print_pairs(found: "Comparison", place: str) -> None:
    """Print the tables of all pairs of rows; `place` says where those left out are."""
    from foresift.evaluation.compare.text import pairs_text

    _print(pairs_text(found.pairs(), place))


def _print(text: str) -> None:
    sys.stdout.writelines(f"{printable(line)}\n" for line in text.split("\n"))


def _show(found: "Comparison", *, all_pairs: bool, as_json: bool, quiet: bool) -> None:
    if as_json:
        plain = found.to_dict(all_pairs=all_pairs)
        sys.stdout.write(json.dumps(plain, allow_nan=False, ensure_ascii=False) + "\n")
    elif not found.rows:
        why = printable(found.failures[0]["error"])
        typer.echo(f"foresift: everything failed, first: {why}", err=True)
    elif quiet:
        best = found.best()
        typer.echo(f"{best.method} {best.size} {best.classifier} {best.scorer} {best.mean:.4f}")
    else:
        _print(f"{found}")
        if all_pairs:
            print_pairs(found, "--out writes all of them to pairs.csv.")
        _print(f"{found.verdict} {found.recommendation}".rstrip())
    if not found.rows:
        raise typer.Exit(FAILED)


def split_option(text: str) -> tuple[int, int | float]:
    """Parse --cv: the number of repetitions, and of folds or the test fraction.

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
            f"--cv is {text!r}: give folds (10), repeats x folds (3x10), or repeats x test fraction (20x0.3)."
        ) from None


def _sizes(text: str) -> list[int | str]:
    try:
        return [name if name == "own" else int(name) for name in names_of(text)]
    except ValueError:
        raise ValueError(f"--sizes is {text!r}: give numbers of features, or own, as in own,2,5.") from None


def _how_to_resume(stopped: KeyboardInterrupt, store: Path | None) -> str:
    if store is None:
        return "stopped; nothing is stored without --store F.sqlite."
    command = shlex.join(["foresift", *sys.argv[1:]])
    return f"{str(stopped) or 'Stopped.'} To resume: {command}"
