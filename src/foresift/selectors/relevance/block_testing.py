"""All tests of the columns of coded blocks: the same as those of a table, from sums over blocks."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.coded_blocks import Block, CodedBlocks
from foresift.data.sklearn_compat import Progress
from foresift.engine.grow import one_blas_thread, resolve_max_features
from foresift.engine.histograms import Root, root_sums
from foresift.engine.level_forest import LevelOptions, grow_levels
from foresift.selectors.relevance.block_ranks import block_rank_tests
from foresift.selectors.relevance.pairs import pair_tests
from foresift.selectors.relevance.pooling import log_levels
from foresift.selectors.relevance.shadows import ShadowSums, draw_permutations
from foresift.selectors.relevance.testing import ColumnTests

__all__ = ["BlockTests", "deduplicate_blocks", "share_between_blocks"]

MAX_DEPTH = 12  # levels of trees without a limit: every level is a pass over the rows
_MAX_SCORE = 2**24 - 1  # of a quantity


@dataclass(frozen=True, eq=False)
class BlockTests(ColumnTests):
    """The tests of the columns of coded blocks.

    `table` is a sample of the rows, which pairs are tested on. Everything else is a sum over all of them.

    Attributes
    ----------
    blocks : CodedBlocks
        All rows.
    """

    blocks: CodedBlocks = None  # type: ignore[assignment]

    @cached_property
    def _root(self) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
        """Histograms of all columns over all rows, and how many rows have each target code."""
        return root_sums(self.blocks, Root.of(self.blocks, self._scores_of(None)))

    @property
    def _quantity(self) -> bool:
        return self.blocks.coding.labels is None

    def _scores_of(self, counts: NDArray[np.int64] | None) -> NDArray[np.uint32] | None:
        """Ranks of the bins of a quantity, as whole numbers; 0 before their rows are counted."""
        if not self._quantity:
            return None
        if counts is None:
            return np.zeros(self.blocks.coding.n_target_codes, np.uint32)
        ranks = np.cumsum(counts) - counts / 2
        return np.round(ranks * (_MAX_SCORE / counts.sum())).astype(np.uint32)

    def _grown(
        self,
        weights: NDArray[np.float64] | None,
        kept: Any,
        rows: Any,
        shadows: dict[str, int],
        seed: int,
        progress: Progress,
    ) -> ShadowSums:
        """Gains of columns and shadows in a forest grown level by level."""
        forest, n_columns = dict(self.forest), self.blocks.n_columns
        whole = isinstance(forest["max_features"], numbers.Integral)
        n_candidates = resolve_max_features(forest["max_features"], n_columns if whole else len(self.order))
        depth = MAX_DEPTH if forest["max_depth"] is None else min(MAX_DEPTH, forest["max_depth"])
        options = LevelOptions(
            forest["n_estimators"],
            min(n_candidates, len(self.order)),
            depth,
            forest["min_samples_split"],
            forest["min_share"],
            forest["nominal_splits"] == "multiway",
            **shadows,
            seed=seed,
        )
        n_shadows = shadows["n_shadows"]
        permutations = np.zeros((n_columns, n_shadows), dtype=np.uint32)
        permutations[self.order] = draw_permutations(len(self.order), n_shadows, self.blocks.n_rows, seed)
        root = Root.of(self.blocks, self._scores_of(self._root[1]))
        told = 0

        def advance(done: int) -> bool:
            nonlocal told
            due = forest["n_estimators"] * done // depth
            progress.advance(due - told)
            told = due
            return progress.stop_requested

        levels = grow_levels(self.blocks, root, self.order, permutations, options, forest["n_jobs"], advance)
        progress.advance(forest["n_estimators"] - told)
        sums = ShadowSums(n_columns, n_shadows)
        unit = 1.0 if not self._quantity else (self.blocks.n_rows / _MAX_SCORE) ** 2  # gains in ranks of rows
        for level in levels:
            sums.add_gains(level.column, level.weight, level.gain * unit)
        return sums

    def _levels(self, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        nominal = self.blocks.coding.schema.nominal
        rows = [found[0] if self._quantity else found.sum(axis=0) for found in self._root[0]]
        return np.array([log_levels(counts, bool(kind)) for counts, kind in zip(rows, nominal, strict=True)])

    def _test_ranks(
        self,
        logs: dict[str, NDArray[np.float64]],
        joint: NDArray[np.float64],
        tested: NDArray[np.uint32],
        weights: NDArray[np.float64] | None,
        kept: Any,
        seed: int,
        *,
        rare: bool,
    ) -> NDArray[np.bool_]:
        """Fill in what the tests without a forest find."""
        with one_blas_thread():
            found = block_rank_tests(self.blocks, *self._root, tested, quantity=self._quantity)
            for name in ("ranks", "residuals", "curves"):
                logs[name][tested] = getattr(found, name)
            if self.interactions:
                logs["pairs"][tested] = pair_tests(self.table, None, tested, seed)
        return found.gone


def share_between_blocks(blocks: CodedBlocks) -> float:
    """Share of the variance of the target, of its ranks if it is a quantity, that blocks differ by.

    Examples
    --------
    >>> from foresift.data.row_source import InMemory
    >>> from foresift.data.target import Target
    >>> from foresift.engine.local_blocks import LocalBlocks
    >>> y = np.arange(140_000) > 70_000  # sorted, but rows are dealt to blocks
    >>> blocks = LocalBlocks(InMemory(np.zeros((140_000, 1)), Target.of(y, 140_000)), None, "auto")
    >>> share_between_blocks(blocks) < 1e-6
    True
    """
    n_codes = blocks.coding.n_target_codes
    counts = np.array(blocks.collect(_TargetCodes(n_codes)), dtype=np.float64)
    n_rows, of_all = counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    values = np.eye(n_codes)
    if blocks.coding.labels is None:
        values = (np.cumsum(of_all) - of_all / 2)[:, np.newaxis]
    mean = of_all @ values / of_all.sum()
    spread = float((of_all @ (values - mean) ** 2).sum())
    means = np.divide(counts @ values, n_rows, out=np.tile(mean, (len(counts), 1)), where=n_rows > 0)
    return float((n_rows * (means - mean) ** 2).sum()) / spread if spread > 0 else 0.0


class _TargetCodes:
    """How many rows of a block have each target code."""

    def __init__(self, n_codes: int) -> None:
        self._n_codes = n_codes

    def __call__(self, block: Block) -> NDArray[np.intp]:
        return np.bincount(block.target, minlength=self._n_codes)


def deduplicate_blocks(blocks: CodedBlocks) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
    """Find columns with the same codes in every row; see `shadows.deduplicate_columns`."""
    n_values, nominal = blocks.coding.n_values, blocks.coding.schema.nominal
    digests = blocks.collect(_Digests())
    varies = np.concatenate([some for _, some in digests]).reshape(-1, blocks.n_columns, 2)
    low, high = varies[:, :, 0].min(axis=0), varies[:, :, 1].max(axis=0)
    first = np.arange(blocks.n_columns)
    seen: dict[bytes, int] = {}
    for j in range(blocks.n_columns):
        kind = f"{bool(nominal[j])} {n_values[j]}".encode()
        digest = blake2b(b"".join(found[j] for found, _ in digests), digest_size=16, key=kind).digest()
        first[j] = seen.setdefault(digest, j)
    order = [j for _, j in sorted(seen.items()) if low[j] < high[j]]
    return np.array(order, dtype=np.uint32), first


class _Digests:
    """Hash of the codes of every column of a block, and the least and greatest of them."""

    def __call__(self, block: Block) -> tuple[list[bytes], NDArray[np.uint8]]:
        found = [blake2b(codes.tobytes(), digest_size=16).digest() for codes in block.codes]
        if not len(block.target):
            return found, np.tile(np.array([255, 0], np.uint8), (len(found), 1))
        return found, np.column_stack([block.codes.min(axis=1), block.codes.max(axis=1)])
