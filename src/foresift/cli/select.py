"""The command `foresift select`: ranks the columns of a file, and writes a report and a smaller table."""

import sys
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresift.cli.batches import BatchTable, opened, refuse_options, split_of, wants_batches
from foresift.cli.errors import STOPPED, as_typed, guarded
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
    names_of,
    notes_on_target,
    option,
    place_of,
    read_columns,
    require_jobs,
)
from foresift.cli.terminal import about_target, notes, printable, ranking_table, wrapped
from foresift.cli.units import FeatureGroups, Keep, units_of
from foresift.errors import InputError
from foresift.evaluation.registry import METHODS, make_estimator

if TYPE_CHECKING:
    from foresift.evaluation.select import Selection
    from foresift.reading.files import TableFile
    from foresift.reading.splitting import Split

__all__ = ["select"]

Method = StrEnum("Method", {key.replace("-", "_"): key for key in ("auto", *METHODS)})  # type: ignore[misc]
AUTO = Method("auto")
Error = StrEnum("Error", ["fdr", "fwer", "none"])
FDR = Error("fdr")
Goal = StrEnum("Goal", ["compact", "all"])
COMPACT = Goal("compact")
Depends = StrEnum("Depends", ["auto", "none", "groups", "time", "panel"])

_IN_PYTHON = (
    "estimator=Hist",
    "log_target=True",
    "task=",
    "goal=",
    "groups=",
    "time=",
    "keep=[",
    "n_samples=",
)  # notes that say how a parameter is set
_HOW = "How to select"
_OUT = "Output"
_LARGE = "Large tables"


