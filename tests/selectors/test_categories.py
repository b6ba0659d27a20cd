"""The test of all categories of a nominal column at once."""

import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, f_oneway, false_discovery_control

from foresift import RelevanceSelector
from foresift.data.table import make_table
from foresift.selectors.relevance.categories import _second_moment, between_log_pvalue, pooled
from foresift.selectors.relevance.ranks import rank_tests


def pvalue(categories, values, least=1):
    """Of one column and numbers."""
    values = values - values.mean()
    counts, sums = np.bincount(categories), np.bincount(categories, values)
    return np.exp(between_log_pvalue(counts, sums, (values**2).sum(), (values**4).sum(), least))


@pytest.mark.parametrize("groups", [[0, 0, 1, 1, 2, 2, 2], [0, 1, 2, 2, 2, 2, 2], [0, 0, 1, 2, 3, 3, 3]])
@pytest.mark.parametrize("values", [[0, 0, 0, 0, 0, 1, 1], [1, 4, 2, 9, 5, 3, 40], [-1, 0, 0, 0, 0, 0, 1]])
def test_moments_are_those_of_all_permutations(groups, values):
    values = np.array(values) - np.mean(values)
    sizes = np.bincount(groups)
    shares = [
        (np.bincount(groups, np.array(some)) ** 2 / sizes).sum() / (values @ values)
        for some in permutations(values)
    ]
    fourth = (values**4).sum() / (values @ values) ** 2
    assert np.mean(shares) == pytest.approx((len(sizes) - 1) / 6)
    assert np.mean(np.square(shares)) == pytest.approx(
        _second_moment(7, len(sizes) - 1, (1 / sizes).sum(), fourth)
    )


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
    for alpha in (0.1, 0.01):
        assert np.mean(found <= alpha) < alpha + 4 * np.sqrt(alpha / len(found))


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
