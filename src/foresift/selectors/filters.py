"""Single-pass rankers: every column is scored by itself, by its correlation, F-score or information gain."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.containers import read
from foresift.data.moments import (
    NEARLY_NONE,
    Group,
    Moments,
    class_moments,
    indicator_moments,
    rows_by_class,
)
from foresift.data.named import NamedArray
from foresift.data.sklearn_compat import StrOptions, seed_of
from foresift.data.table import Nominal, Table, UncodedTable
from foresift.data.weights import scale_up
from foresift.engine.root_split import root_gains, split_information
from foresift.selectors.base import RankingSelector, Scores

__all__ = ["FScoreSelector", "InfoGainSelector", "PearsonSelector", "RandomSelector"]

_NO_GAIN = 1e-12  # bits; less is rounding


class _MomentSelector(RankingSelector):
    """What Pearson and F-score share: they need means and spreads, so X is read without being coded."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "nominal": [StrOptions({"refuse", "one-hot"})],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    }
    _needs_values = True

    def __init__(self, n_features_to_select=None, *, nominal="refuse", categorical_features="from_dtype"):
        self.n_features_to_select = n_features_to_select
        self.nominal = nominal
        self.categorical_features = categorical_features

    def _open(self, X: Any, y: Any) -> UncodedTable:
        return UncodedTable.open(X, y, self.categorical_features, self)

    def _open_table(self, table: Table) -> UncodedTable:
        names, values = table.schema.names, table.numbers()
        source = read(values if names is None else NamedArray(values, names))
        return UncodedTable(source, table.target, table.schema.nominal)

    def _score(self, table: UncodedTable, weights: NDArray[np.float64] | None) -> Scores:
        groups = rows_by_class(table.target, scale_up(weights))
        all_scores = np.zeros(table.n_columns)
        for part in table.columns():
            if isinstance(part, Nominal):
                all_scores[part.at] = self._score_nominal(part, groups)
                continue
            scores = all_scores[part.start : part.start + part.values.shape[1]]
            for columns, moments in class_moments(part.values, groups):
                scores[columns] = self._score_moments(moments)
        return Scores(all_scores)

    @abstractmethod
    def _score_moments(self, moments: Moments) -> NDArray[np.float64]:
        """Return the score of every column from its moments in every class."""

    def _score_nominal(self, column: Nominal, groups: list[Group]) -> float:
        if self.nominal == "refuse":
            raise ValueError(
                f"{column.label} is nominal, but {type(self).__name__} needs numbers: set nominal='one-hot'"
                " to score it by the best of its categories, drop it, or make it numeric if its values have"
                " an order."
            )
        moments = indicator_moments(column.codes, len(column.categories), groups)
        return float(self._score_moments(moments).max(initial=0.0))

    def _own_support(self) -> NDArray[np.bool_]:
        # Irrelevant columns score above 0 as well: there is no natural end, so do as scikit-learn's RFE does.
        return self._best(max(1, self.n_features_in_ // 2)) & (self.scores_ > 0)


class PearsonSelector(_MomentSelector):
    """Rank features by the absolute value of Pearson's correlation with the class.

    One of the rankings that Grabczewski & Jankowski compare (section 3). With more than two classes a feature
    is correlated with the indicator of every class, and the largest counts.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps the better half, at least one.
    nominal : {"refuse", "one-hot"}, default="refuse"
        Nominal columns have no correlation: they raise an error, or are scored by the best of the indicators
        of their categories.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.

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


class FScoreSelector(_MomentSelector):
    """Rank features by the distance of the class means over the sum of the deviations (the paper's F-score).

    Grabczewski & Jankowski, eq. 1, without its sign: ``|m0 - m1| / (s0 + s1)``, with means m and sample
    standard deviations s of the feature in the two classes. With more than two classes each is set against
    all the others, and the largest score counts. It is neither scikit-learn's F nor that of Chen and Lin.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps the better half, at least one.
    nominal : {"refuse", "one-hot"}, default="refuse"
        Nominal columns have no mean: they raise an error, or are scored by the best of the indicators of
        their categories.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        0 or more. Infinite for a column that has one value in a class and another in all the other rows; 0
        for a constant one.
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

    Notes
    -----
    A missing value leaves its row out for that column only. A single row has no sample deviation: a class
    of one row, or against one row, is left out of the maximum, and a column where none remains scores 0.
    Weights count rows: one of weight 2 is two rows, one of weight 0 is left out; weights that are below one
    on average are scaled up to an average of one.

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


class InfoGainSelector(RankingSelector):
    """Rank features by the information that their best split gives about the class (Bommaganti 3.4).

    A numeric column is cut in two where the gain is largest, a nominal one is split into one branch per
    category.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of best features to keep, or their fraction; choose the number by cross-validation; None
        keeps all that gain anything, which a numeric column nearly always does by chance.
    ratio : bool, default=False
        Score by gain ratio: the gain over the information in the split itself, so that many categories are no
        advantage.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Gain in bits, or gain ratio.
    gains_ : ndarray of shape (n_features,)
        Gain in bits.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    foresift.criteria.information_gain : The gain of one column, and how missing values enter it.
    foresift.criteria.gain_ratio : The gain ratio of one column.

    Notes
    -----
    On nominal columns without missing values the scores are those of InfoGainAttributeEval and
    GainRatioAttributeEval of Weka. Where values are missing, Weka spreads them over the categories or makes a
    category of them; here, as in C4.5, the gain on the known rows is multiplied by their share. Weka cuts
    numeric columns into any number of intervals first.

    Examples
    --------
    >>> from foresift import InfoGainSelector
    >>> X = {"tears": ["less", "less", "more", "more"], "age": [20, 61, 35, 49]}
    >>> selector = InfoGainSelector(n_features_to_select=1).fit(X, ["none", "none", "soft", "hard"])
    >>> selector.scores_.round(3), selector.get_feature_names_out()
    (array([1. , 0.5]), array(['tears'], dtype=object))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "ratio": ["boolean"],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    }

    def __init__(self, n_features_to_select=None, *, ratio=False, categorical_features="from_dtype"):
        self.n_features_to_select = n_features_to_select
        self.ratio = ratio
        self.categorical_features = categorical_features

    def _score(self, table: Table, weights: NDArray[np.float64] | None) -> Scores:
        weights = scale_up(weights)  # the engine tells ties apart on the scale of whole rows
        scores = gains = root_gains(table, weights)
        if self.ratio:
            split = np.flatnonzero(gains > _NO_GAIN)
            scores = np.zeros(table.n_columns)
            scores[split] = gains[split] / split_information(table, weights, split)
        return Scores(scores, {"gains_": gains})

    def _own_support(self) -> NDArray[np.bool_]:
        return self.gains_ > _NO_GAIN


class RandomSelector(RankingSelector):
    """Rank features at random, as a baseline (Bommaganti 3.3).

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of features to keep, or their fraction; choose the number by cross-validation; None keeps
        half of them.
    random_state : int, RandomState or None, default=None
        Draws the ranking.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Uniform random numbers.
    ranking_, support_ : ndarray of shape (n_features,)
        1 is the best; mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    Examples
    --------
    >>> from foresift import RandomSelector
    >>> RandomSelector(random_state=0).fit([[1, 2, 3, 4], [5, 6, 7, 8]], [0, 1]).support_
    array([ True,  True, False, False])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "random_state": ["random_state"],
    }

    def __init__(self, n_features_to_select=None, *, random_state=None):
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def _score(self, table: Table, weights: NDArray[np.float64] | None) -> Scores:
        return Scores(np.random.default_rng(seed_of(self.random_state)).random(table.n_columns))

    def _own_support(self) -> NDArray[np.bool_]:
        return self._best(max(1, self.n_features_in_ // 2))
