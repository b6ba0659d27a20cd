"""Discretization of a numeric column: by the class (Fayyad & Irani), or into bins of equal frequency."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from foresift.data.single_column import read_problem
from foresift.data.weights import scale_up

__all__ = ["cut_positions", "equal_frequency_bins", "mdl_cuts"]

_MAX_TABULATED = 2**20  # x log x of whole numbers up to here comes from a lookup table
_EPSILON = 8 * float(np.finfo(np.float64).eps)


def mdl_cuts(
    x: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    better_encoding: bool = False,
) -> NDArray[np.float64]:
    """Cut points of a numeric column by minimum description length (Fayyad & Irani 1993).

    The column is cut where the class entropy is least, and both parts are cut again, as long as a cut
    shortens the description by more than it adds.

    Parameters
    ----------
    x : array-like of shape (n,)
        The column: a NumPy array, a list, or a pandas, polars or pyarrow series. Missing values are ignored.
    y : array-like of shape (n,)
        The class of every row.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; a mean below one is scaled up to one.
    better_encoding : bool, default=False
        Count only the cuts between distinct values as candidates, not all n - 1 gaps between rows as in the
        paper. With ties this makes a cut cheaper to describe, so more cuts are made. Weka's attribute
        evaluators do so; its supervised filter Discretize has it as an option.

    Returns
    -------
    ndarray of float64
        The cut points in ascending order, midpoints between distinct values; a value equal to a cut point
        belongs below it. Empty if no cut is accepted.

    Notes
    -----
    A cut of N rows, k classes and entropy H (in bits) into parts of k1, k2 and H1, H2 is made if its
    information gain exceeds (log2(N - 1) + log2(3^k - 2) - (k H - k1 H1 - k2 H2)) / N. Among equally good
    cuts the lowest is taken.

    References
    ----------
    U. M. Fayyad, K. B. Irani, "Multi-interval discretization of continuous-valued attributes for
    classification learning", IJCAI 1993, pages 1022-1027.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> mdl_cuts(X[:, 2], y)
    array([2.45, 4.75])
    >>> mdl_cuts([1.0, 2.0, 3.0, 4.0], ["a", "b", "a", "b"])
    array([], dtype=float64)
    """
    problem = read_problem(x, y, False, sample_weight)
    assert problem.values is not None  # nominal=False
    known = ~np.isnan(problem.values)
    weights = None
    if sample_weight is not None:
        weights = scale_up(problem.weights)
        assert weights is not None
        weights = weights[known]
    values, ranks = np.unique(problem.values[known], return_inverse=True)
    cells = ranks * problem.n_classes + problem.y[known]
    counts = np.bincount(cells, weights, minlength=len(values) * problem.n_classes)
    at = cut_positions(counts.reshape(len(values), problem.n_classes).T, better_encoding=better_encoding)
    below, above = values[at - 1], values[at]
    middle = below / 2 + above / 2 if np.abs(values).max(initial=0.0) > 1e300 else (below + above) / 2
    return np.where(middle < above, middle, below)  # neighbouring floats have no number between them


def cut_positions(counts: NDArray[Any], *, better_encoding: bool = False) -> NDArray[np.intp]:
    """Cut points of `mdl_cuts` for a column given as class counts of its distinct values.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_values)
        Rows (or their weight) of every class at each distinct value, values in ascending order.
    better_encoding : bool, default=False
        As in `mdl_cuts`.

    Returns
    -------
    ndarray of int
        Ascending positions; a cut at position i separates the values before i from the others.

    Examples
    --------
    >>> cut_positions(np.array([[9, 9, 0, 0], [0, 0, 9, 9]]))
    array([2])
    """
    sums = np.zeros((len(counts), counts.shape[1] + 1), dtype=counts.dtype)
    np.cumsum(counts, axis=1, out=sums[:, 1:])
    if sums.dtype.kind == "f" and sums[:, -1].sum() <= _MAX_TABULATED and not (sums % 1).any():
        sums = sums.astype(np.int64)  # whole weights can use the lookup table
    used = np.concatenate([[0], np.cumsum(counts.any(axis=0))]) if better_encoding else None
    cuts: list[int] = []
    ranges = [(0, counts.shape[1])]
    while ranges:
        first, last = ranges.pop()
        places = None if used is None else int(used[last] - used[first]) - 1
        at = _cut(sums[:, first : last + 1], places)
        if at is not None:
            cuts.append(first + at)
            ranges += [(first, first + at), (first + at, last)]
    return np.array(sorted(cuts), dtype=np.intp)


def equal_frequency_bins(counts: NDArray[Any], n_bins: int) -> NDArray[np.intp]:
    """Bin of every distinct value, numbered from 0, so that bins have about the same number of rows.

    A value goes where the middle of its rows falls; at most `n_bins` values are each a bin of their own.

    Parameters
    ----------
    counts : ndarray of shape (n_values,)
        Rows (or their weight) of each distinct value, in ascending order; some positive.
    n_bins : int
        The most bins.

    Returns
    -------
    ndarray of int of shape (n_values,)
        The bins.

    Examples
    --------
    >>> equal_frequency_bins(np.array([1, 1, 1, 3, 2]), 2), equal_frequency_bins(np.array([9, 1]), 2)
    (array([0, 0, 0, 1, 1]), array([0, 1]))
    """
    starts = counts > 0
    if np.count_nonzero(starts) > n_bins:
        sums = np.cumsum(counts)
        first = np.searchsorted((sums - counts / 2) * n_bins, np.arange(n_bins) * sums[-1])
        starts = np.zeros(len(counts), dtype=bool)
        starts[first[first < len(counts)]] = True
    return np.maximum(np.cumsum(starts) - 1, 0)


def _cut(sums: NDArray[Any], places: int | None) -> int | None:
    """Position of the best cut of a range, from running sums of its class counts; None if it is rejected."""
    if sums.shape[1] < 3:
        return None
    left = sums[:, 1:] - sums[:, :1]  # the last is the whole range
    right = left[:, -1:] - left[:, :-1]
    size = float(left[:, -1].sum())
    if sums.dtype.kind == "f":  # remove rounding errors
        left[left < 1e-12 * size] = 0.0
        right[right < 1e-12 * size] = 0.0
    x_log_x = _x_log_x(size, sums.dtype.kind != "f")
    # Size times entropy, in nats; the best cut minimises the sum of both sides.
    of_left = x_log_x(left.sum(axis=0)) - x_log_x(left).sum(axis=0)
    of_right = x_log_x(right.sum(axis=0)) - x_log_x(right).sum(axis=0)
    of_both = of_left[:-1] + of_right
    rounding = _EPSILON * size * (1.0 + abs(math.log(size))) if size > 0 else 0.0
    at = int((of_both <= of_both.min() + rounding).argmax())  # the lowest of exact ties
    gain = of_left[-1] - of_both[at]
    if gain <= rounding:
        return None
    k, k_left, k_right = (int(np.count_nonzero(part)) for part in (left[:, -1], left[:, at], right[:, at]))
    n_left = float(left[:, at].sum())
    spread = k * of_left[-1] / size - k_left * of_left[at] / n_left - k_right * of_right[at] / (size - n_left)
    naming = math.log(max(size - 1 if places is None else places, 1))
    patterns = k * math.log(3) + math.log1p(-2 / 3.0 ** min(k, 600))
    return at + 1 if gain > naming + patterns - spread else None


def _x_log_x(size: float, whole: bool) -> Callable[[Any], Any]:
    if whole and size <= _MAX_TABULATED:
        return _tabulated(1 << int(size).bit_length()).take
    return lambda x: xlogy(x, x)


@lru_cache(maxsize=8)
def _tabulated(size: int) -> NDArray[np.float64]:
    numbers = np.arange(size, dtype=np.float64)
    return xlogy(numbers, numbers)
