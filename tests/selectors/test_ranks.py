"""Rank tests: against SciPy, all permutations and a literal reference; calibration; residuals."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
import reference_relevance as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from relevance_cases import exceeds, minority
from scipy.stats import ansari, norm, rankdata, ttest_ind

from foresift import RelevanceSelector
from foresift.data.table import make_table
from foresift.selectors.relevance import ranks
from foresift.selectors.relevance import residuals as of_residuals
from foresift.selectors.relevance.column_ranks import CURVES
from foresift.selectors.relevance.ranks import rank_tests


def pvalues_of(X, y, *, weights=None, nominal=None):
    X = np.asarray(X, dtype=float).reshape(len(y), -1)
    table = make_table(X, y, categorical_features=nominal)
    found = rank_tests(table, weights, np.arange(X.shape[1], dtype=np.uint32))
    return np.exp(found.ranks), np.exp(found.residuals)


def weak_effects(n, p, n_relevant, seed, rho=0.0):
    """Many columns with small effects, and for each a correlate without one behind all others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, -n_relevant:] = rho * X[:, :n_relevant] + np.sqrt(1 - rho**2) * X[:, -n_relevant:]
    return X, (X[:, :n_relevant].sum(axis=1) / 2 + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_equals_a_t_test_of_normal_scores(share):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 30)), minority(rng, 120, share)
    X += y[:, np.newaxis] * np.linspace(0, 2, 30)
    scores = norm.ppf(rankdata(X, axis=0) / 121)
    expected = np.log(ttest_ind(scores[y == 0], scores[y == 1]).pvalue)
    assert np.log(pvalues_of(X, y)[0]) == pytest.approx(expected, rel=0.05, abs=0.02)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_distances_from_the_middle_equal_the_test_of_ansari_and_bradley(share, monkeypatch):
    monkeypatch.setattr(ranks, "CURVES", CURVES[:1])
    # Which has the same scores, and a normal tail. One column at a time: there are no residuals.
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(400, 30)), minority(rng, 400, share)
    X *= 1 + np.outer(y, np.linspace(0, 0.2, 30))
    for x in X.T:
        found = rank_tests(make_table(x.reshape(-1, 1), y), None, np.zeros(1, dtype=np.uint32)).curves[0]
        assert found == pytest.approx(np.log(ansari(x[y == 0], x[y == 1]).pvalue), abs=0.05, rel=0.05)


@pytest.mark.parametrize("kind", range(len(CURVES)))
def test_curves_are_found_by_their_own_test(kind, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 20))
    y = CURVES[kind].scores(2 * rankdata(X[:, 0]) - 301, np.ones(300, dtype=int)) / 700 + rng.normal(size=300)
    logs = [rank_tests(make_table(X, y > 0), None, np.arange(20, dtype=np.uint32)).curves]
    monkeypatch.setattr(ranks, "CURVES", CURVES[1 - kind : 2 - kind])
    logs.append(rank_tests(make_table(X, y > 0), None, np.arange(20, dtype=np.uint32)).curves)
    assert logs[0][0] < -8
    assert logs[0][1:].min() > -8
    assert logs[1][0] > -5


def test_curves_need_several_values_and_rows_enough():
    x = np.repeat([0.0, 1, 2], [98, 4, 98])  # 98 and 98 are as far from the middle
    X = np.column_stack([x, np.arange(200) % 2, np.arange(200) % 3, np.arange(200.0)])
    found = rank_tests(make_table(X, np.arange(200) % 5 == 0), None, np.arange(4, dtype=np.uint32)).curves
    assert np.isnan(found).tolist() == [True, True, False, False]
    nominal = make_table(X, np.arange(200) % 5 == 0, categorical_features=[2])
    assert np.isnan(rank_tests(nominal, None, np.arange(4, dtype=np.uint32)).curves[2])


def test_residuals_of_a_column_do_not_depend_on_its_own_curves():
    # Columns that act by their squares: each is a strong predictor for the others alone.
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 12))
    y = ((X[:, :3] ** 2).sum(axis=1) + rng.logistic(size=400) > 3).astype(int)
    found = rank_tests(make_table(X, y), None, np.arange(12, dtype=np.uint32))
    assert found.curves[:3].max() < -8
    alone = rank_tests(make_table(X[:, :1], y), None, np.zeros(1, dtype=np.uint32))
    assert alone.residuals[0] == pytest.approx(alone.ranks[0], abs=1e-3)
    assert found.curves[0] < alone.curves[0]  # without what the two others explain there is less noise


