"""Searches for the subset of columns with the largest merit (Hall 2000)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.selectors.base import ranks_by_score
from foresift.selectors.correlations import Correlations

__all__ = [
    "Found",
    "Subset",
    "backward",
    "best_first",
    "forward",
    "locally_predictive",
    "subset_of",
]

Found = tuple[list[int], list[Any]]  # the chosen columns in order, and the steps of the search

_IMPROVEMENT = 1e-5  # the smallest improvement of a best-first search (Weka's BestFirst)
_DECIMALS = 12  # merits that differ by less tie
_CANCELLED = 0.1  # share of a sum below which the rest after a subtraction has too few digits
_TINY = float(np.finfo(np.float64).tiny)


class Subset(NamedTuple):
    """A subset of features, and the sums for its merit and those of its neighbours.

    Products are correlations times the deviations of the columns, which are 1 except in Weka's convention.
    """

    columns: tuple[int, ...] = ()  # in the order in which they entered
    merit: float = 0.0
    row: int = -1  # of its parent in the path
    changed: int = -1  # the column that was added to the parent, or dropped
    with_class: float = 0.0  # sum of the members' products with the target
    squares: float = 0.0  # sum of the members' squared deviations
    between: float = 0.0  # sum of the products of all pairs of members
    outside: Any = 0.0  # per column, sum of its products with the other members
    pending: bool = False  # whether `outside` is still that of the parent
    largest: float = 0.0  # `denominator` since the sums were last computed from the members

    @property
    def denominator(self) -> float:
        """That of the merit, squared."""
        return self.squares + 2.0 * self.between


class _Neighbours:
    """The subsets that differ from a subset by one feature."""

    def __init__(self, node: Subset, row: int, correlations: Correlations) -> None:
        if (
            node.denominator < _CANCELLED * node.largest
        ):  # the sums of a small rest of a large subset are inexact
            node = subset_of(node.columns, correlations)
        self._node, self._row, self._correlations = node, row, correlations
        self._outside = np.zeros(correlations.n_columns) + node.outside
        if node.pending:
            products = _products(node.changed, correlations)
            self._outside += products if node.changed in node.columns else -products
        self._exact: dict[int, Subset] = {}  # by the dropped column

    def additions(self) -> NDArray[np.float64]:
        """Merit with each further feature, -inf for members."""
        merits = _merits(*self._sums(1))
        merits[list(self._node.columns)] = -np.inf
        return merits

    def removals(self) -> NDArray[np.float64]:
        """Merit without each member, -inf for other features."""
        with_class, squares, between = self._sums(-1)
        members = [column for column in self._node.columns if column not in self._correlations.always]
        merits = np.full(len(squares), -np.inf)
        merits[members] = _merits(with_class[members], squares[members], between[members])
        rest = (squares + 2.0 * between)[members]
        for at in np.flatnonzero(
            rest < _CANCELLED * self._node.denominator
        ).tolist():  # the rest of one large term
            exact = subset_of(self._without(members[at]), self._correlations)
            merits[members[at]] = exact.merit
            self._exact[members[at]] = exact._replace(row=self._row, changed=members[at])
        return merits

    def with_added(self, column: int) -> Subset:
        """Subset with a further feature."""
        return self._child((*self._node.columns, column), column, 1)

    def with_dropped(self, column: int) -> Subset:
        """Subset without a member; after `removals`."""
        return self._exact.get(column) or self._child(self._without(column), column, -1)

    def _without(self, column: int) -> tuple[int, ...]:
        return tuple(member for member in self._node.columns if member != column)

    def _child(self, columns: tuple[int, ...], changed: int, sign: int) -> Subset:
        with_class, squares, between = (float(values[changed]) for values in self._sums(sign))
        merit = float(_merits(with_class, squares, between))
        largest = max(self._node.largest, squares + 2.0 * between)
        return Subset(
            columns, merit, self._row, changed, with_class, squares, between, self._outside, True, largest
        )

    def _sums(self, sign: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        node, deviations = self._node, self._correlations.deviations
        return (
            node.with_class + sign * (self._correlations.with_class * deviations),
            node.squares + sign * deviations**2,
            node.between + sign * self._outside,
        )


def subset_of(columns: Iterable[int], correlations: Correlations) -> Subset:
    """A subset with its sums computed from its members."""
    columns = tuple(columns)
    with_class = squares = between = 0.0
    outside = np.zeros(correlations.n_columns)
    for column in columns:
        with_class += float(correlations.with_class[column] * correlations.deviations[column])
        squares += float(correlations.deviations[column] ** 2)
        between += float(outside[column])
        outside += _products(column, correlations)
    merit, largest = float(_merits(with_class, squares, between)), squares + 2.0 * between
    return Subset(columns, merit, -1, -1, with_class, squares, between, outside, largest=largest)


def _products(column: int, correlations: Correlations) -> NDArray[np.float64]:
    """Correlation of a column with every other one, times their deviations."""
    products = correlations.between(column) * correlations.deviations * correlations.deviations[column]
    products[column] = 0.0
    return products


def _merits(with_class: Any, squares: Any, between: Any) -> NDArray[np.float64]:
    """Hall's merit, from sums over the members and over their pairs; rounded, so that ties are ties."""
    # Rounding errors may be negative, and the empty set has nothing.
    with_class, denominator = np.maximum(with_class, 0.0), squares + 2.0 * np.maximum(between, 0.0)
    return np.round(with_class / np.sqrt(np.maximum(denominator, _TINY)), _DECIMALS)


