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