@guarded
def select(
    data: File,
    target: Target,
    task: Task = Tasks.auto,
    method: Annotated[Method, option("Selection method; see `foresift methods`.", _HOW)] = AUTO,
    k: Annotated[
        int | None, option("Number of columns to keep; by default the method decides.", _HOW, min=1)
    ] = None,
    goal: Annotated[
        Goal,
        option(
            "What auto keeps: the fewest relevant columns that predict as well, or all relevant ones.", _HOW
        ),
    ] = COMPACT,
    alpha: Annotated[
        float, option("False discovery rate of the relevance test, or the rate that --error names.", _HOW)
    ] = 0.1,
    error: Annotated[
        Error,
        option("What to control: false discovery rate, family-wise error rate, or each column alone.", _HOW),
    ] = FDR,
    check: Annotated[
        bool, option("Choose the number of columns, and compare with all columns, by cross-validation.", _HOW)
    ] = True,
    estimator: Annotated[
        str | None,
        option("Model of the check instead of a forest; see `foresift methods`.", _HOW, metavar="NAME"),
    ] = None,
    scoring: Annotated[
        str | None,
        option("Score of the check, by its name in scikit-learn, such as f1_macro.", _HOW, metavar="NAME"),
    ] = None,
    cv: Annotated[int | None, option("Folds of the check; by default 5 or 3.", _HOW, min=3)] = None,
    log_target: Annotated[
        bool,
        option("Model the logarithm of the target, a quantity that is not negative.", _HOW, "--log-target"),
    ] = False,
    trees: Annotated[
        int | None, option("Trees per forest; the default depends on the method.", _HOW, min=1)
    ] = None,
    seed: Annotated[int, option("Random seed.", _HOW, min=0, max=2**32 - 1)] = 0,
    jobs: Annotated[int, option("Threads; -1 for all cores.", _HOW)] = -1,
    out: Annotated[
        str | None,
        option("Write report.html, ranking.csv and selection.json here.", _OUT, "--out", "-o", metavar="DIR"),
    ] = None,
    write_data: Annotated[
        bool, option("Also write the table of kept columns and target.", _OUT, "--write-data")
    ] = False,
    top: Annotated[int, option("Rows of the printed table; 0 for all.", _OUT, min=0)] = 30,
    as_json: Annotated[bool, option("Print JSON and nothing else.", _OUT, "--json")] = False,
    quiet: Annotated[
        bool, option("Print only the names of the kept columns, one a line.", _OUT, "--quiet", "-q")
    ] = False,
    groups: Groups = "",
    time: Time = "",
    dependence: Annotated[
        Depends,
        option(
            "auto: what --groups and --time say; none; groups; time (as rows stand if there is no --time);"
            " panel (both).",
            "Rows that belong together",
            metavar="HOW",
        ),
    ] = Depends.auto,
    keep: Keep = "",
    feature_groups: FeatureGroups = "",
    numeric: Numeric = "",
    categorical: Categorical = "",
    drop: Drop = "",
    keep_ids: KeepIds = False,
    skip_unlabelled: SkipUnlabelled = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = "",
    max_memory: MaxMemory = 4.0,
    in_batches: Annotated[
        bool,
        option(
            "Read Parquet, Feather or CSV in batches, as larger tables are (see --max-memory).",
            _LARGE,
            "--in-batches",
        ),
    ] = False,
    memory_limit: Annotated[
        str | None,
        option(
            "Codes of a large table above this size lie in a temporary file.", _LARGE, metavar="500MB|2GB"
        ),
    ] = None,
    cluster: Annotated[
        str,
        option(
            "Dask scheduler whose workers see DATA, a Parquet file or folder, such as tcp://10.0.0.1:8786.",
            _LARGE,
            metavar="ADDRESS",
        ),
    ] = "",
    debug: Annotated[bool, option("Show the traceback of an error.", _OUT, "--debug")] = False,
) -> None:
    """Select the columns of DATA that predict the target, and report how certain that is.

    A cell that is empty, ?, NA, N/A, NaN or null is a missing value. Columns that look like row numbers or
    names are dropped, and dates become numbers; these decisions are printed.

    Exit codes: 0 success (even if no column is relevant), 1 failure, 2 invalid file or options, 130
    interrupted.

    For example:

    - `foresift select customers.csv --target cancelled --out report/`

    - `zcat huge.tsv.gz | foresift select - --target y --json | jq .verdict`

    - `foresift select t.parquet --target y --k 10 --write-data --out small/`
    """
    require_jobs(jobs, "threads")
    if not 0 < alpha < 1:
        raise InputError(f"--alpha is an error rate between 0 and 1, not {alpha}.")
    if write_data and out is None:
        raise InputError("--write-data needs --out DIR, where the table is written.")
    from foresift.evaluation.harness.progress import steps
    from foresift.report.output import folder

    shown = not quiet and not as_json
    with folder(written := place_of(out)) as place, steps(not quiet) as tell:
        tell("reading", 0, 0)
        options = {
            "goal": goal.value,
            "alpha": alpha,
            "error": error.value,
            "check": check,
            "scoring": scoring,
            "cv": cv,
            "log_target": log_target,
            "memory_limit": memory_limit,
            "dependence": dependence.value,
            "parameters": {} if trees is None else {"n_estimators": trees},
        }
        how = {"method": method.value, "k": k, "seed": seed, "jobs": jobs, "estimator": estimator}
        table: TableFile | BatchTable
        if wants_batches(data, max_memory, asked=in_batches, cluster=cluster):
            refuse_options(
                groups=groups,
                time=time,
                keep=keep,
                feature_groups=feature_groups,
                numeric=numeric,
                categorical=categorical,
                keep_ids=keep_ids,
                skip_unlabelled=skip_unlabelled,
                write_data=write_data,
            )
            table, split, found = _select_in_batches(
                data, target, names_of(drop), cluster, tell, task=task.value, **how, **options
            )
        else:
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
            if k is not None and k > len(split.columns):
                raise InputError(
                    f"--k is {k}, but there are only {len(split.columns)} columns to choose from."
                )
            units = units_of(keep, feature_groups, split)
            found = _select(table, split, tell, **how, **options, **split.about_rows, **units)
            found = _with_notes(
                found, split, [*notes_on_target(split, categorical, task.value), *table.notes]
            )
            if not split.about_rows and dependence == Depends.auto:
                found = _with_dates(found, split)
        if place is not None:
            tell("writing", 0, 0)
            _write(found, place, table if write_data and found.features else None)  # type: ignore[arg-type]
    if write_data and not found.features:
        typer.echo("foresift: No column is kept, so there is no smaller table to write.", err=True)
    elif write_data and table.form == "Excel":
        typer.echo(f"foresift: selected{table.suffix} is CSV: workbooks are read, not written.", err=True)
    _print(found, table, split, as_json=as_json, shown=shown, top=top, out=written)
    if getattr(found.selector_, "interrupted_", False):
        raise typer.Exit(STOPPED)


def _select_in_batches(
    data: str, target: str, drop: tuple[str, ...], cluster: str, tell: Any, *, task: str, **options: Any
) -> "tuple[BatchTable, Split, Selection]":
    """Select the columns of a table that is read in batches."""
    from dataclasses import replace

    with opened(data, target, drop, cluster) as source:
        found = _called(source, target, tell, task=task, **options)
    table, split = BatchTable(data), split_of(found, target, drop)
    about = {
        "target": target,
        "n_columns": split.n_columns,
        "columns_left_out": [{"name": name, "reason": "dropped by --drop"} for name in drop],
        "how": table.how,
    }
    found = replace(found, data={**found.data, **about}, source=table.source)
    return table, split, _with_notes(found, split, [])


def _called(
    X: Any,
    y: Any,
    tell: Any,
    *,
    task: str,
    method: str,
    k: int | None,
    seed: int,
    jobs: int,
    estimator: str | None,
    **options: Any,
) -> "Selection":
    """Call `select`, and print its warnings."""
    from foresift.evaluation.select import select as select_columns

    if estimator is not None:
        options["estimator"] = make_estimator(estimator, task) if task != "auto" else estimator
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        found = select_columns(
            X, y, method, k, task=task, random_state=seed, n_jobs=jobs, tell=tell, **options
        )
    for message in dict.fromkeys(" ".join(str(warning.message).split()) for warning in warned):
        typer.echo(f"foresift: {printable(as_typed(message))}", err=True)
    return found


