"""Tail probabilities of the best cut's variance reduction, for a column that is independent of a quantity.

The sum of y on one side of a cut is a sum of draws without replacement. Its tail is a double saddlepoint
approximation (Booth & Butler 1990), which accounts for skewness, heavy tails and outliers of y. Draws of the
most frequent value and of others are told apart, and sums of few others are counted one by one. The tails of
the cuts are added up as in Lausen & Schumacher (1992), with Siegmund's (1985) correction for discrete cuts:
each counts as far as none before it reaches the reduction.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb, expit, gammaln, log_ndtr, logsumexp, ndtr

__all__ = ["reduction_tail"]

_MAX_GROUPS, _SINGLE = 1024, 128  # of values of y, and of those at each end that stay alone
_MAX_CUTS = 40  # whose tails are computed; those between are interpolated
_ROUNDING = 1e-10
_MAX_SUBSETS = 1_000_000  # that are counted
_MIN_ATOM, _MAX_DRAWS = 0.1, 50  # share of the most frequent value, and numbers of other values told apart
_MIN_LOG_P = -1e12  # stands for a probability of 0
_MIN_STEEPNESS, _MAX_LOG_STEEPNESS = 1e-6, 20.0


def reduction_tail(y: NDArray[np.float64], sizes: NDArray[np.uint32], share: float) -> float:
    """Probability that the best cut explains a share of the variance of y, if y is permuted along a column.

    `y` has mean 0 and squares that sum up to 1; `sizes` has the rows of each value of the column, in order.
    The result is 0 if no permutation reaches the share, else at least `np.finfo(float).tiny`.

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
    logs = []
    for values in (y, -y):  # the sum of the smaller side is large, or small
        sums = _Sums(values)
        tails = np.array([sums.tail(int(m), np.sqrt(share * m * (n - m) / n)) for m in computed])
        for half in halves:
            log_p, log_steepness = (np.interp(np.log(half), np.log(computed), each) for each in tails.T)
            logs.append(_log_over_cuts(half, n, log_p, np.exp(log_steepness)))
    total = logsumexp(logs)
    return 0.0 if total <= _MIN_LOG_P / 2 else float(np.clip(np.exp(total), np.finfo(float).tiny, 1.0))


