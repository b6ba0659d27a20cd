"""Importances against a literal walk of the trees, and against scikit-learn's own."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import reference
from scipy.special import gammaln
from sklearn.datasets import load_diabetes, load_wine, make_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from foresift import (
    CartClassifier,
    CartRegressor,
    GEFSClassifier,
    GEFSRegressor,
    SiftForestClassifier,
    SubsetBaggingClassifier,
    SubsetBaggingRegressor,
    _core,
)
from foresift.criteria import node_complexity
from foresift.engine.node_table import NODE_DTYPE, TRIED_DTYPE, NodeTable
from foresift.importance import (
    average_gain,
    co_occurrence,
    contribution_ratio,
    mean_decrease_impurity,
    node_tables,
)

X, Y = load_wine(return_X_y=True)
CLASSIFIERS = [
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(max_leaf_nodes=9, random_state=0),  # grown best first: another order of nodes
    ExtraTreeClassifier(random_state=0),
    RandomForestClassifier(10, random_state=0),
    RandomForestClassifier(10, criterion="entropy", class_weight="balanced", random_state=0),
    ExtraTreesClassifier(10, criterion="log_loss", random_state=0),
    BaggingClassifier(n_estimators=8, max_features=0.5, random_state=0),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=10, random_state=0),
]


def name(model):
    return str(model).replace("\n", "")


def literal_trials(model):
    """(feature, gain in bits, class counts) of every split, by walking scikit-learn's trees."""
    members = [model] if hasattr(model, "tree_") else model.estimators_
    features = getattr(model, "estimators_features_", [np.arange(model.n_features_in_)] * len(members))
    for member, columns in zip(members, features, strict=True):
        tree = member.tree_
        scale = max(1.0, tree.n_node_samples[0] / tree.weighted_n_node_samples[0])
        counts = tree.value[:, 0, :] * tree.weighted_n_node_samples[:, None] * scale
        for node in range(tree.node_count):
            left, right = tree.children_left[node], tree.children_right[node]
            if left >= 0:
                yield (
                    columns[tree.feature[node]],
                    reference.entropy_gain([counts[left], counts[right]]),
                    counts[node],
                )


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name)
@pytest.mark.parametrize("weighting", ["complexity", "unit"])
def test_average_gain_is_that_of_a_literal_walk(model, weighting):
    model.fit(X, Y)
    weight, total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for feature, gain, counts in literal_trials(model):
        w = float(node_complexity(counts)) if weighting == "complexity" else 1.0
        weight[feature] += w
        total[feature] += w * gain
    expected = [t / w if w > 0 else np.nan for t, w in zip(total, weight, strict=True)]
    found = average_gain(model, weighting=weighting)
    assert found.shape == (X.shape[1],)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name)
def test_tables_of_scikit_learn_trees_hold_together(model):
    for table in node_tables(model.fit(X, Y)):
        nodes, counts = table.nodes, table.counts
        assert nodes["parent"][0] == -1
        inner = np.flatnonzero(nodes["first_child"] >= 0)
        assert (nodes["first_child"][inner] > inner).all()
        for child in (0, 1):
            assert (nodes["parent"][nodes["first_child"][inner] + child] == inner).all()
        first = nodes["first_child"][inner]
        np.testing.assert_allclose(counts[first] + counts[first + 1], counts[inner], atol=1e-8)
        np.testing.assert_allclose(counts.sum(axis=1), nodes["size"], atol=1e-8)
        largest = np.maximum(nodes["size"][first], nodes["size"][first + 1])
        np.testing.assert_allclose(nodes["size"][first + nodes["majority_branch"][inner]], largest)
        leaves = nodes[nodes["first_child"] < 0]
        assert (leaves["feature"] == -1).all()
        assert not leaves["gain"].any()


@pytest.mark.parametrize("missing", [False, True])
def test_walking_a_table_predicts_like_scikit_learn(missing):
    data = X.astype(np.float32)
    if missing:
        data[np.random.default_rng(0).random(data.shape) < 0.2] = np.nan
    forest = RandomForestClassifier(5, random_state=0).fit(data, Y)
    found = np.mean([reference.predict_rows(table, data) for table in node_tables(forest)], axis=0)
    np.testing.assert_allclose(found, forest.predict_proba(data), atol=1e-12)


def test_bootstrap_copies_count():
    table = node_tables(RandomForestClassifier(1, random_state=0).fit(X, Y))[0]
    assert table.counts[0].sum() == pytest.approx(len(Y))
    np.testing.assert_allclose(table.counts, np.rint(table.counts), atol=1e-9)


