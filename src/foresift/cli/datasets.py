"""The command `foresift datasets`: lists the available data sets."""

from pathlib import Path
from typing import Annotated

import typer

from foresift.cli.errors import guarded

__all__ = ["datasets"]


@guarded
def datasets(
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of CSV files; FORESIFT_DATA and FORESIFT_DATA_REGRESSION by default.",
        ),
    ] = None,
) -> None:
    """List the data sets that can be loaded by name, and where they are."""
    import os

    from foresift.datasets import available

    places = available(data)
    for variable in ("FORESIFT_DATA", "FORESIFT_DATA_REGRESSION") if data is None else ():
        folder = os.environ.get(variable)
        if not folder:
            typer.echo(f"{variable} is not set, and --data is not given.")
        else:
            lost = "" if Path(folder).is_dir() else ": there is no such folder"
            typer.echo(f"Folder: {folder} (from {variable}{lost})")
    if data is not None:
        typer.echo(f"Folder: {data}")
    width = max(len(place.name) for place in places)
    typer.echo(f"{'name':<{width}} {'rows':>6} {'columns':>8} {'classes':>8}  where")
    for place in places:
        local = ("file" if place.as_pinned else "file, another copy") if place.file else ""
        online = f"OpenML {place.openml}" if place.openml else ""
        where = "; ".join(filter(None, (local, online))) or "not available"
        classes = "quantity" if place.classes is None else place.classes
        typer.echo(f"{place.name:<{width}} {place.rows:>6} {place.features:>8} {classes:>8}  {where}")
