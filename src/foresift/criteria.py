"""What one column, or one split of it, tells about the classes: gain, gain ratio, SSV, node complexity."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from foresift import _core
from foresift._inputs import as_float, is_missing, kind_of_values
from foresift._sklearn import check_sample_weight

__all__ = ["best_ssv_split", "gain_ratio", "information_gain", "node_complexity", "ssv"]

_MAX_CATEGORIES = 65_533  # codes have 16 bits, and missing may become one more category


class _Problem(NamedTuple):
    """One column and its classes, ready for the kernels; rows of weight zero are gone."""

    values: NDArray[np.float64] | None  # numeric column, NaN = missing; None for a nominal one
    codes: NDArray[np.int32] | None  # nominal column, -1 = missing; None for a numeric one
    categories: list[Any]
    y: NDArray[np.int32]
    n_classes: int
    weights: NDArray[np.float64]


def information_gain(
    x: ArrayLike, y: ArrayLike, *, nominal: bool | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Information gain, in bits, of one column about the classes (Bommaganti 3.4).

    A numeric column is cut in two where the gain is largest; a nominal column is split into one branch
    per category.

    Parameters
    ----------
    x : array-like of shape (n,)
        The column: a NumPy array, a list, or a pandas, polars or pyarrow series.
    y : array-like of shape (n,)
        The class of every row.
    nominal : bool, default=None
        Whether `x` is nominal. None decides by type: strings, booleans and categories are.
    sample_weight : array-like of shape (n,), default=None
        How much each row counts; by default 1.

    Returns
    -------
    float
        The gain; 0 for a column with fewer than two known values.

    Notes
    -----
    Rows where `x` is missing (NaN, None, null) are left out and the gain is multiplied by the share of
    known rows, as in C4.5. C4.5's further penalty for the number of cuts is not taken off.

    Every cut is tried up to 65,536 distinct values; beyond that, the cuts between as many quantile bins.

    Examples
    --------
    >>> information_gain([1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    1.0
    >>> astigmatic = ["no"] * 8 + ["yes"] * 9
    >>> lens = ["soft"] * 4 + ["none"] * 4 + ["hard"] * 3 + ["none"] * 6
    >>> round(information_gain(astigmatic, lens), 3)
    0.426
    """
    return _best_gain(_problem(x, y, nominal, sample_weight))[0]


def gain_ratio(
    x: ArrayLike, y: ArrayLike, *, nominal: bool | None = None, sample_weight: ArrayLike | None = None
) -> float:
    """Gain of one column over the information in its split itself (C4.5; Bommaganti eq. 5-6).

    Parameters
    ----------
    x : array-like of shape (n,)
        The column: a NumPy array, a list, or a pandas, polars or pyarrow series.
    y : array-like of shape (n,)
        The class of every row.
    nominal : bool, default=None
        Whether `x` is nominal. None decides by type: strings, booleans and categories are.
    sample_weight : array-like of shape (n,), default=None
        How much each row counts; by default 1.

    Returns
    -------
    float
        The gain ratio; 0 for a column with fewer than two known values.

    See Also
    --------
    information_gain : The numerator, and how missing values enter it.

    Notes
    -----
    As in C4.5, a numeric column is cut where its *gain* is largest, and the ratio is that cut's: the
    largest ratio would sit at an extreme cut, where the split information vanishes. Rows where `x` is
    missing are one more group in the split information.

    Examples
    --------
    >>> gain_ratio([1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    1.0
    >>> gain_ratio(["p", "q", "r", "s"], ["a", "a", "b", "b"])
    0.5
    """
    problem = _problem(x, y, nominal, sample_weight)
    gain, branches = _best_gain(problem)
    information = _entropy(np.bincount(branches + 1, problem.weights))  # branch -1: missing
    return gain / information if gain > 0 else 0.0


