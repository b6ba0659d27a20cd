"""Rank tests of coded blocks: all of it sums over rows, of whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.coded_blocks import Block, CodedBlocks, Sums
from foresift.selectors.relevance.between import ValuePowers, between_log_pvalue, min_rows
from foresift.selectors.relevance.categories import of_all_values
from foresift.selectors.relevance.column_ranks import CURVES, n_other, normal_scores
from foresift.selectors.relevance.moments import MIN_SHARE, log_rarest
from foresift.selectors.relevance.ranks import RankTests, any_curve, either_test, strong_predictors
from foresift.selectors.relevance.residuals import related_from
from foresift.selectors.relevance.sums import Powers, Products

__all__ = ["block_rank_tests"]

STEPS = 2.0**14  # of ranks on either side of 0: products of 2^16 rows are exact in double precision
MAX_STRONG = 32  # predictors whose products with all columns are summed
CELLS = 2**21  # ranks at a time
_KINDS = 1 + len(CURVES)  # of scores of a column
_RIDGE = 1e-6  # of unit columns, as in `residuals`
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class RankProducts:
    """Sums of products of scores: of all of them with some, and with numbers of the target.

    Attributes
    ----------
    ranks : ndarray of shape (n_scores, 256)
        Score of every code of a column, a whole number of at most `STEPS`.
    columns : ndarray of int of shape (n_scores,)
        Whose codes these are; a column may have several scores.
    some : ndarray of int
        The scores to multiply with.
    values : ndarray of shape (n_values, n_target_codes)
        Numbers of every target code, likewise.
    """

    ranks: NDArray[np.float64]
    columns: NDArray[np.intp]
    some: NDArray[np.intp]
    values: NDArray[np.float64]

    def zeros(self) -> Sums:
        """One array."""
        return (np.zeros((len(self.ranks), len(self.some) + len(self.values)), np.int64),)

    def add(self, block: Block, to: Sums, stop: Any) -> None:
        """Multiply some scores of a block at a time."""
        n_rows = len(block.target)
        if not n_rows:
            return
        others = np.empty((len(self.some) + len(self.values), n_rows))
        for k, score in enumerate(self.some.tolist()):
            others[k] = self.ranks[score][block.codes[self.columns[score]]]
        others[len(self.some) :] = self.values[:, block.target]
        step = max(1, CELLS // n_rows)
        for first in range(0, len(self.ranks), step):
            part = slice(first, first + step)
            columns = self.columns[part].tolist()
            ranks = np.array([own[block.codes[j]] for own, j in zip(self.ranks[part], columns, strict=True)])
            to[0][part] += (ranks @ others.T).astype(np.int64)


class BlockRanks(NamedTuple):
    """Scores of the codes of all columns: normal scores, then those of one curve after the other.

    Attributes
    ----------
    ranks : ndarray of shape (n_scores, 256)
        Whole numbers of mean 0, but for rounding; 0 for a score without a test.
    tested : ndarray of bool of shape (n_scores,)
        Which columns have enough values.
    powers : Powers
        Sums over all rows.
    totals : ndarray of shape (n_scores,)
        Sums of the scores themselves, which rounding leaves.
    """

    ranks: NDArray[np.float64]
    tested: NDArray[np.bool_]
    powers: Powers
    totals: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        """Each has as many scores."""
        return len(self.tested) // _KINDS


def block_ranks(counts: list[NDArray[np.int64]], nominal: NDArray[np.bool_]) -> BlockRanks:
    """Scores of every column, as in `ranks._Ranked.scores`, from how many rows have each code.

    The last code of every column stands for missing.
    """
    n_columns = len(counts)
    ranks, of_codes = np.zeros((2, _KINDS * n_columns, 256))
    tested = np.zeros(_KINDS * n_columns, dtype=bool)
    for j, own in enumerate(counts):
        of_codes[j::n_columns, : len(own)] = own
        known, least = own[:-1], MIN_SHARE * own.sum()
        n_known, most = int(known.sum()), int(known.max(initial=0))
        twice = (2 * np.cumsum(known) - known - n_known).astype(np.float64)
        if min(most if nominal[j] else n_known, n_known - most) >= least:
            by_category = n_known * (np.arange(len(known)) == known.argmax()) - float(most)
            _set(ranks[j], by_category if nominal[j] else normal_scores(twice, known))
            tested[j] = True
        for k, curve in enumerate(CURVES, start=1):
            if nominal[j] or n_known < least or np.count_nonzero(known) <= curve.n_equal:
                continue
            scores = curve.scores(twice, known)
            if n_other(scores, known) >= least:
                _set(ranks[k * n_columns + j], scores)
                tested[k * n_columns + j] = True
    powers = Powers(*((of_codes * ranks**k).sum(axis=1) for k in (2, 3, 4)))
    return BlockRanks(ranks, tested, powers, (of_codes * ranks).sum(axis=1))


def _set(ranks: NDArray[np.float64], exact: NDArray[np.float64]) -> None:
    """Round scores to steps; missing stays 0."""
    ranks[: len(exact)] = np.round(exact * (STEPS / np.abs(exact).max()))


def target_scores(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Scores of the bins of a quantity, as in `ranks._scores`, from how many rows are in each.

    Examples
    --------
    >>> target_scores(np.array([1, 1, 1, 1, 1])).shape  # ranks and normal scores
    (2, 5)
    """
    n_rows = int(counts.sum())
    present = np.flatnonzero(counts)
    ranks = (2 * np.cumsum(counts) - counts - n_rows).astype(np.float64)
    scores = [ranks]
    crowded = max((present[0], present[-1]), key=lambda code: counts[code])
    wanted = [counts]
    if MIN_SHARE <= counts[crowded] / n_rows <= 1 - MIN_SHARE:
        others = counts.copy()
        others[crowded] = 0
        wanted.append(others)
    for own in wanted:
        if np.count_nonzero(own) > 1:
            centred = ranks - own @ ranks / own.sum()
            scores.append(normal_scores(centred, own))
    rounded = [np.round(some * (STEPS / max(1.0, np.abs(some).max()))) for some in scores]
    return np.array(rounded)


