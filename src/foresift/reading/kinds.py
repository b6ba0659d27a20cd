"""Detect the type of each column of a file: numeric, categorical, date, identifier or constant."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.table import MAX_CATEGORIES
from foresift.errors import InputError, typed
from foresift.reading.amounts import decimal_mark, read_amount, read_amounts
from foresift.reading.cells import Column, parse_texts
from foresift.reading.dates import read_dates
from foresift.reading.numbers import PADDED, is_number

__all__ = ["ColumnOptions", "Decision", "decide", "numbers_of", "without_dashes"]

_TOO_MANY = "too many to be categories"
_DASHES = frozenset({"-", "--", "---", "\u2013", "\u2014"})  # missing values if all other texts are numbers
MOSTLY = 0.9  # if this fraction of the texts are numbers, the others are suspicious
FEW = 20  # with up to this many rows, distinct values do not indicate an identifier
_ID_NAME = re.compile(
    r"(^|[^a-z])(id|uid|uuid|guid|key|index|idx|nr|no|num|number|rownum|row)$", re.IGNORECASE
)
_CAMEL_ID = re.compile(r"[a-z](Id|ID|Key|No|Nr)$")


@dataclass(frozen=True)
class ColumnOptions:
    """The user's options for columns, which override what is detected.

    Attributes
    ----------
    numeric, categorical, drop : collection of str
        Names of columns.
    keep_ids : bool
        Whether to keep columns that look like identifiers.
    skip_unlabelled : bool
        Whether to drop rows without a target.
    task : {"auto", "classification", "regression"}
        Whether the target holds classes or a quantity; "auto" looks at its cells.
    groups, time : str
        Columns that say which rows belong together, and when they were observed; empty for none.
    """

    numeric: Collection[str] = ()
    categorical: Collection[str] = ()
    drop: Collection[str] = ()
    keep_ids: bool = False
    skip_unlabelled: bool = False
    task: str = "auto"
    groups: str = ""
    time: str = ""

    @property
    def about_rows(self) -> dict[str, str]:
        """Columns that are no features: by what they say of rows."""
        return {key: name for key, name in (("groups", self.groups), ("time", self.time)) if name}


@dataclass(frozen=True)
class Decision:
    """The detected type of a column.

    Attributes
    ----------
    name : str
        The column.
    kind : {"numeric", "categorical", "date", "id", "constant"}
        Its type.
    why : str
        The reason.
    left_out : bool
        Whether it is excluded from the ranking.
    keep_by : str
        The option that would keep it; empty if there is none.
    doubtful : bool
        Whether the type may be wrong, so that the user should be told.
    """

    name: str
    kind: str
    why: str
    left_out: bool = False
    keep_by: str = ""
    doubtful: bool = False


def without_dashes(column: Column) -> Column:
    """Treat dashes as missing if all other texts of a column are numbers; else return the column unchanged.

    Examples
    --------
    >>> column = Column("size", np.array([0, 1, 2, 1], dtype=np.int32), ["1.5", "-", "2"])
    >>> without_dashes(column).values, without_dashes(column).absent
    (array([1.5, nan, 2. , nan]), "'-' in 2 cells")
    """
    texts = column.texts or []
    dashes = [text for text in texts if text in _DASHES]
    rest = [text for text in texts if text not in _DASHES]
    if not dashes or not rest or column.declared:
        return column
    codes = np.cumsum([text not in _DASHES for text in [*texts, ""]]) - 1
    codes[[*(text in _DASHES for text in texts), True]] = -1
    values = codes[column.values.astype(np.intp)].astype(np.int32)
    found = parse_texts(replace(column, values=values, texts=rest))
    if found.texts is not None and (any(map(PADDED.fullmatch, rest)) or read_amounts(rest) is None):
        return column
    n_cells = int(found.missing.sum() - column.missing.sum())
    return replace(found, absent=f"{', '.join(map(repr, dashes))} in {_cells(n_cells)}")


def decide(
    column: Column, options: ColumnOptions, *, decimal_comma: bool = False, thousands_dot: bool = False
) -> tuple[Decision, NDArray[Any]]:
    """Detect the type of a column, and convert its values for the selectors.

    Parameters
    ----------
    column : Column
        The column of the file.
    options : ColumnOptions
        The user's options.
    decimal_comma : bool, default=False
        Whether 1,5 may be a number.
    thousands_dot : bool, default=False
        Whether dots that are always followed by three digits are thousands separators.

    Returns
    -------
    decision : Decision
        The type and the reason.
    values : ndarray
        float64, NaN for missing; or objects, text and None.

    Examples
    --------
    >>> column = Column("born", np.array([0, 1, 0], dtype=np.int32), ["1999-12-31", "2001-01-01"])
    >>> decision, values = decide(column, ColumnOptions())
    >>> decision.kind, decision.why, values
    ('date', 'dates written YYYY-MM-DD, taken as days since 1970', array([10956., 11323., 10956.]))
    """
    name = column.name
    values: NDArray[Any]
    if name in options.numeric:
        values, why = _as_numbers(column, decimal_comma)
        kind = "numeric"
    elif name in options.categorical:
        kind, why, values = "categorical", "as you say", column.labels()
    else:
        kind, why, values = _look(column, decimal_comma, thousands_dot)
    if column.absent:
        why += f"; {column.absent} is missing"
    doubt = _doubt(column) if kind == "categorical" and name not in options.categorical else ""
    missing = column.missing if values.dtype == object else np.isnan(values)
    known = column.values if values.dtype == object else values
    present = known[~missing] if missing.any() else known
    if constant := _constant(present, values):
        return Decision(name, "constant", constant, left_out=True), values
    if kind == "numeric" and np.isinf([present.min(), present.max()]).any():
        row = int(np.isinf(values).argmax())
        raise InputError(
            f"Column {name!r} holds an infinite number ({values[row]}) in row {row + 1}: leave such cells"
            f" empty, or drop the column (--drop {name!r})."
        )
    is_set = name in options.numeric or name in options.categorical or options.keep_ids
    if not is_set and (reason := _identifier(name, kind, present)):
        if doubt:
            return Decision(name, "id", f"{reason}; {doubt}", left_out=True, doubtful=True), values
        flag = "" if reason.endswith(_TOO_MANY) else f"--{kind}"
        return Decision(name, "id", reason, left_out=True, keep_by=flag), values
    return Decision(name, kind, doubt or why, doubtful=bool(doubt)), values


def numbers_of(
    column: Column, *, decimal_comma: bool = False, thousands_dot: bool = False
) -> NDArray[np.float64] | None:
    """Numbers of a column that was read as text; None if it holds text, dates or codes such as 007.

    Examples
    --------
    >>> numbers_of(Column("price", np.array([0, 1, 0], dtype=np.int32), ["$1,250", "$7.5"]))
    array([1250. ,    7.5, 1250. ])
    """
    if column.texts is not None and column.declared != "categorical":
        column = parse_texts(column)
    kind, _, values = _look(column, decimal_comma, thousands_dot)
    return values if kind == "numeric" else None


def _look(column: Column, decimal_comma: bool, thousands_dot: bool) -> tuple[str, str, NDArray[Any]]:
    """Type, reason and values of a column, from its cells alone."""
    texts = column.texts
    if texts is None:
        if column.declared == "date":
            return "date", f"dates, taken as {column.unit}", column.values
        if column.grouped is not None and thousands_dot:
            why = "thousands dots, because other columns have decimal commas (--numeric: a decimal point)"
            return "numeric", why, column.grouped
        if column.mark == ",":
            return "numeric", "numbers (decimal commas)", column.values
        why = "the file says so" if column.declared else "every cell is a number"
        return "numeric", why, column.values
    if column.declared != "categorical":
        dates = read_dates(texts)
        if dates is not None:
            values = np.append(dates.numbers, np.nan)[column.values.astype(np.intp)]
            why = f"dates written {dates.written}, taken as {dates.unit}"
            if dates.odd:
                why += f"; text such as {dates.odd!r} is missing"
            return "date", why, values
        if any(map(PADDED.fullmatch, texts)):
            if all(map(is_number, texts)):
                return "categorical", "numbers with leading zeros, taken as codes", column.labels()
        else:
            amounts = read_amounts(texts, decimal_comma=decimal_comma)
            if amounts is not None:
                values = np.append(amounts.numbers, np.nan)[column.values.astype(np.intp)]
                return "numeric", f"numbers ({amounts.written})", values
    why = "the file says so" if column.declared else "text"
    if not column.declared:
        odd = [text for text in texts if not is_number(text)]
        if 0 < len(odd) <= len(texts) // 2:
            why = f"text such as {odd[0]!r} among numbers (--numeric would take it as missing)"
    return "categorical", why, column.labels()


def _doubt(column: Column) -> str:
    """Message if nearly all texts of a categorical column are numbers; else empty."""
    texts = column.texts
    if not texts or column.declared or any(map(PADDED.fullmatch, texts)):
        return ""
    odd = [text for text in texts if read_amount(text, decimal_comma=True) is None]
    share = 1 - len(odd) / len(texts)
    if not odd or share < MOSTLY:
        return ""
    how = typed("--numeric", column.name)
    percent = min(99, round(100 * share))
    return (
        f"{percent} % of the distinct values are numbers, {odd[0]!r} is not: {how} makes the others missing"
    )


def _cells(n: int) -> str:
    return f"{n:,} cell{'' if n == 1 else 's'}"


def _as_numbers(column: Column, decimal_comma: bool) -> tuple[NDArray[np.float64], str]:
    """Values of a column that the user calls numeric, with other cells as missing, and the reason."""
    if column.texts is None:
        return column.values.astype(np.float64), "as you say"
    amounts = read_amounts(column.texts, decimal_comma=decimal_comma)
    if amounts is not None:
        return np.append(amounts.numbers, np.nan)[column.values.astype(np.intp)], "as you say"
    mark = decimal_mark([t for t in column.texts if decimal_mark([t]) or read_amount(t) is not None])
    comma = mark == "," or (decimal_comma and not mark)
    numbers = [read_amount(text, decimal_comma=comma) for text in column.texts]
    if all(number is None for number in numbers):
        raise InputError(f"Column {column.name!r} cannot be numeric: no cell of it is a number.")
    odd = [text for text, number in zip(column.texts, numbers, strict=True) if number is None]
    why = "as you say"
    if odd:
        is_odd = np.array([*(number is None for number in numbers), False])
        n_cells = _cells(int(is_odd[column.values.astype(np.intp)].sum()))
        if len(odd) == 1:
            why += f"; {odd[0]!r} in {n_cells} is no number and counts as missing"
        else:
            why += f"; {len(odd):,} texts such as {odd[0]!r} in {n_cells} are no numbers and count as missing"
    whole = np.array([*(np.nan if x is None else x for x in numbers), np.nan])
    return whole[column.values.astype(np.intp)], why


def _constant(present: NDArray[Any], values: NDArray[Any]) -> str:
    """Reason why a column is constant; empty if not. `present` are its numbers, or codes of its texts."""
    if not len(present):
        return "every cell is missing"
    if len(present) == len(values) and present.min() == present.max():
        return f"every cell is {values[0] if values.dtype == object else f'{values[0]:g}'}"
    return ""


def _identifier(name: str, kind: str, present: NDArray[Any]) -> str:
    """Reason why a column looks like an identifier of the rows; empty if it does not."""
    if kind == "date":
        return ""
    if kind == "categorical":
        n_distinct = (
            np.count_nonzero(np.bincount(present)) if present.dtype.kind == "i" else len(set(present))
        )
        if n_distinct > MAX_CATEGORIES:
            return f"{n_distinct:,} different texts, {_TOO_MANY}"
        return "every text is different" if n_distinct == len(present) > FEW else ""
    if len(present) <= FEW or present[0] % 1:
        return ""
    smallest, largest = present.min(), present.max()
    # In a shorter range some number comes twice.
    if largest - smallest < len(present) - 1 or not (present == np.floor(present)).all():
        return ""
    steps = np.diff(present)
    if steps[0] != 0 and (steps == steps[0]).all():
        return "numbers that count the rows"
    if not (np.diff(np.sort(present)) > 0).all():
        return ""
    if largest - smallest == len(present) - 1:
        return "every whole number of a range once, as row numbers have it"
    if _ID_NAME.search(name.strip()) or _CAMEL_ID.search(name.strip()):
        return "it is named like an identifier, and every number is different"
    return ""
