"""Trees grown level by level from histograms, all of them together, and gains of shadow features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.coded_blocks import Block, CodedBlocks, Sums
from foresift.data.complexity import complexity_of
from foresift.engine.grow import in_threads

__all__ = ["LevelGains", "LevelOptions", "Requests", "Root", "grow_levels", "root_sums"]

MAX_SUMS = 2**21  # numbers of histograms at a time, which stay in the cache; a level takes several passes
_NO_SLOT, _NO_CHILD = 2**32 - 1, np.zeros(256, np.uint8)
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
        sums, counts = to
        self.plan.add(block.codes, block.target, block.number, sums, counts, stop)


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
        asked = _Asked(_Tree(), columns[some], np.zeros(some.stop - some.start, np.uint32))
        found, counts = blocks.sum(Requests(_arrays([asked], root), root.n_codes, 0))
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
    """Gains at nodes where a column was a split candidate, and not below a split on it.

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


class _Tree:
    """A tree that is grown; node 0 is the root."""

    def __init__(self) -> None:
        self.column: list[int] = [-1]  # of every node: what splits it, its first child, and where codes go
        self.first_child: list[int] = [0]
        self.child_of: list[NDArray[np.uint8]] = [_NO_CHILD]
        self.above: list[tuple[int, ...]] = [()]  # columns that split above a node
        self.active: list[int] = [0]  # nodes of the last level that may be split
        self.depth = 0

    def split(
        self, node: int, column: int, child_of: NDArray[np.uint8], rows: NDArray[np.int64], least: int
    ) -> None:
        """Split a node; children with enough rows are active."""
        self.column[node], self.first_child[node], self.child_of[node] = column, len(self.column), child_of
        for n in rows.tolist():
            if n >= least:
                self.active.append(len(self.column))
            self.first_child.append(len(self.column))
            self.column.append(-1)
            self.child_of.append(_NO_CHILD)
            self.above.append((*self.above[node], column))


class _Asked(NamedTuple):
    """Histograms of a tree: columns, and 0 or the permutation of a shadow + 1, sorted by that."""

    tree: _Tree
    column: NDArray[np.uint32]
    shadow: NDArray[np.uint32]


def grow_levels(
    blocks: CodedBlocks,
    root: Root,
    order: NDArray[np.uint32],
    permutations: NDArray[np.uint32],
    options: LevelOptions,
    n_jobs: int | None,
    advance: Callable[[int], bool],
) -> list[LevelGains]:
    """Grow trees on all rows, a level of all of them at a time, and return the gains.

    All nodes of a level of a tree have the same split candidates, so that one read of a column fills their
    histograms together.

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
        One for every tree and level, in order. The same wherever the rows lie, for the same blocks.
    """
    trees = [_Tree() for _ in range(options.n_trees)]
    gains: list[LevelGains] = []
    if blocks.n_rows < options.min_split:
        return gains
    for depth in range(options.max_depth):
        drawn = [_drawn(k, tree, order, root, options) for k, tree in enumerate(trees)]
        growing = [k for k, tree in enumerate(trees) if tree.active and len(drawn[k])]
        if not growing:
            break
        if depth:
            asked = [_asked(k, trees[k], drawn[k], permutations, options) for k in growing]
            found = _found(blocks, asked, root, options, n_jobs)
        else:  # all trees have the same root
            found = _found(blocks, [_asked_at_root(order, permutations)], root, options, n_jobs) * len(
                growing
            )
        for k, of_tree in zip(growing, found, strict=True):
            gains.append(_grown(k, trees[k], drawn[k], of_tree, permutations, root, options))
        for k in set(range(len(trees))) - set(growing):
            trees[k].active = []
        if advance(depth + 1):
            break
    return gains


def _drawn(
    number: int, tree: _Tree, order: NDArray[np.uint32], root: Root, options: LevelOptions
) -> NDArray[np.intp]:
    """Split candidates of the next level of a tree.

    A column of two values that split above all nodes does not vary in any, and is not drawn.
    """
    used = set.intersection(*(set(tree.above[node]) for node in tree.active)) if tree.active else set()
    constant = [column for column in used if root.width[column] <= 3]  # two values, and missing
    rng = np.random.default_rng([options.seed, 4, number, tree.depth])
    some = rng.permutation(order)
    if constant:
        some = some[~np.isin(some, constant)]
    return some[: options.n_candidates].astype(np.intp)


