"""`foresift.read`: what the command line reads, in Python."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from numpy.typing import NDArray

from foresift.errors import InputError
from foresift.reading.files import MAX_MEMORY, open_table
from foresift.reading.kinds import ColumnOptions
from foresift.reading.splitting import Split, split_table

__all__ = ["FileData", "read"]

_LISTS = ("numeric", "categorical", "drop")
_FLAGS = ("keep-ids", "skip-unlabelled")
_VALUES = ("task", "groups", "time", "delimiter", "encoding", "sheet", "max-memory")
# Options in messages of the readers, with the value that follows some of them, as `errors.typed` quotes it.
_VALUE = r"'(?:[^']|'\"'\"')*'|\"[^\"]*\"|[\w@%+=:,./-]+(?= makes)|regression|NAME"
_OPTION = re.compile(rf"--({'|'.join((*_LISTS, *_FLAGS, *_VALUES))})(?: ({_VALUE}))?")
_ON_QUOTES = re.compile(r" Quote a name that contains a comma: .*\.")  # for the shell


@dataclass(frozen=True, eq=False)
class FileData:
    """A table from a file, split into features and target; unpacked, it is X and y.

    Attributes
    ----------
    X : data frame or dict
        The features; numbers, dates as numbers, and text.
    y : ndarray
        The class of every row, as text; or its number, if the target is a quantity.
    task : {"classification", "regression"}
        Which of both it is.
    target : str
        Name of the target.
    groups, time : dict or None
        Name and values of the columns that say which rows belong together and when they were observed.
    columns : list of dict
        Every column but the target: its `name`; its `kind`, "numeric", "categorical", "date", "id",
        "constant" or "dropped"; `why` that was decided; and whether it was `left_out`.
    notes : list of str
        Sentences on parts of the file that were not used.
    source, how : str
        Name and format of the file.
    """

    X: Any
    y: NDArray[Any]
    task: str
    target: str
    groups: dict[str, NDArray[Any]] | None
    time: dict[str, NDArray[Any]] | None
    columns: list[dict[str, Any]]
    notes: list[str]
    source: str
    how: str

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        n_features = sum(not column["left_out"] for column in self.columns)
        size = f"{len(self.y):,} rows, {n_features:,} features"
        return f"<{self.source} ({self.how}): {size}, target {self.target!r} ({self.task})>"

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of `select` and `compare`: X, y, task, and groups and time where there are such."""
        about_rows = {"groups": self.groups, "time": self.time}
        given = {key: values for key, values in about_rows.items() if values is not None}
        return {"X": self.X, "y": self.y, "task": self.task, **given}


