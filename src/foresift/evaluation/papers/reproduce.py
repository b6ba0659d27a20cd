"""Reproduce a paper's tables, and compare our numbers with the published ones."""

from __future__ import annotations

import os
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from foresift import datasets
from foresift.errors import InputError
from foresift.evaluation.harness.evaluate import Protocol, plan_scores
from foresift.evaluation.harness.tasks import Data, Job, Record, Unit
from foresift.evaluation.papers.gains import (
    bounds_over_nodes,
    gains_of_records,
    plan_gains,
    plan_thresholds,
    thresholds_of_records,
)
from foresift.evaluation.papers.specs import Cell, Model, Paper, PaperTable, SpecError, build
from foresift.evaluation.papers.units import path_of, plan_intervals, plan_path, whole_repeats
from foresift.selectors.search.path import commonality

__all__ = ["Row", "load_data", "plan_paper", "rows_of_table", "units_of"]

MAKERS = {
    "simple": datasets.make_simple,
    "friedman": datasets.make_friedman,
    "waveform": datasets.make_waveform,
}


_OF_FEATURES = {"gains": gains_of_records, "thresholds": thresholds_of_records}


@dataclass(frozen=True)
class Row:
    """One of our numbers, and the published one if there is one.

    `size` is the number of features (or of trees, or another variable of a curve), empty for a single number;
    `spread` is a standard deviation over `n` splits or repeats, `published_spread` one over `published_n`.

    Examples
    --------
    >>> row = Row("3", "Votes", "RF", "RF", "", "", 0.046, 0.031, 100, 0.065, 0.037, 100)
    >>> round(row.difference, 3), row.within, round(row.z, 1)
    (-0.019, True, -3.9)
    """

    table: str
    dataset: str
    model: str
    label: str
    classifier: str
    size: str
    ours: float
    spread: float
    n: int
    published: float | None = None
    published_spread: float | None = None
    published_n: int | None = None

    @property
    def difference(self) -> float | None:
        """Our number minus the published one."""
        return None if self.published is None else self.ours - self.published

    @property
    def within(self) -> bool | None:
        """Whether the difference is at most the published spread; None if none is published."""
        if self.published is None or self.published_spread is None:
            return None
        return abs(self.ours - self.published) <= self.published_spread

    @property
    def z(self) -> float | None:
        """The difference in standard errors, as if splits were independent; None if unknown."""
        if self.difference is None or self.published_spread is None or self.published_n is None:
            return None
        variance = self.spread**2 / self.n + self.published_spread**2 / self.published_n
        return self.difference / variance**0.5 if variance > 0 else None  # NaN: a single split


