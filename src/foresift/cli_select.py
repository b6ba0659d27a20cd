"""The command `foresift select`: from a file to a ranking, a report and a smaller table."""

import sys
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresift.cli_errors import guarded
from foresift.errors import InputError
from foresift.methods import METHODS

if TYPE_CHECKING:
    from foresift.kinds import Decision, Wishes
    from foresift.reading import Split, TableFile
    from foresift.selection import Selection

__all__ = ["select"]

# `auto` is the one we would take ourselves.
Method = StrEnum("Method", {key.replace("-", "_"): key for key in ("auto", *METHODS)})  # type: ignore[misc]
AUTO = Method("auto")
Error = StrEnum("Error", ["fdr", "fwer", "none"])
FDR = Error("fdr")

_FILE = "File"
_HOW = "How to select"
_OUT = "What comes out"


def _option(text: str, panel: str, *flags: str, **more: Any) -> Any:
    return typer.Option(*flags, help=text, rich_help_panel=panel, **more)


@guarded
def select(
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="CSV, TSV, Parquet, Feather or ARFF, also gzipped; - is stdin."),
    ],
    target: Annotated[str, typer.Option(metavar="COL", help="The column to explain.")],
    method: Annotated[Method, _option("How to rank; see `foresift methods`.", _HOW)] = AUTO,
    k: Annotated[
        int | None, _option("Keep K columns; by default as many as the method finds.", _HOW, min=1)
    ] = None,
    alpha: Annotated[float, _option("Error rate of the test of relevance.", _HOW)] = 0.1,
    error: Annotated[
        Error, _option("Its kind: share of false discoveries, any error, or each column's own.", _HOW)
    ] = FDR,
    check: Annotated[
        bool, _option("Compare with all columns on unseen rows, and choose the size by it.", _HOW)
    ] = True,
    trees: Annotated[
        int | None, _option("Trees of a forest; by default as many as suit the method.", _HOW, min=1)
    ] = None,
    seed: Annotated[int, _option("Equal seeds give equal results.", _HOW, min=0, max=2**32 - 1)] = 0,
    jobs: Annotated[int, _option("Threads; -1 for all cores.", _HOW)] = -1,
    out: Annotated[
        Path | None,
        _option(
            "Write report.html, ranking.csv and selection.json here.", _OUT, "--out", "-o", metavar="DIR"
        ),
    ] = None,
    write_data: Annotated[
        bool, _option("Write the table of kept columns and target there too.", _OUT, "--write-data")
    ] = False,
    top: Annotated[int, _option("Rows of the printed table; 0 for all.", _OUT, min=0)] = 30,
    as_json: Annotated[bool, _option("Print JSON and nothing else.", _OUT, "--json")] = False,
    quiet: Annotated[
        bool, _option("Print only the names of the kept columns, one a line.", _OUT, "--quiet", "-q")
    ] = False,
    numeric: Annotated[
        str, _option("Columns that are numbers; other cells count as missing.", _FILE, metavar="A,B")
    ] = "",
    categorical: Annotated[str, _option("Columns that are categories.", _FILE, metavar="A,B")] = "",
    drop: Annotated[str, _option("Columns to leave out.", _FILE, metavar="A,B")] = "",
    keep_ids: Annotated[
        bool, _option("Rank columns that look like row numbers or names too.", _FILE)
    ] = False,
    delimiter: Annotated[str | None, _option("What separates cells, if told wrongly.", _FILE)] = None,
    encoding: Annotated[str | None, _option("Encoding of the text, if told wrongly.", _FILE)] = None,
    debug: Annotated[bool, _option("Show where an error comes from.", _OUT, "--debug")] = False,
) -> None:
    """Say which columns of DATA to keep to predict the target, and how sure that is.

    A cell that is empty, ?, NA, N/A, NaN or null is a missing value. Columns that look like row numbers or
    names are left out; dates become numbers; what was decided is said.

    Exit codes: 0 there is an answer (also: no column matters), 1 it could not be had or written, 2 something
    is wrong with the file or the options, 130 stopped by Ctrl-C.

    For example:

    - `foresift select customers.csv --target cancelled --out report/`

    - `zcat huge.tsv.gz | foresift select - --target y --json | jq .sentence`

    - `foresift select t.parquet --target y --k 10 --write-data --out small/`
    """
    if jobs == 0:
        raise InputError("--jobs is a number of threads, or -1 for all cores; it cannot be 0.")
    if not 0 < alpha < 1:
        raise InputError(f"--alpha is an error rate between 0 and 1, not {alpha}.")
    if write_data and out is None:
        raise InputError("--write-data needs --out DIR, where the table is written.")
    if delimiter is not None and len(delimiter := delimiter.replace("\\t", "\t")) != 1:
        raise InputError(f"--delimiter is one character, not {delimiter!r}.")
    from foresift.kinds import Wishes
    from foresift.output import folder
    from foresift.progress_bar import bar

    wishes = Wishes(_names(numeric), _names(categorical), _names(drop), keep_ids)
    shown = not quiet and not as_json
    with folder(out) as place, bar(not quiet) as tell:
        tell("reading", 0, 0)
        table, split = _read(data, target, wishes, delimiter, encoding)
        if k is not None and k > len(split.columns):
            raise InputError(f"--k is {k}, but there are only {len(split.columns)} columns to choose from.")
        found = _select(table, split, tell, method, k, alpha, error, check, trees, seed, jobs)
        if place is not None:
            tell("writing", 0, 0)
            _write(found, place, table if write_data else None)
    _print(found, table, split, as_json=as_json, shown=shown, top=top, out=out)


