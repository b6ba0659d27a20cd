"""The native kernels against their slow literal twins in reference.py, on data full of ties and gaps."""

import math
from functools import partial

import numpy as np
import pytest
import reference
from growing import grow, grow_one, make_grower
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from foresift import _core
from foresift.engine.node_table import NODE_DTYPE, TRIED_DTYPE

CRITERIA = ["entropy", "gini", "ssv"]
same = partial(pytest.approx, rel=1e-9, abs=1e-9)
few_examples = settings(max_examples=60, deadline=None)

# --- one column ---

VALUES = [-3.5, -0.0, 0.0, 0.5, 1.0, 2.0, 1e300]
WEIGHTS = [
    st.just(1.0),
    st.integers(1, 4).map(float),
    st.sampled_from([0.001, 0.25, 1.0, 1.5, 7.0]),
]


@st.composite
def columns(draw, values=VALUES, missing=math.nan, min_classes=2):
    """Draw x, y, weights: few distinct values, some missing, sometimes all alike; 1 to 60 rows."""
    n = draw(st.integers(1, 3) | st.integers(1, 60))
    pool = draw(st.lists(st.sampled_from(values), min_size=1, unique_by=str))
    pool = [*pool, missing] if draw(st.booleans()) else pool
    x = draw(arrays.arrays(type(values[0]), n, elements=st.sampled_from(pool)))
    y = draw(arrays.arrays(np.int32, n, elements=st.integers(0, draw(st.integers(min_classes - 1, 4)))))
    return x, y, draw(arrays.arrays(float, n, elements=draw(st.sampled_from(WEIGHTS))))


def best_split(x, y, weights, criterion, missing):
    return _core.best_split(x, y, int(y.max()) + 1, weights, criterion, missing)


def check_best_cut(x, y, weights, criterion, missing):
    """Compare the kernel's cut with every cut there is."""
    gain, threshold, missing_left = best_split(x, y, weights, criterion, missing)
    if missing == "known":
        cuts = {(t, False): score for t, score in reference.cuts(x, y, criterion, weights, "known").items()}
    else:
        sides = ["right", "left"] if np.isnan(x).any() else ["none"]
        cuts = {
            (t, side == "left"): score
            for side in sides
            for t, score in reference.cuts(x, y, criterion, weights, side).items()
        }
    if not cuts:
        assert gain == -math.inf
        return
    assert gain == same(max(cuts.values()))
    assert cuts[threshold, missing_left] == same(gain)


@few_examples
@given(columns(), st.sampled_from(CRITERIA), st.sampled_from(["learn", "known"]))
@example((np.array([1.0, math.nan]), np.array([0, 1]), np.ones(2)), "entropy", "learn")
def test_best_cut_is_the_best_of_all_cuts(column, criterion, missing):
    x, y, weights = column
    assume(criterion != "ssv" or is_sane_for_ssv(y, weights))
    check_best_cut(x, y.astype(np.int32), weights, criterion, missing)


def is_sane_for_ssv(y, weights):
    """Whether SSV is above 0 for every split: an impure node and no weight below 1."""
    return len(set(y)) > 1 and weights.min() >= 1


