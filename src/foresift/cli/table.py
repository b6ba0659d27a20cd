"""Options that commands share, and reading of the table."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresift.errors import InputError, typed

if TYPE_CHECKING:
    from foresift.reading.files import TableFile
    from foresift.reading.kinds import Decision
    from foresift.reading.splitting import Split

__all__ = [
    "Categorical",
    "Delimiter",
    "Drop",
    "Encoding",
    "File",
    "Groups",
    "KeepIds",
    "MaxMemory",
    "Numeric",
    "Sheet",
    "SkipUnlabelled",
    "Target",
    "Task",
    "Tasks",
    "Time",
    "column_notes",
    "column_of",
    "columns_of",
    "completing",
    "how_to_keep",
    "names_of",
    "notes_on_target",
    "option",
    "place_of",
    "read_columns",
    "require_jobs",
]

_FILE, _ROWS = "File", "Rows that belong together"
Tasks = StrEnum("Tasks", ["auto", "classification", "regression"])


def option(text: str, panel: str, *flags: str, **more: Any) -> Any:
    """Make an option in a panel of the help."""
    return typer.Option(*flags, help=text, rich_help_panel=panel, **more)


File = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Excel, Parquet (a file or folder), Feather, JSON lines or ARFF, also packed (gzip,"
        " bzip2, xz, zstd); - is stdin.",
    ),
]
Target = Annotated[str, typer.Option(metavar="COL", help="The column to predict.")]
Task = Annotated[
    Tasks,
    option(
        "auto, classification (the target holds classes) or regression (a quantity).", _FILE, metavar="TASK"
    ),
]
Numeric = Annotated[
    str, option("Columns that are numbers; other cells count as missing.", _FILE, metavar="A,B")
]
Categorical = Annotated[str, option("Columns that are categories.", _FILE, metavar="A,B")]
Drop = Annotated[str, option("Columns to drop.", _FILE, metavar="A,B")]
KeepIds = Annotated[bool, option("Keep columns that look like identifiers.", _FILE)]
SkipUnlabelled = Annotated[bool, option("Drop rows without a target.", _FILE, "--skip-unlabelled")]
Groups = Annotated[
    str, option("Column that groups the rows, such as a patient: groups stay whole.", _ROWS, metavar="COL")
]
Time = Annotated[str, option("Column that says when a row was observed.", _ROWS, metavar="COL")]
Delimiter = Annotated[
    str | None, option("Delimiter, if detected wrongly; a space stands for runs of spaces.", _FILE)
]
Encoding = Annotated[str | None, option("Text encoding, if detected wrongly.", _FILE)]
Sheet = Annotated[
    str, option("Sheet of an Excel workbook; by default the first with a table.", _FILE, metavar="NAME")
]
MaxMemory = Annotated[
    float,
    option(
        "Read larger Parquet, Feather and CSV files in batches (select), and refuse others.",
        _FILE,
        metavar="GB",
    ),
]


def names_of(text: str) -> tuple[str, ...]:
    """Split names at commas, except in quotes.

    Examples
    --------
    >>> names_of('a, b,"c,d"')
    ('a', 'b', 'c,d')
    """
    import csv

    rows = list(csv.reader([text], skipinitialspace=True))
    return tuple(name.strip() for row in rows for name in row if name.strip())


def columns_of(text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Exact names of comma-separated columns; the whole text may also be one name.

    Examples
    --------
    >>> columns_of("tickets, open", ["tickets, open", " age "]), columns_of("age,size", [" age ", "size"])
    (('tickets, open',), (' age ', 'size'))
    """
    whole = column_of(text, known)
    if text and whole in known:
        return (whole,)
    return tuple(column_of(name, known) for name in names_of(text))


def column_of(name: str, known: Sequence[str]) -> str:
    """Return the exact name of a column, which may have surrounding spaces or a # before it.

    Examples
    --------
    >>> column_of("age", [" age ", "size"]), column_of("age", [" age", "age "])
    (' age ', 'age')
    """
    if not name or name in known:
        return name
    from foresift.reading.delimited import bare_name

    for same in (str.strip, bare_name):
        matches = [other for other in known if same(other) == same(name)]
        if len(matches) == 1:
            return matches[0]
    return name


def completing(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Make a shell completion of the last name in a comma-separated list.

    Examples
    --------
    >>> completing(["relief", "relieff", "random"])("random,reli")
    ['random,relief', 'random,relieff']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, begun = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]

    return complete


def place_of(out: str | None) -> Path | None:
    """Path of the output; an empty name is an error.

    Examples
    --------
    >>> place_of(None) is None, place_of("report").name
    (True, 'report')
    """
    if out == "":
        raise InputError("--out is empty: give a folder, or . for the current one.")
    return None if out is None else Path(out)


