"""Stability of selections and adjusted p-values against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift.stats import adjusted_pvalues, selection_stability


def literal_stability(selections):
    """Nogueira et al. 2018, eq. 4, feature by feature."""
    Z = np.asarray(selections, dtype=float)
    M, d = Z.shape
    variance = [M / (M - 1) * Z[:, f].mean() * (1 - Z[:, f].mean()) for f in range(d)]
    k = np.mean([sum(row) for row in Z])
    return 1 - np.mean(variance) / (k / d * (1 - k / d))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_stability_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    Z = rng.random((rng.integers(2, 9), rng.integers(2, 9))) < rng.random()
    Z[0, 0], Z[1, 1] = True, False
    found = selection_stability(Z)
    assert found.value == pytest.approx(literal_stability(Z))
    assert found.lower <= found.value <= found.upper


def test_ends_of_stability():
    same = selection_stability([[1, 0, 1, 0]] * 5)
    assert same == pytest.approx((1, 1, 1))
    rng = np.random.default_rng(0)
    random = np.array([rng.permutation(40) < 10 for _ in range(400)])
    assert abs(selection_stability(random).value) < 0.01
    assert np.isnan(selection_stability(np.zeros((3, 4))).value)
    assert np.isnan(selection_stability(np.ones((3, 4))).value)


def test_the_interval_covers():
    # Features are kept independently with fixed probabilities: the true value is known.
    rng = np.random.default_rng(1)
    chance = np.array([0.95] * 5 + [0.4] * 5 + [0.05] * 20)
    size = chance.mean()
    truth = 1 - (chance * (1 - chance)).mean() / (size * (1 - size))
    covered = []
    for _ in range(300):
        found = selection_stability(rng.random((60, len(chance))) < chance)
        covered.append(found.lower <= truth <= found.upper)
    assert 0.88 < np.mean(covered) < 0.99


def test_bad_selections():
    with pytest.raises(ValueError, match="at least two"):
        selection_stability([[True, False]])
    with pytest.raises(ValueError, match="True and False"):
        selection_stability([[0.5, 1], [0, 1]])
    with pytest.raises(ValueError, match="confidence"):
        selection_stability([[0, 1], [0, 1]], confidence=1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.5))
def test_adjusted_pvalues_reject_what_the_rules_reject(pvalues, alpha):
    p = np.array(pvalues)
    m, order = len(p), np.argsort(p, kind="stable")
    ranked = p[order]
    passing = [k for k in range(m) if ranked[k] <= alpha * (k + 1) / m]
    by_fdr = p <= (ranked[passing[-1]] if passing else -1)
    stops = next((k for k in range(m) if ranked[k] > alpha / (m - k)), m)
    by_fwer = np.isin(np.arange(m), order[:stops])
    for error, expected in (("fdr", by_fdr), ("fwer", by_fwer), ("none", p <= alpha)):
        adjusted = adjusted_pvalues(p, error)
        clear = np.abs(adjusted - alpha) > 1e-9
        assert ((adjusted <= alpha) == expected)[clear].all()
        assert (adjusted <= 1).all()
        assert (adjusted >= p - 1e-12).all()


def test_bad_error():
    with pytest.raises(ValueError, match="fdr"):
        adjusted_pvalues([0.1], "none of these")
    assert adjusted_pvalues([], "fdr").shape == (0,)
