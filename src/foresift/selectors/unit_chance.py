"""What a group of columns scores by being large: its best column by chance, above a single one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foresift.data.sklearn_compat import seed_of
from foresift.selectors.units import Units

__all__ = ["gain_of_size"]

_PERMUTATIONS = 10


def gain_of_size(
    units: Units,
    data: Any,
    weights: NDArray[np.float64] | None,
    score: Callable[[Any], ArrayLike],
    random_state: Any = None,
    joint: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
) -> NDArray[np.float64]:
    """What every free unit scores above the mean of its columns, by chance.

    Parameters
    ----------
    units : Units
        The units.
    data : Table, UncodedTable or ValueTable
        The table; its target is permuted a few times.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows: those of weight 0 are not permuted.
    score : callable
        Scores all columns of such a table.
    random_state : int, RandomState or None, default=None
        Draws the permutations; None is 0.
    joint : callable or None, default=None
        Scores of the free units from those of the columns; None takes the best column of each.

    Returns
    -------
    ndarray of shape (n_free,)
        Means over the permutations; 0 if all units have as many columns.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> from foresift.engine.root_split import root_gains
    >>> from foresift.selectors.units import read_units
    >>> rng = np.random.default_rng(0)
    >>> table = make_table(rng.normal(size=(50, 4)), rng.integers(0, 2, 50))
    >>> units = read_units(None, [[0, 1, 2]], None, 4)
    >>> gain_of_size(units, table, None, lambda some: root_gains(some, None)).round(3)
    array([0.023, 0.   ])
    """
    if not units.unequal:
        return np.zeros(units.n_free)
    rng = np.random.default_rng(0 if random_state is None else seed_of(random_state))
    used = np.arange(data.n_rows) if weights is None else np.flatnonzero(weights)
    above, order = np.zeros(units.n_free), np.arange(data.n_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for _ in range(_PERMUTATIONS):
            order[used] = rng.permutation(used)
            values = np.asarray(score(replace(data, target=data.target.take(order))), dtype=np.float64)
            of_units = values[units.best_members(values)] if joint is None else joint(values)
            more = of_units - [_mean(values[columns]) for columns in units.members]
            above += np.where(np.isfinite(more), more, 0.0)
    return np.where([len(columns) > 1 for columns in units.members], above / _PERMUTATIONS, 0.0)


def _mean(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else np.nan