@pytest.mark.parametrize("model", [m for m in CLASSIFIERS if not isinstance(m, BaggingClassifier)], ids=name)
def test_mean_decrease_is_scikit_learns_for_classifiers(model):
    model.fit(X, Y)
    found = mean_decrease_impurity(model)
    np.testing.assert_allclose(found, model.feature_importances_, atol=1e-12)
    assert found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(random_state=0),
        RandomForestRegressor(5, random_state=0),
        ExtraTreesRegressor(5, criterion="poisson", random_state=0),
        AdaBoostRegressor(n_estimators=5, random_state=0),
        GradientBoostingRegressor(n_estimators=20, random_state=0),
    ],
    ids=name,
)
def test_mean_decrease_is_scikit_learns_for_regressors(model):
    data, target = load_diabetes(return_X_y=True)
    model.fit(data, target)
    np.testing.assert_allclose(mean_decrease_impurity(model), model.feature_importances_, atol=1e-12)
    sums, weights = np.zeros(data.shape[1]), np.zeros(data.shape[1])
    for table in node_tables(model):
        nodes = table.nodes[~table.is_leaf]
        complexity = np.maximum(gammaln(nodes["size"] + 1) / np.log(2) - 1, 0)  # y of a node all different
        np.add.at(sums, nodes["feature"], complexity * nodes["gain"])
        np.add.at(weights, nodes["feature"], complexity)
    known = weights > 0
    np.testing.assert_allclose(average_gain(model)[known], sums[known] / weights[known], rtol=1e-9)
    assert contribution_ratio(model).sum() == pytest.approx(100)
    if len(node_tables(model)) > 1:
        assert co_occurrence(model).observed.sum() > 0


def test_tables_of_regression_trees_predict():
    data, target = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(data, target, np.arange(len(target)))
    (table,) = node_tables(model)
    leaves = _core.leaves(table.arrays, data)
    np.testing.assert_allclose(table.counts[leaves, 0] / table.nodes["size"][leaves], model.predict(data))


def test_mean_decrease_of_gradient_boosting():
    model = GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0).fit(X, Y)
    assert len(node_tables(model)) == 6 * 3
    np.testing.assert_allclose(mean_decrease_impurity(model), model.feature_importances_, atol=1e-12)
    raw = [tree.tree_.compute_feature_importances(normalize=False) for tree in model.estimators_.ravel()]
    np.testing.assert_allclose(
        mean_decrease_impurity(model, normalize=False), np.mean(raw, axis=0), atol=1e-12
    )


def test_mean_decrease_of_bagging_is_the_mean_over_its_trees():
    model = BaggingClassifier(n_estimators=8, max_features=0.5, random_state=0).fit(X, Y)
    expected = np.zeros(X.shape[1])
    for tree, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        expected[columns] += tree.feature_importances_ / len(model.estimators_)
    np.testing.assert_allclose(mean_decrease_impurity(model), expected, atol=1e-12)


def test_nested_ensembles():
    bagged = BaggingClassifier(RandomForestClassifier(2, random_state=0), 3, max_features=0.5, random_state=0)
    bagged.fit(X, Y)
    assert len(node_tables(bagged)) == 6
    for k, columns in enumerate(bagged.estimators_features_):
        for table in node_tables(bagged)[2 * k : 2 * k + 2]:
            assert set(table.nodes["feature"]) <= {-1, *columns}
    voting = VotingClassifier([("tree", DecisionTreeClassifier()), ("forest", RandomForestClassifier(2))])
    assert len(node_tables(voting.fit(X, Y))) == 3


@pytest.mark.parametrize("model", [RandomTreesEmbedding(3, random_state=0), IsolationForest(n_estimators=3)])
def test_ensembles_without_classes_have_tables_too(model):
    tables = node_tables(model.fit(X))
    assert [table.counts.shape[1] for table in tables] == [1, 1, 1]
    assert average_gain(model).shape == (X.shape[1],)


def test_features_never_tried_have_no_estimate():
    data = np.c_[X[:, 0], np.zeros(len(X))]
    tree = DecisionTreeClassifier().fit(data, Y)
    assert np.isnan(average_gain(tree)).tolist() == [False, True]
    assert mean_decrease_impurity(tree).tolist() == [1.0, 0.0]
    leaf = DecisionTreeClassifier(max_depth=3).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert np.isnan(average_gain(leaf)).all()
    assert mean_decrease_impurity(leaf).tolist() == [0.0, 0.0]


