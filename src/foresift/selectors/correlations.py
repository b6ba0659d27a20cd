"""What searches by correlation share: correlations of features with the target and with each other."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from foresift.selectors.units import Units

__all__ = ["Correlations", "UnitCorrelations"]

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
    always : tuple of int
        Features that are in every subset.
    """

    always: tuple[int, ...] = ()

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


class UnitCorrelations(Correlations):
    """Correlations of free units, such that a set of them has the merit of all its columns.

    With the target a unit has the merit of its own columns. Columns that are kept by request are one more
    unit, the last, which is in every subset.
    """

    def __init__(self, single: Correlations, units: Units) -> None:
        super().__init__()
        self._single = single
        kept = np.flatnonzero(units.kept)
        self._members = [*units.members, *([kept] if len(kept) else [])]
        self.n_columns = len(self._members)
        self.always = tuple(range(units.n_free, self.n_columns))
        self._owner = np.where(units.kept, units.n_free, units.free_of_column)
        self.deviations = np.array([np.sqrt(self._products(unit)[unit]) for unit in range(self.n_columns)])
        self.with_class = self.merits(single.with_class)

    def merits(self, with_class: NDArray[np.float64]) -> NDArray[np.float64]:
        """Merit of every unit by itself, with these correlations of the columns with a target."""
        return self._per_deviation(self._sums(with_class * self._single.deviations))

    def _products(self, unit: int) -> NDArray[np.float64]:
        """Sum of the products of the columns of a unit with those of every unit, its own included."""
        single, columns = self._single, self._members[unit]
        products = np.zeros(single.n_columns)
        for column in columns.tolist():
            row = single.between(column) * single.deviations * single.deviations[column]
            row[column] = single.deviations[column] ** 2
            products += row
        return self._sums(products)

    def _sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the columns of every unit."""
        return np.bincount(self._owner, values, minlength=self.n_columns).astype(np.float64)

    def _per_deviation(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.divide(values, self.deviations, out=np.zeros_like(values), where=self.deviations > 0)

    def _between(self, unit: int) -> NDArray[np.float64]:
        own = self.deviations[unit]
        return self._per_deviation(self._products(unit) / own) if own > 0 else np.zeros(self.n_columns)
