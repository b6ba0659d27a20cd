"""Feature boosting: Table 3 and eq. 8 against their literal form, draws, pairs, judges, bad input."""

import math
import warnings
from collections import Counter
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import reference_thesis
from hypothesis import given, settings
from hypothesis import strategies as st
from power import seeds
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from foresift import C45Classifier, CartClassifier, FeatureBoostingSelector, InfoGainSelector
from foresift.data.sklearn_compat import seed_of
from foresift.selectors.feature_boosting import PairWeights, SingleWeights, change

some = partial(settings, deadline=None)
EITHER_ORDER = pytest.mark.parametrize("order", [1, 2])


def make_data(seed=0, n=120, p=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).round(1)
    return X, (X[:, 1] + X[:, 2] + rng.normal(scale=0.5, size=n) > 0).astype(int)


def fitted(X, y, weights=None, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No feature passed the rule")
        return FeatureBoostingSelector(**{"random_state": 0, **options}).fit(X, y, sample_weight=weights)


# --- the arithmetic ---


@given(st.floats(-20, 20))
def test_psi_is_a_hyperbolic_tangent(x):
    assert math.tanh(2 * x) == pytest.approx(reference_thesis.psi(x), abs=1e-12)


@given(st.floats(0, 1), st.lists(st.floats(0, 1), min_size=2, max_size=30), st.integers(1, 20), st.data())
def test_criterion_function(accuracy, before, n_features, data):
    size = data.draw(st.integers(1, n_features))
    found = change(accuracy, before, n_features, size)
    assert -1 <= found <= 1
    assert found == pytest.approx(
        reference_thesis.relative_change(accuracy, before, n_features, size), abs=1e-6
    )


def test_criterion_function_by_hand():
    # Mean 0.75, deviation 0.0707: the accuracy lies 2.1213 deviations above.
    assert change(0.9, [0.7, 0.8], 10, 4) == pytest.approx(6 / 9 * math.tanh(2 * 0.15 / math.sqrt(0.005)))
    assert change(0.9, [0.7, 0.8], 10, 10) == 0  # all features in use teach nothing
    assert change(0.9, [0.7, 0.7], 10, 4) == 0  # no deviation
    assert change(0.9, [0.7, 0.8], 1, 1) == 0
    assert change(0.6, [0.7, 0.8], 10, 4) == -change(0.9, [0.7, 0.8], 10, 4)


@some(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([1, 2]), st.integers(2, 7), st.data())
def test_weights_are_those_of_table_3(seed, order, n_features, data):
    size = data.draw(st.integers(order, n_features))
    rng = np.random.default_rng(seed)
    subsets = [np.sort(rng.permutation(n_features)[:size]) for _ in range(25)]
    accuracies = rng.choice([0.5, 0.6, 0.7, 0.9], 25).tolist()
    expected, changes = reference_thesis.feature_boosting(subsets, accuracies, n_features, order=order)
    weights = SingleWeights(n_features) if order == 1 else PairWeights(n_features)
    for i, (subset, relative) in enumerate(zip(subsets, changes, strict=True)):
        assert i > 2 or relative == 0
        weights.multiply(subset, 1 + relative)
    assert weights.of_features == pytest.approx(reference_thesis.of_features(expected, n_features), rel=1e-6)
    if order == 2:
        matrix = np.zeros((n_features, n_features))
        for pair, weight in expected.items():
            i, j = sorted(pair)
            matrix[i, j] = matrix[j, i] = weight
        np.testing.assert_allclose(weights.of_pairs, matrix, rtol=1e-6)


# --- draws ---


def chi_square(drawn, probabilities):
    """P-value of counts of subsets, where each has its probability."""
    expected = np.array([probabilities[key] for key in sorted(probabilities)])
    counts = np.array([drawn[key] for key in sorted(probabilities)])
    assert sum(drawn.values()) == counts.sum()
    possible = expected > 0
    assert not counts[~possible].any()
    return stats.chisquare(counts[possible], expected[possible] * counts.sum()).pvalue


def test_subsets_are_drawn_one_after_another():
    weights = SingleWeights(5)
    weights.multiply(np.array([0, 3]), 4.0)
    weights.multiply(np.array([4]), 0.3)
    rng = np.random.default_rng(1)
    drawn = Counter(tuple(weights.draw(rng, 2).tolist()) for _ in range(6000))
    assert chi_square(drawn, reference_thesis.subset_probabilities(weights.of_features, 2)) > 0.001


@pytest.mark.parametrize("size", [2, 3, 4])
def test_pairs_are_drawn_one_after_another(size):
    """Literally: pairs without replacement until there are enough features; of the last perhaps either."""
    n_features = 5
    weights = PairWeights(n_features)
    weights.multiply(np.array([1, 2]), 6.0)
    weights.multiply(np.array([0, 4]), 2.0)
    pairs = {pair: weights.of_pairs[pair] for pair in combinations(range(n_features), 2)}
    probabilities = dict.fromkeys(combinations(range(n_features), size), 0.0)

    def draw(features, left, p):
        if len(features) == size:
            probabilities[tuple(sorted(features))] += p
            return
        total = sum(left.values())
        for pair, weight in left.items():
            fresh = [j for j in pair if j not in features]
            others = {k: w for k, w in left.items() if k != pair}
            if len(features) + len(fresh) <= size:
                draw(features | set(fresh), others, p * weight / total)
            else:
                for j in fresh:
                    draw(features | {j}, others, p * weight / total / len(fresh))

    draw(frozenset(), pairs, 1.0)
    assert sum(probabilities.values()) == pytest.approx(1)
    rng = np.random.default_rng(2)
    drawn = Counter(tuple(weights.draw(rng, size).tolist()) for _ in range(5000))
    assert chi_square(drawn, probabilities) > 0.001


def test_all_pairs_may_be_needed():
    rng = np.random.default_rng(0)
    weights = PairWeights(6)
    for _ in range(30):
        weights.multiply(np.array([0, 1, 2]), 2.0)  # these three pairs are nearly always the first
    assert weights.draw(rng, 6).tolist() == [0, 1, 2, 3, 4, 5]


# --- the whole selector ---


@EITHER_ORDER
@pytest.mark.parametrize("rate", [None, 0.3])
def test_history_explains_the_distribution(order, rate):
    X, y = make_data()
    model = fitted(X, y, order=order, subset_size=3, n_iterations=30, learning_rate=rate, init=4)
    history = model.history_
    assert history["features"].shape == (30, 3)
    rate = rate or (1.0 if order == 1 else 0.5)
    weights, changes = reference_thesis.feature_boosting(
        history["features"], history["accuracy"].tolist(), 8, init=4, rate=rate, order=order
    )
    assert history["change"] == pytest.approx(changes, abs=1e-9)
    assert not history["change"][:4].any()
    assert history["change"][4:].any()
    assert model.feature_distribution_ == pytest.approx(reference_thesis.of_features(weights, 8), rel=1e-6)
    assert model.feature_distribution_.sum() == pytest.approx(1)
    assert model.scores_.tolist() == model.feature_distribution_.tolist()
    assert hasattr(model, "pair_distribution_") == (order == 2)
    if order == 2:
        upper = model.pair_distribution_[np.triu_indices(8, 1)]
        assert upper.sum() == pytest.approx(1)
        assert model.pair_distribution_.sum(axis=0) / 2 == pytest.approx(model.feature_distribution_)
    assert model.support_.tolist() == (model.feature_distribution_ > 1 / 8 + 1e-9).tolist()


@pytest.mark.parametrize("estimator", [None, GaussianNB(), LinearSVC(), CartClassifier(max_depth=2)])
def test_training_accuracies_are_those_of_the_subsets(estimator):
    X, y = make_data()
    model = fitted(X, y, estimator=estimator, n_iterations=6, random_state=3)
    assert model.history_["features"].shape == (6, 4)
    for columns, accuracy in zip(model.history_["features"], model.history_["accuracy"], strict=True):
        alone = (C45Classifier() if estimator is None else estimator).fit(X[:, columns], y)
        assert accuracy == pytest.approx(alone.score(X[:, columns], y))


@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_weighted_accuracies(estimator):
    X, y = make_data()
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    model = fitted(X, y, weights, estimator=estimator, n_iterations=5)
    for columns, accuracy in zip(model.history_["features"], model.history_["accuracy"], strict=True):
        alone = (C45Classifier() if estimator is None else estimator).fit(
            X[:, columns], y, sample_weight=weights
        )
        assert accuracy == pytest.approx(alone.score(X[:, columns], y, sample_weight=weights))
    # Whole weights are repeated rows.
    again = fitted(
        np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int)), n_iterations=5
    )
    if estimator is None:
        assert again.history_["accuracy"] == pytest.approx(model.history_["accuracy"])


