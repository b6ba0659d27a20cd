"""One feature of each redundant group: what counts as a discovery, and what `minimal` keeps."""

import warnings

import numpy as np
import pytest

from foresift import RelevanceSelector

QUICK = {"n_estimators": 20, "random_state": 0}


def proxies(seed, n=200, n_noise=60):
    """Two factors with ten noisy copies each, three weak columns, and noise."""
    rng = np.random.default_rng(seed)
    factors, weak = rng.normal(size=(n, 2)), rng.normal(size=(n, 3))
    y = factors.sum(axis=1) + 0.6 * weak.sum(axis=1) + rng.normal(size=n) > 0
    copies = np.repeat(factors, 10, axis=1) + 0.2 * rng.normal(size=(n, 20))
    return np.column_stack([copies, weak, rng.normal(size=(n, n_noise))]), y.astype(int)


def fit(X, y, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No feature passed")
        return RelevanceSelector(**{**QUICK, **options}).fit(X, y)


def literal(pvalues, n_tested, candidates, alpha):
    """Benjamini & Hochberg's step-up among the candidates, as if all other columns were not rejected."""
    kept = []
    for k in range(1, len(candidates) + 1):
        passing = [j for j in candidates if pvalues[j] <= alpha * k / n_tested]
        if len(passing) >= k:
            kept = passing
    return kept


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("seed", range(4))
def test_a_group_counts_as_one_discovery(seed, alpha):
    X, y = proxies(seed)
    X[:, -5:] = 1
    selector = fit(X, y, alpha=alpha)
    candidates = np.flatnonzero(selector.relevant_ & (selector.redundant_with_ < 0))
    expected = literal(selector.pvalues_, X.shape[1] - 5, candidates, alpha)
    expected = expected or [candidates[selector.pvalues_[candidates].argmin()]]  # the best at least
    assert np.flatnonzero(selector.representative_).tolist() == expected
    assert selector.redundant_with_[:20].max() >= 0  # there are groups


def test_the_rule_drops_what_passes_only_beside_its_redundant_company():
    # Counted among 20 and more discoveries, noise passes at 0.1 that does not among the few groups.
    dropped = [
        np.sum(s.relevant_ & (s.redundant_with_ < 0) & ~s.representative_)
        for s in (fit(*proxies(seed, n_noise=150)) for seed in range(8))
    ]
    assert np.sum(dropped) > 0


@pytest.mark.parametrize("error", ["fwer", "none"])
def test_other_error_rates_hold_for_every_subset(error):
    selector = fit(*proxies(0), error=error)
    assert np.array_equal(selector.representative_, selector.relevant_ & (selector.redundant_with_ < 0))


def test_minimal_keeps_the_representatives():
    X, y = proxies(1)
    whole, minimal = fit(X, y), fit(X, y, minimal=True)
    assert np.array_equal(whole.support_, whole.relevant_)
    assert np.array_equal(minimal.support_, minimal.representative_)
    assert np.array_equal(minimal.representative_, whole.representative_)
    assert 2 <= minimal.support_.sum() < whole.support_.sum() - 10


def test_without_redundant_features_nothing_is_dropped_whatever_else_does_not_vary():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    y = (0.35 * X[:, :3].sum(axis=1) + rng.normal(size=200) > 0).astype(int)
    for n_constant in (0, 50, 500):
        selector = fit(np.column_stack([X, np.ones((200, n_constant))]), y)
        assert (selector.redundant_with_ == -1).all()
        assert selector.relevant_.sum() > 1
        assert np.array_equal(selector.representative_, selector.relevant_)


def test_without_redundancy_every_relevant_feature_stands_for_itself():
    selector = fit(*proxies(2), redundancy=None)
    assert np.array_equal(selector.representative_, selector.relevant_)


def test_nothing_relevant_nothing_representative():
    rng = np.random.default_rng(3)
    selector = fit(rng.normal(size=(60, 8)), np.arange(60) % 2, alpha=0.001)
    assert not selector.representative_.any()
    assert selector.support_.sum() == 1
