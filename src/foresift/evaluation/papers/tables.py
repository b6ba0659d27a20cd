"""Our numbers and the published ones in grids of text: on the terminal, in Markdown and in HTML."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foresift.evaluation.papers.reproduce import Row
from foresift.evaluation.papers.specs import Paper, PaperTable
from foresift.report.numbers import PLAIN
from foresift.report.output import together
from foresift.stats import win_loss_tie

__all__ = ["Grid", "grids_of_table", "print_grids", "write_results"]

MAX_COLUMNS = 14
ROUNDING = 1e-9  # of means: equal numbers of errors in other folds are a tie
FIELDS = (
    *("table", "dataset", "model", "classifier", "size", "ours", "spread", "n"),
    *("published", "published_spread", "difference", "within", "z"),
)


@dataclass(frozen=True)
class Grid:
    """A table of text, with a title above and a remark below; the first `n_names` columns name the row."""

    title: str
    header: list[str]
    rows: list[list[str]]
    remark: str = ""
    n_names: int = 1


def grids_of_table(paper: Paper, table: PaperTable, rows: Sequence[Row]) -> list[Grid]:
    """Grids of a table from the rows of `reproduce.rows_of_table`; none if nothing has been run.

    Examples
    --------
    >>> from foresift.evaluation.papers.specs import read_paper
    >>> paper = read_paper("opitz")
    >>> row = Row("3", "iris", "Single Net", "Single Net", "", "", 4.7, 0.5, 5, 4.3)
    >>> grids_of_table(paper, paper.tables[0], [row])[0].rows
    [['iris', '4.70 (4.3)']]
    """
    kind, *numbers = table.id.split("-") if "-" in table.id else ("table", table.id)
    published = any(number.isdigit() for number in numbers)  # otherwise it is a table of ours
    title = f"{kind.capitalize()} {' to '.join(numbers)}. {table.caption}" if published else table.caption
    if not rows:
        return []
    if table.measure == "intervals":
        return [_curves(title, rows, ["1", "5", "10", "20", "50", "100"])]
    if table.measure == "bounds":
        return [_at_points(title, table, rows, ["1", "2", "5", "10", "20", "50", "100", "200", "500"])]
    if table.measure == "gains":
        return [_at_points(title, table, rows, ["10", "20", "50", "92", "100"])]
    if table.measure == "thresholds":
        return [_at_points(title, table, rows, _unique(row.size for row in rows))]
    if table.measure == "commonality":
        return [_matrix(title, [row for row in rows if not row.size.isdigit()])]
    if table.measure == "path":
        return [_paths(title, table, rows)]
    if all(not row.size for row in rows):
        grids = [_matrix(title, rows)]
        judged = {row.label for row in rows if row.published is not None}
        return [*grids, _wins(table, rows)] if len(judged) > 1 and table.measure == "error" else grids
    # Few points of figures are published as numbers, and none of some figures.
    grids = [_points(title, table, rows)] if any(row.published is not None for row in rows) else []
    better = max if table.measure == "accuracy" else min
    return [*grids, _best(title, rows, better, table.options.get("over", "features"))]


def _matrix(title: str, rows: Sequence[Row]) -> Grid:
    datasets, labels = _unique(row.dataset for row in rows), _unique(row.label for row in rows)
    cells = {(row.dataset, row.label): row for row in rows}
    digits = 4 if max(abs(row.ours) for row in rows) < 1 else 2
    turned = len(labels) > MAX_COLUMNS
    down, across = (labels, datasets) if turned else (datasets, labels)
    lines = []
    for name in down:
        found = [cells.get((other, name) if turned else (name, other)) for other in across]
        lines.append([name, *(_beside(row, digits) for row in found)])
    return Grid(title, ["", *across], lines, _agreement(rows))


def _beside(row: Row | None, digits: int) -> str:
    if row is None:
        return ""
    text = PLAIN.number(row.ours, digits)
    if row.published is None:
        return text
    return f"{text} ({row.published:g})" + ("" if row.within is not False else " *")


def _agreement(rows: Sequence[Row]) -> str:
    """Say how well our numbers agree with the published ones: in size, and in the order of the methods."""
    published = [row for row in rows if row.published is not None]
    if not published:
        return ""
    parts = ["Published numbers in brackets."]
    judged = [row for row in published if row.within is not None]
    if judged:
        within = sum(bool(row.within) for row in judged)
        parts.append(
            f"{within} of {len(judged)} of ours are within the published spread; * marks the others."
        )
    far = [abs(row.z) > 2 for row in published if row.z is not None]
    if far:
        parts.append(f"{sum(far)} of {len(far)} differ by more than two standard errors.")
    same = pairs = 0
    for i, a in enumerate(published):
        for b in published[:i]:
            if a.dataset == b.dataset and a.published != b.published:
                pairs += 1
                lower, higher = sorted((a, b), key=lambda row: row.published or 0.0)
                same += higher.ours - lower.ours > ROUNDING
    if pairs:
        parts.append(f"{same} of {pairs} pairs of methods on one data set are in the published order.")
    return " ".join([*parts, _means(rows, "splits or repeats")])


def _means(rows: Sequence[Row], what: str) -> str:
    """Say how many values the means are of, which differ while a run is unfinished."""
    least, most = min(row.n for row in rows), max(row.n for row in rows)
    if least < most:
        return f"Means of {least} to {most} {what}: unfinished."
    return f"Single {what}." if most == 1 else f"Means of {most} {what}."


def _wins(table: PaperTable, rows: Sequence[Row]) -> Grid:
    """Wins, losses and ties of each method against those before it; lower is better."""
    labels = [label for label in table.labels if any(row.label == label for row in rows)]
    ours = {(row.dataset, row.label): row for row in rows if row.published is not None}
    lines = []
    for i, first in enumerate(labels[:-1]):
        line = [first]
        for j, second in enumerate(labels[1:], start=1):
            both = [d for d in table.datasets if (d, first) in ours and (d, second) in ours]
            if j <= i or not both:
                line.append("")
                continue
            a, b = [ours[d, first] for d in both], [ours[d, second] for d in both]
            mine = win_loss_tie([r.ours for r in a], [r.ours for r in b], ROUNDING)
            theirs = win_loss_tie([r.published or 0.0 for r in a], [r.published or 0.0 for r in b])
            line.append(f"{'-'.join(map(str, mine))} ({'-'.join(map(str, theirs))})")
        lines.append(line)
    title = "Wins-losses-ties of the column against the row over the data sets; published numbers in brackets"
    return Grid(title, ["", *labels[1:]], lines)


def _points(title: str, table: PaperTable, rows: Sequence[Row]) -> Grid:
    over = table.options.get("over", "features")
    header = ["data", "method", "classifier", over, "ours", "published", "difference", "within spread"]
    lines = []
    for row in rows:
        if row.published is None:
            continue
        ours = PLAIN.number(row.ours, 2) + (
            "" if math.isnan(row.spread) else f" ± {PLAIN.number(row.spread, 2)}"
        )
        theirs = f"{row.published:g}" + (
            "" if row.published_spread is None else f" ± {row.published_spread:g}"
        )
        within = {True: "yes", False: "no", None: ""}[row.within]
        numbers = [ours, theirs, PLAIN.signed(row.difference, 2), within]
        lines.append([row.dataset, row.label, row.classifier, row.size, *numbers])
    return Grid(title, header, lines, _means(rows, "cross-validations"), n_names=4)


def _best(title: str, rows: Sequence[Row], better: Callable[..., Any], over: str) -> Grid:
    labels = _unique(row.label for row in rows)
    lines = []
    for dataset, classifier in _unique((row.dataset, row.classifier) for row in rows):
        line = [dataset, classifier]
        for label in labels:
            where = (dataset, classifier, label)
            curve = [r for r in rows if (r.dataset, r.classifier, r.label) == where and r.size != "best"]
            top = better(curve, key=lambda row: row.ours) if curve else None
            size = f" ({top.size})" if top is not None and top.size not in ("", "all") else ""
            line.append("" if top is None else PLAIN.number(top.ours, 2) + size)
        lines.append(line)
    remark = f"In brackets: the number of {over}. The best of many scores is optimistically biased. "
    remark += _means(rows, "cross-validations")
    return Grid(f"{title} The best of each curve", ["data", "classifier", *labels], lines, remark, n_names=2)


def _paths(title: str, table: PaperTable, rows: Sequence[Row]) -> Grid:
    within, error = "reduction within the limit", "error at that reduction"
    lines = []
    for dataset, label in _unique((row.dataset, row.label) for row in rows):
        path = {row.size: row.ours for row in rows if (row.dataset, row.label) == (dataset, label)}
        most = str(max(int(size) for size in path if size.isdigit()))
        lines.append(
            [dataset, label, *(PLAIN.number(value, 3) for value in (path[most], path[within], path[error]))]
        )
    remark = f"The limit is {table.options['limit']} above the error with all features."
    return Grid(title, ["data", "search", "error with all", within, error], lines, remark, n_names=2)


def _curves(title: str, rows: Sequence[Row], sizes: list[str]) -> Grid:
    values = {(row.dataset, row.size): row.ours for row in rows}
    lines = [
        [name, *(PLAIN.number(values.get((name, size)), 3) for size in sizes)]
        for name in _unique(row.dataset for row in rows)
    ]
    return Grid(title, ["trees", *sizes], lines, f"Means of {max(row.n for row in rows)} splits.")


def _at_points(title: str, table: PaperTable, rows: Sequence[Row], sizes: list[str]) -> Grid:
    """Some points of all curves."""
    values = {(row.dataset, row.classifier, row.label, row.size): row.ours for row in rows}
    sizes = [size for size in sizes if any(row.size == size for row in rows)]
    lines = [
        [dataset, classifier, label]
        + [PLAIN.number(values.get((dataset, classifier, label, size)), 3) for size in sizes]
        for dataset, classifier, label in _unique((row.dataset, row.classifier, row.label) for row in rows)
    ]
    named = [k for k in range(3) if any(line[k] for line in lines)]  # which columns of names are not empty
    lines = [[line[k] for k in named] + line[3:] for line in lines]
    header = [""] * (len(named) - 1) + [table.options["over"], *sizes]
    remark = "" if table.measure == "bounds" else _means(rows, "tables")
    return Grid(title, header, lines, remark, n_names=len(named))


def _unique(items: Any) -> list[Any]:
    return list(dict.fromkeys(items))


def print_grids(grids: Sequence[Grid]) -> None:
    """Print grids on the terminal.

    Examples
    --------
    >>> print_grids([Grid("Two numbers", ["", "error"], [["iris", "4.70 (4.3)"]], "Published: in brackets.")])
    Two numbers
    ...
    Published: in brackets.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    for grid in grids:
        console.print(Text(grid.title))
        for columns, widths in _blocks(grid, console.width):
            table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
            for k, width in zip(columns, widths, strict=True):
                table.add_column(grid.header[k], justify="left" if k == 0 else "right", width=width)
            for row in grid.rows:
                table.add_row(*(Text(row[k]) for k in columns))
            console.print(table)
        if grid.remark:
            console.print(Text(grid.remark), soft_wrap=True)


