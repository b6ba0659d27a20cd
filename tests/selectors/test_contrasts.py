"""What ranks tell alone, and what pairs of columns tell together that neither tells alone."""

import numpy as np
import pytest
import reference_contrasts
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift import _core
from foresift.data.table import make_table
from foresift.selectors.relevance import contrasts, crossed
from foresift.selectors.relevance.contrasts import best_contrasts
from foresift.selectors.relevance.crossed import pairwise_interaction_scores
from foresift.selectors.relevance.shadows import shadow_rows
from foresift.selectors.relevance.trends import trend_scores


def exclusive_or(n, p, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)


def scores_of(X, y, *, weights=None, nominal=None, n_shadows=3, seed=0):
    table = make_table(X, y, categorical_features=nominal)
    columns = np.arange(X.shape[1], dtype=np.uint32)
    return pairwise_interaction_scores(
        table, weights, columns, n_shadows, shadow_rows(table, weights, seed), seed
    )


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(deadline=None, max_examples=25)
def test_equals_every_pair_written_out(seed, weighted):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 40)), int(rng.integers(2, 6))
    X = rng.integers(0, rng.integers(1, 6, p), (n, p)).astype(float)
    X[:, 0] = rng.normal(size=n)
    X[rng.random((n, p)) < rng.choice([0, 0.1])] = np.nan  # without gaps, variances are found another way
    y = rng.integers(0, rng.integers(2, 4), n)
    y[:2] = 0, 1
    weights = None
    if weighted:
        weights = rng.integers(0, 3, n).astype(float)
        weights[:4] = 1
    rows = np.flatnonzero(np.ones(n) if weights is None else weights)
    table = make_table(X, y, categorical_features=[1])
    columns = np.arange(p, dtype=np.uint32)
    permuted = shadow_rows(table, weights, seed)
    # Rows that count are moved among themselves; where each finds its values among them.
    shadows = [np.searchsorted(rows, permuted(t)[rows]) for t in range(2)]
    expected = reference_contrasts.crossed_scores(X[rows], y[rows], [1], shadows)
    found = pairwise_interaction_scores(table, weights, columns, 2, permuted, seed)
    # A sure thing and a sheer impossibility have quantiles without end.
    assert np.clip(found, -6, 6) == pytest.approx(np.clip(expected, -6, 6), abs=1e-6, nan_ok=True)
    ranked = trend_scores(table, weights, columns, 2, permuted)
    best = best_contrasts(table, weights, columns, 2, permuted, seed, pairs=True)
    vary = weights is not None and any(len(set(weights[(y == c) & (weights > 0)])) > 1 for c in range(3))
    greater = np.fmax(ranked, found - contrasts.MARGIN)
    assert np.array_equal(best, np.full_like(greater, np.nan) if vary else greater, equal_nan=True)


def test_an_exclusive_or_shows_and_chance_is_standard_normal():
    X, y = exclusive_or(400, 60, 0)
    scores = scores_of(X, y, n_shadows=10)
    assert (scores[:2, 0] > 15).all()
    by_chance = np.append(scores[2:, 0], scores[:, 1:])
    assert abs(by_chance.mean()) < 0.15
    assert by_chance.std() == pytest.approx(1, abs=0.1)


def test_a_strong_column_makes_no_partner_look_good():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=500), rng.random((500, 30)) < 0.3])
    y = (X[:, 0] > 0).astype(int)
    scores = scores_of(X, y)
    assert scores.max() < 4.5


