"""Correlation and F-score: rankers that need means and spreads of the columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.batch_columns import read_rows
from foresift.data.coded_blocks import CodedBlocks
from foresift.data.containers import label_of, read
from foresift.data.explained import Explained, explained_by_categories, explained_by_columns
from foresift.data.moments import (
    NEARLY_NONE,
    Moments,
    class_moments,
    indicator_moments,
    rows_by_class,
)
from foresift.data.named import NamedArray
from foresift.data.row_moments import ClassMoments, Explanations
from foresift.data.sklearn_compat import StrOptions
from foresift.data.table import Nominal, Table, UncodedTable
from foresift.data.weights import scale_up
from foresift.engine.local_blocks import changed
from foresift.errors import InputError
from foresift.selectors.base import RankingSelector, Scores

__all__ = ["FScoreSelector", "PearsonSelector"]

_Found = tuple[slice, Any]  # columns, and their scores
_ROUNDING = 1e-12  # of a share


class _MomentSelector(RankingSelector):
    """What Pearson and F-score share: they need means and spreads, so X is read without being coded."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "nominal": [StrOptions({"refuse", "one-hot"})],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    }
    _needs_values = True
    _needs_quantity = True

    def __init__(
        self,
        n_features_to_select=None,
        *,
        task="auto",
        nominal="refuse",
        categorical_features="from_dtype",
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.nominal = nominal
        self.categorical_features = categorical_features
        self.keep = keep
        self.feature_groups = feature_groups

    def _open(self, X: Any, y: Any) -> UncodedTable:
        return UncodedTable.open(X, y, self.categorical_features, self, self.task)

    def _open_table(self, table: Table) -> UncodedTable:
        names, values = table.schema.names, table.numbers()
        source = read(values if names is None else NamedArray(values, names))
        return UncodedTable(source, table.target, table.schema.nominal)

    def takes_blocks(self) -> bool:
        """Whether it is fitted to all rows of blocks: not with groups, whose size is told by permutations."""
        return self.feature_groups is None

    def _score(self, table: UncodedTable | CodedBlocks, weights: NDArray[np.float64] | None) -> Scores:
        if isinstance(table, CodedBlocks):
            return Scores(self._score_rows(table))
        found = self._for_quantity if table.target.task == "regression" else self._for_classes
        all_scores = np.zeros(table.n_columns)
        for columns, scores in found(table, scale_up(weights)):
            all_scores[columns] = scores
        return Scores(all_scores)

    def _for_classes(self, table: UncodedTable, weights: NDArray[np.float64] | None) -> Iterator[_Found]:
        groups = rows_by_class(table.target, weights)
        for part in table.columns():
            if isinstance(part, Nominal):
                self._require_one_hot(part.label)
                moments = indicator_moments(part.codes, len(part.categories), groups)
                yield slice(part.at, part.at + 1), self._score_moments(moments).max(initial=0.0)
                continue
            for columns, moments in class_moments(part.values, groups):
                yield _moved(columns, part.start), self._score_moments(moments)

    def _for_quantity(self, table: UncodedTable, weights: NDArray[np.float64] | None) -> Iterator[_Found]:
        y, weights = table.target.y, np.ones(table.n_rows) if weights is None else weights
        for part in table.columns():
            if isinstance(part, Nominal):
                self._require_one_hot(part.label)
                explained = explained_by_categories(part.codes, y, weights)
                yield slice(part.at, part.at + 1), self._score_explained(explained)
                continue
            for columns, explained in explained_by_columns(part.values, y, weights):
                yield _moved(columns, part.start), self._score_explained(explained)

    def _score_rows(self, blocks: CodedBlocks) -> NDArray[np.float64]:
        """Scores of all rows of a source, which is read once more: codes do not hold values."""
        names, nominal = blocks.schema.names, blocks.schema.nominal
        if nominal.any():
            self._require_one_hot(label_of(names, int(nominal.argmax())))
        quantity = blocks.coding.labels is None
        sums = Explanations(blocks.coding) if quantity else ClassMoments(blocks.coding)
        n_rows = 0
        for y, columns in read_rows(blocks.rows, blocks.coding):
            sums.add(y, columns)
            n_rows += len(y)
        if n_rows != blocks.n_rows:
            raise InputError(changed(blocks.rows.source))
        score: Any = self._score_explained if quantity else self._score_moments
        scores = np.zeros(blocks.n_columns)
        for at, found in sums.of_columns():
            own = score(found)
            scores[at] = own.max(initial=0.0) if nominal[at.start] else own
        return scores

    @abstractmethod
    def _score_moments(self, moments: Moments) -> NDArray[np.float64]:
        """Return the score of every column from its moments in every class."""

    @abstractmethod
    def _score_explained(self, explained: Explained) -> NDArray[np.float64]:
        """Return the score of every column from the share of the variance of y that it explains."""

    def _require_one_hot(self, label: str) -> None:
        if self.nominal == "refuse":
            raise ValueError(
                f"{label} is nominal, but {type(self).__name__} needs numbers: set nominal='one-hot'"
                " to score it by its categories, drop it, or make it numeric if its values have an order."
            )

    def _own_support(self) -> NDArray[np.bool_]:
        # Irrelevant columns score above 0 as well: there is no natural end, so do as scikit-learn's RFE does.
        return self._best_half() & (self.scores_ > 0)


class PearsonSelector(_MomentSelector):
    """Rank features by the absolute value of Pearson's correlation with the class or quantity.

    One of the rankings that Grabczewski & Jankowski compare (section 3). With more than two classes a feature
    is correlated with the indicator of every class, and the largest counts. A quantity is taken as it is.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps the better half, at least one.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    nominal : {"refuse", "one-hot"}, default="refuse"
        Nominal columns have no correlation: they raise an error, or are scored by the best of the indicators
        of their categories; for a quantity by all of them together, which is the correlation ratio.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        From 0 to 1. A column that is constant, or known in one class only, scores 0.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    FScoreSelector : Compares the distance of the means with the deviations within the classes.
    sklearn.feature_selection.r_regression : The correlation with a numeric target.

    Notes
    -----
    A missing value leaves its row out for that column only. The numbers are taken as they are, never in bins,
    and read once, some columns at a time. Weights count rows: one of weight 2 is two rows, one of weight 0 is
    left out; weights that are below one on average are scaled up to an average of one.

    Rows that come in batches all count; they are read once more for this, on this machine also if a cluster
    holds them.

    Examples
    --------
    >>> from foresift import PearsonSelector
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = PearsonSelector().fit(X, y)
    >>> selector.scores_.round(3), selector.ranking_
    (array([0.717, 0.603, 0.923, 0.887]), array([3, 4, 1, 2]))
    """

    def _score_moments(self, moments: Moments) -> NDArray[np.float64]:
        every = moments.together
        others = every.weight - moments.weight
        # r = weight (mean - every.mean) / sqrt(spread of the column * spread of the class indicator)
        nearly_all = others < NEARLY_NONE * every.weight
        usable = (every.spread > 0) & (moments.weight > 0) & (others > 0) & ~nearly_all
        factor = np.divide(
            moments.weight * every.weight, others * every.spread, out=np.zeros_like(others), where=usable
        )
        correlations = np.abs(moments.mean - every.mean) * np.sqrt(factor)
        if nearly_all.any():  # the same, from the others' own moments: the differences would be rounding
            rest = moments.others
            usable = nearly_all & (every.spread > 0)
            shares = np.divide(moments.weight, every.weight, out=np.zeros_like(others), where=usable)
            spread = np.where(usable, every.spread, 1.0)
            correlations += np.abs(moments.mean - rest.mean) * np.sqrt(shares * (rest.weight / spread))
        return np.minimum(correlations.max(axis=0), 1.0)

    def _score_explained(self, explained: Explained) -> NDArray[np.float64]:
        return np.sqrt(explained.share)


class FScoreSelector(_MomentSelector):
    """Rank features by the distance of the class means over the sum of the deviations (the paper's F-score).

    Grabczewski & Jankowski, eq. 1, without its sign: ``|m0 - m1| / (s0 + s1)``, with means m and sample
    standard deviations s of the feature in the two classes. With more than two classes each is set against
    all the others, and the largest score counts. It is neither scikit-learn's F nor that of Chen and Lin.

    For a quantity the score is the F statistic of the linear regression on the feature, that of
    `sklearn.feature_selection.f_regression`.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps the better half, at least one.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    nominal : {"refuse", "one-hot"}, default="refuse"
        Nominal columns have no mean: they raise an error, or are scored by the best of the indicators of
        their categories; for a quantity by the F statistic of the analysis of variance over the categories.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        0 or more. Infinite for a column that has one value in a class and another in all the other rows, or
        that explains all of a quantity; 0 for a constant one.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    PearsonSelector : The correlation with the class.
    sklearn.feature_selection.f_classif : The F statistic of an analysis of variance.
    sklearn.feature_selection.f_regression : The scores for a quantity, without missing values.

    Notes
    -----
    A missing value leaves its row out for that column only. A single row has no sample deviation: a class
    of one row, or against one row, is left out of the maximum, and a column where none remains scores 0.
    Weights count rows: one of weight 2 is two rows, one of weight 0 is left out; weights that are below one
    on average are scaled up to an average of one.

    Rows that come in batches all count; they are read once more for this, on this machine also if a cluster
    holds them.

    Examples
    --------
    >>> from foresift import FScoreSelector
    >>> X = [[1.0, 5.0], [3.0, 7.0], [8.0, 5.0], [12.0, 9.0]]  # means 2 and 10, deviations 1.41 and 2.83
    >>> FScoreSelector().fit(X, ["a", "a", "b", "b"]).scores_.round(3)
    array([1.886, 0.236])
    """

    def _score_moments(self, moments: Moments) -> NDArray[np.float64]:
        others = moments.others
        usable = (moments.weight > 1) & (others.weight > 1)
        deviations = np.zeros_like(moments.mean)
        for side in (moments, others):
            deviations += np.sqrt(
                np.divide(side.spread, side.weight - 1, out=np.zeros_like(side.spread), where=usable)
            )
        apart = np.where(usable, np.abs(moments.mean - others.mean), 0.0)
        unspread = np.where(apart > 0, np.inf, 0.0)
        return np.divide(apart, deviations, out=unspread, where=deviations > 0).max(axis=0)

    def _score_explained(self, explained: Explained) -> NDArray[np.float64]:
        freedom = explained.weight - 1 - explained.n_inputs  # of the residuals
        usable = (freedom > 0) & (explained.share > 0)
        # What is left of a perfect column is rounding, which depends on the order of the values in memory.
        left = np.where(explained.share > 1 - _ROUNDING, 0.0, 1 - explained.share)
        residual = left * explained.n_inputs
        perfect = np.where(usable, np.inf, 0.0)
        return np.divide(explained.share * freedom, residual, out=perfect, where=usable & (residual > 0))


def _moved(columns: slice, by: int) -> slice:
    return slice(columns.start + by, columns.stop + by)
