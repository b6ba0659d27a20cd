"""Selectors of ours and of others: how they are fitted to rows, and how they order the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.slices import sliceable, take_rows
from foresift.data.table import Table, make_table
from foresift.evaluation.harness.chosen import column_order
from foresift.selectors.base import RankingSelector, with_task

__all__ = ["Rows", "fit_all", "has_test", "is_ours", "order_of"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table, coded once.

    Attributes
    ----------
    table : Table
        The coded rows.
    y : ndarray of int
        The number of every row's class in the whole table; some rows may lack classes.
    given : tuple or None
        X and labels as the user has them, for a selector that does not score coded columns; else None.
    """

    table: Table
    y: NDArray[np.intp]
    given: tuple[Any, NDArray[Any]] | None = None

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Some of the rows, in ascending order; all of them are not copied."""
        if len(rows) == len(self.y):
            return self
        given = None if self.given is None else (take_rows(self.given[0], rows), self.given[1][rows])
        return Rows(self.table.take_rows(rows), self.y[rows], given)

    def fit(self, selector: Any) -> Any:
        """Fit a selector to these rows."""
        return selector.fit_table(self.table) if self.given is None else selector.fit(*self.given)


def fit_all(selector: Any, X: Any, y: Any) -> Rows:
    """Fit a selector to all rows, which are read once for all that is done with them."""
    ours = is_ours(selector)
    with_task(selector, "classification")
    table = selector.read_table(X, y) if ours else make_table(X, y)
    table.target.require_variety(selector)
    given = None
    if not ours or not selector.takes(table):
        given = X if ours else sliceable(X), table.target.values()
    rows = Rows(table, table.target.codes.astype(np.intp), given)
    rows.fit(selector)
    return rows


def is_ours(selector: Any) -> bool:
    """Whether a selector reads tables as we do."""
    return isinstance(selector, RankingSelector)


def has_test(selector: Any) -> bool:
    """Whether a fitted selector has tested its columns."""
    return is_ours(selector) and hasattr(selector, "relevant_")


def order_of(selector: Any) -> NDArray[np.intp]:
    """Columns in the order in which a fitted selector would keep them, best first.

    Relevant columns come before the others, and among them first one of each redundant group. Gains of
    `ForestGainSelector` count by how far they are above chance: a column of many values gains more by chance
    than one of few. A selector that ranks nothing has those first that it keeps.
    """
    if not is_ours(selector):
        order = column_order(selector)
        return np.argsort(~selector.get_support(), kind="stable") if order is None else order
    ranks = np.asarray(selector.ranking_)
    if hasattr(selector, "redundant_with_"):
        group = np.where(selector.representative_, 0, np.where(selector.relevant_, 1, 2))
        return np.lexsort((ranks, group))
    if hasattr(selector, "expected_scores_"):
        above = np.asarray(selector.scores_ - selector.expected_scores_)
        return np.lexsort((ranks, -np.where(np.isnan(above), -np.inf, above)))
    return np.argsort(ranks, kind="stable")
