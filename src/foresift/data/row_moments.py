"""Moments of columns whose rows come in batches: merged one batch after the other, so that no row is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.batch_columns import Categories, Numbers
from foresift.data.coding import Coding
from foresift.data.explained import Explained, filled
from foresift.data.moments import Group, Moments, moments_from, moments_of_counts

__all__ = ["ClassMoments", "Explanations"]

_NORMAL = 200  # binary exponents up to here have squares that are normal numbers, also those of many rows
_NONE = -(2**14)  # exponent of a column that was 0 so far


class _Scale:
    """Powers of two that columns are divided by, so that squares are normal numbers, and their first numbers.

    An exponent grows with the numbers that come; it is 0 for all but very large or very small ones.
    """

    def __init__(self, n_columns: int) -> None:
        self._exponent = np.full(n_columns, _NONE, dtype=np.int64)
        self._origin = np.full(n_columns, np.nan)

    def grow(self, at: slice, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """See some rows; return by how much the exponents of their columns grow."""
        low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
        size = np.nan_to_num(np.maximum(high, -low))
        own = np.where(size > 0, np.frexp(size)[1], _NONE)
        own = np.where(np.abs(own) <= _NORMAL, 0, own)
        more = np.maximum(0, own - self._exponent[at])
        self._exponent[at] += more
        first = np.take_along_axis(values, np.isnan(values).argmin(axis=0)[np.newaxis], axis=0)[0]
        self._origin[at] = np.where(np.isnan(self._origin[at]), first, self._origin[at])
        return more

    def divided(self, at: slice, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers, divided; the same array if that is by 1."""
        exponent = np.where(self._exponent[at] == _NONE, 0, self._exponent[at])
        return np.ldexp(values, -exponent) if exponent.any() else values

    def origin(self, at: slice) -> NDArray[np.float64]:
        """The first number that was known of every column, divided; 0 if none was."""
        return self.divided(at, np.nan_to_num(self._origin[at]))


class ClassMoments:
    """Moments of every column in every class.

    Parameters
    ----------
    coding : Coding
        The columns and classes.

    Examples
    --------
    >>> from foresift.data.coding import make_coding
    >>> from foresift.data.schema import Schema
    >>> from foresift.data.target import Classes
    >>> x, y = np.array([1.0, 3.0, 5.0, 9.0]), Classes.read(["a", "a", "b", "b"], 4)
    >>> found = ClassMoments(make_coding(Schema(None, (None,)), {0: x}, y, y.labels, None))
    >>> for rows in (slice(0, 3), slice(3, 4)):
    ...     found.add(y.codes[rows], [Numbers(slice(0, 1), x[rows, np.newaxis])])
    >>> ((columns, moments),) = found.of_columns()
    >>> moments.mean.ravel(), moments.spread.ravel()
    (array([1., 6.]), array([2., 8.]))
    """

    def __init__(self, coding: Coding) -> None:
        n_classes, self._n_columns = coding.n_target_codes, coding.n_columns
        self._moments = Moments._make(np.zeros((3, n_classes, self._n_columns)))
        self._scale = _Scale(self._n_columns)
        known = enumerate(coding.schema.categories)
        self._counts = {j: np.zeros((n_classes, len(some))) for j, some in known if some is not None}

    def add(self, y: NDArray[Any], columns: list[Numbers | Categories]) -> None:
        """Add a batch, of which y are the class codes."""
        order = np.argsort(y, kind="stable")
        present, starts = np.unique(y[order], return_index=True)
        groups = [Group(rows, np.ones(len(rows))) for rows in np.split(order, starts[1:])]
        for part in columns:
            if isinstance(part, Categories):
                counts, known = self._counts[part.at], part.codes >= 0
                cells = y[known].astype(np.intp) * counts.shape[1] + part.codes[known]
                counts += np.bincount(cells, minlength=counts.size).reshape(counts.shape)
            else:
                self._merge(part, present, groups)

    def _merge(self, part: Numbers, present: NDArray[Any], groups: list[Group]) -> None:
        at, (weight, mean, spread) = part.at, self._moments
        growth = self._scale.grow(at, part.values)
        if growth.any():
            mean[:, at] = np.ldexp(mean[:, at], -growth)
            spread[:, at] = np.ldexp(spread[:, at], -2 * growth)
        values = self._scale.divided(at, part.values)
        more = moments_from(self._scale.origin(at), values, groups, True)
        before = Moments(weight[present, at], mean[present, at], spread[present, at])
        weight[present, at], mean[present, at], spread[present, at] = before.merge(more)

    def of_columns(self) -> Iterator[tuple[slice, Moments]]:
        """Columns and their moments in every class; of a nominal one, those of its indicators."""
        for at, nominal in _runs(list(self._counts), self._n_columns):
            if nominal:
                yield at, moments_of_counts(self._counts[at.start])
            else:
                yield at, Moments._make(array[:, at] for array in self._moments)


