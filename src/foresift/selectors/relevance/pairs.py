"""Test of columns that predict the classes only in pairs, as those of an exclusive or."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.table import Table
from foresift.selectors.relevance.moments import (
    MIN_SHARE,
    contrasted,
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
    two columns is informative alone, as in an exclusive or, the product of their signs is. A quantity counts
    as two classes, above and below its median. Signs s, t are
    centred (to a fiftieth) where they are known, and 0 where they are missing. The sum of u * (c - mean of c)
    with u = s * t and the indicator c of a class has mean 0 if s is independent of t and c wherever it is
    known, so an informative partner adds nothing to the score of s.

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
    target = table.target.strata(2)
    counted = counted[np.argsort(target[counted], kind="stable")]  # class after class; see _log_pvalues
    signs = _Signs(np.array([_ups(table, int(columns[k]), cuts[k], counted) for k in usable]))
    found[usable] = _log_pvalues(signs, target[counted], int(target.max()) + 1)
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
    """1 above the cut, or in the category, -1 elsewhere, 0 if missing."""
    codes = np.asarray(table.store.codes(column))[rows]
    up = (codes == cut if table.store.is_nominal(column) else codes > cut).view(np.int8)
    up = up + up - np.int8(1)
    if table.store.has_missing(column):
        up[codes == table.store.n_values(column)] = 0
    return up


class _Signs:
    """Signs less their mean over the known rows, in whole steps of `_STEPS` to 1; a row per column."""

    def __init__(self, up: NDArray[np.int8]) -> None:
        self.n_rows = up.shape[1]
        n_known = np.count_nonzero(up, axis=1)
        self.complete = bool((n_known == self.n_rows).all())
        # One division of whole numbers: half a step is exactly that, the same with all signs turned round.
        self.mean = np.round(_STEPS * up.sum(axis=1, dtype=np.int64) / np.maximum(1, n_known))
        self.values = up * np.float32(_STEPS)
        self.values -= self.mean[:, np.newaxis].astype(np.float32)
        if not self.complete:
            self.values[up == 0] = 0
        self.sums = self.values.sum(axis=1, dtype=np.float64)
        if self.complete:  # v^2 = level - 2 mean v, since v is _STEPS - mean or -_STEPS - mean
            self.level = _STEPS**2 - self.mean**2
            self.squares = self.n_rows * self.level - 2 * self.mean * self.sums
        else:
            self.squares = np.einsum("ij,ij->i", self.values, self.values, dtype=np.float64)


class _Largest(NamedTuple):
    """Of every column the largest squared sum in units of its variance, and the partner and class it has."""

    squared: NDArray[np.float64]
    partner: NDArray[np.intp]
    of_class: NDArray[np.intp]


def _log_pvalues(signs: _Signs, target: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Log of the p-value of each column with its best partner.

    The target is sorted, so that classes are slices: their products add up to that of all rows.
    """
    n_columns, n_rows = signs.values.shape
    classes = contrasted(target, n_classes)
    if not classes or len(classes) > MAX_CLASSES:
        return np.full(n_columns, np.nan)
    edges = np.searchsorted(target, np.arange(n_classes + 1))
    largest = _largest(signs, classes, edges)
    shares = np.diff(edges) / n_rows
    z = np.sqrt(largest.squared)
    for begin in range(0, n_columns, _BLOCK):
        block = slice(begin, begin + _BLOCK)
        products = (signs.values[block] * signs.values[largest.partner[block]]).astype(np.float64)
        products -= products.mean(axis=1, keepdims=True)
        second, third = (products**2).sum(axis=1), (products**3).sum(axis=1)
        share = shares[largest.of_class[block]]
        spread = share * (1 - share) * n_rows
        direction = np.sign(
            [
                row[edges[c] : edges[c + 1]].sum()
                for row, c in zip(products, largest.of_class[block], strict=True)
            ]
        )
        # Of permuted rows; the factor of n_rows is that of the third moment.
        third *= spread * (1 - 2 * share) * n_rows / ((n_rows - 1) * max(1, n_rows - 2))
        deviation = np.sqrt(np.maximum(second * spread / (n_rows - 1), 1.0))
        z[block] = unskewed(z[block], direction * third / deviation**3)
    return log_of_any(log_two_sided(z), (n_columns - 1) * len(classes))


def _largest(signs: _Signs, classes: list[int], edges: NDArray[np.intp]) -> _Largest:
    n_columns, n_rows = signs.values.shape
    present = [c for c in range(len(edges) - 1) if edges[c] < edges[c + 1]]
    largest = _Largest(np.zeros(n_columns), np.zeros(n_columns, np.intp), np.full(n_columns, classes[0]))
    of_partner = {c: _variance_by_partner(signs, slice(edges[c], edges[c + 1])) for c in classes}
    step = max(1, 2 * _BLOCK // len(present))
    for begin in range(0, n_columns, step):
        block = slice(begin, begin + step)
        parts = {c: _products(signs, block, slice(edges[c], edges[c + 1])) for c in present}
        total = np.zeros((len(signs.values[block]), n_columns))
        for part in parts.values():
            total += part
        of_products = _squares_of_products(signs, block, total)
        for c in classes:
            share = float(edges[c + 1] - edges[c]) / n_rows
            variances = of_products * (share * (1 - share) * n_rows / (n_rows - 1))
            np.maximum(variances, np.outer(signs.squares[block], of_partner[c]), out=variances)
            # No column is its own partner.
            variances[np.arange(len(total)), np.arange(len(total)) + begin] = np.inf
            ratios = (parts[c] - share * total) ** 2 / variances
            partner = ratios.argmax(axis=1)
            best = ratios[np.arange(len(partner)), partner]
            better = best > largest.squared[block]
            for kept, new in zip(largest, (best, partner, np.full(len(partner), c)), strict=True):
                kept[block] = np.where(better, new, kept[block])
    return largest


def _products(signs: _Signs, block: slice, rows: slice) -> NDArray[np.float32]:
    return np.asarray(signs.values[block, rows] @ signs.values[:, rows].T)


def _variance_by_partner(signs: _Signs, inside: slice) -> NDArray[np.float64]:
    """Variance of a sum of permuted unit values times t * (c - mean of c), for every partner t."""
    n_rows = signs.n_rows
    share = (inside.stop - inside.start) / n_rows
    values = signs.values[:, inside].astype(np.float64)
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
    if signs.complete:  # products of squares are sums of products that are known
        doubled = -2 * signs.mean
        squares = np.outer(doubled[block], doubled) * total
        squares += np.outer(signs.level[block], signs.squares)
        squares += np.outer(doubled[block] * signs.sums[block], signs.level)
    else:
        squares = (signs.values[block].astype(np.float64) ** 2) @ (signs.values.astype(np.float64) ** 2).T
    squares -= total * total / n_rows
    return np.maximum(squares, np.outer(signs.squares[block] / n_rows, signs.squares), out=squares)
