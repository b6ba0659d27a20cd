"""SSVSelector: the algorithms of the paper word for word, what must not change a score, and bad input."""

import math
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
import reference_ssv
from callbacks import Listener
from growing import grow, make_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_wine

from foresift import SSVSelector
from foresift.criteria import ssv
from foresift.data.sklearn_compat import HAS_CALLBACKS
from foresift.data.weights import scale_up

same = partial(pytest.approx, rel=1e-9, abs=1e-9)
seeds = st.integers(0, 2**32 - 1)
some = partial(settings, deadline=None)
FULL = {"criterion": "ssv", "min_size_split": 0, "min_size_leaf": 0}
MODES = pytest.mark.parametrize("mode", ["separate", "tree"])


def scores(X, y, weights=None, mode="separate", nominal=None, **options):
    selector = SSVSelector(mode=mode, categorical_features=nominal, **options)
    return selector.fit(X, y, sample_weight=weights).scores_


def literal_separate(X, y, weights, nominal=()):
    weights = scale_up(weights)
    trees = [
        reference.grow(X[:, [j]], y, weights, nominal=[0] if j in nominal else [], **FULL)
        for j in range(X.shape[1])
    ]
    return [reference_ssv.separate_rank(tree) for tree in trees]


def generic(seed, n_nominal=2, n=30):
    """Return X, y and real weights, so that nothing ties; the first columns hold categories."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 6, (n, n_nominal)), rng.integers(0, 9, (n, 2)), np.ones(n)])
    y = rng.integers(0, 3, n)
    y[:2] = 0, 1
    return X.astype(float), y, rng.random(n) + 0.5


# --- the algorithms ---


@some(max_examples=100)
@given(seeds)
def test_separate_is_algorithm_1(seed):
    X, y, weights = make_problem(seed)
    assert scores(X, y, weights) == same(literal_separate(X, y, weights))


@some(max_examples=30)
@given(seeds)
def test_separate_is_algorithm_1_for_categories_and_real_weights(seed):
    X, y, weights = generic(seed)
    assert scores(X, y, weights, nominal=[0, 1]) == same(literal_separate(X, y, weights, nominal=[0, 1]))


@some(max_examples=40)
@given(seeds)
def test_separate_prunes_the_trees_of_the_engine(seed):
    X, y, weights = make_problem(seed, nominal=[0, 1], missing=0.1, max_rows=60)
    X[:, 2:] = np.nan_to_num(X[:, 2:])
    found = scores(X, y, weights, nominal=[0, 1])
    for j in range(X.shape[1]):
        nominal = [0] if j < 2 else []
        table = grow(X[:, [j]], y, weights, nominal, criterion="ssv", min_leaf=0.0, min_split=0.0)
        assert found[j] == same(reference_ssv.separate_rank(reference_ssv.from_table(table)))


@pytest.mark.filterwarnings("ignore:No feature passed")
@some(max_examples=100)
@given(seeds)
def test_tree_is_algorithm_2(seed):
    X, y, weights = make_problem(seed, max_rows=60)
    expected = reference_ssv.tree_ranks(reference.grow(X, y, weights, **FULL), X.shape[1])
    assert np.array_equal(scores(X, y, weights, "tree"), expected)


@some(max_examples=40)
@given(seeds, st.booleans())
def test_tree_prunes_the_tree_of_the_engine(seed, whole):
    X, y, weights = make_problem(seed, nominal=[0, 1], missing=0.1, max_rows=80, whole=whole)
    X[:, 2:] = np.nan_to_num(X[:, 2:])
    selector = SSVSelector(mode="tree", categorical_features=[0, 1]).fit(X, y, weights)
    tree = reference_ssv.from_table(selector.node_table_)
    assert selector.n_rankable_ == len({node["split"]["feature"] for node in reference_ssv.splits(tree)})
    assert np.array_equal(selector.scores_, reference_ssv.tree_ranks(tree, X.shape[1]))


def test_by_hand():
    X = np.array([[1, 1], [2, 2], [3, 2], [4, 3], [5, 3]], dtype=float)
    y = np.array([0, 0, 1, 1, 1])
    # Of the second column: classes 0 | 0 1 1 1 score 2 * 3 - 1, but 0 0 1 | 1 1 score 2 * 4 - 1 and then, on
    # the left, 0 | 0 1 score 2 * 1 - 1. The value 2 cannot be cut.
    second = [7 / math.log(3), (7 + 1) / math.log(4)]
    assert scores(X, y) == same([2 * 2 * 3 / math.log(3), max(second)])
    assert scores(X, y, mode="tree").tolist() == [1.0, 0.0]


def test_several_splits_are_rewarded():
    # Class 1 lies between the halves of class 0: one cut says little, two say all.
    y = np.repeat([0, 1, 0], 20)
    x = np.arange(60.0)
    noisy = np.where(np.arange(60) % 3 == 0, x, 30)  # one value for two thirds of the rows
    X = np.column_stack([x, noisy])
    found = scores(X, y)
    both = (2 * 20 * 20 - 20) + 2 * 20 * 20  # half of class 0 from the rest, then that
    assert found[0] == same(both / math.log(4))
    assert found[1] < found[0]


# --- what must not change the scores ---


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=5))
def test_ssv_is_symmetric(counts):
    left, right = zip(*counts, strict=True)
    assert ssv(left, right) == ssv(right, left)


@MODES
@some(max_examples=25)
@given(seed=seeds)
def test_monotone_transforms_row_order_and_names_of_classes(mode, seed):
    X, y, weights = make_problem(seed)
    expected = scores(X, y, weights, mode)
    for transform in (np.exp, lambda x: 3 * x - 7, lambda x: x**3):
        assert np.array_equal(scores(transform(X), y, weights, mode), expected)
    order = np.random.default_rng(seed).permutation(len(y))
    assert np.array_equal(
        scores(X[order], y[order], None if weights is None else weights[order], mode), expected
    )
    for names in (["c", "b", "a"], ["a", "c", "b"]):
        # Sums over classes in another order may differ in the last bits, whole ones do not.
        assert np.array_equal(scores(X, np.array(names)[y], weights, mode), expected)


@MODES
@some(max_examples=25)
@given(seed=seeds)
def test_names_of_categories_and_direction_of_numbers(mode, seed):
    """Where nothing ties: of equal splits the first is taken, and what is first depends on the order."""
    X, y, weights = generic(seed)
    expected = scores(X, y, weights, mode, [0, 1])
    renamed = X.copy()
    renamed[:, :2] = np.random.default_rng(seed).permutation(6)[X[:, :2].astype(int)]
    assert scores(renamed, y, weights, mode, [0, 1]) == same(expected)
    mirrored = X.copy()
    mirrored[:, 2:] *= -1
    assert scores(mirrored, y, weights, mode, [0, 1]) == same(expected)


@MODES
def test_weights_are_repetitions(mode):
    for seed in range(20):
        X, y, _ = make_problem(seed, nominal=[1])
        times = np.random.default_rng(seed).integers(0, 4, len(y))
        times[:2] = 1
        weighted = scores(X, y, times, mode, [1])
        repeated = scores(np.repeat(X, times, axis=0), np.repeat(y, times), None, mode, [1])
        assert np.array_equal(weighted, repeated)
        halves = scores(X, y, np.where(times > 0, 0.25, 0), mode, [1])  # scaled up to 1
        assert np.array_equal(halves, scores(X[times > 0], y[times > 0], None, mode, [1]))


@MODES
def test_equal_real_weights_do_not_break_ties(mode):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 12, (200, 6)).astype(float), rng.integers(0, 3, 200)
    expected = scores(X, y, np.full(200, 1.1), mode)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(200)
        assert scores(X[order], y[order], np.full(200, 1.1), mode) == same(expected)


def test_threads_do_not_matter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 37)), rng.integers(0, 3, 100)
    assert np.array_equal(scores(X, y, n_jobs=2), scores(X, y))


@MODES
def test_any_container(mode):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (80, 5)).astype(float), rng.integers(0, 2, 80)
    expected = scores(X, y, mode=mode)
    assert np.array_equal(scores(sparse.csr_array(X), y, mode=mode), expected)
    for frame in (pd.DataFrame(X), pl.DataFrame(X)):
        assert np.array_equal(SSVSelector(mode=mode).fit(frame, y).scores_, expected)


# --- columns of all sorts ---


@MODES
def test_constant_columns_score_0(mode):
    X = np.array([[1.0, 7.0, 1.0], [2.0, 7.0, 1.0], [3.0, 7.0, 1.0], [4.0, 7.0, 1.0]])
    found = scores(X, [0, 0, 1, 1], None, mode, [2])
    assert found[0] > 0
    assert found[1:].tolist() == [0, 0]


@MODES
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_missing_category_is_one_more(mode):
    rng = np.random.default_rng(1)
    column = rng.choice(["a", "b", "z"], 60)
    y = rng.integers(0, 3, 60)
    whole = pd.DataFrame({"c": column, "x": rng.normal(size=60)})
    lacking = whole.assign(c=np.where(column == "z", None, column))
    expected = SSVSelector(mode=mode).fit(whole, y).scores_
    selector = SSVSelector(2, mode=mode).fit(lacking, y)
    assert np.array_equal(selector.scores_, expected)
    for X in (lacking, lacking.to_numpy(), lacking.to_numpy().tolist()):
        assert selector.transform(X).shape == (60, 2)


@MODES
def test_more_categories_than_all_subsets_can_be_tried_of(mode):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 40, 400)
    X = np.column_stack([codes, rng.integers(0, 40, 400)]).astype(float)
    y = (codes % 3 + (rng.random(400) < 0.1)) % 3
    found = scores(X, y, None, mode, [0, 1])
    assert found[0] > found[1]


@MODES
def test_missing_numbers_are_refused(mode):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, None, 3.0], "c": [None, 1.0, 2.0]})
    with pytest.raises(
        ValueError, match=r"column 'b' \(and 1 more\) is numeric and has missing values \(NaN\)"
    ):
        SSVSelector(mode=mode).fit(X, [0, 1, 0])
    with pytest.raises(ValueError, match="column 1 is numeric"):
        SSVSelector(mode=mode).fit(X[["a", "b"]].to_numpy(), [0, 1, 0])
    assert SSVSelector(mode=mode, categorical_features=["b", "c"]).fit(X, [0, 1, 0]).n_features_in_ == 3


# --- what is kept ---


def test_separate_keeps_the_better_half():
    X, y = load_wine(return_X_y=True)
    selector = SSVSelector().fit(X, y)
    assert selector.support_.sum() == 13 // 2
    assert selector.n_rankable_ == 13
    assert np.array_equal(selector.support_, selector.ranking_ <= 6)
    assert SSVSelector().fit(X[:, :1], y).support_.tolist() == [True]


def test_tree_keeps_what_it_uses_and_says_how_much_it_can_rank():
    X, y = load_wine(return_X_y=True)
    selector = SSVSelector(mode="tree").fit(X, y)
    used = np.unique(selector.node_table_.nodes["feature"])[1:]
    assert np.array_equal(selector.get_support(indices=True), used)
    assert selector.n_rankable_ == len(used) == 9
    order = np.lexsort((np.arange(13), -selector.scores_))
    assert np.array_equal(np.argsort(selector.ranking_), order)
    with pytest.warns(UserWarning, match=r"11 features are requested.*only 9"):
        more = SSVSelector(11, mode="tree").fit(X, y)
    assert np.array_equal(np.flatnonzero(more.support_), np.sort(order[:11]))


@pytest.mark.filterwarnings("error")
def test_no_warning_where_the_tree_can_rank_enough():
    X, y = load_wine(return_X_y=True)
    assert SSVSelector(9, mode="tree").fit(X, y).support_.sum() == 9
    assert SSVSelector(13).fit(X, y).support_.all()


def test_a_tree_without_a_split_ranks_nothing():
    X, y = np.ones((6, 3)), [0, 1] * 3
    with pytest.warns(UserWarning, match="No feature passed"):
        selector = SSVSelector(mode="tree").fit(X, y)
    assert selector.n_rankable_ == 0
    assert selector.support_.tolist() == [True, False, False]


def test_the_other_mode_leaves_no_tree_behind():
    X, y = load_wine(return_X_y=True)
    selector = SSVSelector(mode="tree").fit(X, y)
    assert not hasattr(selector.set_params(mode="separate").fit(X, y), "node_table_")


@pytest.mark.parametrize("parameters", [{"mode": "both"}, {"n_features_to_select": 0}, {"n_jobs": 1.5}])
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        SSVSelector(**parameters).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks came with scikit-learn 1.9")
def test_callbacks_hear_of_every_column():
    X, y = load_wine(return_X_y=True)
    for mode, task, number in [("separate", "column", 13), ("tree", "tree", 1)]:
        listener = Listener()
        SSVSelector(mode=mode, n_jobs=2).set_callbacks(listener).fit(X, y)
        assert sorted(count for name, count in listener.ended if name == task) == list(range(number))
