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
    """Return a grower that tries every column unless told otherwise; nominal columns hold codes."""
    X = np.asarray(X, dtype=float)
    store = _core.ColumnStore(len(X), options.pop("max_bins", 65_536))
    for j, column in enumerate(X.T):
        if j in nominal:
            codes = np.where(np.isnan(column), -1, column).astype(np.int32)
            store.add_nominal(codes, int(codes.max(initial=-1)) + 1)
        else:
            store.add_numeric(column[:, np.newaxis])
    n_classes = options.pop("n_classes", int(y.max()) + 1)
    options = {"max_features": X.shape[1], **options}
    weights = None if weights is None else np.asarray(weights, dtype=float)
    return _core.Grower(
        store, np.asarray(y, dtype=np.int32), n_classes, weights, _core.GrowOptions(**options)
    )


def grow_one(grower, tree=0, feature_weights=None, *, tried=False):
    """Return the node table of the tree of that number."""
    (arrays,) = grower.grow([tree], feature_weights)
    return NodeTable.from_core(arrays, tried=tried)


def grow(X, y, weights=None, nominal=(), tree=0, feature_weights=None, **options):
    """Return the node table of one tree, from data to tree in one call."""
    grower = make_grower(X, y, weights, nominal, **options)
    return grow_one(grower, tree, feature_weights, tried=options.get("record_tried", False))
