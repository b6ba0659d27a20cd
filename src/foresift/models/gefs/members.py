"""Members of the population of GEFS, and how accurate and how diverse they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.plain_state import saved
from foresift.models.gefs.genes import Genome, fitness, normalised
from foresift.models.gefs.learners import Rows
from foresift.models.scorer import weighted_accuracy

__all__ = ["ClassEvaluator", "Evaluator", "Member", "QuantityEvaluator"]


@saved
@dataclass(frozen=True, eq=False)
class Member:
    """One model of the population: number in the order of birth, genes, rows (None: all) and accuracy."""

    number: int
    genome: Genome
    rows: Rows | None
    model: Any
    accuracy: float = np.nan
    outputs: Any = None  # an array for all training rows; not kept after the search


@dataclass(frozen=True, eq=False)
class Evaluator(ABC):
    """Measures accuracy and diversity.

    Attributes
    ----------
    target : ndarray of int32 or float64 of shape (n,)
        Class, or scaled quantity, of every row.
    weights : ndarray of shape (n,)
        How much each row counts; 0 for rows that do not (all but the validation rows).
    oob_only : bool
        Whether a member is scored on the rows it was not trained on.
    """

    target: NDArray[Any]
    weights: NDArray[np.float64]
    oob_only: bool

    def sees(self, member: Member) -> NDArray[np.float64]:
        """Weights of the rows on which a member is scored."""
        if not self.oob_only or member.rows is None:
            return self.weights
        weights = self.weights.copy()
        weights[member.rows] = 0
        return weights if weights.any() else self.weights  # of very few rows all may have been drawn

    @abstractmethod
    def row_errors(self, outputs: NDArray[Any]) -> NDArray[Any]:
        """Error of every row."""

    @abstractmethod
    def accuracy(self, member: Member) -> float:
        """Accuracy of a member on the rows that count for it."""

    @abstractmethod
    def diversity(self, members: Sequence[Member]) -> NDArray[np.float64]:
        """How far each member is from the ensemble of all, on average over rows and outputs."""

    @abstractmethod
    def fitness(self, members: Sequence[Member], weight: float) -> NDArray[np.float64]:
        """Accuracy plus `weight` times diversity of every member; not negative."""

    def ensemble(self, members: Sequence[Member]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Mean outputs of an ensemble, and a mask of the rows that have any.

        With `oob_only`, a row has the outputs of the members that were not trained on it; those of a row that
        all were trained on are 0 and mean nothing.
        """
        if not self.oob_only:
            return _mean([member.outputs for member in members]), np.ones(len(self.target), dtype=bool)
        is_oob = np.stack([self.sees(member) > 0 for member in members])
        total = np.zeros(members[0].outputs.shape)
        for member, oob in zip(members, is_oob, strict=True):
            total += member.outputs * oob[:, np.newaxis]
        n_votes = is_oob.sum(axis=0)
        return total / np.maximum(n_votes, 1)[:, np.newaxis], n_votes > 0

    def errors(self, members: Sequence[Member]) -> tuple[float, float, float]:
        """Error of the ensemble, mean error of its members, and their mean diversity."""
        outputs, has_oob_prediction = self.ensemble(members)
        whole = float(
            np.average(self.row_errors(outputs), weights=np.where(has_oob_prediction, self.weights, 0.0))
        )
        mean = 1 - float(np.mean([member.accuracy for member in members]))
        return whole, mean, float(self.diversity(members).mean())


class ClassEvaluator(Evaluator):
    """Errors are misclassified rows; diversity is the mean absolute difference of outputs (Opitz)."""

    def row_errors(self, outputs: NDArray[Any]) -> NDArray[np.bool_]:
        """Mask of the rows that outputs misclassify."""
        return np.asarray(_predicted(outputs) != self.target)

    def accuracy(self, member: Member) -> float:
        """Share of the rows that a member classifies correctly."""
        return weighted_accuracy(_predicted(member.outputs), self.target, self.sees(member))

    def diversity(self, members: Sequence[Member]) -> NDArray[np.float64]:
        """Mean absolute difference, over rows and outputs, between each member and the ensemble of all."""
        centre = _mean([member.outputs for member in members])
        apart = [np.abs(member.outputs - centre).mean(axis=1) for member in members]
        return np.average(apart, axis=1, weights=self.weights)

    def fitness(self, members: Sequence[Member], weight: float) -> NDArray[np.float64]:
        """Accuracy plus `weight` times diversity, each scaled to the range from 0 to 1."""
        return fitness([member.accuracy for member in members], self.diversity(members), weight)


class QuantityEvaluator(Evaluator):
    """Errors are squared, in units of the variance of y; so is diversity (Krogh and Vedelsby 1995).

    On the same rows, the error of the ensemble is the mean error of its members minus their mean diversity:
    the ambiguity decomposition, from which Opitz derives that members should be accurate and disagree. Both
    have the same unit, so they are added as they are. Scaled one by one, a member that is far from y, and
    therefore far from the others, would be as fit as the best.
    """

    def row_errors(self, outputs: NDArray[Any]) -> NDArray[np.float64]:
        """Squared error of every row; rows of next to no weight may be far out."""
        return np.asarray(np.clip(outputs[:, 0] - self.target, -1e150, 1e150) ** 2)

    def accuracy(self, member: Member) -> float:
        """One minus the mean squared error of a member: the share of the variance it explains."""
        return 1 - float(np.average(self.row_errors(member.outputs), weights=self.sees(member)))

    def diversity(self, members: Sequence[Member]) -> NDArray[np.float64]:
        """Mean squared difference between each member and the ensemble of all: its ambiguity."""
        centre = _mean([member.outputs for member in members])
        apart = [((member.outputs - centre) ** 2).mean(axis=1) for member in members]
        return np.average(apart, axis=1, weights=self.weights)

    def fitness(self, members: Sequence[Member], weight: float) -> NDArray[np.float64]:
        """Accuracy plus `weight` times diversity, scaled to the range from 0 to 1."""
        return normalised([member.accuracy for member in members] + weight * self.diversity(members))


def _predicted(outputs: NDArray[Any]) -> NDArray[Any]:
    """Class codes of the outputs; of two classes there is one output, that of the second."""
    return outputs[:, 0] > 0.5 if outputs.shape[1] == 1 else outputs.argmax(axis=1)


def _mean(outputs: Sequence[Any]) -> NDArray[np.float64]:
    total = np.zeros(outputs[0].shape)
    for part in outputs:
        total += part
    return total / len(outputs)
