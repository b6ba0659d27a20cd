"""The thesis of Bommaganti written out slowly: cumulative gain, feature boosting, votes, boosting, sizes.

Nominal columns of X hold category codes, NaN is missing. A node of a tree is the vector of the weights that
rows have there, 0 for those that are elsewhere: a row with a missing value is in several branches in parts.
"""

import math
import statistics
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import numpy as np

NOTHING = 1e-12  # bits
TIE = 1e-10


def entropy(y, weights):
    """Entropy in bits of the classes of weighted rows (eq. 3)."""
    total = weights.sum()
    parts = [weights[y == c].sum() / total for c in np.unique(y)]
    return -sum(p * math.log2(p) for p in parts if p > 0)


# --- cumulative information gain (section 3.5) ---


def is_pure(y, node):
    return len(np.unique(y[node > 0])) < 2


def best_split(x, y, node, nominal):
    """Gain of the best split of a node by one column and the branch of every row, NaN if unknown; or None."""
    here = node > 0
    known = here & ~np.isnan(x)
    values = sorted(set(x[known].tolist()))
    if len(values) < 2 or is_pure(y, node):
        return None
    if nominal:
        options = [np.where(known, np.searchsorted(values, np.nan_to_num(x)), np.nan)]
    else:
        options = [np.where(known, x > low, np.nan) for low, _ in pairwise(values)]
    best = None
    for branches in options:
        after = 0.0
        for b in np.unique(branches[known]):
            inside = np.where(known & (branches == b), node, 0.0)
            after += inside.sum() / node[known].sum() * entropy(y, inside)
        gain = (entropy(y, np.where(known, node, 0.0)) - after) * node[known].sum() / node.sum()
        if best is None or gain > best[0] + TIE:
            best = gain, branches
    return best


def divide(node, branches):
    """The nodes below: known rows in their branch, the others in all branches by the shares of those."""
    known = ~np.isnan(branches) & (node > 0)
    unknown = np.isnan(branches) & (node > 0)
    below = []
    for b in np.unique(branches[known]):
        inside = known & (branches == b)
        share = node[inside].sum() / node[known].sum()
        below.append(np.where(inside, node, np.where(unknown, node * share, 0.0)))
    return below


def gain_at(x, y, node, nominal):
    split = best_split(x, y, node, nominal)
    return 0.0 if split is None else max(0.0, split[0])


def cumulative_gains(X, y, nodes, nominal, total):
    """The definition of section 3.5, for every column."""
    return [
        sum(node.sum() * gain_at(X[:, j], y, node, j in nominal) for node in nodes) / total
        for j in range(X.shape[1])
    ]


def first_best(values, among):
    """The best of some, of equal ones the first."""
    most = max(values[j] for j in among)
    return next(j for j in among if values[j] >= most - TIE)


def tree_levels(X, y, weights, nominal=()):
    """Yield the nodes of one level after another of the tree in which every node has its own best split."""
    nodes = [np.asarray(weights, dtype=float)]
    while nodes:
        yield nodes
        below = []
        for node in nodes:
            splits = {j: best_split(X[:, j], y, node, j in nominal) for j in range(X.shape[1])}
            splits = {j: split for j, split in splits.items() if split is not None}
            if splits:
                chosen = first_best({j: split[0] for j, split in splits.items()}, splits)
                below += divide(node, splits[chosen][1])
        nodes = below


def cumulative_order(X, y, weights=None, nominal=(), oblivious=False):
    """Return {column: (level, gain)} of the taken columns in their order, and the gains over the table."""
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    taken, whole = {}, None
    levels = (
        oblivious_levels(X, y, weights, nominal, taken) if oblivious else tree_levels(X, y, weights, nominal)
    )
    for level, nodes in enumerate(levels):
        total = weights.sum() if oblivious else sum(node.sum() for node in nodes)
        gains = cumulative_gains(X, y, nodes, nominal, total)
        whole = gains if level == 0 else whole
        left = [j for j in range(X.shape[1]) if j not in taken]
        if left and max(gains[j] for j in left) > NOTHING:
            best = first_best(gains, left)
            taken[best] = level, gains[best]
        elif oblivious:
            break
    return taken, whole


def oblivious_levels(X, y, weights, nominal, taken):
    """The same where all nodes of a level are split by the column that was taken from it, if they can be."""
    nodes = [weights]
    while True:
        yield nodes
        chosen = list(taken)[-1]
        below = []
        for node in nodes:
            split = best_split(X[:, chosen], y, node, chosen in nominal)
            below += [node] if split is None else divide(node, split[1])
        nodes = below


# --- feature boosting (section 3.6) ---


