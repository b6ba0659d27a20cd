"""Selectors for classes and quantities: what `task` decides, what is refused, scores for a quantity."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import f_classif, f_regression, r_regression
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from test_contract import FOR_QUANTITIES, SELECTORS, name_of

from foresift import (
    AggregateSelector,
    CartRegressor,
    ContributionSelector,
    CumulativeGainSelector,
    FeatureBoostingSelector,
    FScoreSelector,
    InfoGainSelector,
    PearsonSelector,
    RandomSelector,
    SequentialSelector,
    SiftForestRegressor,
    SSVSelector,
    SubsetSizeCV,
)
from foresift.criteria import variance_reduction
from foresift.data.folds import make_folds
from foresift.data.sklearn_compat import seed_of
from foresift.data.table import make_table
from foresift.data.target import task_of
from foresift.models.scorer import PlainScorer, StoreScorer, make_subset_scorer

EVERY = pytest.mark.parametrize("selector", FOR_QUANTITIES, ids=name_of)


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, y + 0.25


def seeded(selector):
    """Clone a selector, with a seed wherever it takes one."""
    selector = clone(selector)
    seeds = [name for name in selector.get_params() if name.split("__")[-1] == "random_state"]
    return selector.set_params(**dict.fromkeys(seeds, 0))


@pytest.mark.parametrize(
    ("y", "task"),
    [
        ([0, 1, 2], "classification"),
        ([0.0, 1.0, 2.0], "classification"),  # whole numbers, however many
        (np.arange(1000.0), "classification"),
        ([0.0, 1.5], "regression"),
        (np.float32([0, 0.5]), "regression"),
        ([np.nan, 1.0, np.inf], "classification"),  # which refuses them
        (["0.5", "1.5"], "classification"),
        ([True, False], "classification"),
        (pd.Series([0.5, 1.5], dtype="Float64"), "regression"),
        (pl.Series([0.5, 1.5]), "regression"),
        (pd.Series([0.5, 1.5]).astype("category"), "regression"),  # as for type_of_target
        (pd.DataFrame({"y": [0.5, 1.5]}), "regression"),
    ],
)
def test_numbers_with_fractions_are_a_quantity(y, task):
    assert task_of(y) == task


@pytest.mark.parametrize("selector", [s for s in SELECTORS if "task" in s.get_params()], ids=name_of)
def test_every_selector_has_the_parameter(selector):
    assert selector.task == "auto"
    lines = type(selector).__doc__.split("\n")
    at = lines.index('    task : {"auto", "classification", "regression"}, default="auto"')
    assert "Whether y holds classes or a quantity" in lines[at + 1]
    with pytest.raises(ValueError, match="'task' parameter"):
        clone(selector).set_params(task="ranking").fit(np.eye(4), [0, 1, 0, 1])


@EVERY
def test_task_decides(selector, diabetes):
    X, y = diabetes
    X, y = X[::3, :4], y[::3]
    found = seeded(selector).fit(X, y)
    assert found.task_ == "regression"
    again = seeded(selector).set_params(task="auto").fit(X, y)
    assert again.task_ == "regression"
    assert np.array_equal(again.scores_, found.scores_, equal_nan=True)
    whole = np.round(y / 40)
    assert seeded(selector).fit(X, whole).task_ == "regression"
    if getattr(selector, "estimator", None) is None:  # else it is a regressor
        assert seeded(selector).set_params(task="auto").fit(X, whole).task_ == "classification"


@EVERY
@pytest.mark.filterwarnings("ignore:No feature passed the rule")
def test_unit_and_origin_of_a_quantity_do_not_matter(selector, diabetes):
    X, y = diabetes
    X, y = X[::3, :4], np.round(y[::3])
    found = seeded(selector).fit(X, y)
    other = seeded(selector).fit(X, 2.0**20 * y - 2.0**24)
    assert other.ranking_.tolist() == found.ranking_.tolist()
    assert other.scores_ == pytest.approx(found.scores_, rel=1e-6, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("selector", [SSVSelector(), InfoGainSelector(ratio=True)])
def test_methods_for_classes_name_another(selector, diabetes):
    X, y = diabetes
    what = "set ratio=False" if isinstance(selector, InfoGainSelector) else "use "
    message = (
        f"{type(selector).__name__} needs classes, but y is a quantity: {what}.*, or cut it into classes"
    )
    for task in ("auto", "regression"):
        with pytest.raises(ValueError, match=message):
            clone(selector).set_params(task=task).fit(X, y)


def test_a_quantity_is_no_class(diabetes):
    with pytest.raises(ValueError, match='y is a quantity: set task="regression", or cut it'):
        PearsonSelector(task="classification").fit(*diabetes)
    with pytest.raises(ValueError, match=r'y holds text, .*or set task="classification"'):
        PearsonSelector(task="regression").fit(np.eye(2), ["a", "b"])


def test_correlation_and_f_are_those_of_scikit_learn(diabetes):
    X, y = diabetes
    assert PearsonSelector().fit(X, y).scores_ == pytest.approx(np.abs(r_regression(X, y)), rel=1e-12)
    assert FScoreSelector().fit(X, y).scores_ == pytest.approx(f_regression(X, y)[0], rel=1e-10)


def test_missing_values_leave_rows_out_of_a_column(diabetes):
    X, y = diabetes[0].copy(), diabetes[1]
    X[::5, 0] = X[1::7, 2] = np.nan
    X[:, 3] = np.nan
    for selector, score in [
        (FScoreSelector(), lambda X, y: f_regression(X, y)[0][0]),
        (PearsonSelector(), lambda X, y: abs(r_regression(X, y)[0])),
    ]:
        found = selector.fit(X, y).scores_
        for j in (0, 1, 2):
            known = ~np.isnan(X[:, j])
            assert found[j] == pytest.approx(score(X[known, j : j + 1], y[known]), rel=1e-10)
        assert found[3] == 0


@pytest.mark.parametrize("make", [FScoreSelector, PearsonSelector, InfoGainSelector])
def test_weights_count_rows(make, diabetes):
    X, y = diabetes
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    X = X.copy()
    X[::6, 1] = np.nan
    X[weights == 0, 4] = 1e300
    weighted = make().fit(X, y, sample_weight=weights).scores_
    repeated = make().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).scores_
    assert weighted == pytest.approx(repeated, rel=1e-10)


def test_nominal_columns_for_a_quantity(diabetes):
    y = diabetes[1]
    colour = np.array(["red", "green", "blue", None], dtype=object)[np.arange(len(y)) * 7 % 4]
    known = colour != None  # noqa: E711
    X = {"colour": colour}
    with pytest.raises(ValueError, match="set nominal='one-hot'"):
        PearsonSelector().fit(X, y)
    f = FScoreSelector(nominal="one-hot").fit(X, y).scores_
    assert f == pytest.approx(f_classif(y[known, np.newaxis], colour[known].astype(str))[0], rel=1e-10)
    means = pd.Series(y[known]).groupby(colour[known]).transform("mean")
    ratio = means.std(ddof=0) / y[known].std()
    assert PearsonSelector(nominal="one-hot").fit(X, y).scores_ == pytest.approx([ratio], rel=1e-10)


@pytest.mark.filterwarnings("ignore:No feature passed the rule")
def test_columns_without_spread_and_perfect_ones():
    y = np.array([0.5, 1.5, 3.0, 7.0])
    huge = np.array([1e308, -1e308, 1e308, 0.0])
    X = np.column_stack([np.full(4, 0.1), 3 * y, -1e9 * y, huge, huge * 1e-308, y * 1e-320])
    assert PearsonSelector().fit(X, y).scores_ == pytest.approx(
        [0, 1, 1, *2 * [abs(np.corrcoef(huge / 1e308, y)[0, 1])], 1], abs=1e-3
    )
    scores = FScoreSelector().fit(X, y).scores_
    assert scores[0] == 0
    assert min(scores[1:3]) > 1e12
    assert FScoreSelector().fit(X[:2], y[:2]).scores_.tolist() == [0] * 6  # nothing is left for the residuals


def test_information_gain_of_a_quantity_is_the_explained_share(diabetes):
    X, y = diabetes[0].copy(), diabetes[1]
    X[::5, 0] = np.nan
    shares = [variance_reduction(column, y) / y.var() for column in X.T]
    found = InfoGainSelector().fit(X, y)
    assert found.scores_ == pytest.approx(shares, rel=1e-10)
    assert np.array_equal(found.scores_, found.gains_)


def test_the_random_baseline_does_not_look_at_y(diabetes):
    X, y = diabetes
    scores = RandomSelector(random_state=3).fit(X, y).scores_
    assert np.array_equal(scores, RandomSelector(random_state=3).fit(X, y > 100).scores_)


def test_folds_of_a_quantity_have_no_strata(diabetes):
    table = make_table(*diabetes, task="regression")
    folds = make_folds(table, None, 5, seed=1)
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(table.n_rows))
    assert {len(fold.test) for fold in folds} == {88, 89}
    with pytest.raises(ValueError, match="There are 442 rows, fewer than the 500 folds"):
        make_folds(table, None, 500, seed=0)
    given = [(np.arange(100), np.arange(100, 200))]
    weights = (np.arange(table.n_rows) % 2).astype(float)
    assert make_folds(table, weights, given, seed=0)[0].test.tolist() == list(range(101, 200, 2))


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_squared_error", "neg_median_absolute_error"])
@pytest.mark.parametrize("model", [SiftForestRegressor(5, random_state=0), CartRegressor(max_depth=3)])
def test_scores_on_the_store_are_those_of_slices(model, scoring, diabetes):
    X, y = diabetes
    table = make_table(X, y, task="regression")
    folds = make_folds(table, None, 3, seed=0)
    weights = None if scoring == "neg_median_absolute_error" else np.random.default_rng(0).random(len(y))
    fast = make_subset_scorer(model, X, table, weights, folds, scoring=scoring)
    assert isinstance(fast, StoreScorer)
    slow = PlainScorer(model, weights, folds, scoring or "r2", None, X, y)
    subsets = [(0,), (2, 8), (1, 3, 4, 9)]
    assert fast(subsets) == pytest.approx(slow(subsets), rel=1e-9)


def test_size_by_cross_validation_for_a_quantity(diabetes):
    X, y = diabetes
    for selector in (PearsonSelector(SubsetSizeCV(LinearRegression())), InfoGainSelector("cv")):
        found = selector.fit(X, y)
        assert found.support_.sum() == found.size_curve_.chosen
        assert 0.3 < found.size_curve_.mean.max() < 0.6  # R2
    # Fractions only in test rows: the training rows are a quantity all the same.
    few = np.round(y)
    few[0] += 0.5
    PearsonSelector(SubsetSizeCV(LinearRegression(), sizes=[1, 5])).fit(X, few)
    with pytest.raises(ValueError, match="SubsetSizeCV needs a regressor, but GaussianNB is not one"):
        PearsonSelector(SubsetSizeCV(GaussianNB())).fit(X, y)


def test_sequential_search_scores_a_regressor(diabetes):
    X, y = diabetes
    found = SequentialSelector(LinearRegression(), 5, random_state=0).fit(X, y)
    best = found.path_[0]
    folds = make_folds(make_table(X, y, task="regression"), None, 3, seed=seed_of(0))
    r2 = [LinearRegression().fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds]
    assert best.score == pytest.approx(np.mean(r2))
    with pytest.raises(ValueError, match="SequentialSelector needs a regressor, but GaussianNB is not one"):
        SequentialSelector(GaussianNB()).fit(X, y)
    with pytest.raises(ValueError, match="SequentialSelector needs a classifier, but LinearRegression"):
        SequentialSelector(LinearRegression()).fit(X, np.round(y))


def test_the_error_of_contribution_is_one_less_r2(diabetes):
    X, y = diabetes
    found = ContributionSelector(max_error_increase=0.05, n_estimators=30, random_state=0).fit(X, y)
    assert found.full_error_ == 1 - found.path_.scores[0]
    assert 0.5 < found.full_error_ < 0.65
    chosen = 1 - found.path_.best(int(found.support_.sum())).score
    assert chosen <= found.full_error_ + 0.05
    assert found.support_[[2, 8]].all()  # body mass index and a serum value, the strong predictors


def test_members_of_an_aggregate_have_its_task(diabetes):
    X, y = diabetes
    members = [PearsonSelector(), ContributionSelector(n_estimators=5), InfoGainSelector()]
    found = AggregateSelector(members, task="regression", random_state=0).fit(X, np.round(y / 50))
    assert [member.task_ for member in found.selectors_] == ["regression"] * 3
    with pytest.raises(ValueError, match="SSVSelector needs classes"):
        AggregateSelector([PearsonSelector(), SSVSelector()]).fit(X, y)


def test_cumulative_gain_begins_with_the_explained_share(diabetes):
    X, y = diabetes
    first = InfoGainSelector().fit(X, y)
    for oblivious in (False, True):
        found = CumulativeGainSelector(oblivious=oblivious).fit(X, y)
        best = int(found.levels_.tolist().index(0))
        assert best == int(first.ranking_.argmin())
        assert found.gains_[best] == pytest.approx(first.scores_[best], rel=1e-10)


@pytest.mark.parametrize("order", [1, 2])
def test_feature_boosting_is_led_by_r2(order, diabetes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    y = 3 * X[:, 2] + 2 * X[:, 5] + 0.1 * rng.normal(size=200)
    found = FeatureBoostingSelector(order=order, subset_size=3, n_iterations=60, random_state=0).fit(X, y)
    assert int(found.ranking_.argmin()) in (2, 5)
    assert found.history_["accuracy"].max() < 1  # out-of-bag, and an R2
    with pytest.raises(ValueError, match="FeatureBoostingSelector needs a regressor, but GaussianNB is not"):
        FeatureBoostingSelector(estimator=GaussianNB()).fit(*diabetes)
