"""Literal twins of the Relief family: all differences of all pairs of rows, neighbours by sorting."""

import numpy as np


def difference(a, b, n_values):
    """Difference of two scaled numbers (n_values 0) or category codes; NaN is missing."""
    if n_values:
        return 1 - 1 / n_values if np.isnan(a) or np.isnan(b) else float(a != b)
    if np.isnan(a) and np.isnan(b):
        return 1.0
    if np.isnan(a) or np.isnan(b):
        known = b if np.isnan(a) else a
        return max(known, 1 - known)
    return abs(a - b)


def all_differences(X, n_values):
    n, p = X.shape
    every = [difference(X[i, f], X[j, f], n_values[f]) for i in range(n) for j in range(n) for f in range(p)]
    return np.array(every).reshape(n, n, p)


def shares(row, others, weights, differences, n_neighbors, sigma=None):
    """Share of every row among the nearest of `others`; those equally far share the ranks they have."""
    distances = differences[row].sum(axis=1)
    found, taken = np.zeros(len(weights)), 0.0
    for distance in sorted({round(distances[j], 10) for j in others}):
        if taken >= n_neighbors:
            break
        tied = [j for j in others if round(distances[j], 10) == distance]
        weight = sum(weights[j] for j in tied)
        end = min(taken + weight, n_neighbors)
        if sigma is None:
            influence = end - taken
        else:  # ranks are whole: so are the weights here
            influence = sum(np.exp(-((rank / sigma) ** 2)) for rank in range(int(taken), int(end)))
        found[tied] = weights[tied] * influence / weight
        taken = end
    return found / found.sum()


def relief(X, n_values, y, n_neighbors, weights, pool_misses=False, sigma=None):
    """Weights of the features; X holds scaled numbers and codes, `weights` says how often rows occur."""
    n, p = X.shape
    differences = all_differences(X, n_values)
    prior = {c: weights[y == c].sum() for c in np.unique(y)}
    sums = np.zeros(p)
    for i in range(n):
        repetitions = weights.copy()
        repetitions[i] -= 1  # a row is not its own neighbour
        groups = [(y == y[i], -1.0)]
        if pool_misses:
            groups.append((y != y[i], 1.0))
        else:
            others = weights.sum() - prior[y[i]]
            groups += [(y == c, prior[c] / others) for c in prior if c != y[i]]
        for members, factor in groups:
            near = np.flatnonzero(members & (repetitions > 0))
            if len(near):
                share = shares(i, near, repetitions, differences, n_neighbors, sigma)
                sums += weights[i] * factor * (share @ differences[i])
    return sums / weights.sum()


def rrelieff(X, n_values, y, n_neighbors, weights, sigma=None):
    """Weights of the features for a quantity y, scaled to [0, 1]."""
    n, p = X.shape
    differences = all_differences(X, n_values)
    n_dc, n_da, n_dcda = 0.0, np.zeros(p), np.zeros(p)
    for i in range(n):
        repetitions = weights.copy()
        repetitions[i] -= 1
        near = np.flatnonzero(repetitions > 0)
        d = weights[i] * shares(i, near, repetitions, differences, n_neighbors, sigma)
        apart = np.abs(y - y[i])
        n_dc += apart @ d
        n_da += d @ differences[i]
        n_dcda += (apart * d) @ differences[i]
    return n_dcda / n_dc - (n_da - n_dcda) / (weights.sum() - n_dc)


def surf(X, n_values, y, weights, by_row, quantity=False):
    """Weights of the features by SURF, or `by_row` by MultiSURF; rows are repeated by their whole weights."""
    rows = np.repeat(np.arange(len(X)), weights.astype(int))
    differences, y = all_differences(X, n_values)[np.ix_(rows, rows)], y[rows]
    n, p = len(rows), X.shape[1]
    distances = differences.sum(axis=2)
    np.fill_diagonal(distances, 0)
    classes = np.unique(y)
    sums = np.zeros(p)
    for i in range(n):
        others = np.arange(n) != i
        own = distances[i, others]
        limit = own.mean() - own.std() / 2 if by_row else distances.sum() / n**2
        near = others & (distances[i] < limit - 1e-10)
        hits = near & (np.abs(y - y[i]) < y.std(ddof=1) - 1e-12 if quantity else y == y[i])
        misses = near & ~hits
        if hits.any():
            sums -= differences[i, hits].mean(axis=0)
        if misses.any() and quantity:
            sums += differences[i, misses].mean(axis=0)
        elif misses.any():
            for c in classes:
                of_class = differences[i, misses & (y == c)]
                sums += (len(classes) - 1) / misses.sum() ** 2 * len(of_class) * of_class.sum(axis=0)
    return sums / n
