"""Shadows in the engine: every trial again with permuted rows; order of columns; min_share."""

import numpy as np
import pytest
import reference
from growing import grow, grow_one, make_grower, make_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_quantity import tenths

from foresift import _core
from foresift.criteria import node_complexity
from foresift.data.sklearn_compat import Progress
from foresift.data.table import make_table
from foresift.engine.node_table import NodeTable
from foresift.selectors.relevance import shadows as module
from foresift.selectors.relevance.shadows import (
    ShadowSums,
    deduplicate_columns,
    draw_permutations,
    gather_shadow_sums,
)

seeds = st.integers(0, 2**32 - 1)
OPTIONS = {"criterion": "entropy", "record_tried": True, "draw": "all"}


def best_gain(x, y, weights, nominal, criterion="entropy"):
    """Gain of the best split of these rows, 0 if there is none: the literal search."""
    gain, _ = reference.best_split(x, y, criterion, weights, nominal, lambda left: True)
    return max(gain, 0.0)


@given(seeds, st.booleans(), st.sampled_from(["entropy", "variance"]))
@settings(deadline=None, max_examples=32)
def test_shadows_gain_what_permuted_columns_gain(seed, pooled, criterion):
    X, y, weights = make_problem(seed, missing=0.1, nominal=[1])
    options = {
        **OPTIONS,
        "criterion": criterion,
        "nominal": [1],
        "seed": seed,
        "max_features": 2,
        "n_shadows": 3,
    }
    permutation = np.tile(np.arange(3), (X.shape[1], 1))  # of every column and shadow
    if pooled:
        permutation = np.random.default_rng(seed).integers(0, 7, permutation.shape)
        options["shadow_of"] = permutation.ravel().tolist()
    grower = make_grower(X, y, weights, **options)
    table = grow_one(grower, 7, tried=True)
    assert table.permuted.shape == (len(table.tried), 3)
    weights = np.ones(len(y)) if weights is None else weights
    at_node = reference.weights_at_nodes(table, X, weights)
    below = _core.below_own_split(table.arrays[0], table.tried_bytes) > 0
    assert np.isnan(table.permuted[below]).all()  # nobody asks for them
    sources = {number: grower.shadow_rows(number) for number in set(permutation.ravel().tolist())}
    groups = y if criterion == "entropy" else tenths(y, weights)
    moved = {number: moved_weights(source, groups, weights) for number, source in sources.items()}
    for (node, feature, _), gains in zip(table.tried[~below], table.permuted[~below], strict=True):
        rows = at_node[node] > 0
        for number, gain in zip(permutation[feature].tolist(), gains, strict=True):
            values = X[sources[number]][rows, feature]
            expected = best_gain(values, y[rows], moved[number][rows], feature == 1, criterion)
            assert gain == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("criterion", ["entropy", "variance"])
def test_shadows_of_given_rows_gain_what_moved_columns_gain(criterion):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    weights = rng.uniform(0.5, 2, 60)
    weights[:9] = 0
    maps = rng.integers(0, 60, (4, 60))  # no permutations, and rows of weight 0 among them
    numbers = rng.integers(0, 4, (3, 2))
    numbers[0] = 3, 0
    options = {**OPTIONS, "criterion": criterion, "n_shadows": 2, "shadow_of": numbers.ravel().tolist()}
    grower = make_grower(X, y, weights, **options, shadow_rows=maps.ravel().astype(np.uint32))
    assert all(np.array_equal(grower.shadow_rows(k), maps[k]) for k in range(4))
    table = grow_one(grower, tried=True)
    at_root = table.tried["node"] == 0
    counted = weights > 0
    ratios = [grower.shadow_ratios(k) for k in range(4)]  # values bring their weights along
    for k in range(4):
        assert (ratios[k][~counted | ~counted[maps[k]]] == 1).all()
        assert set((weights * ratios[k]).round(12)) <= set(weights.round(12))
    for (_, feature, _), gains in zip(table.tried[at_root], table.permuted[at_root], strict=True):
        for number, gain in zip(numbers[feature], gains, strict=True):
            moved = X[maps[number], feature][counted]
            expected = best_gain(moved, y[counted], (weights * ratios[number])[counted], False, criterion)
            assert gain == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "shadow_of", [[0, 1], [0, 1, 2, 3, 0, 1], [0, 1, 2, 2**32 - 1]], ids=["short", "long", "number"]
)
def test_permutations_that_do_not_fit_are_refused(shadow_of):
    # Only made, not grown: native code would read outside its arrays.
    with pytest.raises(ValueError, match="shadow_of"):
        make_grower(np.zeros((4, 2)), np.arange(4) % 2, **OPTIONS, n_shadows=2, shadow_of=shadow_of)


