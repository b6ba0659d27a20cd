"""Gain of an irrelevant feature at a node by chance: expectation, variance and p-value.

Means and variances are stored in a table (`tools/make_null_gains.py`), fast enough for all nodes of a forest;
`cpp/kernels/null_gain.cpp` counts the lattice paths of Rogers & Gunn's arrangements.
"""

from __future__ import annotations

import numbers
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresift import _core
from foresift.data.single_column import read_counts, read_problem
from foresift.data.sklearn_compat import seed_of
from foresift.engine.null_tail import null_tail
from foresift.errors import floats_of

__all__ = ["chance_moments", "closed_form", "expected_gain", "gain_pvalue", "gain_variance", "xlog2x"]

BOUNDS = ("lower", "mid", "upper", "exact")

EXACT_ROWS = 256  # all nodes up to this size are tabulated
GRID_LEVELS, GRID_STEPS = 9, 48  # above, n doubles from level to level, up to 65,536 rows
_LARGEST = EXACT_ROWS << (GRID_LEVELS - 1)
_MAX_SHUFFLED = 1 << 25  # rows: 35 bytes each
_MAX_CLASSES = 65_535
_MAX_PERMUTATIONS = 10_000_000


def expected_gain(
    class_counts: ArrayLike,
    bound: str = "mid",
    *,
    x: ArrayLike | None = None,
    nominal: bool | None = None,
    nominal_splits: str = "subsets",
    n_permutations: int = 1000,
    random_state: Any = 0,
) -> NDArray[np.float64]:
    """Expected information gain of an irrelevant feature at a node, in bits (Rogers & Gunn 4).

    Even an irrelevant feature has a positive gain, because the best cut is chosen.

    Parameters
    ----------
    class_counts : array-like of shape (..., n_classes)
        Rows of every class in every node.
    bound : {"lower", "mid", "upper", "exact"}, default="mid"
        "lower": eq. 21, one row of a class among n; "upper": eq. 22, a fit to equal classes; "mid": their
        mean; "exact": the true expectation, for any composition. The first three depend only on the number
        of rows, and are for two classes.
    x : array-like of shape (n,), default=None
        The values of the feature at the node, for "exact" and a single node: ties, categories and missing
        values leave fewer cuts. By default all values are distinct.
    nominal : bool, default=None
        Whether `x` is nominal. None decides by type: strings, booleans and categories are.
    nominal_splits : {"subsets", "multiway"}, default="subsets"
        A nominal `x` is split into two sets of categories, or into one branch per category.
    n_permutations : int, default=1000
        Number of permutations of the classes if "exact" must be estimated: with `x`, or with more than two
        classes in a node, which may then have at most 33,554,432 rows. From 2 to 10,000,000.
    random_state : int, RandomState or None, default=0
        Seed of the permutations.

    Returns
    -------
    ndarray of shape (...)
        Expected gain; 0 for nodes of one class.

    See Also
    --------
    gain_variance : The variance of the gain.
    gain_pvalue : The probability of reaching a gain by chance.

    Notes
    -----
    For two classes "exact" averages over all arrangements, by counting lattice paths, up to 256 rows. Up to
    65,536 rows it interpolates between counted values, and above it extrapolates, within 0.2 % and 1 % of
    counted or simulated values. Odd n have their own form of eq. 21, since the paper's is for even n only.
    Compared with "exact" for equal classes, eq. 22 is too high by 3 % at 40 rows, 10 % at 100, 18 % at 200.

    Permutations use at most 65,536 distinct values; a node of more rows is cut into as many quantiles.

    An expectation is not a test: many irrelevant features are above it.

    Examples
    --------
    >>> expected_gain([[10, 10], [3, 17]], "exact").round(4)
    array([0.1524, 0.1412])
    >>> expected_gain([10, 10], "lower").round(4), expected_gain([10, 10], "upper").round(4)
    (np.float64(0.1203), np.float64(0.1514))
    >>> expected_gain([10, 10], "exact", x=["a"] * 10 + ["b"] * 10).round(2)  # one way to cut
    np.float64(0.04)
    """
    if bound not in BOUNDS:
        raise ValueError(f"bound must be one of {', '.join(map(repr, BOUNDS))}, but is {bound!r}.")
    counts = read_counts(class_counts)
    if bound == "exact":
        return _chance(counts, x, nominal, nominal_splits, n_permutations, random_state)[0]
    if x is not None:
        raise ValueError('The bounds do not depend on the values of a feature: use bound="exact" with x.')
    _require_possible(counts)
    return closed_form(counts, bound)


