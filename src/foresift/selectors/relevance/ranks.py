"""Rank tests of columns: with the target, and with what strong predictors leave of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.table import Table
from foresift.selectors.relevance.beside import Kept
from foresift.selectors.relevance.categories import Categories
from foresift.selectors.relevance.column_ranks import CURVES, curves_by_code, normal_scores, ranks_by_code
from foresift.selectors.relevance.combining import log_cauchy_mean
from foresift.selectors.relevance.counting import code_counts
from foresift.selectors.relevance.joint import category_ranks, joint_log_pvalues
from foresift.selectors.relevance.moments import (
    MIN_SHARE,
    counted_rows,
    log_of_any,
    log_rarest,
)
from foresift.selectors.relevance.residuals import Block, Residuals
from foresift.selectors.relevance.sums import Powers, Products, powers_of
from foresift.selectors.relevance.views import Independent, Squares, View, views_of, visible

__all__ = ["RankTests", "any_curve", "either_test", "rank_tests", "strong_predictors"]

CELLS = 2**23  # scores at a time
MAX_KNOWN = 2**20  # ranks of strong predictors; at most a tenth as many columns as rows
_STRONG = 0.02  # p-value of a strong predictor;
_BY_CHANCE = 2  # of many columns less, so that of noise no more than this many are expected,
_CURVED = 0.1  # and by either curve this share of it: fewer columns have hardly any trend
MIN_RARE = 10  # rows that have another value, of a column that has no other test, and as many when seen
_FEW = 0.01  # share of the rows in which a column that is tested with others must have another value


class RankTests(NamedTuple):
    """Logs of p-values.

    Attributes
    ----------
    ranks, residuals : ndarray of shape (n_columns,)
        Of single columns, the classes taken together; NaN for columns with too few values, and residuals
        without strong predictors.
    curves : ndarray of shape (n_columns,)
        Of all curves of ranks, with the classes and with residuals, together; NaN as before, and if they are
        not tested.
    joint : ndarray of shape (n_groups,)
        Of columns that were tested together.
    gone : ndarray of bool of shape (n_columns,)
        Columns of which nothing is left, however their values are scored, in any view of rows that depend on
        each other.
    """

    ranks: NDArray[np.float64]
    residuals: NDArray[np.float64]
    curves: NDArray[np.float64]
    joint: NDArray[np.float64]
    gone: NDArray[np.bool_]


def rank_tests(
    table: Table,
    weights: NDArray[np.float64] | None,
    columns: NDArray[np.uint32],
    kept: Kept | None = None,
    members: Sequence[NDArray[np.intp]] = (),
    *,
    rare: bool = False,
) -> RankTests:
    """Test whether the ranks of a column are related to the classes, and to what strong predictors leave.

    Normal scores of the column (van der Waerden), of each class against the others: as much power as a t-test
    if columns are normal, and more if they are not. Where a class becomes steadily likelier with a column, a
    split in two wastes a third of the information in the ranks. Nominal columns count by their most frequent
    category and, if they have three or more, by all of them together (see `Categories`); missing values have
    the middle rank. A quantity has several scores of its ranks (see `_scores`),
    whose p-values are combined.

    A column may matter without a trend. So two curves of its ranks are tested, too (see `CURVES`), if rows do
    not depend on each other and no columns are kept.

    What other columns explain is noise in this test. So it is repeated with the residuals of a linear
    regression of the classes on the ranks of the strong predictors. Predictors that are correlated with the
    tested column, itself first of all, are left out of its regression: what they share counts as its own. The
    residuals of an irrelevant column are therefore made from nothing that depends on it (but that, at the
    limit of their number, it may take another's place among the strong predictors).

    A sum of scores times values has known moments if rows are permuted. Its p-value is that of Student's t,
    corrected by the skewness and, where the tails are longer, by the kurtosis of the sum. Sums are of whole
    numbers (residuals and scores are rounded), so they hardly depend on the order of the rows.

    Rows that depend on each other are seen so that they do not, in one or two ways; see `View`. The p-values
    of both ways are combined.

    Parameters
    ----------
    table : Table
        The data.
    weights : ndarray or None
        Rows of weight 0 are left out; other weights are ignored.
    columns : ndarray of int
        The columns to test.
    kept : Kept or None, default=None
        What columns say that are kept in any case: the question is what helps beside them.
    members : sequence of ndarray of int, default=()
        Numbers of columns, counted in `columns`, that are tested together.
    rare : bool, default=False
        Whether columns are tested, too, of which all rows but a few have the same value; see `MIN_RARE`.

    Returns
    -------
    RankTests
        Logs of p-values.
    """
    counted = counted_rows(table, weights)
    contrasts = table.target.contrasts(counted)
    n_columns = len(columns)
    nothing, gone = np.full(n_columns, np.nan), np.zeros(n_columns, dtype=bool)
    joint = np.full(len(members), np.nan)
    if not contrasts.shape[1]:
        return RankTests(nothing, nothing, nothing, joint, gone)
    if table.target.task == "regression":
        contrasts = _scores(contrasts[:, 0])
    views: list[View] = [Independent()]
    if table.dependence is not None:
        views = views_of(table.dependence.take(counted), contrasts)
    if kept is not None:
        views = [kept.seen(view, counted) for view in views]
    curved, rarest = table.dependence is None and kept is None, -np.inf
    seen = [
        (_Ranked(table, columns, counted, view, curved, rare), visible(view, contrasts.T).T) for view in views
    ]
    of_classes = _together(views, [ranked.log_pvalues(values) for ranked, values in seen], nothing)
    if table.dependence is not None:
        of_classes = _with_all_categories(seen, of_classes)
        gone = _gone(seen, of_classes)
    else:
        counts = [np.unique(one, return_counts=True)[1] for one in contrasts.T]
        rarest = log_rarest(counts)
        of_classes = np.maximum(of_classes, rarest)
    if members:
        joint = np.array([_of_all(seen, some) for some in members])
    ranks, curves = of_classes[:n_columns], of_classes[n_columns:]
    strong = strong_predictors(ranks, min(len(counted) // 10, MAX_KNOWN // len(counted)), curves)
    categories = Categories(table, columns, counted)
    if curved:
        ranks = np.maximum(either_test(ranks, categories.log_pvalues(contrasts)), rarest)
    if not strong:
        return RankTests(ranks, nothing, any_curve(n_columns, curves), joint, gone)
    of_residuals = []
    for ranked, values in seen:
        known = [(k, scores) for k in strong if (scores := ranked.seen(k)) is not None][: len(values) // 10]
        residuals = None
        if known:
            owners = [k % n_columns for k, _ in known]
            residuals = Residuals(ranked.view.centred(values), [scores for _, scores in known], owners)
        found = ranked.log_pvalues(values if residuals is None else residuals.values, residuals)
        if curved:
            found[:n_columns] = either_test(found[:n_columns], categories.log_pvalues(contrasts, residuals))
        of_residuals.append(found)
    left = np.maximum(
        _together(views, of_residuals, nothing), log_rarest([np.ones(len(counted), dtype=np.intp)])
    )
    return RankTests(ranks, left[:n_columns], any_curve(n_columns, curves, left[n_columns:]), joint, gone)


def either_test(logs: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """One p-value, as a log, from two tests; columns may have one of them, or none."""
    tests = np.array([logs, others])
    return np.where(np.isnan(others), logs, log_cauchy_mean(tests, np.ones_like(tests)))


def _with_all_categories(
    seen: list[tuple[_Ranked, NDArray[np.float64]]], logs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """P-values of columns, those of nominal ones together with tests of all their frequent categories.

    Rows that depend on each other have no other test that looks at all categories with some power.
    """
    table, columns = seen[0][0].table, seen[0][0].columns
    tests = np.full((1 + len(seen), len(columns)), np.nan)
    tests[0] = logs
    for k, column in enumerate(columns.tolist()):
        if not table.store.is_nominal(column) or table.store.n_values(column) < 3:
            continue
        for row, (ranked, values) in enumerate(seen, start=1):
            codes = np.asarray(table.store.codes(column))[ranked.rows].astype(np.intp)
            ranks = visible(ranked.view, category_ranks(codes, table.store.n_values(column)))
            tests[row, k] = _joint(ranked, values, ranks)
    weights = np.ones_like(tests)
    weights[0] = len(seen)
    return np.where(np.isnan(tests[1:]).all(axis=0), logs, log_cauchy_mean(tests, weights))


def _gone(seen: list[tuple[_Ranked, NDArray[np.float64]]], logs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which columns without a p-value vary, while no view shows anything of them.

    Every value, and missing, is a random number: nothing is seen of these if nothing is seen of any function.
    """
    table, columns, gone = seen[0][0].table, seen[0][0].columns, np.isnan(logs)
    for k in np.flatnonzero(gone).tolist():
        numbers = np.random.default_rng(0).normal(size=table.store.n_values(int(columns[k])) + 1)
        for ranked, _ in seen:
            values = numbers[np.asarray(table.store.codes(int(columns[k])))[ranked.rows]]
            gone[k] &= np.ptp(values) > 0 and not visible(ranked.view, values - values.mean()).any()
    return gone


def _of_all(seen: list[tuple[_Ranked, NDArray[np.float64]]], columns: NDArray[np.intp]) -> float:
    """Log of the p-value of several columns together, in all views."""
    logs = []
    for ranked, values in seen:
        ranks = [found for k in columns.tolist() if (found := ranked.seen(k, few=True)) is not None]
        logs.append(_joint(ranked, values, np.array(ranks).reshape(len(ranks), len(values))))
    return float(log_cauchy_mean(np.array(logs)[:, np.newaxis], np.ones((len(logs), 1)))[0])


def _joint(ranked: _Ranked, values: NDArray[np.float64], ranks: NDArray[np.float64]) -> float:
    """Log of the p-value of ranks together, as they are seen in one view; NaN without a test."""
    found = joint_log_pvalues(ranks, ranked.view.centred(values), ranked.view.n_rows(len(values)))
    found = found[~np.isnan(found)]
    if not len(found):
        return np.nan
    if ranked.quantity:
        return float(log_cauchy_mean(found[:, np.newaxis], np.ones((len(found), 1)))[0])
    return float(log_of_any(found.min(keepdims=True), len(found))[0])


def _together(
    views: list[View], logs: list[NDArray[np.float64]], nothing: NDArray[np.float64]
) -> NDArray[np.float64]:
    """One p-value from those of several views; there may be none."""
    if len(logs) < 2:
        return logs[0] if logs else nothing
    weights = np.repeat([[view.weight] for view in views], len(nothing), axis=1)
    return log_cauchy_mean(np.array(logs), weights)


@dataclass(frozen=True)
class _Ranked:
    """Columns by scores, in the rows that count: normal scores and, if `curved`, curves of their ranks.

    The normal scores of all columns are numbered first, then those of one curve after the other.
    """

    table: Table
    columns: NDArray[np.uint32]
    rows: NDArray[np.intp]
    view: View
    curved: bool
    rare: bool = False

    @property
    def n_kinds(self) -> int:
        """Kinds of scores."""
        return 1 + len(CURVES) * self.curved

    @property
    def quantity(self) -> bool:
        """Whether the target is one: it then has several scores, too."""
        return self.table.target.task == "regression"

    def scores(
        self, numbers: range, kinds: range, *, few: bool = False
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Numbers of the scores that columns have, and a row of whole numbers of mean 0 for each.

        Those of one kind after those of another; kind 0 is normal scores. Columns of which too few rows have
        another value, or the commonest category, have none; `few` of them may do.
        """
        least = (_FEW if few else MIN_SHARE) * len(self.rows)
        fewest = min(least, MIN_RARE) if self.rare else least
        known: list[list[NDArray[np.intp]]] = [[] for _ in kinds]
        scores: list[list[NDArray[np.float64]]] = [[] for _ in kinds]
        begin = numbers.start
        for some in code_counts(self.table, self.columns[begin : numbers.stop], self.rows):
            for k, kind in enumerate(kinds):
                if kind:
                    by_code, usable = curves_by_code(some, self.table.store, least, CURVES[kind - 1])
                else:
                    by_code, usable = ranks_by_code(some, self.table.store, least, fewest)
                own = by_code[some.places[usable]]
                for row in np.flatnonzero(some.counts[some.missing[usable]]).tolist():
                    missing = some.places[usable[row]] == some.missing[usable[row]]
                    own[row] = self.view.filled(own[row], missing)
                known[k].append(begin + usable + kind * len(self.columns))
                scores[k].append(own)
            begin += len(some.columns)
        if begin == numbers.start:
            return np.empty(0, dtype=np.intp), np.empty((0, len(self.rows)))
        return np.concatenate([*chain(*known)]), np.concatenate([*chain(*scores)])

    def seen(self, k: int, *, few: bool = False) -> NDArray[np.float64] | None:
        """Scores of a number as they are seen, unless there are none or nothing is seen."""
        kind, column = divmod(k, len(self.columns))
        for scores in self.scores(range(column, column + 1), range(kind, kind + 1), few=few)[1]:
            seen = self.view.centred(visible(self.view, scores))  # without the mean that rounding leaves
            return seen if seen.any() else None
        return None

    def blocks(self) -> Iterator[Block]:
        """Columns that have scores, some at a time; made anew each time, unless they fit in one block."""
        size = max(1, CELLS // (len(self.rows) * self.n_kinds))
        if len(self.columns) <= size:
            yield self._only_block
        else:
            for begin in range(0, len(self.columns), size):
                yield self._block(range(begin, min(begin + size, len(self.columns))))

    @cached_property
    def _only_block(self) -> Block:
        return self._block(range(len(self.columns)))

    def _block(self, numbers: range) -> Block:
        known, scores = self.scores(numbers, range(self.n_kinds))
        rare = np.full(len(scores), fill_value=False)
        if self.rare:  # the median of such a column is the value that nearly all rows have
            others = scores != np.median(scores, axis=1, keepdims=True)
            rare = np.count_nonzero(others, axis=1) < MIN_SHARE * len(self.rows)
        scores = visible(self.view, scores)
        powers = powers_of(scores)
        some = scores.any(axis=1) & (~rare | (powers.squares**2 >= MIN_RARE * powers.fourths))
        if not some.all():
            known, scores, powers = known[some], scores[some], powers.take(some)
        return Block(known, known % len(self.columns), scores, *powers)

    def log_pvalues(
        self, values: NDArray[np.float64], residuals: Residuals | None = None
    ) -> NDArray[np.float64]:
        """Logs of p-values by sums of ranks times values, which have a column for each class.

        With `residuals`, columns that are related to strong predictors have values of their own.
        """
        found = np.full(len(self.columns) * self.n_kinds, np.nan)
        for block in self.blocks():
            groups = {b"": np.arange(len(block.numbers))} if residuals is None else residuals.related(block)
            for related, some in groups.items():
                own = values if residuals is None else residuals.without(related)
                part = block.take(some)
                found[part.numbers] = _log_pvalues(part, own, self.view, quantity=self.quantity)
        return found


def _scores(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """What columns are correlated with, for twice the ranks of a quantity less their mean, as whole numbers.

    Ranks have most power if tails are heavy, normal scores if they are not. If the least or the greatest
    number is that of many rows, as 0 of counts or costs, it may say nothing about the size of the others:
    these have normal scores of their own, and those rows 0.
    """
    crowded = max(ranks == ranks.min(), ranks == ranks.max(), key=np.count_nonzero)
    wanted = [np.ones(len(ranks), dtype=bool)]
    if MIN_SHARE <= crowded.mean() <= 1 - MIN_SHARE:
        wanted.append(~crowded)
    scores = [ranks]
    for some in wanted:
        values, inverse, counts = np.unique(ranks[some], return_inverse=True, return_counts=True)
        if len(values) > 1:
            own = np.zeros(len(ranks))
            own[some] = normal_scores(values - counts @ values / counts.sum(), counts)[inverse]
            scores.append(own)
    return np.column_stack(scores)


def _log_pvalues(
    block: Block, values: NDArray[np.float64], view: View, *, quantity: bool
) -> NDArray[np.float64]:
    """Logs of p-values, the classes taken together, by the moments that sums have if rows are permuted.

    NaN if nothing is left of any class: then there is no test.
    """
    centred = view.centred(values)
    squares = (centred**2).sum(axis=0)
    left = values.var(axis=0) > 0  # classes that are not explained to the last row
    if not left.any():
        return np.full(len(block.numbers), np.nan)
    of_ranks = Powers(block.squares, block.cubes, block.fourths)
    of_values = Powers(squares, (centred**3).sum(axis=0), (centred**4).sum(axis=0))
    spread = view.spread(block.ranks, centred[:, left], Squares(block.squares, squares[left]))
    # Products of whole numbers are exact. Scores have a mean of 0 but for rounding, which is taken away here.
    totals = np.outer(block.ranks.sum(axis=1), (values - centred)[0, left])
    found = Products(block.ranks @ values[:, left] - totals, of_ranks, of_values.take(left), len(values))
    return found.log_pvalues(spread, left, quantity=quantity)


def strong_predictors(ranks: NDArray[np.float64], limit: int, curves: NDArray[np.float64]) -> list[int]:
    """Numbers of the scores that clearly predict the classes, the best first, up to a limit.

    Given logs of p-values; those of curves, if any, are numbered after those of ranks.
    """
    most = np.log(min(_STRONG, _BY_CHANCE / max(1, int(np.count_nonzero(~np.isnan(ranks))))))
    logs = np.concatenate([ranks, curves - np.log(_CURVED)])
    logs = np.where(np.isnan(logs), 0.0, logs)
    best = np.argsort(logs, kind="stable")[:limit]
    return [int(k) for k in best if logs[k] < most]


def any_curve(n_columns: int, *logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """One p-value of every column from those of its curves, one curve after the other; NaN without any."""
    tests = np.concatenate(logs)
    if not len(tests):
        return np.full(n_columns, np.nan)
    tests = tests.reshape(-1, n_columns)
    return log_cauchy_mean(tests, np.ones_like(tests))
