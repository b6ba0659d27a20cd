"""SSVTreeClassifier: growing, pruning, and the cross-validation that finds the degree of pruning."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import reference
import reference_ssv
from callbacks import Listener
from growing import grow, make_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import StratifiedKFold

from foresift import CartClassifier, SSVTreeClassifier
from foresift.data.sklearn_compat import HAS_CALLBACKS
from foresift.data.table import make_table
from foresift.engine.pruning import StratifiedFolds, errors_by_degree, prune_splits, pruning_degrees

same = partial(pytest.approx, rel=1e-9, abs=1e-9)
seeds = st.integers(0, 2**32 - 1)
some = partial(settings, deadline=None)


def ssv_tree(seed, *, whole=True, **options):
    X, y, weights = make_problem(seed, nominal=[1], max_rows=60, whole=whole)
    options = {"criterion": "ssv", "min_leaf": 0.0, "min_split": 0.0, **options}
    return X, y, grow(X, y, weights, nominal=[1], **options)


def noisy(seed=0, n=200, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.where(rng.random(n) < 0.25, rng.integers(0, 3, n), (X[:, 0] > 0) + (X[:, 1] > 0.5))
    return X, y


# --- growing ---


def test_unpruned_it_is_the_ssv_tree_of_the_engine():
    for X, y in (load_iris(return_X_y=True), noisy()):
        tree = SSVTreeClassifier(pruning=None).fit(X, y)
        assert tree.node_table_ == CartClassifier(criterion="ssv").fit(X, y).node_table_
        assert tree.pruning_degree_ is None
        assert tree.score(X, y) == 1
    limited = SSVTreeClassifier(pruning=None, max_depth=3, min_samples_leaf=9, min_samples_split=30).fit(X, y)
    same_limits = CartClassifier(criterion="ssv", max_depth=3, min_samples_leaf=9, min_samples_split=30).fit(
        X, y
    )
    assert limited.node_table_ == same_limits.node_table_


def test_importances_are_shares_of_separability():
    X, y = [[1, 1], [2, 1], [3, 1], [3, 2]], [0, 0, 0, 1]
    tree = SSVTreeClassifier(pruning=None).fit(X, y)  # 2 * 3 pairs parted by the second column
    assert tree.feature_importances_.tolist() == [0, 1]
    X, y = load_wine(return_X_y=True)
    tree = SSVTreeClassifier(random_state=0).fit(X, y)
    inner = tree.node_table_.nodes[~tree.node_table_.is_leaf]
    sums = [inner["gain"][inner["feature"] == j].sum() for j in range(13)]
    assert tree.feature_importances_ == same(np.array(sums) / np.sum(sums))
    assert SSVTreeClassifier(pruning=10**6).fit(X, y).feature_importances_.tolist() == [0] * 13


# --- pruning ---


def assert_valid(table):
    """Check that children follow each other behind their parents, and that category sets are all in use."""
    nodes, n = table.nodes, len(table.nodes)
    inner = np.flatnonzero(nodes["first_child"] >= 0)
    children = np.concatenate([nodes["first_child"][inner], nodes["first_child"][inner] + 1])
    assert sorted(children) == list(range(1, n))
    assert np.array_equal(nodes["parent"][children], np.tile(inner, 2))
    assert nodes["parent"][0] == -1
    leaves = nodes[table.is_leaf]
    for name, value in [
        ("feature", -1),
        ("category_set", -1),
        ("n_children", 0),
        ("gain", 0),
        ("threshold", 0),
    ]:
        assert (leaves[name] == value).all()
    nominal = nodes["category_set"][nodes["category_set"] >= 0]
    assert sorted(nominal) == list(range(len(table.set_offsets) - 1))
    assert table.set_offsets[-1] == len(table.set_codes) == len(table.set_branches)
    assert table.counts.shape[0] == n


def as_plain(tree):
    plain = {"counts": tree["counts"].tolist()}
    if "split" in tree:
        plain |= {"split": tree["split"], "children": [as_plain(child) for child in tree["children"]]}
    return plain


@some(max_examples=60)
@given(seeds, st.booleans())
def test_pruning_deletes_weak_final_splits_until_there_are_none(seed, whole):
    X, _, table = ssv_tree(seed, whole=whole)
    size = table.nodes["size"][0]
    degrees = pruning_degrees(table)
    n_leaves = table.n_leaves
    for degree in sorted([0.0, *degrees[degrees > 0], 0.5 / size, 0.07, 1.0]):
        pruned = prune_splits(table, degree)
        assert_valid(pruned)
        literal = reference_ssv.prune(reference_ssv.from_table(table), degree * size)
        assert as_plain(reference_ssv.from_table(pruned)) == as_plain(literal)
        assert pruned.n_leaves <= n_leaves
        n_leaves = pruned.n_leaves
        # A row ends in the first node on its way down that has become a leaf.
        for row in X[:5]:
            leaf, wanted = reference.leaf_of(table, row), reference.leaf_of(pruned, row)
            while leaf > 0 and degrees[table.nodes["parent"][leaf]] <= degree + 1e-12:
                leaf = table.nodes["parent"][leaf]
            assert table.counts[leaf].tolist() == pruned.counts[wanted].tolist()
    assert prune_splits(table, -1.0) == table


def test_degrees_never_fall_towards_the_root():
    for seed in range(20):
        _, _, table = ssv_tree(seed)
        degrees, parent = pruning_degrees(table), table.nodes["parent"]
        assert (degrees[parent[1:]] >= degrees[1:]).all()
        assert (degrees[table.is_leaf] == -1).all()
        assert (degrees[~table.is_leaf] >= 0).all()


def test_a_fixed_degree_counts_errors_or_is_a_share():
    X, y = noisy()
    by_count = SSVTreeClassifier(pruning=3).fit(X, y)
    by_share = SSVTreeClassifier(pruning=3 / 200).fit(X, y)
    full = SSVTreeClassifier(pruning=None).fit(X, y).node_table_
    assert by_count.node_table_ == by_share.node_table_ == prune_splits(full, 3 / 200)
    assert by_count.pruning_degree_ == same(3 / 200)
    assert 1 < by_count.node_table_.n_leaves < full.n_leaves
    twice = SSVTreeClassifier(pruning=6).fit(X, y, sample_weight=np.full(200, 2))
    assert twice.node_table_.n_leaves == by_count.node_table_.n_leaves
    assert SSVTreeClassifier(pruning=0).fit(X, y).node_table_ == full  # every final split parts pure leaves
    assert SSVTreeClassifier(pruning=1.0).fit(X, y).node_table_.n_leaves == 1


def test_the_splits_that_save_no_error_go_at_degree_0():
    X, y = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]], [0, 0, 1, 0, 0, 0, 1]
    limits = {"min_samples_leaf": 3}
    assert SSVTreeClassifier(pruning=None, **limits).fit(X, y).node_table_.n_leaves == 2
    assert SSVTreeClassifier(pruning=0, **limits).fit(X, y).node_table_.n_leaves == 1


# --- cross-validation ---


@some(max_examples=30)
@given(seeds, st.booleans())
def test_errors_by_degree_are_those_of_the_pruned_trees(seed, whole):
    X, y, table = ssv_tree(seed, whole=whole)
    rng = np.random.default_rng(seed)
    classes, weights = rng.permutation(y), rng.random(len(y))
    degrees = np.unique(
        np.append(pruning_degrees(table).clip(0) * rng.choice([0.9, 1.0, 1.1]), [0.013, np.inf])
    )
    leaves = np.array([reference.leaf_of(table, row) for row in X])
    expected = []
    for degree in degrees:
        wrong = reference.predict_rows(prune_splits(table, degree), X).argmax(axis=1) != classes
        expected.append(weights[wrong].sum())
    assert errors_by_degree(table, leaves, classes, weights, degrees) == same(expected)


@pytest.mark.parametrize("class_weight", [None, {0: 1, 1: 3, 2: 1}])
def test_cross_validation_step_by_step(class_weight):
    X, y = noisy()
    splits = list(StratifiedKFold(5, shuffle=True, random_state=1).split(X, y))
    options = {"min_samples_leaf": 2, "class_weight": class_weight}
    tree = SSVTreeClassifier(cv=splits, **options).fit(X, y)
    full = SSVTreeClassifier(pruning=None, **options).fit(X, y).node_table_
    degrees = np.unique(np.append(pruning_degrees(full), 0).clip(0))
    assert tree.pruning_degrees_.tolist() == degrees.tolist()
    heavy = np.array([1, 3, 1])[y] if class_weight else np.ones(200)
    errors = np.zeros(len(degrees))
    for train, test in splits:
        fold = SSVTreeClassifier(pruning=None, **options).fit(X[train], y[train])
        grown = fold.node_table_
        for k in range(len(degrees)):
            half_way = degrees[k : k + 2].mean() if k + 1 < len(degrees) else 1.0
            fold.node_table_ = prune_splits(grown, half_way)
            errors[k] += heavy[test][fold.predict(X[test]) != y[test]].sum()
    assert tree.cv_errors_ == same(errors / heavy.sum())
    best = np.flatnonzero(tree.cv_errors_ <= tree.cv_errors_.min() + 1e-12)[-1]
    assert tree.pruning_degree_ == degrees[best]
    assert tree.node_table_ == prune_splits(full, degrees[best])
    splitter = StratifiedKFold(5, shuffle=True, random_state=1)
    assert SSVTreeClassifier(cv=splitter, **options).fit(X, y).node_table_ == tree.node_table_


def test_pruning_makes_a_tree_of_noise_small_and_leaves_a_clean_one():
    X, y = noisy(n=400)
    tree = SSVTreeClassifier(random_state=0).fit(X, y)
    full = SSVTreeClassifier(pruning=None).fit(X, y)
    X_new, y_new = noisy(1, n=1000)
    assert tree.node_table_.n_leaves < full.node_table_.n_leaves / 5
    assert tree.score(X_new, y_new) > full.score(X_new, y_new) + 0.05
    rng = np.random.default_rng(0)
    irrelevant = SSVTreeClassifier(random_state=0).fit(rng.normal(size=(200, 3)), rng.random(200) < 0.2)
    assert irrelevant.node_table_.n_leaves == 1
    clean = SSVTreeClassifier(random_state=0).fit(X, X[:, 2] > 0)
    assert clean.node_table_.n_leaves == 2


def test_folds_are_stratified_and_hold_out_every_row_once():
    X, y = noisy(n=103)
    table, ones = make_table(X, y), np.ones(103)
    folds = StratifiedFolds(table, None, 10, seed=3)
    parts = [folds.parts(fold, ones) for fold in range(folds.n_folds)]
    assert len(parts) == 10
    assert np.array_equal(sum(held for _, held in parts), ones)
    assert all(np.array_equal(train + held, ones) for train, held in parts)
    per_class = np.array([np.bincount(table.target.codes, held, minlength=3) for _, held in parts])
    assert (per_class.max(axis=0) - per_class.min(axis=0) <= 1).all()
    assert set(per_class.sum(axis=1)) == {10, 11}
    other = StratifiedFolds(table, None, 10, seed=4).parts(0, ones)
    assert not np.array_equal(other[1], parts[0][1])


def test_copies_are_dealt_one_by_one():
    table = make_table([[1.0], [2.0], [3.0]], [0, 1, 1])
    copies = np.array([7.0, 5.0, 0.0])
    held = np.array([StratifiedFolds(table, copies, 3, 0).parts(fold, 2 * copies)[1] for fold in range(3)])
    assert np.array_equal(held.sum(axis=0), 2 * copies)
    assert sorted(held[:, 0]) == [4, 4, 6]  # each copy weighs 2
    assert sorted(held[:, 1]) == [2, 4, 4]
    assert sorted(held.sum(axis=1)) == [8, 8, 8]
    whole = np.array([StratifiedFolds(table, copies + 0.5, 3, 0).parts(fold, copies)[1] for fold in range(3)])
    assert sorted(whole[:, 0]) == [0, 0, 7]  # a row of weight 7.5 stays in one piece


@some(max_examples=30)
@given(seeds)
def test_weights_are_repetitions_and_row_order_does_not_matter(seed):
    X, y, _ = make_problem(seed, nominal=[1], max_rows=60)
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 4, len(y))
    times[:2] = 1
    model = SSVTreeClassifier(cv=4, categorical_features=[1], random_state=7)
    weighted = model.fit(X, y, sample_weight=times).predict_proba(X)
    errors, degree = model.cv_errors_, model.pruning_degree_
    order = rng.permutation(times.sum())
    again = SSVTreeClassifier(cv=4, categorical_features=[1], random_state=7)
    again.fit(np.repeat(X, times, axis=0)[order], np.repeat(y, times)[order])
    assert again.cv_errors_ == same(errors)
    assert again.pruning_degree_ == degree
    if set(again.classes_) == set(model.classes_):
        seen = times > 0
        assert np.array_equal(again.predict_proba(X[seen]), weighted[seen])


def test_threads_and_containers_do_not_matter():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((150, 6)) < 0.6, 0, rng.integers(1, 5, (150, 6))).astype(float)
    y = (X[:, 0] > X[:, 1]) + (rng.random(150) < 0.2)
    tree = SSVTreeClassifier(random_state=0).fit(X, y)
    for other, data in [
        (SSVTreeClassifier(random_state=0, n_jobs=2), X),
        (SSVTreeClassifier(random_state=0), sparse.csr_array(X)),
        (SSVTreeClassifier(random_state=0), pd.DataFrame(X)),
    ]:
        other.fit(data, y)
        assert other.node_table_ == tree.node_table_
        assert np.array_equal(other.cv_errors_, tree.cv_errors_)
        assert np.array_equal(other.predict(data), tree.predict(X))


def test_few_rows():
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    assert SSVTreeClassifier(cv=10, random_state=0).fit(X, y).predict(X).shape == (3,)
    assert SSVTreeClassifier(cv=2, random_state=0).fit(X[:2], y[:2]).node_table_.n_leaves == 1
    alone = SSVTreeClassifier(random_state=0).fit(X, y, sample_weight=[0, 0, 1])
    assert alone.predict(X).tolist() == [1, 1, 1]
    assert alone.cv_errors_.tolist() == [0]
    one_class = SSVTreeClassifier(random_state=0, class_weight={0: 0, 1: 1}).fit(X, y)
    assert one_class.predict(X).tolist() == [1, 1, 1]


def test_another_pruning_leaves_nothing_behind():
    X, y = load_iris(return_X_y=True)
    tree = SSVTreeClassifier(random_state=0).fit(X, y)
    tree.set_params(pruning=2).fit(X, y)
    assert not hasattr(tree, "cv_errors_")
    assert not hasattr(tree, "pruning_degrees_")


# --- missing values, parameters ---


def test_missing_numbers_are_refused_and_missing_categories_are_one_more():
    X = pd.DataFrame({"c": ["a", "b", None, "a", "b", None] * 5, "x": np.arange(30.0)})
    y = [0, 0, 1, 0, 0, 1] * 5
    tree = SSVTreeClassifier(random_state=0).fit(X, y)
    assert tree.node_table_.n_leaves == 2
    assert tree.predict(pd.DataFrame({"c": [None, "b", "new"], "x": [0.0, 1, 2]})).tolist() == [1, 0, 0]
    with pytest.raises(ValueError, match=r"column 'x' is numeric and has missing values \(NaN\)"):
        tree.predict(X.assign(x=np.nan))
    for answer in (tree.predict_proba, tree.apply):
        with pytest.raises(ValueError, match="column 'x' is numeric"):
            answer(X.assign(x=[np.nan, *range(29)]))
    with pytest.raises(ValueError, match="column 'x' is numeric"):
        SSVTreeClassifier().fit(X.assign(x=[np.nan, *range(29)]), y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"pruning": "auto"},
        {"pruning": -1},
        {"pruning": 1.5},
        {"cv": 1},
        {"cv": "loo"},
        {"max_depth": 0},
        {"n_jobs": 0, "pruning": 0},
    ],
)
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        SSVTreeClassifier(**parameters).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks came with scikit-learn 1.9")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_hear_of_every_tree(n_jobs):
    X, y = load_wine(return_X_y=True)
    listener = Listener()
    SSVTreeClassifier(cv=3, random_state=0, n_jobs=n_jobs).set_callbacks(listener).fit(X, y)
    assert sorted(task for name, task in listener.ended if name == "tree") == [0, 1, 2, 3]
    assert listener.events == ["setup", "teardown"]


def test_folds_of_rows_that_are_not_there():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="Split 0 of cv has the test row 150: rows are numbered from 0"):
        SSVTreeClassifier(cv=[([0, 75, 149], [150])]).fit(X, y)
