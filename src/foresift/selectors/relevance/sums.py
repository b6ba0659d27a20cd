"""P-values of sums of ranks times values, by the moments that they have if rows are permuted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.selectors.relevance.combining import log_cauchy_mean
from foresift.selectors.relevance.moments import (
    as_correlations,
    log_of_any,
    log_two_sided,
    unskewed,
    without_kurtosis,
)
from foresift.selectors.relevance.views import Spread

__all__ = ["Powers", "Products", "powers_of"]

_CELLS = 2**15  # numbers at a time
_SHARES = np.array([1.0, 2.0, 1.0])  # of the scores of a quantity in its p-value


class Powers(NamedTuple):
    """Sums of second, third and fourth powers of centred numbers."""

    squares: NDArray[np.float64]
    cubes: NDArray[np.float64]
    fourths: NDArray[np.float64]

    def take(self, some: NDArray[Any]) -> Powers:
        """Return some of them."""
        return Powers(*(power[some] for power in self))


def powers_of(rows: NDArray[np.float64]) -> Powers:
    """Sums of powers of rows of numbers, some rows at a time that stay in the cache.

    Examples
    --------
    >>> powers_of(np.array([[-1.0, 0.0, 2.0]]))
    Powers(squares=array([5.]), cubes=array([7.]), fourths=array([17.]))
    """
    found = np.empty((3, len(rows)))
    step = max(1, _CELLS // max(1, rows.shape[1]))
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        squares = some**2
        found[0, begin : begin + step] = squares.sum(axis=1)
        for k, other in enumerate((some, squares), start=1):
            found[k, begin : begin + step] = np.einsum("ij,ij->i", other, squares)
    return Powers(*found)


class Products(NamedTuple):
    """Sums of ranks (a row for every column) times values (a column each), and what they are sums of."""

    sums: NDArray[np.float64]
    of_ranks: Powers
    of_values: Powers
    n_rows: int

    def log_pvalues(self, spread: Spread, left: NDArray[np.bool_], *, quantity: bool) -> NDArray[np.float64]:
        """Logs of p-values, the values taken together; `left` says which of all values these are."""
        n_rows, ranks, values = self.n_rows, self.of_ranks, self.of_values
        z = self.sums / np.sqrt(spread.variance)
        third = np.outer(ranks.cubes, values.cubes) * (n_rows / float((n_rows - 1) * max(1, n_rows - 2)))
        # Both moments of all rows permuted: by a spread of the sums of a few series skewness has no bound.
        skewness = np.sign(z) * third / np.sqrt(self.permuted().variance) ** 3
        # Beyond Student's t, which is that of normal numbers: both have long tails, or both have short ones.
        of_ranks = n_rows * ranks.fourths / ranks.squares**2 - 3
        of_values = n_rows * values.fourths / values.squares**2 - 3
        kurtosis = np.maximum(np.outer(of_ranks, of_values), 0) / n_rows
        z = as_correlations(z, spread.n_free)
        z = without_kurtosis(unskewed(np.abs(z), skewness), kurtosis)
        logs = log_two_sided(z)
        if quantity:
            shares = np.repeat(_SHARES[: len(left)][left], len(z)).reshape(z.T.shape)
            return log_cauchy_mean(logs.T, shares)
        untested = np.isnan(logs).all(axis=1)
        least = np.where(np.isnan(logs), 0.0, logs).min(axis=1)
        return np.where(untested, np.nan, log_of_any(least, int(left.sum())))

    def permuted(self) -> Spread:
        """How far the sums spread if all rows are permuted."""
        variance = np.outer(self.of_ranks.squares, self.of_values.squares) / (self.n_rows - 1)
        return Spread(variance, self.n_rows)
