"""What columns tell by their ranks, alone and in pairs, beside their shadows: tests that need no forest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from foresift.data.table import Table
from foresift.selectors.relevance.crossed import pairwise_interaction_scores
from foresift.selectors.relevance.trends import trend_scores

__all__ = ["best_contrasts"]

MARGIN = 1.0  # by which pairs must be surer than single columns, which then have little more chance to beat


def best_contrasts(
    table: Table,
    weights: NDArray[np.float64] | None,
    columns: NDArray[np.uint32],
    n_shadows: int,
    shadow_rows: Callable[[int], NDArray[np.uint32]],
    seed: int,
    *,
    pairs: bool,
) -> NDArray[np.float64]:
    """Return the greater of `trend_scores` and, with `pairs`, `pairwise_interaction_scores` less `MARGIN`.

    Neither knows of weights but that 0 leaves a row out. So there are no scores, but NaN, if weights vary
    within a class.
    """
    if weights is not None:
        target = table.target.codes
        of_class = [weights[(target == c) & (weights > 0)] for c in range(table.target.n_classes)]
        if any(len(some) and some.min() < some.max() for some in of_class):
            return np.full((len(columns), 1 + n_shadows), np.nan)
    scores = trend_scores(table, weights, columns, n_shadows, shadow_rows)
    if pairs:
        interactions = pairwise_interaction_scores(table, weights, columns, n_shadows, shadow_rows, seed)
        scores = np.fmax(scores, interactions - MARGIN)
    return scores
