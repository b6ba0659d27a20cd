"""Trees grown level by level from histograms, all of them together, with gains of shadow features beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from foresift import _core
from foresift.data.coded_blocks import Block, CodedBlocks, Sums
from foresift.data.complexity import complexity_of
from foresift.engine.grow import in_threads

__all__ = ["LevelGains", "LevelOptions", "Requests", "Root", "grow_levels", "root_sums"]

CODES = 256
MAX_SUMS = 2**25  # numbers of histograms at a time, 256 MB; beyond, a level takes several passes
MANY_CATEGORIES = 16  # of a nominal column, from which on its gain is compared with its shadows'


@dataclass(frozen=True, eq=False)
class Requests:
    """Histograms at the nodes of trees, as a sum over rows; the arrays are those of `_core.LevelPlan`."""

    arrays: dict[str, NDArray[Any]]
    n_codes: int
    seed: int

    @property
    def plan(self) -> _core.LevelPlan:
        """As the core takes it."""
        return _core.LevelPlan.make(**self.arrays, n_codes=self.n_codes, seed=self.seed)

    def zeros(self) -> Sums:
        """Histograms, and target codes of the nodes."""
        plan = self.plan
        return np.zeros(plan.n_sums, np.int64), np.zeros(plan.n_counts, np.int64)

    def add(self, block: Block, to: Sums, stop: Any) -> None:
        """Add the rows of a block."""
        self.plan.add(block.codes, block.target, block.number, *to, stop)


class Root(NamedTuple):
    """What all histograms have in common.

    Attributes
    ----------
    width : ndarray of uint32
        Codes of every column, with that of missing values, which is the last.
    nominal : ndarray of uint8
        Which columns have no order.
    n_codes : int
        Codes of the target.
    scores : ndarray of uint32
        Number of every target code of a quantity; empty for classes.
    """

    width: NDArray[np.uint32]
    nominal: NDArray[np.uint8]
    n_codes: int
    scores: NDArray[np.uint32]

    @classmethod
    def of(cls, blocks: CodedBlocks, scores: NDArray[np.uint32] | None = None) -> Root:
        """What the coding of blocks says."""
        coding = blocks.coding
        nominal = coding.schema.nominal.astype(np.uint8)
        none = np.empty(0, np.uint32)
        return cls(
            coding.n_values + np.uint32(1), nominal, coding.n_target_codes, none if scores is None else scores
        )

    @property
    def n_sums(self) -> int:
        """Numbers of a histogram per code."""
        return 2 if len(self.scores) else self.n_codes


def root_sums(blocks: CodedBlocks, root: Root) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Histogram of every column over all rows, and how many rows have each target code."""
    columns = np.arange(len(root.width), dtype=np.uint32)
    sums, counts = [], np.zeros(root.n_codes, np.int64)
    sizes = root.width.astype(np.int64) * root.n_sums
    for some in _chunks(sizes):
        none = np.zeros(some.stop - some.start, np.uint32)
        arrays = _arrays(_Nodes(), none.astype(np.intp), columns[some], none, root)
        found, counts = blocks.sum(Requests(arrays, root.n_codes, 0))
        parts = np.split(found, np.cumsum(sizes[some])[:-1])
        sums += [part.reshape(root.n_sums, -1) for part in parts]
    return sums, counts


@dataclass(frozen=True)
class LevelOptions:
    """How trees are grown.

    Attributes
    ----------
    n_trees, n_candidates : int
        Trees, and columns that are split candidates at a node.
    max_depth, min_split : int
        Levels of splits, and least rows of a node that is split.
    min_share : float
        Least share of a node's rows on either side of a cut.
    multiway : bool
        Whether nominal columns have a branch per category.
    n_shadows, shadows_per_tree : int
        Shadows of a column, and how many of them each tree scores, in turn.
    seed : int
        Draws columns and permutations.
    """

    n_trees: int
    n_candidates: int
    max_depth: int
    min_split: int
    min_share: float
    multiway: bool
    n_shadows: int
    shadows_per_tree: int
    seed: int


