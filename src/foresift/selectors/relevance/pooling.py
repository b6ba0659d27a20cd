"""The forest's test: gains of unlike columns and their shadows on one scale, where shadows are normal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri, polygamma, stdtr

from foresift.data.table import Table
from foresift.selectors.relevance.counting import code_counts
from foresift.selectors.relevance.moments import counted_rows

__all__ = [
    "forest_log_pvalues",
    "log_effective_levels",
    "log_levels",
    "normalize_null",
    "standardized",
    "standardized_alone",
]

_NEAR = 0.3  # columns whose numbers of values differ by less, in logarithms, are of one kind
_ODD = 2.0  # standard errors from the mean of its kind from which a column is on its own
_MIN_SKEWNESS = 0.05  # below which there is nothing to mend
_FLAT = 1e-12  # squared variation of shadows that is rounding
_MANY = 1000  # shadows from which on their mean and spread count as known


def log_effective_levels(table: Table, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """How much room each column leaves to chance: log of its effective number of values.

    Columns of like kind gain alike by chance. Nominal columns, which have no order to keep to, are kept
    apart from numeric ones by a large constant. Missing counts as a value.
    """
    rows, store = counted_rows(table, weights), table.store
    columns = range(table.n_columns)
    kinds = np.full(table.n_columns, log_levels(np.ones(len(rows)), False))  # of a column without ties
    tied = [j for j in columns if store.n_values(j) < table.n_rows or store.has_missing(j)]
    for some in code_counts(table, np.array(tied, dtype=np.intp), rows):
        kinds[some.columns] = [log_levels(counts, False) for counts in some.each()]
    return kinds + np.where([store.is_nominal(j) for j in columns], 1000.0, 0.0)


def log_levels(counts: NDArray[Any], nominal: bool) -> float:
    """The same of one column, from how many rows have each value.

    Examples
    --------
    >>> round(float(np.exp(log_levels(np.array([5, 5, 0]), False))), 6)
    2.0
    """
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum() + (1000.0 if nominal else 0.0))


def standardized(scores: NDArray[np.float64], kinds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores in standard deviations from what chance gives a column of that kind.

    Mean gains by chance are about gamma distributed, their cube roots normal (Wilson & Hilferty 1931). The
    mean and the variance of a column are those of its shadows, shrunk to those of all columns of like kind as
    far as these do not differ by more than chance (empirical Bayes); a column whose shadows are further
    above its kind, or spread wider, than chance goes has its own, if its score is lower by it. Not so the
    shadows: in simulations that made the pool's tail too short. A shadow is compared with the other shadows
    of its column, so that it has no part in its own yardstick.

    Parameters
    ----------
    scores : ndarray of shape (n_features, 1 + n_shadows)
        Mean gains, of the columns and of at least four shadows of each; NaN for other shadows.
    kinds : ndarray of shape (n_features,)
        See `log_effective_levels`.

    Returns
    -------
    ndarray of shape (n_features, 1 + n_shadows)
        Standardized scores.
    """
    roots = np.cbrt(scores)
    window = _Window(kinds)
    n_shadows = scores.shape[1] - 1
    shrink = _shrinkage(roots[:, 1:], window)
    z = np.empty_like(roots)
    for t in range(n_shadows + 1):
        others = np.delete(roots[:, 1:], t - 1, axis=1) if t else roots[:, 1:]
        mean, variance = _moments(others, window, *shrink)
        z[:, t] = (roots[:, t] - mean) / np.sqrt(variance)
        if t == 0:
            mean, variance = _limited(others, window, mean, variance)
            z[:, 0] = np.minimum(z[:, 0], (roots[:, 0] - mean) / np.sqrt(variance))
    return z


