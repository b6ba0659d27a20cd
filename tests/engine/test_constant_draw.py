"""Columns that are constant at a node: it draws again, or is a leaf. Trees against the literal ones."""

import numpy as np
import pytest
from growing import grow, make_grower, make_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_draws import DrawnTree

from foresift import ForestGainSelector, SiftForestClassifier, SiftForestRegressor
from foresift.engine.node_table import NodeTable

CRITERIA = ["entropy", "gini", "ssv", "variance"]


def constant_problem(seed):
    """Ties, missing values, weights; column 1 has two categories, two are constant or follow column 0."""
    X, y, weights = make_problem(seed, max_rows=60, missing=0.1)
    X[:, 1] = np.nan_to_num(X[:, 1]) > 1  # more categories could be divided in several ways that are as good
    rng = np.random.default_rng([seed, 7])
    extra = [np.full(len(y), 4.0), np.full(len(y), np.nan), np.where(X[:, 0] > 2, 1.0, 0.0)]
    return np.column_stack([X, *(extra[k] for k in rng.integers(0, 3, 2))]), y, weights


def assert_same_nodes(table, nodes):
    assert len(table.nodes) == len(nodes)
    for number, node in enumerate(nodes):
        assert table.counts[number] == pytest.approx(node["counts"], rel=1e-9, abs=1e-9)
        assert table.nodes["feature"][number] == node.get("feature", -1)
        assert table.nodes["gain"][number] == pytest.approx(node.get("gain", 0.0), rel=1e-9, abs=1e-9)
        tried = table.tried[table.tried["node"] == number]
        assert tried["feature"].tolist() == [column for column, _ in node["tried"]]
        assert tried["gain"] == pytest.approx([gain for _, gain in node["tried"]], rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=150)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(CRITERIA),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1.0, 3.0]),
)
def test_trees_of_drawn_columns_are_the_literal_ones(seed, criterion, max_features, leaf, weighted, min_leaf):
    X, y, weights = constant_problem(seed)
    given = np.random.default_rng(seed).integers(0, 4, X.shape[1]) + 0.5 if weighted else None
    options = {"criterion": criterion, "max_features": max_features, "constant_leaf": leaf}
    options |= {"min_leaf": min_leaf, "feature_weights": given, "tree": 3, "seed": seed % 1000}
    table = grow(X, y, weights, [1], record_tried=True, **options)
    assert_same_nodes(table, DrawnTree(X, y, weights, [1], **options).nodes)
    plain = grow(X, y, weights, [1], **options)  # which skips what cannot win
    assert plain.nodes["feature"].tolist() == table.nodes["feature"].tolist()


def test_a_leaf_comes_as_often_as_all_drawn_columns_are_constant():
    # Four of six columns are constant: two candidates are both constant with probability 4/6 * 3/5 = 0.4.
    X = np.column_stack([np.arange(12.0), np.arange(12.0)[::-1], np.zeros((12, 4))])
    y = np.arange(12) % 2
    options = {"max_features": 2, "max_depth": 1}
    leaves = [len(grow(X, y, tree=t, constant_leaf=True, **options).nodes) == 1 for t in range(1000)]
    assert np.mean(leaves) == pytest.approx(0.4, abs=0.05)
    assert all(len(grow(X, y, tree=t, **options).nodes) == 3 for t in range(100))


def few_values(n=300, quantity=False):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n, 6)).astype(float)
    level = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(scale=0.5, size=n)
    return X, level if quantity else (level > 0.7).astype(int)


@pytest.mark.parametrize("kind", [SiftForestClassifier, SiftForestRegressor])
def test_forests_take_it_over(kind):
    X, y = few_values(quantity=kind is SiftForestRegressor)
    options = {"n_estimators": 20, "max_features": 1, "random_state": 0}
    redraw, leaf = (kind(constant_draw=how, **options).fit(X, y) for how in ("redraw", "leaf"))
    assert kind(**options).fit(X, y).node_tables_ == redraw.node_tables_
    assert sum(t.n_leaves for t in leaf.node_tables_) < 0.8 * sum(t.n_leaves for t in redraw.node_tables_)
    # With all columns as candidates there is nothing to draw again.
    options["max_features"] = None
    redraw, leaf = (kind(constant_draw=how, **options).fit(X, y) for how in ("redraw", "leaf"))
    assert leaf.node_tables_ == redraw.node_tables_
    with pytest.raises(ValueError, match="constant_draw"):
        kind(constant_draw="split").fit(X, y)


def test_forest_gain_takes_it_over():
    X, y = few_values()
    options = {"max_features": 1, "n_estimators": 20, "random_state": 0}
    leaf = ForestGainSelector(constant_draw="leaf", **options).fit(X, y)
    # The scores are those in a forest on all rows that makes the same leaves.
    forest = SiftForestClassifier(
        20, max_features=1, constant_draw="leaf", bootstrap=False, record_tried=True, random_state=0
    ).fit(X, y)
    assert leaf.scores_ == pytest.approx(forest.feature_gains_)
    assert (leaf.scores_ != ForestGainSelector(**options).fit(X, y).scores_).all()


def test_some_columns_make_the_leaves_of_a_table_of_these_alone():
    X, y = few_values()
    options = {"max_features": 1, "constant_leaf": True, "seed": 5}
    some = np.array([0, 2, 5], dtype=np.uint32)
    for tree in range(10):
        (within,) = make_grower(X, y, **options).grow([tree], None, None, some, 1)
        alone = grow(X[:, some], y, tree=tree, **options)
        within = NodeTable.from_core(within, tried=False)
        assert within.counts.tolist() == alone.counts.tolist()
        inner = ~alone.is_leaf
        assert within.nodes["feature"][inner].tolist() == some[alone.nodes["feature"][inner]].tolist()
