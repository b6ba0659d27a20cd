"""Growing trees and sending rows down them in threads, whatever estimator asks for it."""

from __future__ import annotations

import math
import numbers
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs, parallel_config
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from foresift import _core
from foresift.data.sklearn_compat import Progress
from foresift.data.table import Table
from foresift.engine.node_table import NodeTable

__all__ = [
    "fold_trees",
    "grow_trees",
    "in_row_spans",
    "in_threads",
    "make_grower",
    "one_blas_thread",
    "resolve_max_features",
]


T = TypeVar("T")
_BLAS_LIMIT = threading.Lock()  # held by whoever has set it


def resolve_max_features(max_features: int | float | str | None, n_features: int) -> int:
    """Number of columns tried per node.

    Examples
    --------
    >>> resolve_max_features("sqrt", 100), resolve_max_features(0.25, 10), resolve_max_features(None, 7)
    (10, 2, 7)
    """
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, math.isqrt(n_features))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, numbers.Integral):
        if max_features > n_features:
            raise ValueError(
                f"max_features={max_features} is more than the {n_features} columns of X: use at most that, "
                "a share such as 0.5, or None for all."
            )
        return int(max_features)
    return max(1, int(float(max_features) * n_features))


def make_grower(table: Table, weights: NDArray[np.float64] | None, **options: Any) -> _core.Grower:
    """Make the engine that grows trees on a table; the options are the fields of `_core.GrowOptions`."""
    grower: _core.Grower = table.target.grower(table.store, weights, _core.GrowOptions(**options))
    return grower


def grow_trees(
    grower: _core.Grower,
    trees: Sequence[int],
    progress: Progress,
    *,
    tried: bool,
    feature_weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = 1,
) -> list[NodeTable]:
    """Grow the trees of these numbers, in threads; the outcome does not depend on `n_jobs`."""
    # Small trees share the buffers of a task; large ones are handed over one by one, which keeps memory low.
    # Many tasks keep the threads busy and progress visible.
    size = max(1, min(len(trees) // (8 * effective_n_jobs(n_jobs)), 100_000 // grower.n_rows))
    options: dict[str, Any] = {"tried": tried, "feature_weights": feature_weights, "n_jobs": n_jobs}
    parts = fold_trees(grower, trees, progress, list, size=size, **options)
    return [table for part in parts for table in part]


def fold_trees(
    grower: _core.Grower,
    trees: Sequence[int],
    progress: Progress,
    fold: Callable[[Iterator[NodeTable]], T],
    *,
    size: int,
    tried: bool,
    feature_weights: NDArray[np.float64] | None = None,
    columns: NDArray[np.uint32] | None = None,
    max_features: int = 0,
    n_jobs: int | None = 1,
    merge: Callable[[T], object] | None = None,
) -> list[T]:
    """Grow trees in threads, `size` of them at a time, and return what `fold` makes of each lot, in order.

    `columns` leaves out all others; `max_features` then says how many of them are tried per node. If a
    callback asks to stop, what is left out are lots at the end. With `merge` nothing is returned: it is given
    what is folded, in order and one at a time, and only what comes before its turn is held.
    """
    stop = _core.StopFlag()
    parts: list[T] = []
    take = InOrder(parts.append if merge is None else merge)

    def grow(lot: int) -> None:
        if progress.stop_requested:  # what counts is up to the first lot that was skipped
            return
        some = list(trees[lot * size : (lot + 1) * size])
        grown = grower.grow(some, feature_weights, stop, columns, max_features)
        take(lot, fold(NodeTable.from_core(arrays, tried=tried) for arrays in grown))
        progress.advance(len(some))

    in_threads(grow, range(-(-len(trees) // size)), n_jobs, stop)
    return parts


class InOrder:
    """Hands on what comes from several threads, one at a time and by number.

    Parameters
    ----------
    take : callable
        Is given one after the other, from that of number 0 on, as soon as all before it is there. What comes
        after a number that is never there is not handed on.

    Examples
    --------
    >>> take = InOrder(print)
    >>> take(1, "b")
    >>> take(0, "a")
    a
    b
    """

    def __init__(self, take: Callable[[Any], object]) -> None:
        self._take, self._next, self._lock = take, 0, threading.Lock()
        self._early: dict[int, Any] = {}

    def __call__(self, number: int, item: Any) -> None:
        """Hand an item on, and those that waited for it; or let it wait."""
        with self._lock:
            self._early[number] = item
            del item
            while self._next in self._early:
                self._take(self._early.pop(self._next))
                self._next += 1


def in_row_spans(work: Callable[[int, int, _core.StopFlag], None], n_rows: int, n_jobs: int | None) -> None:
    """Call work(first, last, stop) for spans that cover the rows, in threads."""
    n_spans = min(effective_n_jobs(n_jobs), max(1, n_rows // 1000))
    edges = [n_rows * k // n_spans for k in range(n_spans + 1)]
    stop = _core.StopFlag()
    in_threads(lambda span: work(span[0], span[1], stop), list(pairwise(edges)), n_jobs, stop)


def in_threads(
    work: Callable[[Any], Any], tasks: Sequence[Any], n_jobs: int | None, stop: _core.StopFlag
) -> list[Any]:
    """Run work(task) for every task; what ends one of them early, Ctrl-C too, stops the others by `stop`."""
    n_threads = min(effective_n_jobs(n_jobs), len(tasks))
    if n_threads <= 1:
        return [work(task) for task in tasks]
    # Not joblib's Parallel, which looks only every 10 ms whether tasks are ready; but in the threads its
    # rules hold, so that a classifier that is parallel itself begins threads there, not processes.
    with ThreadPoolExecutor(n_threads, initializer=partial(parallel_config, "threading")) as pool:
        try:
            futures = [pool.submit(work, task) for task in tasks]
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()  # raises what ended the task
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Linear algebra in one thread.

    How many it has is one number for the whole process. So of several users at a time only the first sets it,
    and puts back what was: another that came later and left later would put back the 1 that it had found.
    """
    if not _BLAS_LIMIT.acquire(blocking=False):
        yield
        return
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        _BLAS_LIMIT.release()
