"""The test of all categories of a nominal column at once."""

import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln
from scipy.stats import chi2_contingency, f_oneway, false_discovery_control, skew

from foresift import RelevanceSelector
from foresift.data.table import make_table
from foresift.selectors.relevance.between import (
    ValuePowers,
    between_log_pvalue,
    between_moments,
    min_rows,
    pooled,
)
from foresift.selectors.relevance.ranks import rank_tests


def pvalue(categories, values, least=1):
    """Of one column and numbers."""
    values = values - values.mean()
    counts, sums = np.bincount(categories), np.bincount(categories, values)
    return np.exp(between_log_pvalue(counts, sums, ValuePowers.of(values), least))


@pytest.mark.parametrize("groups", [[0, 0, 1, 1, 2, 2, 2], [0, 1, 2, 2, 2, 2, 2], [0, 0, 1, 2, 3, 3, 3]])
@pytest.mark.parametrize("values", [[0, 0, 0, 0, 0, 1, 1], [1, 4, 2, 9, 5, 3, 40], [-1, 0, 0, 0, 0, 0, 1]])
def test_moments_are_those_of_all_permutations(groups, values):
    values = np.array(values) - np.mean(values)
    sizes = np.bincount(groups)
    shares = [
        (np.bincount(groups, np.array(some)) ** 2 / sizes).sum() / (values @ values)
        for some in permutations(values)
    ]
    expected = np.mean(shares), np.var(shares), skew(shares)
    assert between_moments(sizes.astype(float), ValuePowers.of(values)) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_two_classes_in_many_rows_are_pearsons_chi_square(seed):
    rng = np.random.default_rng(seed)
    n = 20_000
    x = rng.integers(0, 7, n)
    y = (rng.random(n) < 0.3 + 0.01 * (x - 3)).astype(float)
    expected = chi2_contingency(pd.crosstab(x, y), correction=False).pvalue
    assert pvalue(x, y) == pytest.approx(expected, rel=0.05)


def test_normal_numbers_are_an_analysis_of_variance():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 4, 400), rng.normal(size=400)
    y += 0.3 * x
    expected = f_oneway(*(y[x == k] for k in range(4))).pvalue
    assert np.log(pvalue(x, y)) == pytest.approx(np.log(expected), rel=0.05)


@pytest.mark.parametrize(("sizes", "minority"), [((30, 30, 30), 0.5), ((80, 8, 8), 0.4), ((20,) * 10, 0.2)])
def test_pvalues_hold_if_rows_are_permuted(sizes, minority):
    rng = np.random.default_rng(1)
    x = np.repeat(np.arange(len(sizes)), sizes)
    y = (np.arange(len(x)) < minority * len(x)).astype(float)
    found = np.array([pvalue(x, rng.permutation(y), 3 / minority) for _ in range(4000)])
    for alpha in (0.5, 0.1, 0.01):
        assert abs(np.mean(found <= alpha) - alpha) < 0.15 * alpha + 4 * np.sqrt(alpha / len(found))
    assert found.max() <= 1


@pytest.mark.parametrize(
    ("sizes", "n_positive"),
    [((800, 100, 100), 30), ((760, 120, 120), 100), ((100, 100, 100), 150), ((40, 40, 40), 24)],
)
def test_small_pvalues_are_nearly_those_of_all_permutations(sizes, n_positive):
    """By enumeration of all tables. Benjamini & Hochberg's procedure needs small p-values that hold."""
    n, sizes = sum(sizes), np.array(sizes)
    found = np.meshgrid(*(np.arange(min(size, n_positive) + 1) for size in sizes[1:]), indexing="ij")
    positives = np.array([n_positive - sum(found), *found]).reshape(3, -1)
    positives = positives[:, (positives[0] >= 0) & (positives[0] <= sizes[0])].T
    logs = _log_binomial(sizes, positives).sum(axis=1) - _log_binomial(n, np.array(n_positive))
    values = np.repeat([1.0, 0.0], [n_positive, n - n_positive]) - n_positive / n
    powers = ValuePowers.of(values)
    order = np.argsort(((positives - sizes * n_positive / n) ** 2 / sizes).sum(axis=1))[::-1]
    tail = np.cumsum(np.exp(logs[order]))
    some = order[tail < 0.05]
    all_sums = positives[some] - sizes * n_positive / n
    found = np.array([between_log_pvalue(sizes, sums, powers, 1) for sums in all_sums])
    for level in (1e-2, 1e-3, 1e-4, 1e-5):
        assert np.exp(logs[some])[found <= np.log(level)].sum() <= 1.5 * level
    for level in (1e-2, 1e-3, 1e-4, 1e-5):
        last = order[np.searchsorted(tail, level)]  # about this p-value is exact
        sums = positives[last] - sizes * n_positive / n
        log = between_log_pvalue(sizes, sums, powers, 1)
        assert log > np.log(level / 3), level  # there are steps: a table more or less
        assert log < np.log(level * 8), level


