"""Correlation-based feature selection (Hall 2000)."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.sklearn_compat import Interval, StrOptions
from foresift.data.table import Table
from foresift.data.weights import scale_up
from foresift.selectors.base import RankingSelector, Scores, ranks_by_score
from foresift.selectors.uncertainty import Uncertainties

__all__ = ["CFSSelector"]

_PATH_DTYPE = np.dtype([("parent", "i8"), ("column", "i8"), ("size", "i8"), ("merit", "f8")])

_IMPROVEMENT = 1e-5  # the smallest improvement of a best-first search (Weka's BestFirst)
_DECIMALS = 12  # merits that differ by less tie


class CFSSelector(RankingSelector):
    """Keep the subset of features that predict the class and not each other (Hall 2000).

    The merit of k features is k c / sqrt(k + k (k - 1) f), c being their mean correlation with the class and
    f that with each other. Correlation is symmetrical uncertainty: the information that two columns share,
    over the mean of the information in each. Numeric columns are cut into intervals first, by
    `foresift.data.discretize.mdl_cuts`; a column without cuts has a correlation of 0.

    Parameters
    ----------
    n_features_to_select : int, float, "cv", SubsetSizeCV or None, default=None
        The number of features to keep, or their fraction, or "cv" to choose it by cross-validation: the
        subset of that size in a greedy search, which is backward with search="backward" and else forward.
        None keeps the subset with the largest merit that `search` finds.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    search : {"best-first", "forward", "backward", "greedy"}, default="best-first"
        "forward" adds the best feature while that raises the merit, "backward" starts with all and drops the
        worst while the merit does not fall; "greedy" is another name for "forward". "best-first" extends the
        best open subset by each further feature, and continues with the next best when that brings no
        improvement.
    n_stale : int, default=5
        A best-first search ends after this number of extended subsets in a row without improvement. It is
        also the number of open subsets.
    locally_predictive : bool, default=False
        Afterwards add, best first, each feature that is not correlated with any kept one more than with the
        class. Has no effect if a number of features is requested.
    convention : {"hall", "weka"}, default="hall"
        "weka" reproduces Weka's CfsSubsetEval: features that share no information (an uncertainty below 1e-6)
        count as copies of each other, and cuts use the "better encoding" of `mdl_cuts`. See Notes.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Symmetrical uncertainty of every feature and the class, from 0 to 1. Features are not ranked by it: a
        good feature may be left out because it is correlated with a better one.
    ranking_ : ndarray of shape (n_features,)
        1 is the best: the kept features in the order in which they entered, then the others by score; with
        n_features_to_select=1.0, all in the order of the greedy search. In a backward search the feature
        dropped last ranks first.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    order_ : ndarray of int
        The kept features, in the order of `ranking_`.
    merit_ : float
        Merit of the kept features together.
    search_tree_ : structured ndarray
        The subsets of the search: adding `column` to the subset in row `parent` (in a backward search, which
        continues to the last feature, dropping it) gave a subset of `size` features with this `merit`; -1
        marks the start. A best-first search lists the subsets that it extended.
    n_features_in_, feature_names_in_, schema_
        Number, names and types of the columns.

    Notes
    -----
    Missing values are distributed over the known ones: a row where one of two columns is missing counts for
    every value of that column, in proportion to its frequency; a row where both are missing counts for every
    pair of values.

    Weights count rows: in contingency tables, and when numeric columns are cut. A column of more than 65,536
    distinct values is cut between as many quantile bins.

    With convention="weka", subsets equal those of Weka 3.9 and merits agree to 1e-7, its precision, unless
    there are such bins; Weka adds locally predictive features by default. The default convention differs in
    two ways. Independent columns have a correlation of 0, where Weka counts them as copies: that matters for
    balanced designs (on the lenses data Weka keeps one feature instead of two), and for large tables, where
    independent columns fall below Weka's limit. And numeric columns are cut as in the paper of Fayyad and
    Irani, which makes fewer cuts if values tie.

    Correlations between features are computed on demand. A forward search needs those of the chosen features
    with all others, a backward search those of all pairs.

    References
    ----------
    M. A. Hall, "Correlation-based feature selection for discrete and numeric class machine learning", ICML
    2000, pages 359-366.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foresift.selectors.cfs import CFSSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = CFSSelector().fit(X, y)
    >>> selector.get_support(indices=True), round(selector.merit_, 3)
    (array([2, 3]), 0.898)
    """

    _for_quantities = "use InfoGainSelector"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "search": [StrOptions({"best-first", "forward", "backward", "greedy"})],
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
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.search = search
        self.n_stale = n_stale
        self.locally_predictive = locally_predictive
        self.convention = convention
        self.categorical_features = categorical_features

    def _score(self, table: Table, weights: NDArray[np.float64] | None) -> Scores:
        correlations = Uncertainties(table, scale_up(weights), like_weka=self.convention == "weka")
        n_wanted = self._n_wanted(table.n_columns)
        if self.search == "backward":
            order, path = _backward(correlations, n_wanted)
        elif self.search == "best-first" and n_wanted is None:
            order, path = _best_first(correlations, self.n_stale)
        else:
            order, path = _forward(correlations, n_wanted)
        if self.locally_predictive and n_wanted is None:
            order = order + _locally_predictive(correlations, order)
        learned = {
            "order_": np.array(order, dtype=np.intp),
            "search_tree_": np.array(path, dtype=_PATH_DTYPE),
            "merit_": _merit(correlations, order),
        }
        # The chosen features come first, the others follow by score.
        ranking = ranks_by_score(correlations.with_class)
        others = np.setdiff1d(np.arange(table.n_columns), order)
        ranked = np.concatenate([learned["order_"], others[np.argsort(ranking[others])]])
        ranking[ranked] = np.arange(1, len(ranked) + 1)
        return Scores(correlations.with_class, learned, ranking)

    def _own_support(self) -> NDArray[np.bool_]:
        return self._best(len(self.order_))


# Searches


class _Subset(NamedTuple):
    """A subset of features, and the sums for its merit and those of its extensions."""

    columns: tuple[int, ...] = ()
    merit: float = 0.0
    row: int = -1  # of its parent in the path
    with_class: float = 0.0  # sum of the members' correlations with the class
    between: float = 0.0  # sum of the correlations of all pairs of members
    outside: Any = 0.0  # per column, sum of its correlations with the parent's members


class _Extensions:
    """The extensions of a subset by one further feature."""

    def __init__(self, node: _Subset, row: int, correlations: Uncertainties) -> None:
        self._node, self._row = node, row
        columns = list(node.columns)
        self._outside = np.zeros(correlations.n_columns) + node.outside
        if columns:
            self._outside += correlations.between(columns[-1])
        self._with_class = node.with_class + correlations.with_class
        self._between = node.between + self._outside
        self.merits = _merits(len(columns) + 1, self._with_class, self._between)
        self.merits[columns] = -np.inf

    def by(self, column: int) -> _Subset:
        sums = float(self._with_class[column]), float(self._between[column]), self._outside
        return _Subset((*self._node.columns, column), float(self.merits[column]), self._row, *sums)


def _merits(size: int, with_class: Any, between: Any) -> NDArray[np.float64]:
    """Hall's merit, from sums over the members and over their pairs; rounded, so that ties are ties."""
    with_class, between = (
        np.maximum(with_class, 0.0),
        np.maximum(between, 0.0),
    )  # rounding errors may be negative
    return np.round(with_class / np.sqrt(size + 2.0 * between), _DECIMALS)


