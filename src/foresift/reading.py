"""Read a table from a file: its columns, the target, and what is wrong with it."""

import csv
import difflib
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

__all__ = ["MISSING", "InputError", "read_table", "split_target", "to_column"]

MISSING = frozenset({"", "?", "NA", "NaN", "nan"})


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