def gain_variance(
    class_counts: ArrayLike,
    *,
    x: ArrayLike | None = None,
    nominal: bool | None = None,
    nominal_splits: str = "subsets",
    n_permutations: int = 1000,
    random_state: Any = 0,
) -> NDArray[np.float64]:
    """Variance of the gain of an irrelevant feature at a node.

    Parameters
    ----------
    class_counts : array-like of shape (..., n_classes)
        Rows of every class in every node.
    x, nominal, nominal_splits, n_permutations, random_state
        As for `expected_gain` with bound="exact".

    Returns
    -------
    ndarray of shape (...)
        Variance, in squared bits.

    Examples
    --------
    >>> gain_variance([[1, 1], [10, 10]]).round(4)  # two rows are always separated
    array([0.    , 0.0065])
    """
    return _chance(read_counts(class_counts), x, nominal, nominal_splits, n_permutations, random_state)[1]


def gain_pvalue(
    gain: ArrayLike,
    class_counts: ArrayLike,
    *,
    x: ArrayLike | None = None,
    nominal: bool | None = None,
    nominal_splits: str = "subsets",
    n_permutations: int = 1000,
    random_state: Any = 0,
) -> NDArray[np.float64]:
    """Probability that an irrelevant feature reaches a gain at a node: a p-value for one split.

    Parameters
    ----------
    gain : array-like of shape (...)
        Gain of the best split, in bits.
    class_counts : array-like of shape (..., n_classes)
        Rows of every class in every node; broadcast against `gain`.
    x, nominal, nominal_splits, n_permutations, random_state
        As for `expected_gain` with bound="exact".

    Returns
    -------
    ndarray of shape (...)
        P-values. For two classes without ties they are exact up to half a million rows (four million with at
        most 200 rows of a class, any number with one), and above within a relative error of about 15 %;
        negligible ones may be replaced by an upper bound. With permuted classes,
        (1 + permutations that reach the gain) / (1 + permutations).

    Examples
    --------
    >>> gain_pvalue([0.05, 0.2, 1.0], [10, 10]).round(6)
    array([1.00000e+00, 2.13622e-01, 1.10000e-05])
    """
    gains, counts = floats_of(gain, "gain"), read_counts(class_counts)
    if np.isnan(gains).any():
        raise ValueError("gain contains NaN: leave those out.")
    shape = np.broadcast_shapes(gains.shape, counts.shape[:-1])
    gains = np.broadcast_to(gains, shape)
    counts = np.broadcast_to(counts, (*shape, counts.shape[-1]))
    whole = _whole(counts).reshape(-1, counts.shape[-1])
    n_nodes = len(np.unique(whole, axis=0))
    simulate = _simulation(x, nominal, nominal_splits, n_permutations, random_state, n_nodes)
    pvalues = np.ones(whole.shape[0])
    for k, (reached, node) in enumerate(zip(gains.ravel(), whole, strict=True)):
        node = node[node > 0]
        if len(node) < 2 or reached <= 0:
            continue
        if x is None and len(node) == 2:
            pvalues[k] = null_tail(int(node.min()), int(node.sum()), float(reached))
        else:
            chance = simulate(tuple(int(c) for c in node))
            pvalues[k] = (1 + np.count_nonzero(chance >= reached - 1e-11)) / (1 + len(chance))
    return pvalues.reshape(shape)[()]


