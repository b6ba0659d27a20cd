"""The one scorer: how well a model predicts held-out rows from a set of columns.

Trees and forests of this package are scored on one column store: rows are left out by their weight, columns
by a list, and held-out rows descend the trees by their codes. Nothing is copied or coded again. Any other
model is cloned, fitted and scored on slices of X. Both give the same scores where no column has more
than `max_bins` values; with more, the store has the bins of all rows, a slice those of its training rows.
"""

from __future__ import annotations

import math
import numbers
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import check_scoring

from foresift import _core
from foresift.data.folds import Fold
from foresift.data.sklearn_compat import is_metric_scorer, seed_of
from foresift.data.slices import sliceable, take_columns, take_rows
from foresift.data.table import Schema, Table
from foresift.engine.bootstrap import draw_options
from foresift.engine.grow import in_threads, resolve_max_features
from foresift.models.base_forest import ForestModel
from foresift.models.base_tree import TreeModel
from foresift.models.cart import CartClassifier, CartRegressor
from foresift.models.forests import FORESTS
from foresift.models.subset_models import fit_plain, for_columns, read_alike, reading_options

__all__ = [
    "Evaluation",
    "PlainScorer",
    "StoreScorer",
    "SubsetScorer",
    "grows_on_store",
    "make_store_grower",
    "make_subset_scorer",
    "n_candidates",
    "takes_store",
    "weighted_accuracy",
]

Subset = tuple[int, ...]
# A set of columns (None: all of X), the number of the fold to train on, and sets of rows to score on.
Task = tuple[Subset | None, int, Sequence[NDArray[np.intp]]]


class Evaluation(NamedTuple):
    """What the scorer returned for each set of test rows of a task, and the time that took."""

    scores: list[Any]
    fit_seconds: float
    score_seconds: float


def grows_on_store(estimator: Any) -> bool:
    """Whether it is a tree or forest that can be grown on some columns of a store."""
    if type(estimator) in FORESTS.values():
        return isinstance(estimator.feature_sampling, str) and estimator.feature_sampling == "uniform"
    return type(estimator) in (CartClassifier, CartRegressor)


def takes_store(estimator: Any, scoring: Any) -> bool:
    """Whether columns can be scored on a store: the model grows on it, and all scorers are metrics."""
    scorers = scoring.values() if isinstance(scoring, Mapping) else [scoring]
    return grows_on_store(estimator) and all(isinstance(s, str) or is_metric_scorer(s) for s in scorers)


def n_candidates(estimator: TreeModel, n_columns: int) -> int:
    """Split candidates per node for a number of columns; a larger number than that means all of them."""
    wanted = estimator.max_features
    if isinstance(wanted, numbers.Integral):
        return min(int(wanted), n_columns)
    return resolve_max_features(wanted, n_columns)


def weighted_accuracy(
    predicted: NDArray[Any], truth: NDArray[Any], weights: NDArray[np.float64] | None = None
) -> float:
    """Share of the rows that are classified correctly, by weight.

    Examples
    --------
    >>> weighted_accuracy(np.array([0, 1, 1]), np.array([0, 1, 0]), np.array([1.0, 1.0, 2.0]))
    0.5
    """
    return float(np.average(predicted == truth, weights=weights))


