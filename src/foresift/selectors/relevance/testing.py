"""All tests of the columns of a table, and the p-values that they have together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.sklearn_compat import Progress
from foresift.data.table import Table
from foresift.engine.grow import one_blas_thread
from foresift.selectors.relevance.beside import Kept
from foresift.selectors.relevance.combining import WEIGHTS, combined_log_pvalues, unit_log_pvalues
from foresift.selectors.relevance.dependent import DependentRows
from foresift.selectors.relevance.pairs import pair_tests
from foresift.selectors.relevance.pooling import (
    forest_log_pvalues,
    log_effective_levels,
    normalize_null,
    standardized,
    standardized_alone,
)
from foresift.selectors.relevance.ranks import rank_tests
from foresift.selectors.relevance.shadows import ShadowSums, gather_shadow_sums, pool_size
from foresift.selectors.units import Units

__all__ = ["ColumnTests", "Tested"]

_SHADOWS = 10  # per column
_MANY_COLUMNS = 5000  # from which on all columns together have more than enough shadows,
_FEW_SHADOWS, _FEW_PER_TREE = 6, 2  # so these do, in all and scored by a tree: docs/relevance.md, Wide tables
_MANY_TREES = 50  # if there are so many; of fewer, too few would score each of them
_OWN_SHADOWS = 30  # per column, if each is compared with its own alone
_MIN_POOL = 100  # shadows of all columns: ten of each are too few for a few columns
_MIN_SHADOWS = 3  # that must have been candidates: each is compared with the spread of the others


class Tested(NamedTuple):
    """Logs of p-values, combined and by test, and what the forest's test is made from."""

    log_pvalues: NDArray[np.float64]  # of the free units
    by_column: NDArray[np.float64]
    by_test: dict[str, NDArray[np.float64]]
    gains: NDArray[np.float64]
    shadow_scores: NDArray[np.float64]
    why: str | None  # columns may have no test, if rows depend on each other
    gone: NDArray[np.bool_]  # columns of which nothing is left once something is `removed`,
    removed: str | None  # as in "the season of the target is removed"


