"""What helps beside columns that are kept in any case: what they say of target and columns is taken away."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from foresift.data.folds import make_folds
from foresift.data.table import Table
from foresift.data.target import Quantity
from foresift.models.forests import default_forest
from foresift.models.scorer import StoreScorer
from foresift.selectors.relevance.joint import category_ranks
from foresift.selectors.relevance.moments import counted_rows
from foresift.selectors.relevance.time_series import orthonormal
from foresift.selectors.relevance.views import Spread, Squares, View, uneven

__all__ = ["Beside", "Kept"]

N_TREES = 100
N_FOLDS = 5
_DEGREES = (12, 8, 5, 3, 1)  # of the polynomials of ranks, as far as there are rows enough
_ROWS = 10  # for every term
_ROUNDING = 1e-9  # of the variance of the target


@dataclass(frozen=True, eq=False)
class Kept:
    """What kept columns say of rows.

    Attributes
    ----------
    terms : ndarray of shape (n_rows, n_terms)
        Polynomials of the ranks of the kept columns, indicators of their categories and of missing values,
        products of two, as far as there are rows enough, and what forests of them predict of rows that they
        were not grown on.
    rest : Quantity
        What they leave of the target; of several classes what varies most of it.
    """

    terms: NDArray[np.float64]
    rest: Quantity

    @classmethod
    def of(
        cls, table: Table, weights: NDArray[np.float64] | None, kept: NDArray[np.intp], seed: int
    ) -> Kept | None:
        """Look at the kept columns of a table; None if there are none."""
        if not len(kept):
            return None
        predicted = _predicted(table, weights, kept, seed)
        most = table.n_rows // _ROWS - predicted.shape[1]
        n_kept, n_products = len(kept), 4 * comb(len(kept), 2)
        degree = next((some for some in _DEGREES if some * n_kept + n_products * (some > 1) <= most), 1)
        terms = np.empty((table.n_rows, 0))
        if n_kept <= most:
            terms = np.column_stack([_terms(table, column, degree) for column in kept.tolist()])
        if n_products <= most - terms.shape[1]:
            terms = np.column_stack([terms, _products([_terms(table, k, 2)[:, :2] for k in kept.tolist()])])
        terms = np.column_stack([terms, predicted])
        return cls(terms, _rest(table, weights, terms))

    @property
    def explain_all(self) -> bool:
        """Whether nothing is left that another column could help with."""
        return not self.rest.y.any()

    def seen(self, view: View, rows: NDArray[np.intp]) -> Beside:
        """Take it away from what a view shows of some rows."""
        return Beside(view, orthonormal(view.seen(_centred(self.terms[rows]).T).T), view.weight)


class Rest(Quantity):
    """What kept columns leave of a target: its mean does not depend on them, that of its ranks might."""

    def ranked(self, weights: NDArray[np.float64] | None) -> Rest:
        """Return the same: ranks and indicators have no long tails."""
        return self


@dataclass(frozen=True)
class Beside(View):
    """What another view shows, less what kept columns say of it."""

    inner: View
    basis: NDArray[np.float64]
    weight: float = 1.0

    def filled(self, values: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
        """As the other view does."""
        return self.inner.filled(values, missing)

    def seen(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Residuals of a regression."""
        seen = self.inner.seen(values - values.mean(axis=-1, keepdims=True))
        return np.asarray(seen - (seen @ self.basis) @ self.basis.T)

    def n_rows(self, n_seen: int) -> float:
        """Less what was estimated."""
        return max(0.0, self.inner.n_rows(n_seen) - self.basis.shape[1])

    def spread(self, ranks: NDArray[np.float64], values: NDArray[np.float64], squares: Squares) -> Spread:
        """As the other view has it, with fewer rows; rows may vary unevenly with the kept columns."""
        inner = self.inner.spread(ranks, values, squares)
        n_free = np.maximum(np.asarray(inner.n_free) - self.basis.shape[1], 3.0)
        factor = (np.asarray(inner.n_free) - 1) / (n_free - 1)
        return Spread(inner.variance * factor * uneven(ranks, values, squares, sure=True), n_free)


def _rest(table: Table, weights: NDArray[np.float64] | None, terms: NDArray[np.float64]) -> Quantity:
    """Residuals of the target; 0 for rows of weight 0."""
    rows = counted_rows(table, weights)
    values, basis = _centred(table.target.contrasts(rows)), orthonormal(_centred(terms[rows]))
    left = values - basis @ (basis.T @ values)
    left = left * (left.var(axis=0) > _ROUNDING * values.var(axis=0))
    if left.shape[1] > 1:
        left = left @ np.linalg.svd(left, full_matrices=False)[2][:1].T
    rest = np.zeros(table.n_rows)
    rest[rows] = left[:, 0] if left.shape[1] else 0.0
    return Rest(rest)


def _centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values - values.mean(axis=0))


def _terms(table: Table, column: int, degree: int) -> NDArray[np.float64]:
    codes, n_values = np.asarray(table.store.codes(column)).astype(np.intp), table.store.n_values(column)
    missing = codes == n_values
    if table.store.is_nominal(column):
        terms = category_ranks(codes, n_values).T
    else:
        counts = np.bincount(codes, minlength=n_values + 1)[:n_values]
        places = (2 * np.cumsum(counts) - counts - counts.sum()) / max(1, counts.sum())  # from -1 to 1
        terms = legendre.legvander(np.append(places, 0.0)[codes], degree)[:, 1:]
        terms[missing] = 0.0
    return np.column_stack([terms, missing]) if missing.any() else terms


def _products(terms: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Products of the terms of every two columns."""
    n_rows = len(terms[0])
    pairs = [np.einsum("ij,ik->ijk", one, other).reshape(n_rows, -1) for one, other in combinations(terms, 2)]
    return np.column_stack(pairs) if pairs else np.empty((n_rows, 0))


def _predicted(
    table: Table, weights: NDArray[np.float64] | None, kept: NDArray[np.intp], seed: int
) -> NDArray[np.float64]:
    """What forests of the kept columns predict of rows that they were not grown on; 0 without folds."""
    task = table.target.task
    try:
        folds = make_folds(table, weights, N_FOLDS, seed)
    except ValueError:  # too few rows of a class, or groups
        return np.zeros((table.n_rows, 1))
    forest = default_forest(task, N_TREES).set_params(random_state=seed % 2**32)
    scorer = StoreScorer(forest, weights, folds, _outputs, 1, table)
    columns = tuple(np.sort(kept).tolist())
    found = scorer.evaluate([(columns, k, [fold.test]) for k, fold in enumerate(folds)])
    outputs = np.zeros((table.n_rows, 1 if task == "regression" else table.target.n_outputs))
    for fold, one in zip(folds, found, strict=True):
        outputs[fold.test] = np.reshape(one.scores[0], (len(fold.test), -1))
    return outputs


def _outputs(model: object, X: object, y: object) -> NDArray[np.float64]:
    """What a model predicts, in place of a score."""
    predict = getattr(model, "predict_proba", None) or model.predict  # type: ignore[attr-defined]
    return np.asarray(predict(X))
