"""Sending rows down a tree: the native walk against the walk of reference.py."""

import math
from functools import partial

import numpy as np
import pytest
import reference
from growing import grow, make_problem
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift import _core

same = partial(pytest.approx, rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["learn", "fractional"]),
    st.booleans(),
    st.sampled_from([10, 200]),
)
def test_predictions_are_those_of_the_reference(seed, missing, multiway, n_new):
    X, y, weights = make_problem(seed, missing=0.2, nominal=[1])
    table = grow(X, y, weights, [1], missing=missing, multiway=multiway)
    rng = np.random.default_rng(seed)
    new = rng.integers(-1, 12, (n_new, X.shape[1])) + 0.0  # -1 and 9 to 11: unseen categories
    new[rng.random(new.shape) < 0.2] = math.nan
    expected = reference.predict_rows(table, new)
    rows = rng.permutation(n_new)[: n_new // 2].astype(np.uint32)
    for x in (new, new.astype(np.float32)):
        shares = np.zeros_like(expected)
        _core.add_proba([table.arrays, table.arrays], x, None, shares)
        assert shares == same(2 * expected)
        partly = np.zeros_like(expected)
        _core.add_proba([table.arrays], x, rows, partly)
        assert partly[rows] == same(expected[rows])
        assert np.delete(partly, rows, axis=0).sum() == 0
        assert _core.leaves(table.arrays, x).tolist() == [reference.leaf_of(table, row) for row in new]


def test_numeric_tree_predicts_alike_for_any_number_of_rows():
    # Few rows walk the table itself, many a compact copy of it, side by side.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    X[rng.random(X.shape) < 0.1] = math.nan
    table = grow(X, rng.integers(0, 3, 500))
    expected = [reference.leaf_of(table, row) for row in X]
    for x in (X, X.astype(np.float32).astype(np.float64)):
        expected = [reference.leaf_of(table, row) for row in x]
        for n in (1, 15, 16, 17, 63, 64, 65, 500):
            assert _core.leaves(table.arrays, np.ascontiguousarray(x[:n])).tolist() == expected[:n]


def test_an_unseen_category_takes_the_majority_branch():
    X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [2.0]])
    y = np.array([0, 0, 1, 1, 1, 0])
    for multiway in (False, True):
        table = grow(X, y, nominal=[0], multiway=multiway)
        majority = 1 + table.nodes[0]["majority_branch"]
        assert table.nodes[majority]["size"] == 3
        unseen = np.array([[-1.0], [3.0], [70_000.0]])
        assert _core.leaves(table.arrays, unseen).tolist() == [majority] * 3
