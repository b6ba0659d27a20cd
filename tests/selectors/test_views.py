"""Rows that depend on each other, seen so that they do not: against literal references."""

import numpy as np
import pytest
import reference_dependent as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift.data.dependence import Dependence
from foresift.selectors.relevance.joint import category_ranks, joint_log_pvalues
from foresift.selectors.relevance.views import (
    Between,
    Innovations,
    Pooled,
    Squares,
    Within,
    autocorrelated,
    uneven,
    views_of,
    visible,
)

seeds = st.integers(0, 2**32 - 1)


def some_groups(rng, n_groups, most):
    """Groups of 1 to `most` rows in random order, one of several rows at least."""
    groups = np.repeat(np.arange(n_groups), np.r_[2, rng.integers(1, most + 1, n_groups - 1)])
    return rng.permutation(groups)


def by_kind(views):
    return {type(view): view for view in views}


def spread_of(view, x, y):
    """Spread of sums of columns, one or several, times one target, all as they are seen."""
    ranks, values = np.atleast_2d(x), y[:, np.newaxis]
    return view.spread(ranks, values, Squares.of(ranks, values))


def grouped(groups, values):
    return by_kind(views_of(Dependence(groups), values))


@given(seeds)
@settings(deadline=None, max_examples=40)
def test_views_of_groups_are_deviations_and_scaled_means(seed):
    rng = np.random.default_rng(seed)
    groups = some_groups(rng, 12, 4)
    effect = rng.normal(size=12)[groups] * rng.integers(0, 3)
    y, x = effect + rng.normal(size=len(groups)), rng.normal(size=len(groups))
    share = reference.share_of_groups(y, groups)
    views = grouped(groups, y[:, np.newaxis])
    deviations, means = reference.deviations(x, groups), reference.scaled_means(x, groups, share)
    assert views[Within].seen(x) == pytest.approx(deviations)
    assert views[Between].seen(x) == pytest.approx(means)
    largest = max(1 / np.sqrt(share + (1 - share) / np.bincount(groups)))
    pooled = np.r_[deviations / np.sqrt(1 - share) / largest, means]
    assert views[Pooled].seen(x) == pytest.approx(pooled)
    both = np.stack([x, y])
    for view in views.values():  # along the last axis, whatever is before
        assert view.seen(both)[0] == pytest.approx(view.seen(x))


@given(seeds)
@settings(deadline=None, max_examples=20)
def test_the_variance_within_groups_is_that_of_all_permutations(seed):
    rng = np.random.default_rng(seed)
    groups = some_groups(rng, 4, 3)
    sizes = np.bincount(groups)[np.bincount(groups) > 1]
    view = grouped(groups, rng.normal(size=(len(groups), 1)))[Within]
    x, y = view.seen(rng.normal(size=(2, len(groups))))
    expected = reference.variance_within(x, y, np.repeat(np.arange(len(sizes)), sizes))
    starts = np.cumsum(sizes) - sizes
    by_group = np.add.reduceat(x**2, starts) * np.add.reduceat(y**2, starts) / (sizes - 1)
    assert by_group.sum() == pytest.approx(expected)
    spread = spread_of(view, x, y)
    varying = by_group.sum() ** 2 / (by_group**2 / (sizes - 1)).sum()
    assert varying < 10  # so few rows have no test
    assert np.isnan(spread.variance).all()
    assert spread.n_free == (sizes - 1).sum() + 1
    # The same groups often enough: variances add up.
    often = np.tile(x, 20), np.tile(y, 20)
    view = grouped(np.repeat(np.arange(20 * len(sizes)), np.tile(sizes, 20)), often[1][:, np.newaxis])[Within]
    spread = spread_of(view, *often)
    assert spread.variance[0, 0] == (
        pytest.approx(20 * expected) if 20 * varying >= 10 else pytest.approx(np.nan, nan_ok=True)
    )