def test_out_of_bag_accuracies():
    """By the same draws, written out: rows, then the seed of the classifier."""
    X, y = make_data(n=60)
    model = fitted(X, y, accuracy="oob", n_iterations=8, estimator=KNeighborsClassifier(3))
    rng = np.random.default_rng(seed_of(0))
    weights = SingleWeights(8)
    for i in range(8):
        columns = weights.draw(rng, 4)
        times = rng.multinomial(60, np.full(60, 1 / 60))
        rng.integers(2**63)
        drawn, unseen = np.repeat(np.arange(60), times), times == 0
        alone = KNeighborsClassifier(3).fit(X[drawn][:, columns], y[drawn])
        assert model.history_["features"][i].tolist() == columns.tolist()
        assert model.history_["accuracy"][i] == pytest.approx(alone.score(X[unseen][:, columns], y[unseen]))
        if model.history_["change"][i]:
            weights.multiply(columns, 1 + model.history_["change"][i])
    assert model.history_["change"].any()


@seeds(1, 15)
def test_an_exclusive_or_among_fifty_columns_of_noise(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 52))
    y = (X[:, 17] > 0) ^ (X[:, 40] > 0)
    pairs = fitted(X, y, n_features_to_select=2, order=2, random_state=seed)
    assert pairs.get_support(indices=True).tolist() == [17, 40]
    assert np.unravel_index(pairs.pair_distribution_.argmax(), (52, 52)) == (17, 40)
    assert fitted(X, y, n_features_to_select=2, random_state=seed).get_support(indices=True).tolist() != [
        17,
        40,
    ]
    assert set(InfoGainSelector(2).fit(X, y).get_support(indices=True)) != {17, 40}


