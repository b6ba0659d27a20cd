"""Tests of two and of many methods, and adjusted p-values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats as sps

from foresift.errors import floats_of, require_number
from foresift.stats.resampled import Outcome, differences

__all__ = [
    "Friedman",
    "WinLossTie",
    "adjusted_pvalues",
    "benjamini_hochberg",
    "critical_difference",
    "friedman",
    "holm",
    "nemenyi",
    "sign_test",
    "wilcoxon",
    "win_loss_tie",
]

_MAX_METHODS = 1_000_000  # above, the distribution is not accurate


class WinLossTie(NamedTuple):
    """Numbers of wins and losses of the first method, and of ties."""

    wins: int
    losses: int
    ties: int


class Friedman(NamedTuple):
    """Result of `friedman`: the chi-squared test, the F test, and the mean rank of each method."""

    statistic: float
    pvalue: float
    f_statistic: float
    f_pvalue: float
    mean_ranks: NDArray[np.float64]


def wilcoxon(a: ArrayLike, b: ArrayLike) -> Outcome:
    """Wilcoxon's signed-rank test of paired scores.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of two methods, usually one for each of n data sets.

    Returns
    -------
    Outcome
        The smaller of the two rank sums, and SciPy's two-sided `pvalue`. The ranks of pairs without a
        difference are split evenly between the sums (Demsar 2006, section 3.1.3).

    Examples
    --------
    >>> wilcoxon([0.9, 0.8, 0.85, 0.9, 0.7], [0.8, 0.75, 0.83, 0.86, 0.71])
    Outcome(statistic=np.float64(1.0), pvalue=np.float64(0.125))
    """
    d = differences(a, b)
    scale = np.abs(d).max()
    if scale == 0:
        return Outcome(np.float64(len(d) * (len(d) + 1) / 4), np.float64(1.0))
    # 0.768 - 0.763 and 0.936 - 0.931 are equal, but not to the last bit.
    found = sps.wilcoxon(np.round(d / scale, 12), zero_method="zsplit")
    return Outcome(found.statistic, found.pvalue)


def sign_test(a: ArrayLike, b: ArrayLike, tol: float = 0.0) -> Outcome:
    """Sign test of whether wins and losses are equally likely.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of two methods, usually one for each of n data sets.
    tol : float, default=0.0
        Scores no further apart than this are a tie; ties are ignored.

    Returns
    -------
    Outcome
        The number of wins of a, and the two-sided binomial `pvalue`; 1 if all are ties.

    Examples
    --------
    >>> sign_test([3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 9])
    Outcome(statistic=np.float64(5.0), pvalue=np.float64(0.21875))
    """
    wins, losses, _ = win_loss_tie(a, b, tol)
    pvalue = sps.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    return Outcome(np.float64(wins), np.float64(pvalue))


def win_loss_tie(a: ArrayLike, b: ArrayLike, tol: float = 0.0) -> WinLossTie:
    """Count where a is higher than b, where lower, and where they tie.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of two methods; higher is better.
    tol : float, default=0.0
        Scores no further apart than this are a tie.

    Returns
    -------
    WinLossTie
        Three counts that add up to n.

    Examples
    --------
    >>> win_loss_tie([0.9, 0.8, 0.7], [0.8, 0.8, 0.9])
    WinLossTie(wins=1, losses=1, ties=1)
    """
    require_number(tol, "tol")
    if not tol >= 0:
        raise ValueError(f"tol must be 0 or more, but is {tol}.")
    d = differences(a, b, least=1)
    wins, losses = int((d > tol).sum()), int((d < -tol).sum())
    return WinLossTie(wins, losses, len(d) - wins - losses)


def friedman(scores: ArrayLike) -> Friedman:
    """Friedman's test of whether some method is better than others over many data sets.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_methods)
        Higher is better; at least two data sets and three methods.

    Returns
    -------
    Friedman
        `statistic` and `pvalue` of chi squared with SciPy's correction for ties, `f_statistic` and `f_pvalue`
        of Iman and Davenport's less conservative F, and `mean_ranks`, 1 being best.

    References
    ----------
    Demsar (2006), Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning
    Research 7, section 3.2.2.

    Examples
    --------
    >>> found = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.9, 0.85, 0.8], [0.6, 0.5, 0.4]])
    >>> found.mean_ranks, found.pvalue.round(3)
    (array([1.  , 2.25, 2.75]), np.float64(0.039))
    """
    table = _scores(scores, least=3)
    n, k = table.shape
    ranks = sps.rankdata(-table, axis=1)
    if (ranks == ranks[:, :1]).all():  # all tied
        return Friedman(0.0, 1.0, 0.0, 1.0, ranks.mean(axis=0))
    statistic, pvalue = sps.friedmanchisquare(*ranks.T)
    left = n * (k - 1) - statistic
    f = (n - 1) * statistic / left if left > 1e-9 else np.inf
    f_pvalue = sps.f.sf(f, k - 1, (k - 1) * (n - 1))
    return Friedman(statistic, pvalue, np.float64(f), np.float64(f_pvalue), ranks.mean(axis=0))


def nemenyi(scores: ArrayLike) -> NDArray[np.float64]:
    """Nemenyi's test after Friedman's: p-values of all pairs of methods, adjusted for their number.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_methods)
        Higher is better; at least two of each.

    Returns
    -------
    ndarray of shape (n_methods, n_methods)
        Symmetric, 1 on the diagonal. A p-value is at most alpha where the mean ranks are
        `critical_difference` apart or more.

    Examples
    --------
    >>> nemenyi([[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.9, 0.85, 0.8], [0.6, 0.5, 0.4]]).round(3)
    array([[1.   , 0.181, 0.036],
           [0.181, 1.   , 0.759],
           [0.036, 0.759, 1.   ]])
    """
    table = _scores(scores, least=2)
    n, k = table.shape
    ranks = sps.rankdata(-table, axis=1).mean(axis=0)
    pvalues = np.ones((k, k))
    above = np.triu_indices(k, 1)
    apart = np.abs(ranks[above[0]] - ranks[above[1]]) * np.sqrt(12 * n / (k * (k + 1)))
    # The range of k normal variables of known variance, so infinite degrees of freedom.
    pvalues[above] = sps.studentized_range.sf(apart, k, np.inf)
    return np.minimum(pvalues, pvalues.T)


def critical_difference(k: int, n: int, alpha: float = 0.05) -> float:
    """Minimum difference of mean ranks that is significant in Nemenyi's test.

    Parameters
    ----------
    k : int
        The number of methods.
    n : int
        The number of data sets.
    alpha : float, default=0.05
        Probability of any false rejection.

    Returns
    -------
    float
        In ranks.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    for name, value in {"k": k, "n": n, "alpha": alpha}.items():
        require_number(value, name)
    if not (2 <= k <= _MAX_METHODS and 1 <= n < np.inf):
        raise ValueError(
            f"k must be from 2 to {_MAX_METHODS:,} methods, and n 1 data set or more, but k is {k} and n is"
            f" {n}."
        )
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, but is {alpha}.")
    return float(sps.studentized_range.ppf(1 - alpha, k, np.inf) * np.sqrt(k * (k + 1) / (12 * n)))