@pytest.mark.parametrize("seed", range(8))
def test_moments_are_those_of_all_permutations(seed):
    rng = np.random.default_rng(seed)
    n = 3 + seed % 5
    a, b = rng.integers(0, 5, n).astype(float), rng.normal(size=n) if seed % 2 else 1.0 * (np.arange(n) < 2)
    literal = reference.enumerated_moments(a, b)
    assert reference.permutation_moments(a, b) == pytest.approx(literal, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("x", "n_inside"),
    [
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 6),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 4),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 2),
        ([1, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 9], 4),
        ([1, 1, 1, 2, 2, 3, 3, 4, 9, 9, 10, 11], 5),
        ([0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4], 4),  # skewed
    ],
)
def test_tails_are_near_those_of_all_permutations(x, n_inside):
    # Against mid-p-values, with half of the sums that are equal: there is no correction for continuity.
    x = np.array(x, dtype=float)
    masks = [np.isin(np.arange(12), inside) for inside in combinations(range(12), n_inside)]
    sums = np.array([reference.rank_scores(x, False)[mask].sum() for mask in masks])
    for mask, deviation in zip(masks[::3], (sums - sums.mean())[::3], strict=True):
        further = np.sign(deviation) * (sums - sums.mean()) - abs(deviation)
        exact = 2 * np.mean(further > 1e-9) + np.mean(np.abs(further) < 1e-9)
        if exact < 0.05:
            assert 0.7 < pvalues_of(x, mask.astype(int))[0][0] / exact < 1.4


def test_of_a_few_rows_no_pvalue_is_less_than_that_of_one_arrangement():
    assert pvalues_of(np.arange(9.0), np.arange(9) > 5)[0][0] == pytest.approx(1 / comb(9, 3))


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(deadline=None, max_examples=60)
def test_equals_ranks_and_regressions_written_out(seed, weighted):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(12, 160)), int(rng.integers(3, 10))
    X = rng.integers(0, rng.integers(1, 6, p), (n, p)).astype(float)
    X[:, ::3] = rng.normal(size=X[:, ::3].shape)
    X[:, -1] = X[:, 0] + rng.normal(size=n)
    y = np.clip(
        np.round(rng.normal(size=n) + (X - X.mean(axis=0)) @ rng.normal(size=p) / 2), 0, rng.integers(1, 3)
    )
    y[:2] = 0, 1
    X[rng.random((n, p)) < rng.choice([0, 0.1])] = np.nan
    weights = None
    if weighted:
        weights = rng.integers(0, 2, n).astype(float)
        weights[:12] = 1  # of fewer rows quantiles of Student's t are too rough
    rows = np.flatnonzero(np.ones(n) if weights is None else weights)
    expected = reference.rank_log_pvalues(X[rows], y[rows], [1])
    table = make_table(X, y, categorical_features=[1])
    found = rank_tests(table, weights, np.arange(p, dtype=np.uint32))
    # The quantiles of Student's t are approximate. Residuals are rounded to 2^-20; what a column explains
    # almost whole has none but rounding. A sum of 0 may get either sign by that, and with it another
    # skewness: p-values count up to 0.99 only.
    for some, literal in zip(found, expected, strict=False):
        observed, wanted = (np.clip(logs, -20, np.log(0.99)) for logs in (some, literal))
        assert observed == pytest.approx(wanted, rel=0.02, abs=0.02, nan_ok=True)


@pytest.mark.parametrize("n", [100, 200, 500])
@pytest.mark.parametrize("kind", ["two values", "three values", "many ties", "normal"])
def test_pvalues_of_tied_columns_hold_with_a_small_minority(kind, n):
    rng = np.random.default_rng(n)
    found = []
    for _ in range(25):
        X = {
            "two values": lambda: rng.random((n, 100)) < 0.27,
            "three values": lambda: rng.choice([0, 1, 2], p=[0.7, 0.2, 0.1], size=(n, 100)),
            "many ties": lambda: np.round(rng.exponential(size=(n, 100)), 1),
            "normal": lambda: rng.normal(size=(n, 100)),
        }[kind]()
        found.append(pvalues_of(X, minority(rng, n, 0.02))[0])
    for alpha in (0.001, 0.01, 0.05):
        assert not exceeds(found, alpha)