@dataclass(eq=False)
class SubsetScorer(ABC):
    """Scores sets of columns on the test rows of folds."""

    estimator: Any
    weights: NDArray[np.float64] | None  # of the rows, in fitting and, for a metric, in scoring
    folds: Sequence[Fold]
    scoring: Any
    n_jobs: int | None
    n_evaluated: int = field(default=0, init=False)  # sets that were cross-validated
    n_cached: int = field(default=0, init=False)  # requests for a set that was known already
    _known: dict[Subset, float] = field(default_factory=dict, init=False)

    def __call__(self, subsets: Sequence[Subset]) -> list[float]:
        """Mean score over the folds of every set; each set is cross-validated once."""
        new = [subset for subset in dict.fromkeys(subsets) if subset not in self._known]
        folds = range(len(self.folds))
        scores = self.scores([(subset, k, [self.folds[k].test]) for subset in new for k in folds])
        per_subset = np.reshape(scores, (len(new), len(folds)))
        self._known.update(zip(new, (float(np.mean(row)) for row in per_subset), strict=True))
        self.n_evaluated += len(new)
        self.n_cached += len(subsets) - len(new)
        return [self._known[subset] for subset in subsets]

    def scores(self, tasks: Sequence[Task]) -> list[list[float]]:
        """For every task one number for each of its sets of test rows."""
        results = [[_one_number(score) for score in found.scores] for found in self.evaluate(tasks)]
        for (subset, number, _), scores in zip(tasks, results, strict=True):
            bad = [score for score in scores if not math.isfinite(score)]
            if bad:
                raise ValueError(
                    f"The scorer returned {bad[0]} in fold {number + 1} of {len(self.folds)} for"
                    f" {_shown(subset)}, but sets of columns are compared by finite numbers. Often a class is"
                    " missing among the test rows, or there is but one: use fewer folds, or another scorer."
                )
        return results

    @abstractmethod
    def evaluate(self, tasks: Sequence[Task]) -> list[Evaluation]:
        """For every task what the scorer returns, unchecked, and the seconds of fitting and scoring."""

    def _score(self, scorer: Any, model: Any, X: Any, y: NDArray[Any], test: NDArray[np.intp]) -> Any:
        weighs = self.weights is not None and is_metric_scorer(scorer)
        extra = {"sample_weight": self.weights[test]} if weighs else {}  # type: ignore[index]
        return scorer(model, X, y, **extra)


@dataclass(eq=False)
class StoreScorer(SubsetScorer):
    """Scores our own trees and forests on one column store."""

    table: Table

    def __post_init__(self) -> None:
        self.table = replace(self.table, target=self.table.target.without_unused(self.weights))
        plain = self.scoring == "accuracy" and self.table.target.task == "classification"
        self._scorer = None if plain else check_scoring(self._predicted(None), self.scoring)
        self._labels = self.table.target.values()
        self._trees = list(range(getattr(self.estimator, "n_estimators", 1)))
        self._growers = [self._grower(fold) for fold in self.folds]

    def _grower(self, fold: Fold) -> _core.Grower:
        rows = np.zeros(self.table.n_rows)
        rows[fold.train] = 1.0 if self.weights is None else self.weights[fold.train]
        return make_store_grower(self.estimator, self.table, self.estimator.row_weights(self.table, rows))

    def evaluate(self, tasks: Sequence[Task]) -> list[Evaluation]:
        """For every task what the scorer returns, and the seconds; growing includes the predictions."""
        stop = _core.StopFlag()
        return in_threads(lambda task: self._evaluate(task, stop), tasks, self.n_jobs, stop)

    def _evaluate(self, task: Task, stop: _core.StopFlag) -> Evaluation:
        subset, number, tests = task
        start = time.perf_counter()
        columns = np.arange(self.table.n_columns) if subset is None else np.array(subset)
        rows = np.concatenate(tests)
        outputs = np.zeros((len(rows), self.table.target.n_outputs))
        candidates = n_candidates(self.estimator, len(columns))
        self._growers[number].vote(
            self._trees, columns.astype(np.uint32), candidates, rows.astype(np.uint32), outputs, stop
        )
        middle = time.perf_counter()
        ends = np.cumsum([len(test) for test in tests])[:-1]
        scores = [self._score_rows(*part) for part in zip(tests, np.split(outputs, ends), strict=True)]
        return Evaluation(scores, middle - start, time.perf_counter() - middle)

    def _score_rows(self, test: NDArray[np.intp], outputs: NDArray[np.float64]) -> Any:
        if self._scorer is None:
            weights = None if self.weights is None else self.weights[test]
            return weighted_accuracy(outputs.argmax(axis=1), self.table.target.codes[test], weights)
        model = self._predicted(outputs / len(self._trees))
        no_columns = np.zeros((len(test), 1))  # a metric does not look at X
        return self._score(self._scorer, model, no_columns, self._labels[test], test)

    def _predicted(self, outputs: NDArray[np.float64] | None) -> Any:
        """What the trees predicted, in the form of the fitted model that scorers of scikit-learn take."""
        target = self.table.target
        return _Numbers(outputs) if target.task == "regression" else _Predicted(target.labels, outputs)


