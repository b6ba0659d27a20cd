"""Rows that depend on each other: those of one group, and those that follow each other in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.target_column import target_column
from foresift.data.values import is_missing

__all__ = ["DEPENDENCE", "Dependence", "read_dependence"]

DEPENDENCE = ("auto", "none", "groups", "time", "panel")
_NONE_WHOLE = "groups has a group of its own for every row, so no rows belong together: leave groups out."


@dataclass(frozen=True, eq=False)
class Dependence:
    """Which rows belong together, and in which order they follow each other.

    Attributes
    ----------
    groups : ndarray of int of shape (n_rows,) or None
        Number of every row's group, from 0, all of them present.
    time : ndarray of int of shape (n_rows,) or None
        Place of every row in time: different ones within a group, or without groups in the table.
    """

    groups: NDArray[np.intp] | None = None
    time: NDArray[np.intp] | None = None

    @property
    def kind(self) -> str:
        """What it is: "groups", "time" or "panel"."""
        if self.time is None:
            return "groups"
        return "time" if self.groups is None else "panel"

    @property
    def n_groups(self) -> int:
        """Number of groups; 1 without groups."""
        return 1 if self.groups is None else int(self.groups.max()) + 1

    @property
    def order(self) -> NDArray[np.intp]:
        """The rows group by group, in each in the order of time, or as they stand."""
        keys = [key for key in (self.time, self.groups) if key is not None]
        return np.lexsort(keys) if keys else np.empty(0, dtype=np.intp)

    def take(self, rows: NDArray[Any]) -> Dependence:
        """The same for some of the rows.

        Examples
        --------
        >>> Dependence(np.array([0, 1, 1, 2])).take(np.array([1, 3])).groups
        array([0, 1])
        """
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)[1]
        return Dependence(groups, None if self.time is None else self.time[rows])


def read_dependence(how: str, groups: Any, time: Any, n_rows: int) -> Dependence | None:
    """Check groups and times of rows.

    Parameters
    ----------
    how : {"auto", "none", "groups", "time", "panel"}
        Which dependence to respect; "auto": what was passed. "time" and "panel" without times take the rows
        as they stand.
    groups, time : array-like of shape (n_rows,) or None
        Group of every row; when it was observed: numbers, dates or text that sorts.
        `groups` may be a `Dependence` that was read before.
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> read_dependence("auto", ["b", "a", "b"], None, 3).groups
    array([1, 0, 1])
    >>> read_dependence("time", None, None, 3).time
    array([0, 1, 2])
    >>> read_dependence("auto", ["a", None, "b"], None, 3)
    Traceback (most recent call last):
        ...
    ValueError: groups is missing in row 1: name a group for every row, or drop these rows.
    """
    if how not in DEPENDENCE:
        raise ValueError(f"dependence must be one of {', '.join(DEPENDENCE)}, but is {how!r}.")
    if isinstance(groups, Dependence):
        return None if how == "none" else groups
    codes = None if groups is None else _codes(groups, "groups", "name a group for every row", n_rows)
    places = None if time is None else _codes(time, "time", "give a time for every row", n_rows)
    if how in ("groups", "panel") and codes is None:
        raise ValueError(f'dependence="{how}" needs groups: pass the group of every row to fit.')
    if how in ("time", "panel") and places is None:
        places = np.arange(n_rows)
    codes = None if how in ("none", "time") else codes
    places = None if how in ("none", "groups") else places
    if codes is None and places is None:
        return None
    if codes is not None:
        _require_groups(codes)
    if places is not None:
        _require_times(places, codes)
    return Dependence(codes, places)


def _codes(values: Any, name: str, advice: str, n_rows: int) -> NDArray[np.intp]:
    """Numbers of values in their order, from 0."""
    if isinstance(values, str):
        raise TypeError(f"{name} is the text {values!r}: {advice}, not the name of a column.")
    column, _ = target_column(values, warn=False)
    if column.ndim != 1 or len(column) != n_rows:
        raise ValueError(f"{name} has {len(column)} values, but X has {n_rows} rows: {advice}.")
    if column.dtype.kind in "fmM":
        missing = np.isnan(column) if column.dtype.kind == "f" else np.isnat(column)
    else:
        missing = np.array([is_missing(value) for value in column.tolist()], dtype=bool)
    if missing.any():
        raise ValueError(f"{name} is missing in row {missing.argmax()}: {advice}, or drop these rows.")
    try:
        return np.unique(column, return_inverse=True)[1].astype(np.intp)
    except TypeError:
        raise ValueError(f"{name} mixes types that do not compare: {advice}, all of one type.") from None


def _require_groups(groups: NDArray[np.intp]) -> None:
    counts = np.bincount(groups)
    if len(counts) == 1:
        raise ValueError(
            "groups has one group only, so there is nothing to compare it with: leave groups out if rows are"
            ' independent, or use dependence="time" if they follow each other.'
        )
    if counts.max() == 1:
        raise ValueError(_NONE_WHOLE)


def _require_times(time: NDArray[np.intp], groups: NDArray[np.intp] | None) -> None:
    """Raise if two rows of a series have the same time."""
    key = time if groups is None else groups * (int(time.max()) + 1) + time
    first = np.sort(key)
    if (first[1:] == first[:-1]).any():
        of = "the table" if groups is None else "a group"
        more = ": pass groups too if several series are in it" if groups is None else ""
        raise ValueError(
            f"time has the same value in two rows of {of}{more}, or give every row a time of its own."
        )
