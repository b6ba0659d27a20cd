"""C4.5 written out slowly: growing, collapsing and pruning; the twin of SplitOptions::c45 and c45/prune.cpp.

Nominal columns of X hold category codes, NaN is missing. A tree is a nest of `Twig`s. Rows travel as a
dictionary from row number to weight, so that a row can be in several branches with a part of its weight.
"""

import math
from itertools import combinations, pairwise
from statistics import NormalDist

import numpy as np

NEAR = 1e-6


class Twig:
    """A node: its class weights, and if it is split, by which column, at which cut or groups."""

    def __init__(self, counts):
        self.counts = counts
        self.feature = None
        self.threshold = None
        self.groups = None
        self.children = []

    @property
    def size(self):
        return self.counts.sum()

    @property
    def wrong(self):
        return self.size - self.counts.max()

    @property
    def leaves(self):
        return [leaf for child in self.children for leaf in child.leaves] if self.children else [self]


class C45:
    """Grows and prunes one tree; `fit` returns its root."""

    def __init__(self, X, y, weights=None, nominal=(), **options):
        self.X, self.y, self.nominal = np.asarray(X, dtype=float), np.asarray(y), set(nominal)
        weights = np.ones(len(self.y)) if weights is None else weights
        self.rows = {i: float(w) for i, w in enumerate(weights) if w > 0}
        self.n_classes = int(self.y.max()) + 1
        self.n_present = len({int(self.y[i]) for i in self.rows})
        defaults = {"min_leaf": 2, "ratio": True, "penalty": True, "collapse": True, "confidence": 0.25}
        defaults |= {"raise_subtrees": True, "max_depth": math.inf, "min_gap": 0.0, "groups": False}
        self.options = {**defaults, **options}
        seen = {j: {float(self.X[i, j]) for i in self.rows} for j in self.nominal}
        self.categories = {j: sorted(v for v in seen[j] if v == v) for j in self.nominal}

    def fit(self):
        root = self.grow(self.rows, 0)
        if self.options["collapse"]:
            self.collapse(root)
        if self.options["confidence"]:
            self.prune(root, self.rows)
        return root

    def count(self, rows):
        counts = np.zeros(self.n_classes)
        for i, weight in rows.items():
            counts[self.y[i]] += weight
        return counts

    # --- growing ---

    def grow(self, rows, depth):
        twig = Twig(self.count(rows))
        least = 2 * self.options["min_leaf"] - NEAR
        if twig.size < least or twig.wrong <= NEAR or depth >= self.options["max_depth"]:
            return twig
        best = self.choose(rows)
        if best is None:
            return twig
        twig.feature, how = best
        if twig.feature not in self.nominal:
            twig.threshold = how
        elif self.options["groups"]:
            twig.groups = self.with_others(how, rows, twig.feature)
        else:
            twig.groups = [[category] for category in self.categories[twig.feature]]
        twig.children = [self.grow(part, depth + 1) for part in self.share(twig, rows)]
        return twig

    def choose(self, rows):
        offers = {}
        for j in range(self.X.shape[1]):
            offer = self.nominal_offer(rows, j) if j in self.nominal else self.numeric_offer(rows, j)
            if offer is not None:
                offers[j] = offer
        n = sum(self.rows.values())
        many = {j for j in self.nominal if len(self.categories[j]) >= 0.3 * n - NEAR}
        if len(many) == self.X.shape[1] or self.options["groups"]:
            many = set()
        counted = [gain for j, (gain, _, _) in offers.items() if j not in many]
        if self.options["ratio"] and not counted:
            return None
        floor = sum(counted) / len(counted) - 1e-3 if self.options["ratio"] else NEAR
        best, chosen = (0.0, None) if self.options["ratio"] else (-1.0, None)
        for j, (gain, ratio, how) in offers.items():
            value, tie = (ratio, NEAR) if self.options["ratio"] else (gain, 1e-12)
            if gain >= floor and gain >= NEAR and value > best + tie:
                best, chosen = value, (j, how)
        return chosen

    def offer(self, rows, groups, penalty=0.0):
        """Gain and gain ratio of a division of the known rows."""
        n = sum(rows.values())
        counts = np.array([self.count(group) for group in groups])
        known = counts.sum()
        before, after = entropy(counts.sum(axis=0)), sum(c.sum() / known * entropy(c) for c in counts)
        gain = max(0.0, before - after) * known / n - penalty
        information = entropy([*counts.sum(axis=1), n - known])
        return gain, gain / information if information > 0 else 0.0

    def nominal_offer(self, rows, j):
        groups = {}
        for i, weight in rows.items():
            if self.X[i, j] == self.X[i, j]:
                groups.setdefault(self.X[i, j], {})[i] = weight
        names = [[category] for category in sorted(groups)]
        if self.options["groups"]:
            names = self.merged(rows, groups, names)
        parts = [self.joined(groups, some) for some in names]
        return (*self.offer(rows, parts), names) if self.n_large(parts) > 1 else None

    def n_large(self, parts):
        """How many parts weigh enough for a leaf."""
        return sum(sum(part.values()) >= self.options["min_leaf"] - NEAR for part in parts)

    @staticmethod
    def joined(groups, categories):
        """The rows of some categories, given those of each."""
        return {i: weight for category in categories for i, weight in groups[category].items()}

    def merged(self, rows, groups, names):
        """Merge the pair of groups with the best gain ratio as long as it rises (Quinlan 1993, chapter 7)."""

        def judged(some):
            parts = [self.joined(groups, names) for names in some]
            return self.offer(rows, parts)[1], self.n_large(parts)

        while len(names) > 2:
            ratio, n_large = judged(names)
            best, chosen = (ratio if n_large > 1 else -1.0), None
            for i, j in combinations(range(len(names)), 2):
                some = [*names[:j], *names[j + 1 :]]
                some[i] = sorted(names[i] + names[j])
                value, n_left = judged(some)
                if value > best + NEAR and (n_left > 1 or n_large < 2):
                    best, chosen = value, some
            if chosen is None:
                break
            names = chosen
        return names

    def with_others(self, names, rows, j):
        """Groups of all categories: those that do not occur among the rows are in the largest group."""
        sizes = [0.0] * len(names)
        for i, weight in rows.items():
            for k, some in enumerate(names):
                sizes[k] += weight * (self.X[i, j] in some)
        largest = sizes.index(max(sizes))
        known = {category for some in names for category in some}
        extra = [category for category in self.categories[j] if category not in known]
        return [sorted(some + extra) if k == largest else some for k, some in enumerate(names)]

    def numeric_offer(self, rows, j):
        known = {i: weight for i, weight in rows.items() if self.X[i, j] == self.X[i, j]}
        n_known = sum(known.values())
        values = sorted({float(self.X[i, j]) for i in known})
        least = max(self.options["min_leaf"], min(25.0, 0.1 * n_known / self.n_present)) - NEAR
        best, chosen, n_cuts = -1.0, None, 0
        for low, high in pairwise(values):
            left = {i: w for i, w in known.items() if self.X[i, j] <= low}
            right = {i: w for i, w in known.items() if self.X[i, j] > low}
            too_close = not low + self.options["min_gap"] < high
            if too_close or min(sum(left.values()), sum(right.values())) < least:
                continue
            n_cuts += 1
            gain, _ = self.offer(rows, [left, right])
            if gain > best + 1e-12:
                best, chosen = gain, ([left, right], (low + high) / 2)
        if chosen is None:
            return None
        penalty = math.log2(n_cuts) / sum(rows.values()) if self.options["penalty"] else 0.0
        gain, ratio = self.offer(rows, chosen[0], penalty)
        return (gain, ratio, chosen[1]) if gain > NEAR else None

    def share(self, twig, rows):
        """The rows of every branch; those with a missing value are in all of them, in parts."""
        parts = [{} for _ in (twig.groups if twig.groups is not None else range(2))]
        everywhere = {}
        for i, weight in rows.items():
            value = self.X[i, twig.feature]
            if value != value:
                everywhere[i] = weight
            elif twig.groups is not None:
                parts[next(k for k, some in enumerate(twig.groups) if value in some)][i] = weight
            else:
                parts[int(value > twig.threshold)][i] = weight
        known = [sum(part.values()) for part in parts]
        shares = [size / sum(known) if sum(known) > 0 else 1 / len(parts) for size in known]
        for part, share in zip(parts, shares, strict=True):
            part.update({i: weight * share for i, weight in everywhere.items() if share > 0})
        return parts

    # --- after growing ---

    def collapse(self, twig):
        if sum(leaf.wrong for leaf in twig.leaves) >= twig.wrong - 1e-3:
            twig.children = []
        for child in twig.children:
            self.collapse(child)

    def prune(self, twig, rows):
        if not twig.children:
            return
        for child, part in zip(twig.children, self.share(twig, rows), strict=True):
            self.prune(child, part)
        largest = twig.children[0]
        for child in twig.children:
            if child.size >= largest.size - NEAR:
                largest = child
        as_tree = sum(self.expected(leaf.counts) for leaf in twig.leaves)
        as_leaf = self.expected(twig.counts)
        raised = self.expected_below(largest, rows) if self.options["raise_subtrees"] else math.inf
        if as_leaf <= min(as_tree, raised) + 0.1 + NEAR:
            twig.children = []
        elif raised <= as_tree + 0.1 + NEAR:
            twig.feature, twig.threshold = largest.feature, largest.threshold
            twig.groups, twig.children = largest.groups, largest.children
            self.recount(twig, rows)
            self.prune(twig, rows)

    def recount(self, twig, rows):
        twig.counts = self.count(rows)
        for child, part in zip(twig.children, self.share(twig, rows) if twig.children else (), strict=True):
            self.recount(child, part)

    def expected_below(self, twig, rows):
        """Errors to be expected if these rows were sent down a twig."""
        if not twig.children:
            return self.expected(self.count(rows))
        parts = self.share(twig, rows)
        return sum(self.expected_below(c, part) for c, part in zip(twig.children, parts, strict=True))

    def expected(self, counts):
        n = counts.sum()
        wrong = n - counts.max()
        return wrong + added_errors(n, wrong, self.options["confidence"]) if n > NEAR else 0.0


