"""The forest's test: scores of unlike columns on one scale against a reference, and calibrated p-values."""

import numpy as np
import pytest
from power import few_or_many, highest
from scipy import stats

from foresift.data.table import make_table
from foresift.selectors.relevance.pooling import (
    forest_log_pvalues,
    log_effective_levels,
    normalize_null,
    standardized,
)


def literal(scores, kinds, of_mean, of_variance):
    """Every column and shadow against the other shadows, with windows by direct comparison."""
    roots = np.cbrt(scores)
    n, width = roots.shape
    z = np.empty((n, width))
    for t in range(width):
        others = [k for k in range(1, width) if k != t]
        mean, variance = roots[:, others].mean(axis=1), roots[:, others].var(axis=1, ddof=1)
        for j in range(n):
            near = np.abs(kinds - kinds[j]) <= 0.3
            m = mean[near].mean() + of_mean * (mean[j] - mean[near].mean())
            v = variance[near].mean() * (variance[j] / variance[near].mean()) ** of_variance
            z[j, t] = (roots[j, t] - m) / np.sqrt(v)
    return z


def gammas(rng, shapes, scales, n_shadows=10):
    return rng.gamma(shapes[:, np.newaxis], scales[:, np.newaxis], (len(shapes), 1 + n_shadows))


def pvalues_of(scores, kinds):
    return np.exp(forest_log_pvalues(normalize_null(standardized(scores, kinds))))


def test_columns_each_of_their_own_kind_have_their_own_yardstick():
    scores = gammas(np.random.default_rng(0), np.linspace(1, 9, 12), np.linspace(1, 2, 12))
    kinds = np.arange(12.0)
    assert standardized(scores, kinds) == pytest.approx(literal(scores, kinds, 1, 1))


def test_columns_of_one_kind_share_one_yardstick():
    # The columns differ by less than chance would have it, so nothing is theirs.
    rng = np.random.default_rng(0)
    scores = np.array([rng.permutation(np.linspace(1, 2, 11)) for _ in range(30)])
    z = standardized(scores, np.zeros(30))
    assert z == pytest.approx(literal(scores, np.zeros(30), 0, 0))
    assert stats.spearmanr(z[:, 0], scores[:, 0]).statistic == pytest.approx(1)


@pytest.mark.parametrize("told", [True, False], ids=["kinds told apart", "kinds not told"])
@few_or_many(60, 3000)
def test_pvalues_of_unlike_columns_are_those_of_chance(told, n_tables):
    # Two sorts of columns whose chance gains differ in mean and spread, by kind or only by their shadows.
    rng = np.random.default_rng(1)
    shapes, scales = np.repeat([0.7, 8.0], 60), np.repeat([0.2, 1.0], 60)
    kinds = shapes * 1.0 if told else np.zeros(120)
    pvalues = np.array([pvalues_of(gammas(rng, shapes, scales), kinds) for _ in range(n_tables)])
    for sort in (pvalues[:, :60], pvalues[:, 60:]):
        for alpha in (0.01, 0.05, 0.2):
            share, error = (sort <= alpha).mean(), np.sqrt(alpha * (1 - alpha) / sort.size)
            assert share < 1.5 * alpha + 3 * error
            assert share > alpha / 2.5 - 3 * error


@pytest.mark.parametrize(("shift", "stretch"), [(1, 1), (3, 1), (3, 2), (0, 2.5)])
@few_or_many(100, 1500)
def test_an_odd_column_among_many_alike_has_a_yardstick_of_its_own(shift, stretch, n_tables):
    rng = np.random.default_rng(3)
    pvalues = []
    for _ in range(n_tables):
        roots = rng.normal(size=(300, 11))
        roots[0] = shift + stretch * roots[0]
        pvalues.append(pvalues_of((1 + 0.03 * roots) ** 3, np.zeros(300)))
    pvalues = np.array(pvalues)
    # Mean and spread of an odd column are known from its own ten shadows only, so tails are heavier: rates
    # of 0.039, 0.091 and 0.143 were measured if it spreads twice as far, 0.017, 0.059 and 0.111 if it is only
    # shifted. The slow run finds rates of 0.072, 0.138 and 0.206.
    for alpha, rate in ((0.01, 0.045), (0.05, 0.1), (0.1, 0.16)):
        assert (pvalues[:, 0] <= alpha).mean() < highest(rate, n_tables)
        # Its shadows are on the yardstick of the others, and make their tail look longer than it is.
        assert 0.6 * alpha < (pvalues[:, 1:] <= alpha).mean() < 1.25 * alpha


