"""Validate and scale sample weights."""

from __future__ import annotations

import numbers

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

__all__ = ["check_sample_weight", "countable", "scale_up"]


def check_sample_weight(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    """Check sample weights: one per row, finite, not negative, not all zero, and `countable`.

    A scalar is the weight of every row. The result is C-contiguous float64 and may be the caller's array.

    Examples
    --------
    >>> check_sample_weight([1, 0, 2], 3)
    array([1., 0., 2.])
    >>> check_sample_weight([1, -1, 2], 3)
    Traceback (most recent call last):
        ...
    ValueError: Negative values in data passed to `sample_weight`: every weight must be 0 or more.
    """
    if sample_weight is None:
        return None
    if np.isscalar(sample_weight):
        if isinstance(sample_weight, bool) or not isinstance(sample_weight, numbers.Real):
            raise TypeError(f"sample_weight is {sample_weight!r}: give one number per row of X, or None.")
        sample_weight = np.full(n_rows, float(sample_weight))
    weights: NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight"
    )
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got an array of shape {weights.shape}.")
    if len(weights) != n_rows:
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}! Give one weight per row of X."
        )
    if weights.min() < 0:
        raise ValueError("Negative values in data passed to `sample_weight`: every weight must be 0 or more.")
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return countable(weights)


def countable(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rescale extreme weights so that their sums and squares are exact enough; most weights are unchanged.

    A row of weight w counts as w rows. A sum above 2**53, the largest exact integer of a double, or below
    2**-53 is multiplied by a power of two, which is exact, to at most 2**53 or 1. Weights so different in
    size that the smallest would be lost in rounding raise an error.

    Examples
    --------
    >>> countable(np.array([0.5, 3.0])), countable(np.array([2.0**600, 2.0**601])) / 2**53
    (array([0.5, 3. ]), array([0.25, 0.5 ]))
    >>> countable(np.array([5e-324, 5e-324]))
    array([0.25, 0.25])
    >>> countable(np.array([1e20, 1.0, 1.0]))
    Traceback (most recent call last):
        ...
    ValueError: The weights of the rows range from 1 to 1e+20: the smallest are lost in rounding...
    """
    with np.errstate(over="ignore"):
        total = weights.sum()
    if 2.0**-53 <= total <= 2.0**20 * len(weights):
        return weights
    least, most = weights[weights > 0].min(), weights.max()
    exponent = np.frexp(most)[1]
    exponent += np.frexp(np.ldexp(weights, -exponent).sum())[1]  # of the sum, which itself may overflow
    if total < 1:
        return np.asarray(np.ldexp(weights, -exponent))
    if np.frexp(least)[1] < exponent - 40:
        raise ValueError(
            f"The weights of the rows range from {least:.3g} to {most:.3g}: the smallest are lost in rounding"
            " next to the largest. Bring them closer together, or set the smallest to 0."
        )
    return weights if total <= 2.0**53 else np.asarray(np.ldexp(weights, 53 - exponent))


def scale_up(weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Scale weights with a mean below one, such as weights that sum to one, to a mean of one.

    Node sizes are sums of weights, so the unit of the weights must not decide how far a tree grows. Weights
    with a larger mean are unchanged if they are `countable`: a row of weight 2 counts as two rows.

    Examples
    --------
    >>> scale_up(np.array([0.25, 0.75])), scale_up(np.array([1.0, 3.0]))
    (array([0.5, 1.5]), array([1., 3.]))
    """
    if weights is None:
        return None
    weights = countable(weights)  # class weights may be very large or small
    mean = weights.sum() / np.count_nonzero(weights)
    if mean >= 1:
        return weights
    scaled = weights / mean
    # Weights of 1/n must become exactly 1: a rounding error below, a row would be too small for a leaf.
    whole = np.rint(scaled)
    return np.where(np.abs(scaled - whole) <= 1e-12 * whole, whole, scaled)
