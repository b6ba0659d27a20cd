"""The share of the variance of a quantity that each column explains by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Explained",
    "explained_by_categories",
    "explained_by_columns",
    "exponents",
    "filled",
    "scaled_deviations",
]

_BLOCK_CELLS, _MIN_WIDTH = 2**21, 8  # of a block of columns; whole cache lines of a C-ordered array


class Explained(NamedTuple):
    """What columns explain of a quantity.

    Attributes
    ----------
    share : ndarray
        Share of the variance on the rows where the column is known: the squared correlation of a number, the
        squared correlation ratio of categories. 0 where the column or the quantity does not vary.
    weight : ndarray
        Weight of these rows.
    n_inputs : int
        Degrees of freedom of the explanation: 1 for numbers, one less than there are categories.
    """

    share: NDArray[np.float64]
    weight: NDArray[np.float64]
    n_inputs: int = 1


def explained_by_columns(
    values: NDArray[Any], y: NDArray[np.float64], weights: NDArray[np.float64]
) -> Iterator[tuple[slice, Explained]]:
    """Squared correlation of every column with y, in blocks of columns; NaN is missing.

    Examples
    --------
    >>> X = np.array([[4.0], [6.0], [8.0], [np.nan]])
    >>> ((columns, explained),) = explained_by_columns(X, np.array([1.0, 2.0, 3.0, 9.0]), np.ones(4))
    >>> explained.share, explained.weight
    (array([1.]), array([3.]))
    """
    used = np.flatnonzero(weights)
    y, weights = y[used, np.newaxis], weights[used, np.newaxis]
    width = max(_MIN_WIDTH, _BLOCK_CELLS // len(values))
    for first in range(0, values.shape[1], width):
        block = values[:, first : first + width]
        block = (block if len(used) == len(block) else block[used]).astype(np.float64)
        missing = np.isnan(block)
        columns = slice(first, first + block.shape[1])
        if not missing.any():
            yield columns, _correlate(block, y, weights)
            continue
        known = np.where(missing, 0.0, weights)
        yield columns, _correlate(filled(np.nan_to_num(block), missing), filled(y, missing), known)


def filled(x: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Put the first known value of a column where its values do not count: it must not vary there.

    Examples
    --------
    >>> x = np.array([[0.0], [5.0], [6.0]])
    >>> filled(x, x == 0).ravel()
    array([5., 5., 6.])
    """
    x = np.broadcast_to(x, missing.shape)
    return np.where(missing, np.take_along_axis(x, missing.argmin(axis=0)[np.newaxis], axis=0), x)


def _correlate(x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]) -> Explained:
    total = np.broadcast_to(weights.sum(axis=0), x.shape[1])
    x, y = scaled_deviations(x, weights), scaled_deviations(y, weights)
    spreads = np.sqrt((weights * x**2).sum(axis=0)) * np.sqrt((weights * y**2).sum(axis=0))
    products = (weights * x * y).sum(axis=0)
    correlations = np.divide(products, spreads, out=np.zeros_like(products), where=spreads > 0)
    return Explained(np.minimum(correlations**2, 1.0), total)


def scaled_deviations(x: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Deviations from the mean of each column, which is scaled by a power of two: squares are normal numbers.

    Exactly 0 if all values are equal.

    Examples
    --------
    >>> x = np.array([[1e308], [0.0], [-1e308]])
    >>> np.ldexp(scaled_deviations(x, np.ones((3, 1))), exponents(x)).ravel()
    array([ 1.e+308,  0.e+000, -1.e+308])
    """
    x = np.ldexp(x, -exponents(x))
    x = x - x[0]
    total = weights.sum(axis=0)
    return x - (weights * x).sum(axis=0) / np.where(total > 0, total, 1.0)


def exponents(x: NDArray[np.float64]) -> NDArray[np.int32]:
    """Exponents of the powers of two that `scaled_deviations` divides the columns by.

    Examples
    --------
    >>> exponents(np.array([[3.0, 0.1], [-5.0, 0.0]]))
    array([ 3, -3], dtype=int32)
    """
    return np.asarray(np.frexp(np.abs(x).max(axis=0))[1])


def explained_by_categories(
    codes: NDArray[np.int32], y: NDArray[np.float64], weights: NDArray[np.float64]
) -> Explained:
    """Squared correlation ratio of a nominal column; a code of -1 is missing.

    Examples
    --------
    >>> codes = np.array([0, 0, 1, -1], dtype=np.int32)
    >>> found = explained_by_categories(codes, np.array([1.0, 1.0, 3.0, 9.0]), np.ones(4))
    >>> found.share, found.weight, found.n_inputs
    (array([1.]), array([3.]), 1)
    """
    used = np.flatnonzero((weights > 0) & (codes >= 0))
    if not len(used):
        return Explained(np.zeros(1), np.zeros(1))
    present, at = np.unique(codes[used], return_inverse=True)
    weights = weights[used]
    deviations = scaled_deviations(y[used, np.newaxis], weights[:, np.newaxis])[:, 0]
    means = np.bincount(at, weights * deviations) / np.bincount(at, weights)
    within, spread = weights @ (deviations - means[at]) ** 2, weights @ deviations**2
    share = 1 - within / spread if spread > 0 and len(present) > 1 else 0.0
    return Explained(np.array([max(share, 0.0)]), weights.sum(keepdims=True), max(1, len(present) - 1))
