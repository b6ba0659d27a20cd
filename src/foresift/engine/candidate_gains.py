"""Gains of features as split candidates: weighted sums, mean and confidence interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from foresift.data.complexity import complexity_of
from foresift.data.plain_state import saved
from foresift.engine.node_table import NodeTable, complexities
from foresift.engine.null_gain import xlog2x

__all__ = ["Candidates", "GainSums", "candidates_of", "node_weights", "total_gains"]

_BATCH = 16  # trees processed at once, to save calls without using much memory


@saved
class GainSums:
    """Sums over split candidates of weight, weight * gain and weight * gain**2, for every feature.

    Parameters
    ----------
    n_features : int
        Number of features.
    gain_unit : float, default=1.0
        Gains are divided by it; see `Target.gain_unit`.

    Attributes
    ----------
    n_candidates : ndarray of shape (n_features,)
        Number of split candidates of positive weight.
    weight, gain, square : ndarray of shape (n_features,)
        The sums.

    Examples
    --------
    >>> sums = GainSums(2)
    >>> sums.add(np.array([0, 0, 1]), np.array([0.1, 0.4, 0.2]), np.array([2.0, 1.0, 0.0]))
    >>> sums.mean  # NaN: the second feature was a candidate only at a node without weight
    array([0.2, nan])
    """

    def __init__(self, n_features: int, gain_unit: float = 1.0) -> None:
        self.gain_unit = gain_unit
        self.n_candidates = np.zeros(n_features, dtype=np.intp)
        self.weight, self.gain, self.square = np.zeros((3, n_features))

    def add(self, feature: NDArray[Any], gain: NDArray[np.float64], weight: NDArray[np.float64]) -> None:
        """Add split candidates by feature, gain and weight."""
        n_features, gain = len(self.weight), gain / self.gain_unit
        weighted = weight * gain
        self.n_candidates += np.bincount(feature, weight > 0, minlength=n_features).astype(np.intp)
        self.weight += np.bincount(feature, weight, minlength=n_features)
        self.gain += np.bincount(feature, weighted, minlength=n_features)
        with np.errstate(over="ignore"):  # after a warm start with a y of another unit
            self.square += np.bincount(feature, weighted * gain, minlength=n_features)

    def add_trees(self, tables: Sequence[NodeTable], weighting: str = "complexity") -> None:
        """Add the split candidates of trees, weighted by node complexity or ("unit") equally."""
        for begin in range(0, len(tables), _BATCH):
            batch = tables[begin : begin + _BATCH]
            found = candidates_of(batch)
            weight = node_weights(found, weighting)[found.node]
            # Tree by tree, so that the rounding does not depend on the batches.
            ends = np.cumsum([_n_candidates(table) for table in batch])
            for last, n in zip(ends, np.diff(ends, prepend=0), strict=True):
                own = slice(last - n, last)
                self.add(found.feature[own], found.gain[own], weight[own])

    @property
    def mean(self) -> NDArray[np.float64]:
        """Weighted mean gain; NaN without a split candidate of positive weight."""
        known = self.weight > 0
        return np.divide(self.gain, self.weight, out=np.full(len(known), np.nan), where=known)

    def intervals(self, unit: float, confidence: float) -> NDArray[np.float64]:
        """Student-t confidence intervals of the mean gain (Rogers & Gunn eq. 12-14), (n_features, 2).

        `unit` is the weight of one observation. NaN with fewer than two observations or if all gains are
        equal.
        """
        mean = self.mean
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            size = np.full(len(self.weight), 0.0) if unit <= 0 else self.weight / unit
            spread = np.maximum(self.square / self.weight - mean**2, 0.0)
            variance = spread * size / (size - 1)
            half = stdtrit(size - 1, (1 + confidence) / 2) * np.sqrt(variance / size)
            # Equal gains differ by rounding; just above one observation the interval is infinite.
            known = (self.n_candidates > 1) & (size > 1) & (spread > 1e-14 * mean**2) & np.isfinite(half)
        half[~known] = np.nan
        return np.stack([mean - half, mean + half], axis=1)


class Candidates(NamedTuple):
    """Split candidates of one or more trees."""

    counts: NDArray[np.float64]  # of every node with candidates
    node: NDArray[np.intp]  # row in `counts` of every candidate
    feature: NDArray[Any]
    gain: NDArray[np.float64]
    complexity: NDArray[np.float64] | None  # of every node with candidates; None: it follows from `counts`


def candidates_of(tables: Sequence[NodeTable]) -> Candidates:
    """Collect the recorded split candidates of trees, or else their splits.

    Recorded gains are in the unit of the tree's criterion. Otherwise those of a classification tree are
    computed in bits from the class counts, and those of a regression tree are its own.
    """
    n_nodes, parts, complexity = 0, [], []
    for table in tables:
        node, feature, gain = _candidates(table)
        first = np.ones(len(node), dtype=bool)  # the candidates of a node are adjacent
        np.not_equal(node[1:], node[:-1], out=first[1:])
        counts = table.counts[node[first]]
        parts.append((counts, np.cumsum(first) + (n_nodes - 1), feature, gain))
        if not table.has_classes:
            complexity.append(complexities(table, node[first]))
        n_nodes += len(counts)
    joined = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    counts, node, feature, gain = joined
    return Candidates(counts, node, feature, gain, np.concatenate(complexity) if complexity else None)


def node_weights(candidates: Candidates, weighting: str) -> NDArray[np.float64]:
    """Weights of the nodes with candidates: their complexity, or ("unit") 1."""
    if weighting == "unit":
        return np.ones(len(candidates.counts))
    # Of all at once: sums over classes round by which nodes come together.
    return complexity_of(candidates.counts) if candidates.complexity is None else candidates.complexity


def _candidates(table: NodeTable) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    """Node, feature and gain of every split candidate."""
    if table.tried is not None:
        return table.tried["node"], table.tried["feature"], table.tried["gain"]
    inner = np.flatnonzero(table.nodes["first_child"] >= 0)
    return inner, table.nodes["feature"][inner], _gains(table, inner)


def total_gains(table: NodeTable, n_features: int) -> NDArray[np.float64]:
    """Gain of each feature's splits, in bits or as variance, weighted by their fraction of the rows."""
    inner = np.flatnonzero(table.nodes["first_child"] >= 0)
    share = table.nodes["size"][inner] / table.nodes["size"][0]
    gain = _gains(table, inner)
    gained = np.bincount(table.nodes["feature"][inner], share * gain, minlength=n_features)
    return gained.astype(np.float64)  # integers if there is no split


def _n_candidates(table: NodeTable) -> int:
    return len(table.tried) if table.tried is not None else int((table.nodes["first_child"] >= 0).sum())


def _gains(table: NodeTable, inner: NDArray[np.intp]) -> NDArray[np.float64]:
    """Gains of the splits at the nodes `inner`: in bits, from class counts, or those of a regression tree."""
    if not table.has_classes:
        own: NDArray[np.float64] = table.nodes["gain"][inner]
        return own
    sizes = table.counts.sum(axis=1)
    # Size times entropy of every node.
    spread = xlog2x(sizes) - xlog2x(table.counts) @ np.ones(table.counts.shape[1])
    children = np.bincount(table.nodes["parent"][1:], spread[1:], minlength=len(sizes))
    gain: NDArray[np.float64] = (spread[inner] - children[inner]) / sizes[inner]
    return np.maximum(gain, 0.0)  # rounding
