"""Tests of columns that predict only in pairs: every pair written out, and calibration on hostile tables."""

import numpy as np
import pytest
import reference_relevance as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from relevance_cases import exceeds, minority

from foresift.data.table import make_table
from foresift.selectors.relevance import pairs
from foresift.selectors.relevance.pairs import pair_tests


def exclusive_or(n, p, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)


def pvalues_of(X, y, *, weights=None, nominal=None, seed=0):
    table = make_table(np.asarray(X, dtype=float), y, categorical_features=nominal)
    return np.exp(pair_tests(table, weights, np.arange(X.shape[1], dtype=np.uint32), seed))


NO_EVIDENCE = np.log(0.99)  # p-values count up to this only, and a sum of 0 is 0 but for rounding


def check_against_pairs_written_out(found, expected):
    for p, candidates in zip(np.log(found), expected, strict=True):
        if candidates is None:
            assert np.isnan(p)
        else:
            assert min(abs(min(p, NO_EVIDENCE) - min(log, NO_EVIDENCE)) for log in candidates) < 1e-6


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(deadline=None, max_examples=60)
def test_equals_every_pair_written_out(seed, weighted):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 60)), int(rng.integers(2, 6))
    X = rng.integers(0, rng.integers(1, 6, p), (n, p)).astype(float)
    X[:, 0] = rng.normal(size=n)
    y = rng.integers(0, rng.integers(2, 4), n)
    y[rng.random(n) < rng.choice([0, 0.7])] = 0
    y[:2] = 0, 1
    X[rng.random((n, p)) < rng.choice([0, 0.1])] = np.nan  # without gaps, variances are found another way
    weights = None
    if weighted:
        weights = rng.integers(0, 3, n).astype(float)
        weights[:4] = 1
    rows = np.flatnonzero(np.ones(n) if weights is None else weights)
    expected = reference.pair_log_pvalues(X[rows], y[rows], [1])
    check_against_pairs_written_out(pvalues_of(X, y, weights=weights, nominal=[1]), expected)


@pytest.mark.parametrize("gaps", [0, 0.2])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_rows_that_are_drawn_equal_every_pair_written_out(monkeypatch, gaps, n_classes):
    monkeypatch.setattr(pairs, "MAX_ROWS", 200)  # means may then lie half way between two steps
    rng = np.random.default_rng(n_classes)
    n = 300
    X = np.column_stack([rng.normal(size=n), rng.integers(0, [2, 3, 9], (n, 3))])
    X[rng.random(X.shape) < gaps] = np.nan
    y = rng.integers(0, n_classes, n)
    weights = np.where(np.arange(n) % 7 == 3, 0.0, 2.5)
    counted = np.flatnonzero(weights)
    rows = np.sort(np.random.default_rng([9, 2]).choice(counted, pairs.MAX_ROWS, replace=False))
    drawn = np.searchsorted(counted, rows)
    expected = reference.pair_log_pvalues(X[counted], y[counted], [2], drawn)
    assert any(expected)
    check_against_pairs_written_out(pvalues_of(X, y, weights=weights, nominal=[2], seed=9), expected)