def test_relevant_features_gain_weight():
    X, y = make_data(n=300, p=12)
    model = fitted(
        X, y, n_features_to_select=2, n_iterations=80, subset_size=3, accuracy="oob", learning_rate=0.3
    )
    assert model.get_support(indices=True).tolist() == [1, 2]


def test_defaults_of_size_and_iterations():
    X, y = make_data(p=9)
    assert fitted(X, y).history_["features"].shape == (25, 4)
    assert fitted(X, y, order=2).history_["features"].shape == (10 * 9 * 8 // (3 * 2), 3)
    assert fitted(X, y, subset_size=0.34).history_["features"].shape == (25, 3)
    assert fitted(X, y, subset_size=0.01, order=2, n_iterations=4).history_["features"].shape == (4, 2)


# --- odd and bad input ---


@EITHER_ORDER
@pytest.mark.parametrize("subset_size", [None, 1, 0.5])
def test_one_feature(order, subset_size):
    X, y = make_data()
    model = fitted(X[:, :1], y, order=order, subset_size=subset_size)
    assert model.feature_distribution_.tolist() == [1.0]
    assert model.support_.tolist() == [True]


@EITHER_ORDER
def test_subsets_of_all_features_teach_nothing(order):
    X, y = make_data(p=4)
    with pytest.warns(UserWarning, match="No feature passed"):
        model = FeatureBoostingSelector(order=order, subset_size=4, n_iterations=6, random_state=0).fit(X, y)
    assert model.feature_distribution_ == pytest.approx([0.25] * 4)
    assert not model.history_["change"].any()


@EITHER_ORDER
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier()])
def test_columns_that_say_nothing(order, estimator):
    X, y = make_data(p=5)
    X[:, 0], X[:, 3] = 2.0, np.nan
    model = fitted(X, y, order=order, estimator=estimator, n_iterations=40, accuracy="oob", subset_size=2)
    assert model.feature_distribution_[[1, 2]].min() > model.feature_distribution_[[0, 3]].max()
    nothing = fitted(X[:, [0, 3]], y, order=order, estimator=estimator, n_iterations=6)
    assert nothing.feature_distribution_.sum() == pytest.approx(1)


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(), GaussianNB()])
def test_a_bootstrap_of_one_class(estimator):
    X, y = make_data(n=30)
    y = (np.arange(30) == 7).astype(int)  # not drawn in every third bootstrap
    model = fitted(X, y, accuracy="oob", estimator=estimator, n_iterations=12)
    assert np.isfinite(model.history_["accuracy"]).all()


