"""What any fitted selector chose, of foresift or scikit-learn: its own set, and the best few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Size", "chosen_columns", "column_order", "known_sizes", "selected"]

MAX_RANKS = 1000  # ranks that a record keeps, if no larger size is asked for
Size = int | str


def column_order(selector: Any) -> NDArray[np.intp] | None:
    """Columns of a fitted selector, best first; None if it has neither `ranking_` nor `scores_`.

    Where ranks are tied, `scores_` decide, if there are any, else the order of the columns. Columns that are
    kept by request come first, and those of a group one after the other.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> column_order(SelectKBest(k=1).fit(*load_iris(return_X_y=True)))
    array([2, 3, 0, 1])
    """
    ranking = getattr(selector, "ranking_", None)
    if _units_of(selector) is not None:
        return np.argsort(np.asarray(ranking), kind="stable")
    if ranking is not None and np.array_equal(np.sort(ranking), np.arange(1, len(ranking) + 1)):
        return np.argsort(ranking, kind="stable")
    scores = getattr(selector, "scores_", None)
    if scores is not None:
        return np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    return None if ranking is None else np.argsort(ranking, kind="stable")


def known_sizes(selector: Any) -> NDArray[np.intp]:
    """Numbers of columns of which a fitted selector knows the best: all, unless it ranks several equally.

    A group of columns counts as one, and those that are kept by request do not count.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import RFE
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> known_sizes(RFE(DecisionTreeClassifier(), n_features_to_select=2).fit(*load_iris(return_X_y=True)))
    array([2, 3, 4])
    """
    scores, ranking = (getattr(selector, name, None) for name in ("scores_", "ranking_"))
    if (units := _units_of(selector)) is not None:
        return np.arange(1, units.n_free + 1)
    if scores is not None:
        return np.arange(1, len(scores) + 1)
    ranks: Any = [] if ranking is None else ranking
    return np.cumsum(np.unique(ranks, return_counts=True)[1])


def _units_of(selector: Any) -> Any:
    """Units of a selector that ranks other ones than all columns; None of any other selector."""
    units = getattr(selector, "units_", None)
    return None if getattr(units, "trivial", True) else units


def chosen_columns(
    selector: Any, n_features: int, sizes: Sequence[Size]
) -> tuple[dict[str, list[int]], dict[str, str]]:
    """What a fitted selector says: "own", "order", and sets of a size that are not its beginning.

    And the sizes that it does not know, with the reason; if it knows none of them, that is an error.
    """
    features: dict[str, list[int]] = {}
    unknown: dict[str, str] = {}
    name = type(selector).__name__
    if hasattr(selector, "get_support"):
        features["own"] = np.flatnonzero(selector.get_support()).tolist()
    elif "own" in sizes:
        unknown["own"] = f"{name} has no get_support, so it selects nothing of its own."
    counts = [size for size in sizes if not isinstance(size, str)]
    order, known = column_order(selector), set(known_sizes(selector).tolist())
    if order is not None:
        features["order"] = order[: max([MAX_RANKS, *counts])].tolist()
    for count in counts:
        if order is None:
            unknown[str(count)] = (
                f"{name} has neither scores_ nor a ranking_, so there is no best {count} of {n_features}:"
                " leave sizes out to take what it selects."
            )
        elif count not in known and (units := _units_of(selector)) is not None:
            unknown[str(count)] = (
                f"{name} has {units.n_free} columns and groups that may be dropped, so there is no best"
                f" {count}: leave that size out."
            )
        elif count not in known:
            unknown[str(count)] = (
                f"{name} gives several columns the same rank, so there is no best {count} of {n_features}:"
                " leave that size out, or let it rank every column, as with n_features_to_select=1."
            )
        else:
            best = features["order"][:count]
            if hasattr(selector, "subset_of_size"):  # of foresift, which may know better than its ranking
                best = np.flatnonzero(selector.subset_of_size(count)).tolist()
            if sorted(best) != sorted(features["order"][:count]):
                features[str(count)] = sorted(best)
    if len(unknown) == len(sizes):
        raise ValueError(next(iter(unknown.values())))
    return features, unknown


def selected(features: Mapping[str, list[int]], size: str) -> list[int]:
    """Columns of a size ("5", "own") among the features of a record, in rising order.

    Examples
    --------
    >>> selected({"order": [3, 0, 2, 1], "own": [3]}, "2"), selected({"order": [3, 0], "2": [1, 3]}, "2")
    ([0, 3], [1, 3])
    """
    return list(features[size]) if size in features else sorted(features["order"][: int(size)])
