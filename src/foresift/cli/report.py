"""The command `foresift report`: the results of a store as an HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from foresift.cli.compare import print_pairs, write_pairs
from foresift.cli.errors import guarded
from foresift.cli.table import place_of
from foresift.errors import InputError

__all__ = ["report"]


@guarded
def report(
    store: Annotated[Path, typer.Argument(metavar="F.sqlite", help="Made by `foresift compare --store`.")],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE.html", help="The page to write.")
    ] = "report.html",
    all_pairs: Annotated[
        bool,
        typer.Option("--all-pairs", help="Compare every two rows too; all pairs are also in FILE-pairs.csv."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Make the report of a comparison from its store, finished or not.

    If the store holds several runs that differ in data, splits, parameters or versions, the latest is used.

    For example: `foresift report results.sqlite -o report.html`
    """
    from foresift.evaluation.compare.stored import stored_comparison
    from foresift.evaluation.harness.store import Store
    from foresift.report.output import together

    page = place_of(out)
    if page is None or page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out is the file to write, so its name must end in .html, not {out!r}.")
    with Store(store, read_only=True) as results:
        found = stored_comparison(results)
    with together(page.parent) as new:
        new(page.name).write_text(found.to_html(all_pairs=all_pairs), encoding="utf-8")
        if all_pairs:
            write_pairs(new(f"{page.stem}-pairs.csv"), found.pairs())
    if all_pairs:
        table = f"{page.stem}-pairs.csv"
        print_pairs(found, f"{table} has all of them.")
        typer.echo(f"Pairs: {page.with_name(table)}")
    typer.echo(f"Report: {out}")
    if found.about["n_left_out"]:
        typer.echo(f"foresift: {found.about['n_left_out']} results of earlier runs are left out.", err=True)
