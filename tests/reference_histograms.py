"""Reference implementation of the histogram engine: codes, sums and trees, row by row and cut by cut."""

from typing import NamedTuple

import numpy as np

from foresift import _core
from foresift.data.complexity import complexity_of


def codes_of(values, cuts):
    """Codes of numbers: how many cut points lie below; one more than there are for NaN."""
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="left"))


def histogram(codes, target, width, n_codes, scores=None):
    """Rows of each class and code; of a quantity rows, and sums of their scores."""
    sums = np.zeros((n_codes if scores is None else 2, width), dtype=np.int64)
    for code, y in zip(codes.tolist(), target.tolist(), strict=True):
        if scores is None:
            sums[y, code] += 1
        else:
            sums[0, code] += 1
            sums[1, code] += int(scores[y])
    return sums


def shadow_of(codes, n_blocks, seed, number):
    """A column whose values are permuted inside of every block; row i is in block i modulo their number."""
    permuted = np.empty_like(codes)
    for block in range(n_blocks):
        rows = np.arange(block, len(codes), n_blocks)
        permuted[rows] = codes[rows][_core.block_permutation(seed, number, block, len(rows))]
    return permuted


def impurity(target, scores=None):
    """Entropy in bits, or the variance of the scores."""
    if scores is not None:
        return float(np.var(scores[target].astype(np.float64)))
    shares = np.bincount(target) / len(target)
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum())


def gain_of(target, child, scores=None):
    """Gain of a division of rows into children."""
    gain = impurity(target, scores)
    for k in np.unique(child):
        gain -= (child == k).mean() * impurity(target[child == k], scores)
    return gain


class Split(NamedTuple):
    """The best split of a column at a node; child_of is None if there is none."""

    gain: float
    child_of: np.ndarray | None


NOTHING = Split(0.0, None)


def best_cut(codes, target, width, min_share=0.0, scores=None):
    """Try every cut, missing values on the right and on the left, and the known against the missing.

    Of cuts that gain the same the first is taken.
    """
    n, missing = len(codes), width - 1
    tie = 1e-13 * (1 + n * np.log2(max(n, 2))) if scores is None else 0.0
    for least in (max(1.0, min_share * n), 1.0):
        best, best_children = -np.inf, None
        divisions = [(cut, side) for side in (1, 0) for cut in range(missing - 1)] + [(missing - 1, 1)]
        for cut, side in divisions:
            child_of = np.ones(256, dtype=np.intp)
            child_of[: cut + 1] = 0
            child_of[missing] = side
            child = child_of[codes]
            if min((child == 0).sum(), (child == 1).sum()) < least:
                continue
            if cut < missing - 1 and not (codes == cut).any():
                continue  # the same as the cut before
            score = n * gain_of(target, child, scores)
            if score > best + (tie if best_children is not None else 0.0):
                best, best_children = score, child_of
        if best_children is not None:
            return Split(max(0.0, best / n), best_children)
        if min_share == 0:
            break
    return NOTHING


def best_subset_gain(codes, target, scores=None):
    """Try all divisions of the categories, missing values one of them, in two."""
    present = np.unique(codes)
    gains = [0.0]
    for chosen in range(1, 2 ** (len(present) - 1)):
        left = present[[bool(chosen >> k & 1) for k in range(len(present))]]
        gains.append(gain_of(target, np.isin(codes, left).astype(int), scores))
    return max(gains)


def best_sets(codes, target, width, n_codes, scores=None, *, multiway=False):
    """Split a nominal column as the kernel for rows does, with missing as a category."""
    if len(np.unique(codes)) < 2:
        return NOTHING
    own, ones = codes.astype(np.int32), np.ones(len(codes))
    if scores is None:
        classes = target.astype(np.int32)
        gain, branch = _core.nominal_split(own, width, classes, n_codes, ones, "entropy", multiway, "learn")
    else:
        values = scores[target].astype(np.float64)
        gain, branch = _core.nominal_value_split(own, width, values, ones, multiway, "learn")
    return Split(gain, np.maximum(branch, 0))


class Node(NamedTuple):
    """Rows of a node, and the columns that split above it."""

    rows: np.ndarray
    above: tuple[int, ...]