def _step(node: Subset, n_always: int) -> tuple[int, int, int, float]:
    return node.row, node.changed, len(node.columns) - n_always, node.merit


def _smallest(correlations: Correlations) -> Subset:
    """The features that are in every subset."""
    return subset_of(correlations.always, correlations) if correlations.always else Subset()


def forward(correlations: Correlations, n_wanted: int | None) -> Found:
    """Add the best feature while it raises the merit, or up to `n_wanted`; the first wins a tie."""
    node, n_always = _smallest(correlations), len(correlations.always)
    path: list[Any] = [_step(node, n_always)]
    most = correlations.n_columns if n_wanted is None else n_always + n_wanted
    while len(node.columns) < most:
        neighbours = _Neighbours(node, len(path) - 1, correlations)
        larger = neighbours.with_added(int(neighbours.additions().argmax()))
        if n_wanted is None and larger.merit <= node.merit:
            break
        node = larger
        path.append(_step(node, n_always))
    return list(node.columns[n_always:]), path


def backward(correlations: Correlations, n_wanted: int | None) -> Found:
    """Drop the worst feature while the merit does not fall, or down to `n_wanted`; the last wins a tie.

    The search continues to the last feature, to rank those that are kept.
    """
    node = subset_of(range(correlations.n_columns), correlations)
    n_always = len(correlations.always)
    path: list[Any] = [_step(node, n_always)]
    while len(node.columns) > n_always:
        neighbours = _Neighbours(node, len(path) - 1, correlations)
        worst = correlations.n_columns - 1 - int(neighbours.removals()[::-1].argmax())
        smaller = neighbours.with_dropped(worst)
        if n_wanted is None and smaller.merit < node.merit:
            n_wanted = len(node.columns) - n_always
        node = smaller
        path.append(_step(node, n_always))
    dropped = [column for _, column, _, _ in path[1:]]
    return dropped[::-1][: n_wanted or 0], path


def best_first(correlations: Correlations, n_stale: int, *, add: bool, drop: bool) -> Found:
    """Extend the best open subset in every way, until `n_stale` in a row bring no improvement.

    As Weka's BestFirst: `n_stale` subsets stay open, the older before the newer if they tie; a subset reached
    in two ways is open twice; a larger subset must be better by more than 1e-5, a smaller one may be as good.
    """
    all_columns = np.argsort(ranks_by_score(correlations.with_class)).tolist()
    best, stale = _smallest(correlations) if add else subset_of(all_columns, correlations), 0
    opened = [best]
    path: list[Any] = []
    while stale < n_stale and opened:
        node = opened.pop(0)
        path.append(_step(node, len(correlations.always)))
        neighbours = _Neighbours(node, len(path) - 1, correlations)
        before = best
        if add:
            merits = neighbours.additions()
            opened = _best_of(opened, merits, neighbours.with_added, n_stale)
            # In the order of the columns, each compared with the best so far.
            for column in np.flatnonzero(merits > best.merit + _IMPROVEMENT).tolist():
                if merits[column] > best.merit + _IMPROVEMENT:
                    best = neighbours.with_added(column)
        if drop:
            merits = neighbours.removals()
            opened = _best_of(opened, merits, neighbours.with_dropped, n_stale)
            for column in np.flatnonzero(merits >= best.merit).tolist():
                if (merits[column], -len(node.columns) + 1) > (best.merit, -len(best.columns)):
                    best = neighbours.with_dropped(column)
        stale = stale + 1 if best is before else 0
    return [column for column in best.columns if column not in correlations.always], path


def _best_of(
    opened: list[Subset], merits: NDArray[np.float64], made: Callable[[int], Subset], n_open: int
) -> list[Subset]:
    """The best of the open subsets and of new ones by their merits; the older wins a tie."""
    first = np.argsort(-merits, kind="stable")[: min(n_open, int(np.isfinite(merits).sum()))]
    return sorted([*opened, *map(made, first.tolist())], key=lambda subset: -subset.merit)[:n_open]


def locally_predictive(correlations: Correlations, kept: list[int]) -> list[int]:
    """Features that are no more correlated with any kept one than with the target, best first."""
    with_class = np.round(correlations.with_class, _DECIMALS)
    largest = np.zeros(correlations.n_columns)  # correlation with a kept one
    for column in (*correlations.always, *kept):
        np.maximum(largest, correlations.between(column), out=largest)
    members, added = {*kept, *correlations.always}, []
    for column in np.argsort(-with_class, kind="stable").tolist():
        predictive = 0 < with_class[column] >= np.round(largest[column], _DECIMALS)
        if predictive and column not in members:
            added.append(column)
            np.maximum(largest, correlations.between(column), out=largest)
    return added
