"""t-tests and intervals of resampled scores, corrected for the overlap of the training sets."""

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
    """Result of a test of two methods: its statistic and the two-sided p-value."""

    statistic: float
    pvalue: float


def paired_ttest(a: ArrayLike, b: ArrayLike) -> Outcome:
    """Student's t-test of paired scores.

    Scores of one cross-validation are not independent, since their training sets overlap, and this test would
    reject too often: use `corrected_resampled_ttest` instead.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of two methods on the same n splits.

    Returns
    -------
    Outcome
        `statistic` (positive: a is higher) and two-sided `pvalue`. If all scores are equal, they are 0 and 1;
        if all differences are equal, infinity and 0, as in SciPy, which means little with few splits.

    Examples
    --------
    >>> paired_ttest([0.9, 0.8, 0.85, 0.9], [0.8, 0.75, 0.8, 0.85]).pvalue.round(3)
    np.float64(0.015)
    """
    return _ttest(differences(a, b), 0.0)


def corrected_resampled_ttest(a: ArrayLike, b: ArrayLike, test_share: float) -> Outcome:
    """Paired t-test of scores from resampled rows, corrected for the overlap of the training sets.

    The variance of the mean difference is estimated as ``(1 / n + n_test / n_train)`` times the variance of
    the differences, instead of ``1 / n`` times, so that it does not vanish with more splits of the same rows.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of two methods on the same n splits: random splits, or the folds of a cross-validation, which
        may be repeated.
    test_share : float
        The fraction of the rows in a test set: 0.1 for 10 folds.

    Returns
    -------
    Outcome
        As of `paired_ttest`.

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
        The fraction of the rows in a test set: 0.1 for 10 folds; 0 if training sets do not overlap.
    least, most : float, default=-inf, inf
        Limits of the score, at which the interval is cut off.
    confidence : float, default=0.95
        Probability that the interval contains the true mean.

    Returns
    -------
    Estimate
        `value`, `low` and `high`: the numbers that `corrected_resampled_ttest` does not reject as the mean.
        NaN if a score is NaN.

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
    """Differences of paired scores, validated.

    Examples
    --------
    >>> differences([3, 4], [1, 4])
    array([2., 0.])
    """
    first, second = floats_of(a, "a"), floats_of(b, "b")
    if first.ndim != 1 or first.shape != second.shape or len(first) < least:
        raise ValueError(f"a and b must be two equally long lists of {least} scores or more, split by split.")
    with np.errstate(over="ignore", invalid="ignore"):
        d = first - second
    if not np.isfinite(d).all():
        raise ValueError("Scores must be finite; leave out the splits in which either method failed.")
    return d


def _ttest(d: NDArray[np.float64], overlap: float) -> Outcome:
    d = d / _unit(d)
    mean, error = float(d.mean()), _error_of_mean(d, overlap)
    if error <= 1e-15 * np.abs(d).max():  # always the same difference
        return Outcome(np.float64(np.sign(mean) * np.inf if mean else 0.0), np.float64(mean == 0))
    t = mean / error
    return Outcome(np.float64(t), np.float64(2 * sps.t.sf(abs(t), len(d) - 1)))


def _error_of_mean(values: NDArray[np.float64], overlap: float) -> float:
    """`overlap` is n_test / n_train, or 0 for independent scores (Nadeau & Bengio 2003)."""
    return float(values.std(ddof=1) * np.sqrt(1 / len(values) + overlap))


def _unit(values: NDArray[np.float64]) -> float:
    """A power of two of the size of the values: dividing by it is exact, and then no square overflows."""
    return float(np.ldexp(1.0, int(np.frexp(np.abs(values).max())[1]) - 1))


def _overlap(test_share: float) -> float:
    require_number(test_share, "test_share")
    if not 0 <= test_share < 1:
        raise ValueError(f"test_share must lie between 0 and 1 (0.1 for 10 folds), but is {test_share}.")
    return test_share / (1 - test_share)
