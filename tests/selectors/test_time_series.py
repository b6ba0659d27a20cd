"""Trend, season and autocorrelation of a target: against literal least squares, and in made series."""

import numpy as np
import pytest
import reference_dependent as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift.data.dependence import Dependence
from foresift.selectors.relevance.time_series import _step, fit_filter

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


def terms_of(fitted, n):
    """Slope, seasons and steps of a filter of one series."""
    terms = [np.arange(n)]
    for period in fitted.periods:
        assert period  # no step
        whole = period == int(period)
        terms += reference.places_of_a_season(int(period), n) if whole else reference.waves(1 / period, n)
    return terms


# --- against least squares ---


@given(seeds, st.sampled_from([0.0, 0.5, 0.9]), st.sampled_from([0, 5, 7, 8.3]), st.integers(12, 300))
@settings(deadline=None, max_examples=40)
def test_the_filter_is_that_of_least_squares(seed, coefficient, period, n):
    rng = np.random.default_rng(seed)
    y, x = autoregressive(rng, n, coefficient), rng.normal(size=n)
    if period:
        y += 3 * np.sin(2 * np.pi * np.arange(n) / period)
    moved = rng.permutation(n)  # rows in any order
    fitted = fit_filter(Dependence(time=moved), y[moved][:, np.newaxis])
    if 0 in fitted.periods:  # by chance
        return
    terms = terms_of(fitted, n)
    lags = reference.autoregression([reference.without_terms(y, terms)], int(np.clip(n // 10, 1, 10)))
    assert fitted.lags[0] == pytest.approx(lags, abs=1e-6)
    left = reference.without_terms(x, terms + reference.drift(n))
    assert fitted.left(x[moved]) == pytest.approx(left, abs=1e-6)
    assert fitted.apply(x[moved]) == pytest.approx(reference.innovations(left, lags), abs=1e-6)
    assert fitted.n_estimated == np.linalg.matrix_rank(
        np.column_stack([np.ones(n), *terms, *reference.drift(n)])
    )


def test_several_values_of_a_target_share_a_filter():
    rng = np.random.default_rng(0)
    y = autoregressive(rng, 200, 0.6)
    one = series(y)
    both = fit_filter(Dependence(time=np.arange(200)), np.column_stack([y, 3 - 2 * y]))
    assert both.lags == pytest.approx(one.lags)
    assert both.n_independent == pytest.approx(one.n_independent)
    assert both.apply(np.stack([y, y**2]))[1] == pytest.approx(both.apply(y**2))


def panel_of(sizes, shared):
    """Numbers of series, and times that all of them share or that follow each other."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    time = np.concatenate([np.arange(size) for size in sizes]) if shared else np.arange(len(groups))
    return groups, time


def within(groups, terms):
    """Terms of every group for itself."""
    return [np.where(groups == g, term, 0.0) for g in range(groups.max() + 1) for term in terms]


@given(seeds, st.booleans())
@settings(deadline=None, max_examples=20)
def test_many_series_share_a_slope_or_means_of_times_and_lags(seed, shared):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 9, 25)
    groups, time = panel_of(sizes, shared)
    y, x = rng.normal(size=(2, len(groups)))
    moved = rng.permutation(len(groups))
    fitted = fit_filter(Dependence(groups[moved], time[moved]), y[moved][:, np.newaxis])
    terms = within(groups, [np.ones(len(groups))])
    terms += [time == t for t in range(1, sizes.max())] if shared else [time]
    left = reference.without_terms(x, terms)
    # Means of series and of times are taken away in turn, ten times.
    assert fitted.left(x[moved]) == pytest.approx(left, abs=0.01 if shared else 1e-8)
    parts = [fitted.left(y[moved])[groups == g] for g in range(25)]
    assert fitted.lags == pytest.approx(reference.autoregression(parts, 1)[np.newaxis], abs=1e-6)
    left = fitted.left(x[moved])
    expected = [reference.innovations(left[groups == g], fitted.lags[0]) for g in range(25)]
    assert fitted.apply(x[moved]) == pytest.approx(np.concatenate(expected))
    assert fitted.starts.tolist() == np.cumsum([0, *map(len, expected)])[:-1].tolist()


@given(seeds, st.integers(2, 4))
@settings(deadline=None, max_examples=10)
def test_each_of_few_series_has_its_own_slope_drift_and_lags(seed, n_series):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(40, 90, n_series)
    groups, time = panel_of(sizes, True)
    y, x = np.concatenate([autoregressive(rng, size, 0.5) for size in sizes]), rng.normal(size=len(groups))
    fitted = fit_filter(Dependence(groups, time), y[:, np.newaxis])
    slopes = within(groups, [np.ones(len(groups)), time])
    # The longest series has whole half periods; it says how many cosines there are.
    waves = [np.cos(np.pi * k * (time + 0.5) / sizes.max()) for k in range(1, sizes.max() // 40 + 1)]
    left = reference.without_terms(x, slopes + within(groups, waves))
    assert fitted.left(x) == pytest.approx(left, abs=1e-6)
    of_target = reference.without_terms(y, slopes)
    n_lags = int(np.median(sizes)) // 10
    lags = [reference.autoregression([of_target[groups == g]], n_lags) for g in range(n_series)]
    used = max(map(len, lags))
    lags = [np.pad(one, (0, used - len(one))) for one in lags]
    assert fitted.lags == pytest.approx(np.array(lags), abs=1e-6)
    expected = [reference.innovations(left[groups == g], one) for g, one in enumerate(lags)]
    assert fitted.apply(x) == pytest.approx(np.concatenate(expected), abs=1e-6)


def test_short_series_of_a_panel_are_left_out():
    sizes = np.r_[np.full(24, 30), 4]
    groups, time = panel_of(sizes, False)
    fitted = fit_filter(Dependence(groups, time), np.random.default_rng(0).normal(size=(len(groups), 1)))
    assert fitted.sizes.tolist() == [30] * 24
    assert np.array_equal(fitted.order, np.arange(720))


# --- what is found in noise, and beside it ---


def fitted_series(make, n_tables=40, n=300):
    tables = (make(np.random.default_rng([seed, 9]), np.arange(n)) for seed in range(n_tables))
    return [series(values) for values in tables]


@pytest.mark.parametrize("coefficient", [0.0, 0.7])
def test_noise_has_rarely_a_trend_a_season_or_a_step(coefficient):
    fitted = fitted_series(lambda rng, t: autoregressive(rng, len(t), coefficient))
    assert sum(bool(one.periods) for one in fitted) <= 4
    # A trend that is none costs a test, but no error: in about 0.05 and 0.12 of such series.
    assert sum(one.trend for one in fitted) <= 12


@pytest.mark.parametrize("period", [7, 12])
def test_a_season_of_any_shape_is_found_and_taken_away(period):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        season = rng.normal(size=period)[np.arange(300) % period]
        one = series(season + 0.5 * rng.normal(size=300))
        assert not one.stationary
        assert one.periods[0] == period
        assert one.left(season) == pytest.approx(0, abs=1e-9)
        alone = series(season)  # without noise
        assert alone.periods[0] == period
        assert alone.left(season) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("period", [7.3, 24.5])
def test_waves_of_a_period_that_is_no_whole_number_are_found(period):
    season = np.sin(2 * np.pi * np.arange(300) / period)
    for one in fitted_series(lambda rng, t: np.sin(2 * np.pi * t / period) + rng.normal(size=len(t)), 5):
        assert not one.stationary
        assert np.var(one.left(season)) < 0.1 * np.var(season)


def test_a_trend_is_found_and_taken_away():
    for one in fitted_series(lambda rng, t: t / 100 + rng.normal(size=len(t)), 10):
        assert one.trend
        assert not one.stationary
        assert one.left(np.arange(300.0)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("size", [1, 3])
def test_a_step_is_no_noise_and_taken_away(size):
    # Not as a step: the rows before predict one row but the first of it, and slow waves are much like it.
    step = (np.arange(300) >= 110).astype(float)
    for one in fitted_series(lambda rng, t: size * (t >= 110) + rng.normal(size=len(t)), 10):
        assert not one.stationary
        assert np.var(one.left(step)) < 0.1 * np.var(step)


@given(seeds, st.integers(20, 379))
@settings(deadline=None, max_examples=30)
def test_a_step_of_white_noise_is_found_where_it_is(seed, at):
    values = np.random.default_rng(seed).normal(size=400) + 20 * (np.arange(400) >= at)
    values -= values.mean()
    assert _step(values[np.newaxis] / np.linalg.norm(values)) == at


def test_autoregressive_noise_becomes_white():
    for seed in range(5):
        values = autoregressive(np.random.default_rng(seed), 1000, 0.8)
        new = series(values).apply(values)
        assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) > 0.7
        assert abs(np.corrcoef(new[1:], new[:-1])[0, 1]) < 0.1


@pytest.mark.parametrize("coefficient", [0.0, 0.5, 0.8])
def test_independent_rows_are_those_of_the_mean(coefficient):
    found = [
        series(autoregressive(np.random.default_rng(seed), 600, coefficient)).n_independent
        for seed in range(15)
    ]
    assert np.median(found) == pytest.approx(600 * (1 - coefficient) / (1 + coefficient), rel=0.3)
    assert max(found) <= 600


def test_a_random_walk_has_hardly_any_independent_rows():
    for seed in range(10):
        assert series(np.cumsum(np.random.default_rng(seed).normal(size=400))).n_independent < 10


@pytest.mark.parametrize("n", [2, 3, 5, 12, 60])
@pytest.mark.parametrize("kind", ["constant", "line", "alternating", "one jump"])
def test_hopeless_series_are_filtered_without_errors(n, kind):
    t = np.arange(float(n))
    values = {"constant": 0 * t, "line": t, "alternating": t % 2, "one jump": (t > n / 2) * 1.0}[kind]
    fitted = series(values)
    assert np.isfinite(fitted.apply(values)).all()
    assert 0 <= fitted.n_independent <= n