class LevelGains(NamedTuple):
    """Gains at nodes of trees where a column was a split candidate, and not below a split on it.

    Attributes
    ----------
    column : ndarray of shape (n,)
        The column.
    weight : ndarray of shape (n,)
        Complexity of the node.
    gain : ndarray of shape (n, 1 + n_shadows)
        Gains of the column and its shadows; NaN for those that had no turn.
    """

    column: NDArray[np.intp]
    weight: NDArray[np.float64]
    gain: NDArray[np.float64]


class _Nodes:
    """The nodes of all trees, those that trees share once; node 0 is the root."""

    def __init__(self) -> None:
        self.above: list[tuple[int, ...]] = [()]  # columns that split above a node
        self.splits: list[list[int]] = [[]]  # of every node
        self.column: list[int] = []  # of every split, and so on
        self.first_child: list[int] = []
        self.n_children: list[int] = []
        self.child_of: list[NDArray[np.uint8]] = []

    def split(self, node: int, column: int, n_children: int, child_of: NDArray[np.uint8]) -> int:
        """Split a node by a column; returns the number of the first child."""
        self.splits[node].append(len(self.column))
        self.column.append(column)
        self.first_child.append(len(self.above))
        self.n_children.append(n_children)
        self.child_of.append(child_of)
        self.above += [(*self.above[node], column)] * n_children
        self.splits += [[] for _ in range(n_children)]
        return self.first_child[-1]


def grow_levels(
    blocks: CodedBlocks,
    root: Root,
    order: NDArray[np.uint32],
    permutations: NDArray[np.uint32],
    options: LevelOptions,
    n_jobs: int | None,
    advance: Callable[[int], bool],
) -> list[LevelGains]:
    """Grow trees on all rows, a level of all of them at a time, and return the gains of every level.

    Trees that split the same nodes by the same columns share them: histograms of a node are made once.

    Parameters
    ----------
    blocks : CodedBlocks
        The rows.
    root : Root
        What histograms have in common.
    order : ndarray of uint32
        Columns to draw from.
    permutations : ndarray of uint32 of shape (n_columns, n_shadows)
        Which permutation of the rows of its block each shadow has.
    options : LevelOptions
        How to grow.
    n_jobs : int or None
        Threads that search histograms.
    advance : callable
        Told after each level how many of them are done; returns whether to stop.

    Returns
    -------
    list of LevelGains
        The same wherever the rows lie, for the same blocks.
    """
    nodes, levels = _Nodes(), []
    at = _Places(np.arange(options.n_trees), np.zeros(options.n_trees, np.intp))
    for depth in range(options.max_depth):
        if not len(at.tree) or blocks.n_rows < options.min_split:
            break
        drawn = _drawn(nodes, at, order, root, options, depth)
        found = _searched(blocks, nodes, at, drawn, permutations, root, options, n_jobs)
        levels.append(found.gains)
        at = found.below
        if advance(depth + 1):
            break
    return levels


class _Places(NamedTuple):
    """Nodes of single trees, tree by tree."""

    tree: NDArray[np.intp]
    node: NDArray[np.intp]


class _Searched(NamedTuple):
    gains: LevelGains
    below: _Places


def _drawn(
    nodes: _Nodes, at: _Places, order: NDArray[np.uint32], root: Root, options: LevelOptions, depth: int
) -> NDArray[np.intp]:
    """Split candidates of every place, one row each; -1 where there are fewer.

    A column of two values that split above does not vary below, and is not drawn.
    """
    keys = np.random.default_rng([options.seed, 4, depth]).random((len(at.node), len(order)))
    place = {column: k for k, column in enumerate(order.tolist())}
    for row, node in enumerate(at.node.tolist()):
        for column in nodes.above[node]:
            if root.width[column] <= 3:  # two values, and missing
                keys[row, place[column]] = np.inf
    n = min(options.n_candidates, len(order))
    some = np.argpartition(keys, n - 1, axis=1)[:, :n] if n < len(order) else np.argsort(keys, axis=1)
    chosen = np.take_along_axis(keys, some, axis=1)
    some = np.take_along_axis(some, np.argsort(chosen, axis=1, kind="stable"), axis=1)
    out = order[some].astype(np.intp)
    out[np.isinf(np.take_along_axis(keys, some, axis=1))] = -1
    return out