def _select(table: "TableFile | BatchTable", split: "Split", tell: Any, **options: Any) -> "Selection":
    from dataclasses import replace

    found = _called(split.columns, split.labels, tell, task=split.task, **options)
    kinds = {decision.name: decision.kind for decision in split.decisions}
    # In place: nothing else refers to the rows yet, and a copy of many columns is larger than the table.
    for row in found.ranking:
        row["kind"] = kinds[row["name"]]
    left_out = [{"name": d.name, "reason": d.why} for d in split.decisions if d.left_out]
    left_out += [{"name": name, "reason": "dropped by --drop"} for name in split.dropped]
    left_out += [
        {"name": name, "reason": f"{key} of the rows (--{key})"} for key, (name,) in split.about_rows.items()
    ]
    about = {
        "n_columns": split.n_columns,
        "target": split.target,
        "columns_left_out": left_out,
        "decisions": [{"name": d.name, "kind": d.kind, "why": d.why} for d in split.decisions],
        "how": table.how,
    }
    return replace(found, data={**found.data, **about}, source=table.source)


def _with_notes(found: "Selection", split: "Split", more: list[str]) -> "Selection":
    """Add the notes on the file; the others name options as they are typed."""
    from dataclasses import replace

    notes = [note for note in found.notes if "pandas.to_datetime" not in note]  # a file was read for dates
    told = [as_typed(note) if any(map(note.count, _IN_PYTHON)) else note for note in notes]
    return replace(found, notes=[*told, *more, *split.notes])


def _with_dates(found: "Selection", split: "Split") -> "Selection":
    """Say that a column of dates orders the rows: this says more than that neighbours are alike."""
    from dataclasses import replace

    from foresift.data.target import Target as Values
    from foresift.evaluation.select.looks_dependent import ALIKE, note_on_dates

    dates = [d.name for d in split.decisions if d.kind == "date" and not d.left_out]
    if not dates or any("--groups" in note for note in found.notes if not note.startswith(ALIKE)):
        return found
    values = Values.of(split.labels, len(split.labels), split.task)
    said = filter(None, (note_on_dates(name, split.columns[name], values) for name in dates))
    if not (note := next(said, "")):
        return found
    others = [other for other in found.notes if not other.startswith(ALIKE)]
    return replace(found, notes=[as_typed(note), *others])


def _write(found: "Selection", place: Path, table: "TableFile | None") -> None:
    """Write all files, or none if one fails."""
    import csv

    from foresift.report.output import json_lines, together

    with together(place) as new:
        with new("ranking.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(found.ranking[0]))
            writer.writeheader()
            writer.writerows(found.ranking)
        with new("selection.json").open("w", encoding="utf-8") as file:
            file.writelines(json_lines(found.to_dict()))
            file.write("\n")
        if table is not None:
            of_rows = {found.data[key]["column"] for key in ("groups", "time") if key in found.data}
            kept = {*found.features, found.data["target"], *of_rows}
            table.write(new(f"selected{table.suffix}"), kept)
        new("report.html").write_text(found.to_html(), encoding="utf-8")


def _print(
    found: "Selection",
    table: "TableFile | BatchTable",
    split: "Split",
    *,
    as_json: bool,
    shown: bool,
    top: int,
    out: Path | None,
) -> None:
    if as_json:
        from foresift.report.output import json_lines

        sys.stdout.writelines(json_lines(found.to_dict()))
        sys.stdout.write("\n")
        return
    if not shown:
        sys.stdout.writelines(f"{printable(name)}\n" for name in found.features)
        return
    from foresift.report.ranking_view import interval_note

    size = (
        f"{_count(found.data['n_rows'], 'row')}, {_count(split.n_columns, 'column')}, target {split.target}"
    )
    head = f"{table.source} ({table.how}): {size}"
    sys.stdout.write(wrapped(head) + about_target(found.data) + notes(column_notes(split), "selection.json"))
    sys.stdout.write(ranking_table(found.ranking, top))
    if found.method["order"] != "by score":  # the default needs no note
        sys.stdout.write(wrapped(f"Best first: {found.method['order']}."))
    for text in interval_note(found.ranking):
        sys.stdout.write(wrapped(text))
    sys.stdout.write("\n" + wrapped(found.verdict))
    for text in (" ".join(found.details), *found.notes):  # warnings in lines of their own
        sys.stdout.write(wrapped(text))
    if out is not None:
        sys.stdout.write(wrapped(f"Report: {out / 'report.html'}"))


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' if n != 1 else ''}"
