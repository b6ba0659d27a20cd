"""Literal references of selectors/relevance: permutation moments, rank tests, and every pair row by row."""

import math
from itertools import permutations

import numpy as np
from scipy.stats import beta, cauchy, kurtosis, norm, rankdata
from scipy.stats import t as student

from foresift.selectors.relevance.between import ValuePowers, between_log_pvalue


def enumerated_moments(a, b):
    """Mean, variance and third central moment of sum(a * permuted b), over all permutations."""
    sums = np.array([a @ np.array(p) for p in permutations(b)])
    return sums.mean(), sums.var(), ((sums - sums.mean()) ** 3).mean()


def permutation_moments(a, b):
    """The same in closed form."""
    n, a_bar, b_bar = len(a), np.mean(a), np.mean(b)
    variance = np.sum((a - a_bar) ** 2) * np.sum((b - b_bar) ** 2) / (n - 1)
    third = np.sum((a - a_bar) ** 3) * np.sum((b - b_bar) ** 3) * n / ((n - 1) * max(1, n - 2))
    return n * a_bar * b_bar, variance, third


def unskewed(z, skewness):
    """Normal quantile of z >= 0 by Wilson & Hilferty: the cube root of a gamma number is normal.

    Without skewness to the right z itself.
    """
    if skewness <= 1e-3:
        return z
    k = 4 / skewness**2
    x = max(0.0, k + z * math.sqrt(k))  # mean k, variance k
    return ((x / k) ** (1 / 3) - (1 - 1 / (9 * k))) / math.sqrt(1 / (9 * k))


def tail(z, skewness):
    """Two-sided p-value of z >= 0."""
    return min(1.0, 2 * norm.sf(unskewed(z, skewness)))


def permutation_pvalue(a, b):
    """P-value of sum(a * b) by the moments it has if b is permuted."""
    mean, variance, third = permutation_moments(a, b)
    z = (a @ b - mean) / math.sqrt(variance)
    return tail(abs(z), sign(z) * third / variance**1.5)


def correlation_pvalue(a, b):
    """The same by the distribution of a correlation of normal numbers, and the kurtosis beyond that."""
    n = len(a)
    _, variance, third = permutation_moments(a, b)
    r = np.corrcoef(a, b)[0, 1]
    statistic = abs(r) * math.sqrt((n - 2) / max(1e-12, 1 - r**2))
    z = unskewed(-norm.ppf(student.sf(statistic, n - 2)), sign(r) * third / variance**1.5)
    excess = max(0.0, kurtosis(a) * kurtosis(b) / n)
    if excess > 0:
        z = min(z, math.sqrt(1 + 8 / excess))
    return 2 * norm.sf(z - excess * (z**3 - 3 * z) / 24)


def sign(z):
    """1 or -1, and 0 for what is 0 but for rounding: it has no direction."""
    return 0 if abs(z) < 1e-9 else math.copysign(1, z)


def of_any(least, n_tests):
    """Log of the p-value of the least of so many independent p-values."""
    return math.log(-math.expm1(n_tests * math.log1p(-least))) if least < 1 else 0.0


def compared(y):
    """Classes to compare with all others; of two, the first."""
    classes = np.unique(y)
    return [] if len(classes) == 1 else classes[:1] if len(classes) == 2 else classes


def contrasts(y, quantity):
    """What columns are correlated with: indicators of classes, or the ranks of a quantity."""
    return [rankdata(y)] if quantity else [1.0 * (y == c) for c in compared(y)]


def normal_scores(values):
    """Normal quantiles of ranks, centred and rounded; the largest is 1024, or their number if more."""
    scores = norm.ppf(rankdata(values) / (len(values) + 1))
    scores -= scores.mean()
    return np.round(scores * max(1024, len(values)) / np.abs(scores).max())


