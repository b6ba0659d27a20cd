"""CartClassifier and the node table: trees worked by hand, limits, kinds of columns, weights."""

import copy
import math
import pickle
import sys

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from foresift import C45Classifier, CartClassifier, SiftForestClassifier, SSVTreeClassifier
from foresift.engine.grow import resolve_max_features
from foresift.engine.node_table import NodeTable

# Both columns part two rows of one class from the rest, so the first one is taken.
HAND_X = np.array([[1, 5], [2, 5], [3, 1], [4, 1], [5, 5], [6, 5]], dtype=float)
HAND_Y = np.array(["no", "no", "yes", "yes", "yes", "no"])


def random_problem(n=200, p=5, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, ((X[:, 0] + X[:, 1] + rng.normal(size=n)) > 0).astype(int) + (X[:, 2] > 1) * (n_classes - 2)


# --- by hand ---


@pytest.mark.parametrize(
    ("criterion", "gains"),
    [
        # Root (3, 3) -> (2, 0) | (1, 3): 1 - 4/6 H(1/4) bits. Then (1, 3) -> (0, 3) | (1, 0): H(1/4).
        ("entropy", [0.459148, 0.811278]),
        # 1/2 - 4/6 * 3/8; then 3/8.
        ("gini", [0.25, 0.375]),
        # 2 * 2 * 3 - min(2, 1); then 2 * 3 * 1.
        ("ssv", [11.0, 6.0]),
        # The gain is kept, the ratio chooses: 0.459 / H(1/3) against 0.459 / H(1/3).
        ("gain_ratio", [0.459148, 0.811278]),
    ],
)
def test_tree_by_hand(criterion, gains):
    tree = CartClassifier(criterion=criterion).fit(HAND_X, HAND_Y)
    nodes = tree.node_table_.nodes
    assert nodes["feature"].tolist() == [0, -1, 0, -1, -1]
    assert nodes["threshold"][[0, 2]].tolist() == [2.5, 5.5]
    assert nodes["gain"][[0, 2]] == pytest.approx(gains, abs=1e-6)
    assert nodes["parent"].tolist() == [-1, 0, 0, 2, 2]
    assert nodes["size"].tolist() == [6, 2, 4, 3, 1]
    assert tree.node_table_.counts.tolist() == [[3, 3], [2, 0], [1, 3], [0, 3], [1, 0]]
    assert (tree.node_table_.n_leaves, tree.node_table_.depth) == (3, 2)
    assert tree.apply(HAND_X).ravel().tolist() == [1, 1, 3, 3, 3, 4]
    assert tree.predict(HAND_X).tolist() == HAND_Y.tolist()
    assert tree.classes_.tolist() == ["no", "yes"]
    assert tree.feature_importances_.tolist() == [1, 0]


def test_importances_by_hand():
    # Column 1 parts 4 | 4 with one wrong row each; column 0 cleans up both sides.
    X = np.array([[0, 0], [0, 0], [0, 0], [1, 0], [0, 1], [0, 1], [0, 1], [1, 1]], dtype=float)
    y = [0, 0, 0, 1, 1, 1, 1, 0]
    tree = CartClassifier().fit(X, y)
    assert tree.node_table_.nodes["feature"].tolist()[:3] == [1, 0, 0]
    root = 1 - reference.entropy([3, 1])
    assert tree.node_table_.decreases(2) == pytest.approx([reference.entropy([3, 1]), root])
    assert tree.feature_importances_ == pytest.approx([1 - root, root])


def test_gain_ratio_prefers_the_division_that_costs_less():
    # Both columns tell the classes apart; the first needs twelve branches for it: 1 / log2(12) against 1 / 1.
    X = np.column_stack([np.arange(12.0), np.repeat([0.0, 1.0], 6)])
    y = np.repeat([0, 1], 6)
    options = {"categorical_features": [0], "nominal_splits": "multiway"}
    by_gain = CartClassifier(**options).fit(X, y).node_table_
    by_ratio = CartClassifier(criterion="gain_ratio", **options).fit(X, y).node_table_
    assert by_gain.nodes["feature"][0] == 0
    assert by_gain.nodes["n_children"][0] == 12
    assert by_ratio.nodes["feature"].tolist() == [1, -1, -1]


@pytest.mark.parametrize("seed", range(5))
def test_gain_ratio_chooses_among_the_columns_of_at_least_average_gain(seed):
    # Quinlan 1993: of the columns whose best gain is at least average (less 1e-3), the best ratio.
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 3, 80)
    tree = CartClassifier(criterion="gain_ratio", max_depth=3, record_tried=True).fit(X, y)
    at = reference.weights_at_nodes(tree.node_table_, X, np.ones(80)) > 0
    for node in np.flatnonzero(~tree.node_table_.is_leaf):
        rows = at[node]
        gains, ratios = [], []
        for x in X[rows].T:
            cuts = reference.cuts(x, y[rows], "entropy")
            threshold = max(cuts, key=cuts.get)
            gains.append(cuts[threshold])
            ratios.append(reference.cuts(x, y[rows], "gain_ratio")[threshold])
        tried = tree.node_table_.tried[tree.node_table_.tried["node"] == node]
        assert tried["gain"] == pytest.approx(gains)
        best = np.where(np.array(gains) >= np.mean(gains) - 1e-3, ratios, -1).argmax()
        assert tree.node_table_.nodes[node]["feature"] == best
        assert tree.node_table_.nodes[node]["gain"] == pytest.approx(gains[best])


