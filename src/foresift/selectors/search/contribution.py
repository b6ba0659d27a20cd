"""Dropping the features that contribute least to a forest, one after the other (Murata et al.)."""

from __future__ import annotations

import math
import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift.data.sklearn_compat import Interval, Progress, RealNotInt, StrOptions
from foresift.models.forests import default_forest
from foresift.selectors.base import Scores
from foresift.selectors.search.base import Search, SearchSelector
from foresift.selectors.search.subset_forests import SubsetForests

__all__ = ["ContributionSelector"]

# "Information gain becomes 0" ends a branch in Algorithm 1; below this a gain is nothing but rounding.
_NO_GAIN = 1e-12


class _ContributionSearch(Search):
    """The way down from all features, by the rules of a `ContributionSelector`."""

    def __init__(self, *run: Any) -> None:
        super().__init__(*run)
        self.forests = SubsetForests(self.estimator, self.data, self.weights, self.rules.n_jobs)
        self.learned: dict[str, Any] = {}
        self.values: list[NDArray[np.float64]] = []  # of every step: what the columns count with,
        self.orders: list[NDArray[np.intp]] = []  # and the order in which features are dropped
        self.tied: Any = False  # mask of the significant pairs

    def run(self, progress: Progress) -> None:
        """Extend `path` until the error, the number of features or a callback ends the search."""
        features = np.arange(self.units.n_free)
        beyond = 0
        while True:
            subset = tuple(features.tolist())
            if self.rules.mode == "sequential" or not self.path:  # before the folds: it may find no trees
                values, ranked = self._read(features)
            order = ranked[np.isin(ranked, features)]
            score = math.nan if self.scorer is None else self.evaluate([subset])[0]
            if not self.path:
                self.full_error = 1.0 - score
            self.values.append(values)
            self.orders.append(order)
            self.visit(subset, score, progress)
            beyond = 0 if self.within_limit(score) else beyond + 1
            enough = beyond > self.rules.patience if self.n_wanted is None else len(features) <= self.n_wanted
            if self.interrupted or enough or len(features) == self.least:
                return
            n_dropped = self._n_dropped(len(features))
            if self.scorer is not None and self.rules.protect_pairs:
                order = self.orders[-1] = self._better_order(order, n_dropped)
            features = np.sort(order[n_dropped:])

    def _read(self, features: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """What each column counts with, and the order in which the features are dropped."""
        columns = np.array(self.columns(features))
        of_columns, pairs = self.forests.read(columns, self.rules.protect_pairs)
        if not self.path:
            self.learned["contributions_"] = of_columns
            if pairs is not None:
                self.learned["pairs_"] = pairs
        ratios = of_columns[self.units.best_members(of_columns)]
        values = ratios.copy()
        if pairs is not None:
            tied = self._between_units(pairs.significant(self.rules.pair_alpha))
            self.tied = self.tied | tied  # a pair that was significant once stays one
            one, other = np.nonzero(tied)
            np.maximum.at(values, one, ratios[other])
        # Low ones first, of a pair its smaller half, of equals the last column. So a feature outlives its
        # partners or counts no less without them: the order stays the same as they go.
        keys = (-features, np.round(ratios[features], 9), np.round(values[features], 9))
        return values, features[np.lexsort(keys)]

    def _between_units(self, tied: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which units have columns in a pair with each other."""
        one, other = self.units.free_of_column[np.array(np.nonzero(tied))]
        between = np.zeros((self.units.n_free, self.units.n_free), dtype=bool)
        free = (one >= 0) & (other >= 0) & (one != other)
        between[one[free], other[free]] = True
        return between

    def _better_order(self, order: NDArray[np.intp], n_dropped: int) -> NDArray[np.intp]:
        """Let features that are in a pair go last, if that makes no larger error now."""
        paired = self.tied[np.ix_(order, order)].any(axis=1)
        other = np.concatenate([order[~paired], order[paired]])
        if set(order[:n_dropped]) == set(other[:n_dropped]):
            return order
        plain, spared = self.evaluate([tuple(way[n_dropped:].tolist()) for way in (order, other)])
        return other if spared >= plain else order

    def _n_dropped(self, n_left: int) -> int:
        step = self.rules.step
        step = step if isinstance(step, numbers.Integral) else max(1, int(step * n_left))
        return min(int(step), n_left - (self.n_wanted or self.least))

    def seconds_left(self) -> float:
        """Estimate from the steps so far, on the safe side: a step gets cheaper with fewer features."""
        left, step = len(self.path[-1].features) - (self.n_wanted or self.least), float(self.rules.step)
        n_steps = min(left, left / step if step >= 1 else math.log(left + 1) / step)
        return float(np.mean(self.path.seconds[-5:])) * math.ceil(n_steps)

    def result(self) -> Scores:
        """Keep the set that the rules choose, and rank by the order of deletion."""
        at = self._chosen()
        # Counted back from the chosen set: what was dropped after it is kept.
        sizes = [*self.path.n_features[: at + 1].tolist(), 0]
        going = [order[: sizes[k] - sizes[k + 1]] for k, order in enumerate(self.orders[: at + 1])]
        order = np.concatenate(going)
        ranking = np.empty(len(order), dtype=np.intp)
        ranking[order] = np.arange(len(order), 0, -1)
        scores = self.values[at].copy()
        if self.rules.mode == "sequential":
            n_dropped = len(order) - sizes[at]
            scores = n_dropped + scores / 100.0
            scores[order[:n_dropped]] = np.arange(n_dropped)
        return Scores(scores, self.learned, ranking, self.path.mask(self.path[at]))

    def _chosen(self) -> int:
        if self.n_wanted is not None:
            return len(self.path) - 1
        if self.rules.max_error_increase is None:
            return self.path.features.index(self.path.best().features)
        return max(i for i, step in enumerate(self.path) if self.within_limit(step.score))


class ContributionSelector(SearchSelector):
    """Drop the features that contribute least to a forest, as long as the error allows (Murata IV).

    The contribution ratio of a feature is the share of a forest's split rows that are split on it (eq. 5);
    a group of columns has that of its best column.
    The one with the lowest is dropped, the forest is cross-validated, and so on until the error
    has risen too far. A step takes one forest and its cross-validation, however many features there are; a
    backward search takes one per feature.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Stop at this number of features, or this fraction of all, whatever the error. None stops by the error;
        there is no "cv".
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    mode : {"sequential", "batch"}, default="sequential"
        Grow a new forest after every deletion to see what contributes least now (Algorithm 2), or read the
        order from the forest of all features (Algorithm 3).
    max_error_increase : float or None, default=0.1
        How far the error may rise above that with all features: 0.1 lets it go from 3 % to 13 %. The last set
        before it is passed is kept. None goes down to one feature and keeps the best set.
    relative : bool, default=False
        Read `max_error_increase` as a share of the error with all features.
    step : int or float, default=1
        Features dropped at a time, or a share of those that are left.
    patience : int, default=0
        This many sets in a row may pass the limit before the search ends; a smaller one that is within it
        again is kept.
    protect_pairs : bool, default=False
        Let a feature that works together with others, in a significant pair of
        `foresift.importance.co_occurrence`, count with the largest contribution among itself and those of
        them that are left; and before such a feature goes, see what error it makes if others go instead:
        these go, unless that error is larger. (Without `cv` there are no errors to compare.) In XOR neither
        half is of any use without the other.
    pair_alpha : float, default=0.05
        Level at which a pair is significant, all pairs together (Holm): a statement about the trees that were
        grown, not about the data they were grown on.
    estimator : classifier, regressor or None, default=None
        The forest: one of ours or any whose trees `foresift.importance.node_tables` reads. None is that of
        Algorithm 1: sqrt(p) features per node (p / 3 for a quantity), 10 random thresholds each, a leaf where
        nothing is gained.
    n_estimators : int, default=100
        Trees of that forest, where `estimator` is None.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn; higher is better. None is the accuracy, or R2 for a quantity. The error is 1
        less the score.
    cv : int, splitter, iterable of (train, test) rows or None, default=3
        The folds, the same for all sets; a number means shuffled ones, stratified by class. None
        estimates no errors, which is three times as fast; then `n_features_to_select` must be given.
    return_partial : bool, default=False
        On Ctrl-C, return the best set so far; else KeyboardInterrupt goes on, after it has been stored.
    verbose : int, default=0
        1 prints a line per step to the standard error output: features, error, time left.
    n_jobs : int, default=None
        Threads; -1 uses all cores. The outcome is the same for any number.
    random_state : int, RandomState or None, default=None
        Assigns rows to folds and seeds the forest if it has no seed.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    contributions_ : ndarray of shape (n_features,)
        Contribution ratios with all features, in percent.
    path_ : SearchPath
        Every set, from all features on, with score, error, reduction rate and seconds.
    pairs_ : CoOccurrence
        The pairs in the forest of all features, if `protect_pairs` is set.
    full_error_ : float
        Error with all features; NaN without `cv`.
    interrupted_ : bool
        Whether the search was cut short.
    scores_ : ndarray of shape (n_features,)
        What a feature counts with, its contribution ratio or with `protect_pairs` that of a partner, in the
        forest of all features ("batch"). "sequential": how many features were dropped before; for the kept
        ones all that were, and what they count with in the last forest, as a share.
    ranking_ : ndarray of shape (n_features,)
        1 is the best; the dropped ones from the last to the first.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    foresift.importance.contribution_ratio : The ratios of any fitted forest.
    foresift.SequentialSelector : Tries every deletion instead.
    foresift.selectors.search.path.commonality : How far two paths agree (Figure 8).

    Notes
    -----
    The ratios are of a forest on all rows; only the error is cross-validated. Features that are
    equal in contribution are dropped from the last column on. docs/murata.md compares the method with
    backward search on the four tables of the paper.

    Metadata routing ends here: `set_fit_request` says which of `sample_weight`, `groups` and `time` are
    wanted, requests of the estimators inside are not read.

    Examples
    --------
    >>> from foresift import ContributionSelector
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = ContributionSelector(max_error_increase=0.02, random_state=0).fit(X, y)
    >>> selector.path_.n_features, selector.get_support(indices=True)
    (array([4, 3, 2, 1]), array([3]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SearchSelector._parameter_constraints,
        "mode": [StrOptions({"sequential", "batch"})],
        "step": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
        ],
        "patience": [Interval(numbers.Integral, 0, None, closed="left")],
        "protect_pairs": ["boolean"],
        "pair_alpha": [Interval(numbers.Real, 0, 1, closed="neither")],
        "n_estimators": [Interval(numbers.Integral, 1, None, closed="left")],
        "cv": [*SearchSelector._parameter_constraints["cv"], None],
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        task="auto",
        mode="sequential",
        max_error_increase=0.1,
        relative=False,
        step=1,
        patience=0,
        protect_pairs=False,
        pair_alpha=0.05,
        estimator=None,
        n_estimators=100,
        scoring=None,
        cv=3,
        return_partial=False,
        verbose=0,
        n_jobs=None,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.mode = mode
        self.max_error_increase = max_error_increase
        self.relative = relative
        self.step = step
        self.patience = patience
        self.protect_pairs = protect_pairs
        self.pair_alpha = pair_alpha
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.scoring = scoring
        self.cv = cv
        self.return_partial = return_partial
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    _search = _ContributionSearch

    def _estimator(self, task: str = "classification") -> Any:
        if self.estimator is not None:
            return self.estimator
        forest = default_forest(task, self.n_estimators)
        # The gain of a quantity is in its squared unit, in which no number is nothing.
        return forest.set_params(n_thresholds=10, min_gain=_NO_GAIN if task == "classification" else 0.0)

    def _check_rules(self, n_columns: int, n_wanted: int | None) -> None:
        if self.cv is None and n_wanted is None:
            raise ValueError("Without cv there are no errors to stop by: set n_features_to_select, or cv=3.")