@dataclass(frozen=True, eq=False)
class _Target:
    """What columns are correlated with: a row for every class but one of two, or for every score."""

    values: NDArray[np.float64]  # of every target code
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, counts: NDArray[np.int64], *, quantity: bool) -> _Target:
        if quantity:
            return cls(target_scores(counts), counts)
        present = np.flatnonzero(counts)
        return cls(np.eye(len(counts))[present[: 1 if len(present) == 2 else None]], counts)

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    @property
    def arrangements(self) -> list[NDArray[np.intp]]:
        """How many rows have each of the distinct values, of every row of `values`."""
        found = [np.bincount(np.unique(own, return_inverse=True)[1], self.counts) for own in self.values]
        return [own.astype(np.intp) for own in found]

    @cached_property
    def means(self) -> NDArray[np.float64]:
        return np.asarray(self.values @ self.counts / self.n_rows)

    @cached_property
    def powers(self) -> Powers:
        centred = self.values - self.means[:, np.newaxis]
        return Powers(*(centred**k @ self.counts for k in (2, 3, 4)))

    @cached_property
    def products(self) -> NDArray[np.float64]:
        """Sums of products of centred values with each other."""
        centred = self.values - self.means[:, np.newaxis]
        return np.asarray((centred * self.counts) @ centred.T)


