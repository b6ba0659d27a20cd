"""Scores of resampled rows: t-tests and intervals that mind how far the training sets overlap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats as sps

from foresift.errors import floats_of, require_number

__all__ = [
    "Estimate",
    "Outcome",
    "corrected_interval",
    "corrected_resampled_ttest",
    "differences",
    "paired_ttest",
]


class Outcome(NamedTuple):
    """What a test of two methods says: its statistic and the two-sided p-value."""

    statistic: float
    pvalue: float


def paired_ttest(a: ArrayLike, b: ArrayLike) -> Outcome:
    """Student's t-test of paired scores.

    Scores of one cross-validation are not independent, since their training sets overlap; the test then finds
    differences too often, and `corrected_resampled_ttest` is the one to take.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of two methods in the same n trials.

    Returns
    -------
    Outcome
        `statistic` (positive: a is higher) and two-sided `pvalue`. Scores that are all equal give 0 and 1,
        and one difference in all trials infinity and 0, as in SciPy: of few trials that says little.

    Examples
    --------
    >>> paired_ttest([0.9, 0.8, 0.85, 0.9], [0.8, 0.75, 0.8, 0.85]).pvalue.round(3)
    np.float64(0.015)
    """
    return _ttest(differences(a, b), 0.0)


def corrected_resampled_ttest(a: ArrayLike, b: ArrayLike, test_share: float) -> Outcome:
    """Paired t-test of scores from resampled rows, corrected for the overlap of the training sets.

    The variance of the mean difference is taken to be ``(1 / n + n_test / n_train)`` times the variance of
    the differences, in place of ``1 / n`` times: more trials on the same rows do not make a difference sure.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of two methods in the same n trials: random splits, or the folds of a cross-validation, which
        may be repeated.
    test_share : float
        The share of the rows that is tested in a trial: 0.1 for 10 folds.

    Returns
    -------
    Outcome
        `statistic` (positive: a is higher) and two-sided `pvalue`. Scores that are all equal give 0 and 1,
        and one difference in all trials infinity and 0, as in SciPy: of few trials that says little.

    References
    ----------
    Nadeau & Bengio (2003), Inference for the generalization error, Machine Learning 52; for repeated
    cross-validation Bouckaert & Frank (2004), Evaluating the replicability of significance tests.

    Examples
    --------
    >>> corrected_resampled_ttest([0.9, 0.8, 0.85, 0.9], [0.8, 0.75, 0.8, 0.85], 0.25).pvalue.round(3)
    np.float64(0.047)
    """
    return _ttest(differences(a, b), _overlap(test_share))


class Estimate(NamedTuple):
    """A number with its interval."""

    value: float
    low: float
    high: float


def corrected_interval(
    scores: ArrayLike,
    test_share: float,
    least: float = -np.inf,
    most: float = np.inf,
    *,
    confidence: float = 0.95,
) -> Estimate:
    """Mean score of resampled rows, with an interval corrected for the overlap of the training sets.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Scores of random splits, or of the folds of a cross-validation, which may be repeated.
    test_share : float
        The share of the rows that is tested in a trial: 0.1 for 10 folds.
    least, most : float, default=-inf, inf
        What no score can pass: the interval is cut there.
    confidence : float, default=0.95
        How often the interval should hold the true mean.

    Returns
    -------
    Estimate
        `value`, `low` and `high`: `corrected_resampled_ttest` tells no number between them from the mean. NaN
        if a score is.

    References
    ----------
    Nadeau & Bengio (2003), Inference for the generalization error, Machine Learning 52.

    Examples
    --------
    >>> mean, low, high = corrected_interval([0.8, 0.9, 0.85, 0.85], 0.25, 0.0, 1.0)
    >>> round(mean, 3), round(low, 3), round(high, 3)
    (0.85, 0.751, 0.949)
    """
    values = floats_of(scores, "scores")
    if values.ndim != 1 or len(values) < 2:
        raise ValueError("scores must be a list of 2 scores or more.")
    for name, value in {"least": least, "most": most, "confidence": confidence}.items():
        require_number(value, name)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, but is {confidence}.")
    overlap = _overlap(test_share)
    if not np.isfinite(values).all():
        with np.errstate(invalid="ignore"):
            return Estimate(float(values.mean()), np.nan, np.nan)
    unit = _unit(values)
    values = values / unit
    mean, error = float(values.mean()) * unit, _error_of_mean(values, overlap) * unit
    half = float(sps.t.ppf((1 + confidence) / 2, len(values) - 1)) * error
    return Estimate(mean, max(least, mean - half), min(most, mean + half))


def differences(a: ArrayLike, b: ArrayLike, least: int = 2) -> NDArray[np.float64]:
    """Differences of paired scores, or an error that says what is wrong with them.

    Examples
    --------
    >>> differences([3, 4], [1, 4])
    array([2., 0.])
    """
    first, second = floats_of(a, "a"), floats_of(b, "b")
    if first.ndim != 1 or first.shape != second.shape or len(first) < least:
        raise ValueError(f"a and b must be two equally long lists of {least} scores or more, trial by trial.")
    with np.errstate(over="ignore", invalid="ignore"):
        d = first - second
    if not np.isfinite(d).all():
        raise ValueError("Scores must be finite; leave out the trials in which either method failed.")
    return d


def _ttest(d: NDArray[np.float64], overlap: float) -> Outcome:
    d = d / _unit(d)
    mean, error = float(d.mean()), _error_of_mean(d, overlap)
    if error <= 1e-15 * np.abs(d).max():  # always the same difference
        return Outcome(np.float64(np.sign(mean) * np.inf if mean else 0.0), np.float64(mean == 0))
    t = mean / error
    return Outcome(np.float64(t), np.float64(2 * sps.t.sf(abs(t), len(d) - 1)))


def _error_of_mean(values: NDArray[np.float64], overlap: float) -> float:
    """`overlap` is n_test / n_train, or 0 for independent trials (Nadeau & Bengio 2003)."""
    return float(values.std(ddof=1) * np.sqrt(1 / len(values) + overlap))


def _unit(values: NDArray[np.float64]) -> float:
    """A power of two of the size of the values: in units of it, which is exact, no square overflows."""
    return float(np.ldexp(1.0, int(np.frexp(np.abs(values).max())[1]) - 1))


def _overlap(test_share: float) -> float:
    require_number(test_share, "test_share")
    if not 0 < test_share < 1:
        raise ValueError(f"test_share must lie between 0 and 1 (0.1 for 10 folds), but is {test_share}.")
    return test_share / (1 - test_share)
