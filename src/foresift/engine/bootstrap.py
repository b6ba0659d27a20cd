"""Which rows the trees of a forest get, and what they say of those that they did not see."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.engine.grow import in_row_spans
from foresift.engine.node_table import NodeTable

__all__ = ["draw_options", "oob_proba_sums"]


def draw_options(bootstrap: bool, max_samples: float | None, n_rows: int) -> dict[str, Any]:
    """Say how the rows of a tree are drawn, for the engine.

    Examples
    --------
    >>> draw_options(True, 0.5, 30)
    {'draw': 'bootstrap', 'n_draw': 15}
    """
    if not bootstrap and max_samples is None:
        return {"draw": "all"}
    share = 1.0 if max_samples is None else max_samples
    whole = isinstance(share, numbers.Integral)
    n_draw = int(share) if whole else max(1, round(float(share) * n_rows))
    if n_draw > n_rows:
        raise ValueError(f"max_samples={n_draw} is more than the {n_rows} rows of X: use at most that.")
    return {"draw": "bootstrap" if bootstrap else "subsample", "n_draw": n_draw}


def oob_proba_sums(
    trees: Sequence[NodeTable],
    grower: _core.Grower,
    batches: Iterable[NDArray[Any]],
    n_classes: int,
    n_jobs: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Add up the class probabilities that trees give to rows they were not grown on.

    Parameters
    ----------
    trees : sequence of NodeTable
        The trees.
    grower : Grower
        What grew them, with the numbers that they have in the sequence.
    batches : iterable of ndarray
        All rows it was made of, encoded, in order.
    n_classes : int
        Number of classes.
    n_jobs : int or None
        Threads.

    Returns
    -------
    sums : ndarray of shape (n_rows, n_classes)
        Of the probabilities.
    times : ndarray of shape (n_rows,)
        How many trees did not see each row.

    Examples
    --------
    >>> y = np.array([0, 1], dtype=np.int32)
    >>> store = _core.ColumnStore(2)
    >>> store.add_numeric(np.array([[1.0], [2.0]]))
    >>> grower = _core.Grower(store, y, 2, None, _core.GrowOptions(draw="subsample", n_draw=1))
    >>> trees = [NodeTable.from_core(arrays, tried=False) for arrays in grower.grow([0, 1, 2])]
    >>> _, times = oob_proba_sums(trees, grower, [np.array([[1.0], [2.0]])], 2, None)
    >>> times.sum()  # each tree saw one of two rows
    np.float64(3.0)
    """
    n_rows = grower.n_rows
    arrays = [tree.arrays for tree in trees]
    sums, times = np.zeros((n_rows, n_classes)), np.zeros(n_rows)
    begin = 0
    for batch in batches:
        values = np.ascontiguousarray(batch)

        def add(first: int, last: int, stop: _core.StopFlag, x: Any = values, begin: int = begin) -> None:
            rows = slice(begin + first, begin + last)
            for number, tree in enumerate(arrays):
                unseen = np.flatnonzero(grower.drawn_rows(number)[rows] == 0).astype(np.uint32)
                if len(unseen):
                    _core.add_proba([tree], x[first:last], unseen, sums[rows], stop)
                    times[rows][unseen] += 1

        in_row_spans(add, len(values), n_jobs)
        begin += len(values)
    return sums, times