def test_nodes_of_two_rows_carry_no_weight():
    pair = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    assert np.isnan(average_gain(pair)).all()  # READINGS R2
    assert average_gain(pair, weighting="unit").tolist() == [1.0]


def tiny_table(tried):
    nodes = np.zeros(3, dtype=NODE_DTYPE)
    nodes["parent"], nodes["first_child"] = [-1, 0, 0], [1, -1, -1]
    nodes["feature"], nodes["category_set"] = [1, -1, -1], -1
    nodes["gain"], nodes["size"], nodes["n_children"] = [0.25, 0, 0], [8, 5, 3], [2, 0, 0]
    counts = np.array([[4.0, 4.0], [4.0, 1.0], [0.0, 3.0]])
    empty = np.empty(0, dtype=np.uint16)
    trials = None if tried is None else np.array(tried, dtype=TRIED_DTYPE)
    return NodeTable(nodes, counts, np.zeros(1, dtype=np.int32), empty, empty, trials)


def test_recorded_trials_are_all_averaged():
    trials = [(0, 1, 0.5), (0, 2, 0.1), (1, 2, 0.4), (1, 0, 0.0)]
    model = SimpleNamespace(node_table_=tiny_table(trials), n_features_in_=4)
    root, child = node_complexity([4, 4]), node_complexity([4, 1])
    second = (root * 0.1 + child * 0.4) / (root + child)
    np.testing.assert_allclose(average_gain(model), [0.0, 0.5, second, np.nan])
    np.testing.assert_allclose(average_gain(model, "unit"), [0.0, 0.5, 0.25, np.nan])
    forest = SimpleNamespace(node_tables_=[tiny_table(trials), tiny_table(trials)], n_features_in_=4)
    np.testing.assert_allclose(average_gain(forest), average_gain(model))


def test_without_trials_the_gain_of_a_split_is_worked_out_in_bits():
    model = SimpleNamespace(node_table_=tiny_table(None), n_features_in_=2)
    expected = reference.entropy_gain([[4, 1], [0, 3]])
    np.testing.assert_allclose(average_gain(model), [np.nan, expected])
    np.testing.assert_allclose(mean_decrease_impurity(model, normalize=False), [0.0, 0.25])


@pytest.mark.parametrize("model", [CartClassifier(), SiftForestClassifier(10, random_state=0)], ids=name)
def test_our_models_are_read_alike(model):
    model.set_params(record_tried=False).fit(X, Y)
    np.testing.assert_allclose(mean_decrease_impurity(model), model.feature_importances_, atol=1e-12)
    trials = [
        (table.nodes["feature"][node], table.nodes["gain"][node], float(node_complexity(table.counts[node])))
        for table in node_tables(model)
        for node in np.flatnonzero(table.nodes["first_child"] >= 0)
    ]
    feature, gain, weight = (np.array(column) for column in zip(*trials, strict=True))
    made = average_gain(model)
    for j in range(X.shape[1]):
        at = feature == j
        total = weight[at].sum()
        assert made[j] == pytest.approx(
            (weight * gain)[at].sum() / total if total > 0 else np.nan, nan_ok=True
        )


def test_our_forest_counts_the_features_that_lost():
    forest = SiftForestClassifier(10, max_features=4, record_tried=True, random_state=0).fit(X, Y)
    weight, total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for table in forest.node_tables_:
        for node, feature, gain in table.tried:
            complexity = float(node_complexity(table.counts[node]))
            weight[feature] += complexity
            total[feature] += complexity * gain
    np.testing.assert_allclose(average_gain(forest), total / weight, atol=1e-12)
    winners = SiftForestClassifier(10, max_features=4, random_state=0).fit(X, Y)
    assert np.nanmean(average_gain(forest)) < np.nanmean(average_gain(winners))


