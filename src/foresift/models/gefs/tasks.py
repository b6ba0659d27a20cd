"""What GEFS predicts, classes or a quantity: what models learn, what they answer, and how that is scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from foresift.data.plain_state import saved
from foresift.data.sklearn_compat import require_classifier, require_regressor
from foresift.data.target import Classes, Quantity
from foresift.models.backprop import Scaling
from foresift.models.gefs.members import ClassEvaluator, Evaluator, QuantityEvaluator

__all__ = ["TASKS", "ClassTask", "QuantityTask", "Task"]


class Task(ABC):
    """Learned from the target of the training rows.

    Attributes
    ----------
    evaluator : type of Evaluator
        Measures accuracy and diversity.
    n_outputs : int
        Numbers that a model answers per row.
    known : list or None
        The class labels, if there are any.
    learning_rate : float
        Of networks whose owner leaves it open.
    precision : type
        Least precision of what models other than networks read; some of them round y to it.
    """

    evaluator: ClassVar[type[Evaluator]]
    learning_rate: ClassVar[float]
    precision: ClassVar[type[np.floating[Any]]]
    n_outputs: int
    known: list[Any] | None
    require: Callable[[Any, str], None]  # raises unless an estimator is of the right kind

    @classmethod
    @abstractmethod
    def learn(cls, target: Any, weights: NDArray[np.float64] | None) -> Self:
        """Learn from the training rows."""

    @abstractmethod
    def wanted(self, target: Any) -> NDArray[Any]:
        """What networks learn."""

    @abstractmethod
    def y(self, target: Any) -> NDArray[Any]:
        """What models other than networks learn."""

    @abstractmethod
    def answers(self, model: Any, part: NDArray[Any]) -> NDArray[Any]:
        """What a model other than a network answers."""

    def scaled(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Answers, or what models should answer, as networks would: the search compares these."""
        return answers

    def unscaled(self, outputs: NDArray[Any]) -> NDArray[Any]:
        """Outputs of networks as answers."""
        return outputs


@saved
@dataclass(frozen=True)
class ClassTask(Task):
    """Models of classes, which learn codes of them."""

    labels: NDArray[Any]

    evaluator = ClassEvaluator
    learning_rate = 0.15
    precision = np.float32
    require = staticmethod(require_classifier)

    @classmethod
    def learn(cls, target: Classes, weights: NDArray[np.float64] | None) -> ClassTask:
        """Keep the labels."""
        return cls(target.labels)

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """One for two classes, else one for each."""
        return 1 if len(self.labels) == 2 else len(self.labels)

    @property
    def known(self) -> list[Any]:  # type: ignore[override]
        """The labels."""
        return list(self.labels.tolist())

    def wanted(self, target: Classes) -> NDArray[np.int32]:
        """Codes of the classes."""
        return target.codes

    y = wanted

    def answers(self, model: Any, part: NDArray[Any]) -> NDArray[np.float32]:
        """Class probabilities; of two classes, like the output of a network, those of the second alone."""
        shares = np.zeros((len(part), len(self.labels)), dtype=np.float32)
        if hasattr(model, "predict_proba"):
            shares[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(part)
        else:
            shares[np.arange(len(part)), np.asarray(model.predict(part), dtype=np.intp)] = 1
        return shares[:, 1:] if len(self.labels) == 2 else shares


@saved
@dataclass(frozen=True)
class QuantityTask(Task):
    """Models of a quantity, whose answers are compared after scaling it to a variance of 1."""

    scaling: Scaling

    evaluator = QuantityEvaluator
    learning_rate = 0.01
    precision = np.float64
    require = staticmethod(require_regressor)
    n_outputs = 1
    known = None

    @classmethod
    def learn(cls, target: Quantity, weights: NDArray[np.float64] | None) -> QuantityTask:
        """Learn mean and standard deviation."""
        return cls(Scaling.learn(target, weights))

    def wanted(self, target: Quantity) -> NDArray[np.float32]:
        """The scaled quantity, within the range of single precision."""
        return self.scaling.code(target.y)

    def y(self, target: Quantity) -> NDArray[np.float64]:
        """The quantity in its own unit, which parameters of a model may refer to."""
        return target.y

    def answers(self, model: Any, part: NDArray[Any]) -> NDArray[np.float64]:
        """Predictions, in one column."""
        return np.asarray(model.predict(part), dtype=np.float64).reshape(-1, 1)

    def scaled(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Deviations from the mean, in standard deviations."""
        with np.errstate(over="ignore"):  # of a model that is dropped
            return np.asarray((answers - self.scaling.centre) / self.scaling.unit)

    def unscaled(self, outputs: NDArray[Any]) -> NDArray[np.float64]:
        """Outputs in the unit of the quantity."""
        return self.scaling.decode(outputs)


TASKS: dict[str, type[Task]] = {"classification": ClassTask, "regression": QuantityTask}
