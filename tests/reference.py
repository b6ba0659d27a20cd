"""Slow, literal NumPy twins of every kernel: each one is the definition written out, and nothing else."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from reference_quantity import branch_size, unit, variance_reduction

# --- scores of a branch table: one array of (weighted) class counts per branch, of a quantity its rows ---


def entropy(counts: Any) -> float:
    """Shannon entropy in bits of one array of class counts."""
    counts = np.asarray(counts, dtype=float)
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def gini(counts: Any) -> float:
    """Gini impurity of one array of class counts."""
    counts = np.asarray(counts, dtype=float)
    return float(1.0 - ((counts / counts.sum()) ** 2).sum()) if counts.sum() > 0 else 0.0


def _decrease(branches: Sequence[Any], impurity: Any) -> float:
    parent = np.sum(branches, axis=0)
    children = sum(np.sum(branch) / parent.sum() * impurity(branch) for branch in branches)
    return float(impurity(parent) - children)


def entropy_gain(branches: Sequence[Any]) -> float:
    """H(parent) - sum_k w_k / w H(child k), in bits."""
    return _decrease(branches, entropy)


def gini_decrease(branches: Sequence[Any]) -> float:
    """Gini impurity of the parent less the weighted impurity of its children."""
    return _decrease(branches, gini)


def split_information(branches: Sequence[Any]) -> float:
    """Entropy in bits of the branch sizes (Bommaganti eq. 5)."""
    return entropy([np.sum(branch) for branch in branches])


def gain_ratio(branches: Sequence[Any]) -> float:
    """Gain over split information (Bommaganti eq. 6); 0 where only one branch has rows."""
    information = split_information(branches)
    return entropy_gain(branches) / information if information > 0 else 0.0


def ssv(branches: Sequence[Any]) -> float:
    """Separability of a split, raw (Grabczewski & Jankowski, section 2).

    The paper has two branches. Of more: twice the pairs of different classes that part company, less the
    rows of each class outside its fullest branch.
    """
    branches = [np.asarray(branch, dtype=float) for branch in branches]
    parent = np.sum(branches, axis=0)
    parted = sum((branch * ((parent - branch).sum() - (parent - branch))).sum() for branch in branches) / 2
    return float(2.0 * parted - (parent - np.max(branches, axis=0)).sum())


SCORES = {
    "entropy": entropy_gain,
    "gini": gini_decrease,
    "gain_ratio": gain_ratio,
    "ssv": ssv,
    "variance": variance_reduction,
}


def score(branches: Sequence[Any], criterion: str, missing_size: float = 0.0) -> float:
    """Score of a split of the known rows, `missing_size` further rows being left out of it (C4.5, B6).

    The score is scaled by the known fraction; for the gain ratio the missing rows are one more
    group of the split information, as in C4.5.
    """
    known = sum(branch_size(branch) for branch in branches)
    if missing_size == 0.0:
        return SCORES[criterion](branches)
    fraction = known / (known + missing_size)
    if criterion == "gain_ratio":
        information = entropy([*(np.sum(branch) for branch in branches), missing_size])
        return fraction * entropy_gain(branches) / information
    return fraction * SCORES[criterion](branches)


def class_counts(y: Any, weights: Any, n_classes: int, rows: Any) -> np.ndarray:
    """Weighted class counts of the rows where the mask `rows` is true."""
    return np.bincount(np.asarray(y)[rows], np.asarray(weights)[rows], minlength=n_classes)


def contents(y: Any, weights: Any, n_classes: int, rows: Any, criterion: str) -> np.ndarray:
    """What a score asks of the rows where the mask is true: class counts, or value and weight of each."""
    if criterion == "variance":
        return np.column_stack([np.asarray(y, dtype=float)[rows], np.asarray(weights)[rows]])
    return class_counts(y, weights, n_classes, rows)


def node_counts(y: Any, weights: Any, n_classes: int, criterion: str) -> np.ndarray:
    """What a node keeps of its rows: the weights of the classes, or the sum of the quantity."""
    if criterion == "variance":
        return np.array([math.fsum(np.multiply(y, weights))])
    return np.bincount(y, weights, minlength=n_classes)


# --- every split of one column ---


def _prepared(x: Any, y: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Arrays without the rows of weight zero, and the number of classes."""
    x, y = np.asarray(x), np.asarray(y)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    n_classes = int(y.max()) + 1 if len(y) else 1
    return x[weights > 0], y[weights > 0], weights[weights > 0], n_classes


