"""An evaluation forest: gains of every feature as a split candidate, and their expectation by chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from foresift import _core
from foresift.data.sklearn_compat import Progress
from foresift.data.table import Table
from foresift.engine.candidate_gains import Candidates, GainSums, candidates_of, node_weights
from foresift.engine.grow import fold_trees, make_grower, resolve_max_features
from foresift.engine.node_table import NodeTable
from foresift.engine.null_gain import chance_moments, closed_form

__all__ = ["Evidence", "gather_evidence"]

_SHAPE = 7.0  # squared mean over variance of the best gain by chance: 5.3 at 1,000 rows, 6.5 at 65,536


class Evidence(GainSums):
    """Gains of every feature, and those of an irrelevant one at the same nodes (Rogers & Gunn 4).

    Gains are in bits, or the share of the variance of a quantity at the node, so that neither its unit nor a
    few extreme values decide which nodes matter.

    Parameters
    ----------
    n_features : int
        Number of features.
    bound : {"lower", "mid", "upper", "exact"}
        The bound that is summed; see `foresift.criteria.expected_gain`.
    weighting : {"complexity", "unit"}
        Weights of the nodes.

    Attributes
    ----------
    bounds, chance : ndarray of shape (n_features,)
        Sums of weight times bound, and of weight times expected gain of an irrelevant feature.
    fresh_gain, fresh_chance, fresh_variance : ndarray of shape (n_features,)
        Over the candidates that are not below a split on the same feature: sums of weight times gain and
        weight times expected gain, and the variance of the first by chance if all candidates were
        independent.
    n_fresh, n_fresh_trees : ndarray of shape (n_features,)
        Number of these candidates, and of trees that have some.
    """

    def __init__(self, n_features: int, bound: str, weighting: str) -> None:
        super().__init__(n_features)
        self.bound, self.weighting = bound, weighting
        self.bounds, self.chance = np.zeros((2, n_features))
        self.fresh_gain, self.fresh_chance, self.fresh_variance = np.zeros((3, n_features))
        self.n_fresh, self.n_fresh_trees = np.zeros((2, n_features), dtype=np.intp)

    def add_trees(self, tables: Sequence[NodeTable], weighting: str = "") -> None:
        """Add trees that recorded their split candidates, and permuted ones where chance has no table."""
        for table in tables:  # one at a time: the nodes of a tree are taken together
            candidates, permuted = _in_own_units(table)
            weight = node_weights(candidates, weighting or self.weighting)[candidates.node]
            self.add(candidates.feature, candidates.gain, weight)
            mean, variance = _chance(candidates, permuted)
            at_bound = (
                mean if self.bound == "exact" else closed_form(candidates.counts, self.bound)[candidates.node]
            )
            n_features = len(self.weight)
            self.bounds += np.bincount(candidates.feature, weight * at_bound, minlength=n_features)
            self.chance += np.bincount(candidates.feature, weight * mean, minlength=n_features)
            # Below its own split the information of a feature is used up: it gains less than by chance.
            fresh = (_core.below_own_split(table.arrays[0], table.tried_bytes) == 0) & (weight > 0)
            feature, weight = candidates.feature[fresh], weight[fresh]
            n_fresh = np.bincount(feature, minlength=n_features)
            self.n_fresh += n_fresh
            self.n_fresh_trees += n_fresh > 0
            self.fresh_gain += np.bincount(feature, weight * candidates.gain[fresh], minlength=n_features)
            self.fresh_chance += np.bincount(feature, weight * mean[fresh], minlength=n_features)
            self.fresh_variance += np.bincount(feature, weight**2 * variance[fresh], minlength=n_features)

    def merge(self, other: Evidence) -> None:
        """Add the sums of another part of the forest."""
        for name, sums in vars(self).items():
            if isinstance(sums, np.ndarray):
                sums += getattr(other, name)

    def per_weight(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the sum of weights; NaN without a candidate of positive weight."""
        known = self.weight > 0
        return np.divide(sums, self.weight, out=np.full(len(known), np.nan), where=known)

    @property
    def pvalues(self) -> NDArray[np.float64]:
        """Probability that an irrelevant feature has a mean gain as large over its fresh candidates.

        All trees use the same rows, so their sums are treated as completely dependent, as if there were one
        tree. The nodes of one tree where a feature is a candidate are treated as independent. The tail is
        that of a gamma distribution with this mean and variance, which fits the gain of a single cut.
        """
        mean, variance = self.fresh_chance, self.n_fresh_trees * self.fresh_variance
        # A column that is constant wherever it is a candidate gains nothing, by chance or otherwise.
        pvalues = np.where((self.n_fresh > 0) & (self.fresh_gain <= mean), 1.0, np.nan)
        known = (self.n_fresh > 0) & (mean > 0)
        # A few permutations may show hardly any variance. The gain at one node has a shape of _SHAPE at most,
        # the sum of a tree no more than that for each of its candidates.
        most = _SHAPE * self.n_fresh[known] / self.n_fresh_trees[known]
        with np.errstate(divide="ignore"):
            shape = np.minimum(mean[known] ** 2 / variance[known], most)
        pvalues[known] = gammaincc(shape, shape * self.fresh_gain[known] / mean[known])
        return pvalues


