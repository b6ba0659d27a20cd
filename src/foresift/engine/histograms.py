"""Histograms of columns over all rows of coded blocks, by target code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.coded_blocks import Block, BlockSum, CodedBlocks, Sums

__all__ = ["NO_CHILD", "Requests", "Root", "chunks", "root_histograms", "root_sums"]

NO_CHILD = np.zeros(256, np.uint8)  # of a node that is not split


@dataclass(frozen=True, eq=False)
class Requests:
    """Histograms at the nodes of trees, as a sum over rows; the arrays are those of `_core.LevelPlan`."""

    arrays: dict[str, NDArray[Any]]
    n_codes: int
    seed: int

    @property
    def plan(self) -> _core.LevelPlan:
        """As the core takes it."""
        return _core.LevelPlan.make(**self.arrays, n_codes=self.n_codes, seed=self.seed)

    def zeros(self) -> Sums:
        """Histograms, and target codes of the nodes."""
        plan = self.plan
        return np.zeros(plan.n_sums, np.int64), np.zeros(plan.n_counts, np.int64)

    def add(self, block: Block, to: Sums, stop: Any) -> None:
        """Add the rows of a block."""
        sums, counts = to
        self.plan.add(block.codes, block.target, block.number, sums, counts, stop)


class Root(NamedTuple):
    """What all histograms have in common.

    Attributes
    ----------
    width : ndarray of uint32
        Codes of every column, with that of missing values, which is the last.
    nominal : ndarray of uint8
        Which columns have no order.
    n_codes : int
        Codes of the target.
    scores : ndarray of uint32
        Number of every target code of a quantity; empty for classes.
    """

    width: NDArray[np.uint32]
    nominal: NDArray[np.uint8]
    n_codes: int
    scores: NDArray[np.uint32]

    @classmethod
    def of(cls, blocks: CodedBlocks, scores: NDArray[np.uint32] | None = None) -> Root:
        """What the coding of blocks says."""
        coding = blocks.coding
        nominal = coding.schema.nominal.astype(np.uint8)
        none = np.empty(0, np.uint32)
        return cls(
            coding.n_values + np.uint32(1), nominal, coding.n_target_codes, none if scores is None else scores
        )

    @property
    def n_sums(self) -> int:
        """Numbers of a histogram per code."""
        return 2 if len(self.scores) else self.n_codes


def root_sums(blocks: CodedBlocks, root: Root) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Histogram of every column over all rows, and how many rows have each target code."""
    columns = np.arange(len(root.width), dtype=np.uint32)
    return list(root_histograms(blocks, root, columns)), blocks.target_counts


def root_histograms(
    blocks: CodedBlocks,
    root: Root,
    columns: NDArray[Any],
    shadows: NDArray[Any] | None = None,
    seed: int = 0,
    prepare: Callable[[Requests], BlockSum] | None = None,
) -> Iterator[NDArray[np.int64]]:
    """Make histograms over all rows, as many at a time as there is room for.

    Parameters
    ----------
    blocks : CodedBlocks
        The rows.
    root : Root
        What the histograms have in common.
    columns : ndarray of int
        Their columns.
    shadows : ndarray of int or None, default=None
        0, or the number of the permutation of a shadow + 1, in ascending order; None is 0 for all.
    seed : int, default=0
        Draws the permutations.
    prepare : callable or None, default=None
        Makes of requests what is added up, for another target than that of the blocks.

    Yields
    ------
    ndarray of int64 of shape (n_sums, width)
        Rows of every target code, or rows and the sum of their scores; one after the other.
    """
    columns = np.asarray(columns, dtype=np.uint32)
    shadows = np.zeros(len(columns), np.uint32) if shadows is None else np.asarray(shadows, dtype=np.uint32)
    sizes = root.width[columns].astype(np.int64) * root.n_sums
    for some in chunks(sizes, blocks.max_sums):
        arrays = _arrays_of_root(columns[some], shadows[some], root)
        requests = Requests(arrays, root.n_codes, seed)
        found = blocks.sum(requests if prepare is None else prepare(requests))[0]
        for part in np.split(found, np.cumsum(sizes[some])[:-1]):
            yield part.reshape(root.n_sums, -1)


def _arrays_of_root(
    columns: NDArray[np.uint32], shadows: NDArray[np.uint32], root: Root
) -> dict[str, NDArray[Any]]:
    """Arrays of `_core.LevelPlan` for a tree that is a root."""
    zero, one = np.zeros(1, np.uint32), np.ones(1, np.uint32)
    return {
        "nodes_of": np.array([0, 1], dtype=np.uint32),
        "requests_of": np.array([0, len(columns)], dtype=np.uint32),
        "node_column": zero,
        "first_child": zero,
        "child_of": NO_CHILD,
        "slot": zero,
        "n_slots": one,
        "depth": zero,
        "request_column": columns,
        "request_shadow": shadows,
        "width": root.width,
        "scores": root.scores,
    }


def chunks(sizes: NDArray[np.int64], max_sums: int) -> list[slice]:
    """Slices of neighbours that take at most `max_sums` together, or are one.

    Examples
    --------
    >>> chunks(np.array([3, 3, 9, 1]), 6)
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    ends, slices, first = np.cumsum(sizes), [], 0
    while first < len(sizes):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + max_sums, side="right")))
        slices.append(slice(first, last))
        first = last
    return slices
