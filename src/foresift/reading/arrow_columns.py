"""Columns between three forms: cells of mixed types, Arrow arrays, and columns of a table."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, types

from foresift.reading.cells import Column, parse_texts

__all__ = [
    "array_of",
    "arrow_floats",
    "is_text",
    "is_usable",
    "text_of",
    "to_column",
    "unified",
    "unified_type",
]

_DAY = 86_400
_NESTED = pa.list_(pa.null())


def array_of(cells: Sequence[Any]) -> pa.Array:
    """Array of cells of one or several types, None for missing; cells of mixed types become text.

    Examples
    --------
    >>> array_of([1, 2.5, None]).to_pylist(), array_of([1.0, "x", True]).to_pylist()
    ([1.0, 2.5, None], ['1', 'x', 'true'])
    """
    kinds = set(map(type, cells)) - {type(None)}
    if kinds & {list, dict}:
        return pa.nulls(len(cells), _NESTED)
    if kinds <= {datetime.date, datetime.datetime}:
        cells = cells if datetime.datetime not in kinds else list(map(_moment, cells))
    elif kinds <= {int, float}:
        if float in kinds or any(cell is not None and abs(cell) >= 2**63 for cell in cells):
            cells = [None if cell is None else _float(cell) for cell in cells]
    elif len(kinds) > 1:
        cells = list(map(text_of, cells))
    return pa.array(cells)


def unified(chunks: Sequence[pa.Array]) -> pa.ChunkedArray:
    """Join parts of a column whose types may differ, as `array_of` would do with all cells.

    Examples
    --------
    >>> unified([pa.array([1, 2]), pa.array(["x"])]).to_pylist()
    ['1', '2', 'x']
    """
    kind = unified_type(chunk.type for chunk in chunks)
    if kind == _NESTED:
        chunks = [pa.nulls(sum(map(len, chunks)))]
    elif types.is_string(kind):
        texts = (chunk if is_text(chunk.type) else map(text_of, chunk.to_pylist()) for chunk in chunks)
        chunks = [pa.array(own, kind) for own in texts]
    return pa.chunked_array([chunk.cast(kind, safe=False) for chunk in chunks], kind)


def unified_type(kinds: Iterable[pa.DataType]) -> pa.DataType:
    """The type of a column, parts of which have these types of `array_of`.

    Examples
    --------
    >>> unified_type([pa.int64(), pa.float64(), pa.null()]), unified_type([pa.int64(), pa.bool_()])
    (DataType(double), DataType(string))
    """
    known = set(kinds) - {pa.null()}
    if len(known) < 2:
        return known.pop() if known else pa.null()
    if _NESTED in known:
        return _NESTED
    return pa.float64() if known == {pa.int64(), pa.float64()} else pa.string()


def is_usable(kind: pa.DataType) -> bool:
    """Whether columns of a type can be features.

    Examples
    --------
    >>> is_usable(pa.date32()), is_usable(pa.list_(pa.int8()))
    (True, False)
    """
    if types.is_dictionary(kind):
        return is_usable(kind.value_type)
    plain = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_temporal)
    return (
        is_text(kind) or types.is_null(kind) or (any(t(kind) for t in plain) and not types.is_interval(kind))
    )


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is one of Arrow's types of text.

    Examples
    --------
    >>> is_text(pa.large_string()), is_text(pa.dictionary(pa.int8(), pa.string()))
    (True, False)
    """
    tests = (types.is_string, types.is_large_string, getattr(types, "is_string_view", types.is_string))
    return any(test(kind) for test in tests)


def text_of(cell: Any) -> str | None:
    """A cell as in a CSV file; whole numbers without a fraction.

    Examples
    --------
    >>> text_of(2.0), text_of(True), text_of(datetime.date(2024, 1, 31)), text_of(None)
    ('2', 'true', '2024-01-31', None)
    """
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return None if cell is None else str(cell)