def block_rank_tests(
    blocks: CodedBlocks,
    sums: list[NDArray[np.int64]],
    counts: NDArray[np.int64],
    columns: NDArray[np.uint32],
    *,
    quantity: bool,
) -> RankTests:
    """Logs of the p-values of `rank_tests`, of single columns.

    Skewness and kurtosis of residuals are those of the classes or scores themselves. With the many rows of
    blocks that makes no difference. Residuals are compared with the commonest category of nominal columns
    alone, and so is a quantity if categories are missing.

    Parameters
    ----------
    blocks : CodedBlocks
        The rows.
    sums : list of ndarray
        Histogram of every column over all rows, of classes: a row for each; of a quantity: the first row
        counts rows.
    counts : ndarray
        How many rows have each target code.
    columns : ndarray of int
        The columns to test.
    quantity : bool
        Whether the target is one.
    """
    nominal = blocks.coding.schema.nominal[columns]
    of_codes = [(sums[j][0] if quantity else sums[j].sum(axis=0)) for j in columns.tolist()]
    ranks = block_ranks(of_codes, nominal)
    target = _Target.of(counts, quantity=quantity)
    nothing, no_joint = np.full(len(columns), np.nan), np.empty(0)
    none_gone = np.zeros(len(columns), dtype=bool)  # rows do not depend on each other
    if not len(target.values) or not (ranks.tested.any() or nominal.any()):
        return RankTests(nothing, nothing, nothing, no_joint, none_gone)
    owners = np.tile(columns.astype(np.intp), _KINDS)
    if quantity:
        none = np.empty(0, np.intp)
        products = blocks.sum(RankProducts(ranks.ranks, owners, none, target.values))[0].astype(np.float64)
    else:
        per_class = [own[: sums[j].shape[1]] @ sums[j].T for own, j in zip(ranks.ranks, owners, strict=True)]
        products = np.array(per_class) @ target.values.T
    products -= np.outer(ranks.totals, target.means)
    logs = _log_pvalues(ranks, products, target.powers, target, quantity=quantity)
    logs = np.maximum(logs, log_rarest(target.arrangements))
    of_ranks, curves = np.split(logs, [len(columns)])
    strong = strong_predictors(of_ranks, min(MAX_STRONG, target.n_rows // 10), curves)
    of_all = _category_log_pvalues(blocks, sums, of_codes, columns, target, quantity=quantity)
    of_ranks = np.maximum(either_test(of_ranks, of_all), log_rarest(target.arrangements))
    if not strong:
        return RankTests(of_ranks, nothing, any_curve(len(columns), curves), no_joint, none_gone)
    nobody = np.empty((0, len(counts)))
    known = blocks.sum(RankProducts(ranks.ranks, owners, np.array(strong, np.intp), nobody))[0]
    gram = known.astype(np.float64) - np.outer(ranks.totals, ranks.totals[strong]) / target.n_rows
    left = _Residuals(ranks, gram, products, strong, target).log_pvalues(quantity=quantity)
    of_curves = any_curve(len(columns), curves, left[len(columns) :])
    return RankTests(of_ranks, left[: len(columns)], of_curves, no_joint, none_gone)


def _category_log_pvalues(
    blocks: CodedBlocks,
    sums: list[NDArray[np.int64]],
    of_codes: list[NDArray[np.int64]],
    columns: NDArray[np.uint32],
    target: _Target,
    *,
    quantity: bool,
) -> NDArray[np.float64]:
    """Logs of the p-values of all categories of nominal columns together, as in `Categories.log_pvalues`."""
    found, nominal = np.full(len(columns), np.nan), blocks.coding.schema.nominal[columns]
    some = np.flatnonzero(
        nominal & np.array([len(own) > 3 and not (quantity and own[-1]) for own in of_codes])
    )
    if not len(some):
        return found
    if quantity:  # of every category
        ends = np.cumsum([len(of_codes[k]) - 1 for k in some])
        indicators = np.concatenate([np.eye(len(of_codes[k]) - 1, 256) for k in some])
        owners = np.repeat(columns[some].astype(np.intp), np.diff(ends, prepend=0))
        none = np.empty(0, np.intp)
        products = blocks.sum(RankProducts(indicators, owners, none, target.values))[0].astype(np.float64)
        by_code = np.split(products, ends[:-1])
    else:
        by_code = [sums[columns[k]][:, :-1].T @ target.values.T for k in some]
    for k, totals in zip(some.tolist(), by_code, strict=True):
        counts = of_codes[k][:-1]
        if not (n_known := int(counts.sum())):
            continue
        means = totals.sum(axis=0) / n_known
        between, logs = (totals - np.outer(counts, means)).T, []
        for sums_of, mean, values in zip(between, means, target.values, strict=True):
            if quantity:
                powers = ValuePowers.of(values - mean, target.counts.astype(np.float64))
            else:  # a class is 1, the others are 0, in the rows where the category is known
                powers = ValuePowers.of(np.array([1 - mean, -mean]), n_known * np.array([mean, 1 - mean]))
            logs.append(between_log_pvalue(counts, sums_of, powers, min_rows(powers, n_known)))
        found[k] = of_all_values(np.array(logs), quantity=quantity)
    return found


def _log_pvalues(
    ranks: BlockRanks,
    products: NDArray[np.float64],
    of_values: Powers,
    target: _Target,
    *,
    quantity: bool,
    some: NDArray[np.intp] | None = None,
) -> NDArray[np.float64]:
    """Logs of p-values of some columns, NaN for the others."""
    tested = ranks.tested if some is None else np.isin(np.arange(len(ranks.tested)), some) & ranks.tested
    left = of_values.squares > 0
    found = np.full(len(ranks.tested), np.nan)
    if left.any() and tested.any():
        sums = Products(
            products[tested][:, left], ranks.powers.take(tested), of_values.take(left), target.n_rows
        )
        found[tested] = sums.log_pvalues(sums.permuted(), left, quantity=quantity)
    return found


@dataclass(frozen=True, eq=False)
class _Residuals:
    """What a regression of the target on strong predictors leaves, by products alone.

    Attributes
    ----------
    ranks : BlockRanks
        Of all columns that are tested.
    gram : ndarray of shape (n_scores, n_strong)
        Products of all scores with those of the strong predictors.
    products : ndarray of shape (n_scores, n_values)
        Products with the target.
    strong : list of int
        Numbers of the scores of the strong predictors.
    target : _Target
        The target.
    """

    ranks: BlockRanks
    gram: NDArray[np.float64]
    products: NDArray[np.float64]
    strong: list[int]
    target: _Target

    def log_pvalues(self, *, quantity: bool) -> NDArray[np.float64]:
        """Logs of p-values; predictors that are correlated with a column are left out of its regression."""
        n_rows, squares = self.target.n_rows, self.ranks.powers.squares
        with np.errstate(divide="ignore", invalid="ignore"):
            correlation = np.abs(self.gram) / np.sqrt(np.outer(squares, squares[self.strong]))
        related = correlation > related_from(n_rows)
        owners = np.array(self.strong) % self.ranks.n_columns
        of_one_column = np.equal.outer(owners, owners)
        by_column = related.reshape(_KINDS, self.ranks.n_columns, -1).any(axis=0)
        related = np.tile(by_column @ of_one_column, (_KINDS, 1))
        found = np.full(len(squares), np.nan)
        keys, group = np.unique(related, axis=0, return_inverse=True)
        for number, key in enumerate(keys):
            some = np.flatnonzero(group == number)
            products, powers = self._without(key, some)
            logs = _log_pvalues(self.ranks, products, powers, self.target, quantity=quantity, some=some)
            found[some] = logs[some]
        return found

    def _without(
        self, related: NDArray[np.bool_], some: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], Powers]:
        """Products of columns with residuals, and powers of these, without some of the predictors."""
        used = np.flatnonzero(~related)
        powers, target = self.target.powers, self.target.products
        if not len(used):
            return self.products, powers
        strong = np.array(self.strong)[used]
        scale = 1 / np.sqrt(self.ranks.powers.squares[strong])
        inside = self.gram[np.ix_(strong, used)] * np.outer(scale, scale)
        with_target = self.products[strong] * scale[:, np.newaxis]
        slopes = np.linalg.solve(inside + _RIDGE * np.eye(len(used)), with_target)
        left = (
            np.diag(target)
            - 2 * (slopes * with_target).sum(axis=0)
            + (slopes * (inside @ slopes)).sum(axis=0)
        )
        left = np.where(left > _NOTHING * np.diag(target), left, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = left / np.diag(target)
        products = self.products.copy()
        products[some] -= (self.gram[np.ix_(some, used)] * scale) @ slopes
        return products, Powers(left, powers.cubes * share**1.5, powers.fourths * share**2)