def test_impure_nodes_are_split_without_gain_unless_it_is_asked_for():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    assert CartClassifier().fit(X, y).node_table_.n_leaves == 4  # XOR: no column helps by itself
    assert CartClassifier(min_gain=1e-9).fit(X, y).node_table_.n_leaves == 1


def test_predicted_class_of_a_tie_is_the_first():
    tree = CartClassifier().fit([[1.0], [1.0], [2.0]], ["b", "a", "b"])
    assert tree.predict_proba([[1.0]]).tolist() == [[0.5, 0.5]]
    assert tree.predict([[1.0]]).tolist() == ["a"]


# --- limits ---


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_max_depth(depth):
    X, y = random_problem()
    assert CartClassifier(max_depth=depth).fit(X, y).node_table_.depth == depth


def test_least_sizes_count_weights():
    X, y = random_problem()
    weights = np.random.default_rng(1).random(200)
    for least in (1, 4.5, 20):
        table = CartClassifier(min_samples_leaf=least).fit(X, y, weights).node_table_
        assert table.nodes["size"].min() >= least
        assert table.n_leaves > 2
        table = (
            CartClassifier(min_samples_split=2 * least, min_samples_leaf=1e-9).fit(X, y, weights).node_table_
        )
        assert table.nodes["size"][~table.is_leaf].min() >= 2 * least
        pure = np.count_nonzero(table.counts, axis=1) < 2
        assert (table.is_leaf == (pure | (table.nodes["size"] < 2 * least))).all()


SHARES = [{"min_samples_leaf": leaf} for leaf in (0.5, 0.15, 0.07)]
SHARES += [{"min_samples_split": split} for split in (1.0, 0.3, 0.21)]
SHARES += [{"min_samples_leaf": 0.04, "min_samples_split": 0.25}]


def splits_of(nodes, features, sizes):
    """What is split, where, and how many rows are there; both kinds of tables call a leaf negative."""
    inner = features >= 0
    return sorted(zip(features[inner], nodes["threshold"][inner].round(4), sizes[inner], strict=True))


@pytest.mark.parametrize("limits", SHARES, ids=str)
def test_least_sizes_below_one_are_shares_as_in_scikit_learn(limits):
    X, y = random_problem(100, seed=3)  # 0.07 * 100 is more than 7 in floating point, so 8 rows
    ours = CartClassifier(**limits).fit(X, y).node_table_.nodes
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0, **limits).fit(X, y).tree_
    theirs = {"threshold": tree.threshold}
    assert splits_of(ours, ours["feature"], ours["size"]) == splits_of(
        theirs, tree.feature, tree.n_node_samples
    )