class _Joint(NamedTuple):
    """Moments of columns and of a quantity on the rows where they are known; the last axis is the column.

    Means are less an origin; xx, yy and xy are sums of products of deviations from them.
    """

    weight: NDArray[np.float64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    xx: NDArray[np.float64]
    yy: NDArray[np.float64]
    xy: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        from_x: NDArray[np.float64],
        from_y: NDArray[np.float64],
    ) -> _Joint:
        """Moments of some rows; y is a single column, and NaN in x is missing."""
        missing = np.isnan(x)
        weight, known = np.full(x.shape[1], float(len(x))), None
        if missing.any():
            known = (~missing).astype(np.float64)
            weight = known.sum(axis=0)
            x, y = filled(np.nan_to_num(x), missing), filled(y, missing)
        # Deviations from a value of each column: exactly 0 if all are equal, and where it is missing.
        means, deviations = [], []
        for values, origin in ((x, from_x), (y, from_y)):
            apart = values - values[0]
            mean = apart.sum(axis=0) / np.maximum(weight, 1)
            apart = apart - mean if known is None else (apart - mean) * known
            means.append(np.where(weight > 0, values[0] - origin + mean, 0.0))
            deviations.append(np.broadcast_to(apart, x.shape))
        dx, dy = deviations
        sums = [np.einsum("ij,ij->j", a, b) for a, b in ((dx, dx), (dy, dy), (dx, dy))]
        return cls(weight, *means, *sums)

    def merge(self, other: _Joint) -> _Joint:
        """Moments of the union of the rows, as `Moments.merge`."""
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        dx, dy, factor = other.x - self.x, other.y - self.y, self.weight * share
        products = [dx * dx * factor, dy * dy * factor, dx * dy * factor]
        sums = [a + b + c for a, b, c in zip(self[3:], other[3:], products, strict=True)]
        return _Joint(weight, self.x + dx * share, self.y + dy * share, *sums)


