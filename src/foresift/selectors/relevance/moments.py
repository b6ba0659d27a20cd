"""Rows and classes of the tests that need no forest, and the p-values of their sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr

from foresift.data.table import Table

__all__ = [
    "MIN_SHARE",
    "as_correlations",
    "counted_rows",
    "log_of_any",
    "log_rarest",
    "log_two_sided",
    "unskewed",
    "without_kurtosis",
]

MIN_SHARE = 0.25  # of the rows; sums over fewer are far from normal
_MIN_SKEWNESS = 1e-3  # below which a sum is as good as normal
_PERFECT = 1 - 1e-12  # squared correlations above this are 1 but for rounding


def counted_rows(table: Table, weights: NDArray[np.float64] | None) -> NDArray[np.intp]:
    """Rows of a weight above 0."""
    return np.arange(table.n_rows) if weights is None else np.flatnonzero(weights > 0)


def as_correlations(z: NDArray[np.float64], n_rows: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Normal quantiles of standardized sums that are distributed as a correlation of normal numbers.

    By Wallace's (1959) approximation to the quantiles of Student's t with `n_rows` - 2 degrees of freedom.

    Examples
    --------
    >>> as_correlations(np.array([4.0, 4.0]), 100).round(3), as_correlations(np.array([4.0]), 10**6).round(3)
    (array([4.146, 4.146]), array([4.]))
    """
    freedom = np.maximum(1, n_rows - 2)
    squares = np.minimum(z**2 / (n_rows - 1), _PERFECT)
    return np.asarray(np.sqrt(-freedom * np.log1p(-squares)) * (8 * freedom + 1) / (8 * freedom + 3))


def unskewed(z: NDArray[np.float64], skewness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normal quantiles of standardized sums with a skewness of their own (Wilson & Hilferty 1931).

    The sums are taken to have a gamma distribution. Without skewness to the right they stay as they are: the
    tail of a sum skewed to the left is shorter than the normal one, which is on the safe side.

    Examples
    --------
    >>> unskewed(np.array([4.0, 4.0]), np.array([0.0, 0.5])).round(2)
    array([4. , 3.2])
    """
    skewness = np.maximum(skewness, _MIN_SKEWNESS)
    shape = 4 / skewness**2
    gamma = np.maximum(1 + z / np.sqrt(shape), 0.0)
    mapped = 3 * np.sqrt(shape) * (np.cbrt(gamma) - 1 + 1 / (9 * shape))
    return np.where(skewness > _MIN_SKEWNESS, mapped, z)


def without_kurtosis(z: NDArray[np.float64], kurtosis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normal quantiles of standardized sums with an excess kurtosis of their own (Cornish & Fisher 1938).

    The expansion holds up to where it turns down. What is farther out counts as much as that: sums with tails
    as long as these are no evidence.

    Examples
    --------
    >>> without_kurtosis(np.array([3.0, 3.0, 9.0]), np.array([0.0, 0.5, 0.5])).round(2)
    array([3.  , 2.62, 2.92])
    """
    with np.errstate(divide="ignore"):
        far = np.sqrt(1 + 8 / kurtosis)
    z = np.minimum(z, far)
    return np.asarray(np.where(kurtosis > 0, z - kurtosis * (z**3 - 3 * z) / 24, z))


def log_two_sided(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log of the probability that a normal number is as far from 0."""
    return np.asarray(np.minimum(np.log(2) + log_ndtr(-np.abs(z)), 0.0))


def log_rarest(counts: Sequence[NDArray[np.intp]]) -> float:
    """Log of the least p-value there is: that of one of all arrangements of the rows.

    Given how many rows have each of the distinct values of a target; of several targets the least counts.

    Examples
    --------
    >>> float(np.exp(-log_rarest([np.array([1, 3])])).round())
    4.0
    """
    return float(min(gammaln(own + 1).sum() - gammaln(own.sum() + 1) for own in counts))


def log_of_any(log_least: NDArray[np.float64], n_tests: int) -> NDArray[np.float64]:
    """Log of the probability that the least of so many independent p-values is as small (Sidak).

    Examples
    --------
    >>> np.exp(log_of_any(np.log([0.01, 1e-20]), 10))
    array([9.56...e-02, 1.00...e-19])
    """
    log_one = np.minimum(log_least, -1e-12)
    with np.errstate(divide="ignore"):
        log_any = np.log(-np.expm1(n_tests * np.log1p(-np.exp(log_one))))
    return np.asarray(np.where(log_one + np.log(n_tests) < -15, log_one + np.log(n_tests), log_any))