def _names(text: str) -> tuple[str, ...]:
    """Names between commas; quotes let a name have one itself."""
    import csv

    rows = list(csv.reader([text], skipinitialspace=True))
    return tuple(name.strip() for row in rows for name in row if name.strip())


def _read(
    data: str, target: str, wishes: "Wishes", delimiter: str | None, encoding: str | None
) -> "tuple[TableFile, Split]":
    from foresift.reading import read_table, split_table

    text = {target, *wishes.categorical}
    if target in wishes.drop:
        raise InputError(f"--drop names the target {target!r}.")
    table = read_table(data, text=text, drop=wishes.drop, delimiter=delimiter, encoding=encoding)
    return table, split_table(table, target, wishes)


def _select(
    table: "TableFile",
    split: "Split",
    tell: Any,
    method: Any,
    k: int | None,
    alpha: float,
    error: Any,
    check: bool,
    trees: int | None,
    seed: int,
    jobs: int,
) -> "Selection":
    from dataclasses import replace

    from foresift.selection import select as select_columns

    parameters: dict[str, Any] = {}
    if trees is not None:
        parameters["n_estimators"] = trees
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        found = select_columns(
            split.columns,
            split.labels,
            method.value,
            k,
            alpha=alpha,
            error=error.value,
            check=check,
            parameters=parameters,
            random_state=seed,
            n_jobs=jobs,
            tell=tell,
        )
    for message in dict.fromkeys(" ".join(str(warning.message).split()) for warning in warned):
        typer.echo(f"foresift: {message}", err=True)
    kinds = {decision.name: decision.kind for decision in split.decisions}
    ranking = [{**row, "kind": kinds[row["name"]]} for row in found.ranking]
    left_out = [{"name": d.name, "reason": d.why} for d in split.decisions if d.left_out]
    left_out += [{"name": name, "reason": "as you say"} for name in split.dropped]
    about = {
        "n_columns": len(split.decisions) + len(split.dropped),
        "target": split.target,
        "columns_left_out": left_out,
        "decisions": [{"name": d.name, "kind": d.kind, "why": d.why} for d in split.decisions],
        "how": table.how,
    }
    return replace(found, ranking=ranking, data={**found.data, **about}, source=table.source)


def _write(found: "Selection", place: Path, table: "TableFile | None") -> None:
    """Write the files, each whole or not at all."""
    import csv
    import json

    from foresift.output import atomic

    if table is not None and not found.features:
        raise InputError("No column is kept, so there is no smaller table to write; leave out --write-data.")
    plain = found.to_dict()
    with atomic(place / "ranking.csv") as path, path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(plain["features"][0]))
        writer.writeheader()
        writer.writerows(plain["features"])
    with atomic(place / "selection.json") as path:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8")
    if table is not None:
        with atomic(place / f"selected{table.suffix}") as path:
            table.write(path, {*found.features, found.data["target"]})
    found.to_html(place / "report.html")  # last: who sees it finds the rest


def _print(
    found: "Selection",
    table: "TableFile",
    split: "Split",
    *,
    as_json: bool,
    shown: bool,
    top: int,
    out: Path | None,
) -> None:
    if as_json:
        import json

        sys.stdout.write(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n")
        return
    if not shown:
        sys.stdout.writelines(f"{name}\n" for name in found.features)
        return
    from foresift.terminal import notes, ranking_table, wrapped

    n_columns = len(split.decisions) + len(split.dropped)
    size = f"{found.data['n_rows']:,} rows, {n_columns:,} columns, target {split.target}"
    head = f"{table.source} ({table.how}): {size}"
    sys.stdout.write(wrapped(head) + notes(_said(split.decisions, split.dropped)))
    sys.stdout.write(ranking_table(found.ranking, top) + wrapped(found.sentence))
    if out is not None:
        sys.stdout.write(wrapped(f"Report: {out / 'report.html'}"))


def _said(decisions: "list[Decision]", dropped: list[str]) -> list[tuple[str, str]]:
    """What is worth saying of the columns: those left out, dates, and text among numbers."""
    said = [(d.name, f"left out, {d.kind}: {d.why}") for d in decisions if d.left_out]
    said += [(d.name, d.why) for d in decisions if d.kind == "date"]
    plain = ("text", "every cell is a number", "the file says so", "as you say")
    said += [(d.name, d.why) for d in decisions if not d.left_out and d.kind != "date" and d.why not in plain]
    return said + [(name, "left out, as you say") for name in dropped]
