"""What a selector ranks, and keeps or drops whole: single columns, and groups of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.containers import label_of
from foresift.data.plain_state import saved
from foresift.data.values import is_missing

__all__ = ["Units", "read_units"]

Names = tuple[str, ...] | None


@saved
@dataclass(frozen=True, eq=False)
class Units:
    """The units of a table: a column by itself, or a group of columns that stand or fall together.

    Free units are those that are not kept by request: they are what is ranked, numbered from 0 in the order
    of their first columns.

    Attributes
    ----------
    of_column : ndarray of int of shape (n_columns,)
        Number of the unit of every column, in the order of their first columns.
    kept : ndarray of bool of shape (n_columns,)
        Mask of the columns that are kept by request.
    labels : tuple of str
        The name of every unit: that of the group, or of the column.

    Examples
    --------
    >>> units = read_units(["age"], {"colour": "colour_*"}, ("age", "colour_red", "size", "colour_blue"), 4)
    >>> units.of_column, units.kept, units.labels, units.n_free
    (array([0, 1, 2, 1]), array([ True, False, False, False]), ('age', 'colour', 'size'), 2)
    >>> units.columns([0])
    array([0, 1, 3])
    >>> units.spread(np.array([0.5, 0.1]), np.nan)
    array([nan, 0.5, 0.1, 0.5])
    """

    of_column: NDArray[np.intp]
    kept: NDArray[np.bool_]
    labels: tuple[str, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.of_column)

    @cached_property
    def trivial(self) -> bool:
        """Whether every column is a unit, and none is kept by request."""
        return len(self.labels) == self.n_columns and not self.kept.any()

    @cached_property
    def free_of_column(self) -> NDArray[np.intp]:
        """Number of the free unit of every column, -1 for kept ones."""
        numbers = np.full(len(self.labels), -1, dtype=np.intp)
        free = np.unique(self.of_column[~self.kept])
        numbers[free] = np.arange(len(free))
        return np.asarray(numbers[self.of_column])

    @cached_property
    def members(self) -> list[NDArray[np.intp]]:
        """The columns of every free unit."""
        order = np.argsort(self.free_of_column, kind="stable")[np.count_nonzero(self.kept) :]
        return np.split(order, np.flatnonzero(np.diff(self.free_of_column[order])) + 1)

    @cached_property
    def large(self) -> list[int]:
        """Numbers of the free units of several columns."""
        sizes = np.bincount(self.free_of_column[~self.kept], minlength=self.n_free)
        return np.flatnonzero(sizes > 1).tolist()

    @cached_property
    def n_free(self) -> int:
        """Number of free units."""
        return int(self.free_of_column.max()) + 1

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Number of columns in the unit of every column."""
        return np.asarray(np.bincount(self.of_column)[self.of_column])

    @cached_property
    def first(self) -> NDArray[np.intp]:
        """The first column of every free unit."""
        return np.unique(self.free_of_column, return_index=True)[1][-self.n_free :]

    @cached_property
    def unequal(self) -> bool:
        """Whether some free unit has more columns than another."""
        return len({len(columns) for columns in self.members}) > 1

    def columns(self, free: Iterable[int]) -> NDArray[np.intp]:
        """The columns of some free units and the kept ones, in rising order."""
        chosen = np.zeros(self.n_free, dtype=bool)
        chosen[list(free)] = True
        return np.flatnonzero(self.spread(chosen, True))

    def spread(self, values: NDArray[Any], kept: Any) -> NDArray[Any]:
        """Give every column the value of its free unit, and kept ones another."""
        return np.append(values, np.array(kept, dtype=values.dtype))[self.free_of_column]

    def best_members(self, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """The column of the highest value in every free unit: of equal ones the first, NaN is the lowest."""
        if self.trivial:
            return self.first
        best_first = np.lexsort((-np.where(np.isnan(values), -np.inf, values), self.free_of_column))
        starts = np.searchsorted(self.free_of_column[best_first], np.arange(self.n_free))
        return np.asarray(best_first[starts])

    def n_free_in(self, columns: Iterable[int]) -> int:
        """How many free units some columns belong to."""
        found = np.unique(self.free_of_column[list(columns)])
        return int(np.count_nonzero(found >= 0))


def read_units(
    keep: Any,
    feature_groups: Any,
    names: Names,
    n_columns: int,
    one_hot: Callable[[], list[list[int]]] | None = None,
) -> Units:
    """Check which columns are kept by request, and which belong together.

    Parameters
    ----------
    keep : array-like or None
        Names or numbers of columns, or a mask.
    feature_groups : mapping, list, array-like, "one-hot" or None
        By label, or as a list: lists of columns (names or numbers), or patterns of names such as
        ``"sensor3_*"``, in which upper and lower case differ. Or a label for every column, where None and NaN
        say that it stands alone. Columns in no group stand alone.
    names : tuple of str or None
        The names of the columns.
    n_columns : int
        Their number.
    one_hot : callable or None
        Finds the blocks of ``feature_groups="one-hot"``.

    Returns
    -------
    Units
        A kept column keeps its whole group.

    Examples
    --------
    >>> read_units([0], ["a", "b", None, "b"], None, 4).of_column
    array([0, 1, 2, 1])
    >>> read_units(["weight"], None, ("age", "size"), 2)
    Traceback (most recent call last):
        ...
    ValueError: keep names 'weight', which is no column of X: name columns of X, or give their numbers.
    """
    if keep is None and feature_groups is None:
        labels_of_all = names or tuple(label_of(None, column) for column in range(n_columns))
        return Units(np.arange(n_columns), np.zeros(n_columns, dtype=bool), labels_of_all)
    keep, feature_groups = (_by_name(given, names) for given in (keep, feature_groups))
    groups = list(_groups(feature_groups, names, n_columns, one_hot))
    owner: dict[int, int] = {}
    for number, (_, columns) in enumerate(groups):
        for column in columns:
            if column in owner:
                raise ValueError(
                    f"feature_groups has {label_of(names, column)} twice: leave every column in one group."
                )
            owner[column] = number
    numbers: dict[int, int] = {}  # of a unit, by its group or, below 0, its column
    labels: list[str] = []
    of_column = np.empty(n_columns, dtype=np.intp)
    for column in range(n_columns):
        key = owner.get(column, -1 - column)
        if key not in numbers:
            numbers[key] = len(labels)
            single = label_of(names, column) if names is None else names[column]
            labels.append(single if key < 0 else groups[key][0])
        of_column[column] = numbers[key]
    kept = np.zeros(len(labels), dtype=bool)
    kept[of_column[_kept_columns(keep, names, n_columns)]] = True
    if kept.all():
        whole = "" if len(labels) == n_columns else ", with the groups they are in"
        raise ValueError(f"keep names every column{whole}: leave out what may be dropped.")
    return Units(of_column, kept[of_column], tuple(labels))


def _by_name(given: Any, names: Names) -> Any:
    """A series with a value for every column, in the order of the columns; anything else as it is."""
    if names is None or not hasattr(given, "reindex") or sorted(map(str, given.index)) != sorted(names):
        return given
    return given.reindex(list(names))


def _kept_columns(keep: Any, names: Names, n_columns: int) -> list[int]:
    if keep is None:
        return []
    if isinstance(keep, str):
        raise ValueError(f"keep is the text {keep!r}: give a list of columns, keep=[{keep!r}].")
    if not _is_list(keep):
        raise ValueError(f"keep must be a list of columns, or a mask, but is {keep!r}.")
    wanted = list(keep)
    if wanted and all(isinstance(item, bool | np.bool_) for item in wanted):
        if len(wanted) != n_columns:
            raise ValueError(
                f"keep is a mask of {len(wanted)} columns, but X has {n_columns}: give one value per column."
            )
        return np.flatnonzero(wanted).tolist()
    columns = _numbers(wanted, "keep", names, n_columns)
    twice = [column for at, column in enumerate(columns) if column in columns[:at]]
    if twice:
        raise ValueError(f"keep has {label_of(names, twice[0])} twice: name every column once.")
    return columns


def _groups(
    given: Any, names: Names, n_columns: int, one_hot: Callable[[], list[list[int]]] | None
) -> Iterator[tuple[str, list[int]]]:
    """The groups by label."""
    if given is None:
        return
    if isinstance(given, str) or not _is_list(given):
        yield from _one_hot_groups(given, names, one_hot)
        return
    if isinstance(given, Mapping):
        for label, columns in given.items():
            yield str(label), _members(columns, str(label), names, n_columns)
        return
    items = list(given)
    if names is not None and len(items) == n_columns and not _match_any(items, names):
        yield from _labelled(items, n_columns)  # even if they look like patterns
    elif any(_is_list(item) or (isinstance(item, str) and _is_pattern(item)) for item in items):
        for number, item in enumerate(items):
            label = item if isinstance(item, str) else f"group {number + 1}"
            yield label, _members(item, label, names, n_columns)
    elif items:
        yield from _labelled(items, n_columns)


def _labelled(labels: list[Any], n_columns: int) -> Iterator[tuple[str, list[int]]]:
    if len(labels) != n_columns:
        raise ValueError(
            f"feature_groups has {len(labels)} labels, but X has {n_columns} columns: give one label per"
            " column, lists of columns, or patterns such as 'sensor3_*'."
        )
    groups: dict[Any, list[int]] = {}
    for column, label in enumerate(labels):
        if not is_missing(label):
            groups.setdefault(label, []).append(column)
    yield from ((str(label), columns) for label, columns in groups.items())


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def _match_any(items: list[Any], names: tuple[str, ...]) -> bool:
    """Whether any item is a list, or a pattern of one of the names."""
    return any(
        _is_list(item)
        or (isinstance(item, str) and _is_pattern(item) and any(fnmatchcase(n, item) for n in names))
        for item in items
    )


def _is_list(item: Any) -> bool:
    return isinstance(item, Iterable) and not isinstance(item, str | bytes) and getattr(item, "ndim", 1) > 0


def _members(wanted: Any, label: str, names: Names, n_columns: int) -> list[int]:
    """The columns of a group: of a pattern of names, or of a list."""
    if isinstance(wanted, str):
        if names is None:
            raise ValueError(
                f"feature_groups has the pattern {wanted!r}, but X has no column names: give column numbers,"
                " or pass a data frame."
            )
        found = [j for j, name in enumerate(names) if name == wanted or fnmatchcase(name, wanted)]
        if not found:
            raise ValueError(
                f"feature_groups has the pattern {wanted!r}, which matches no column of X: correct it, or"
                " leave it out."
            )
        return found
    if not _is_list(wanted):
        raise ValueError(f"feature_groups has {wanted!r} for a group: give a list of columns or a pattern.")
    columns = _numbers(wanted, f"group {label!r} of feature_groups", names, n_columns)
    if not columns:
        raise ValueError(f"feature_groups has no column in {label!r}: name its columns, or leave it out.")
    return columns


def _numbers(wanted: Any, what: str, names: Names, n_columns: int) -> list[int]:
    """Numbers of columns that are given by name or number."""
    position = {name: j for j, name in enumerate(names or ())}
    columns = []
    for item in wanted:
        if isinstance(item, str) and names is None:
            raise ValueError(
                f"{what} names {item!r}, but X has no column names: give numbers, or pass a data frame."
            )
        whole = isinstance(item, int | np.integer) and not isinstance(item, bool | np.bool_)
        column = position.get(item, -1) if isinstance(item, str) else int(item) if whole else -1
        if not 0 <= column < n_columns:
            raise ValueError(
                f"{what} names {item!r}, which is no column of X: name columns of X, or give their numbers."
            )
        columns.append(column)
    return columns


def _one_hot_groups(
    given: Any, names: Names, one_hot: Callable[[], list[list[int]]] | None
) -> Iterator[tuple[str, list[int]]]:
    if not isinstance(given, str) or given != "one-hot":
        raise ValueError(
            f'feature_groups is {given!r}: give "one-hot", or a list of patterns or of lists of columns, such'
            " as ['sensor1_*'].",
        )
    if names is None:
        raise ValueError(
            'feature_groups="one-hot" reads the names of the columns, and X has none: let the encoder return'
            ' a data frame (set_output(transform="pandas")), or give a label for every column.'
        )
    blocks = [] if one_hot is None else one_hot()
    if not blocks:
        raise ValueError(
            'feature_groups="one-hot" finds no columns of 0 and 1 named like colour_red and colour_blue of'
            " which at most one is 1 in every row: leave it out, or give the groups."
        )
    for columns in blocks:
        yield _shared_prefix([names[column] for column in columns]), columns


def _shared_prefix(names: list[str]) -> str:
    shared = min(names)
    while not all(name.startswith(shared + "_") for name in names):
        shared = shared.rpartition("_")[0]
    return shared