def _merit(correlations: Uncertainties, columns: list[int]) -> float:
    between = sum(correlations.between(column)[columns[:at]].sum() for at, column in enumerate(columns))
    return float(_merits(max(len(columns), 1), correlations.with_class[columns].sum(), between))


def _forward(correlations: Uncertainties, n_wanted: int | None) -> tuple[list[int], list[Any]]:
    """Add the best feature while it raises the merit, or up to `n_wanted`; the first wins a tie."""
    node = _Subset()
    path: list[Any] = [(-1, -1, 0, 0.0)]
    while len(node.columns) < (correlations.n_columns if n_wanted is None else n_wanted):
        extensions = _Extensions(node, len(path) - 1, correlations)
        best = int(extensions.merits.argmax())
        if n_wanted is None and extensions.merits[best] <= node.merit:
            break
        node = extensions.by(best)
        path.append(_step(node))
    return list(node.columns), path


def _step(node: _Subset) -> tuple[int, int, int, float]:
    return node.row, node.columns[-1] if node.columns else -1, len(node.columns), node.merit


def _backward(correlations: Uncertainties, n_wanted: int | None) -> tuple[list[int], list[Any]]:
    """Drop the worst feature while the merit does not fall, or down to `n_wanted`; the last wins a tie.

    The search continues to the last feature, to rank those that are kept.
    """
    size = correlations.n_columns
    outside, own = np.zeros(size), np.zeros(size)
    for column in range(size):
        row = correlations.between(column)
        outside += row
        own[column] = row[column]
    outside -= own  # per column, sum of its correlations with the remaining others
    with_class, between = correlations.with_class.sum(), outside.sum() / 2
    path: list[Any] = [(-1, -1, size, float(_merits(size, with_class, between)))]
    dropped: list[int] = []
    for left in range(size - 1, -1, -1):
        merits = _merits(max(left, 1), with_class - correlations.with_class, between - outside)
        merits[dropped] = -np.inf
        worst = size - 1 - int(merits[::-1].argmax())
        merit = float(merits[worst]) if left else 0.0  # the empty set has no rounding error
        if n_wanted is None and merit < path[-1][-1]:
            n_wanted = left + 1
        dropped.append(worst)
        path.append((len(path) - 1, worst, left, merit))
        with_class -= correlations.with_class[worst]
        between -= outside[worst]
        outside -= correlations.between(worst)
    return dropped[::-1][: n_wanted or 0], path