class Explanations:
    """What every column explains of a quantity by itself.

    Parameters
    ----------
    coding : Coding
        The columns.

    Examples
    --------
    >>> from foresift.data.coding import make_coding
    >>> from foresift.data.schema import Schema
    >>> from foresift.data.target import Quantity
    >>> x, y = np.array([4.0, 6.0, 8.0, np.nan]), np.array([1.0, 2.0, 3.0, 9.0])
    >>> found = Explanations(make_coding(Schema(None, (None,)), {0: x}, Quantity(y), None, None))
    >>> for rows in (slice(0, 2), slice(2, 4)):
    ...     found.add(y[rows], [Numbers(slice(0, 1), x[rows, np.newaxis])])
    >>> ((columns, explained),) = found.of_columns()
    >>> explained.share, explained.weight
    (array([1.]), array([3.]))
    """

    def __init__(self, coding: Coding) -> None:
        self._n_columns = coding.n_columns
        self._joint = _Joint._make(np.zeros((6, self._n_columns)))
        self._scale, self._scale_of_y = _Scale(self._n_columns), _Scale(1)
        known = enumerate(coding.schema.categories)
        self._of_y = {j: Moments._make(np.zeros((3, len(some)))) for j, some in known if some is not None}

    def add(self, y: NDArray[np.float64], columns: list[Numbers | Categories]) -> None:
        """Add a batch."""
        y, every = y[:, np.newaxis], slice(0, 1)
        self._shrink_y(int(self._scale_of_y.grow(every, y)[0]))
        y, origin = self._scale_of_y.divided(every, y), self._scale_of_y.origin(every)
        for part in columns:
            if isinstance(part, Categories):
                known = part.codes >= 0
                more = _moments_by_category(
                    part.codes[known], y[known, 0] - origin[0], len(self._of_y[part.at].mean)
                )
                self._of_y[part.at] = self._of_y[part.at].merge(more)
                continue
            at, growth = part.at, self._scale.grow(part.at, part.values)
            if growth.any():
                for array, power in ((self._joint.x, 1), (self._joint.xx, 2), (self._joint.xy, 1)):
                    array[at] = np.ldexp(array[at], -power * growth)
            values = self._scale.divided(at, part.values)
            more_joint = _Joint.of(values, y, self._scale.origin(at), origin)
            merged = _Joint._make(array[at] for array in self._joint).merge(more_joint)
            for array, new in zip(self._joint, merged, strict=True):
                array[at] = new

    def _shrink_y(self, growth: int) -> None:
        if growth:
            for array, power in ((self._joint.y, 1), (self._joint.yy, 2), (self._joint.xy, 1)):
                array[:] = np.ldexp(array, -power * growth)
            for j, (weight, mean, spread) in self._of_y.items():
                self._of_y[j] = Moments(weight, np.ldexp(mean, -growth), np.ldexp(spread, -2 * growth))

    def of_columns(self) -> Iterator[tuple[slice, Explained]]:
        """Columns and what they explain, nominal ones one by one."""
        for at, nominal in _runs(list(self._of_y), self._n_columns):
            if nominal:
                yield at, _explained_by_groups(self._of_y[at.start])
                continue
            weight, _, _, xx, yy, xy = (array[at] for array in self._joint)
            spreads = np.sqrt(xx) * np.sqrt(yy)
            correlation = np.divide(xy, spreads, out=np.zeros_like(xy), where=spreads > 0)
            yield at, Explained(np.minimum(correlation**2, 1.0), weight)


def _moments_by_category(codes: NDArray[np.intp], y: NDArray[np.float64], n_categories: int) -> Moments:
    """Moments of y in every category."""
    weight = np.bincount(codes, minlength=n_categories).astype(np.float64)
    first = np.zeros(n_categories)
    first[codes[::-1]] = y[::-1]  # deviations from a number of the category: exactly 0 if all are equal
    apart = y - first[codes]
    mean = np.bincount(codes, apart, n_categories) / np.maximum(weight, 1)
    squares = np.bincount(codes, (apart - mean[codes]) ** 2, n_categories)
    return Moments(weight, first + mean, squares.astype(np.float64))


def _explained_by_groups(of_y: Moments) -> Explained:
    """Squared correlation ratio; `of_y` has the moments of the quantity in every category."""
    present = of_y.weight > 0
    n_present = int(present.sum())
    if not n_present:
        return Explained(np.zeros(1), np.zeros(1))
    groups = Moments._make(array[present][:, np.newaxis] for array in of_y)
    whole = groups.together
    within, spread = float(groups.spread.sum()), float(whole.spread[0])
    share = 1 - within / spread if spread > 0 and n_present > 1 else 0.0
    return Explained(np.array([max(share, 0.0)]), whole.weight, max(1, n_present - 1))


def _runs(nominal: list[int], n_columns: int) -> Iterator[tuple[slice, bool]]:
    """Neighbouring numeric columns, and nominal ones one by one, in order.

    Examples
    --------
    >>> list(_runs([1], 4))
    [(slice(0, 1, None), False), (slice(1, 2, None), True), (slice(2, 4, None), False)]
    """
    start = 0
    for j in [*nominal, n_columns]:
        if start < j:
            yield slice(start, j), False
        if j < n_columns:
            yield slice(j, j + 1), True
        start = j + 1
