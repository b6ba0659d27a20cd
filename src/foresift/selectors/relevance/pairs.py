"""Test of columns that predict only in pairs, as those of an exclusive or or of a product."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.table import Table
from foresift.selectors.relevance.moments import (
    MIN_SHARE,
    counted_rows,
    log_of_any,
    log_two_sided,
    unskewed,
)

__all__ = ["pair_tests"]

MAX_ROWS = 2000  # that are used: plenty, since an exclusive or shows at a hundred
MAX_COLUMNS = 1000  # the work grows with their square
MAX_CLASSES = 50  # and with their number
_STEPS = 50  # to 1, of a mean: sums of products of so few in MAX_ROWS rows are exact in single precision
_BLOCK = 256  # columns at a time, so that their products with all others stay in the cache


def pair_tests(
    table: Table, weights: NDArray[np.float64] | None, columns: NDArray[np.uint32], seed: int
) -> NDArray[np.float64]:
    """Test what each column predicts about the classes together with its best partner, and not alone.

    A column becomes a sign: above or below its median, or in its commonest category or not. Where neither of
    two columns is informative alone, as in an exclusive or, the product of their signs is. Signs s, t are
    centred (to a fiftieth) where they are known, and 0 where they are missing. The sum of u * (c - mean of c)
    with u = s * t and the indicator c of a class has mean 0 if s is independent of t and c wherever it is
    known, so an informative partner adds nothing to the score of s. With a quantity c is its ranks, and s and
    t are ranks too, in a hundred steps: signs lose a third of a product of two normal numbers.

    The variance of the sum is the greater of two. If u is independent of c it is n^2 / (n - 1) * Var(u) *
    Var(c), whatever s and t have to do with each other: they may be missing in the same rows. If s is
    independent of an informative t and of c it is that of a sum of permuted s times t * (c - mean of c). The
    p-value of the largest sum over all partners and classes is that of the largest of as many independent
    ones, by a gamma distribution with its skewness. Sums are of whole numbers, so nothing depends on
    rounding.

    Parameters
    ----------
    table : Table
        The data.
    weights : ndarray or None
        Rows of weight 0 are left out; other weights are ignored.
    columns : ndarray of int
        The columns to pair. More than `MAX_COLUMNS` are not paired.
    seed : int
        Draws rows, if there are more than `MAX_ROWS`.

    Returns
    -------
    ndarray of shape (len(columns),)
        Logs of p-values; NaN without a cut that leaves a quarter of the rows on either side, without a
        partner, or with more than `MAX_CLASSES` classes.
    """
    found = np.full(len(columns), np.nan)
    if len(columns) > MAX_COLUMNS:
        return found
    counted = counted_rows(table, weights)
    cuts = [_cut(table, column, counted) for column in columns.tolist()]
    usable = [k for k, cut in enumerate(cuts) if cut is not None]
    if len(usable) < 2:
        return found
    if len(counted) > MAX_ROWS:
        rng = np.random.default_rng([seed, 2])
        counted = np.sort(rng.choice(counted, MAX_ROWS, replace=False))
    classes = table.target.take(counted).strata(1)
    order = np.argsort(classes, kind="stable")  # class after class
    contrasts = _contrasts(classes[order], table.target.contrasts(counted[order]))
    if 0 < len(contrasts) <= MAX_CLASSES:
        steps = _ranks if table.target.task == "regression" else _ups
        signs = _Signs(np.array([steps(table, int(columns[k]), cuts[k], counted[order]) for k in usable]))
        found[usable] = _log_pvalues(signs, classes[order], contrasts)
    return found


def _cut(table: Table, column: int, rows: NDArray[np.intp]) -> int | None:
    """Highest code below the cut that halves the rows best, or the commonest category; None: too uneven."""
    n_values = table.store.n_values(column)
    counts = np.bincount(np.asarray(table.store.codes(column))[rows], minlength=n_values + 1)[:n_values]
    if not n_values:
        return None
    below = counts if table.store.is_nominal(column) else np.cumsum(counts)
    n_known = int(counts.sum())
    if table.store.is_nominal(column):
        cut = int(np.argmax(counts))
    else:
        cut = int(np.argmin(np.abs(2 * below - n_known)))
    smaller = min(int(below[cut]), n_known - int(below[cut]))
    return cut if smaller >= max(1, MIN_SHARE * len(rows)) else None


def _ups(table: Table, column: int, cut: int | None, rows: NDArray[np.intp]) -> NDArray[np.int8]:
    """`_STEPS` above the cut, or in the category, -`_STEPS` elsewhere, 0 if missing."""
    codes = np.asarray(table.store.codes(column))[rows]
    up = (codes == cut if table.store.is_nominal(column) else codes > cut).view(np.int8)
    up = np.int8(_STEPS) * (up + up - np.int8(1))
    if table.store.has_missing(column):
        up[codes == table.store.n_values(column)] = 0
    return up


def _ranks(table: Table, column: int, cut: int | None, rows: NDArray[np.intp]) -> NDArray[np.int8]:
    """Ranks from -`_STEPS` to `_STEPS`, 0 if missing; of a nominal column `_ups`."""
    if table.store.is_nominal(column):
        return _ups(table, column, cut, rows)
    codes, n_values = np.asarray(table.store.codes(column))[rows], table.store.n_values(column)
    counts = np.bincount(codes, minlength=n_values + 1)
    n_known = len(codes) - counts[n_values]
    steps = np.round(_STEPS * (2 * np.cumsum(counts) - counts - n_known) / max(1, n_known))
    steps[n_values] = 0
    return np.asarray(steps.astype(np.int8)[codes])


class _Signs:
    """Signs or ranks less their mean over the known rows, `_STEPS` whole steps to 1; a row per column."""

    def __init__(self, steps: NDArray[np.int8]) -> None:
        self.n_rows = steps.shape[1]
        self.binary = bool((np.abs(steps) == _STEPS).all())  # and none missing
        # One division of whole numbers: half a step is exactly that, the same with all signs turned round.
        n_known = np.count_nonzero(steps, axis=1)
        self.mean = np.round(steps.sum(axis=1, dtype=np.int64) / np.maximum(1, n_known))
        self.values = steps.astype(np.float32)
        self.values -= self.mean[:, np.newaxis].astype(np.float32)
        if not self.binary:
            self.values[steps == 0] = 0
        self.sums = self.values.sum(axis=1, dtype=np.float64)
        if self.binary:  # v^2 = level - 2 mean v, since v is _STEPS - mean or -_STEPS - mean
            self.level = _STEPS**2 - self.mean**2
            self.squares = self.n_rows * self.level - 2 * self.mean * self.sums
        else:
            self.squares = np.einsum("ij,ij->i", self.values, self.values, dtype=np.float64)


class _Contrast(NamedTuple):
    """What products of signs are summed with: 1 in the rows of a class, or centred ranks of all rows."""

    rows: slice
    values: NDArray[np.float64]  # in these rows
    share: float  # mean of the values over all rows
    spread: float  # sum of squared deviations from it
    cubes: float  # and of cubed ones


def _contrasts(classes: NDArray[np.intp], columns: NDArray[np.float64]) -> list[_Contrast]:
    """Contrasts of the columns that vary; classes are sorted, and a quantity has a single one."""
    n_rows, found = len(columns), []
    for values in columns.T:
        rows = slice(0, n_rows)
        share, spread, cubes = 0.0, float(values @ values), float(values**2 @ values)
        if classes[0] < classes[-1]:
            rows = slice(int(values.argmax()), int(values.argmax() + values.sum()))
            share = float(rows.stop - rows.start) / n_rows
            spread = share * (1 - share) * n_rows
            cubes = spread * (1 - 2 * share)
        if spread > 0:
            found.append(_Contrast(rows, values[rows], share, spread, cubes))
    return found


class _Largest(NamedTuple):
    """Of every column the largest squared sum in units of its variance, and its partner and contrast."""

    squared: NDArray[np.float64]
    partner: NDArray[np.intp]
    contrast: NDArray[np.intp]


def _log_pvalues(signs: _Signs, classes: NDArray[np.intp], contrasts: list[_Contrast]) -> NDArray[np.float64]:
    """Log of the p-value of each column with its best partner.

    Classes are sorted, so that they are slices: their products add up to that of all rows.
    """
    n_columns, n_rows = signs.values.shape
    largest = _largest(signs, classes, contrasts)
    spreads, cubes = np.array([(contrast.spread, contrast.cubes) for contrast in contrasts]).T
    z = np.sqrt(largest.squared)
    for begin in range(0, n_columns, _BLOCK):
        block = slice(begin, begin + _BLOCK)
        products = (signs.values[block] * signs.values[largest.partner[block]]).astype(np.float64)
        products -= products.mean(axis=1, keepdims=True)
        second, third = (products**2).sum(axis=1), (products**3).sum(axis=1)
        best = largest.contrast[block]
        direction = np.sign(
            [
                (row[contrasts[c].rows] * contrasts[c].values).sum()
                for row, c in zip(products, best, strict=True)
            ]
        )
        # Of permuted rows; the factor of n_rows is that of the third moment.
        third *= cubes[best] * n_rows / ((n_rows - 1) * max(1, n_rows - 2))
        deviation = np.sqrt(np.maximum(second * spreads[best] / (n_rows - 1), 1.0))
        z[block] = unskewed(z[block], direction * third / deviation**3)
    return log_of_any(log_two_sided(z), (n_columns - 1) * len(contrasts))


def _largest(signs: _Signs, classes: NDArray[np.intp], contrasts: list[_Contrast]) -> _Largest:
    n_columns, n_rows = signs.values.shape
    edges = [0, *(np.flatnonzero(np.diff(classes)) + 1).tolist(), n_rows]
    largest = _Largest(np.zeros(n_columns), *np.zeros((2, n_columns), np.intp))
    of_partner = [_variance_by_partner(signs, contrast) for contrast in contrasts]
    step = max(1, 2 * _BLOCK // (len(edges) - 1))
    for begin in range(0, n_columns, step):
        block = slice(begin, begin + step)
        parts = {rows: _products(signs, block, slice(*rows)) for rows in pairwise(edges)}
        total = np.zeros((len(signs.values[block]), n_columns))
        for part in parts.values():
            total += part
        of_products = _squares_of_products(signs, block, total)
        for c, (rows, values, share, spread, _) in enumerate(contrasts):
            variances = of_products * (spread / (n_rows - 1))
            np.maximum(variances, np.outer(signs.squares[block], of_partner[c]), out=variances)
            # No column is its own partner.
            variances[np.arange(len(total)), np.arange(len(total)) + begin] = np.inf
            if share:
                deviations = parts[rows.start, rows.stop] - share * total
            else:
                deviations = (signs.values[block] * values) @ signs.values.T
            ratios = deviations**2 / variances
            partner = ratios.argmax(axis=1)
            best = ratios[np.arange(len(partner)), partner]
            better = best > largest.squared[block]
            for kept, new in zip(largest, (best, partner, np.full(len(partner), c)), strict=True):
                kept[block] = np.where(better, new, kept[block])
    return largest


def _products(signs: _Signs, block: slice, rows: slice) -> NDArray[np.float32]:
    return np.asarray(signs.values[block, rows] @ signs.values[:, rows].T)


def _variance_by_partner(signs: _Signs, contrast: _Contrast) -> NDArray[np.float64]:
    """Variance of a sum of permuted unit values times t * (c - mean of c), for every partner t."""
    n_rows, share = signs.n_rows, contrast.share
    values = signs.values[:, contrast.rows] * contrast.values
    sums, squares = values.sum(axis=1), (values**2).sum(axis=1)
    of_squares = (1 - share) ** 2 * squares + share**2 * (signs.squares - squares)
    of_sums = sums - share * signs.sums
    return np.asarray((of_squares - of_sums**2 / n_rows) / (n_rows - 1))


def _squares_of_products(signs: _Signs, block: slice, total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of squared deviations of each product s * t of a block of columns, from the sums `total` of s * t.

    Nothing below what it would be if s and t were independent: near duplicates have products that vary in a
    few rows only, whose sums are far from normal.
    """
    n_rows = signs.n_rows
    if signs.binary:  # products of squares are sums of products that are known
        doubled = -2 * signs.mean
        squares = np.outer(doubled[block], doubled) * total
        squares += np.outer(signs.level[block], signs.squares)
        squares += np.outer(doubled[block] * signs.sums[block], signs.level)
    else:
        squares = (signs.values[block].astype(np.float64) ** 2) @ (signs.values.astype(np.float64) ** 2).T
    squares -= total * total / n_rows
    return np.maximum(squares, np.outer(signs.squares[block] / n_rows, signs.squares), out=squares)
