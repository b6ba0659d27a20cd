"""Node complexity: the information in the order of the rows of a node along a feature (Rogers & Gunn 2)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

__all__ = ["complexity_of", "complexity_of_distinct"]


def complexity_of(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Node complexity of valid class counts, such as those of trees."""
    whole = np.rint(np.minimum(counts, 2.0**53)).astype(np.int64)  # above, all doubles are whole
    # Counts computed as frequency times size are whole only up to rounding.
    is_whole = (np.abs(counts - whole) <= 1e-9 + 1e-12 * counts).all(axis=-1)
    log_all = _log_multinomial(whole)
    if not is_whole.all():
        log_all[~is_whole] = _log_multinomial(counts[~is_whole])
    mirrored = is_whole & ((whole & 1).sum(axis=-1) <= 1)
    own_mirror = np.zeros_like(log_all)
    own_mirror[mirrored] = np.exp(_log_multinomial(whole[mirrored] >> 1) - log_all[mirrored])
    return np.maximum(log_all / math.log(2) - (1.0 - own_mirror), 0.0)


def complexity_of_distinct(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Node complexity of nodes of these sizes whose rows all differ in the target.

    Examples
    --------
    >>> complexity_of_distinct(np.array([1.0, 2.0, 3.0, 4.0])).round(3)  # 1, 1, 3 and 12 arrangements
    array([0.   , 0.   , 1.585, 3.585])
    """
    return np.maximum(gammaln(sizes + 1.0) / math.log(2) - 1.0, 0.0)


def _log_multinomial(counts: NDArray[Any]) -> NDArray[np.float64]:
    n = counts.sum(axis=-1)
    logs = np.asarray(_log_factorial(n) - _log_factorial(counts) @ np.ones(counts.shape[-1]))
    huge = n > 2**32  # the differences of such large factorials are lost in rounding
    if huge.any():
        logs[huge] = _log_multinomial_of_huge(counts[huge])
    return logs


def _log_multinomial_of_huge(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Sum the log number of arrangements of every class among the classes before it."""
    before, rows = np.cumsum(counts, axis=-1)[..., :-1], counts[..., 1:]
    ways = -betaln(before + 1.0, rows + 1.0) - np.log(before + rows + 1.0)
    return np.asarray(np.where((before > 0) & (rows > 0), ways, 0.0).sum(axis=-1))


def _log_factorial(n: NDArray[Any]) -> NDArray[np.float64]:
    # For many whole numbers, as in the nodes of a forest, use a cached table.
    if n.dtype.kind == "i" and n.size:
        size = 1 << max(10, int(n.max()).bit_length())
        if size <= max(16 * n.size, 1024):
            return _log_factorials(size)[n]
    return gammaln(n + 1.0)


@lru_cache(maxsize=12)
def _log_factorials(size: int) -> NDArray[np.float64]:
    return gammaln(np.arange(1.0, size + 1.0))
