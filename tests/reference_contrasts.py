"""Literal twins of contrasts.py: SciPy's rank test, and every pair of columns written out row by row."""

import math

import numpy as np
from scipy.stats import mannwhitneyu, norm, rankdata


def signs(x, nominal, like):
    """1 above the cut that halves `like` best, or in its commonest value; -1 elsewhere, 0 if missing."""
    known = like[~np.isnan(like)]
    values = np.unique(known)
    if len(values) == 0:
        return None
    if nominal:
        value = max(values, key=lambda v: (np.sum(known == v), -v))
        n_up = np.sum(known == value)
        up = x == value
    else:
        value = min(values, key=lambda v: (abs(2 * np.sum(known <= v) - len(known)), v))
        n_up = np.sum(known > value)
        up = x > value
    if min(n_up, len(known) - n_up) < max(1, 0.25 * len(like)):
        return None
    return np.where(np.isnan(x), 0.0, np.where(up, 1.0, -1.0))


def centred(s):
    """Less the mean of what is known, to a fiftieth; 0 if missing."""
    if not s.any():
        return s
    return np.where(s == 0, 0.0, s - round(50 * s.sum() / np.sum(s != 0)) / 50)


def pair(s, t, inside):
    """Sum of the products in a class less what it would be by chance, in standard deviations."""
    n, share = len(s), inside.mean()
    u = [s[i] * t[i] for i in range(n)]
    total = sum(u[i] * (inside[i] - share) for i in range(n))
    variance = max(np.var(u), np.mean(s**2) * np.mean(t**2))
    return abs(total) / math.sqrt(n * variance * share * (1 - share) * n / (n - 1))


def crossed_scores(X, y, nominal, twins, drawn=slice(None)):
    """Scores of every column and of each of its twins; y of two classes is one contrast, of more one each.

    Only the rows `drawn` are looked at, but for the cuts.
    """
    everyone, y = np.arange(len(y)), y[drawn]
    classes = [c for c in np.unique(y) if 0 < np.sum(y == c) < len(y)]
    classes = classes[:1] if len(classes) == 2 else classes
    signed = [signs(x, j in nominal, x) for j, x in enumerate(X.T)]
    usable = [j for j, s in enumerate(signed) if s is not None]
    partners = {j: centred(signed[j][drawn]) for j in usable}
    scores = np.full((X.shape[1], 1 + len(twins)), np.nan)
    if len(usable) < 2:
        return scores
    for t, rows in enumerate([everyone, *twins]):
        for j in usable:
            own = centred(signed[j][rows[drawn]])
            sizes = [pair(own, partners[k], y == c) for k in usable if k != j for c in classes]
            tail = 1 - (1 - 2 * norm.sf(max(sizes))) ** len(sizes)
            scores[j, t] = norm.isf(tail)
    return scores


def trend_scores(X, y, nominal, twins):
    """Scores by the sums of ranks; missing values have the mean rank of the others."""
    classes = [c for c in np.unique(y) if 0 < np.sum(y == c) < len(y)]
    classes = classes[:1] if len(classes) == 2 else classes
    scores = np.full((X.shape[1], 1 + len(twins)), np.nan)
    for j, x in enumerate(X.T):
        s = signs(x, j in nominal, x)
        if s is None:
            continue
        known = ~np.isnan(x)
        values = s if j in nominal else np.where(known, x, 0)
        ranks = np.zeros(len(x))
        ranks[known] = rankdata(values[known])
        ranks[~known] = ranks[known].mean()
        for t, rows in enumerate([np.arange(len(y)), *twins]):
            sizes = [_size(ranks[rows], y == c) for c in classes]
            tail = 1 - (1 - 2 * norm.sf(max(sizes))) ** len(sizes)
            scores[j, t] = norm.isf(tail)
    return scores


def _size(ranks, inside):
    """Deviation of the mean inside from the mean of all, by the variance of a draw without replacement."""
    n, m = len(ranks), inside.sum()
    size = abs(ranks[inside].mean() - ranks.mean()) / math.sqrt(ranks.var(ddof=1) / m * (n - m) / n)
    if np.array_equal(np.sort(ranks), np.arange(1, n + 1)):  # no ties and no gaps: SciPy says the same
        p = mannwhitneyu(ranks[inside], ranks[~inside], method="asymptotic", use_continuity=False).pvalue
        assert math.isclose(2 * norm.sf(size), p, rel_tol=1e-6)
    return size
