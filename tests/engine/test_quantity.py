"""Splits of single columns for a quantity against their slow literal twins."""

import math
from functools import partial

import numpy as np
import pytest
import reference
import reference_quantity
from growing import QUANTITIES, grow, make_quantity_problem
from hypothesis import given, settings
from hypothesis import strategies as st
from quantity_checks import VARIANCE, assert_same_structure, near, sides

from foresift import _core

some = partial(settings, deadline=None)
seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(sorted(QUANTITIES))


# --- one column ---


def check_column(x, y, weights, missing):
    """Compare the kernel's cut with every cut there is: of equals the smallest, missing values right."""
    gain, threshold, missing_left = _core.best_value_split(x, y, weights, missing)
    found = {}
    for side in sides(x, missing):
        thresholds, gains, _ = reference_quantity.cut_gains(x, y, weights, side)
        found |= {(t, side == "left"): g for t, g in zip(thresholds.tolist(), gains.tolist(), strict=True)}
    if not found:
        assert gain == -math.inf
        return
    best = max(found.values())
    assert gain == near(best, y, weights)
    tie = 1e-11 * reference_quantity.unit(y, weights, "variance")
    assert (threshold, missing_left) == min(cut for cut, value in found.items() if value >= best - tie)


@pytest.mark.parametrize("kind", QUANTITIES)
@pytest.mark.parametrize("seed", range(20))
def test_best_cut_of_every_column_of_random_tables(kind, seed):
    X, y, weights = make_quantity_problem(
        seed, kind, missing=0.15 * (seed % 2), max_rows=80, whole=seed % 3 < 2
    )
    weights = np.ones(len(y)) if weights is None else weights
    for x in np.ascontiguousarray(X.T):
        for missing in ("learn", "known"):
            check_column(x, y, weights, missing)
        for side in [*sides(x, "learn"), "known"]:  # the quick twin against the literal one
            thresholds, gains, _ = reference_quantity.cut_gains(x, y, weights, side)
            literal = reference.cuts(x, y, "variance", weights, side)
            assert list(literal) == thresholds.tolist()
            assert gains == near(np.array(list(literal.values())), y, weights)


@pytest.mark.parametrize("n", [33, 300, 5000])
@pytest.mark.parametrize("n_values", [6, 400, None], ids=["few values", "some ties", "all distinct"])
@pytest.mark.parametrize("kind", QUANTITIES)
def test_best_cut_of_many_rows(kind, n_values, n):
    # Many rows go through the histogram whose promising bins are searched; the outcome must not show it.
    rng = np.random.default_rng(n)
    for missing_share, weigh in [(0.0, np.ones_like), (0.2, lambda x: rng.random(len(x)) + 0.01)]:
        x = rng.normal(size=n) if n_values is None else rng.integers(0, n_values, n).astype(float)
        y = QUANTITIES[kind](rng, n)
        half = rng.random(n) < 0.3  # a signal somewhere
        y[half] = np.where(x[half] > np.quantile(x, rng.random()), y.max(), y.min()) / rng.choice([1, 7])
        x[rng.random(n) < missing_share] = math.nan
        for missing in ("learn", "known"):
            check_column(x, y, weigh(x), missing)


def test_tiny_and_huge_values_are_cut_where_others_are():
    rng = np.random.default_rng(0)
    for n in (20, 500):
        x, y = rng.normal(size=n), rng.normal(size=n)
        gain, threshold, _ = _core.best_value_split(x, y, np.ones(n), "learn")
        for power in (-700, -400, 450):  # of two: nothing is rounded
            scaled, same, _ = _core.best_value_split(x, np.ldexp(y, power), np.ones(n), "learn")
            assert (same, scaled) == (threshold, np.ldexp(gain, 2 * power))
            tree = grow(x[:, np.newaxis], np.ldexp(y, power), **VARIANCE)
            plain = grow(x[:, np.newaxis], y, **VARIANCE)
            assert np.array_equal(tree.counts, np.ldexp(plain.counts, power))
            assert_same_structure(tree, plain)
        for weight in (1e-100, 1e120):
            gain_of_weights, same, _ = _core.best_value_split(x, y, np.full(n, weight), "learn")
            assert same == threshold
            assert gain_of_weights == pytest.approx(gain)
            assert_same_structure(
                grow(x[:, np.newaxis], y, np.full(n, weight), min_split=0, min_leaf=0, **VARIANCE), plain
            )


# --- one nominal column ---


@some(max_examples=80)
@given(seeds, kinds, st.booleans())
def test_best_division_of_categories_is_the_best_of_all(seed, kind, whole):
    X, y, weights = make_quantity_problem(seed, kind, missing=0.1, nominal=[0], whole=whole)
    codes = np.where(np.isnan(X[:, 0]), -1, X[:, 0]).astype(np.int32)
    weights = np.ones(len(y)) if weights is None else weights
    for missing in ("learn", "known"):
        gain, branches = _core.nominal_value_split(codes, 9, y, weights, False, missing)
        used = codes >= (-1 if missing == "learn" else 0)
        divisions = reference.subsets(codes[used], y[used], "variance", weights[used])
        if not divisions:
            assert gain == -math.inf
            continue
        scale = weights[used].sum() / weights.sum()
        assert gain == near(scale * max(divisions.values()), y, weights)
        in_order = reference_quantity.prefixes_by_mean(codes[used], y[used], weights[used])
        assert gain == near(scale * max(divisions[left] for left in in_order), y, weights)
        present = set(codes[codes >= 0].tolist())
        left = frozenset(code for code in present if branches[code] == 0)
        either = [left, left | {-1}] if missing == "learn" and -1 in codes else [left]
        assert gain == near(scale * max(divisions.get(side, -math.inf) for side in either), y, weights)
        gain, _ = _core.nominal_value_split(codes, 9, y, weights, True, missing)
        rule = "category" if missing == "learn" else "known"
        assert gain == near(reference.multiway(codes, y, "variance", weights, rule), y, weights)


@pytest.mark.parametrize("n_categories", [11, 300, 5000])
@pytest.mark.parametrize("kind", QUANTITIES)
def test_many_categories_are_divided_by_their_means(kind, n_categories):
    rng = np.random.default_rng(n_categories)
    codes = rng.permutation(np.arange(2 * n_categories) % n_categories).astype(np.int32)
    y, weights = QUANTITIES[kind](rng, len(codes)), rng.random(len(codes)) + 0.1
    gain, branches = _core.nominal_value_split(codes, n_categories, y, weights, False, "learn")
    means = np.array([np.average(y[codes == c], weights=weights[codes == c]) for c in range(n_categories)])
    _, gains, _ = reference_quantity.cut_gains(means[codes], y, weights, "none")  # Fisher 1958
    assert gain == near(gains.max(), y, weights)
    left = np.array(branches)[codes] == 0
    rows = np.column_stack([y, weights])
    assert gain == near(reference_quantity.variance_reduction([rows[left], rows[~left]]), y, weights)
