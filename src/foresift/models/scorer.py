"""What a set of columns is worth: cross-validated scores of a classifier that sees only them.

Trees and forests of this package are judged on one column store: the rows of a fold are left out by their
weight, other columns by a list, and the rows left out are sent down the trees by their codes. Nothing is
copied, and the scores are those of the ordinary way, which is taken for every other classifier: clone, slice,
fit, score. They are exactly those where no column has more than `max_bins` values: with more, the store cuts
the bins once, by all rows, the ordinary way by the training rows of every fold.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring

from foresift import _core
from foresift.data.folds import Fold
from foresift.data.sklearn_compat import is_metric_scorer, require_classifier, seed_of
from foresift.data.slices import sliceable, take_columns, take_rows
from foresift.data.table import Schema, Table, make_table
from foresift.data.target import Target
from foresift.data.weights import check_sample_weight
from foresift.engine.bootstrap import draw_options
from foresift.engine.grow import in_threads, resolve_max_features
from foresift.models.forests import SiftForestClassifier
from foresift.models.subset_models import fit_plain, for_columns, refuse_numbered_columns
from foresift.models.trees import CartClassifier, TreeClassifier

__all__ = [
    "PlainScorer",
    "StoreScorer",
    "SubsetScorer",
    "grows_on_store",
    "make_store_grower",
    "make_subset_scorer",
    "n_tried",
    "read_for_search",
    "takes_store",
]

Subset = tuple[int, ...]
# A set of columns, the number of the fold whose training rows are learnt from, and sets of rows to judge by.
Task = tuple[Subset, int, Sequence[NDArray[np.intp]]]


def read_for_search(
    selector: Any, estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Table, NDArray[np.float64] | None]:
    """Read the data of a selector the way its classifier would; refuse what is no classifier for it."""
    require_classifier(estimator, type(selector).__name__)
    refuse_numbered_columns(estimator)
    table = make_table(
        X,
        y,
        categorical_features=getattr(estimator, "categorical_features", "from_dtype"),
        max_bins=getattr(estimator, "max_bins", 65_536),
        estimator=selector,
    )
    weights = check_sample_weight(sample_weight, table.n_rows)
    table.target.require_two_classes(selector, weights)
    return table, weights


def grows_on_store(estimator: Any) -> bool:
    """Whether it is a tree or forest that can be grown on some columns of a store."""
    if type(estimator) is SiftForestClassifier:
        return isinstance(estimator.feature_sampling, str) and estimator.feature_sampling == "uniform"
    return type(estimator) is CartClassifier


def takes_store(estimator: Any, scoring: Any) -> bool:
    """Whether columns can be scored on a store: the classifier grows there, and the scorer is a metric."""
    return grows_on_store(estimator) and (isinstance(scoring, str) or is_metric_scorer(scoring))


def n_tried(estimator: TreeClassifier, n_columns: int) -> int:
    """Columns tried per node when there are so many; a larger number asked for means all of them."""
    wanted = estimator.max_features
    if isinstance(wanted, numbers.Integral):
        return min(int(wanted), n_columns)
    return resolve_max_features(wanted, n_columns)


class SubsetScorer(ABC):
    """Scores sets of columns by cross-validation, each set once.

    Attributes
    ----------
    n_evaluated : int
        How many sets have been evaluated.
    n_cached : int
        How many times a set was asked for again.
    """

    def __init__(self, folds: Sequence[Fold], n_jobs: int | None) -> None:
        self.folds = folds
        self.n_jobs = n_jobs
        self.n_evaluated = self.n_cached = 0
        self._known: dict[Subset, float] = {}

    def __call__(self, subsets: Sequence[Subset]) -> list[float]:
        """Mean score over the folds of every set."""
        new = [subset for subset in dict.fromkeys(subsets) if subset not in self._known]
        tasks = [(subset, number, [fold.test]) for subset in new for number, fold in enumerate(self.folds)]
        scores = [score for (score,) in self.judge(tasks)] if tasks else []
        for (subset, number, _), score in zip(tasks, scores, strict=True):
            if not math.isfinite(score):
                raise ValueError(
                    f"The scorer returned {score} in fold {number + 1} of {len(self.folds)} for the"
                    f" {len(subset)} columns {_shown(subset)}: a search needs numbers. A class that"
                    " is missing among the rows of a fold is a common reason: use fewer folds, or another"
                    " scorer."
                )
        per_subset = np.reshape(scores, (len(new), len(self.folds)))
        self._known.update(zip(new, (float(np.mean(row)) for row in per_subset), strict=True))
        self.n_evaluated += len(new)
        self.n_cached += len(subsets) - len(new)
        return [self._known[subset] for subset in subsets]

    @abstractmethod
    def judge(self, tasks: Sequence[Task]) -> list[list[float]]:
        """For every task one score for each of its sets of rows."""


class StoreScorer(SubsetScorer):
    """Scores our own trees and forests on one column store."""

    def __init__(
        self,
        estimator: Any,
        table: Table,
        weights: NDArray[np.float64] | None,
        folds: Sequence[Fold],
        scoring: Any,
        n_jobs: int | None,
    ) -> None:
        super().__init__(folds, n_jobs)
        table = _with_present_classes(table, weights)
        self._estimator, self._table, self._weights = estimator, table, weights
        self._scorer = (
            None if scoring == "accuracy" else check_scoring(_Judged(table.target.labels, None), scoring)
        )
        self._labels = table.target.values()
        self._trees = list(range(getattr(estimator, "n_estimators", 1)))
        self._growers = [self._grower(fold) for fold in folds]

    def _grower(self, fold: Fold) -> _core.Grower:
        rows = np.zeros(self._table.n_rows)
        rows[fold.train] = 1.0 if self._weights is None else self._weights[fold.train]
        return make_store_grower(self._estimator, self._table, self._estimator.row_weights(self._table, rows))

    def judge(self, tasks: Sequence[Task]) -> list[list[float]]:
        """For every task one score for each of its sets of rows."""
        stop = _core.StopFlag()
        return in_threads(lambda task: self._judge(task, stop), tasks, self.n_jobs, stop)

    def _judge(self, task: Task, stop: _core.StopFlag) -> list[float]:
        subset, number, tests = task
        rows = np.concatenate(tests)
        shares = np.zeros((len(rows), self._table.target.n_classes))
        columns, tried = np.array(subset, dtype=np.uint32), n_tried(self._estimator, len(subset))
        self._growers[number].vote(self._trees, columns, tried, rows.astype(np.uint32), shares, stop)
        ends = np.cumsum([len(test) for test in tests])[:-1]
        return [self._score(*part) for part in zip(tests, np.split(shares, ends), strict=True)]

    def _score(self, test: NDArray[np.intp], shares: NDArray[np.float64]) -> float:
        weights = None if self._weights is None else self._weights[test]
        if self._scorer is None:
            right = shares.argmax(axis=1) == self._table.target.codes[test]
            return float(np.average(right, weights=weights))
        judged = _Judged(self._table.target.labels, shares / len(self._trees))
        rows = np.zeros((len(test), 1))  # a metric does not look at them
        extra = {} if weights is None else {"sample_weight": weights}
        return one_score(self._scorer(judged, rows, self._labels[test], **extra))


def _with_present_classes(table: Table, weights: NDArray[np.float64] | None) -> Table:
    """Leave out classes whose rows all have weight 0: a metric meets none of them."""
    if weights is None:
        return table
    present, there = np.zeros(table.target.n_classes, dtype=bool), weights > 0
    present[table.target.codes[there]] = True
    if present.all():
        return table
    # Rows of weight 0 are not there, so their class does not matter.
    codes = np.where(there, (np.cumsum(present) - 1)[table.target.codes], 0).astype(np.int32)
    return replace(table, target=Target(codes, table.target.labels[present]))


class _Judged(ClassifierMixin, BaseEstimator):
    """A classifier that has already answered: what scorers of scikit-learn take."""

    def __init__(self, classes: NDArray[Any], shares: NDArray[np.float64] | None) -> None:
        self.classes_ = classes
        self._shares = shares

    def fit(self, X: Any, y: Any) -> Any:
        """Do nothing."""
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the class shares of the rows it was made for."""
        return self._shares

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each."""
        assert self._shares is not None
        return self.classes_[self._shares.argmax(axis=1)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class PlainScorer(SubsetScorer):
    """Scores any classifier in the ordinary way."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        labels: NDArray[Any],
        schema: Schema | None,
        weights: NDArray[np.float64] | None,
        folds: Sequence[Fold],
        scoring: Any,
        n_jobs: int | None,
    ) -> None:
        super().__init__(folds, n_jobs)
        self._estimator, self._weights = estimator, weights
        self._labels, self._schema = labels, schema
        self._scorer = check_scoring(estimator, scoring)
        self._X = sliceable(X)
        self._weighs = weights is not None and is_metric_scorer(self._scorer)

    def judge(self, tasks: Sequence[Task]) -> list[list[float]]:
        """For every task one score for each of its sets of rows."""
        return Parallel(n_jobs=self.n_jobs)(delayed(self._judge)(*task) for task in tasks)

    def _judge(self, subset: Subset, number: int, tests: Sequence[NDArray[np.intp]]) -> list[float]:
        X, train = take_columns(self._X, np.array(subset, dtype=np.intp)), self.folds[number].train
        weights = None if self._weights is None else self._weights[train]
        model = for_columns(self._estimator, self._schema, subset)
        fit_plain(model, take_rows(X, train), self._labels[train], weights)
        scores = []
        for test in tests:
            extra = (
                {"sample_weight": self._weights[test]} if self._weighs and self._weights is not None else {}
            )
            scores.append(one_score(self._scorer(model, take_rows(X, test), self._labels[test], **extra)))
        return scores


