"""Searches for the set of features with which a classifier predicts best."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from foresift.data.sklearn_compat import Interval, Progress, StrOptions
from foresift.models.forests import default_forest
from foresift.models.scorer import SubsetScorer
from foresift.selectors.base import Scores
from foresift.selectors.search.base import Search, SearchSelector
from foresift.selectors.search.path import ROUNDING, Step
from foresift.selectors.search.walks import Found, backward, exhaustive, forward, n_subsets, plus_minus

__all__ = ["SequentialSelector"]


class _SequentialSearch(Search):
    """One way through the sets, by the rules of a `SequentialSelector`."""

    scorer: SubsetScorer

    def run(self, progress: Progress) -> None:
        """Extend `path` until the search ends."""
        everything = tuple(range(self.units.n_free))
        if self.rules.max_error_increase is not None:
            self.full_error = 1.0 - self.evaluate([everything])[0]
        for features, score in self._steps(self.units.n_free):
            if features == everything:
                self.full_error = 1.0 - score
            # An exhaustive search yields the best set of a size so far.
            same = self.rules.direction == "exhaustive" and len(features) in self.path.n_features[-1:]
            self.visit(features, score, progress, better=same)
            if self.interrupted or self._enough():
                return

    def _steps(self, p: int) -> Iterator[Found]:
        rules, score, n_wanted, least = self.rules, self.evaluate, self.n_wanted, self.least
        if rules.direction == "forward":
            return forward(p, score, floating=rules.floating, until=n_wanted, least=least)
        if rules.direction == "backward":
            return backward(p, score, floating=rules.floating, until=n_wanted, least=least)
        if rules.direction == "plus-minus":
            return plus_minus(p, score, plus=rules.plus, minus=rules.minus, until=n_wanted, least=least)
        limited = rules.max_error_increase is not None

        def enough(score: float) -> bool:
            return limited and self.within_limit(score)

        return exhaustive(p, score, size=n_wanted, least=least, enough=enough)

    @property
    def _shrinks(self) -> bool:
        return self.rules.direction == "backward"

    def _enough(self) -> bool:
        """Whether the search has come to its end, by what its last step was."""
        if self.n_wanted is not None or self.rules.direction == "exhaustive":
            return False  # these end by themselves
        size, sizes = len(self.path[-1].features), self.path.n_features
        if np.count_nonzero(sizes == size) > 1:  # floating: the rules look at sizes that are new
            return False
        if self.rules.max_error_increase is not None:
            return self.within_limit(self.path[-1].score) != self._shrinks
        return self.rules.tol is not None and len(sizes) > 1 and not self._step_pays(size)

    def _step_pays(self, size: int) -> bool:
        now = self.path.best(size).score
        before = self.path.best(size + 1 if self._shrinks else size - 1).score
        # Forward a feature must bring tol; backward a deletion may cost it.
        tol = -self.rules.tol if self._shrinks else self.rules.tol
        return now >= before + tol - ROUNDING

    def result(self) -> Scores:
        """Keep the set that the rules choose."""
        support = self.path.mask(self._chosen())
        scores = self.path.memberships() + self.path.n_features_in * support
        counts = {"n_evaluated_": self.scorer.n_evaluated, "n_cached_": self.scorer.n_cached}
        return Scores(scores, counts, support=support)

    def _chosen(self) -> Step:
        n_wanted = self.n_wanted
        sizes = self.path.n_features
        if n_wanted is not None and n_wanted in sizes:
            return self.path.best(n_wanted)
        if n_wanted is None and self.rules.max_error_increase is not None:
            good = [step for step in self.path if self.within_limit(step.score)]
            return self.path.best(min(len(step.features) for step in good)) if good else self.path.best()
        if n_wanted is None and self.rules.tol is not None and len(sizes) > 1 and not self.interrupted:
            size = int(sizes[-1])
            if not self._step_pays(size):  # the last step was one too many
                return self.path.best(size + 1 if self._shrinks else size - 1)
            return self.path.best(size)
        return self.path.best()

    def seconds_left(self) -> float:
        """Estimate from the sets that a straight way to the end would evaluate."""
        scorer, n_wanted = self.scorer, self.n_wanted
        p, size = self.path.n_features_in, len(self.path[-1].features)
        end = n_wanted if n_wanted is not None else self.least if self._shrinks else p
        if self.rules.direction == "exhaustive":
            left = max(0, n_subsets(p, n_wanted) - scorer.n_evaluated)
        else:
            left = sum(range(end + 1, size + 1)) if self._shrinks else sum(p - k for k in range(size, end))
        return left * float(self.path.seconds.sum()) / max(1, scorer.n_evaluated)


class SequentialSelector(SearchSelector):
    """Search for the features with which a model predicts best, set by set (Murata II).

    Every set is scored by cross-validation of a model that sees only its columns, so the choice suits
    that model, and takes as many fits. Forests and trees of this package are grown on one column store
    that is made once; folds and sets of columns are masks of it.

    Parameters
    ----------
    estimator : classifier, regressor or None, default=None
        The model; None is a `SiftForestClassifier` of 50 trees with sqrt(p) split candidates per node, for a
        quantity a `SiftForestRegressor`.
    n_features_to_select : int, float or None, default=None
        Stop at this number of features, or this fraction of all, and keep the best set of that size;
        "plus-minus" first finishes its round, and a floating search goes one feature further and back. None
        stops by `tol` or `max_error_increase` if one is given; else the whole way is searched and the best
        set kept, of equals the smallest. The search chooses its size itself: there is no "cv".
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or a quantity; "auto" takes numbers with fractions as a quantity.
    direction : {"forward", "backward", "plus-minus", "exhaustive"}, default="backward"
        Add the feature that helps most (SFS); drop the one that is missed least (SBS); add `plus` and drop
        `minus` in turn (Stearns); or score every set (round robin), which alone is sure to find the best.
    plus, minus : int, default=2, 1
        Steps of "plus-minus"; more forth than back.
    floating : bool, default=False
        After every step of "forward" or "backward" go back as long as that makes the best set of its size.
    tol : float or None, default=None
        "forward" stops when a further feature does not raise the score by as much; "backward" when a deletion
        would lower it by more.
    max_error_increase : float or None, default=None
        Keep the smallest set whose error is at most that much above the error with all features: 0.1 lets it
        rise from 3 % to 13 %.
    relative : bool, default=False
        Read `max_error_increase` as a share of the error with all features: 0.1 lets 3 % rise to 3.3 %.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn; higher is better. None is the accuracy, or R2 for a quantity. The error is 1
        less the score.
    cv : int, splitter or iterable of (train, test) rows, default=3
        The folds, the same for all sets. A number means shuffled ones, stratified by class.
    max_subsets : int, default=100000
        An exhaustive search over more sets is refused.
    return_partial : bool, default=False
        On Ctrl-C, return the best set so far; else KeyboardInterrupt goes on, after it has been stored.
    verbose : int, default=0
        1 prints a line per step to the standard error output: features, error, time left.
    n_jobs : int, default=None
        Threads (of other classifiers: processes) that evaluate sets; -1 uses all cores. The outcome is the
        same for any number.
    random_state : int, RandomState or None, default=None
        Assigns rows to folds and seeds the classifier if it has no seed. All sets meet the same folds and
        seeds.
    keep : array-like or None, default=None
        Columns that are kept in any case, by name, number or mask: they are not ranked, and not counted.
    feature_groups : mapping, list, "one-hot" or None, default=None
        Columns that are ranked, and kept or dropped, as one: lists of columns or patterns of names, a label
        for every column, or the blocks of OneHotEncoder; see `foresift.selectors.units.read_units`.

    Attributes
    ----------
    path_ : SearchPath
        Every set the search moved to, with score, error, reduction rate and seconds.
    full_error_ : float
        Error with all features; NaN if the search did not need it.
    n_evaluated_, n_cached_ : int
        How many sets were evaluated, and how often one was known already.
    interrupted_ : bool
        Whether the search was cut short.
    scores_ : ndarray of shape (n_features,)
        Number of sizes at which the best set found has the feature, and for the kept ones the number of all
        features more: what was dropped last, or added first, scores high.
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    See Also
    --------
    foresift.ContributionSelector : Reads what to drop from one forest per step instead of trying all.

    Notes
    -----
    `path_` errors are those the search itself minimised, so they are too optimistic for the set it
    chose: score that on other rows, for instance by cross-validating selector and classifier in one pipeline.

    A class must be among the training rows of every fold. Sample weights count in fitting and in scoring.

    Metadata routing ends here: `set_fit_request` says which of `sample_weight`, `groups` and `time` are
    wanted, requests of the estimators inside are not read.

    Examples
    --------
    >>> from foresift import SequentialSelector
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = SequentialSelector(max_error_increase=0.02, random_state=0).fit(X, y)
    >>> selector.path_.n_features, selector.get_support(indices=True)
    (array([4, 3, 2, 1]), array([3]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SearchSelector._parameter_constraints,
        "direction": [StrOptions({"forward", "backward", "plus-minus", "exhaustive"})],
        "plus": [Interval(numbers.Integral, 1, None, closed="left")],
        "minus": [Interval(numbers.Integral, 1, None, closed="left")],
        "floating": ["boolean"],
        "tol": [Interval(numbers.Real, None, None, closed="neither"), None],
        "max_subsets": [Interval(numbers.Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator=None,
        n_features_to_select=None,
        *,
        task="auto",
        direction="backward",
        plus=2,
        minus=1,
        floating=False,
        tol=None,
        max_error_increase=None,
        relative=False,
        scoring=None,
        cv=3,
        max_subsets=100_000,
        return_partial=False,
        verbose=0,
        n_jobs=None,
        random_state=None,
        keep=None,
        feature_groups=None,
    ):
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.direction = direction
        self.plus = plus
        self.minus = minus
        self.floating = floating
        self.tol = tol
        self.max_error_increase = max_error_increase
        self.relative = relative
        self.scoring = scoring
        self.cv = cv
        self.max_subsets = max_subsets
        self.return_partial = return_partial
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep = keep
        self.feature_groups = feature_groups

    _search = _SequentialSearch

    def _estimator(self, task: str = "classification") -> Any:
        return default_forest(task, 50) if self.estimator is None else self.estimator

    def _check_rules(self, n_columns: int, n_wanted: int | None) -> None:
        if self.direction == "plus-minus" and self.plus <= self.minus:
            raise ValueError(
                f"plus={self.plus} must be more than minus={self.minus}, or the search never gets anywhere."
            )
        if self.floating and self.direction not in ("forward", "backward"):
            raise ValueError(f'floating=True goes with "forward" or "backward", not with "{self.direction}".')
        rules = {
            "n_features_to_select": n_wanted,
            "tol": self.tol,
            "max_error_increase": self.max_error_increase,
        }
        given = [name for name, value in rules.items() if value is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are rules to stop by: set one of them.")
        if self.tol is not None and self.direction not in ("forward", "backward"):
            raise ValueError(f'tol goes with "forward" or "backward", not with "{self.direction}".')
        if self.direction == "exhaustive" and n_subsets(n_columns, n_wanted) > self.max_subsets:
            count = n_subsets(n_columns, n_wanted)
            raise ValueError(
                f"An exhaustive search would evaluate {count:,} sets, more than"
                f" max_subsets={self.max_subsets:,}:"
                ' raise that if you can wait, set n_features_to_select, or use direction="plus-minus".'
            )
