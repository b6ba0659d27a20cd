"""Rows that come in batches as coded blocks, on this machine or where the partitions of a cluster lie."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from foresift.data.coded_blocks import CodedBlocks
from foresift.data.coding import MAX_VALUES
from foresift.data.containers import read
from foresift.data.row_source import RowSource
from foresift.data.table import nominal_mask
from foresift.engine.local_blocks import LocalBlocks
from foresift.reading.dask_rows import DaskRows
from foresift.reading.row_sources import is_row_source, open_rows

__all__ = ["bytes_of", "comes_in_batches", "open_blocks"]


def comes_in_batches(X: Any, y: Any) -> bool:
    """Whether X is read in batches, and y names its target.

    Examples
    --------
    >>> comes_in_batches("sales.parquet", "returned"), comes_in_batches([[1.0]], [0])
    (True, False)
    """
    return (isinstance(y, str) or type(y).__module__.startswith("dask")) and is_row_source(X)


def open_blocks(
    X: Any,
    y: Any,
    *,
    categorical_features: Any = "from_dtype",
    task: str = "auto",
    max_bins: int = MAX_VALUES,
    memory_limit: float | str | None = None,
    n_jobs: int | None = None,
) -> CodedBlocks:
    """Read rows in two passes and code them.

    Parameters
    ----------
    X, y : Any
        What `foresift.reading.row_sources.open_rows` takes.
    categorical_features : "from_dtype", None or array-like
        Which columns are nominal.
    task : {"auto", "table", "classification", "regression"}
        Whether y holds classes or a quantity: "auto" and "table" decide as `task_of` and `table_task_of`.
    max_bins : int
        Bins of a numeric column, at most 255.
    memory_limit : float, str or None
        Bytes of codes above which they lie in a file.
    n_jobs : int or None
        Threads.

    Returns
    -------
    CodedBlocks
        On the workers of a cluster, if X is a Dask DataFrame and there is a client.
    """
    source = open_rows(X, y)
    nominal = None
    if not (isinstance(categorical_features, str) and categorical_features == "from_dtype"):
        first = next(batch.X for part in range(source.n_parts) for batch in source.batches(part))
        nominal = nominal_mask(categorical_features, read(first))
    client = _client(source)
    if client is not None:
        from foresift.engine.dask_blocks import DaskBlocks

        return DaskBlocks(source, client, nominal, task, max_bins)
    return LocalBlocks(source, nominal, task, max_bins, bytes_of(memory_limit), n_jobs)


def _client(source: RowSource) -> Any:
    """The client of the cluster that a source names, or that holds the partitions of a Dask DataFrame."""
    distributed = sys.modules.get("distributed")
    if distributed is None or source.client is not None or not isinstance(source, DaskRows):
        return source.client
    try:
        return distributed.default_client()
    except ValueError:
        return None


def bytes_of(memory_limit: float | str | None) -> float:
    """Bytes of a limit such as "500MB" or 2e9; None is half of the memory of the machine.

    Examples
    --------
    >>> bytes_of("1.5 GB"), bytes_of(1000)
    (1500000000.0, 1000.0)
    """
    if memory_limit is None:
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
        except (AttributeError, ValueError, OSError):  # not on every system
            return 4e9
    if not isinstance(memory_limit, str):
        return float(memory_limit)
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kMGT]?)i?B?\s*", memory_limit, re.IGNORECASE)
    try:
        return float(match[1]) * 1000 ** " KMGT".index(match[2].upper() or " ")  # type: ignore[index]
    except (TypeError, ValueError):
        raise ValueError(
            f"memory_limit is {memory_limit!r}: give a number of bytes, or text such as '500MB' or '2GB'."
        ) from None
