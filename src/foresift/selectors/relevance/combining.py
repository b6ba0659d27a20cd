"""One p-value from several tests of a column."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from foresift.selectors.units import Units

__all__ = ["WEIGHTS", "combined_log_pvalues", "log_cauchy_mean", "unit_log_pvalues"]

# Chosen on other seeds than those of the published figures (docs/measurements/relevance-defaults.md).
# Curves and pairs are for columns that nothing else finds; how ranks and residuals share, see `_weights`.
WEIGHTS: dict[str, float] = {
    "forest": 0.16,
    "ranks": 0.375,
    "residuals": 0.375,
    "curves": 0.06,
    "pairs": 0.03,
}
_CLEAR = 0.005  # p-value of the columns that decide whether ranks or residuals weigh more,
_OFFSET = 5  # added to how many each finds, so that a few decide little,
_POWER = 8  # exponent of the ratio,
_LEAST = 0.05  # and what either has at least of the weight of both
_SMALL = -30.0  # log of p-values below which Cauchy quantiles are 1 / (pi p) to the last bit
_LARGEST = 0.99  # p-values count at most this much against the others


def combined_log_pvalues(tests: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Combine p-values by a weighted mean of Cauchy quantiles (Liu & Xie 2020), given and returned as logs.

    The tail of the mean hardly depends on how the tests depend on each other. A small p-value of weight w
    becomes about p / w; several small ones add to the evidence.

    Parameters
    ----------
    tests : mapping of str to ndarray of shape (n,)
        All of `WEIGHTS`; NaN where a column has no such test. Columns without residuals have that weight on
        their ranks; those of other missing tests are shared out in proportion.

    Returns
    -------
    ndarray of shape (n,)
        NaN where a column has no test at all.

    Examples
    --------
    >>> p = {"forest": [0.01, 0.01, 1e-90], "ranks": [0.01, 0.8, 0.1]}
    >>> p |= dict.fromkeys(("residuals", "curves", "pairs"), np.nan)
    >>> logs = {name: np.log(np.broadcast_to(some, 3)) for name, some in p.items()}
    >>> np.exp(combined_log_pvalues(logs)).round(4)
    array([0.01  , 0.0702, 0.    ])
    """
    logs = np.array([tests[name] for name in WEIGHTS])
    shares = _weights(tests["ranks"], tests["residuals"])
    weights = np.repeat(shares[:, np.newaxis], logs.shape[1], axis=1)
    ranks, residuals = (list(WEIGHTS).index(name) for name in ("ranks", "residuals"))
    weights[ranks] += np.where(np.isnan(tests["residuals"]), weights[residuals], 0.0)
    return log_cauchy_mean(logs, weights)


def unit_log_pvalues(
    units: Units, by_column: NDArray[np.float64], joint: NDArray[np.float64]
) -> NDArray[np.float64]:
    """P-values of units from those of their columns, and for half from a test of all of them, as logs."""
    logs = by_column[units.first]
    for k in units.large:
        tests = np.append(by_column[units.members[k]], joint[k])[:, np.newaxis]
        weights = np.ones_like(tests)
        weights[-1] = np.count_nonzero(~np.isnan(tests[:-1])) or 1
        logs[k] = log_cauchy_mean(tests, weights)[0]
    return logs


def log_cauchy_mean(logs: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log of the p-value of a weighted mean of Cauchy quantiles, down the columns; NaN is no test.

    Examples
    --------
    >>> np.exp(log_cauchy_mean(np.log([[0.01, 0.01], [0.01, 0.5]]), np.ones((2, 2)))).round(3)
    array([0.01, 0.02])
    """
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


def _weights(ranks: NDArray[np.float64], residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """`WEIGHTS` for this table: of ranks and residuals the one that finds more clear columns has more.

    Where columns cause the classes, the strong ones are noise in the test of the others, and residuals find
    more than ranks. Where the classes cause the columns, as in groups that differ in their means, the strong
    ones are noisy copies of the classes, and residuals lose what the others share with them.

    Examples
    --------
    >>> few, many = (np.log(np.r_[np.full(k, 1e-4), np.full(100 - k, 0.5)]) for k in (10, 20))
    >>> _weights(few, few).round(2), _weights(few, many).round(2)
    (array([0.16, 0.38, 0.38, 0.06, 0.03]), array([0.16, 0.04, 0.71, 0.06, 0.03]))
    """
    odds = ((_OFFSET + _n_clear(residuals)) / (_OFFSET + _n_clear(ranks))) ** _POWER
    share = float(np.clip(odds / (1 + odds), _LEAST, 1 - _LEAST))
    both = WEIGHTS["ranks"] + WEIGHTS["residuals"]
    return np.array(list((WEIGHTS | {"ranks": both * (1 - share), "residuals": both * share}).values()))


def _n_clear(logs: NDArray[np.float64]) -> float:
    """Number of clear columns, less what chance gives."""
    expected = _CLEAR * np.count_nonzero(~np.isnan(logs))
    return max(0.0, np.count_nonzero(logs <= np.log(_CLEAR)) - expected)