def psi(x):
    """The sigmoid of eq. 8."""
    return (1 - math.exp(-4 * x)) / (1 + math.exp(-4 * x)) if x > -100 else -1.0


def relative_change(accuracy, before, n_features, size):
    """Eq. 8: mean and deviation of the iterations before; no change where they do not differ."""
    deviation = statistics.stdev(before)
    if deviation < 1e-12 or n_features == 1:
        return 0.0
    factor = (n_features - size) / (n_features - 1)
    return factor * psi((accuracy - statistics.fmean(before)) / deviation)


def feature_boosting(subsets, accuracies, n_features, init=3, rate=1.0, order=1):
    """Table 3, given what was drawn and how accurate it was: {feature or pair: weight}, and the changes."""
    things = [frozenset(c) for c in combinations(range(n_features), order)]
    weights = dict.fromkeys(things, 1 / len(things))
    changes = []
    for i, (subset, accuracy) in enumerate(zip(subsets, accuracies, strict=True)):
        change = 0.0
        if i + 1 > init:
            change = rate * relative_change(accuracy, accuracies[:i], n_features, len(subset))
        changes.append(change)
        for thing in things:
            if change and thing <= set(map(int, subset)):
                weights[thing] *= 1 + change
        if change:
            weights = {thing: max(w, 1e-9 / len(things)) for thing, w in weights.items()}
        total = sum(weights.values())
        weights = {thing: w / total for thing, w in weights.items()}
    return weights, changes


def of_features(weights, n_features):
    """Weight of every feature: the sum over its pairs, each of which belongs to two; or its own."""
    return [sum(w / len(thing) for thing, w in weights.items() if j in thing) for j in range(n_features)]


def subset_probabilities(weights, size):
    """Probability of every subset of features that are drawn one after another, without replacement."""
    probabilities = {}
    for order in permutations(range(len(weights)), size):
        p, left = 1.0, sum(weights)
        for j in order:
            p *= weights[j] / left if weights[j] else 0.0
            left -= weights[j]
        key = tuple(sorted(order))
        probabilities[key] = probabilities.get(key, 0.0) + p
    return probabilities


# --- votes and boosting (eq. 7, section 2.4.2) ---


def weighted_vote(predictions, accuracies, n_classes):
    """Eq. 7: class of every row; predictions[i][r] is the class that member i gives to row r."""
    weights = [Fraction(a) / sum(Fraction(b) for b in accuracies) for a in accuracies]
    out = []
    for row in zip(*predictions, strict=True):
        votes = [
            sum((w for w, p in zip(weights, row, strict=True) if p == c), Fraction())
            for c in range(n_classes)
        ]
        out.append(votes.index(max(votes)))
    return out


def adaboost(first, wrongs):
    """Ada-Boosting: probabilities before each member, errors, votes (None if it is dropped)."""
    p, n_rows = list(first), sum(1 for x in first if x > 0)
    probabilities, errors, votes = [], [], []
    for wrong in wrongs:
        probabilities.append(p)
        error = sum(x for x, bad in zip(p, wrong, strict=True) if bad)
        errors.append(error)
        if error >= 0.5 - 1e-12 or error == 0:
            votes.append(math.log2((1 - 0.5 / n_rows) / (0.5 / n_rows)) if error == 0 else None)
            p = list(first)
            continue
        factor = (1 - error) / error
        votes.append(math.log2(factor))
        p = [x * factor if bad else x for x, bad in zip(p, wrong, strict=True)]
        p = [x / sum(p) for x in p]
    return probabilities, errors, votes


def arc_x4(first, wrongs):
    """Arcing: probabilities before each member, and the errors by them."""
    times = [0] * len(first)
    probabilities, errors = [], []
    for wrong in wrongs:
        p = [x * (1 + m**4) for x, m in zip(first, times, strict=True)]
        p = [x / sum(p) for x in p]
        probabilities.append(p)
        errors.append(sum(x for x, bad in zip(p, wrong, strict=True) if bad))
        times = [m + bool(bad) for m, bad in zip(times, wrong, strict=True)]
    return probabilities, errors


# --- size of the subset ---


def one_standard_error(sizes, scores, rule="one-se"):
    """The smallest size within one standard error of the best mean; scores[f][s] of fold f and size s."""
    means = [statistics.fmean(fold[s] for fold in scores) for s in range(len(sizes))]
    best = next(s for s in range(len(sizes)) if means[s] >= max(means) - 1e-12)
    if rule == "best":
        return sizes[best]
    error = statistics.stdev([fold[best] for fold in scores]) / math.sqrt(len(scores))
    return next(size for size, mean in zip(sizes, means, strict=True) if mean >= means[best] - error - 1e-12)
