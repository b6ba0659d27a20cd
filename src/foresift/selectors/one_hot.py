"""Blocks of indicator columns as scikit-learn's OneHotEncoder makes them, found by names and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.numeric_coding import ValueTable
from foresift.data.table import Nominal, Table, UncodedTable

__all__ = ["one_hot_blocks"]


def one_hot_blocks(data: Table | ValueTable | UncodedTable) -> list[list[int]]:
    """Columns of 0 and 1 whose names share a beginning up to a "_" and of which at most one is 1 in a row.

    A category may hold a "_" itself, so the beginning is not known: of columns of which exactly one is 1 in
    every row the shortest one counts, which makes the block whole. Of the others, from which the encoder has
    dropped a category, it is the longest.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> names = ["sensor_1", "sensor_2", "to_new_york", "to_new_orleans", "to_rome"]
    >>> X = [[0.5, 0.1, 1, 0, 0], [0.3, 0.2, 0, 1, 0], [0.8, 0.6, 0, 0, 1]]
    >>> one_hot_blocks(make_table(dict(zip(names, zip(*X)))))
    [[2, 3, 4]]
    """
    names = data.schema.names or ()
    ones = dict(_indicators(data))
    starting: dict[str, list[int]] = {}
    for column in ones:
        for at, sign in enumerate(names[column]):
            if sign == "_" and 0 < at < len(names[column]) - 1:
                starting.setdefault(names[column][:at], []).append(column)
    prefixes = sorted(starting, key=len)
    blocks: list[list[int]] = []
    for whole, ordered in ((True, prefixes), (False, prefixes[::-1])):
        for prefix in ordered:
            left = [column for column in starting[prefix] if column in ones]
            if len(left) > 1 and _exclusive([ones[column] for column in left], whole):
                blocks.append(left)
                for column in left:
                    del ones[column]
    return sorted(blocks)


def _exclusive(ones: Sequence[NDArray[np.bool_]], whole: bool) -> bool:
    """Whether at most one is true in every row; or exactly one, if they are to be `whole`."""
    sums = np.sum(ones, axis=0)
    return bool((sums == 1).all() if whole else (sums <= 1).all())


def _indicators(data: Table | ValueTable | UncodedTable) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """The columns of nothing but 0 and 1, as masks of the ones."""
    for column, known, codes in _coded_columns(data):
        values = [
            float(value) for value in known if isinstance(value, bool | np.bool_ | int | float | np.number)
        ]
        if len(values) == len(known) and set(values) <= {0.0, 1.0} and len(values):
            ones = np.asarray(values)[codes] == 1
            if ones.any():  # nothing but 0 goes with any columns
                yield column, ones


def _coded_columns(data: Any) -> Iterator[tuple[int, Any, NDArray[np.intp]]]:
    """Columns of at most two values, none of them missing: the values, and which of them every row has."""
    if isinstance(data, Table):
        for j in range(data.n_columns):
            if data.store.n_values(j) <= 2 and not data.store.has_missing(j):
                known = data.schema.categories[j]
                known = data.store.values(j) if known is None else known
                yield j, known, np.asarray(data.store.codes(j), dtype=np.intp)
        return
    parts = [data.values] if isinstance(data, ValueTable) else data.columns()
    for part in parts:
        if isinstance(part, Nominal):
            if len(part.categories) <= 2 and (part.codes >= 0).all():
                yield part.at, part.categories, part.codes.astype(np.intp)
            continue
        values, start = (part, 0) if isinstance(part, np.ndarray) else (part.values, part.start)
        for k in range(values.shape[1]):
            j = start + k
            known = data.schema.categories[j]
            if np.isin(values[:, k], (0, 1)).all():
                yield j, (0.0, 1.0) if known is None else known, values[:, k].astype(np.intp)
