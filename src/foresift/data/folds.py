"""Folds: which rows a model learns from, and which it is judged by."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from foresift.data.slices import splits_of
from foresift.data.table import Table

__all__ = ["Fold", "make_folds"]


@dataclass(frozen=True)
class Fold:
    """Rows to learn from and rows to judge by."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def make_folds(table: Table, weights: NDArray[np.float64] | None, cv: Any, seed: int) -> list[Fold]:
    """Deal the rows out; those of weight 0 are not there. A number means stratified, shuffled folds.

    Raises
    ------
    ValueError
        If a class is missing among the training rows of a fold.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> table = make_table(np.arange(6.0)[:, np.newaxis], list("aaabbb"))
    >>> [fold.test.size for fold in make_folds(table, None, 3, seed=0)]
    [2, 2, 2]
    """
    there = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights > 0)
    counts = np.bincount(table.target.codes[there], minlength=table.target.n_classes)
    if isinstance(cv, numbers.Integral):
        rare = np.flatnonzero((counts > 0) & (counts < int(cv)))
        if len(rare):
            label = table.target.labels.tolist()[rare[0]]
            raise ValueError(
                f"Class {label!r} has {counts[rare[0]]} rows, fewer than the {cv} folds, so it would"
                " be missing in some: lower cv, or drop or merge such classes."
            )
        cv = StratifiedKFold(int(cv), shuffle=True, random_state=seed % 2**32)
    # Given folds number all rows; a splitter deals out those that are there.
    rows = there if hasattr(cv, "split") else np.arange(table.n_rows)
    folds = []
    for number, (train, test) in enumerate(splits_of(cv, table.target.codes[rows]), start=1):
        fold = Fold(np.intersect1d(rows[train], there), np.intersect1d(rows[test], there))
        seen = np.bincount(table.target.codes[fold.train], minlength=table.target.n_classes)
        lacking = np.flatnonzero((counts > 0) & (seen == 0))
        if len(lacking) or not len(fold.test):
            what = "rows to judge by"
            if len(lacking):
                what = f"training rows of class {table.target.labels.tolist()[lacking[0]]!r}"
            raise ValueError(
                f"Fold {number} has no {what}: use stratified folds (cv as a number), fewer of them, or"
                " drop or merge rare classes."
            )
        folds.append(fold)
    if not folds:
        raise ValueError("cv makes no folds: give a number of folds of at least 2, or a splitter.")
    return folds
