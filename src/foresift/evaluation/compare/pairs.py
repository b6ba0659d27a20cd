"""All pairs of rows of a comparison: differences, their intervals and p-values, on request."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from foresift.evaluation.compare.summary import MIN_SPLITS, Row, Scores, adjusted, differences, pvalue
from foresift.stats import corrected_interval

__all__ = ["COLUMNS", "all_pairs"]

COLUMNS = (
    "dataset",
    "estimator",
    "scorer",
    "method",
    "size",
    "n_features",
    "other_method",
    "other_size",
    "other_n_features",
    "n",
    "difference",
    "lower",
    "upper",
    "p",
    "p_adjusted",
)


def all_pairs(rows: Sequence[Row], scores: Sequence[Scores]) -> list[dict[str, Any]]:
    """Compare every two rows of each data set, estimator and scorer, pairs of the best rows first.

    `scores` are those of the rows, as `scored_rows` returns them. Numbers that are not known are None.

    Examples
    --------
    >>> about = ("nb", "3", "accuracy", 5)
    >>> rows = [Row("wine", m, *about, mean, 0.1, 0.7, 0.9, 3.0) for m, mean in [("cfs", 0.7), ("gain", 0.8)]]
    >>> values = [0.7, 0.8, 0.6, 0.7, 0.7], [0.8, 0.8, 0.7, 0.9, 0.8]
    >>> pair, = all_pairs(rows, [Scores({(0, k): s for k, s in enumerate(some)}, 0.2) for some in values])
    >>> pair["method"], pair["other_method"], round(pair["difference"], 3), round(pair["p"], 3)
    ('gain', 'cfs', 0.1, 0.103)
    """
    families: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for k, row in enumerate(rows):
        families[row.dataset, row.classifier, row.scorer].append(k)
    found = []
    for about, family in families.items():
        family.sort(key=lambda k: (math.isnan(rows[k].mean), -rows[k].mean, rows[k].n_features))
        pairs = list(combinations(family, 2))
        raw = {(i, j): pvalue(scores[i], scores[j]) for i, j in pairs}
        after = adjusted(raw)
        for i, j in pairs:
            values = (
                *_difference(scores[i], scores[j]),
                *(_known(p) for p in (raw[i, j], after.get((i, j), math.nan))),
            )
            names = [(row.method, row.size, row.n_features) for row in (rows[i], rows[j])]
            found.append(dict(zip(COLUMNS, (*about, *names[0], *names[1], *values), strict=True)))
    return found


def _difference(one: Scores, other: Scores) -> tuple[int, float | None, float | None, float | None]:
    """Number of splits that both have, mean difference, and its corrected 95 % interval."""
    values = differences(one, other)
    n = len(values)
    if not n or not np.isfinite(values).all():
        return n, None, None, None
    if n < MIN_SPLITS or np.ptp(values) <= 1e-12 * np.abs(values).max():
        return n, float(values.mean()), None, None
    mean, low, high = corrected_interval(values, one.test_share)
    return n, mean, _known(low), _known(high)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