def to_column(name: str, values: pa.ChunkedArray, kind: pa.DataType, as_text: bool) -> Column:
    """Make a column of values whose declared type is `kind`; its decisions are those of a CSV file.

    Examples
    --------
    >>> values = pa.chunked_array([["1.5", "NA", "2"]])
    >>> to_column("size", values, values.type, as_text=False).values
    array([1.5, nan, 2. ])
    """
    declared = "categorical" if types.is_dictionary(kind) or types.is_boolean(kind) else None
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_dictionary(values.type) and not is_text(values.type.value_type):
        values = values.cast(values.type.value_type)
    if types.is_temporal(kind) and not as_text:
        numbers, unit = _moments(values)
        return Column(name, numbers, declared="date", unit=unit)
    if (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)) and not declared:
        numbers = arrow_floats(values)
        mark = "." if not types.is_integer(kind) and np.isfinite(numbers).any() else ""
        column = Column(name, numbers, declared="numeric", mark=mark)
        if not as_text:
            return column
        if not types.is_integer(kind):  # whole numbers are text without a fraction
            values = pa.chunked_array([pa.array(column.labels(), pa.string())])
    elif types.is_null(kind):
        return Column(name, np.full(len(values), np.nan), declared="numeric")
    elif types.is_timestamp(kind):
        values = _shortest(values.cast(pa.timestamp(kind.unit)))
    codes, texts = _coded(values)
    return parse_texts(Column(name, codes, texts, declared), text=as_text or declared is not None)


def arrow_floats(values: pa.ChunkedArray) -> NDArray[np.float64]:
    """Numbers of any type as float64, NaN for null.

    Examples
    --------
    >>> arrow_floats(pa.chunked_array([[1, None]]))
    array([ 1., nan])
    """
    if types.is_decimal(values.type):
        values = values.cast(pa.string())  # the nearest number; Arrow's own conversion rounds twice
    return compute.cast(values, pa.float64(), safe=False).to_numpy(zero_copy_only=False).astype(np.float64)


def _moment(cell: Any) -> Any:
    """A date as the midnight it begins with."""
    return datetime.datetime(cell.year, cell.month, cell.day) if type(cell) is datetime.date else cell


def _float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer of hundreds of digits
        return np.inf if number > 0 else -np.inf


def _coded(values: pa.ChunkedArray) -> tuple[NDArray[np.int32], list[str]]:
    """Codes of texts, -1 for null, and the distinct texts in order of occurrence."""
    known = None
    if types.is_dictionary(values.type):  # coded already, but perhaps with unused texts
        values = values.unify_dictionaries()
        known = values.chunk(0).dictionary
        values = pa.chunked_array([chunk.indices for chunk in values.chunks])
    elif not types.is_string(values.type):
        values = values.cast(pa.string())
    coded = compute.dictionary_encode(values).combine_chunks()
    texts = coded.dictionary if known is None else known.take(coded.dictionary)
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    return codes, [text or "" for text in texts.to_pylist()]  # a category may be null


def _moments(values: pa.ChunkedArray) -> tuple[NDArray[np.float64], str]:
    """Dates and times as numbers, and their unit: days if no date has a time of day."""
    kind = values.type
    if types.is_date(kind):
        return arrow_floats(values.cast(pa.date32()).cast(pa.int32())), "days since 1970"
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
    whole = pa.int32() if types.is_time32(kind) else pa.int64()
    numbers = arrow_floats(values.cast(whole)) / per_second
    if types.is_time(kind):
        return numbers, "seconds since midnight"
    if types.is_duration(kind):
        return numbers, "seconds"
    if (numbers[~np.isnan(numbers)] % _DAY == 0).all():
        return numbers / _DAY, "days since 1970"
    return numbers, "seconds since 1970"


def _shortest(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Timestamps, in UTC, as dates or in whole seconds if nothing is lost: their text is shorter then."""
    numbers, unit = _moments(values)
    if unit.startswith("days"):
        return values.cast(pa.date32())
    whole = (numbers[~np.isnan(numbers)] % 1 == 0).all()
    return values.cast(pa.timestamp("s" if whole else values.type.unit))
