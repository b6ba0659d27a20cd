"""Features that are left to add by mutual information, and what they score given those that were added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.discretize import equal_frequency_bins
from foresift.data.table import Table
from foresift.data.target import Classes
from foresift.engine.grow import in_threads

__all__ = ["Candidates", "TableCandidates"]

_TOGETHER = 32  # columns per task


class Candidates(ABC):
    """The features that are left, and what they and their shadows score given those that were added.

    Parameters
    ----------
    scheme : str
        The score.
    n_columns : int
        Number of features.
    scores_shadows : bool
        Whether shadows are scored as well. If not, only their relevance is known.

    Attributes
    ----------
    left : ndarray of int
        The features.
    relevance : ndarray of shape (1 + n_shadows, n_columns)
        I(X;Y) of every feature, and of its shadows.
    """

    def __init__(self, scheme: str, n_columns: int, scores_shadows: bool) -> None:
        self._scheme = scheme
        self.left = np.arange(n_columns)
        self.relevance = self._about_target(None)[..., 0]
        self._n_scored = len(self.relevance) if scores_shadows else 1
        scored = self.relevance[: self._n_scored]
        self._sums = scored.copy() if scheme == "cmim" else np.zeros_like(scored)
        self._n_added = 0

    def scores(self) -> NDArray[np.float64]:
        """Scores of the features that are left, and below them those of their shadows, if they are scored."""
        relevance, sums = self.relevance[: self._n_scored, self.left], self._sums[:, self.left]
        if self._scheme == "mim" or self._n_added == 0:
            return relevance
        return relevance - sums / self._n_added if self._scheme == "mrmr" else sums

    def add(self, column: int) -> None:
        """Move a feature from those left to those added."""
        self.left = self.left[self.left != column]
        self._n_added += 1
        if self._scheme == "mim" or not len(self.left):
            return
        sums = self._sums[:, self.left]
        if self._scheme == "mrmr":
            sums += self._about_column(column)
        else:
            conditional, joint, entropy = np.moveaxis(self._about_target(column), -1, 0)
            if self._scheme == "cmim":
                sums = np.minimum(sums, conditional)
            elif self._scheme == "jmi":
                sums += joint
            else:
                sums += np.divide(joint, entropy, out=np.zeros_like(joint), where=entropy > 0)
        self._sums[:, self.left] = sums

    @abstractmethod
    def _about_target(self, given: int | None) -> NDArray[np.float64]:
        """I(X;Y|W), I(X,W;Y) and H(X,W,Y), on the last axis, of all that are left and their shadows.

        W is the column `given`, or nothing.
        """

    @abstractmethod
    def _about_column(self, column: int) -> NDArray[np.float64]:
        """I(X;W) of all that are left, and of their shadows if they are scored, with W a column."""


class _Codes(NamedTuple):
    """A discrete column: the code of every row, -1 for missing, and the number of codes."""

    rows: NDArray[np.int32]
    n_codes: int


class TableCandidates(Candidates):
    """Candidates of a table in memory.

    Parameters
    ----------
    scheme : str
        The score.
    table : Table
        The data.
    used : ndarray of int
        The rows that count.
    weights : ndarray of shape (n_used,) or None
        Their weights.
    orders : list of ndarray of shape (n_used,)
        A permutation of the used rows for each round of shadows.
    n_bins : int
        Bins of numeric columns.
    known_only : bool
        Whether every table of counts leaves out rows where something is missing.
    n_jobs : int or None
        Threads.
    scores_shadows : bool
        Whether shadows are scored as well.
    """

    def __init__(
        self,
        scheme: str,
        table: Table,
        used: NDArray[np.intp],
        weights: NDArray[np.float64] | None,
        orders: list[NDArray[np.intp]],
        n_bins: int,
        known_only: bool,
        n_jobs: int | None,
        scores_shadows: bool,
    ) -> None:
        self._known_only, self._n_jobs = known_only, n_jobs
        self._weights, self._orders = weights, [slice(None), *orders]
        self._store = _core.ColumnStore(len(used))
        for j in range(table.n_columns):
            column = _discrete(table, j, used, weights, n_bins)
            self._store.add_nominal(column.rows, column.n_codes)
        self._target = _discrete_target(table.target, used, weights, n_bins)
        self._counter = _core.MutualInfo(self._store)
        super().__init__(scheme, table.n_columns, scores_shadows)

    def _about_target(self, given: int | None) -> NDArray[np.float64]:
        return self._information(self._target, None if given is None else self._codes(given), self._orders)

    def _about_column(self, column: int) -> NDArray[np.float64]:
        return self._information(self._codes(column), None, self._orders[: self._n_scored])[..., 0]

    def _codes(self, column: int) -> _Codes:
        codes = np.asarray(self._store.codes(column)).astype(np.int32)
        n_codes = self._store.n_values(column)
        codes[codes == n_codes] = -1
        return _Codes(codes, max(n_codes, 1))

    def _information(self, target: _Codes, given: _Codes | None, orders: list[Any]) -> NDArray[np.float64]:
        """I(X;Y|W), I(X,W;Y) and H(X,W,Y), on the last axis, of all that are left in each order of rows.

        Permuting the rows of all but X gives the same counts as permuting X.
        """
        stop = _core.StopFlag()
        starts = range(0, len(self.left), _TOGETHER)

        def work(task: tuple[Any, int]) -> NDArray[np.float64]:
            order, start = task
            found: NDArray[np.float64] = self._counter.of(
                self.left[start : start + _TOGETHER].astype(np.uint32),
                target.rows[order],
                target.n_codes,
                None if given is None else given.rows[order],
                1 if given is None else given.n_codes,
                None if self._weights is None else self._weights[order],
                self._known_only,
                stop,
            )
            return found

        tasks = [(order, start) for order in orders for start in starts]
        parts = in_threads(work, tasks, self._n_jobs, stop)
        return np.concatenate(parts or [np.empty((0, 3))]).reshape(len(orders), len(self.left), 3)


def _discrete(
    table: Table, j: int, used: NDArray[np.intp], weights: NDArray[np.float64] | None, n_bins: int
) -> _Codes:
    """A column as categories."""
    codes, n_values = np.asarray(table.store.codes(j))[used], table.store.n_values(j)
    bins = np.arange(n_values)
    if not table.store.is_nominal(j):
        bins = equal_frequency_bins(np.bincount(codes, weights, minlength=n_values)[:n_values], n_bins)
    rows = np.append(bins, -1).astype(np.int32)[codes]
    return _Codes(rows, int(bins.max(initial=-1)) + 1)


def _discrete_target(
    target: Any, used: NDArray[np.intp], weights: NDArray[np.float64] | None, n_bins: int
) -> _Codes:
    """Classes as they are, a quantity in bins."""
    if isinstance(target, Classes):
        return _Codes(target.codes[used], target.n_classes)
    ranks = np.unique(target.y[used], return_inverse=True)[1]
    bins = equal_frequency_bins(np.bincount(ranks, weights), n_bins)
    return _Codes(bins.astype(np.int32)[ranks], int(bins.max()) + 1)
