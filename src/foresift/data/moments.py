"""Weight, mean and spread of every column in every class, computed from X in blocks of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.target import Classes

__all__ = [
    "NEARLY_NONE",
    "Group",
    "Moments",
    "class_moments",
    "indicator_moments",
    "moments_from",
    "moments_of_counts",
    "rows_by_class",
]

_TILE_CELLS = 2**17  # float64 cells that fit in the cache
_MIN_WIDTH = 64  # columns read together from a C-ordered array: whole cache lines
NEARLY_NONE = 2.0**-26  # a smaller share, computed as the whole minus the rest, has lost half of its digits
_LARGE = 2.0**600  # sums of squares above this, or below its inverse, are near overflow or underflow


class Group(NamedTuple):
    """The rows of one class, and their weights, all positive."""

    rows: NDArray[np.intp]
    weights: NDArray[np.float64]


class Moments(NamedTuple):
    """Moments of one or more groups of rows; the last axis of every array is the column.

    Attributes
    ----------
    weight : ndarray
        Weight of the rows where the column is not missing.
    mean : ndarray
        Their mean, minus a constant common to all groups; 0 if all values are missing.
    spread : ndarray
        Sum of weight times squared deviation from the mean; exactly 0 if all values are equal.
    """

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    def merge(self, other: Moments) -> Moments:
        """Moments of the union of the rows (Chan, Golub & LeVeque 1983).

        Examples
        --------
        >>> ones = Moments(np.array([2.0]), np.array([1.0]), np.array([0.0]))
        >>> ones.merge(Moments(np.array([2.0]), np.array([3.0]), np.array([0.0])))
        Moments(weight=array([4.]), mean=array([2.]), spread=array([4.]))
        """
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        distance = other.mean - self.mean
        spread = self.spread + other.spread + distance**2 * self.weight * share
        return Moments(weight, self.mean + distance * share, spread)

    @property
    def together(self) -> Moments:
        """Moments of all groups, which are along the first axis, merged."""
        return reduce(Moments.merge, map(Moments._make, zip(*self, strict=True)))

    @property
    def others(self) -> Moments:
        """For every group, the moments of all the others, merged: without subtraction, which would round."""
        groups = [Moments._make(group) for group in zip(*self, strict=True)]
        empty = Moments._make(np.zeros_like(groups[0]))
        before = accumulate(groups[:-1], Moments.merge, initial=empty)
        after = list(accumulate(groups[:0:-1], Moments.merge, initial=empty))[::-1]
        rest = [a.merge(b) for a, b in zip(before, after, strict=True)]
        return Moments._make(np.stack(parts) for parts in zip(*rest, strict=True))


def rows_by_class(target: Classes, weights: NDArray[np.float64] | None) -> list[Group]:
    """Group the rows of positive weight by class, without classes that have no such rows."""
    weights = np.ones(len(target.codes)) if weights is None else weights
    order = np.argsort(target.codes, kind="stable")
    order = order[weights[order] > 0]
    ends = np.cumsum(np.bincount(target.codes[order], minlength=target.n_classes))
    parts = [rows for rows in np.split(order, ends[:-1]) if len(rows)]
    return [Group(rows, weights[rows]) for rows in parts]


def class_moments(values: NDArray[Any], groups: Sequence[Group]) -> Iterator[tuple[slice, Moments]]:
    """Compute the moments of every group in blocks of columns.

    Parameters
    ----------
    values : ndarray of shape (n, n_columns), float32 or float64
        The columns, without infinity; NaN is missing and ignored in its column.
    groups : sequence of Group
        The rows of every class.

    Yields
    ------
    columns : slice
        The columns of the block.
    moments : Moments
        Arrays of shape (n_groups, width). Every column is shifted by a constant, and multiplied by a power of
        two if its numbers are very large or very small.

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
        extreme = ~((spread > 1 / _LARGE) & (spread < _LARGE))  # constant columns too
        if extreme.any():
            scaled = _scaled(columns[:, extreme])
            for array, better in zip(moments, _moments(scaled, groups, by_rows), strict=True):
                array[:, extreme] = better
        yield slice(first, first + columns.shape[1]), moments


def _scaled(columns: NDArray[Any]) -> NDArray[np.float64]:
    """Columns times powers of two that bring their largest value near 1."""
    low, high = np.fmin.reduce(columns, axis=0), np.fmax.reduce(columns, axis=0)
    exponent = np.frexp(np.fmax(np.abs(low), np.abs(high)))[1]
    return np.ldexp(columns.astype(np.float64, copy=False), -exponent)


