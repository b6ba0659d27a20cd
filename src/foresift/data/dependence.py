"""Rows that depend on each other: those of one group, and those that follow each other in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from foresift.data.target_column import target_column
from foresift.data.values import is_missing

__all__ = ["DEPENDENCE", "Dependence", "facts_of_dependence", "read_dependence", "unnamed"]

_NEEDS_GROUPS = 'dependence="{}" needs groups: pass the group of every row.'
DEPENDENCE = ("auto", "none", "groups", "time", "panel")


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

    def asked(self, how: str) -> Dependence | None:
        """The part of it that a selector's `dependence` asks for.

        Examples
        --------
        >>> panel = Dependence(np.array([0, 0, 1, 1]), np.arange(4))
        >>> panel.asked("groups").kind, panel.asked("auto").kind, panel.asked("none")
        ('groups', 'panel', None)
        """
        if how == "auto":
            return self
        groups = self.groups if how in ("groups", "panel") else None
        time = self.time if how in ("time", "panel") else None
        if how in ("groups", "panel") and groups is None:
            raise ValueError(_NEEDS_GROUPS.format(how))
        if how in ("time", "panel") and time is None:
            time = np.arange(len(self.order))
        return None if groups is None and time is None else Dependence(groups, time)

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
        Group of every row; when it was observed: numbers, or dates.
        A column of a frame, or a mapping of its name to the values, is called by its name. `groups` may be a
        `Dependence` that was read before.
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> read_dependence("auto", ["b", "a", "b"], None, 3).groups
    array([0, 1, 0])
    >>> read_dependence("time", None, None, 3).time
    array([0, 1, 2])
    >>> read_dependence("auto", ["a", None, "b"], None, 3)
    Traceback (most recent call last):
        ...
    ValueError: groups is missing in row 1: name a group for every row, or drop the row.
    """
    if how not in DEPENDENCE:
        raise ValueError(f"dependence must be one of {', '.join(DEPENDENCE)}, but is {how!r}.")
    if isinstance(groups, Dependence):
        return groups.asked(how)
    named = {"groups": _Named.of("groups", groups), "time": _Named.of("time", time)}
    if how in ("groups", "panel") and groups is None:
        raise ValueError(_NEEDS_GROUPS.format(how))
    codes, places = None, None
    if groups is not None:
        codes = _by_appearance(named["groups"].codes("name a group for every row", n_rows))
    if time is not None:
        places = named["time"].codes("give a time for every row", n_rows, in_order=True)
    elif how in ("time", "panel"):
        places = np.arange(n_rows)
    codes = None if how in ("none", "time") else codes
    places = None if how in ("none", "groups") else places
    if codes is not None:
        _require_groups(codes, named["groups"].label)
    if places is not None:
        _require_times(places, codes, named["time"].label)
    return None if codes is None and places is None else Dependence(codes, places)


def facts_of_dependence(dependence: Dependence | None, groups: Any, time: Any) -> dict[str, Any]:
    """What JSON tells of it: the names of both columns, None without one, and how many groups there are.

    Examples
    --------
    >>> groups = {"patient": [7, 7, 9]}
    >>> facts_of_dependence(read_dependence("auto", groups, None, 3), groups, None)
    {'groups': {'column': 'patient', 'n_groups': 2}}
    """
    facts: dict[str, Any] = {}
    if dependence is None:
        return facts
    if dependence.groups is not None:
        facts["groups"] = {"column": _Named.of("groups", groups).name, "n_groups": dependence.n_groups}
    if dependence.time is not None:
        facts["time"] = {"column": _Named.of("time", time).name}
    return facts


def unnamed(values: Any) -> Any:
    """The values of a mapping of one name; anything else as it is."""
    return _Named.of("", values).values


class _Named(NamedTuple):
    """Values of a parameter, and the name of the column that they come from, if it is known."""

    parameter: str
    name: str | None
    values: Any

    @classmethod
    def of(cls, parameter: str, values: Any) -> _Named:
        if isinstance(values, Mapping) and len(values) == 1:
            ((name, values),) = values.items()
            return cls(parameter, str(name), values)
        native = nw.from_native(values, allow_series=True, pass_through=True)
        if isinstance(native, nw.DataFrame) and native.shape[1] == 1:
            native = native[:, 0]
        name = native.name if isinstance(native, nw.Series) else None
        return cls(parameter, name if isinstance(name, str) and name else None, values)

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.parameter if self.name is None else f"{self.parameter} ({self.name})"

    def codes(self, advice: str, n_rows: int, *, in_order: bool = False) -> NDArray[np.intp]:
        """Numbers of the values in their order, from 0; text must have one, if the order counts."""
        if isinstance(self.values, str):
            raise TypeError(f"{self.label} is the text {self.values!r}: {advice}, not the name of a column.")
        try:
            column, items = target_column(self.values, warn=False)
        except (TypeError, ValueError):
            raise ValueError(f"{self.label} is not one column of values: {advice}.") from None
        if len(column) != n_rows:
            raise ValueError(f"{self.label} has {len(column)} values, but X has {n_rows} rows: {advice}.")
        if column.dtype.kind in "fmM":
            missing = np.isnan(column) if column.dtype.kind == "f" else np.isnat(column)
        else:
            missing = np.array([is_missing(value) for value in items.tolist()], dtype=bool)
        if missing.any():
            raise ValueError(f"{self.label} is missing in row {missing.argmax()}: {advice}, or drop the row.")
        if in_order and isinstance(column[0], str):
            column = _numbers_or_dates(column, self.label)
        try:
            return np.unique(column, return_inverse=True)[1].astype(np.intp)
        except TypeError:
            raise ValueError(
                f"{self.label} mixes types that do not compare: {advice}, all of one type."
            ) from None


def _numbers_or_dates(texts: NDArray[Any], label: str) -> NDArray[Any]:
    """Text as numbers or dates, which sort otherwise than text does.

    Examples
    --------
    >>> _numbers_or_dates(np.array(["2", "10"]), "time")
    array([ 2., 10.])
    """
    for kind in ("float64", "datetime64[ns]"):
        try:
            return texts.astype(str).astype(kind)
        except ValueError:
            continue
    raise ValueError(
        f"{label} holds text such as {str(texts[0])!r}, whose order is not known: give numbers, or dates such"
        " as 2024-01-31 (pandas.to_datetime reads others)."
    )


def _by_appearance(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number groups as they come, so that nothing depends on how they sort."""
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[codes])


def _require_groups(groups: NDArray[np.intp], label: str) -> None:
    counts = np.bincount(groups)
    if len(counts) == 1:
        raise ValueError(
            f"{label} has one group only, and there is no other to test it on: leave it out if rows are"
            " independent, or use time if they follow each other."
        )
    if counts.max() == 1:
        raise ValueError(
            f"{label} has a group of its own for every row, so no rows belong together: leave it out."
        )


def _require_times(time: NDArray[np.intp], groups: NDArray[np.intp] | None, label: str) -> None:
    """Raise if two rows of a series have the same time."""
    key = time if groups is None else groups * (int(time.max()) + 1) + time
    n_repeated = len(key) - len(np.unique(key))
    if n_repeated:
        of, more = " of a group", "give every row a time of its own"
        if groups is None:
            of, more = "", f"pass groups too if there are several series, or {more}"
        others = "row has" if n_repeated == 1 else "rows have"
        raise ValueError(f"{label} repeats: {n_repeated:,} {others} the time of another row{of}; {more}.")
