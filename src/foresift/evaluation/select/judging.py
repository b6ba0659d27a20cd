"""How predictions of held-out rows are judged: by a metric to read, and by a loss that chooses sizes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import skew
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring, make_scorer, roc_auc_score

from foresift.data.sklearn_compat import is_metric_scorer
from foresift.data.target import Quantity, Target

__all__ = ["Classified", "Judge", "Measured", "Scored", "is_skewed", "judge_of", "logarithm"]

Weights = NDArray[np.float64] | None  # of rows; None counts each once
SKEWED = 2.0  # skewness from which on a logarithm is worth a word


class Judge(ABC):
    """What the rows of a fold say of a model; `Outputs` are what `scoring` returns for them.

    Attributes
    ----------
    metric, loss : str
        What the scores, and the losses of rows, are called.
    bounds : tuple of float
        The least and the largest score.
    least_rows : int
        Of a fold, for a score that means something.
    guess : str
        What is predicted without any column.
    scoring : str or callable
        A scorer that returns outputs.
    """

    metric: str
    loss: str
    bounds: tuple[float, float] = (-np.inf, np.inf)
    least_rows: int = 1
    guess: str
    scoring: Any

    def best(self, columns: str, model: str) -> str:
        """Begin of a sentence on columns that predict about as well as any number."""
        return f"The {self.loss} of {model} on {columns} is close to the lowest"

    @abstractmethod
    def limits(self, gained: float) -> tuple[float, float]:
        """A loss that is not worth a word, and the width of an interval that says nothing.

        `gained` is how far a model of all columns is above none.
        """

    @abstractmethod
    def score(self, outputs: Any, target: Target, weights: Weights) -> float:
        """Score of a fold."""

    @abstractmethod
    def losses(self, outputs: Any, target: Target) -> NDArray[np.float64]:
        """Loss of every row of a fold; of a judge that sees no rows, one of the fold."""

    @abstractmethod
    def of_none(self, train: Target, test: Target, weights: Weights, test_weights: Weights = None) -> Any:
        """Outputs without any column, learnt from training rows with these weights."""

    def error(self, outputs: Any, target: Target, weights: Weights) -> float:
        """Mean absolute error in the unit of the target; NaN if it has none."""
        return np.nan

    def predictions(self, outputs: Any, target: Target) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """A quantity and its predictions, or codes of classes and their probabilities; nothing of scores."""
        return np.empty(0), np.empty(0)


class Classified(Judge):
    """By the probabilities of classes: accuracy, or ROC AUC if one class dominates; Brier scores of rows.

    A classifier without probabilities has 1 for the class that it predicts.
    """

    loss = "Brier score"
    bounds = (0.0, 1.0)

    def __init__(self, target: Any, estimator: Any) -> None:
        self.metric = "ROC AUC" if target.lopsided else "accuracy"
        self.guess = "random guessing" if target.lopsided else "always predicting the most frequent class"
        if hasattr(estimator, "predict_proba"):
            self.scoring = make_scorer(_probabilities, response_method="predict_proba")
        else:
            self.scoring = make_scorer(partial(_certainties, labels=target.labels))

    def limits(self, gained: float) -> tuple[float, float]:
        """Two and fifteen points."""
        return 0.02, 0.15

    def score(self, outputs: Any, target: Any, weights: Weights) -> float:
        """Accuracy, or area under the curve of each class against the others."""
        y = target.codes
        if self.metric == "accuracy":
            return float(np.average(outputs.argmax(axis=1) == y, weights=weights))
        if outputs.shape[1] == 2:
            return float(roc_auc_score(y, outputs[:, 1], sample_weight=weights))
        labels = np.arange(outputs.shape[1])
        how: dict[str, Any] = {"multi_class": "ovr", "average": "weighted", "labels": labels}
        return float(roc_auc_score(y, outputs, sample_weight=weights, **how))

    def losses(self, outputs: Any, target: Any) -> NDArray[np.float64]:
        """Squared distance of the probabilities from the class of every row."""
        own = outputs[np.arange(len(outputs)), target.codes]
        return np.asarray((outputs**2).sum(axis=1) - 2 * own + 1)

    def of_none(self, train: Any, test: Any, weights: Weights, test_weights: Weights = None) -> Any:
        """Shares of the classes."""
        counts = train.counts(weights)
        return np.tile(counts / counts.sum(), (test.n_rows, 1))

    def predictions(self, outputs: Any, target: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The class of every row, and the probabilities of all classes."""
        return target.codes, outputs


def _probabilities(y: Any, predicted: NDArray[np.float64], sample_weight: Any = None) -> NDArray[np.float64]:
    """Probability of every class; of two classes scikit-learn hands on the second one's alone."""
    return np.column_stack([1 - predicted, predicted]) if predicted.ndim == 1 else predicted


def _certainties(y: Any, predicted: Any, *, labels: Any, sample_weight: Any = None) -> NDArray[np.float64]:
    """1 for the class that is predicted."""
    return np.equal.outer(predicted, labels).astype(np.float64)