@pytest.mark.parametrize("limits", SHARES, ids=str)
def test_shares_are_of_the_weight_of_all_rows(limits):
    X, y = random_problem(100, seed=3)
    tree = CartClassifier(**limits)
    plain = copy.deepcopy(tree).fit(X, y).node_table_
    for weight in (2, 3.5):
        weighted = copy.deepcopy(tree).fit(X, y, np.full(100, weight)).node_table_
        assert np.array_equal(weighted.nodes["feature"], plain.nodes["feature"])
        assert weighted.counts == pytest.approx(weight * plain.counts)
    half = np.arange(100) < 50  # rows of weight 0 are not there
    assert tree.fit(X, y, half.astype(float)).node_table_.counts.tolist() == (
        CartClassifier(**limits).fit(X[half], y[half]).node_table_.counts.tolist()
    )


def test_tiny_shares_limit_nothing():
    X, y = random_problem(100, seed=3)
    for limits in ({"min_samples_leaf": 1e-9}, {"min_samples_split": 1e-9}):
        assert CartClassifier(**limits).fit(X, y).node_table_ == CartClassifier().fit(X, y).node_table_


@pytest.mark.parametrize(
    "model", [CartClassifier(), C45Classifier(pruning=None), SSVTreeClassifier(pruning=None)], ids=str
)
def test_every_tree_takes_shares(model):
    X, y = random_problem(300)
    counted = copy.deepcopy(model).set_params(min_samples_leaf=30).fit(X, y).node_table_
    assert model.set_params(min_samples_leaf=0.1).fit(X, y).node_table_ == counted
    assert counted.n_leaves > 2
    whole = model.set_params(min_samples_leaf=1.0).fit(X, y).node_table_  # one row, as ever
    assert whole == model.set_params(min_samples_leaf=1).fit(X, y).node_table_


@pytest.mark.parametrize(
    ("name", "value"),
    [("min_samples_split", value) for value in (1, 1.5, 0.0, -0.5)]
    + [("min_samples_leaf", value) for value in (0, 0.0, -0.5)],
)
def test_least_sizes_that_are_neither_weight_nor_share_are_refused(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of CartClassifier"):
        CartClassifier(**{name: value}).fit(HAND_X, HAND_Y)


def test_a_forest_takes_shares_of_all_rows():
    X, y = random_problem()
    options = {"n_estimators": 5, "max_samples": 0.8, "random_state": 0}
    by_share = SiftForestClassifier(min_samples_leaf=0.1, min_samples_split=0.3, **options).fit(X, y)
    by_weight = SiftForestClassifier(min_samples_leaf=20, min_samples_split=60, **options).fit(X, y)
    assert by_share.node_tables_ == by_weight.node_tables_
    assert min(table.nodes["size"].min() for table in by_share.node_tables_) >= 20


def test_min_gain():
    X, y = random_problem()
    table = CartClassifier(min_gain=0.1).fit(X, y).node_table_
    assert table.nodes["gain"][~table.is_leaf].min() >= 0.1
    assert table.n_leaves > 1


@pytest.mark.parametrize(
    ("max_features", "expected"), [(None, 10), (3, 3), (0.35, 3), (0.01, 1), ("sqrt", 3), ("log2", 3)]
)
def test_number_of_columns_tried(max_features, expected):
    assert resolve_max_features(max_features, 10) == expected
    X, y = random_problem(p=10)
    tree = CartClassifier(max_features=max_features, record_tried=True, random_state=0).fit(X, y)
    assert set(np.bincount(tree.node_table_.tried["node"])) <= {0, expected}


def test_random_state_matters_only_where_something_is_drawn():
    X, y = random_problem()
    trees = [CartClassifier(random_state=seed).fit(X, y).node_table_ for seed in (0, 1, None)]
    assert trees[0] == trees[1] == trees[2]
    for options in ({"max_features": 1}, {"n_thresholds": 1}):
        one, two, again = (CartClassifier(random_state=s, **options).fit(X, y).node_table_ for s in (0, 1, 0))
        assert one != two
        assert one == again


# --- kinds of columns ---


def mixed_columns():
    return {
        "size": [1.5, None, 2.5, 4.0, 0.5, 3.5, 1.0, None],
        "colour": ["red", "blue", None, "red", "green", "blue", "red", "green"],
        "old": [True, False, True, True, False, False, True, False],
        "count": [1, 2, 3, 4, 5, 6, 7, 8],
    }


MIXED_Y = [0, 1, 1, 0, 1, 1, 0, 0]


def test_every_container_grows_the_same_tree():
    columns = mixed_columns()
    frames = [columns, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    frames.append(pd.DataFrame(columns).astype({"colour": "category", "size": "Float64"}))
    frames.append(pl.DataFrame(columns).with_columns(pl.col("colour").cast(pl.Categorical)))
    trees = [CartClassifier().fit(frame, MIXED_Y) for frame in frames]
    for tree, frame in zip(trees, frames, strict=True):
        assert tree.feature_names_in_.tolist() == list(columns)
        assert tree.node_table_ == trees[0].node_table_
        for other in frames:
            assert np.array_equal(tree.predict_proba(other), trees[0].predict_proba(frame))


def test_sparse_and_dense_grow_the_same_tree():
    X = sparse.random(100, 8, density=0.3, random_state=0, format="csr")
    y = np.asarray(X.sum(axis=1)).ravel() > 1.2
    trees = [CartClassifier().fit(kind, y) for kind in (X, X.tocsc(), X.tocoo(), X.toarray())]
    assert all(tree.node_table_ == trees[0].node_table_ for tree in trees)
    assert np.array_equal(trees[0].predict(X), trees[0].predict(X.toarray()))


def test_float32_is_read_as_it_is():
    X, y = random_problem()
    narrow = X.astype(np.float32)
    table = CartClassifier().fit(narrow, y).node_table_
    assert table == CartClassifier().fit(narrow.astype(np.float64), y).node_table_
    assert (CartClassifier().fit(narrow, y).predict(narrow) == y).all()


def test_columns_without_information_are_never_chosen():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(50, 7.0), np.full(50, np.nan), rng.normal(size=50), np.full(50, -1e300)])
    y = rng.integers(0, 2, 50)
    for missing in ("learn", "fractional"):
        for model in (
            CartClassifier(missing=missing),
            SiftForestClassifier(5, missing=missing, random_state=0),
        ):
            model.fit(X, y)
            for table in model.node_tables_:
                assert set(table.nodes["feature"]) == {-1, 2}
    leaf = CartClassifier().fit(X[:, [0, 1]], y)
    assert leaf.node_table_.n_leaves == 1
    assert leaf.predict_proba(X[:1, :2])[0] == pytest.approx(np.bincount(y) / 50)
    assert leaf.feature_importances_.tolist() == [0, 0]


