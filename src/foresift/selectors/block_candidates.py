"""Candidates of rows in coded blocks: their joint counts are sums over all rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from foresift.data.coded_blocks import Block, CodedBlocks, Sums
from foresift.data.discretize import equal_frequency_bins
from foresift.engine.histograms import Requests, Root, root_histograms
from foresift.selectors.candidates import Candidates

__all__ = ["BlockCandidates"]

_MAX_CODES = 2**12  # of the target and another column together; more categories take several rounds


class BlockCandidates(Candidates):
    """Candidates of rows in coded blocks; missing is a value of its own.

    Shadows are permuted within blocks, in the same way whenever they are counted.

    Parameters
    ----------
    scheme : str
        The score.
    blocks : CodedBlocks
        The rows.
    n_bins : int
        Bins of numeric columns, and of a quantity.
    n_shadows : int
        Permutations.
    seed : int
        Draws them.
    scores_shadows : bool
        Whether shadows are scored as well.
    """

    def __init__(
        self, scheme: str, blocks: CodedBlocks, n_bins: int, n_shadows: int, seed: int, scores_shadows: bool
    ) -> None:
        self._blocks, self._n_shadows, self._seed = blocks, n_shadows, seed % 2**63
        self._nominal, self._n_bins = blocks.schema.nominal, n_bins
        self._target = np.arange(blocks.coding.n_target_codes)
        if blocks.coding.labels is None:
            self._target = equal_frequency_bins(blocks.target_counts, n_bins)
        self._bins: list[NDArray[np.intp]] = []  # of every code of each column
        super().__init__(scheme, blocks.n_columns, scores_shadows)

    def _about_target(self, given: int | None) -> NDArray[np.float64]:
        n_targets, n_rounds = int(self._target.max()) + 1, 1 + self._n_shadows
        if given is None:
            counts = self._counted(_Labels(self._target, n_targets), n_rounds)
            return self._information(counts, n_targets, n_rounds)
        bins = self._bins[given]
        n_given, at_once = int(bins.max()) + 1, max(1, (_MAX_CODES - 1) // n_targets)
        rounds = [
            self._counted(
                _Labels(self._target, n_targets, given, bins, first, min(at_once, n_given - first)), n_rounds
            )
            for first in range(0, n_given, at_once)
        ]
        joined = rounds[0] if len(rounds) == 1 else map(np.concatenate, zip(*rounds, strict=True))
        return self._information(joined, n_targets, n_rounds)

    def _about_column(self, column: int) -> NDArray[np.float64]:
        bins, nothing = self._bins[column], np.zeros_like(self._target)
        n_given = int(bins.max()) + 1
        labels = _Labels(nothing, 1, column, bins, 0, n_given)
        return self._information(self._counted(labels, self._n_scored), n_given, self._n_scored)[..., 0]

    def _information(self, counts: Any, n_targets: int, n_rounds: int) -> NDArray[np.float64]:
        found = [information(some.reshape(-1, n_targets, some.shape[1])) for some in counts]
        return np.array(found).reshape(n_rounds, len(self.left), 3)

    def _counted(self, labels: _Labels, n_rounds: int) -> Iterator[NDArray[np.int64]]:
        """Joint counts of the labels and the bins of all that are left, and of their first shadows."""
        columns = np.tile(self.left, n_rounds)
        shadows = np.repeat(np.arange(n_rounds), len(self.left))
        root = Root.of(self._blocks)._replace(n_codes=labels.n_labels, scores=np.empty(0, np.uint32))
        prepare = partial(_LabelCounts, labels)
        counts = root_histograms(self._blocks, root, columns, shadows, self._seed, prepare)
        for column, of_codes in zip(columns.tolist(), counts, strict=True):
            if len(self._bins) == column:  # before any other counts, all columns are counted in order
                self._bins.append(self._bins_of(column, of_codes.sum(axis=0)))
            bins = self._bins[column]
            starts = np.flatnonzero(np.diff(bins, prepend=-1))
            yield np.add.reduceat(of_codes[: labels.n_counted], starts, axis=1)

    def _bins_of(self, column: int, counts: NDArray[np.int64]) -> NDArray[np.intp]:
        """Bin of every code of a column, in ascending order; missing, the last code, has its own."""
        bins = np.arange(len(counts) - 1)
        if len(bins) and not self._nominal[column] and counts[:-1].any():
            bins = equal_frequency_bins(counts[:-1], self._n_bins)
        return np.append(bins, int(bins.max(initial=-1)) + 1)


@dataclass(frozen=True, eq=False)
class _Labels:
    """What columns are counted against: bins of the target, and of another column.

    Attributes
    ----------
    target : ndarray of int
        Bin of every target code.
    n_targets : int
        Their number.
    given : int or None
        The other column.
    bins : ndarray of int
        The bin of each of its codes.
    first, n_given : int
        Which of its bins count: so many from this one on.
    """

    target: NDArray[np.intp]
    n_targets: int
    given: int | None = None
    bins: NDArray[np.intp] | None = None
    first: int = 0
    n_given: int = 1

    @property
    def n_counted(self) -> int:
        """Labels that count."""
        return self.n_given * self.n_targets

    @property
    def n_labels(self) -> int:
        """All labels: rows that do not count, if there are, have the last."""
        all_count = self.bins is None or self.n_given > self.bins.max()
        return self.n_counted + (not all_count)

    def of(self, block: Block) -> NDArray[np.uint16]:
        """The label of every row of a block."""
        labels = self.target.astype(np.uint16)[block.target]
        if self.given is None or self.bins is None:
            return labels
        bins = self.bins - self.first
        counted = (bins >= 0) & (bins < self.n_given)
        begins = np.where(counted, bins * self.n_targets, self.n_counted).astype(np.uint32)
        both = begins[block.codes[self.given]] + labels
        return np.minimum(both, self.n_counted).astype(np.uint16)


@dataclass(frozen=True, eq=False)
class _LabelCounts:
    """Histograms by labels, as a sum over blocks."""

    labels: _Labels
    requests: Requests

    def zeros(self) -> Sums:
        return self.requests.zeros()

    def add(self, block: Block, to: Sums, stop: Any) -> None:
        self.requests.add(block._replace(target=self.labels.of(block)), to, stop)


def information(counts: NDArray[np.int64]) -> tuple[float, float, float]:
    """I(X;Y|W), I(X,W;Y) and H(X,W,Y) in nats from counts of shape (n_w, n_y, n_x).

    Examples
    --------
    >>> conditional, joint, entropy = information(np.array([[[5, 0], [0, 5]]]))
    >>> round(conditional, 3), round(joint, 3), round(entropy, 3)
    (0.693, 0.693, 0.693)
    """
    total = counts.sum()
    if total == 0:
        return 0.0, 0.0, 0.0

    def sum_of(some: NDArray[np.int64]) -> float:
        return float(xlogy(some, some).sum())

    of_target = counts.sum(axis=2)
    of_all, of_pairs = sum_of(counts), sum_of(counts.sum(axis=1))
    within = sum_of(of_target) - sum_of(of_target.sum(axis=1))
    between = sum_of(of_target.sum(axis=0)) - sum_of(total)
    parts = (of_all - of_pairs) - within, (of_all - of_pairs) - between, sum_of(total) - of_all
    conditional, joint, entropy = (max(0.0, float(part / total)) for part in parts)
    return conditional, joint, entropy
