"""What columns tell in pairs that they do not tell alone, beside their shadows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.table import Table
from foresift.selectors.relevance.classes import MIN_SHARE, contrasted, counted_rows, max_of_k_quantile

__all__ = ["pairwise_interaction_scores"]

MAX_ROWS = 2000  # that are looked at: plenty, since an exclusive or shows at a hundred
MAX_COLUMNS = 1000  # the work grows with their square
CELLS = 2**26  # signs of shadows, at a time
_STEPS = 50  # to 1, of a mean: sums of products of so few in MAX_ROWS rows are exact in single precision
_BLOCK = 256  # columns at a time, so that their products with all others stay in the cache


def pairwise_interaction_scores(
    table: Table,
    weights: NDArray[np.float64] | None,
    columns: NDArray[np.uint32],
    n_shadows: int,
    shadow_rows: Callable[[int], NDArray[np.uint32]],
    seed: int,
) -> NDArray[np.float64]:
    """How much each column, and each of its shadows, tells about the classes together with the best partner.

    A column becomes a sign: above or below its median, or in its commonest category or not. Where neither of
    two columns knows anything alone, as in an exclusive or, the product of their signs does. Signs s, t are
    centred (to a fiftieth) where they are known, and 0 where they are missing. The sum of u * (c - mean of c)
    with u = s * t and the indicator c of a class has mean 0 if s is independent of t and c wherever it is
    known, so a partner that tells much alone lends nothing to s. If u is independent of c, the sum
    has the variance n^2 / (n - 1) * Var(u) * Var(c) and is about normal, whatever s and t have to do with
    each other: they may be missing in the same rows. If t tells about c, the variance is another,
    but so it is for the shadows of s, which have the same partners; these are not permuted. The score is the
    largest of a column over all partners and classes, as the normal quantile of its probability among so
    many. Sums are of whole numbers, so nothing depends on rounding.

    Parameters
    ----------
    table : Table
        The data.
    weights : ndarray or None
        Rows of weight 0 are left out; other weights are not looked at.
    columns : ndarray of int
        The columns to pair. More than `MAX_COLUMNS` are not paired.
    n_shadows : int
        Shadows of every column.
    shadow_rows : callable
        For the number of a shadow, the row whose values each row has.
    seed : int
        Draws rows, if there are more than `MAX_ROWS`.

    Returns
    -------
    ndarray of shape (len(columns), 1 + n_shadows)
        Scores of the columns, then of the shadows, standard normal by chance; NaN without a cut that leaves
        a quarter of the rows on either side, or without a partner.
    """
    scores = np.full((len(columns), 1 + n_shadows), np.nan)
    if len(columns) > MAX_COLUMNS:
        return scores
    counted = counted_rows(table, weights)
    cuts = [_cut(table, column, counted) for column in columns.tolist()]
    usable = [k for k, cut in enumerate(cuts) if cut is not None]
    if len(usable) < 2:
        return scores
    if len(counted) > MAX_ROWS:
        rng = np.random.default_rng([seed, 2])
        counted = np.sort(rng.choice(counted, MAX_ROWS, replace=False))
    target = table.target.codes
    counted = counted[np.argsort(target[counted], kind="stable")]  # class after class; see _best
    partners = None
    lot = max(1, CELLS // (len(usable) * len(counted)))
    for begin in range(0, 1 + n_shadows, lot):
        numbers = range(begin, min(begin + lot, 1 + n_shadows))
        rows = np.concatenate([counted if t == 0 else shadow_rows(t - 1)[counted] for t in numbers])
        ups = np.array([_ups(table, int(columns[k]), cuts[k], rows) for k in usable])
        for t, up in zip(numbers, np.split(ups, len(numbers), axis=1), strict=True):
            own = _Signs(up)
            partners = own if partners is None else partners
            scores[usable, t] = _best(own, partners, target[counted], table.target.n_classes)
    return scores


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


def _ups(table: Table, column: int, cut: int | None, rows: NDArray[Any]) -> NDArray[np.int8]:
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


def _best(own: _Signs, partners: _Signs, target: NDArray[np.int32], n_classes: int) -> NDArray[np.float64]:
    """Score of each row of `own` with the best of all partners but the one of the same number.

    The target is sorted, so that classes are slices: their products add up to that of all rows.
    """
    n_columns, n_rows = own.values.shape
    classes = contrasted(target, n_classes)
    if not classes:
        return np.full(n_columns, np.nan)
    most = np.zeros(n_columns)
    edges = np.searchsorted(target, np.arange(n_classes + 1))
    present = [c for c in range(n_classes) if edges[c] < edges[c + 1]]
    step = max(1, 2 * _BLOCK // len(present))
    for begin in range(0, n_columns, step):
        block = slice(begin, begin + step)
        parts = {}
        for c in present:
            rows = slice(edges[c], edges[c + 1])
            parts[c] = own.values[block, rows] @ partners.values[:, rows].T
        total = np.zeros((len(most[block]), n_columns))
        for part in parts.values():
            total += part
        variances = _variances(own, partners, block, total)
        # No column is its own partner.
        variances[np.arange(len(total)), np.arange(len(total)) + begin] = np.inf
        for c in classes:
            share = float(edges[c + 1] - edges[c]) / n_rows
            sums = parts[c] - share * total
            sums *= sums
            sums /= variances
            z = np.sqrt(sums.max(axis=1) / (share * (1 - share) * n_rows / (n_rows - 1)))
            most[block] = np.maximum(most[block], z)
    return max_of_k_quantile(most, (n_columns - 1) * len(classes))


def _variances(
    own: _Signs, partners: _Signs, block: slice, total: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum of squared deviations of each product s * t of a block of columns, from the sums `total` of s * t.

    Nothing below what it would be if s and t were independent: near duplicates have products that vary in a
    few rows only, whose sums are far from normal.
    """
    n_rows = own.n_rows
    if own.complete and partners.complete:  # products of squares are sums of products that are known
        of_own, of_partners = -2 * own.mean[block], -2 * partners.mean
        variances = np.outer(of_own, of_partners) * total
        variances += np.outer(own.level[block], partners.squares)
        variances += np.outer(of_own * own.sums[block], partners.level)
    else:
        variances = (own.values[block].astype(np.float64) ** 2) @ (partners.values.astype(np.float64) ** 2).T
    variances -= total * total / n_rows
    return np.maximum(variances, np.outer(own.squares[block] / n_rows, partners.squares), out=variances)
