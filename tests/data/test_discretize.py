"""Fayyad-Irani cuts: against the literal twin, against Weka, and what must not change them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference_cfs
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from foresift.data.discretize import cut_positions, mdl_cuts

BETTER = pytest.mark.parametrize("better_encoding", [False, True])


def random_column(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    y = rng.integers(0, rng.integers(1, 5), size=n)
    x = rng.integers(0, rng.integers(1, 40), size=n) + rng.choice([0, 3, 20]) * y
    return x.astype(float), y


@BETTER
@pytest.mark.parametrize("seed", range(60))
def test_equals_trying_every_cut(seed, better_encoding):
    x, y = random_column(seed)
    cuts = mdl_cuts(x, y, better_encoding=better_encoding)
    assert cuts.tolist() == pytest.approx(reference_cfs.mdl_cuts(x, y, better_encoding), abs=1e-12)


# weka.filters.supervised.attribute.Discretize of Weka 3.9.7 (the jar in python-weka-wrapper3 0.3.3), options
# "-R first-last" and "-R first-last -E" (better encoding), getCutPoints() of every attribute. Iris is the UCI
# copy of the table; scikit-learn's differs in two rows, but not in these cuts.
WEKA_IRIS = {
    False: [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]],
    True: [[5.55, 6.15, 7.05], [2.95, 3.35], [2.45, 4.75, 5.15], [0.8, 1.75]],
}


@BETTER
def test_cuts_of_weka(better_encoding):
    X, y = load_iris(return_X_y=True)
    for column, cuts in zip(X.T, WEKA_IRIS[better_encoding], strict=True):
        assert mdl_cuts(column, y, better_encoding=better_encoding).tolist() == pytest.approx(cuts)


@BETTER
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_real_tables_against_the_twin(load, better_encoding):
    X, y = load(return_X_y=True)
    for column in X.T[:6]:
        want = reference_cfs.mdl_cuts(column, y, better_encoding)
        assert mdl_cuts(column, y, better_encoding=better_encoding).tolist() == pytest.approx(want)


@settings(deadline=None)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_row_order_and_names_of_classes_do_not_matter(seed, random):
    x, y = random_column(seed)
    order = random.sample(range(len(x)), len(x))
    names = np.array(random.sample(["v", "w", "x", "y", "z"], 5))
    assert np.array_equal(mdl_cuts(x[order], names[y][order]), mdl_cuts(x, y))


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_increasing_transforms_move_the_cuts_along(seed):
    x, y = random_column(seed)
    intervals = np.searchsorted(mdl_cuts(x, y), x)
    for moved in (3.0 * x - 7.0, np.exp(x / 20), np.cbrt(x - 10)):
        assert np.array_equal(np.searchsorted(mdl_cuts(moved, y), moved), intervals)


@BETTER
@pytest.mark.parametrize("seed", range(20))
def test_weights_are_rows(seed, better_encoding):
    x, y = random_column(seed)
    weights = np.random.default_rng(seed).integers(0, 4, size=len(x))
    weights[0] = 1  # not all of them zero
    repeated = mdl_cuts(np.repeat(x, weights), np.repeat(y, weights), better_encoding=better_encoding)
    assert np.array_equal(mdl_cuts(x, y, weights, better_encoding=better_encoding), repeated)
    # Fractions take another way through the code than whole numbers.
    halves = mdl_cuts(
        np.repeat(x, 3), np.repeat(y, 3), np.repeat(weights, 3) * np.tile([0.5, 2.5, 3], len(x))
    )
    assert np.array_equal(halves, mdl_cuts(x, y, weights * 6))


def test_shares_that_sum_to_one_are_scaled_up():
    x, y = load_iris(return_X_y=True)[0][:, 2], load_iris().target
    assert np.array_equal(mdl_cuts(x, y, np.full(150, 1 / 150)), mdl_cuts(x, y))


def test_missing_values_are_left_out():
    x, y = load_iris(return_X_y=True)[0][:, 0], load_iris().target
    holes = np.where(np.arange(150) % 3 == 0, np.nan, x)
    known = ~np.isnan(holes)
    assert np.array_equal(mdl_cuts(holes, y), mdl_cuts(x[known], y[known]))
    assert mdl_cuts([np.nan, np.nan], [0, 1]).size == 0


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series])
def test_containers(make):
    x, y = [1.0, 2.0, 3.0, 4.0] * 5, [0, 0, 1, 1] * 5
    assert mdl_cuts(make(x), make(y)).tolist() == [2.5]


def test_what_has_no_cut():
    assert mdl_cuts([1.0], ["a"]).size == 0
    assert mdl_cuts([5.0] * 40, [0, 1] * 20).size == 0
    assert mdl_cuts(np.arange(40.0), np.zeros(40, dtype=int)).size == 0
    assert mdl_cuts(np.arange(40.0), [0, 1] * 20).size == 0
    assert cut_positions(np.zeros((2, 0))).size == 0


def test_a_cut_lies_below_the_upper_value():
    below = 1.0
    above = np.nextafter(below, 2.0)
    cuts = mdl_cuts([below] * 9 + [above] * 9, [0] * 9 + [1] * 9)
    assert cuts.tolist() == [below]
    assert mdl_cuts([-1.7e308] * 9 + [1.7e308] * 9, [0] * 9 + [1] * 9).tolist() == [0.0]
    high = mdl_cuts([1.6e308] * 9 + [1.7e308] * 9, [0] * 9 + [1] * 9)
    assert high.tolist() == pytest.approx([1.65e308])


def test_many_classes():
    y = np.repeat(np.arange(1_000), 40)
    assert mdl_cuts(y.astype(float), y).size == 999


def test_large_columns_without_a_table_of_logarithms():
    rng = np.random.default_rng(0)
    x = rng.random(2_000)
    y = (x + 0.2 * rng.normal(size=2_000) > 0.5).astype(int)
    heavy = mdl_cuts(x, y, np.full(2_000, 1_000.0))  # two million rows: beyond the table
    assert np.array_equal(heavy, mdl_cuts(np.repeat(x, 1_000), np.repeat(y, 1_000)))
    assert len(heavy) > len(mdl_cuts(x, y))


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="same length"):
        mdl_cuts([1.0, 2.0], [0])
    with pytest.raises(TypeError, match="numbers"):
        mdl_cuts(["a", "b"], [0, 1])
    with pytest.raises(ValueError, match="Negative"):
        mdl_cuts([1.0, 2.0], [0, 1], [-1.0, 1.0])