def test_text_columns_and_estimators_that_know_their_names():
    X, y = make_data()
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(t=np.where(y > 0, "yes", "no"))
    assert fitted(frame, y, n_features_to_select=1, n_iterations=60).get_feature_names_out().tolist() == ["t"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subset_size": 9}, "subset_size=9 is more than the 8 columns"),
        ({"subset_size": 0}, "subset_size"),
        ({"subset_size": 1.5}, "subset_size"),
        ({"subset_size": 1, "order": 2}, "use at least 2, or order=1"),
        ({"order": 3}, "order"),
        ({"init": 1}, "init"),
        ({"n_iterations": 0}, "n_iterations"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": 1.5}, "learning_rate"),
        ({"accuracy": "test"}, "accuracy"),
        ({"estimator": "tree"}, "estimator"),
        ({"estimator": LinearRegression()}, "needs a classifier, but LinearRegression is not one"),
        ({"estimator": C45Classifier}, r"pass an instance, C45Classifier\(\)"),
        ({"estimator": C45Classifier(confidence_factor=7)}, "confidence_factor"),
        ({"estimator": LogisticRegression(C=-1)}, "'C' parameter"),
        ({"estimator": C45Classifier(max_features=5)}, "max_features=5 is more than the 4 columns"),
        ({"n_features_to_select": 9}, "n_features_to_select=9"),
    ],
)
def test_bad_parameters(options, message):
    X, y = make_data(n=30)
    with pytest.raises(ValueError, match=message):
        FeatureBoostingSelector(**options).fit(X, y)


def test_too_many_columns_for_pairs():
    with pytest.raises(ValueError, match="4,001: drop some"):
        FeatureBoostingSelector(order=2).fit(np.zeros((4, 4001)), [0, 1, 0, 1])


def test_estimators_that_know_no_weights():
    X, y = make_data(n=40)
    weights = np.where(np.arange(40) < 5, 2.0, 1.0)
    knn = FeatureBoostingSelector(estimator=KNeighborsClassifier(), n_iterations=5, random_state=0)
    with pytest.raises(ValueError, match=r"takes no sample_weight.*accuracy='oob'"):
        knn.fit(X, y, sample_weight=weights)
    knn.set_params(accuracy="oob").fit(X, y, sample_weight=weights)
    # Rows that are there or not need no weights.
    knn.set_params(accuracy="training").fit(X, y, sample_weight=(weights > 1) | (np.arange(40) > 20))
    assert FeatureBoostingSelector(estimator=Perceptron(), n_iterations=5).fit(
        X, y
    ).scores_.sum() == pytest.approx(1)


def test_constant_columns_are_in_no_pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    X[:, 3] = 1.0
    X[:, 4] = np.nan
    selector = FeatureBoostingSelector(order=2, n_iterations=60, random_state=0).fit(X, X[:, 0] > 0)
    assert selector.feature_distribution_[[3, 4]].tolist() == [0, 0]
    assert not np.isin(selector.history_["features"], [3, 4]).any()
    assert selector.pair_distribution_.shape == (6, 6)
    assert selector.feature_distribution_.sum() == pytest.approx(1)
    nothing = FeatureBoostingSelector(order=2, n_iterations=30, random_state=0).fit(X[:, 3:5], X[:, 0] > 0)
    assert nothing.scores_.tolist() == [0.5, 0.5]
