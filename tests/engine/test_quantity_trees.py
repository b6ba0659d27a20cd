"""Whole trees for a quantity against the definitions and scikit-learn's; what must not matter."""

import math
from functools import partial

import numpy as np
import pytest
import reference
from growing import QUANTITIES, grow, make_quantity_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from quantity_checks import VARIANCE, assert_same_structure, check_every_node, children_of, near
from sklearn.tree import DecisionTreeRegressor

ODD = {"min_leaf": 0.97, "min_split": 1.93}  # limits that sums of fractions of cases do not come close to
some = partial(settings, deadline=None)
seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(sorted(QUANTITIES))


# --- whole trees ---


@some(max_examples=100)
@given(seeds, kinds, st.sampled_from([0.0, 0.2]), st.booleans())
def test_tree_is_the_literal_tree(seed, kind, missing, whole):
    X, y, weights = make_quantity_problem(seed, kind, missing=missing, whole=whole)
    table = grow(X, y, weights, **VARIANCE)
    check_literal(table, reference.grow(X, y, weights, **VARIANCE), y, weights)


@some(max_examples=60)
@given(seeds, kinds, st.integers(1, 5), st.floats(1, 9), st.floats(2, 20), st.booleans())
def test_limited_tree_is_the_literal_tree(seed, kind, depth, min_leaf, min_split, some_gain):
    X, y, weights = make_quantity_problem(seed, kind, missing=0.1, max_rows=80)
    limits = {**VARIANCE, "max_depth": depth, "min_gain": some_gain * 0.0312 * np.var(y)}
    table = grow(X, y, weights, min_leaf=min_leaf, min_split=min_split, **limits)
    tree = reference.grow(X, y, weights, min_size_leaf=min_leaf, min_size_split=min_split, **limits)
    check_literal(table, tree, y, weights)


def check_literal(table, tree, y, weights, node=0):
    record = table.nodes[node]
    assert table.counts[node] == pytest.approx(tree["counts"], rel=1e-9, abs=1e-12 * np.abs(y).max() * len(y))
    assert ("split" in tree) == (record["first_child"] >= 0)
    if "split" not in tree:
        return
    assert record["gain"] == near(tree["gain"], y, weights)
    names = {"feature": "feature", "threshold": "threshold", "missing": "missing_branch"}
    assert tree["split"] == {name: record[field] for name, field in names.items()}
    for child, expected in zip(children_of(table, node), tree["children"], strict=True):
        check_literal(table, expected, y, weights, child)


@some(max_examples=60)
@given(seeds, kinds, st.sampled_from(["learn", "fractional"]), st.booleans(), st.booleans())
def test_small_trees_node_by_node(seed, kind, missing, whole, recorded):
    X, y, weights = make_quantity_problem(seed, kind, missing=0.2, nominal=[1], whole=whole)
    limits = {"missing": missing, "min_leaf": 0.0, "min_split": ODD["min_split"]}
    table = grow(X, y, weights, [1], record_tried=recorded, **limits, **VARIANCE)
    check_every_node(table, X, y, np.ones(len(y)) if weights is None else weights, [1], **limits)


@pytest.mark.parametrize("kind", QUANTITIES)
@pytest.mark.parametrize(
    ("n", "missing", "weighted"),
    [(2000, 0.0, False), (3000, 0.1, False), (2500, 0.1, True), (5000, 0.0, True)],
)
def test_large_trees_node_by_node(kind, n, missing, weighted):
    # Later columns need only beat the best so far: fewer bins, and bounds that leave most of them out.
    rng = np.random.default_rng(n)
    X = np.column_stack(
        [rng.normal(size=(n, 3)), rng.integers(0, 60, n), rng.integers(0, 9, n), rng.random(n)]
    )
    y = QUANTITIES[kind](rng, n)
    y[np.argsort(X[:, 1] + X[:, 4] % 3 + rng.normal(size=n))] = np.sort(y)
    X[rng.random(X.shape) < missing] = math.nan
    weights = rng.random(n) + 0.1 if weighted else np.ones(n)
    for rule in ["learn"] if missing == 0 else ["learn", "fractional"]:
        options = {**VARIANCE, "missing": rule, "min_leaf": 20.25, "nominal": [4]}
        table = grow(X, y, weights if weighted else None, **options)
        check_every_node(table, X, y, weights, [4], rule, 20.25)
        recorded = grow(X, y, weights if weighted else None, record_tried=True, **options)
        assert_same_structure(table, recorded)  # gains may differ in their last digit: sums of other bins
        assert np.array_equal(table.counts, recorded.counts)


def test_a_column_with_gaps_may_gain_more_than_any_division_of_all_rows():
    # Without the row in the middle the others lie further apart than in the best division of all.
    X = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, math.nan]])
    y, weights = np.array([-1.0, 1.0, 0.0]), np.ones(3)
    for recorded in (False, True):
        options = {**VARIANCE, "missing": "fractional", "min_leaf": 0, "record_tried": recorded}
        table = grow(X, y, weights, **options)
        check_every_node(table, X, y, weights, missing="fractional", min_leaf=0)
        assert table.nodes["feature"][0] == 1
        assert table.nodes["gain"][0] == pytest.approx(2 / 3)  # the first column has the best division: 1/2


