"""How strongly columns of any kinds are associated with each other, from 0 to 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from foresift.data.table import Table

__all__ = ["associations"]

MAX_ROWS = 4000
MIN_ROWS = 10  # that have both values


def associations(
    table: Table, columns: list[int], weights: NDArray[np.float64] | None = None, seed: int = 0
) -> NDArray[np.float64]:
    """Associations of pairs of columns, of the rows that have both values, at most `MAX_ROWS` of them.

    Parameters
    ----------
    table : Table
        The rows.
    columns : list of int
        Which columns.
    weights : ndarray of float64 or None, default=None
        Rows of weight 0 do not count.
    seed : int, default=0
        Draws the rows.

    Returns
    -------
    ndarray of shape (n_columns, n_columns)
        The absolute rank correlation of two numeric columns (Spearman), the correlation ratio of the ranks of
        a numeric column and a nominal one, Cramér's V of two nominal columns, the last two corrected for
        chance. NaN if fewer than 10 rows have both values, or no category repeats; 0 if a column is constant.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> x = np.arange(20.0)
    >>> table = make_table({"x": x, "square": x**2, "high": np.where(x < 10, "no", "yes")})
    >>> associations(table, [0, 1, 2]).round(2).tolist()
    [[1.0, 1.0, 0.86], [1.0, 1.0, 0.86], [0.86, 0.86, 1.0]]
    """
    rows = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights > 0)
    if len(rows) > MAX_ROWS:
        rows = np.sort(np.random.default_rng([seed, 7]).choice(rows, MAX_ROWS, replace=False))
    store = table.store
    codes = [np.asarray(store.codes(j), dtype=np.int64)[rows] for j in columns]
    known = [code < store.n_values(j) for code, j in zip(codes, columns, strict=True)]
    nominal = [store.is_nominal(j) for j in columns]
    found = np.eye(len(columns))
    for a in range(len(columns)):
        for b in range(a):
            both = known[a] & known[b]
            found[a, b] = found[b, a] = _association(codes[a][both], codes[b][both], nominal[a], nominal[b])
    return found


def _association(a: NDArray[np.int64], b: NDArray[np.int64], a_nominal: bool, b_nominal: bool) -> float:
    if len(a) < MIN_ROWS:
        return np.nan
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    if a_nominal and b_nominal:
        return _cramer(a, b)
    if a_nominal != b_nominal:
        return _ratio(rankdata(b), a) if a_nominal else _ratio(rankdata(a), b)
    return float(abs(np.corrcoef(rankdata(a), rankdata(b))[0, 1]))


def _ratio(ranks: NDArray[np.float64], categories: NDArray[np.int64]) -> float:
    """Square root of the share of the variance between categories, less what chance gives."""
    _, of_row = np.unique(categories, return_inverse=True)
    ranks = ranks - ranks.mean()
    sizes = np.bincount(of_row)
    between = (np.bincount(of_row, ranks) ** 2 / sizes).sum() / (ranks**2).sum()
    n, k = len(ranks), len(sizes)
    if n == k:  # every category is there once, so nothing repeats
        return np.nan
    corrected = 1 - (1 - between) * (n - 1) / (n - k)
    return float(np.sqrt(max(0.0, corrected)))


def _cramer(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    """Cramér's V without its bias (Bergsma 2013)."""
    (_, a), (_, b) = (np.unique(codes, return_inverse=True) for codes in (a, b))
    n, rows, columns = len(a), int(a.max()) + 1, int(b.max()) + 1
    if max(rows, columns) == n:  # every value is there once, so nothing repeats
        return np.nan
    cells, counts = np.unique(a * columns + b, return_counts=True)
    expected = np.bincount(a)[cells // columns] * np.bincount(b)[cells % columns]
    squared = float((counts**2 / expected).sum()) - 1
    squared = max(0.0, squared - (rows - 1) * (columns - 1) / (n - 1))
    least = min(rows - (rows - 1) ** 2 / (n - 1), columns - (columns - 1) ** 2 / (n - 1)) - 1
    return float(np.sqrt(min(1.0, squared / least))) if least > 0 else 0.0
