"""Part a table that was read into the columns to rank and the target, or say why that cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.errors import InputError, near_names, typed
from foresift.reading.amounts import decimal_mark, is_quantity
from foresift.reading.cells import Column
from foresift.reading.delimited import Delimited, name_of
from foresift.reading.files import TableFile
from foresift.reading.kinds import Decision, Wishes, decide, without_dashes
from foresift.reading.numbers import is_number

__all__ = ["Split", "split_table"]

MAX_NAMES = 8  # of columns that a message lists


@dataclass(frozen=True, eq=False)
class Split:
    """A table, parted into what is ranked and what it is ranked by.

    Attributes
    ----------
    columns : dict of str to ndarray
        The columns to rank: float64 with NaN, or objects, text and None.
    labels : ndarray of object
        The class of every row, as text.
    target : str
        Where the labels come from.
    decisions : list of Decision
        What every column but the target was taken for.
    dropped : list of str
        Columns that the user left out.
    n_unlabelled : int
        Rows that were left out because they have no label.
    n_comments : int
        Lines before the header that were skipped because they begin with #.
    """

    columns: dict[str, NDArray[Any]]
    labels: NDArray[np.object_]
    target: str
    decisions: list[Decision]
    dropped: list[str]
    n_unlabelled: int = 0
    n_comments: int = 0

    @property
    def notes(self) -> list[str]:
        """Sentences on what of the file was not used."""
        notes = []
        if self.n_unlabelled:
            notes.append(f"{self.n_unlabelled:,} rows without a target were left out.")
        if self.n_comments:
            lines = "line" if self.n_comments == 1 else "lines"
            notes.append(f"Skipped {self.n_comments:,} comment {lines} before the header.")
        return notes


def split_table(table: TableFile, target: str, wishes: Wishes | None = None) -> Split:
    r"""Part a table into columns to rank and the labels to rank them by.

    Parameters
    ----------
    table : TableFile
        As `read_table` returns it. Its columns are let go one by one, to save memory.
    target : str
        The column with the labels.
    wishes : Wishes or None, default=None
        What the user says of columns.

    Returns
    -------
    Split
        With at least one column, and two different labels, none missing.

    Raises
    ------
    InputError
        If there is no such column, or it cannot serve as a target.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from foresift.reading.files import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "fruit.csv")
    ...     _ = path.write_text("weight,kind\n150,apple\n?,plum\n")
    ...     split = split_table(read_table(path), "kind")
    >>> split.columns["weight"], split.labels.tolist()
    (array([150.,  nan]), ['apple', 'plum'])
    """
    wishes = wishes or Wishes()
    names = [column.name for column in table.columns]
    for flag, wanted in (("--numeric", wishes.numeric), ("--categorical", wishes.categorical)):
        for name in wanted:
            _require(name, names, flag)
    for name in wishes.drop:
        _require(name, [*names, *table.left_out], "--drop")
    hint = _hint(table.origin) if isinstance(table.origin, Delimited) else ""
    _require(target, names, "", hint)
    labelled = next(column for column in table.columns if column.name == target)
    there = _labelled_rows(labelled) if wishes.skip_unlabelled else None
    as_it_is = {target, *wishes.categorical}
    table.columns[:] = [c if c.name in as_it_is else without_dashes(c) for c in table.columns]
    comma, dots = _marks(table)
    labels = _labels(
        labelled if there is None else labelled.rows(there), sure=target in wishes.categorical, comma=comma
    )
    columns: dict[str, NDArray[Any]] = {}
    decisions, table_rows = [], table.n_rows
    table.columns.reverse()  # of a long list only the end is let go quickly
    while table.columns:
        column = table.columns.pop()
        if column.name != target:
            decision, values = decide(column, wishes, decimal_comma=comma, thousands_dot=dots)
            decisions.append(decision)
            if not decision.left_out:
                columns[column.name] = values if there is None else values[there]
    if not columns:
        why = "; ".join(f"{d.name}: {d.why}" for d in decisions[:5])
        raise InputError(
            f"There is no column besides the target {target!r} to rank{f' ({why})' if why else ''}.{hint}"
        )
    n_comments = table.origin.n_comments if isinstance(table.origin, Delimited) else 0
    return Split(columns, labels, target, decisions, table.left_out, table_rows - len(labels), n_comments)


def _marks(table: TableFile) -> tuple[bool, bool]:
    """Say whether commas are decimal ones, and dots between thousands, where a column leaves it open.

    A column that can be read in one way only is read so, whatever the others are. One that can be read in
    both follows them: 1,234 is a fraction if some have decimal commas and none has decimal points. Where
    semicolons separate cells, the comma is likely in numbers, unless points alone are seen.
    """
    marks = {"." if column.pointed else decimal_mark(column.texts or []) for column in table.columns}
    semicolons = isinstance(table.origin, Delimited) and table.origin.delimiter == ";"
    dots = "," in marks and (semicolons or "." not in marks)
    return dots or (semicolons and "." not in marks), dots


def _hint(origin: Delimited) -> str:
    """Say why a CSV file may have other columns than it seems."""
    hint = ""
    if len(origin.header) == 1:
        mark = name_of(origin.delimiter)
        hint = f" The table was read as one column: if something else than {mark} separates cells, say so"
        hint += " (--delimiter)."
    if 2 * sum(map(is_number, origin.header)) >= len(origin.header):
        hint += " The first line looks like data: put a line with the names of the columns above it."
    if origin.n_comments:
        lines = "line was" if origin.n_comments == 1 else "lines were"
        hint += f" {origin.n_comments:,} comment {lines} skipped before the header."
    return hint


def _labelled_rows(target: Column) -> NDArray[np.bool_] | None:
    """Mask of the rows that have a label; None if all have."""
    if target.missing.all():
        raise InputError(f"Target {target.name!r} is missing in every row.")
    return ~target.missing if target.missing.any() else None


def _require(name: str, names: Sequence[str], flag: str, hint: str = "") -> None:
    if name in names:
        return
    if near := list(map(repr, near_names(name, names))):
        said = f"did you mean {'one of ' if len(near) > 1 else ''}{', '.join(near)}?"
    else:
        more = f" and {len(names) - MAX_NAMES:,} more" if len(names) > MAX_NAMES else ""
        said = f"there {'are' if len(names) > 1 else 'is'} {', '.join(map(repr, names[:MAX_NAMES]))}{more}."
    if flag and (apart := next((other for other in names if "," in other), "")):
        quoted = typed(flag, f'"{apart}"')
        hint += f" A name with a comma in it is put into quotes: {quoted}."
    raise InputError(f"There is no column {name!r}{f' ({flag})' if flag else ''}; {said}{hint}")


def _labels(column: Column, *, sure: bool, comma: bool) -> NDArray[np.object_]:
    """Class of every row, if the column can be a target."""
    target = column.name
    if missing := int(column.missing.sum()):
        raise InputError(
            f"Target {target!r} is missing in {missing} rows; fill them in, or leave those rows out"
            " (--skip-unlabelled)."
        )
    labels = column.labels()
    classes = set(labels.tolist())
    n_classes, n_rows = len(classes), len(labels)
    if n_classes == 1:
        raise InputError(
            f"Target {target!r} has the same value in every row; there is nothing to tell apart."
        )
    if not sure and is_quantity(classes, n_rows, decimal_comma=comma):
        raise InputError(
            f"Target {target!r} is a number with {n_classes} values in {n_rows} rows, and foresift explains"
            f" classes only: cut it into a few first, with pandas as in table[{target!r}] ="
            f" pandas.qcut(table[{target!r}], 3, labels=['low', 'middle', 'high']); or, if the numbers name"
            f" classes, say so (--categorical {target!r})."
        )
    if n_classes > max(20, n_rows // 2):
        raise InputError(
            f"Target {target!r} has {n_classes} values in {n_rows} rows: too many classes. Join them into a"
            " few that have several rows each."
        )
    return labels