def read(
    path: str | PathLike[str],
    target: str,
    *,
    task: str = "auto",
    numeric: Iterable[str] = (),
    categorical: Iterable[str] = (),
    drop: Iterable[str] = (),
    groups: str | None = None,
    time: str | None = None,
    keep_ids: bool = False,
    skip_unlabelled: bool = False,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    max_memory: float = MAX_MEMORY,
) -> FileData:
    r"""Read a table from a file as the command line does, and split it into features and target.

    Kinds of columns are detected: numbers with units and thousands separators, dates, categories, missing
    values. Identifiers and constant columns are left out.

    Parameters
    ----------
    path : path
        A file of any format that `foresift select` takes; "-" is standard input.
    target : str
        The column to predict.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the target holds classes or a quantity.
    numeric, categorical, drop : iterable of str, default=()
        Columns that are numbers, where other cells count as missing; that are categories; and to leave out.
    groups, time : str or None, default=None
        Columns that say which rows belong together, and when they were observed; they are no features.
    keep_ids : bool, default=False
        Whether to keep columns that look like identifiers.
    skip_unlabelled : bool, default=False
        Whether to drop rows without a target.
    delimiter, encoding : str or None, default=None
        Of a CSV file; detected by default.
    sheet : str or None, default=None
        Of a workbook; by default the one that has the target, else the first one with a table.
    max_memory : float, default=4.0
        Gigabytes above which a file is refused.

    Returns
    -------
    FileData
        Its attributes are `X` (a data frame of pandas or, where that is not installed, of polars; without
        both a dict of columns), `y`, `task`, `target`, `groups`, `time`, `columns` (what was decided of each,
        and why), `notes`, `source` and `how`. ``X, y = read(...)`` works, and
        ``select(**read(...).arguments)``. Dates are numbers: days or seconds since 1970.

    See Also
    --------
    foresift.select : Select columns of the table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import foresift
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "fruit.csv")
    ...     _ = path.write_text("weight;price;kind\n150 g;1,20;apple\n35 g;?;plum\n160 g;0,90;apple\n")
    ...     table = foresift.read(path, "kind")
    >>> X, y = table
    >>> X["price"].tolist(), y.tolist()
    ([1.2, nan, 0.9], ['apple', 'plum', 'apple'])
    >>> table.columns[0]
    {'name': 'weight', 'kind': 'numeric', 'why': 'numbers (in g)', 'left_out': False}
    """
    if not isinstance(path, str | PathLike):
        raise TypeError(f"read takes the path of a file, not a {type(path).__name__}.")
    if not isinstance(target, str):
        raise TypeError(f"target is the name of a column, not {target!r}.")
    texts = {"groups": groups, "time": time, "delimiter": delimiter, "encoding": encoding, "sheet": sheet}
    for key, value in texts.items():
        if not isinstance(value, str | None):
            raise TypeError(f"{key} is a text, such as the name of a column, or None, not {value!r}.")
    if not isinstance(max_memory, int | float):
        raise TypeError(f"max_memory is a number of gigabytes, not {max_memory!r}.")
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"task must be auto, classification or regression, but is {task!r}.")
    if not max_memory > 0:
        raise ValueError(f"max_memory is a number of gigabytes above 0, not {max_memory!r}.")
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"delimiter is one character, not {delimiter!r}.")
    options = ColumnOptions(
        _names(numeric),
        _names(categorical),
        _names(drop),
        keep_ids,
        skip_unlabelled,
        task,
        groups or "",
        time or "",
    )
    if target in options.drop:
        raise ValueError(f"drop names the target {target!r}.")
    as_text = {target, options.groups, *options.categorical} - {""}
    try:
        opened = open_table(
            fspath(path),
            target=target,
            delimiter=delimiter,
            encoding=encoding,
            sheet=sheet or "",
            max_memory=max_memory,
        )
        table = opened.read(text=as_text, drop=options.drop)
        split = split_table(table, target, options)
    except InputError as error:
        raise ValueError(_in_python(str(error))) from error
    return FileData(
        _frame(split.columns),
        split.labels,
        split.task,
        target,
        split.about_rows.get("groups"),
        split.about_rows.get("time"),
        _columns(split),
        [_in_python(note) for note in (*table.notes, *split.notes)],
        table.source,
        table.how,
    )


def _names(given: Iterable[str]) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else given
    each = tuple(names) if isinstance(names, Iterable) else (None,)
    if all(isinstance(name, str) for name in each):
        return each
    raise TypeError(f"numeric, categorical and drop are names of columns, not {given!r}.")


def _columns(split: Split) -> list[dict[str, Any]]:
    """What was decided of every column."""
    columns: list[dict[str, Any]] = [
        {"name": d.name, "kind": d.kind, "why": _in_python(d.why), "left_out": d.left_out}
        for d in split.decisions
    ]
    return columns + [
        {"name": name, "kind": "dropped", "why": "as you say", "left_out": True} for name in split.dropped
    ]


def _frame(columns: dict[str, NDArray[Any]]) -> Any:
    """A data frame of an installed library, else the columns."""
    try:
        import pandas as pd
    except ImportError:
        pass
    else:
        return pd.DataFrame(columns, copy=False)
    try:
        import polars as pl
    except ImportError:
        return columns
    return pl.DataFrame({name: v.tolist() if v.dtype == object else v for name, v in columns.items()})


def _in_python(message: str) -> str:
    """Replace options of the command line in a message by parameters.

    Examples
    --------
    >>> _in_python("Drop the column (--drop 'my size'), or raise the limit (--max-memory).")
    "Drop the column (drop=['my size']), or raise the limit (max_memory=)."
    """

    def parameter(found: re.Match[str]) -> str:
        name, value = found[1].replace("-", "_"), found[2]
        if found[1] in _FLAGS:
            return f"{name}=True"
        if value is None:
            return f"{name}="
        (value,) = shlex.split(value)
        return f"{name}={[value] if found[1] in _LISTS else value!r}"

    return _OPTION.sub(parameter, _ON_QUOTES.sub("", message))
