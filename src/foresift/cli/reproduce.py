"""The command `foresift reproduce`: computes the tables of a paper, next to the published numbers."""

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
        list[str] | None, typer.Option(metavar="N", help="A table or figure-N, repeatable; all by default.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smoke test on small data.")] = False,
    store: Annotated[
        Path | None,
        typer.Option(metavar="F.sqlite", help="Store of results, to resume a run; PAPER.sqlite by default."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = 1,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of CSV files; FORESIFT_DATA by default."),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write PAPER.csv, .md and .html here.")
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="A,B", help="Data sets, named as in the paper; double-quote a name with a comma."
        ),
    ] = "",
    repeats: Annotated[int | None, typer.Option(min=1, help="Repeats instead of the paper's.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Run nothing; show the results in the store.")] = False,
    retry_failed: Annotated[bool, typer.Option(help="Rerun failed tasks.")] = False,
) -> None:
    """Compute the tables of PAPER, and compare the numbers with the published ones.

    The same command resumes a run that was stopped.

    Exit codes: 0 success, 1 failure, 2 invalid options or data, 130 interrupted.
    """
    from foresift.evaluation.harness.run import run
    from foresift.evaluation.harness.store import Store
    from foresift.evaluation.papers.reproduce import plan_paper, rows_of_table, units_of
    from foresift.evaluation.papers.specs import read_paper
    from foresift.evaluation.papers.tables import grids_of_table, print_grids
    from foresift.evaluation.papers.units import whole_repeats
    from foresift.report.plots.display import pyplot

    require_jobs(jobs, "processes")
    written = place_of(out)
    if written is not None:
        pyplot()  # a missing library is known before the run, not after it
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
                    raise KeyboardInterrupt("stopped; nothing is stored without --store F.sqlite.") from None
                how = "The same command resumes the run; --show shows the results so far."
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
        why = f" The table runs of {path} has the errors; --retry-failed runs them again." if failed else ""
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
    """Write tables and figures, all or none, and list the files."""
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
    """Say how many tasks have been run, failed, or are not in the tables."""
    done = "all" if len(records) == wanted else f"{len(records)} of {wanted}"
    failed = sum(bool(record.error) for record in records)
    parts = [f"{done} tasks have been run"]
    parts += [f"{failed} of which failed"] if failed else []
    parts += [f"{n_partial} of incomplete repeats, which are not in the tables"] if n_partial else []
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