def holm(pvalues: ArrayLike) -> NDArray[np.float64]:
    """Holm's adjusted p-values, which bound the family-wise error rate.

    Parameters
    ----------
    pvalues : array-like of shape (n,)
        P-values.

    Returns
    -------
    ndarray of shape (n,)
        Reject where the adjusted one is at most alpha.

    Examples
    --------
    >>> holm([0.01, 0.03, 0.04])
    array([0.03, 0.06, 0.06])
    """
    p = _checked_pvalues(pvalues)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def benjamini_hochberg(pvalues: ArrayLike) -> NDArray[np.float64]:
    """Benjamini and Hochberg's adjusted p-values, which bound the false discovery rate.

    Parameters
    ----------
    pvalues : array-like of shape (n,)
        P-values.

    Returns
    -------
    ndarray of shape (n,)
        Reject where the adjusted one is at most alpha.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.03, 0.04])
    array([0.03, 0.04, 0.04])
    """
    return adjusted_pvalues(pvalues, "fdr")


def adjusted_pvalues(pvalues: ArrayLike, error: str) -> NDArray[np.float64]:
    """Adjust p-values for multiple testing: reject where the adjusted one is at most alpha.

    Parameters
    ----------
    pvalues : array-like of shape (n,)
        P-values.
    error : {"fdr", "fwer", "none"}
        The error rate bounded by alpha: false discovery rate (Benjamini & Hochberg), family-wise error rate
        (Bonferroni), or the error rate of each test.

    Returns
    -------
    ndarray of shape (n,)
        Adjusted p-values, at most 1.

    See Also
    --------
    holm : Rejects at least as often as Bonferroni, where every single p-value is valid. Those of
        `foresift.RelevanceSelector` hold on average over the features, which is enough for Bonferroni only.

    Examples
    --------
    >>> adjusted_pvalues([0.01, 0.03, 0.04], "fdr")
    array([0.03, 0.04, 0.04])
    >>> adjusted_pvalues([0.01, 0.03, 0.04], "fwer")
    array([0.03, 0.09, 0.12])
    """
    p = _checked_pvalues(pvalues)
    if error == "none" or not len(p):
        return p.copy()
    if error == "fdr":
        return np.asarray(sps.false_discovery_control(p, method="bh"))
    if error != "fwer":
        raise ValueError(f'error must be "fdr", "fwer" or "none", but is {error!r}.')
    return np.minimum(1.0, len(p) * p)


def _checked_pvalues(pvalues: ArrayLike) -> NDArray[np.float64]:
    p = floats_of(pvalues, "pvalues")
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("pvalues must be a list of numbers from 0 to 1; leave out tests without one.")
    return p


def _scores(scores: ArrayLike, least: int) -> NDArray[np.float64]:
    table = floats_of(scores, "scores")
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < least or not np.isfinite(table).all():
        raise ValueError(
            f"scores must be a matrix of finite numbers: 2 data sets (rows) or more, {least} methods or more."
        )
    return table
