"""Trend, season and autocorrelation of a target: against literal least squares, and in made series."""

import numpy as np
import pytest
import reference_dependent as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift.data.dependence import Dependence
from foresift.selectors.relevance.time_series import effective_rows, fit_filter

seeds = st.integers(0, 2**32 - 1)


def autoregressive(rng, n, coefficient):
    """A stationary series of variance 1."""
    values = rng.normal(size=n)
    for i in range(1, n):
        values[i] = coefficient * values[i - 1] + np.sqrt(1 - coefficient**2) * values[i]
    return values


def series(values):
    """The filter of one series of these values."""
    return fit_filter(Dependence(time=np.arange(len(values))), values[:, np.newaxis])


@given(seeds, st.sampled_from([0.0, 0.5, 0.9]), st.integers(12, 150))
@settings(deadline=None, max_examples=30)
def test_the_filter_is_that_of_least_squares(seed, coefficient, n):
    rng = np.random.default_rng(seed)
    y, x = autoregressive(rng, n, coefficient), rng.normal(size=n)
    moved = rng.permutation(n)  # rows in any order
    fitted = fit_filter(Dependence(time=moved), y[moved][:, np.newaxis])
    terms = [np.arange(n)]
    for frequency in fitted.frequencies:
        n_times = sum(k * frequency < 0.5 for k in range(1, min(10, n // 40) + 1))
        terms += reference.waves(frequency, n, n_times)
    left = reference.without_terms(y, terms)
    lags = reference.autoregression(left / np.linalg.norm(left), int(np.clip(n // 10, 1, 10)))
    assert fitted.lags[0] == pytest.approx(lags, abs=1e-6)
    expected = reference.innovations(reference.without_terms(x, terms), lags)
    assert fitted.apply(x[moved]) == pytest.approx(expected, abs=1e-6)


@given(seeds, st.booleans())
@settings(deadline=None, max_examples=20)
def test_a_panel_is_filtered_series_by_series(seed, shared):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 9, 25)
    groups = np.repeat(np.arange(25), sizes)
    time = np.concatenate([np.arange(size) for size in sizes]) if shared else np.arange(len(groups))
    y, x = rng.normal(size=(2, len(groups)))
    fitted = fit_filter(Dependence(groups, time), y[:, np.newaxis])
    if shared:  # means of series and of times
        terms = [groups == g for g in range(1, 25)] + [time == t for t in range(1, sizes.max())]
    else:  # means of series, and one slope
        terms = [groups == g for g in range(1, 25)] + [time]
    left = reference.without_terms(x, terms)
    assert fitted.left(x) == pytest.approx(left, abs=0.01 if shared else 1e-8)  # in ten rounds
    left = fitted.left(x)
    expected = [reference.innovations(left[groups == g], fitted.lags[0]) for g in range(25)]
    assert fitted.apply(x) == pytest.approx(np.concatenate(expected))
    assert fitted.starts.tolist() == np.cumsum([0, *map(len, expected)])[:-1].tolist()


def test_few_long_series_have_autoregressions_of_their_own():
    rng = np.random.default_rng(0)
    values = np.r_[autoregressive(rng, 300, 0.6), autoregressive(rng, 300, -0.6)]
    groups, time = np.repeat([0, 1], 300), np.tile(np.arange(300), 2)
    first = fit_filter(Dependence(groups, time), values[:, np.newaxis]).lags[:, 0]
    assert first == pytest.approx([0.6, -0.6], abs=0.2)


def test_autoregressive_noise_becomes_white():
    for seed in range(5):
        values = autoregressive(np.random.default_rng(seed), 1000, 0.8)
        new = series(values).apply(values)
        assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) > 0.7
        assert abs(np.corrcoef(new[1:], new[:-1])[0, 1]) < 0.1


def found_seasons(make, n_tables=40, n=300):
    tables = (make(np.random.default_rng([seed, 9]), np.arange(n)) for seed in range(n_tables))
    return [series(values) for values in tables]


@pytest.mark.parametrize("coefficient", [0.0, 0.7])
def test_noise_has_rarely_a_trend_or_a_season(coefficient):
    fitted = found_seasons(lambda rng, t: autoregressive(rng, len(t), coefficient))
    assert sum(bool(one.frequencies) for one in fitted) <= 9  # in about 0.07 of such series
    assert sum(one.trend for one in fitted) <= 3


@pytest.mark.parametrize("period", [7, 12, 24.5])
def test_a_season_is_found_at_its_frequency_and_taken_away(period):
    for one in found_seasons(lambda rng, t: np.sin(2 * np.pi * t / period) + rng.normal(size=len(t)), 10):
        assert not one.stationary
        assert one.frequencies[0] == pytest.approx(1 / period, abs=0.5 / 300)
        season = np.sin(2 * np.pi * np.arange(300) / period)
        assert np.var(one.left(season)) < 0.1 * np.var(season)


def test_a_trend_is_found_and_taken_away():
    for one in found_seasons(lambda rng, t: t / 100 + rng.normal(size=len(t)), 10):
        assert one.trend
        assert not one.stationary
        assert one.left(np.arange(300.0)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("coefficient", "low", "high"), [(0.0, 250, 400), (0.5, 80, 200), (0.9, 8, 40)])
def test_effective_rows_are_about_those_of_the_mean(coefficient, low, high):
    # 400 (1 - a) / (1 + a): 400, 133, 21
    found = []
    for seed in range(15):
        values = autoregressive(np.random.default_rng(seed), 400, coefficient)
        found.append(effective_rows(series(values), values[:, np.newaxis]))
    assert low < np.median(found) <= high
    assert max(found) <= 400


@pytest.mark.parametrize("n", [2, 3, 5, 12, 60])
@pytest.mark.parametrize("kind", ["constant", "line", "alternating", "one jump"])
def test_hopeless_series_are_filtered_without_errors(n, kind):
    t = np.arange(float(n))
    values = {"constant": 0 * t, "line": t, "alternating": t % 2, "one jump": (t > n / 2) * 1.0}[kind]
    fitted = series(values)
    assert np.isfinite(fitted.apply(values)).all()
    assert 0 <= effective_rows(fitted, values[:, np.newaxis]) <= n