def test_both_views_together_have_the_freedom_of_satterthwaite():
    rng = np.random.default_rng(3)
    groups = some_groups(rng, 30, 6)
    y = rng.normal(size=30)[groups] + rng.normal(size=len(groups))
    views = grouped(groups, y[:, np.newaxis])
    x = np.stack([rng.normal(size=len(groups)), rng.normal(size=30)[groups]])
    spreads = {}
    for kind, view in views.items():
        spreads[kind] = spread_of(view, visible(view, x), view.seen(y))
    squared = views[Pooled].scale ** 4
    parts = [squared * spreads[Within].variance[0, 0], spreads[Between].variance[0, 0]]
    assert spreads[Pooled].variance[0, 0] == pytest.approx(sum(parts))
    freedoms = [spreads[Within].n_free - 2, spreads[Between].n_free - 2]
    assert spreads[Pooled].n_free[0, 0] - 2 == pytest.approx(reference.satterthwaite(parts, freedoms))
    assert freedoms == [len(groups) - 30 - 1, 28]
    # A column that does not vary within groups has but their means.
    assert spreads[Pooled].variance[1, 0] == pytest.approx(spreads[Between].variance[1, 0])
    assert spreads[Pooled].n_free[1, 0] == pytest.approx(30)


def test_means_of_groups_spread_as_if_groups_were_permuted():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(12), 3)
    view = grouped(groups, rng.normal(size=(36, 1)))[Between]
    x, y = view.seen(rng.normal(size=(2, 36)))
    sums = [x @ rng.permutation(y) for _ in range(20_000)]
    spread = spread_of(view, x, y)
    assert spread.variance[0, 0] == pytest.approx(np.var(sums), rel=0.05)
    assert spread.n_free == 12


@pytest.mark.parametrize(
    ("n_groups", "size", "kinds"),
    [(9, 5, {Within}), (10, 5, {Between, Within, Pooled}), (500, 2, {Between, Within, Pooled})],
)
def test_few_groups_have_no_means(n_groups, size, kinds):
    groups = np.repeat(np.arange(n_groups), size)
    values = np.random.default_rng(0).normal(size=(len(groups), 1))
    assert set(grouped(groups, values)) == kinds
    of_groups = np.arange(float(n_groups))[groups][:, np.newaxis]  # nothing within groups to pool with
    assert set(grouped(groups, of_groups)) == kinds - {Pooled}


@pytest.mark.parametrize(("n_series", "kinds"), [(3, {Innovations}), (12, {Innovations, Between})])
def test_a_panel_has_innovations_and_means(n_series, kinds):
    groups, time = np.repeat(np.arange(n_series), 20), np.tile(np.arange(20), n_series)
    views = views_of(Dependence(groups, time), np.random.default_rng(0).normal(size=(len(groups), 1)))
    assert set(by_kind(views)) == kinds


@pytest.mark.parametrize("n_series", [1, 4, 25])
@pytest.mark.parametrize("size", [2, 3, 40])
def test_innovations_have_no_mean(n_series, size):
    # With one, what strong predictors leave would be a constant, and related to any other constant.
    rng = np.random.default_rng(size)
    n = n_series * size
    dependence = Dependence(np.repeat(np.arange(n_series), size), np.tile(np.arange(size), n_series))
    view = by_kind(views_of(dependence, rng.normal(size=(n, 1))))[Innovations]
    assert view.seen(np.cumsum(rng.normal(size=(3, n)), axis=1)).mean(axis=1) == pytest.approx(0, abs=1e-12)


def test_sums_of_many_series_say_how_far_sums_spread():
    rng = np.random.default_rng(2)
    groups, time = np.repeat(np.arange(30), 5), np.tile(np.arange(5), 30)
    view = by_kind(views_of(Dependence(groups, time), rng.normal(size=(150, 1))))[Innovations]
    x, y = view.seen(rng.normal(size=(2, 150)))
    spread = spread_of(view, x, y)
    assert spread.variance[0, 0] == pytest.approx(((x * y).reshape(30, -1).sum(axis=1) ** 2).sum())
    assert spread.n_free == 31


