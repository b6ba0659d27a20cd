"""What tests of trees for a quantity share: equality but for rounding, and a check of every node."""

import math

import numpy as np
import pytest
import reference
from reference_quantity import cut_gains, subset_gains, unit, variance

VARIANCE = {"criterion": "variance"}


def near(expected, y, weights=None):
    """Equal but for rounding, which goes by the variance of y."""
    weights = np.ones(len(y)) if weights is None else weights
    scale = variance(np.column_stack([y, weights]))
    return pytest.approx(expected, rel=1e-9, abs=1e-10 * scale)


def sides(x, missing):
    """Where `reference.cuts` may send the missing values of a column."""
    if missing == "known":
        return ["known"]
    return ["right", "left"] if np.isnan(x).any() else ["none"]


def children_of(table, node):
    first, n = table.nodes[node][["first_child", "n_children"]]
    return range(int(first), int(first) + int(n))


def assert_same_structure(one, two):
    """Compare two tables in all but sizes, counts and gains.

    Missing values that a node never saw take its larger child. Which one that is may be up to rounding.
    """
    for name in ("parent", "first_child", "feature", "n_children", "threshold"):
        assert np.array_equal(one.nodes[name], two.nodes[name]), name
    for node in np.flatnonzero(one.nodes["missing_branch"] != two.nodes["missing_branch"]):
        sizes = one.nodes["size"][list(children_of(one, node))]
        branches = one.nodes["missing_branch"][node], two.nodes["missing_branch"][node]
        assert min(branches) >= 0
        assert sizes == pytest.approx(sizes[0], rel=1e-12)
    assert np.array_equal(one.set_codes, two.set_codes)
    assert np.array_equal(one.set_branches, two.set_branches)


def best_of_column(x, y, weights, nominal, missing, min_leaf):
    """Best gain and, of a cut, its threshold and side of missing values; (-inf, None) if there is none."""
    candidates = []
    if nominal:
        keep = ~np.isnan(x) | (missing == "learn")
        codes, share = np.where(np.isnan(x), -1, x)[keep], weights[keep].sum() / weights.sum()
        gains, left = subset_gains(codes, y[keep], weights[keep])
        fits = np.minimum(left, weights[keep].sum() - left) >= min_leaf - 1e-9
        return (share * gains[fits].max() if fits.any() else -math.inf), None
    for side in ["known"] if missing == "fractional" else sides(x, "learn"):
        thresholds, gains, left = cut_gains(x, y, weights, side)
        total = weights[~np.isnan(x)].sum() if side == "known" else weights.sum()
        fits = np.minimum(left, total - left) >= min_leaf - 1e-9
        candidates += [(g, (t, side)) for g, t in zip(gains[fits], thresholds[fits], strict=True)]
    tie = 1e-11 * unit(y, weights, "variance")
    best = max((gain for gain, _ in candidates), default=-math.inf)
    equal = [cut for gain, cut in candidates if gain >= best - tie]
    return best, min(equal, key=lambda cut: (cut[0], cut[1] == "left"), default=None)


def check_every_node(table, X, y, weights, nominal=(), missing="learn", min_leaf=1.0, min_split=2.0):
    """At every node: the first of the best columns, the smallest of its best cuts; leaves cannot be split."""
    at = reference.weights_at_nodes(table, X, weights)
    for node, record in enumerate(table.nodes):
        rows = at[node] > 0
        here, size = y[rows], at[node][rows]
        assert record["size"] == pytest.approx(size.sum())
        rounding = 1e-9 * np.abs(y).max()
        assert table.counts[node, 0] == pytest.approx(math.fsum(here * size), rel=1e-9, abs=rounding)
        if len(np.unique(here)) == 1:
            assert record["first_child"] < 0
            continue
        found = [
            best_of_column(X[rows, j], here, size, j in nominal, missing, min_leaf) for j in range(X.shape[1])
        ]
        gains = np.array([gain for gain, _ in found])
        assert (record["first_child"] >= 0) == (gains.max() > -math.inf and size.sum() >= min_split)
        if record["first_child"] < 0:
            continue
        tie = 1e-11 * unit(here, size, "variance")
        assert record["feature"] == np.flatnonzero(gains >= gains.max() - tie)[0]
        assert record["gain"] == near(gains.max(), here, size)
        cut = found[record["feature"]][1]
        if cut is not None:
            assert record["threshold"] == cut[0]
            some_missing = np.isnan(X[rows, record["feature"]]).any()
            branches = {"right": 1, "left": 0, "known": -1} if some_missing else {}
            assert record["missing_branch"] == branches.get(cut[1], record["majority_branch"])
    if table.tried is not None:
        for node, feature, gain in table.tried.tolist():
            rows = at[node] > 0
            x, here, size = X[rows, feature], y[rows], at[node][rows]
            best, _ = best_of_column(x, here, size, feature in nominal, missing, min_leaf)
            assert gain == near(max(best, 0.0), here, size)
