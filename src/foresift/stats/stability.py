"""Stability of selections from different samples: the measures of Nogueira, Kuncheva and Jaccard."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from foresift.errors import floats_of, require_number

__all__ = ["Stability", "jaccard", "kuncheva", "selection_stability"]


class Stability(NamedTuple):
    """Result of `selection_stability`."""

    value: float
    lower: float
    upper: float


def selection_stability(selections: ArrayLike, confidence: float = 0.95) -> Stability:
    """Nogueira's stability of feature selections, with a confidence interval.

    1 if all selections are equal; 0 on average for random selections of any size: one minus the mean variance
    of the features' indicators, divided by its value for random selections.

    Parameters
    ----------
    selections : array-like of bool of shape (n_selections, n_features)
        Which features each selection kept; at least two selections.
    confidence : float, default=0.95
        Probability that the interval contains the stability of the procedure, for many independent
        selections.

    Returns
    -------
    Stability
        `value`, `lower`, `upper`; all NaN if every selection is empty or every one is full.

    See Also
    --------
    kuncheva : The same value, but only for selections of equal size.
    jaccard : Intersection over union; not corrected for chance.

    References
    ----------
    Nogueira, Sechidis & Brown (2018), On the stability of feature selection algorithms, Journal of Machine
    Learning Research 18(174).

    Examples
    --------
    >>> selections = [[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]
    >>> selection_stability(selections).value.round(3)
    np.float64(0.333)
    """
    chosen = _indicators(selections)
    require_number(confidence, "confidence")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, but is {confidence}.")
    n, d = chosen.shape
    frequency = chosen.mean(axis=0)
    size = frequency.mean()  # mean fraction of the features that is kept
    at_random = size * (1 - size)
    if at_random == 0:
        return Stability(np.nan, np.nan, np.nan)
    value = 1 - n / (n - 1) * (frequency * (1 - frequency)).mean() / at_random
    # Theorem 9, written as the influence of each selection on the value (constants cancel in the variance).
    share = chosen.mean(axis=1)
    influence = (2 * chosen @ frequency / d - share + (1 - value) * share * (1 - 2 * size)) / at_random
    half = float(ndtri((1 + confidence) / 2)) * np.sqrt(((influence - influence.mean()) ** 2).sum()) / n
    return Stability(np.float64(value), np.float64(value - half), np.float64(value + half))


def kuncheva(selections: ArrayLike) -> float:
    """Kuncheva's consistency index, the mean over all pairs of selections.

    1 if all selections are equal; 0 on average for random selections.

    Parameters
    ----------
    selections : array-like of bool of shape (n_selections, n_features)
        As for `selection_stability`.

    Returns
    -------
    float
        NaN if the selections are not all of one size, or keep none or all features, where the index is not
        defined; use `selection_stability` then.

    References
    ----------
    Kuncheva (2007), A stability index for feature selection, Artificial Intelligence and Applications.

    Examples
    --------
    >>> round(kuncheva([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0]]), 3)
    0.167
    """
    chosen = _indicators(selections)
    d = chosen.shape[1]
    k = chosen[0].sum()
    if (chosen.sum(axis=1) != k).any() or k in (0, d):
        return float("nan")
    shared = _pairs(chosen @ chosen.T)
    return float(((shared * d - k * k) / (k * (d - k))).mean())


def jaccard(selections: ArrayLike) -> float:
    """Mean Jaccard index over all pairs of selections: intersection over union.

    1 if all selections are equal. It grows with the size of random selections, so use it only to compare
    procedures that keep about equally many features.

    Parameters
    ----------
    selections : array-like of bool of shape (n_selections, n_features)
        As for `selection_stability`.

    Returns
    -------
    float
        Between 0 and 1; two empty selections count as equal.

    Examples
    --------
    >>> round(jaccard([[1, 1, 0, 0], [1, 0, 1, 0]]), 3)
    0.333
    """
    chosen = _indicators(selections)
    size = chosen.sum(axis=1)
    shared = chosen @ chosen.T
    both, either = _pairs(shared), _pairs(size[:, None] + size[None, :] - shared)
    return float(np.divide(both, either, out=np.ones_like(both), where=either > 0).mean())


def _indicators(selections: ArrayLike) -> NDArray[np.float64]:
    chosen = floats_of(selections, "selections")
    if chosen.ndim != 2 or len(chosen) < 2 or not chosen.shape[1] or not np.isin(chosen, (0, 1)).all():
        raise ValueError(
            "selections must be a matrix of True and False: a row for each selection, at least two, and a"
            " column for each feature."
        )
    return chosen


def _pairs(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return matrix[np.triu_indices(len(matrix), 1)]
