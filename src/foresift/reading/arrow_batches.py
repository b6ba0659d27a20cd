"""Batches of Arrow rows as columns for selectors: numbers without copies, text by its codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, types

from foresift.data.coded_column import CodedColumn
from foresift.data.row_source import BATCH_ROWS, Batch
from foresift.errors import InputError
from foresift.reading.arrow_columns import arrow_floats, is_text, is_usable

__all__ = ["batch_of", "column_of", "regrouped", "require_usable", "target_of"]


def regrouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join small batches and divide large ones: each costs the same time, and takes memory by its size.

    Examples
    --------
    >>> rows = pa.RecordBatch.from_pydict({"x": range(50_000)})
    >>> [len(table) for table in regrouped([rows, rows, rows])]
    [65536, 65536, 18928]
    """
    held: list[pa.RecordBatch] = []
    n_held = 0
    for batch in batches:
        while n_held + len(batch) >= BATCH_ROWS:
            n = BATCH_ROWS - n_held
            yield pa.Table.from_batches([*held, batch.slice(0, n)])
            held, n_held, batch = [], 0, batch.slice(n)
        if len(batch):
            held.append(batch)
            n_held += len(batch)
    if held:
        yield pa.Table.from_batches(held)


def batch_of(table: pa.Table, target: str) -> Batch:
    """Features and target of some rows.

    Examples
    --------
    >>> X, y = batch_of(pa.table({"size": [1, None], "kind": ["a", "b"], "late": [True, False]}), "late")
    >>> X["size"], X["kind"].known, y
    (array([ 1., nan]), array(['a', 'b'], dtype=object), array([ True, False]))
    """
    features = {name: column_of(table.column(name)) for name in table.column_names if name != target}
    return Batch(features, target_of(table.column(target), target))


def column_of(values: pa.ChunkedArray) -> Any:
    """Values of a column: numbers as an array, categories coded, dates as they are.

    Examples
    --------
    >>> column_of(pa.chunked_array([["b", None, "a"]])).codes
    array([ 0, -1,  1], dtype=int32)
    """
    kind = values.type
    if types.is_decimal(kind):
        return arrow_floats(values)
    if types.is_null(kind):
        return CodedColumn(np.full(len(values), -1), np.empty(0, dtype=object))
    if types.is_dictionary(kind) or is_text(kind):
        return _coded(values)
    if types.is_boolean(kind) and values.null_count:
        codes = compute.fill_null(values.cast(pa.int8()), -1)
        return CodedColumn(_numpy(codes), np.array([False, True]))
    return values if types.is_temporal(kind) else _numpy(values)


def target_of(values: pa.ChunkedArray, name: str) -> NDArray[Any]:
    """The target of some rows as an array; raise if it is missing in some, or holds dates.

    Examples
    --------
    >>> target_of(pa.chunked_array([["no", "yes"]]), "late")
    array(['no', 'yes'], dtype=object)
    """
    if values.null_count:
        raise InputError(f"Target {name!r} has missing values: drop the rows whose target is missing.")
    column = column_of(values)
    if isinstance(column, CodedColumn):
        return column.decoded()
    if not isinstance(column, np.ndarray):
        raise InputError(
            f"Target {name!r} holds dates or times ({values.type}): convert it to numbers, for instance days"
            " since a fixed day, or to text if these are classes."
        )
    return column


def require_usable(schema: pa.Schema, source: str) -> None:
    """Raise if there is a column that is neither numbers nor categories nor times.

    Examples
    --------
    >>> require_usable(pa.schema({"size": pa.float32()}), "demo")
    """
    for field in schema:
        if not is_usable(field.type):
            raise InputError(
                f"Column {field.name!r} of {source} holds values of type {field.type}: make plain columns of"
                " them, or leave it out (drop)."
            )


def _numpy(values: pa.ChunkedArray) -> NDArray[Any]:
    """Numbers, without a copy if they are in one piece without nulls."""
    whole = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    return whole.to_numpy(zero_copy_only=False)


def _coded(values: pa.ChunkedArray) -> CodedColumn:
    if not types.is_dictionary(values.type):
        values = values.dictionary_encode()
    if values.num_chunks != 1:
        values = pa.chunked_array([values.unify_dictionaries().combine_chunks()])
    chunk = values.chunk(0)
    known = chunk.dictionary
    codes = _numpy(pa.chunked_array([chunk.indices.cast(pa.int32()).fill_null(-1)]))
    if known.null_count:  # a category may be null
        places = np.cumsum(known.is_valid()) - 1
        places = np.where(known.is_valid(), places, -1)
        codes = np.append(places, -1)[codes]
        known = known.drop_null()
    if types.is_boolean(known.type):
        return CodedColumn(codes, known.to_numpy(zero_copy_only=False))
    if is_text(known.type):
        return CodedColumn(codes, known.cast(pa.string()).to_numpy(zero_copy_only=False))
    if types.is_temporal(known.type):  # categories of days, say
        return CodedColumn(codes, known.cast(pa.string()).to_numpy(zero_copy_only=False))
    return CodedColumn(codes, arrow_floats(pa.chunked_array([known])))
