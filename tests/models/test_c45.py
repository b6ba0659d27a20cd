"""C45Classifier: the slow twin, weights, hard cases, text and rules."""

import math
import sys

import numpy as np
import pandas as pd
import pytest
from growing import grow
from reference_c45 import C45, same_tree
from sklearn.datasets import load_iris

from foresift.engine.tree_text import Condition
from foresift.models.c45 import C45Classifier

PLAIN_ID3 = {
    "criterion": "gain",
    "pruning": None,
    "collapse": False,
    "cut_penalty": False,
    "min_samples_leaf": 1,
}


def tree_lines(tree, *names):
    return tree.export_text(*names).split("\n\n")[0].split("\n")


# --- the twin ---


def make_problem(seed):
    """Ties, constant columns, some signal; missing values and weights, also of 0, in some."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 100)), int(rng.integers(2, 6))
    nominal = [j for j in range(p) if rng.random() < 0.5]
    X = rng.integers(0, rng.integers(1, 9, p), (n, p)).astype(float)
    for j in set(range(p)).difference(nominal):
        if rng.random() < 0.4:
            X[:, j] = rng.normal(size=n).round(1)
    signal = X[:, 0] + X[:, 1]
    y = np.where(rng.random(n) < 0.5, rng.integers(0, 3, n), signal > np.median(signal)).astype(int)
    y[:2] = 0, 1
    if seed % 3 == 0:
        X[rng.random((n, p)) < 0.1] = math.nan
    weights = None if seed % 2 else rng.integers(0, 4, n).astype(float) if seed % 5 else rng.random(n) + 0.5
    return X, y, weights if weights is not None and weights.any() else None, nominal


def engine_tree(X, y, weights, nominal, **options):
    return grow(
        X,
        y,
        weights,
        nominal,
        criterion="gain_ratio" if options["ratio"] else "entropy",
        missing="fractional",
        multiway=True,
        c45=True,
        cut_penalty=options["penalty"],
        min_leaf=options["min_leaf"],
        min_split=2 * options["min_leaf"] - 1e-6,
        min_gain=1e-6,
        min_gap=options["min_gap"],
        group_categories=options["groups"],
        finish=True,
        collapse=options["collapse"],
        confidence=options["confidence"],
        raise_subtrees=options["raise_subtrees"],
    )


@pytest.mark.parametrize("seed", range(250))
def test_trees_are_those_of_the_twin(seed):
    X, y, weights, nominal = make_problem(seed)
    rng = np.random.default_rng(seed)
    options = {
        "min_leaf": float(rng.choice([1, 2, 2, 3.5])),
        "ratio": bool(rng.random() < 0.7),
        "penalty": bool(rng.random() < 0.6),
        "collapse": bool(rng.random() < 0.7),
        "confidence": float(rng.choice([0, 0.25, 0.25, 0.1, 0.5])),
        "raise_subtrees": bool(rng.random() < 0.8),
        "min_gap": float(rng.choice([0.0, 0.0, 0.1, 1.0])),
        "groups": bool(rng.random() < 0.5),
    }
    twin = C45(X, y, weights, nominal, **options).fit()
    assert same_tree(engine_tree(X, y, weights, nominal, **options), twin)


def test_the_estimator_grows_the_twins_tree():
    X, y, weights, nominal = make_problem(6)
    tree = C45Classifier(categorical_features=nominal).fit(X, y, sample_weight=weights)
    assert same_tree(tree.node_table_, C45(X, y, weights, nominal).fit())


# --- weights ---


def mixed(seed, n=80, missing=0.1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "number": rng.integers(0, 12, n).astype(float),
            "real": rng.normal(size=n),
            "letter": rng.choice(list("abcd"), n),
            "flag": rng.choice(["on", "off"], n),
        }
    )
    y = np.where((X["letter"] == "a") ^ (X["real"] > 0.3), "yes", "no").astype(object)
    y[rng.random(n) < 0.15] = "maybe"
    for column in X:
        X.loc[rng.random(n) < missing, column] = None
    return X, y


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("seed", range(5))
def test_weights_are_copies(seed, missing):
    X, y = mixed(seed, missing=missing)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    weighted = C45Classifier(thresholds="value").fit(X, y, sample_weight=times)
    rows = np.repeat(np.arange(len(y)), times)
    copied = C45Classifier(thresholds="value").fit(X.iloc[rows], y[rows])
    assert weighted.export_text() == copied.export_text()
    assert weighted.predict_proba(X) == pytest.approx(copied.predict_proba(X))


def test_rows_without_weight_are_not_there():
    # A category, a class and a value that only such rows have leave no trace in the tree.
    X, y = mixed(1, missing=0.0)
    extra = pd.DataFrame({"number": [1.0], "real": [X["real"].median()], "letter": ["z"], "flag": ["on"]})
    with_extra = pd.concat([X, extra.loc[[0] * 30]], ignore_index=True)
    weights = np.r_[np.ones(len(y)), np.zeros(30)]
    for options in ({}, {"pruning": None, "collapse": False}, {"thresholds": "value"}):
        tree = C45Classifier(**options).fit(X, y)
        same = C45Classifier(**options).fit(with_extra, [*y, *["other"] * 30], sample_weight=weights)
        assert same.export_text() == tree.export_text()
        assert same.predict(X).tolist() == tree.predict(X).tolist()


def test_shares_as_weights_grow_the_same_tree():
    X, y = mixed(2)
    tree = C45Classifier().fit(X, y)
    same = C45Classifier().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    assert same.export_text() == tree.export_text()


def test_class_weight_moves_the_leaves():
    X, y = mixed(3)
    assert set(C45Classifier(class_weight={"maybe": 50.0}, max_depth=1).fit(X, y).predict(X)) == {"maybe"}
    assert C45Classifier(class_weight="balanced").fit(X, y).node_table_.counts[0] == pytest.approx(len(y) / 3)


# --- options ---


def test_pruning_makes_trees_smaller_step_by_step():
    X, y = mixed(4, n=400)

    def size(**options):
        return len(C45Classifier(**options).fit(X, y).node_table_.nodes)

    full = size(pruning=None, collapse=False)
    assert full > size(pruning=None) >= size() >= size(confidence_factor=0.01)
    assert size(confidence_factor=0.5) >= size()
    assert size(min_samples_leaf=20) < size()
    assert C45Classifier(max_depth=1, pruning=None).fit(X, y).node_table_.depth == 1


def test_many_categories_do_not_win():
    # An identifier has all the gain; C4.5 leaves it out of the average, and its ratio is poor.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = pd.DataFrame({"id": [f"row{i}" for i in range(60)], "good": np.where(rng.random(60) < 0.1, 1 - y, y)})
    assert C45Classifier(min_samples_leaf=1).fit(X, y).node_table_.nodes["feature"][0] == 1
    by_gain = C45Classifier(criterion="gain", min_samples_leaf=1, pruning=None).fit(X, y)
    assert by_gain.node_table_.nodes["feature"][0] == 0


def test_thresholds():
    X, y = load_iris(return_X_y=True)
    middle, value = C45Classifier().fit(X, y), C45Classifier(thresholds="value").fit(X, y)
    assert tree_lines(value, ["sl", "sw", "pl", "pw"]) == [
        "pw <= 0.6: 0 (50.0)",
        "pw > 0.6",
        "|   pw <= 1.7",
        "|   |   pl <= 4.9: 1 (48.0/1.0)",
        "|   |   pl > 4.9",
        "|   |   |   pw <= 1.5: 2 (3.0)",
        "|   |   |   pw > 1.5: 1 (3.0/1.0)",
        "|   pw > 1.7: 2 (46.0/1.0)",
    ]
    assert middle.predict(X).tolist() == value.predict(X).tolist()
    inner = ~middle.node_table_.is_leaf
    assert (middle.node_table_.nodes["threshold"][inner] > value.node_table_.nodes["threshold"][inner]).all()


def test_binned_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = (X[:, 0] > 0.5).astype(int)
    for thresholds in ("midpoint", "value"):
        tree = C45Classifier(max_bins=16, thresholds=thresholds).fit(X, y)
        assert tree.score(X, y) > 0.95


def test_drawn_columns_follow_the_seed():
    X, y = mixed(5, n=300)
    trees = [C45Classifier(max_features=1, random_state=seed, pruning=None).fit(X, y) for seed in (0, 0, 1)]
    assert trees[0].node_table_ == trees[1].node_table_ != trees[2].node_table_


@pytest.mark.parametrize(
    "wrong",
    [
        {"confidence_factor": 0.0},
        {"confidence_factor": 0.6},
        {"pruning": "cost-complexity"},
        {"criterion": "gini"},
        {"thresholds": "mean"},
        {"min_samples_leaf": 0},
        {"min_value_gap": -1e-5},
        {"group_categories": "yes"},
    ],
)
def test_bad_parameters_are_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        C45Classifier(**wrong).fit([[1.0], [2.0]], [0, 1])


# --- hard cases ---


def test_nothing_to_split_by():
    y = [0, 1, 1, 1]
    nothing = {"one": ["a"] * 4, "number": [3.0] * 4, "gone": [math.nan] * 4, "lost": [None] * 4}
    tree = C45Classifier(min_samples_leaf=1).fit(nothing, y)
    assert tree_lines(tree) == [": 1 (4.0/1.0)"]
    assert tree.predict_proba(nothing).tolist() == [[0.25, 0.75]] * 4
    assert [str(rule) for rule in tree.rules()] == ["always then 1 (4.0/1.0)"]
    assert tree.feature_importances_.tolist() == [0] * 4


def test_one_row_per_class():
    tree = C45Classifier().fit([[1.0], [2.0], [3.0]], ["b", "a", "c"])
    assert tree.predict([[9.0]]).tolist() == ["a"]  # of equals the first
    tree = C45Classifier(**PLAIN_ID3).fit([[1.0], [2.0], [3.0]], ["b", "a", "c"])
    assert tree.predict([[1.0], [2.2], [9.0]]).tolist() == ["b", "a", "c"]


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="C45Classifier needs at least two classes"):
        C45Classifier().fit([[1.0], [2.0]], [0, 0])


def test_nothing_known_at_prediction():
    X, y = mixed(6, missing=0.0)
    tree = C45Classifier().fit(X, y)
    assert tree.node_table_.n_leaves > 1
    unknown = pd.DataFrame({column: [math.nan] * 3 for column in X})
    # All leaves answer, each by its share: the classes of the whole table come back.
    shares = [(y == c).mean() for c in tree.classes_]
    assert tree.predict_proba(unknown) == pytest.approx(np.tile(shares, (3, 1)))


def test_categories_that_a_node_has_not_seen():
    X, y = mixed(7, n=300, missing=0.0)
    X["letter"] = np.where(X["flag"] == "on", X["letter"].where(X["letter"] != "d", "a"), X["letter"])
    y = np.where(X["flag"] == "on", np.where(X["letter"] == "a", "yes", "no"), "maybe")
    tree = C45Classifier().fit(X, y)
    assert tree_lines(tree) == [
        "flag = off: maybe (149.0)",
        "flag = on",
        "|   letter = a: yes (83.0)",
        "|   letter = b: no (36.0)",
        "|   letter = c: no (32.0)",
        "|   letter = d: yes (0.0)",
    ]
    row = pd.DataFrame({"number": [1.0] * 2, "real": [0.0] * 2, "letter": ["d", "q"], "flag": ["on"] * 2})
    on = X["flag"] == "on"
    # d occurs, but not there: the answer of the node itself. q does not occur: the largest branch.
    assert tree.predict_proba(row)[0] == pytest.approx([0, (y[on] == "no").mean(), (y[on] == "yes").mean()])
    assert tree.predict_proba(row)[1].max() == 1


def test_deep_trees():
    # Every cut takes 30 rows off one end: deeper than Python may recurse.
    n = 36_000
    X, y = np.arange(n, dtype=float)[:, np.newaxis], (np.arange(n) // 30) % 2
    tree = C45Classifier().fit(X, y)
    assert tree.score(X, y) == 1
    assert tree.node_table_.depth > sys.getrecursionlimit()
    assert len(tree.rules()) == tree.node_table_.n_leaves == n // 30
    assert len(tree_lines(tree)) == len(tree.node_table_.nodes) - 1


# --- text and rules ---


def test_every_row_meets_one_rule():
    X, y = mixed(8, n=300, missing=0.0)
    tree = C45Classifier(pruning=None).fit(X, y)
    rules = tree.rules()
    compare = {"<=": np.less_equal, ">": np.greater, "=": np.equal}
    met = np.array(
        [
            np.all([compare[c.operator](X[c.name].to_numpy(), c.value) for c in rule.conditions], axis=0)
            for rule in rules
        ]
    )
    assert (met.sum(axis=0) == 1).all()
    assert [rules[i].prediction for i in met.argmax(axis=0)] == tree.predict(X).tolist()
    assert [rule.coverage for rule in rules] == pytest.approx(met.sum(axis=1))
    errors = [(y[rows] != rule.prediction).sum() for rule, rows in zip(rules, met, strict=True)]
    assert [rule.errors for rule in rules] == pytest.approx(errors)
    limits = [[(c.name, c.operator) for c in rule.conditions] for rule in rules]
    assert all(len(set(some)) == len(some) for some in limits)


def test_names_of_columns():
    X, y = load_iris(return_X_y=True)
    tree = C45Classifier().fit(X, y)
    assert tree_lines(tree)[0] == "x3 <= 0.8: 0 (50.0)"
    assert tree_lines(tree, list("abcd"))[0] == "d <= 0.8: 0 (50.0)"
    with pytest.raises(ValueError, match="feature_names must name 4 columns, but is 3"):
        tree.export_text(list("abc"))
    with pytest.raises(ValueError, match="a string"):
        tree.rules("abcd")


WORDS = {
    75.0: "75",
    0.1: "0.1",
    1 / 3: "0.333333",
    -1e-9: "-1e-09",
    2.5e17: "2.5e+17",
    0.0: "0",
    True: "True",
}


@pytest.mark.parametrize(("value", "text"), WORDS.items())
def test_values_in_words(value, text):
    assert str(Condition("c", "=", value)) == f"c = {text}"


def test_names_of_columns_must_differ():
    tree = C45Classifier().fit(np.arange(20.0).reshape(10, 2), [0, 1] * 5)
    with pytest.raises(ValueError, match="feature_names must be unique"):
        tree.rules(["a", "a"])