def ssv(left_counts: ArrayLike, right_counts: ArrayLike) -> float:
    """Separability of a split into two sides (Grabczewski & Jankowski, section 2).

    Twice the number of pairs of rows of different classes that the split parts, less the number of rows
    by which it cuts classes in two.

    Parameters
    ----------
    left_counts, right_counts : array-like of shape (n_classes,)
        Rows of every class on either side, in the same order of classes.

    Returns
    -------
    float
        The separability, raw: it grows with the square of the number of rows.

    Examples
    --------
    >>> ssv([3, 0], [0, 2])
    12.0
    >>> ssv([2, 1], [1, 1])
    4.0
    """
    left, right = _counts(left_counts, "left_counts"), _counts(right_counts, "right_counts")
    if left.ndim != 1 or left.shape != right.shape:
        raise ValueError(
            "left_counts and right_counts must be one-dimensional and name the same classes, "
            f"but have shapes {left.shape} and {right.shape}."
        )
    parted = float(left @ (right.sum() - right))
    return 2.0 * parted - float(np.minimum(left, right).sum())


def best_ssv_split(
    x: ArrayLike, y: ArrayLike, *, nominal: bool | None = None, sample_weight: ArrayLike | None = None
) -> tuple[float, float | frozenset[Any] | None]:
    """Best split of one column by separability (Grabczewski & Jankowski, section 2).

    Parameters
    ----------
    x : array-like of shape (n,)
        The column: a NumPy array, a list, or a pandas, polars or pyarrow series. A missing value of a
        nominal column is one more category; a numeric column must have none.
    y : array-like of shape (n,)
        The class of every row.
    nominal : bool, default=None
        Whether `x` is nominal. None decides by type: strings, booleans and categories are.
    sample_weight : array-like of shape (n,), default=None
        How much each row counts; by default 1.

    Returns
    -------
    score : float
        Separability of the best split, at least 0; 0 where `x` has a single value or `y` a single class.
    split : float, frozenset or None
        The threshold (values below it are one side) of a numeric column, the smaller of the two sets of
        categories of a nominal one (a missing value shows as None), or None where there is no split.

    Notes
    -----
    Among equally good cuts the smallest is taken. Up to 10 categories every subset is tried, beyond that
    single categories and prefixes of the categories in order of their class shares.

    Examples
    --------
    >>> best_ssv_split([1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    (8.0, 2.5)
    >>> score, categories = best_ssv_split(["p", "q", "r", "r"], ["a", "b", "b", "b"])
    >>> score, sorted(categories)
    (6.0, ['p'])
    """
    problem = _problem(x, y, nominal, sample_weight)
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
    """Information, in bits, in how the rows of a node lie along a feature (Rogers & Gunn eq. 6-10).

    A node whose rows can be arranged in many ways is a sterner test of a feature, so its gain weighs
    more in an average. Arrangements that mirror each other are the same.

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
    The paper's formulas for two classes carry over to any number: with n rows, n_c of class c, there are
    C = n! / prod(n_c!) arrangements, of which A = floor(n/2)! / prod(floor(n_c/2)!) are their own mirror
    image if at most one n_c is odd, else none; the complexity is log2(C) - (1 - A / C).

    Counts need not be whole (class weights, fractional cases): factorials become gamma functions, no
    arrangement is its own mirror image, and a negative result becomes 0.

    Examples
    --------
    >>> node_complexity([3, 2]).round(4)
    np.float64(2.5219)
    >>> node_complexity([[1, 1], [7, 0], [50, 50]]).round(2)
    array([ 0.  ,  0.  , 95.35])
    """
    counts = _counts(class_counts, "class_counts")
    if counts.ndim == 0 or counts.shape[-1] == 0:
        raise ValueError("class_counts needs a last axis with one entry for every class.")
    whole = np.rint(counts).astype(np.int64)
    # Counts that come as share times size are whole only up to rounding.
    is_whole = (np.abs(counts - whole) <= 1e-9 + 1e-12 * counts).all(axis=-1)
    log_all = _log_multinomial(whole)
    log_all[~is_whole] = _log_multinomial(counts[~is_whole])
    mirrored = is_whole & ((whole & 1).sum(axis=-1) <= 1)
    own_mirror = np.zeros_like(log_all)
    own_mirror[mirrored] = np.exp(_log_multinomial(whole[mirrored] >> 1) - log_all[mirrored])
    return np.maximum(log_all / math.log(2) - (1.0 - own_mirror), 0.0)