def scores(y):
    """Ranks, normal scores, and those of the others beside a least or greatest number of many rows."""
    found = [rankdata(y), normal_scores(y)] if y.min() < y.max() else []
    at_end = max(y == y.min(), y == y.max(), key=np.sum)
    if 0.25 <= at_end.mean() <= 0.75 and len(np.unique(y[~at_end])) > 1:
        own = np.zeros(len(y))
        own[~at_end] = normal_scores(y[~at_end])
        found.append(own)
    return found


# --- ranks ---


def rank_scores(x, nominal):
    """Normal scores, or whether in the commonest category; missing values have the mean. None if uneven."""
    known = ~np.isnan(x)
    values, counts = np.unique(x[known], return_counts=True)
    if len(values) == 0 or known.sum() - counts.max() < len(x) / 4:
        return None
    if nominal:
        if counts.max() < len(x) / 4:
            return None
        return with_gaps(lambda some: 1.0 * (some == values[counts.argmax()]) - counts.max() / known.sum(), x)
    return with_gaps(normal_scores, x)


def distances(x, nominal):
    """Distances of ranks from the middle; None if uneven, or of two values."""
    return curve(x, nominal, 2, lambda shares: np.abs(shares - 0.5))


def waves(x, nominal):
    """One and a half waves over the ranks; None if uneven, or of three values."""
    return curve(x, nominal, 3, lambda shares: np.sin(3 * np.pi * (shares - 0.5)))


def curve(x, nominal, n_values, of_shares):
    """A curve of the shares of rows below, centred and rounded; missing values have the mean."""
    known = x[~np.isnan(x)]
    if nominal or len(np.unique(known)) <= n_values:
        return None
    some = of_shares((rankdata(known) - 0.5) / len(known))
    some -= some.mean()
    some = np.round(some * max(1024, len(known)) / np.abs(some).max())
    if len(known) - np.unique(some, return_counts=True)[1].max() < len(x) / 4:
        return None
    return with_gaps(lambda _: some, x)


def category_groups(x, least):
    """Group of every row: frequent categories have their own, the others share one; of the known rows."""
    values, counts = np.unique(x, return_counts=True)
    order = sorted(range(len(values)), key=lambda k: (-counts[k], k))
    frequent = [values[k] for k in order if counts[k] >= least][:20]
    groups = [frequent.index(v) if v in frequent else len(frequent) for v in x]
    if groups.count(len(frequent)) < least and frequent:
        groups = [min(g, len(frequent) - 1) for g in groups]
    return np.array(groups)


def category_log_pvalue(x, values, quantity):
    """Log of the p-value of the variance between categories of a nominal column; None is nothing left."""
    known = ~np.isnan(x)
    if len(np.unique(x[known])) < 3:
        return math.nan
    logs = []
    for c in values:
        if c is None:
            continue
        own = c[known] - c[known].mean()
        kurtosis = len(own) * np.sum(own**4) / np.sum(own**2) ** 2 if own.any() else 1
        groups = category_groups(x[known], max(5, 3 * kurtosis))
        names = np.unique(groups)
        counts = np.array([np.sum(groups == g) for g in names])
        sums = np.array([own[groups == g].sum() for g in names])
        found = between_log_pvalue(counts, sums, ValuePowers.of(own), 0)
        if not math.isnan(found):
            logs.append(found)
    if not logs:
        return math.nan
    return cauchy_mean(logs) if quantity else of_any(math.exp(min(logs)), len(logs))


def both(one, other):
    """Log of one p-value from two that there may be."""
    logs = [log for log in (one, other) if not math.isnan(log)]
    return logs[0] if len(logs) == 1 else cauchy_mean(logs)


