"""Cumulative information gain: against the literal recursion, the lenses of the thesis, special tables."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import reference_thesis
from growing import make_problem
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_c45_examples import COLUMNS, LENSES_X, LENSES_Y

from foresift import CumulativeGainSelector, InfoGainSelector
from foresift.criteria import information_gain

seeds = st.integers(0, 2**32 - 1)
some = partial(settings, deadline=None)
EITHER_TREE = pytest.mark.parametrize("oblivious", [False, True])


def fitted(X, y, weights=None, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No feature passed the rule")
        return CumulativeGainSelector(**options).fit(X, y, sample_weight=weights)


def assert_literal(X, y, weights, nominal, oblivious):
    model = fitted(X, y, weights, oblivious=oblivious, categorical_features=list(nominal) or None)
    taken, whole = reference_thesis.cumulative_order(X, y, weights, nominal, oblivious)
    levels, gains = np.full(X.shape[1], -1), np.array(whole)
    for j, (level, gain) in taken.items():
        levels[j], gains[j] = level, gain
    assert model.levels_.tolist() == levels.tolist()
    assert model.gains_ == pytest.approx(gains, abs=1e-9)
    others = [j for j in range(X.shape[1]) if j not in taken]
    others.sort(key=lambda j: -round(whole[j], 9))  # stable: equal ones in the order of the columns
    assert np.argsort(model.ranking_).tolist() == [*taken, *others]
    assert model.scores_.tolist() == (X.shape[1] + 1 - model.ranking_).tolist()
    if taken:
        assert np.flatnonzero(model.support_).tolist() == sorted(taken)


@EITHER_TREE
@some(max_examples=40)
@given(seed=seeds, missing=st.sampled_from([0.0, 0.2]), nominal=st.sampled_from([(), (0,), (0, 1)]))
@example(seed=5797, missing=0.2, nominal=(0, 1))  # two columns gain 0, one of them but for rounding
def test_gains_are_the_literal_ones(oblivious, seed, missing, nominal):
    X, y, weights = make_problem(seed, missing=missing, nominal=nominal, max_rows=30, whole=seed % 2 == 0)
    assert_literal(X, y, weights, nominal, oblivious)


@EITHER_TREE
def test_a_larger_table_of_many_levels(oblivious):
    rng = np.random.default_rng(3)
    X = np.column_stack(
        [rng.integers(0, 4, 150), rng.integers(0, 3, 150), rng.normal(size=(150, 4)).round(1)]
    )
    y = (X[:, 0] > 1).astype(int) + (X[:, 2] * X[:, 3] > 0.2)
    X[rng.random(X.shape) < 0.05] = np.nan
    X = np.column_stack([X, np.full(150, 7.0), np.full(150, np.nan)])
    assert_literal(X, y, None, (0, 1), oblivious)


# --- the lenses: levels of Table 1, which Figure 8 has made-up numbers for ---


def test_the_arithmetic_of_figure_8():
    sizes = np.array([8, 9])
    assert sizes @ [0.24, 0.46] / sizes.sum() == pytest.approx(0.3565, abs=1e-4)  # tears
    assert sizes @ [0.76, 0.14] / sizes.sum() == pytest.approx(0.4318, abs=1e-4)  # prescription


@EITHER_TREE
def test_lenses(oblivious):
    model = fitted(LENSES_X, LENSES_Y, oblivious=oblivious)
    level, gain = (dict(zip(COLUMNS, values, strict=True)) for values in (model.levels_, model.gains_))
    assert (level["astigmatic"], level["age"]) == (0, 1)
    assert gain["astigmatic"] == pytest.approx(0.426355, abs=1e-6)
    # Level 1 has the 8 rows that are not astigmatic, where age gains 0.75, and the 9 others.
    assert gain["age"] == pytest.approx((8 * 0.75 + 9 * 0.029407) / 17, abs=1e-6)
    assert gain["age"] == pytest.approx(0.368510, abs=1e-6)
    codes = LENSES_X.apply(lambda column: pd.factorize(column)[0]).to_numpy(dtype=float)
    target = np.unique(LENSES_Y, return_inverse=True)[1]
    assert_literal(codes, target, None, range(4), oblivious)


def test_lenses_level_two_by_hand():
    """Below astigmatic the tree has age on one side and tears on the other, the oblivious one age on both."""
    gains = {}
    for oblivious in (False, True):
        for name in ("prescription", "tears"):
            inside = 0.0
            for side in ("no", "yes"):
                rows = LENSES_X[(LENSES_X["astigmatic"] == side).to_numpy()]
                by = "age" if oblivious or side == "no" else "tears"
                for value in rows[by].unique():
                    at = rows.index[rows[by] == value]
                    inside += len(at) * information_gain(LENSES_X[name][at], LENSES_Y[at])
            gains[oblivious, name] = inside / 17
    tree, even = fitted(LENSES_X, LENSES_Y), fitted(LENSES_X, LENSES_Y, oblivious=True)
    assert tree.levels_.tolist() == [1, 2, 0, -1]  # tears splits a node, but is best at no level
    assert tree.gains_[1] == pytest.approx(gains[False, "prescription"])
    assert gains[False, "prescription"] > gains[False, "tears"]
    assert even.levels_.tolist() == [1, 3, 0, 2]
    assert even.gains_[3] == pytest.approx(gains[True, "tears"])
    assert gains[True, "tears"] > gains[True, "prescription"]


# --- what it is for, and tables with nothing in them ---


@EITHER_TREE
def test_a_feature_that_matters_below_another(oblivious):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(600, 6)).astype(float)
    y = np.where(X[:, 2] == 1, X[:, 4], rng.random(600) < 0.1)
    y[X[:, 2] == 0] = (rng.random((X[:, 2] == 0).sum()) < 0.1).astype(float)
    model = fitted(X, y, oblivious=oblivious)
    assert set(np.flatnonzero(model.ranking_ <= 2)) == {2, 4}


def test_level_zero_is_the_information_gain():
    X, y, weights = make_problem(5, missing=0.2, max_rows=200)
    weights = np.ones(len(y)) if weights is None else weights
    model = fitted(X, y, weights)
    gains = InfoGainSelector().fit(X, y, sample_weight=weights).scores_
    at_root = model.levels_ <= 0
    assert model.gains_[at_root] == pytest.approx(gains[at_root])
    assert model.levels_[gains.argmax()] == 0


@EITHER_TREE
@pytest.mark.parametrize("value", [1.0, np.nan])
def test_columns_that_say_nothing_come_last(oblivious, value):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(50, value), rng.normal(size=50), np.full(50, value)])
    model = fitted(X, rng.integers(0, 2, 50), oblivious=oblivious)
    assert model.ranking_.tolist() == [2, 1, 3]
    assert model.gains_[[0, 2]].tolist() == [0, 0]
    assert model.support_.tolist() == [False, True, False]
    with pytest.warns(UserWarning, match="No feature passed"):
        nothing = CumulativeGainSelector(oblivious=oblivious).fit(X[:, [0, 2]], rng.integers(0, 2, 50))
    assert nothing.ranking_.tolist() == [1, 2]
    assert nothing.levels_.tolist() == [-1, -1]


@EITHER_TREE
def test_columns_that_gain_nothing_rank_in_their_order(oblivious):
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 3, dtype=float)
    y = np.arange(24) // 8  # every column is independent of the class
    model = fitted(X, y, oblivious=oblivious)
    assert model.ranking_.tolist() == [1, 2, 3]
    assert model.support_.tolist() == [True, False, False]  # the best is kept, with a warning


def test_rows_without_weight_are_not_there():
    X, y, _ = make_problem(11, missing=0.1, max_rows=60)
    keep = np.arange(len(y)) % 3 > 0
    for oblivious in (False, True):
        part, whole = (
            fitted(X[keep], y[keep], oblivious=oblivious),
            fitted(X, y, keep * 2.0, oblivious=oblivious),
        )
        assert part.levels_.tolist() == whole.levels_.tolist()
        assert part.gains_ == pytest.approx(whole.gains_, abs=1e-12)


@pytest.mark.parametrize("n_wanted", [1, 2, 3, 4])
def test_so_many_features(n_wanted):
    model = fitted(LENSES_X, LENSES_Y, n_features_to_select=n_wanted)
    assert model.support_.sum() == n_wanted
    assert model.support_.tolist() == (model.ranking_ <= n_wanted).tolist()


def test_bad_parameters():
    with pytest.raises(ValueError, match="oblivious"):
        CumulativeGainSelector(oblivious="yes").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="one class"):
        CumulativeGainSelector().fit([[1.0], [2.0]], [1, 1])
