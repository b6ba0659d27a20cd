"""Weight, mean and spread of every column in every class, read from X itself, some columns at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.containers import Source, label_of, read
from foresift.data.encoding import as_numbers, factorize, parts_of, single_columns
from foresift.data.sklearn_compat import check_features
from foresift.data.table import Schema, nominal_mask
from foresift.data.target import Target

__all__ = [
    "NEARLY_NONE",
    "Group",
    "Moments",
    "Nominal",
    "Numeric",
    "UncodedTable",
    "class_moments",
    "indicator_moments",
]

_TILE_CELLS = 2**17  # of float64: what stays in the cache while it is gone over a few times
_MIN_WIDTH = 64  # columns read together from the rows of a C-ordered array: whole cache lines
NEARLY_NONE = 2.0**-26  # share of a whole; less, as whole less the rest, has lost half of its digits
_LARGE = 2.0**600  # sums of squares beyond this, or below its inverse, are near overflow or underflow


class Group(NamedTuple):
    """The rows of one class, and their weights, all positive."""

    rows: NDArray[np.intp]
    weights: NDArray[np.float64]


class Numeric(NamedTuple):
    """Neighbouring numeric columns: the number of the first, and an (n, width) array, NaN for missing."""

    start: int
    values: NDArray[Any]


class Nominal(NamedTuple):
    """One nominal column: its number and label, its categories, and every row's position in them or -1."""

    at: int
    label: str
    categories: NDArray[Any]
    codes: NDArray[np.int32]


class Moments(NamedTuple):
    """What is known of rows, in one or more groups: one entry per column along the last axis.

    Attributes
    ----------
    weight : ndarray
        Weight of the rows where the column is known.
    mean : ndarray
        Their mean, less a constant that all groups share; 0 where no row is known.
    spread : ndarray
        Sum of weight times squared deviation from that mean; exactly 0 if all values are equal.
    """

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    def merge(self, other: Moments) -> Moments:
        """Moments of the rows of both (Chan, Golub & LeVeque 1983).

        Examples
        --------
        >>> ones = Moments(np.array([2.0]), np.array([1.0]), np.array([0.0]))
        >>> ones.merge(Moments(np.array([2.0]), np.array([3.0]), np.array([0.0])))
        Moments(weight=array([4.]), mean=array([2.]), spread=array([4.]))
        """
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        apart = other.mean - self.mean
        spread = self.spread + other.spread + apart**2 * self.weight * share
        return Moments(weight, self.mean + apart * share, spread)

    @property
    def together(self) -> Moments:
        """Moments of all groups, which lie along the first axis, as one."""
        return reduce(Moments.merge, map(Moments._make, zip(*self, strict=True)))

    @property
    def others(self) -> Moments:
        """For every group, the moments of all the others as one.

        Nothing is subtracted, so that the spread of equal values stays 0.
        """
        groups = [Moments._make(group) for group in zip(*self, strict=True)]
        nothing = Moments._make(np.zeros_like(groups[0]))
        before = accumulate(groups[:-1], Moments.merge, initial=nothing)
        after = list(accumulate(groups[:0:-1], Moments.merge, initial=nothing))[::-1]
        rest = [a.merge(b) for a, b in zip(before, after, strict=True)]
        return Moments._make(np.stack(parts) for parts in zip(*rest, strict=True))


