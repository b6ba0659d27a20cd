"""The same selection on parts of the rows: how often each column passes, and how far scores may be off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.base import clone

from foresift.stats import Stability, selection_stability

__all__ = ["Resampled", "resample", "samples_for"]

CELLS = 2_000_000  # rows times columns, of all samples together; they take about 10 s
MOST, LEAST = 20, 4  # samples
MIN_ROWS = 500  # of a sample, unless half of the rows are fewer


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
    ((20, 300), (20, 2000), (4, 100))
    """
    half = n_rows // 2
    size = min(half, max(MIN_ROWS, CELLS // (MOST * n_columns)))
    return max(LEAST, min(MOST, CELLS // max(1, size * n_columns))) // 2 * 2, size


def resample(
    fit: Callable[[Any, NDArray[np.intp]], Any],
    selector: Any,
    strata: NDArray[Any],
    *,
    tree_share: float,
    seed: int,
    n_jobs: int | None = None,
    n_jobs_each: int | None = 1,
    tell: Callable[[], object] = lambda: None,
) -> Resampled:
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
    Resampled
        Of the columns.
    """
    n_rows = len(strata)
    n_samples, size = samples_for(n_rows, selector.n_features_in_)
    n_trees = max(1, round(tree_share * selector.n_estimators))
    test_only = {"redundancy": None, "minimal": False, "n_features_to_select": None, "n_half_samples": 0}
    light = clone(selector).set_params(n_jobs=n_jobs_each, n_estimators=n_trees, **test_only)
    rng = np.random.default_rng([seed, 3])
    samples = [rows for _ in range(n_samples // 2) for rows in _two_parts(strata, size, rng)]

    def one(rows: NDArray[np.intp]) -> tuple[NDArray[Any], ...]:
        fitted = fit(clone(light), rows)
        tell()
        return fitted.relevant_, np.nan_to_num(fitted.scores_)

    results = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(one)(rows) for rows in samples)
    passed, scores = (np.array(part) for part in zip(*results, strict=True))
    errors = scores.std(axis=0, ddof=1) * np.sqrt(n_rows / (n_rows - size))
    half = student.ppf(0.975, n_samples - 1) * errors
    return Resampled(passed.mean(axis=0), selection_stability(passed), half, passed)


def _two_parts(strata: NDArray[Any], size: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Two samples that share no row, of every class, or of every size of a quantity, in proportion."""
    order = np.lexsort((rng.random(len(strata)), strata))  # class by class
    places = np.arange(len(strata)) * 2 * size / len(strata)  # evenly spread over the classes
    taken = order[np.flatnonzero(np.diff(np.floor(places), prepend=-1) > 0)][: 2 * size]
    return [np.sort(taken[0::2]), np.sort(taken[1::2])]