@pytest.mark.parametrize("n", [8, 200])
def test_ssv_of_light_rows_may_be_below_zero(n):
    # 2 pairs - rows cut: the pairs of light rows weigh next to nothing. The best cut is still the best.
    rng = np.random.default_rng(n)
    x, y = np.arange(n, dtype=float), rng.integers(0, 2, n).astype(np.int32)
    check_best_cut(x, y, np.full(n, 1e-4), "ssv", "learn")
    codes = (x % 4).astype(np.int32)
    gain, branches = _core.nominal_split(codes, 4, y, 2, np.full(n, 1e-4), "ssv", False, "learn")
    divisions = reference.subsets(codes, y, "ssv", np.full(n, 1e-4))
    assert gain == same(max(divisions.values()))
    assert gain == same(divisions[frozenset(code for code in range(4) if branches[code] == 0)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_values", [8, 300, None], ids=["few values", "some ties", "all distinct"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_best_cut_of_many_rows(criterion, n_values, n_classes, seed):
    # Many rows go through the histogram whose promising bins are searched; the outcome must not show it.
    rng = np.random.default_rng(seed)
    n = [150, 600, 1500][seed]
    x = rng.normal(size=n) if n_values is None else rng.integers(0, n_values, n).astype(float)
    x[rng.random(n) < (0.0, 0.1, 0.3)[seed]] = math.nan
    chance = rng.random(n) < 0.8 * (x > np.nanquantile(x, rng.random()))  # half a signal, anywhere
    y = np.where(chance, n_classes - 1, rng.integers(0, n_classes, n)).astype(np.int32)
    weights = [np.ones(n), rng.integers(1, 4, n).astype(float), rng.random(n) + 0.01][seed]
    for missing in ("learn", "known"):
        check_best_cut(x, y, weights, criterion, missing)


@pytest.mark.parametrize("n", [40, 400, 4000])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_best_cut_between_two_neighbours(criterion, n):
    # The classes part at one place that no coarse bin knows of.
    x = np.random.default_rng(n).permutation(n).astype(float)
    for place in (0, 1, n // 3, n // 2 + 1, n - 2):
        y = (x > place).astype(np.int32)
        gain, threshold, _ = best_split(x, y, np.ones(n), criterion, "learn")
        left, right = place + 1, n - place - 1
        assert threshold == place + 0.5
        assert gain == same(reference.SCORES[criterion]([[left, 0], [0, right]]))


def test_of_equal_cuts_the_smallest_wins():
    for n in (10, 100, 1000):
        x = np.arange(n, dtype=float)
        y = ((x >= n // 10) & (x < n - n // 10)).astype(np.int32)  # symmetric: both ends are as good
        for criterion in CRITERIA:
            assert best_split(x, y, np.ones(n), criterion, "learn")[1] == n // 10 - 0.5


# --- one nominal column ---


@few_examples
@given(columns(values=[0, 1, 2, 5, 6, 7], missing=-1), st.sampled_from(CRITERIA))
def test_best_division_of_categories_is_the_best_of_all(column, criterion):
    codes, y, weights = column
    assume(criterion != "ssv" or is_sane_for_ssv(y, weights))
    codes = codes.astype(np.int32)
    n_classes = int(y.max()) + 1
    for missing in ("learn", "known"):
        gain, branches = _core.nominal_split(codes, 8, y, n_classes, weights, criterion, False, missing)
        used = codes >= (-1 if missing == "learn" else 0)
        divisions = reference.subsets(codes[used], y[used], criterion, weights[used])
        if not divisions:
            assert gain == -math.inf
            continue
        scale = weights[used].sum() / weights.sum()
        assert gain == same(scale * max(divisions.values()))
        present = set(codes[codes >= 0].tolist())
        assert {code for code, branch in enumerate(branches) if branch >= 0} == present
        left = frozenset(code for code in present if branches[code] == 0)
        sides = [left, left | {-1}] if missing == "learn" and -1 in codes else [left]
        assert gain == same(scale * max(divisions.get(side, -math.inf) for side in sides))


@few_examples
@given(columns(values=[0, 1, 2, 5, 6, 7], missing=-1), st.sampled_from(CRITERIA))
def test_one_branch_per_category(column, criterion):
    codes, y, weights = column
    assume(criterion != "ssv" or is_sane_for_ssv(y, weights))
    codes = codes.astype(np.int32)
    n_classes = int(y.max()) + 1
    for missing, name in (("learn", "category"), ("known", "known")):
        gain, branches = _core.nominal_split(codes, 8, y, n_classes, weights, criterion, True, missing)
        n_branches = len(set(codes.tolist()) - (set() if missing == "learn" else {-1}))
        if n_branches < 2:
            assert gain == -math.inf
            continue
        assert gain == same(reference.multiway(codes, y, criterion, weights, name))
        present = sorted(set(codes[codes >= 0].tolist()))
        assert [branches[code] for code in present] == list(range(len(present)))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_many_categories_of_two_classes_are_divided_exactly(criterion, seed):
    # Breiman's theorem: of 12 categories the ordered prefixes hold the best of 2^11 divisions.
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, 80).astype(np.int32)
    y = (rng.random(80) < rng.random(12)[codes]).astype(np.int32)
    weights = rng.random(80) + 0.1
    gain, _ = _core.nominal_split(codes, 12, y, 2, weights, criterion, False, "learn")
    assert gain == same(max(reference.subsets(codes, y, criterion, weights).values()))


@pytest.mark.parametrize("n_categories", [11, 300, 5000])
def test_many_categories_of_many_classes_beat_every_single_one(n_categories):
    rng = np.random.default_rng(n_categories)
    codes = rng.permutation(np.arange(2 * n_categories) % n_categories).astype(np.int32)
    y = rng.integers(0, 4, len(codes)).astype(np.int32)
    weights = np.ones(len(codes))
    gain, branches = _core.nominal_split(codes, n_categories, y, 4, weights, "gini", False, "learn")
    left = np.array(branches)[codes] == 0
    sides = [reference.class_counts(y, weights, 4, rows) for rows in (left, ~left)]
    assert gain == same(reference.gini_decrease(sides))
    total = np.bincount(y, minlength=4)
    singles = [np.bincount(y[codes == c], minlength=4) for c in range(min(n_categories, 50))]
    assert gain >= max(reference.gini_decrease([one, total - one]) for one in singles) - 1e-12


# --- drawing rows and columns ---


def test_node_records_have_the_size_the_engine_writes():
    assert NODE_DTYPE.itemsize == 48
    assert TRIED_DTYPE.itemsize == 16


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
@pytest.mark.parametrize(("n", "n_draw"), [(1, 1), (7, 7), (100, 100), (100, 13), (13, 100)])
def test_bootstrap_is_the_reference_bootstrap(n, n_draw, seed):
    grower = make_grower(np.zeros((n, 1)), np.arange(n) % 2, seed=seed, draw="bootstrap", n_draw=n_draw)
    for tree in (0, 1, 99):
        assert np.array_equal(grower.drawn_rows(tree), reference.bootstrap(seed, tree, n, n_draw))


@pytest.mark.parametrize("weight", [1.0, 1000.0])
def test_a_row_that_is_drawn_very_often_keeps_its_weight(weight):
    # Three rows, so each is drawn more often than 16 bits can count.
    X, y, weights = np.arange(3.0)[:, np.newaxis], np.array([0, 1, 0]), np.full(3, weight)
    grower = make_grower(X, y, weights, draw="bootstrap", n_draw=210_000)
    table = grow_one(grower)
    assert table.nodes["size"][0] == 210_000 * weight
    assert table.counts[0].tolist() == (np.bincount(y, grower.drawn_rows(0)) * weight).tolist()


@pytest.mark.parametrize("n_draw", [1, 5, 29, 30])
def test_subsample_draws_distinct_rows_all_alike(n_draw):
    grower = make_grower(np.zeros((30, 1)), np.arange(30) % 2, seed=3, draw="subsample", n_draw=n_draw)
    drawn = np.array([grower.drawn_rows(tree) for tree in range(2000)])
    assert set(np.unique(drawn)) <= {0, 1}
    assert (drawn.sum(axis=1) == n_draw).all()
    if n_draw < 30:
        # The variance is that of a draw without replacement, hence below that of independent rows.
        assert stats.chisquare(drawn.sum(axis=0)).pvalue > 1e-3


def test_every_row_is_drawn_once_without_a_draw():
    assert make_grower(np.zeros((5, 1)), np.arange(5) % 2).drawn_rows(7).tolist() == [1] * 5


def first_draws(weights, n_features, n_trees=6000):
    """Columns that the roots of many trees try, in the order they were drawn: (n_trees, n_features)."""
    p = 5 if weights is None else len(weights)
    X, y = np.tile(np.arange(6.0)[:, np.newaxis], p), np.arange(6) % 2
    grower = make_grower(X, y, max_features=n_features, record_tried=True, max_depth=1, seed=5)
    weights = None if weights is None else np.asarray(weights, dtype=float)
    tables = [grow_one(grower, tree, weights, tried=True) for tree in range(n_trees)]
    return np.array([table.tried["feature"] for table in tables])


def test_columns_are_drawn_uniformly_without_replacement():
    drawn = first_draws(None, 3)
    assert all(len(set(row)) == 3 for row in drawn.tolist())
    for position in range(3):
        assert stats.chisquare(np.bincount(drawn[:, position], minlength=5)).pvalue > 1e-3
    pairs = np.bincount(drawn[:, 0] * 5 + drawn[:, 1], minlength=25)
    assert stats.chisquare(pairs[pairs > 0]).pvalue > 1e-3
    assert (pairs > 0).sum() == 20


@pytest.mark.parametrize(
    "weights", [[0.5, 0.2, 0.15, 0.1, 0.05], [0.0, 3.0, 0.0, 1.0, 2.0], [1.0, 0.996, 0.004]]
)
def test_columns_are_drawn_by_their_weights_without_replacement(weights):
    drawn = first_draws(weights, 2)
    share = np.array(weights) / np.sum(weights)
    p = len(weights)
    pairs = np.bincount(drawn[:, 0] * p + drawn[:, 1], minlength=p * p).reshape(p, p)
    with np.errstate(invalid="ignore"):
        # The second one is drawn from what is left: P(i then j) = w_i w_j / (1 - w_i).
        expected = np.where(np.eye(p, dtype=bool), 0.0, np.outer(share / (1 - share), share))
    assert (pairs[expected == 0] == 0).all()
    used = expected > 0
    assert stats.chisquare(pairs[used], expected[used] * len(drawn)).pvalue > 1e-3


def test_a_nearly_certain_column_does_not_keep_the_others_from_being_drawn():
    drawn = first_draws([1.0, 1e-12, 3e-12], 3, n_trees=2000)
    assert np.array_equal(np.sort(drawn, axis=1), np.tile(np.arange(3), (2000, 1)))
    assert (drawn[:, 0] == 0).all()
    assert (drawn[:, 1] == 2).mean() == pytest.approx(0.75, abs=0.04)


def test_a_column_of_weight_zero_is_never_tried():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), rng.integers(0, 2, 80)
    table = grow(X, y, feature_weights=np.array([0.0, 1.0, 0.0, 2.0, 0.0]), record_tried=True, max_features=3)
    assert set(table.tried["feature"]) == {1, 3}
    assert set(table.nodes["feature"]) == {-1, 1, 3}


def test_constant_columns_count_but_one_that_varies_is_always_tried():
    y = np.arange(40) % 2
    X = np.column_stack([np.zeros((40, 9)), np.random.default_rng(0).normal(size=40)])
    for tree in range(20):
        table = grow(X, y, max_features=2, tree=tree, seed=1)
        assert set(table.nodes["feature"]) == {-1, 9}
        assert np.count_nonzero(table.counts[table.is_leaf], axis=1).max() == 1