def cuts(x: Any, y: Any, criterion: str, weights: Any = None, missing: str = "none") -> dict[float, float]:
    """{threshold: score} of every cut midway between distinct neighbouring known values.

    Rows where x is NaN go to the side `missing` ("left" or "right"), or are left out and the score
    is scaled by the known fraction ("known"); "none" says that there are none. With "right", the cut
    at +inf parts all known rows from the missing ones.
    """
    x, y, weights, n_classes = _prepared(np.asarray(x, dtype=float), y, weights)
    unknown = np.isnan(x)
    if missing == "none" and unknown.any():
        raise ValueError("x has missing values")
    values = np.unique(x[~unknown])
    thresholds = [(low + high) / 2 for low, high in itertools.pairwise(values)]
    if missing == "right" and unknown.any() and len(values):
        thresholds.append(math.inf)
    lost = weights[unknown].sum() if missing == "known" else 0.0
    result = {}
    for threshold in thresholds:
        left, right = ~unknown & (x <= threshold), ~unknown & (x > threshold)
        if missing == "left":
            left = left | unknown
        elif missing == "right":
            right = right | unknown
        branches = [contents(y, weights, n_classes, rows, criterion) for rows in (left, right)]
        result[float(threshold)] = score(branches, criterion, lost)
    return result


def subsets(x: Any, y: Any, criterion: str, weights: Any = None) -> dict[frozenset[int], float]:
    """{categories going left: score} of every proper subset; code -1 (missing) is one more category."""
    x, y, weights, n_classes = _prepared(x, y, weights)
    categories = [int(code) for code in np.unique(x)]
    result = {}
    for size in range(1, len(categories)):
        for left in itertools.combinations(categories, size):
            rows = np.isin(x, left)
            branches = [contents(y, weights, n_classes, side, criterion) for side in (rows, ~rows)]
            result[frozenset(left)] = score(branches, criterion)
    return result


def multiway(x: Any, y: Any, criterion: str, weights: Any = None, missing: str = "known") -> float:
    """Score of one branch per category; code -1 is left out ("known") or one more branch ("category")."""
    x, y, weights, n_classes = _prepared(x, y, weights)
    codes = [code for code in np.unique(x) if code >= 0 or missing == "category"]
    if len(codes) < 2:
        return 0.0
    branches = [contents(y, weights, n_classes, x == code, criterion) for code in codes]
    return score(branches, criterion, weights[x < 0].sum() if missing == "known" else 0.0)


# --- a tree ---

TIE = 1e-10  # scores closer than this are equal: rounding must not decide between them


def best_split(x: Any, y: Any, criterion: str, weights: Any, nominal: bool, fits: Any) -> tuple[float, Any]:
    """Best (score, split) of one column, the first among equals; `fits(rows left)` says which are allowed.

    A split is a dict: "threshold" or "left" (set of codes), and "missing", the child missing values take.
    Cuts come smallest first, each with missing values right before left; subsets smallest first.
    """
    x = np.asarray(x, dtype=float)
    candidates: list[tuple[float, dict[str, Any]]] = []
    if nominal:
        codes = np.where(np.isnan(x), -1, x).astype(int)
        for left, value in subsets(codes, y, criterion, weights).items():
            candidates.append((value, {"left": left, "missing": 0 if -1 in left else 1}))
    else:
        sides = ["right", "left"] if np.isnan(x[np.asarray(weights) > 0]).any() else ["none"]
        tables = {side: cuts(x, y, criterion, weights, side) for side in sides}
        for threshold in sorted({t for table in tables.values() for t in table}):
            for side, table in tables.items():
                if threshold in table:
                    split = {"threshold": threshold, "missing": {"left": 0, "right": 1}.get(side)}
                    candidates.append((table[threshold], split))
    best: tuple[float, Any] = (-math.inf, None)
    tie = TIE * unit(y, weights, criterion)
    for value, split in candidates:
        if value > best[0] + tie and fits(goes_left(split, x)):
            best = (value, split)
    return best


