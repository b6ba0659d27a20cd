"""Feature boosting on large tables, against wrappers and filters (Bommaganti, section 5.2).

Every method selects columns of the training rows of a generated table. A C4.5 tree and a forest are fitted
to these columns and scored on 5,000 fresh rows. The wrappers search with C4.5, as feature boosting does.

    python benchmarks/feature_boosting.py run boosting.csv --seeds 0 3    # one thread, resumable
    python benchmarks/feature_boosting.py show boosting.csv

A method is left out on a table on which it would need more than `--limit` seconds, by its time on smaller.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import make_classification

from foresift import (
    C45Classifier,
    ContributionSelector,
    FeatureBoostingSelector,
    InfoGainSelector,
    RelevanceSelector,
    SequentialSelector,
    SiftForestClassifier,
)

N_FRESH = 5000
N_ROWS, N_COLUMNS = (1000, 10_000, 50_000), (20, 60, 200)
SIZE = 10  # columns to keep, as many as are informative
FIELDS = "problem", "rows", "columns", "method", "seed", "kept", "found", "c45", "forest", "seconds"
KEY = 5  # the first fields, which name a run

Table = tuple[np.ndarray, np.ndarray, int]


def clusters(rows: int, columns: int, seed: int) -> Table:
    """Four clusters a class in ten columns, by scikit-learn; 5 % of the classes are wrong."""
    X, y = make_classification(
        rows,
        columns,
        n_informative=SIZE,
        n_redundant=0,
        n_clusters_per_class=4,
        flip_y=0.05,
        shuffle=False,
        random_state=seed,
    )
    return X, y, SIZE


def mixed(rows: int, columns: int, seed: int) -> Table:
    """Six columns that add up, and two pairs that matter only together; a fifth of the variance is noise."""
    rng = np.random.default_rng([seed, rows, columns])
    X = rng.normal(size=(rows, columns))
    signal = X[:, :6].sum(axis=1) + 2 * np.sign(X[:, 6] * X[:, 7]) + 2 * np.sign(X[:, 8] * X[:, 9])
    noise = rng.normal(size=rows) * signal.std() / 2
    return X, (signal + noise > 0).astype(int), SIZE


PROBLEMS: dict[str, Callable[[int, int, int], Table]] = {"clusters": clusters, "mixed": mixed}


def methods(seed: int) -> dict[str, Any]:
    """What is compared; None keeps all columns."""
    common: dict[str, Any] = {"random_state": seed}
    return {
        "all columns": None,
        "info gain": InfoGainSelector(SIZE),
        "relevance": RelevanceSelector(n_jobs=1, **common),
        "boosting, own size": FeatureBoostingSelector(**common),
        "boosting": FeatureBoostingSelector(SIZE, **common),
        "boosting, 250 iterations": FeatureBoostingSelector(SIZE, n_iterations=250, **common),
        "boosting, rate 0.1, 250": FeatureBoostingSelector(
            SIZE, n_iterations=250, learning_rate=0.1, **common
        ),
        "boosting, oob, 250": FeatureBoostingSelector(SIZE, n_iterations=250, accuracy="oob", **common),
        "boosting of pairs": FeatureBoostingSelector(SIZE, order=2, **common),
        "contribution": ContributionSelector(SIZE, step=0.1, cv=None, n_jobs=1, **common),
        "forward, C4.5": SequentialSelector(C45Classifier(), SIZE, direction="forward", n_jobs=1, **common),
        "backward, C4.5": SequentialSelector(C45Classifier(), SIZE, direction="backward", n_jobs=1, **common),
    }


def growth(method: str, columns: int) -> float:
    """How the time depends on the number of columns: the searches fit more trees, of more columns."""
    power = {"backward, C4.5": 2.5, "boosting of pairs": 2.5}.get(method, 1.0)
    return float(columns**power)


def too_long(method: str, n: int, p: int, times: dict[tuple[str, int, int], float], limit: float) -> bool:
    """Whether the time of any smaller table lets us expect more than the limit."""
    return any(
        seconds * n / rows * growth(method, p) / growth(method, columns) > limit
        for (name, rows, columns), seconds in times.items()
        if name == method and rows <= n and columns <= p
    )


def measured(method: str, problem: str, n: int, p: int, seed: int) -> dict[str, Any]:
    """Select on the training rows, and score two models of the selected columns on the others."""
    X, y, n_relevant = PROBLEMS[problem](n + N_FRESH, p, seed)
    order = np.random.default_rng(seed).permutation(len(y))  # of make_classification the clusters are sorted
    train, test = order[:n], order[n:]
    selector, kept = methods(seed)[method], np.arange(p)
    started = time.process_time()
    if selector is not None:
        kept = selector.fit(X[train], y[train]).get_support(indices=True)
    seconds = time.process_time() - started
    models = (
        C45Classifier(),
        SiftForestClassifier(50, max_samples=min(n, 10_000), n_jobs=1, random_state=seed),
    )
    tree, forest = (
        float(np.mean(model.fit(X[np.ix_(train, kept)], y[train]).predict(X[np.ix_(test, kept)]) == y[test]))
        for model in models
    )
    found = int((kept < n_relevant).sum())
    values = problem, n, p, method, seed, len(kept), found, tree, forest, seconds
    return dict(zip(FIELDS, values, strict=True))


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def run(path: Path, seeds: range, n_rows: list[int], limit: float) -> None:
    """Measure what the file does not have."""
    old = read(path)
    known = {tuple(list(row.values())[:KEY]) for row in old}
    times = {(row["method"], int(row["rows"]), int(row["columns"])): float(row["seconds"]) for row in old}
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not old:
            writer.writeheader()
        for seed, n, p, problem, method in product(seeds, n_rows, N_COLUMNS, PROBLEMS, methods(0)):
            key = problem, str(n), str(p), method, str(seed)
            if key in known or too_long(method, n, p, times, limit):
                continue
            row = measured(method, problem, n, p, seed)
            times[method, n, p] = row["seconds"]
            writer.writerow(row)
            file.flush()
            print(*row.values(), flush=True)


def show(path: Path, problems: list[str]) -> None:
    """Print a table a problem and a size: means over seeds, with the standard error of the accuracies."""
    rows = read(path)
    for problem, n, p in product(problems, N_ROWS, N_COLUMNS):
        own = [
            row for row in rows if (row["problem"], row["rows"], row["columns"]) == (problem, str(n), str(p))
        ]
        if not own:
            continue
        print(f"\n{problem}, {n:,} rows, {p} columns\n")
        print("| method | seeds | columns | informative | C4.5 | forest | seconds |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for method in methods(0):
            found = [row for row in own if row["method"] == method]
            if not found:
                print(f"| {method} | 0 | | | | | not run |")
                continue
            mean = {field: np.mean([float(row[field]) for row in found]) for field in FIELDS[KEY:]}
            tree, forest = (
                f"{100 * mean[field]:.1f} ± {spread([float(row[field]) for row in found]):.1f}"
                for field in ("c45", "forest")
            )
            print(
                f"| {method} | {len(found)} | {mean['kept']:.1f} | {mean['found']:.1f} | {tree} | {forest} "
                f"| {mean['seconds']:.2f} |"
            )


def spread(values: list[float]) -> float:
    """Standard error of the mean, in percent."""
    return 100 * float(np.std(values, ddof=1)) / np.sqrt(len(values)) if len(values) > 1 else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "show"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 3), metavar=("FIRST", "END"))
    parser.add_argument("--rows", type=int, nargs="+", choices=N_ROWS, default=N_ROWS)
    parser.add_argument("--limit", type=float, default=30.0, help="seconds of a selection")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    args = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if args.command == "run":
            run(args.path, range(*args.seeds), args.rows, args.limit)
        else:
            show(args.path, args.problems)


if __name__ == "__main__":
    main()
