"""Row sampling of the trees of a forest, and out-of-bag predictions and their score."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.target import Target
from foresift.engine.grow import in_row_spans
from foresift.engine.node_table import NodeTable
from foresift.errors import warn_caller

__all__ = ["draw_options", "oob_sums", "score_out_of_bag"]


def draw_options(bootstrap: bool, max_samples: float | None, n_rows: int) -> dict[str, Any]:
    """Return the engine's options for drawing the rows of a tree.

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


def oob_sums(
    trees: Sequence[NodeTable],
    grower: _core.Grower,
    batches: Iterable[NDArray[Any]],
    n_outputs: int,
    n_jobs: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum the out-of-bag outputs of every row: class probabilities, or a quantity in one column.

    `grower` grew the trees, numbered as in the sequence; `batches` are all its rows, encoded, in order.

    Returns
    -------
    sums : ndarray of shape (n_rows, n_outputs)
        Sums of the outputs.
    times : ndarray of shape (n_rows,)
        Number of trees for which each row is out of bag.

    Examples
    --------
    >>> y = np.array([0, 1], dtype=np.int32)
    >>> store = _core.ColumnStore(2)
    >>> store.add_numeric(np.array([[1.0], [2.0]]))
    >>> grower = _core.Grower(store, y, 2, None, _core.GrowOptions(draw="subsample", n_draw=1))
    >>> trees = [NodeTable.from_core(arrays, tried=False) for arrays in grower.grow([0, 1, 2])]
    >>> _, times = oob_sums(trees, grower, [np.array([[1.0], [2.0]])], 2, None)
    >>> times.sum()  # one of two rows per tree
    np.float64(3.0)
    """
    n_rows = grower.n_rows
    arrays = [tree.arrays for tree in trees]
    sums, times = np.zeros((n_rows, n_outputs)), np.zeros(n_rows)
    begin = 0
    for batch in batches:
        values = np.ascontiguousarray(batch)

        def add(first: int, last: int, stop: _core.StopFlag, x: Any = values, begin: int = begin) -> None:
            rows = slice(begin + first, begin + last)
            for number, tree in enumerate(arrays):
                oob = np.flatnonzero(grower.drawn_rows(number)[rows] == 0).astype(np.uint32)
                if len(oob):
                    _core.add_proba([tree], x[first:last], oob, sums[rows], stop)
                    times[rows][oob] += 1

        in_row_spans(add, len(values), n_jobs)
        begin += len(values)
    return sums, times


def score_out_of_bag(
    oob_score: Any,
    metric: Callable[..., float],
    target: Target,
    predicted: NDArray[Any],
    known: NDArray[np.bool_],
    weights: NDArray[np.float64],
) -> float:
    """Score the out-of-bag predictions of the rows of positive weight; warn if some of them have none.

    Parameters
    ----------
    oob_score : bool or callable
        The parameter of an ensemble: a callable is used instead of the metric, without weights.
    metric : callable
        `metric(y_true, y_predicted, sample_weight=...)`.
    target : Target
        What is predicted.
    predicted : ndarray of shape (n_rows,)
        The predictions.
    known : ndarray of bool of shape (n_rows,)
        Which rows have one: those that some member did not draw.
    weights : ndarray of shape (n_rows,)
        How much each row counts.

    Examples
    --------
    >>> from sklearn.metrics import accuracy_score
    >>> target, predicted = Target.of([0, 1, 1], 3), np.array([0, 1, 0])
    >>> score_out_of_bag(True, accuracy_score, target, predicted, np.full(3, True), np.array([1.0, 1.0, 2.0]))
    0.5
    """
    used = weights > 0
    scored = known & used
    if not scored.any():
        score = float("nan")
    elif callable(oob_score):
        score = float(oob_score(target.values(scored), predicted[scored]))
    else:
        score = float(metric(target.values(scored), predicted[scored], sample_weight=weights[scored]))
    if not known[used].all():
        warn_caller(
            f"{(used & ~known).sum()} rows were drawn by every member and have no out-of-bag estimate:"
            " raise n_estimators."
        )
    return score