def _turn(number: int, options: LevelOptions) -> NDArray[np.intp]:
    """Shadows that a tree scores: the next ones after those of the tree before."""
    n, m = options.n_shadows, options.shadows_per_tree
    return np.sort((np.arange(m) + number * m) % n)


def _asked(
    number: int, tree: _Tree, drawn: NDArray[np.intp], permutations: NDArray[np.uint32], options: LevelOptions
) -> _Asked:
    """Histograms of the candidates, and of their shadows unless the column splits above all nodes."""
    used = [all(column in tree.above[node] for node in tree.active) for column in drawn.tolist()]
    with_shadows = drawn[~np.array(used, dtype=bool)]
    own = permutations[np.ix_(with_shadows, _turn(number, options))] + 1
    column = np.concatenate([drawn, np.repeat(with_shadows, own.shape[1])])
    shadow = np.concatenate([np.zeros(len(drawn), np.uint32), own.ravel()])
    sorted_by_shadow = np.argsort(shadow, kind="stable")
    return _Asked(
        tree, column[sorted_by_shadow].astype(np.uint32), shadow[sorted_by_shadow].astype(np.uint32)
    )


def _asked_at_root(order: NDArray[np.uint32], permutations: NDArray[np.uint32]) -> _Asked:
    """Histograms of all columns and shadows."""
    shadow = np.column_stack([np.zeros(len(order), np.uint32), permutations[order] + 1]).ravel()
    column = np.repeat(order, permutations.shape[1] + 1)
    sorted_by_shadow = np.argsort(shadow, kind="stable")
    return _Asked(_Tree(), column[sorted_by_shadow], shadow[sorted_by_shadow].astype(np.uint32))


class _Found(NamedTuple):
    """What the histograms of a tree say, by (column, shadow) and active node."""

    gains: dict[tuple[int, int], NDArray[np.float64]]
    splits: dict[int, tuple[NDArray[np.uint32], NDArray[np.uint8], list[NDArray[np.int64]]]]
    weight: NDArray[np.float64]  # complexity of the active nodes


def _found(
    blocks: CodedBlocks, asked: list[_Asked], root: Root, options: LevelOptions, n_jobs: int | None
) -> list[_Found]:
    """Make histograms, as many at a time as there is room for, and search them."""
    found = [_Found({}, {}, np.empty(0)) for _ in asked]
    for chunk in _plans(asked, root):
        requests = Requests(_arrays([part for _, part in chunk], root), root.n_codes, options.seed)
        sums, counts = blocks.sum(requests)
        plan = requests.plan

        def search(k: int, plan: Any = plan, sums: Any = sums) -> Any:
            return plan.search(k, sums, root.nominal, options.multiway, options.min_share, None)

        parts = in_threads(search, range(len(chunk)), n_jobs, _core.StopFlag())
        ends = np.cumsum([len(part.tree.active) for _, part in chunk])
        of_nodes = np.split(counts.reshape(-1, root.n_codes), ends[:-1])
        for (k, part), result, target in zip(chunk, parts, of_nodes, strict=True):
            found[k] = found[k]._replace(weight=complexity_of(target.astype(np.float64)))
            _note(found[k], part, result)
    return found


def _note(found: _Found, part: _Asked, result: Any) -> None:
    """Sort what the core says of a tree."""
    gains, n_children, child_of, child_rows = result
    n_nodes, own = len(part.tree.active), 0
    ends = np.cumsum(n_children)
    rows = np.split(child_rows, ends[:-1]) if len(ends) else []
    for r, (column, shadow) in enumerate(zip(part.column.tolist(), part.shadow.tolist(), strict=True)):
        found.gains[column, shadow] = gains[r * n_nodes : (r + 1) * n_nodes]
        if shadow == 0:
            here = slice(own, own + n_nodes)
            found.splits[column] = n_children[here], child_of[here], rows[here]
            own += n_nodes


