"""Test of several columns of ranks at once, such as the indicators of the categories of one column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

__all__ = ["category_ranks", "joint_log_pvalues"]

MAX_CATEGORIES = 20
MIN_ROWS, MIN_SHARE = 5, 0.02  # of the rows, of a category that is tested apart from the others
MIN_FREE = 10  # rows more than columns
_NOTHING = 1e-8  # of the largest singular value


def joint_log_pvalues(
    ranks: NDArray[np.float64], values: NDArray[np.float64], n_free: float
) -> NDArray[np.float64]:
    """Logs of the p-values of F tests: whether ranks (along the last axis) together explain values.

    Parameters
    ----------
    ranks : ndarray of shape (n_columns, n_rows)
        As they are seen, of mean 0.
    values : ndarray of shape (n_rows, n_values)
        The target as it is seen, of mean 0.
    n_free : float
        Independent rows.

    Returns
    -------
    ndarray of shape (n_values,)
        NaN with too few rows, or where nothing is left of the target.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ranks, noise = rng.normal(size=(3, 200)), rng.normal(size=(200, 1))
    >>> np.exp(joint_log_pvalues(ranks, np.hstack([noise, noise + 0.3 * ranks.sum(axis=0)[:, None]]), 200))
    array([2.7...e-01, 2.9...e-13])
    """
    u, s, _ = np.linalg.svd(ranks.T, full_matrices=False)
    u = u[:, s > _NOTHING * s.max(initial=0)]
    squares = (values**2).sum(axis=0)
    n_more = n_free - 1 - u.shape[1]
    if not u.shape[1] or n_more < MIN_FREE:
        return np.full(values.shape[1], np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = 1 - ((u.T @ values) ** 2).sum(axis=0) / squares
        p = betainc(n_more / 2, u.shape[1] / 2, np.clip(left, 0, 1))
    return np.where(squares > 0, np.log(np.maximum(p, np.finfo(float).tiny)), np.nan)


def category_ranks(codes: NDArray[np.intp], n_values: int) -> NDArray[np.float64]:
    """Indicators of the frequent categories, without their means; 0 where the category is missing.

    Examples
    --------
    >>> category_ranks(np.repeat([0, 1, 2], 8), 2).shape  # the last is missing
    (2, 24)
    """
    counts = np.bincount(codes, minlength=n_values + 1)[:n_values]
    frequent = np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]
    frequent = frequent[counts[frequent] >= max(MIN_ROWS, MIN_SHARE * len(codes))]
    known = codes < n_values
    shares = counts[frequent, np.newaxis] / max(1, int(known.sum()))
    return np.where(known, (codes == frequent[:, np.newaxis]) - shares, 0.0)