def test_missing_values_take_the_learned_side():
    X = np.array([[1.0], [2.0], [3.0], [math.nan], [math.nan]])
    tree = CartClassifier().fit(X, [0, 0, 1, 1, 1])
    assert tree.node_table_.nodes["missing_branch"][0] == 1
    assert tree.predict([[math.nan]])[0] == 1
    apart = CartClassifier().fit(X, [0, 0, 0, 1, 1])
    assert apart.node_table_.nodes["threshold"][0] == math.inf
    assert apart.predict([[1e308], [math.nan]]).tolist() == [0, 1]


def test_missing_values_go_all_ways_as_fractions():
    # C4.5: two thirds of the known rows go left, so a missing row is two thirds there.
    X = np.array([[1.0], [2.0], [3.0], [math.nan]])
    tree = CartClassifier(missing="fractional", max_depth=1).fit(X, [0, 0, 1, 1])
    assert tree.node_table_.nodes["size"].tolist() == pytest.approx([4, 2 + 2 / 3, 1 + 1 / 3])
    assert tree.node_table_.nodes["gain"][0] == pytest.approx(0.75 * reference.entropy([2, 1]))
    left = np.array([2, 2 / 3]) / (2 + 2 / 3)
    assert tree.predict_proba([[1.0], [9.0]]) == pytest.approx(np.array([left, [0, 1]]))
    assert tree.predict_proba([[math.nan]])[0] == pytest.approx(2 / 3 * left + 1 / 3 * np.array([0, 1]))
    assert tree.apply([[math.nan]]).tolist() == [[1]]


def test_an_unseen_category_goes_the_majority_way():
    train = pd.DataFrame({"colour": ["red"] * 5 + ["blue"] * 3})
    y = [1] * 5 + [0] * 3
    new = pd.DataFrame({"colour": ["green", "red", "blue", ""]})
    for splits in ("subsets", "multiway"):
        tree = CartClassifier(nominal_splits=splits).fit(train, y)
        assert tree.predict(new).tolist() == [1, 1, 0, 1]


