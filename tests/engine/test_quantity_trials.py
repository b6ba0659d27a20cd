"""What forests ask of trees for a quantity: draws, random cuts, gains by chance, complexity, votes."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import reference
import reference_quantity
from growing import QUANTITIES, grow, grow_one, make_grower, make_quantity_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from quantity_checks import VARIANCE, assert_same_structure, best_of_column, near, sides

from foresift import _core

some = partial(settings, deadline=None)
seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(sorted(QUANTITIES))
PARTS = ("nodes", "counts", "tried", "set_offsets", "set_codes", "set_branches")


def ones(y, weights):
    return np.ones(len(y)) if weights is None else weights


# --- drawn rows and columns ---


@some(max_examples=60)
@given(seeds, kinds, st.sampled_from(["bootstrap", "subsample"]), st.sampled_from(["learn", "fractional"]))
def test_drawn_rows_and_columns(seed, kind, draw, missing):
    X, y, weights = make_quantity_problem(seed, kind, missing=0.1, nominal=[1], max_rows=80)
    options = {
        **VARIANCE,
        "missing": missing,
        "draw": draw,
        "seed": seed,
        "max_features": 2,
        "min_leaf": 0.97,
    }
    options["n_draw"] = len(y) if draw == "bootstrap" else (len(y) + 1) // 2
    grower = make_grower(X, y, weights, [1], record_tried=True, **options)
    table = grow_one(grower, 3, tried=True)
    at = reference.weights_at_nodes(table, X, grower.drawn_rows(3) * ones(y, weights))
    for node in np.unique(table.tried["node"]):
        rows, tried = at[node] > 0, table.tried[table.tried["node"] == node]
        for feature, gain in tried[["feature", "gain"]].tolist():
            x = X[rows, feature]
            best, _ = best_of_column(x, y[rows], at[node][rows], feature == 1, missing, 0.97)
            assert gain == near(max(best, 0.0), y[rows], at[node][rows])
        if table.nodes[node]["feature"] >= 0:
            assert table.nodes[node]["gain"] == near(tried["gain"].max(), y[rows], at[node][rows])
            assert table.nodes[node]["feature"] in tried["feature"]
    assert_same_structure(grow(X, y, weights, [1], tree=3, **options), table)


@pytest.mark.parametrize("n", [60, 700, 3000])
@pytest.mark.parametrize("kind", QUANTITIES)
def test_recording_does_not_change_a_tree(kind, n):
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.normal(size=(n, 8)), rng.integers(0, 30, (n, 4)), rng.integers(0, 6, n)])
    y = QUANTITIES[kind](rng, n)
    y[np.argsort(X[:, 0] + X[:, 8] / 10 + rng.normal(size=n))] = np.sort(y)
    options = {**VARIANCE, "nominal": [12], "max_features": 4, "seed": 1, "draw": "bootstrap", "n_draw": n}
    plain, recorded = grow(X, y, **options), grow(X, y, record_tried=True, **options)
    assert_same_structure(plain, recorded)
    assert np.array_equal(plain.counts, recorded.counts)
    alone = grow(X, y, **options, feature_weights=np.eye(13)[3])
    assert set(alone.nodes["feature"]) == {-1, 3}


@pytest.mark.parametrize(
    "options", [{}, {"missing": "fractional"}, {"n_thresholds": 2}, {"n_permutations": 2}, {"n_shadows": 2}]
)
@pytest.mark.parametrize("kind", QUANTITIES)
def test_trees_grown_together_are_those_grown_alone(options, kind):
    # Trees of one call share their buffers, and nothing else: bit by bit.
    X, y, weights = make_quantity_problem(5, kind, missing=0.1, nominal=[1], max_rows=200)
    draw = {"draw": "bootstrap", "n_draw": len(y), "seed": 9, "max_features": 1, "record_tried": True}
    grower = make_grower(X, y, weights, [1], **VARIANCE, **draw, **options)
    together = grower.grow([4, 0, 4, 7])
    for number, arrays in zip((4, 0, 4, 7), together, strict=True):
        for one, two in zip(arrays, grower.grow([number])[0], strict=True):
            assert one.tobytes() == two.tobytes()


def test_growth_goes_by_columns_and_order():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 6)), rng.normal(size=80)
    options = {**VARIANCE, "seed": 5, "max_features": 2, "record_tried": True, "n_shadows": 2}
    plain, moved = grow(X, y, **options), rng.permutation(6)
    table = grow(X[:, moved], y, **options, column_order=np.argsort(moved).tolist())
    assert np.array_equal(moved[table.tried["feature"]], plain.tried["feature"])
    assert np.array_equal(table.tried["gain"], plain.tried["gain"])
    assert np.array_equal(table.permuted, plain.permuted, equal_nan=True)
    # A tree of some columns is that of data with these alone.
    options = {**VARIANCE, "seed": 5, "max_features": 2}
    (arrays,) = make_grower(X, y, **options).grow([3], None, None, np.array([1, 4, 5], np.uint32), 2)
    (alone,) = make_grower(X[:, [1, 4, 5]], y, **options).grow([3])
    assert arrays[1].tobytes() == alone[1].tobytes()


@some(max_examples=40)
@given(seeds, kinds)
def test_one_column_per_level(seed, kind):
    X, y, weights = make_quantity_problem(seed, kind, missing=0.1, nominal=[1], max_rows=80)
    levels = np.random.default_rng(seed).permutation(X.shape[1]).tolist()
    table = grow(X, y, weights, [1], level_columns=levels, **VARIANCE)
    at = reference.weights_at_nodes(table, X, ones(y, weights))
    depth = np.zeros(len(table.nodes), dtype=int)
    for node, record in enumerate(table.nodes):
        rows, size = at[node] > 0, at[node][at[node] > 0]
        depth[node] = 0 if node == 0 else depth[record["parent"]] + 1
        pure = len(np.unique(y[rows])) == 1 or size.sum() < 2
        for level in range(depth[node], len(levels) if not pure else 0):
            column = levels[level]
            gain, _ = best_of_column(X[rows, column], y[rows], size, column == 1, "learn", 1.0)
            if gain > -math.inf:  # the first that splits
                assert record["feature"] == column
                assert record["gain"] == near(gain, y[rows], size)
                depth[node] = level
                break
        else:
            assert record["feature"] == -1


# --- random cuts ---


@some(max_examples=60)
@given(seeds, kinds, st.integers(1, 40), st.sampled_from(["learn", "fractional"]))
def test_random_cuts_are_those_of_the_stream(seed, kind, n_thresholds, missing):
    X, y, weights = make_quantity_problem(seed, kind, missing=0.1, max_rows=60)
    options = {**VARIANCE, "missing": missing, "n_thresholds": n_thresholds, "seed": seed, "min_leaf": 0.0}
    table = grow(X, y, weights, tree=2, record_tried=True, **options)
    at = reference.weights_at_nodes(table, X, ones(y, weights))
    gains = {(node, feature): gain for node, feature, gain in table.tried.tolist()}
    for node in np.unique(table.tried["node"]).tolist():
        bits, rows = reference.Bits(seed, 2, node), at[node] > 0
        here, size = y[rows], at[node][rows]
        for j in range(X.shape[1]):
            known = np.unique(X[rows, j][~np.isnan(X[rows, j])])
            some_missing = np.isnan(X[rows, j]).any()
            if len(known) < 2 and (len(known) == 0 or not some_missing or missing == "fractional"):
                assert gains[node, j] == 0
                continue
            low, high = known[0], known[-1]
            units = np.array([bits.unit() for _ in range(n_thresholds)])
            cuts = low * (1 - units) + high * units
            best = -math.inf
            for side in ["known"] if missing == "fractional" else sides(X[rows, j], "learn"):
                _, found, _ = reference_quantity.cut_gains(X[rows, j], here, size, side)
                values = known if some_missing and side == "right" else known[:-1]
                best = max(best, -math.inf if side != "right" else found[-1])  # known against missing
                if low < high:
                    drawn = np.searchsorted(values[: len(known) - 1], cuts, side="right") - 1
                    best = max(best, found[drawn].max())
            assert gains[node, j] == near(best, here, size)


# --- gains by chance ---

COLUMNS = {
    "distinct": ([3.0, 1, 4, 1.5, 9, 2.6], False),
    "ties": ([1.0, 1, 2, 2, 2, 3], False),
    "missing": ([1.0, math.nan, 2, 2, math.nan, 3], False),
    "nominal": ([0.0, 0, 1, 1, 2, 3], True),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("y", [[0.1, 0.5, 0.2, 4.0, -3.0, 1.0], [1.0, 1.0, 2.0, 2.0, 2.0, 9.0]])
def test_shuffled_gains_are_those_of_every_order(name, y):
    x, nominal = np.array(COLUMNS[name][0]), COLUMNS[name][1]
    options = {**VARIANCE, "nominal": [0] if nominal else [], "max_depth": 1, "record_tried": True}
    table = grow(x[:, np.newaxis], np.array(y), n_permutations=4000, **options)
    literal = [
        best_of_column(x, np.array(order), np.ones(6), nominal, "learn", 1.0)[0]
        for order in itertools.permutations(y)
    ]
    found = table.permuted[0]
    assert found.mean() == pytest.approx(np.mean(literal), abs=5 * np.std(literal) / math.sqrt(4000) + 1e-9)
    for gain in np.unique(np.round(literal, 9)):
        share = np.mean(np.array(literal) >= gain - 1e-7)
        error = 5 * math.sqrt(share * (1 - share) / 4000)
        assert (found >= gain - 1e-7).mean() == pytest.approx(share, abs=error + 1e-9)


@some(max_examples=30)
@given(seeds, kinds, st.sampled_from([{"n_permutations": 3}, {"n_shadows": 2}]))
def test_trees_grow_alike_with_gains_by_chance_and_without(seed, kind, chance):
    X, y, weights = make_quantity_problem(seed, kind, missing=0.1, nominal=[1])
    options = {**VARIANCE, "seed": seed, "record_tried": True, "nominal": [1], "max_features": 1}
    plain, table = grow(X, y, weights, **options), grow(X, y, weights, **options, **chance)
    for name in PARTS:
        assert np.array_equal(getattr(table, name), getattr(plain, name)), name
    assert table.permuted.shape == (len(table.tried), next(iter(chance.values())))


# --- complexity and variance of nodes ---


@some(max_examples=60)
@given(seeds, kinds, st.booleans(), st.sampled_from(["learn", "fractional"]))
def test_complexity_and_variance_of_every_node(seed, kind, whole, missing):
    X, y, weights = make_quantity_problem(seed, kind, missing=0.1, whole=whole)
    grower = make_grower(X, y, weights, **VARIANCE, missing=missing, record_tried=True)
    table, (arrays,) = grow_one(grower, tried=True), grower.grow([0])
    at = reference.weights_at_nodes(table, X, ones(y, weights))
    assert len(arrays[7]) == len(arrays[8]) == len(table.nodes)
    assert np.array_equal(table.variance, arrays[8])
    for node in np.unique(table.tried["node"]):
        rows = at[node] > 0
        expected = reference_quantity.complexity(y[rows], at[node][rows])
        assert arrays[7][node] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        centred = y[rows] - np.average(y[rows], weights=at[node][rows])
        centred -= np.average(centred, weights=at[node][rows])  # the mean of large numbers is rounded
        variance = np.average(centred**2, weights=at[node][rows])
        assert arrays[8][node] == near(variance, y[rows], at[node][rows])
    assert grow(X, y, weights, **VARIANCE, missing=missing).variance is None  # nobody asks


@pytest.mark.parametrize(
    "y", [[1, 1, 2], [1, 1, 2, 2], [1, 2, 3, 4, 5], [7, 7, 7, 7, 1, 2], [3, 3, 3], [1, 1, 2, 2, 5]]
)
def test_complexity_is_that_of_ties_as_classes(y):
    counts = np.unique(y, return_counts=True)[1]
    assert reference_quantity.complexity(y) == pytest.approx(reference.node_complexity(counts.tolist()))
    if len(counts) == len(y):
        assert reference_quantity.complexity(y) == pytest.approx(math.log2(math.factorial(len(y))) - 1)


# --- means ---


@some(max_examples=30)
@given(seeds, kinds, st.sampled_from(["learn", "fractional"]))
def test_votes_and_predictions_are_means(seed, kind, missing):
    X, y, weights = make_quantity_problem(seed, kind, missing=0.1, nominal=[1])
    options = {**VARIANCE, "missing": missing, "max_depth": 3, "seed": seed, "max_features": 1}
    grower = make_grower(X, y, weights, [1], **options)
    tables = [grow_one(grower, tree) for tree in range(3)]
    expected = sum(reference.predict_rows(table, X) for table in tables)
    rounding = 1e-12 * np.abs(y).max()
    out = np.zeros((len(y), 1))
    _core.add_proba([table.arrays for table in tables], X, None, out)
    assert out == pytest.approx(expected, rel=1e-9, abs=rounding)
    votes, rows = np.zeros((len(y), 1)), np.arange(len(y), dtype=np.uint32)
    grower.vote([0, 1, 2], np.arange(X.shape[1], dtype=np.uint32), 1, rows, votes)
    assert votes == pytest.approx(out, rel=1e-9, abs=rounding)


def test_one_value_is_a_leaf():
    for value in (0.0, -1e150, 1e9 + 0.1):
        (arrays,) = make_grower(np.arange(9.0)[:, np.newaxis], np.full(9, value), **VARIANCE).grow([0])
        assert arrays[0].shape[0] == 1
        assert arrays[1] / 9 == pytest.approx(value)
