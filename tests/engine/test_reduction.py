"""Variance reduction and its distribution by chance, against the literal reference and every permutation."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference_reduction as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom
from sklearn.tree import DecisionTreeRegressor

from foresift import _core
from foresift.criteria import expected_reduction, reduction_pvalue, reduction_variance, variance_reduction
from foresift.engine.reduction_tail import reduction_tail

CLOSE = {"abs": 1e-12, "rel": 1e-11}
PERMUTATIONS = 4000
COLUMNS = {
    "distinct": [0.1, 2, 3.5, -4, 5, 6],
    "ties": [1, 1, 2, 2, 3, 9],
    "two values": [0, 0, 0, 0, 1, 1],
    "missing": [math.nan, 1, 2, 2, 3, 4],
    "mostly missing": [math.nan] * 4 + [1, 2],
    "one value and missing": [math.nan] * 3 + [4] * 3,
    "constant": [1] * 6,
}
QUANTITIES = {
    "distinct": [1, 2, 4, 8, 16, 32],
    "ties": [0, 0, 0, 1, 1, 5],
    "two values": [0, 0, 0, 0, 1, 1],
    "constant": [3, 3, 3, 3, 3, 3],
    "small around a billion": [1e9 + k / 16 for k in (0, 3, 1, 9, 7, 7)],
}


def ones(n):
    return np.ones(n, dtype=np.uint32)


def standardised(y):
    y = np.asarray(y, dtype=float) - np.mean(y)
    return y / math.sqrt(y @ y)


# --- the reduction ---


@pytest.mark.parametrize("seed", range(100))
def test_the_best_cut_is_that_of_the_reference(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 40)
    x = rng.integers(0, rng.integers(1, 12), n).astype(float)
    x[rng.random(n) < rng.choice([0, 0.3])] = np.nan
    y = rng.choice([0, 1e9]) + rng.normal(size=n).round(rng.integers(0, 8))
    weights = [None, rng.integers(0, 3, n) + (np.arange(n) == 0), rng.random(n)][seed % 3]
    for nominal in (False, True):
        expected = reference.best_reduction(x, y, nominal, weights)
        found = variance_reduction(x, y, nominal=nominal, sample_weight=weights)
        assert found == pytest.approx(expected, abs=1e-12, rel=1e-9)


def test_the_best_cut_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.integers(0, 30, 100).astype(float), rng.normal(size=100)
        tree = DecisionTreeRegressor(max_depth=1).fit(x[:, None], y).tree_
        share = tree.n_node_samples[1:] / 100
        expected = tree.impurity[0] - share @ tree.impurity[1:]
        assert variance_reduction(x, y) == pytest.approx(expected, rel=1e-12)


def test_nothing_is_lost_far_from_zero():
    rng = np.random.default_rng(1)
    x, noise = rng.normal(size=1000), np.round(rng.normal(size=1000) * 1024) / 1024
    for y in (noise + 2.0**30, noise - 2.0**40):  # sums without rounding
        assert variance_reduction(x, y) == pytest.approx(variance_reduction(x, noise), rel=1e-13)
        assert expected_reduction(x, y) == pytest.approx(expected_reduction(x, noise), rel=1e-12)
    assert variance_reduction(x, noise * 1e60) == pytest.approx(1e120 * variance_reduction(x, noise))
    assert reduction_pvalue(1e-100, x, noise * 1e-50) == reduction_pvalue(1.0, x, noise)


def test_containers_and_kinds():
    y = [1.0, 2.0, 3.0, 5.0]
    text = ["a", "b", "a", "c"]
    for x in (text, np.array(text), pd.Series(text, dtype="category"), pl.Series(text), pa.array(text)):
        assert variance_reduction(x, y) == variance_reduction([0, 1, 0, 2], y, nominal=True)
    for quantity in (pd.Series(y), pl.Series(y), pa.array(y), pd.Series([1, 2, 3, 5], dtype="Int64")):
        assert variance_reduction(text, quantity) == variance_reduction(text, y)
    assert variance_reduction([True, False, True, True], y) > 0


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ([], [], ValueError, "x is empty"),
        ([1, 2], [1.0], ValueError, r"inconsistent numbers of samples: \[2, 1\]"),
        ([1, 2], [1.0, math.nan], ValueError, "y contains NaN"),
        ([1, 2], np.ma.array([1.0, 2.0], mask=[0, 1]), ValueError, "y contains NaN"),
        ([1, 2], [1.0, math.inf], ValueError, "y contains infinity"),
        ([1, 2], [1.0, 1e200], ValueError, r"divide y by 1e\+200"),
        ([1, 2], [0.0, 1e-200], ValueError, "divide y by 1e-200"),
        ([1, 2], ["a", "b"], ValueError, "y holds text, but numbers are needed"),
        ([1, math.inf], [1.0, 2.0], ValueError, "x has infinite"),
        ([[1], [2]], [1.0, 2.0], ValueError, "one-dimensional"),
    ],
)
def test_bad_input(x, y, error, message):
    for ask in (
        variance_reduction,
        expected_reduction,
        reduction_variance,
        lambda x, y: reduction_pvalue(1, x, y),
    ):
        with pytest.raises(error, match=message):
            ask(x, y)


def test_booleans_are_0_and_1():
    x, y = [1, 2, 3, 4], [False, True, True, True]
    assert variance_reduction(x, y) == variance_reduction(x, [0, 1, 1, 1]) == 0.1875


@pytest.mark.parametrize("scale", [1e-130, 1e130])
def test_small_and_large_quantities(scale):
    x, y = np.arange(40), np.random.default_rng(0).normal(size=40)
    reduction = variance_reduction(x, y * scale)
    assert reduction == pytest.approx(variance_reduction(x, y) * scale**2, rel=1e-12, abs=0)
    assert reduction_pvalue(reduction, x, y * scale) == reduction_pvalue(variance_reduction(x, y), x, y)
    assert expected_reduction(x, y * scale) == pytest.approx(
        expected_reduction(x, y) * scale**2, rel=1e-12, abs=0
    )
    with pytest.raises(ValueError, match=r"fourth power of the scale of y, .* divide y by"):
        reduction_variance(x, y * scale)


def test_masked_values_of_the_column_are_missing():
    y = [1.0, 2.0, 4.0, 8.0]
    x = np.ma.array([1.0, 2.0, 3.0, 0.0], mask=[0, 0, 0, 1])
    assert variance_reduction(x, y) == variance_reduction([1.0, 2.0, 3.0, math.nan], y)


def test_bad_options():
    for n_permutations in (1, 10**8, 5.0, None):
        with pytest.raises(ValueError, match="n_permutations must be a whole number from 2"):
            expected_reduction([1, 2], [1.0, 2.0], n_permutations=n_permutations)
    with pytest.raises(ValueError, match="reduction contains NaN"):
        reduction_pvalue([0.1, math.nan], [1, 2], [1.0, 2.0])


# --- by chance ---


@pytest.mark.parametrize("nominal", [False, True])
@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("column", COLUMNS)
def test_every_permutation(column, quantity, nominal):
    x, y = COLUMNS[column], QUANTITIES[quantity]
    found = reference.null_reductions(x, y, nominal)
    options = {"nominal": nominal, "n_permutations": PERMUTATIONS}
    mean, variance = found.mean(), found.var()
    is_exact = nominal or column == "two values"
    error = 1e-9 * mean if is_exact else 5 * math.sqrt(variance / PERMUTATIONS) + 1e-9 * mean
    assert expected_reduction(x, y, **options) == pytest.approx(mean, abs=error + 1e-15)
    error = math.sqrt(((found - mean) ** 2).var() / PERMUTATIONS) + variance / PERMUTATIONS
    error = 1e-9 * mean**2 if is_exact else 5 * error
    assert reduction_variance(x, y, **options) == pytest.approx(variance, abs=error + 1e-12 * mean**2 + 1e-20)
    for asked in np.unique(found)[::50]:
        asked *= 1 - 1e-7
        share = (found >= asked).mean()
        error = 5 * math.sqrt(share * (1 - share) / PERMUTATIONS) + 2 / PERMUTATIONS
        expected = 1 if asked <= 1e-12 else pytest.approx(share, abs=error)
        assert reduction_pvalue(asked, x, y, **options) == expected


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_moments_of_few_rows_are_exact(n):
    y = np.array([1.0, 5.0, 2.0, 2.0, 7.0])[:n]
    for k in range(2, n + 1):
        codes = np.arange(n) % k
        found = reference.null_reductions(codes, y, nominal=True)
        assert expected_reduction(codes, y, nominal=True) == pytest.approx(found.mean(), **CLOSE)
        assert reduction_variance(codes, y, nominal=True) == pytest.approx(found.var(), **CLOSE)


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=6), st.lists(st.integers(-2, 9), min_size=6, max_size=6)
)
@settings(deadline=None, max_examples=25)
def test_moments_of_any_categories_are_exact(x, y):
    y = y[: len(x)]
    found = reference.null_reductions(x, y, nominal=True)
    assert expected_reduction(x, y, nominal=True) == pytest.approx(found.mean(), abs=1e-10)
    assert reduction_variance(x, y, nominal=True) == pytest.approx(found.var(), abs=1e-9)


def test_the_kernel_is_the_reference_on_its_own_permutations():
    """All permutations of few rows occur, each with its own share."""
    y = np.array([0.0, 1.0, 3.0, 7.0, 8.0])
    for sizes, multiway in (([1] * 5, False), ([2, 2, 1], False), ([1, 3, 1], True), ([5], False)):
        x = np.repeat(np.arange(len(sizes)), sizes)
        expected = reference.null_reductions(x, y, multiway) / y.var()
        shares = _core.permuted_reductions(y, np.array(sizes, dtype=np.uint32), multiway, 5000, 3)
        np.testing.assert_allclose(np.unique(shares.round(10)), np.unique(expected.round(10)), atol=1e-9)


def test_seeds():
    x, y = np.arange(30), np.random.default_rng(0).normal(size=30)
    shares = _core.permuted_reductions(y, ones(30), False, 100, 5)
    assert shares[:40].tolist() == _core.permuted_reductions(y, ones(30), False, 40, 5).tolist()
    assert shares.tolist() != _core.permuted_reductions(y, ones(30), False, 100, 6).tolist()
    assert expected_reduction(x, y) == expected_reduction(x, y, random_state=0)
    assert expected_reduction(x, y) != expected_reduction(x, y, random_state=1)


def test_fewer_cuts_reduce_less():
    y = np.random.default_rng(0).normal(size=60)
    found = [expected_reduction(np.arange(60) // size, y) for size in (1, 2, 6, 30, 60)]
    assert (np.diff(found) < 0).all()
    assert found[-1] == 0
    assert found[-2] == pytest.approx(y.var() / 59)


# --- small p-values ---


def quantity(name, n, rng):
    return {
        "gaussian": lambda: rng.normal(size=n),
        "exponential": lambda: rng.exponential(size=n),
        "heavy-tailed": lambda: rng.standard_t(3, size=n),
        "outlier": lambda: np.append(rng.normal(size=n - 1), 50.0),
        "whole": lambda: rng.poisson(2.0, size=n).astype(float),
        "two values": lambda: (rng.random(n) < 0.3).astype(float),
        "zeros": lambda: np.where(rng.random(n) < 0.9, 0.0, np.exp(1.5 * rng.normal(size=n))),
        "half zeros": lambda: np.where(rng.random(n) < 0.5, 0.0, np.exp(1.5 * rng.normal(size=n))),
    }[name]()


@pytest.mark.parametrize(
    "name", ["gaussian", "exponential", "heavy-tailed", "outlier", "whole", "two values"]
)
@pytest.mark.parametrize(("n", "ties"), [(20, 1), (60, 1), (60, 5), (60, 30), (300, 1)])
def test_the_tail_is_that_of_many_permutations(name, n, ties):
    y = quantity(name, n, np.random.default_rng(n))
    sizes = np.full(n // ties, ties, dtype=np.uint32)
    shares = np.sort(_core.permuted_reductions(y, sizes, False, 50_000, 1))
    for p in (0.01, 0.002):
        share = shares[int(len(shares) * (1 - p))] - 1e-10
        permuted = (shares >= share).mean()
        assert 0.5 < reduction_tail(standardised(y), sizes, share) / permuted < 2


@pytest.mark.parametrize("name", ["heavy-tailed", "zeros", "half zeros"])
@pytest.mark.parametrize("sizes", [[3, 97], [6, 54], [4, 196], [3, 94, 3], [40, 160], [20] * 10])
def test_the_tail_of_unbalanced_columns(name, sizes):
    sizes = np.array(sizes, dtype=np.uint32)
    y = quantity(name, int(sizes.sum()), np.random.default_rng(3))
    shares = np.sort(_core.permuted_reductions(y, sizes, False, 50_000, 1))
    for p in (0.01, 0.001):
        share = shares[int(len(shares) * (1 - p))] - 1e-10
        permuted = (shares >= share).mean()
        assert 0.6 < reduction_tail(standardised(y), sizes, share) / permuted < 1.6


@pytest.mark.parametrize("name", ["gaussian", "zeros", "four values"])
@pytest.mark.parametrize(("n", "m"), [(100, 3), (30, 4), (400, 2)])
def test_a_small_side_is_counted(name, n, m):
    rng = np.random.default_rng(7)
    y = np.append([50.0, 60, 70, 80], np.zeros(n - 4)) if name == "four values" else quantity(name, n, rng)
    y = standardised(y)
    places = np.array([*itertools.combinations(range(n), m)])
    sums = y[places].sum(axis=1)
    shares = sums**2 * n / (m * (n - m))
    for share in np.quantile(shares, [0.9, 0.99, 0.999, 1]) - 1e-9:
        expected = (shares >= share).mean()
        for sizes in ([m, n - m], [n - m, m]):
            found = reduction_tail(y, np.array(sizes, dtype=np.uint32), share)
            assert found == pytest.approx(expected, rel=1e-6)


def test_pvalues_of_flagged_rows_are_exact():
    """Three flagged rows of 100, y mostly 0: the p-value was a quarter of this."""
    rng = np.random.default_rng(0)
    y = quantity("zeros", 100, rng)
    x = np.zeros(100)
    x[np.argsort(y)[[-1, -2, 0]]] = 1
    sums = standardised(y)[np.array([*itertools.combinations(range(100), 3)])].sum(axis=1)
    exact = np.mean(np.abs(sums) >= abs(standardised(y)[x == 1].sum()) - 1e-10)
    assert exact < 0.002
    assert reduction_pvalue(variance_reduction(x, y), x, y) == pytest.approx(exact, rel=0.3)


def test_the_smallest_pvalue_is_a_normal_number():
    y = np.repeat([0.0, 1.0], 2000)
    assert reduction_pvalue(0.25, np.arange(4000), y) == np.finfo(float).tiny
    assert reduction_pvalue(0.26, np.arange(4000), y) == 0.0  # no permutation reaches it


@pytest.mark.parametrize(("i", "j"), [(1, 50), (3, 200), (20, 20), (10, 30), (100, 100)])
def test_the_smallest_possible_pvalue(i, j):
    """All rows of one value on one side: two of all arrangements."""
    y = standardised([0.0] * i + [1.0] * j)
    expected = 2 / math.comb(i + j, i)
    assert reduction_tail(y, ones(i + j), 1.0) == pytest.approx(expected, rel=1e-9)
    assert reduction_tail(y, ones(i + j), 1.001) == 0
    if expected < 1e-3:
        assert reduction_pvalue(y.var(), range(i + j), y) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("n", "m"), [(30, 15), (40, 8), (50, 25)])
def test_the_tail_of_one_cut_is_accurate_far_out(n, m):
    values = np.random.default_rng(n).poisson(3.0, size=n)
    deviation = math.sqrt(((values - values.mean()) ** 2).sum())
    for excess in (0.3, 0.45, 0.6):
        s = round(m * values.mean() * (1 + excess))
        tail = reference.sum_tail(values.tolist(), m, s)
        mirrored = values.max() - values
        tail += reference.sum_tail(
            mirrored.tolist(), m, int(m * values.max() - math.floor(2 * m * values.mean() - s))
        )
        share = ((s - m * values.mean()) / deviation) ** 2 * n / (m * (n - m))
        found = reduction_tail(standardised(values), np.array([m, n - m], dtype=np.uint32), share)
        assert found == pytest.approx(tail, rel=0.1)


def test_two_values_and_one_cut_are_a_hypergeometric_test():
    n, ones_, m = 200, 60, 80
    y = standardised([1.0] * ones_ + [0.0] * (n - ones_))
    law = hypergeom(n, ones_, m)
    for k in (34, 38, 42):
        share = (k - m * ones_ / n) ** 2 / (ones_ * (1 - ones_ / n)) * n / (m * (n - m))
        tail = law.sf(k - 1) + law.cdf(2 * m * ones_ / n - k)
        found = reduction_tail(y, np.array([m, n - m], dtype=np.uint32), share - 1e-12)
        assert found == pytest.approx(tail, rel=0.05)


def test_an_outlier_is_no_evidence():
    """A single huge value lies at an end in 2 of n permutations: a Gaussian tail would say never."""
    y = np.append(np.random.default_rng(0).normal(size=199), 1e4)
    x = np.arange(200)  # the outlier is last
    assert reduction_pvalue(variance_reduction(x, y), x, y) == pytest.approx(0.01, rel=0.2)


def test_pvalues_fall_with_the_reduction():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=150), rng.normal(size=150)
    for nominal, column in ((False, x), (True, x.round()), (False, x > 0)):
        p = reduction_pvalue(np.linspace(0, 1, 60), column, y, nominal=nominal)
        assert (np.diff(p) <= 0).all()
        assert p[0] == 1
    assert p[-1] < 1e-30
    assert reduction_pvalue([[0.1, 0.2]], x, y).shape == (1, 2)
    assert reduction_pvalue(0.5, x.round(), y, nominal=True) == 1 / 1001
    assert reduction_pvalue(0.5, np.zeros(150), y) == 1


def test_many_rows_are_grouped():
    rng = np.random.default_rng(0)
    y = standardised(rng.exponential(size=3000))
    sizes = np.array([1000, 2000], dtype=np.uint32)
    shares = np.sort(_core.permuted_reductions(y, sizes, False, 20_000, 0))
    assert reduction_tail(y, sizes, shares[-200]) == pytest.approx(0.01, rel=0.2)
    assert 0 < reduction_tail(y, ones(3000), 0.1) < 1e-20


@pytest.mark.parametrize(
    "y",
    [
        [1.0, 2.0],
        [0.0, 0.0, 1e-60],
        [1e70, -1e70, 0.0],
        [0.0] * 500 + [1.0],
        np.exp(20 * np.random.default_rng(0).normal(size=300)),
        np.random.default_rng(0).poisson(50, 2000).astype(float),
    ],
    ids=["two rows", "tiny", "huge", "one row differs", "very skewed", "many whole numbers"],
)
def test_odd_quantities(y):
    n = len(y)
    for x in (np.arange(n), np.arange(n) // 2, np.arange(n) % 2, np.append(np.nan, np.arange(n - 1.0))):
        p = reduction_pvalue(np.array([0, 1e-9, 0.1, 0.5, 0.9, 1, 1.5]) * np.var(y), x, y)
        assert np.isfinite(p).all()
        assert (np.diff(p) <= 0).all()
        assert np.isfinite([expected_reduction(x, y), reduction_variance(x, y)]).all()