def test_a_series_spreads_more_where_column_and_target_vary_more_at_the_same_times():
    rng = np.random.default_rng(0)
    loud = np.where(np.arange(400) // 50 % 2, 4.0, 1.0)
    white, burst = rng.normal(size=(2, 400)), loud * rng.normal(size=(2, 400))
    ratios = []
    for x, y in (white, burst):
        view = Innovations(views_of(Dependence(time=np.arange(400)), y[:, np.newaxis])[0].filter)
        x, y = view.seen(np.stack([x, y]))
        spread = spread_of(view, x, y)
        ratios.append(spread.variance[0, 0] / ((x @ x) * (y @ y) / (spread.n_free - 1)))
    assert ratios[0] == 1
    assert 1.5 < ratios[1] < 3  # 2 (1 + 256) / (1 + 16)^2 = 1.78 in the long run


def test_factors_of_the_spread_are_those_of_sums():
    # Of squares at the same rows, and of correlations with rows that are shifted around by four or more.
    rng = np.random.default_rng(4)
    ranks, values = rng.normal(size=(3, 90)), rng.normal(size=(90, 2))
    squares = Squares.of(ranks, values)
    products = [[90 * sum(x**2 * y**2) / (x @ x * (y @ y)) for y in values.T] for x in ranks]
    assert uneven(ranks, values, squares, sure=True) == pytest.approx(np.maximum(products, 1))
    assert (uneven(ranks, values, squares) == 1).all()  # by chance
    shifted = [
        [np.mean([(x @ np.roll(y, k)) ** 2 for k in range(4, 87)]) * 80 / (x @ x * (y @ y)) for y in values.T]
        for x in ranks
    ]
    assert autocorrelated(ranks, values, squares, 80, sure=True) == pytest.approx(np.maximum(shifted, 1))


def test_missing_ranks_of_a_series_are_between_their_neighbours():
    order = np.array([3, 0, 4, 1, 2, 5])  # rows by time
    time = np.argsort(order)
    view = views_of(Dependence(time=time), np.arange(6.0)[:, np.newaxis])[0]
    values, missing = (
        np.array([1.0, 0.0, 7.0, 0.0, 0.0, 9.0]),
        np.array([False, True, False, True, True, False]),
    )
    assert view.filled(values, missing)[order].tolist() == [1, 1, 3, 5, 7, 9]
    assert view.filled(values, np.zeros(6, dtype=bool)) is values
    assert np.array_equal(view.filled(values, np.ones(6, dtype=bool)), values)


def test_deviations_of_what_is_constant_within_groups_are_nothing():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 7)
    view = grouped(groups, rng.normal(size=(140, 1)))[Within]
    constant, varying = rng.normal(size=20)[groups], rng.normal(size=140)
    assert view.seen(constant).any()  # rounding
    seen = visible(view, np.stack([constant, varying]))
    assert not seen[0].any()
    assert np.array_equal(seen[1], view.seen(varying))


@given(seeds)
@settings(deadline=None, max_examples=20)
def test_joint_test_is_that_of_a_regression(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, 80)
    ranks = category_ranks(codes, 4)  # of rank 3
    assert ranks.sum(axis=1) == pytest.approx(0, abs=1e-9)
    y = rng.normal(size=80) + 0.5 * (codes == 1)
    y -= y.mean()
    found = np.exp(joint_log_pvalues(ranks, y[:, np.newaxis], 60))
    assert found[0] == pytest.approx(reference.joint_pvalue(ranks[:3], y, 60), rel=1e-6)


def test_joint_test_of_too_few_rows_or_nothing_is_none():
    rng = np.random.default_rng(0)
    ranks, y = rng.normal(size=(3, 40)), rng.normal(size=(40, 1))
    assert np.isnan(joint_log_pvalues(ranks, y, 13)).all()  # 9 rows more than columns and a mean
    assert not np.isnan(joint_log_pvalues(ranks, y, 14)).any()
    assert np.isnan(joint_log_pvalues(0 * ranks, y, 40)).all()
    assert np.isnan(joint_log_pvalues(ranks, np.hstack([y, 0 * y]), 40)).tolist() == [False, True]


def test_frequent_categories_count_and_missing_ones_are_in_the_middle():
    codes = np.repeat([0, 1, 2, 3], [50, 30, 4, 16])  # 3 is missing, 2 is rare
    ranks = category_ranks(codes, 3)
    assert ranks.shape == (2, 100)
    assert np.unique(ranks[0]).tolist() == pytest.approx([-50 / 84, 0, 34 / 84])
    assert not ranks[:, codes == 3].any()
