"""Selectors of ours and of others: how they are fitted to rows, and how they order the columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.coded_blocks import CodedBlocks
from foresift.data.dependence import Dependence
from foresift.data.slices import sliceable, take_rows
from foresift.data.table import Table, make_table
from foresift.data.target import Target
from foresift.data.time_blocks import parts_of_rows
from foresift.evaluation.harness.chosen import column_order, known_sizes
from foresift.models.subset_models import fit_plain
from foresift.selectors.base import RankingSelector
from foresift.selectors.best import BestRankerSelector
from foresift.selectors.size_cv import MANY_SIZES, sizes_for

__all__ = ["Order", "Rows", "fit_all", "has_test", "is_ours", "is_relevant", "order_of", "ranked", "sizes_of"]

N_STRATA = 10  # of a quantity


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table, coded once.

    Attributes
    ----------
    table : Table
        The coded rows.
    strata : ndarray of int
        What samples of the rows have in proportion: the number of every row's class in the whole table, of
        which some rows may lack classes, or tenths of a quantity.
    weights : ndarray of float64 or None
        How much each row counts.
    X : array-like, data frame or None
        The columns as the user has them, if something does not take the coded ones.
    coded : bool
        Whether the selector takes the coded columns.
    blocks : CodedBlocks or None
        All rows of a large table, of which these are a sample.
    """

    table: Table
    strata: NDArray[np.intp]
    weights: NDArray[np.float64] | None = None
    X: Any = None
    coded: bool = True
    blocks: CodedBlocks | None = None

    def __len__(self) -> int:
        return len(self.strata)

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Some of the rows, in ascending order; all of them are not copied."""
        if len(rows) == len(self):
            return self
        X = None if self.X is None else take_rows(self.X, rows)
        return Rows(self.table.take_rows(rows), self.strata[rows], self.weights_of(rows), X, self.coded)

    @cached_property
    def parts(self) -> NDArray[np.intp] | None:
        """Parts of the rows that hardly depend on each other; None if all rows are such."""
        dependence = self.table.dependence
        return None if dependence is None else parts_of_rows(self.table.target, dependence)

    @property
    def counting(self) -> NDArray[np.bool_]:
        """Mask of the rows of positive weight."""
        return np.ones(len(self), dtype=bool) if self.weights is None else self.weights > 0

    def weights_of(self, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Weights of some rows."""
        return None if self.weights is None else self.weights[rows]

    def fit(self, selector: Any) -> Any:
        """Fit a selector to these rows."""
        if self.coded:
            return selector.fit_table(self.table, self.weights)
        return fit_plain(selector, self.X, self.table.target.values(), self.weights, self.table.dependence)


def fit_all(
    selector: Any,
    X: Any,
    y: Any,
    weights: NDArray[np.float64] | None = None,
    task: str = "classification",
    *,
    keep_X: bool = False,
    dependence: Dependence | None = None,
    in_blocks: bool = True,
    blocks: CodedBlocks | None = None,
) -> Rows:
    """Fit a selector to all rows, which are read once for all that is done with them.

    A selector that takes blocks of a large table gets those, if `in_blocks`. If the rows came in `blocks`, X
    and y are a sample of them.
    """
    ours = is_ours(selector)
    plain = in_blocks and weights is None and dependence is None
    came_in_blocks = blocks is not None
    if blocks is None and ours and plain:
        blocks = selector.blocks_of(X, y)
    if blocks is not None:
        target = blocks.sample.target  # with classes that are not in the sample
        if came_in_blocks and task == "regression":  # its logarithm, perhaps
            target = Target.of(y, blocks.sample.n_rows, task)
        return fit_blocks(selector, blocks, target, keep_X=keep_X)
    table = selector.read_table(X, y) if ours else make_table(X, y, task=task)
    table = replace(table, dependence=dependence)
    table.target.require_variety(selector, weights)
    coded = ours and selector.takes(table)
    kept = (X if ours and not keep_X else sliceable(X)) if keep_X or not coded else None
    rows = Rows(table, table.target.strata(N_STRATA), weights, kept, coded)
    rows.fit(selector)
    return rows


