"""How commands read a table: the options they share, and what is made of them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresift.errors import InputError, typed

if TYPE_CHECKING:
    from foresift.reading.files import TableFile
    from foresift.reading.kinds import Decision
    from foresift.reading.parting import Split

__all__ = [
    "Categorical",
    "Delimiter",
    "Drop",
    "Encoding",
    "File",
    "KeepIds",
    "MaxMemory",
    "Numeric",
    "SkipUnlabelled",
    "Target",
    "column_of",
    "columns_of",
    "completing",
    "names_of",
    "notes_on_target",
    "option",
    "place_of",
    "read_columns",
    "require_jobs",
    "worth_saying",
]

_FILE = "File"


def option(text: str, panel: str, *flags: str, **more: Any) -> Any:
    """Make an option that the help lists under a heading."""
    return typer.Option(*flags, help=text, rich_help_panel=panel, **more)


File = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV, TSV, Parquet, Feather or ARFF, also gzipped; - is stdin.")
]
Target = Annotated[str, typer.Option(metavar="COL", help="The column to explain.")]
Numeric = Annotated[
    str, option("Columns that are numbers; other cells count as missing.", _FILE, metavar="A,B")
]
Categorical = Annotated[str, option("Columns that are categories.", _FILE, metavar="A,B")]
Drop = Annotated[str, option("Columns to leave out.", _FILE, metavar="A,B")]
KeepIds = Annotated[bool, option("Take columns that look like row numbers or names too.", _FILE)]
SkipUnlabelled = Annotated[bool, option("Leave out rows without a target.", _FILE, "--skip-unlabelled")]
Delimiter = Annotated[
    str | None, option("What separates cells, if told wrongly; a space stands for runs of them.", _FILE)
]
Encoding = Annotated[str | None, option("Encoding of the text, if told wrongly.", _FILE)]
MaxMemory = Annotated[
    float,
    option("Refuse a file that takes more when it is read or unpacked.", _FILE, metavar="GB"),
]


def names_of(text: str) -> tuple[str, ...]:
    """Names between commas; quotes let a name have one itself.

    Examples
    --------
    >>> names_of('a, b,"c,d"')
    ('a', 'b', 'c,d')
    """
    import csv

    rows = list(csv.reader([text], skipinitialspace=True))
    return tuple(name.strip() for row in rows for name in row if name.strip())


def columns_of(text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Columns that the user names between commas; the whole text may also be the name of one.

    Parameters
    ----------
    text : str
        What was typed.
    known : sequence of str
        The columns that there are.

    Returns
    -------
    tuple of str
        Exact names; what is not known stays as it is.

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
    """Return the exact name of a column: blanks around it, and a # before it, need not be typed.

    Examples
    --------
    >>> column_of("age", [" age ", "size"]), column_of("age", [" age", "age "])
    (' age ', 'age')
    """
    if name in known:
        return name
    from foresift.reading.delimited import bare_name

    for same in (str.strip, bare_name):
        alike = [other for other in known if same(other) == same(name)]
        if len(alike) == 1:
            return alike[0]
    return name


def completing(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Make what a shell asks how a name goes on that has been begun, the last of a list between commas.

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
    """Where to write to; an empty name, which would be the current folder, is refused.

    Examples
    --------
    >>> place_of(None) is None, place_of("report").name
    (True, 'report')
    """
    if out == "":
        raise InputError("--out is empty: say where to write to, or . for the current folder.")
    return None if out is None else Path(out)


def require_jobs(jobs: int, what: str) -> None:
    """Refuse 0 jobs."""
    if jobs == 0:
        raise InputError(f"--jobs is a number of {what}, or -1 for all cores; it cannot be 0.")


def read_columns(
    data: str,
    target: str,
    *,
    numeric: str = "",
    categorical: str = "",
    drop: str = "",
    keep_ids: bool = False,
    skip_unlabelled: bool = False,
    delimiter: str | None = None,
    encoding: str | None = None,
    max_memory: float = 4.0,
) -> "tuple[TableFile, Split]":
    r"""Read the file of a command.

    Parameters
    ----------
    data : str
        The file; "-" is standard input.
    target : str
        The column to explain.
    numeric, categorical, drop : str
        Names of columns, between commas.
    keep_ids : bool, default=False
        Whether columns that look like identifiers stay.
    skip_unlabelled : bool, default=False
        Whether rows without a target are left out.
    delimiter, encoding : str or None, default=None
        Of a CSV file, where they are told wrongly.
    max_memory : float, default=4.0
        Gigabytes that a Parquet or Feather file may take, or a gzip file unpack to.

    Returns
    -------
    table : TableFile
        What the file is.
    split : Split
        Its columns and labels.

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
    from foresift.reading.kinds import Wishes
    from foresift.reading.parting import split_table

    if delimiter is not None and len(delimiter := delimiter.replace("\\t", "\t")) != 1:
        raise InputError(f"--delimiter is one character, not {delimiter!r}.")
    if not max_memory > 0:
        raise InputError(f"--max-memory is a number of gigabytes above 0, not {max_memory:g}.")
    opened = open_table(data, target=target, delimiter=delimiter, encoding=encoding, max_memory=max_memory)
    wishes = Wishes(
        columns_of(numeric, opened.names),
        columns_of(categorical, opened.names),
        columns_of(drop, opened.names),
        keep_ids,
        skip_unlabelled,
    )
    target = column_of(target, opened.names)
    if target in wishes.drop:
        raise InputError(f"--drop names the target {target!r}.")
    table = opened.read(text={target, *wishes.categorical}, drop=wishes.drop)
    return table, split_table(table, target, wishes)


def worth_saying(split: "Split") -> list[tuple[str, str]]:
    """What is worth saying of the columns: those left out, dates, and text among numbers."""
    decisions = split.decisions
    decisions = sorted(decisions, key=lambda d: not d.doubtful)  # not to be cut off from a long list
    said = [(d.name, d.why) for d in decisions if d.doubtful and not d.left_out]
    said += [(d.name, f"left out, {d.kind}: {d.why}{_how_to_keep(d)}") for d in decisions if d.left_out]
    if split.n_unlabelled:
        said.insert(0, (split.target, f"missing in {split.n_unlabelled:,} rows, which are left out"))
    said += [(d.name, d.why) for d in decisions if d.kind == "date"]
    plain = ("text", "every cell is a number", "the file says so", "as you say")
    rest = (d for d in decisions if not (d.left_out or d.doubtful or d.kind == "date"))
    said += [(d.name, d.why) for d in rest if d.why not in plain]
    return said + [(name, "left out, as you say") for name in split.dropped]


def notes_on_target(split: "Split", categorical: str) -> list[str]:
    """Say that whole numbers in the file are taken as classes, unless the user has called them categories.

    `select` and `compare` get text, of which they cannot know that it was numbers.
    """
    from foresift.data.target_notes import are_whole_numbers, notes_on_classes

    labels = set(split.labels.tolist())
    if split.target in columns_of(categorical, [split.target]) or not are_whole_numbers(labels):
        return []
    how = f"say so ({typed('--categorical', split.target)})"
    return notes_on_classes(sorted(labels), numeric=True, how_to_confirm=how)


def _how_to_keep(decision: "Decision") -> str:
    """Say what to type if a column is no identifier but, say, a postal code."""
    return f" ({typed(decision.keep_by, decision.name)} keeps it)" if decision.keep_by else ""