def _some(cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """At most `_MAX_CUTS` of these sorted numbers, dense at the beginning."""
    if len(cuts) <= _MAX_CUTS:
        return cuts
    places = np.unique(np.geomspace(1, len(cuts), _MAX_CUTS).round().astype(np.intp)) - 1
    return cuts[places]


def _log_over_cuts(
    cuts: NDArray[np.float64], n: int, log_p: NDArray[np.float64], steepness: NDArray[np.float64]
) -> float:
    """Logarithm of the probability that any cut is reached, from that of each and how fast it falls."""
    scale = log_p.max()
    p = np.exp(log_p - scale)
    before, after = cuts[:-1], cuts[1:]
    # In half log odds of the share on one side, the standardised sum reverts to 0 at the rate 1, as an
    # Ornstein-Uhlenbeck process does. So beyond the threshold it is a random walk with a drift.
    drift = steepness[1:] * np.log(after / before * ((n - before) / (n - after))) / 2
    x = np.sqrt(2 * drift)
    overshoot = 2 / x * (ndtr(x / 2) - 0.5) / (x / 2 * ndtr(x / 2) + np.exp(-(x**2) / 8) / np.sqrt(2 * np.pi))
    new = p[1:] * np.minimum(drift * overshoot, 1.0)
    return float(scale + np.log(p[0] + np.maximum(new, np.diff(p)).sum()))


class _Sums:
    """Sums of values drawn without replacement."""

    def __init__(self, y: NDArray[np.float64]) -> None:
        self.n = len(y)
        self.sorted = np.sort(y)[::-1]
        self.largest = np.cumsum(self.sorted)
        self.values, self.counts = np.unique(y, return_counts=True)
        self.atom, self.n_atom = self.values[self.counts.argmax()], int(self.counts.max())
        self.step = _lattice_step(self.values)
        if len(self.values) > _MAX_GROUPS:
            self.values, self.counts = _grouped(self.sorted)

    @cached_property
    def others(self) -> _Subsets:
        """Sums of values other than the most frequent one."""
        return _Subsets(self.sorted[self.sorted != self.atom])

    def tail(self, m: int, s: float) -> tuple[float, float]:
        """Logarithms of the probability that the sum of m values is s or more, and of its steepness.

        The steepness is the fall of the logarithm of the probability, per logarithm of s.
        """
        log_ways = _log_comb(self.n, m)
        largest = self.largest[m - 1]
        if s > largest + _ROUNDING:
            return _MIN_LOG_P, _MAX_LOG_STEEPNESS
        if s > largest - _ROUNDING:
            tied = self.sorted == self.sorted[m - 1]
            return _log_comb(tied.sum(), tied[:m].sum()) - log_ways, _MAX_LOG_STEEPNESS
        if s <= self.largest[-1] - (self.largest[self.n - m - 1] if m < self.n else 0.0) + _ROUNDING:
            return 0.0, 0.0  # the smallest sum
        asked = s
        if self.step:  # the next value that the sum can have; half a step less for continuity
            s = largest - self.step * np.floor((largest - s + _ROUNDING) / self.step) - self.step / 2
        log_p, steepness, entropy = self._saddlepoint(m, s)
        # Between one way and Chernoff's bound, which is exact for the largest sum.
        log_p = float(np.clip(log_p, -log_ways, min(entropy - log_ways, 0.0)))
        log_steepness = float(np.clip(np.log(max(steepness, _MIN_STEEPNESS)), None, _MAX_LOG_STEEPNESS))
        draws = range(max(0, m - self.n_atom), min(m, self.n - self.n_atom) + 1)  # of other values
        is_mixed = not self.step and self.n_atom >= _MIN_ATOM * self.n and len(draws) <= _MAX_DRAWS
        if is_mixed or self.others.is_countable(draws[-1]):
            log_p = self._over_draws(m, asked, draws) - log_ways
        return log_p, log_steepness

    def _over_draws(self, m: int, s: float, draws: range) -> float:
        """Logarithm of the number of ways to reach s, by how many of the m values are not the atom."""
        atoms = [_log_comb(self.n_atom, m - k) for k in draws]
        others = [self.others.log_ways(k, s - (m - k) * self.atom) for k in draws]
        return float(logsumexp(np.add(atoms, others)))

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
        w = np.copysign(np.sqrt(max(2 * (start - f), 0.0)), t)
        if abs(w) < 1e-4:
            return float(np.log(0.5)), 0.0, np.inf
        with np.errstate(over="ignore"):
            tilt = 2 * np.sinh(t * self.step / 2) / self.step if self.step else t
        u = tilt * np.sqrt(max(determinant, 0.0) * self.n / (m * (self.n - m)))
        log_p = float(log_ndtr(-(w + np.log(u / w) / w))) if u * w > 0 else 0.0
        return log_p, t * s, f if t > 0 else np.inf

    def _cumulant(self, a: float, t: float, m: int, s: float) -> float:
        return float(self.counts @ np.logaddexp(0.0, a + t * self.values) - a * m - t * s)


class _Subsets:
    """Subsets of values, counted by their sum: one by one if they are few."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.values = values
        n_subsets = np.cumsum(comb(len(values), np.arange(min(len(values), 20) + 1)))  # 2^20 are too many
        self.max_counted = max(1, int(np.searchsorted(n_subsets, _MAX_SUBSETS, "right")) - 1)
        self.sums = [(np.zeros(1), np.full(1, -1))]  # of k values, and where the last of them is

    def is_countable(self, k: int) -> bool:
        """Whether the subsets of k and fewer values are few."""
        return k <= self.max_counted

    @cached_property
    def approximate(self) -> _Sums:
        """The same sums, with approximate tails."""
        return _Sums(self.values)

    def log_ways(self, k: int, s: float) -> float:
        """Logarithm of the number of subsets of k values whose sum is s or more."""
        if not self.is_countable(k):
            return self.approximate.tail(k, s)[0] + _log_comb(len(self.values), k)
        while len(self.sums) <= k:
            sums, last = self.sums[-1]
            n_next = len(self.values) - 1 - last
            first = np.cumsum(n_next) - n_next
            added = np.arange(n_next.sum()) + np.repeat(last + 1 - first, n_next)
            self.sums.append((np.repeat(sums, n_next) + self.values[added], added))
        reached = np.count_nonzero(self.sums[k][0] >= s - _ROUNDING)
        return float(np.log(reached)) if reached else _MIN_LOG_P


def _log_comb(n: int, k: int) -> float:
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


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
