"""Rows that come in batches: how tables are read that are too large to be coded exactly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from foresift.data.containers import read
from foresift.data.target import Target

__all__ = ["Batch", "InMemory", "RowSource"]

BATCH_ROWS = 2**16


class Batch(NamedTuple):
    """Some rows: what `foresift.data.containers.read` takes, and the target of each."""

    X: Any
    y: Any


class RowSource(ABC):
    """Rows in batches, which can be read more than once.

    Attributes
    ----------
    source : str
        What messages call it.
    target : Target or None
        The target of all rows, if it is in memory; then the y of batches are unused.
    client : distributed.Client or None
        The cluster that is to read it.
    """

    source: str = "X"
    target: Target | None = None
    client: Any = None

    @property
    def n_parts(self) -> int:
        """Parts that are divided into blocks by themselves, such as the files of a folder."""
        return 1

    def n_rows_of(self, part: int) -> int | None:
        """Rows of a part, if they are known without reading it."""
        return None

    @abstractmethod
    def batches(self, part: int = 0) -> Iterator[Batch]:
        """The rows of a part, in order; all batches of all parts have the same columns."""


class InMemory(RowSource):
    """An X in memory, and its target.

    Examples
    --------
    >>> source = InMemory(np.zeros((70_000, 2)), Target.of(np.arange(70_000) % 2, 70_000))
    >>> [len(batch.X) for batch in source.batches()]
    [65536, 4464]
    """

    def __init__(self, X: Any, target: Target) -> None:
        self._X, self.target, self._n_rows = X, target, read(X).n_rows

    def n_rows_of(self, part: int) -> int:
        """All rows."""
        return self._n_rows

    def batches(self, part: int = 0) -> Iterator[Batch]:
        """Views of the rows, where the container can make them."""
        for first in range(0, self._n_rows, BATCH_ROWS):
            yield Batch(_slice(self._X, slice(first, min(first + BATCH_ROWS, self._n_rows))), None)

    @staticmethod
    def takes(X: Any) -> bool:
        """Whether rows of X can be had without converting all of it."""
        if isinstance(X, np.ndarray) and X.ndim == 2:
            return True
        if isinstance(X, Mapping):
            return all(isinstance(column, np.ndarray) for column in X.values())
        return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame)


def _slice(X: Any, rows: slice) -> Any:
    if isinstance(X, Mapping):
        return {name: column[rows] for name, column in X.items()}
    if isinstance(X, np.ndarray):
        return X[rows]
    return nw.from_native(X, eager_only=True)[rows].to_native()
