"""Mistakes that were made once, each with the call that showed it."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.tree import DecisionTreeClassifier

from foresift import C45Classifier, CartClassifier, SiftForestClassifier, SSVSelector
from foresift.criteria import gain_variance, information_gain
from foresift.engine.grow import grow_trees
from foresift.importance import average_gain, mean_decrease_impurity


def problem(n=60, p=4):
    X = np.random.default_rng(0).normal(size=(n, p))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("weights", [{0: -1, 1: 1}, {0: np.nan, 1: 1}, {0: 1e60, 1: 1}, {0: 0, 1: 0}])
def test_bad_class_weights_are_refused(weights):
    for model in (CartClassifier(class_weight=weights), SiftForestClassifier(3, class_weight=weights)):
        with pytest.raises(ValueError, match="class_weight"):
            model.fit(*problem())


@pytest.mark.parametrize(
    "make",
    [
        lambda yes: CartClassifier(record_tried=yes),
        lambda yes: SiftForestClassifier(3, record_tried=yes, random_state=0),
        lambda yes: C45Classifier(cut_penalty=yes, collapse=yes, subtree_raising=yes),
    ],
)
def test_booleans_of_numpy_are_booleans(make):
    X, y = problem()
    assert (make(np.True_).fit(X, y).predict(X) == make(True).fit(X, y).predict(X)).all()


def test_integers_of_128_bits_are_numbers():
    X, y = problem()
    whole = (1000 * X[:, 0]).astype(int)
    wide = pl.DataFrame({"a": pl.Series(whole.tolist(), dtype=pl.Int128)})
    expected = CartClassifier().fit(whole[:, np.newaxis], y).node_table_.nodes["threshold"]
    assert CartClassifier().fit(wide, y).node_table_.nodes["threshold"].tolist() == expected.tolist()


def test_what_is_no_number_is_refused_in_a_sentence():
    X, y = problem()
    X = X.astype(object)
    for value, message in [(Decimal("sNaN"), "no number: use None"), (np.longdouble("1e4000"), "infinity")]:
        X[0, 0] = value
        with pytest.raises(ValueError, match=message):
            CartClassifier().fit(X, y)
    X[0, 0] = Decimal("sNaN")
    with pytest.raises(ValueError, match="no number: use None"):
        SSVSelector().fit(*problem()).transform(X)
    with pytest.raises(TypeError, match="give one number per row"):
        CartClassifier().fit(*problem(), sample_weight="heavy")
    with pytest.raises(ValueError, match="use a whole number from 0"):
        gain_variance([5, 5], x=np.arange(10.0), random_state=10**30)


@pytest.mark.parametrize("n", [40, 49, 98, 103, 107])
def test_rows_of_weight_one_nth_are_whole_rows(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    y = np.random.default_rng(1).integers(0, 2, n)
    plain = CartClassifier().fit(X, y).node_table_
    assert CartClassifier().fit(X, y, np.full(n, 1 / n)).node_table_.n_leaves == plain.n_leaves


@pytest.mark.parametrize("criterion", ["entropy", "gini", "ssv"])
def test_weights_too_large_to_square_are_scaled(criterion):
    X, y = problem()
    for weight in (1e90, 1e160, 1e308):
        tree = CartClassifier(criterion=criterion).fit(X, y, np.full(60, weight)).node_table_
        assert tree.n_leaves == 2


def test_huge_feature_weights_are_a_distribution():
    forest = SiftForestClassifier(5, feature_sampling=[1e308] * 4, random_state=0).fit(*problem())
    assert forest.feature_weights_ == pytest.approx(0.25)


@pytest.mark.parametrize("y", [["a", "b", float("nan")] * 20, ["a", "b", None] * 20])
def test_a_list_of_labels_with_a_missing_one_is_refused(y):
    with pytest.raises(ValueError, match="y contains NaN"):
        CartClassifier().fit(problem()[0], y)


def test_a_list_of_labels_of_mixed_types_is_refused():
    with pytest.raises((TypeError, ValueError), match="y"):
        CartClassifier().fit(problem()[0], [1, "a"] * 30)
    assert CartClassifier().fit(problem()[0], ["b", "a"] * 30).classes_.tolist() == ["a", "b"]


def test_trees_after_a_gap_are_dropped():
    class Grower:
        n_rows = 10

        def grow(self, trees, weights, stop, columns, max_features):
            trials = np.zeros((0, 16), np.uint8), np.zeros(0), np.zeros(0), np.zeros(0)
            return [(np.zeros((1, 48), np.uint8), *[None] * 4, *trials)] * len(trees)

    class SkipsThird:
        stop_requested = False
        n_done = 0

        def advance(self, count):
            self.n_done += 1
            self.stop_requested = self.n_done == 2  # only the third task sees it

    assert len(grow_trees(Grower(), range(8), SkipsThird(), tried=False)) == 2


@pytest.mark.parametrize("model", [CartClassifier(max_depth=3), RandomForestClassifier(3, random_state=0)])
def test_importances_of_ensembles_of_ensembles(model):
    X, y = problem()
    bagged = BaggingClassifier(model, 4, max_features=0.5, random_state=0).fit(X, y)
    assert average_gain(bagged).argmax() == 0
    voting = VotingClassifier([("a", model), ("b", DecisionTreeClassifier(random_state=0))]).fit(X, y)
    assert mean_decrease_impurity(voting).sum() == pytest.approx(1)


def test_a_category_of_numbers_is_nominal():
    x, y = pd.Series([1, 2, 3, 4] * 5).astype("category"), [0, 1, 0, 1] * 5
    assert information_gain(x, y) == pytest.approx(1)


def test_random_cuts_of_a_range_beyond_the_largest_number():
    x = 1e308 * np.linspace(-1.7, 1.7, 40)[:, np.newaxis]
    y = (x[:, 0] > 0).astype(int)
    tree = CartClassifier(n_thresholds=20, max_depth=1, random_state=0).fit(x, y)
    assert np.isfinite(tree.node_table_.nodes["threshold"][0])
    assert tree.score(x, y) > 0.9


def test_numbers_too_large_for_the_engine():
    X, y = problem()
    assert CartClassifier(max_depth=2**40).fit(X, y).score(X, y) == 1
    with pytest.raises(ValueError, match="n_thresholds"):
        CartClassifier(n_thresholds=2**33).fit(X, y)


def test_a_refused_warm_start_leaves_the_forest_as_it_was():
    X, y = problem()
    forest = SiftForestClassifier(3, warm_start=True, random_state=0).fit(X, y)
    before = forest.predict_proba(X)
    with pytest.raises(ValueError, match="warm_start"):
        forest.set_params(n_estimators=6).fit(X[:, :2], y)
    assert np.array_equal(forest.predict_proba(X), before)
    with pytest.raises(ValueError, match="record_tried"):
        forest.set_params(record_tried=True).fit(X, y)


def test_out_of_bag_score_of_a_draw_of_all_rows_is_refused():
    with pytest.raises(ValueError, match="oob_score"):
        SiftForestClassifier(3, oob_score=True, bootstrap=False, max_samples=1.0).fit(*problem())
