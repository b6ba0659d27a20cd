"""SURF and MultiSURF: Relief whose neighbours are all rows nearer than a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.selectors.near_rows import NearRowsSelector, ScaledRows

__all__ = ["MultiSURFSelector", "SURFSelector"]


class _SURFBase(NearRowsSelector):
    """What SURF and MultiSURF share."""

    def __init__(
        self,
        n_features_to_select=None,
        *,
        task="auto",
        n_samples="auto",
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.n_samples = n_samples
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    def _limit(self, rows: ScaledRows) -> float:
        """Neighbours are nearer; negative leaves it to the kernel."""
        return -1.0

    def _kernel(self, rows: ScaledRows) -> Any:
        hits = {} if len(rows.target) == 2 else {"hit_below": _deviation(rows.target[0], rows.weights)}
        return rows.kernel(_core.Surf, limit=self._limit(rows), **hits)


class SURFSelector(_SURFBase):
    """SURF: as ReliefF, but the neighbours are all rows nearer than the mean distance.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps those with a positive weight.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    n_samples : int, "auto" or None, default="auto"
        Rows drawn, without replacement, that are compared with their neighbours among all rows; None takes
        every row. "auto" takes every row up to 20,000 of positive weight and 5,000 of more, with a warning.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    n_jobs : int, default=None
        Threads; -1 uses all cores. The outcome is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws the rows.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Weights; a column of one value, or none, has the least of all, at most 0.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_samples_ : int
        The number of rows that were compared with the others.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    MultiSURFSelector : A limit for every row.
    ReliefFSelector : A number of neighbours; how differences are defined.

    Notes
    -----
    Greene et al. (2009), by the definitions of skrebate: the limit is the sum of all distances over the
    square of the number of rows, and a distance equal to it is not near. Every row contributes its mean
    difference to near misses (rows of other classes) less that to near hits. With more than two classes the
    difference to misses is (C - 1) / M^2 times the sum over the other classes of n_c S_c: C classes, n_c near
    misses of class c with the sum of differences S_c, M near misses in all.

    For a quantity, a hit is a row whose y differs by less than the standard deviation of y.

    Missing values have the differences of `ReliefFSelector`; skrebate leaves them out. On tables with numeric
    and nominal columns skrebate weighs the columns otherwise.

    Time grows with `n_samples` times rows times columns, memory with rows times columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foresift import SURFSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> SURFSelector(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    def _limit(self, rows: ScaledRows) -> float:
        return _mean_distance(rows)


class MultiSURFSelector(_SURFBase):
    """MultiSURF: as SURF, but every row has its own limit, half a deviation below its mean distance.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps those with a positive weight.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    n_samples : int, "auto" or None, default="auto"
        Rows drawn, without replacement, that are compared with their neighbours among all rows; None takes
        every row. "auto" takes every row up to 20,000 of positive weight and 5,000 of more, with a warning.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    n_jobs : int, default=None
        Threads; -1 uses all cores. The outcome is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws the rows.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Weights; a column of one value, or none, has the least of all, at most 0.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_samples_ : int
        The number of rows that were compared with the others.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    SURFSelector : One limit for all rows; how rows contribute.
    ReliefFSelector : A number of neighbours; how differences are defined.

    Notes
    -----
    Urbanowicz et al. (2018), by the definitions of skrebate: the neighbours of a row are nearer than the mean
    of its distances to all others less half their standard deviation (of the n - 1 distances, divisor n - 1).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foresift import MultiSURFSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> MultiSURFSelector(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([2, 3])
    """


def _deviation(y: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """Standard deviation as of a sample; a row of weight 2 is two rows."""
    if weights is None:
        return float(np.std(y, ddof=1))
    squares = weights @ (y - np.average(y, weights=weights)) ** 2
    return float(min(1.0, np.sqrt(squares / max(1.0, weights.sum() - 1))))


def _mean_distance(rows: ScaledRows) -> float:
    """Sum of the distances of all pairs of rows, both ways, over the square of their number.

    Column by column, so in the time of sorting instead of rows squared.
    """
    weights = np.ones(len(rows.values)) if rows.weights is None else rows.weights
    shares = weights / weights.sum()
    selves = shares * np.minimum(weights, 1) / weights.sum()  # a row has distances to its repetitions only
    mean = 0.0
    for column, n_values in zip(rows.values.T, rows.n_values, strict=True):
        known = ~np.isnan(column)
        values, at = np.unique(column[known], return_inverse=True)
        share = np.bincount(at, shares[known], minlength=len(values))
        if n_values:
            mean += share @ (share.sum() - share)
            from_missing, missing = np.full(len(values), 1 - 1 / n_values), 1 - 1 / n_values
        else:
            less_than = np.cumsum(share) - share
            mean += 2 * (values * share) @ (2 * less_than + share - share.sum())
            from_missing, missing = np.maximum(values, 1 - values), 1.0
        gaps = shares[~known].sum()
        mean += 2 * gaps * (share @ from_missing) + missing * (gaps**2 - selves[~known].sum())
    return float(mean)
