"""Split criteria of one column: gain, gain ratio, SSV and node complexity, and gains expected by chance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresift import _core
from foresift.data.complexity import complexity_of
from foresift.data.single_column import Problem, read_counts, read_problem
from foresift.engine.null_gain import expected_gain, gain_pvalue, gain_variance

__all__ = [
    "best_ssv_split",
    "expected_gain",
    "gain_pvalue",
    "gain_ratio",
    "gain_variance",
    "information_gain",
    "node_complexity",
    "ssv",
]


def information_gain(
    x: ArrayLike, y: ArrayLike, *, nominal: bool | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Information gain of one column, in bits (Bommaganti 3.4).

    A numeric column is split in two where the gain is largest; a nominal column has one branch per category.

    Parameters
    ----------
    x : array-like of shape (n,)
        The column: a NumPy array, a list, or a pandas, polars or pyarrow series.
    y : array-like of shape (n,)
        The class of every row.
    nominal : bool, default=None
        Whether `x` is nominal. None decides by type: strings, booleans and categories are.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows; 1 by default.

    Returns
    -------
    float
        The gain; 0 for a column with fewer than two known values.

    Notes
    -----
    Rows where `x` is missing (NaN, None, null) are ignored and the gain is multiplied by the fraction of
    known rows, as in C4.5. C4.5's penalty for the number of cuts is not subtracted.

    Every cut is evaluated up to 65,536 distinct values; above, the cuts between as many quantile bins.

    Examples
    --------
    >>> information_gain([1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    1.0
    >>> astigmatic = ["no"] * 8 + ["yes"] * 9
    >>> lens = ["soft"] * 4 + ["none"] * 4 + ["hard"] * 3 + ["none"] * 6
    >>> round(information_gain(astigmatic, lens), 3)
    0.426
    """
    return _best_gain(read_problem(x, y, nominal, sample_weight))[0]


