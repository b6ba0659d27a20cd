"""Slow, literal twins for Murata et al.: contribution ratios, pairs of features, the searches they name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

# --- eq. 5 ---


def contribution_ratio(tables: list[Any], n_features: int) -> list[float]:
    """Walk every tree from its root, node by node; trees without a split are left out."""
    ratios = []
    for table in tables:
        split_on = [0.0] * n_features
        waiting = [0]
        while waiting:
            record = table.nodes[waiting.pop()]
            if record["first_child"] < 0:
                continue
            split_on[record["feature"]] += float(record["size"])
            waiting += range(record["first_child"], record["first_child"] + record["n_children"])
        if sum(split_on) > 0:
            ratios.append([size / sum(split_on) for size in split_on])
    if not ratios:
        return [0.0] * n_features
    return [100 * sum(tree[i] for tree in ratios) / len(ratios) for i in range(n_features)]


def contribution_ratio_of_sklearn(forest: Any) -> np.ndarray:
    """The same from the arrays of scikit-learn's trees."""
    ratios = []
    for member in forest.estimators_:
        tree, split_on = member.tree_, np.zeros(forest.n_features_in_)
        for node in range(tree.node_count):
            if tree.children_left[node] != -1:
                split_on[tree.feature[node]] += tree.weighted_n_node_samples[node]
        if split_on.any():
            ratios.append(split_on / split_on.sum())
    return 100 * np.mean(ratios, axis=0)


# --- co-occurrence ---


def pairs(tables: list[Any], p: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observed and expected numbers of pairs, and the statistic, all tables written out in full."""
    trees = []
    for table in tables:
        edges = []
        waiting = [(0, 0)]
        while waiting:
            node, depth = waiting.pop()
            record = table.nodes[node]
            for child in range(record["first_child"], record["first_child"] + record["n_children"]):
                below = table.nodes[child]
                if below["first_child"] >= 0:
                    waiting.append((child, depth + 1))
                    if below["feature"] != record["feature"]:
                        edges.append((int(record["feature"]), int(below["feature"]), depth + 1))
        trees.append(edges)
    depths = sorted({depth for edges in trees for *_, depth in edges})
    chance = {}
    for depth in depths:
        seen = np.zeros((p, p))
        for i, j, d in (edge for edges in trees for edge in edges):
            seen[i, j] += d == depth
        fitted = 1.0 - np.eye(p)
        for _ in range(300):
            for axis in (1, 0):
                sums = fitted.sum(axis=axis, keepdims=True)
                wanted = seen.sum(axis=axis, keepdims=True)
                fitted = fitted * np.divide(wanted, sums, out=np.zeros_like(sums), where=sums > 0)
        rows = fitted.sum(axis=1, keepdims=True)
        chance[depth] = np.divide(fitted, rows, out=np.zeros_like(fitted), where=rows > 0)
    observed, expected, excess = np.zeros((p, p)), np.zeros((p, p)), []
    for edges in trees:
        o, e = np.zeros((p, p)), np.zeros((p, p))
        for i, j, depth in edges:
            o[i, j] += 1
            e[i] += chance[depth][i]
        observed += o + o.T
        expected += e + e.T
        excess.append(o + o.T - e - e.T)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.std(excess, axis=0, ddof=1) / np.sqrt(len(trees))
        statistic = np.where(error > 1e-9, np.mean(excess, axis=0) / error, np.nan)
    return observed, expected, statistic


# --- searches: `worth` maps a frozenset to a number; no two sets are worth the same ---

Worth = Callable[[frozenset[int]], float]


def forward(p: int, worth: Worth) -> list[frozenset[int]]:
    """Whitney: add the best."""
    path: list[frozenset[int]] = [frozenset()]
    while len(path[-1]) < p:
        path.append(max((path[-1] | {j} for j in set(range(p)) - path[-1]), key=worth))
    return path[1:]


def backward(p: int, worth: Worth) -> list[frozenset[int]]:
    """Marill & Green: drop the worst."""
    path = [frozenset(range(p))]
    while len(path[-1]) > 1:
        path.append(max((path[-1] - {j} for j in path[-1]), key=worth))
    return path


def plus_minus(p: int, worth: Worth, plus: int, minus: int, until: int | None = None) -> list[frozenset[int]]:
    """Stearns, round after round: as many forth as there are, then back; with `until`, back from all too."""
    now: frozenset[int] = frozenset()
    path = []
    while True:
        for _ in range(plus):
            if len(now) < p:
                now = max((now | {j} for j in set(range(p)) - now), key=worth)
                path.append(now)
        everything = len(now) == p
        if everything and (until is None or until == p):
            return path
        for _ in range(minus):
            if len(now) > 1:
                now = max((now - {j} for j in now), key=worth)
                path.append(now)
        if everything or (until is not None and len(now) >= until):
            return path


def floating_forward(p: int, worth: Worth, until: int | None = None) -> list[frozenset[int]]:
    """Pudil, Novovicova & Kittler: inclusion, then conditional exclusion, up to one more than wanted."""
    best: dict[int, frozenset[int]] = {}
    now: frozenset[int] = frozenset()
    path = []
    while len(now) < p and (until is None or len(now) <= until):
        now = max((now | {j} for j in set(range(p)) - now), key=worth)
        path.append(now)
        if len(now) not in best or worth(now) > worth(best[len(now)]):
            best[len(now)] = now
        while len(now) > 2:
            less = max((now - {j} for j in now), key=worth)
            if worth(less) <= worth(best[len(less)]):
                break
            now = best[len(less)] = less
            path.append(now)
    return path


def exhaustive(p: int, size: int, worth: Worth) -> frozenset[int]:
    """Round robin."""
    return max(map(frozenset, combinations(range(p), size)), key=worth)