def _searched(
    blocks: CodedBlocks,
    nodes: _Nodes,
    at: _Places,
    drawn: NDArray[np.intp],
    permutations: NDArray[np.uint32],
    root: Root,
    options: LevelOptions,
    n_jobs: int | None,
) -> _Searched:
    """Make histograms of what was drawn, find the best splits, and split."""
    n_shadows, m = options.n_shadows, options.shadows_per_tree
    place, candidate = np.nonzero(drawn >= 0)
    column, tree, node = drawn[place, candidate], at.tree[place], at.node[place]
    used = np.array(
        [c in nodes.above[v] for c, v in zip(column.tolist(), node.tolist(), strict=True)], dtype=bool
    )
    # Shadows take turns: tree k has the next ones after tree k - 1.
    turn = (
        np.arange(n_shadows) + n_shadows - (tree % n_shadows * m % n_shadows)[:, np.newaxis]
    ) % n_shadows < m
    wanted = np.column_stack([np.ones(len(column), dtype=bool), turn & ~used[:, np.newaxis]])
    row, which = np.nonzero(wanted)
    shadow = np.where(which > 0, permutations[column[row], which - 1] + 1, 0)
    keys = (node[row].astype(np.int64) * (int(permutations.max()) + 2) + shadow) * len(root.width) + column[
        row
    ]
    unique, inverse = np.unique(keys, return_inverse=True)
    of_column, rest = unique % len(root.width), unique // len(root.width)
    of_shadow, of_node = rest % (int(permutations.max()) + 2), rest // (int(permutations.max()) + 2)
    found = _request(
        blocks,
        nodes,
        of_node,
        of_column.astype(np.uint32),
        of_shadow.astype(np.uint32),
        root,
        options,
        n_jobs,
    )
    gain = np.full((len(column), 1 + n_shadows), np.nan)
    gain[row, which] = found.gains[inverse]
    request = inverse[which == 0]  # of the column itself
    weight = complexity_of(found.counts)[np.searchsorted(found.nodes, node)]
    counted = np.flatnonzero(~used & (weight > 0))
    gains = LevelGains(column[counted], weight[counted], gain[counted])
    return _Searched(gains, _split(nodes, at, place, column, node, gain, request, found, root, options))


def _split(
    nodes: _Nodes,
    at: _Places,
    place: NDArray[np.intp],
    column: NDArray[np.intp],
    node: NDArray[np.intp],
    gain: NDArray[np.float64],
    request: NDArray[np.intp],
    found: _Found,
    root: Root,
    options: LevelOptions,
) -> _Places:
    """Split every place by its best candidate; returns the nodes below that are large enough."""
    merit = gain[:, 0].copy()
    many = (root.nominal[column] != 0) & (root.width[column] - 1 > MANY_CATEGORIES)
    if many.any():  # what chance gives such a column is what its shadows gain
        by_chance = gain[many, 1:]
        known = ~np.isnan(by_chance)
        merit[many] -= np.where(known, by_chance, 0).sum(axis=1) / np.maximum(1, known.sum(axis=1))
        merit[many & np.isnan(gain[:, 1:]).all(axis=1)] = 0.0  # used up
    merit[found.n_children[request] == 0] = -np.inf
    order = np.lexsort((np.arange(len(merit)), -merit, place))
    best = order[np.flatnonzero(np.diff(place[order], prepend=-1))]
    best = best[merit[best] > 0]
    children: dict[tuple[int, int], int] = {}
    tree_below, node_below = [], []
    for k in best.tolist():
        key = int(node[k]), int(column[k])
        rows = found.child_rows[int(request[k])]
        if key not in children:
            children[key] = nodes.split(*key, len(rows), found.child_of[int(request[k])])
        large = np.flatnonzero(rows >= options.min_split)
        tree_below += [int(at.tree[place[k]])] * len(large)
        node_below += (children[key] + large).tolist()
    return _Places(np.array(tree_below, dtype=np.intp), np.array(node_below, dtype=np.intp))


