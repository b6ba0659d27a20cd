"""The command `foresift reproduce`: run a paper's tables again, and show them beside the published ones."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foresift.cli_errors import guarded
from foresift.cli_table import completing, names_of, require_jobs

if TYPE_CHECKING:
    from foresift.experiment import Outcome
    from foresift.specs import Paper, PaperTable

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
        Path | None, typer.Option(metavar="DIR", help="Write PAPER.csv, .md and .html there.")
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

    A run that was stopped goes on where it was.
    """
    from foresift.experiment import run
    from foresift.reproduce import plan_paper, rows_of_table, units_of
    from foresift.reproduce_figures import draw_curves
    from foresift.reproduce_tables import grids_of_table, print_grids, write_results
    from foresift.specs import read_paper
    from foresift.store import Store

    require_jobs(jobs, "processes")
    spec = read_paper(paper)
    spec = spec.shortened() if quick else spec
    chosen = _tables(spec, table)
    names = list(names_of(only))
    work, tables = plan_paper(spec, chosen, data, only=names, repeats=repeats)
    path = str(store) if store else ":memory:" if quick else f"{paper}.sqlite"
    with Store(path, create=not show) as results:
        done = None
        if not show:
            try:
                done = run(work, tables, results, n_jobs=jobs, retry_failed=retry_failed, progress=True)
            except KeyboardInterrupt as stopped:
                if path == ":memory:":
                    raise KeyboardInterrupt("stopped; nothing is kept without --store F.sqlite.") from None
                how = "The same command goes on; --show shows what is there."
                raise KeyboardInterrupt(f"{stopped} {how}") from None
        records = results.records(units_of(work))
    found = {item.id: rows_of_table(spec, item, records) for item in chosen}
    grids = [grid for item in chosen for grid in grids_of_table(spec, item, found[item.id])]
    print_grids(grids)
    _tell(done, len(units_of(work)), len(records), path)
    if out is not None:
        about = _about(paper, table, quick, names, repeats, len(records), len(units_of(work)))
        rows = [row for item in chosen for row in found[item.id]]
        written = write_results(out, spec, rows, grids, about)
        for item in chosen:
            picture = out / f"{paper}-{item.id}.png"
            written += [picture] if draw_curves(item, found[item.id], picture) else []
        for file in written:
            typer.echo(f"wrote {file}", err=True)


def _tables(spec: "Paper", wanted: list[str] | None) -> "list[PaperTable]":
    known = {table.id: table for table in spec.tables}
    names = [name if name in known else f"figure-{name}" for name in wanted or known]
    for name, given in zip(names, wanted or known, strict=True):
        if name not in known:
            raise ValueError(f"{spec.key} has no table {given!r}; it has {', '.join(known)}.")
    return [known[name] for name in names]


def _tell(done: "Outcome | None", wanted: int, there: int, path: str) -> None:
    if done is not None and done.n_failed:
        typer.echo(
            f"foresift: {done.n_failed} units failed; their errors are in the table runs of {path}.", err=True
        )
    if there < wanted:
        typer.echo(f"foresift: {there} of {wanted} units have been run.", err=True)


def _about(
    paper: str,
    tables: list[str] | None,
    quick: bool,
    only: list[str],
    repeats: int | None,
    there: int,
    wanted: int,
) -> list[str]:
    from datetime import UTC, datetime

    from foresift.units import software

    parts = [f"foresift reproduce {paper}", *(f"--table {name}" for name in tables or ())]
    parts += ["--quick"] if quick else []
    quoted = ",".join(f'"{name}"' if "," in name else name for name in only)
    parts += [f"--only {shlex.quote(quoted)}"] if only else []
    parts += [f"--repeats {repeats}"] if repeats is not None else []
    state = "all" if there == wanted else f"{there} of {wanted}"
    day = datetime.now(UTC).date().isoformat()
    return [f"Made on {day} with {software()} by `{' '.join(parts)}`; {state} units of work have been run."]