def _in_own_units(table: NodeTable) -> tuple[Candidates, NDArray[np.float64] | None]:
    """Split candidates and their gains by chance: in bits, or as shares of the variance at the node."""
    candidates, permuted, variance = candidates_of([table]), table.permuted, table.variance
    if variance is None or table.tried is None or permuted is None:
        return candidates, permuted
    # Of numbers that hardly differ the squares may be 0: they have no gain either.
    unit = np.maximum(variance[table.tried["node"]], np.finfo(np.float64).tiny)
    return candidates._replace(gain=candidates.gain / unit), permuted / unit[:, np.newaxis]


def _chance(
    candidates: Candidates, permuted: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance of the gain by chance of every candidate: by permutations, or by class counts."""
    if permuted is None:
        mean, variance = chance_moments(candidates.counts)
        return mean[candidates.node], variance[candidates.node]
    mean, variance = permuted.mean(axis=1), permuted.var(axis=1, ddof=1)
    counted = np.isnan(mean)
    if counted.any():
        at = candidates.node[counted]
        mean[counted], variance[counted] = (moments[at] for moments in chance_moments(candidates.counts))
    return mean, variance


def gather_evidence(
    table: Table,
    weights: NDArray[np.float64] | None,
    progress: Progress,
    *,
    bound: str,
    weighting: str,
    n_estimators: int,
    max_features: Any,
    constant_draw: str,
    nominal_splits: str,
    n_permutations: int,
    seed: int,
    n_jobs: int | None,
) -> Evidence:
    """Grow trees on all rows, without bootstrap, and sum up the gains of the features.

    `n_permutations` is the number per split candidate, at least 2, where the gain by chance has no table. The
    other options are those of `Evidence` and of a forest.
    """
    by_permutation = _needs_permutation(table, weights)
    grower = make_grower(
        table,
        weights,
        criterion=table.target.criterion,
        missing="learn",
        multiway=nominal_splits == "multiway",
        max_features=resolve_max_features(max_features, table.n_columns),
        constant_leaf=constant_draw == "leaf",
        record_tried=True,
        n_permutations=n_permutations if by_permutation.any() else 0,
        permute_column=by_permutation.astype(np.uint8).tolist(),
        draw="all",
        seed=seed,
    )

    def read(trees: Iterator[NodeTable]) -> Evidence:
        part = Evidence(table.n_columns, bound, weighting)
        part.add_trees(list(trees))
        return part

    evidence = Evidence(table.n_columns, bound, weighting)
    # Parts of fixed sizes are added up in order, so that rounding does not depend on `n_jobs`.
    size = -(-n_estimators // 64)
    options: dict[str, Any] = {"size": size, "tried": True, "n_jobs": n_jobs, "merge": evidence.merge}
    fold_trees(grower, range(n_estimators), progress, read, **options)
    return evidence


def _needs_permutation(table: Table, weights: NDArray[np.float64] | None) -> NDArray[np.bool_]:
    """Columns whose gain by chance has no table: a quantity, several classes, ties, categories, weights."""
    store, n_rows = table.store, table.n_rows
    if table.target.n_outputs != 2 or weights is not None:
        return np.ones(table.n_columns, dtype=bool)

    def has_ties(column: int) -> bool:
        n_values = store.n_values(column)  # without missing ones
        # Bins of a few rows each allow almost as many cuts, and do not matter in the nodes below.
        negligible = store.is_binned(column) and not store.has_missing(column) and 4 * n_values >= n_rows
        return n_values < n_rows and not negligible

    columns = range(table.n_columns)
    return np.array([store.is_nominal(j) or has_ties(j) for j in columns], dtype=bool)