@dataclass(frozen=True, eq=False)
class ColumnTests:
    """The tests of the columns of a table.

    Attributes
    ----------
    table : Table
        The data.
    order, first : ndarray of int
        See `deduplicate_columns`.
    units : Units
        What has a p-value, and which columns are kept in any case.
    n_shadows : int or None
        Shadows per column, if their number is given.
    interactions : bool
        Whether to test pairs.
    forest : mapping
        How trees are grown; see `gather_shadow_sums`.
    """

    table: Table
    order: NDArray[np.uint32]
    first: NDArray[np.intp]
    units: Units
    n_shadows: int | None
    interactions: bool
    forest: Mapping[str, Any]

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which free units have a column that is not constant."""
        free = self.units.free_of_column[np.isin(self.first, self.order)]
        return np.bincount(free[free >= 0], minlength=self.units.n_free) > 0

    def run(self, weights: NDArray[np.float64] | None, seed: int, progress: Progress) -> Tested:
        """P-values of all tests, and mean gains of columns and shadows; NaN for untested columns."""
        table, units, first = self.table, self.units, self.first
        requested = np.isin(first, first[units.kept])  # kept columns and copies of them, which add nothing
        kept = Kept.of(table, weights, np.flatnonzero(units.kept), seed)
        rows = None if table.dependence is None else DependentRows.of(table, weights)
        n_shadows, per_tree = self._n_shadows(dependent=rows is not None)
        gains = np.zeros((table.n_columns, 1 + n_shadows))
        shadow_scores = np.full((table.n_columns, n_shadows), np.nan)
        logs = {name: np.full(table.n_columns, np.nan) for name in WEIGHTS}
        joint = np.full(units.n_free, np.nan)
        gone = np.zeros(table.n_columns, dtype=bool)
        explained = kept is not None and kept.explain_all
        if len(self.order) and not explained and (rows is None or not rows.too_few):
            shadows = {"n_shadows": n_shadows, "shadows_per_tree": per_tree}
            sums = self._grown(weights, kept, rows, shadows, seed, progress)
            gains = sums.mean
            # In the order of the hashes, so that rounding does not depend on the order of the columns.
            tested = self.order[(sums.weight[self.order, 1:] > 0).sum(axis=1) >= _MIN_SHADOWS]
            tested = tested[~requested[tested]]
            if rows is None:
                z = standardized(gains[tested], self._levels(weights)[tested])
            else:
                z = standardized_alone(gains[tested])
            z = normalize_null(z)
            shadow_scores[tested] = z[:, 1:]
            if rows is None or rows.stationary:
                logs["forest"][tested] = forest_log_pvalues(z)
            if weights is None or table.target.equal_weights(weights):  # these tests know of no others
                alone = rows is not None and not rows.stationary
                gone[tested] = self._test_ranks(logs, joint, tested, weights, kept, seed, rare=alone)
        by_column = combined_log_pvalues(logs)[first]
        by_column[(requested | explained) & ~units.kept] = 0.0
        return Tested(
            unit_log_pvalues(units, by_column, joint),
            by_column,
            {name: some[first] for name, some in logs.items()},
            gains[first],
            shadow_scores[first],
            None if rows is None else rows.why_untested,
            gone[first],
            None if rows is None else rows.removed(beside=kept is not None),
        )

    def _levels(self, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return log_effective_levels(self.table, weights)

    def _n_shadows(self, *, dependent: bool) -> tuple[int, int]:
        """Shadows per column, and how many of them every tree scores in turn.

        Half of them cost half as much, and their scores are hardly less certain: chance that all trees share
        is most of what sets them apart.
        """
        n_columns, n_trees = len(self.order), self.forest["n_estimators"]
        if self.n_shadows is not None:
            n_shadows = int(self.n_shadows)
        elif dependent:
            n_shadows = _OWN_SHADOWS
        elif n_columns >= _MANY_COLUMNS and n_trees >= _MANY_TREES:
            return _FEW_SHADOWS, _FEW_PER_TREE
        else:
            n_shadows = max(_SHADOWS, math.ceil(_MIN_POOL / max(1, n_columns)))
        return n_shadows, -(-n_shadows // 2)

    def _grown(
        self,
        weights: NDArray[np.float64] | None,
        kept: Kept | None,
        rows: DependentRows | None,
        shadows: dict[str, int],
        seed: int,
        progress: Progress,
    ) -> ShadowSums:
        """Gains of columns and shadows in a forest, of what kept columns leave of the target."""
        table = self.table if kept is None else self.table.with_target(kept.rest)
        maps = None if rows is None else rows.maps(pool_size(shadows["n_shadows"], table.n_rows), seed)
        own: dict[str, Any] = {"order": self.order, "row_maps": maps, **shadows, "seed": seed}
        return gather_shadow_sums(table, weights, progress, **own, **self.forest)

    def _test_ranks(
        self,
        logs: dict[str, NDArray[np.float64]],
        joint: NDArray[np.float64],
        tested: NDArray[np.uint32],
        weights: NDArray[np.float64] | None,
        kept: Kept | None,
        seed: int,
        *,
        rare: bool,
    ) -> NDArray[np.bool_]:
        """Fill in what the tests without a forest find; of which of the tested columns nothing is left.

        With `rare` there is no test of the forest, which needs no more than a few rows of another value.
        """
        large = self.units.large
        place = {column: k for k, column in enumerate(tested.tolist())}
        members = [
            np.unique([place[j] for j in self.first[self.units.members[k]].tolist() if j in place])
            for k in large
        ]
        # Threads of linear algebra on small products wait for each other longer than they work.
        with one_blas_thread():
            found = rank_tests(self.table, weights, tested, kept, members, rare=rare)
            for name in ("ranks", "residuals", "curves"):
                logs[name][tested] = getattr(found, name)
            joint[large] = found.joint
            if self.interactions and self.table.dependence is None and kept is None:
                logs["pairs"][tested] = pair_tests(self.table, weights, tested, seed)
        return found.gone