def goes_left(split: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """Mask of the values of one column that take the first child of a split."""
    unknown = np.isnan(x)
    known = np.isin(x, list(split["left"])) if "left" in split else x <= split["threshold"]
    return np.where(unknown, split["missing"] == 0, known).astype(bool)


def grow(
    X: Any,
    y: Any,
    weights: Any = None,
    *,
    criterion: str = "entropy",
    nominal: Sequence[int] = (),
    max_depth: int | None = None,
    min_size_split: float = 2.0,
    min_size_leaf: float = 1.0,
    min_gain: float = 0.0,
    n_classes: int | None = None,
) -> dict[str, Any]:
    """Literal recursive binary tree: every cut of every column; sizes are sums of weights.

    Ties: first column, smallest cut. A node whose best score is below `min_gain` is a leaf, so by default
    an impure node is split as long as there is a cut, even one that gains nothing.
    Where no value is missing at a node, missing values take the larger child (the first if equal).
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    n_classes = int(y.max()) + 1 if n_classes is None else n_classes
    counts = node_counts(y, weights, n_classes, criterion)
    leaf = {"counts": counts}
    if len(np.unique(y[weights > 0])) < 2 or max_depth == 0 or weights.sum() < min_size_split:
        return leaf

    def fits(left: np.ndarray) -> bool:
        return min(weights[left].sum(), weights[~left].sum()) >= min_size_leaf

    tie = TIE * unit(y, weights, criterion)
    best: tuple[float, Any] = (-math.inf, None)
    for column in range(X.shape[1]):
        value, split = best_split(X[:, column], y, criterion, weights, column in nominal, fits)
        if value > best[0] + tie:
            best = (value, {**split, "feature": column})
    gain, split = best
    if split is None or gain < min_gain - tie:
        return leaf
    if split["missing"] is None:
        left = X[:, split["feature"]] <= split["threshold"]
        split["missing"] = 0 if weights[left].sum() >= weights[~left].sum() else 1
    left = goes_left(split, X[:, split["feature"]])
    options: dict[str, Any] = {
        "criterion": criterion,
        "nominal": nominal,
        "max_depth": None if max_depth is None else max_depth - 1,
        "min_size_split": min_size_split,
        "min_size_leaf": min_size_leaf,
        "min_gain": min_gain,
        "n_classes": n_classes,
    }
    children = [grow(X[rows], y[rows], weights[rows], **options) for rows in (left, ~left)]
    return {"counts": counts, "gain": gain, "split": split, "children": children}


def predict_proba(tree: dict[str, Any], X: Any) -> np.ndarray:
    """Class shares of the leaf every row of X falls in, for a tree of `grow`."""
    rows = []
    for row in np.asarray(X, dtype=float):
        node = tree
        while "split" in node:
            left = goes_left(node["split"], row[[node["split"]["feature"]]])[0]
            node = node["children"][0 if left else 1]
        rows.append(node["counts"] / node["counts"].sum())
    return np.array(rows)


# --- reading a node table ---


def branch_of(table: Any, node: int, value: float) -> int:
    """Child ordinal a value takes at a node; -1: all of them, as fractions."""
    record = table.nodes[node]
    if np.isnan(value):
        return int(record["missing_branch"])
    if record["category_set"] < 0:
        return 0 if value <= record["threshold"] else 1
    begin, end = table.set_offsets[record["category_set"]], table.set_offsets[record["category_set"] + 1]
    for code, branch in zip(table.set_codes[begin:end], table.set_branches[begin:end], strict=True):
        if code == value:
            return int(branch)
    return int(record["majority_branch"])


def leaf_of(table: Any, row: Any) -> int:
    """Leaf one encoded row falls in; a missing value that goes all ways follows the largest child."""
    node = 0
    while table.nodes[node]["first_child"] >= 0:
        record = table.nodes[node]
        branch = branch_of(table, node, float(row[record["feature"]]))
        node = int(record["first_child"]) + (int(record["majority_branch"]) if branch < 0 else branch)
    return node


def weights_at_nodes(table: Any, X_encoded: Any, weights: Any) -> np.ndarray:
    """Weight of every row at every node, (n_nodes, n_rows), of rows that start at the root with `weights`.

    A missing value that goes all ways is shared out by the weight of the rows whose value is known.
    """
    X = np.asarray(X_encoded, dtype=float)
    found = np.zeros((len(table.nodes), len(X)))
    found[0] = weights
    for node in np.flatnonzero(table.nodes["first_child"] >= 0):  # parents come before their children
        record = table.nodes[node]
        branch = np.array([branch_of(table, node, value) for value in X[:, record["feature"]]])
        children = range(int(record["first_child"]), int(record["first_child"]) + int(record["n_children"]))
        for ordinal, child in enumerate(children):
            found[child] = np.where(branch == ordinal, found[node], 0.0)
        known = found[list(children)].sum(axis=1)
        for child, share in zip(children, known / known.sum(), strict=True):
            found[child] += np.where(branch < 0, found[node] * share, 0.0)
    return found


def predict_rows(table: Any, X_encoded: Any) -> np.ndarray:
    """Class shares, or means, of encoded rows: NaN missing, nominal values as codes, -1.0 unseen category."""

    def walk(node: int, row: np.ndarray) -> np.ndarray:
        record = table.nodes[node]
        first = int(record["first_child"])
        if first < 0:
            return table.counts[node] / record["size"]
        branch = branch_of(table, node, float(row[record["feature"]]))
        if branch >= 0:
            return walk(first + branch, row)
        children = range(first, first + int(record["n_children"]))
        sizes = np.array([table.nodes[child]["size"] for child in children])
        shares = sizes / sizes.sum()
        return sum(share * walk(child, row) for share, child in zip(shares, children, strict=True))

    return np.array([walk(0, row) for row in np.asarray(X_encoded, dtype=float)])


# --- node complexity ---


def arrangements(class_counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every order in which the rows of a node can lie along one feature."""
    if not any(class_counts):
        yield ()
    for label, count in enumerate(class_counts):
        if count:
            rest = [c - (k == label) for k, c in enumerate(class_counts)]
            for tail in arrangements(rest):
                yield (label, *tail)


def node_complexity(class_counts: Sequence[int]) -> float:
    """Information in bits of an arrangement known up to reflection (Rogers & Gunn eq. 7-9), enumerated."""
    total = 0
    sizes: dict[tuple[int, ...], int] = {}
    for arrangement in arrangements(class_counts):
        seen = min(arrangement, arrangement[::-1])
        sizes[seen] = sizes.get(seen, 0) + 1
        total += 1
    return sum(-size / total * math.log2(size / total) for size in sizes.values())


# --- random bits ---

GOLDEN = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1
BOOTSTRAP_NODE = 0xFFFFFFFF


def mix64(z: int) -> int:
    """The splitmix64 finalizer, on 64 bits."""
    z &= WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


class Bits:
    """Counter-based stream of random bits that belongs to one node of one tree."""

    def __init__(self, seed: int, tree: int, node: int) -> None:
        key = mix64(seed + GOLDEN)
        key = mix64(key ^ ((tree + GOLDEN) & WORD))
        self.key = mix64(key ^ ((node + GOLDEN) & WORD))
        self.counter = 0

    def next(self) -> int:
        """Next 64 bits."""
        self.counter += 1
        return mix64(self.key + self.counter * GOLDEN)

    def below(self, n: int) -> int:
        """Whole number in 0..n-1, for n < 2**32."""
        return ((self.next() >> 32) * n) >> 32

    def unit(self) -> float:
        """Number in [0, 1) with 53 bits."""
        return (self.next() >> 11) * 2.0**-53


def bootstrap(seed: int, tree: int, n: int, n_draw: int | None = None) -> np.ndarray:
    """How often each of n rows is drawn in `n_draw` (by default n) draws with replacement."""
    bits = Bits(seed, tree, BOOTSTRAP_NODE)
    draws = [bits.below(n) for _ in range(n if n_draw is None else n_draw)]
    return np.bincount(draws, minlength=n)
