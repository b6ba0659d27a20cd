"""Symmetrical uncertainty of columns, numeric ones cut into intervals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from foresift.data.discretize import cut_positions
from foresift.data.table import Table
from foresift.selectors.correlations import Correlations

__all__ = ["Uncertainties", "symmetrical_uncertainty"]

_CELLS = 2**21  # cells of contingency tables, or rows to be counted into them, at a time
_WEKA_ZERO = 1e-6  # what Weka takes for zero


class _Group(NamedTuple):
    """Columns with the same number of codes."""

    columns: NDArray[np.intp]
    codes: NDArray[Any]  # (n_columns, n_rows)
    n_codes: int  # with the missing one, which is the last
    missing: bool


class Uncertainties(Correlations):
    """Symmetrical uncertainty of the columns with the class, and with each other on demand.

    Parameters
    ----------
    table : Table
        The data; numeric columns are cut into intervals by `foresift.data.discretize`.
    weights : ndarray of shape (n_rows,) or None
        Number of rows that each row counts for.
    like_weka : bool, default=False
        Cut numeric columns as Weka's CfsSubsetEval does, and like it replace an uncertainty of about 0
        between two columns by 1.

    Attributes
    ----------
    n_columns : int
        Number of columns.
    with_class : ndarray of shape (n_columns,)
        Uncertainty of every column and the class.
    deviations : ndarray of shape (n_columns,)
        Weight of every column in the merit of a subset: 1.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> table = make_table({"a": ["p", "p", "q", "q"], "b": ["p", "q", "p", "q"]}, [0, 0, 1, 1])
    >>> uncertainties = Uncertainties(table, None)
    >>> uncertainties.with_class, uncertainties.between(0)
    (array([1., 0.]), array([1., 0.]))
    """

    def __init__(self, table: Table, weights: NDArray[np.float64] | None, *, like_weka: bool = False) -> None:
        super().__init__()
        self.n_columns = table.n_columns
        self.deviations = np.ones(self.n_columns)
        self._like_weka = like_weka
        self._rows = slice(None) if weights is None else np.flatnonzero(weights)
        self._weights = None if weights is None else weights[self._rows]
        target = table.target.codes[self._rows].astype(np.intp)
        self._groups: list[_Group] = []
        self._place: dict[int, tuple[_Group, int]] = {}  # columns of one value have none
        self._add_columns(table, target)
        values = self._with(target, table.target.n_classes, False)
        self.with_class = np.where(values < _WEKA_ZERO, 0.0, values) if like_weka else values

    def _between(self, column: int) -> NDArray[np.float64]:
        values = np.zeros(self.n_columns)
        if column in self._place:
            group, at = self._place[column]
            values = self._with(group.codes[at], group.n_codes, group.missing)
        return np.where(values < _WEKA_ZERO, 1.0, values) if self._like_weka else values

    def _add_columns(self, table: Table, target: NDArray[np.intp]) -> None:
        by_size: dict[tuple[int, bool], list[tuple[int, NDArray[Any]]]] = {}
        for column in range(table.n_columns):
            codes, n_values = self._discrete(table, column, target)
            sizes = np.bincount(codes, minlength=n_values + 1)
            if np.count_nonzero(sizes[:n_values]) > 1:
                missing = bool(sizes[n_values])
                narrow = codes.astype(np.uint8 if n_values < 256 else np.uint16)
                by_size.setdefault((n_values + missing, missing), []).append((column, narrow))
        for n_codes, missing in list(by_size):
            columns, rows = zip(*by_size.pop((n_codes, missing)), strict=True)
            group = _Group(np.array(columns), np.stack(rows), n_codes, missing)
            self._groups.append(group)
            self._place.update((column, (group, at)) for at, column in enumerate(columns))

    def _discrete(self, table: Table, column: int, target: NDArray[np.intp]) -> tuple[NDArray[np.intp], int]:
        """Codes of a column as categories, and their number, which is the code of a missing value."""
        codes = np.asarray(table.store.codes(column))[self._rows].astype(np.intp)
        n_values, n_classes = table.store.n_values(column), table.target.n_classes
        if table.store.is_nominal(column):
            return codes, n_values
        counts = np.bincount(codes * n_classes + target, self._weights, minlength=(n_values + 1) * n_classes)
        counts = counts.reshape(n_values + 1, n_classes)[:n_values].T
        # Bins hide the number of distinct values; the number of rows is closer to it than that of bins.
        better_encoding = self._like_weka and not table.store.is_binned(column)
        cuts = cut_positions(counts, better_encoding=better_encoding)
        interval = np.searchsorted(cuts, np.arange(n_values + 1), side="right")
        interval[n_values] = len(cuts) + 1
        return interval[codes], len(cuts) + 1

    def _with(self, other: NDArray[Any], n_codes: int, missing: bool) -> NDArray[np.float64]:
        """Uncertainty of every column with codes of the same rows."""
        out = np.zeros(self.n_columns)
        for group in self._groups:
            options = other, (group.n_codes, n_codes), (group.missing, missing), self._weights
            # A table with many more cells than rows is mostly empty; with missing values it fills up again.
            most = _CELLS if group.missing or missing else min(_CELLS, max(2**12, 4 * len(other)))
            if group.n_codes * n_codes > most:
                for column, codes in zip(group.columns, group.codes, strict=True):
                    out[column] = _of_many_codes(codes, *options)
                continue
            step = max(1, _CELLS // max(len(other), group.n_codes * n_codes))
            for first in range(0, len(group.columns), step):
                part = slice(first, first + step)
                out[group.columns[part]] = _of_few_codes(group.codes[part], *options)
        return out


def symmetrical_uncertainty(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Information that two columns share, over the mean of the information in each.

    Parameters
    ----------
    counts : ndarray of shape (..., n_codes, n_other_codes)
        Contingency tables.

    Returns
    -------
    ndarray of shape (...)
        From 0 (independent, or one has a single value) to 1 (each determines the other).

    Examples
    --------
    >>> symmetrical_uncertainty(np.array([[[3, 0], [0, 2]], [[2, 4], [1, 2]], [[5, 0], [0, 0]]]))
    array([1., 0., 0.])
    """
    shares = counts / counts.sum(axis=(-2, -1), keepdims=True)
    joint = entr(shares).sum(axis=(-2, -1))
    return _ratio(entr(shares.sum(axis=-1)).sum(axis=-1), entr(shares.sum(axis=-2)).sum(axis=-1), joint)


