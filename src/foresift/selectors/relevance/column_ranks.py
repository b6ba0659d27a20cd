"""Ranks of the codes of many columns at a time, as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from foresift import _core
from foresift.selectors.relevance.counting import CodeCounts

__all__ = ["normal_scores", "ranks_by_code"]

_FINE = 2**10  # steps to the largest normal score, if there are no more rows


def ranks_by_code(
    some: CodeCounts, store: _core.ColumnStore, least: float, *, quantity: bool
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Twice the rank of every code less their mean, or whether it is the commonest category; missing is 0.

    Parameters
    ----------
    some : CodeCounts
        The columns.
    store : ColumnStore
        Says which of them are nominal.
    least : float
        Rows that must have another value, or the commonest category, and rows that must not.
    quantity : bool
        Whether ordered columns have normal scores.

    Returns
    -------
    by_code : ndarray
        Whole numbers, of mean 0 (but for rounding) over the rows of a column; in the order of the counts.
    usable : ndarray of int
        Which of the columns have enough rows.
    """
    nominal = np.array([store.is_nominal(j) for j in some.columns.tolist()])
    known = some.counts.copy()
    known[some.missing] = 0
    n_known, most = np.add.reduceat(known, some.starts), np.maximum.reduceat(known, some.starts)
    usable = np.flatnonzero(np.minimum(np.where(nominal, most, n_known), n_known - most) >= least)
    column = np.repeat(np.arange(len(some.columns)), some.sizes)
    below = np.cumsum(known)
    below -= (below - known)[some.starts][column]
    ranks = 2 * below - known - n_known[column]  # ties in the middle
    if nominal.any():
        commonest = np.where(known == most[column], np.arange(len(known)), len(known))
        commonest = np.minimum.reduceat(commonest, some.starts)[column]  # of equal ones the first
        by_category = n_known[column] * (np.arange(len(known)) == commonest) - most[column]
        ranks = np.where(nominal[column], by_category, ranks)
    ranks[some.missing] = 0
    by_code = ranks.astype(np.float64)
    if quantity:
        scores: dict[bytes, NDArray[np.float64]] = {}  # columns without ties all have the same
        for at in usable[~nominal[usable]].tolist():
            codes = slice(some.starts[at], some.missing[at] + 1)
            key = known[codes].tobytes()
            if key not in scores:
                scores[key] = normal_scores(ranks[codes], known[codes])
            by_code[codes] = scores[key]
    return by_code, usable


def normal_scores(ranks: NDArray[Any], counts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Normal quantiles of twice the ranks less their mean, each as often as `counts` says.

    Whole numbers of mean 0 (but for rounding), at most `_FINE` or their number.

    Examples
    --------
    >>> normal_scores(np.array([-3, -1, 1, 3]), np.ones(4, dtype=int))
    array([-1024.,  -308.,   308.,  1024.])
    """
    scores, present, n = np.zeros(len(ranks)), counts > 0, int(counts.sum())
    some = ndtri(0.5 + ranks[present] / (2 * (n + 1)))
    some -= counts[present] @ some / n
    scores[present] = np.round(some * (max(n, _FINE) / np.abs(some).max()))
    return scores
