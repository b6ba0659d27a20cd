"""Weights of single features or of pairs, and how they change as classifiers that use them do well or not."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from foresift.engine.column_sampling import draw_columns

__all__ = ["PairWeights", "SingleWeights", "Weights", "change"]

_LEAST = 1e-9  # no weight falls below this share of the uniform one, so that every feature can come back


class Weights(ABC):
    """A distribution over features or pairs: draws subsets, and learns how well they did."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Draw `size` features, in ascending order."""

    @abstractmethod
    def multiply(self, columns: NDArray[np.intp], factor: float) -> None:
        """Multiply the weight of what was drawn, and scale all weights to a sum of one."""

    @property
    @abstractmethod
    def of_features(self) -> NDArray[np.float64]:
        """The distribution over single features."""


class SingleWeights(Weights):
    """A weight for every feature (Table 3).

    Examples
    --------
    >>> weights = SingleWeights(4)
    >>> weights.multiply(np.array([0, 1]), 3.0)
    >>> weights.of_features
    array([0.375, 0.375, 0.125, 0.125])
    """

    def __init__(self, n_features: int) -> None:
        self._weights = np.full(n_features, 1 / n_features)

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Draw features one after another, without replacement."""
        return draw_columns(rng, self._weights, size)

    def multiply(self, columns: NDArray[np.intp], factor: float) -> None:
        """Multiply the weights of these features."""
        self._weights[columns] *= factor
        self._weights = _scaled(self._weights)

    @property
    def of_features(self) -> NDArray[np.float64]:
        """The weights."""
        return self._weights


class PairWeights(Weights):
    """A weight for every pair of features; that of a feature is the sum over its pairs.

    Examples
    --------
    >>> weights = PairWeights(3)
    >>> weights.multiply(np.array([0, 1]), 4.0)
    >>> weights.of_pairs
    array([[0.        , 0.66666667, 0.16666667],
           [0.66666667, 0.        , 0.16666667],
           [0.16666667, 0.16666667, 0.        ]])
    >>> weights.of_features
    array([0.41666667, 0.41666667, 0.16666667])
    """

    def __init__(self, n_features: int) -> None:
        self._first, self._second = np.triu_indices(n_features, 1)
        self._weights = np.full(len(self._first), 1 / len(self._first))
        self._n_features = n_features

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Draw pairs one after another until there are enough features; of the last perhaps either one."""
        n_pairs = min(len(self._weights), 2 * size)  # more than enough pairs, most often
        while True:
            with np.errstate(divide="ignore"):
                keys = rng.standard_exponential(len(self._weights)) / self._weights
            nearest = np.argpartition(keys, n_pairs - 1)[:n_pairs]
            nearest = nearest[np.argsort(keys[nearest])]
            ends = np.column_stack([self._first[nearest], self._second[nearest]])
            features = rng.permuted(ends, axis=1).ravel()
            distinct = features[np.sort(np.unique(features, return_index=True)[1])]
            if len(distinct) >= size:
                return np.sort(distinct[:size])
            n_pairs = min(len(self._weights), 2 * n_pairs)

    def multiply(self, columns: NDArray[np.intp], factor: float) -> None:
        """Multiply the weights of all pairs of these features."""
        i, j = np.triu_indices(len(columns), 1)
        first, second = columns[i], columns[j]
        # Pairs are numbered row by row of the upper triangle.
        at = first * (2 * self._n_features - first - 1) // 2 + second - first - 1
        self._weights[at] *= factor
        self._weights = _scaled(self._weights)

    @property
    def of_pairs(self) -> NDArray[np.float64]:
        """The weights, as a symmetric matrix with zeros on the diagonal."""
        matrix = np.zeros((self._n_features, self._n_features))
        matrix[self._first, self._second] = matrix[self._second, self._first] = self._weights
        return matrix

    @property
    def of_features(self) -> NDArray[np.float64]:
        """Half the sum over the pairs of each feature."""
        ends = (self._first, self._second)
        return np.asarray(
            sum(np.bincount(end, self._weights, minlength=self._n_features) for end in ends) / 2
        )


def _scaled(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.maximum(weights, _LEAST / len(weights))
    return np.asarray(weights / weights.sum())


def change(accuracy: float, before: list[float], n_features: int, size: int) -> float:
    """Relative change of the weights of the features in use (the criterion function, eq. 8).

    Parameters
    ----------
    accuracy : float
        How well the classifier did.
    before : list of float
        The accuracies of all iterations before this one.
    n_features, size : int
        Number of features, and of those in use.

    Returns
    -------
    float
        From -1 to 1; 0 if the accuracies before were all the same.

    Examples
    --------
    >>> round(change(0.9, [0.7, 0.8], n_features=10, size=4), 4)  # 0.6667 * tanh(2 * 2.1213)
    0.6664
    """
    spread = np.std(before, ddof=1)
    if spread < 1e-12 or n_features == 1:
        return 0.0
    return float((n_features - size) / (n_features - 1) * np.tanh(2 * (accuracy - np.mean(before)) / spread))