def standardized_alone(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores in standard deviations from what chance gives the same column, as normal quantiles.

    If rows depend on each other, chance gives more to a column that varies little within groups, or slowly in
    time, and no column stands for another. A score is compared with the shadows of its column alone, a shadow
    with the other ones, by Student's distribution. Columns whose shadows do not vary have no score.

    Parameters
    ----------
    scores : ndarray of shape (n_features, 1 + n_shadows)
        Mean gains, of the columns and of at least four shadows of each.

    Returns
    -------
    ndarray of shape (n_features, 1 + n_shadows)
        Standardized scores.
    """
    roots = np.cbrt(scores)
    z = np.empty_like(roots)
    for t in range(roots.shape[1]):
        others = np.delete(roots[:, 1:], t - 1, axis=1) if t else roots[:, 1:]
        n = (~np.isnan(others)).sum(axis=1)
        mean, variance = np.nanmean(others, axis=1), np.nanvar(others, axis=1, ddof=1)
        flat = variance <= _FLAT * (1e-9 + mean**2)
        student = (roots[:, t] - mean) / np.sqrt(np.where(flat, np.nan, variance) * (1 + 1 / n))
        # From the nearer tail, so that no digits are lost.
        z[:, t] = -np.sign(student) * ndtri(stdtr(n - 1, -np.abs(student)))
    return z


def normalize_null(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores on a scale where those of the shadows are about normal, so that other scores can compete.

    The best of many cuts leaves a skewness of about a half even in cube roots. As in Wilson & Hilferty, what
    has the mean, variance and skewness of a gamma distribution is cubed back to a normal one. All scores are
    mapped alike, and none overtakes another.

    Examples
    --------
    >>> shadows = np.random.default_rng(0).gamma(16, size=(100, 10))
    >>> z = normalize_null(np.column_stack([np.full(100, 32.0), shadows]))
    >>> float(z[0, 0].round(1))  # 4 standard deviations up, yet no rarer than 3.2 of a normal number
    3.3
    """
    shadows = z[:, 1:][~np.isnan(z[:, 1:])]
    if len(shadows) == 0 or shadows.min() == shadows.max():
        return z
    mean, spread = shadows.mean(), shadows.std()
    skewness = float(np.mean(((shadows - mean) / spread) ** 3))
    if skewness < _MIN_SKEWNESS:
        return np.asarray((z - mean) / spread)
    shape = 4 / skewness**2
    gamma = np.maximum(shape + np.sqrt(shape) * (z - mean) / spread, 0.0)
    return np.asarray(3 * np.sqrt(shape) * (np.cbrt(gamma / shape) - 1 + 1 / (9 * shape)))


def forest_log_pvalues(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logs of the p-values of columns by the normal scores of `normalize_null`.

    With few shadows in all their mean and spread are uncertain: Student's distribution counts for that.

    Examples
    --------
    >>> z = np.column_stack([[4.0] * 5, np.random.default_rng(0).normal(size=(5, 10))])
    >>> [float(np.exp(forest_log_pvalues(some)[0]).round(6)) for some in (z, np.tile(z, (40, 1)))]
    [0.000107, 3.2e-05]
    """
    n_shadows = int(np.count_nonzero(~np.isnan(z[:, 1:])))
    if n_shadows > _MANY:
        return np.asarray(log_ndtr(-z[:, 0]))
    p = stdtr(max(1, n_shadows - 1), -z[:, 0])
    return np.asarray(np.log(np.maximum(p, np.finfo(np.float64).tiny)))  # 0 has no logarithm


class _Window:
    """Means over the columns of like kind."""

    def __init__(self, kinds: NDArray[np.float64]) -> None:
        self.order = np.argsort(kinds, kind="stable")
        ordered = kinds[self.order]
        self.begin = np.searchsorted(ordered, ordered - _NEAR, side="left")
        self.end = np.searchsorted(ordered, ordered + _NEAR, side="right")
        self.size = np.empty(len(kinds))
        self.size[self.order] = self.end - self.begin

    def mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.concatenate([[0.0], np.cumsum(values[self.order])])
        means = np.empty(len(values))
        means[self.order] = (sums[self.end] - sums[self.begin]) / (self.end - self.begin)
        return means


def _moments(
    shadows: NDArray[np.float64], window: _Window, of_mean: float, of_variance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance of each column's shadows, shrunk to those of the window by these shares."""
    mean, variance = np.nanmean(shadows, axis=1), _variance(shadows)
    near_mean, near_variance = window.mean(mean), window.mean(variance)
    mean = near_mean + of_mean * (mean - near_mean)
    variance = near_variance * (variance / near_variance) ** of_variance
    return mean, variance


def _limited(
    shadows: NDArray[np.float64],
    window: _Window,
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the column's own mean and variance where they are further above the window's than chance goes.

    One share for all columns is wrong for a few odd ones among many alike (limited translation, Efron &
    Morris 1972).
    """
    own_mean, own_variance, n_shadows = np.nanmean(shadows, axis=1), _variance(shadows), shadows.shape[1]
    logs, part = np.log(own_variance), 1 - 1 / window.size
    high = own_mean - window.mean(own_mean) > _ODD * np.sqrt(window.mean(own_variance) / n_shadows * part)
    wide = logs - window.mean(logs) > _ODD * np.sqrt(polygamma(1, (n_shadows - 1) / 2) * part)
    return np.where(high, own_mean, mean), np.where(wide, own_variance, variance)


def _shrinkage(shadows: NDArray[np.float64], window: _Window) -> tuple[float, float]:
    """How much of a column's difference from its kind is its own and not chance, for means and variances."""
    n_shadows = shadows.shape[1]
    several = window.size > 1
    if not several.any():
        return 1.0, 1.0
    mean, variance = np.nanmean(shadows, axis=1), _variance(shadows)
    near_mean, near_variance = window.mean(mean), window.mean(variance)
    part = (1 - 1 / window.size)[several]  # a column has a part in its window's mean

    def share(differences: NDArray[np.float64], by_chance: NDArray[np.float64]) -> float:
        observed, expected = float(np.mean(differences[several] ** 2)), float(np.mean(by_chance * part))
        return max(0.0, 1 - expected / observed) if observed > 0 else 0.0

    of_mean = share(mean - near_mean, near_variance[several] / n_shadows)
    logs = np.log(variance)
    of_logs = np.full(int(several.sum()), float(polygamma(1, (n_shadows - 1) / 2)))
    return of_mean, share(logs - window.mean(logs), of_logs)


def _variance(shadows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Variance of each row; a column of few rows may have none, which must not divide by zero."""
    floor = 1e-12 + 1e-6 * np.nanmean(shadows, axis=1) ** 2
    return np.asarray(np.maximum(np.nanvar(shadows, axis=1, ddof=1), floor))
