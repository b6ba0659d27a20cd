"""Split a table from a file into features and target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.target import Classes, Quantity, table_task_of
from foresift.errors import InputError, near_names, typed
from foresift.reading.amounts import decimal_mark
from foresift.reading.cells import Column, parse_texts
from foresift.reading.dates import read_dates
from foresift.reading.delimited import Delimited, name_of
from foresift.reading.files import TableFile
from foresift.reading.kinds import ColumnOptions, Decision, decide, numbers_of, without_dashes
from foresift.reading.numbers import is_number

__all__ = ["Split", "marks_of", "require_column", "rows_of", "split_table"]

MAX_NAMES = 8  # columns listed in a message
MAX_ROWS = 4  # rows numbered in a message


@dataclass(frozen=True, eq=False)
class Split:
    """A table, split into features and target.

    Attributes
    ----------
    columns : dict of str to ndarray
        The features: float64 with NaN, or objects, text and None.
    labels : ndarray
        The class of every row, as text; or its number, if the target is a quantity.
    target : str
        The target column.
    decisions : list of Decision
        The detected type of every column but the target.
    dropped : list of str
        Columns dropped by the user.
    unlabelled : ndarray of bool or None
        Mask of the rows of the file dropped because they have no label; None if there are none.
    n_comments : int
        Number of comment lines before the header.
    about_rows : dict of str to dict
        "groups" and "time", if they are columns of the file: the name and the values of each.
    """

    columns: dict[str, NDArray[Any]]
    labels: NDArray[Any]
    target: str
    decisions: list[Decision]
    dropped: list[str]
    unlabelled: NDArray[np.bool_] | None = None
    n_comments: int = 0
    about_rows: dict[str, dict[str, NDArray[Any]]] = field(default_factory=dict)

    @property
    def task(self) -> str:
        """What the target holds: classes ("classification") or a quantity ("regression")."""
        return Classes.task if self.labels.dtype == object else Quantity.task

    @property
    def n_columns(self) -> int:
        """Columns of the file but the target."""
        return len(self.decisions) + len(self.dropped) + len(self.about_rows)

    @property
    def notes(self) -> list[str]:
        """Sentences on unused parts of the file."""
        notes = []
        if self.unlabelled is not None:
            were = "was" if self.unlabelled.sum() == 1 else "were"
            notes.append(f"{rows_of(self.unlabelled)} without a target {were} dropped.")
        if self.n_comments:
            lines = "line" if self.n_comments == 1 else "lines"
            notes.append(f"Skipped {self.n_comments:,} comment {lines} before the header.")
        return notes


def split_table(table: TableFile, target: str, options: ColumnOptions | None = None) -> Split:
    r"""Split a table into at least one feature and a target of at least two values, or raise `InputError`.

    The columns of `table` are released one by one, to save memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from foresift.reading.files import open_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "fruit.csv")
    ...     _ = path.write_text("weight,kind\n150,apple\n?,plum\n")
    ...     split = split_table(open_table(path).read(), "kind")
    >>> split.columns["weight"], split.labels.tolist()
    (array([150.,  nan]), ['apple', 'plum'])
    """
    options = options or ColumnOptions()
    names = [column.name for column in table.columns]
    for flag, wanted in (("--numeric", options.numeric), ("--categorical", options.categorical)):
        for name in wanted:
            require_column(name, names, flag)
    for name in options.drop:
        require_column(name, [*names, *table.left_out], "--drop")
    hint = "".join(f" {note}" for note in table.notes)
    if isinstance(table.origin, Delimited):
        hint = _hint(table.origin)
    require_column(target, names, "", hint)
    _require_about_rows(options, target, names)
    labelled = next(column for column in table.columns if column.name == target)
    as_text = {target, *options.categorical}
    unlabelled = labelled.missing if options.skip_unlabelled and labelled.missing.any() else None
    if unlabelled is not None:  # before anything is decided: such rows may hold units or remarks
        labelled = labelled.rows(~unlabelled)
        always = set(options.about_rows.values())
        for j, column in enumerate(table.columns):
            if column.texts is not None or column.name in always:  # numbers in all rows may count the rows
                text = column.name in {*as_text, options.groups}
                table.columns[j] = _rows(column, ~unlabelled, text=text)
    table.columns[:] = [c if c.name in as_text else without_dashes(c) for c in table.columns]
    semicolons = isinstance(table.origin, Delimited) and table.origin.delimiter == ";"
    comma, dots = marks_of(table.columns, semicolons=semicolons)
    numbers = np.arange(len(labelled.missing)) if unlabelled is None else np.flatnonzero(~unlabelled)
    labels = _values(labelled, options, numbers, comma=comma, dots=dots)
    columns: dict[str, NDArray[Any]] = {}
    decisions = []
    table.columns.reverse()  # popping from the end is fast
    about_rows: dict[str, dict[str, NDArray[Any]]] = {}
    while table.columns:
        column = table.columns.pop()
        of_rows = [key for key, name in options.about_rows.items() if name == column.name]
        if of_rows:
            about_rows[of_rows[0]] = _about_rows(of_rows[0], column)
        elif column.name != target:
            decision, values = decide(column, options, decimal_comma=comma, thousands_dot=dots)
            decisions.append(decision)
            if not decision.left_out:
                columns[column.name] = (
                    values if unlabelled is None or len(values) == len(labels) else values[~unlabelled]
                )
    if not columns:
        why = "; ".join(f"{d.name}: {d.why}" for d in decisions[:5])
        raise InputError(
            f"There is no column besides the target {target!r} to rank{f' ({why})' if why else ''}.{hint}"
        )
    n_comments = table.origin.n_comments if isinstance(table.origin, Delimited) else 0
    return Split(columns, labels, target, decisions, table.left_out, unlabelled, n_comments, about_rows)


def _require_about_rows(options: ColumnOptions, target: str, names: Sequence[str]) -> None:
    """Raise for columns of groups or times that cannot be."""
    for key, name in options.about_rows.items():
        if name in options.drop:
            raise InputError(f"--drop and --{key} both name {name!r}: name it once, it is no feature then.")
        require_column(name, names, f"--{key}")
        if name == target:
            raise InputError(f"--{key} names the target {target!r}.")
    if options.groups and options.groups == options.time:
        raise InputError(f"--groups and --time both name {options.time!r}: name two columns.")


def _about_rows(key: str, column: Column) -> dict[str, NDArray[Any]]:
    """Groups as text, times as numbers; text that is no date is sorted as text."""
    values: NDArray[Any] = column.labels()
    missing = column.missing
    if key == "time":
        parsed = column if column.texts is None else parse_texts(column)
        values = decide(parsed, ColumnOptions(keep_ids=True))[1]
        missing = (
            np.array([value is None for value in values]) if values.dtype == object else np.isnan(values)
        )
    if missing.any():
        n = int(missing.sum())
        rows, those = ("1 row", "that row") if n == 1 else (f"{n:,} rows", "those rows")
        raise InputError(
            f"Column {column.name!r} (--{key}) is missing in {rows}: fill it in, or drop {those}."
        )
    return {column.name: values}


def marks_of(columns: Iterable[Column], *, semicolons: bool) -> tuple[bool, bool]:
    """Whether commas are decimal marks, and dots thousands separators, in ambiguous columns.

    Ambiguous columns follow the others: 1,234 is a fraction if some columns have decimal commas and none has
    decimal points. With semicolons as delimiters commas are likely decimal marks, unless other columns have
    decimal points.

    Examples
    --------
    >>> prices = Column("price", np.array([0, 1], dtype=np.int32), ["1,5", "2,25"])
    >>> marks_of([prices], semicolons=False)
    (True, True)
    """
    marks = {column.mark or (decimal_mark(column.texts) if column.texts else "") for column in columns}
    dots = "," in marks and (semicolons or "." not in marks)
    return dots or (semicolons and "." not in marks), dots


def _hint(origin: Delimited) -> str:
    """Possible reasons why a CSV file seems to lack a column."""
    hint = ""
    if len(origin.header) == 1:
        mark = name_of(origin.delimiter)
        hint = f" The table was read as one column: if the delimiter is not {mark}, give it (--delimiter)."
    if 2 * sum(map(is_number, origin.header)) >= len(origin.header):
        hint += " The first line looks like data: insert a line with the names of the columns above it."
    if origin.n_comments:
        lines = "line was" if origin.n_comments == 1 else "lines were"
        hint += f" {origin.n_comments:,} comment {lines} skipped before the header."
    return hint


def _rows(column: Column, wanted: NDArray[np.bool_], *, text: bool) -> Column:
    """Some rows of a column, which may be numbers without the texts of the others."""
    some = column.rows(wanted)
    return some if some.texts is None or some.declared else parse_texts(some, text=text)


def rows_of(mask: NDArray[np.bool_]) -> str:
    """Say how many rows of a table a mask has, and which if they are few.

    Examples
    --------
    >>> rows_of(np.array([False, False, True, True]))
    '2 rows (data rows 3 and 4, at the end)'
    """
    numbers = (np.flatnonzero(mask) + 1).tolist()
    n = len(numbers)
    which = ""
    if n <= MAX_ROWS:
        *first, last = map(str, numbers)
        which = f"data row{'s' if first else ''} {', '.join(first)}{' and ' if first else ''}{last}"
    if mask[-n:].all():
        which += f"{', ' if which else ''}at the end"
    return f"{n:,} row{'' if n == 1 else 's'}{f' ({which})' if which else ''}"


def require_column(name: str, names: Sequence[str], flag: str, hint: str = "") -> None:
    """Raise if there is no such column, and suggest others."""
    if name in names:
        return
    if near := list(map(repr, near_names(name, names))):
        said = f"did you mean {'one of ' if len(near) > 1 else ''}{', '.join(near)}?"
    else:
        more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
        said = f"there {'are' if len(names) > 1 else 'is'} {', '.join(map(repr, names[:MAX_NAMES]))}{more}."
    if flag and (with_comma := next((other for other in names if "," in other), "")):
        quoted = typed(flag, f'"{with_comma}"')
        hint += f" Quote a name that contains a comma: {quoted}."
    raise InputError(f"There is no column {name!r}{f' ({flag})' if flag else ''}; {said}{hint}")


def _values(
    column: Column, options: ColumnOptions, rows: NDArray[np.intp], *, comma: bool, dots: bool
) -> NDArray[Any]:
    """Class of every row as text, or its number if the target is a quantity; `rows` are those of the file."""
    target, task = column.name, options.task
    if column.missing.all():
        raise InputError(f"Target {target!r} is missing in every row: give another column (--target).")
    if column.missing.any():
        it, those = ("it", "that row") if column.missing.sum() == 1 else ("them", "those rows")
        raise InputError(
            f"Target {target!r} is missing in {rows_of(column.missing)}: fill {it} in, or drop {those}"
            " (--skip-unlabelled)."
        )
    labels = column.labels()
    n_values, n_rows = len(set(labels.tolist())), len(labels)
    if n_rows == 1:
        raise InputError("The table has a single row with a target: get more rows.")
    if n_values == 1:
        raise InputError(
            f"Target {target!r} has the same value in every row: at least two different values are needed."
        )
    if task != Classes.task and target not in options.categorical:
        numbers = numbers_of(column, decimal_comma=comma, thousands_dot=dots)
        if numbers is None and task == Quantity.task:
            raise InputError(
                f"Target {target!r} has values such as {labels[0]!r}, which are no numbers: leave out"
                " --task regression, or give a column of numbers."
            )
        if numbers is not None and Quantity.task in (task, table_task_of(numbers)):
            if np.isinf(numbers).any():
                row = int(np.isinf(numbers).argmax())
                raise InputError(
                    f"Target {target!r} holds an infinite number ({numbers[row]}) in row {rows[row] + 1}:"
                    " correct it, or empty the cell and drop the row (--skip-unlabelled)."
                )
            return numbers
    if n_values > max(20, n_rows // 2) and read_dates(column.texts or []) is not None:
        raise InputError(
            f"Target {target!r} holds dates such as {labels[0]!r}: give a column of classes or numbers."
        )
    if n_values > max(20, n_rows // 2):
        raise InputError(
            f"Target {target!r} has {n_values} values in {n_rows} rows: too many classes. Merge them into a"
            " few with several rows each."
        )
    return labels