class _Predicted(ClassifierMixin, BaseEstimator):
    """Class probabilities as a fitted classifier."""

    def __init__(self, classes: NDArray[Any], probabilities: NDArray[np.float64] | None = None) -> None:
        self.classes_ = classes
        self._probabilities = probabilities

    def fit(self, X: Any, y: Any) -> Any:
        """Do nothing."""
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities."""
        return self._probabilities

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row."""
        assert self._probabilities is not None
        return self.classes_[self._probabilities.argmax(axis=1)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _Numbers(RegressorMixin, BaseEstimator):
    """Predicted numbers as a fitted regressor."""

    def __init__(self, outputs: NDArray[np.float64] | None) -> None:
        self._outputs = outputs

    def fit(self, X: Any, y: Any) -> Any:
        """Do nothing."""
        return self

    def predict(self, X: Any) -> Any:
        """Return the numbers."""
        assert self._outputs is not None
        return self._outputs[:, 0]

    def __sklearn_is_fitted__(self) -> bool:
        return True


@dataclass(eq=False)
class PlainScorer(SubsetScorer):
    """Scores any model, by fitting clones to slices of X."""

    X: Any
    labels: NDArray[Any]
    schema: Schema | None = None

    def __post_init__(self) -> None:
        self._scorer = check_scoring(self.estimator, self.scoring)
        self.X = sliceable(self.X)

    def evaluate(self, tasks: Sequence[Task]) -> list[Evaluation]:
        """For every task what the scorer returns, and the seconds."""
        return Parallel(n_jobs=self.n_jobs)(delayed(self._evaluate)(*task) for task in tasks)

    def _evaluate(self, subset: Subset | None, number: int, tests: Sequence[NDArray[np.intp]]) -> Evaluation:
        X, train = self.X, self.folds[number].train
        model = clone(self.estimator)
        if subset is not None:
            X = take_columns(X, np.array(subset, dtype=np.intp))
            model = for_columns(model, self.schema, subset)
        weights = None if self.weights is None else self.weights[train]
        seen, *held_out = (take_rows(X, rows) for rows in (train, *tests))
        start = time.perf_counter()
        fit_plain(model, seen, self.labels[train], weights)
        middle = time.perf_counter()
        scores = [
            self._score(self._scorer, model, part, self.labels[test], test)
            for part, test in zip(held_out, tests, strict=True)
        ]
        return Evaluation(scores, middle - start, time.perf_counter() - middle)


def make_subset_scorer(
    estimator: Any,
    X: Any,
    table: Table,
    weights: NDArray[np.float64] | None,
    folds: Sequence[Fold],
    *,
    scoring: Any = None,
    n_jobs: int | None = None,
    read_as: dict[str, Any] | None = None,
) -> SubsetScorer:
    """Make the scorer for a model: on the store if it is ours and `scoring` a metric, else plain.

    `scoring` None is the accuracy, or R2 for a quantity. The table was read as the model reads X, unless
    `read_as` names other `reading_options`. Without X, a model that does not read codes gets numbers from the
    table.

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
    scoring = table.target.metric if scoring is None else scoring
    alike = read_as is None or read_alike(read_as, reading_options(estimator))
    if alike and takes_store(estimator, scoring):
        return StoreScorer(estimator, weights, folds, scoring, n_jobs, table)
    X = table.numbers() if X is None else X
    labels = table.target.values()
    return PlainScorer(estimator, weights, folds, scoring, n_jobs, X, labels, table.schema)


def _one_number(score: Any) -> float:
    if not isinstance(score, numbers.Real):
        raise ValueError(
            f"The scorer returned a {type(score).__name__}, but sets are compared by one number: return that."
        )
    return float(score)


def make_store_grower(estimator: Any, table: Table, weights: NDArray[np.float64] | None) -> _core.Grower:
    """Make the engine of a tree or forest with a seed, for `table` and rows of these weights."""
    others: dict[str, Any] = {"max_features": n_candidates(estimator, table.n_columns), "record_tried": False}
    if isinstance(estimator, ForestModel):
        n_rows = table.n_rows if weights is None else int(np.count_nonzero(weights))
        others |= draw_options(estimator.bootstrap, estimator.max_samples, n_rows)
    return estimator._make_grower(table, weights, seed=seed_of(estimator.random_state), **others)


def _shown(subset: Subset | None) -> str:
    if subset is None:
        return "all columns"
    more = "" if len(subset) <= 10 else f" and {len(subset) - 10} more"
    return f"the {len(subset)} columns {list(subset[:10])}{more}"