class LevelTrees:
    """Trees on a table of codes, each grown by itself, node by node.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_rows)
        Codes; the last one of every column stands for missing.
    target : ndarray of int
        Classes, or codes of a quantity.
    root : level_forest.Root
        Widths, kinds, and scores of the target codes.
    n_blocks : int
        Row i is in block i modulo this.
    order, permutations : ndarray
        As in `level_forest.grow_levels`.
    options : level_forest.LevelOptions
        How to grow.
    """

    def __init__(self, codes, target, root, n_blocks, order, permutations, options):
        self.codes, self.target, self.root, self.options = codes, target, root, options
        self.order, self.permutations = order, permutations
        self.scores = root.scores if len(root.scores) else None
        self.shadows = {}
        for number in np.unique(permutations[order]).tolist():
            columns = [shadow_of(own, n_blocks, options.seed, number) for own in codes]
            self.shadows[number] = np.array(columns)

    def best(self, column, codes, rows):
        """The best split of a column, or of a shadow of it, at a node."""
        own, target, width = codes[rows], self.target[rows], int(self.root.width[column])
        if self.root.nominal[column]:
            n_codes, multiway = self.root.n_codes, self.options.multiway
            return best_sets(own, target, width, n_codes, self.scores, multiway=multiway)
        return best_cut(own, target, width, self.options.min_share, self.scores)

    def turn(self, tree):
        n, m = self.options.n_shadows, self.options.shadows_per_tree
        return {(k + tree * m) % n for k in range(m)}

    def drawn(self, tree, depth, nodes):
        """Candidates of a level: not those of two values that split above all of its nodes."""
        used_up = [
            column
            for column in self.order.tolist()
            if self.root.width[column] <= 3 and all(column in node.above for node in nodes)
        ]
        some = np.random.default_rng([self.options.seed, 4, tree, depth]).permutation(self.order)
        return [c for c in some.tolist() if c not in used_up][: self.options.n_candidates]

    def weight(self, node):
        counts = np.bincount(self.target[node.rows], minlength=self.root.n_codes)
        return complexity_of(counts[np.newaxis].astype(np.float64))[0]

    def level(self, tree, depth, nodes):
        """Gains of a level, (column, node) -> (weight, gains) and the nodes of the next."""
        drawn, found, children = self.drawn(tree, depth, nodes), {}, []
        for at, node in enumerate(nodes):
            best_merit, best = 0.0, None
            for column in drawn:
                own = self.best(column, self.codes[column], node.rows)
                gains = [own.gain]
                for t in range(self.options.n_shadows):
                    number = int(self.permutations[column, t])
                    has_turn = t in self.turn(tree) and column not in node.above
                    shadow = self.shadows[number][column] if has_turn else None
                    gains.append(np.nan if shadow is None else self.best(column, shadow, node.rows).gain)
                merit = own.gain
                if self.root.nominal[column] and self.root.width[column] - 1 > 16:
                    merit = -np.inf if column in node.above else own.gain - np.nanmean(gains[1:])
                if own.child_of is not None and merit > best_merit + 1e-11 * abs(best_merit):
                    best_merit, best = merit, (column, own.child_of)
                if column not in node.above and self.weight(node) > 0:
                    found[column, at] = (self.weight(node), gains)
            if best is not None:
                column, child_of = best
                child = child_of[self.codes[column][node.rows]]
                children += [
                    Node(node.rows[child == k], (*node.above, column)) for k in range(child.max() + 1)
                ]
        return drawn, found, [node for node in children if len(node.rows) >= self.options.min_split]

    def grow(self, tree):
        """Levels of a tree: a list of (columns, weights, gains), as in `level_forest.LevelGains`."""
        nodes, levels = [Node(np.arange(len(self.target)), ())], []
        if len(self.target) < self.options.min_split:
            return levels
        for depth in range(self.options.max_depth):
            if not nodes or not self.drawn(tree, depth, nodes):
                break
            n_nodes = len(nodes)
            drawn, found, nodes = self.level(tree, depth, nodes)
            keys = [(column, at) for column in drawn for at in range(n_nodes) if (column, at) in found]
            levels.append(
                (
                    np.array([column for column, _ in keys], dtype=np.intp),
                    np.array([found[key][0] for key in keys]),
                    np.array([found[key][1] for key in keys]).reshape(-1, 1 + self.options.n_shadows),
                )
            )
        return levels
