"""Format tables and text for the terminal."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Mapping
from typing import Any

__all__ = ["about_target", "classes", "notes", "printable", "ranking_table", "wrapped"]

BAR_WIDTH = 10
MAX_CLASSES = 10
MAX_NOTES = 12
MAX_NAME = 40  # characters
NARROW, WIDE = 100, 120  # characters
_HARMLESS = "\u00a0\u202f\u3000"  # spaces that occur in names


def printable(text: str) -> str:
    r"""Replace control characters, which could move the cursor or set colours.

    All output with text from a file goes through this function, except JSON, which has its own escapes.

    Examples
    --------
    >>> printable("a\x1b[31mb")
    'a�[31mb'
    """
    return "".join(char if char.isprintable() or char in _HARMLESS else "\ufffd" for char in text)


def wrapped(text: str) -> str:
    """Wrap text to the width of the terminal; one line if the output is not a terminal."""
    text = printable(text)
    if not sys.stdout.isatty():
        return text + "\n"
    return textwrap.fill(text, max(40, shutil.get_terminal_size().columns), break_long_words=False) + "\n"


def notes(said: list[tuple[str, str]], where: str = "") -> str:
    """Format notes on columns, one per line; a long list is cut off and refers to the file `where`.

    Examples
    --------
    >>> print(notes([("id", "left out")]), end="")
      id: left out
    """
    lines = [f"  {printable(_brief(name))}: {printable(what)}" for name, what in said[:MAX_NOTES]]
    if len(said) > MAX_NOTES:
        more, see = len(said) - MAX_NOTES, f" (see {where})" if where else ""
        lines.append(f"  ... and {more:,} more decision{'' if more == 1 else 's'}{see}")
    return "".join(line + "\n" for line in lines)


def about_target(data: Mapping[str, Any]) -> str:
    """Say what the target holds: its classes, or the range of a quantity.

    Examples
    --------
    >>> quantity = {"min": 0.5, "quartiles": [2, 3, 4], "max": 12, "log": True}
    >>> print(about_target({"quantity": quantity}), end="")
    Quantity: 0.5 to 12, half of the rows between 2 and 4; its logarithm is modelled
    """
    if quantity := data.get("quantity"):
        from foresift.report.numbers import PLAIN

        low, _, high = quantity["quartiles"]
        least, most, low, high = map(PLAIN.short, (quantity["min"], quantity["max"], low, high))
        log = "; its logarithm is modelled" if quantity["log"] else ""
        return wrapped(f"Quantity: {least} to {most}, half of the rows between {low} and {high}{log}")
    return classes({one["name"]: one["count"] for one in data["classes"]})


def classes(counts: Mapping[str, int]) -> str:
    """Format the classes of the target and their numbers of rows, most frequent first.

    Examples
    --------
    >>> print(classes({"yes": 188, "no": 412}), end="")
    Classes: no (412 rows), yes (188)
    """
    by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    said = [f"{_brief(name)} ({count:,})" for name, count in by_count[:MAX_CLASSES]]
    said[:1] = [f"{said[0][:-1]} rows)"]
    more = f", ... ({len(counts):,} classes)" if len(counts) > MAX_CLASSES else ""
    return wrapped(f"Classes: {', '.join(said)}{more}")


def ranking_table(rows: list[dict[str, Any]], top: int = 0, width: int | None = None) -> str:
    """Format `Selection.ranking` as a table, coloured if the output is a terminal.

    `top` limits the number of rows (0: all), and a last line counts the others. `width` is that of the
    terminal by default, or wide enough for all columns.

    Examples
    --------
    >>> row = {"name": "age", "kind": "numeric", "rank": 1, "score": 4.25, "low": None, "high": None,
    ...        "pvalue": None, "relevant": None, "kept": True, "redundant_with": None}
    >>> print(ranking_table([row], width=100), end="")
    rank  column  score              kept  kind
    ────────────────────────────────────────────...
       1  age      4.25  ██████████  yes   numeric
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if width is None and not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        width = WIDE
    console = Console(width=width)
    shown = rows[:top] if top else rows
    columns = [column for column in _columns(console, rows) if column.has_values(rows)]
    if console.width < NARROW:
        columns = [column for column in columns if column.heading not in ("", "kind", "by chance")]
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for column in columns:
        table.add_column(
            column.heading, justify=column.justify, no_wrap=column.justify == "right", **column.more
        )
    best = max((row["score"] for row in rows if row["score"] is not None), default=0.0)
    for row in shown:
        style = "bold green" if row["kept"] else "" if row["relevant"] else "dim"
        table.add_row(*(Text(column.cell(row, best)) for column in columns), style=style)
    with console.capture() as captured:
        console.print(table)
    rest = len(rows) - len(shown)
    more = f"... and {rest:,} more columns (--top 0 shows all)\n" if rest else ""
    return captured.get() + more