def _blocks(grid: Grid, width: int) -> Iterator[tuple[list[int], list[int]]]:
    """Divide the columns of a grid into tables that fit, with their widths; each repeats the row names.

    Cells are folded between words and never cut, since "50…" is no number; rich would cut some.
    """
    cells = list(zip(grid.header, *grid.rows, strict=True))
    least = [max(len(word) for cell in column for word in cell.split() or [""]) for column in cells]
    names = list(range(grid.n_names))
    rest = list(range(grid.n_names, len(least)))
    while rest:
        # Each column has a padding and a divider.
        spare = width - 1 - sum(least[k] + 2 for k in (*names, rest[0]))
        n = 1
        while n < len(rest) and spare >= least[rest[n]] + 2:
            spare -= least[rest[n]] + 2
            n += 1
        columns, rest = [*names, *rest[:n]], rest[n:]
        widths = [least[k] for k in columns]
        wanted = [max(map(len, cells[k])) for k in columns]
        while spare > 0 and widths != wanted:
            widths[max(range(len(widths)), key=lambda k: wanted[k] - widths[k])] += 1
            spare -= 1
        yield columns, widths


def write_results(
    folder: Path,
    paper: Paper,
    rows: Sequence[Row],
    grids: Sequence[Grid],
    about: Sequence[str],
    pictures: Mapping[str, Callable[[Path], Any]] | None = None,
) -> list[Path]:
    """Write PAPER.csv (every number), PAPER.md and PAPER.html (the grids), and pictures: all or none.

    `about` says when and how this was made; `pictures` has a function for each file name, which writes to the
    path it is given. Returns the paths of the files.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from foresift.evaluation.papers.specs import read_paper
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write_results(Path(folder), read_paper("opitz"), [], [], ["Nothing yet."])]
    ['opitz.csv', 'opitz.md', 'opitz.html']
    """
    pictures = pictures or {}
    names = [f"{paper.key}.{ending}" for ending in ("csv", "md", "html")]
    with together(folder) as new:
        with new(names[0]).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(FIELDS)
            writer.writerows([_plain(getattr(row, name)) for name in FIELDS] for row in rows)
        new(names[1]).write_text(_markdown(paper, grids, about), encoding="utf-8")
        new(names[2]).write_text(_html(paper, grids, about), encoding="utf-8")
        for name, draw in pictures.items():
            draw(new(name))
    return [folder / name for name in (*names, *pictures)]


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return "" if math.isnan(value) else float(np.format_float_positional(value, 6, fractional=False))
    return "" if value is None else value