def test_every_column_has_permutations_of_its_own_from_the_pool():
    drawn = draw_permutations(6000, 10, 500, seed=4)
    assert drawn.shape == (6000, 10)
    assert drawn.dtype == np.uint32
    assert all(len(set(row)) == 10 for row in drawn.tolist())
    counts = np.bincount(drawn.ravel())
    assert len(counts) == module.POOL
    assert counts.mean() == 200
    assert np.abs(counts - 200).max() < 5 * np.sqrt(200)
    for shadow in drawn.T:
        assert np.abs(np.bincount(shadow, minlength=module.POOL) - 20).max() < 6 * np.sqrt(20)


def test_draws_of_permutations_go_by_the_seed_and_fewer_columns_begin_alike():
    drawn = draw_permutations(50, 10, 500, seed=4)
    assert np.array_equal(drawn, draw_permutations(50, 10, 500, seed=4))
    assert not np.array_equal(drawn, draw_permutations(50, 10, 500, seed=5))
    assert np.array_equal(drawn[:20], draw_permutations(20, 10, 500, seed=4))


@pytest.mark.parametrize(
    ("n_rows", "n_shadows", "n_pool"),
    [
        (2, 10, 300),
        (2**19 // 300, 10, 300),
        (2**19 // 40, 10, 40),
        (2**24, 10, 10),
        (2**30, 4, 4),
        (90, 700, 700),
    ],
)
def test_the_pool_is_limited_by_rows_and_never_less_than_the_shadows_of_a_column(n_rows, n_shadows, n_pool):
    drawn = draw_permutations(3000, n_shadows, n_rows, seed=1)
    assert set(drawn.ravel().tolist()) == set(range(n_pool))
    assert all(len(set(row)) == n_shadows for row in drawn[:50].tolist())


def moved_weights(source, y, weights):
    """Weight of each row in a shadow: that of its class with the rank of the source in its own class."""
    moved = weights.copy()
    for i in np.flatnonzero(weights > 0):
        s = source[i]
        lighter = [j for j in source if y[j] == y[s] and 0 < weights[j] < weights[s]]
        same = [j for j in source if y[j] == y[s] and weights[j] == weights[s]]  # by their place
        n_class = np.sum((y == y[s]) & (weights > 0))
        share = (2 * (len(lighter) + same.index(s)) + 1) / (2 * n_class)
        own = np.sort(weights[(y == y[i]) & (weights > 0)])
        moved[i] = own[int(share * len(own) + 1e-9)]
    return moved


@given(seeds, st.booleans(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_weights_go_with_the_values_by_their_rank_in_the_class(seed, some_zero, quantity):
    X, y, _ = make_problem(seed)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 5, len(y)) / 2
    if some_zero:
        weights[1:][rng.random(len(y) - 1) < 0.3] = 0  # one row is left at least
    options = {**OPTIONS, "seed": seed, "n_shadows": 2}
    if quantity:  # tenths of the rows in place of classes
        values = np.round(rng.normal(size=len(y)), 1)
        grower = make_grower(X, values, weights, **{**options, "criterion": "variance"})
        y = tenths(values, weights)
    else:
        grower = make_grower(X, y, weights, **options)
    for t in range(2):
        moved = moved_weights(grower.shadow_rows(t), y, weights)
        ratios = grower.shadow_ratios(t)
        if len(ratios) == 0:
            assert all(len(set(weights[(y == c) & (weights > 0)])) < 2 for c in set(y))
            assert np.array_equal(moved, weights)
        else:
            assert weights * ratios == pytest.approx(moved)


def test_weights_of_the_classes_stay():
    X, y = np.arange(20.0)[:, np.newaxis], np.arange(20) % 2
    for weights in (None, np.where(y == 1, 3.0, 0.5), np.where(np.arange(20) < 6, 0.0, 2.0)):
        assert len(make_grower(X, y, weights, **OPTIONS, seed=1, n_shadows=1).shadow_ratios(0)) == 0


@given(seeds, st.booleans())
@settings(deadline=None, max_examples=20)
def test_trees_grow_alike_with_and_without(seed, drawn):
    X, y, weights = make_problem(seed, missing=0.1, nominal=[1])
    options = {**OPTIONS, "nominal": [1], "seed": seed, "max_features": 1}
    options |= {"draw": "subsample", "n_draw": max(2, len(y) // 2)} if drawn else {}
    plain = grow(X, y, weights, **options)
    table = grow(X, y, weights, **options, n_shadows=2)
    for name in ("nodes", "counts", "tried", "set_offsets", "set_codes", "set_branches"):
        assert np.array_equal(getattr(table, name), getattr(plain, name)), name
    assert plain.permuted is None


def test_a_shadow_permutes_the_rows_that_count():
    y = np.arange(40) % 2
    grower = make_grower(np.arange(40.0)[:, np.newaxis], y, **OPTIONS, seed=3, n_shadows=2)
    first, second = grower.shadow_rows(0), grower.shadow_rows(1)
    assert sorted(first) == sorted(second) == list(range(40))
    assert not np.array_equal(first, second)
    weights = (np.arange(40) < 30).astype(float)
    weighted = make_grower(np.arange(40.0)[:, np.newaxis], y, weights, **OPTIONS, seed=3, n_shadows=2)
    rows = weighted.shadow_rows(0)
    assert sorted(rows[:30]) == list(range(30))
    assert rows[30:].tolist() == list(range(30, 40))
    # As if the rows of weight 0 were not there.
    fewer = make_grower(np.arange(30.0)[:, np.newaxis], y[:30], **OPTIONS, seed=3, n_shadows=2)
    assert np.array_equal(fewer.shadow_rows(0), rows[:30])


@pytest.mark.parametrize(("n_shadows", "turns"), [(10, 5), (5, 3), (4, 1), (3, 3)])
def test_shadows_take_turns(n_shadows, turns):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    options = {**OPTIONS, "seed": 1, "n_shadows": n_shadows}
    some = make_grower(X, y, **options, shadows_per_tree=turns)
    every = make_grower(X, y, **options)
    had = np.zeros(n_shadows, dtype=int)
    for tree in range(2 * n_shadows):
        trees = [grow_one(g, tree, tried=True) for g in (some, every)]
        below = _core.below_own_split(trees[0].arrays[0], trees[0].tried_bytes) > 0  # where none is evaluated
        a, b = (grown.permuted[~below] for grown in trees)
        known = ~np.isnan(a[0])
        assert (np.isnan(a) == ~known).all()
        assert known.sum() == turns
        assert np.array_equal(a[:, known], b[:, known])
        had += known
    assert (had == 2 * turns).all()


def test_draws_go_by_the_order_of_columns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 6)), rng.integers(0, 3, 80)
    moved = rng.permutation(6)
    options = {**OPTIONS, "seed": 5, "max_features": 2, "n_shadows": 2}
    plain = grow(X, y, **options)
    table = grow(X[:, moved], y, **options, column_order=np.argsort(moved).tolist())
    assert np.array_equal(moved[table.tried["feature"]], plain.tried["feature"])
    assert np.array_equal(table.tried["gain"], plain.tried["gain"])
    assert np.array_equal(table.permuted, plain.permuted, equal_nan=True)
    few = grow(X, y, **options, column_order=[4, 1])
    assert set(few.tried["feature"]) == {1, 4}
    with pytest.raises(ValueError, match="column_order"):
        grow(X, y, **options, column_order=[6])


def test_shadows_or_shuffles():
    with pytest.raises(ValueError, match="either"):
        make_grower(np.zeros((4, 1)), np.array([0, 1, 0, 1]), **OPTIONS, n_shadows=2, n_permutations=2)


@given(seeds, st.sampled_from([0.1, 0.25, 0.45]), st.booleans())
@settings(deadline=None, max_examples=60)
def test_min_share_leaves_a_share_on_either_side_if_a_cut_can(seed, share, gaps):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    x = rng.integers(0, rng.integers(1, 12), n).astype(float)
    if gaps:
        x[rng.random(n) < 0.2] = np.nan
    y = rng.integers(0, 3, n)
    y[:2] = 0, 1
    table = grow(x[:, np.newaxis], y, **OPTIONS, min_share=share, max_depth=1)

    def fits(left):
        return min(left.sum(), n - left.sum()) >= share * n

    known = np.unique(x[~np.isnan(x)])
    balanced = any(fits(x <= t) for t in known[:-1])
    gain, _ = reference.best_split(x, y, "entropy", np.ones(n), False, fits)
    least = best_gain(x, y, np.ones(n), False)
    if np.isnan(x).any():  # a gap may go with either side, which the search below does not try alone
        assert 0 <= table.tried["gain"][0] <= least + 1e-12
    else:
        assert table.tried["gain"][0] == pytest.approx(gain if balanced else least, abs=1e-12)


def test_equal_columns_are_found():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    X = np.column_stack([x, np.zeros(50), np.exp(x), -x, x, rng.integers(0, 3, 50)])
    table = make_table(X, np.arange(50) % 2)
    order, first = deduplicate_columns(table, None)
    assert first.tolist() == [0, 1, 0, 3, 0, 5]  # the exponential has the same ranks
    assert sorted(order) == [0, 3, 5]
    moved = rng.permutation(6)
    again, _ = deduplicate_columns(make_table(X[:, moved], np.arange(50) % 2), None)
    assert np.array_equal(first[moved[again]], order)


def test_sums_are_those_of_the_fresh_trials():
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(60, 4)), 1)
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    table = make_table(X, y)
    order, _ = deduplicate_columns(table, None)
    options = {"max_features": 2, "max_depth": 4, "min_samples_split": 2, "min_share": 0.0}
    options |= {"order": order, "n_shadows": 4, "shadows_per_tree": 2, "n_estimators": 6}
    options |= {"nominal_splits": "subsets", "seed": 9}
    sums = gather_shadow_sums(table, None, Progress(None, None, "", {}), **options, n_jobs=1)
    permutations = np.zeros((4, 4), dtype=int)
    permutations[order] = draw_permutations(4, 4, 60, 9)
    settings = _core.GrowOptions(
        criterion="entropy",
        missing="learn",
        max_features=2,
        max_depth=4,
        record_tried=True,
        n_shadows=4,
        shadow_of=permutations.ravel().tolist(),
        shadows_per_tree=2,
        column_order=order.tolist(),
        seed=9,
    )
    grower = _core.Grower(table.store, table.target.codes, 2, None, settings)
    weight, gain = np.zeros((2, 4, 5))
    for number in range(6):
        tree = NodeTable.from_core(grower.grow([number])[0], tried=True)
        for (node, feature, own), shadows in zip(tree.tried, tree.permuted, strict=True):
            above, used = tree.nodes["parent"][node], False
            while above >= 0:
                used |= tree.nodes["feature"][above] == feature
                above = tree.nodes["parent"][above]
            if not used:
                w = float(node_complexity(tree.counts[node]))
                gains = np.array([own, *shadows])
                weight[feature] += np.where(np.isnan(gains), 0, w)
                gain[feature] += np.where(np.isnan(gains), 0, w * np.nan_to_num(gains))
    assert sums.weight == pytest.approx(weight)
    assert sums.gain == pytest.approx(gain)
    threaded = gather_shadow_sums(table, None, Progress(None, None, "", {}), **options, n_jobs=2)
    assert np.array_equal(threaded.gain, sums.gain)


def test_no_trial_no_mean():
    sums = ShadowSums(2, 3)
    sums.weight[0], sums.gain[0] = 2, 1
    assert sums.mean[0].tolist() == [0.5] * 4
    assert np.isnan(sums.mean[1]).all()
