"""Ranks of the codes of many columns at a time, as whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from foresift import _core
from foresift.selectors.relevance.counting import CodeCounts

__all__ = ["CURVES", "Curve", "curves_by_code", "n_other", "normal_scores", "ranks_by_code"]

_FINE = 2**10  # steps to the largest normal score, if there are no more rows


class _Codes(NamedTuple):
    """Codes of some columns, one column after another.

    Attributes
    ----------
    known : ndarray of int
        Rows of every code; none of missing values.
    ranks : ndarray of int
        Twice the rank of every code less the mean, ties in the middle; 0 of missing values.
    column : ndarray of int
        The column of every code.
    n_known, most : ndarray of int of shape (n_columns,)
        Rows whose value is known, and those of the commonest value.
    nominal : ndarray of bool of shape (n_columns,)
        Whether codes have no order.
    """

    known: NDArray[np.intp]
    ranks: NDArray[np.intp]
    column: NDArray[np.intp]
    n_known: NDArray[np.intp]
    most: NDArray[np.intp]
    nominal: NDArray[np.bool_]

    @classmethod
    def of(cls, some: CodeCounts, store: _core.ColumnStore) -> _Codes:
        nominal = np.array([store.is_nominal(j) for j in some.columns.tolist()])
        known = some.counts.copy()
        known[some.missing] = 0
        n_known, most = np.add.reduceat(known, some.starts), np.maximum.reduceat(known, some.starts)
        column = np.repeat(np.arange(len(some.columns)), some.sizes)
        below = np.cumsum(known)
        below -= (below - known)[some.starts][column]
        ranks = 2 * below - known - n_known[column]
        ranks[some.missing] = 0
        return cls(known, ranks, column, n_known, most, nominal)


def ranks_by_code(
    some: CodeCounts, store: _core.ColumnStore, least: float, fewest: float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Normal score of every code, or of nominal columns whether it is the commonest; missing is 0.

    Parameters
    ----------
    some : CodeCounts
        The columns.
    store : ColumnStore
        Says which of them are nominal.
    least : float
        Rows that must have a value, or the commonest category, and rows that must have another one.
    fewest : float or None, default=None
        Rows that must have another value or category, if these may be fewer.

    Returns
    -------
    by_code : ndarray
        Whole numbers, of mean 0 (but for rounding) over the rows of a column; in the order of the counts.
    usable : ndarray of int
        Which of the columns have enough rows.
    """
    codes = _Codes.of(some, store)
    known, n_known, most, nominal = codes.known, codes.n_known, codes.most, codes.nominal
    enough = np.where(nominal, most, n_known) >= least
    usable = np.flatnonzero(enough & (n_known - most >= (least if fewest is None else fewest)))
    by_code = np.zeros(len(known))
    if nominal.any():
        at = np.arange(len(known))
        commonest = np.where(known == most[codes.column], at, len(known))
        commonest = np.minimum.reduceat(commonest, some.starts)[codes.column]  # of equal ones the first
        by_category = n_known[codes.column] * (at == commonest) - most[codes.column]
        by_code = np.where(nominal[codes.column], by_category, by_code)
        by_code[some.missing] = 0
    return _scored(some, codes, usable[~nominal[usable]], normal_scores, by_code), usable


def curves_by_code(
    some: CodeCounts, store: _core.ColumnStore, least: float, curve: Curve
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Score of every code by a curve of its rank; missing is 0.

    As `ranks_by_code`. Nominal columns have none, nor those of few values, for which a curve says no more
    than ranks do. At least `least` rows must have another score than the commonest.
    """
    codes = _Codes.of(some, store)
    n_values = np.add.reduceat(codes.known > 0, some.starts)
    ordered = ~codes.nominal & (n_values > curve.n_equal) & (codes.n_known >= least)
    # Of columns without many ties there is nothing to look at.
    usable = ordered & (curve.n_equal * codes.most <= codes.n_known - least)
    for at in np.flatnonzero(ordered & ~usable).tolist():
        own = slice(some.starts[at], some.missing[at])
        usable[at] = n_other(curve.scores(codes.ranks[own], codes.known[own]), codes.known[own]) >= least
    numbers = np.flatnonzero(usable)
    return _scored(some, codes, numbers, curve.scores, np.zeros(len(codes.known))), numbers


def _scored(
    some: CodeCounts,
    codes: _Codes,
    columns: NDArray[np.intp],
    score: Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]],
    by_code: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Fill in the scores of some columns, of the ranks and counts of their codes."""
    scores: dict[bytes, NDArray[np.float64]] = {}  # columns without ties all have the same
    for at in columns.tolist():
        own = slice(some.starts[at], some.missing[at] + 1)
        key = codes.known[own].tobytes()
        if key not in scores:
            scores[key] = score(codes.ranks[own], codes.known[own])
        by_code[own] = scores[key]
    return by_code


class Curve(NamedTuple):
    """A curve with little trend, if any, of twice the ranks less their mean and the number of rows.

    Attributes
    ----------
    name : str
        What it is.
    of_ranks : callable
        The curve.
    n_equal : int
        How many ranks may have the same score, but for rounding.
    """

    name: str
    of_ranks: Callable[[NDArray[np.float64], int], NDArray[np.float64]]
    n_equal: int

    def scores(self, ranks: NDArray[Any], counts: NDArray[np.intp]) -> NDArray[np.float64]:
        """Scores of ranks less their mean, each as often as `counts` says.

        Whole numbers as those of `normal_scores`.

        Examples
        --------
        >>> CURVES[0].scores(np.array([-4, -2, 0, 2, 4]), np.ones(5, dtype=int))
        array([  683.,  -171., -1024.,  -171.,   683.])
        >>> CURVES[1].scores(np.array([-4, -2, 0, 2, 4]), np.ones(5, dtype=int))
        array([  633., -1024.,     0.,  1024.,  -633.])
        """
        present, n = counts > 0, int(counts.sum())
        return _whole(self.of_ranks(np.asarray(ranks[present], dtype=np.float64), n), counts, present)


def n_other(scores: NDArray[np.float64], counts: NDArray[np.intp]) -> int:
    """How many rows have another score than the commonest."""
    _, place = np.unique(scores, return_inverse=True)
    return int(counts.sum() - np.bincount(place, counts).max())


# A column may matter where it is far from its middle; or go up, down and up again: ranks see little of it.
CURVES = (
    Curve("distance from the middle", lambda ranks, n: np.abs(ranks), 2),
    Curve("one and a half waves", lambda ranks, n: np.sin(1.5 * np.pi * ranks / n), 3),
)


def normal_scores(ranks: NDArray[Any], counts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Normal quantiles of twice the ranks less their mean, each as often as `counts` says.

    Whole numbers of mean 0 (but for rounding), at most `_FINE` or their number.

    Examples
    --------
    >>> normal_scores(np.array([-3, -1, 1, 3]), np.ones(4, dtype=int))
    array([-1024.,  -308.,   308.,  1024.])
    """
    present, n = counts > 0, int(counts.sum())
    return _whole(ndtri(0.5 + ranks[present] / (2 * (n + 1))), counts, present)


def _whole(
    some: NDArray[np.float64], counts: NDArray[np.intp], present: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Scores of the codes that are present as whole numbers of mean 0 (but for rounding); 0 of the others."""
    scores, n = np.zeros(len(counts)), int(counts.sum())
    some = some - counts[present] @ some / n
    scores[present] = np.round(some * (max(n, _FINE) / np.abs(some).max()))
    return scores
