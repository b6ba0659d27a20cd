"""Bagging over feature subsets: draws, members, votes, out-of-bag estimate, distributions, importances."""

import pickle
from collections import Counter
from functools import partial

import numpy as np
import pytest
import reference_thesis
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import Perceptron
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from foresift import (
    CartClassifier,
    CFSSelector,
    CumulativeGainSelector,
    FeatureBoostingSelector,
    InfoGainSelector,
    RandomSelector,
    ResampleBoostClassifier,
    SiftForestClassifier,
    SSVTreeClassifier,
    SubsetBaggingClassifier,
)
from foresift.data.sklearn_compat import seed_of
from foresift.engine.column_sampling import draw_columns
from foresift.importance import average_gain, mean_decrease_impurity, node_tables
from foresift.models.members import draw_rows, fit_member, open_training_rows, shares_of

some = partial(settings, deadline=None)


def Bagging(estimator=None, n_estimators=7, **options):
    return SubsetBaggingClassifier(estimator, n_estimators, **{"random_state": 0, **options})


def make_data(seed=0, n=90, n_classes=3, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)).round(1)
    y = np.digitize(X[:, 1] + X[:, 4] + rng.normal(scale=0.3, size=n), [-0.7, 0.7][: n_classes - 1])
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def draws_of(i, X, weights=None, size=6, distribution=None, random_state=0):
    """Columns and how often every row is drawn for member i, by the documented order of the draws."""
    rng = np.random.default_rng((seed_of(random_state), i))
    columns = draw_columns(rng, np.full(6, 1 / 6) if distribution is None else distribution, size)
    shares = np.ones(len(X)) if weights is None else weights
    return columns, draw_rows(rng, shares / shares.sum())


# --- draws ---


def test_columns_are_drawn_one_after_another():
    weights = np.array([0.5, 0.0, 0.1, 0.3, 0.1])
    rng = np.random.default_rng(3)
    drawn = Counter(tuple(draw_columns(rng, weights, 2).tolist()) for _ in range(6000))
    expected = {k: p for k, p in reference_thesis.subset_probabilities(weights, 2).items() if p > 0}
    assert drawn.keys() == expected.keys()
    counts = np.array([[drawn[key], 6000 * p] for key, p in expected.items()])
    assert stats.chisquare(*counts.T).pvalue > 0.001
    assert draw_columns(rng, weights, 4).tolist() == [0, 2, 3, 4]  # as many as can be drawn


def test_members_draw_by_the_distribution():
    X, y = make_data(n=20)
    distribution = np.array([4, 0, 1, 1, 2, 0.5])
    model = Bagging(DummyClassifier(), 300, subset_size=2, distribution=distribution).fit(X, y)
    assert model.feature_distribution_ == pytest.approx(distribution / distribution.sum())
    assert not hasattr(model, "selector_")
    drawn = Counter(tuple(columns.tolist()) for columns in model.estimators_features_)
    probabilities = reference_thesis.subset_probabilities(model.feature_distribution_, 2)
    counts = np.array([[drawn[key], 300 * p] for key, p in probabilities.items() if p > 0])
    assert counts[:, 0].sum() == 300
    assert stats.chisquare(*counts.T).pvalue > 0.001


@some(max_examples=50)
@given(st.integers(0, 10_000), st.lists(st.sampled_from([0.0, 1e-300, 0.1, 1 / 3, 7.0]), min_size=1))
def test_rows_without_weight_are_never_drawn(seed, shares):
    shares = np.array([*shares, 1.0, 0.0])
    times = draw_rows(np.random.default_rng(seed), shares)
    assert times.sum() == np.count_nonzero(shares)
    assert not times[shares == 0].any()


def test_rows_are_drawn_by_weight():
    shares = np.array([0.1, 0.0, 0.4, 0.3, 0.2])
    rng = np.random.default_rng(0)
    counts = sum(draw_rows(rng, shares) for _ in range(1000))
    assert stats.chisquare(counts[shares > 0], 4000 * shares[shares > 0]).pvalue > 0.001


# --- members ---


