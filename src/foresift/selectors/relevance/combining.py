"""One p-value from several tests of a column."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

__all__ = ["WEIGHTS", "combined_log_pvalues"]

# Chosen on tables that the published figures do not use. The ranks of residuals have most power where effects
# add up, the forest where they do not; pairs are for columns that nothing else finds.
WEIGHTS: dict[str, float] = {"forest": 0.11, "ranks": 0.08, "residuals": 0.78, "pairs": 0.03}
_SMALL = -30.0  # log of p-values below which Cauchy quantiles are 1 / (pi p) to the last bit
_LARGEST = 0.99  # p-values count at most this much against the others


def combined_log_pvalues(tests: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Combine p-values by a weighted mean of Cauchy quantiles (Liu & Xie 2020), given and returned as logs.

    The tail of the mean hardly depends on how the tests depend on each other. A small p-value of weight w
    becomes about p / w; several small ones add to the evidence.

    Parameters
    ----------
    tests : mapping of str to ndarray of shape (n,)
        By the keys of `WEIGHTS`; NaN where a column has no such test. Without a test of residuals its weight
        goes to the ranks: they are the same test then. Other weights are shared out in proportion.

    Returns
    -------
    ndarray of shape (n,)
        NaN where a column has no test at all.

    Examples
    --------
    >>> logs = {"forest": np.log([0.01, 0.01, 1e-90]), "ranks": np.log([0.01, 0.8, np.nan])}
    >>> np.exp(combined_log_pvalues(logs)).round(4)
    array([0.01  , 0.0178, 0.    ])
    """
    logs = np.array(list(tests.values()))
    weights = np.array([[WEIGHTS[name]] * logs.shape[1] for name in tests])
    if {"ranks", "residuals"} <= set(tests):
        names = list(tests)
        ranks, residuals = names.index("ranks"), names.index("residuals")
        weights[ranks] += np.where(np.isnan(logs[residuals]), weights[residuals], 0.0)
    weights = np.where(np.isnan(logs), 0.0, weights)
    total = weights.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        weights = weights / total
        p = np.minimum(np.exp(np.where(np.isnan(logs), 0.0, logs)), _LARGEST)
        # Not by differences from a half: a p-value of 1e-13 would keep three digits.
        mean = (weights / np.tan(np.pi * p)).sum(axis=0)
        moderate = np.log(np.arctan2(1.0, mean) / np.pi)
        small = -logsumexp(-np.where(np.isnan(logs), np.inf, logs), axis=0, b=weights)
    least = np.min(np.where(np.isnan(logs), 0.0, logs), axis=0)
    return np.asarray(np.where(total > 0, np.where(least < _SMALL, small, moderate), np.nan))
