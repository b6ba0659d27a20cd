"""Selectors of ours and of others, fitted to all rows: how they read them, and how they order the columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.slices import sliceable
from foresift.data.table import Schema, make_table
from foresift.data.target import Target
from foresift.evaluation.harness.chosen import column_order
from foresift.selectors.base import RankingSelector

__all__ = ["Read", "fit_all", "has_test", "is_ours", "order_of"]


class Read(NamedTuple):
    """What a table was read as.

    The schema of its columns and the target; and, for a selector that is none
    of ours, rows and labels as it got them.
    """

    schema: Schema
    target: Target
    given: tuple[Any, NDArray[Any]] | None


def fit_all(selector: Any, X: Any, y: Any, n_rows: int) -> Read:
    """Fit a selector to all rows. One that is none of ours gets them as the user has them."""
    if is_ours(selector):
        schema = selector.fit(X, y).schema_
        return Read(schema, Target.of(y, n_rows), None)
    table = make_table(X, y)
    table.target.require_two_classes(selector)
    given = sliceable(X), table.target.values()
    selector.fit(*given)
    return Read(table.schema, table.target, given)


def is_ours(selector: Any) -> bool:
    """Whether a selector reads tables as we do."""
    return isinstance(selector, RankingSelector)


def has_test(selector: Any) -> bool:
    """Whether a fitted selector has tested its columns."""
    return is_ours(selector) and hasattr(selector, "relevant_")


def order_of(selector: Any) -> NDArray[np.intp]:
    """Columns in the order in which a fitted selector would keep them, best first.

    Relevant columns come before the others, and among them redundant ones after
    the rest. Gains of `ForestGainSelector` count by how far they are above chance: a column of many values
    gains more by chance than one of few. A selector that ranks nothing has those first that it keeps.
    """
    if not is_ours(selector):
        order = column_order(selector)
        return np.argsort(~selector.get_support(), kind="stable") if order is None else order
    ranks = np.asarray(selector.ranking_)
    if hasattr(selector, "redundant_with_"):
        group = np.where(~selector.relevant_, 2, (selector.redundant_with_ >= 0).astype(int))
        return np.lexsort((ranks, group))
    if hasattr(selector, "expected_scores_"):
        above = np.asarray(selector.scores_ - selector.expected_scores_)
        return np.lexsort((ranks, -np.where(np.isnan(above), -np.inf, above)))
    return np.argsort(ranks, kind="stable")
