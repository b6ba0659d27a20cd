"""Whole trees of the native engine: node by node against the definitions in reference.py."""

import math
from functools import partial

import numpy as np
import pytest
import reference
from growing import grow, grow_one, make_grower, make_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from foresift import _core
from foresift.engine.node_table import NodeTable

CRITERIA = ["entropy", "gini", "ssv", "variance"]
same = partial(pytest.approx, rel=1e-9, abs=1e-9)
seeds = st.integers(0, 2**32 - 1)
some = partial(settings, deadline=None)


def ones(y, weights):
    return np.ones(len(y)) if weights is None else weights


def cut_off(gain):
    """The gain if it is above 0: the SSV of parts of rows may be less (see test_engine.py), no other is."""
    return max(0.0, gain)


def children_of(table, node):
    record = table.nodes[node]
    return range(int(record["first_child"]), int(record["first_child"]) + int(record["n_children"]))


# --- the same tree ---


def assert_same_tree(table, tree, node=0):
    assert table.counts[node] == same(tree["counts"])
    assert ("split" in tree) == (table.nodes[node]["first_child"] >= 0)
    if "split" not in tree:
        return
    record, split = table.nodes[node], tree["split"]
    assert record["gain"] == same(tree["gain"])
    found = {
        "feature": record["feature"],
        "threshold": record["threshold"],
        "missing": record["missing_branch"],
    }
    assert found == split
    for child, expected in zip(children_of(table, node), tree["children"], strict=True):
        assert_same_tree(table, expected, child)


@some(max_examples=100)
@given(seeds, st.sampled_from(CRITERIA), st.sampled_from([0.0, 0.2]))
def test_tree_is_the_literal_tree(seed, criterion, missing):
    X, y, weights = make_problem(seed, missing=missing)
    table = grow(X, y, weights, criterion=criterion)
    assert_same_tree(table, reference.grow(X, y, weights, criterion=criterion))


@some(max_examples=40)
@given(seeds, st.sampled_from(CRITERIA), st.integers(1, 5), st.floats(1, 9), st.floats(2, 20), st.booleans())
def test_limited_tree_is_the_literal_tree(seed, criterion, depth, min_leaf, min_split, some_gain):
    X, y, weights = make_problem(seed, missing=0.1, max_rows=80)
    least_gain = some_gain * (9.9 if criterion == "ssv" else 0.0312)
    limits = {"criterion": criterion, "max_depth": depth, "min_gain": least_gain}
    table = grow(X, y, weights, min_leaf=min_leaf, min_split=min_split, **limits)
    expected = reference.grow(X, y, weights, min_size_leaf=min_leaf, min_size_split=min_split, **limits)
    assert_same_tree(table, expected)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_least_leaf_size_leaves_the_best_cut_that_is_allowed(criterion, n_classes):
    # The first rows are all class 1, so the best cut is right at the limit, wherever that falls in a bin.
    n = 200
    x = np.arange(n, dtype=float)
    y = np.where(x < 8, 1, np.where((x > 60) & (x % 7 == 0), n_classes - 1, 0))
    cuts = reference.cuts(x, y, criterion)
    for min_leaf in range(1, 40):
        table = grow(x[:, np.newaxis], y, criterion=criterion, max_depth=1, min_leaf=min_leaf)
        allowed = {t: score for t, score in cuts.items() if min_leaf <= t + 0.5 <= n - min_leaf}
        assert table.nodes[0]["gain"] == same(max(allowed.values())), min_leaf
        assert allowed[table.nodes[0]["threshold"]] == same(table.nodes[0]["gain"])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_least_leaf_size_leaves_the_best_division_that_is_allowed(criterion, n_classes):
    # Without a limit the best division of two classes follows the shares of one class; with it, not always.
    rng = np.random.default_rng(0)
    for min_leaf in [1, 4, 5, 6, 6] * 4:
        codes, y = rng.integers(0, 8, 13), rng.integers(0, n_classes, 13)
        options = {"criterion": criterion, "max_depth": 1, "min_leaf": min_leaf}
        table = grow(codes[:, np.newaxis], y, nominal=[0], **options)
        divisions = reference.subsets(codes, y, criterion)
        sizes = {left: np.isin(codes, list(left)).sum() for left in divisions}
        allowed = [divisions[left] for left, size in sizes.items() if min_leaf <= size <= 13 - min_leaf]
        assert table.nodes[0]["gain"] == same(max(allowed)), min_leaf