@dataclass(frozen=True, eq=False)
class UncodedTable:
    """X and y, checked as `make_table` does, but the columns of X are read from it, one after another.

    Attributes
    ----------
    source : Source
        The opened X.
    target : Target or None
        What is to be predicted; None without y.
    nominal : ndarray of bool or None
        Mask of the nominal columns, None if their dtype decides.
    """

    source: Source
    target: Any  # a Target, but for a table without y
    nominal: NDArray[np.bool_] | None
    _categories: dict[int, NDArray[Any]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.source.n_columns

    @property
    def schema(self) -> Schema:
        """What the columns are: complete once `columns` has been read to its end."""
        return Schema(self.source.names, tuple(map(self._categories.get, range(self.n_columns))))

    @classmethod
    def open(cls, X: Any, y: Any, categorical_features: Any, estimator: Any = None) -> UncodedTable:
        """Take the parameters of `make_table`; `estimator` gets the names and the number of columns.

        Examples
        --------
        >>> from sklearn.base import BaseEstimator
        >>> X = {"size": [1.5, None], "colour": ["red", "blue"]}
        >>> table = UncodedTable.open(X, ["no", "yes"], "from_dtype", BaseEstimator())
        >>> [type(part).__name__ for part in table.columns()]
        ['Numeric', 'Nominal']
        """
        source = read(X, estimator)
        if estimator is not None:
            pandas = X if source.pandas else None
            check_features(estimator, pandas, source.names, source.n_columns, reset=True, y=y)
        target = None if y is None else Target.of(y, source.n_rows)
        return cls(source, target, nominal_mask(categorical_features, source))

    def columns(self) -> Iterator[Numeric | Nominal]:
        """Read X in the order of its columns; floats are views of it, the rest is copied block by block."""
        labels = self.source.labels
        advice = "Use categorical_features='from_dtype', name it in categorical_features, or encode it."
        for start, part, nominal in parts_of(self.source, self.nominal):
            if not nominal:
                yield Numeric(start, as_numbers(part, start, labels, advice))
                continue
            for j, values in single_columns(part, start, labels):
                self._categories[j], codes = factorize(values, label_of(labels, j))
                yield Nominal(j, label_of(labels, j), self._categories[j], codes)

    def rows_by_class(self, weights: NDArray[np.float64] | None) -> list[Group]:
        """Part the rows of positive weight by class; a class without any is not there."""
        target, n_classes = self.target.codes, self.target.n_classes
        weights = np.ones(len(target)) if weights is None else weights
        order = np.argsort(target, kind="stable")
        order = order[weights[order] > 0]
        ends = np.cumsum(np.bincount(target[order], minlength=n_classes))
        parts = [rows for rows in np.split(order, ends[:-1]) if len(rows)]
        return [Group(rows, weights[rows]) for rows in parts]


def class_moments(values: NDArray[Any], groups: Sequence[Group]) -> Iterator[tuple[slice, Moments]]:
    """Work out the moments of every group, some columns at a time.

    Parameters
    ----------
    values : ndarray of shape (n, n_columns), float32 or float64
        The columns, without infinity; NaN is missing and left out, column by column.
    groups : sequence of Group
        The rows of every class.

    Yields
    ------
    columns : slice
        Which columns.
    moments : Moments
        Arrays of shape (n_groups, width). Every column is shifted, and where its numbers are very large or
        very small multiplied by a power of two, the same in all groups.

    Examples
    --------
    >>> values = np.array([[1.0], [3.0], [5.0], [np.nan]])
    >>> groups = [Group(np.array(rows), np.ones(2)) for rows in ([0, 1], [2, 3])]
    >>> ((columns, moments),) = class_moments(values, groups)
    >>> moments.weight.tolist(), moments.mean.tolist(), moments.spread.tolist()
    ([[2.0], [1.0]], [[1.0], [4.0]], [[2.0], [0.0]])
    """
    by_rows = abs(values.strides[0]) > abs(values.strides[1])
    most_rows = max(len(group.rows) for group in groups)
    width = max(_TILE_CELLS // most_rows, _MIN_WIDTH if by_rows else 1)
    for first in range(0, values.shape[1], width):
        columns = values[:, first : first + width]
        with np.errstate(over="ignore", invalid="ignore"):
            moments = _moments(columns, groups, by_rows)
            spread = moments.together.spread
        doubtful = ~((spread > 1 / _LARGE) & (spread < _LARGE))  # constant columns too
        if doubtful.any():
            scaled = _scaled(columns[:, doubtful])
            for array, better in zip(moments, _moments(scaled, groups, by_rows), strict=True):
                array[:, doubtful] = better
        yield slice(first, first + columns.shape[1]), moments


def _scaled(columns: NDArray[Any]) -> NDArray[np.float64]:
    """Columns times powers of two that bring their largest value near 1."""
    low, high = np.fmin.reduce(columns, axis=0), np.fmax.reduce(columns, axis=0)
    exponent = np.frexp(np.fmax(np.abs(low), np.abs(high)))[1]
    return np.ldexp(columns.astype(np.float64, copy=False), -exponent)


def _moments(columns: NDArray[Any], groups: Sequence[Group], by_rows: bool) -> Moments:
    # The means of numbers that are alike in their first digits must not lose the others.
    origin = columns[0].astype(np.float64)
    gaps = np.isnan(origin)
    if gaps.any():
        origin[gaps] = np.nan_to_num(np.fmin.reduce(columns[:, gaps], axis=0))
    step = max(1, _TILE_CELLS // columns.shape[1])
    rows = [_group_moments(columns, group, origin, step, by_rows) for group in groups]
    return Moments._make(np.stack(parts) for parts in zip(*rows, strict=True))


def _group_moments(
    columns: NDArray[Any], group: Group, origin: NDArray[np.float64], step: int, by_rows: bool
) -> Moments:
    tiles = []
    for first in range(0, len(group.rows), step):
        rows = group.rows[first : first + step]
        tile = columns[rows] if by_rows else np.take(columns.T, rows, axis=1).T
        weights = group.weights[first : first + step]
        tiles.append(_tile_moments(tile.astype(np.float64, copy=False), weights, origin))
    return reduce(Moments.merge, tiles)


def _tile_moments(
    tile: NDArray[np.float64], weights: NDArray[np.float64], origin: NDArray[np.float64]
) -> Moments:
    # Deviations from a value of the tile: of equal values they are exactly 0, and so is their spread.
    pivot, total = tile[0], weights.sum()
    away = tile - pivot
    lean = _sums(weights, away) / total
    if np.isnan(lean).any():
        return _tile_with_gaps(tile, weights, origin)
    away -= lean
    np.square(away, out=away)
    return Moments(np.full(len(lean), total), pivot - origin + lean, _sums(weights, away))


def _tile_with_gaps(
    tile: NDArray[np.float64], weights: NDArray[np.float64], origin: NDArray[np.float64]
) -> Moments:
    known = ~np.isnan(tile)
    pivot = np.nan_to_num(np.fmin.reduce(tile, axis=0))
    total = _sums(weights, known.astype(np.float64))
    some = total > 0
    away = np.where(known, tile - pivot, 0.0)
    lean = np.divide(_sums(weights, away), total, out=np.zeros_like(total), where=some)
    spread = _sums(weights, np.square(away - lean) * known)
    return Moments(total, np.where(some, pivot - origin + lean, 0.0), spread)


def _sums(weights: NDArray[np.float64], tile: NDArray[np.float64]) -> NDArray[np.float64]:
    # Not weights @ tile: the threads of a BLAS cost more than such a small product, and others may need them.
    return np.asarray(np.einsum("i,ij->j", weights, tile))


def indicator_moments(codes: NDArray[np.int32], n_categories: int, groups: Sequence[Group]) -> Moments:
    """Moments of the indicators of a nominal column's categories: 1 where a row has it, else 0.

    Parameters
    ----------
    codes : ndarray of int32 of shape (n,)
        Category of every row; -1 is missing and left out.
    n_categories : int
        Number of categories.
    groups : sequence of Group
        The rows of every class.

    Returns
    -------
    Moments
        Arrays of shape (n_groups, n_categories).

    Examples
    --------
    >>> groups = [Group(np.array([0, 1, 2, 3]), np.ones(4))]
    >>> indicator_moments(np.array([0, 0, 1, -1], dtype=np.int32), 2, groups).weight
    array([[3., 3.]])
    """
    counts: NDArray[np.float64] = np.stack(
        [np.bincount(codes[rows] + 1, weights, minlength=n_categories + 1)[1:] for rows, weights in groups]
    )
    total = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    rest = _remaining(counts.T, total.T).T
    # Of a category that as good as all rows have, 1 - share would be rounding.
    others = np.where(rest < NEARLY_NONE * total, rest / np.where(total > 0, total, 1.0), 1.0 - share)
    return Moments(total, share, counts * others)


def _remaining(parts: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Total of all parts but each, along the first axis, exactly also where one part is nearly the whole.

    Examples
    --------
    >>> _remaining(np.array([1e20, 2.0, 3.0]), np.array(1e20))
    array([5.e+00, 1.e+20, 1.e+20])
    """
    rest = total - parts
    doubtful = rest < NEARLY_NONE * total
    if doubtful.any():
        nothing = np.zeros_like(parts[:1])
        before = np.concatenate([nothing, np.cumsum(parts[:-1], axis=0)])
        after = np.concatenate([np.cumsum(parts[:0:-1], axis=0)[::-1], nothing])
        rest = np.where(doubtful, before + after, rest)
    return np.asarray(rest)
