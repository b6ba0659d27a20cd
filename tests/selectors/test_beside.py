"""RelevanceSelector beside kept columns, and with columns that are tested as one."""

import warnings

import numpy as np
import pandas as pd
import pytest
import reference_dependent as reference
from power import few_or_many, highest
from relevance_cases import exceeds
from scipy.special import ndtri

from foresift import RelevanceSelector
from foresift.data.dependence import Dependence
from foresift.data.table import make_table
from foresift.selectors.relevance.beside import Beside, Kept, Rest
from foresift.selectors.relevance.combining import log_cauchy_mean, unit_log_pvalues
from foresift.selectors.relevance.ranks import rank_tests
from foresift.selectors.relevance.views import Independent, Squares, views_of
from foresift.selectors.units import read_units

QUICK = {"n_estimators": 12, "random_state": 0, "redundancy": None}
TASKS = ["classification", "regression"]


def quiet_fit(X, y, **arguments):
    rows = {name: arguments.pop(name) for name in ("groups", "time") if name in arguments}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No feature passed")
        return RelevanceSelector(**{**QUICK, **arguments}).fit(X, y, **rows)


def learned(selector):
    names = ("scores_", "pvalues_", "adjusted_pvalues_", "relevant_", "shadow_scores_", "gains_", "support_")
    names += ("ranking_", "redundant_with_", "representative_")
    return {name: getattr(selector, name) for name in names} | selector.test_pvalues_


def assert_same(one, other):
    for name, values in learned(one).items():
        assert np.array_equal(learned(other)[name], values, equal_nan=True), name


def confounded(seed, task, n=200, n_noise=15):
    """A column z whose square makes y, noisy copies of its square, and a column of noise."""
    rng = np.random.default_rng([seed, 81])
    z = rng.normal(size=n)
    X = np.column_stack([z, z[:, np.newaxis] ** 2 + rng.normal(size=(n, n_noise)), rng.normal(size=n)])
    y = 2 * z**2 + rng.normal(size=n)
    return X, y if task == "regression" else (y > np.median(y)).astype(int)


# --- what kept columns say is taken away ---


@pytest.mark.parametrize("kind", ["rows", "groups", "time"])
def test_residuals_are_those_of_least_squares(kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.normal(size=120)
    X[:7, 0] = np.nan
    table = make_table(X, y, task="regression")
    kept = Kept.of(table, None, np.array([0, 2]), 0)
    view = Independent()
    if kind != "rows":
        dependence = Dependence(np.arange(120) // 6 if kind == "groups" else None)
        dependence = Dependence(time=np.arange(120)) if kind == "time" else dependence
        view = views_of(dependence, y[:, np.newaxis])[-1]
    beside = kept.seen(view, np.arange(120))
    assert beside.weight == view.weight
    design = view.seen((kept.terms - kept.terms.mean(axis=0)).T).T
    x = view.seen(X[:, 1] - X[:, 1].mean())
    expected = x - design @ np.linalg.lstsq(design, x, rcond=None)[0]
    assert beside.seen(X[:, 1]) == pytest.approx(expected, abs=1e-8)
    assert beside.basis.shape[1] == np.linalg.matrix_rank(design)
    assert beside.seen(kept.terms.T) == pytest.approx(0, abs=1e-8)


def test_terms_are_polynomials_of_ranks_categories_and_forests():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"z": rng.normal(size=400), "c": rng.choice(list("abc"), 400), "x": rng.normal(size=400)}
    )
    frame.loc[:9, "z"] = np.nan
    table = make_table(frame, rng.integers(0, 3, 400))
    kept = Kept.of(table, None, np.array([0, 1]), 0)
    # 12 powers and missing values of z, three categories, products, three classes as forests predict them
    assert kept.terms.shape == (400, 12 + 1 + 3 + 4 + 3)
    categories = pd.get_dummies(frame["c"])[frame["c"].value_counts().index].to_numpy(float)
    first = (categories - categories.mean(axis=0))[:, :2]
    expected = [kept.terms[:, j] * first[:, k] for j in (0, 1) for k in (0, 1)]
    assert kept.terms[:, 16:20] == pytest.approx(np.column_stack(expected))
    ranks = frame["z"].rank().to_numpy()
    powers = np.vander((2 * ranks - 391) / 390, 13)[10:]
    left = kept.terms[10:, :12] - powers @ np.linalg.lstsq(powers, kept.terms[10:, :12], rcond=None)[0]
    assert left == pytest.approx(0, abs=1e-8)
    assert not kept.terms[:10, :12].any()
    assert kept.terms[:, 12].tolist() == [1.0] * 10 + [0.0] * 390
    assert kept.terms[:, -3:].sum(axis=1) == pytest.approx(1)
    assert Kept.of(table, None, np.array([], dtype=int), 0) is None
    assert isinstance(kept.rest, Rest)
    assert kept.rest.ranked(None) is kept.rest


