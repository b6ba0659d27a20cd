"""A comparison as a table of text."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

from foresift.evaluation.compare.summary import MIN_TRIALS, Row

__all__ = ["as_text", "render"]

ALPHA = 0.05


def as_text(
    rows: Sequence[Row], about: dict[str, Any], failures: Sequence[dict[str, Any]], width: int = 110
) -> str:
    """Return what `render` prints, without colours."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, color_system=None)
    render(rows, about, failures, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def render(
    rows: Sequence[Row], about: dict[str, Any], failures: Sequence[dict[str, Any]], console: Any
) -> None:
    """Print a table for every classifier and scorer, best mean first.

    Parameters
    ----------
    rows : sequence of Row
        What was found.
    about : dict
        Data and protocol, as `Comparison.about`.
    failures : sequence of dict
        What went wrong.
    console : rich.console.Console
        Where to.
    """
    from rich.text import Text

    times = f", {about['repeats']} times" if about["repeats"] > 1 else ""
    size = f": {about['n_rows']} rows, {about['n_features']} columns" if "n_rows" in about else ""
    seed = f"; seed {about['random_state']}" if "random_state" in about else ""
    console.print(Text(f"{about['dataset']}{size}; {about['cv']}{times}{seed}"))
    for note in about.get("notes", ()):
        console.print(Text(note), style="yellow")
    several = len({row.dataset for row in rows}) > 1
    for key in dict.fromkeys((row.dataset, row.classifier, row.scorer) for row in rows):
        some = [row for row in rows if (row.dataset, row.classifier, row.scorer) == key]
        title = ", ".join(key if several else key[1:])
        console.print(_table(sorted(some, key=_place), title, key[-1]))
    if rows:
        console.print(
            Text(
                "In brackets the 95 % interval of the mean; p: of the difference to the best (=: cannot be"
                " told from it) and to no selection, adjusted for the number of comparisons and for training"
                f" rows in common. Neither is given of fewer than {MIN_TRIALS} splits, or where scores or"
                " differences are all equal. A row that failed where another did not is never the best."
                " Stability is 1 if every split selects the same."
            ),
            style="dim",
        )
    for failure in failures:
        if "size" in failure:
            continue
        who = f"{failure['method']} with {failure['classifier']}"
        console.print(Text(f"Failed {failure['count']} times: {who}: {failure['error']}"), style="red")
    for said in dict.fromkeys(f"{f['method']}: {f['error']}" for f in failures if "size" in f):
        console.print(Text(said))
    if any("size" not in failure for failure in failures) and about.get("store"):
        console.print(
            Text("What failed is kept in the store, and tried again with --retry-failed (retry_failed=True).")
        )


def _place(row: Row) -> tuple[bool, float]:
    """Highest mean first, none last."""
    return math.isnan(row.mean), -row.mean


def _table(rows: Sequence[Row], title: str, scorer: str) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), title=Text(title), title_justify="left")
    table.add_column("method", overflow="fold")
    for heading in ("features", scorer, "p best", "p none", "splits", "stability", "select, s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        near = "best" if row.best else _p(row.p_best) + (" =" if row.p_best > ALPHA else "  ")
        table.add_row(
            Text(row.method),
            ("own: " if row.size == "own" else "") + f"{row.n_features:.1f}".removesuffix(".0"),
            f"{row.mean:.4f}" + ("" if math.isnan(row.lower) else f" ({row.lower:.3f} to {row.upper:.3f})"),
            near,
            _p(row.p_none),
            f"{row.n}" + (f", {row.n_failed} failed" if row.n_failed else ""),
            _number(row.stability, ".2f"),
            _number(row.select_seconds, ".3g"),
        )
    return table


def _number(value: float, form: str) -> str:
    return "" if math.isnan(value) else f"{value:{form}}"


def _p(value: float) -> str:
    return "" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"
