"""Rank tests of coded blocks: all of it sums over rows, of whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.coded_blocks import Block, CodedBlocks, Sums
from foresift.selectors.relevance.column_ranks import normal_scores
from foresift.selectors.relevance.moments import MIN_SHARE
from foresift.selectors.relevance.ranks import strong_predictors
from foresift.selectors.relevance.residuals import RELATED
from foresift.selectors.relevance.sums import Powers, Products

__all__ = ["block_rank_tests"]

STEPS = 2.0**14  # of ranks on either side of 0: products of 2^16 rows are exact in double precision
MAX_STRONG = 32  # predictors whose products with all columns are summed
CELLS = 2**21  # ranks at a time
_RIDGE = 1e-6  # of unit columns, as in `residuals`
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class RankProducts:
    """Sums of products of ranks: of all columns with some of them, and with numbers of the target.

    Attributes
    ----------
    ranks : ndarray of shape (n_columns, 256)
        Rank of every code, a whole number of at most `STEPS`.
    some : ndarray of int
        The columns to multiply with.
    values : ndarray of shape (n_values, n_target_codes)
        Numbers of every target code, likewise.
    """

    ranks: NDArray[np.float64]
    some: NDArray[np.intp]
    values: NDArray[np.float64]

    def zeros(self) -> Sums:
        """One array."""
        return (np.zeros((len(self.ranks), len(self.some) + len(self.values)), np.int64),)

    def add(self, block: Block, to: Sums, stop: Any) -> None:
        """Multiply some columns of a block at a time."""
        n_rows = len(block.target)
        if not n_rows:
            return
        others = np.empty((len(self.some) + len(self.values), n_rows))
        for k, column in enumerate(self.some.tolist()):
            others[k] = self.ranks[column][block.codes[column]]
        others[len(self.some) :] = self.values[:, block.target]
        step = max(1, CELLS // n_rows)
        for first in range(0, len(self.ranks), step):
            part = slice(first, first + step)
            ranks = np.array(
                [own[codes] for own, codes in zip(self.ranks[part], block.codes[part], strict=True)]
            )
            to[0][part] += (ranks @ others.T).astype(np.int64)


class BlockRanks(NamedTuple):
    """Ranks of the codes of all columns.

    Attributes
    ----------
    ranks : ndarray of shape (n_columns, 256)
        Whole numbers of mean 0, but for rounding; 0 for a column without a test.
    tested : ndarray of bool of shape (n_columns,)
        Which columns have enough values.
    powers : Powers
        Sums over all rows.
    totals : ndarray of shape (n_columns,)
        Sums of the ranks themselves, which rounding leaves.
    """

    ranks: NDArray[np.float64]
    tested: NDArray[np.bool_]
    powers: Powers
    totals: NDArray[np.float64]


def block_ranks(counts: list[NDArray[np.int64]], nominal: NDArray[np.bool_], *, quantity: bool) -> BlockRanks:
    """Ranks of every column, as in `ranks._Ranked.ranks`, from how many rows have each code.

    The last code of every column stands for missing.
    """
    ranks = np.zeros((len(counts), 256))
    tested = np.zeros(len(counts), dtype=bool)
    of_codes = np.zeros((len(counts), 256))
    for j, own in enumerate(counts):
        n_rows, n_known, n_values = int(own.sum()), int(own[:-1].sum()), len(own) - 1
        of_codes[j, : len(own)] = own
        most = int(own[:-1].max(initial=0))
        if min(most if nominal[j] else n_known, n_known - most) < MIN_SHARE * n_rows:
            continue
        if nominal[j]:
            exact = n_known * (np.arange(n_values) == own[:-1].argmax()) - float(most)
        else:
            exact = (2 * np.cumsum(own[:-1]) - own[:-1] - n_known).astype(np.float64)
            if quantity:
                exact = normal_scores(exact, own[:-1])
        tested[j] = True
        ranks[j, :n_values] = np.round(exact * (STEPS / np.abs(exact).max()))
    powers = Powers(*((of_codes * ranks**k).sum(axis=1) for k in (2, 3, 4)))
    return BlockRanks(ranks, tested, powers, (of_codes * ranks).sum(axis=1))


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
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logs of the p-values of `rank_tests`: ranks, and residuals after strong predictors.

    Skewness and kurtosis of residuals are those of the classes or scores themselves. With the many rows of
    blocks that makes no difference.

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
    ranks = block_ranks(of_codes, nominal, quantity=quantity)
    target = _Target.of(counts, quantity=quantity)
    nothing = np.full(len(columns), np.nan)
    if not len(target.values) or not ranks.tested.any():
        return nothing, nothing
    whole = np.zeros((blocks.n_columns, 256))
    whole[columns] = ranks.ranks
    none = np.empty(0, np.intp)
    if quantity:
        products = blocks.sum(RankProducts(whole, none, target.values))[0][columns].astype(np.float64)
    else:
        per_class = [ranks.ranks[k, : sums[j].shape[1]] @ sums[j].T for k, j in enumerate(columns.tolist())]
        products = np.array(per_class) @ target.values.T
    products -= np.outer(ranks.totals, target.means)
    of_classes = _log_pvalues(ranks, products, target.powers, target, quantity=quantity)
    strong = strong_predictors(of_classes, min(MAX_STRONG, target.n_rows // 10))
    if not strong:
        return of_classes, nothing
    known = blocks.sum(RankProducts(whole, columns[strong].astype(np.intp), np.empty((0, len(counts)))))[0]
    gram = known[columns].astype(np.float64) - np.outer(ranks.totals, ranks.totals[strong]) / target.n_rows
    residuals = _Residuals(ranks, gram, products, strong, target)
    return of_classes, residuals.log_pvalues(quantity=quantity)


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
        found[tested] = sums.log_pvalues(sums.permuted(), left, quantity=quantity, student=quantity)
    return found


@dataclass(frozen=True, eq=False)
class _Residuals:
    """What a regression of the target on strong predictors leaves, by products alone.

    Attributes
    ----------
    ranks : BlockRanks
        Of all columns that are tested.
    gram : ndarray of shape (n_columns, n_strong)
        Products of all columns with the strong predictors.
    products : ndarray of shape (n_columns, n_values)
        Products with the target.
    strong : list of int
        Numbers of the strong predictors.
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
        related = correlation > min(0.9, max(RELATED, 4 / np.sqrt(n_rows)))
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
