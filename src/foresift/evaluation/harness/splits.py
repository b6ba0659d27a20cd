"""Rows to learn from and rows to judge by: stratified folds, random splits, groups, order in time."""

from __future__ import annotations

import copy
import numbers
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit

from foresift.data.slices import rows_of_split
from foresift.evaluation.harness.tasks import Data, canonical, checksum

__all__ = ["Split", "cv_name", "seed_for", "splits"]


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from and rows to judge by.

    Attributes
    ----------
    repeat, fold : int
        Which one it is, from 0.
    train, test : ndarray of uint32
        Numbers of rows.
    """

    repeat: int
    fold: int
    train: NDArray[np.uint32]
    test: NDArray[np.uint32]

    @cached_property
    def rows(self) -> str:
        """Checksum of the rows."""
        return checksum(canonical([len(self.train)]).encode() + self.train.tobytes() + self.test.tobytes())


def seed_for(random_state: int, *place: int) -> int:
    """Seed of a place in an experiment, such as (repeat, fold): 32 bits from `numpy.random.SeedSequence`.

    Examples
    --------
    >>> seed_for(0, 3, 1) == seed_for(0, 3, 1), seed_for(0, 3, 1) == seed_for(0, 1, 3)
    (True, False)
    """
    return int(np.random.SeedSequence([random_state, *place]).generate_state(1)[0])


def cv_name(cv: Any, *, grouped: bool = False) -> str:
    """Say in a few words how rows are split; a splitter of scikit-learn says it itself.

    Examples
    --------
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> cv_name(10), cv_name(0.3), cv_name(TimeSeriesSplit(3)).split("(")[0]
    ('10 stratified folds', 'random 0.3 for testing', 'TimeSeriesSplit')
    """
    if isinstance(cv, numbers.Integral):
        return f"{int(cv)} stratified folds" + (" of groups" if grouped else "")
    if isinstance(cv, numbers.Real):
        return f"random {float(cv):g} for testing"
    if hasattr(cv, "split"):
        said = " ".join(repr(cv).split())
        # An address differs from run to run. The rows of a split are told by their own checksum.
        return type(cv).__name__ if re.search(r" at 0x[0-9a-f]+", said) else said
    return "given splits"


def splits(data: Data, cv: Any = 10, *, repeats: int = 1, random_state: int = 0) -> list[Split]:
    """Split the rows of a table.

    Parameters
    ----------
    data : Data
        The table.
    cv : int, float, splitter or iterable, default=10
        An int: so many stratified, shuffled folds, none of which parts a group if the data has groups. A
        float: that share of the rows, drawn at random and stratified, for testing. Or any splitter of
        scikit-learn, `TimeSeriesSplit` for instance, or pairs of row numbers or masks of rows, to learn from
        and to judge by; no row may be in both, and no group of the data either.
    repeats : int, default=1
        How many times, each with another seed.
    random_state : int, default=0
        From 0 to 2**32 - 1; the seed of a repeat is ``seed_for(random_state, repeat)``.

    Returns
    -------
    list of Split
        In the order of repeats and folds.

    Examples
    --------
    >>> data = Data.of("toy", np.arange(12.0)[:, np.newaxis], [0, 1] * 6)
    >>> [(split.repeat, split.fold, split.test.tolist()) for split in splits(data, 3)]
    [(0, 0, [2, 5, 6, 11]), (0, 1, [3, 4, 7, 8]), (0, 2, [0, 1, 9, 10])]
    >>> len(splits(data, 0.25, repeats=7))
    7
    """
    if not isinstance(repeats, numbers.Integral) or repeats < 1:
        raise ValueError(f"repeats must be a whole number of at least 1, but is {repeats!r}.")
    if not isinstance(random_state, numbers.Integral) or not 0 <= random_state < 2**32:
        raise ValueError(
            f"random_state is {random_state!r}, but must be a whole number from 0 to 2**32 - 1, so that"
            " results can be found again."
        )
    if cv is None or isinstance(cv, str):
        raise ValueError(
            f"cv is {cv!r}: give a number of folds, a share of the rows for testing, a splitter, or pairs of"
            " row numbers."
        )
    if not isinstance(cv, numbers.Real) and not hasattr(cv, "split"):
        cv = list(cv)  # it may be an iterator
    found = []
    for repeat in range(int(repeats)):
        for fold, pair in enumerate(_split(data, cv, seed_for(random_state, repeat))):
            train, test = rows_of_split(pair, data.n_rows, fold)
            _require_apart(data, fold, train, test)
            found.append(Split(repeat, fold, train.astype(np.uint32), test.astype(np.uint32)))
    if repeats > 1 and found and len({split.rows for split in found}) * repeats <= len(found):
        raise ValueError(
            f"cv ({cv_name(cv)}) splits the same way every time: leave repeats at 1, or its random_state"
            " None."
        )
    if not found:
        raise ValueError("cv makes no splits: give a number of folds of at least 2, or a splitter.")
    return found


def _require_apart(data: Data, fold: int, train: NDArray[np.intp], test: NDArray[np.intp]) -> None:
    for rows, what in ((train, "learn from"), (test, "judge by")):
        if len(np.unique(rows)) < len(rows):
            raise ValueError(f"Split {fold} of cv has a row twice among those to {what}: give each once.")
    both = np.intersect1d(train, test)
    if len(both):
        raise ValueError(
            f"Split {fold} of cv has row {both[0]} both to learn from and to judge by: scores of rows that"
            " were learned say nothing."
        )
    if data.groups is None:
        return
    parted = set(data.groups[train].tolist()) & set(data.groups[test].tolist())
    if parted:
        raise ValueError(
            f"Split {fold} of cv has rows of group {min(parted, key=str)!r} both to learn from and to judge"
            " by: use a number of folds, or a splitter that minds groups, such as GroupKFold."
        )


def _split(data: Data, cv: Any, seed: int) -> Iterator[tuple[Any, Any]]:
    rows = np.zeros((data.n_rows, 1))
    if isinstance(cv, numbers.Integral):
        splitter = _folds(data, int(cv), seed)
    elif isinstance(cv, numbers.Real):
        if not 0 < float(cv) < 1:
            raise ValueError(f"cv={cv} must be a share of the rows between 0 and 1, or a number of folds.")
        if data.groups is not None:
            raise ValueError(
                "A random share would part the groups: use a number of folds, or GroupShuffleSplit."
            )
        splitter = StratifiedShuffleSplit(1, test_size=float(cv), random_state=seed)
    elif hasattr(cv, "split"):
        splitter = copy.deepcopy(cv)
        if getattr(splitter, "random_state", 0) is None:
            splitter.random_state = seed
    else:
        return iter(cv)
    return iter(splitter.split(rows, data.y, data.groups))


def _folds(data: Data, n_folds: int, seed: int) -> Any:
    labels, counts = np.unique(data.y.astype(str) if data.y.dtype == object else data.y, return_counts=True)
    if n_folds < 2:
        raise ValueError(f"cv must be at least 2 folds, but is {n_folds}.")
    if counts.min() < n_folds:
        raise ValueError(
            f"Class {labels[counts.argmin()]} has {counts.min()} rows, fewer than the {n_folds} folds: use"
            " fewer folds, a share of the rows for testing (cv=0.3), or drop or merge such classes."
        )
    if data.groups is not None:
        return StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    return StratifiedKFold(n_folds, shuffle=True, random_state=seed)
