"""Training and test rows of every repeat and fold of an experiment, and the seeds that belong to them."""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foresift.data.dependence import Dependence
from foresift.data.folds import gap_of, in_blocks_of_time, quantile_strata, splits_of
from foresift.data.target import Classes, Quantity
from foresift.evaluation.harness.tasks import Data, canonical, checksum

__all__ = ["Split", "cv_name", "seed_for", "splits"]


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows and test rows.

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


def cv_name(cv: Any, dependence: Dependence | None = None) -> str:
    """Say in a few words how rows are split; a splitter of scikit-learn says it itself.

    Examples
    --------
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> cv_name(10), cv_name(0.3), cv_name(TimeSeriesSplit(3)).split("(")[0]
    ('10 stratified folds', 'random 0.3 for testing', 'TimeSeriesSplit')
    """
    if isinstance(cv, numbers.Integral):
        if in_blocks_of_time(int(cv), dependence):
            return f"{int(cv)} blocks of time"
        return f"{int(cv)} stratified folds" + ("" if dependence is None else " of groups")
    if isinstance(cv, numbers.Real):
        in_time = dependence is not None and dependence.time is not None
        return f"{'last' if in_time else 'random'} {float(cv):g} for testing"
    if hasattr(cv, "split"):
        said = " ".join(repr(cv).split())
        # An address differs from run to run. The rows of a split have their own checksum.
        return type(cv).__name__ if re.search(r" at 0x[0-9a-f]+", said) else said
    return "given splits"


def splits(data: Data, cv: Any = 10, *, repeats: int = 1, random_state: int = 0) -> list[Split]:
    """Split the rows of a table.

    Parameters
    ----------
    data : Data
        The table.
    cv : int, float, splitter or iterable, default=10
        As in `foresift.data.folds.splits_of`; strata are the classes, or quantiles of a quantity.
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
    if isinstance(cv, Iterator):
        cv = list(cv)
    labels, codes = None, data.y
    if data.task == Quantity.task:
        codes = quantile_strata(Quantity(data.y), cv)
    else:
        text = data.y.astype(str) if data.y.dtype == object else data.y
        labels, codes = np.unique(text, return_inverse=True)
    how: dict[str, Any] = {"labels": labels}
    if (dependence := data.dependence) is not None:
        target = Quantity(data.y) if labels is None else Classes(codes.astype(np.int32), labels)
        how |= {"dependence": dependence, "gap": gap_of(target, dependence)}
    found = [
        Split(repeat, fold, train.astype(np.uint32), test.astype(np.uint32))
        for repeat in range(int(repeats))
        for fold, (train, test) in enumerate(splits_of(cv, codes, seed_for(random_state, repeat), **how))
    ]
    if repeats > 1 and len({split.rows for split in found}) * repeats <= len(found):
        raise ValueError(
            f"cv ({cv_name(cv)}) splits the same way every time: leave repeats at 1, or its random_state"
            " None."
        )
    return found
