"""Where shadows have their values from if rows depend on each other: what rows of a column share stays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foresift.data.dependence import Dependence

__all__ = ["draw_row_maps"]

MIN_EXCHANGED = 10  # groups; with fewer, rows move within their group
_ALIKE = 8  # groups of like size that exchange their rows, at least,
_MORE = 2  # times as many rows as another group, from which on a group does not have those
_LIKE = 1.5  # and all up to this times as large


def draw_row_maps(
    dependence: Dependence, n_maps: int, min_shift: int, rng: np.random.Generator
) -> NDArray[np.uint32]:
    """Draw maps of row numbers: row i of a shadow has the value of row `map[i]` of its column.

    Groups exchange their rows, in random order, with groups of like size; what a smaller group lacks is drawn
    again, and a group that is much larger than others permutes its own. Series of a panel do so in the order
    of time. With few groups rows are permuted within their group, or shifted around in it. One series is
    shifted around by at least `min_shift` rows.

    Returns
    -------
    ndarray of uint32 of shape (n_maps, n_rows)
        Numbers of rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> draw_row_maps(Dependence(time=np.arange(5)), 2, 2, rng)
    array([[2, 3, 4, 0, 1],
           [3, 4, 0, 1, 2]], dtype=uint32)
    """
    maps = np.empty((n_maps, len(dependence.order)), dtype=np.uint32)
    if dependence.kind == "time":
        for one, shift in zip(maps, _shifts(maps.shape[1], n_maps, min_shift, rng), strict=True):
            one[dependence.order] = np.roll(dependence.order, -shift)
        return maps
    series = _by_group(dependence)
    in_order = dependence.kind == "panel"
    for one in maps:
        if len(series) < MIN_EXCHANGED:
            for rows in series:
                one[rows] = _moved(rows, min_shift, rng) if in_order else rng.permutation(rows)
        else:
            _exchange(one, series, min_shift, rng, in_order=in_order)
    return maps


def _moved(rows: NDArray[np.intp], min_shift: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A series shifted around."""
    return np.roll(rows, -int(_shifts(len(rows), 1, min_shift, rng)[0])) if len(rows) > 1 else rows


def _shifts(n_rows: int, n_maps: int, least: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Offsets, different ones as far as there are so many."""
    least = min(least, (n_rows - 1) // 2)
    possible = np.arange(least, n_rows - least + 1) if least else np.arange(1, n_rows)
    return np.concatenate([rng.permutation(possible) for _ in range(-(-n_maps // len(possible)))])[:n_maps]


def _by_group(dependence: Dependence) -> list[NDArray[np.intp]]:
    assert dependence.groups is not None
    return np.split(dependence.order, np.cumsum(np.bincount(dependence.groups))[:-1])


def _exchange(
    out: NDArray[np.uint32],
    series: list[NDArray[np.intp]],
    min_shift: int,
    rng: np.random.Generator,
    *,
    in_order: bool,
) -> None:
    """Give every group the rows of another one of like size; a group without one has its own."""
    sizes = np.array([len(rows) for rows in series])
    by_size = np.lexsort((rng.random(len(sizes)), sizes))
    first = 0
    while first < len(by_size):
        end = int(np.searchsorted(sizes[by_size], _LIKE * sizes[by_size[first]], side="right"))
        end = max(end, first + _ALIKE)
        if len(by_size) - end < _ALIKE:
            end = len(by_size)
        some = by_size[first:end]
        for to, source in zip(some, rng.permutation(some), strict=True):
            if sizes[to] > _MORE * sizes[source]:  # few rows, repeated, would vary less than so many do
                rows = _moved(series[to], min_shift, rng) if in_order else rng.permutation(series[to])
            else:
                rows = series[source] if in_order else rng.permutation(series[source])
            out[series[to]] = np.resize(rows, sizes[to])
        first = end
