"""Random problems, and single trees grown on the engine itself from plain arrays."""

import math

import numpy as np

from foresift import _core
from foresift.engine.node_table import NodeTable


def make_problem(seed, *, max_rows=40, missing=0.0, nominal=(), whole=True):
    """Return X, y, weights with ties, constant columns and, on wish, missing values and real weights."""
    rng = np.random.default_rng(seed)
    n, p = rng.integers(2, max_rows), rng.integers(max(2, 1 + max(nominal, default=0)), 5)
    X = rng.integers(0, rng.integers(1, 9, p), (n, p)).astype(float)
    for j in range(p):
        if j not in nominal and rng.random() < 0.3:
            X[:, j] = rng.normal(size=n)
    X[rng.random((n, p)) < missing] = math.nan
    y = rng.integers(0, rng.integers(2, 4), n)
    y[:2] = 0, 1
    weights = rng.integers(1, 4, n) if whole else rng.random(n) + 0.1
    return X, y, (None if rng.random() < 0.3 else weights.astype(float))


def make_grower(X, y, weights=None, nominal=(), **options):
    """Return a grower that tries every column unless told otherwise; nominal columns hold codes.

    With the criterion "variance" y is a quantity, else it holds classes.
    """
    X = np.asarray(X, dtype=float)
    store = _core.ColumnStore(len(X), options.pop("max_bins", 65_536))
    for j, column in enumerate(X.T):
        if j in nominal:
            codes = np.where(np.isnan(column), -1, column).astype(np.int32)
            store.add_nominal(codes, int(codes.max(initial=-1)) + 1)
        else:
            store.add_numeric(column[:, np.newaxis])
    n_classes = options.pop("n_classes", None)
    options = _core.GrowOptions(**{"max_features": X.shape[1], **options})
    weights = None if weights is None else np.asarray(weights, dtype=float)
    if options.criterion == "variance":
        return _core.Grower(store, np.asarray(y, dtype=float), weights, options)
    n_classes = int(y.max()) + 1 if n_classes is None else n_classes
    return _core.Grower(store, np.asarray(y, dtype=np.int32), n_classes, weights, options)


def grow_one(grower, tree=0, feature_weights=None, *, tried=False):
    """Return the node table of the tree of that number."""
    (arrays,) = grower.grow([tree], feature_weights)
    return NodeTable.from_core(arrays, tried=tried)


def grow(X, y, weights=None, nominal=(), tree=0, feature_weights=None, **options):
    """Return the node table of one tree, from data to tree in one call."""
    grower = make_grower(X, y, weights, nominal, **options)
    return grow_one(grower, tree, feature_weights, tried=options.get("record_tried", False))


QUANTITIES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "whole": lambda rng, n: rng.integers(-3, 4, n).astype(float),
    "two values": lambda rng, n: rng.choice([-0.25, 11.75], n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n),
    "offset": lambda rng, n: 1e9 + rng.normal(size=n),
}


def make_quantity_problem(seed, kind, **options):
    """Return X, y, weights as `make_problem` does, y being a quantity that has a little to do with X."""
    X, y, weights = make_problem(seed, **options)
    rng = np.random.default_rng([seed, 1])
    values = QUANTITIES[kind](rng, len(y))
    order = np.argsort(np.nan_to_num(X[:, 0]) + rng.normal(size=len(y)), kind="stable")
    y = np.empty(len(y))
    y[order] = np.sort(values)
    return X, y, weights
