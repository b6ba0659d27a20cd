"""CartRegressor and SiftForestRegressor: scikit-learn's trees, weights, sampling, out-of-bag rows, odd y."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.tree import DecisionTreeRegressor

from foresift import CartClassifier, CartRegressor, SiftForestClassifier, SiftForestRegressor
from foresift.criteria import node_complexity
from foresift.importance import average_gain, co_occurrence, contribution_ratio, mean_decrease_impurity

POLICIES = ["uniform", "confidence", "two-stage", "two-stage+confidence", "soft"]


def exact(n=300, p=6, seed=0):
    """A table that float32, in which scikit-learn compares, holds exactly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 200, size=(n, p)).astype(float)
    return X, np.round(X[:, 0] * (X[:, 1] > 80) + 40 * rng.normal(size=n))


def diabetes():
    return load_diabetes(return_X_y=True)


def same_trees(one, other):
    return all(
        np.array_equal(a.nodes[field], b.nodes[field])
        for a, b in zip(one.node_tables_, other.node_tables_, strict=True)
        for field in ("parent", "feature", "threshold", "size")
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_tree_predicts_like_scikit_learns(seed, weighted):
    X, y = exact(seed=seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(y)) if weighted else None
    for depth in (1, 3):
        # Small nodes are split equally well by several columns.
        own = CartRegressor(max_depth=depth, min_samples_leaf=0.1).fit(X, y, weights)
        theirs = DecisionTreeRegressor(max_depth=depth, min_weight_fraction_leaf=0.1, random_state=0)
        theirs.fit(X, y, weights)
        np.testing.assert_allclose(own.predict(X), theirs.predict(X), rtol=1e-12)
        np.testing.assert_allclose(own.feature_importances_, theirs.feature_importances_, atol=1e-12)
    whole = CartRegressor().fit(X, y)
    assert whole.score(X, y) == pytest.approx(1.0)
    assert whole.apply(X).shape == (len(y), 1)


def test_forest_predicts_as_well_as_scikit_learns():
    X, y = make_friedman1(1000, 10, noise=1.0, random_state=0)
    Z, truth = make_friedman1(1000, 10, noise=1.0, random_state=1)
    own = SiftForestRegressor(100, oob_score=True, random_state=0).fit(X, y)
    theirs = RandomForestRegressor(100, max_features=1 / 3, oob_score=True, random_state=0).fit(X, y)
    assert own.score(Z, truth) > theirs.score(Z, truth) - 0.02
    assert abs(own.oob_score_ - theirs.oob_score_) < 0.02


def test_default_number_of_candidates():
    X, y = make_friedman1(60, 9, random_state=0)
    forest = SiftForestRegressor(3, record_tried=True, max_depth=1, random_state=0).fit(X, y)
    assert [len(table.tried) for table in forest.node_tables_] == [3, 3, 3]
    two = SiftForestRegressor(1, record_tried=True, max_depth=1, random_state=0).fit(X[:, :2], y)
    assert len(two.node_tables_[0].tried) == 1


@pytest.mark.parametrize("sampling", POLICIES)
def test_threads_change_nothing(sampling):
    X, y = diabetes()
    options = {"feature_sampling": sampling, "update_every": 4, "oob_score": True, "random_state": 3}
    one, two = (SiftForestRegressor(20, **options, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert all(a == b for a, b in zip(one.node_tables_, two.node_tables_, strict=True))
    assert np.array_equal(one.predict(X), two.predict(X))
    assert np.array_equal(one.oob_prediction_, two.oob_prediction_)
    assert one.oob_score_ == two.oob_score_


@pytest.mark.parametrize("sampling", POLICIES)
@pytest.mark.parametrize(("scale", "offset"), [(1024.0, -(2.0**20)), (2.0**-30, 0.0), (-0.001, 7.0)])
def test_the_unit_of_y_has_no_effect(sampling, scale, offset):
    X, y = diabetes()
    y = np.round(y)
    options = {"feature_sampling": sampling, "max_features": 2, "record_tried": True, "random_state": 0}
    plain, other = (SiftForestRegressor(20, **options).fit(X, target) for target in (y, scale * y + offset))
    np.testing.assert_allclose(other.feature_weights_, plain.feature_weights_, rtol=1e-9)
    np.testing.assert_allclose(other.feature_gains_, plain.feature_gains_, rtol=1e-9)
    np.testing.assert_allclose(other.predict(X), scale * plain.predict(X) + offset, rtol=1e-6)
    if "confidence" in sampling:
        intervals = (model.confidence_intervals_ for model in (other, plain))
        np.testing.assert_allclose(*intervals, rtol=1e-6)
    assert same_trees(plain, other)


def test_sampling_finds_the_columns_that_matter():
    X, y = make_friedman1(500, 20, noise=0.5, random_state=0)
    for sampling in POLICIES[1:]:
        forest = SiftForestRegressor(60, feature_sampling=sampling, max_features=1, random_state=0).fit(X, y)
        assert set(np.argsort(-forest.feature_weights_)[:3]) <= set(range(5))
        assert forest.feature_weights_.sum() == pytest.approx(1)
        assert (forest.feature_gains_[:5].mean() > 2 * forest.feature_gains_[5:].mean()) or sampling == "soft"


@pytest.mark.parametrize("sampling", ["uniform", "confidence"])
def test_weights_are_copies_of_rows(sampling):
    X, y = exact(120)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    options = {"bootstrap": False, "max_features": None, "feature_sampling": sampling, "random_state": 0}
    for model in (CartRegressor(), CartRegressor(missing="fractional"), SiftForestRegressor(4, **options)):
        weighted = clone(model).fit(X, y, weights)
        repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-12)
        assert same_trees(weighted, repeated)
        for one, other in zip(weighted.node_tables_, repeated.node_tables_, strict=True):
            np.testing.assert_allclose(one.complexity, other.complexity, rtol=1e-9)


def test_out_of_bag():
    X, y = diabetes()
    weights = np.random.default_rng(0).random(len(y))
    forest = SiftForestRegressor(60, oob_score=True, random_state=0).fit(X, y, weights)
    assert forest.oob_prediction_.shape == y.shape
    assert forest.oob_score_ == pytest.approx(r2_score(y, forest.oob_prediction_, sample_weight=weights))
    by_error = clone(forest).set_params(oob_score=mean_absolute_error).fit(X, y, weights)
    assert by_error.oob_score_ == pytest.approx(mean_absolute_error(y, forest.oob_prediction_))
    with pytest.warns(UserWarning, match="no out-of-bag estimate: raise n_estimators"):
        few = SiftForestRegressor(1, oob_score=True, random_state=0).fit(X, y)
    in_bag = np.isnan(few.oob_prediction_)
    assert 0.5 < in_bag.mean() < 0.75
    assert few.oob_score_ == pytest.approx(r2_score(y[~in_bag], few.oob_prediction_[~in_bag]))
    np.testing.assert_array_equal(few.oob_prediction_[~in_bag], few.predict(X)[~in_bag])
    with pytest.raises(ValueError, match="oob_score needs rows outside the sample"):
        SiftForestRegressor(2, oob_score=True, bootstrap=False).fit(X, y)


@pytest.mark.parametrize("sampling", ["uniform", "confidence", "soft"])
def test_warm_start(sampling):
    X, y = diabetes()
    options = {"feature_sampling": sampling, "random_state": 0, "oob_score": True}
    whole = SiftForestRegressor(30, **options).fit(X, y)
    parts = SiftForestRegressor(20, warm_start=True, **options).fit(X, y)
    parts.set_params(n_estimators=30).fit(X, y)
    assert all(a == b for a, b in zip(whole.node_tables_, parts.node_tables_, strict=True))
    assert np.array_equal(whole.oob_prediction_, parts.oob_prediction_)
    assert np.array_equal(whole.feature_gains_, parts.feature_gains_)
    with pytest.raises(ValueError, match="warm_start would keep trees of other columns"):
        parts.set_params(n_estimators=31).fit(X[:, :4], y)


@pytest.mark.parametrize("model", [CartRegressor(), SiftForestRegressor(20, random_state=0)])
def test_copies(model):
    X, y = diabetes()
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert np.array_equal(clone(fitted).fit(X, y).predict(X), fitted.predict(X))
    assert clone(model).set_params(max_depth=1).fit(X, y).node_tables_[0].depth == 1
    assert not hasattr(fitted, "classes_")
    with pytest.raises(ValueError, match="criterion"):
        clone(model).set_params(criterion="gini").fit(X, y)


def test_a_small_spread_on_a_large_offset():
    X, y = diabetes()
    small = np.round(y) / 2**10  # exact on top of 1e9
    for model in (CartRegressor(max_depth=6), SiftForestRegressor(10, random_state=0)):
        plain, high = clone(model).fit(X, small), clone(model).fit(X, 1e9 + small)
        assert same_trees(plain, high)
        np.testing.assert_allclose(high.predict(X) - 1e9, plain.predict(X), atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_two_values_grow_the_gini_tree(seed):
    X, y = exact(seed=seed)
    y = (y > np.median(y)).astype(int)
    gini = CartClassifier(criterion="gini").fit(X, y)
    tree = CartRegressor().fit(X, 5.0 + 2 * y)
    assert same_trees(gini, tree)
    np.testing.assert_allclose(tree.node_table_.nodes["gain"], 2 * gini.node_table_.nodes["gain"], atol=1e-12)
    np.testing.assert_allclose(tree.predict(X), 5 + 2 * gini.predict_proba(X)[:, 1])
    np.testing.assert_allclose(
        tree.node_table_.complexity, node_complexity(gini.node_table_.counts), atol=1e-9
    )


def test_all_ties_but_one():
    X, y = np.arange(10.0)[:, np.newaxis], np.eye(10)[9]
    tree = CartRegressor().fit(X, y)
    assert (tree.node_table_.n_leaves, tree.predict(X).tolist()) == (2, y.tolist())
    for model in (CartRegressor(), SiftForestRegressor(3)):
        with pytest.raises(ValueError, match=f"y has one value, 4.0: {type(model).__name__} needs"):
            model.fit(X, np.full(10, 4))
    with pytest.raises(ValueError, match="All rows with a positive sample_weight have the same y"):
        CartRegressor().fit(X, y, 1 - y)


def test_containers_of_y():
    X, y = exact(80)
    expected = CartRegressor(max_depth=4).fit(X, y).predict(X)
    for same in (
        y.astype(int),
        y.tolist(),
        pd.Series(y),
        pd.Series(y.astype(int), dtype="Int64"),
        pd.Series(y, dtype="Float64"),
        pl.Series(y),
        pa.chunked_array([y]),
    ):
        assert np.array_equal(CartRegressor(max_depth=4).fit(X, same).predict(X), expected)


def test_nominal_and_missing_columns():
    rng = np.random.default_rng(0)
    n = 400
    colour = rng.choice(["red", "green", "blue", "grey"], n)
    size = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    y = 3.0 * np.isin(colour, ["red", "grey"]) + np.where(np.isnan(size), 5.0, size > 0)
    X = pd.DataFrame({"colour": colour, "size": size})
    for missing in ("learn", "fractional"):
        for nominal in ("subsets", "multiway"):
            tree = CartRegressor(missing=missing, nominal_splits=nominal).fit(X, y)
            assert tree.score(X, y) > (0.999 if missing == "learn" else 0.3)
            assert np.isfinite(tree.predict({"colour": ["black", None], "size": [None, 0.5]})).all()
    forest = SiftForestRegressor(30, random_state=0).fit(pl.from_pandas(X), y)
    assert forest.score(pl.from_pandas(X), y) > 0.9


def test_identifiers_predict_nothing():
    rng = np.random.default_rng(0)
    names = np.array([f"row {i}" for i in range(200)])
    X, y = {"id": names, "x": rng.normal(size=200)}, rng.normal(size=200)
    corrected = CartRegressor(max_depth=1, random_state=0).fit(X, y).node_table_
    plain = CartRegressor(max_depth=1, correct_nominal=False).fit(X, y).node_table_
    assert (plain.nodes["feature"][0], corrected.nodes["feature"][0] != 0) == (0, True)


def test_importances_of_forests():
    X, y = make_friedman1(400, 8, noise=0.5, random_state=0)
    forest = SiftForestRegressor(40, max_features=2, record_tried=True, random_state=0).fit(X, y)
    gains = average_gain(forest)
    np.testing.assert_allclose(gains / y.var(), forest.feature_gains_, rtol=1e-9)
    assert set(np.argsort(-gains)[:4]) <= set(range(5))
    np.testing.assert_allclose(mean_decrease_impurity(forest), forest.feature_importances_, atol=1e-12)
    assert contribution_ratio(forest).sum() == pytest.approx(100)
    assert co_occurrence(forest).observed.shape == (8, 8)
    plain = SiftForestRegressor(40, max_features=2, random_state=0).fit(X, y)
    assert average_gain(plain).shape == (8,)
    sums, weights = np.zeros(8), np.zeros(8)
    for table in forest.node_tables_:
        np.add.at(sums, table.tried["feature"], table.complexity[table.tried["node"]] * table.tried["gain"])
        np.add.at(weights, table.tried["feature"], table.complexity[table.tried["node"]])
    np.testing.assert_allclose(gains, sums / weights, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_node_complexity_counts_the_ties_of_a_node(seed):
    X, y = exact(100, 4, seed)
    y = y // 40
    weights = np.random.default_rng(seed).integers(1, 3, len(y))
    tree = CartRegressor(max_depth=3, record_tried=True).fit(X, y, weights)
    leaves = tree.apply(X)[:, 0]
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        counts = np.unique(np.repeat(y[rows], weights[rows]), return_counts=True)[1]
        assert tree.node_table_.complexity[leaf] == pytest.approx(float(node_complexity(counts)), abs=1e-9)


def test_selector_or_array_as_sampling():
    X, y = diabetes()
    by_tree = SiftForestRegressor(10, feature_sampling=CartRegressor(max_depth=4), random_state=0).fit(X, y)
    assert by_tree.feature_weights_.sum() == pytest.approx(1)
    only = SiftForestRegressor(5, feature_sampling=np.eye(10)[2], random_state=0).fit(X, y)
    assert {*np.concatenate([table.nodes["feature"] for table in only.node_tables_])} == {-1, 2}


def test_classifiers_refuse_a_quantity():
    X, y = diabetes()
    for model in (CartClassifier(), SiftForestClassifier(2)):
        with pytest.raises(ValueError, match=f"{type(model).__name__} needs classes, but y is a quantity"):
            model.fit(X, y + 0.5)


@pytest.mark.parametrize("model", [CartRegressor(), SiftForestRegressor(10, bootstrap=False, random_state=0)])
def test_order_of_rows_and_scale_of_columns_do_not_matter(model):
    X, y = diabetes()
    expected = model.fit(X, y).predict(X)
    moved = np.exp(X)
    assert model.fit(moved, y).predict(moved).tolist() == expected.tolist()
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(model.fit(X[order], y[order]).predict(X), expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_fractions_of_rows_that_make_a_whole_count_as_one(seed):
    """The order of the rows must not decide whether fractions reach min_samples_leaf."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(120, 4)), rng.normal(size=120)
    X[rng.random(X.shape) < 0.3] = np.nan
    model = CartRegressor(missing="fractional")
    expected = model.fit(X, y).predict(X)
    for _ in range(5):
        order = rng.permutation(120)
        assert np.allclose(model.fit(X[order], y[order]).predict(X), expected)
