"""A selector, or another estimator with importances, says how a forest draws its columns."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foresift import CartClassifier, ForestGainSelector, SiftForestClassifier
from foresift.data.sklearn_compat import seed_of
from foresift.datasets import make_simple


@pytest.fixture(scope="module")
def simple():
    return make_simple(200, random_state=0)


def scaled(weights):
    return pytest.approx(np.asarray(weights) / np.sum(weights))


class GivenSelector(BaseEstimator):
    """Has the scores and the support that it is given; notes whether it was told weights."""

    def __init__(self, scores=None, support=None):
        self.scores = scores
        self.support = support

    def fit(self, X, y, sample_weight=None):
        self.scores_ = self.scores
        if sample_weight is not None:
            self.scores_ = np.array(sample_weight[: X.shape[1]])
        return self

    def get_support(self):
        return np.full(len(self.scores_), True) if self.support is None else np.array(self.support)


class PlainSelector(BaseEstimator):
    """Takes no weights."""

    def fit(self, X, y):
        self.scores_ = np.arange(X.shape[1])
        return self


def drawn(feature_sampling, X, y, sample_weight=None, **options):
    options = {"random_state": 0, **options}
    return SiftForestClassifier(3, feature_sampling=feature_sampling, **options).fit(X, y, sample_weight)


# --- the schemes of Table 4 ---


def test_weights_by_the_scores_of_all_columns(simple):
    X, y = simple
    selector = ForestGainSelector(n_features_to_select=1.0, n_estimators=30, random_state=5)
    forest = drawn(selector, X, y)
    alone = clone(selector).fit(X, y)
    assert (forest.feature_weights_ > 0).all()
    assert forest.feature_weights_ == scaled(alone.scores_)
    assert forest.node_tables_ == drawn(alone.scores_, X, y).node_tables_


def test_weights_by_the_scores_of_the_selected_columns(simple):
    X, y = simple
    selector = ForestGainSelector(bound="upper", n_estimators=30, random_state=5)
    forest = drawn(selector, X, y)
    alone = clone(selector).fit(X, y)
    assert 0 < alone.support_.sum() < 9
    assert np.array_equal(forest.feature_weights_ > 0, alone.support_)
    assert forest.feature_weights_ == scaled(alone.scores_ * alone.support_)
    used = {int(f) for table in forest.node_tables_ for f in table.nodes["feature"]}
    assert used <= {-1, *np.flatnonzero(alone.support_)}


def test_selection_before_a_forest(simple):
    X, y = simple
    selector = ForestGainSelector(bound="upper", n_estimators=30, random_state=5)
    pipeline = make_pipeline(selector, SiftForestClassifier(10, random_state=0)).fit(X, y)
    assert pipeline[1].n_features_in_ == pipeline[0].support_.sum() < 9
    assert pipeline.score(X, y) > 0.95


# --- what may stand there ---


def test_other_estimators(simple):
    X, y = simple
    for model in (
        RandomForestClassifier(10, random_state=1),
        CartClassifier(max_depth=4),
        SiftForestClassifier(5, random_state=1),
        SiftForestClassifier(5, random_state=1, feature_sampling=ForestGainSelector(2, random_state=0)),
    ):
        assert drawn(model, X, y).feature_weights_ == scaled(clone(model).fit(X, y).feature_importances_)


def test_selectors_of_scikit_learn_keep_to_their_support(simple):
    X, y = simple
    selector = SelectKBest(k=2)
    alone = clone(selector).fit(X, y)
    assert drawn(selector, X, y).feature_weights_ == scaled(alone.scores_ * alone.get_support())


def test_the_estimator_given_is_not_fitted_itself(simple):
    X, y = simple
    for model in (ForestGainSelector(n_estimators=5), RandomForestClassifier(5)):
        before = vars(model).copy()
        forest = drawn(model, X, y)
        assert vars(model) == before
        assert forest.feature_sampling is model


def test_a_fitted_selector_is_fitted_anew(simple):
    X, y = simple
    other = np.random.default_rng(0).permutation(y)
    fitted = ForestGainSelector(n_estimators=20, random_state=0).fit(X, other)
    scores = fitted.scores_.copy()
    fresh = drawn(ForestGainSelector(n_estimators=20, random_state=0), X, y)
    assert np.array_equal(drawn(fitted, X, y).feature_weights_, fresh.feature_weights_)
    assert np.array_equal(fitted.scores_, scores)


def test_seeds(simple):
    X, y = simple
    weights = lambda seed, own=None: drawn(  # noqa: E731
        ForestGainSelector(1.0, n_estimators=5, random_state=own), X, y, random_state=seed
    ).feature_weights_.tolist()
    assert weights(0) == weights(0)
    assert weights(0) != weights(1)
    assert weights(None) != weights(None)
    assert weights(0, own=3) == weights(1, own=3)
    # A selector without a seed takes that of the forest.
    own = ForestGainSelector(1.0, n_estimators=5, random_state=seed_of(0) % 2**32).fit(X, y)
    assert weights(0) == scaled(own.scores_)
    forest = drawn(RandomForestClassifier(5), X, y)
    assert np.array_equal(forest.feature_weights_, drawn(RandomForestClassifier(5), X, y).feature_weights_)


def test_scores_below_zero_and_missing_ones(simple):
    X, y = simple
    X = X[:, :4]
    assert drawn(GivenSelector([3.0, -1.0, np.nan, 1.0]), X, y).feature_weights_ == scaled([3, 0, 1, 1])
    assert drawn(GivenSelector([np.nan] * 4), X, y).feature_weights_ == scaled([1, 1, 1, 1])
    assert drawn(GivenSelector([np.inf, 2.0, np.inf, 1.0]), X, y).feature_weights_ == scaled([1, 0, 1, 0])
    masked = GivenSelector([3.0, 2.0, np.nan, 1.0], [True, False, True, True])
    assert drawn(masked, X, y).feature_weights_ == scaled([3, 0, 2, 1])


def test_weights_of_rows_reach_selectors_that_take_them(simple):
    X, y = simple
    weights = np.arange(1.0, len(y) + 1)
    assert drawn(GivenSelector(np.ones(9)), X, y, weights).feature_weights_ == scaled(weights[:9])
    assert drawn(PlainSelector(), X, y, weights).feature_weights_ == scaled(np.arange(9))
    selector = ForestGainSelector(1.0, bound="exact", n_estimators=5, random_state=0)
    alone = clone(selector).fit(X, y, sample_weight=weights)
    assert drawn(selector, X, y, weights).feature_weights_ == scaled(alone.scores_)


@pytest.mark.parametrize("make", [pd.DataFrame, sparse.csr_array])
def test_selectors_see_the_data_as_it_was_given(make, simple):
    X, y = simple
    frame = make(X)
    if make is pd.DataFrame:
        frame.columns = [f"c{j}" for j in range(9)]
        frame["c8"] = np.where(frame["c8"] > 0.5, "high", "low")
    selector = ForestGainSelector(1.0, bound="exact", n_estimators=5, random_state=0)
    assert drawn(selector, frame, y).feature_weights_ == scaled(clone(selector).fit(frame, y).scores_)


# --- errors ---


@pytest.mark.parametrize(
    "model",
    [StandardScaler(), LogisticRegression(), make_pipeline(StandardScaler(), RandomForestClassifier(3))],
    ids=lambda model: type(model).__name__,
)
def test_estimators_without_scores_are_refused(model, simple):
    with pytest.raises(ValueError, match=f"a fitted {type(model).__name__} has neither scores_ nor"):
        drawn(model, *simple)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GivenSelector([1.0, 2.0]), "9 columns"),
        (GivenSelector([-np.inf] * 9), "GivenSelector gives no column a score above 0"),
        (GivenSelector(np.zeros(9)), "GivenSelector gives no column a score above 0"),
        (GivenSelector(-np.ones(9)), "GivenSelector gives no column a score above 0"),
        (GivenSelector(np.ones(9), [False] * 9), "0 for every column"),
        (ForestGainSelector(n_features_to_select=10), "10 is more than the 9 columns"),
        (object(), "feature_sampling"),
        ({"a": 1}, "not an array of weights"),
        (None, "feature_sampling"),
        (3, "feature_sampling"),
        ("chance", "feature_sampling"),
    ],
)
def test_bad_selectors_are_refused(model, message, simple):
    with pytest.raises(ValueError, match=message):
        drawn(model, *simple)


def test_bad_parameters_of_a_selector_are_named(simple):
    with pytest.raises(ValueError, match="The 'bound' parameter of ForestGainSelector"):
        drawn(ForestGainSelector(bound="middle"), *simple)


def test_closed_forms_refuse_three_classes(simple):
    X, y = simple
    with pytest.raises(ValueError, match='use bound="exact"'):
        drawn(ForestGainSelector(bound="mid"), X, np.arange(len(y)) % 3)


# --- parameters, copies, warm start ---


def test_parameters_of_the_selector_are_parameters_of_the_forest():
    forest = SiftForestClassifier(feature_sampling=ForestGainSelector(bound="mid"))
    assert forest.get_params()["feature_sampling__bound"] == "mid"
    assert "feature_sampling__bound" not in forest.get_params(deep=False)
    forest.set_params(feature_sampling__bound="upper", feature_sampling__n_features_to_select=2)
    assert forest.feature_sampling.bound == "upper"
    assert clone(forest).get_params()["feature_sampling__n_features_to_select"] == 2
    assert clone(forest).feature_sampling is not forest.feature_sampling
    with pytest.raises(ValueError, match="Invalid parameter"):
        forest.set_params(feature_sampling__nothing=1)


def test_in_a_grid_search(simple):
    X, y = simple
    forest = SiftForestClassifier(
        5, feature_sampling=ForestGainSelector(n_estimators=5, random_state=0), random_state=0
    )
    grid = {"feature_sampling__n_features_to_select": [2, 1.0]}
    search = GridSearchCV(forest, grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.8


def test_copies_and_warm_starts(simple):
    X, y = simple
    forest = SiftForestClassifier(
        4, feature_sampling=ForestGainSelector(n_estimators=5), random_state=0, warm_start=True
    ).fit(X, y)
    again = pickle.loads(pickle.dumps(forest))
    for model in (forest, again):
        model.set_params(n_estimators=9).fit(X, y)
    once = clone(forest).set_params(warm_start=False).fit(X, y)
    assert forest.node_tables_ == again.node_tables_ == once.node_tables_
    assert np.array_equal(forest.feature_weights_, once.feature_weights_)


def test_a_warm_start_goes_on_with_another_sampling(simple):
    X, y = simple
    forest = SiftForestClassifier(4, random_state=0, warm_start=True).fit(X, y)
    forest.set_params(n_estimators=8, feature_sampling=np.eye(9)[3]).fit(X, y)
    assert forest.feature_weights_.tolist() == np.eye(9)[3].tolist()
    assert {int(f) for table in forest.node_tables_[4:] for f in table.nodes["feature"]} <= {-1, 3}


@pytest.mark.parametrize("policy", ["confidence", "two-stage+confidence", "soft"])
def test_a_warm_start_cannot_begin_to_learn(policy, simple):
    X, y = simple
    forest = SiftForestClassifier(4, random_state=0, warm_start=True).fit(X, y)
    before = forest.predict_proba(X)
    with pytest.raises(ValueError, match="cannot change to it"):
        forest.set_params(n_estimators=8, feature_sampling=policy).fit(X, y)
    assert np.array_equal(forest.predict_proba(X), before)
    # The other way it may end to learn.
    learned = SiftForestClassifier(4, feature_sampling=policy, random_state=0, warm_start=True).fit(X, y)
    learned.set_params(n_estimators=8, feature_sampling="uniform").fit(X, y)
    assert learned.feature_weights_ == pytest.approx(1 / 9)
    assert len(learned.node_tables_) == 8