@pytest.mark.parametrize("criterion", ["entropy", "variance"])
def test_weights_and_repeated_rows_grow_the_same_tree(criterion):
    for seed in range(10):
        X, y, _ = make_problem(seed, missing=0.1, nominal=[1])
        times = np.random.default_rng(seed).integers(0, 4, len(y))
        times[:2] = 1
        options = {"nominal": [1], "n_classes": 3, "criterion": criterion}
        weighted = grow(X, y, times, **options)
        repeated = grow(np.repeat(X, times, axis=0), np.repeat(y, times), **options)
        real = grow(X, y, times * 0.5, min_split=1, min_leaf=0.5, **options)
        for other in (repeated, real):
            assert np.array_equal(weighted.nodes["feature"], other.nodes["feature"])
            assert np.array_equal(weighted.nodes["threshold"], other.nodes["threshold"])
            assert np.array_equal(weighted.set_branches, other.set_branches)
        assert np.array_equal(weighted.counts, repeated.counts)
        assert weighted.counts == same(real.counts * 2)


def assert_same_branches(one, two, at_one=0, at_two=0):
    """Compare two tables whose nodes may come in different orders."""
    a, b = one.nodes[at_one], two.nodes[at_two]
    assert np.array_equal(one.counts[at_one], two.counts[at_two])
    names = ["feature", "threshold", "n_children", "missing_branch", "majority_branch", "gain", "size"]
    assert a[names] == b[names]
    for table, record in ((one, a), (two, b)):
        assert (record["category_set"] >= 0) == (record["feature"] == 1)
        assert len(table.set_offsets) == 1 + (table.nodes["category_set"] >= 0).sum()
    if a["category_set"] >= 0:
        sets = [
            (table.set_codes[slice(*ends)], table.set_branches[slice(*ends)])
            for table, record in ((one, a), (two, b))
            for ends in [table.set_offsets[record["category_set"] :][:2]]
        ]
        assert np.array_equal(sets[0], sets[1])
    for child_one, child_two in zip(children_of(one, at_one), children_of(two, at_two), strict=True):
        assert_same_branches(one, two, child_one, child_two)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("multiway", [False, True])
@pytest.mark.parametrize("missing", ["learn", "fractional"])
@pytest.mark.parametrize("criterion", ["entropy", "gain_ratio", "variance"])
def test_a_wide_table_of_constants_grows_the_tree_of_the_others(criterion, missing, multiway, weighted):
    # A wide table lies far apart in memory, and the engine works on parts of it; that must not show.
    rng = np.random.default_rng(0)
    n = 2500
    X = rng.normal(size=(n, 6))
    X[:, 1] = rng.integers(0, 7, n)
    X[:, 4] = rng.integers(0, 300, n)
    X[rng.random(X.shape) < 0.02] = math.nan
    y = (np.nan_to_num(X[:, 0] + X[:, 1] % 3) + rng.normal(size=n) > 1).astype(int) + (X[:, 4] > 250)
    weights = rng.random(n) + 0.1 if weighted else None
    options = {"criterion": criterion, "missing": missing, "multiway": multiway, "min_leaf": 3}
    wide = np.column_stack([X, np.zeros((n, 1000))])
    assert_same_branches(grow(X, y, weights, [1], **options), grow(wide, y, weights, [1], **options))


# --- every node of any tree ---