class _Column:
    def __init__(self, heading: str, key: str, cell: Any, justify: Any = "left", **more: Any) -> None:
        self.heading, self.key, self.justify, self.more = heading, key, justify, more
        self._cell = cell

    def has_values(self, rows: list[dict[str, Any]]) -> bool:
        """Whether any row has a value in this column."""
        empty = (None, 0.0) if self.key == "chance" else (None,)  # on some scales chance is always 0
        return any(row.get(self.key) not in empty for row in rows)

    def cell(self, row: dict[str, Any], best: float) -> str:
        return printable(str(self._cell(row, best)))


def _columns(console: Any, rows: list[dict[str, Any]]) -> list[_Column]:
    from foresift.report.numbers import PLAIN, decimals_for

    decimals = decimals_for(row["score"] for row in rows)

    block = "█" if console.encoding.startswith("utf") else "#"

    def bar(row: dict[str, Any], best: float) -> str:
        share = (row["score"] or 0.0) / best if best > 0 else 0.0
        return block * round(BAR_WIDTH * min(max(share, 0.0), 1.0))

    def number(value: float | None) -> str:
        return PLAIN.number(value, decimals)

    def interval(row: dict[str, Any], _: float) -> str:
        return PLAIN.interval(number, row["low"], row["high"])

    def relevant(row: dict[str, Any], _: float) -> str:
        unknown = "not tested" if row.get("untested") else ""
        return {True: "yes", False: "no", None: unknown}[row["relevant"]]

    def none(row: dict[str, Any]) -> str:
        return "" if row.get("requested") else "none"

    def kept(row: dict[str, Any], _: float) -> str:
        return "by request" if row.get("requested") else "yes" if row["kept"] else ""

    pvalue = _Column("p", "pvalue", lambda row, _: PLAIN.pvalue(row["pvalue"]), "right")
    if any(row.get("adjusted_pvalue") is not None for row in rows):  # the verdict rests on it
        key = "adjusted_pvalue"
        pvalue = _Column("adj. p", key, lambda row, _: PLAIN.pvalue(row[key]), "right")

    return [
        _Column("rank", "rank", lambda row, _: row["rank"] or "", "right"),
        _Column("column", "name", lambda row, _: _brief(row["name"]), overflow="fold"),
        _Column("group", "group", lambda row, _: _brief(row["group"] or ""), overflow="fold"),
        _Column("score", "score", lambda row, _: number(row["score"]) or none(row), "right"),
        _Column("95 % interval", "low", interval, "right"),
        _Column("by chance", "chance", lambda row, _: number(row["chance"]) or none(row), "right"),
        pvalue,
        _Column("", "score", bar, min_width=BAR_WIDTH),
        _Column("relevant", "relevant", relevant),
        _Column("kept", "name", kept),
        _Column(
            "redundant with",
            "redundant_with",
            lambda row, _: _brief(row["redundant_with"] or ""),
            overflow="fold",
        ),
        _Column("kind", "kind", lambda row, _: row["kind"], min_width=len("numeric")),
    ]


def _brief(name: str) -> str:
    """Beginning and end of a long name."""
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 12]}…{name[-11:]}"