def require_jobs(jobs: int, what: str) -> None:
    """Raise for 0 jobs."""
    if jobs == 0:
        raise InputError(f"--jobs is a number of {what}, or -1 for all cores; it cannot be 0.")


def read_columns(
    data: str,
    target: str,
    *,
    task: str = "auto",
    numeric: str = "",
    categorical: str = "",
    drop: str = "",
    keep_ids: bool = False,
    skip_unlabelled: bool = False,
    groups: str = "",
    time: str = "",
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str = "",
    max_memory: float = 4.0,
    tell: Callable[[str, int, int], None] = lambda what, n_steps, done: None,
) -> "tuple[TableFile, Split]":
    r"""Read the file of a command and split it into features and target; the parameters are the options.

    `tell` shows the progress; see `foresift.evaluation.harness.progress.steps`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "fruit.csv")
    ...     _ = path.write_text("weight,kind\n150,apple\n?,plum\n")
    ...     table, split = read_columns(str(path), "kind")
    >>> table.how, list(split.columns)
    ('CSV with commas, utf-8', ['weight'])
    """
    from foresift.reading.files import open_table
    from foresift.reading.kinds import ColumnOptions
    from foresift.reading.splitting import split_table

    if delimiter is not None and len(delimiter := delimiter.replace("\\t", "\t")) != 1:
        raise InputError(f"--delimiter is one character, not {delimiter!r}.")
    if not max_memory > 0:
        raise InputError(f"--max-memory is a number of gigabytes above 0, not {max_memory:g}.")
    opened = open_table(
        data,
        target=target,
        delimiter=delimiter,
        encoding=encoding,
        sheet=sheet,
        max_memory=max_memory,
        progress=_shown("opening", tell),
    )
    options = ColumnOptions(
        columns_of(numeric, opened.names),
        columns_of(categorical, opened.names),
        columns_of(drop, opened.names),
        keep_ids,
        skip_unlabelled,
        task,
        column_of(groups, opened.names),
        column_of(time, opened.names),
    )
    target = column_of(target, opened.names)
    if target in options.drop:
        raise InputError(f"--drop names the target {target!r}.")
    as_text = {target, options.groups, *options.categorical} - {""}
    table = opened.read(text=as_text, drop=options.drop, progress=_shown("reading", tell))
    return table, split_table(table, target, options)


def _shown(what: str, tell: Callable[[str, int, int], None]) -> Callable[[float], None]:
    """Make a function that shows the fraction of an activity that is done, in steps of a thousandth."""
    done = 0

    def show(fraction: float) -> None:
        nonlocal done
        if done == 0:
            tell(what, 1000, 0)
        if (step := int(1000 * fraction) - done) > 0:
            tell(what, 1000, step)
            done += step

    return show


def column_notes(split: "Split") -> list[tuple[str, str]]:
    """Notes on columns: dropped ones, dates, and text among numbers."""
    from foresift.reading.splitting import rows_of

    decisions = sorted(split.decisions, key=lambda d: not d.doubtful)  # a long list is cut off at the end
    said = [(d.name, d.why) for d in decisions if d.doubtful and not d.left_out]
    said += [(d.name, f"left out, {d.kind}: {d.why}{how_to_keep(d)}") for d in decisions if d.left_out]
    if split.unlabelled is not None:
        are = "is" if split.unlabelled.sum() == 1 else "are"
        said.insert(0, (split.target, f"missing in {rows_of(split.unlabelled)}, which {are} left out"))
    said += [(d.name, d.why) for d in decisions if d.kind == "date"]
    plain = ("text", "every cell is a number", "the file says so", "as you say")
    rest = (d for d in decisions if not (d.left_out or d.doubtful or d.kind == "date"))
    said += [(d.name, d.why) for d in rest if d.why not in plain]
    said += [(name, f"{key} of the rows, no feature") for key, (name,) in split.about_rows.items()]
    return said + [(name, "left out, dropped by --drop") for name in split.dropped]


def notes_on_target(split: "Split", categorical: str, task: str = "auto") -> list[str]:
    """Say how numbers in the file are treated, unless the user has said so; and similar labels.

    `select` and `compare` get classes as text, so they cannot detect that these are numbers.
    """
    from foresift.cli.errors import as_typed
    from foresift.data.target_notes import are_whole_numbers, note_on_quantity, notes_on_classes

    if task != "auto" or split.target in columns_of(categorical, [split.target]):
        return []
    if split.task == "regression":
        return [as_typed(note_on_quantity(split.labels))]
    labels = set(split.labels.tolist())
    if not are_whole_numbers(labels):
        return []
    return [as_typed(note) for note in notes_on_classes(sorted(labels), numeric=True)]


def how_to_keep(decision: "Decision") -> str:
    """The option that keeps a column which is not an identifier but, for example, a postal code."""
    return f" ({typed(decision.keep_by, decision.name)} keeps it)" if decision.keep_by else ""
