"""Literal twins of Relief and ReliefF: all differences of all pairs of rows, neighbours by sorting."""

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


def mean_difference(row, others, weights, differences, n_neighbors):
    """Mean difference to the nearest of `others`; those equally far share what is left."""
    distances = differences[row].sum(axis=1)
    total, taken = 0.0, 0.0
    for distance in sorted({round(distances[j], 10) for j in others}):
        if taken >= n_neighbors:
            break
        tied = [j for j in others if round(distances[j], 10) == distance]
        weight = sum(weights[j] for j in tied)
        part = min(1.0, (n_neighbors - taken) / weight)
        total = total + sum(weights[j] * part * differences[row, j] for j in tied)
        taken += weight * part
    return total / taken


def relief(X, n_values, y, n_neighbors, weights, pool_misses=False):
    """Weights of the features; X holds scaled numbers and codes, `weights` says how often rows occur."""
    n, p = X.shape
    every = [difference(X[i, f], X[j, f], n_values[f]) for i in range(n) for j in range(n) for f in range(p)]
    differences = np.array(every).reshape(n, n, p)
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
                mean = mean_difference(i, near, repetitions, differences, n_neighbors)
                sums += weights[i] * factor * mean
    return sums / weights.sum()
