"""Folds of rows that follow each other in time: blocks, and a gap between training and test rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from foresift.data.dependence import Dependence
from foresift.data.target import Target

__all__ = ["correlation_length", "last_rows", "parts_of_rows", "time_blocks"]

SHARE = 5  # a gap is at most one part in so many of a block, so that training rows are left
FORGOTTEN = np.exp(-1)  # autocorrelation below which rows count as new


def correlation_length(target: Target, dependence: Dependence) -> int:
    """Lag from which on rows hardly say anything of each other.

    It is the first lag at which the autocorrelation of the target's ranks, or of the indicators of its
    classes, is below 1/e: of AR(1) noise its time constant. Lags of a panel are within its groups. A target
    with a trend never gets there: then it is half of the longest series. Long lags are looked at in steps of
    a twentieth.

    Examples
    --------
    >>> from foresift.data.target import Quantity
    >>> rng, y = np.random.default_rng(0), np.zeros(2000)
    >>> for i in range(1, 2000):
    ...     y[i] = 0.9 * y[i - 1] + rng.normal()
    >>> in_time = Dependence(time=np.arange(2000))
    >>> correlation_length(Quantity(y), in_time), correlation_length(Quantity(rng.normal(size=2000)), in_time)
    (10, 1)
    """
    order = dependence.order
    scores = target.contrasts(order)
    scores = scores - scores.mean(axis=0)
    groups = np.zeros(len(order)) if dependence.groups is None else dependence.groups[order]
    variance = (scores**2).mean()
    longest = int(np.bincount(groups.astype(np.intp)).max())
    for lag in _lags(longest // 2):
        same = groups[lag:] == groups[:-lag]
        products = (scores[lag:] * scores[:-lag])[same]
        if products.mean() < FORGOTTEN * variance:
            return lag
    return max(1, longest // 2)


def parts_of_rows(target: Target, dependence: Dependence) -> NDArray[np.intp]:
    """Number of the part of every row: rows of different parts hardly depend on each other.

    Groups, or stretches of time of twice the correlation length.

    Examples
    --------
    >>> from foresift.data.target import Quantity
    >>> parts_of_rows(Quantity(np.array([1.0, 5, 2, 4])), Dependence(time=np.arange(4)))
    array([0, 0, 1, 1])
    """
    if dependence.groups is not None:
        return dependence.groups
    places = np.empty(len(dependence.order), dtype=np.intp)
    places[dependence.order] = np.arange(len(places))
    return places // (2 * correlation_length(target, dependence))


def _lags(end: int) -> Iterator[int]:
    lag = 1
    while lag < end:
        yield lag
        lag += max(1, lag // 20)


def _steps_of(time: NDArray[np.intp]) -> NDArray[np.intp]:
    """Numbers of the different times among some rows, from 0."""
    return np.unique(time, return_inverse=True)[1]


def time_blocks(
    time: NDArray[np.intp], n_folds: int, gap: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Training and test rows of blocks of time, without the training rows next to a block.

    Parameters
    ----------
    time : ndarray of int
        Place of every row in time.
    n_folds : int
        How many blocks, of equally many times each.
    gap : int
        So many times on either side of a block are neither trained on nor tested; a fifth of a block at most.

    Examples
    --------
    >>> time_blocks(np.array([5, 4, 3, 2, 1, 0]), 3, 1)[0]
    (array([0, 1, 2]), array([4, 5]))
    """
    steps = _steps_of(time)
    n_steps = int(steps.max()) + 1
    if n_steps < n_folds:
        raise ValueError(f"There are {n_steps} different times, fewer than the {n_folds} folds: lower cv.")
    gap = _limited(gap, n_steps // n_folds)
    block = steps * n_folds // n_steps
    folds = []
    for fold in range(n_folds):
        test = steps[block == fold]
        far = (steps < test.min() - gap) | (steps > test.max() + gap)
        folds.append((np.flatnonzero(far), np.flatnonzero(block == fold)))
    return folds


def last_rows(
    time: NDArray[np.intp], share: float, gap: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """One split: the last share of the times is tested, those before it but for a gap are trained on."""
    steps = _steps_of(time)
    n_steps = int(steps.max()) + 1
    n_tested = min(max(1, round(share * n_steps)), n_steps - 1)
    first = n_steps - n_tested
    gap = _limited(gap, n_tested)
    return [(np.flatnonzero(steps < first - gap), np.flatnonzero(steps >= first))]


def _limited(gap: int, block: int) -> int:
    return min(gap, max(1, block // SHARE))
