"""Coded blocks on one machine: read in two passes, kept in memory or in a file that is mapped into it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from foresift import _core
from foresift.data.coded_blocks import Block, BlockSum, CodedBlocks, Sums, joined_parts, n_blocks_of
from foresift.data.coding import MAX_VALUES
from foresift.data.containers import read
from foresift.data.pass_one import PartFacts, PassOne, sample_size, settle
from foresift.data.row_source import RowSource
from foresift.engine.grow import in_threads
from foresift.errors import InputError

__all__ = ["LocalBlocks", "bytes_of", "changed"]

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
        found: list[PartFacts] = []
        for part in range(source.n_parts):
            with_head = not any(facts.n_rows for facts in found)  # parts may be empty
            found.append(self._first_pass(source, part, nominal, with_head=with_head))
        settled = settle(found, nominal, task, source.target, source.source, max_bins)
        self.coding, self.sample, self.sample_X = settled.coding, settled.sample, settled.sample_X
        self.head, self.n_jobs = settled.head, n_jobs
        self.n_rows = sum(settled.n_rows)
        self._groups = joined_parts(settled.n_rows)
        sizes = [sum(settled.n_rows[part] for part in group) for group in self._groups]
        self._shapes = [_sizes_of_blocks(n) for n in sizes]
        self._store = _room(self.n_rows * self.n_columns, memory_limit)
        self._targets: list[NDArray[np.uint16]] = []
        self._fill(source)
        n_codes = self.coding.n_target_codes
        self.target_counts = np.sum([np.bincount(y, minlength=n_codes) for y in self._targets], axis=0)

    @staticmethod
    def _first_pass(
        source: RowSource, part: int, nominal: NDArray[np.bool_] | None, *, with_head: bool
    ) -> PartFacts:
        counts = [source.n_rows_of(k) for k in range(source.n_parts)]
        reader: PassOne | None = None
        for batch in source.batches(part):
            if reader is None:
                n_columns = read(batch.X).n_columns
                known = None if None in counts else sum(n for n in counts if n is not None)
                share = None if known is None else sample_size(n_columns) / max(1, known)
                reader = PassOne(part, nominal, share, with_head=with_head)
            reader.add(batch.X, batch.y)
        return PassOne(part, nominal, None, with_head=False).facts if reader is None else reader.facts

    def _fill(self, source: RowSource) -> None:
        """Code all rows: row i of a group of parts goes to block i modulo their number."""
        begin, offset = 0, 0
        for group, sizes in zip(self._groups, self._shapes, strict=True):
            blocks = []
            for n in sizes:
                size = n * self.n_columns
                blocks.append(self._store[begin : begin + size].reshape(self.n_columns, n))
                begin += size
                self._targets.append(np.empty(n, dtype=np.uint16))
            targets, row, k = self._targets[-len(sizes) :], 0, len(sizes)
            for batch in (batch for part in group for batch in source.batches(part)):
                codes = self.coding.codes(batch.X)
                n = codes.shape[1]
                if row + n > sum(sizes):
                    raise InputError(changed(source.source))
                if source.target is not None:
                    own = source.target.take(np.arange(offset + row, offset + row + n))
                    y = self.coding.codes_of_target(own)
                else:
                    y = self.coding.target_codes(batch.y)
                for b in range(k):
                    first = (b - row) % k  # of the batch, in this block
                    place = (row + first) // k
                    some = codes[:, first::k]
                    blocks[b][:, place : place + some.shape[1]] = some
                    targets[b][place : place + some.shape[1]] = y[first::k]
                row += n
            if row != sum(sizes):
                raise InputError(changed(source.source))
            offset += row

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


def changed(source: str) -> str:
    """Say that a source was not the same when it was read again."""
    return f"{source} had other rows when it was read a second time: do not change it meanwhile."


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


def _sizes_of_blocks(n_rows: int) -> list[int]:
    n_blocks = n_blocks_of(n_rows)
    return [len(range(block, n_rows, n_blocks)) for block in range(n_blocks)]


def _room(n_bytes: int, memory_limit: float) -> NDArray[np.uint8]:
    """Zeros in memory, or in a file without a name, which is gone when nobody uses it any more."""
    if n_bytes <= memory_limit:
        return np.zeros(n_bytes, dtype=np.uint8)
    folder = tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile(prefix="foresift-") as file:
            _allocate(file, n_bytes)  # a full disk is found now, not by a signal later
            return np.memmap(file, dtype=np.uint8, mode="r+", shape=(n_bytes,))
    except OSError as error:
        raise InputError(
            f"There is no room for {n_bytes / 1e9:.3g} GB of codes in {Path(folder)} ({error.strerror}): set"
            " the variable TMPDIR to a folder that has, or raise memory_limit."
        ) from error


def _allocate(file: IO[bytes], n_bytes: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, n_bytes)
        return
    zeros = bytes(2**20)  # macOS and Windows have no such call
    for first in range(0, n_bytes, len(zeros)):
        file.write(zeros[: n_bytes - first])
    file.flush()
