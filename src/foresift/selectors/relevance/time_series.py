"""Trend, season and autocorrelation of a target in time, and how to take them away."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from foresift.data.dependence import Dependence

__all__ = ["Filter", "effective_rows", "fit_filter"]

MAX_LAGS = 10
MAX_LINES = 6  # periodic components that are taken away,
_HARMONICS = 10  # each with so many faster ones, which make it other than a sine
LONG = 30  # rows of a series that has an autoregression of its own, if there are few
MANY = 20  # series
SHARED = 5  # rows at the same time, on average, from which on the mean of every time is taken away
_LINE = 0.01  # p-value of a periodic component
_PERIODS = 4  # of a season, at least
_NEAR = 12  # frequencies on either side that a peak is compared with
_SLOPE = 10.8  # chi-square of a trend: a p-value of 0.001
_PAD = 8  # finer frequencies than the series has
_TINY = 1e-300  # nothing, which may divide nothing: of a target that is constant in the rows that count
_ROUNDS = 10  # of taking away means of series and of times in turn


@dataclass(frozen=True, eq=False)
class Filter:
    """Takes from every series its mean, trend and season, and from every row what the rows before predict.

    Attributes
    ----------
    order : ndarray of int
        The rows, series by series, in the order of time.
    sizes : ndarray of int
        Rows of every series.
    codes : list of ndarray of int
        Numbers, in that order, of what means are taken away from: of every series, and of times that series
        share.
    known : ndarray of shape (n_rows, n_terms)
        Orthonormal trend and season, without means, in that order.
    lags : ndarray of shape (n_series, n_lags)
        Coefficients of the rows before.
    frequencies : list of float
        Periods per row of the season.
    trend : bool
        Whether there is a trend beyond chance.
    """

    order: NDArray[np.intp]
    sizes: NDArray[np.intp]
    codes: list[NDArray[np.intp]]
    known: NDArray[np.float64]
    lags: NDArray[np.float64] = field(default_factory=lambda: np.empty((1, 0)))
    frequencies: list[float] = field(default_factory=list)
    trend: bool = False

    @property
    def stationary(self) -> bool:
        """Whether there is neither trend nor season."""
        return not self.frequencies and not self.trend

    @property
    def n_estimated(self) -> int:
        """Rows that the estimates have used up."""
        return int(sum(int(codes.max()) + 1 for codes in self.codes) + self.known.shape[1])

    @property
    def starts(self) -> NDArray[np.intp]:
        """Where every series starts, among the rows that are left."""
        left = self.sizes - self.lags.shape[1]
        return np.asarray(np.cumsum(left) - left)

    def left(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take away means, trend and season of numbers of rows, along the last axis."""
        left = _without_means(values[..., self.order], self.codes)
        return np.asarray(left - (left @ self.known) @ self.known.T)

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Filter numbers of rows along the last axis; the first rows of every series are left out."""
        left = self.left(values)
        new, lags = (
            left.copy(),
            np.repeat(self.lags, self.sizes if len(self.lags) > 1 else len(self.order), 0),
        )
        for lag in range(1, lags.shape[1] + 1):
            new[..., lag:] -= lags[lag:, lag - 1] * left[..., :-lag]
        return np.asarray(new[..., _places(self.sizes) >= lags.shape[1]])


def fit_filter(dependence: Dependence, values: NDArray[np.float64]) -> Filter:
    """Estimate the filter that leaves noise of a target, whose `values` are along the first axis."""
    order = dependence.order
    sizes = np.array([len(order)]) if dependence.groups is None else np.bincount(dependence.groups)
    n_lags = int(np.clip(np.median(sizes) // 10, 1, MAX_LAGS))
    n_lags = n_lags if sizes.max() > n_lags + 1 else 0  # pairs of rows say nothing of autocorrelation
    long_enough = sizes > min(n_lags + 1, sizes.max() - 1)  # others are left to the means of the groups
    order, sizes = order[np.repeat(long_enough, sizes)], sizes[long_enough]
    assert dependence.time is not None
    time = np.unique(dependence.time[order], return_inverse=True)[1]
    codes = [np.repeat(np.arange(len(sizes)), sizes)]
    if len(time) >= SHARED * (time.max() + 1):
        codes.append(time)
    plain = Filter(order, sizes, codes, np.empty((len(order), 0)))
    slope = _without_means(time.astype(np.float64), codes)
    ordered = _without_means(values[order].T, codes)
    known = _basis(slope[:, np.newaxis]) if len(codes) == 1 else plain.known
    frequencies: list[float] = []
    left = ordered - (ordered @ known) @ known.T
    if len(sizes) == 1:
        while len(frequencies) < MAX_LINES and (found := _line(left)) is not None:
            frequencies.append(found)
            known = _basis(np.column_stack([known, _waves(found, len(order))]))
            left = ordered - (ordered @ known) @ known.T
    if len(sizes) < MANY and sizes.min() >= LONG:
        ends = np.cumsum(sizes)
        parts = [
            _autoregression(left[:, e - n : e], np.array([n]), n_lags)
            for e, n in zip(ends, sizes, strict=True)
        ]
    else:
        parts = [_autoregression(left, sizes, n_lags)]
    used = max(len(part) for part in parts)
    lags = np.array([np.pad(part, (0, used - len(part))) for part in parts])
    trend = len(codes) == 1 and _has_trend(ordered, slope, float(lags.sum(axis=1).mean()))
    return Filter(order, sizes, codes, known, lags, frequencies, trend)


def effective_rows(fitted: Filter, values: NDArray[np.float64]) -> float:
    """Number of independent rows whose mean is as uncertain; a target's `values` are along the first axis.

    By the variance of what trend and season leave, and its spectrum at 0, which the autoregression has.
    """
    left, new = fitted.left(values.T), fitted.apply(values.T)
    ratio = left.var(axis=1) / np.maximum(new.var(axis=1), 1e-12 * left.var(axis=1) + _TINY)
    persistence = float(fitted.lags.sum(axis=1).mean())
    return float(min(1.0, ratio.min() * (1 - persistence) ** 2) * left.shape[1])


def _without_means(values: NDArray[np.float64], codes: list[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Deviations from the means of series, and of times if series share them, along the last axis."""
    left = values - values.mean(axis=-1, keepdims=True) if len(codes) > 1 else values
    for _ in range(_ROUNDS if len(codes) > 1 else 1):
        for some in codes:
            order = np.argsort(some, kind="stable")
            sizes = np.bincount(some)
            sums = np.add.reduceat(left[..., order], np.cumsum(sizes) - sizes, axis=-1)
            left = left - (sums / sizes)[..., some]
    return np.asarray(left)