def _moments(columns: NDArray[Any], groups: Sequence[Group], by_rows: bool) -> Moments:
    # Subtract an origin, or the means of numbers with the same leading digits would lose the other digits.
    origin = columns[0].astype(np.float64)
    gaps = np.isnan(origin)
    if gaps.any():
        origin[gaps] = np.nan_to_num(np.fmin.reduce(columns[:, gaps], axis=0))
    return moments_from(origin, columns, groups, by_rows)


def moments_from(
    origin: NDArray[np.float64], columns: NDArray[Any], groups: Sequence[Group], by_rows: bool
) -> Moments:
    """Moments of every group, with means less an origin; `by_rows` says that columns are in C order.

    Examples
    --------
    >>> group = Group(np.array([0, 1]), np.ones(2))
    >>> moments_from(np.array([2.0]), np.array([[1.0], [5.0]]), [group], True).mean
    array([[1.]])
    """
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
    # Deviations from a value of the tile: exactly 0 if all values are equal.
    pivot, total = tile[0], weights.sum()
    deviations = tile - pivot
    mean = _sums(weights, deviations) / total
    if np.isnan(mean).any():
        return _tile_with_missing(tile, weights, origin)
    deviations -= mean
    np.square(deviations, out=deviations)
    return Moments(np.full(len(mean), total), pivot - origin + mean, _sums(weights, deviations))


def _tile_with_missing(
    tile: NDArray[np.float64], weights: NDArray[np.float64], origin: NDArray[np.float64]
) -> Moments:
    known = ~np.isnan(tile)
    pivot = np.nan_to_num(np.fmin.reduce(tile, axis=0))
    total = _sums(weights, known.astype(np.float64))
    some = total > 0
    deviations = np.where(known, tile - pivot, 0.0)
    mean = np.divide(_sums(weights, deviations), total, out=np.zeros_like(total), where=some)
    spread = _sums(weights, np.square(deviations - mean) * known)
    return Moments(total, np.where(some, pivot - origin + mean, 0.0), spread)


def _sums(weights: NDArray[np.float64], tile: NDArray[np.float64]) -> NDArray[np.float64]:
    # Not weights @ tile: starting BLAS threads costs more than such a small product.
    return np.asarray(np.einsum("i,ij->j", weights, tile))


def indicator_moments(codes: NDArray[np.int32], n_categories: int, groups: Sequence[Group]) -> Moments:
    """Moments of the indicators of a nominal column's categories; a code of -1 is missing and ignored.

    Examples
    --------
    >>> groups = [Group(np.array([0, 1, 2, 3]), np.ones(4))]
    >>> indicator_moments(np.array([0, 0, 1, -1], dtype=np.int32), 2, groups).weight
    array([[3., 3.]])
    """
    counts: NDArray[np.float64] = np.stack(
        [np.bincount(codes[rows] + 1, weights, minlength=n_categories + 1)[1:] for rows, weights in groups]
    )
    return moments_of_counts(counts)


def moments_of_counts(counts: NDArray[np.float64]) -> Moments:
    """Moments of the indicators of categories from the weight of each, of shape (n_groups, n_categories).

    Examples
    --------
    >>> moments_of_counts(np.array([[2.0, 1.0, 1.0]])).mean
    array([[0.5 , 0.25, 0.25]])
    """
    total = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    rest = _remaining(counts.T, total.T).T
    # If almost all rows have a category, 1 - share is mostly rounding error.
    others = np.where(rest < NEARLY_NONE * total, rest / np.where(total > 0, total, 1.0), 1.0 - share)
    return Moments(total, share, counts * others)


def _remaining(parts: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Total minus each part along the first axis, accurate even if one part is nearly the total.

    Examples
    --------
    >>> _remaining(np.array([1e20, 2.0, 3.0]), np.array(1e20))
    array([5.e+00, 1.e+20, 1.e+20])
    """
    rest = total - parts
    inaccurate = rest < NEARLY_NONE * total
    if inaccurate.any():
        zero = np.zeros_like(parts[:1])
        before = np.concatenate([zero, np.cumsum(parts[:-1], axis=0)])
        after = np.concatenate([np.cumsum(parts[:0:-1], axis=0)[::-1], zero])
        rest = np.where(inaccurate, before + after, rest)
    return np.asarray(rest)
