"""Algorithms 1 and 2 of Grabczewski & Jankowski, word for word, on trees of nested dicts (`reference.grow`).

The trees are changed in place: a deleted split leaves its node as a leaf.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

Tree = dict[str, Any]


def from_table(table: Any, node: int = 0) -> Tree:
    """Return a node table as nested dicts."""
    record = table.nodes[node]
    tree: Tree = {"counts": table.counts[node].copy()}
    if record["first_child"] >= 0:
        children = range(int(record["first_child"]), int(record["first_child"]) + int(record["n_children"]))
        tree["split"] = {"feature": int(record["feature"])}
        tree["gain"] = float(record["gain"])
        tree["children"] = [from_table(table, child) for child in children]
    return tree


def splits(tree: Tree) -> Iterator[Tree]:
    """Nodes that are split, the left before the right."""
    if "split" in tree:
        yield tree
        for child in tree["children"]:
            yield from splits(child)


def n_leaves(tree: Tree) -> int:
    return sum(map(n_leaves, tree["children"])) if "split" in tree else 1


def errors(tree: Tree) -> float:
    """Training errors of a node as a leaf."""
    return float(tree["counts"].sum() - tree["counts"].max())


def error_reduction(node: Tree) -> float:
    """Training errors that a split saves; rounded, for sums of real weights."""
    return abs(round(errors(node) - sum(map(errors, node["children"])), 8))


def final_splits(tree: Tree) -> list[Tree]:
    """Splits whose children are all leaves, from left to right."""
    return [node for node in splits(tree) if not any("split" in child for child in node["children"])]


def delete(node: Tree) -> None:
    for name in ("split", "children", "gain"):
        del node[name]


def separate_rank(tree: Tree) -> float:
    """R(f) of Algorithm 1, of the tree of one feature: the maximum of s_i; 0 without a split."""
    ranks = [0.0]
    for i in range(n_leaves(tree) - 1, 0, -1):
        ssv = sum(node["gain"] for node in splits(tree))
        ranks.append(ssv / math.log(2 + i))
        # min takes the first of equals: the leftmost
        delete(min(final_splits(tree), key=lambda node: (error_reduction(node), round(node["gain"], 6))))
    return max(ranks)


def tree_ranks(tree: Tree, n_features: int) -> np.ndarray:
    """R(f) of Algorithm 2 for every feature."""
    reduction = {id(node): error_reduction(node) for node in splits(tree)}  # step 2
    remaining = set(range(n_features))
    ranks = np.zeros(n_features)
    i = 0
    while remaining:
        used = {node["split"]["feature"] for node in splits(tree)}
        for feature in remaining - used:
            ranks[feature] = i
        remaining &= used
        final = final_splits(tree)
        if final:
            least = min(reduction[id(node)] for node in final)
            for node in final:
                if reduction[id(node)] == least:
                    delete(node)
        while useless := [node for node in final_splits(tree) if reduction[id(node)] == 0]:
            for node in useless:
                delete(node)
        i += 1
    return ranks


def prune(tree: Tree, n_errors: float) -> Tree:
    """Delete final splits that save at most so many training errors, until there are none."""
    while weak := [node for node in final_splits(tree) if error_reduction(node) <= n_errors + 1e-8]:
        for node in weak:
            delete(node)
    return tree
