"""Coded blocks on a Dask cluster: partitions are coded and added up where they lie."""

from __future__ import annotations

import functools
import operator
import pickle
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.coded_blocks import Block, BlockSum, CodedBlocks, Sums, joined_parts, sizes_of_blocks
from foresift.data.coding import MAX_VALUES, Coding
from foresift.data.pass_one import HEAD_ROWS, PartFacts, PassOne, sample_size, settle
from foresift.data.row_source import Batch, RowSource
from foresift.engine.local_blocks import changed, fill
from foresift.errors import InputError
from foresift.reading.arrow_rows import FileRows
from foresift.reading.dask_rows import DaskRows, batches_of_frame

__all__ = ["DaskBlocks"]

T = TypeVar("T")
_FAN_IN = 8  # sums that one task adds up


class DaskBlocks(CodedBlocks):
    """All rows of a source, coded, in the memory of the workers of a cluster.

    Only the facts of the first pass, sums, and what `collect` asks for come to this process. What is lost
    with a worker is made again from the source.

    Parameters
    ----------
    source : DaskRows or FileRows
        The rows; files must be found by the same name on all workers. They are read two or three times.
    client : distributed.Client
        The cluster.
    nominal : ndarray of bool or None
        Which columns are nominal; None: by their dtype.
    task : str
        "auto", "classification" or "regression".
    max_bins : int, default=255
        Bins of a numeric column.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from distributed import Client
    >>> frame = dd.from_pandas(pd.DataFrame({"size": [1.0, 2.0] * 5000, "kind": ["a", "b"] * 5000}), 2)
    >>> with Client(processes=False, n_workers=1, dashboard_address=None, set_as_default=False) as client:
    ...     blocks = DaskBlocks(DaskRows(frame, "kind"), client, None, "auto")
    ...     blocks.collect(lambda block: block.codes.shape)
    [(1, 5000), (1, 5000)]
    """

    max_sums = 2**23  # fewer and larger rounds: every one takes some messages to each worker

    def __init__(
        self,
        source: RowSource,
        client: Any,
        nominal: NDArray[np.bool_] | None,
        task: str,
        max_bins: int = MAX_VALUES,
    ) -> None:
        parts, read = _parts_of(source)
        self._client, self.rows = client, source
        counts = self._counted(source, parts)
        n_columns, n_rows = len(source.names) - 1, sum(counts)  # type: ignore[attr-defined]
        before = [0, *accumulate(counts)]
        plan = _held(_PassOnePlan(read, nominal, sample_size(n_columns) / max(1, n_rows)))
        found = self._gathered(
            [
                _delayed(_first_pass)(part, plan, k, max(0, HEAD_ROWS - before[k]))
                for k, part in enumerate(parts)
            ]
        )
        settled = settle(found, nominal, task, None, source.source, max_bins)
        if settled.n_rows != counts:
            raise InputError(changed(source.source))
        self.coding, self.sample, self.sample_X = settled.coding, settled.sample, settled.sample_X
        self.head, self.n_rows = settled.head, n_rows
        groups = joined_parts(counts)
        sizes = [sizes_of_blocks(sum(counts[part] for part in group)) for group in groups]
        first = [0, *accumulate(map(len, sizes))]
        held = _held(_CodePlan(read, self.coding))
        self._groups = client.compute(
            [
                _delayed(_coded)([parts[part] for part in group], held, own, number)
                for group, own, number in zip(groups, sizes, first, strict=False)
            ]
        )
        self._wait(self._groups)

    def _counted(self, source: RowSource, parts: Sequence[Any]) -> list[int]:
        """Rows of all parts, which must be known before a sample can be drawn."""
        known = [source.n_rows_of(part) for part in range(source.n_parts)]
        if isinstance(source, DaskRows):
            return self._gathered([_delayed(len)(part) for part in source.targets])
        return [n for n in known if n is not None]

    def sum(self, what: BlockSum) -> Sums:
        """Add up over all blocks: on each worker its own, then sums of sums."""
        submit = functools.partial(self._client.submit, pure=False)
        plan = submit(_same, _packed(what))
        sums = [submit(_sum_of, group, plan) for group in self._groups]
        while len(sums) > 1:
            sums = [submit(_total, sums[i : i + _FAN_IN]) for i in range(0, len(sums), _FAN_IN)]
        return tuple(np.array(array) for array in self._results(sums)[0])  # can be written to

    def collect(self, function: Callable[[Block], T]) -> list[T]:
        """What a function says of every block, in order."""
        submit = functools.partial(self._client.submit, pure=False)
        plan = submit(_same, _packed(function))
        found = self._results([submit(_each, group, plan) for group in self._groups])
        return [one for some in found for one in some]

    def _gathered(self, tasks: Sequence[Any]) -> list[Any]:
        return self._results(self._client.compute(list(tasks)))

    def _wait(self, futures: Sequence[Any]) -> None:
        """Raise what went wrong."""
        from distributed import wait

        with self._client.as_current():
            wait(futures)
        if failed := [future for future in futures if future.status != "finished"]:
            self._results(failed[:1])

    def _results(self, futures: Sequence[Any]) -> list[Any]:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            return self._client.gather(list(futures))
        except KilledWorker as error:
            raise InputError(
                "Every worker of the cluster that was given one of the partitions was lost: their memory may"
                " be too small, so make smaller partitions, or give workers more memory."
            ) from error
        except CancelledError as error:
            raise InputError(
                "The scheduler of the cluster is gone, or has cancelled our tasks: start it again, and repeat"
                " the call."
            ) from error


