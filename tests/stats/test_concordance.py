"""Statistics of several rankings against their definitions and SciPy."""

import itertools
import math

import numpy as np
import pytest
import reference_filters as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from foresift.stats.concordance import (
    average_ranks,
    kendall_taus,
    kendall_w,
    places_in_top,
    robust_rank_scores,
)

SCORES = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, math.inf, math.nan]), min_size=1, max_size=12)


@given(SCORES)
def test_ties_share_the_mean_of_their_ranks(scores):
    assert np.array_equal(average_ranks(scores), reference.ranks(scores))
    if not np.isnan(scores).any():
        assert np.array_equal(average_ranks(scores), stats.rankdata(np.negative(scores)))


def test_rounding_makes_no_ranks():
    assert average_ranks([0.1 + 0.2, 0.3, 0.0]).tolist() == [1.5, 1.5, 3]


def test_neighbours_of_equal_score_are_tied():
    # a ranking breaks the ties of its scores by column order
    assert average_ranks([-1, -2, -3, -4], [0.7, 0.0, 0.0, 0.0]).tolist() == [1, 3, 3, 3]
    # but may have better reasons than the scores
    assert average_ranks([-1, -2, -3, -4], [0.7, 0.2, 0.7, 0.1]).tolist() == [1, 2, 3, 4]


TIED = st.lists(st.integers(1, 4), min_size=5, max_size=5).map(stats.rankdata)


@settings(deadline=None, max_examples=40)
@given(TIED, st.integers(1, 5))
def test_places_and_points_are_means_over_the_orders_of_ties(ranks, top):
    inside, points = places_in_top(ranks, top)
    assert inside == pytest.approx(reference.votes(ranks, top))
    assert inside.sum() == pytest.approx(top)
    assert points == pytest.approx(reference.borda(ranks, top))


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), min_size=1, max_size=7))
def test_rho_equals_the_definition(ratios):
    expected = [reference.rho(column) for column in np.transpose(ratios)]
    assert robust_rank_scores(ratios) == pytest.approx(expected, rel=1e-9)


def test_rho_is_a_pvalue_on_the_safe_side():
    ratios = np.random.default_rng(0).random((6, 20_000))
    pvalues = np.minimum(6 * robust_rank_scores(ratios), 1)
    for level in (0.01, 0.05, 0.2):
        share = (pvalues <= level).mean()
        assert share <= level + 3 * math.sqrt(level / 20_000)
        assert share > level / 6  # Bonferroni costs at most the number of lists


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(3, 12))
def test_concordance_is_friedmans(seed, m, n):
    ranks = np.array([stats.rankdata(row) for row in np.random.default_rng(seed).integers(0, 5, size=(m, n))])
    statistic = stats.friedmanchisquare(*ranks.T).statistic
    if np.isnan(statistic):
        assert math.isnan(kendall_w(ranks))
    else:
        assert kendall_w(ranks) == pytest.approx(statistic / (m * (n - 1)), abs=1e-9)


def test_taus_are_those_of_scipy():
    ranks = np.array([stats.rankdata(row) for row in np.random.default_rng(0).integers(0, 6, size=(4, 30))])
    taus = kendall_taus(ranks)
    for a, b in itertools.product(range(4), repeat=2):
        assert taus[a, b] == pytest.approx(stats.kendalltau(ranks[a], ranks[b]).statistic)
