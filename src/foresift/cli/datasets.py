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
        typer.Option(metavar="DIR", help="Folder of CSV files; FORESIFT_DATA by default."),
    ] = None,
) -> None:
    """List the data sets that can be loaded by name, and where they are."""
    import os

    from foresift.datasets import available

    places = available(data)
    folder = data or os.environ.get("FORESIFT_DATA")
    lost = " (from FORESIFT_DATA: there is no such folder)" if folder and not Path(folder).is_dir() else ""
    typer.echo(f"Folder: {folder}{lost}" if folder else "FORESIFT_DATA is not set, and --data is not given.")
    width = max(len(place.name) for place in places)
    typer.echo(f"{'name':<{width}} {'rows':>6} {'columns':>8} {'classes':>8}  where")
    for place in places:
        local = ("file" if place.as_pinned else "file, another copy") if place.file else ""
        online = f"OpenML {place.openml}" if place.openml else ""
        where = "; ".join(filter(None, (local, online))) or "not available"
        shape = f"{place.rows:>6} {place.features:>8} {place.classes:>8}"
        typer.echo(f"{place.name:<{width}} {shape}  {where}")
