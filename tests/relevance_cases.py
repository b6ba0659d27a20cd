"""What tests of error rates share: tables, and whether a rate is significantly above its level."""

import numpy as np
from scipy.stats import ttest_1samp


def minority(rng, n, share):
    """Two classes, the second of this share of the rows, at least two."""
    return (rng.permutation(n) < max(2, round(share * n))).astype(int)


def exceeds(tables, alpha, level=0.001):
    """Whether p-values, given by table since these are independent, are too often at most alpha."""
    rates = np.array([np.mean(p[~np.isnan(p)] <= alpha) for p in tables if not np.isnan(p).all()])
    if rates.std() == 0:
        return bool(rates.mean() > alpha)
    return bool(ttest_1samp(rates, alpha, alternative="greater").pvalue < level)


def null_table(kind, seed):
    """Columns of noise and classes that have nothing to do with them."""
    rng = np.random.default_rng([seed, 77])
    if kind == "normal":
        return rng.normal(size=(100, 20)), minority(rng, 100, 0.4)
    if kind == "few values":
        return rng.integers(0, [2, 3, 4, 9] * 5, (120, 20)).astype(float), minority(rng, 120, 0.1)
    if kind == "gaps":
        X = rng.normal(size=(120, 20))
        X[rng.random(120) < 0.3, :10] = np.nan  # in the same rows
        X[:, 10:][rng.random((120, 10)) < 0.2] = np.nan
        return X, minority(rng, 120, 0.3)
    if kind == "correlated":
        return rng.normal(size=(60, 1)) + 0.5 * rng.normal(size=(60, 60)), minority(rng, 60, 0.5)
    if kind == "three classes":
        return np.round(rng.normal(size=(90, 20)), 1), rng.permutation(90) % 3
    assert kind == "rare flags"
    return (rng.random((200, 30)) < 0.05).astype(float), minority(rng, 200, 0.15)


NULL_KINDS = ["normal", "few values", "gaps", "correlated", "three classes", "rare flags"]


def blocks_of_proxies(seed, n=400, n_noise=165):
    """Thirty proxies of one factor, five columns of their own, then noise; the number of relevant ones."""
    rng = np.random.default_rng([seed, 78])
    factor, single = rng.normal(size=(n, 1)), rng.normal(size=(n, 5))
    X = np.column_stack([factor + 0.5 * rng.normal(size=(n, 30)), single, rng.normal(size=(n, n_noise))])
    y = factor[:, 0] + 0.6 * single.sum(axis=1) + rng.logistic(size=n) > 0
    return X, y.astype(int), 35


def wide_table(seed, n=60, p=500, common=0.5):
    """Columns of six factors and a common one of this share of their variance; two factors matter."""
    rng = np.random.default_rng([seed, 79])
    factors = rng.normal(size=(n, 6))
    X = factors @ (0.5 * rng.normal(size=(6, p))) + 0.8 * rng.normal(size=(n, p))
    shared = np.outer(rng.normal(size=n), rng.uniform(0.5, 1.5, p))
    X += shared * np.sqrt(common / (1 - common) * X.var() / shared.var())
    return X, (factors[:, 0] + 0.5 * factors[:, 1] + 0.6 * rng.normal(size=n) > 0).astype(int)
