"""Tables for the terminal."""

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Ranked", "print_ranking"]

BAR_WIDTH = 10


class Ranked(NamedTuple):
    """One column of a ranking: its score, and for forest-gain what chance would have given it."""

    name: str
    score: float
    kept: bool
    by_chance: float = math.nan
    pvalue: float = math.nan


def print_ranking(ranking: list[Ranked], columns: dict[str, "np.ndarray"], title: str) -> None:
    """Print a ranking, best first, with a bar for every score."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    block = "█" if console.encoding.startswith("utf") else "#"
    against_chance = any(not math.isnan(column.by_chance) for column in ranking)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("rank", justify="right")
    table.add_column("column", overflow="fold")
    tested = any(not math.isnan(column.pvalue) for column in ranking)
    plain = ("score", "p", "kept") if tested else ("score", "kept")
    for heading in ("gain, bits", "by chance", "p") if against_chance else plain:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("above it" if against_chance else "", min_width=BAR_WIDTH, no_wrap=True)
    table.add_column("kind", min_width=len("numeric"), no_wrap=True)
    heights = [column.score - (column.by_chance if against_chance else 0.0) for column in ranking]
    best = max((height for height in heights if math.isfinite(height)), default=0.0)
    for place, (column, height) in enumerate(zip(ranking, heights, strict=True), start=1):
        kind = "nominal" if columns[column.name].dtype == object else "numeric"
        if math.isnan(column.score):
            cells = ["never tried", *[""] * (1 + tested)]
        elif against_chance:
            cells = [f"{column.score:.4f}", f"{column.by_chance:.4f}", _p(column.pvalue)]
        else:
            p = [_p(column.pvalue)] if tested else []
            cells = [f"{column.score:.4g}", *p, "yes" if column.kept else ""]
        share = 0.0 if math.isnan(height) or best <= 0 else min(max(height / best, 0.0), 1.0)
        table.add_row(str(place), Text(column.name), *cells, block * round(BAR_WIDTH * share), kind)
    console.print(Text(title), soft_wrap=True)  # Text: a name such as [bold] is a name, not markup
    console.print(table)


def _p(pvalue: float) -> str:
    return "" if math.isnan(pvalue) else "<0.001" if pvalue < 0.001 else f"{pvalue:.3f}"
