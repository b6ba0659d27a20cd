"""Test of all categories of a nominal column at once, by the share of the target's variance between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from foresift.data.table import Table
from foresift.selectors.relevance.between import (
    MIN_ROWS,
    ValuePowers,
    between_log_pvalue,
    min_rows,
    pooled,
)
from foresift.selectors.relevance.combining import log_cauchy_mean
from foresift.selectors.relevance.moments import log_of_any
from foresift.selectors.relevance.residuals import Residuals, related_from

__all__ = ["Categories", "of_all_values"]

_BY_CHANCE = 1e-6  # p-value from which on a strong predictor may count as related to a column


@dataclass(frozen=True)
class Categories:
    """Nominal columns by category.

    Attributes
    ----------
    table : Table
        The data.
    columns : ndarray of int
        The columns, nominal and others.
    rows : ndarray of int
        The rows that count.
    """

    table: Table
    columns: NDArray[np.uint32]
    rows: NDArray[np.intp]

    def log_pvalues(
        self, contrasts: NDArray[np.float64], residuals: Residuals | None = None
    ) -> NDArray[np.float64]:
        """Logs of p-values of nominal columns with three categories or more, NaN for the others.

        Of what the target has in each row, whole numbers along the first axis, or of its `residuals`: every
        column has those that predictors leave which are not related to it.
        """
        quantity = self.table.target.task == "regression"
        found, store = np.full(len(self.columns), np.nan), self.table.store
        for place, column in enumerate(self.columns.tolist()):
            if not store.is_nominal(column) or store.n_values(column) < 3:
                continue
            codes = np.asarray(store.codes(column))[self.rows].astype(np.intp)
            known = codes < store.n_values(column)
            if not known.any():
                continue
            some = slice(None) if known.all() else known
            values = contrasts
            if residuals is not None:
                values = residuals.without(_related(codes[some], residuals, residuals.strong[some]))
            found[place] = _log_pvalue(codes[some], values[some], quantity=quantity)
        return found


def _log_pvalue(codes: NDArray[np.intp], values: NDArray[np.float64], *, quantity: bool) -> float:
    """One p-value from those of all values: scores of a quantity, or indicators of classes."""
    counts = np.bincount(codes)
    logs = []
    for value in (values - values.mean(axis=0)).T:
        sums: NDArray[np.float64] = np.bincount(codes, value).astype(np.float64)
        powers = ValuePowers.of(value)
        logs.append(between_log_pvalue(counts, sums, powers, min_rows(powers, len(codes))))
    return of_all_values(np.array(logs), quantity=quantity)


def of_all_values(logs: NDArray[np.float64], *, quantity: bool) -> float:
    """One p-value, as a log, from those of all scores of a quantity or of all classes; NaN is no test."""
    logs = logs[~np.isnan(logs), np.newaxis]
    if not len(logs):
        return np.nan
    if quantity:
        return float(log_cauchy_mean(logs, np.ones_like(logs))[0])
    return float(log_of_any(logs.min(axis=0), len(logs))[0])


def _related(codes: NDArray[np.intp], residuals: Residuals, strong: NDArray[np.float64]) -> bytes:
    """Which strong predictors differ between the categories, more than by chance, as a key of `residuals`.

    More than by any chance: if the predictors that happen to differ were left out of the regression, a column
    would have their part in the target.
    """
    strong = strong - strong.mean(axis=0)
    n_rows, groups = len(codes), pooled(np.bincount(codes), MIN_ROWS)[codes]
    sizes = np.bincount(groups)
    sums = np.array([np.bincount(groups, one) for one in strong.T])
    squares = np.maximum((strong**2).sum(axis=0), np.finfo(float).tiny)
    share = (sums**2 / sizes).sum(axis=1) / squares
    k = len(sizes) - 1
    least = related_from(n_rows) ** 2 + k / n_rows
    if 0 < k < n_rows - 1:
        least = max(least, 1 - betaincinv((n_rows - 1 - k) / 2, k / 2, _BY_CHANCE))
    return residuals.key(share > least)