def _markdown(paper: Paper, grids: Sequence[Grid], about: Sequence[str]) -> str:
    lines = [f"# {paper.authors}: {paper.title}", "", f"{paper.source[0].upper()}{paper.source[1:]}.", ""]
    lines += [*about, "", "How the paper was interpreted:", "", *(f"- {note}" for note in paper.notes), ""]
    for grid in grids:
        lines += [f"## {grid.title}", ""]
        lines += ["| " + " | ".join(cells) + " |" for cells in (grid.header, ["---"] * len(grid.header))]
        lines += ["| " + " | ".join(cells) + " |" for cells in grid.rows]
        lines += ["", *([grid.remark.replace("*", "\\*"), ""] if grid.remark else [])]
    return "\n".join(lines)


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{{ paper.title }}</title>
<style>
body { font-family: sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { padding: 0.2rem 0.7rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; }
</style>
</head>
<body>
<h1>{{ paper.authors }}: {{ paper.title }}</h1>
<p>{{ paper.source }}</p>
{% for line in about if line %}<p>{{ line }}</p>
{% endfor %}
<ul>{% for note in paper.notes %}<li>{{ note }}</li>{% endfor %}</ul>
{% for grid in grids %}
<h2>{{ grid.title }}</h2>
<div class="wide"><table>
<tr>{% for cell in grid.header %}<th scope="col">{{ cell }}</th>{% endfor %}</tr>
{% for row in grid.rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</table></div>
{% if grid.remark %}<p>{{ grid.remark }}</p>{% endif %}
{% endfor %}
</body>
</html>
"""


def _html(paper: Paper, grids: Sequence[Grid], about: Sequence[str]) -> str:
    from jinja2 import Environment

    page = Environment(autoescape=True).from_string(_PAGE)
    return page.render(paper=paper, grids=grids, about=about)