def test_categories_and_gaps():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (400, 12)).astype(float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    for nominal in ([0], [0, 1], list(range(12))):
        scores = scores_of(X, y, nominal=nominal)
        assert (scores[:2, 0] > 10).all()
        assert (scores[2:, 0] < 4.5).all()


def missing_together(n, p, share, gaps, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < share).astype(float)
    X[rng.random(n) < gaps] = np.nan
    return X, rng


def test_columns_missing_in_the_same_rows_score_as_their_shadows_do():
    # With the variance of independent signs the mean of the columns' scores would be above 1.
    X, rng = missing_together(600, 60, 0.5, 0.4, 5)
    scores = scores_of(X, rng.integers(0, 2, 600), n_shadows=4)
    assert abs(scores[:, 0].mean()) < 0.4
    assert abs(scores[:, 1:].mean()) < 0.4


def test_a_strong_column_lends_nothing_to_those_missing_in_the_same_rows():
    # Centred over all rows, not only those where they are known, signs would have a part of the strong one.
    X, rng = missing_together(1500, 30, 0.37, 0.25, 6)
    y = np.where(np.isnan(X[:, 0]), rng.random(1500) < 0.4, X[:, 0]).astype(int)
    scores = scores_of(X, y, n_shadows=4)[1:]
    assert abs(scores[:, 0].mean() - scores[:, 1:].mean()) < 0.5


def test_near_duplicates_score_no_higher_than_by_chance():
    # By the variance of their products, which differ in a few rows only, two of a rare class there score 3.6.
    rng = np.random.default_rng(5)
    base = rng.random((400, 1)) < 0.5
    X = np.where(rng.random((400, 60)) < 0.01, ~base, base).astype(float)
    scores = scores_of(X, (np.arange(400) < 12).astype(int))
    assert scores[:, 0].max() < 2


def test_columns_that_cannot_be_halved_have_no_score(monkeypatch):
    X, y = exclusive_or(200, 5, 3)
    X[:, 2] = X[:, 2] > 1.5
    X[:, 3] = np.where(np.arange(200) < 120, np.nan, X[:, 3])
    X[:, 4] = 1
    scores = scores_of(X, y)
    assert np.isnan(scores[2:]).all()
    assert (scores[:2, 0] > 10).all()
    assert np.isnan(scores_of(X[:, :1], y)).all()
    monkeypatch.setattr(crossed, "MAX_COLUMNS", 4)
    assert np.isnan(scores_of(X, y)).all()


def test_many_columns_are_taken_in_blocks():
    X, y = exclusive_or(300, 540, 4)
    whole = scores_of(X, y)
    assert (whole[:2, 0] > 8).all()
    order = np.r_[0, 2:257, 1, 257:540]  # the second part in another block, at the same place
    assert scores_of(X[:, order], y) == pytest.approx(whole[order], abs=1e-9)


def test_many_rows_are_drawn_from(monkeypatch):
    X, y = exclusive_or(600, 9, 4)
    whole = scores_of(X, y)
    monkeypatch.setattr(crossed, "MAX_ROWS", 300)
    some = scores_of(X, y)
    assert (some[:2, 0] > 10).all()
    assert some[0, 0] < whole[0, 0]


@pytest.mark.parametrize("gaps", [0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_rows_that_are_drawn_equal_every_pair_written_out(monkeypatch, gaps, n_classes):
    monkeypatch.setattr(crossed, "MAX_ROWS", 200)  # means may then lie half way between two steps
    rng = np.random.default_rng(n_classes)
    n = 300
    X = np.column_stack([rng.normal(size=n), rng.integers(0, [2, 3, 9], (n, 3))])
    X[rng.random(X.shape) < gaps] = np.nan
    y = rng.integers(0, n_classes, n)
    weights = np.where(np.arange(n) % 7 == 3, 0.0, 2.5)
    counted = np.flatnonzero(weights)
    table, columns = make_table(X, y, categorical_features=[2]), np.arange(4, dtype=np.uint32)
    permuted = shadow_rows(table, weights, 9)
    rows = np.sort(np.random.default_rng([9, 2]).choice(counted, crossed.MAX_ROWS, replace=False))
    shadows = [np.searchsorted(counted, permuted(0)[counted])]
    drawn = np.searchsorted(counted, rows)
    expected = reference_contrasts.crossed_scores(X[counted], y[counted], [2], shadows, drawn)
    found = pairwise_interaction_scores(table, weights, columns, 1, permuted, 9)
    assert np.isfinite(expected).any()
    assert found == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_shadows_are_those_of_the_forest():
    X, y = exclusive_or(30, 2, 5)
    table = make_table(X, y)
    weights = np.where(np.arange(30) < 5, 0.0, 1.0)
    permuted = shadow_rows(table, weights, 7)
    options = {"criterion": "entropy", "record_tried": True, "n_shadows": 2, "seed": 7}
    grower = _core.Grower(table.store, table.target.codes, 2, weights, _core.GrowOptions(**options))
    assert all(np.array_equal(permuted(t), grower.shadow_rows(t)) for t in range(2))
