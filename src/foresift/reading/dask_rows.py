"""Partitions of a Dask DataFrame as rows in batches."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from foresift.data.coded_column import CodedColumn
from foresift.data.row_source import BATCH_ROWS, Batch, RowSource
from foresift.errors import InputError
from foresift.reading.arrow_batches import column_of, target_of
from foresift.reading.row_columns import Columns

__all__ = ["DaskRows", "batches_of_frame", "is_dask_frame"]


def is_dask_frame(X: Any) -> bool:
    """Whether X is a Dask DataFrame; Dask is not imported for this.

    Examples
    --------
    >>> is_dask_frame([[1.0]])
    False
    """
    kind = type(X)
    is_dask = kind.__module__.partition(".")[0] in ("dask", "dask_expr") and kind.__name__ == "DataFrame"
    return is_dask and hasattr(X, "to_delayed")


class DaskRows(RowSource):
    """A Dask DataFrame; every partition is a part.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The table, of pandas frames.
    y : str or dask.dataframe.Series
        The target: a column, or a series whose partitions have the same rows.
    drop : collection of str, default=()
        Columns that are not read.
    columns : collection of str or None, default=None
        The features; None: all columns but the target.

    Attributes
    ----------
    partitions : list of dask.delayed.Delayed
        What makes the frame of every partition, with the target.
    targets : list of dask.delayed.Delayed
        What makes the target of every partition alone, to count its rows.
    """

    source = "the Dask DataFrame"

    def __init__(
        self, frame: Any, y: Any, *, drop: Collection[str] = (), columns: Collection[str] | None = None
    ) -> None:
        names = list(frame.columns)
        if odd := [name for name in names if not isinstance(name, str)]:
            raise InputError(
                f"The Dask DataFrame has a column named {odd[0]!r}: give every column a text as name."
            )
        if isinstance(y, str):
            self.target_name = y
            self.names = Columns(y, drop, columns).of(names, self.source)
            self.partitions, self.targets = _delayed(frame[self.names]), _delayed(frame[y])
            return
        if not (hasattr(y, "to_delayed") and hasattr(y, "npartitions")):
            raise InputError(
                "X is a Dask DataFrame: y must be the name of its target column, or a Dask Series with the"
                " same partitions."
            )
        if y.npartitions != frame.npartitions:
            raise InputError(
                f"y has {y.npartitions:,} partitions, but X {frame.npartitions:,}: give the name of a column"
                " of X as y, or repartition y like X."
            )
        from dask.delayed import delayed

        name = "target" if getattr(y, "name", None) is None else str(y.name)
        while name in names:
            name += "_"
        self.target_name = name
        self.names = Columns(name, drop, columns).of([*names, name], self.source)
        frames, self.targets = _delayed(frame[self.names[:-1]]), _delayed(y)
        with_target = delayed(_with_target)
        self.partitions = [with_target(X, own, name) for X, own in zip(frames, self.targets, strict=True)]

    @property
    def n_parts(self) -> int:
        """Number of partitions."""
        return len(self.partitions)

    def batches(self, part: int = 0) -> Iterator[Batch]:
        """The rows of a partition, which is computed as Dask is configured."""
        try:
            frame = self.partitions[part].compute()
        except InputError:
            raise
        except Exception as error:
            said = (str(error).splitlines() or [""])[0][:120].rstrip(".")
            raise InputError(
                f"Partition {part} of {self.source} cannot be computed ({type(error).__name__}: {said})."
            ) from error
        return batches_of_frame(frame, self.target_name)


def _delayed(frame: Any) -> Any:
    """What makes each partition: unoptimized, since of a few columns of files Dask would join several."""
    simple = frame.simplify() if hasattr(frame, "simplify") else frame
    return simple.to_delayed(optimize_graph=False)


def _with_target(frame: Any, y: Any, name: str) -> Any:
    if len(frame) != len(y):
        raise InputError(
            f"A partition of X has {len(frame):,} rows, but that of y {len(y):,}: give the name of a column"
            " of X as y."
        )
    return frame.assign(**{name: getattr(y, "array", y)})


def batches_of_frame(frame: Any, target: str) -> Iterator[Batch]:
    """Rows of a pandas frame, text by its codes.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"colour": ["red", None, "red"], "kind": [1, 0, 1]})
    >>> [(X["colour"].codes.tolist(), y.tolist()) for X, y in batches_of_frame(frame, "kind")]
    [([0, -1, 0], [1, 0, 1])]
    """
    features = [name for name in frame.columns if name != target]
    for first in range(0, len(frame), BATCH_ROWS):
        rows = frame.iloc[first : first + BATCH_ROWS]
        y = rows[target]
        if y.isna().any():
            raise InputError(f"Target {target!r} has missing values: drop the rows whose target is missing.")
        column = _column(y)
        if not isinstance(column, np.ndarray):
            column = target_of(_arrow(y), target)
        yield Batch({name: _column(rows[name]) for name in features}, column)


def _column(series: Any) -> Any:
    """A column by its dtype: numbers, codes, or what `read` makes of a series."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return series.to_numpy() if dtype.kind in "fiub" else series
    if dtype.name == "category":
        known = series.cat.categories
        if known.inferred_type == "string":
            return CodedColumn(series.cat.codes.to_numpy(), np.array(known.tolist(), dtype=object))
        return series
    if not hasattr(series.array, "__arrow_array__"):
        return series
    values = _arrow(series)
    return series if types.is_temporal(values.type) else column_of(values)


def _arrow(series: Any) -> pa.ChunkedArray:
    values = pa.array(series, from_pandas=True)
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