def _same(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return numbers


class Measured(Judge):
    """By predicted numbers: R2, and the squared error of rows; `back` returns to the unit of the target."""

    metric = "R2"
    loss = "squared error"
    bounds = (-np.inf, 1.0)
    least_rows = 4
    guess = "always predicting the mean"

    def __init__(
        self,
        back: Callable[[NDArray[np.float64]], NDArray[np.float64]] = _same,
        unit: float = 1.0,
    ) -> None:
        self.back = back
        self.scoring = make_scorer(_numbers)
        self._unit = unit  # of a squared error, so that losses do not depend on the unit of the target
        if back is not _same:
            self.metric = "R2 of the logarithm"

    def limits(self, gained: float) -> tuple[float, float]:
        """Shares of the variance, which varies more between folds than accuracy does."""
        return 0.02, 0.3

    def score(self, outputs: Any, target: Any, weights: Weights) -> float:
        """Share of the variance of these rows that is explained."""
        mean = np.average(target.y, weights=weights)
        spread = np.average((target.y - mean) ** 2, weights=weights)
        left = np.average((outputs - target.y) ** 2, weights=weights)
        return float(1 - left / spread) if spread > 0 else 0.0

    def losses(self, outputs: Any, target: Any) -> NDArray[np.float64]:
        """Squared errors."""
        return np.asarray((outputs - target.y) ** 2 / self._unit)

    def of_none(self, train: Any, test: Any, weights: Weights, test_weights: Weights = None) -> Any:
        """The mean."""
        return np.full(test.n_rows, np.average(train.y, weights=weights))

    def error(self, outputs: Any, target: Any, weights: Weights) -> float:
        """Mean absolute error."""
        y, predicted = self.predictions(outputs, target)
        return float(np.average(np.abs(predicted - y), weights=weights))

    def predictions(self, outputs: Any, target: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The quantity and its predictions."""
        return self.back(target.y), self.back(outputs)


def _numbers(y: Any, predicted: NDArray[np.float64], sample_weight: Any = None) -> NDArray[np.float64]:
    return np.asarray(predicted, dtype=np.float64)


class Scored(Judge):
    """By a scorer of the user, which returns one number for all rows of a fold."""

    def __init__(self, scoring: Any, task: str) -> None:
        self.scoring = scoring
        function = getattr(scoring, "_score_func", scoring)  # of make_scorer
        name = scoring if isinstance(scoring, str) else getattr(function, "__name__", "")
        self.metric = "your score" if name in ("", "<lambda>") else name
        self.loss = self.metric if self.metric.endswith("score") else f"{self.metric} score"
        dummy = DummyClassifier if task == "classification" else DummyRegressor
        self._dummy = dummy()
        self.guess = f"predicting {'the most frequent class' if task == 'classification' else 'the mean'}"

    def best(self, columns: str, model: str) -> str:
        """Begin of a sentence on columns that predict about as well as any number."""
        return f"The {self.loss} of {model} on {columns} is close to the highest"

    def limits(self, gained: float) -> tuple[float, float]:
        """Shares of what there is to lose: the unit may be any."""
        return 0.04 * abs(gained), 0.3 * abs(gained)

    def score(self, outputs: Any, target: Target, weights: Weights) -> float:
        """What the scorer said."""
        return float(outputs)

    def losses(self, outputs: Any, target: Target) -> NDArray[np.float64]:
        """One number for the fold."""
        return np.array([-float(outputs)])

    def of_none(self, train: Target, test: Target, weights: Weights, test_weights: Weights = None) -> Any:
        """Score of a dummy."""
        y = train.values()
        dummy = self._dummy.fit(np.zeros((len(y), 1)), y, sample_weight=weights)
        scorer = check_scoring(dummy, self.scoring)
        weighs = test_weights is not None and is_metric_scorer(scorer)
        more = {"sample_weight": test_weights} if weighs else {}
        return scorer(dummy, np.zeros((test.n_rows, 1)), test.values(), **more)


def judge_of(
    target: Target, estimator: Any = None, scoring: Any = None, back: Callable[..., Any] = _same
) -> Judge:
    """The judge of what an estimator predicts of a target.

    Examples
    --------
    >>> judge_of(Target.of([1, 2.5, 4], 3, "auto")).metric, judge_of(Target.of([0, 1, 1], 3)).metric
    ('R2', 'accuracy')
    """
    if scoring is not None:
        return Scored(scoring, target.task)
    if isinstance(target, Quantity):
        return Measured(back, target.impurity())
    return Classified(target, estimator)


def logarithm(
    y: NDArray[np.float64],
) -> tuple[NDArray[np.float64], Callable[[NDArray[np.float64]], NDArray[np.float64]]]:
    """The logarithm of numbers that are not negative, of 1 + y if there are zeros, and the way back.

    Examples
    --------
    >>> logs, back = logarithm(np.array([0.0, 1.0]))
    >>> logs.round(2), back(logs)
    (array([0.  , 0.69]), array([0., 1.]))
    """
    return (np.log(y), np.exp) if y.min() > 0 else (np.log1p(y), np.expm1)


def is_skewed(y: NDArray[np.float64]) -> bool:
    """Whether a logarithm would make a quantity more symmetric.

    Examples
    --------
    >>> is_skewed(np.exp(np.linspace(-5, 5, 99))), is_skewed(np.linspace(0, 1, 99))
    (True, False)
    """
    if y.min() < 0:
        return False
    before, after = float(skew(y)), float(skew(logarithm(y)[0]))
    return bool(before > SKEWED and abs(after) < before / 2)
