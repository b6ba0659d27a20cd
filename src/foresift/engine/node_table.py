"""The node table: one tree as flat arrays, for prediction, importances and plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.complexity import complexity_of
from foresift.data.plain_state import saved

__all__ = ["NODE_DTYPE", "TRIED_DTYPE", "NodeTable", "complexities", "contributions", "leaves"]

TableArrays = tuple[
    NDArray[np.uint8], NDArray[np.float64], NDArray[np.int32], NDArray[np.uint16], NDArray[np.uint16]
]

# The layout of `Node` and `Tried` in cpp/grow/node.hpp.
NODE_DTYPE = np.dtype(
    [
        ("parent", "i4"),
        ("first_child", "i4"),
        ("feature", "i4"),
        ("category_set", "i4"),
        ("n_children", "u2"),
        ("majority_branch", "u2"),
        ("missing_branch", "i4"),
        ("threshold", "f8"),
        ("gain", "f8"),
        ("size", "f8"),
    ]
)
TRIED_DTYPE = np.dtype([("node", "i4"), ("feature", "i4"), ("gain", "f8")])


@saved
@dataclass(frozen=True, eq=False)
class NodeTable:
    """One tree as flat arrays: row 0 is the root, the children of a node follow each other.

    Attributes
    ----------
    nodes : structured array of shape (n_nodes,)
        `parent` (-1: root), `first_child` and `feature` (-1: leaf), `n_children`, `threshold` (a numeric
        value at or below it goes to child 0, else child 1), `category_set` (-1: numeric cut),
        `missing_branch` (the child of missing values; -1: all children, as fractional cases),
        `majority_branch` (the largest child, for categories that did not occur at the node), `gain` (in the
        unit of the criterion), `size` (weight of the rows).
    counts : ndarray of shape (n_nodes, n_outputs)
        Weight of every class at every node. A regression tree has one column: the weighted sum of y, which
        divided by `size` is the prediction.
    set_offsets, set_codes, set_branches : ndarray
        Category set s is `set_codes[set_offsets[s]:set_offsets[s + 1]]`; `set_branches` holds the child of
        each of these categories.
    tried : structured array or None
        `node`, `feature` and `gain` of every split candidate, if recorded.
    permuted : ndarray of shape (n_tried, n_permutations) or None
        Gain of each split candidate with the classes, or y, of the node's rows permuted, if requested; NaN
        for the other columns.
    complexity : ndarray of shape (n_nodes,) or None
        Node complexity of a regression tree, in which every distinct y is a class of its own; None for a
        classification tree, where it follows from `counts`: see `complexities`.
    variance : ndarray of shape (n_nodes,) or None
        Variance of y at the nodes with split candidates, if a regression tree recorded these.
    """

    nodes: NDArray[Any]
    counts: NDArray[np.float64]
    set_offsets: NDArray[np.int32]
    set_codes: NDArray[np.uint16]
    set_branches: NDArray[np.uint16]
    tried: NDArray[Any] | None = None
    permuted: NDArray[np.float64] | None = None
    complexity: NDArray[np.float64] | None = None
    variance: NDArray[np.float64] | None = None

    @classmethod
    def from_core(cls, arrays: Sequence[NDArray[Any]], *, tried: bool) -> NodeTable:
        """Make a table from the arrays of the native engine."""
        nodes, counts, set_offsets, set_codes, set_branches, candidates, permuted, *of_quantity = arrays
        complexity, variance = (array if len(array) else None for array in of_quantity)
        return cls(
            nodes.view(NODE_DTYPE)[:, 0],
            counts,
            set_offsets,
            set_codes,
            set_branches,
            candidates.view(TRIED_DTYPE)[:, 0] if tried else None,
            permuted if permuted.ndim == 2 else None,
            complexity,
            variance,
        )

    @property
    def arrays(self) -> TableArrays:
        """The arrays in the format of the native engine."""
        raw = self.nodes.view(np.uint8).reshape(len(self.nodes), NODE_DTYPE.itemsize)
        return raw, self.counts, self.set_offsets, self.set_codes, self.set_branches

    @property
    def tried_bytes(self) -> NDArray[np.uint8]:
        """The split candidates in the format of the native engine."""
        assert self.tried is not None
        return self.tried.view(np.uint8).reshape(len(self.tried), TRIED_DTYPE.itemsize)

    @property
    def has_classes(self) -> bool:
        """Whether it is a classification tree."""
        return self.complexity is None

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Mask of the leaves."""
        return np.asarray(self.nodes["first_child"] < 0)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def levels(self) -> NDArray[np.intp]:
        """Depth of each node."""
        levels = np.zeros(len(self.nodes), dtype=np.intp)
        frontier, level = np.array([0]), 0
        while len(frontier):
            levels[frontier] = level
            inner = frontier[~self.is_leaf[frontier]]
            first, count = self.nodes["first_child"][inner], self.nodes["n_children"][inner].astype(np.intp)
            ordinal = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            frontier, level = np.repeat(first, count) + ordinal, level + 1
        return levels

    @property
    def depth(self) -> int:
        """Depth of the tree."""
        return int(self.levels.max())

    def decreases(self, n_features: int) -> NDArray[np.float64]:
        """Sum of size times gain of each feature's splits, relative to the size of the root."""
        inner = ~self.is_leaf
        feature, size, gain = (self.nodes[name][inner] for name in ("feature", "size", "gain"))
        sums = np.bincount(feature, size * gain, minlength=n_features)
        return np.asarray(sums / self.nodes["size"][0])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NodeTable):
            return NotImplemented
        return all(_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]


def leaves(n_nodes: int) -> NDArray[Any]:
    """Nodes that are leaves without a parent and of size 0."""
    nodes = np.zeros(n_nodes, dtype=NODE_DTYPE)
    for name in ("parent", "first_child", "feature", "category_set"):
        nodes[name] = -1
    return nodes


def complexities(table: NodeTable, nodes: Any = slice(None)) -> NDArray[np.float64]:
    """Node complexity of some nodes of a tree, in bits (Rogers & Gunn eq. 6-10)."""
    return complexity_of(table.counts[nodes]) if table.complexity is None else table.complexity[nodes]


def contributions(tables: Sequence[NodeTable], n_features: int) -> NDArray[np.float64]:
    """Contribution ratio of every feature in percent (Murata eq. 5), all 0 without a split.

    It is a mean of ratios, so all trees have equal weight. Trees without a split (0 / 0) are left out.
    """
    shares = []
    for table in tables:
        inner = table.nodes["first_child"] >= 0
        sizes = np.bincount(table.nodes["feature"][inner], table.nodes["size"][inner], minlength=n_features)
        if inner.any():
            shares.append(sizes / sizes.sum())
    return 100.0 * np.mean(shares, axis=0) if shares else np.zeros(n_features)


def _equal(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    # Permuted gains may be NaN; records and integers cannot.
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
