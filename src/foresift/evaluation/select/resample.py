"""The same selection on parts of the rows: how often each column passes, and how far scores may be off."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.base import clone

from foresift.data.dependence import Dependence
from foresift.evaluation.select.fitted import is_relevant
from foresift.selectors.base import with_units
from foresift.stats import Stability, selection_stability

__all__ = ["Resampled", "resample", "samples_for"]

CELLS = 2_000_000  # rows times columns, of all samples together; they take about 10 s
MOST, LEAST = 20, 4  # samples
LARGE, MAX_OF_LARGE = 50_000, 12  # rows, and samples of so many
MIN_ROWS = 500  # of a sample, unless half of the rows are fewer
MIN_GROUPS = 4  # two for each of two samples
BLOCK_PAIRS = 5  # of blocks of time that two samples share


class Resampled(NamedTuple):
    """What the samples say about every column.

    The share of them in which it passed, how stable that is, 95 % half-widths of the scores, and a row of
    which columns passed for every sample.
    """

    frequency: NDArray[np.float64]
    stability: Stability
    half_widths: NDArray[np.float64]
    passed: NDArray[np.bool_]


def samples_for(n_rows: int, n_columns: int) -> tuple[int, int]:
    """Return how many samples of how many rows to draw from a table.

    Examples
    --------
    >>> samples_for(600, 12), samples_for(100_000, 50), samples_for(200, 10_000)
    ((20, 300), (12, 2000), (4, 100))
    """
    half, most = n_rows // 2, MAX_OF_LARGE if n_rows >= LARGE else MOST
    size = min(half, max(MIN_ROWS, CELLS // (MOST * n_columns)))
    return max(LEAST, min(most, CELLS // max(1, size * n_columns))) // 2 * 2, size


def resample(
    fit: Callable[[Any, NDArray[np.intp]], Any],
    selector: Any,
    strata: NDArray[Any],
    dependence: Dependence | None = None,
    *,
    n_all: int | None = None,
    tree_share: float,
    seed: int,
    n_jobs: int | None = None,
    n_jobs_each: int | None = 1,
    tell: Callable[[], object] = lambda: None,
) -> Resampled | None:
    """Repeat a fitted `RelevanceSelector` on random parts of the rows.

    The spread of an estimate over samples of m of n rows, without replacement, times sqrt(m / (n - m)), is
    its standard error (the jackknife that leaves out n - m rows: Shao & Wu 1989, A general theory for
    jackknife variance estimation). Scores are in standard deviations of chance, so those of samples are
    smaller by the root of m / n, and so is their spread: for them the factor is sqrt(n / (n - m)).

    Parameters
    ----------
    fit : callable
        Fits a selector to some rows.
    selector : RelevanceSelector
        Fitted to all.
    strata : ndarray
        Class of every row, or a quantity.
    dependence : Dependence or None
        Samples are of whole groups, or of blocks of time.
    n_all : int or None
        Rows that the selector was fitted to, if these are a sample of them.
    tree_share : float
        Share of its trees that is grown for a sample.
    seed : int
        Draws the samples.
    n_jobs, n_jobs_each : int or None
        Samples at once, and threads of each.
    tell : callable
        Is called when a sample is done.

    Returns
    -------
    Resampled or None
        Of the columns; None if there are too few groups, or samples with more than one class.
    """
    n_rows = len(strata)
    n_samples, size = samples_for(n_all or n_rows, selector.n_features_in_)
    size = min(size, n_rows // 2)
    n_trees = max(1, round(tree_share * selector.n_estimators))
    test_only = {"redundancy": None, "minimal": False, "n_features_to_select": None, "n_half_samples": 0}
    light = clone(selector).set_params(n_jobs=n_jobs_each, n_estimators=n_trees, **test_only)
    light = with_units(light, selector.units_)
    rng = np.random.default_rng([seed, 3])
    parts = _parts_of(dependence)
    if parts is None:
        return None
    samples = [rows for _ in range(n_samples // 2) for rows in parts(strata, size, rng)]
    if dependence is not None:
        samples = [rows for rows in samples if len(np.unique(strata[rows])) > 1]
        if (n_samples := len(samples)) < LEAST:
            return None

    def one(rows: NDArray[np.intp]) -> tuple[NDArray[Any], ...]:
        fitted = fit(clone(light), rows)
        tell()
        return fitted.units_.spread(is_relevant(fitted), False), np.nan_to_num(fitted.scores_)

    results = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(one)(rows) for rows in samples)
    passed, scores = (np.array(part) for part in zip(*results, strict=True))
    errors = scores.std(axis=0, ddof=1) * np.sqrt(n_rows / (n_rows - size))
    half = student.ppf(0.975, n_samples - 1) * errors
    stability = selection_stability(passed[:, selector.units_.first])  # a group counts once
    return Resampled(passed.mean(axis=0), stability, half, passed)


def _parts_of(dependence: Dependence | None) -> Callable[..., list[NDArray[np.intp]]] | None:
    """What draws two samples that share no row, and no group; None if there are too few groups."""
    if dependence is None:
        return _two_parts
    if dependence.groups is not None and dependence.n_groups >= MIN_GROUPS:
        return partial(_two_parts_of_groups, dependence.groups)
    return None if dependence.time is None else partial(_two_parts_of_time, dependence.time)


def _two_parts_of_groups(
    groups: NDArray[np.intp], strata: NDArray[Any], size: int, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Whole groups: of every two with like means of the target one goes to each sample."""
    means = np.bincount(groups, strata) / np.bincount(groups)
    order = np.lexsort((rng.random(len(means)), means))
    pairs = rng.permuted(order[: len(order) // 2 * 2].reshape(-1, 2), axis=1)
    n_pairs = max(2, round(len(pairs) * 2 * size / len(groups)))
    pairs = pairs[rng.permutation(len(pairs))[:n_pairs]]
    return [np.flatnonzero(np.isin(groups, pairs[:, side])) for side in (0, 1)]


def _two_parts_of_time(
    time: NDArray[np.intp], strata: NDArray[Any], size: int, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Blocks of a stretch of time: of every two that follow each other one goes to each sample."""
    first = rng.integers(len(time) - 2 * size + 1)
    stretch = np.argsort(time, kind="stable")[first : first + 2 * size]
    sides = rng.permuted(np.tile([0, 1], (BLOCK_PAIRS, 1)), axis=1).ravel()
    places = (np.arange(2 * size) + rng.integers(2 * size)) % (2 * size)  # else the ends are always the same
    side = sides[places * len(sides) // (2 * size)]
    return [np.sort(stretch[side == one]) for one in (0, 1)]


def _two_parts(strata: NDArray[Any], size: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Two samples that share no row, of every class, or of every size of a quantity, in proportion."""
    order = np.lexsort((rng.random(len(strata)), strata))  # class by class
    places = np.arange(len(strata)) * 2 * size / len(strata)  # evenly spread over the classes
    if strata.dtype.kind != "f":
        taken = order[np.flatnonzero(np.diff(np.floor(places), prepend=-1) > 0)][: 2 * size]
        return [np.sort(taken[0::2]), np.sort(taken[1::2])]
    # Rows of a class are in random order, but values of a quantity hardly repeat: which rows are taken, and
    # to which side each of two neighbours goes, is drawn.
    start = rng.random()
    before = np.floor(start - 2 * size / len(strata))
    taken = order[np.flatnonzero(np.diff(np.floor(places + start), prepend=before) > 0)][: 2 * size]
    sides = rng.permuted(taken[: len(taken) // 2 * 2].reshape(-1, 2), axis=1)
    return [np.sort(sides[:, 0]), np.sort(sides[:, 1])]
