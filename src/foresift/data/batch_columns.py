"""Columns of rows that come in batches: numbers and categories as they are, not in codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.coding import ADVICE, Coding, other_types
from foresift.data.containers import Source, label_of, read
from foresift.data.encoding import as_numbers, look_up, parts_of, single_columns
from foresift.data.row_source import RowSource
from foresift.data.target import Quantity
from foresift.data.values import is_missing
from foresift.errors import InputError

__all__ = ["Categories", "Numbers", "read_rows"]

_TOGETHER = 32  # columns of a batch


class Numbers(NamedTuple):
    """Some rows of numeric columns, NaN for missing."""

    at: slice
    values: NDArray[np.float64]


class Categories(NamedTuple):
    """Some rows of a nominal column: positions among all its categories, -1 for missing."""

    at: int
    codes: NDArray[np.intp]


def read_rows(source: RowSource, coding: Coding) -> Iterator[tuple[NDArray[Any], list[Numbers | Categories]]]:
    """The target and the columns of every batch, in the order of parts and batches.

    The target is a class code or a number for every row. A coding says which columns are nominal, and their
    categories.

    Examples
    --------
    >>> from foresift.data.coding import make_coding
    >>> from foresift.data.row_source import InMemory
    >>> from foresift.data.schema import Schema
    >>> from foresift.data.target import Target
    >>> sizes, target = np.array([1.5, 2.5]), Target.of(["a", "b"], 2)
    >>> coding = make_coding(Schema(("size",), (None,)), {0: sizes}, target, target.labels, None)
    >>> rows = InMemory({"size": sizes}, target)
    >>> next(read_rows(rows, coding))
    (array([0, 1], dtype=uint16), [Numbers(at=slice(0, 1, None), values=array([[1.5],
           [2.5]]))])
    """
    row = 0
    for part in range(source.n_parts):
        for batch in source.batches(part):
            opened = read(batch.X)
            if not opened.n_rows:
                continue
            columns = list(_columns(opened, coding))
            if source.target is None:
                y = batch.y
                y = np.asarray(y, np.float64) if coding.labels is None else coding.target_codes(y)
            else:
                own = source.target.take(np.arange(row, row + opened.n_rows))
                y = own.y if isinstance(own, Quantity) else coding.codes_of_target(own)
            row += opened.n_rows
            yield y, columns


def _columns(opened: Source, coding: Coding) -> Iterator[Numbers | Categories]:
    """Columns of a batch; numeric ones some at a time."""
    waiting: list[NDArray[Any]] = []
    first = 0
    for j, values in _single(opened, coding):
        known = coding.schema.categories[j]
        if waiting and (known is not None or len(waiting) == _TOGETHER):
            yield Numbers(slice(first, first + len(waiting)), np.column_stack(waiting))
            waiting = []
        if known is None:
            first = first if waiting else j
            waiting.append(values)
        else:
            codes = look_up(values, known, label_of(opened.labels, j))
            yield Categories(j, np.where(np.isnan(codes), -1, codes).astype(np.intp))
    if waiting:
        yield Numbers(slice(first, first + len(waiting)), np.column_stack(waiting))


def _single(opened: Source, coding: Coding) -> Iterator[tuple[int, Any]]:
    """Every column: numbers as float64, categories as they are."""
    for start, part, nominal, _ in parts_of(opened, coding.nominal):
        if not nominal:
            for offset, numbers in enumerate(as_numbers(part, start, opened.labels, ADVICE).T):
                yield start + offset, numbers.astype(np.float64, copy=False)
            continue
        for j, values in single_columns(part, start, opened.labels):
            if coding.schema.categories[j] is not None:
                yield j, values
            elif all(map(is_missing, set(values.tolist()))):  # numbers, none of which is known here
                yield j, np.full(opened.n_rows, np.nan)
            else:
                raise InputError(other_types(label_of(opened.labels, j), "", "nominal"))