def _basis(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal columns that span the same."""
    norms = np.linalg.norm(terms, axis=0)
    u, s, _ = np.linalg.svd(terms[:, norms > 0] / norms[norms > 0], full_matrices=False)
    return np.asarray(u[:, s > 1e-8 * s.max(initial=0)])


def _waves(frequency: float, n_rows: int) -> NDArray[np.float64]:
    """Sines and cosines of a frequency and its multiples, without their means."""
    times = np.arange(1, min(_HARMONICS, n_rows // 40) + 1)
    times = times[times * frequency < 0.5]
    angles = np.outer(2 * np.pi * frequency * np.arange(n_rows), times)
    waves = np.column_stack([np.cos(angles), np.sin(angles)])
    return np.asarray(waves - waves.mean(axis=0))


def _has_trend(ordered: NDArray[np.float64], slope: NDArray[np.float64], persistence: float) -> bool:
    """Whether the slope of any of the values is beyond chance, for rows as autocorrelated as these."""
    share = (ordered @ slope) ** 2 / ((slope @ slope) * (ordered**2).sum(axis=1) + _TINY)
    n_free = len(slope) * max(1e-3, (1 - persistence) / (1 + persistence))
    return bool((n_free * share > _SLOPE).any())


def _line(values: NDArray[np.float64]) -> float | None:
    """Frequency of a significant periodic component: far above the spectrum around it.

    One of at least a few periods: slower ones are no season but drift.
    """
    # Without most of what neighbours share the spectrum is flat enough to compare frequencies with others.
    shared = (values[:, 1:] * values[:, :-1]).sum() / ((values[:, :-1] ** 2).sum() + _TINY)
    values = values[:, 1:] - shared * values[:, :-1]
    n_rows, norms = values.shape[-1], np.linalg.norm(values, axis=-1, keepdims=True)
    if n_rows < 4 * _NEAR or not (norms > 0).all():
        return None
    spectrum = (np.abs(np.fft.rfft(values / norms)) ** 2).mean(axis=0)[1:]
    n_freq = len(spectrum)
    around = np.empty(n_freq)
    for k in range(n_freq):
        low = max(0, min(k - _NEAR, n_freq - 2 * _NEAR - 1))
        around[k] = np.median(np.delete(spectrum[low : low + 2 * _NEAR + 1], k - low)) / np.log(2)
    ratio = spectrum / around
    ratio[: _PERIODS - 1] = 0
    at = int(ratio.argmax())
    if n_freq * np.exp(-ratio[at]) > _LINE:
        return None
    fine = np.arange(at * _PAD + 1, (at + 2) * _PAD) / (
        _PAD * n_rows
    )  # from one frequency below to one above
    power = np.abs(values @ np.exp(-2j * np.pi * np.outer(np.arange(n_rows), fine))) ** 2
    return float(fine[power.sum(axis=0).argmax()])


def _places(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Place of every row in its series."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _autoregression(left: NDArray[np.float64], sizes: NDArray[np.intp], n_lags: int) -> NDArray[np.float64]:
    """Coefficients of the rows before, as many as Akaike's criterion wants, by least squares.

    Their sum is corrected for what the estimate of a mean and a slope takes away from it in short series.
    """
    norms = np.linalg.norm(left, axis=-1, keepdims=True)
    scaled = left / np.where(norms > 0, norms, 1)
    rows = np.flatnonzero(_places(sizes) >= n_lags)
    y = scaled[:, rows].ravel()
    lagged = (
        np.array([scaled[:, rows - lag].ravel() for lag in range(1, n_lags + 1)]).reshape(n_lags, len(y)).T
    )
    best, lags = np.inf, np.zeros(0)
    for k in range(n_lags + 1):
        found = np.linalg.lstsq(lagged[:, :k], y, rcond=None)[0]
        rss = float(((y - lagged[:, :k] @ found) ** 2).sum())
        score = len(rows) * np.log(max(rss, 1e-300)) + 2 * k
        if score < best:
            best, lags = score, np.asarray(found)
    if len(lags):
        lags[0] += min(max(0.0, (2 + 4 * lags.sum()) / len(rows)), max(0.0, 1 - lags.sum()))
    return np.asarray(lags)
