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
    units: Units, data: Any, score: Callable[[Any], ArrayLike], random_state: Any = None
) -> NDArray[np.float64]:
    """What the best column of every free unit scores above the mean of its columns, by chance.

    Parameters
    ----------
    units : Units
        The units.
    data : Table, UncodedTable or ValueTable
        The table; its target is permuted a few times.
    score : callable
        Scores all columns of such a table.
    random_state : int, RandomState or None, default=None
        Draws the permutations; None is 0.

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
    >>> gain_of_size(units, table, lambda some: root_gains(some, None)).round(3)
    array([0.031, 0.   ])
    """
    if not units.unequal:
        return np.zeros(units.n_free)
    rng = np.random.default_rng(0 if random_state is None else seed_of(random_state))
    above = np.zeros(units.n_free)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for _ in range(_PERMUTATIONS):
            permuted = replace(data, target=data.target.take(rng.permutation(data.n_rows)))
            values = np.asarray(score(permuted), dtype=np.float64)
            above += [_above_mean(values[columns]) for columns in units.members]
    return np.asarray(above / _PERMUTATIONS)


def _above_mean(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(known.max() - known.mean()) if len(known) else 0.0