class _Found(NamedTuple):
    """What histograms say: of every request, and of every node in `nodes`."""

    gains: NDArray[np.float64]
    n_children: NDArray[np.uint32]  # 0 for shadows
    child_of: dict[int, NDArray[np.uint8]]
    child_rows: dict[int, NDArray[np.int64]]
    nodes: NDArray[np.intp]
    counts: NDArray[np.float64]


def _request(
    blocks: CodedBlocks,
    nodes: _Nodes,
    node: NDArray[np.intp],
    column: NDArray[np.uint32],
    shadow: NDArray[np.uint32],
    root: Root,
    options: LevelOptions,
    n_jobs: int | None,
) -> _Found:
    """Make histograms, as many at a time as there is memory for, and search them."""
    gains, n_children = np.empty(len(node)), np.zeros(len(node), np.uint32)
    child_of: dict[int, NDArray[np.uint8]] = {}
    child_rows: dict[int, NDArray[np.int64]] = {}
    counts: dict[int, NDArray[np.int64]] = {}
    for some in _chunks(root.width[column].astype(np.int64) * root.n_sums):
        requests = Requests(
            _arrays(nodes, node[some], column[some], shadow[some], root), root.n_codes, options.seed
        )
        sums, of_nodes = blocks.sum(requests)
        for one, target in zip(
            np.unique(node[some]).tolist(), of_nodes.reshape(-1, root.n_codes), strict=True
        ):
            counts[one] = target
        plan = requests.plan

        def search(span: tuple[int, int], plan: Any = plan, sums: Any = sums) -> Any:
            return plan.search(sums, root.nominal, *span, options.multiway, options.min_share, None)

        n_threads, n = effective_n_jobs(n_jobs), some.stop - some.start
        edges = np.linspace(0, n, 1 + min(n_threads, max(1, n // 64))).astype(int).tolist()
        spans = list(zip(edges[:-1], edges[1:], strict=True))
        for (first, last), part in zip(
            spans, in_threads(search, spans, n_jobs, _core.StopFlag()), strict=True
        ):
            gains[some.start + first : some.start + last] = part[0]
            own = some.start + first + np.flatnonzero(shadow[some][first:last] == 0)
            n_children[own] = part[1]
            ends = np.cumsum(part[1])
            for k, request in enumerate(own.tolist()):
                child_of[request] = part[2][k]
                child_rows[request] = part[3][ends[k] - part[1][k] : ends[k]]
    present = np.array(sorted(counts), dtype=np.intp)
    stacked = np.array([counts[one] for one in present.tolist()], dtype=np.float64)
    return _Found(gains, n_children, child_of, child_rows, present, stacked)


def _arrays(
    nodes: _Nodes, node: NDArray[np.intp], column: NDArray[np.uint32], shadow: NDArray[np.uint32], root: Root
) -> dict[str, NDArray[Any]]:
    """Arrays of `_core.LevelPlan`; requests are sorted by node."""
    splits = [split for some in nodes.splits for split in some]
    ends = np.cumsum([0, *(len(some) for some in nodes.splits)])
    children = np.concatenate([nodes.child_of[k] for k in splits]) if splits else np.empty(0, np.uint8)

    def of_splits(values: list[int]) -> NDArray[np.uint32]:
        return np.array([values[k] for k in splits], dtype=np.uint32)

    return {
        "splits_of": ends.astype(np.uint32),
        "requests_of": np.searchsorted(node, np.arange(len(nodes.splits) + 1)).astype(np.uint32),
        "split_column": of_splits(nodes.column),
        "first_child": of_splits(nodes.first_child),
        "n_children": of_splits(nodes.n_children),
        "child_of": children,
        "request_column": column,
        "request_shadow": shadow,
        "width": root.width,
        "scores": root.scores,
    }


def _chunks(sizes: NDArray[np.int64]) -> list[slice]:
    """Slices of neighbours that take at most `MAX_SUMS` together, or are one."""
    ends, slices, first = np.cumsum(sizes), [], 0
    while first < len(sizes):
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + MAX_SUMS, side="right")))
        slices.append(slice(first, last))
        first = last
    return slices
