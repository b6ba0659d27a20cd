"""The `foresift` command: read a table, rank its columns, print the ranking."""

import csv
import difflib
import math
import warnings
from collections import Counter
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, NoReturn

import typer

from foresift import cli_compare
from foresift.cli_datasets import datasets
from foresift.cli_reproduce import reproduce
from foresift.methods import METHODS, SEARCHES

if TYPE_CHECKING:
    import numpy as np

MISSING = frozenset({"", "?", "NA", "NaN", "nan"})
BAR_WIDTH = 10

app = typer.Typer(
    help="Tell which columns of a table matter.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


# `auto` is the one we would take ourselves.
Method = StrEnum("Method", {key.replace("-", "_"): key for key in ("auto", *METHODS)})  # type: ignore[misc]
AUTO = Method("auto")


class InputError(Exception):
    """What is wrong with the user's input, in one sentence."""


def read_table(path: Path) -> dict[str, list[str]]:
    r"""Read a CSV file with a header line.

    Parameters
    ----------
    path : Path
        A UTF-8 file, comma separated.

    Returns
    -------
    dict of str to list of str
        The cells of every column, as they stand in the file but for spaces around them.

    Raises
    ------
    InputError
        If the file cannot be read or is no table.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "fruit.csv")
    ...     _ = path.write_text("weight,kind\n150,apple\n?,plum\n")
    ...     read_table(path)
    {'weight': ['150', '?'], 'kind': ['apple', 'plum']}
    """
    header, *rows = _read_rows(path) or [[]]
    if not any(header):
        raise InputError(f"{path} is empty: a header line and rows are needed.")
    if not rows:
        raise InputError(f"{path} has a header but no rows.")
    if len(header) == 1 and (other := next((mark for mark in ";\t|" if mark in header[0]), None)):
        raise InputError(f"{path} has one column, with {other!r} in its name: separate the cells by commas.")
    names = [cell.strip() or f"column {i}" for i, cell in enumerate(header, start=1)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"{path}: more than one column is named {twice[0]!r}; give each its own name.")
    return {name: [row[j].strip() for row in rows] for j, name in enumerate(names)}


def _read_rows(path: Path) -> list[list[str]]:
    rows: list[list[str]] = []
    line = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            for row in reader:
                line = reader.line_num
                if any("\0" in cell for cell in row):
                    raise InputError(f"{path}, line {line}: a NUL byte; this is no text file.")
                if rows and row and len(row) != len(rows[0]):
                    raise InputError(
                        f"{path}, line {line}: {len(row)} cells, but the header has {len(rows[0])}."
                    )
                if row:  # csv gives an empty list for a blank line
                    rows.append(row)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text; save it as CSV in UTF-8.") from error
    except csv.Error as error:
        raise InputError(f"{path}, line {line + 1}: not valid CSV ({error}).") from error
    return rows


def to_column(cells: list[str]) -> "np.ndarray":
    """Turn the cells of one column into an array.

    Parameters
    ----------
    cells : list of str
        Empty, ``?``, ``NA`` and ``NaN`` mean that the value is missing.

    Returns
    -------
    ndarray
        float64, NaN for missing, if every cell that is there is a number; else str objects, None for missing.

    Examples
    --------
    >>> to_column(["1", "NA", "2.5"])
    array([1. , nan, 2.5])
    >>> to_column(["red", "", "7"])
    array(['red', None, '7'], dtype=object)
    """
    import numpy as np

    try:
        return np.array([math.nan if cell in MISSING else _number(cell) for cell in cells])
    except ValueError:
        return np.array([None if cell in MISSING else cell for cell in cells], dtype=object)


def _number(cell: str) -> float:
    if "_" in cell:  # Python reads 1_000 as a number, a table means a name
        raise ValueError(cell)
    return float(cell)


def split_target(table: dict[str, list[str]], target: str) -> tuple[dict[str, "np.ndarray"], "np.ndarray"]:
    """Part a table into columns to rank and the labels to rank them by.

    Parameters
    ----------
    table : dict of str to list of str
        As `read_table` returns it.
    target : str
        The column with the labels.

    Returns
    -------
    columns : dict of str to ndarray
        As `to_column` makes them.
    labels : ndarray of str
        One per row, none missing, two different ones at least.

    Raises
    ------
    InputError
        If there is no such column, or it cannot serve as a target.

    Examples
    --------
    >>> columns, labels = split_target({"weight": ["150", "?"], "kind": ["apple", "plum"]}, "kind")
    >>> columns["weight"], labels.tolist()
    (array([150.,  nan]), ['apple', 'plum'])
    """
    import numpy as np

    if target not in table:
        near = difflib.get_close_matches(target, table, n=3, cutoff=0.5) or list(table)[:8]
        names = ", ".join(map(repr, near))
        raise InputError(f"There is no column {target!r}; did you mean one of {names}?")
    labels = table[target]
    if missing := sum(cell in MISSING for cell in labels):
        raise InputError(f"Target {target!r} is missing in {missing} rows; fill them in or drop them first.")
    classes = set(labels)
    if len(classes) == 1:
        raise InputError(
            f"Target {target!r} has the same value in every row; there is nothing to tell apart."
        )
    if len(classes) > max(20, len(labels) // 2):
        raise InputError(
            f"Target {target!r} has {len(classes)} values in {len(labels)} rows: too many classes."
        )
    if len(classes) > 20 and to_column(labels).dtype != object and any("." in cell for cell in classes):
        raise InputError(
            f"Target {target!r} is a number with {len(classes)} values: turn it into a few classes first."
        )
    columns = {name: to_column(cells) for name, cells in table.items() if name != target}
    if not columns:
        raise InputError(f"There is no column besides the target {target!r}.")
    return columns, np.array(labels)


class Ranked(NamedTuple):
    """One column of a ranking: its score, and for forest-gain what chance would have given it."""

    name: str
    score: float
    kept: bool
    by_chance: float = math.nan
    pvalue: float = math.nan


def rank(
    columns: dict[str, "np.ndarray"],
    labels: "np.ndarray",
    *,
    method: str = "forest-gain",
    trees: int | None,
    seed: int,
    jobs: int,
    k: int | None = None,
) -> list[Ranked]:
    """Rank columns by one of `METHODS`.

    Parameters
    ----------
    columns : dict of str to ndarray
        The columns to rank.
    labels : ndarray
        The target, one label per row.
    method : str, default="forest-gain"
        A key of `METHODS`.
    trees : int or None
        How many trees to grow, if the method grows a forest; None: what suits the method.
    seed : int
        Equal seeds give equal rankings.
    jobs : int
        How many threads; -1 for all cores.
    k : int, default=None
        Size of the set that a method which searches for one is to find.

    Returns
    -------
    list of Ranked
        Best first: forest-gain by how far the gain is above chance (a column of many values gains more by
        chance than one of few, so gains alone do not compare), other methods by their own ranking. Columns
        without a score have NaN and come last.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(40.0)
    >>> columns = {"noise": x % 3, "signal": x}
    >>> [column.name for column in rank(columns, x > 15, trees=20, seed=0, jobs=1)]
    ['signal', 'noise']
    """
    import numpy as np

    module, name, parameters, _ = METHODS[method]
    selector = getattr(import_module(f"foresift.{module}"), name)(**parameters)
    given = {"random_state": seed, "n_jobs": jobs} | ({} if trees is None else {"n_estimators": trees})
    if k is not None and module in SEARCHES:
        given |= {"n_features_to_select": k}
    selector.set_params(**{key: value for key, value in given.items() if key in selector.get_params()})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No feature passed")  # the marks in the table say so
        selector.fit(columns, labels)
    if method != "forest-gain":
        kept = getattr(selector, "relevant_", selector.support_)  # of which there may be none
        pvalues = getattr(selector, "pvalues_", np.full(len(columns), math.nan))
        chance = [math.nan] * len(columns)
        ranked = map(Ranked, columns, selector.scores_.tolist(), kept.tolist(), chance, pvalues.tolist())
        return [column for _, column in sorted(zip(selector.ranking_.tolist(), ranked, strict=True))]
    order = np.argsort(selector.expected_scores_ - selector.scores_, kind="stable")  # NaN comes last
    results = (selector.scores_, selector.support_, selector.expected_scores_, selector.pvalues_)
    ranked = map(Ranked, columns, *(result.tolist() for result in results))
    listed = list(ranked)
    return [listed[j] for j in order]


def _fail(message: str) -> NoReturn:
    typer.echo(f"foresift: {message}", err=True)
    raise typer.Exit(2)


def _print_ranking(ranking: list[Ranked], columns: dict[str, "np.ndarray"], title: str) -> None:
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


@app.command()
def select(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A CSV file with a header line.")],
    target: Annotated[str, typer.Option(metavar="COL", help="The column to explain.")],
    method: Annotated[Method, typer.Option(help="How to rank; see `foresift methods`.")] = AUTO,
    k: Annotated[
        int | None, typer.Option(min=1, help="Show only the best K columns; a search looks for that many.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Equal seeds give equal rankings.")] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = -1,
    trees: Annotated[
        int | None,
        typer.Option(min=1, help="Trees of a forest; by default as many as suit the method."),
    ] = None,
) -> None:
    """Rank the columns of DATA by how much they tell about the target.

    A cell that is empty, ?, NA or NaN is a missing value.
    """
    try:
        if jobs == 0:
            raise InputError("--jobs is a number of threads, or -1 for all cores; it cannot be 0.")
        columns, labels = split_target(read_table(data), target)
        if k is not None and k > len(columns):
            raise InputError(f"--k is {k}, but there are only {len(columns)} columns besides the target.")
        key = "forest-gain" if method is AUTO else method.value
        ranking = rank(columns, labels, method=key, trees=trees, seed=seed, jobs=jobs, k=k)
    except (InputError, ValueError) as error:
        _fail(" ".join(str(error).split()))
    size = f"{len(labels)} rows, {len(columns)} columns"
    how = METHODS[key][-1]
    if key == "forest-gain":
        grown = METHODS[key][2]["n_estimators"] if trees is None else trees
        how = f"average information gain in {grown} trees above what chance gives, seed {seed}"
    _print_ranking(ranking[:k], columns, f"{data.name}: {size}, target {target}; {how}")


app.command("compare")(
    cli_compare.command(lambda path, target: split_target(read_table(path), target), (InputError,))
)
app.command()(datasets)
app.command()(reproduce)


@app.command()
def methods() -> None:
    """List the methods that `foresift select --method` knows."""
    width = max(map(len, METHODS))
    for key, (*_, what) in METHODS.items():
        typer.echo(f"{key:<{width}} {what}")
    typer.echo(f"{'auto':<{width}} the one we would take ourselves; for now: forest-gain")


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
