"""Trials repeated with the classes of a node's rows shuffled: distribution, streams, which columns."""

import math

import numpy as np
import pytest
import reference
import reference_forest_gain as shadow
from growing import grow, grow_one, make_grower, make_problem
from hypothesis import given, settings
from hypothesis import strategies as st

ALL = {"record_tried": True, "draw": "all"}


@given(st.integers(0, 2**32 - 1), st.sampled_from(["entropy", "gini", "gain_ratio"]), st.booleans())
@settings(deadline=None, max_examples=40)
def test_trees_grow_alike_with_and_without(seed, criterion, drawn):
    X, y, weights = make_problem(seed, missing=0.1, nominal=[1])
    options = {"criterion": criterion, "seed": seed, "record_tried": True, "nominal": [1], "max_features": 1}
    options |= {"draw": "bootstrap", "n_draw": len(y)} if drawn else {"draw": "all"}
    plain = grow(X, y, weights, **options)
    wanted = np.arange(X.shape[1]) % 2
    for more in ({"n_permutations": 3}, {"n_permutations": 3, "permute_column": wanted.tolist()}):
        table = grow(X, y, weights, **options, **more)
        for name in ("nodes", "counts", "tried", "set_offsets", "set_codes", "set_branches"):
            assert np.array_equal(getattr(table, name), getattr(plain, name)), name
        assert table.permuted.shape == (len(table.tried), 3)
        if "permute_column" in more:
            unwanted = wanted[table.tried["feature"]] == 0
            assert np.isnan(table.permuted[unwanted]).all()
            assert np.isfinite(table.permuted[~unwanted]).all()
        else:
            every = table.permuted
            assert (every >= 0).all()
    # What is shuffled for one column does not depend on the others.
    assert np.array_equal(table.permuted[~unwanted], every[~unwanted])
    assert plain.permuted is None


COLUMNS = {
    "distinct": ([3.0, 1, 4, 1.5, 9, 2.6, 5, 3.5], False),
    "ties": ([1.0, 1, 2, 2, 2, 3, 3, 9], False),
    "missing": ([1.0, math.nan, 2, 2, math.nan, 3, 4, 4], False),
    "constant": ([1.0] * 8, False),
    "nominal": ([0.0, 0, 1, 1, 1, 2, 2, 3], True),
    "nominal with missing": ([0.0, 0, 1, 1, math.nan, 2, 2, 2], True),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("counts", [[4, 4], [2, 6], [3, 3, 2]])
def test_gains_are_those_of_shuffled_classes(name, counts):
    x, nominal = COLUMNS[name]
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    table = grow(
        np.array(x)[:, np.newaxis],
        y,
        nominal=[0] if nominal else [],
        max_depth=1,
        n_permutations=4000,
        **ALL,
    )
    codes = np.where(np.isnan(x), -1, x).astype(int) if nominal else x
    literal = np.array(shadow.null_gains_of_column(codes, counts, nominal)[0])
    found = table.permuted[0]
    assert found.mean() == pytest.approx(literal.mean(), abs=5 * literal.std() / math.sqrt(4000) + 1e-9)
    for gain in np.unique(literal.round(9)):
        share = (literal >= gain - 1e-7).mean()
        error = 5 * math.sqrt(share * (1 - share) / 4000)
        assert (found >= gain - 1e-7).mean() == pytest.approx(share, abs=error + 1e-9)


def test_every_shuffle_is_a_gain_of_that_node():
    X, y, _ = make_problem(5, max_rows=40)
    table = grow(X, y, n_permutations=5, **ALL)
    at_node = reference.weights_at_nodes(table, X, np.ones(len(y))) > 0
    for (node, feature, _), gains in zip(table.tried.tolist(), table.permuted, strict=True):
        most = reference.entropy(table.counts[node])
        assert (gains <= most + 1e-9).all()
        values = X[at_node[node], feature]
        assert (len(np.unique(values)) == 1) == (gains == 0).all() or most == 0 or len(values) <= 4


def test_columns_of_a_node_meet_the_same_shuffles():
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    y = rng.integers(0, 2, 40)
    table = grow(np.column_stack([x, x, np.exp(x), -x]), y, n_permutations=4, **ALL)
    by_node = table.permuted.reshape(-1, 4, 4)
    assert table.tried["feature"].reshape(-1, 4).tolist() == [[0, 1, 2, 3]] * len(by_node)
    for column in (1, 2, 3):
        assert by_node[:, column] == pytest.approx(by_node[:, 0])
    assert len(np.unique(by_node[0, 0])) > 1  # four shuffles, not one


def test_streams():
    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 2
    grower = make_grower(X, y, n_permutations=2, max_features=1, seed=1, **ALL)
    one = grow_one(grower, 4, tried=True)
    together = grower.grow([3, 4])[1]
    assert np.array_equal(together[6], one.permuted)  # whatever was grown before
    other = grow(X, y, tree=4, n_permutations=2, max_features=1, seed=2, **ALL)
    assert one.permuted.shape != other.permuted.shape or not np.array_equal(one.permuted, other.permuted)
    # More shuffles begin like fewer.
    more = grow(X, y, tree=4, n_permutations=6, max_features=1, seed=1, **ALL)
    assert np.array_equal(more.permuted[:, :2], one.permuted)


def test_weights_move_with_their_rows():
    # One row holds half of the weight: shuffled, the two classes are rarely as even as they were.
    x, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    weights = np.array([3.0, 1.0, 1.0, 1.0])
    table = grow(x, y, weights, max_depth=1, n_permutations=3000, **ALL)
    gains = []
    for a, b, c, d in [(p, q, r, s) for p in range(4) for q in range(4) for r in range(4) for s in range(4)]:
        if len({a, b, c, d}) == 4:
            left = np.bincount(y[[a, b]], weights[[a, b]], minlength=2)
            right = np.bincount(y[[c, d]], weights[[c, d]], minlength=2)
            gains.append(reference.entropy_gain([left, right]))
    error = np.std(gains) / math.sqrt(3000)
    assert table.permuted[0].mean() == pytest.approx(np.mean(gains), abs=5 * error)


def test_without_trials_recorded_nothing_is_shuffled():
    X, y = np.zeros((4, 1)), np.array([0, 1, 0, 1])
    (arrays,) = make_grower(X, y, record_tried=True).grow([0])
    assert arrays[6].ndim == 1
    pure = grow(np.arange(4.0)[:, np.newaxis], np.zeros(4, dtype=int), n_permutations=2, n_classes=2, **ALL)
    assert pure.permuted.shape == (0, 2)
