"""Split X into numeric and nominal parts, and encode categories as integers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.coded_column import CodedColumn
from foresift.data.containers import Block, Source, as_float, label_of, require_finite
from foresift.data.temporal import in_unit
from foresift.data.values import is_missing, kind_of_values

__all__ = [
    "MAX_CATEGORIES",
    "as_fitted",
    "as_numbers",
    "factorize",
    "look_up",
    "parts_of",
    "single_columns",
]

MAX_CATEGORIES = 65_534  # codes and branches have 16 bits, and missing takes one of each


def parts_of(source: Source, mask: NDArray[np.bool_] | None) -> Iterator[Block]:
    """Split the blocks of X into numeric and nominal parts, which `mask` tells apart, or else the dtype."""
    for start, values, by_dtype, unit in source.blocks():
        width = values.shape[1] if values.ndim == 2 else 1
        flags = np.full(width, by_dtype) if mask is None else mask[start : start + width]
        cuts = [0, *(np.flatnonzero(flags[1:] != flags[:-1]) + 1).tolist(), width]
        for first, last in pairwise(cuts):
            part = values[:, first:last] if values.ndim == 2 else values
            yield Block(start + first, part, bool(flags[first]), unit)


def as_numbers(part: NDArray[Any], start: int, labels: Sequence[Any] | None, advice: str) -> NDArray[Any]:
    """Return a numeric part as an (n, width) float array without infinity."""
    if isinstance(part, CodedColumn):
        part = part.decoded()
    if part.ndim == 1:
        label = label_of(labels, start)
        if kind_of_values(part, label) in ("text", "bytes"):
            example = next(value for value in part if not is_missing(value))
            raise ValueError(f"{label} holds text: could not convert string to float: {example!r}. {advice}")
        part = as_float(part)[:, np.newaxis]
    numbers = as_float(part)
    require_finite(numbers, start, labels)
    return numbers


def as_fitted(part: Block, units: Sequence[str], labels: Sequence[Any] | None) -> NDArray[Any]:
    """Values of a part in the units of the training data; other than for dates, it raises if they differ."""
    values, width = part.values, part.values.shape[1] if part.values.ndim == 2 else 1
    wanted = units[part.start : part.start + width] or ("",) * width
    if not part.unit and not any(wanted):
        return values
    if values.dtype == object:  # text, of which the next step says what is wrong; or all missing
        return values
    columns = zip(values.T, wanted, range(part.start, part.start + width), strict=True)
    return np.column_stack(
        [in_unit(column, part.unit, unit, label_of(labels, j)) for column, unit, j in columns]
    )


def single_columns(
    part: NDArray[Any], start: int, labels: Sequence[Any] | None
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield index and 1-D values of every column of a nominal part."""
    if part.ndim == 1:
        yield start, part
        return
    if part.dtype.kind == "f":
        require_finite(part, start, labels)
    for offset in range(part.shape[1]):
        yield start + offset, part[:, offset]


def factorize(values: NDArray[Any], label: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted distinct values of a column and every row's position in them, -1 for missing."""
    if isinstance(values, CodedColumn):
        used = np.flatnonzero(values.used())
        known, codes = factorize(values.known[used], label)
        place = np.full(len(values.known) + 1, -1, dtype=np.int32)
        place[used] = codes
        return known, place[values.codes]
    if values.dtype == object:
        # Much faster than sorting a million strings.
        distinct = sorted(value for value in set(values.tolist()) if not is_missing(value))
        is_bool = bool(distinct) and isinstance(distinct[0], bool | np.bool_)
        known = np.array(distinct, dtype=bool if is_bool else object)
        codes = _hashed_codes(values, known, missing=-1)
    elif values.dtype == bool:
        known = np.array([False] * (not values.all()) + [True] * bool(values.any()))
        codes = values if len(known) == 2 else np.zeros(len(values), dtype=np.int32)
    else:
        present = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), dtype=bool)
        known, inverse = np.unique(values[present], return_inverse=True)
        codes = np.full(len(values), -1, dtype=np.int32)
        codes[present] = inverse
    if len(known) > MAX_CATEGORIES:
        raise ValueError(
            f"{label} has {len(known):,} distinct categories; at most {MAX_CATEGORIES:,} are allowed. It"
            " looks like an identifier: drop it, make it numeric if its order means something, or merge some."
        )
    return known, codes.astype(np.int32, copy=False)


def _hashed_codes(values: NDArray[Any], known: NDArray[Any], *, missing: float) -> NDArray[Any]:
    """Position of every object in `known`; -1 if it is not in there, `missing` for a missing value."""
    position: dict[Any, float] = {value: code for code, value in enumerate(known.tolist())}
    cells = values.tolist()
    for value in set(cells).difference(position):
        position[value] = missing if is_missing(value) else -1
    return np.fromiter(map(position.__getitem__, cells), dtype=np.float64, count=len(cells))


def look_up(values: NDArray[Any], known: NDArray[Any], label: str) -> NDArray[Any]:
    """Category codes of a column of new data: -1 for an unknown category, NaN for missing."""
    if isinstance(values, CodedColumn):
        used = np.flatnonzero(values.used())
        place = np.full(len(values.known) + 1, np.nan)
        place[used] = look_up(values.known[used], known, label)
        return place[values.codes]
    if values.dtype == bool:
        no, yes = look_up(np.array([0.0, 1.0]), known, label)
        return np.where(values, yes, no)
    kind = kind_of_values(values, label) if values.dtype == object else "number"
    is_text = kind in ("text", "bytes")
    all_missing = kind == "missing" or (values.dtype.kind == "f" and bool(np.isnan(values).all()))
    if len(known) and is_text != (known.dtype == object) and not all_missing:
        now, then = ("text", "numbers") if is_text else ("numbers", "text")
        raise TypeError(f"{label} holds {now}, but held {then} when fitted: convert it to what it was.")
    if values.dtype == object:
        return _hashed_codes(values, known, missing=np.nan)
    if not len(known) or known.dtype == object:
        codes = np.full(len(values), -1.0)
    else:
        at = np.searchsorted(known, values).clip(max=len(known) - 1)
        codes = np.where(known[at] == values, at, -1).astype(np.float64)
    if values.dtype.kind == "f":
        codes[np.isnan(values)] = np.nan
    return codes
