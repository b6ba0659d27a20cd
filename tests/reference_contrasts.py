"""Literal twins of contrasts.py: SciPy's rank test, and every pair of columns written out row by row."""

import math

import numpy as np
from scipy.stats import mannwhitneyu, norm, rankdata
from sklearn.linear_model import Ridge


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
            scores[j, t] = _quantile(sizes)
    return scores


def trend_scores(X, y, nominal, twins):
    """The greater score by the classes, or by what clear columns that are not related leave of them."""
    classes = [c for c in np.unique(y) if 0 < np.sum(y == c) < len(y)]
    classes = classes[:1] if len(classes) == 2 else classes
    ranks = {j: r for j, x in enumerate(X.T) if (r := mean_ranks(x, j in nominal)) is not None}
    orders = [np.arange(len(y)), *twins]
    scores = np.full((X.shape[1], len(orders)), np.nan)
    for j, r in ranks.items():
        scores[j] = [_quantile([_size(r[rows], y == c) for c in classes]) for rows in orders]
    level = min(0.02, 2 / max(1, len(ranks)))
    clear = sorted((j for j in ranks if norm.sf(scores[j, 0]) < level), key=lambda j: -scores[j, 0])
    clear = clear[: len(y) // 10]
    if not clear:
        return scores
    for j, r in ranks.items():
        limit = min(0.9, max(0.3, 4 / math.sqrt(len(y))))
        others = [ranks[k] for k in clear if abs(np.corrcoef(r, ranks[k])[0, 1]) <= limit]
        rests = [left_by(others, (y == c).astype(float)) for c in classes]
        for t, rows in enumerate(orders):
            sizes = [abs(np.corrcoef(r[rows], rest)[0, 1]) * math.sqrt(len(y) - 1) for rest in rests]
            scores[j, t] = max(scores[j, t], _quantile(sizes))
    return scores


def mean_ranks(x, nominal):
    """Ranks, or whether in the commonest category; missing values have the mean. None if uneven."""
    known = ~np.isnan(x)
    values, counts = np.unique(x[known], return_counts=True)
    if len(values) == 0 or known.sum() - counts.max() < len(x) / 4:
        return None
    if nominal:
        if counts.max() < len(x) / 4:
            return None
        x = np.where(known, x == values[counts.argmax()], np.nan)
    ranks = np.zeros(len(x))
    ranks[known] = rankdata(x[known])
    ranks[~known] = ranks[known].mean()
    return ranks


def left_by(columns, y):
    """What a regression on the columns leaves of y."""
    if not columns:
        return y
    A = np.column_stack(columns)
    A = (A - A.mean(axis=0)) / (A.std(axis=0) * math.sqrt(len(A)))
    return y - Ridge(alpha=1e-6).fit(A, y).predict(A)


def _quantile(sizes):
    return norm.isf(1 - (1 - 2 * norm.sf(max(sizes))) ** len(sizes))


def _size(ranks, inside):
    """Deviation of the mean inside from the mean of all, by the variance of a draw without replacement."""
    n, m = len(ranks), inside.sum()
    size = abs(ranks[inside].mean() - ranks.mean()) / math.sqrt(ranks.var(ddof=1) / m * (n - m) / n)
    if np.array_equal(np.sort(ranks), np.arange(1, n + 1)):  # no ties and no gaps: SciPy says the same
        p = mannwhitneyu(ranks[inside], ranks[~inside], method="asymptotic", use_continuity=False).pvalue
        assert math.isclose(2 * norm.sf(size), p, rel_tol=1e-6)
    return size