def load_data(
    name: str, entry: Mapping[str, Any], folder: str | os.PathLike[str] | None, repeats: int
) -> list[tuple[Data, dict[str, Any]]]:
    """Load or generate a data set of a spec, coded as specified.

    Parameters
    ----------
    name : str
        Name of the data set in the paper.
    entry : mapping
        The entry of the spec: `load` or `make`; `rows` = "complete" drops rows with missing values; `fresh`
        is the number of additional test rows of an artificial table; `values` maps symbols to numbers;
        `missing` replaces missing symbols (a number, or "category" for a category of their own); `code` =
        "as is" leaves the columns unchanged, otherwise symbols are numbered in alphabetical order; `thin_to`
        is the approximate number of rows to keep, at equal distances.
    folder : path or None
        As in `datasets.load`.
    repeats : int
        Number of tables to generate, if it is artificial.

    Returns
    -------
    list of (Data, dict)
        The tables, and the values of "$name" in the spec: all of `entry`, and `nominal` columns.

    Examples
    --------
    >>> (data, about), *others = load_data("Simple", {"make": "simple", "n_samples": 50}, None, 3)
    >>> data.n_rows, about["nominal"], len(others)
    (50, [], 2)
    """
    if "make" in entry:
        make, n = MAKERS[entry["make"]], entry["n_samples"] + entry.get("fresh", 0)
        tables = [make(n, random_state=seed) for seed in range(repeats)]
        return [(Data.of(name, *table), {**entry, "nominal": []}) for table in tables]
    X, y = datasets.load(entry["load"], folder)
    if entry.get("code") == "as is":
        if "thin_to" in entry:
            raise SpecError(f"{name}: thin_to needs numbers, not columns as they are.")
        return [(Data.of(name, X, y), dict(entry))]
    matrix, nominal = _numbers(X, entry)
    keep = ~np.isnan(matrix).any(axis=1) if entry.get("rows") == "complete" else np.ones(len(y), dtype=bool)
    if "thin_to" in entry:
        keep &= np.arange(len(y)) % max(1, len(y) // entry["thin_to"]) == 0
    return [(Data.of(name, matrix[keep], y[keep]), {**entry, "nominal": nominal})]


def _numbers(X: Any, entry: Mapping[str, Any]) -> tuple[np.ndarray, list[int]]:
    columns, nominal = [], []
    for j, column in enumerate(X):
        values = np.asarray(X[column], dtype=object if str(X[column].dtype) == "category" else None)
        if values.dtype == object:
            given = [None if cell is None or cell != cell else cell for cell in values]
            symbols = sorted({cell for cell in given if cell is not None})
            codes = dict(entry.get("values") or {symbol: float(k) for k, symbol in enumerate(symbols)})
            missing = entry.get("missing", np.nan)
            codes[None] = float(len(symbols)) if missing == "category" else float(missing)
            values = np.array([codes[cell] for cell in given])
            if "values" not in entry:
                nominal.append(j)
        columns.append(values.astype(np.float64))
    return np.column_stack(columns), nominal


def plan_paper(
    paper: Paper,
    tables: Sequence[PaperTable],
    folder: str | os.PathLike[str] | None = None,
    *,
    only: Iterable[str] = (),
    repeats: int | None = None,
) -> tuple[list[Job], list[Data]]:
    """Return the jobs of some tables of a paper and their data, for `harness.run.run`.

    `folder` is that of `datasets.load`, `only` names data sets (none means all), and `repeats` replaces the
    number of the paper.

    Examples
    --------
    >>> from foresift.evaluation.papers.specs import read_paper
    >>> paper = read_paper("rogers-gunn").shortened()
    >>> jobs, data = plan_paper(paper, paper.tables[:1], only=["Simple"])
    >>> len(data), len(jobs)
    (2, 8)
    """
    unknown = [name for name in only if name not in paper.datasets]
    if unknown:
        known = ", ".join(f'"{name}"' if "," in name else name for name in paper.datasets)
        hint = " (a name with a comma needs its double quotes)" if '"' in known else ""
        raise SpecError(f"There is no data set {unknown[0]!r}; there are {known}{hint}.")
    n_repeats = paper.protocol["repeats"] if repeats is None else repeats
    jobs: list[Job] = []
    data: list[Data] = []
    for name, entry in paper.datasets.items():
        models = {m.name: m for table in tables if name in table.datasets for m in paper.models_of(table)}
        if not models or (only and name not in only):
            continue
        n_tables = n_repeats if any(m.kind != "gains" for m in models.values()) else 1
        made = load_data(name, entry, folder, n_tables)
        here: list[Job] = []
        for seed, (table, about) in enumerate(made):
            data.append(table)
            times = 1 if "make" in entry else n_repeats
            for model in models.values():
                if model.kind == "gains" and seed > 0:
                    continue  # one table
                here += _plan_model(model, table, about, paper.protocol, times, seed)
        # Repeat by repeat, so that an interrupted run has results of all models.
        jobs += sorted(here, key=lambda job: job.units[0].repeat)
    folds = paper.protocol.get("folds")
    return [job for job in jobs if folds is None or job.units[0].fold < folds], data


def _plan_model(
    model: Model, data: Data, about: dict[str, Any], protocol: dict[str, Any], repeats: int, seed: int
) -> list[Job]:
    selector = None if model.selector is None else build(model.selector, about)
    classifiers = {name: build(entry, about) for name, entry in model.classifiers.items()}
    if model.kind == "path":
        return plan_path(data, model.name, selector, classifiers[""], random_state=seed)
    if model.kind == "intervals":
        options = {"cv": protocol["cv"], "repeats": repeats, "random_state": seed}
        return plan_intervals(data, model.name, classifiers[""], **options)
    if model.kind == "gains":
        return plan_gains(data, model.name, classifiers[""], random_state=seed)
    if model.kind == "thresholds":
        return plan_thresholds(data, model.name, selector, random_state=seed)
    sizes = about.get("sizes", [])
    chosen = ("own", *(range(1, data.n_features + 1) if sizes == "all" else sizes))
    cv = _fresh(about, seed) if "fresh" in about else _folds(about.get("cv", protocol["cv"]))
    how = Protocol(cv=cv, repeats=repeats, sizes=chosen, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        return plan_scores(data, {model.name: selector}, classifiers, how)


def _fresh(about: dict[str, Any], seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Train on nine tenths of the rows of a table, and test on all fresh ones."""
    n = about["n_samples"]
    train = np.sort(np.random.default_rng(seed).permutation(n)[: n * 9 // 10])
    return [(train, np.arange(n, n + about["fresh"]))]


def _folds(cv: Any) -> Any:
    """Stratified folds; papers use ten also if a class has fewer rows, which a plain number refuses."""
    return StratifiedKFold(cv, shuffle=True) if isinstance(cv, int) else cv


def rows_of_table(
    paper: Paper, table: PaperTable, records: Iterable[Record], planned: Iterable[Unit] | None = None
) -> list[Row]:
    """Compare our numbers of a table with the published ones, in the order of the spec.

    Records of other tables and failed ones are ignored. `planned` has all tasks of the experiment, to know
    which repeats are complete, if the table has numbers per repeat.

    Examples
    --------
    >>> from foresift.evaluation.papers.specs import read_paper
    >>> paper = read_paper("opitz")
    >>> unit = Unit("score", "iris", "", "Single Net", *[""] * 4, 0, 0, "", 0, "", "")
    >>> row, = rows_of_table(paper, paper.tables[0], [Record(unit, scores={"accuracy": {"all": 0.95}})])
    >>> round(row.ours, 1), row.published
    (5.0, 4.3)
    """
    if table.measure == "bounds":
        return [
            Row(table.id, place, bound, bound, "", str(at), gain, float("nan"), 1)
            for (place, bound), curve in bounds_over_nodes(table).items()
            for at, gain in curve.items()
        ]
    groups: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    if planned is not None and table.per == "repeat":
        records = whole_repeats(records, planned)
    for record in records:
        if not record.error:
            groups[record.unit.dataset, record.unit.method, record.unit.classifier].append(record)
    rows: list[Row] = []
    labels = dict(zip(table.columns, table.labels, strict=True))
    for dataset in table.datasets:
        for model in paper.models_of(table):
            if model.name == table.options.get("against"):
                continue
            label = model.label(labels.get(model.name) or labels.get(model.template, model.name))
            over = model.grid.get(table.options.get("over", ""))  # a curve of models, not of features
            for classifier in model.classifiers:
                found = groups.get((dataset, model.name, classifier), [])
                if not found:
                    continue
                if table.measure in _OF_FEATURES:
                    for (panel, line, size), values in _OF_FEATURES[table.measure](table, found).items():
                        rows.append(_row(table, dataset, model.name, line, panel, size, values))
                    continue
                others = groups.get((dataset, table.options.get("against", ""), classifier), [])
                for given, values in _measure(table, model, found, others).items():
                    size = given if over is None else str(over)
                    rows.append(_row(table, dataset, model.name, label, classifier, size, values))
    return _with_best(table, rows)


def _row(
    table: PaperTable, dataset: str, model: str, label: str, classifier: str, size: str, values: list[float]
) -> Row:
    numbers = table.scale * np.array(values)
    spread = float(numbers.std(ddof=1)) if len(numbers) > 1 else float("nan")
    cell = table.published.get((dataset, model, classifier, size))
    row = Row(table.id, dataset, model, label, classifier, size, float(numbers.mean()), spread, len(numbers))
    return row if cell is None else _beside(row, cell, table)


def _beside(row: Row, cell: Cell, table: PaperTable) -> Row:
    trials = table.options.get("trials")
    return replace(row, published=cell.value, published_spread=cell.spread, published_n=trials)


def _measure(
    table: PaperTable, model: Model, records: list[Record], others: list[Record]
) -> dict[str, list[float]]:
    """Values by size, one for each split or repeat."""
    if table.measure in ("error", "accuracy"):
        return _scores(table, records, model.name in table.constant_beyond_own)
    if table.measure == "intervals":
        # All gains lie between 0 and 1, so a wider interval, from few observations, counts as 1. So does a
        # missing one (null in the store).
        found = [record.extra["intervals"] for record in records]
        if len({*map(len, found)}) > 1:  # all forests have the same number of trees
            raise InputError(
                f"The store is damaged ({model.name} has intervals of different lengths): restore it from a"
                " copy, delete it, or name another file."
            )
        curves = np.array(found, dtype=np.float64)
        curves = np.fmin(curves, 1.0)
        return {str(k + 1): curves[:, k].tolist() for k in range(curves.shape[1])}
    if table.measure == "seconds":
        return {"": [r.seconds["select"] / max(1, len(r.features["order"]) - 1) for r in records]}
    if table.measure == "commonality":
        return _shared(records, others, table.options["reduction"])
    return _reductions(records, table.options["limit"])


def _scores(table: PaperTable, records: list[Record], constant_beyond_own: bool) -> dict[str, list[float]]:
    groups: dict[str, dict[tuple[str, int], list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        unit = record.unit
        # Each generated table is a repeat of its own.
        place = (unit.data, unit.repeat if table.per == "repeat" else unit.repeat * 1000 + unit.fold)
        accuracies = record.scores["accuracy"]
        for size, score in accuracies.items():
            beyond = constant_beyond_own and size.isdigit() and int(size) > len(record.features["own"])
            value = accuracies["own"] if beyond else score
            if value is not None:
                groups[size][place].append(1 - value if table.measure == "error" else value)
    found = {size: [float(np.mean(v)) for v in places.values()] for size, places in groups.items()}
    one_size = not any(size.isdigit() for size in found) and not any(cell.size for cell in table.cells)
    return {"": next(iter(found.values()))} if one_size and found else found


def _shared(records: list[Record], others: list[Record], reduction: float) -> dict[str, list[float]]:
    def split(record: Record) -> tuple[str, int, int]:
        return record.unit.data, record.unit.repeat, record.unit.fold

    found: dict[str, list[float]] = defaultdict(list)
    partners = {split(other): other for other in others}  # one of either may have failed
    for record in records:
        if split(record) in partners:
            path = path_of(record)
            rates, shares = commonality(path, path_of(partners[split(record)]))
            for rate, share in zip(rates.tolist(), shares.tolist(), strict=True):
                found[str(round((1 - rate) * path.n_features_in))].append(share)
            found[f"at {reduction:.0%}"].append(float(shares[np.argmin(np.abs(rates - reduction))]))
    return dict(found)


def _reductions(records: list[Record], limit: float) -> dict[str, list[float]]:
    """Errors by the number of features; the reduction within the limit, and the error at that reduction."""
    found: dict[str, list[float]] = defaultdict(list)
    for record in records:
        path = path_of(record)
        for size, error in zip(path.n_features.tolist(), path.errors.tolist(), strict=True):
            found[str(size)].append(error)
        passed = np.flatnonzero(path.errors > path.errors[0] + limit)
        last = int(passed[0]) - 1 if len(passed) else len(path) - 1
        found["reduction within the limit"].append(float(path.reduction_rates[last]))
        found["error at that reduction"].append(float(path.errors[last]))
    return dict(found)


def _with_best(table: PaperTable, rows: list[Row]) -> list[Row]:
    """Add rows for published numbers that are the best of a curve."""
    best, pick = [], max if table.measure in ("accuracy", "commonality") else min
    for cell in table.cells:
        if cell.size == "best":
            where = (cell.dataset, cell.model, cell.classifier)
            curve = [r for r in rows if (r.dataset, r.model, r.classifier) == where and r.size.isdigit()]
            if curve:
                top = pick(curve, key=lambda row: row.ours)
                best.append(_beside(replace(top, size="best"), cell, table))
    return rows + best


def units_of(jobs: Iterable[Job]) -> list[Unit]:
    """All tasks of some jobs.

    Examples
    --------
    >>> units_of([])
    []
    """
    return [unit for job in jobs for unit in job.units]