def chance_moments(counts: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance of the best gain of an irrelevant feature, for nodes of two classes without ties.

    `counts` are whole numbers of shape (n_nodes, 2). Both results are 0 for nodes of one class.

    Examples
    --------
    >>> mean, variance = chance_moments(np.array([[2, 2], [100_000, 300_000]]))
    >>> mean.round(7)
    array([5.408521e-01, 1.340000e-05])
    """
    n = counts.sum(axis=-1).astype(np.int64)
    i = counts.min(axis=-1).astype(np.int64)
    exact, grid = _tables()
    moments = np.zeros((2, len(n)))
    small = (i > 0) & (n <= EXACT_ROWS)
    moments[:, small] = exact[:, (n[small] - 1) ** 2 // 4 + i[small] - 1]
    large = (i > 0) & (n > EXACT_ROWS)
    if large.any():
        moments[:, large] = _interpolate(grid, i[large], n[large])
    return moments[0], moments[1]


@cache
def _tables() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    with files("foresift.engine").joinpath("_data", "null_gains.npz").open("rb") as file:
        arrays = np.load(file)
        return arrays["exact"], arrays["grid"]


def _interpolate(grid: NDArray[np.float64], i: NDArray[Any], n: NDArray[Any]) -> NDArray[np.float64]:
    """Interpolate between the levels and steps of the grid; linear in log log n beyond its end."""
    level = np.log2(n / EXACT_ROWS)
    end = GRID_LEVELS - 1
    # The maximum over all cuts grows like log log n (law of the iterated logarithm).
    growth = np.log(np.log(_LARGEST)) - np.log(np.log(_LARGEST / 2))
    beyond = end + (np.log(np.log(n)) - np.log(np.log(_LARGEST))) / growth
    level = np.where(n > _LARGEST, beyond, level)
    step = GRID_STEPS * np.log2(i) / np.log2(n / 2)
    row = np.clip(level.astype(np.intp), 0, end - 1)
    column = np.clip(step.astype(np.intp), 0, GRID_STEPS - 1)
    down, right = level - row, step - column
    above = grid[:, row, column] * (1 - right) + grid[:, row, column + 1] * right
    below = grid[:, row + 1, column] * (1 - right) + grid[:, row + 1, column + 1] * right
    return np.asarray((above * (1 - down) + below * down) / np.stack([n, n.astype(np.float64) ** 2]))


def closed_form(counts: NDArray[np.float64], bound: str) -> NDArray[np.float64]:
    """Bounds of eq. 21 and 22, or their mean; 0 for nodes of one class."""
    present = np.count_nonzero(counts, axis=-1)
    if (present > 2).any():
        raise ValueError(
            f'bound="{bound}" is defined for two classes only, but a node has {present.max()}: '
            'use bound="exact", which works for any number.'
        )
    n = np.maximum(counts.sum(axis=-1), 2.0)  # fractional cases may sum to less
    lower, upper = _lower(n), (n / 2) ** -0.82
    gain = {"lower": lower, "upper": upper, "mid": (lower + upper) / 2}[bound]
    return np.where(present == 2, gain, 0.0)[()]


def _lower(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """Eq. 21, with the middle term of odd n, and without the terms in log n, which cancel."""
    less, more = (n - 1) * np.log1p(-1 / n), (n + 1) * np.log1p(1 / n)
    middle = np.where(n % 2 == 1, (less + more) / (2 * n), 0.0)
    return np.asarray((1 - (less + middle) / np.log(2)) / n)


def xlog2x(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x log2 x, 0 at 0."""
    return x * np.log2(np.maximum(x, np.finfo(np.float64).tiny))


def _require_possible(counts: NDArray[np.float64]) -> None:
    if (counts >= 2**53).any():
        raise ValueError("class_counts is too large: numbers of rows must be below 2^53.")


def _whole(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    _require_possible(counts)
    whole = np.rint(counts)
    if (np.abs(counts - whole) > 1e-9).any():
        raise ValueError("class_counts must be whole numbers of rows.")
    return whole.astype(np.int64)


def _chance(
    counts: NDArray[np.float64],
    x: Any,
    nominal: bool | None,
    nominal_splits: str,
    n_permutations: int,
    seed: Any,
) -> NDArray[np.float64]:
    """Mean and variance of every node, in two rows, from the table or simulated."""
    whole = _whole(counts).reshape(-1, counts.shape[-1])
    simulate = _simulation(x, nominal, nominal_splits, n_permutations, seed, len(whole))
    present = np.count_nonzero(whole, axis=1)
    moments = np.zeros((2, len(whole)))
    counted = (present == 2) & (x is None)
    # After sorting, the two classes present are in the last two columns.
    moments[:, counted] = chance_moments(np.sort(whole[counted], axis=1)[:, -2:])
    for k in np.flatnonzero((present > 1) & ~counted):
        gains = simulate(tuple(int(c) for c in whole[k] if c))
        moments[:, k] = gains.mean(), gains.var(ddof=1)
    return moments.reshape(2, *counts.shape[:-1])


def _simulation(
    x: Any, nominal: bool | None, nominal_splits: str, n_permutations: int, random_state: Any, n_nodes: int
) -> Any:
    """Return a function of class counts that permutes the classes along `x`, or along distinct values."""
    if not isinstance(n_permutations, numbers.Integral) or not 2 <= n_permutations <= _MAX_PERMUTATIONS:
        raise ValueError(
            f"n_permutations must be a whole number from 2 to {_MAX_PERMUTATIONS:,}, but is"
            f" {n_permutations!r}."
        )
    if nominal_splits not in ("subsets", "multiway"):
        raise ValueError(f'nominal_splits must be "subsets" or "multiway", but is {nominal_splits!r}.')
    if x is not None and n_nodes != 1:
        raise ValueError(
            f"x is the feature at one node, but class_counts holds {n_nodes}: give one at a time."
        )
    seed = seed_of(random_state)
    if x is None:
        return lambda counts: _distinct_gains(tuple(sorted(counts)), int(n_permutations), seed)

    try:
        n_rows = len(x)
    except TypeError:  # sparse arrays too have no length
        raise TypeError(
            f"x must be a sequence with one value per row of the node, but is {type(x).__name__}."
        ) from None

    @cache
    def simulate(counts: tuple[int, ...]) -> NDArray[np.float64]:
        if sum(counts) != n_rows:
            raise ValueError(
                f"x has {n_rows} values, but class_counts {sum(counts)} rows: give one for each."
            )
        target = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        problem = read_problem(x, target, nominal)
        store = _core.ColumnStore(len(target), 65_536)
        if problem.codes is None:
            store.add_numeric(np.asarray(problem.values)[:, np.newaxis])
        else:
            store.add_nominal(problem.codes, len(problem.categories))
        multiway = nominal_splits == "multiway"
        return _core.permuted_gains(store, 0, target, len(counts), multiway, int(n_permutations), seed)

    return simulate


@lru_cache(maxsize=4096)
def _distinct_gains(counts: tuple[int, ...], n_permutations: int, seed: int) -> NDArray[np.float64]:
    if len(counts) > _MAX_CLASSES:
        raise ValueError(f"A node has {len(counts)} classes, more than {_MAX_CLASSES:,}: merge some of them.")
    if sum(counts) > _MAX_SHUFFLED:
        raise ValueError(
            f"A node of {len(counts)} classes has {sum(counts):,} rows, but at most {_MAX_SHUFFLED:,} can be"
            " permuted: use a smaller node of the same class frequencies; gains are proportional to 1 / rows."
        )
    target = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    store = _core.ColumnStore(len(target), 65_536)
    store.add_numeric(np.arange(len(target), dtype=np.float64)[:, np.newaxis])
    return _core.permuted_gains(store, 0, target, len(counts), False, n_permutations, seed)
