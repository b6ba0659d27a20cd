"""Literal references for rows that depend on each other: loops over groups, series and permutations."""

from itertools import permutations, product

import numpy as np
from scipy.stats import f as f_distribution


def group_rows(groups):
    """Rows of every group, by rising number."""
    return [[i for i, one in enumerate(groups) if one == g] for g in sorted(set(groups))]


def variance_within(a, b, groups):
    """Variance of sum(a * b) over all ways to permute b within groups."""
    ways = [list(permutations(rows)) for rows in group_rows(groups)]
    sums = []
    for some in product(*ways):
        moved = np.empty(len(b))
        for rows, source in zip(group_rows(groups), some, strict=True):
            moved[rows] = [b[i] for i in source]
        sums.append(sum(x * y for x, y in zip(a, moved, strict=True)))
    return np.var(sums)


def deviations(values, groups):
    """Deviations from the means of groups of several rows, group by group."""
    found = []
    for rows in group_rows(groups):
        mean = sum(values[i] for i in rows) / len(rows)
        found += [values[i] - mean for i in rows if len(rows) > 1]
    return np.array(found)


def share_of_groups(values, groups):
    """Intraclass correlation by analysis of variance, at least 0."""
    parts = [[values[i] for i in rows] for rows in group_rows(groups)]
    n, k = len(values), len(parts)
    within = sum((v - np.mean(part)) ** 2 for part in parts for v in part) / (n - k)
    between = sum(len(part) * (np.mean(part) - np.mean(values)) ** 2 for part in parts) / (k - 1)
    usual = (n - sum(len(part) ** 2 for part in parts) / n) / (k - 1)
    of_groups = max(0.0, (between - within) / usual)
    return of_groups / (of_groups + within)


def scaled_means(values, groups, share):
    """Means of groups by their standard deviation, less their regression on what a constant would give."""
    sizes = [len(rows) for rows in group_rows(groups)]
    scale = np.array([1 / np.sqrt(share + (1 - share) / size) for size in sizes])
    scale /= max(scale)
    means = np.array([np.mean([values[i] for i in rows]) for rows in group_rows(groups)])
    slope = sum(scale * scale * means) / sum(scale * scale)
    return scale * (means - slope)


def strata(sizes):
    """Least and greatest size of groups that exchange rows: up to half as large again, at least 8 groups."""
    left, found = sorted(sizes), []
    while left:
        n = max(8, sum(size <= 1.5 * left[0] for size in left))
        n = len(left) if len(left) - n < 8 else n
        found.append((left[0], left[n - 1]))
        left = left[n:]
    return found


def satterthwaite(variances, freedoms):
    """Degrees of freedom of a sum of estimated variances."""
    return sum(variances) ** 2 / sum(v**2 / k for v, k in zip(variances, freedoms, strict=True))


def without_terms(values, terms):
    """What least squares on a constant and these terms, one after another in a list, leaves of values."""
    design = np.column_stack([np.ones(len(values)), *terms])
    return values - design @ np.linalg.lstsq(design, values, rcond=None)[0]


def places_of_a_season(period, n_rows):
    """Indicators of the places of a season of a whole number of rows."""
    return [[float(i % period == place) for i in range(n_rows)] for place in range(period)]


def waves(frequency, n_rows):
    """Cosines and sines of a frequency and of its multiples up to half a turn per row, at most 25 of them."""
    n_times = max(1, min(int(0.5 / frequency), n_rows // 16, 25))
    turns = 2 * np.pi * frequency * np.arange(n_rows)
    return [wave(k * turns) for k in range(1, n_times + 1) for wave in (np.cos, np.sin)]


def drift(n_rows):
    """Slow cosines of half a period, a whole one and so on, at most 8 and one for 40 rows."""
    places = np.arange(n_rows) + 0.5
    return [np.cos(np.pi * k * places / n_rows) for k in range(1, min(8, n_rows // 40) + 1)]


def autoregression(series, n_lags):
    """Coefficients of the rows before, shared by series, by Akaike's criterion.

    The sum is less biased in the first.
    """
    norm = np.sqrt(sum(part @ part for part in series))
    series, best, found = [part / norm for part in series], np.inf, None
    y = np.concatenate([part[n_lags:] for part in series])
    for k in range(n_lags + 1):
        rows = [
            [part[i - lag] for lag in range(1, k + 1)] for part in series for i in range(n_lags, len(part))
        ]
        lags = np.linalg.lstsq(np.array(rows).reshape(len(y), k), y, rcond=None)[0] if k else np.zeros(0)
        rss = sum((y[i] - sum(rows[i] * lags)) ** 2 for i in range(len(y)))
        if len(y) * np.log(rss) + 2 * k < best:
            best, found = len(y) * np.log(rss) + 2 * k, lags
    if len(found):
        total = sum(found)
        found[0] += min(max(0.0, (2 + 4 * total) / len(y)), max(0.0, 1 - total))
    return found


def innovations(left, lags):
    """Rows less what the rows before predict, without the first ones."""
    k = len(lags)
    return np.array([left[i] - sum(lags[j] * left[i - 1 - j] for j in range(k)) for i in range(k, len(left))])


def joint_pvalue(columns, y, n_free):
    """F test of a regression of y on columns, all of mean 0, with this number of independent rows."""
    design = np.column_stack(columns)
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    k = np.linalg.matrix_rank(design)
    more = n_free - 1 - k
    return f_distribution.sf((fitted @ fitted / k) / ((y - fitted) @ (y - fitted) / more), k, more)


def effective_rows(values):
    """About how many values a sum of squares is made of."""
    return sum(value**2 for value in values) ** 2 / sum(value**4 for value in values)