def fit_blocks(selector: Any, blocks: CodedBlocks, target: Target, *, keep_X: bool = False) -> Rows:
    """Fit a selector to all rows of a large table, if it can; everything else is done with a sample.

    `target` is that of the sample, as it is modelled.
    """
    table = blocks.sample.with_target(target)
    coded = is_ours(selector) and selector.takes(table)
    X = blocks.sample_X if keep_X or not coded else None
    rows = Rows(table, target.strata(N_STRATA), None, X, coded, blocks)
    if is_ours(selector) and selector.takes_rows(blocks, target):
        selector.fit_blocks(blocks)
    else:
        rows.fit(selector)
    return rows


def is_ours(selector: Any) -> bool:
    """Whether a selector reads tables as we do."""
    return isinstance(selector, RankingSelector)


def has_test(selector: Any) -> bool:
    """Whether a fitted selector has tested its columns."""
    return is_ours(selector) and hasattr(selector, "relevant_")


def is_relevant(selector: Any, *, representative: bool = False) -> NDArray[np.bool_]:
    """Which free units passed the test of a fitted selector; of redundant ones, if wanted, only the best."""
    passed = selector.representative_ if representative else selector.relevant_
    return np.asarray(passed[selector._members])


class Order(NamedTuple):
    """Columns, those that are kept by request before the others, and these best first, unit by unit.

    `ends` are the numbers of columns of the best 0, 1, 2 ... units, with those that are kept by request.
    """

    columns: NDArray[np.intp]
    ends: NDArray[np.intp]

    def best(self, size: int) -> NDArray[np.intp]:
        """The best units, and what is kept by request."""
        return self.columns[: self.ends[size]]


def ranked(selector: Any) -> Order:
    """How a fitted selector orders units; of one that is none of ours every column is a unit."""
    columns = order_of(selector)
    if not is_ours(selector) or selector.units_.trivial:
        return Order(columns, np.arange(len(columns) + 1))
    n_kept = np.count_nonzero(selector.units_.kept)
    changes = np.flatnonzero(np.diff(selector.units_.free_of_column[columns])) + 1
    return Order(columns, np.array([n_kept, *changes[changes > n_kept], len(columns)]))


def sizes_of(selector: Any, n_columns: int, most: int = MANY_SIZES) -> NDArray[np.intp]:
    """Numbers of units to score, at most so many; with columns kept by request these alone, too."""
    if not is_ours(selector):
        ranks_all = len(known_sizes(selector)) == n_columns
        return sizes_for(n_columns, most) if ranks_all else np.array([n_columns])
    units = selector.units_
    return np.append(np.zeros(int(units.kept.any()), dtype=np.intp), sizes_for(units.n_free, most))


def order_of(selector: Any) -> NDArray[np.intp]:
    """Columns in the order in which a fitted selector would keep them: by request, then best first.

    Relevant columns come before the others, and among them first one of each redundant group. Gains of
    `ForestGainSelector` count by how far they are above chance: a column of many values gains more by chance
    than one of few. A selector that ranks nothing has those first that it keeps.
    """
    if not is_ours(selector):
        order = column_order(selector)
        return np.argsort(~selector.get_support(), kind="stable") if order is None else order
    best, units = _best_units(selector), selector.units_
    if units.trivial:
        return best
    return np.concatenate([np.flatnonzero(units.kept), *(units.members[unit] for unit in best)])


def _best_units(selector: Any) -> NDArray[np.intp]:
    """Free units of a selector of ours, best first; of one that chose a ranker, as that has them."""
    if isinstance(selector, BestRankerSelector):
        return _best_units(selector.selector_)
    columns = selector._members
    ranks = np.asarray(selector.ranking_)[columns]
    if hasattr(selector, "redundant_with_"):
        relevant, one_of_each = is_relevant(selector), is_relevant(selector, representative=True)
        return np.lexsort((ranks, np.where(one_of_each, 0, np.where(relevant, 1, 2))))
    if hasattr(selector, "expected_scores_"):
        above = np.asarray(selector.scores_ - selector.expected_scores_)[columns]
        return np.lexsort((ranks, -np.where(np.isnan(above), -np.inf, above)))
    return np.argsort(ranks, kind="stable")
