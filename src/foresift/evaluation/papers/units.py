"""Tasks of papers: paths of a search and intervals of a forest; and which repeats are complete."""

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

__all__ = ["make_unit", "path_of", "plan_intervals", "plan_path", "whole_repeats"]

N_AGAIN = 2  # further splits into folds, which the search has not used


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
    """Plan a search on a whole table: its sets, and their scores on folds that it has not used.

    The selector has a `path_` and takes the classifier as `estimator`.

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
    cv, options = "3 folds in the search, 2 x 3 others", {"again": N_AGAIN}
    unit = make_unit("path", data, name, selector, classifier, cv, (0, 0, "all"), seed, options)
    return [Job(path_units, data.checksum, Search(selector, classifier, seed), (unit,))]


def make_unit(
    kind: str,
    data: Data,
    name: str,
    selector: Any,
    classifier: Any,
    cv: str,
    split: tuple[int, int, str],
    seed: int,
    options: dict[str, Any],
) -> Unit:
    """Describe a task of a selector and a classifier, of which one may be None.

    Examples
    --------
    >>> data = Data.of("two rows", np.eye(2), np.array([0, 1]))
    >>> make_unit("path", data, "SBS", None, None, "3 folds", (0, 0, "all"), 1, {}).method
    'SBS'
    """
    methods = name, canonical(describe(selector)), "", canonical(describe(classifier))
    return Unit(kind, data.name, data.checksum, *methods, cv, *split, seed, canonical(options), software())


def path_units(data: Data, search: Search, units: Sequence[Unit]) -> list[Record]:
    """Run a search; a pure function."""

    def work() -> dict[str, Any]:
        model = seeded(clone(search.classifier), np.random.default_rng([search.seed, 1]))
        selector = clone(search.selector).set_params(estimator=model)
        selector = seeded(selector, np.random.default_rng([search.seed, 0]))
        start = time.perf_counter()
        path = selector.fit(data.X, data.y).path_
        seconds = {"select": time.perf_counter() - start}
        own = {str(len(step.features)): step.score for step in path}
        return {
            "scores": {"accuracy": _scores_again(data, model, path, search.seed), "search": own},
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
    """Columns of a path that drops one at a time: the last to be dropped first."""
    sets = [set(range(path.n_features_in)), *map(set, path.features)]
    dropped = [j for before, after in pairwise(sets) for j in sorted(before - after)]
    return [*sorted(sets[-1]), *reversed(dropped)]


def path_of(record: Record) -> SearchPath:
    """The path of a search from its record, with the scores on fresh folds.

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
    """Plan forests whose feature sampling is learned, to record how fast their intervals narrow.

    Each split of `splits.splits` gives a job that uses the training rows only.

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
        where = split.repeat, split.fold, split.rows
        unit = make_unit("intervals", data, name, None, classifier, cv_name(cv), where, seed, {})
        jobs.append(Job(interval_units, data.checksum, Growth(classifier, split, seed), (unit,)))
    return jobs


def interval_units(data: Data, growth: Growth, units: Sequence[Unit]) -> list[Record]:
    """Grow a forest, and record the mean size of the intervals after each tree; a pure function."""

    def work() -> dict[str, Any]:
        model = seeded(clone(growth.classifier), np.random.default_rng([growth.seed, 1]))
        rows = growth.split.train.astype(np.intp)
        model.fit(take_rows(data.X, rows), data.y[rows])
        return {"extra": {"intervals": model.mean_interval_sizes_.tolist()}}

    return [attempt(unit, work) for unit in units]


def whole_repeats(records: Iterable[Record], planned: Iterable[Unit]) -> list[Record]:
    """Keep the records of complete repeats, none of whose planned tasks is missing or failed.

    A mean of a few folds is no repeat, and folds that fail are not like the others.

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