def _grown(
    number: int,
    tree: _Tree,
    drawn: NDArray[np.intp],
    found: _Found,
    permutations: NDArray[np.uint32],
    root: Root,
    options: LevelOptions,
) -> LevelGains:
    """Split the active nodes of a tree by their best columns, and return what counts of the gains."""
    active, n_nodes = tree.active, len(tree.active)
    gain = np.full((len(drawn), n_nodes, 1 + options.n_shadows), np.nan)
    for k, column in enumerate(drawn.tolist()):
        gain[k, :, 0] = found.gains[column, 0]
        for t in _turn(number, options).tolist():
            of_shadow = found.gains.get((column, int(permutations[column, t]) + 1))
            if of_shadow is not None:
                gain[k, :, 1 + t] = of_shadow
    used = np.array([[column in tree.above[node] for node in active] for column in drawn.tolist()])
    merit = _merit(drawn, gain, used, found, root)
    best = merit.argmax(axis=0)
    tree.active, tree.depth = [], tree.depth + 1
    for at, node in enumerate(active):
        k = int(best[at])
        if merit[k, at] > 0:
            _, child_of, rows = found.splits[int(drawn[k])]
            tree.split(node, int(drawn[k]), child_of[at], rows[at], options.min_split)
    candidates, nodes = np.nonzero(~used & (found.weight > 0))
    return LevelGains(drawn[candidates], found.weight[nodes], gain[candidates, nodes])


def _merit(
    drawn: NDArray[np.intp],
    gain: NDArray[np.float64],
    used: NDArray[np.bool_],
    found: _Found,
    root: Root,
) -> NDArray[np.float64]:
    """What candidates are compared by: the gain, of many categories less what shadows gain."""
    merit = gain[:, :, 0].copy()
    for k, column in enumerate(drawn.tolist()):
        merit[k, found.splits[column][0] == 0] = -np.inf
        if root.nominal[column] and root.width[column] - 1 > MANY_CATEGORIES:
            by_chance = gain[k, :, 1:]
            known = ~np.isnan(by_chance)
            merit[k] -= np.where(known, by_chance, 0).sum(axis=1) / np.maximum(1, known.sum(axis=1))
            merit[k, used[k]] = -np.inf
    return merit


def _plans(asked: list[_Asked], root: Root) -> list[list[tuple[int, _Asked]]]:
    """Cut what is asked into parts that take at most `MAX_SUMS` numbers each, or are one histogram."""
    plans: list[list[tuple[int, _Asked]]] = [[]]
    room = MAX_SUMS
    for k, (tree, column, shadow) in enumerate(asked):
        sizes = root.width[column].astype(np.int64) * (root.n_sums * len(tree.active))
        if plans[-1] and sizes.sum() > room:
            plans.append([])
            room = MAX_SUMS
        for some in _chunks(sizes):
            if plans[-1] and some.start:
                plans.append([])
                room = MAX_SUMS
            plans[-1].append((k, _Asked(tree, column[some], shadow[some])))
            room -= int(sizes[some].sum())
    return plans


def _arrays(asked: list[_Asked], root: Root) -> dict[str, NDArray[Any]]:
    """Arrays of `_core.LevelPlan`."""

    def flat(values: list[Any]) -> NDArray[np.uint32]:
        return np.concatenate([np.asarray(some, dtype=np.int64) for some in values]).astype(np.uint32)

    def begins(values: list[Any]) -> NDArray[np.uint32]:
        return np.cumsum([0, *map(len, values)]).astype(np.uint32)

    trees = [part.tree for part in asked]
    slots = []
    for tree in trees:
        slots.append(np.full(len(tree.column), _NO_SLOT))
        slots[-1][tree.active] = np.arange(len(tree.active))
    return {
        "nodes_of": begins([tree.column for tree in trees]),
        "requests_of": begins([part.column for part in asked]),
        "node_column": flat([np.maximum(tree.column, 0) for tree in trees]),
        "first_child": flat([tree.first_child for tree in trees]),
        "child_of": np.concatenate([np.concatenate(tree.child_of) for tree in trees]),
        "slot": flat(slots),
        "n_slots": np.array([len(tree.active) for tree in trees], dtype=np.uint32),
        "depth": np.array([tree.depth for tree in trees], dtype=np.uint32),
        "request_column": np.concatenate([part.column for part in asked]),
        "request_shadow": np.concatenate([part.shadow for part in asked]),
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