def _log_multinomial(counts: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(
        _log_factorial(counts.sum(axis=-1)) - _log_factorial(counts) @ np.ones(counts.shape[-1])
    )


def _log_factorial(n: NDArray[Any]) -> NDArray[np.float64]:
    # Many small whole numbers, as in the nodes of a forest: each factorial is worked out once.
    if n.dtype.kind == "i" and n.size and n.max() < n.size:
        return gammaln(np.arange(1.0, n.max() + 2.0))[n]
    return gammaln(n + 1.0)


def _entropy(sizes: NDArray[Any]) -> float:
    shares = sizes[sizes > 0] / sizes.sum()
    return float(-(shares * np.log2(shares)).sum())


def _best_gain(problem: _Problem) -> tuple[float, NDArray[np.int32]]:
    """Largest gain in bits, and the branch every row takes there (-1: missing)."""
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


def _best_ssv_subset(problem: _Problem) -> tuple[float, frozenset[Any] | None]:
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


def _counts(counts: ArrayLike, name: str) -> NDArray[np.float64]:
    array: NDArray[np.float64] = np.asarray(counts, dtype=np.float64)
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise ValueError(f"{name} must be finite and not negative.")
    return array


def _problem(x: Any, y: Any, nominal: bool | None, sample_weight: Any) -> _Problem:
    items, nominal_type = _items(x, "x")
    labels, _ = _items(y, "y")
    if len(items) == 0:
        raise ValueError("x is empty: at least one row is needed.")
    if len(items) != len(labels):
        raise ValueError(f"x and y must have the same length, but have {len(items)} and {len(labels)} rows.")
    weights = check_sample_weight(sample_weight, len(items))
    weights = np.ones(len(items)) if weights is None else weights
    used = weights > 0
    if n_missing := int(_missing(labels).sum()):
        raise ValueError(f"y has {n_missing} missing value(s): drop those rows first.")
    if labels.dtype.kind == "f" and (labels % 1).any():
        raise ValueError("y must hold classes, but holds numbers that are not whole: cut it into bins first.")
    classes = _encode(labels)[0]
    y_codes, n_classes = classes[used], int(classes.max()) + 1
    if nominal if nominal is not None else nominal_type:
        codes, categories = _encode(items[used])
        if len(categories) > _MAX_CATEGORIES:
            raise ValueError(
                f"x has {len(categories):,} categories, more than {_MAX_CATEGORIES:,}: it looks like an "
                "identifier. Drop it, group its values, or pass nominal=False if it is a number."
            )
        return _Problem(None, codes, categories, y_codes, n_classes, weights[used])
    return _Problem(_numbers(items)[used], None, [], y_codes, n_classes, weights[used])


def _numbers(items: NDArray[Any]) -> NDArray[np.float64]:
    try:
        values = items.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError("x cannot be read as numbers: convert it, or leave nominal=None.") from None
    if np.isinf(values).any():
        raise ValueError("x has infinite values: replace them by NaN (missing) or by finite numbers.")
    return values


def _items(data: Any, name: str) -> tuple[NDArray[Any], bool]:
    """One-dimensional array of the values, and whether their type is nominal."""
    series = nw.from_native(data, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype.is_numeric():
            return series.cast(nw.Float64()).to_numpy(), False
        items = np.array([*series.to_list(), None], dtype=object)[:-1]  # None: keep it an array of objects
        if isinstance(series.dtype, nw.Categorical | nw.Enum):
            return items, True
    else:
        # A list of strings and NaN would become an array of strings, "nan" among them.
        items = np.asarray(data, dtype=None if hasattr(data, "dtype") else object)
    if items.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, but has shape {items.shape}.")
    if items.dtype.kind in "biufUT":
        return items, items.dtype.kind not in "iuf"
    items = items.astype(object)
    if kind_of_values(items, name) == "number":
        return as_float(items), False
    return items, True


def _missing(items: NDArray[Any]) -> NDArray[np.bool]:
    if items.dtype.kind == "O":
        return np.array([is_missing(item) for item in items], dtype=bool)
    return np.isnan(items) if items.dtype.kind == "f" else np.zeros(len(items), dtype=bool)


def _encode(items: NDArray[Any]) -> tuple[NDArray[np.int32], list[Any]]:
    """Codes in order of the distinct values (-1: missing), and the distinct values."""
    known = ~_missing(items)
    distinct, inverse = np.unique(items[known], return_inverse=True)
    codes = np.full(len(items), -1, dtype=np.int32)
    codes[known] = inverse
    return codes, distinct.tolist()