def test_multiway_split_of_very_many_categories():
    # More branches than a 16-bit number with a sign can count.
    codes = np.arange(40_000.0)[:, np.newaxis]
    y = np.arange(40_000) % 2
    options = {"nominal_splits": "multiway", "correct_nominal": False, "categorical_features": [0]}
    tree = CartClassifier(**options).fit(codes, y)
    assert tree.node_table_.nodes["n_children"][0] == 40_000
    assert (tree.predict(codes[-500:]) == y[-500:]).all()


def test_a_column_of_a_million_categories_is_refused():
    X = np.arange(1_000_000)[:, np.newaxis]
    with pytest.raises(ValueError, match=r"column 0 has 1,000,000 distinct categories.*drop it"):
        CartClassifier(categorical_features=[0]).fit(X, X[:, 0] % 2)


# --- weights ---


def test_rows_of_weight_zero_are_as_good_as_absent():
    X, y = random_problem()
    kept = np.arange(200) % 3 > 0
    absent = CartClassifier().fit(X[kept], y[kept]).node_table_
    for weight in (1.0, 1.5):
        table = CartClassifier(min_samples_split=2 * weight).fit(X, y, kept * weight).node_table_
        assert np.array_equal(table.nodes["feature"], absent.nodes["feature"])
        assert np.array_equal(table.nodes["threshold"], absent.nodes["threshold"])
        assert table.counts == pytest.approx(absent.counts * weight)


def test_the_unit_of_weights_does_not_matter():
    # Weights that sum to one are common: AdaBoost, class shares, survey weights.
    X, y = random_problem()
    weights = np.random.default_rng(0).random(200)
    fitted = [CartClassifier().fit(X, y, weights * scale / weights.sum()) for scale in (1.0, 200.0)]
    assert np.array_equal(fitted[0].predict(X), fitted[1].predict(X))
    assert fitted[0].node_table_.n_leaves > 10
    boosted = AdaBoostClassifier(CartClassifier(max_depth=1), n_estimators=10).fit(X, y)
    assert boosted.score(X, y) > 0.7


def test_class_weights_multiply_sample_weights():
    X, y = random_problem()
    weights = np.random.default_rng(0).random(200)
    by_class = CartClassifier(class_weight={0: 1, 1: 3}).fit(X, y, weights).node_table_
    assert by_class == CartClassifier().fit(X, y, weights * np.where(y, 3, 1)).node_table_
    balanced = CartClassifier(class_weight="balanced").fit(X, y).node_table_
    assert balanced.counts[0] == pytest.approx([100, 100])


# --- deep trees, copies ---


def test_a_very_deep_tree_needs_no_recursion():
    # Classes that alternate: every split peels one row off an end.
    n = 12_000
    X = np.arange(n, dtype=float)[:, np.newaxis]
    y = np.arange(n) % 2
    tree = CartClassifier().fit(X, y)
    assert tree.node_table_.depth > 10 * sys.getrecursionlimit()
    assert (tree.predict(X[::50]) == y[::50]).all()
    assert tree.apply(X[-70:]).shape == (70, 1)
    assert pickle.loads(pickle.dumps(tree.node_table_)) == tree.node_table_
    assert tree.feature_importances_.tolist() == [1]


def test_node_tables_compare_by_value_and_survive_copies(tmp_path):
    X, y = load_iris(return_X_y=True)
    tree = CartClassifier(record_tried=True).fit(X, y)
    table = tree.node_table_
    other = CartClassifier().fit(X, y).node_table_
    assert table != other  # recorded or not
    assert table != CartClassifier(max_depth=2).fit(X, y).node_table_
    assert table != "a table"
    for again in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert again.node_table_ == table
        assert np.array_equal(again.predict_proba(X), tree.predict_proba(X))
    joblib.dump(tree, tmp_path / "tree")
    mapped = joblib.load(tmp_path / "tree", mmap_mode="r")  # read-only arrays
    assert np.array_equal(mapped.predict_proba(X), tree.predict_proba(X))
    assert np.array_equal(mapped.apply(X), tree.apply(X))
    assert isinstance(mapped.node_table_, NodeTable)
