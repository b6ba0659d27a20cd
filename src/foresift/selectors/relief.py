"""Relief and ReliefF: features that differ between near rows of different classes but not of the same."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.sklearn_compat import Interval
from foresift.selectors.near_rows import NearRowsSelector, ScaledRows

__all__ = ["ReliefFSelector", "ReliefSelector"]

_ROUNDING = 1e-12  # of a mean difference


class ReliefSelector(NearRowsSelector):
    """Relief: differences to the nearest row of another class less those to the nearest of the same.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps those with a positive weight.
    n_samples : int, "auto" or None, default="auto"
        Rows drawn, without replacement, that are compared with their neighbours among all rows; None takes
        every row. "auto" takes every row up to 20,000 of positive weight and 5,000 of more, with a warning.
        The paper draws at most 500.
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
        Weights between -1 and 1.
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
    ReliefFSelector : Several neighbours, and misses from every class; how differences are defined.

    Notes
    -----
    Kira & Rendell's algorithm as in Grabczewski & Jankowski eq. 2. With several classes the nearest miss is
    the nearest row of any other class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foresift import ReliefSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> ReliefSelector(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    _for_quantities = "use ReliefFSelector"
    task = "auto"

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_samples="auto",
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_samples = n_samples
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    def _kernel(self, rows: ScaledRows) -> Any:
        return rows.kernel(_core.Relief, n_neighbors=1.0, pool_misses=True)


class ReliefFSelector(NearRowsSelector):
    """ReliefF: differences to near rows of other classes less those to near rows of the same class.

    For a quantity RReliefF: differences between near rows where the quantity differs, less those where it
    does not.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps those with a positive weight.
    n_neighbors : int, default=10
        Nearest rows of every class that each row is compared with. A class with fewer has its mean over those
        it has; a row that is alone in its class has no hits. For a quantity: nearest of all rows.
    sigma : float or None, default=None
        The nearest row has the influence 1, the one after r nearer ones exp(-(r / sigma)^2); at most 1e6.
        None gives all of them the same.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    n_samples : int, "auto" or None, default="auto"
        Rows drawn, without replacement, that are compared with their neighbours among all rows; None takes
        every row. "auto" takes every row up to 20,000 of positive weight and 5,000 of more, with a warning.
        The paper draws at most 500.
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
        Weights between -1 and 1; a column of one value, or none, has the least of all, at most 0.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_samples_ : int
        The number of rows that were compared with the others.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    Notes
    -----
    The conventions are Weka's. The difference of two values of a numeric column is that of the values scaled
    to [0, 1] by the column's range; of a nominal column it is 1 if they differ. If one numeric value is
    missing, the largest difference it could make counts, if both are, 1; of a nominal column, 1 - 1 /
    categories. The distance of two rows is the sum over the columns. Misses of a class count by its prior
    probability among the other classes (Kononenko).

    A quantity is scaled by its range, too. The weight of a column is the mean difference of near rows, each
    pair weighted by its difference in y, less the mean weighted by one minus it (Robnik-Sikonja & Kononenko
    1997); a mean whose weights are all 0 is 0. With `sigma` ranks count from 0, as in Weka and CORElearn; the
    paper counts from 1.

    Where several rows are equally far and not all of them are wanted, they share what is left: the outcome
    does not depend on the order of the rows, and a row of weight 2 is the same as two rows.

    Time grows with `n_samples` times rows times columns, memory with rows times columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foresift import ReliefFSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> ReliefFSelector().fit(X, y).scores_.round(4)
    array([0.1399, 0.1226, 0.359 , 0.3754])

    A quantity:

    >>> petal_width = X[:, 3]
    >>> ReliefFSelector(2).fit(X[:, :3], petal_width).get_support(indices=True)
    array([0, 2])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NearRowsSelector._parameter_constraints,
        "n_neighbors": [Interval(numbers.Integral, 1, None, closed="left")],
        "sigma": [Interval(numbers.Real, 0, 1e6, closed="right"), None],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_neighbors=10,
        sigma=None,
        task="auto",
        n_samples="auto",
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.task = task
        self.n_samples = n_samples
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    def _kernel(self, rows: ScaledRows) -> Any:
        return rows.kernel(_core.Relief, n_neighbors=float(self.n_neighbors), sigma=float(self.sigma or 0))

    def _weights_of(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        if len(means) == self.n_features_in_:
            return means
        # A quantity: where rows are near, how much the column differs if y does, and if it does not.
        columns, with_y = means[:-1].reshape(2, -1)
        y = means[-1]
        apart = with_y / y if y > 0 else with_y
        alike = (columns - with_y) / (1 - y) if y < 1 - _ROUNDING else 0.0
        return np.asarray(apart - alike)