def differs(x, scores):
    """Whether scores differ between the categories of a column, more than by any chance."""
    known = ~np.isnan(x)
    groups, scores = category_groups(x[known], 5), scores[known]
    inside = sum(np.sum((scores[groups == g] - scores[groups == g].mean()) ** 2) for g in set(groups))
    share, k, n = 1 - inside / np.sum((scores - scores.mean()) ** 2), len(set(groups)) - 1, len(scores)
    by_chance = beta.isf(1e-6, k / 2, (n - 1 - k) / 2) if k else 0
    return share > max(min(0.9, max(0.3, 4 / math.sqrt(n))) ** 2 + k / n, by_chance)


def rank_log_pvalues(X, y, nominal, quantity=False):
    """Logs of p-values of every column by the target, by residuals after unrelated strong predictors, and
    of curves of its ranks by both."""
    values = scores(y) if quantity else contrasts(y, False)
    of = {}
    for kind, made in enumerate((rank_scores, distances, waves)):
        found = {(kind, j): made(x, j in nominal) for j, x in enumerate(X.T)}
        of |= {key: some for key, some in found.items() if some is not None}
    plain, left = np.full((2, 3, X.shape[1]), np.nan)
    for key, some in of.items():
        plain[key] = max(together(some, values, quantity), min(rarest(c) for c in values))
    level = math.log(min(0.02, 2 / max(1, sum(kind == 0 for kind, _ in of))))
    bars = {key: plain[key] + (math.log(10) if key[0] else 0) for key in of}
    strong = sorted((key for key in of if bars[key] < level), key=lambda key: bars[key])[: len(y) // 10]
    limit = min(0.9, max(0.3, 4 / math.sqrt(len(y))))

    def related(j, k):
        both = [(of[a, j], of[b, k]) for a in range(3) for b in range(3) if (a, j) in of and (b, k) in strong]
        return any(abs(np.corrcoef(*pair)[0, 1]) > limit for pair in both)

    for key, some in of.items() if strong else ():
        others = [of[other] for other in strong if not related(key[1], other[1])]
        rest = [residuals(others, c) for c in values]
        is_left = [np.sum(e**2) > 1e-9 * len(y) * c.var() for e, c in zip(rest, values, strict=True)]
        left[key] = together(
            some, [e if is_some else None for e, is_some in zip(rest, is_left, strict=True)], quantity
        )
    for j in nominal:
        log = both(plain[0, j], category_log_pvalue(X[:, j], values, quantity))
        plain[0, j] = max(log, min(rarest(c) for c in values))
        if strong:
            is_related = {k for kind, k in strong if differs(X[:, j], of[kind, k])}
            rest = [residuals([of[key] for key in strong if key[1] not in is_related], c) for c in values]
            rest = [
                e if np.sum(e**2) > 1e-9 * len(y) * c.var() else None
                for e, c in zip(rest, values, strict=True)
            ]
            left[0, j] = both(left[0, j], category_log_pvalue(X[:, j], rest, quantity))
    left = np.maximum(left, -math.lgamma(len(y) + 1))  # of that many arrangements one
    tests = np.vstack([plain[1:], left[1:]]).T
    curves = [cauchy_mean([p for p in own if not math.isnan(p)]) for own in tests]
    return plain[0], left[0], np.array(curves)


def cauchy_mean(logs, shares=None):
    """Log of the Cauchy combination of p-values, given as logs; NaN without any."""
    if not logs:
        return math.nan
    pvalues = [min(0.99, math.exp(log)) for log in logs]
    if min(logs) < math.log(1e-14):
        return -math.log(np.average([math.exp(min(700, -log)) for log in logs], weights=shares))
    return math.log(cauchy.sf(np.average(cauchy.isf(pvalues), weights=shares)))


def rarest(values):
    """Log of the p-value of one of all arrangements of these values."""
    counts = np.unique(values, return_counts=True)[1].tolist()
    return sum(math.lgamma(count + 1) for count in counts) - math.lgamma(len(values) + 1)


def with_gaps(made, x):
    """What is made of the known values, and 0 for the others."""
    found = np.zeros(len(x))
    found[~np.isnan(x)] = made(x[~np.isnan(x)])
    return found


def together(r, values, quantity):
    """Log of one p-value: of any of the classes, or the Cauchy combination of the scores of a quantity.

    None among the values is what nothing is left of.
    """
    pvalues = [correlation_pvalue(r, c) for c in values if c is not None]
    if not pvalues:
        return math.nan
    if not quantity:
        return of_any(min(pvalues), len(pvalues))
    shares = [share for share, c in zip((1, 2, 1), values, strict=False) if c is not None]
    return cauchy_mean([math.log(max(p, 1e-300)) for p in pvalues], shares)


def residuals(columns, y):
    """What a least-squares fit on the columns leaves of y; one with so small a ridge shares among copies."""
    y = y - y.mean()
    if not columns:
        return y
    A = np.column_stack([(r - r.mean()) / np.linalg.norm(r - r.mean()) for r in columns])
    ridge = 1e-3 * np.eye(A.shape[1])
    coefficients = np.linalg.lstsq(np.vstack([A, ridge]), np.append(y, np.zeros(len(ridge))), rcond=None)[0]
    return y - A @ coefficients


# --- pairs ---


def signs(x, nominal):
    """1 above the cut that halves the known values best, or in the commonest; -1 elsewhere, 0 if missing."""
    known = x[~np.isnan(x)]
    values = np.unique(known)
    if len(values) == 0:
        return None
    if nominal:
        value = max(values, key=lambda v: (np.sum(known == v), -v))
        up = x == value
    else:
        value = min(values, key=lambda v: (abs(2 * np.sum(known <= v) - len(known)), v))
        up = x > value
    if min(up.sum(), len(known) - up.sum()) < max(1, 0.25 * len(x)):
        return None
    return np.where(np.isnan(x), 0.0, np.where(up, 1.0, -1.0))


def steps(x):
    """Ranks of the known values between -50 and 50, rounded, and 0 for the others."""
    return with_gaps(lambda known: np.round(50 * (2 * rankdata(known) - len(known) - 1) / len(known)), x)


def centred(s):
    """In fiftieths, less the mean of what is known to a fiftieth; 0 if missing."""
    if not s.any():
        return s
    return np.where(s == 0, 0.0, 50 * s - round(50 * s.sum() / np.sum(s != 0)))


def pair(s, t, c):
    """Size of the sum of products with c, in standard deviations, and its skewness that way."""
    n, c = len(s), c - c.mean()
    u = [s[i] * t[i] for i in range(n)]
    total = sum(u[i] * c[i] for i in range(n))
    spread = sum(c[i] ** 2 for i in range(n))
    if_independent_of_class = max(n * np.var(u), np.sum(s**2) * np.sum(t**2) / n) * spread / (n - 1)
    w = t * c
    of_partner = np.sum(s**2) * n * np.var(w) / (n - 1)
    _, variance, third = permutation_moments(np.array(u), c)
    skewness = sign(total) * third / max(variance, 1.0) ** 1.5
    return abs(total) / math.sqrt(max(if_independent_of_class, of_partner)), skewness


def pair_log_pvalues(X, y, nominal, drawn=slice(None), quantity=False):
    """For every column the logs of p-values that it may have: several if its best partners are equal.

    Only the rows `drawn` are looked at, but for the cuts. None without a test.
    """
    signed = [signs(x, j in nominal) for j, x in enumerate(X.T)]
    usable = {
        j: steps(X[drawn, j]) if quantity and j not in nominal else centred(s[drawn])
        for j, s in enumerate(signed)
        if s is not None
    }
    values = contrasts(y[drawn], quantity)
    found = [None] * X.shape[1]
    for j in usable if len(usable) > 1 and len(values) else ():
        tests = [pair(usable[j], usable[k], c) for k in usable if k != j for c in values]
        best = max(size for size, _ in tests)
        found[j] = [of_any(tail(*test), len(tests)) for test in tests if test[0] >= best - 1e-9]
    return found
