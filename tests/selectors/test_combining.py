"""One p-value from several tests: against SciPy's Cauchy distribution, at both ends, with gaps."""

import numpy as np
import pytest
from scipy.stats import cauchy, norm

from foresift.selectors.relevance.combining import WEIGHTS, combined_log_pvalues

NAMES = list(WEIGHTS)


def combined(**pvalues):
    with np.errstate(divide="ignore"):
        return np.exp(combined_log_pvalues({name: np.log(np.atleast_1d(p)) for name, p in pvalues.items()}))


def weights_of(pvalues):
    """Ranks and residuals share by how many columns each finds, less chance."""
    n_ranks, n_residuals = (
        max(0, (p <= 0.005).sum() - 0.005 * len(p))
        for p in (pvalues[name] for name in ("ranks", "residuals"))
    )
    odds = ((5 + n_residuals) / (5 + n_ranks)) ** 8
    share = min(0.95, max(0.05, odds / (1 + odds)))
    both = WEIGHTS["ranks"] + WEIGHTS["residuals"]
    return {**WEIGHTS, "ranks": (1 - share) * both, "residuals": share * both}


def test_equals_a_weighted_mean_of_cauchy_quantiles():
    rng = np.random.default_rng(0)
    p = np.exp(-rng.exponential(4, size=(len(NAMES), 500)))
    quantiles = cauchy.isf(np.minimum(p, 0.99))
    own = weights_of(dict(zip(NAMES, p, strict=True)))
    expected = cauchy.sf(np.array([own[name] for name in NAMES]) @ quantiles)
    assert combined(**dict(zip(NAMES, p, strict=True))) == pytest.approx(expected, rel=1e-9)


def test_weights_are_shares():
    assert sum(WEIGHTS.values()) == pytest.approx(1)
    assert min(WEIGHTS.values()) > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_single_test_keeps_its_pvalue(name):
    logs = np.concatenate([np.linspace(-40, np.log(0.99), 3001), [-1e6, -800.0, -740.0]])
    others = {other: np.full(len(logs), np.nan) for other in NAMES if other != name}
    assert combined_log_pvalues({name: logs, **others}) == pytest.approx(logs, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_monotone_in_every_pvalue(name):
    # Across where the small ones are added up as logs.
    logs = np.concatenate(
        [np.linspace(-1000, -31, 500), np.linspace(-31, -28, 60_001), np.linspace(-28, 0, 500)]
    )
    rng = np.random.default_rng(1)
    for least in (0, 5, 29.9, 30.1, 100):
        tests = {other: np.full(len(logs), -least - rng.exponential()) for other in NAMES if other != name}
        steps = np.diff(combined_log_pvalues({**tests, name: logs}))
        assert steps.min() >= -1e-10
        assert steps.max() > 0


def test_small_pvalues_are_divided_by_their_weight_and_neither_overflow_nor_vanish():
    logs = np.array([-50.0, -700.0, -750.0, -1e6, -1e300])
    for name in NAMES:
        tests = {**{other: np.log(np.full(5, 0.5)) for other in NAMES}, name: logs}
        with np.errstate(all="raise", under="ignore"):
            found = combined_log_pvalues(tests)
        weight = weights_of({other: np.exp(some) for other, some in tests.items()})[name]
        assert found == pytest.approx(logs - np.log(weight), rel=1e-9)
    every = combined_log_pvalues(dict.fromkeys(NAMES, logs))
    assert every == pytest.approx(logs, rel=1e-9)  # equal ones are neither better nor worse


def test_without_a_test_its_weight_is_shared_out():
    p = {"forest": 0.01, "ranks": 0.02, "pairs": 0.7}
    alone = combined(**p, residuals=np.nan, curves=np.nan)
    own = {"forest": WEIGHTS["forest"], "pairs": WEIGHTS["pairs"]}
    own["ranks"] = WEIGHTS["ranks"] + WEIGHTS["residuals"]  # without residuals ranks are that test
    mean = sum(own[name] * cauchy.isf(p[name]) for name in p) / sum(own.values())
    assert alone == pytest.approx(cauchy.sf(mean))
    two = combined(forest=0.01, residuals=0.3, ranks=np.nan, curves=np.nan, pairs=np.nan)
    shares = WEIGHTS["forest"] * cauchy.isf(0.01) + WEIGHTS["residuals"] * cauchy.isf(0.3)
    assert two == pytest.approx(cauchy.sf(shares / (WEIGHTS["forest"] + WEIGHTS["residuals"])))


def test_no_test_no_pvalue():
    logs = np.array([np.nan, -2.0])
    found = combined_log_pvalues(dict.fromkeys(NAMES, logs))
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(-2)
    assert len(combined_log_pvalues({name: np.zeros(0) for name in NAMES})) == 0


def test_a_hopeless_test_costs_little():
    # A p-value of 1 has a quantile without end: it must not outweigh the others.
    assert combined(forest=1.0, ranks=1e-6, residuals=1e-6, curves=1.0, pairs=1.0) < 2e-6
    assert combined(forest=1.0, ranks=1.0, residuals=1.0, curves=1.0, pairs=1.0) == pytest.approx(0.99)


@pytest.mark.parametrize("correlation", [0, 0.5, 0.95])
def test_small_pvalues_hold_whatever_the_dependence(correlation):
    rng = np.random.default_rng(2)
    common, own = rng.normal(size=(1, 200_000)), rng.normal(size=(len(NAMES), 200_000))
    p = norm.sf(np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own)
    found = combined(**dict(zip(NAMES, p, strict=True)))
    for alpha in (0.0005, 0.01):
        assert np.mean(found <= alpha) < 1.1 * alpha + 3 * np.sqrt(alpha / 200_000)