def test_the_yardstick_of_an_odd_column():
    rng = np.random.default_rng(4)
    roots = np.array([rng.permutation(np.linspace(1, 2, 11)) for _ in range(40)])
    roots[7] = 5 + 4 * (roots[7] - 1.5)
    z = standardized(roots**3, np.zeros(40))
    shadows = roots[7, 1:]
    assert z[7, 0] == pytest.approx((roots[7, 0] - shadows.mean()) / shadows.std(ddof=1))


def test_unknown_shadows_are_left_out():
    rng = np.random.default_rng(2)
    scores = gammas(rng, np.full(20, 4.0), np.ones(20))
    scores[3, 5] = np.nan
    z = standardized(scores, np.zeros(20))
    assert np.isnan(z[3, 5])
    assert np.isnan(z).sum() == 1
    assert np.isfinite(forest_log_pvalues(normalize_null(z))).all()


def test_kinds():
    x = np.arange(32.0)
    X = np.column_stack([x, x // 16, x // 8, np.where(x < 16, np.nan, 1.0)])
    kinds = log_effective_levels(make_table(X, x % 2, categorical_features=[2]), None)
    assert np.exp(kinds[[0, 1, 3]]) == pytest.approx([32, 2, 2])
    assert np.exp(kinds[2] - 1000) == pytest.approx(4)
    half = log_effective_levels(make_table(X, x % 2, categorical_features=[2]), (x < 16).astype(float))
    assert np.exp(half[[0, 1]]) == pytest.approx([16, 1])


def test_unskewed_scores_keep_their_order_and_are_about_normal():
    rng = np.random.default_rng(3)
    z = (rng.gamma(16, size=(400, 11)) - 16) / 4
    z[0, 0], z[1, 1] = 30, np.nan
    mended = normalize_null(z)
    known = ~np.isnan(z)
    assert np.array_equal(np.isnan(mended), ~known)
    assert np.array_equal(np.argsort(z[known], kind="stable"), np.argsort(mended[known], kind="stable"))
    shadows = mended[:, 1:][known[:, 1:]]
    assert stats.skew(z[:, 1:][known[:, 1:]]) > 0.4
    assert abs(stats.skew(shadows)) < 0.08
    assert stats.kstest(shadows, "norm").pvalue > 0.01
    flat = rng.normal(size=(50, 11))  # nothing to mend but mean and spread
    flat[:, 1:] = np.concatenate([flat[:, 1:6], -flat[:, 1:6]], axis=1)
    assert normalize_null(flat) == pytest.approx(flat / flat[:, 1:].std())
    assert np.array_equal(normalize_null(np.ones((3, 5))), np.ones((3, 5)))


@pytest.mark.parametrize("n_columns", [3, 50, 150])
def test_pvalues_are_tails_of_the_scores(n_columns):
    # By Student's distribution for fewer than 1,000 shadows; those that are unknown do not count.
    rng = np.random.default_rng(4)
    z = rng.normal(size=(n_columns, 11))
    z[0, 1:4] = np.nan
    z[:3, 0] = [-2, 2, 6]
    n_shadows = 10 * n_columns - 3
    tail = stats.norm if n_shadows > 1000 else stats.t(n_shadows - 1)
    assert np.exp(forest_log_pvalues(z)) == pytest.approx(tail.sf(z[:, 0]))


@pytest.mark.parametrize("n_columns", [60, 200])
def test_scores_without_equal_have_finite_pvalues(n_columns):
    z = np.random.default_rng(5).normal(size=(n_columns, 11))
    z[:, 0] = np.linspace(30, 1e4, n_columns)
    with np.errstate(all="raise", under="ignore"):
        logs = forest_log_pvalues(z)
    assert np.isfinite(logs).all()
    assert (np.diff(logs) <= 0).all()


@pytest.mark.parametrize("n_columns", [3, 10, 40])
def test_pvalues_of_few_columns_hold(n_columns):
    # A few columns have more shadows, a hundred in all; their mean, spread and skewness are uncertain.
    rng = np.random.default_rng(n_columns)
    n_shadows = max(10, -(-100 // n_columns))
    found = [
        pvalues_of(gammas(rng, np.full(n_columns, 3.0), np.ones(n_columns), n_shadows), np.zeros(n_columns))
        for _ in range(1500 // n_columns)
    ]
    for alpha in (0.001, 0.01, 0.05):
        error = 3 * np.sqrt(alpha / np.size(found))
        assert np.mean(np.array(found) <= alpha) < 1.5 * alpha + error
