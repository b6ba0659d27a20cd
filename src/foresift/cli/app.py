"""The `foresift` command: its subcommands and `--version`."""

from typing import Annotated

import typer

from foresift.cli.compare import compare
from foresift.cli.datasets import datasets
from foresift.cli.errors import guarded
from foresift.cli.report import report
from foresift.cli.reproduce import reproduce
from foresift.cli.select import select
from foresift.evaluation.registry import METHODS

app = typer.Typer(
    help="Find the columns of a table that matter for a prediction.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

for command in (select, compare, report, reproduce, datasets):
    app.command()(command)


@app.command()
@guarded
def methods() -> None:
    """List the selection methods."""
    width = max(map(len, METHODS))
    for key, method in METHODS.items():
        typer.echo(f"{key:<{width}} {method.title}")
    what = "recommended: relevance test, then the fewest relevant columns that predict as well"
    typer.echo(f"{'auto':<{width}} {what}")


def _version(wanted: bool) -> None:
    if wanted:
        from foresift import __version__

        typer.echo(f"foresift {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass
