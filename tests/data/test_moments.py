"""Moments of classes: exact where they must be, whatever the size of the numbers and of the tiles."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_filters import problem

from foresift.data.moments import Group, Moments, class_moments, indicator_moments
from foresift.selectors.correlation import FScoreSelector, PearsonSelector

BOTH = pytest.mark.parametrize("kind", [PearsonSelector, FScoreSelector])


@BOTH
@pytest.mark.parametrize("exponent", [-1000, -700, -300, 300, 700, 1000])
def test_the_unit_does_not_matter_even_at_the_ends_of_the_range(kind, exponent):
    X, y, weights = problem(3)
    X[:, 5] -= 1e9
    expected = kind().fit(X, y, weights).scores_
    assert np.array_equal(kind().fit(np.ldexp(X, exponent), y, weights).scores_, expected)


@BOTH
def test_columns_that_span_the_range(kind):
    X = np.array([[-1.7e308, 0.0], [-1.7e308, 0.0], [1.7e308, 5e-324], [1.7e308, 5e-324]])
    assert kind().fit(X, [0, 0, 1, 1]).scores_.tolist() == (
        [1, 1] if kind is PearsonSelector else [np.inf] * 2
    )


@BOTH
def test_tiles_make_no_difference(kind):
    """A large table is read in tiles of some rows and columns, a single column in one."""
    few, y, weights = problem(1, n=9000)
    X = np.hstack([few * (1 + k) for k in range(150 // few.shape[1])])
    X[:, 5] -= 1e9
    scores = [kind(1).fit(X[:, [j]], y, weights).scores_[0] for j in range(X.shape[1])]
    for layout in (np.ascontiguousarray, np.asfortranarray):
        np.testing.assert_allclose(kind().fit(layout(X), y, weights).scores_, scores, rtol=1e-10, atol=1e-13)


@BOTH
@pytest.mark.parametrize("shape", [(200, 20_000), (200_000, 20)])
def test_the_table_is_not_copied(kind, shape):
    X, y = np.random.default_rng(0).normal(size=shape), np.arange(shape[0]) % 2
    tracemalloc.start()
    try:
        kind().fit(X, y)
        assert tracemalloc.get_traced_memory()[1] < 0.5 * X.nbytes
    finally:
        tracemalloc.stop()


# The parts


def stacked(values, groups):
    """Moments of one column in every group, as one."""
    ((_, moments),) = class_moments(np.array(values)[:, np.newaxis], groups)
    return moments


@given(st.lists(st.integers(0, 3), min_size=6, max_size=40), st.integers(0, 10**6))
def test_together_and_others(labels, seed):
    rng = np.random.default_rng(seed)
    x, weights = rng.normal(size=len(labels)), rng.random(len(labels)) + 0.1
    rows = [np.flatnonzero(np.equal(labels, label)) for label in sorted(set(labels))]
    moments = stacked(x, [Group(r, weights[r]) for r in rows])

    def check(found, some):
        mean = np.average(x[some] - x[0], weights=weights[some]) if len(some) else 0.0
        spread = weights[some] @ (x[some] - x[0] - mean) ** 2
        assert found == pytest.approx([weights[some].sum(), mean, spread], abs=1e-12)

    check([array[0] for array in moments.together], np.arange(len(x)))
    for k, group in enumerate(rows):
        check([array[k, 0] for array in moments], group)
        check([array[k, 0] for array in moments.others], np.setdiff1d(np.arange(len(x)), group))


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e9 + 0.1, -7e-12])
def test_equal_values_have_no_spread(value):
    rng = np.random.default_rng(0)
    x = np.where(np.arange(999) % 3, value, 1.1)
    groups = [
        Group(np.flatnonzero(np.arange(999) % 5 == k), rng.random(200)[: 200 - (k == 4)]) for k in range(5)
    ]
    constant = [Group(g.rows[g.rows % 3 > 0], g.weights[g.rows % 3 > 0]) for g in groups]
    moments = stacked(x, constant)
    for found in (moments, moments.together, moments.others):
        assert (found.spread == 0).all()
        assert len(set(found.mean.ravel().tolist())) == 1


def test_merging_with_nothing():
    nothing, some = Moments(*np.zeros((3, 1))), Moments(np.array([3.0]), np.array([0.1]), np.array([0.7]))
    assert nothing.merge(some) == some.merge(nothing) == some
    assert nothing.merge(nothing) == nothing


def test_indicators_are_columns_of_0_and_1():
    rng = np.random.default_rng(0)
    codes = rng.integers(-1, 4, size=60).astype(np.int32)
    groups = [Group(rows, rng.random(20)) for rows in np.split(rng.permutation(60), 3)]
    columns = np.where(codes[:, np.newaxis] < 0, np.nan, codes[:, np.newaxis] == np.arange(4))
    ((_, expected),) = class_moments(columns, groups)
    found = indicator_moments(codes, 4, groups)
    np.testing.assert_allclose(found.weight, expected.weight)
    np.testing.assert_allclose(found.spread, expected.spread, atol=1e-14)
    np.testing.assert_allclose(np.diff(found.mean, axis=0), np.diff(expected.mean, axis=0), atol=1e-14)
