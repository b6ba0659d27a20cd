"""Significance and stability: adjusted p-values, and how much selections from different samples agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from scipy.stats import false_discovery_control

__all__ = ["Stability", "adjusted_pvalues", "selection_stability"]


class Stability(NamedTuple):
    """How much selections agree, from `selection_stability`."""

    value: float
    lower: float
    upper: float


def selection_stability(selections: ArrayLike, confidence: float = 0.95) -> Stability:
    """Nogueira's stability of feature selections, with a confidence interval.

    1 if all selections are the same; 0 on average if every one is drawn at random, whatever its size. It is
    one less the mean variance of the features' indicators over what that would be at random.

    Parameters
    ----------
    selections : array-like of bool of shape (n_selections, n_features)
        Which features each selection kept; at least two selections.
    confidence : float, default=0.95
        Probability that the interval holds the stability of the procedure, if the selections are independent
        and many.

    Returns
    -------
    Stability
        `value`, `lower`, `upper`; all NaN if every selection is empty or every one is full.

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
    chosen = np.asarray(selections, dtype=np.float64)
    if chosen.ndim != 2 or len(chosen) < 2 or not np.isin(chosen, (0, 1)).all():
        raise ValueError("selections must be a matrix of True and False with at least two rows, one each.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, but is {confidence}.")
    n, d = chosen.shape
    frequency = chosen.mean(axis=0)
    size = frequency.mean()  # mean share of the features that is kept
    at_random = size * (1 - size)
    if at_random == 0:
        return Stability(np.nan, np.nan, np.nan)
    value = 1 - n / (n - 1) * (frequency * (1 - frequency)).mean() / at_random
    # Theorem 9, written as the influence of each selection on the value (constants cancel in the variance).
    share = chosen.mean(axis=1)
    influence = (2 * chosen @ frequency / d - share + (1 - value) * share * (1 - 2 * size)) / at_random
    half = float(ndtri((1 + confidence) / 2)) * np.sqrt(((influence - influence.mean()) ** 2).sum()) / n
    return Stability(np.float64(value), np.float64(value - half), np.float64(value + half))


def adjusted_pvalues(pvalues: ArrayLike, error: str) -> NDArray[np.float64]:
    """Adjust p-values for their number: reject where the adjusted one is at most alpha.

    Parameters
    ----------
    pvalues : array-like of shape (n,)
        P-values.
    error : {"fdr", "fwer", "none"}
        What alpha bounds: the expected share of false ones among the rejected (Benjamini & Hochberg), the
        probability of any false rejection (Holm), or the probability of each false rejection.

    Returns
    -------
    ndarray of shape (n,)
        Adjusted p-values, at most 1.

    Examples
    --------
    >>> adjusted_pvalues([0.01, 0.03, 0.04], "fdr")
    array([0.03, 0.04, 0.04])
    >>> adjusted_pvalues([0.01, 0.03, 0.04], "fwer")
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(pvalues, dtype=np.float64)
    if error == "none" or not len(p):
        return p.copy()
    if error == "fdr":
        return np.asarray(false_discovery_control(p, method="bh"))
    if error != "fwer":
        raise ValueError(f'error must be "fdr", "fwer" or "none", but is {error!r}.')
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted
