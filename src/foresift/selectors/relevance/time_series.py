"""Trend, season and autocorrelation of a target in time, and how to take them away."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc
from scipy.stats import chi2

from foresift.data.dependence import Dependence

__all__ = ["Filter", "fit_filter", "orthonormal"]

MAX_LAGS = 10
MAX_TERMS = 8  # seasons and steps that are taken away
MAX_PERIOD, MAX_CELLS = 366, 2**24  # rows of a season of any shape, and of its indicators times all rows
MAX_WAVES = 25  # a line of the spectrum and its multiples
MAX_DRIFT = 8  # slow cosines that are taken away, whether or not there is a trend
MIN_ROWS = 50  # in which they are looked for
LONG = 30  # rows of a series that has an autoregression of its own, if there are few
MANY = 20  # series
SHARED = 5  # rows at the same time, on average, from which on the mean of every time is taken away
_TERM = 0.01  # p-value of a season
_STEP = 13.0  # chi-square of a step at any row: a p-value of about 0.01 (Andrews 1993)
_PERIODS = 4  # of a season, at least
_NEAR = 12  # frequencies on either side that a peak is compared with
_TREND = 0.001  # p-value of a trend
_CLEARLY = 10  # times smaller p-value of waves that are preferred to a whole number of rows
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
    periods : list of float
        Rows of the seasons; 0 for a step.
    trend : bool
        Whether there is a trend, or a slow change, beyond chance.
    n_independent : float
        Number of independent rows that tell as much.
    """

    order: NDArray[np.intp]
    sizes: NDArray[np.intp]
    codes: list[NDArray[np.intp]]
    known: NDArray[np.float64]
    lags: NDArray[np.float64] = field(default_factory=lambda: np.empty((1, 0)))
    periods: list[float] = field(default_factory=list)
    trend: bool = False
    n_independent: float = np.inf

    @property
    def stationary(self) -> bool:
        """Whether there is neither trend nor season."""
        return not self.periods and not self.trend

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
        return _innovations(self.left(values), self.sizes, self.lags)


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
    ordered = _without_means(values[order].T, codes)
    slopes = _without_means(time.astype(np.float64) * _apart(sizes), codes).T
    known = orthonormal(slopes) if len(codes) == 1 else plain.known
    periods: list[float] = []
    left = ordered - (ordered @ known) @ known.T
    if len(sizes) == 1:
        for _ in range(MAX_TERMS):
            terms, period = _term(left)
            if terms is None:
                break
            known = orthonormal(np.column_stack([known, terms - terms.mean(axis=0)]))
            left = ordered - (ordered @ known) @ known.T
            periods.append(period)
    lags = _lags(left, sizes, n_lags)
    n_independent, trend = _effective_rows(left, sizes, lags), False
    if len(codes) == 1:
        drift = orthonormal(np.column_stack([known, _without_means(_drift(sizes), codes).T]))
        rest = ordered - (ordered @ drift) @ drift.T
        own = _lags(rest, sizes, n_lags)  # a trend makes rows look more alike than they are
        new = _innovations(rest, sizes, own)
        at_zero = new.var(axis=1) / max(1e-6, 1 - float(own.sum(axis=1).mean())) ** 2
        moved = (ordered**2).sum(axis=1) - (rest**2).sum(axis=1)
        trend = bool((moved / np.maximum(at_zero, _TINY) > chi2.isf(_TREND, drift.shape[1])).any())
        known = drift
    return Filter(order, sizes, codes, known, lags, periods, trend, n_independent)


def _lags(left: NDArray[np.float64], sizes: NDArray[np.intp], n_lags: int) -> NDArray[np.float64]:
    """Coefficients of the rows before: of each series if these are few and long, else of all together."""
    if len(sizes) >= MANY or sizes.min() < LONG:
        return _autoregression(left, sizes, n_lags)[np.newaxis]
    ends = np.cumsum(sizes)
    parts = [
        _autoregression(left[:, end - n : end], np.array([n]), n_lags)
        for end, n in zip(ends, sizes, strict=True)
    ]
    used = max(len(part) for part in parts)
    return np.array([np.pad(part, (0, used - len(part))) for part in parts])


def _innovations(
    left: NDArray[np.float64], sizes: NDArray[np.intp], lags: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Rows less what those before predict; the first of every series are left out."""
    new, of_row = left.copy(), np.repeat(lags, sizes if len(lags) > 1 else left.shape[-1], axis=0)
    for lag in range(1, lags.shape[1] + 1):
        new[..., lag:] -= of_row[lag:, lag - 1] * left[..., :-lag]
    return np.asarray(new[..., _places(sizes) >= lags.shape[1]])


def _apart(sizes: NDArray[np.intp]) -> NDArray[np.float64]:
    """1 in the rows of a series, for each of few series; of many, of all together."""
    if len(sizes) >= MANY:
        return np.ones((1, int(sizes.sum())))
    return np.repeat(np.eye(len(sizes)), sizes, axis=1)


def _drift(sizes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Slow cosines of each of few series, of many of all together."""
    places, longest = _places(sizes), int(sizes.max())
    times = np.arange(1, min(MAX_DRIFT, longest // 40) + 1)
    waves = np.cos(np.pi * np.outer(times, places + 0.5) / longest)
    return np.concatenate([wave * _apart(sizes) for wave in waves] or [np.empty((0, len(places)))])


def _effective_rows(left: NDArray[np.float64], sizes: NDArray[np.intp], lags: NDArray[np.float64]) -> float:
    """Number of independent rows whose mean is as uncertain.

    By the variance, and the spectrum at 0 that an autoregression has.
    """
    variance, new = left.var(axis=1), _innovations(left, sizes, lags).var(axis=1)
    ratio = variance / np.maximum(new, 1e-12 * variance + _TINY)
    return float(min(1.0, ratio.min() * (1 - float(lags.sum(axis=1).mean())) ** 2) * left.shape[1])


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


def orthonormal(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal columns that span the same."""
    norms = np.linalg.norm(terms, axis=0)
    u, s, _ = np.linalg.svd(terms[:, norms > 0] / norms[norms > 0], full_matrices=False)
    return np.asarray(u[:, s > 1e-8 * s.max(initial=0)])


def _term(left: NDArray[np.float64]) -> tuple[NDArray[np.float64] | None, float]:
    """Terms of a season or of a step that a series has beyond chance, and the period; of a step it is 0."""
    # Without most of what neighbours share, rows are nearly independent. More lags would hide a season.
    sizes = np.array([left.shape[1]])
    values = _innovations(left, sizes, _autoregression(left, sizes, 2)[np.newaxis])
    norms, n_rows = np.linalg.norm(values, axis=1, keepdims=True), left.shape[1]
    if n_rows < MIN_ROWS or not (norms > 0).all():
        return None, 0.0
    values = values / norms
    season = _season(values, n_rows)
    if season is not None:
        return season
    if (at := _step(values)) is not None:
        first = at + n_rows - values.shape[1]  # what is new starts later
        return (np.arange(n_rows) >= first).astype(np.float64)[:, np.newaxis], 0.0
    return None, 0.0


def _season(values: NDArray[np.float64], n_rows: int) -> tuple[NDArray[np.float64], float] | None:
    """Terms of the season that explains most beyond chance, and its period.

    Either every place of a whole number of rows is a term of its own, or waves are: a line of the spectrum
    and its multiples, or those of a line that is twice or three times as slow.
    """
    longest = min(n_rows // 8, MAX_PERIOD, MAX_CELLS // n_rows)
    tries = max(1, longest)
    found = [(_p_of_period(values, period) * tries, float(period)) for period in range(2, longest + 1)]
    line = _line(values)
    for slower in () if line is None else (1, 2, 3):
        near = (line or 0.0) / slower + np.linspace(-1, 1, 41) / (2 * _PAD * n_rows)
        found.extend((_p_of_waves(values, frequency) * tries, 1 / frequency) for frequency in near)
    # Waves of the best of many frequencies fit somewhat better than the whole number of rows that it is.
    p, period = min(
        found,
        key=lambda one: (one[0] * (1 if one[1] % 1 == 0 else _CLEARLY), one[1] % 1 > 0, one[1]),
        default=(1.0, 0.0),
    )
    if p > _TERM:
        return None
    if period == int(period):
        return np.eye(int(period))[np.arange(n_rows) % int(period)], period
    return _waves(1 / period, n_rows), period


def _waves(frequency: float, n_rows: int) -> NDArray[np.float64]:
    """Sines and cosines of a frequency and its multiples."""
    times = np.arange(1, max(1, min(int(0.5 / frequency), n_rows // 16, MAX_WAVES)) + 1)
    angles = np.outer(2 * np.pi * frequency * np.arange(n_rows), times)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _p_of_period(values: NDArray[np.float64], period: int) -> float:
    """P-value of the means of rows that are a whole number of rows apart."""
    place = np.arange(values.shape[1]) % period
    sums = np.array([np.bincount(place, one, minlength=period) for one in values])
    explained = (sums**2 / np.bincount(place)).sum(axis=1).mean()
    return _p_of_share(float(explained), period - 1, values.shape[1])


def _p_of_waves(values: NDArray[np.float64], frequency: float) -> float:
    """P-value of waves."""
    waves = _waves(frequency, values.shape[1])
    products = waves.T @ values.T
    explained = (products * (np.linalg.pinv(waves.T @ waves, hermitian=True) @ products)).sum(axis=0)
    return _p_of_share(float(explained.mean()), waves.shape[1], values.shape[1])


def _p_of_share(explained: float, n_terms: int, n_rows: int) -> float:
    """P-value of the share of the variance that so many terms explain, by an F test."""
    return float(betainc((n_rows - 1 - n_terms) / 2, n_terms / 2, np.clip(1 - explained, 0, 1)))


def _line(values: NDArray[np.float64]) -> float | None:
    """Frequency of a periodic component that is far above the spectrum around it.

    One of at least a few periods: slower ones are no season but drift.
    """
    n_rows = values.shape[1]
    spectrum = (np.abs(np.fft.rfft(values)) ** 2).mean(axis=0)[1:]
    n_freq = len(spectrum)
    places = np.arange(n_freq)
    low = np.clip(places - _NEAR, 0, n_freq - 2 * _NEAR - 1)
    others = low[:, np.newaxis] + np.arange(2 * _NEAR)
    others += others >= places[:, np.newaxis]  # all but the frequency itself
    ratio = spectrum / (np.median(spectrum[others], axis=1) / np.log(2))
    ratio[: _PERIODS - 1] = 0
    at = int(ratio.argmax())
    # The level around it is an estimate from so many frequencies.
    if n_freq * (1 + ratio[at] / _NEAR) ** -_NEAR > _TERM:
        return None
    fine = np.arange(at * _PAD + 1, (at + 2) * _PAD) / (
        _PAD * n_rows
    )  # from one frequency below to one above
    power = np.abs(values @ np.exp(-2j * np.pi * np.outer(np.arange(n_rows), fine))) ** 2
    return float(fine[power.sum(axis=0).argmax()])


def _step(values: NDArray[np.float64]) -> int | None:
    """The row from which on the level is another, if the difference is beyond chance."""
    n_rows = values.shape[1]
    after = np.cumsum(values[:, ::-1], axis=1)[:, ::-1]  # from every row on
    n_after = np.arange(n_rows, 0, -1)
    inner = slice(n_rows // 20, n_rows - n_rows // 20)
    chi = ((after**2).mean(axis=0) * n_rows / np.maximum(n_after * (1 - n_after / n_rows), 1e-9))[inner]
    return int(chi.argmax()) + inner.start if chi.max() > _STEP else None


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
    lagged = np.array([scaled[:, rows - lag].ravel() for lag in range(1, n_lags + 1)])
    lagged = lagged.reshape(n_lags, len(y)).T
    best, lags = np.inf, np.zeros(0)
    for k in range(n_lags + 1):
        found = np.linalg.lstsq(lagged[:, :k], y, rcond=None)[0]
        rss = float(((y - lagged[:, :k] @ found) ** 2).sum())
        score = len(rows) * np.log(max(rss, _TINY)) + 2 * k
        if score < best:
            best, lags = score, np.asarray(found)
    if len(lags):
        lags[0] += min(max(0.0, (2 + 4 * lags.sum()) / len(rows)), max(0.0, 1 - lags.sum()))
    return np.asarray(lags)
