"""Which rows the check looks at, and which of them are in which fold."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.folds import Fold, make_folds, require_apart, splits_of
from foresift.evaluation.select.fitted import N_STRATA, Rows
from foresift.evaluation.select.judging import Judge
from foresift.report.numbers import counted

__all__ = [
    "NoFolds",
    "dealt",
    "drawn_rows",
    "fills_parts",
    "folds_of",
    "in_parts",
    "rare_classes",
    "require_folds",
    "why_not",
]

MIN_OF_A_CLASS = 6  # rows; rarer classes cannot be in every fold and beside any two of them
MIN_FOLDS = 3  # two of which are held out at a time
LEAST = 20  # rows
MIN_IN_PART = 20  # rows of each class, in each of the disjoint parts of a large table
MANY_GROUPS = 30  # of a large table whole groups are drawn if they are so many


class NoFolds(ValueError):
    """Rows that depend on each other cannot be split into these folds."""


def folds_of(
    used: Rows, cv: Any, n_folds: int, seed: int, places: NDArray[np.intp], n_rows: int
) -> list[Fold]:
    """Folds as `cv` says: a splitter sees the rows that are used, pairs number all of them.

    None is so many folds, or if there are fewer groups as many as these.
    """
    if cv is None:
        depends = used.table.dependence
        if depends is not None and depends.kind == "groups":
            n_folds = max(MIN_FOLDS, min(n_folds, depends.n_groups))
        return _drawn_folds(used, n_folds, seed)
    if isinstance(cv, numbers.Integral):
        return _drawn_folds(used, int(cv), seed)
    if hasattr(cv, "split"):
        some = used.table.dependence
        folds = list(splits_of(cv, used.table.target.strata(N_STRATA), seed, dependence=some))
        folds = [Fold(np.sort(fold.train), fold.test) for fold in folds]
    else:
        numbered = splits_of(cv, np.zeros(n_rows, dtype=np.intp), seed)
        folds = [Fold(*(np.flatnonzero(np.isin(places, part)) for part in fold)) for fold in numbered]
        for number, fold in enumerate(folds):
            require_apart(fold, f"Split {number} of cv", used.table.dependence)
    tested = np.bincount(np.concatenate([fold.test for fold in folds]))
    if (tested > 1).any():
        raise ValueError(
            f"The {len(folds)} splits of cv test {np.count_nonzero(tested > 1):,} of the {len(used):,} rows"
            " more than once, but each may be tested once: use a number of folds, or a splitter such as"
            " KFold."
        )
    return folds


def _drawn_folds(rows: Rows, n_folds: int, seed: int) -> list[Fold]:
    """Folds of every class in proportion, or of every size of a quantity; groups are whole."""
    target = rows.table.target
    if n_folds < MIN_FOLDS:
        raise ValueError(f"cv must be at least {MIN_FOLDS} folds, but is {n_folds}.")
    if rows.table.dependence is not None:
        try:
            return make_folds(rows.table, None, n_folds, seed)
        except ValueError as error:
            raise NoFolds(str(error)) from error
    if target.task == "classification":
        return list(splits_of(n_folds, target.strata(1), seed))
    everything = np.arange(len(rows))
    return [Fold(np.setdiff1d(everything, part), part) for part in dealt(target.values(), n_folds, seed)]


def in_parts(folds: list[Fold]) -> list[Fold]:
    """Folds whose rows are disjoint, from the tests of others, and as many that choose sizes for them.

    Examples
    --------
    >>> folds = [Fold(np.empty(0), np.array([k])) for k in range(3)]
    >>> [(int(fold.train[0]), int(fold.test[0])) for fold in in_parts(folds)]
    [(0, 2), (1, 0), (2, 1), (0, 1), (1, 2), (2, 0)]
    """
    parts, n = [np.sort(fold.test) for fold in folds], len(folds)
    return [Fold(parts[k], parts[(k + after) % n]) for after in (2, 1) for k in range(n)]


def fills_parts(rows: Rows, n_parts: int) -> bool:
    """Whether every one of so many parts has enough rows of every class."""
    if rows.table.dependence is not None:
        return False
    counts = np.bincount(rows.strata)
    return bool(counts[counts > 0].min() >= n_parts * MIN_IN_PART)


def require_folds(folds: list[Fold], lots: list[Fold], rows: Rows, judge: Judge) -> None:
    """Refuse folds that are too few or too small, and lots of them that leave nothing to learn from."""
    if len(folds) < MIN_FOLDS:
        raise ValueError(f"cv makes {len(folds)} folds: the check needs at least {MIN_FOLDS}.")
    least = min(len(fold.test) for fold in folds)
    if least < judge.least_rows:
        raise ValueError(
            f"A fold of cv has {counted(least, 'row')}, but {judge.metric} needs at least {judge.least_rows}:"
            ' use fewer folds, or another score, such as scoring="neg_mean_absolute_error".'
        )
    if not all(len(lot.train) for lot in lots):
        raise ValueError(
            "Two splits of cv have no training row in common: the size of one is chosen by the other. Use a"
            " number of folds, or a splitter such as KFold."
        )
    target = rows.table.target
    if rows.table.dependence is None or target.task == "regression":
        return
    for lot in lots:
        lacking = np.setdiff1d(target.codes, target.codes[lot.train])
        if len(lacking):
            raise NoFolds(
                f"Class {target.labels.tolist()[lacking[0]]!r} is in too few groups or blocks of time to be"
                " among the training rows of every fold: use other folds, or leave the check out."
            )


def dealt(y: NDArray[np.float64], n_folds: int, seed: int) -> list[NDArray[np.intp]]:
    """Deal rows to folds in the order of y, so that every fold has small and large ones alike.

    Examples
    --------
    >>> y = np.arange(6.0)
    >>> [np.sort(y[fold] // 2).tolist() for fold in dealt(y, 2, 0)]
    [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]
    """
    rng = np.random.default_rng([seed, 4])
    order = np.lexsort((rng.random(len(y)), y))
    hands = np.tile(np.arange(n_folds), (-(-len(y) // n_folds), 1))
    fold_of = np.empty(len(y), dtype=np.intp)
    fold_of[order] = rng.permuted(hands, axis=1).ravel()[: len(y)]
    return [np.flatnonzero(fold_of == fold) for fold in range(n_folds)]


def rare_classes(rows: Rows) -> NDArray[np.intp]:
    """Classes with too few rows."""
    if rows.table.target.task == "regression":
        return np.empty(0, dtype=np.intp)
    counts = np.bincount(rows.strata[rows.counting])
    return np.flatnonzero((counts > 0) & (counts < MIN_OF_A_CLASS))


def why_not(rows: Rows) -> str | None:
    """Say why rows cannot be checked, or None if they can.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> y = np.array([0, 1] * 8)
    >>> why_not(Rows(make_table(y[:, np.newaxis], y), y))
    'it needs 20 rows in classes of at least 6, and there are 16'
    """
    common = rows.strata[rows.counting & ~np.isin(rows.strata, rare_classes(rows))]
    if rows.table.target.task == "regression":
        return f"it needs {LEAST} rows, and there are {len(common)}" if len(common) < LEAST else None
    if len(common) < LEAST:
        return f"it needs {LEAST} rows in classes of at least {MIN_OF_A_CLASS}, and there are {len(common)}"
    if len(np.unique(common)) < 2:
        return f"only one class has the {MIN_OF_A_CLASS} rows that it needs of each"
    return None


def drawn_rows(
    rows: Rows, among: NDArray[np.intp], n_rows: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Some of the rows of a large table: of every class in proportion, or whole groups, or the latest.

    Of few large groups some rows of each are drawn.
    """
    depends = rows.table.dependence
    if depends is None:
        return _stratified_rows(among, rows.strata, n_rows, rng)
    own = depends.take(among)
    if own.groups is not None and depends.groups is not None:
        order = rng.permutation(own.n_groups)
        n_groups = 1 + int(np.searchsorted(np.cumsum(np.bincount(own.groups)[order]), n_rows))
        if n_groups >= MANY_GROUPS:
            return among[np.isin(own.groups, order[:n_groups])]
        if own.time is None:
            return _stratified_rows(among, depends.groups, n_rows, rng)
    assert own.time is not None
    return among[np.sort(np.argsort(own.time, kind="stable")[-n_rows:])]


def _stratified_rows(
    rows: NDArray[np.intp], strata: NDArray[np.intp], n_rows: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows drawn from every stratum in proportion, of each at least as many as the folds need."""
    drawn = []
    for label in np.unique(strata[rows]):
        own = rows[strata[rows] == label]
        n_own = max(MIN_OF_A_CLASS, round(n_rows * len(own) / len(rows)))
        drawn.append(rng.permutation(own)[:n_own])
    return np.sort(np.concatenate(drawn))