def hostile(shape, n, rng, p=40):
    """Columns of noise, but for the first where it is informative, and classes."""
    even, uneven = (rng.random((n, p)) < 0.5).astype(float), np.zeros((n, p))
    for column in uneven.T:
        column[rng.choice(n, -(-n // 4), replace=False)] = 1
    rare = minority(rng, n, 0.05)
    if shape == "uneven signs":
        return uneven, rare
    if shape == "missing together":
        even[rng.random(n) < 0.4] = np.nan
        return even, minority(rng, n, 0.3)
    if shape == "missing together, rare class":
        even[rng.random(n) < 0.4] = np.nan
        return even, rare
    X = uneven if "uneven" in shape else even
    y = np.where(rng.random(n) < 0.05, 1 - X[:, 0], X[:, 0])
    if "rare" in shape:
        y = X[:, 0] * (rng.random(n) < 0.1)
    if "missing" in shape:
        X[rng.random(n) < 0.25] = np.nan
    y[:2] = 0, 1
    return X, y.astype(int)


HOSTILE = [
    "uneven signs",
    "missing together",
    "missing together, rare class",
    "informative partner",
    "informative uneven partner",
    "informative partner, rare class",
    "informative partner, missing together",
]


@pytest.mark.parametrize("n", [40, 100, 200, 500])
@pytest.mark.parametrize("shape", HOSTILE)
def test_pvalues_hold_on_hostile_tables(shape, n):
    found = []
    for seed in range(40):
        X, y = hostile(shape, n, np.random.default_rng([n, seed]))
        found.append(pvalues_of(X, y)["informative" in shape :])
    assert np.sum(~np.isnan(found)) > 900
    assert not exceeds(found, 0.01)
    assert not exceeds(found, 0.05)


def test_an_exclusive_or_shows():
    X, y = exclusive_or(400, 60, 0)
    pvalues = pvalues_of(X, y)
    assert (pvalues[:2] < 1e-50).all()
    assert pvalues[2:].min() > 0.001


def test_pvalues_of_noise_are_about_uniform():
    found = [
        pvalues_of(np.random.default_rng(s).normal(size=(400, 60)), np.arange(400) % 2) for s in range(20)
    ]
    assert np.mean(found) == pytest.approx(0.5, abs=0.05)
    assert np.mean(np.array(found) < 0.1) == pytest.approx(0.1, abs=0.04)


def test_categories_and_gaps():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (400, 12)).astype(float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    for nominal in ([0], [0, 1], list(range(12))):
        pvalues = pvalues_of(X, y, nominal=nominal)
        assert (pvalues[:2] < 1e-20).all()
        assert (pvalues[2:] > 1e-4).all()


def test_near_duplicates_are_no_better_than_chance():
    # Their products differ from 0 in a few rows only; two of a rare class there would be 3.6 deviations.
    rng = np.random.default_rng(5)
    base = rng.random((400, 1)) < 0.5
    X = np.where(rng.random((400, 60)) < 0.01, ~base, base)
    assert pvalues_of(X, (np.arange(400) < 12).astype(int)).min() > 0.02


def test_columns_that_cannot_be_halved_have_no_pvalue(monkeypatch):
    X, y = exclusive_or(200, 5, 3)
    X[:, 2] = X[:, 2] > 1.5
    X[:, 3] = np.where(np.arange(200) < 120, np.nan, X[:, 3])
    X[:, 4] = 1
    pvalues = pvalues_of(X, y)
    assert np.isnan(pvalues[2:]).all()
    assert (pvalues[:2] < 1e-20).all()
    assert np.isnan(pvalues_of(X[:, :1], y)).all()
    assert np.isnan(pvalues_of(X, y, weights=1.0 * y)).all()  # one class
    monkeypatch.setattr(pairs, "MAX_COLUMNS", 4)
    assert np.isnan(pvalues_of(X, y)).all()


def test_many_rows_are_drawn_from_and_many_columns_taken_in_blocks(monkeypatch):
    X, y = exclusive_or(600, 9, 4)
    whole = pvalues_of(X, y)
    monkeypatch.setattr(pairs, "_BLOCK", 4)
    assert np.array_equal(pvalues_of(X, y), whole)
    monkeypatch.setattr(pairs, "MAX_ROWS", 300)
    some = pvalues_of(X, y)
    assert (some[:2] < 1e-20).all()
    assert some[0] > whole[0]


@pytest.mark.parametrize("gaps", [0, 0.1])
def test_copies_and_columns_turned_round_have_equal_pvalues(gaps):
    rng = np.random.default_rng(6)
    X, y = exclusive_or(150, 8, 6)
    X = np.round(X)
    X[rng.random(X.shape) < gaps] = np.nan
    X = np.column_stack([X, X])
    pvalues = pvalues_of(X, y)
    assert np.array_equal(pvalues[:8], pvalues[8:], equal_nan=True)
    order = rng.permutation(16)
    assert pvalues_of(X[:, order], y) == pytest.approx(pvalues[order], nan_ok=True)