def test_few_rows_have_fewer_terms():
    rng = np.random.default_rng(1)
    widths = []
    for n in (500, 100, 70, 50, 25):
        table = make_table(rng.normal(size=(n, 2)), rng.normal(size=n), task="regression")
        widths.append(Kept.of(table, None, np.array([0]), 0).terms.shape[1])
    assert widths == [12 + 1, 8 + 1, 5 + 1, 3 + 1, 1 + 1]


@pytest.mark.parametrize("task", TASKS)
def test_the_rest_of_the_target_is_a_residual(task):
    X, y = confounded(0, task)
    table = make_table(X, y, task=task)
    weights = (np.arange(200) % 5 > 0).astype(float)
    kept = Kept.of(table, weights, np.array([0]), 0)
    some = weights > 0
    terms = kept.terms[some] - kept.terms[some].mean(axis=0)
    rest = kept.rest.y
    assert not rest[~some].any()
    assert terms.T @ rest[some] == pytest.approx(0, abs=1e-6)
    assert rest[some].var() > 0


def test_spread_has_fewer_rows():
    rng = np.random.default_rng(2)
    basis = np.linalg.qr(rng.normal(size=(100, 9)))[0]
    view = Beside(Independent(), basis)
    ranks, values = view.seen(rng.normal(size=(2, 100))), view.seen(rng.normal(size=(1, 100))).T
    squares = Squares.of(ranks, values)
    spread = view.spread(ranks, values, squares)
    assert spread.n_free == 91
    norm = np.outer(*squares)
    uneven = np.maximum(1, 100 * (ranks**2 @ values**2) / norm)  # of rows that vary more at the same places
    assert spread.variance == pytest.approx(norm / 90 * uneven)
    assert view.n_rows(100) == 91


# --- what is found beside kept columns ---


@pytest.mark.parametrize("task", TASKS)
@few_or_many(10, 200)
def test_what_a_kept_column_says_makes_nothing_relevant(n_tables, task):
    beside = []
    for seed in range(n_tables):
        X, y = confounded(seed, task)
        beside.append(quiet_fit(X, y, keep=[0], random_state=seed))
        if seed < 2:
            assert quiet_fit(X, y, random_state=seed).relevant_[1:16].all()
    assert np.mean([one.relevant_.any() for one in beside]) <= highest(0.1, n_tables)
    assert not exceeds([one.pvalues_[1:] for one in beside], 0.05)


@pytest.mark.parametrize("task", TASKS)
def test_a_helpful_column_is_found_and_kept_ones_are_not_tested(task):
    for seed in range(3):
        rng = np.random.default_rng([seed, 82])
        X = rng.normal(size=(300, 8))
        X[:, 3] = X[:, 0]  # a copy
        y = 2 * X[:, 0] ** 2 + X[:, 7] + rng.normal(size=300)
        y = y if task == "regression" else (y > np.median(y)).astype(int)
        selector = quiet_fit(X, y, keep=[0, 5], random_state=seed)
        assert selector.relevant_[7]
        assert selector.relevant_.sum() <= 2
        for column in (0, 3, 5):
            assert selector.pvalues_[column] == selector.adjusted_pvalues_[column] == 1
            assert not selector.relevant_[column]
        assert selector.support_[[0, 5, 7]].all()
        assert not selector.support_[3]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["groups", "time", "panel"])
def test_beside_kept_columns_with_dependent_rows(kind, task):
    rng = np.random.default_rng(3)
    groups, time = np.repeat(np.arange(30), 10), np.tile(np.arange(10), 30)
    X = rng.normal(size=(300, 6))
    X[:, 1] += X[:, 0] ** 2
    y = 2 * X[:, 0] ** 2 + X[:, 5] + rng.normal(size=300)
    y = y if task == "regression" else (y > np.median(y)).astype(int)
    rows = {"groups": {"groups": groups}, "time": {"time": np.arange(300)}}
    rows["panel"] = {"groups": groups, "time": time}
    selector = quiet_fit(X, y, keep=[0], **rows[kind])
    assert selector.relevant_[5]
    assert selector.pvalues_[1] > 1e-3
    assert quiet_fit(X, y, **rows[kind]).pvalues_[1] < 1e-3


# --- columns that are tested as one ---


def one_hot(rng, n=300, n_categories=30, n_others=4):
    """A block of indicators and a few other columns."""
    codes = rng.integers(0, n_categories, n)
    X = np.column_stack([np.eye(n_categories)[codes], rng.normal(size=(n, n_others))])
    return X, codes, [list(range(n_categories))]


