"""The command `foresift report`: the results of a store as an HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from foresift.cli.errors import guarded
from foresift.cli.table import place_of

__all__ = ["report"]


@guarded
def report(
    store: Annotated[Path, typer.Argument(metavar="F.sqlite", help="Made by `foresift compare --store`.")],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="Where the page is written.")
    ] = "report.html",
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    """Make the report of a comparison from its store, finished or not.

    If the store holds several runs that differ in data, splits, parameters or versions, the latest is used.

    For example: `foresift report results.sqlite -o report.html`
    """
    from foresift.evaluation.compare.stored import stored_comparison
    from foresift.evaluation.harness.store import Store

    page = place_of(out)
    with Store(store, read_only=True) as results:
        found = stored_comparison(results)
    found.to_html(page)
    typer.echo(f"Report: {out}")
    if found.about["n_left_out"]:
        typer.echo(f"foresift: {found.about['n_left_out']} results of earlier runs are left out.", err=True)
