"""Units of work that papers need: paths of a search, intervals of a forest; and which repeats are whole."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone

from foresift.data.folds import make_folds
from foresift.data.sklearn_compat import seeded
from foresift.data.slices import take_rows
from foresift.data.table import make_table
from foresift.evaluation.harness.evaluate import attempt
from foresift.evaluation.harness.splits import Split, cv_name, seed_for, splits
from foresift.evaluation.harness.tasks import Data, Job, Record, Unit, canonical, describe, software
from foresift.models.scorer import make_subset_scorer
from foresift.selectors.search.path import SearchPath, Step

__all__ = ["path_of", "plan_intervals", "plan_path", "whole_repeats"]

N_AGAIN = 2  # further divisions into folds, on which no search has looked


@dataclass(frozen=True)
class Search:
    """Arguments of `path_units`."""

    selector: Any
    classifier: Any
    seed: int


@dataclass(frozen=True)
class Growth:
    """Arguments of `interval_units`."""

    classifier: Any
    split: Split
    seed: int


def plan_path(data: Data, name: str, selector: Any, classifier: Any, *, random_state: int = 0) -> list[Job]:
    """Plan a search on a whole table: its sets, and what they are worth on folds that it has not seen.

    Parameters
    ----------
    data : Data
        The table.
    name : str
        What the search is called.
    selector : selector
        One that has a `path_` and takes an `estimator`.
    classifier : classifier
        That estimator.
    random_state : int, default=0
        Where all seeds come from.

    Returns
    -------
    list of Job
        One job of one unit.

    Examples
    --------
    >>> from foresift import CartClassifier, SequentialSelector
    >>> from foresift.datasets import make_simple
    >>> data = Data.of("simple", *make_simple(60, n_noise=1, random_state=0))
    >>> job, = plan_path(data, "SBS", SequentialSelector(n_features_to_select=1), CartClassifier())
    >>> record, = path_units(data, job.arguments, job.units)
    >>> record.features["order"], sorted(record.scores["accuracy"])
    ([1, 2, 0], ['1', '2', '3'])
    """
    seed = seed_for(random_state, 0, 0)
    unit = Unit(
        kind="path",
        dataset=data.name,
        data=data.checksum,
        method=name,
        method_parameters=canonical(describe(selector)),
        classifier="",
        classifier_parameters=canonical(describe(classifier)),
        cv="3 folds in the search, 2 x 3 others",
        repeat=0,
        fold=0,
        rows="all",
        seed=seed,
        options=canonical({"again": N_AGAIN}),
        software=software(),
    )
    return [Job(path_units, data.checksum, Search(selector, classifier, seed), (unit,))]


def path_units(data: Data, search: Search, units: Sequence[Unit]) -> list[Record]:
    """Run a search; a pure function of its arguments."""

    def work() -> dict[str, Any]:
        model = seeded(clone(search.classifier), np.random.default_rng([search.seed, 1]))
        selector = clone(search.selector).set_params(estimator=model)
        selector = seeded(selector, np.random.default_rng([search.seed, 0]))
        start = time.perf_counter()
        path = selector.fit(data.X, data.y).path_
        seconds = {"select": time.perf_counter() - start}
        seen = {str(len(step.features)): step.score for step in path}
        return {
            "scores": {"accuracy": _scores_again(data, model, path, search.seed), "search": seen},
            "features": {"order": _order(path)},
            "seconds": seconds,
        }

    return [attempt(unit, work) for unit in units]


def _scores_again(data: Data, model: Any, path: SearchPath, seed: int) -> dict[str, float | None]:
    table = make_table(data.X, data.y)
    scores = np.zeros(len(path))
    for k in range(N_AGAIN):
        folds = make_folds(table, None, 3, seed=seed_for(seed, k))
        forest = clone(model).set_params(random_state=seed_for(seed, k, 1) % 2**31)
        scores += make_subset_scorer(forest, data.X, table, None, folds)(path.features)
    sizes = [str(len(features)) for features in path.features]
    return dict(zip(sizes, (scores / N_AGAIN).tolist(), strict=True))


def _order(path: SearchPath) -> list[int]:
    """Columns of a path that drops one at a time: the one that stays longest first."""
    sets = [set(range(path.n_features_in)), *map(set, path.features)]
    dropped = [j for before, after in pairwise(sets) for j in sorted(before - after)]
    return [*sorted(sets[-1]), *reversed(dropped)]


def path_of(record: Record) -> SearchPath:
    """Make the path of a search again from its record, with the scores on fresh folds.

    Examples
    --------
    >>> unit = Unit("path", *[""] * 7, 0, 0, "", 0, "", "")
    >>> scores = {"accuracy": {"2": 0.9, "1": 0.8}}
    >>> path_of(Record(unit, scores=scores, features={"order": [1, 0]})).features
    [(0, 1), (1,)]
    """
    order = record.features["order"]
    sizes = sorted(map(int, record.scores["accuracy"]), reverse=True)
    scores = record.scores["accuracy"]
    steps = [Step(tuple(sorted(order[:k])), float(scores[str(k)] or 0.0), 0.0) for k in sizes]
    return SearchPath(len(order), steps)


def plan_intervals(
    data: Data, name: str, classifier: Any, *, cv: Any, repeats: int, random_state: int = 0
) -> list[Job]:
    """Plan forests whose feature sampling is learned, to see how fast their intervals narrow.

    Parameters
    ----------
    data : Data
        The table.
    name : str
        What it is called.
    classifier : SiftForestClassifier
        With `feature_sampling` that makes intervals.
    cv : int or float
        As in `splits.splits`; only the rows to learn from are used.
    repeats : int
        How many times.
    random_state : int, default=0
        Where all seeds come from.

    Returns
    -------
    list of Job
        One for each split.

    Examples
    --------
    >>> from foresift import SiftForestClassifier
    >>> from foresift.datasets import make_simple
    >>> data = Data.of("simple", *make_simple(100, random_state=0))
    >>> forest = SiftForestClassifier(3, feature_sampling="confidence")
    >>> job, = plan_intervals(data, "CI", forest, cv=0.1, repeats=1)
    >>> record, = interval_units(data, job.arguments, job.units)
    >>> len(record.extra["intervals"])
    3
    """
    jobs = []
    for split in splits(data, cv, repeats=repeats, random_state=random_state):
        seed = seed_for(random_state, split.repeat, split.fold)
        unit = Unit(
            kind="intervals",
            dataset=data.name,
            data=data.checksum,
            method=name,
            method_parameters="null",
            classifier="",
            classifier_parameters=canonical(describe(classifier)),
            cv=cv_name(cv),
            repeat=split.repeat,
            fold=split.fold,
            rows=split.rows,
            seed=seed,
            options="{}",
            software=software(),
        )
        jobs.append(Job(interval_units, data.checksum, Growth(classifier, split, seed), (unit,)))
    return jobs


def interval_units(data: Data, growth: Growth, units: Sequence[Unit]) -> list[Record]:
    """Grow a forest, and keep the mean size of the intervals after each tree; a pure function."""

    def work() -> dict[str, Any]:
        model = seeded(clone(growth.classifier), np.random.default_rng([growth.seed, 1]))
        rows = growth.split.train.astype(np.intp)
        model.fit(take_rows(data.X, rows), data.y[rows])
        return {"extra": {"intervals": model.mean_interval_sizes_.tolist()}}

    return [attempt(unit, work) for unit in units]


def whole_repeats(records: Iterable[Record], planned: Iterable[Unit]) -> list[Record]:
    """Leave out records of repeats that have been run in part only, or failed in part.

    A mean of a few folds is no repeat, and those that fail are seldom like the others.

    Parameters
    ----------
    records : iterable of Record
        What the store has.
    planned : iterable of Unit
        What there is to be.

    Returns
    -------
    list of Record
        Those of repeats of which nothing is missing.

    Examples
    --------
    >>> places = [(0, 0), (0, 1), (1, 0), (1, 1)]  # repeat and fold
    >>> units = [Unit("score", "iris", *[""] * 6, *place, "", 0, "", "") for place in places]
    >>> [record.unit.repeat for record in whole_repeats(map(Record, units[:3]), units)]
    [0, 0]
    >>> whole_repeats([Record(units[2]), Record(units[3], error="too few rows")], units)
    []
    """

    def repeat(unit: Unit) -> tuple[str, str, str, str, int]:
        return unit.dataset, unit.data, unit.method, unit.classifier, unit.repeat

    records = list(records)
    missing = Counter(map(repeat, planned))
    missing.subtract(repeat(record.unit) for record in records if not record.error)
    return [record for record in records if missing[repeat(record.unit)] <= 0]
