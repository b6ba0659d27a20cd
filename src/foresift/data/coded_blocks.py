"""A table as 8-bit codes in blocks of rows, and sums over all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.coding import Coding
from foresift.data.row_source import RowSource
from foresift.data.schema import Schema
from foresift.data.table import Table

__all__ = [
    "MAX_BLOCK_ROWS",
    "MIN_BLOCK_ROWS",
    "Block",
    "BlockSum",
    "CodedBlocks",
    "Sums",
    "deal",
    "joined_parts",
    "n_blocks_of",
    "sizes_of_blocks",
]

MAX_BLOCK_ROWS = 2**16 - 1  # rows of a block are counted in 16 bits
MIN_BLOCK_ROWS = 2**12  # shadows permuted in smaller blocks would be like their columns

T = TypeVar("T")
Sums = tuple[NDArray[np.int64], ...]


class Block(NamedTuple):
    """Some rows of a table.

    Attributes
    ----------
    codes : ndarray of uint8 of shape (n_columns, n_rows)
        See `Coding`.
    target : ndarray of uint16 of shape (n_rows,)
        Class of every row, or the bin of a quantity.
    number : int
        Among all blocks: permutations of its rows are drawn by it.
    """

    codes: NDArray[np.uint8]
    target: NDArray[np.uint16]
    number: int


class BlockSum(Protocol):
    """Something that is a sum over rows, in whole numbers. It can be pickled."""

    def zeros(self) -> Sums:
        """Arrays of zeros, to add to."""

    def add(self, block: Block, to: Sums, stop: Any) -> None:
        """Add the rows of a block; `stop` is a `_core.StopFlag` or None."""


class _TargetCounts(NamedTuple):
    """How many rows have each target code, as a sum."""

    n_codes: int

    def zeros(self) -> Sums:
        return (np.zeros(self.n_codes, np.int64),)

    def add(self, block: Block, to: Sums, stop: Any) -> None:
        to[0][:] += np.bincount(block.target, minlength=self.n_codes)


class CodedBlocks(ABC):
    """All rows of a table as 8-bit codes, wherever they lie.

    What needs no more than sums over rows asks for these. What needs rows takes the sample.

    Attributes
    ----------
    coding : Coding
        What the codes mean.
    n_rows : int
        Number of rows.
    sample : Table
        A random sample of the rows, or all of them, with exact codes.
    sample_X : Any
        The same rows as they were read.
    head : Table
        The first rows as they stand.
    rows : RowSource
        Where the rows came from, for what needs more of them than codes.
    whole_target : Target or None
        The target of all rows, if it is in memory.
    max_sums : int
        Numbers that one call of `sum` should add up, at most: so many stay in the cache of a processor.
    """

    coding: Coding
    n_rows: int
    sample: Table
    sample_X: Any
    head: Table
    rows: RowSource
    whole_target: Any = None
    max_sums = 2**21
    dependence = None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.coding.n_columns

    @property
    def schema(self) -> Schema:
        """Names and categories of the columns."""
        return self.coding.schema

    @property
    def target(self) -> Any:
        """The target of the sample, with all classes."""
        return self.sample.target

    @cached_property
    def target_counts(self) -> NDArray[np.int64]:
        """How many rows have each target code."""
        return self.sum(_TargetCounts(self.coding.n_target_codes))[0]

    @abstractmethod
    def sum(self, what: BlockSum) -> Sums:
        """Add up over all blocks. Whole numbers: the order does not matter."""

    @abstractmethod
    def collect(self, function: Callable[[Block], T]) -> list[T]:
        """What a function says of every block, in the order of their numbers."""


def n_blocks_of(n_rows: int) -> int:
    """Number of blocks of so many rows; row i is in block i modulo that number.

    So a table that is sorted has about the same rows in every block.

    Examples
    --------
    >>> n_blocks_of(65_535), n_blocks_of(65_536)
    (1, 2)
    """
    return max(1, -(-n_rows // MAX_BLOCK_ROWS))


def sizes_of_blocks(n_rows: int) -> list[int]:
    """Number of rows of every block of so many rows.

    Examples
    --------
    >>> sizes_of_blocks(70_001)
    [35001, 35000]
    """
    n_blocks = n_blocks_of(n_rows)
    return [len(range(block, n_rows, n_blocks)) for block in range(n_blocks)]


def deal(codes: NDArray[np.uint8], target: NDArray[np.uint16], row: int, blocks: Sequence[Block]) -> None:
    """Write the rows of a batch, the first of which is number `row`, to their places in blocks.

    Examples
    --------
    >>> blocks = [Block(np.zeros((1, 2), np.uint8), np.zeros(2, np.uint16), k) for k in range(2)]
    >>> deal(np.array([[3, 4, 5]], np.uint8), np.array([0, 1, 0], np.uint16), 1, blocks)
    >>> [block.codes.tolist() for block in blocks]
    [[[0, 4]], [[3, 5]]]
    """
    n_blocks = len(blocks)
    for b, block in enumerate(blocks):
        first = (b - row) % n_blocks  # row of the batch
        place = (row + first) // n_blocks
        some = codes[:, first::n_blocks]
        block.codes[:, place : place + some.shape[1]] = some
        block.target[place : place + some.shape[1]] = target[first::n_blocks]


def joined_parts(n_rows: Sequence[int]) -> list[list[int]]:
    """Numbers of neighbouring parts that are divided together, so that no block is small.

    Examples
    --------
    >>> joined_parts([5000, 100, 200, 9000, 50])
    [[0], [1, 2, 3, 4]]
    """
    groups: list[list[int]] = []
    size = MIN_BLOCK_ROWS
    for part, n in enumerate(n_rows):
        if size >= MIN_BLOCK_ROWS:
            groups.append([])
            size = 0
        groups[-1].append(part)
        size += n
    if len(groups) > 1 and size < MIN_BLOCK_ROWS:
        last = groups.pop()
        groups[-1] += last
    return groups
