"""How well the best column predicts by itself, where no check tells: it may be a leak."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from foresift.evaluation.select.assess import Assessment
from foresift.evaluation.select.fitted import Rows, is_ours, ranked
from foresift.evaluation.select.models import Model
from foresift.evaluation.select.rows_of_folds import NoFolds, drawn_rows, folds_of, rare_classes, why_not

__all__ = ["Alone", "alone_in_check", "score_alone"]

MAX_ROWS = 2000  # that are used
N_FOLDS = 3


class Alone(NamedTuple):
    """The score of the best column, or group of columns, on held-out rows; 1 is perfect."""

    metric: str
    score: float


def alone_in_check(assessment: Assessment) -> Alone | None:
    """What a check says of it; None if it was not scored, or by a score without a largest value."""
    curve, judge = assessment.curve, assessment.judge
    if judge.bounds[1] != 1 or curve.sizes[0] != 1:
        return None
    return Alone(assessment.metric, float(curve.mean[0]))


def score_alone(rows: Rows, selector: Any, seed: int, n_jobs: int | None) -> Alone | None:
    """Cross-validate a forest on the best column of a fitted selector, quickly.

    None if there are too few rows, or columns that are kept by request.

    Examples
    --------
    >>> from foresift.evaluation.select.fitted import fit_all
    >>> from foresift.selectors.filters import InfoGainSelector
    >>> y = np.arange(60) % 2
    >>> selector = InfoGainSelector()
    >>> rows = fit_all(selector, np.column_stack([y, np.arange(60) // 2]), y)
    >>> score_alone(rows, selector, 0, 1)
    Alone(metric='accuracy', score=1.0)
    """
    if why_not(rows) is not None or (is_ours(selector) and selector.units_.kept.any()):
        return None
    common = np.flatnonzero(rows.counting & ~np.isin(rows.strata, rare_classes(rows)))
    if len(common) > MAX_ROWS:
        common = drawn_rows(rows, common, MAX_ROWS, np.random.default_rng([seed, 5]))
    columns = ranked(selector).best(1)
    used = replace(rows, X=None).take(common)
    used = replace(used, table=used.table.take(columns))
    try:
        folds = folds_of(used, None, N_FOLDS, seed, common, len(rows))
    except NoFolds:
        return None
    model, target = Model(), used.table.target
    judge = model.judge(target)
    if min(len(fold.test) for fold in folds) < judge.least_rows:
        return None
    scorer = model.scorer(used, judge, folds, seed, n_jobs)
    found = scorer.evaluate([(None, number, [fold.test]) for number, fold in enumerate(folds)])
    scores = [
        judge.score(one.scores[0], target.take(fold.test), used.weights_of(fold.test))
        for one, fold in zip(found, folds, strict=True)
    ]
    return Alone(judge.metric, float(np.mean(scores)))
