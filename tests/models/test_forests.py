"""SiftForestClassifier: accuracy, out-of-bag estimates, draws, equal outcome for any number of threads."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_score

from foresift import SiftForestClassifier
from foresift.data.sklearn_compat import seed_of


def make_data(n=300, p=8, n_classes=2, seed=0, missing=0.0):
    X, y = make_classification(
        n, p, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=seed, shuffle=False
    )
    X[np.random.default_rng(seed).random(X.shape) < missing] = np.nan
    return X, y


def shares_of(forest, table, X):
    """Class probabilities of one tree of a forest."""
    values = forest.schema_.encode(X, forest)
    return reference.predict_rows(table, values)


@pytest.mark.parametrize(
    ("load", "margin"), [(load_digits, 0.015), (load_wine, 0.03), (load_breast_cancer, 0.015)]
)
def test_accuracy_is_that_of_scikit_learn(load, margin):
    X, y = load(return_X_y=True)
    options = {"n_estimators": 100, "criterion": "entropy", "max_features": "sqrt", "random_state": 0}
    ours, theirs = (
        cross_val_score(forest(**options), X, y, cv=5).mean()
        for forest in (SiftForestClassifier, RandomForestClassifier)
    )
    assert ours > theirs - margin


def test_the_default_predicts_better_than_one_column_per_node():
    X, y = make_classification(1500, 40, n_informative=6, n_redundant=0, random_state=0)
    default, one = (
        cross_val_score(SiftForestClassifier(random_state=0, **options), X, y, cv=3).mean()
        for options in ({}, {"max_features": 1})
    )
    assert default > one + 0.02


# --- equal outcome, however it is computed ---


def outcome(forest, X):
    oob = getattr(forest, "oob_decision_function_", None)
    return forest.node_tables_, forest.predict_proba(X), oob


def assert_same_outcome(one, two):
    assert one[0] == two[0]
    assert np.array_equal(one[1], two[1])
    assert one[2] is two[2] or np.array_equal(one[2], two[2], equal_nan=True)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_features": "sqrt", "n_thresholds": 2, "criterion": "gini"},
        {"bootstrap": False, "max_samples": 0.5, "feature_sampling": np.arange(8), "max_features": 3},
        {"missing": "fractional", "criterion": "ssv"},
    ],
)
def test_outcome_does_not_depend_on_n_jobs(options):
    X, y = make_data(2500, n_classes=3, missing=0.02)
    forest = SiftForestClassifier(30, oob_score=True, random_state=3, **options)
    alone = outcome(forest.fit(X, y), X)
    for n_jobs in (2, 3):
        assert_same_outcome(outcome(clone(forest).set_params(n_jobs=n_jobs).fit(X, y), X), alone)
    assert_same_outcome(outcome(pickle.loads(pickle.dumps(forest)), X), alone)


def test_fits_at_the_same_time_do_not_disturb_each_other():
    X, y = make_data(1500)
    forests = [SiftForestClassifier(10, random_state=seed, n_jobs=1 + seed % 2) for seed in range(4)]
    alone = [outcome(clone(forest).fit(X, y), X) for forest in forests]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda forest: outcome(forest.fit(X, y), X), forests))
    for one, two in zip(alone, together, strict=True):
        assert_same_outcome(one, two)


def test_the_backend_of_joblib_does_not_matter():
    X, y = make_data()
    forest = SiftForestClassifier(20, random_state=0)
    alone = outcome(clone(forest).fit(X, y), X)
    for backend in ("threading", "loky"):
        with parallel_config(backend=backend, n_jobs=2):
            assert_same_outcome(outcome(clone(forest).fit(X, y), X), alone)


def test_predicting_at_the_same_time_from_one_forest():
    X, y = make_data(3000)
    forest = SiftForestClassifier(20, random_state=0, n_jobs=2).fit(X, y)
    expected = forest.predict_proba(X)
    with ThreadPoolExecutor(4) as pool:
        for shares in pool.map(forest.predict_proba, [X] * 8):
            assert np.array_equal(shares, expected)


def test_random_states():
    X, y = make_data()
    fit = lambda state: SiftForestClassifier(5, random_state=state).fit(X, y).node_tables_  # noqa: E731
    assert fit(0) == fit(0)
    assert fit(0) != fit(1)
    assert fit(None) != fit(None)
    assert fit(np.random.RandomState(7)) == fit(np.random.RandomState(7))
    trees = fit(0)
    assert all(trees[0] != tree for tree in trees[1:])


def test_the_global_random_state_and_the_parameters_stay_as_they_are():
    X, y = make_data()
    weights = np.arange(8)
    forest = SiftForestClassifier(5, feature_sampling=weights, oob_score=True, class_weight={0: 1, 1: 2})
    before, state, data = forest.get_params(), np.random.get_state(), X.copy()  # noqa: NPY002
    with pytest.warns(UserWarning, match="drawn by every member"):
        forest.fit(X, y).predict(X)
    assert np.array_equal(np.random.get_state()[1], state[1])  # noqa: NPY002
    assert np.random.get_state()[2:] == state[2:]  # noqa: NPY002
    after = forest.get_params()
    assert all(after[name] is before[name] for name in before)
    assert weights.tolist() == list(range(8))
    assert np.array_equal(X, data)


def test_probabilities_are_the_mean_over_the_trees():
    X, y = make_data(missing=0.1, n_classes=3)
    forest = SiftForestClassifier(7, random_state=0).fit(X, y)
    mean = np.mean([shares_of(forest, table, X[:50]) for table in forest.node_tables_], axis=0)
    assert forest.predict_proba(X[:50]) == pytest.approx(mean)
    leaves = forest.apply(X[:50])
    assert leaves.shape == (50, 7)
    by_leaf = [table.counts[at] for table, at in zip(forest.node_tables_, leaves.T, strict=True)]
    assert np.mean(
        [counts / counts.sum(axis=1, keepdims=True) for counts in by_leaf], axis=0
    ) == pytest.approx(mean)


# --- rows: bootstrap, subsample, out of bag ---


def test_out_of_bag_estimates_use_the_trees_that_did_not_see_a_row():
    X, y = make_data(120)
    labels = np.array(["no", "yes"])[y]
    forest = SiftForestClassifier(12, oob_score=True, random_state=4).fit(X, labels)
    unseen = np.array([reference.bootstrap(seed_of(4), tree, 120) == 0 for tree in range(12)])
    shares = np.array([shares_of(forest, table, X) for table in forest.node_tables_])
    sums = (shares * unseen[:, :, np.newaxis]).sum(axis=0)
    assert unseen.any(axis=0).all()
    assert forest.oob_decision_function_ == pytest.approx(sums / unseen.sum(axis=0)[:, np.newaxis])
    predicted = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert forest.oob_score_ == (predicted == labels).mean()
    again = clone(forest).set_params(oob_score=balanced_accuracy_score).fit(X, labels)
    assert again.oob_score_ == balanced_accuracy_score(labels, predicted)


def test_rows_that_every_tree_saw_have_no_out_of_bag_estimate():
    X, y = make_data(100)
    with pytest.warns(UserWarning, match="drawn by every member"):
        forest = SiftForestClassifier(1, oob_score=True, random_state=0).fit(X, y)
    seen = reference.bootstrap(seed_of(0), 0, 100) > 0
    assert np.array_equal(np.isnan(forest.oob_decision_function_).all(axis=1), seen)
    assert 0 <= forest.oob_score_ <= 1


def test_out_of_bag_score_needs_rows_out_of_the_bag():
    X, y = make_data(100)
    forest = SiftForestClassifier(5, oob_score=True, bootstrap=False)
    with pytest.raises(ValueError, match="bootstrap=True"):
        forest.fit(X, y)
    assert not hasattr(forest, "node_tables_")  # said before the work, not after it
    assert clone(forest).set_params(max_samples=0.5, n_estimators=30).fit(X, y).oob_score_ > 0.5


@pytest.mark.parametrize(
    ("max_samples", "n_drawn"), [(None, 200), (17, 17), (0.25, 50), (1.0, 200), (1e-9, 1)]
)
def test_max_samples(max_samples, n_drawn):
    X, y = make_data(200)
    for bootstrap in (True, False):
        forest = SiftForestClassifier(4, max_samples=max_samples, bootstrap=bootstrap, random_state=0).fit(
            X, y
        )
        assert [table.nodes["size"][0] for table in forest.node_tables_] == [n_drawn] * 4
        assert np.isfinite(forest.predict_proba(X)).all()


def test_without_bootstrap_all_trees_see_everything():
    X, y = make_data()
    forest = SiftForestClassifier(3, bootstrap=False, max_features=None, random_state=0).fit(X, y)
    assert forest.node_tables_[0] == forest.node_tables_[1] == forest.node_tables_[2]
    assert forest.score(X, y) == 1


# --- weights of rows and columns ---


def test_whole_weights_are_repeated_rows():
    X, y = make_data(150, n_classes=3)
    times = np.random.default_rng(0).integers(0, 4, 150)
    forest = SiftForestClassifier(5, bootstrap=False, max_features=None)
    weighted = clone(forest).fit(X, y, times).predict_proba(X)
    repeated = clone(forest).fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict_proba(X)
    assert np.array_equal(weighted, repeated)


def test_class_weights():
    X, y = make_data(600)
    rare = np.flatnonzero(y == 1)[20:]
    X, y = np.delete(X, rare, axis=0), np.delete(y, rare)
    forest = SiftForestClassifier(20, bootstrap=False, max_features=2, random_state=0)
    balanced = clone(forest).set_params(class_weight="balanced").fit(X, y)
    weights = len(y) / 2 / np.bincount(y)[y]
    assert balanced.node_tables_ == clone(forest).fit(X, y, weights).node_tables_
    for table in balanced.node_tables_:
        assert table.counts[0] == pytest.approx([len(y) / 2] * 2)


def test_a_tree_that_drew_only_rows_of_weight_zero_does_not_spoil_the_forest():
    X, y = make_data(60)
    weights = np.zeros(60)
    weights[[0, 1, -2, -1]] = 1
    assert len(set(y[weights > 0])) == 2
    for options in ({}, {"max_samples": 1}, {"bootstrap": False, "max_samples": 3}):
        forest = SiftForestClassifier(40, random_state=0, **options).fit(X, y, weights)
        shares = forest.predict_proba(X)
        assert np.isfinite(shares).all()
        assert shares.sum(axis=1) == pytest.approx(1)


def test_feature_sampling_weights():
    X, y = make_data()
    weights = np.array([0, 4, 0, 1, 1, 0, 2, 0])
    forest = SiftForestClassifier(30, feature_sampling=weights, random_state=0, record_tried=True).fit(X, y)
    assert forest.feature_weights_ == pytest.approx(weights / 8)
    used = {int(f) for table in forest.node_tables_ for f in table.tried["feature"]}
    assert used == {1, 3, 4, 6}
    assert set(np.flatnonzero(forest.feature_importances_)) <= used
    roots = [table.tried["feature"][0] for table in forest.node_tables_]
    assert np.bincount(roots).argmax() == 1
    uniform = SiftForestClassifier(2, random_state=0).fit(X, y)
    assert uniform.feature_weights_.tolist() == [1 / 8] * 8
    assert SiftForestClassifier(2, feature_sampling=weights.tolist(), max_features=None).fit(X, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1], "0 or more"),
        ([0, 0, 0], "0 for every column"),
        ([1, 1], "3 columns"),
        ([[1, 1, 1]], "3 columns"),
        ([1, np.nan, 1], "finite"),
        ([1, np.inf, 1], "finite"),
        ("luck", "feature_sampling"),
    ],
)
def test_bad_feature_sampling_is_refused(weights, message):
    X, y = make_data(50)
    with pytest.raises(ValueError, match=message):
        SiftForestClassifier(3, feature_sampling=weights).fit(X[:, :3], y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_features": 4}, "3 columns"),
        ({"max_samples": 51}, "50 rows"),
        ({"max_samples": 0.0}, "max_samples"),
        ({"max_samples": 1.5}, "max_samples"),
        ({"oob_score": "yes"}, "oob_score"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"warm_start": np.zeros(2)}, "'warm_start' parameter"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X, y = make_data(50)
    with pytest.raises(ValueError, match=message):
        SiftForestClassifier(**parameters).fit(X[:, :3], y)


# --- warm start ---


def test_growing_in_steps_is_growing_at_once():
    X, y = make_data()
    options = {"oob_score": True, "random_state": 5, "max_features": 2}
    steps = SiftForestClassifier(4, warm_start=True, **options)
    with pytest.warns(UserWarning, match="drawn by every member"):
        steps.fit(X, y)
    first = steps.node_tables_
    steps.set_params(n_estimators=25, n_jobs=2).fit(X, y)
    assert steps.node_tables_[:4] == first
    once = SiftForestClassifier(25, **options).fit(X, y)
    assert_same_outcome(outcome(steps, X), outcome(once, X))
    assert steps.oob_score_ == once.oob_score_


def test_warm_start_without_new_trees_warns_and_fewer_trees_are_an_error():
    X, y = make_data()
    forest = SiftForestClassifier(4, warm_start=True, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="n_estimators"):
        forest.fit(X, y)
    assert len(forest.node_tables_) == 4
    with pytest.raises(ValueError, match="n_estimators=3"):
        forest.set_params(n_estimators=3).fit(X, y)
    assert len(forest.set_params(warm_start=False).fit(X, y).node_tables_) == 3


def test_warm_start_after_a_fit_that_failed_starts_anew():
    X, y = make_data(100)
    forest = SiftForestClassifier(4, warm_start=True, max_samples=1000, random_state=0)
    with pytest.raises(ValueError, match="max_samples"):
        forest.fit(X, y)
    assert len(forest.set_params(max_samples=None).fit(X, y).node_tables_) == 4


@pytest.mark.parametrize(
    "other",
    [
        {"colour": list("bcbc") * 5, "size": [1.0] * 20},  # a category more and one less: other codes
        {"colour": [0.0, 1.0] * 10, "size": [1.0] * 20},  # numeric now
        {"size": [1.0] * 20, "colour": list("abab") * 5},  # other order
        {"colour": list("abab") * 5},
    ],
)
def test_warm_start_on_other_columns_is_refused(other):
    y = [0, 1] * 10
    frame = pd.DataFrame({"colour": list("abab") * 5, "size": [1.0] * 20})
    forest = SiftForestClassifier(3, warm_start=True, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="warm_start"):
        forest.set_params(n_estimators=6).fit(pd.DataFrame(other), y)
    with pytest.raises(ValueError, match="warm_start"):
        forest.fit(frame, ["x", "y"] * 10)


# --- frames, sparse ---


def test_data_frames():
    rng = np.random.default_rng(0)
    columns = {
        "size": np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200)),
        "colour": rng.choice(["red", "green", "blue"], 200).tolist(),
        "flag": rng.random(200) < 0.5,
        "count": rng.integers(0, 9, 200),
    }
    y = np.where((columns["count"] > 4) ^ (np.array(columns["colour"]) == "red"), "a", "b")
    forests = [
        SiftForestClassifier(10, max_features=2, random_state=0).fit(frame, target)
        for frame, target in [
            (pd.DataFrame(columns), pd.Series(y)),
            (pl.DataFrame(columns, strict=False), pl.Series(y)),
            (pl.DataFrame(columns, strict=False).to_arrow(), y),
        ]
    ]
    assert forests[0].node_tables_ == forests[1].node_tables_ == forests[2].node_tables_
    assert forests[0].score(pd.DataFrame(columns), y) > 0.98
    assert np.array_equal(
        forests[0].predict(pl.DataFrame(columns, strict=False)), forests[1].predict(columns)
    )


def test_sparse_matrices():
    X = sparse.random(300, 40, density=0.1, random_state=0, format="csc")
    y = np.asarray(X[:, :5].sum(axis=1)).ravel() > 0.3
    forest = SiftForestClassifier(30, max_features="sqrt", oob_score=True, random_state=0)
    thin, dense = clone(forest).fit(X, y), clone(forest).fit(X.toarray(), y)
    assert_same_outcome(outcome(thin, X), outcome(dense, X.toarray()))