def test_informative_columns_lead():
    data, target = make_classification(
        500, 12, n_informative=3, n_redundant=0, shuffle=False, class_sep=2.0, random_state=0
    )
    forest = RandomForestClassifier(50, max_features=1, random_state=0).fit(data, target)
    assert set(np.argsort(-average_gain(forest))[:3]) == {0, 1, 2}


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: DecisionTreeClassifier(), NotFittedError, "not fitted"),
        (lambda: RandomForestClassifier(), NotFittedError, "not fitted"),
        (lambda: make_pipeline(StandardScaler(), GaussianNB()).fit(X, Y), TypeError, r"model\[-1\]"),
        (lambda: GridSearchCV(GaussianNB(), {}).fit(X, Y), TypeError, "best_estimator_"),
        (
            lambda: HistGradientBoostingClassifier(max_iter=2).fit(X, Y),
            TypeError,
            "does not expose its trees",
        ),
        (lambda: GaussianNB().fit(X, Y), TypeError, "neither a decision tree"),
        (lambda: SiftForestClassifier, TypeError, "SiftForestClassifier is a class: pass a fitted model"),
        (lambda: BaggingClassifier(GaussianNB(), 2).fit(X, Y), TypeError, "GaussianNB is neither"),
        (lambda: DecisionTreeClassifier().fit(X, np.c_[Y, Y]), ValueError, "one model per target"),
        (lambda: "forest", TypeError, "not an estimator"),
    ],
)
def test_models_that_cannot_be_read(make, error, message):
    model = make()
    for function in (node_tables, average_gain, mean_decrease_impurity):
        with pytest.raises(error, match=message):
            function(model)


def test_weights_that_cannot_be_had():
    with pytest.raises(ValueError, match="'size'"):
        average_gain(DecisionTreeRegressor().fit(X, Y), weighting="size")


def test_members_of_one_class_are_trees_without_a_split():
    """Where an ensemble draws rows of one class only, its member is a DummyClassifier."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.repeat([0, 1], [38, 2])
    bagging = SubsetBaggingClassifier(DecisionTreeClassifier(), n_estimators=20, random_state=0).fit(X, y)
    kinds = {type(member) for member in bagging.estimators_}
    assert kinds == {DecisionTreeClassifier, DummyClassifier}
    tables = node_tables(bagging)
    assert [t.n_leaves == 1 for t in tables] == [type(m) is DummyClassifier for m in bagging.estimators_]
    assert contribution_ratio(bagging).sum() == pytest.approx(100)
    assert mean_decrease_impurity(bagging).sum() == pytest.approx(1)
    assert np.isfinite(average_gain(bagging)).any()  # NaN: never split on
    with pytest.raises(TypeError, match="DummyClassifier is neither"):
        contribution_ratio(DummyClassifier().fit(X, y))


def test_members_of_one_y_are_trees_without_a_split():
    """Where an ensemble draws rows of one y only, its member is a DummyRegressor."""
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.repeat([5.0, 7.0], [38, 2])
    bagging = SubsetBaggingRegressor(DecisionTreeRegressor(), n_estimators=20, random_state=0).fit(X, y)
    constant = [type(member) is DummyRegressor for member in bagging.estimators_]
    tables = node_tables(bagging)
    assert set(constant) == {True, False}
    assert [table.n_leaves == 1 for table in tables] == constant
    leaf = tables[constant.index(True)]
    assert (leaf.counts[0, 0] / leaf.nodes["size"][0], leaf.has_classes) == (5.0, False)
    assert contribution_ratio(bagging).sum() == pytest.approx(100)
    assert mean_decrease_impurity(bagging).sum() == pytest.approx(1)
    assert np.isfinite(average_gain(bagging)).any()  # NaN: never split on
    assert co_occurrence(bagging).observed.shape == (3, 3)


@pytest.mark.parametrize(
    ("ensemble", "tree"),
    [
        (GEFSClassifier, CartClassifier(record_tried=True)),
        (GEFSClassifier, DecisionTreeClassifier()),
        (GEFSRegressor, CartRegressor(record_tried=True)),
        (GEFSRegressor, DecisionTreeRegressor()),
    ],
    ids=name,
)
def test_trees_of_gefs_split_columns_of_their_genomes(ensemble, tree):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdef"))
    data.insert(
        0, "colour", rng.choice(["red", "green", "blue"], 200)
    )  # three inputs of scikit-learn's trees
    target = (data["colour"] == "green") * 2 + (data["e"] > 0)
    model = ensemble(tree, population=6, n_candidates=12, n_offspring=3, random_state=0).fit(data, target)
    assert any(len(set(genome)) < len(genome) for genome in model.genomes_)  # columns that repeat
    for table, genome in zip(node_tables(model), model.genomes_, strict=True):
        assert set(table.nodes["feature"][~table.is_leaf]) <= set(genome)
        assert table.tried is None or set(table.tried["feature"]) <= set(genome)
    assert set(np.argsort(-mean_decrease_impurity(model))[:2]) == {0, 5}
    assert set(np.argsort(-np.nan_to_num(average_gain(model)))[:2]) == {0, 5}


def test_networks_of_gefs_are_no_trees():
    model = GEFSClassifier(population=2, n_candidates=2, epochs=1, random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match="Network is neither a decision tree"):
        node_tables(model)