def entropy(counts):
    """Entropy in bits."""
    total = sum(counts)
    return -sum(c / total * math.log2(c / total) for c in counts if c > 0)


def added_errors(n, errors, confidence):
    """The upper limit of the errors among n rows, at a confidence, less the errors that there are."""
    if errors < 1:
        none = n * (1 - confidence ** (1 / n))
        return none + errors * (added_errors(n, 1, confidence) - none) if errors > 0 else none
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    z = NormalDist().inv_cdf(1 - confidence)
    f = (errors + 0.5) / n
    middle, spread = f + z * z / (2 * n), z * math.sqrt(f * (1 - f) / n + z * z / (4 * n * n))
    return n * (middle + spread) / (1 + z * z / n) - errors


def same_tree(table, twig, node=0):
    """Whether a node table holds this twig, with all that is below it."""
    row = table.nodes[node]
    if twig.size > 0:
        if not np.allclose(table.counts[node], twig.counts, rtol=1e-9, atol=1e-9):
            return False
    elif row["size"] != 1e-200 or twig.children:
        return False
    if not twig.children:
        return row["first_child"] < 0
    if row["feature"] != twig.feature or row["n_children"] != len(twig.children):
        return False
    if twig.groups is None:
        if not math.isclose(row["threshold"], twig.threshold):
            return False
    else:
        entries = slice(*table.set_offsets[row["category_set"] : row["category_set"] + 2])
        branches = {category: b for b, some in enumerate(twig.groups) for category in some}
        codes, found = table.set_codes[entries].tolist(), table.set_branches[entries].tolist()
        if codes != sorted(branches) or found != [branches[code] for code in codes]:
            return False
    return all(same_tree(table, child, row["first_child"] + b) for b, child in enumerate(twig.children))