def _ratio(one: Any, other: Any, joint: Any) -> NDArray[np.float64]:
    both = np.asarray(one + other)
    shared = np.divide(2.0 * (both - joint), both, out=np.zeros_like(both), where=both > 0)
    return np.where(shared > 1e-12, np.minimum(shared, 1.0), 0.0)  # less is rounding error


def _of_few_codes(
    codes: NDArray[Any],
    other: NDArray[Any],
    sizes: tuple[int, int],
    missing: tuple[bool, bool],
    weights: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Uncertainty of several columns, one per row of `codes`, and another one."""
    n_columns, (n_codes, n_other) = len(codes), sizes
    cells = codes.astype(np.intp)
    cells += np.arange(0, n_columns * n_codes, n_codes)[:, np.newaxis]
    cells *= n_other
    cells += other
    repeated = None if weights is None else np.broadcast_to(weights, cells.shape).ravel()
    size = n_columns * n_codes * n_other
    counts = np.bincount(cells.ravel(), repeated, minlength=size).reshape(n_columns, n_codes, n_other)
    if not any(missing):
        return symmetrical_uncertainty(counts)
    padded = np.zeros((n_columns, n_codes + (not missing[0]), n_other + (not missing[1])))
    padded[:, :n_codes, :n_other] = counts
    return symmetrical_uncertainty(_spread_missing(padded))


def _spread_missing(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distribute the counts of missing values, in the last row and column, over the others.

    As Weka's CfsSubsetEval: if one value is missing, by the frequencies of the values of that column; if both
    are, by the frequencies of the known pairs.
    """
    known, both = counts[:, :-1, :-1], counts[:, -1:, -1:]
    no_other, no_own = counts[:, :-1, -1:], counts[:, -1:, :-1]
    own = known.sum(axis=2, keepdims=True) + no_other
    other = known.sum(axis=1, keepdims=True) + no_own
    pairs = known.sum(axis=(1, 2), keepdims=True)
    spread = np.zeros_like(counts)
    spread[:, :-1, :-1] = (
        known * (1.0 + np.divide(both, pairs, out=np.zeros_like(both), where=pairs > 0))
        + own / own.sum(axis=1, keepdims=True) * no_own
        + other / other.sum(axis=2, keepdims=True) * no_other
    )
    spread[:, -1:, -1:] = np.where(pairs > 0, 0.0, both)  # no pair is known: they stay in one cell
    return spread


def _of_many_codes(
    codes: NDArray[Any],
    other: NDArray[Any],
    sizes: tuple[int, int],
    missing: tuple[bool, bool],
    weights: NDArray[np.float64] | None,
) -> float:
    """Uncertainty of two columns whose contingency table is too large for memory."""
    n_codes, n_other = sizes
    cells, inverse = np.unique(codes.astype(np.int64) * n_other + other, return_inverse=True)
    counts = np.bincount(inverse, weights).astype(np.float64)
    row, column = np.divmod(cells, n_other)
    if not any(missing):
        sums = [np.bincount(row, counts), np.bincount(column, counts), counts]
        return float(_ratio(*(entr(part / counts.sum()).sum() for part in sums)))
    return _of_many_codes_with_missing(counts, row, column, n_codes - missing[0], n_other - missing[1])


def _of_many_codes_with_missing(
    counts: NDArray[np.float64], row: NDArray[Any], column: NDArray[Any], n_known: int, n_other: int
) -> float:
    """Process the table of `_spread_missing`, which has no empty cell, some rows at a time."""
    total, known = counts.sum(), (row < n_known) & (column < n_other)
    no_other = np.bincount(row[column == n_other], counts[column == n_other], minlength=n_known + 1)
    no_own = np.bincount(column[row == n_known], counts[row == n_known], minlength=n_other + 1)
    own = np.bincount(row, counts, minlength=n_known + 1)[:n_known]
    others = np.bincount(column, counts, minlength=n_other + 1)[:n_other]
    both, pairs = no_other[n_known], counts[known].sum()
    row, column = row[known], column[known]
    counts = counts[known] * (1.0 + (both / pairs if pairs > 0 else 0.0))
    joint = of_own = entr((0.0 if pairs > 0 else both) / total)
    columns = np.zeros(n_other)
    step = max(1, _CELLS // n_other)
    for first in range(0, n_known, step):
        part = slice(first, min(first + step, n_known))
        dense = np.outer(own[part] / own.sum(), no_own[:n_other])
        dense += np.outer(no_other[part], others / others.sum())
        held = slice(*np.searchsorted(row, [part.start, part.stop]))
        dense[row[held] - first, column[held]] += counts[held]
        joint += entr(dense / total).sum()
        of_own += entr(dense.sum(axis=1) / total).sum()
        columns += dense.sum(axis=0)
    of_other = entr(columns / total).sum() + entr((0.0 if pairs > 0 else both) / total)
    return float(_ratio(of_own, of_other, joint))
