"""What tests of coded blocks share: tables of few values, and fits from histograms."""

import warnings

import numpy as np

from foresift import RelevanceSelector
from foresift.data.row_source import InMemory
from foresift.data.target import Target
from foresift.engine.local_blocks import LocalBlocks

NAMES = ("steady", "gaps", "category", "flag", "noise", "skewed", "noise category", "most one value")
NOMINAL = np.array([False, False, True, False, False, False, True, False])


def few_values(seed, target="two", n=3000):
    """Columns of at most 255 values, so that codes are exact, and a target that some of them explain."""
    rng = np.random.default_rng([seed, 91])
    X = np.column_stack(
        [
            np.round(rng.normal(size=n), 1),
            np.round(rng.normal(size=n), 1),
            rng.choice(4, n, p=[0.2, 0.5, 0.2, 0.1]),
            rng.random(n) < 0.4,
            rng.integers(0, 200, n),
            np.floor(rng.exponential(20, n)).clip(max=200),
            np.where(rng.random(n) < 0.4, 7, rng.integers(0, 30, n)),
            rng.random(n) < 0.001,
        ]
    ).astype(np.float64)
    X[:, 1][rng.random(n) < 0.3] = np.nan
    X[:, 2][rng.random(n) < 0.1] = np.nan
    signal = (
        X[:, 0] + 0.3 * np.nan_to_num(X[:, 1]) + 0.5 * (X[:, 2] == 1) + 0.4 * X[:, 3] + rng.normal(size=n)
    )
    if target == "quantity":
        return X, np.round(signal, 2)
    if target == "zeros":  # many rows of a quantity have its least number
        return X, np.round(np.maximum(signal, 0.3), 2)
    n_classes = {"two": 2, "three": 3}[target]
    return X, np.searchsorted(np.quantile(signal, [0.3, 0.8][: n_classes - 1]), signal)


def blocks_of(X, y, nominal=None, **options):
    return LocalBlocks(InMemory(X, Target.of(y, len(y), "auto")), nominal, "auto", **options)


def signals(n=5000, n_noise=12, seed=0, n_classes=2):
    """Three columns that matter, then noise; the classes."""
    rng = np.random.default_rng([seed, 92])
    X = rng.normal(size=(n, 3 + n_noise))
    signal = X[:, 0] + 0.5 * X[:, 1] + 0.8 * (np.abs(X[:, 2]) > 1) + rng.logistic(size=n)
    return X, np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)


def fitted(X, y, **options):
    options = {"max_bins": 255, "n_estimators": 20, "random_state": 0, "redundancy": None, **options}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No feature passed")
        return RelevanceSelector(**options).fit(X, y)


def same(one, other):
    """Whether two fits are equal to the last bit."""
    assert np.array_equal(one.pvalues_, other.pvalues_)
    assert np.array_equal(one.scores_, other.scores_, equal_nan=True)
    assert np.array_equal(one.support_, other.support_)
    assert np.array_equal(one.gains_, other.gains_, equal_nan=True)
    assert np.array_equal(one.shadow_scores_, other.shadow_scores_, equal_nan=True)
    for name, own in one.test_pvalues_.items():
        assert np.array_equal(own, other.test_pvalues_[name], equal_nan=True), name
    return True