def test_pvalues_of_columns_that_are_mostly_missing_hold_with_a_class_of_a_few_rows():
    found = []
    for seed in range(50):
        rng = np.random.default_rng([3, seed])
        X = rng.normal(size=(200, 100))
        X[rng.random(X.shape) < 0.7] = np.nan
        found.append(pvalues_of(X, (rng.permutation(200) < 3).astype(int))[0])
    assert not exceeds(found, 0.01)


@pytest.mark.parametrize("share", [0.05, 0.5])
@pytest.mark.parametrize("n", [60, 150, 500])
def test_pvalues_of_residuals_hold_beside_strong_predictors(n, share):
    found = []
    for seed in range(25):
        rng = np.random.default_rng([n, seed])
        noise = rng.choice([0, 1, 2], p=[0.6, 0.3, 0.1], size=(n, 60)), rng.normal(size=(n, 40))
        X = np.column_stack([rng.normal(size=(n, 5)), *noise])
        score = X[:, :5].sum(axis=1) + rng.logistic(size=n)
        found.append(pvalues_of(X, score > np.quantile(score, 1 - share))[1][5:])
    for alpha in (0.001, 0.01):
        assert not exceeds(found, alpha)


def test_columns_may_come_in_blocks(monkeypatch):
    X, y = weak_effects(400, 50, 5, 0, rho=0.6)
    of_classes, of_residuals = pvalues_of(X, y)
    assert of_classes[:5].max() < 0.01
    monkeypatch.setattr(ranks, "CELLS", 5000)
    again = pvalues_of(X, y)
    assert np.array_equal(again[0], of_classes)
    assert np.array_equal(again[1], of_residuals)


def test_columns_too_rare_to_rank_have_no_pvalue():
    rare = (np.arange(60) < 14).astype(float)
    few = np.where(np.arange(60) < 14, np.arange(60.0), np.nan)
    X = np.column_stack([np.zeros(60), rare, few, np.full(60, np.nan), np.arange(60.0)])
    of_classes, of_residuals = pvalues_of(X, np.arange(60) % 2)
    assert np.isnan(of_classes).tolist() == [True] * 4 + [False]
    assert np.isnan(of_residuals).all()
    assert np.isnan(pvalues_of(X, np.arange(60) % 2, weights=1.0 * (np.arange(60) % 2))).all()


def test_what_strong_predictors_explain_is_no_noise_for_the_others():
    X, y = weak_effects(500, 100, 20, 1)
    plain, residuals = (norm.isf(p) for p in pvalues_of(X, y))
    assert residuals[:20].mean() > plain[:20].mean() + 0.3
    assert abs(residuals[20:80].mean()) < 0.3


def test_a_column_keeps_what_it_shares_with_a_strong_predictor(monkeypatch):
    X, y = weak_effects(500, 100, 20, 2, rho=0.7)
    plain, residuals = (norm.isf(p)[-20:].mean() for p in pvalues_of(X, y))
    assert residuals > plain + 0.25
    monkeypatch.setattr(of_residuals, "RELATED", 0.89)
    assert residuals > norm.isf(pvalues_of(X, y)[1])[-20:].mean() + 0.25


def test_classes_that_are_explained_whole_leave_nothing_to_others():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 12))
    X[:, 0] = y = rng.integers(0, 2, 60)
    of_classes, of_residuals = pvalues_of(X, y, nominal=[0])
    assert of_classes[0] < 1e-9
    assert of_residuals[0] == pytest.approx(of_classes[0])
    assert np.isnan(of_residuals[1:]).all()  # there is no such test


def test_copies_have_equal_pvalues_wherever_they_are():
    X, y = weak_effects(150, 20, 5, 4, rho=0.5)
    X = np.column_stack([X, X[:, ::-1]])
    for found in pvalues_of(X, y):
        assert np.array_equal(found[:20], found[:19:-1])


def test_turning_a_column_round_changes_nothing():
    X, y = weak_effects(150, 20, 5, 5)
    for found, turned in zip(pvalues_of(np.round(X), y), pvalues_of(-np.round(X), y), strict=True):
        assert found == pytest.approx(turned)


@pytest.mark.parametrize("seed", range(5))
def test_a_column_that_gives_the_classes_away_does_not_hide_the_others(seed):
    # Nothing is left of the classes for the residuals: what the ranks find counts alone.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 20))
    y = (0.5 * X[:, :8].sum(axis=1) + rng.logistic(size=300) > 0).astype(int)
    selector = RelevanceSelector(random_state=0).fit(np.column_stack([X, y]), y)
    found = selector.test_pvalues_["ranks"][:8] < 0.01
    assert found.sum() >= 4
    assert selector.relevant_[:8][found].all()
