"""What searches by correlation share: correlations of features with the target and with each other."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

__all__ = ["Correlations"]

_CACHED = 2**24  # numbers kept


class Correlations(ABC):
    """Correlations, those of features with each other on demand.

    Attributes
    ----------
    n_columns : int
        Number of features.
    with_class : ndarray of shape (n_columns,)
        Correlation of each with the target.
    deviations : ndarray of shape (n_columns,)
        How much each counts.
    """

    n_columns: int
    with_class: NDArray[np.float64]
    deviations: NDArray[np.float64]

    def __init__(self) -> None:
        # Not functools.lru_cache: with a method of its own an object would stay until garbage is collected.
        self._known: dict[int, NDArray[np.float64]] = {}

    def between(self, column: int) -> NDArray[np.float64]:
        """Correlation of a feature with all of them; the last ones are kept."""
        found = self._known.pop(column, None)
        if found is None:
            found = self._between(column)
            if len(self._known) >= max(1, _CACHED // self.n_columns):
                self._known.pop(next(iter(self._known)))
        self._known[column] = found
        return found

    @abstractmethod
    def _between(self, column: int) -> NDArray[np.float64]: ...