def _log_binomial(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


@pytest.mark.parametrize("zeros", [0.9, 0.97])
def test_rare_values_need_large_groups(zeros):
    """A category of 20 rows would mean little if nearly all values are zero."""
    rng = np.random.default_rng(0)
    values = np.where(rng.random(1000) < zeros, 0, rng.normal(size=1000))
    powers = ValuePowers.of(values - values.mean())
    assert min_rows(powers, 1000) > 3 / (1 - zeros)


def test_predictors_that_differ_by_chance_stay_in_the_regression():
    """Ten strong predictors and columns of 20 categories, some of which they differ between by chance."""
    small = 0
    for seed in range(5):
        rng = np.random.default_rng([seed, 4])
        X = np.hstack([rng.normal(size=(178, 10)), rng.integers(0, 20, (178, 60))])
        y = X[:, :10].sum(axis=1) + 0.5 * rng.normal(size=178)
        table = make_table(X, y, categorical_features=range(10, 70), task="regression")
        found = rank_tests(table, None, np.arange(70, dtype=np.uint32)).residuals[10:]
        small += np.sum(found <= np.log(0.01))
    assert small <= 11  # of 300: 3 are expected, and more than 11 in one of 5,000 runs


def test_pooling():
    assert pooled(np.array([3, 40, 2, 30, 9]), 5).tolist() == [3, 0, 3, 1, 2]
    assert pooled(np.array([40, 2, 30]), 5).tolist() == [0, 1, 1]  # two rows are no group
    assert pooled(np.array([2, 1]), 5).tolist() == [0, 0]
    many = pooled(np.full(50, 10), 5)
    assert np.bincount(many).tolist() == [1] * 20 + [30]


@pytest.mark.parametrize(
    ("categories", "values"),
    [([0, 1] * 30, np.arange(60.0)), ([0, 1, 2] * 20, np.ones(60)), ([0, 1, 2], np.arange(3.0))],
)
def test_no_test(categories, values):
    assert np.isnan(pvalue(np.array(categories), values))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_missing_categories_are_no_evidence(task):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, 200).astype(float)
    y = rng.normal(size=200) if task == "regression" else rng.integers(0, 2, 200)
    gaps = np.concatenate([np.full(50, np.nan), x])
    more = np.concatenate([np.repeat(y.max(), 50), y])  # where the category is missing, the target is large
    found = []
    for column, target in ((x, y), (gaps, more)):
        table = make_table(column[:, np.newaxis], target, categorical_features=[0], task=task)
        found.append(np.exp(rank_tests(table, None, np.array([0], dtype=np.uint32)).ranks[0]))
    assert found[1] > 0.05


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_finds_as_much_as_chi_square_tests(task):
    """Of 6 categories, none of which has a quarter of the rows."""
    ours, theirs = 0, 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 6, (300, 30))
        effects = np.sqrt(0.25) * rng.permuted(np.tile([-1.5, -0.9, -0.3, 0.3, 0.9, 1.5], (5, 1)), axis=1)
        y = sum(effects[j][codes[:, j]] for j in range(5)) + rng.logistic(size=300)
        halves = (y > np.median(y)).astype(int)
        X = pd.DataFrame({f"c{j}": pd.Categorical(codes[:, j].astype(str)) for j in range(30)})
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No feature passed")
            target = y if task == "regression" else halves
            ours += RelevanceSelector(n_estimators=30, random_state=seed).fit(X, target).relevant_[:5].sum()
        pvalues = [chi2_contingency(pd.crosstab(column, halves)).pvalue for column in codes.T]
        theirs += (false_discovery_control(pvalues) <= 0.1)[:5].sum()
    assert theirs > 10
    assert ours >= 0.8 * theirs  # of the forest and other tests there is a price
