"""The command `foresift reproduce`: run a paper's tables again, and show them beside the published ones."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foresift.cli.errors import guarded
from foresift.cli.table import completing, names_of, place_of, require_jobs

if TYPE_CHECKING:
    from foresift.evaluation.harness.tasks import Record
    from foresift.evaluation.papers.reproduce import Row
    from foresift.evaluation.papers.specs import Paper, PaperTable
    from foresift.evaluation.papers.tables import Grid

__all__ = ["reproduce"]

_PAPERS = ("bommaganti", "grabczewski-jankowski", "murata", "opitz", "rogers-gunn")


@guarded
def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER",
            help=f"{', '.join(_PAPERS[:-1])} or {_PAPERS[-1]}.",
            autocompletion=completing(_PAPERS),
        ),
    ],
    table: Annotated[
        list[str] | None, typer.Option(metavar="N", help="A table, or figure-N; may be repeated. Else all.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few folds of small data: does it run?")] = False,
    store: Annotated[
        Path | None,
        typer.Option(metavar="F.sqlite", help="Where results are kept, and a run goes on; else PAPER.sqlite"),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = 1,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of CSV files; else what FORESIFT_DATA names."),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write PAPER.csv, .md and .html there.")
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="A,B", help="Data sets, as the paper calls them; in double quotes if a name has a comma."
        ),
    ] = "",
    repeats: Annotated[int | None, typer.Option(min=1, help="Repeats in place of the paper's.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Run nothing; show what the store has.")] = False,
    retry_failed: Annotated[bool, typer.Option(help="Try units again that failed before.")] = False,
) -> None:
    """Run PAPER's tables again, and set our numbers beside the published ones.

    A run that was stopped, or that found the disk full, goes on where it was with the same command.

    Exit codes: 0 there are tables, 1 they could not be had or written, 2 something is wrong with the options
    or the data, 130 stopped by Ctrl-C.
    """
    from foresift.evaluation.harness.run import run
    from foresift.evaluation.harness.store import Store
    from foresift.evaluation.papers.reproduce import plan_paper, rows_of_table, units_of
    from foresift.evaluation.papers.specs import read_paper
    from foresift.evaluation.papers.tables import grids_of_table, print_grids
    from foresift.evaluation.papers.units import whole_repeats

    require_jobs(jobs, "processes")
    written = place_of(out)
    spec = read_paper(paper)
    spec = spec.shortened() if quick else spec
    chosen = _tables(spec, table)
    names = list(names_of(only))
    work, tables = plan_paper(spec, chosen, data, only=names, repeats=repeats)
    path = str(store) if store else ":memory:" if quick else f"{paper}.sqlite"
    with Store(path, read_only=show) as results:
        if not show:
            try:
                run(work, tables, results, n_jobs=jobs, retry_failed=retry_failed, progress=True)
            except KeyboardInterrupt as stopped:
                if path == ":memory:":
                    raise KeyboardInterrupt("stopped; nothing is kept without --store F.sqlite.") from None
                how = "The same command goes on; --show shows what is there."
                raise KeyboardInterrupt(f"{stopped} {how}") from None
        planned = units_of(work)
        records = results.records(planned)
    found = {item.id: rows_of_table(spec, item, records, planned) for item in chosen}
    grids = [grid for item in chosen for grid in grids_of_table(spec, item, found[item.id])]
    print_grids(grids)
    per_repeat = any(item.per == "repeat" for item in chosen)
    n_partial = len(records) - len(whole_repeats(records, planned)) if per_repeat else 0
    state = _state(records, len(planned), n_partial)
    failed = any(record.error for record in records)
    if failed or len(records) < len(planned):
        why = f" Why is in the table runs of {path}; --retry-failed tries again." if failed else ""
        typer.echo(f"foresift: {state}.{why}", err=True)
    if written is not None:
        about = _about(paper, table, quick, names, repeats, state)
        _write(written, spec, found, grids, about)


def _tables(spec: "Paper", wanted: list[str] | None) -> "list[PaperTable]":
    known = {table.id: table for table in spec.tables}
    names = [name if name in known else f"figure-{name}" for name in wanted or known]
    for name, given in zip(names, wanted or known, strict=True):
        if name not in known:
            raise ValueError(f"{spec.key} has no table {given!r}; it has {', '.join(known)}.")
    return [known[name] for name in names]


def _write(
    out: Path, spec: "Paper", found: "dict[str, list[Row]]", grids: "list[Grid]", about: list[str]
) -> None:
    """Write tables and pictures, all of them or none, and say which files they are."""
    from functools import partial

    from foresift.evaluation.papers.figures import draw_curves, has_curves
    from foresift.evaluation.papers.tables import write_results

    tables = {item.id: item for item in spec.tables}
    pictures = {
        f"{spec.key}-{key}.png": partial(draw_curves, tables[key], rows)
        for key, rows in found.items()
        if has_curves(rows)
    }
    every = [row for rows in found.values() for row in rows]
    for file in write_results(out, spec, every, grids, about, pictures):
        typer.echo(f"wrote {file}", err=True)


def _state(records: "Sequence[Record]", wanted: int, n_partial: int) -> str:
    """Say how many of the units there are, failed, in this run or before, or are left out of the tables."""
    there = "all" if len(records) == wanted else f"{len(records)} of {wanted}"
    failed = sum(bool(record.error) for record in records)
    parts = [f"{there} units of work have been run"]
    parts += [f"{failed} of which failed"] if failed else []
    parts += [f"{n_partial} in repeats that are not whole yet and not in the tables"] if n_partial else []
    return ", ".join(parts)


def _about(
    paper: str,
    tables: list[str] | None,
    quick: bool,
    only: list[str],
    repeats: int | None,
    state: str,
) -> list[str]:
    from datetime import UTC, datetime

    from foresift.evaluation.harness.tasks import software

    parts = [f"foresift reproduce {paper}", *(f"--table {name}" for name in tables or ())]
    parts += ["--quick"] if quick else []
    quoted = ",".join(f'"{name}"' if "," in name else name for name in only)
    parts += [f"--only {shlex.quote(quoted)}"] if only else []
    parts += [f"--repeats {repeats}"] if repeats is not None else []
    day = datetime.now(UTC).date().isoformat()
    return [f"Made on {day} with {software()} by `{' '.join(parts)}`; {state}."]
