"""Tail probabilities of the best cut's variance reduction, for a column that is independent of a quantity.

The sum of y on one side of a cut is a sum of draws without replacement. Its tail is a double saddlepoint
approximation (Booth & Butler 1990), which accounts for skewness, heavy tails and outliers of y. The tails of
the cuts are added up as in Lausen & Schumacher (1992), with Siegmund's (1985) correction for discrete cuts:
each counts as far as none before it reaches the reduction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, log_ndtr, ndtr

__all__ = ["reduction_tail"]

_MAX_GROUPS, _SINGLE = 1024, 128  # of values of y, and of those at each end that stay alone
_MAX_CUTS = 40  # whose tails are computed; those between are interpolated
_ROUNDING = 1e-10
_LEAST, _STEEPEST, _GENTLEST = -1e5, 20.0, 1e-6  # logarithms of a probability and a steepness, a steepness


def reduction_tail(y: NDArray[np.float64], sizes: NDArray[np.uint32], share: float) -> float:
    """Probability that the best cut explains a share of the variance of y, if y is permuted along a column.

    `y` has mean 0 and squares that sum up to 1; `sizes` has the rows of each value of the column, in order.

    Examples
    --------
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0]) / 2
    >>> round(reduction_tail(y, np.array([2, 2], dtype=np.uint32), 1.0), 6)  # two of six arrangements
    0.333333
    """
    n = len(y)
    cuts = np.cumsum(sizes, dtype=np.float64)[:-1]
    # From both ends of the column to its middle, by the rows on the smaller side.
    halves = [half for half in (cuts[2 * cuts <= n], n - cuts[2 * cuts > n][::-1]) if len(half)]
    computed = _some(np.unique(np.concatenate(halves)))
    total = 0.0
    for values in (y, -y):  # the sum of the smaller side is large, or small
        sums = _Sums(values)
        tails = np.array([sums.tail(int(m), np.sqrt(share * m * (n - m) / n)) for m in computed])
        for half in halves:
            log_p, log_steepness = (np.interp(np.log(half), np.log(computed), each) for each in tails.T)
            total += _over_cuts(half, n, np.exp(log_p), np.exp(log_steepness))
    return min(1.0, total)


def _some(cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """At most `_MAX_CUTS` of these sorted numbers, dense at the beginning."""
    if len(cuts) <= _MAX_CUTS:
        return cuts
    places = np.unique(np.geomspace(1, len(cuts), _MAX_CUTS).round().astype(np.intp)) - 1
    return cuts[places]


def _over_cuts(
    cuts: NDArray[np.float64], n: int, p: NDArray[np.float64], steepness: NDArray[np.float64]
) -> float:
    """Probability that any cut is reached, from the probability of each and how fast it falls."""
    before, after = cuts[:-1], cuts[1:]
    # In half log odds of the share on one side, the standardised sum reverts to 0 at the rate 1, as an
    # Ornstein-Uhlenbeck process does. So beyond the threshold it is a random walk with a drift.
    drift = steepness[1:] * np.log(after / before * ((n - before) / (n - after))) / 2
    x = np.sqrt(2 * drift)
    overshoot = 2 / x * (ndtr(x / 2) - 0.5) / (x / 2 * ndtr(x / 2) + np.exp(-(x**2) / 8) / np.sqrt(2 * np.pi))
    new = p[1:] * np.minimum(drift * overshoot, 1.0)
    return float(p[0] + np.maximum(new, np.diff(p)).sum())


class _Sums:
    """Sums of values drawn without replacement."""

    def __init__(self, y: NDArray[np.float64]) -> None:
        self.n = len(y)
        self.sorted = np.sort(y)[::-1]
        self.largest = np.cumsum(self.sorted)
        self.values, self.counts = np.unique(y, return_counts=True)
        self.step = _lattice_step(self.values)
        if len(self.values) > _MAX_GROUPS:
            self.values, self.counts = _grouped(self.sorted)

    def tail(self, m: int, s: float) -> tuple[float, float]:
        """Logarithms of the probability that the sum of m values is s or more, and of its steepness.

        The steepness is the fall of the logarithm of the probability, per logarithm of s.
        """
        if m == 1:
            reached = np.count_nonzero(self.sorted >= s - _ROUNDING)
            return float(np.log(reached / self.n)) if reached else _LEAST, _STEEPEST
        log_ways = float(gammaln(self.n + 1) - gammaln(m + 1) - gammaln(self.n - m + 1))
        largest = self.largest[m - 1]
        if s > largest + _ROUNDING:
            return _LEAST, _STEEPEST
        if s > largest - _ROUNDING:
            tied = self.sorted == self.sorted[m - 1]
            t, k = tied.sum(), tied[:m].sum()
            return float(gammaln(t + 1) - gammaln(k + 1) - gammaln(t - k + 1)) - log_ways, _STEEPEST
        if self.step:  # the next value that the sum can have; half a step less for continuity
            s = largest - self.step * np.floor((largest - s + _ROUNDING) / self.step) - self.step / 2
        log_p, steepness, entropy = self._saddlepoint(m, s)
        # Between one way and Chernoff's bound, which is exact for the largest sum.
        log_p = float(np.clip(log_p, -log_ways, entropy - log_ways))
        return log_p, float(np.clip(np.log(max(steepness, _GENTLEST)), None, _STEEPEST))

    def _saddlepoint(self, m: int, s: float) -> tuple[float, float, float]:
        """Each value is drawn with its own odds exp(a + t y), such that m are expected, and the sum s.

        Returns the logarithm of the tail, its steepness, and the entropy of these draws.
        """
        y, counts = self.values, self.counts
        none = np.log(m / (self.n - m))  # log odds without a tilt
        a, t, f = none, 0.0, self._cumulant(none, 0.0, m, s)
        start = f
        for _ in range(100):
            p = expit(a + t * y)
            q = counts * p * (1 - p)
            q0, q1, q2 = q.sum(), q @ y, q @ y**2
            gradient_a, gradient_t = counts @ p - m, (counts * p) @ y - s
            determinant = q0 * q2 - q1**2
            if not determinant > 0:
                break
            da = (q2 * gradient_a - q1 * gradient_t) / determinant
            dt = (q0 * gradient_t - q1 * gradient_a) / determinant
            decrease = gradient_a * da + gradient_t * dt  # twice what is left to gain
            if decrease < 1e-12:
                break
            size = 1.0
            while (g := self._cumulant(a - size * da, t - size * dt, m, s)) > f - size * decrease / 4:
                size /= 2
                if size < 1e-9:  # as near as rounding allows
                    break
            if size < 1e-9:
                break
            a, t, f = a - size * da, t - size * dt, g
        w = np.sqrt(max(2 * (start - f), 0.0))
        if t <= 0 or w < 1e-4:
            return float(np.log(0.5)), 0.0, np.inf
        with np.errstate(over="ignore"):
            tilt = 2 * np.sinh(t * self.step / 2) / self.step if self.step else t
        u = tilt * np.sqrt(max(determinant, 0.0) * self.n / (m * (self.n - m)))
        return float(log_ndtr(-(w + np.log(u / w) / w)) if u > 0 else 0.0), t * s, f

    def _cumulant(self, a: float, t: float, m: int, s: float) -> float:
        return float(self.counts @ np.logaddexp(0.0, a + t * self.values) - a * m - t * s)


def _lattice_step(values: NDArray[np.float64]) -> float:
    """Step of which all differences of the sorted values are multiples; 0 without one."""
    gaps = np.diff(values)
    if not 0 < len(gaps) < _MAX_GROUPS:
        return 0.0
    step = gaps.min()
    multiples = gaps / step
    return float(step) if (np.abs(multiples - multiples.round()) < 1e-6).all() else 0.0


def _grouped(falling: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Means and sizes of groups of neighbouring values; those at both ends stay alone."""
    ends = np.arange(_SINGLE)
    inner = np.linspace(_SINGLE, len(falling) - _SINGLE, _MAX_GROUPS - 2 * _SINGLE, endpoint=False).astype(
        np.intp
    )
    starts = np.concatenate([ends, inner, len(falling) - _SINGLE + ends])
    counts = np.diff(np.append(starts, len(falling)))
    return np.add.reduceat(falling, starts) / counts, counts