def make_subset_scorer(
    estimator: Any,
    X: Any,
    table: Table,
    weights: NDArray[np.float64] | None,
    folds: Sequence[Fold],
    *,
    scoring: Any = "accuracy",
    n_jobs: int | None = None,
) -> SubsetScorer:
    """Make the scorer that suits: on the store if the classifier is ours and the scorer a metric, else plain.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foresift import SiftForestClassifier
    >>> from foresift.data.folds import make_folds
    >>> from foresift.data.table import make_table
    >>> X, y = load_iris(return_X_y=True)
    >>> table = make_table(X, y)
    >>> folds = make_folds(table, None, 3, seed=0)
    >>> score = make_subset_scorer(SiftForestClassifier(10, random_state=0), X, table, None, folds)
    >>> [round(value, 2) for value in score([(0, 1), (2, 3), (0, 1)])], score.n_evaluated, score.n_cached
    ([0.78, 0.94, 0.78], 2, 1)
    """
    if takes_store(estimator, scoring):
        return StoreScorer(estimator, table, weights, folds, scoring, n_jobs)
    labels = table.target.values()
    return PlainScorer(estimator, X, labels, table.schema, weights, folds, scoring, n_jobs)


def one_score(score: Any) -> float:
    """Check that a scorer returned one number."""
    if not isinstance(score, numbers.Real):
        raise ValueError(
            f"The scorer returned a {type(score).__name__}, but sets are compared by one number: return that."
        )
    return float(score)


def make_store_grower(estimator: Any, table: Table, weights: NDArray[np.float64] | None) -> _core.Grower:
    """Make the engine of a tree or forest with a seed, for `table` and rows of these weights."""
    others: dict[str, Any] = {"max_features": n_tried(estimator, table.n_columns), "record_tried": False}
    if isinstance(estimator, SiftForestClassifier):
        n_rows = table.n_rows if weights is None else int(np.count_nonzero(weights))
        others |= draw_options(estimator.bootstrap, estimator.max_samples, n_rows)
    return estimator._make_grower(table, weights, seed=seed_of(estimator.random_state), **others)


def _shown(subset: Subset) -> str:
    return str(list(subset)) if len(subset) <= 10 else f"{list(subset[:10])} and {len(subset) - 10} more"
