"""Correlation-based feature selection (Hall 2000)."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.sklearn_compat import Interval, StrOptions
from foresift.data.table import Table
from foresift.data.weights import scale_up
from foresift.selectors.base import RankingSelector, Scores, ranks_by_score
from foresift.selectors.correlations import Correlations, UnitCorrelations
from foresift.selectors.linear_correlations import LinearCorrelations
from foresift.selectors.merit_search import (
    Found,
    backward,
    best_first,
    forward,
    locally_predictive,
    subset_of,
)
from foresift.selectors.uncertainty import Uncertainties
from foresift.selectors.unit_chance import gain_of_size

__all__ = ["CFSSelector"]

_SEARCHES = {"best-first", "best-first-backward", "best-first-bidirectional", "forward", "backward", "greedy"}
_PATH_DTYPE = np.dtype([("parent", "i8"), ("column", "i8"), ("size", "i8"), ("merit", "f8")])


class CFSSelector(RankingSelector):
    """Keep the subset of features that predict the target and not each other (Hall 2000).

    The merit of k features is k c / sqrt(k + k (k - 1) f), c being their mean correlation with the target and
    f that with each other.

    For classes correlation is symmetrical uncertainty: the information that two columns share, over the mean
    of the information in each. Numeric columns are cut into intervals first, by
    `foresift.data.discretize.mdl_cuts`; a column without cuts has a correlation of 0.

    For a quantity it is the absolute value of Pearson's correlation. Nominal columns take part by the
    indicators of their categories, the correlation of each weighted by the frequency of the category.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of features to keep, or their fraction, or "cv" to choose it by cross-validation: the
        subset of that size in a greedy search, which is backward if `search` is, and else forward. None keeps
        the subset with the largest merit that `search` finds.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    search : str, default="best-first"
        "best-first" extends the best open subset by each further feature, and continues with the next best
        when that brings no improvement; "best-first-backward" starts with all and drops each member instead,
        "best-first-bidirectional" starts with none and does both. "forward" adds the best feature while that
        raises the merit, "backward" starts with all and drops the worst while the merit does not fall;
        "greedy" is another name for "forward".
    n_stale : int, default=5
        A best-first search ends after this number of extended subsets in a row without improvement. It is
        also the number of open subsets.
    locally_predictive : bool, default=False
        Afterwards add, best first, each feature that is not correlated with any kept one more than with the
        target. Has no effect if a number of features is requested.
    convention : {"hall", "weka"}, default="hall"
        "weka" reproduces Weka's CfsSubsetEval. For classes, features that share no information (an
        uncertainty below 1e-6) count as copies of each other, and cuts use the "better encoding" of
        `mdl_cuts`. For a quantity, features are weighted by their standard deviations. See Notes.
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
        Correlation of every feature and the target, from 0 to 1; of a group the merit of its columns, less
        what it has by chance for being large.
        Features are not ranked by it: a good
        feature may be left out because it is correlated with a better one.
    ranking_ : ndarray of shape (n_features,)
        1 is the best: the kept features in the order in which they entered, then the others by score; with
        n_features_to_select=1.0, all in the order of the greedy search. In a backward search the feature
        dropped last ranks first; "best-first-backward" ranks the kept features by score.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    order_ : ndarray of int
        The kept features, in the order of `ranking_`, without those kept by request.
    merit_ : float
        Merit of the kept features together.
    search_tree_ : structured ndarray
        The subsets of the search: adding `column` to the subset in row `parent`, or dropping it if `size` is
        less than that of the parent, gave a subset of `size` features with this `merit`; -1 marks the start.
        A group is one feature, named by its first column.
        A backward search continues to the last feature. A best-first search lists the subsets that it
        extended.
    n_features_in_, feature_names_in_, schema_
        Number, names and types of the columns.

    Notes
    -----
    Missing values, for classes, are distributed over the known ones: a row where one of two columns is
    missing counts for every value of that column, in proportion to its frequency; a row where both are
    missing counts for every pair of values. For a quantity a missing number counts as the mean of its column,
    a missing category as the most frequent one.

    Weights count rows: in contingency tables, in correlations, and when numeric columns are cut. A column of
    more than 65,536 distinct values is read in as many quantile bins.

    With convention="weka", subsets equal those of Weka 3.9 and merits agree to 1e-7, its precision, unless
    there are such bins; Weka adds locally predictive features by default. The default convention differs in
    two ways for classes. Independent columns have a correlation of 0, where Weka counts them as copies: that
    matters for balanced designs (on the lenses data Weka keeps one feature instead of two), and for large
    tables, where independent columns fall below Weka's limit. And numeric columns are cut as in the paper of
    Fayyad and Irani, which makes fewer cuts if values tie. For a quantity Weka weights features by their
    standard deviations, so that its subsets change with the units; and it counts nominal columns as copies if
    their correlation is 0 without any rounding error, which is not reproduced.

    Correlations between features are computed on demand. A forward search needs those of the chosen features
    with all others, a backward search those of all pairs. For a quantity the numeric columns are kept in
    memory as float64.

    References
    ----------
    M. A. Hall, "Correlation-based feature selection for discrete and numeric class machine learning", ICML
    2000, pages 359-366.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes, load_iris
    >>> from foresift.selectors.cfs import CFSSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = CFSSelector().fit(X, y)
    >>> selector.get_support(indices=True), round(selector.merit_, 3)
    (array([2, 3]), 0.898)
    >>> X, y = load_diabetes(return_X_y=True)
    >>> CFSSelector(task="regression").fit(X, y).get_support(indices=True)
    array([2, 3, 6, 8])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "search": [StrOptions(_SEARCHES)],
        "n_stale": [Interval(numbers.Integral, 1, None, closed="left")],
        "locally_predictive": ["boolean"],
        "convention": [StrOptions({"hall", "weka"})],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        task="auto",
        search="best-first",
        n_stale=5,
        locally_predictive=False,
        convention="hall",
        categorical_features="from_dtype",
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.search = search
        self.n_stale = n_stale
        self.locally_predictive = locally_predictive
        self.convention = convention
        self.categorical_features = categorical_features
        self.keep = keep
        self.feature_groups = feature_groups

    def _score(self, table: Table, weights: NDArray[np.float64] | None) -> Scores:
        correlations, units = self._correlations(table, scale_up(weights)), self.units_
        order, path = self._search(correlations, self._n_wanted())
        columns = [units.members[unit] for unit in order]
        tree = np.array(path, dtype=_PATH_DTYPE)
        moved = tree["column"] >= 0
        tree["column"][moved] = units.first[tree["column"][moved]]
        learned = {
            "order_": np.concatenate([np.empty(0, dtype=np.intp), *columns]),
            "search_tree_": tree,
            "merit_": subset_of([*correlations.always, *order], correlations).merit,
            "_n_chosen": len(order),
        }
        # The chosen features come first, the others follow by score.
        scores = correlations.with_class[: units.n_free]
        ranking = ranks_by_score(scores)
        others = np.setdiff1d(np.arange(units.n_free), order)
        ranked = np.concatenate([np.array(order, dtype=np.intp), others[np.argsort(ranking[others])]])
        ranking[ranked] = np.arange(1, len(ranked) + 1)
        return Scores(scores, learned, ranking, by_unit=True)

    def _correlations(self, table: Table, weights: NDArray[np.float64] | None) -> Correlations:
        """Correlations of the columns, or of the units."""
        measure = LinearCorrelations if table.target.task == "regression" else Uncertainties
        like_weka, units = self.convention == "weka", self.units_
        single = measure(table, weights, like_weka=like_weka)
        if units.trivial:
            return single
        of_units = UnitCorrelations(single, units)
        chance = gain_of_size(
            units,
            table,
            weights,
            lambda some: measure(some, weights, like_weka=like_weka).with_class,
            joint=lambda with_class: of_units.merits(with_class)[: units.n_free],
        )
        free = of_units.with_class[: units.n_free]
        free -= np.minimum(chance, free)
        return of_units

    def _search(self, correlations: Correlations, n_wanted: int | None) -> Found:
        """The chosen features in order, and the path of the search."""
        if n_wanted is not None or not self.search.startswith("best-first"):
            greedy = backward if self.search.endswith("backward") else forward
            order, path = greedy(correlations, n_wanted)
        else:
            add, drop = self.search != "best-first-backward", self.search != "best-first"
            order, path = best_first(correlations, self.n_stale, add=add, drop=drop)
        if self.locally_predictive and n_wanted is None:
            order = order + locally_predictive(correlations, order)
        return order, path

    def _own_support(self) -> NDArray[np.bool_]:
        return self._best(self._n_chosen)