# --- scikit-learn's trees ---


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("depth", [1, None])
def test_complete_columns_give_the_trees_of_scikit_learn(seed, depth):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 1500)), int(rng.integers(1, 8))
    # No ties, exact in the single precision that scikit-learn computes with, and far enough apart for it.
    X = np.array([rng.permutation(n) / 64 for _ in range(p)]).T
    y = X[:, 0] * 64 / n + rng.normal(size=n) + (1e3 if seed % 2 else 0)
    weights = rng.random(n) + 0.5 if seed % 3 == 0 else None
    # There leaves are limited in rows, here in weight.
    least = int(rng.integers(1, 6)) if weights is None else 1
    peer = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=least, random_state=0)
    limits = {"max_depth": -1 if depth is None else depth, "min_leaf": least if weights is None else 0}
    table = grow(X, y, weights, min_split=0, **limits, **VARIANCE)
    n_same = compare_with_peer(table, peer.fit(X, y, weights).tree_, 0, 0)
    assert n_same == 1 if depth == 1 else n_same > n / least / 9


def compare_with_peer(table, peer, node, other):
    """Return how many splits are the same. Where two columns divide few rows alike, either may be taken."""
    record = table.nodes[node]
    assert (record["first_child"] < 0) == (peer.children_left[other] < 0)
    mean = table.counts[node, 0] / record["size"]
    assert mean == pytest.approx(peer.value[other, 0, 0], rel=1e-9, abs=1e-9)
    if record["first_child"] < 0:
        return 0
    sizes = peer.weighted_n_node_samples
    assert record["size"] == pytest.approx(sizes[other])
    others = peer.children_left[other], peer.children_right[other]
    pairs = list(zip(children_of(table, node), others, strict=True))
    decrease = peer.impurity[other] - sum(sizes[b] * peer.impurity[b] for _, b in pairs) / sizes[other]
    assert record["gain"] == pytest.approx(decrease, rel=1e-6, abs=1e-7)
    if record["feature"] != peer.feature[other]:
        assert peer.n_node_samples[other] < 50
        return 0
    assert record["threshold"] == pytest.approx(peer.threshold[other], rel=1e-12, abs=1e-12)
    return 1 + sum(compare_with_peer(table, peer, a, b) for a, b in pairs)


# --- two values, and what must not matter ---


@some(max_examples=100)
@given(seeds, st.sampled_from(["learn", "fractional"]), st.booleans(), st.booleans())
def test_two_values_grow_the_tree_of_two_classes(seed, missing, whole, drawn):
    nominal = [1] if missing == "learn" else []  # fractions of cases: rounding decides between equal means
    X, y, weights = make_quantity_problem(
        seed, "two values", missing=0.1, nominal=nominal, max_rows=200, whole=whole
    )
    options = {
        "missing": missing,
        "nominal": nominal,
        "seed": seed,
        "max_features": 1 + seed % X.shape[1],
        **ODD,
    }
    options |= {"draw": "bootstrap", "n_draw": len(y)} if drawn else {}
    classes = (y == y.max()).astype(int)
    gini = grow(X, classes, weights, criterion="gini", n_classes=2, **options)
    table = grow(X, y, weights, **VARIANCE, **options)
    assert_same_structure(table, gini)
    spread = (y.max() - y.min()) ** 2 / 2  # p (1 - p) is half of the impurity
    assert table.nodes["gain"] == pytest.approx(gini.nodes["gain"] * spread, rel=1e-9, abs=1e-9)


@some(max_examples=60)
@given(seeds, kinds, st.sampled_from(["learn", "fractional"]))
def test_scale_and_origin_of_the_quantity_do_not_matter(seed, kind, missing):
    X, y, weights = make_quantity_problem(seed, kind, missing=0.1, nominal=[1], max_rows=150)
    for nominal in ([], [1]):
        options = {**VARIANCE, **ODD, "missing": missing, "nominal": nominal, "seed": seed, "max_features": 2}
        plain = grow(X, y, weights, **options)
        for factor in (4.0, 2.0**-9):  # powers of two: bit by bit
            table = grow(X, y * factor, weights, **options)
            assert_same_structure(table, plain)
            assert np.array_equal(table.nodes["gain"], plain.nodes["gain"] * factor**2)
            assert np.array_equal(table.counts, plain.counts * factor)
        # Rounding decides between categories of equal means; 1e9 has no digits left to lose.
        if kind == "normal" or (not nominal and kind in ("whole", "two values")):
            assert_same_structure(grow(X, 3.7 * y - 11.0, weights, **options), plain)


@some(max_examples=60)
@given(seeds, kinds, st.sampled_from(["learn", "fractional"]))
def test_order_of_rows_does_not_matter(seed, kind, missing):
    nominal = [1] if missing == "learn" else []
    X, y, weights = make_quantity_problem(seed, kind, missing=0.1, nominal=nominal, max_rows=150)
    options = {**VARIANCE, **ODD, "missing": missing, "nominal": nominal}
    order = np.random.default_rng(seed).permutation(len(y))
    moved = grow(X[order], y[order], None if weights is None else weights[order], **options)
    plain = grow(X, y, weights, **options)
    if missing == "learn":
        assert_same_structure(moved, plain)
    for name in ("feature", "threshold"):  # which of two equal children is the larger is left to rounding
        assert np.array_equal(moved.nodes[name], plain.nodes[name])


@some(max_examples=60)
@given(seeds, kinds)
def test_a_row_of_weight_two_is_a_row_twice(seed, kind):
    X, y, _ = make_quantity_problem(seed, kind, missing=0.1, nominal=[1], max_rows=150)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    times[:2] = 1
    weighted = grow(X, y, times, [1], **VARIANCE)
    repeated = grow(np.repeat(X, times, axis=0), np.repeat(y, times), None, [1], **VARIANCE)
    halved = grow(X, y, times * 0.5, [1], min_split=1, min_leaf=0.5, **VARIANCE)
    assert_same_structure(weighted, repeated)
    assert_same_structure(weighted, halved)
    assert np.array_equal(weighted.nodes["size"], repeated.nodes["size"])
    assert weighted.counts == pytest.approx(repeated.counts, rel=1e-9, abs=1e-12 * np.abs(y).max() * len(y))
