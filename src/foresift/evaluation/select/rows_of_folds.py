"""Which rows the check looks at, and which of them are in which fold."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.folds import splits_of
from foresift.evaluation.select.fitted import N_STRATA, Rows
from foresift.evaluation.select.judging import Judge
from foresift.report.numbers import counted

__all__ = [
    "dealt",
    "drawn_folds",
    "given_folds",
    "rare_classes",
    "require_folds",
    "stratified_rows",
    "why_not",
]

MIN_OF_A_CLASS = 6  # rows; rarer classes cannot be in every fold and beside any two of them
MIN_FOLDS = 3  # two of which are held out at a time
LEAST = 20  # rows


def given_folds(
    used: Rows, places: NDArray[np.intp], n_rows: int, cv: Any, seed: int
) -> list[NDArray[np.intp]]:
    """Rows of every fold as `cv` says: a splitter sees the rows that are used, pairs number all of them."""
    if isinstance(cv, numbers.Integral):
        return drawn_folds(used, int(cv), seed)
    if hasattr(cv, "split"):
        folds = list(splits_of(cv, used.table.target.strata(N_STRATA), seed))
        parts, trained = [fold.test for fold in folds], [len(fold.train) for fold in folds]
    else:
        folds = list(splits_of(cv, np.zeros(n_rows, dtype=np.intp), seed))
        parts = [np.flatnonzero(np.isin(places, fold.test)) for fold in folds]
        trained = [int(np.isin(places, fold.train).sum()) for fold in folds]
    tested = np.bincount(np.concatenate(parts), minlength=len(used))
    if (tested != 1).any():
        raise ValueError(
            f"The {len(parts)} splits of cv test {np.count_nonzero(tested == 1):,} of the {len(used):,} rows"
            " once, but every row must be tested once: use a number of folds, or a splitter such as KFold."
        )
    if any(n + len(part) != len(used) for n, part in zip(trained, parts, strict=True)):
        raise ValueError(
            "The splits of cv leave rows out that are neither trained on nor tested: the check trains on all"
            " rows that are not tested. Use a number of folds, or a splitter such as KFold."
        )
    return parts


def drawn_folds(rows: Rows, n_folds: int, seed: int) -> list[NDArray[np.intp]]:
    """Rows of every fold: of every class in proportion, or of every size of a quantity."""
    target = rows.table.target
    if n_folds < MIN_FOLDS:
        raise ValueError(f"cv must be at least {MIN_FOLDS} folds, but is {n_folds}.")
    if target.task == "classification":
        return [fold.test for fold in splits_of(n_folds, target.strata(1), seed)]
    return dealt(target.values(), n_folds, seed)


def require_folds(parts: list[NDArray[np.intp]], judge: Judge) -> None:
    """Refuse folds that are too few, or too small for the score."""
    if len(parts) < MIN_FOLDS:
        raise ValueError(f"cv makes {len(parts)} folds: the check needs at least {MIN_FOLDS}.")
    least = min(map(len, parts))
    if least < judge.least_rows:
        raise ValueError(
            f"A fold of cv has {counted(least, 'row')}, but {judge.metric} needs at least {judge.least_rows}:"
            ' use fewer folds, or another score, such as scoring="neg_mean_absolute_error".'
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


def stratified_rows(
    rows: NDArray[np.intp], strata: NDArray[np.intp], n_rows: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Rows drawn from every stratum in proportion, of each at least as many as the folds need."""
    drawn = []
    for label in np.unique(strata[rows]):
        own = rows[strata[rows] == label]
        n_own = max(MIN_OF_A_CLASS, round(n_rows * len(own) / len(rows)))
        drawn.append(rng.permutation(own)[:n_own])
    return np.sort(np.concatenate(drawn))
