"""Variance reduction of one column for a quantity, and the reduction of an irrelevant column by chance."""

from __future__ import annotations

import numbers
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresift import _core
from foresift.data.single_column import read_quantity
from foresift.data.sklearn_compat import seed_of
from foresift.engine.reduction_tail import reduction_tail
from foresift.errors import floats_of

__all__ = ["expected_reduction", "reduction_pvalue", "reduction_variance", "variance_reduction"]

_MAX_PERMUTATIONS = 10_000_000
_MIN_REACHED = 10  # permutations; with fewer, there are more permutations, then the tail
_MORE_PERMUTATIONS, _MAX_PERMUTED = 100_000, 10_000_000  # at most so many, and so many rows in them
_MIN_UNIT, _MAX_UNIT = 1e-140, 1e140  # variances of y, so that their squares are normal numbers
_ROUNDING = 1e-10


def variance_reduction(
    x: ArrayLike, y: ArrayLike, *, nominal: bool | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Variance reduction of one column: how much of the variance of a quantity a split by it explains.

    A numeric column is split in two where the reduction is largest; a nominal column has one branch per
    category. The reduction is Var(y) - sum_b n_b / n Var_b(y), with the population variances (divisor n) of
    all rows and of the branches b.

    Parameters
    ----------
    x : array-like of shape (n,)
        The column: a NumPy array, a list, or a pandas, polars or pyarrow series.
    y : array-like of shape (n,)
        The quantity.
    nominal : bool, default=None
        Whether `x` is nominal. None decides by type: strings, booleans and categories are.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; 1 by default.

    Returns
    -------
    float
        The reduction, in squared units of y; 0 for a column with fewer than two known values.

    See Also
    --------
    information_gain : The same for classes.
    expected_reduction : The reduction of an irrelevant column.

    Notes
    -----
    Rows where `x` is missing (NaN, None, null) are ignored and the reduction is multiplied by the fraction of
    known rows, as for `information_gain`. Every cut is evaluated.

    Examples
    --------
    >>> variance_reduction([1.0, 2.0, 3.0, 4.0], [10.0, 10.0, 30.0, 30.0])
    100.0
    >>> variance_reduction(["a", "b", "a", "b"], [1.0, 2.0, 3.0, 4.0])
    0.25
    """
    column = read_quantity(x, y, nominal, sample_weight)
    known = column.codes >= 0
    codes, weights = column.codes[known], column.weights[known]
    if column.n_values < 2:
        return 0.0
    values, unit = _centred(column.y[known], weights)
    sizes = np.bincount(codes, weights)
    sums = np.bincount(codes, weights * values)
    if column.nominal:
        squares = float((sums**2 / sizes).sum())
    else:
        left, total = np.cumsum(sizes)[:-1], sizes.sum()
        squares = float((np.cumsum(sums)[:-1] ** 2 * (total / (left * (total - left)))).max())
    return squares / float(column.weights.sum()) * unit**2


def expected_reduction(
    x: ArrayLike,
    y: ArrayLike,
    *,
    nominal: bool | None = None,
    n_permutations: int = 1000,
    random_state: Any = 0,
) -> float:
    """Expected variance reduction of an irrelevant column with these values.

    Even an irrelevant column has a positive reduction, because the best cut is chosen. The expectation is
    over all permutations of the quantity along the column.

    Parameters
    ----------
    x : array-like of shape (n,)
        The column. Only its ties, categories and missing values matter: they leave fewer cuts.
    y : array-like of shape (n,)
        The quantity.
    nominal : bool, default=None
        Whether `x` is nominal. None decides by type: strings, booleans and categories are.
    n_permutations : int, default=1000
        Number of permutations for a numeric column of three or more values, from 2 to 10,000,000.
    random_state : int, RandomState or None, default=0
        Seed of the permutations.

    Returns
    -------
    float
        Expected reduction, in squared units of y.

    See Also
    --------
    variance_reduction : The reduction of a column.
    reduction_variance : The variance of the reduction by chance.
    reduction_pvalue : The probability of reaching a reduction by chance.

    Notes
    -----
    For a nominal column of k categories, and for a numeric one of two values, the expectation is exact:
    Var(y) (k - 1) / (n - 1).

    The quantity is permuted among the rows where `x` is known. All rows have the same weight.

    Examples
    --------
    >>> y = [1.0, 2.0, 3.0, 4.0, 5.0]
    >>> expected_reduction(["a", "a", "b", "b", "c"], y)
    1.0
    >>> round(expected_reduction([1, 2, 3, 4, 5], y), 2)
    1.06
    """
    chance = _Chance(x, y, nominal, n_permutations, random_state)
    return chance.moments()[0] * chance.unit


def reduction_variance(
    x: ArrayLike,
    y: ArrayLike,
    *,
    nominal: bool | None = None,
    n_permutations: int = 1000,
    random_state: Any = 0,
) -> float:
    """Variance of the variance reduction of an irrelevant column with these values.

    Parameters
    ----------
    x, y, nominal, n_permutations, random_state
        As for `expected_reduction`.

    Returns
    -------
    float
        Variance, in fourth powers of the unit of y; exact where the expectation is.

    Examples
    --------
    >>> round(reduction_variance(["a", "a", "b", "b"], [1.0, 2.0, 3.0, 4.0]), 4)
    0.1806
    """
    chance = _Chance(x, y, nominal, n_permutations, random_state)
    if 0 < chance.unit < _MIN_UNIT or chance.unit > _MAX_UNIT:
        raise ValueError(
            "The variance of the reduction is a fourth power of the scale of y, outside the range of float64:"
            f" divide y by {np.sqrt(chance.unit):.3g}."
        )
    return chance.moments()[1] * chance.unit**2


def reduction_pvalue(
    reduction: ArrayLike,
    x: ArrayLike,
    y: ArrayLike,
    *,
    nominal: bool | None = None,
    n_permutations: int = 1000,
    random_state: Any = 0,
) -> NDArray[np.float64]:
    """Probability that an irrelevant column with these values reaches a variance reduction.

    Parameters
    ----------
    reduction : array-like of shape (...)
        Reduction of the best split.
    x, y, nominal, n_permutations, random_state
        As for `expected_reduction`.

    Returns
    -------
    ndarray of shape (...)
        P-values.

    Notes
    -----
    If ten or more permutations reach the reduction, or if the column is nominal with three or more
    categories, the p-value is (1 + permutations that reach it) / (1 + permutations). Else there are up to
    100,000 permutations, fewer above 100 rows. P-values below those that ten permutations reach are computed
    as a tail, however small they are. For a column of two values, the tail is exact if there are few subsets
    of rows to count (up to a million): one side of the cut is small, or few rows differ from the most
    frequent value of y. Else it is approximated. From 20 to 1000 rows, for columns with and without
    ties and with groups of very different size, and for Gaussian, skewed, heavy-tailed, whole and two-valued
    quantities, ones that are 0 in many rows, and one with an outlier, tails of 0.01 to 0.0002 were 0.68 to
    1.6 times (95 % of the cases; median 1.00) those of 100,000 permutations
    (`benchmarks/null_reduction.py`). The formula of Lausen and Schumacher, for Gaussian sums, was within a
    factor of 2 in 19 % of these cases.

    A p-value is 0 only if no permutation reaches the reduction. P-values below the smallest normal number of
    float64, 2.2e-308, are given as this number.

    References
    ----------
    Lausen & Schumacher (1992), Maximally selected rank statistics, Biometrics 48. Booth & Butler (1990),
    Randomization distributions and saddlepoint approximations in generalized linear models, Biometrika 77.
    Siegmund (1985), Sequential Analysis, chapter 10.

    Examples
    --------
    >>> x, y = range(40), [0.0] * 20 + [1.0, 2.0] * 10
    >>> p = reduction_pvalue([0.01, 0.2, 0.5], x, y)
    >>> p[0].round(1), bool(0.001 < p[1] < 0.1), bool(p[2] < 1e-7)
    (np.float64(1.0), True, True)
    """
    asked = floats_of(reduction, "reduction")
    if np.isnan(asked).any():
        raise ValueError("reduction contains NaN: leave those out.")
    chance = _Chance(x, y, nominal, n_permutations, random_state)
    pvalues = np.array([chance.pvalue(float(each)) for each in asked.ravel()])
    return pvalues.reshape(asked.shape)[()]


class _Chance:
    """A quantity that is permuted along a column, without the rows where the column is missing."""

    def __init__(self, x: Any, y: Any, nominal: bool | None, n_permutations: Any, random_state: Any) -> None:
        is_whole = isinstance(n_permutations, numbers.Integral)
        if not (is_whole and 2 <= int(n_permutations) <= _MAX_PERMUTATIONS):
            raise ValueError(
                f"n_permutations must be a whole number from 2 to {_MAX_PERMUTATIONS:,}, but is"
                f" {n_permutations!r}."
            )
        self.n_permutations, self.seed = int(n_permutations), seed_of(random_state)
        column = read_quantity(x, y, nominal)
        known = column.codes >= 0
        self.sizes = np.bincount(column.codes[known], minlength=1).astype(np.uint32)  # rows of each value
        self.multiway = column.nominal and len(self.sizes) > 2
        values, unit = _centred(column.y[known])
        squares = float(values @ values)
        self.y = values / np.sqrt(squares) if squares > 0 else values
        # The reduction that explains all of the variance; 0 where there is nothing to split or to explain.
        self.unit = squares / len(column.y) * unit**2 if len(self.sizes) > 1 else 0.0

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Reductions in the permutations, in units of the largest possible one."""
        return self._permuted(self.n_permutations)

    @cached_property
    def more_shares(self) -> NDArray[np.float64]:
        """The same of more permutations, as many as a fraction of a second allows."""
        return self._permuted(max(self.n_permutations, min(_MORE_PERMUTATIONS, _MAX_PERMUTED // len(self.y))))

    def _permuted(self, n_permutations: int) -> NDArray[np.float64]:
        return _core.permuted_reductions(self.y, self.sizes, self.multiway, n_permutations, self.seed)

    def moments(self) -> tuple[float, float]:
        """Mean and variance of the reduction, in units of the largest possible one."""
        if self.unit == 0:
            return 0.0, 0.0
        if self.multiway or len(self.sizes) == 2:
            mean, variance = _exact_moments(self.y, self.sizes.astype(np.float64))
        else:
            mean, variance = self.shares.mean(), self.shares.var(ddof=1)
        return float(mean), float(variance)

    def pvalue(self, reduction: float) -> float:
        if reduction <= 0 or self.unit == 0:
            return 1.0
        share = reduction / self.unit
        p, is_final = self._permutation_pvalue(self.shares, share)
        if is_final or self.multiway:
            return p
        # At most what ten permutations would say, so that p-values fall with the reduction.
        most = (1 + _MIN_REACHED) / (1 + len(self.shares))
        p, is_final = self._permutation_pvalue(self.more_shares, share)
        if is_final:
            return min(p, most)
        most = (1 + _MIN_REACHED) / (1 + len(self.more_shares))
        return min(reduction_tail(self.y, self.sizes, share), most)

    @staticmethod
    def _permutation_pvalue(shares: NDArray[np.float64], share: float) -> tuple[float, bool]:
        """P-value, and whether enough permutations reach the share."""
        n_reached = int(np.count_nonzero(shares >= share - _ROUNDING))
        return (1 + n_reached) / (1 + len(shares)), n_reached >= _MIN_REACHED


def _centred(
    y: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], float]:
    """Return y less its mean, in a unit near the largest deviation, and that unit (0 if y is constant)."""
    if len(y) == 0:
        return y, 0.0
    # First a value, then the mean of what is left: nothing is lost if y is large and varies little.
    values = y - y[0]
    for _ in range(2):
        values = values - np.average(values, weights=weights)
    largest = np.abs(values).max()
    unit = float(np.ldexp(1.0, np.frexp(largest)[1])) if largest > 0 else 0.0  # a power of two: exact
    return (values / unit, unit) if unit > 0 else (values, 0.0)


def _exact_moments(y: NDArray[np.float64], sizes: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and variance of the share between all groups, over all permutations of y.

    The share is a quadratic form with a matrix A whose rows sum up to 0; its square is a sum over four rows,
    here by which of them are the same (the moments of Pitman 1938).
    """
    n, k = len(y), len(sizes)
    trace = k - 1.0  # of A and, A being a projection, of its square
    diagonal = float((1 / sizes).sum()) - (2 * k - 1) / n  # sum of the squares of the diagonal
    fourth = float((y**4).sum())
    below = n * np.cumprod([1.0, *(max(n - j, 1.0) for j in (1, 2, 3))])  # n, n (n - 1), ...
    square = (
        diagonal * fourth / below[0]
        + 4 * diagonal * fourth / below[1]
        + (trace**2 + 2 * trace - 3 * diagonal) * (1 - fourth) / below[1]
        + (12 * diagonal - 2 * trace**2 - 4 * trace) * (2 * fourth - 1) / below[2]
        + (trace**2 + 2 * trace - 6 * diagonal) * (3 - 6 * fourth) / below[3]
    )
    mean = trace / (n - 1)
    return mean, max(square - mean**2, 0.0)