@pytest.mark.parametrize("task", TASKS)
def test_members_of_a_group_share_what_is_found(task):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 7))
    y = X[:, [1, 4]].sum(axis=1) + rng.normal(size=200)
    y = y if task == "regression" else (y > 0).astype(int)
    selector = quiet_fit(X, y, feature_groups=[[0, 1], [2, 3]], redundancy=0.5)
    for name in (
        "pvalues_",
        "adjusted_pvalues_",
        "scores_",
        "relevant_",
        "representative_",
        "support_",
        "ranking_",
    ):
        values = getattr(selector, name)
        assert values[0] == values[1], name
        assert values[2] == values[3], name
    assert selector.redundant_with_[0] == selector.redundant_with_[1]
    assert selector.relevant_[[0, 1, 4]].all()
    assert selector.test_pvalues_["ranks"][0] != selector.test_pvalues_["ranks"][1]


@pytest.mark.parametrize("task", TASKS)
def test_the_joint_test_is_that_of_a_regression(task):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 5))
    y = 0.3 * X[:, 0] + rng.normal(size=150)
    y = y if task == "regression" else (y > 0).astype(int)
    table = make_table(X, y, task=task)
    members = [np.array([0, 1, 4]), np.array([2, 3])]
    found = rank_tests(table, None, np.arange(5, dtype=np.uint32), None, members).joint
    ranks = X.argsort(axis=0).argsort(axis=0) - 74.5
    scores = normal_scores(ranks)
    if task == "classification":
        for columns, log in zip(members, found, strict=True):
            expected = np.log(reference.joint_pvalue(scores.T[columns], y - y.mean(), 150))
            assert log == pytest.approx(expected, rel=0.01)  # scores are rounded
    else:  # ranks and normal scores of the quantity
        columns, of_target = scores, normal_scores((y.argsort().argsort() - 74.5)[:, np.newaxis])
        of_target = np.column_stack([y.argsort().argsort() - 74.5, of_target])
        for some, log in zip(members, found, strict=True):
            logs = np.log([reference.joint_pvalue(columns.T[some], one, 150) for one in of_target.T])
            expected = log_cauchy_mean(logs[:, np.newaxis], np.ones((2, 1)))[0]
            assert log == pytest.approx(expected, rel=0.01)  # scores are rounded


def normal_scores(ranks):
    """Normal quantiles of ranks of mean 0, down the columns."""
    return ndtri(0.5 + ranks / (len(ranks) + 1))


def test_half_of_the_weight_of_a_unit_is_that_of_the_joint_test():
    units = read_units([5], [[0, 1, 2], [3, 4]], None, 7)
    by_column = np.log([0.2, 0.03, np.nan, np.nan, np.nan, np.nan, 0.4])
    joint = np.log([0.001, np.nan, np.nan])
    found = unit_log_pvalues(units, by_column, joint)
    cauchy = np.tan(np.pi * (0.5 - np.array([0.2, 0.03, 0.001]))) @ [0.25, 0.25, 0.5]
    assert np.exp(found[0]) == pytest.approx(0.5 - np.arctan(cauchy) / np.pi)
    assert np.isnan(found[1])
    assert np.exp(found[2]) == pytest.approx(0.4)


@pytest.mark.parametrize("task", TASKS)
@few_or_many(20, 200)
def test_a_block_of_noise_is_rarely_relevant_and_one_that_matters_is(n_tables, task):
    false, found = [], []
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, 83])
        X, codes, block = one_hot(rng)
        effects = rng.normal(size=30)[codes]
        noise = rng.normal(size=300)
        for target, kept in ((noise, false), (effects + noise, found)):
            if kept is found and seed >= 5:
                continue
            y = target if task == "regression" else (target > np.median(target)).astype(int)
            kept.append(quiet_fit(X, y, feature_groups=block, random_state=seed).relevant_[0])
    assert np.mean(false) <= highest(0.1, n_tables)
    assert all(found)


@pytest.mark.parametrize("task", TASKS)
def test_halves_with_units(task):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 8))
    y = X[:, 1] + X[:, 0] + rng.normal(size=200)
    y = y if task == "regression" else (y > 0).astype(int)
    selector = quiet_fit(X, y, keep=[0], feature_groups=[[1, 2], [3, 4]], n_half_samples=2)
    shares = selector.selection_frequencies_
    assert shares[1] == shares[2] >= 0.75
    assert shares[3] == shares[4] <= 0.5
    assert shares[0] == 0  # not tested
    assert selector.stability_.value > 0


@pytest.mark.parametrize("task", TASKS)
def test_trivial_units_change_nothing(task):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 6))
    y = X[:, 0] + rng.normal(size=120)
    y = y if task == "regression" else (y > 0).astype(int)
    plain = quiet_fit(X, y, redundancy=0.5, n_half_samples=1)
    for units in ({"keep": []}, {"feature_groups": [[0], [3]]}, {"keep": np.zeros(6, dtype=bool)}):
        other = quiet_fit(X, y, redundancy=0.5, n_half_samples=1, **units)
        assert_same(plain, other)
        assert plain.stability_ == other.stability_
