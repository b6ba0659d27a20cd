"""How likely the best cut of an irrelevant feature is to reach a gain, at a node of two classes."""

from __future__ import annotations

import math

from foresift import _core

__all__ = ["null_tail"]

# Nodes are counted up to so many rows, and beyond scaled from nodes of so many. Few rows of the rarer class
# leave so narrow a band that longer ones can be counted, in a second and 150 MB.
_FEW, _COUNTED_OF_FEW, _COUNTED, _SCALED_FROM = 200, 1 << 22, 1 << 19, 1 << 18


def null_tail(i: int, n: int, gain: float) -> float:
    """Probability that the best cut gains as much at a node of n rows, i of them of the rarer class.

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
    # n times the gain hardly depends on n as long as i is the same, and its tail grows like log i. Gains that
    # are out of the smaller node's reach are less likely than its largest, which stands for them.
    like = _COUNTED_OF_FEW if few else _SCALED_FROM
    rarer = max(round(i / n * like), min(i, like // 4))
    tail = _core.null_tail(rarer, like - rarer, min(gain * (n / like), _entropy(rarer, like)))
    return min(1.0, tail * math.log(i) / math.log(rarer))


def _tail_of_one(n: int, gain: float) -> float:
    """The same for one row of a class among n: the best cut lies beside it, and parts m others from it.

    As eq. 21 has it, m is the larger number of rows on a side, and all places of the row are equally likely.
    """
    asked = n * (gain - _rounding(gain))
    low, high = n // 2, n - 1  # m is one of these; the last of them gains all there is
    while low < high:
        middle = (low + high) // 2
        if _entropies(1, n) - _entropies(1, n - middle) >= asked:
            high = middle
        else:
            low = middle + 1
    return min(1.0, 2 * (n - low) / n)


def _rounding(gain: float) -> float:
    """How much less than a gain counts as that gain; see `cpp/kernels/null_gain.cpp`."""
    return min(1e-11, 1e-6 * gain)


def _entropies(i: int, n: int) -> float:
    """Return n times the entropy of a node, in bits, precise also where i is 1 among millions."""
    return i * math.log2(n / i) - ((n - i) * math.log1p(-i / n) / math.log(2) if i < n else 0.0)


def _entropy(i: int, n: int) -> float:
    return _entropies(i, n) / n
