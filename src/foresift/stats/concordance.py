"""Ranks with ties, agreement of rankings, and rank aggregation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import betainc

__all__ = ["average_ranks", "kendall_taus", "kendall_w", "places_in_top", "robust_rank_scores"]

_ROUNDING = 1e-12  # scores with a smaller relative difference are equal


def average_ranks(scores: ArrayLike, also: ArrayLike | None = None) -> NDArray[np.float64]:
    """Ranks by score: 1 is the highest, NaN is last, and ties share their mean rank.

    Scores with a relative difference below 1e-12 are tied, and so are adjacent ones that are equal in `also`.

    Examples
    --------
    >>> average_ranks([0.5, 2.0, 0.5, np.nan])
    array([2.5, 1. , 2.5, 4. ])
    """
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    tied = np.zeros(max(len(order) - 1, 0), dtype=bool)
    for keys in (values, also):
        if keys is not None:
            placed = np.asarray(keys, dtype=np.float64)[order]
            with np.errstate(over="ignore"):
                tied |= np.isclose(placed[1:], placed[:-1], rtol=_ROUNDING, atol=0, equal_nan=True)
    group = np.concatenate([[0], np.cumsum(~tied)])
    sizes = np.bincount(group)
    ranks = np.empty(len(order))
    ranks[order] = (np.cumsum(sizes) - (sizes - 1) / 2)[group]
    return ranks


def kendall_w(ranks: ArrayLike) -> float:
    """Kendall's coefficient of concordance of rankings, of shape (n_rankings, n_items), corrected for ties.

    From 0 to 1 (all rankings are equal); NaN if all items are tied in all rankings.

    Examples
    --------
    >>> kendall_w([[1, 2, 3], [1, 3, 2]])
    0.75
    """
    table = np.asarray(ranks, dtype=np.float64)
    m, n = table.shape
    sums = table.sum(axis=0)
    ties = sum(
        float((counts**3.0 - counts).sum())
        for counts in (np.unique(row, return_counts=True)[1] for row in table)
    )
    most = m**2 * (float(n) ** 3 - n) - m * ties
    return 12 * float(np.square(sums - sums.mean()).sum()) / most if most > 0 else float("nan")


def kendall_taus(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kendall's tau-b of all pairs of rankings, of shape (n_rankings, n_items); NaN if all items are tied.

    Examples
    --------
    >>> kendall_taus(np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    taus = np.eye(len(ranks))
    for a, b in combinations(range(len(ranks)), 2):
        tau = stats.kendalltau(ranks[a], ranks[b]).statistic if ranks.shape[1] > 1 else np.nan
        taus[a, b] = taus[b, a] = tau
    return taus


def places_in_top(ranks: NDArray[np.float64], top: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return which items are among the `top` ranks, and their points: `top` for the first, then one less.

    Ties across the last place are in by the fraction of them that fits, and ties share their mean points.

    Examples
    --------
    >>> places_in_top(np.array([1.0, 2.5, 2.5, 4.0]), 2)
    (array([1. , 0.5, 0.5, 0. ]), array([2. , 0.5, 0.5, 0. ]))
    """
    _, group, counts = np.unique(ranks, return_inverse=True, return_counts=True)
    size = counts[group]
    first = ranks - (size - 1) / 2
    inside = np.clip(top + 1 - first, 0, size)
    return inside / size, (inside * (top + 1 - first) - inside * (inside - 1) / 2) / size


def robust_rank_scores(ratios: ArrayLike) -> NDArray[np.float64]:
    """Rho scores of robust rank aggregation (Kolde, Laur, Adler & Vilo 2012).

    Parameters
    ----------
    ratios : array-like of shape (n_rankings, n_items)
        Ranks divided by the number of rankable items; 1 for an item that is not in a list.

    Returns
    -------
    ndarray of shape (n_items,)
        The minimum over k of the probability that the k-th smallest of `n_rankings` independent uniform
        numbers is at most the item's k-th smallest ratio. Times `n_rankings` it is a p-value.

    Examples
    --------
    >>> robust_rank_scores([[0.1, 0.5], [0.2, 1.0]]).round(3)
    array([0.04, 0.75])
    """
    placed = np.sort(np.asarray(ratios, dtype=np.float64), axis=0)
    k = np.arange(1, len(placed) + 1)[:, np.newaxis]
    return np.asarray(betainc(k, len(placed) - k + 1, placed).min(axis=0))