def check_nodes(table, X, y, weights, criterion):
    """Check sizes, counts, gains and links of every node against the rows that get there."""
    n_classes = table.counts.shape[1]
    at = reference.weights_at_nodes(table, X, weights)
    assert table.nodes["parent"][0] == -1
    assert len(table.nodes) == 1 + table.nodes["n_children"].sum()
    for node, record in enumerate(table.nodes):
        assert table.counts[node] == same(reference.node_counts(y, at[node], n_classes, criterion))
        assert record["size"] == same(at[node].sum())
        if record["first_child"] < 0:
            assert record["feature"] == -1
            assert record["n_children"] == 0
            continue
        children = children_of(table, node)
        assert (table.nodes["parent"][list(children)] == node).all()
        sizes = table.nodes["size"][list(children)]
        assert sizes.min() > 0
        assert sizes.sum() == same(record["size"])
        assert table.counts[list(children)].sum(axis=0) == same(table.counts[node])
        assert sizes[record["majority_branch"]] == same(sizes.max())
        x, fractional = X[:, record["feature"]], record["missing_branch"] == -1
        known = ~np.isnan(x) | (not fractional)
        branches = [reference.contents(y, at[c], n_classes, known, criterion) for c in children]
        lost = at[node][~known].sum()
        assert cut_off(record["gain"]) == same(cut_off(reference.score(branches, criterion, lost)))
    # A leaf's counts are those of the rows that predict sends there.
    leaves = _core.leaves(table.arrays, X)
    if not (table.nodes["missing_branch"] == -1).any():
        for leaf in np.flatnonzero(table.is_leaf):
            rows = leaves == leaf
            expected = reference.node_counts(y[rows], weights[rows], n_classes, criterion)
            assert table.counts[leaf] == same(expected)


@some(max_examples=100)
@given(
    seeds,
    st.sampled_from(CRITERIA),
    st.sampled_from(["learn", "fractional"]),
    st.booleans(),
    st.sampled_from(["all", "bootstrap", "subsample"]),
    st.booleans(),
)
def test_nodes_hold_the_rows_that_reach_them(seed, criterion, missing, multiway, draw, whole):
    X, y, weights = make_problem(seed, missing=0.2, nominal=[1], whole=whole)
    options = {"missing": missing, "multiway": multiway, "draw": draw, "seed": seed, "max_features": 2}
    if draw != "all":
        options["n_draw"] = len(y) if draw == "bootstrap" else (len(y) + 1) // 2
    grower = make_grower(X, y, weights, [1], criterion=criterion, **options)
    table = grow(X, y, weights, [1], tree=3, criterion=criterion, **options)
    check_nodes(table, X, y, grower.drawn_rows(3) * ones(y, weights), criterion)


def allowed_gains(x, y, weights, nominal, criterion, missing, min_leaf):
    """Gains of all splits of one column at one node: {(description): gain}."""
    used = weights > 0
    x, y, weights = x[used], y[used], weights[used]
    unknown, gains = np.isnan(x), []
    scale = weights[~unknown].sum() / weights.sum() if missing == "fractional" else 1.0

    def fits(left, right):
        return min(weights[left].sum(), weights[right].sum()) >= min_leaf

    if nominal:
        codes = np.where(unknown, -1, x).astype(int)
        keep = ~unknown | (missing == "learn")
        found = reference.subsets(codes[keep], y[keep], criterion, weights[keep])
        for left, gain in found.items():
            rows = np.isin(codes, list(left))
            if fits(rows & keep, ~rows & keep):
                gains.append(gain * scale)
        return gains
    for side in ["known"] if missing == "fractional" else ["left", "right"]:
        for threshold, gain in reference.cuts(x, y, criterion, weights, side).items():
            left = (x <= threshold) | (unknown & (side == "left"))
            right = ~left & ~(unknown & (side == "known"))
            if fits(left, right):
                gains.append(gain)
    return gains


