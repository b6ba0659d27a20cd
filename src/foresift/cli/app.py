"""The `foresift` command: its subcommands and `--version`."""

from typing import Annotated

import typer

from foresift.cli.compare import compare
from foresift.cli.datasets import datasets
from foresift.cli.errors import guarded
from foresift.cli.report import report
from foresift.cli.reproduce import reproduce
from foresift.cli.select import select
from foresift.evaluation.registry import ESTIMATORS, METHODS, OTHERS

_TARGETS = {"classification": "classes", "regression": "quantity"}

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
    """List the selection methods, the estimators of compare, and which targets each takes."""
    auto = "recommended: relevance test, then the fewest relevant columns that predict as well"
    ours = {key: (method.title, *filter(method.takes, _TARGETS)) for key, method in METHODS.items()}
    others = {key: (title, *_TARGETS) for key, title in OTHERS.items()}
    models = {key: (estimator.title, *estimator.tasks) for key, estimator in ESTIMATORS.items()}
    _list("Methods", {**ours, "auto": (auto, *_TARGETS)})
    _list("\nMethods of other libraries, in compare", others)
    _list("\nEstimators of compare", models)


def _list(heading: str, known: dict[str, tuple[str, ...]]) -> None:
    typer.echo(f"{heading}, and the targets they take:")
    for key, (title, *tasks) in known.items():
        typer.echo(f"{key:<17} {', '.join(_TARGETS[task] for task in tasks):<17} {title}")


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