def gain_ratio(
    x: ArrayLike, y: ArrayLike, *, nominal: bool | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Gain of one column over its split information (C4.5; Bommaganti eq. 5-6).

    Parameters
    ----------
    x, y, nominal, sample_weight
        As for `information_gain`.

    Returns
    -------
    float
        The gain ratio; 0 for a column with fewer than two known values.

    See Also
    --------
    information_gain : The numerator, and its treatment of missing values.

    Notes
    -----
    As in C4.5, a numeric column is split where its *gain* is largest: the largest ratio is at an extreme cut,
    where the split information vanishes. Rows where `x` is missing are one more branch in the split
    information.

    Examples
    --------
    >>> gain_ratio([1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    1.0
    >>> gain_ratio(["p", "q", "r", "s"], ["a", "a", "b", "b"])
    0.5
    """
    problem = read_problem(x, y, nominal, sample_weight)
    gain, branches = _best_gain(problem)
    information = _entropy(np.bincount(branches + 1, problem.weights))  # branch -1: missing
    return gain / information if gain > 0 else 0.0


def ssv(left_counts: ArrayLike, right_counts: ArrayLike) -> float:
    """Separability of split value (Grabczewski & Jankowski, section 2).

    Twice the number of separated pairs of rows of different classes, minus the rows of each class on the side
    with fewer of them.

    Parameters
    ----------
    left_counts, right_counts : array-like of shape (n_classes,)
        Rows of every class on either side, in the same order of classes.

    Returns
    -------
    float
        The separability, not normalised: it grows with the square of the number of rows.

    Examples
    --------
    >>> ssv([3, 0], [0, 2])
    12.0
    >>> ssv([2, 1], [1, 1])
    4.0
    """
    left, right = read_counts(left_counts, "left_counts"), read_counts(right_counts, "right_counts")
    if left.ndim != 1 or left.shape != right.shape:
        raise ValueError(
            "left_counts and right_counts must be one-dimensional and name the same classes, "
            f"but have shapes {left.shape} and {right.shape}."
        )
    separated = float(left @ (right.sum() - right))
    return 2.0 * separated - float(np.minimum(left, right).sum())


def best_ssv_split(
    x: ArrayLike, y: ArrayLike, *, nominal: bool | None = None, sample_weight: ArrayLike | None = None
) -> tuple[float, float | frozenset[Any] | None]:
    """Best split of one column by separability (Grabczewski & Jankowski, section 2).

    Parameters
    ----------
    x, y, nominal, sample_weight
        As for `information_gain`, but a missing value of a nominal column is one more category, and a numeric
        column must have no missing values.

    Returns
    -------
    score : float
        Separability of the best split, at least 0; 0 if `x` has a single value or `y` a single class.
    split : float, frozenset or None
        The threshold of a numeric column, the smaller of the two sets of categories of a nominal one (None in
        it is the missing value), or None without a split.

    Notes
    -----
    Of equally good cuts the smallest is taken. Up to 10 categories every subset is a candidate; above, single
    categories and prefixes of the categories, sorted by their class frequencies.

    Examples
    --------
    >>> best_ssv_split([1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    (8.0, 2.5)
    >>> score, categories = best_ssv_split(["p", "q", "r", "r"], ["a", "b", "b", "b"])
    >>> score, sorted(categories)
    (6.0, ['p'])
    """
    problem = read_problem(x, y, nominal, sample_weight)
    one_class = problem.y.min() == problem.y.max()
    if problem.values is not None:
        if np.isnan(problem.values).any():
            raise ValueError(
                "SSV has no rule for missing values of a numeric column: drop those rows, impute them, "
                "or pass nominal=True."
            )
        if one_class or problem.values.min() == problem.values.max():
            return 0.0, None
        score, threshold, _ = _core.best_split(
            problem.values, problem.y, problem.n_classes, problem.weights, "ssv", "known"
        )
        return score, threshold
    return (0.0, None) if one_class else _best_ssv_subset(problem)


def node_complexity(class_counts: ArrayLike) -> NDArray[np.float64]:
    """Information in the order of the rows of a node along a feature, in bits (Rogers & Gunn eq. 6-10).

    A node whose rows can be arranged in many ways is a stricter test of a feature, so its gain has a larger
    weight in an average. Mirrored arrangements count as one.

    Parameters
    ----------
    class_counts : array-like of shape (..., n_classes)
        Rows of every class in every node.

    Returns
    -------
    ndarray of shape (...)
        Node complexity; 0 for pure nodes and for nodes of two rows.

    Notes
    -----
    The paper's formulas for two classes generalise to any number: with n rows, n_c of class c, there are
    C = n! / prod(n_c!) arrangements, of which A = floor(n/2)! / prod(floor(n_c/2)!) are their own mirror
    image if at most one n_c is odd, else none; the complexity is log2(C) - (1 - A / C).

    For counts that are not whole (class weights, fractional cases) factorials are gamma functions, no
    arrangement is its own mirror image, and a negative result becomes 0.

    Examples
    --------
    >>> node_complexity([3, 2]).round(4)
    np.float64(2.5219)
    >>> node_complexity([[1, 1], [7, 0], [50, 50]]).round(2)
    array([ 0.  ,  0.  , 95.35])
    """
    return complexity_of(read_counts(class_counts))


def _entropy(sizes: NDArray[Any]) -> float:
    shares = sizes[sizes > 0] / sizes.sum()
    return float(-(shares * np.log2(shares)).sum())


def _best_gain(problem: Problem) -> tuple[float, NDArray[np.int32]]:
    """Largest gain in bits, and the branch of every row (-1: missing)."""
    y, n_classes, weights = problem.y, problem.n_classes, problem.weights
    if problem.codes is not None:
        n_categories = len(problem.categories)
        if n_categories < 2:
            return 0.0, problem.codes
        gain, _ = _core.nominal_split(
            problem.codes, n_categories, y, n_classes, weights, "entropy", True, "known"
        )
        return max(gain, 0.0), problem.codes
    values = problem.values
    assert values is not None
    branches = np.where(np.isnan(values), -1, 0).astype(np.int32)
    known = values[branches == 0]
    if known.size == 0 or known.min() == known.max():
        return 0.0, branches
    gain, threshold, _ = _core.best_split(values, y, n_classes, weights, "entropy", "known")
    branches[values > threshold] = 1
    return max(gain, 0.0), branches


def _best_ssv_subset(problem: Problem) -> tuple[float, frozenset[Any] | None]:
    codes, categories = problem.codes, problem.categories
    assert codes is not None
    if (codes < 0).any():
        codes, categories = np.where(codes < 0, len(categories), codes).astype(np.int32), [*categories, None]
    if len(categories) < 2:
        return 0.0, None
    score, branches = _core.nominal_split(
        codes, len(categories), problem.y, problem.n_classes, problem.weights, "ssv", False, "known"
    )
    sides = [
        frozenset(c for c, branch in zip(categories, branches, strict=True) if branch == k) for k in (0, 1)
    ]
    return score, min(sides, key=len)
