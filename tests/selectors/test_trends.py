"""What ranks tell about the classes, and about what other columns leave of them."""

import numpy as np
import pytest
import reference_contrasts
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift.data.table import make_table
from foresift.selectors.relevance import trends
from foresift.selectors.relevance.shadows import shadow_rows
from foresift.selectors.relevance.trends import trend_scores


def scores_of(X, y, *, n_shadows=10, nominal=None, seed=0):
    table, columns = make_table(X, y, categorical_features=nominal), np.arange(X.shape[1], dtype=np.uint32)
    return trend_scores(table, None, columns, n_shadows, shadow_rows(table, None, seed))


def weak_effects(n, p, n_relevant, seed, rho=0.0):
    """Many columns with small effects, and for each a correlate without one behind all others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, -n_relevant:] = rho * X[:, :n_relevant] + np.sqrt(1 - rho**2) * X[:, -n_relevant:]
    return X, (X[:, :n_relevant].sum(axis=1) / 2 + rng.logistic(size=n) > 0).astype(int)


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(deadline=None, max_examples=40)
def test_equals_ranks_and_regressions_written_out(seed, weighted):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 160)), int(rng.integers(3, 10))
    X = rng.integers(0, rng.integers(1, 6, p), (n, p)).astype(float)
    X[:, ::3] = rng.normal(size=X[:, ::3].shape)
    X[:, -1] = X[:, 0] + rng.normal(size=n)
    y = np.clip(
        np.round(rng.normal(size=n) + (X - X.mean(axis=0)) @ rng.normal(size=p) / 2), 0, rng.integers(1, 3)
    )
    y[:2] = 0, 1
    X[rng.random((n, p)) < rng.choice([0, 0.1])] = np.nan
    weights = None
    if weighted:
        weights = rng.integers(0, 2, n).astype(float)
        weights[:4] = 1
    rows = np.flatnonzero(np.ones(n) if weights is None else weights)
    table = make_table(X, y, categorical_features=[1])
    permuted = shadow_rows(table, weights, seed)
    shadows = [np.searchsorted(rows, permuted(t)[rows]) for t in range(2)]
    expected = reference_contrasts.trend_scores(X[rows], y[rows], [1], shadows)
    found = trend_scores(table, weights, np.arange(p, dtype=np.uint32), 2, permuted)
    # A sure thing and a sheer impossibility have quantiles without end; residuals are rounded to 2^-20.
    assert np.clip(found, -4, 7) == pytest.approx(np.clip(expected, -4, 7), abs=1e-3, nan_ok=True)


def test_a_steady_trend_shows_and_shadows_may_come_in_lots(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 50))
    y = (X[:, 0] + 2 * rng.normal(size=400) > 0).astype(int)
    scores = scores_of(X, y)
    assert scores[0, 0] > 5
    by_chance = np.append(scores[1:, 0], scores[:, 1:])
    assert abs(by_chance.mean()) < 0.3
    assert by_chance.std() == pytest.approx(0.95, abs=0.15)  # of the greater of two that go together
    monkeypatch.setattr(trends, "CELLS", 5000)
    assert np.array_equal(scores_of(X, y), scores)


def test_columns_too_rare_to_rank_have_no_scores():
    X = np.zeros((60, 2))
    assert np.isnan(scores_of(X, np.arange(60) % 2)).all()


def test_what_clear_columns_explain_is_no_noise_for_the_others(monkeypatch):
    X, y = weak_effects(500, 100, 20, 1)
    scores = scores_of(X, y)
    monkeypatch.setattr(trends, "MAX_KNOWN", 0)
    plain = scores_of(X, y)
    assert (scores >= plain).all()
    assert scores[:20, 0].mean() > plain[:20, 0].mean() + 0.4
    assert scores[20:80, 0].mean() < plain[20:80, 0].mean() + 0.57  # that of two independent ones
    assert abs(scores[20:80, 0].mean() - scores[:, 1:].mean()) < 0.3


def test_a_column_keeps_what_it_shares_with_a_clear_one(monkeypatch):
    X, y = weak_effects(500, 100, 10, 2, rho=0.7)
    scores = scores_of(X, y)
    monkeypatch.setattr(trends, "RELATED", 0.89)
    without_its_relatives = scores_of(X, y)
    assert scores[-10:, 0].mean() > without_its_relatives[-10:, 0].mean() + 0.25
    monkeypatch.setattr(trends, "MAX_KNOWN", 0)
    assert scores[-10:, 0].mean() > scores_of(X, y)[-10:, 0].mean() + 0.25


def test_noise_beside_strong_columns_scores_as_its_shadows_do():
    scores = []
    for seed in range(20):
        X, y = weak_effects(80, 40, 5, seed, rho=0.5)
        scores.append(scores_of(X, y)[5:35])
    own, shadows = np.array(scores)[:, :, 0], np.array(scores)[:, :, 1:]
    assert own.mean() == pytest.approx(shadows.mean(), abs=0.15)
    for level in (0.9, 0.97):
        assert (own > np.quantile(shadows, level)).mean() < 1 - level + 0.015


def test_classes_that_are_explained_whole_leave_nothing_to_others():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 12))
    X[:, 0] = y = rng.integers(0, 2, 60)
    scores = scores_of(X, y, nominal=[0])
    assert scores[0, 0] > 6
    assert np.isfinite(scores).all()
    assert np.abs(scores[1:]).max() < 4.5