@some(max_examples=30)
@given(
    seeds, st.sampled_from(CRITERIA), st.sampled_from(["learn", "fractional"]), st.sampled_from([0.97, 3.47])
)
def test_every_tried_column_is_recorded_with_its_best_gain(seed, criterion, missing, min_leaf):
    X, y, weights = make_problem(seed, missing=0.15, nominal=[1], max_rows=30)
    options = {"criterion": criterion, "missing": missing, "min_leaf": min_leaf}
    table = grow(X, y, weights, [1], record_tried=True, **options)
    at = reference.weights_at_nodes(table, X, ones(y, weights))
    assert set(table.tried["node"]) >= set(np.flatnonzero(~table.is_leaf))
    for node in set(table.tried["node"].tolist()):
        tried = table.tried[table.tried["node"] == node]
        assert sorted(tried["feature"]) == list(range(X.shape[1]))  # constant ones too, with 0
        for feature, gain in zip(tried["feature"], tried["gain"], strict=True):
            gains = allowed_gains(X[:, feature], y, at[node], feature == 1, criterion, missing, min_leaf)
            assert cut_off(gain) == same(max([0.0, *gains]))
        if table.nodes[node]["first_child"] >= 0:
            assert table.nodes[node]["gain"] == same(tried["gain"].max())


@pytest.mark.parametrize("n", [500, 3000])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_recording_does_not_change_a_large_tree(criterion, n):
    # Unrecorded growth skips what cannot win; recorded growth must find every gain. Same tree.
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 30, (n, 3))])
    y = (X[:, 0] + X[:, 3] / 10 + rng.normal(size=n) > 1.5).astype(int)
    options = {"criterion": criterion, "max_features": 3, "seed": 1, "draw": "bootstrap", "n_draw": n}
    plain, recorded = grow(X, y, **options), grow(X, y, record_tried=True, **options)
    assert np.array_equal(plain.nodes, recorded.nodes)
    assert np.array_equal(plain.counts, recorded.counts)
    weights = make_grower(X, y, **options).drawn_rows(0).astype(float)
    root = recorded.tried[recorded.tried["node"] == 0]
    assert len(root) == 3
    for feature, gain in zip(root["feature"], root["gain"], strict=True):
        assert gain == same(max(reference.cuts(X[:, feature], y, criterion, weights).values()))


# --- random cuts ---


@some(max_examples=30)
@given(seeds, st.sampled_from(CRITERIA), st.integers(1, 4), st.sampled_from(["learn", "fractional"]))
def test_random_cuts_lie_inside_their_node(seed, criterion, n_thresholds, missing):
    X, y, weights = make_problem(seed, missing=0.2)
    table = grow(X, y, weights, criterion=criterion, n_thresholds=n_thresholds, missing=missing, seed=seed)
    check_nodes(table, X, y, ones(y, weights), criterion)
    at = reference.weights_at_nodes(table, X, ones(y, weights))
    for node in np.flatnonzero(~table.is_leaf):
        x = X[at[node] > 0, table.nodes[node]["feature"]]
        x, threshold = x[~np.isnan(x)], table.nodes[node]["threshold"]
        assert x.min() <= threshold < x.max() or (threshold == math.inf and missing == "learn")
        sides = {"learn": ["left", "right"], "fractional": ["known"]}[missing]
        best = max(
            max(reference.cuts(X[:, j], y, criterion, at[node], side).values(), default=0.0)
            for j in range(X.shape[1])
            for side in sides
        )
        assert table.nodes[node]["gain"] <= cut_off(best) * (1 + 1e-9) + 1e-9


def test_random_cuts_are_uniform_between_the_ends():
    x, y = np.array([0.0, 0.001, 1.0, 7.0, 10.0]), np.array([0, 1, 0, 1, 0])
    grower = make_grower(x[:, np.newaxis], y, n_thresholds=1, max_depth=1, seed=2)
    cuts = [grow_one(grower, tree).nodes["threshold"][0] for tree in range(2000)]
    assert stats.kstest(cuts, "uniform", args=(0, 10)).pvalue > 1e-3


