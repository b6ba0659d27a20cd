"""The comparison in a store of results, of one data set or of many."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from foresift.data.target import Classes
from foresift.errors import InputError
from foresift.evaluation.compare.comparison import Comparison
from foresift.evaluation.compare.summary import Row, failures, scored_rows, selection_shares
from foresift.evaluation.harness.store import Store
from foresift.evaluation.harness.tasks import Record
from foresift.stats import critical_difference, friedman

__all__ = ["mean_ranks", "stored_comparison"]


def stored_comparison(store: Store) -> Comparison:
    """Read the comparison in a store, with the mean ranks of the methods if there are several data sets.

    If the store has results of runs with different splits, parameters or versions, only those of the latest
    run of every data set are used; of two tables with one name, such as a file before and after a correction,
    only the latest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foresift import compare
    >>> with Store(":memory:") as store:
    ...     _ = compare(*load_iris(return_X_y=True), ["info-gain"], ["nb"], cv=3, store=store)
    ...     [row.method for row in stored_comparison(store).rows]
    ['none', 'info-gain']
    """
    records = [record for record in store.records() if record.unit.kind == "score"]
    if not records:
        raise InputError(f"{store.path} holds no comparison; `foresift compare ... --store` makes one.")
    finished = store.finished()
    records.sort(key=lambda record: (finished[record.unit.key], record.unit.repeat, record.unit.fold))
    kept = _latest(records)
    tables = store.tables()
    if any(record.unit.data not in tables for record in kept):
        raise store.damaged("its table datasets has no row for some of the results")
    rows, scores = scored_rows(kept, {data: table.n_features for data, table in tables.items()})
    checksums = list(dict.fromkeys(record.unit.data for record in kept))
    about: dict[str, Any] = {
        "dataset": ", ".join(dict.fromkeys(record.unit.dataset for record in kept)),
        "cv": ", ".join(dict.fromkeys(record.unit.cv for record in kept)),
        "repeats": 1 + max(record.unit.repeat for record in kept),
        "scoring": list(dict.fromkeys(row.scorer for row in rows)),
        "store": store.path,
        "created": max(finished[record.unit.key] for record in kept),
        "software": kept[-1].unit.software,
        "n_left_out": len(records) - len(kept),
    }
    shares = {}
    if len(checksums) == 1:
        task = json.loads(kept[-1].unit.options).get("task", Classes.task)
        about |= tables[checksums[0]]._asdict() | {"dataset": about["dataset"], "task": task}
        shares = selection_shares(kept, about["features"])
    return Comparison(rows, about, failures(kept), shares, mean_ranks(rows), scores)


def _latest(records: Sequence[Record]) -> list[Record]:
    """Leave out results with other splits or parameters than the latest; records are in the order of time.

    Only results from the same rows of the same table can be compared.
    """
    tables = {r.unit.dataset: r.unit.data for r in records}
    rows = {(r.unit.data, r.unit.repeat, r.unit.fold): (r.unit.cv, r.unit.rows) for r in records}
    settings = {(r.unit.data, r.unit.method, r.unit.classifier): _settings(r) for r in records}
    protocols = {r.unit.data: (r.unit.cv, r.unit.software) for r in records}
    return [
        r
        for r in records
        if tables[r.unit.dataset] == r.unit.data
        and rows[r.unit.data, r.unit.repeat, r.unit.fold] == (r.unit.cv, r.unit.rows)
        and settings[r.unit.data, r.unit.method, r.unit.classifier] == _settings(r)
        and protocols[r.unit.data] == (r.unit.cv, r.unit.software)
    ]


def _settings(record: Record) -> tuple[str, ...]:
    unit = record.unit
    return unit.method_parameters, unit.classifier_parameters, unit.options, unit.software


def mean_ranks(rows: Iterable[Row]) -> dict[str, Any] | None:
    """Mean ranks of methods over data sets, for the first scorer and estimator and the methods' own sizes.

    Returns `methods`, `mean_ranks` (1 is best), `critical_difference` (Nemenyi, 0.05) and the number `n` of
    data sets. Data sets with failures are left out, and methods that were not run on all the others; None if
    fewer than two data sets or three methods remain.

    Examples
    --------
    >>> def row(dataset, method, mean):
    ...     return Row(dataset, method, "nb", "own", "accuracy", 10, mean, 0.1, 0.0, 1.0, 3.0)
    >>> scores = {"gain": 0.9, "relief": 0.8, "random": 0.7}
    >>> ranks = mean_ranks(row(dataset, *found) for dataset in "abc" for found in scores.items())
    >>> ranks["methods"], ranks["mean_ranks"], ranks["n"]
    (['gain', 'relief', 'random'], [1.0, 2.0, 3.0], 3)
    """
    rows = [row for row in rows if row.size in ("own", "all")]
    rows = [row for row in rows if (row.classifier, row.scorer) == (rows[0].classifier, rows[0].scorer)]
    broken = {row.dataset for row in rows if row.n_failed or np.isnan(row.mean)}
    means: dict[str, dict[str, float]] = {}
    for row in rows:
        if row.dataset not in broken:
            means.setdefault(row.dataset, {})[row.method] = row.mean
    run = dict.fromkeys(method for found in means.values() for method in found)
    methods = [method for method in run if all(method in found for found in means.values())]
    scores = [[found[method] for method in methods] for found in means.values()]
    if len(methods) < 3 or len(scores) < 2:
        return None
    ranks = friedman(scores).mean_ranks
    order = np.argsort(ranks, kind="stable")
    return {
        "methods": [methods[j] for j in order],
        "mean_ranks": [float(ranks[j]) for j in order],
        "critical_difference": critical_difference(len(methods), len(scores)),
        "n": len(scores),
    }