def _best_first(correlations: Uncertainties, n_stale: int) -> tuple[list[int], list[Any]]:
    """Extend the best open subset by every feature, until `n_stale` in a row bring no improvement.

    As Weka's BestFirst: `n_stale` subsets stay open, the older before the newer if they tie; a subset reached
    in two ways is open twice; an improvement is larger than 1e-5.
    """
    best, stale = _Subset(), 0
    opened = [best]
    path: list[Any] = []
    while stale < n_stale and opened:
        node = opened.pop(0)
        path.append(_step(node))
        extensions = _Extensions(node, len(path) - 1, correlations)
        merits = extensions.merits
        first = np.argsort(-merits, kind="stable")[: min(n_stale, len(merits) - len(node.columns))]
        opened += map(extensions.by, first.tolist())
        opened = sorted(opened, key=lambda subset: -subset.merit)[:n_stale]
        before = best
        # In the order of the columns, each compared with the best so far.
        for column in np.flatnonzero(merits > best.merit + _IMPROVEMENT).tolist():
            if merits[column] > best.merit + _IMPROVEMENT:
                best = extensions.by(column)
        stale = stale + 1 if best is before else 0
    return list(best.columns), path


def _locally_predictive(correlations: Uncertainties, kept: list[int]) -> list[int]:
    """Features that are no more correlated with any kept one than with the class, best first."""
    with_class = np.round(correlations.with_class, _DECIMALS)
    largest = np.zeros(correlations.n_columns)  # correlation with a kept one
    for column in kept:
        np.maximum(largest, correlations.between(column), out=largest)
    members, added = set(kept), []
    for column in np.argsort(-with_class, kind="stable").tolist():
        predictive = 0 < with_class[column] >= np.round(largest[column], _DECIMALS)
        if predictive and column not in members:
            added.append(column)
            np.maximum(largest, correlations.between(column), out=largest)
    return added