def test_many_random_cuts_come_close_to_every_cut():
    rng = np.random.default_rng(0)
    x = rng.random(300)
    y = (x > 0.37).astype(int)
    table = grow(x[:, np.newaxis], y, n_thresholds=2000, max_depth=1)
    assert table.nodes[0]["gain"] == pytest.approx(reference.entropy(np.bincount(y)), rel=0.05)


# --- binned columns ---


@pytest.mark.parametrize("max_bins", [2, 5, 255])
@pytest.mark.parametrize("n_thresholds", [0, 2])
def test_binned_columns_are_cut_between_bins_only(n_thresholds, max_bins):
    rng = np.random.default_rng(max_bins)
    X = rng.normal(size=(600, 2))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=600) > 0).astype(int)
    table = grow(X, y, max_bins=max_bins, n_thresholds=n_thresholds)
    check_nodes(table, X, y, np.ones(600), "entropy")
    for feature in range(2):
        cuts = np.unique(table.nodes["threshold"][table.nodes["feature"] == feature])
        assert len(cuts) > 0
        # Cuts that part different rows; a node that lacks a bin puts its cut elsewhere in the same gap.
        sizes = np.unique([(X[:, feature] <= cut).sum() for cut in cuts])
        assert len(sizes) < max_bins


# --- the rest ---


@pytest.mark.parametrize(
    "options",
    [{}, {"criterion": "gini", "missing": "fractional"}, {"n_thresholds": 2}, {"criterion": "variance"}],
)
def test_trees_grown_together_are_those_grown_alone(options):
    # Trees of one call share their buffers, and nothing else.
    X, y, weights = make_problem(5, missing=0.1, nominal=[1], max_rows=200)
    draw = {"draw": "bootstrap", "n_draw": len(y), "seed": 9, "max_features": 1, "record_tried": True}
    grower = make_grower(X, y, weights, [1], **draw, **options)
    together = [NodeTable.from_core(arrays, tried=True) for arrays in grower.grow([4, 0, 4, 7])]
    assert together == [grow_one(grower, tree, tried=True) for tree in (4, 0, 4, 7)]
    assert grower.grow([]) == []


def test_growth_stops_when_asked():
    rng = np.random.default_rng(0)
    grower = make_grower(rng.normal(size=(60_000, 8)), rng.integers(0, 2, 60_000))
    stop = _core.StopFlag()
    stop.set()
    with pytest.raises(RuntimeError, match="interrupted"):
        grower.grow([0], None, stop)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": np.array([0, 2, 1, 0])}, "class code"),
        ({"y": np.array([0, -1, 1, 0])}, "class code"),
        ({"weights": np.ones(3)}, "weights must have 4"),
        # Shadows are made from these at once: they must have been looked at.
        ({"y": np.array([0, 2**30, 1, 0]), "weights": np.arange(1.0, 5), "n_shadows": 1}, "class code"),
        ({"weights": np.arange(1.0, 4), "n_shadows": 1}, "weights must have 4"),
        ({"criterion": "luck"}, "unknown criterion"),
        ({"draw": "twice"}, "unknown way"),
        ({"missing": "guess"}, "unknown rule"),
    ],
)
def test_bindings_refuse_what_does_not_fit(arguments, message):
    arguments = {"X": np.zeros((4, 1)), "y": np.array([0, 1, 0, 1]), "n_classes": 2, **arguments}
    with pytest.raises(ValueError, match=message):
        grow(**arguments)
    with pytest.raises(TypeError, match="unknown option"):
        grow(np.zeros((2, 1)), np.array([0, 1]), depth=3)
    with pytest.raises(ValueError, match="feature_weights must have 1"):
        grow(np.zeros((2, 1)), np.array([0, 1]), feature_weights=np.ones(2))
