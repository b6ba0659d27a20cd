"""Tail probabilities of the best gain of an irrelevant feature at a node of two classes."""

from __future__ import annotations

import math

from foresift import _core

__all__ = ["null_tail"]

# Nodes of up to _COUNTED rows are counted exactly; larger ones are scaled from a node of _SCALED_FROM rows.
# With at most _FEW rows of the rarer class the band is so narrow that counting _COUNTED_OF_FEW rows takes a
# second and 150 MB.
_FEW, _COUNTED_OF_FEW, _COUNTED, _SCALED_FROM = 200, 1 << 22, 1 << 19, 1 << 18


def null_tail(i: int, n: int, gain: float) -> float:
    """Probability that the best cut reaches a gain at a node of n rows, i of them of the rarer class.

    Examples
    --------
    >>> null_tail(1, 4, 0.8)  # the row must lie at an end
    0.5
    >>> null_tail(1, 10**15, 1e-15 * 20)  # near enough to one
    1.9...e-06
    """
    if gain > _entropy(i, n) + _rounding(gain):
        return 0.0
    if i == 1:
        return _tail_of_one(n, gain)
    few = i <= _FEW
    if n <= (_COUNTED_OF_FEW if few else _COUNTED):
        return _core.null_tail(i, n - i, gain)
    # For fixed i, n times the gain hardly depends on n, and its tail grows like log i. Gains that the smaller
    # node cannot reach are bounded by the probability of its largest gain.
    like = _COUNTED_OF_FEW if few else _SCALED_FROM
    rarer = max(round(i / n * like), min(i, like // 4))
    tail = _core.null_tail(rarer, like - rarer, min(gain * (n / like), _entropy(rarer, like)))
    return min(1.0, tail * math.log(i) / math.log(rarer))


def _tail_of_one(n: int, gain: float) -> float:
    """The same for one row of a class among n: the best cut is next to it, with m other rows on one side.

    As in eq. 21, m is the larger number of rows on a side, and all positions of the row are equally likely.
    """
    wanted = n * (gain - _rounding(gain))
    low, high = n // 2, n - 1  # the range of m; the gain is largest for the last
    while low < high:
        middle = (low + high) // 2
        if _entropies(1, n) - _entropies(1, n - middle) >= wanted:
            high = middle
        else:
            low = middle + 1
    return min(1.0, 2 * (n - low) / n)


def _rounding(gain: float) -> float:
    """Tolerance of a comparison of gains; see `cpp/kernels/null_gain.cpp`."""
    return min(1e-11, 1e-6 * gain)


def _entropies(i: int, n: int) -> float:
    """Return n times the entropy of a node, in bits, accurate even for one row among millions."""
    return i * math.log2(n / i) - ((n - i) * math.log1p(-i / n) / math.log(2) if i < n else 0.0)


def _entropy(i: int, n: int) -> float:
    return _entropies(i, n) / n