class _PassOnePlan(NamedTuple):
    read: Callable[[Any], Iterator[Batch]]
    nominal: NDArray[np.bool_] | None
    share: float


class _CodePlan(NamedTuple):
    read: Callable[[Any], Iterator[Batch]]
    coding: Coding


class _Given(RowSource):
    """Parts that a task is given."""

    source = "The table"

    def __init__(self, parts: Sequence[Any], read: Callable[[Any], Iterator[Batch]]) -> None:
        self._parts, self._read = parts, read

    def batches(self, part: int = 0) -> Iterator[Batch]:
        return self._read(self._parts[part])


def _parts_of(source: RowSource) -> tuple[list[Any], Callable[[Any], Iterator[Batch]]]:
    """What tasks are given of each part, and how they read it."""
    if isinstance(source, DaskRows):
        return source.partitions, functools.partial(batches_of_frame, target=source.target_name)
    if isinstance(source, FileRows):
        return list(range(source.n_parts)), source.batches
    raise InputError(
        f"A cluster cannot read {source.source}: pass a Dask DataFrame, or the name of Parquet files that all"
        " workers see."
    )


def _delayed(function: Callable[..., Any]) -> Callable[..., Any]:
    from dask.delayed import delayed

    return delayed(function, pure=False)


def _packed(what: Any) -> bytes:
    """In one piece, so that arrays are aligned wherever they are unpacked."""
    from distributed.protocol.pickle import dumps  # also of functions that have no name

    return dumps(what)


def _held(what: Any) -> Any:
    """Something that many tasks need, as a task of its own: sent once, and made again if it is lost."""
    return _delayed(_same)(_packed(what))


def _same(content: bytes) -> bytes:
    return content


@functools.lru_cache(maxsize=2)
def _unpacked(content: bytes) -> Any:
    return pickle.loads(content)


def _first_pass(part: Any, plan: bytes, number: int, n_head: int) -> PartFacts:
    read, nominal, share = _unpacked(plan)
    reader = PassOne(number, nominal, share, n_head)
    for X, y in read(part):
        reader.add(X, y)
    return reader.facts


def _coded(parts: Sequence[Any], plan: bytes, sizes: Sequence[int], number: int) -> list[Block]:
    """Blocks of a group of parts; the first has this number."""
    read, coding = _unpacked(plan)
    blocks = [
        Block(np.empty((coding.n_columns, n), dtype=np.uint8), np.empty(n, dtype=np.uint16), number + k)
        for k, n in enumerate(sizes)
    ]
    fill(_Given(parts, read), range(len(parts)), coding, blocks)
    return blocks


def _aligned(blocks: Sequence[Block]) -> Iterator[Block]:
    """Blocks as kernels need them: those that came from another worker may lie anywhere in memory."""
    for codes, target, number in blocks:
        yield Block(
            np.require(codes, np.uint8, ["C", "A"]), np.require(target, np.uint16, ["C", "A"]), number
        )


def _sum_of(blocks: Sequence[Block], plan: bytes) -> Sums:
    what = _unpacked(plan)
    sums = what.zeros()
    for block in _aligned(blocks):
        what.add(block, sums, None)
    return sums


def _total(sums: Sequence[Sums]) -> Sums:
    return tuple(functools.reduce(operator.add, arrays) for arrays in zip(*sums, strict=True))


def _each(blocks: Sequence[Block], plan: bytes) -> list[Any]:
    function = _unpacked(plan)
    return [function(block) for block in _aligned(blocks)]
