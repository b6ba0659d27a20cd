"""Coded blocks on one machine: read in two passes, kept in memory or in a file that is mapped into it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from foresift import _core
from foresift.data.coded_blocks import Block, BlockSum, CodedBlocks, Sums, deal, joined_parts, sizes_of_blocks
from foresift.data.coding import MAX_VALUES, Coding
from foresift.data.containers import read
from foresift.data.pass_one import HEAD_ROWS, PartFacts, PassOne, sample_size, settle
from foresift.data.row_source import RowSource
from foresift.engine.grow import in_threads
from foresift.errors import InputError, no_room

__all__ = ["LocalBlocks", "changed", "fill"]

T = TypeVar("T")


class LocalBlocks(CodedBlocks):
    """All rows of a source, coded, on this machine.

    Parameters
    ----------
    source : RowSource
        The rows; they are read twice.
    nominal : ndarray of bool or None
        Which columns are nominal; None: by their dtype.
    task : str
        "auto", "classification" or "regression".
    max_bins : int
        Bins of a numeric column, at most 255.
    memory_limit : float
        Bytes above which codes lie in a file.
    n_jobs : int or None
        Threads of the sums.

    Examples
    --------
    >>> from foresift.data.row_source import InMemory
    >>> from foresift.data.target import Target
    >>> X, y = np.arange(70_000.0).reshape(-1, 1) % 5, np.arange(70_000) % 2
    >>> blocks = LocalBlocks(InMemory(X, Target.of(y, len(y))), None, "auto")
    >>> blocks.collect(lambda block: block.codes.shape)
    [(1, 35000), (1, 35000)]
    """

    def __init__(
        self,
        source: RowSource,
        nominal: NDArray[np.bool_] | None,
        task: str,
        max_bins: int = MAX_VALUES,
        memory_limit: float = np.inf,
        n_jobs: int | None = None,
    ) -> None:
        found = _first_pass(source, nominal)
        settled = settle(found, nominal, task, source.target, source.source, max_bins)
        self.coding, self.sample, self.sample_X = settled.coding, settled.sample, settled.sample_X
        self.head, self.n_jobs, self.rows = settled.head, n_jobs, source
        self.whole_target = source.target
        self.n_rows = sum(settled.n_rows)
        self._groups = joined_parts(settled.n_rows)
        sizes = [sum(settled.n_rows[part] for part in group) for group in self._groups]
        self._shapes = [sizes_of_blocks(n) for n in sizes]
        self._store = _room(self.n_rows * self.n_columns, memory_limit)
        self._targets: list[NDArray[np.uint16]] = []
        self._fill(source)

    def _fill(self, source: RowSource) -> None:
        """Code all rows: row i of a group of parts goes to block i modulo their number."""
        begin, offset = 0, 0
        for group, sizes in zip(self._groups, self._shapes, strict=True):
            blocks = []
            for n in sizes:
                codes = self._store[begin : begin + n * self.n_columns].reshape(self.n_columns, n)
                begin += n * self.n_columns
                self._targets.append(np.empty(n, dtype=np.uint16))
                blocks.append(Block(codes, self._targets[-1], len(self._targets) - 1))
            offset += fill(source, group, self.coding, blocks, offset)

    def _blocks(self) -> Iterator[Block]:
        begin = 0
        for number, target in enumerate(self._targets):
            size = len(target) * self.n_columns
            yield Block(self._store[begin : begin + size].reshape(self.n_columns, -1), target, number)
            begin += size

    def sum(self, what: BlockSum) -> Sums:
        """Add up over all blocks, in threads."""
        blocks = list(self._blocks())
        n_threads = max(1, min(effective_n_jobs(self.n_jobs), len(blocks)))
        stop = _core.StopFlag()

        def add(first: int) -> Sums:
            sums = what.zeros()
            for block in blocks[first::n_threads]:
                if stop.requested:  # another thread has failed, and nobody waits for these sums
                    break
                what.add(block, sums, stop)
            return sums

        total, *others = in_threads(add, range(n_threads), n_threads, stop)
        for other in others:
            for sums, more in zip(total, other, strict=True):
                sums += more
        return total

    def collect(self, function: Callable[[Block], T]) -> list[T]:
        """What a function says of every block, in order."""
        return in_threads(function, list(self._blocks()), self.n_jobs, _core.StopFlag())


def _first_pass(source: RowSource, nominal: NDArray[np.bool_] | None) -> list[PartFacts]:
    counts = [source.n_rows_of(part) for part in range(source.n_parts)]
    known = None if None in counts else sum(n for n in counts if n is not None)
    found: list[PartFacts] = []
    n_head, share = HEAD_ROWS, None
    for part in range(source.n_parts):
        reader: PassOne | None = None
        for batch in source.batches(part):
            if reader is None and (batch.y is None or len(batch.y)):
                if known is not None:
                    share = sample_size(read(batch.X).n_columns) / max(1, known)
                reader = PassOne(part, nominal, share, n_head)
            if reader is not None:
                reader.add(batch.X, batch.y)
        found.append(PartFacts(part) if reader is None else reader.facts)
        n_head = max(0, n_head - found[-1].n_rows)
    return found


def fill(
    source: RowSource, parts: Iterable[int], coding: Coding, blocks: list[Block], offset: int = 0
) -> int:
    """Read parts, and write the codes of all their rows to blocks; return their number.

    `offset` is the number of their first row among all rows of the source.
    """
    row, n_rows = 0, sum(len(block.target) for block in blocks)
    for batch in (batch for part in parts for batch in source.batches(part)):
        if batch.y is not None and not len(batch.y):
            continue
        codes = coding.codes(batch.X)
        n = codes.shape[1]
        if row + n > n_rows:
            raise InputError(changed(source.source))
        if source.target is not None:
            own = source.target.take(np.arange(offset + row, offset + row + n))
            y = coding.codes_of_target(own)
        else:
            y = coding.target_codes(batch.y)
        deal(codes, y, row, blocks)
        row += n
    if row != n_rows:
        raise InputError(changed(source.source))
    return row


def changed(source: str) -> str:
    """Say that a source was not the same when it was read again."""
    return f"The rows of {source} were others when it was read a second time: do not change it meanwhile."


def _room(n_bytes: int, memory_limit: float) -> NDArray[np.uint8]:
    """Zeros in memory, or in a file without a name, which is gone when nobody uses it any more."""
    if n_bytes <= memory_limit:
        return np.zeros(n_bytes, dtype=np.uint8)
    try:
        with tempfile.TemporaryFile(prefix="foresift-") as file:
            if hasattr(os, "posix_fallocate"):  # a full disk is found now, not by a signal later
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            else:
                file.truncate(n_bytes)
            return np.memmap(file, dtype=np.uint8, mode="r+", shape=(n_bytes,))
    except OSError as error:
        raise no_room(f"{n_bytes / 1e9:.3g} GB of codes", error, "raise memory_limit") from error
