"""Test of all categories of a nominal column at once, by the share of the target's variance between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from foresift.data.table import Table
from foresift.selectors.relevance.combining import log_cauchy_mean
from foresift.selectors.relevance.moments import log_of_any
from foresift.selectors.relevance.residuals import Residuals, related_from

__all__ = ["Categories", "between_log_pvalue", "min_rows", "of_all_values", "pooled"]

MAX_CATEGORIES = 20  # that are compared; the others are one
MIN_ROWS = 5  # of a category that is compared
MIN_EXPECTED = 3.0  # rows of the rarer of two classes in it, if the column says nothing


@dataclass(frozen=True)
class Categories:
    """Nominal columns by category.

    Attributes
    ----------
    table : Table
        The data.
    columns : ndarray of int
        The columns, nominal and others.
    rows : ndarray of int
        The rows that count.
    """

    table: Table
    columns: NDArray[np.uint32]
    rows: NDArray[np.intp]

    def log_pvalues(
        self, contrasts: NDArray[np.float64], residuals: Residuals | None = None
    ) -> NDArray[np.float64]:
        """Logs of p-values of nominal columns with three categories or more, NaN for the others.

        Of what the target has in each row, whole numbers along the first axis, or of its `residuals`: every
        column has those that predictors leave which are not related to it.
        """
        quantity = self.table.target.task == "regression"
        least = min_rows(np.full(contrasts.shape[1], 0.5) if quantity else contrasts.mean(axis=0))
        found, store = np.full(len(self.columns), np.nan), self.table.store
        for place, column in enumerate(self.columns.tolist()):
            if not store.is_nominal(column) or store.n_values(column) < 3:
                continue
            codes = np.asarray(store.codes(column))[self.rows].astype(np.intp)
            known = codes < store.n_values(column)
            codes = codes[known]
            if not len(codes):
                continue
            values = contrasts
            if residuals is not None:
                values = residuals.without(_related(codes, residuals, known))
            found[place] = _log_pvalue(codes, values[known], least, quantity=quantity)
        return found


def _log_pvalue(
    codes: NDArray[np.intp], values: NDArray[np.float64], least: NDArray[np.float64], *, quantity: bool
) -> float:
    """One p-value from those of all values: scores of a quantity, or indicators of classes."""
    counts = np.bincount(codes)
    logs = []
    for value, rows in zip((values - values.mean(axis=0)).T, least, strict=True):
        sums: NDArray[np.float64] = np.bincount(codes, value).astype(np.float64)
        logs.append(between_log_pvalue(counts, sums, (value**2).sum(), (value**4).sum(), rows))
    return of_all_values(np.array(logs), quantity=quantity)


def of_all_values(logs: NDArray[np.float64], *, quantity: bool) -> float:
    """One p-value, as a log, from those of all scores of a quantity or of all classes; NaN is no test."""
    logs = logs[~np.isnan(logs), np.newaxis]
    if not len(logs):
        return np.nan
    if quantity:
        return float(log_cauchy_mean(logs, np.ones_like(logs))[0])
    return float(log_of_any(logs.min(axis=0), len(logs))[0])


def min_rows(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of a category that is compared, by the share of the rows that a class has."""
    return np.maximum(MIN_ROWS, MIN_EXPECTED / np.minimum(shares, 1 - shares))


def _related(codes: NDArray[np.intp], residuals: Residuals, known: NDArray[np.bool_]) -> bytes:
    """Which strong predictors differ between the categories, more than by chance, as a key of `residuals`."""
    strong = residuals.strong[known]
    strong = strong - strong.mean(axis=0)
    groups = pooled(np.bincount(codes), MIN_ROWS)[codes]
    sizes = np.bincount(groups)
    sums = np.array([np.bincount(groups, one) for one in strong.T])
    squares = np.maximum((strong**2).sum(axis=0), np.finfo(float).tiny)
    share = (sums**2 / sizes).sum(axis=1) / squares
    return residuals.key(share > related_from(len(codes)) ** 2 + (len(sizes) - 1) / len(codes))


