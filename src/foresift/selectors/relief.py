"""Relief and ReliefF: features that differ between near rows of different classes but not of the same."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.numeric_coding import ValueTable
from foresift.data.sklearn_compat import Interval, StrOptions, seed_of, track
from foresift.data.table import Table
from foresift.data.weights import scale_up
from foresift.engine.grow import in_threads
from foresift.selectors.base import RankingSelector, Scores

__all__ = ["ReliefFSelector", "ReliefSelector"]

_BATCHES = 64  # of rows, whatever the number of threads
_ROUNDING = 1e-12  # of a weight


class _ReliefBase(RankingSelector):
    """What Relief and ReliefF share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "n_samples": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "n_jobs": [numbers.Integral, None],
        "random_state": ["random_state"],
    }

    _needs_values = True
    n_samples: int | None
    categorical_features: Any
    n_jobs: int | None
    random_state: Any

    def _open(self, X: Any, y: Any) -> ValueTable:
        return ValueTable.open(X, y, categorical_features=self.categorical_features, estimator=self)

    def _open_table(self, table: Table) -> ValueTable:
        return ValueTable(table.numbers(), table.schema, table.target)

    def _differences(
        self, table: ValueTable, weights: NDArray[np.float64] | None, n_neighbors: float, pool_misses: bool
    ) -> NDArray[np.float64]:
        """Mean over the sampled rows of the differences to misses less those to hits."""
        weights = scale_up(weights)
        used = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights)
        rows, n_values = _scaled(table, used)
        target = np.ascontiguousarray(table.target.codes[used])
        kept = None if weights is None else np.ascontiguousarray(weights[used])
        relief = _core.Relief(rows, n_values, target, table.target.n_classes, kept, n_neighbors, pool_misses)
        varies = _varies(rows)
        del rows  # the kernel has its own
        sample = np.arange(len(used), dtype=np.uint32)
        if self.n_samples is not None and self.n_samples < len(used):
            rng = np.random.default_rng(seed_of(self.random_state))
            sample = np.sort(rng.permutation(sample)[: self.n_samples])
        stop = _core.StopFlag()
        batches = np.array_split(sample, min(_BATCHES, len(sample)))
        with track(self, len(batches), task="batch") as progress:

            def work(batch: NDArray[np.uint32]) -> NDArray[np.float64]:
                sums = relief.sums(batch, stop)
                progress.advance()
                return sums

            # Batches are added up in order, so that rounding does not depend on the threads.
            sums = np.sum(in_threads(work, batches, self.n_jobs, stop), axis=0)
        scores = np.asarray(sums / (len(sample) if kept is None else kept[sample].sum()))
        # A column of one value, or none, is not informative; irrelevant ones may be below 0.
        scores[~varies] = min(0.0, scores.min())
        return scores

    def _own_support(self) -> NDArray[np.bool_]:
        return self.scores_ > _ROUNDING


class ReliefSelector(_ReliefBase):
    """Relief: differences to the nearest row of another class less those to the nearest of the same.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps those with a positive weight.
    n_samples : int or None, default=None
        Rows drawn, without replacement, whose neighbours are compared; None takes every row. The paper draws
        at most 500.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    n_jobs : int, default=None
        Threads; -1 uses all cores. The outcome is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws the rows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Weights between -1 and 1.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
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

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_samples=None,
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_samples = n_samples
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _score(self, table: ValueTable, weights: NDArray[np.float64] | None) -> Scores:
        return Scores(self._differences(table, weights, 1.0, True))


class ReliefFSelector(_ReliefBase):
    """ReliefF: differences to near rows of other classes less those to near rows of the same class.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps those with a positive weight.
    n_neighbors : int, default=10
        Nearest rows of every class that each row is compared with. A class with fewer has its mean over those
        it has; a row that is alone in its class has no hits.
    n_samples : int or None, default=None
        Rows drawn, without replacement, whose neighbours are compared; None takes every row. The paper draws
        at most 500.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    n_jobs : int, default=None
        Threads; -1 uses all cores. The outcome is the same for any number.
    random_state : int, RandomState or None, default=None
        Draws the rows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Weights between -1 and 1; a column of one value, or none, has the least of all, at most 0.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    Notes
    -----
    The conventions are Weka's. The difference of two values of a numeric column is that of the values scaled
    to [0, 1] by the column's range; of a nominal column it is 1 if they differ. If one numeric value is
    missing, the largest difference it could make counts, if both are, 1; of a nominal column, 1 - 1 /
    categories. The distance of two rows is the sum over the columns. Misses of a class count by its prior
    probability among the other classes (Kononenko).

    Where several rows are equally far and not all of them are wanted, they share what is left: the outcome
    does not depend on the order of the rows, and a row of weight 2 is the same as two rows.

    Time grows with rows squared times columns, memory with rows times columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foresift import ReliefFSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> ReliefFSelector().fit(X, y).scores_.round(4)
    array([0.1399, 0.1226, 0.359 , 0.3754])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_ReliefBase._parameter_constraints,
        "n_neighbors": [Interval(numbers.Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        n_neighbors=10,
        n_samples=None,
        categorical_features="from_dtype",
        n_jobs=None,
        random_state=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _score(self, table: ValueTable, weights: NDArray[np.float64] | None) -> Scores:
        return Scores(self._differences(table, weights, float(self.n_neighbors), False))


def _scaled(table: ValueTable, used: NDArray[np.intp]) -> tuple[NDArray[np.float64], list[int]]:
    """Rows of numbers scaled to [0, 1] by their range among `used`, and of category codes; NaN is missing."""
    rows = np.full((len(used), table.n_columns), np.nan)
    n_values = [0] * table.n_columns
    for j, nominal in enumerate(table.schema.nominal):
        values = table.values[used, j].astype(np.float64)
        known = ~np.isnan(values)
        column = values[known]
        if nominal:  # categories are counted among these rows
            present, column = np.unique(column, return_inverse=True)
            n_values[j] = max(len(present), 1)
        elif column.size:
            if max(-column.min(), column.max()) > 1e300:
                column = column / 4  # so that the span cannot overflow
            span = np.ptp(column)
            column = (column - column.min()) / span if span > 0 else column * 0.0
        rows[known, j] = column
    return rows, n_values


def _varies(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mask of the columns with at least two different known values."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.fmax.reduce(rows) > np.fmin.reduce(rows))
