"""Training and test rows: every fold of the package is made here."""

from __future__ import annotations

import copy
import numbers
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit

from foresift.data.dependence import Dependence
from foresift.data.table import Table
from foresift.data.target import Quantity, Target
from foresift.data.time_blocks import correlation_length, last_rows, time_blocks

__all__ = [
    "Fold",
    "gap_of",
    "in_blocks_of_time",
    "make_folds",
    "quantile_strata",
    "require_apart",
    "rows_of_split",
    "splits_of",
]

MAX_STRATA = 10  # quantiles of a quantity


class Fold(NamedTuple):
    """Row numbers for training and for testing."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def make_folds(table: Table, weights: NDArray[np.float64] | None, cv: Any, seed: int) -> list[Fold]:
    """Assign the rows of positive weight to folds; see `splits_of` for `cv`.

    Classes are strata of a number of folds. For a quantity there are none, as in scikit-learn, unless whole
    groups are assigned: see `Table.dependence`.

    Raises
    ------
    ValueError
        If a fold has no test rows, or a class has no training rows in it.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> table = make_table(np.arange(6.0)[:, np.newaxis], list("aaabbb"))
    >>> [fold.test.size for fold in make_folds(table, None, 3, seed=0)]
    [2, 2, 2]
    """
    codes, labels = table.target.strata(1), getattr(table.target, "labels", None)
    used = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights > 0)
    # Given folds number all rows; a splitter sees those that are used.
    rows = used if isinstance(cv, numbers.Real) or hasattr(cv, "split") else np.arange(table.n_rows)
    present = np.unique(codes[used])
    folds, strata = [], codes[rows]
    how: dict[str, Any] = {}
    if table.dependence is not None:
        target, some = table.target.take(rows), table.dependence.take(rows)
        if isinstance(target, Quantity) and isinstance(cv, numbers.Real):
            strata = quantile_strata(target, cv)
        how = {"dependence": some, "gap": gap_of(target, some)}
    for number, (train, test) in enumerate(splits_of(cv, strata, seed, labels=labels, **how)):
        fold = Fold(np.intersect1d(rows[train], used), np.intersect1d(rows[test], used))
        lacking = np.setdiff1d(present, codes[fold.train])
        if len(lacking) or not len(fold.test):
            what = "test rows"
            if len(lacking) and labels is not None:
                what = f"training rows of class {labels.tolist()[lacking[0]]!r}"
            rare = "" if labels is None else ", or drop or merge rare classes"
            raise ValueError(
                f"Split {number} of cv has no {what}: use a number of folds, or fewer of them{rare}."
            )
        folds.append(fold)
    return folds


def gap_of(target: Target, dependence: Dependence) -> int:
    """Times between training and test rows in folds of time: the correlation length of the target."""
    return 0 if dependence.time is None else correlation_length(target, dependence)


def in_blocks_of_time(n_folds: int, dependence: Dependence | None) -> bool:
    """Whether a number of folds are blocks of time: not of groups, unless a panel has fewer of them."""
    if dependence is None or dependence.time is None:
        return False
    return dependence.groups is None or dependence.n_groups < n_folds


def splits_of(
    cv: Any,
    codes: NDArray[Any],
    seed: int = 0,
    *,
    labels: NDArray[Any] | None = None,
    dependence: Dependence | None = None,
    gap: int = 1,
) -> Iterator[Fold]:
    """Split rows as `cv` says.

    Parameters
    ----------
    cv : int, float, splitter or iterable
        An int: the number of stratified, shuffled folds; groups stay together. A float: one random,
        stratified split with this share of test rows. Or a splitter of scikit-learn, or pairs of row numbers
        or masks.
        No row, and no group, may be on both sides of a split.
        In time, an int is a number of blocks with a gap around each, a float the share of the last rows, and
        a splitter sees the rows in the order of time. A panel is split by its groups; by time if there are
        fewer groups than folds, or by a float or a splitter.
    codes : ndarray of shape (n,)
        Class or stratum of every row, see `quantile_strata`.
    seed : int, default=0
        Seeds the split, also of a splitter whose `random_state` is None.
    labels : ndarray, default=None
        What messages call the classes; None calls them by their codes.
    dependence : Dependence, default=None
        Which rows belong together.
    gap : int, default=1
        See `gap_of`.

    Examples
    --------
    >>> [fold.test.tolist() for fold in splits_of(2, np.array([0, 1, 0, 1]))]
    [[1, 2], [0, 3]]
    """
    dependence = dependence or Dependence()
    groups, time, ours = dependence.groups, dependence.time, isinstance(cv, numbers.Real)
    order = np.arange(len(codes))
    if isinstance(cv, numbers.Integral):
        if time is not None and in_blocks_of_time(int(cv), dependence):
            cv = time_blocks(time, _require_two(int(cv)), gap)
        else:
            cv, time = _stratified(int(cv), codes, seed, groups, labels), None
    elif isinstance(cv, numbers.Real):
        if not 0 < float(cv) < 1:
            raise ValueError(f"cv={cv} must be a share of the rows between 0 and 1, or a number of folds.")
        if time is not None:
            cv = last_rows(time, float(cv), gap)
        elif groups is not None:
            raise ValueError("A random share splits groups: use a number of folds, or GroupShuffleSplit.")
        else:
            cv = StratifiedShuffleSplit(1, test_size=float(cv), random_state=seed % 2**32)
    elif hasattr(cv, "split") and not isinstance(cv, str | bytes):
        order = order if time is None else np.argsort(time, kind="stable")
        cv = copy.deepcopy(cv)
        if getattr(cv, "random_state", 0) is None:
            cv.random_state = seed % 2**32
    elif not isinstance(cv, Iterable) or isinstance(cv, str | bytes) or getattr(cv, "ndim", 1) == 0:
        raise ValueError(
            f"cv is {cv!r}: give a number of folds, a share of the rows for testing, a splitter, or pairs of"
            " row numbers."
        )
    if hasattr(cv, "split"):
        pairs = cv.split(np.zeros((len(codes), 1)), codes[order], None if groups is None else groups[order])
    else:
        pairs = cv
    number = -1
    for number, pair in enumerate(pairs):
        fold = rows_of_split(pair, len(codes), number)
        fold = Fold(order[fold.train], order[fold.test])
        require_apart(fold, f"Split {number} of cv", None if ours else dependence)
        yield fold
    if number < 0:
        raise ValueError("cv makes no splits: give a number of folds of at least 2, or a splitter.")


def quantile_strata(target: Quantity, cv: Any) -> NDArray[Any]:
    """Strata of a quantity for `splits_of`: up to ten quantiles, each with a row for every part of a split.

    Equal numbers share a stratum, so there are fewer if many are equal. A splitter gets the quantity itself.

    Examples
    --------
    >>> quantile_strata(Quantity(np.array([7.0, 1, 5, 2, 9, 8])), 3), np.bincount(
    ...     quantile_strata(Quantity(np.arange(100.0)), 10)
    ... )
    (array([1, 0, 0, 0, 1, 1]), array([10, 10, 10, 10, 10, 10, 10, 10, 10, 10]))
    """
    if not isinstance(cv, numbers.Real):
        return target.y
    smaller = min(float(cv), 1 - float(cv))  # share of the smaller part of a random split
    least = cv if isinstance(cv, numbers.Integral) else 1 / smaller if smaller > 0 else 1
    tried = (target.strata(n) for n in range(MAX_STRATA, 1, -1))
    return next((strata for strata in tried if np.bincount(strata).min() >= least), target.strata(1))


def _stratified(
    n_folds: int, codes: NDArray[Any], seed: int, groups: NDArray[Any] | None, labels: NDArray[Any] | None
) -> Any:
    _require_two(n_folds)
    n_groups = n_folds if groups is None else len(np.unique(groups))
    if n_groups < n_folds:
        raise ValueError(f"There are {n_groups} groups, fewer than the {n_folds} folds: lower cv.")
    present, counts = np.unique(codes, return_counts=True)
    if len(present) == 1 and counts[0] < n_folds:
        raise ValueError(f"There are {counts[0]} rows, fewer than the {n_folds} folds: lower cv.")
    if counts.min() < n_folds:
        rarest = present[counts.argmin()]
        label = rarest if labels is None else labels.tolist()[rarest]
        raise ValueError(
            f"Class {label!r} has {counts.min()} rows, fewer than the {n_folds} folds: lower cv, or drop or"
            " merge rare classes."
        )
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    return splitter(n_folds, shuffle=True, random_state=seed % 2**32)


def _require_two(n_folds: int) -> int:
    if n_folds < 2:
        raise ValueError(f"cv must be at least 2 folds, but is {n_folds}.")
    return n_folds


def require_apart(fold: Fold, where: str, dependence: Dependence | None) -> None:
    """Raise if a row or a group is on both sides of a split.

    Rows of a group may be if there are times, and the test rows are all after or all before the others.
    """
    for rows, kind in zip(fold, ("training", "test"), strict=True):
        if len(np.unique(rows)) < len(rows):
            raise ValueError(f"{where} has a row twice among its {kind} rows: give each once.")
    both = np.intersect1d(*fold)
    if len(both):
        raise ValueError(
            f"{where} has row {both[0]} for training and for testing: scores of training rows say nothing."
        )
    groups = None if dependence is None else dependence.groups
    if groups is None or _in_other_times(fold, dependence):
        return
    shared, train, test = np.intersect1d(groups[fold.train], groups[fold.test], return_indices=True)
    if len(shared):
        one, other = fold.train[train[0]], fold.test[test[0]]
        raise ValueError(
            f"{where} has row {one} for training and row {other} of the same group for testing: use a number"
            " of folds, or a splitter for groups, such as GroupKFold."
        )


def _in_other_times(fold: Fold, dependence: Dependence | None) -> bool:
    """Whether no training row is between the times of the test rows."""
    if dependence is None or dependence.time is None:
        return False
    train, test = dependence.time[fold.train], dependence.time[fold.test]
    return not ((train > test.min()) & (train < test.max())).any()


def rows_of_split(pair: Any, n_rows: int, number: int) -> Fold:
    """Read a split that a user may have written: row numbers or masks, for training and for testing.

    Examples
    --------
    >>> rows_of_split(([0, 1], [False, False, True]), 3, number=0)
    Fold(train=array([0, 1]), test=array([2]))
    >>> rows_of_split(([0, 1], [3]), 3, number=0)
    Traceback (most recent call last):
        ...
    ValueError: Split 0 of cv has the test row 3: rows are numbered from 0 to 2.
    """
    try:
        train, test = map(np.asarray, pair)
    except (TypeError, ValueError):
        raise ValueError(
            f"Split {number} of cv is no pair of training rows and test rows: give two lists of row numbers,"
            " or two masks."
        ) from None
    where = f"Split {number} of cv"
    return Fold(_row_numbers(train, n_rows, where, "training"), _row_numbers(test, n_rows, where, "test"))


def _row_numbers(rows: NDArray[Any], n_rows: int, where: str, kind: str) -> NDArray[np.intp]:
    if rows.dtype == bool:
        if rows.shape != (n_rows,):
            raise ValueError(
                f"{where} has a mask of shape {rows.shape} for its {kind} rows: give one value for each of"
                f" {n_rows} rows, or row numbers."
            )
        rows = np.flatnonzero(rows)
    if not rows.size:
        raise ValueError(f"{where} has no {kind} rows.")
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(f"{where}: give the {kind} rows as a list of whole numbers, or as a mask.")
    if rows.min() < 0 or rows.max() >= n_rows:
        wrong = rows.min() if rows.min() < 0 else rows.max()
        raise ValueError(f"{where} has the {kind} row {wrong}: rows are numbered from 0 to {n_rows - 1}.")
    return rows.astype(np.intp)