def pooled(counts: NDArray[np.intp], least: float) -> NDArray[np.intp]:
    """Numbers of the groups that categories belong to: frequent ones have their own, the others share one.

    Parameters
    ----------
    counts : ndarray of int
        Rows of every category.
    least : float
        Rows of a group.

    Returns
    -------
    ndarray of int
        A group for every category. If the others are too few for a group, they are with the least frequent.

    Examples
    --------
    >>> pooled(np.array([3, 40, 2, 30, 9]), 5), pooled(np.array([40, 2, 30]), 5)
    (array([3, 0, 3, 1, 2]), array([0, 1, 1]))
    """
    order = np.argsort(-counts, kind="stable")
    n_frequent = min(MAX_CATEGORIES, int(np.count_nonzero(counts >= least)))
    groups = np.empty(len(counts), dtype=np.intp)
    groups[order] = np.minimum(np.arange(len(counts)), n_frequent)
    if counts[order[n_frequent:]].sum() < least:
        groups = np.minimum(groups, max(0, n_frequent - 1))
    return groups


def between_log_pvalue(
    counts: NDArray[np.intp], sums: NDArray[np.float64], squares: float, fourths: float, least: float
) -> float:
    """Log of the p-value of the share of the variance of values that is between categories.

    For two classes the share is Pearson's chi-square over the number of rows. If rows are permuted, its mean
    and its variance are known (Haldane 1940; Pitman 1938), whatever the values and the categories are. The
    p-value is that of the beta distribution with these two.

    Parameters
    ----------
    counts : ndarray of int
        Rows of every category.
    sums : ndarray
        Sums over the rows of every category of values whose mean over all rows is 0.
    squares, fourths : float
        Sums of the second and fourth powers over all rows.
    least : float
        Rows of a category that is compared; see `pooled`.

    Returns
    -------
    float
        NaN for values that are all equal, for fewer than three groups, and for hardly more rows than groups.

    Examples
    --------
    >>> values = np.repeat([0.5, -0.5], 30)
    >>> sums = values.reshape(3, 20).sum(axis=1)
    >>> float(np.exp(between_log_pvalue(np.array([20, 20, 20]), sums, values @ values, (values**4).sum(), 5)))
    6.57...e-14
    """
    groups = pooled(counts, least)
    sizes = np.bincount(groups, counts)
    n, k = float(sizes.sum()), len(sizes) - 1.0
    if k < 2 or n < k + MIN_ROWS or not squares > 0:
        return np.nan
    share = float((np.bincount(groups, sums) ** 2 / sizes).sum() / squares)
    mean = k / (n - 1)
    variance = _second_moment(n, k, float((1 / sizes).sum()), fourths / squares**2) - mean**2
    total = mean * (1 - mean) / variance - 1 if variance > 0 else 0.0  # of the parameters of the distribution
    if total <= 0:
        return np.nan
    p = betainc(total * (1 - mean), total * mean, np.clip(1 - share, 0, 1))
    return float(np.log(max(p, np.finfo(float).tiny)))


def _second_moment(n: float, k: float, inverse: float, fourth: float) -> float:
    """Mean square of the share if `n` rows are permuted, `k` + 1 groups having this sum of 1 / size.

    The share is a quadratic form of values of mean 0, whose squares add up to 1 and whose fourth powers to
    `fourth`. Its matrix P projects on what groups have apart from the mean: it has the trace `k`, P P = P,
    and the sum `d` of the squares of its diagonal. Sums of products of two of its elements, by which of the
    four indices are equal, follow from these, and means of products of four values from `fourth`.
    """
    d = inverse - (2 * k + 1) / n
    pairs = (k**2 - d) + 2 * (k - d)  # two indices equal, and the other two
    three = -4 * d  # three equal
    two = (4 * d - 2 * k**2) + (8 * d - 4 * k)  # two equal
    none = k**2 + 2 * k - 6 * d  # all different
    return (
        d * fourth / n
        + (pairs * (1 - fourth) - three * fourth) / (n * (n - 1))
        + two * (2 * fourth - 1) / (n * (n - 1) * (n - 2))
        + none * 3 * (1 - 2 * fourth) / (n * (n - 1) * (n - 2) * (n - 3))
    )