@pytest.mark.parametrize(
    "estimator", [None, CartClassifier(max_depth=4), DecisionTreeClassifier(max_depth=3)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_members_are_fitted_to_their_rows_and_columns(estimator, weighted):
    X, y = make_data()
    weights = np.random.default_rng(5).integers(0, 4, len(y)).astype(float) if weighted else None
    model = Bagging(estimator, subset_size=3).fit(X, y, sample_weight=weights)
    for i, (member, columns) in enumerate(zip(model.estimators_, model.estimators_features_, strict=True)):
        expected, times = draws_of(i, X, weights, 3)
        assert columns.tolist() == expected.tolist()
        if weighted:
            assert not times[weights == 0].any()
        rows = np.repeat(np.arange(len(y)), times)
        alone = type(member)(**member.get_params()).fit(X[rows][:, columns], y[rows])
        assert np.array_equal(member.predict_proba(X[:, columns]), alone.predict_proba(X[:, columns]))
        if estimator is None:
            assert member.export_text() == alone.export_text()
        accuracy = np.average(alone.predict(X[:, columns]) == y, weights=weights)
        total = model.estimator_weights_ / model.estimator_weights_[0]
        first = np.average(
            model.estimators_[0].predict(X[:, model.estimators_features_[0]]) == y, weights=weights
        )
        assert total[i] == pytest.approx(accuracy / first)
    assert model.estimator_weights_.sum() == pytest.approx(1)


def test_members_are_those_of_scikit_learn():
    """Given the rows and columns that scikit-learn's bagging drew."""
    X, y = make_data()
    peer = BaggingClassifier(GaussianNB(), 5, max_features=3, random_state=0).fit(X, y)
    data = open_training_rows(GaussianNB(), X, y, None)
    for theirs, rows, columns in zip(
        peer.estimators_, peer.estimators_samples_, peer.estimators_features_, strict=True
    ):
        ours = fit_member(data, columns, np.bincount(rows, minlength=len(y)), seed=0)
        np.testing.assert_allclose(ours.theta_, theirs.theta_)
        np.testing.assert_allclose(ours.var_, theirs.var_)
    # And the other way round: the votes of our members are counted by scikit-learn.
    model = Bagging(GaussianNB(), 5, subset_size=3, vote="equal", ballot="probability").fit(X, y)
    peer.estimators_, peer.estimators_features_ = model.estimators_, model.estimators_features_
    np.testing.assert_allclose(peer.predict_proba(X), model.predict_proba(X))
    assert peer.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    "estimator", [SSVTreeClassifier(cv=3), SiftForestClassifier(3), LinearSVC(), Perceptron()]
)
def test_members_of_any_kind(estimator):
    X, y = make_data()
    model = Bagging(estimator, subset_size=3).fit(X, y)
    assert type(model.estimators_[0]) is type(estimator)
    shares = model.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(1)
    votes = [m.predict(X[:, c]) for m, c in zip(model.estimators_, model.estimators_features_, strict=True)]
    by_hand = [
        sum(w for w, v in zip(model.estimator_weights_, votes, strict=True) if v[0] == k) for k in range(3)
    ]
    assert shares[0] == pytest.approx(by_hand)
    assert model.score(X, y) > 0.5


def test_members_have_seeds_of_their_own():
    X, y = make_data()
    model = Bagging(DecisionTreeClassifier(splitter="random")).fit(X, y)
    assert len({member.random_state for member in model.estimators_}) == 7
    fixed = Bagging(DecisionTreeClassifier(random_state=5)).fit(X, y)
    assert {member.random_state for member in fixed.estimators_} == {5}


@pytest.mark.filterwarnings("ignore:.*drawn by every member")
@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_any_number_of_jobs(estimator):
    X, y = make_data()
    options = {"subset_size": 3, "oob_score": True}
    one = Bagging(estimator, 6, **options).fit(X, y)
    with parallel_config(backend="threading"):  # processes are slow to start: see the next test
        two = Bagging(estimator, 6, n_jobs=2, **options).fit(X, y)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    assert np.array_equal(one.estimator_weights_, two.estimator_weights_)
    assert np.array_equal(one.oob_decision_function_, two.oob_decision_function_, equal_nan=True)
    other = Bagging(estimator, 6, random_state=1).fit(X, y)
    assert not np.array_equal(one.predict_proba(X), other.predict_proba(X))


def test_training_rows_travel_to_other_processes():
    X, y = make_data()
    data = open_training_rows(GaussianNB(), X, y, None)
    there = pickle.loads(pickle.dumps(data))
    columns, times = draws_of(0, X, size=3)
    here, away = (fit_member(rows, columns, times, seed=0) for rows in (data, there))
    assert np.array_equal(here.theta_, away.theta_)


# --- votes ---


@some(max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(2, 4))
def test_votes_of_equation_7(seed, n_members, n_classes):
    """Accuracies are shares of few rows, so that votes often tie: then the first class wins."""
    rng = np.random.default_rng(seed)
    accuracies = rng.integers(1, 11, n_members) / 10
    predictions = rng.integers(0, n_classes, (n_members, 30))
    exact = [f"{a:.1f}" for a in accuracies]
    expected = reference_thesis.weighted_vote(predictions.tolist(), exact, n_classes)
    weights = accuracies / accuracies.sum()
    votes = np.zeros((30, n_classes))
    for member, weight in zip(predictions, weights, strict=True):
        votes[np.arange(30), member] += weight
    shares = shares_of(votes)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert shares.argmax(axis=1).tolist() == expected


@pytest.mark.parametrize("estimator", [None, LinearSVC()])
def test_the_ensemble_votes_by_equation_7(estimator):
    X, y = make_data(missing=0.0 if estimator else 0.1)
    model = Bagging(estimator, 15, subset_size=2).fit(X, y)
    parts = [X[:, columns] for columns in model.estimators_features_]
    predictions = [m.predict(part) for m, part in zip(model.estimators_, parts, strict=True)]
    right = [int((p == y).sum()) for p in predictions]  # accuracies but for a factor, exact
    expected = reference_thesis.weighted_vote([p.tolist() for p in predictions], right, 3)
    assert model.predict(X).tolist() == expected
    equal = Bagging(estimator, 15, subset_size=2, vote="equal").fit(X, y)
    assert equal.estimator_weights_.tolist() == [1 / 15] * 15
    assert equal.predict(X).tolist() == reference_thesis.weighted_vote(
        [p.tolist() for p in predictions], [1] * 15, 3
    )


def test_ballots_by_probability():
    X, y = make_data(missing=0.1)
    model = Bagging(subset_size=3, ballot="probability").fit(X, y)
    parts = [X[:, columns] for columns in model.estimators_features_]
    members = zip(model.estimators_, parts, model.estimator_weights_, strict=True)
    expected = sum(weight * member.predict_proba(part) for member, part, weight in members)
    np.testing.assert_allclose(model.predict_proba(X), expected)
    assert ((expected > 0) & (expected < 1)).any()


def test_members_that_are_never_right_vote_alike():
    """Accuracies of 0 cannot be scaled to a sum of one."""

    class Contrary(DecisionTreeClassifier):
        def predict_proba(self, X):
            return 1 - super().predict_proba(X)

    X = np.arange(8.0)[:, np.newaxis].repeat(6, axis=1)
    y = np.array([0, 1] * 4)
    X[:, 0] = y
    model = Bagging(Contrary(), distribution=[1, 0, 0, 0, 0, 0], subset_size=1).fit(X, y)
    assert model.estimator_weights_.tolist() == [1 / 7] * 7


@pytest.mark.parametrize("estimator", [None, GaussianNB()])
@pytest.mark.parametrize("ballot", ["class", "probability"])
def test_out_of_bag(estimator, ballot):
    X, y = make_data()
    model = Bagging(estimator, subset_size=3, ballot=ballot, oob_score=balanced_accuracy_score)
    with pytest.warns(UserWarning, match="drawn by every member.*raise n_estimators"):
        model.fit(X, y)
    votes = np.zeros((len(y), 3))
    for i, (member, weight) in enumerate(zip(model.estimators_, model.estimator_weights_, strict=True)):
        columns, times = draws_of(i, X, size=3)
        ballots = member.predict_proba(X[:, columns])
        if ballot == "class":
            ballots = np.eye(3)[ballots.argmax(axis=1)]
        votes += (times == 0)[:, np.newaxis] * weight * ballots
    judged = votes.any(axis=1)
    assert 0 < (~judged).sum() < 20
    np.testing.assert_allclose(
        model.oob_decision_function_[judged], votes[judged] / votes[judged].sum(axis=1, keepdims=True)
    )
    assert np.isnan(model.oob_decision_function_[~judged]).all()
    predicted = model.oob_decision_function_[judged].argmax(axis=1)
    assert model.oob_score_ == balanced_accuracy_score(y[judged], predicted)
    assert not hasattr(Bagging(estimator).fit(X, y), "oob_score_")


# --- distributions ---


@pytest.mark.parametrize(
    "selector", [InfoGainSelector(), CumulativeGainSelector(), RandomSelector(), CFSSelector()]
)
def test_a_selector_that_is_left_to_choose_keeps_the_size(selector):
    X, y = make_data()
    model = Bagging(distribution=selector, subset_size=2).fit(X, y)
    kept = model.selector_.get_support(indices=True)
    assert len(kept) == 2
    assert model.feature_distribution_.tolist() == [0.5 if j in kept else 0 for j in range(6)]
    assert all(columns.tolist() == kept.tolist() for columns in model.estimators_features_)
    assert selector.n_features_to_select is None  # a clone was fitted
    assert not hasattr(model.set_params(distribution="uniform").fit(X, y), "selector_")


def test_a_selector_with_a_distribution():
    X, y = make_data()
    boosted = FeatureBoostingSelector(n_iterations=10, random_state=0)
    model = Bagging(distribution=boosted, subset_size=2).fit(X, y)
    assert model.selector_.history_["features"].shape == (10, 2)
    assert model.feature_distribution_ == pytest.approx(model.selector_.feature_distribution_)
    fewer = boosted.set_params(subset_size=4, n_features_to_select=1)
    assert Bagging(distribution=fewer, subset_size=2).fit(X, y).selector_.history_["features"].shape == (
        10,
        4,
    )


def test_feature_boosting_has_as_many_iterations_as_members():
    X, y = make_data()

    def n_iterations(n_estimators, **parameters):
        model = Bagging(n_estimators=n_estimators, distribution=FeatureBoostingSelector(**parameters))
        return len(model.set_params(subset_size=2).fit(X, y).selector_.history_["accuracy"])

    assert [n_iterations(n) for n in (1, 5, 20, 30)] == [1, 5, 20, 30]
    assert n_iterations(5, n_iterations=8) == 8  # a number that is given stays
    # Pairs need every pair to be in use: as many iterations as without an ensemble.
    alone = FeatureBoostingSelector(order=2, subset_size=2, random_state=0).fit(X, y)
    assert n_iterations(5, order=2) == len(alone.history_["accuracy"]) > 25


def test_selectors_of_scikit_learn():
    X, y = make_data()
    model = Bagging(distribution=SelectKBest(f_classif, k=3), subset_size=2).fit(X, y)
    assert np.count_nonzero(model.feature_distribution_) == 3
    with pytest.raises(ValueError, match="gives 3 columns a positive weight, but subset_size=4"):
        model.set_params(subset_size=4).fit(X, y)


def test_selectors_get_the_weights():
    X, y = make_data()
    weights = np.where(y == 2, 0.0, 1.0)
    model = Bagging(distribution=InfoGainSelector(), subset_size=2).fit(X, y, sample_weight=weights)
    alone = InfoGainSelector(2).fit(X, y, sample_weight=weights)
    assert model.selector_.scores_.tolist() == alone.scores_.tolist()


# --- importances ---


def test_node_tables_speak_of_the_columns_of_the_ensemble():
    X, y = make_data()
    for model in (Bagging(subset_size=2), Bagging(DecisionTreeClassifier(), subset_size=2)):
        tables = node_tables(model.fit(X, y))
        assert len(tables) == 7
        for table, member, columns in zip(tables, model.estimators_, model.estimators_features_, strict=True):
            (own,) = node_tables(member)
            inner = own.nodes["feature"] >= 0
            assert inner.any()
            assert table.nodes["feature"][inner].tolist() == columns[own.nodes["feature"][inner]].tolist()
            assert table.nodes["gain"].tolist() == own.nodes["gain"].tolist()


def test_average_gain_of_ensembles():
    X, y = make_data()
    for model in (Bagging(subset_size=2), ResampleBoostClassifier(n_estimators=4, random_state=0)):
        gains = average_gain(model.fit(X, y), weighting="unit")
        sums, counts = np.zeros(6), np.zeros(6)
        for table in node_tables(model):
            split = ~table.is_leaf
            for node in np.flatnonzero(split):
                first, n_children = table.nodes["first_child"][node], table.nodes["n_children"][node]
                branches = table.counts[first : first + n_children]
                before, after = (
                    reference_thesis.entropy(np.arange(3), table.counts[node]),
                    sum(b.sum() * reference_thesis.entropy(np.arange(3), b) for b in branches)
                    / branches.sum(),
                )
                sums[table.nodes["feature"][node]] += before - after
                counts[table.nodes["feature"][node]] += 1
        with np.errstate(invalid="ignore"):
            assert gains == pytest.approx(sums / counts, nan_ok=True)
        assert mean_decrease_impurity(model).sum() == pytest.approx(1)


def test_out_of_bag_counts_rows_by_their_weight():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    y[200:] = rng.integers(0, 2, 100)  # nonsense, which does not count
    weights = np.repeat([1.0, 0.0], [200, 100])
    for model in (
        SubsetBaggingClassifier(oob_score=True, random_state=0),
        SiftForestClassifier(oob_score=True, random_state=0),
    ):
        assert model.fit(X, y, sample_weight=weights).oob_score_ > 0.95
        assert model.fit(X, y, sample_weight=weights + 1e-6).oob_score_ > 0.95
        assert model.fit(X, y).oob_score_ < 0.9
    bagging = (
        SubsetBaggingClassifier(oob_score=True, random_state=0)
        .fit(X, y)
        .set_params(oob_score=False)
        .fit(X, y)
    )
    assert not hasattr(bagging, "oob_score_")
