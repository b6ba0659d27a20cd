"""Speed and memory of our forests and scikit-learn's random forests, as ratios in one run.

Both sides get the same data, the same settings and one thread; `fit` is timed whole, validation and coding
included, in processor time. Runs take turns, and the best of several counts (100,000 rows: one run). Every
comparison also checks that both forests learned the problem: the score on held-out rows over several seeds.

    python benchmarks/forest.py            # everything, about twenty minutes
    python benchmarks/forest.py --task regression
    python benchmarks/forest.py --quick    # smaller forests, a few minutes
    python benchmarks/forest.py --only fit-10k --only memory
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import Results, interleaved, seconds
from rich.table import Table
from sklearn.datasets import make_classification, make_friedman1, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from foresift import SiftForestClassifier, SiftForestRegressor
from foresift.datasets import load


@dataclass(frozen=True)
class Case:
    """One comparison of fit times."""

    name: str
    rows: int
    columns: int
    max_features: Any
    kind: (
        int  # number of classes; of a quantity, informative columns of make_regression, or 0: make_friedman1
    )
    bar: float
    options: tuple[tuple[str, Any], ...] = ()  # for ours only


class Classification:
    """Forests of classes, compared by accuracy."""

    cases = (
        Case("fit-10k", 10_000, 100, "sqrt", 2, 10),
        Case("fit-100k", 100_000, 50, "sqrt", 2, 12),
        Case("fit-1k", 1_000, 60, "sqrt", 2, 5),
        Case("fit-one-feature", 10_000, 100, 1, 2, 8),
        Case("fit-10-classes", 10_000, 100, "sqrt", 10, 8),
    )

    def data(self, rows: int, columns: int, kind: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """X and y with known structure."""
        X, y = make_classification(
            rows, columns, n_informative=20, n_redundant=0, n_classes=kind, random_state=seed
        )
        return X.astype(np.float32), y

    def theirs(self, trees: int, max_features: Any, seed: int = 0, n_jobs: int = 1) -> Any:
        """The forest of scikit-learn."""
        return RandomForestClassifier(
            trees, criterion="entropy", max_features=max_features, n_jobs=n_jobs, random_state=seed
        )

    def ours(self, trees: int, max_features: Any, seed: int = 0, n_jobs: int = 1, **options: Any) -> Any:
        """The forest of foresift."""
        return SiftForestClassifier(
            trees, max_features=max_features, n_jobs=n_jobs, random_state=seed, **options
        )

    def shown(self, a: float, b: float) -> str:
        """Both scores, theirs first."""
        return f"accuracy {100 * a:.2f} / {100 * b:.2f} %"

    def predict(self, forest: Any, X: np.ndarray) -> np.ndarray:
        """What is timed as prediction."""
        return forest.predict_proba(X)

    def agreement(self, a: Any, b: Any, X: np.ndarray) -> str:
        """How far two forests agree."""
        return f"agree on {np.mean(a.predict(X) == b.predict(X)):.2%}"


class Regression:
    """Forests of a quantity, compared by R2."""

    cases = (
        Case("fit-10k", 10_000, 100, 1 / 3, 0, 10),
        Case("fit-10k-linear", 10_000, 100, 1 / 3, 20, 10),
        Case("fit-100k", 100_000, 50, 1 / 3, 0, 12),
        Case("fit-1k", 1_000, 60, 1 / 3, 0, 6),
        Case("fit-1k-linear", 1_000, 60, 1 / 3, 20, 6),
        Case("fit-all-features", 10_000, 100, 1.0, 0, 8),
    )

    def data(self, rows: int, columns: int, kind: int = 0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """X and y with known structure."""
        if kind:
            X, y = make_regression(rows, columns, n_informative=kind, noise=50, random_state=seed)
        else:
            X, y = make_friedman1(rows, columns, noise=1.0, random_state=seed)
        return X.astype(np.float32), y

    def theirs(self, trees: int, max_features: Any, seed: int = 0, n_jobs: int = 1) -> Any:
        """The forest of scikit-learn."""
        return RandomForestRegressor(trees, max_features=max_features, n_jobs=n_jobs, random_state=seed)

    def ours(self, trees: int, max_features: Any, seed: int = 0, n_jobs: int = 1, **options: Any) -> Any:
        """The forest of foresift."""
        return SiftForestRegressor(
            trees, max_features=max_features, n_jobs=n_jobs, random_state=seed, **options
        )

    def shown(self, a: float, b: float) -> str:
        """Both scores, theirs first."""
        return f"R2 {a:.4f} / {b:.4f}"

    def predict(self, forest: Any, X: np.ndarray) -> np.ndarray:
        """What is timed as prediction."""
        return forest.predict(X)

    def agreement(self, a: Any, b: Any, X: np.ndarray) -> str:
        """How far two forests agree."""
        return f"correlation {np.corrcoef(a.predict(X), b.predict(X))[0, 1]:.4f}"


TASKS = {"classification": Classification(), "regression": Regression()}


def held_out_scores(task: Any, case: Case, trees: int, seeds: int) -> tuple[float, float]:
    """Mean score on new rows, theirs and ours; more seeds for small data, where it varies more."""
    scores = []
    for seed in range(8 * seeds if case.rows <= 1000 else seeds):
        X, y = task.data(case.rows + max(case.rows, 5000), case.columns, case.kind, seed)
        train, test = slice(None, case.rows), slice(case.rows, None)
        a = task.theirs(trees, case.max_features, seed, n_jobs=2).fit(X[train], y[train])
        b = task.ours(trees, case.max_features, seed, n_jobs=2, **dict(case.options)).fit(X[train], y[train])
        scores.append((a.score(X[test], y[test]), b.score(X[test], y[test])))
    mean = np.mean(scores, axis=0)
    return float(mean[0]), float(mean[1])


def compare_fits(task: Any, table: Table, names: list[str], trees: int, repeats: int, seeds: int) -> None:
    for case in task.cases:
        if names and case.name not in names:
            continue
        X, y = task.data(case.rows, case.columns, case.kind)
        slow = min(repeats, 1 if case.rows > 50_000 else repeats)
        t_theirs, t_ours = interleaved(
            lambda X=X, y=y, c=case: task.theirs(trees, c.max_features).fit(X, y),
            lambda X=X, y=y, c=case: task.ours(trees, c.max_features, **dict(c.options)).fit(X, y),
            slow,
        )
        a, b = held_out_scores(task, case, trees, seeds)
        table.add_row(
            case.name,
            f"{t_theirs:.2f} s",
            f"{t_ours:.3f} s",
            f"{t_theirs / t_ours:.1f}x",
            f"{case.bar}x",
            task.shown(a, b),
        )


def compare_predictions(task: Any, table: Table, trees: int) -> None:
    X, y = task.data(100_000, 50)
    a, b = task.theirs(trees, "sqrt", n_jobs=2).fit(X, y), task.ours(trees, "sqrt", n_jobs=2).fit(X, y)
    a.n_jobs = b.n_jobs = 1
    t_theirs, t_ours = interleaved(lambda: task.predict(a, X), lambda: task.predict(b, X), 3)
    check = task.agreement(a, b, X)
    ratio = f"{t_theirs / t_ours:.1f}x"
    table.add_row("predict-100k", f"{t_theirs:.2f} s", f"{t_ours:.3f} s", ratio, "3x", check)


def compare_threads(task: Any, table: Table, trees: int) -> None:
    X, y = task.data(100_000, 50)
    one, two = task.ours(trees, "sqrt"), task.ours(trees, "sqrt", n_jobs=2)
    t_one, t_two = interleaved(lambda: one.fit(X, y), lambda: two.fit(X, y), 3, time.perf_counter)
    same = one.node_tables_ == two.node_tables_
    ratio = f"{t_one / t_two:.2f}x"
    table.add_row(
        "two-threads", f"one: {t_one:.2f} s", f"two: {t_two:.2f} s", ratio, "1.7x", f"same trees: {same}"
    )


def compare_bins(task: Any, table: Table, trees: int) -> None:
    """Exact search against 255 bins, both ours."""
    for rows, columns, max_features in ((10_000, 100, "sqrt"), (10_000, 100, 1), (100_000, 50, "sqrt")):
        X, y = task.data(rows, columns)
        t_exact, t_bins = interleaved(
            lambda X=X, y=y, m=max_features: task.ours(trees, m).fit(X, y),
            lambda X=X, y=y, m=max_features: task.ours(trees, m, max_bins=255).fit(X, y),
            4,
        )
        what = f"bins {rows:,} x {columns}, {max_features}"
        times = (f"exact: {t_exact:.3f} s", f"255: {t_bins:.3f} s")
        table.add_row(what, *times, f"{t_exact / t_bins:.2f}x", "", "exact over 255 bins")


def compare_sampling(task: Any, table: Table, trees: int) -> None:
    """Distributions over the columns that learn, against the uniform one, all ours."""
    X, y = task.data(20_000, 100)
    train, test = slice(None, 10_000), slice(10_000, None)
    for name in ("confidence", "soft", "two-stage", "two-stage+confidence"):
        uniform, learns = task.ours(trees, 1), task.ours(trees, 1, feature_sampling=name, update_every=10)
        t_uniform, t_learns = interleaved(
            lambda model=uniform: model.fit(X[train], y[train]),
            lambda model=learns: model.fit(X[train], y[train]),
            8,
        )
        a, b = uniform.score(X[test], y[test]), learns.score(X[test], y[test])
        table.add_row(
            f"sampling: {name}",
            f"uniform: {t_uniform:.3f} s",
            f"{t_learns:.3f} s",
            f"{t_learns / t_uniform:.2f}x",
            "at most 1.3x",
            task.shown(a, b),
        )


def growth(task: Any, table: Table, trees: int) -> None:
    """Doubling the rows, and the features tried, of one forest."""
    times = {}
    for rows in (25_000, 50_000, 100_000, 200_000):
        X, y = task.data(rows, 50)
        times[rows] = min(seconds(lambda X=X, y=y: task.ours(trees, "sqrt").fit(X, y)) for _ in range(2))
    first, last = min(times), max(times)
    n_log_n = last * np.log(last) / (first * np.log(first))
    text = ", ".join(f"{rows:,}: {t:.2f} s" for rows, t in times.items())
    table.add_row("rows x8", "", "", f"{times[last] / times[first]:.1f}x", f"n log n: {n_log_n:.1f}x", text)
    X, y = task.data(20_000, 64)
    tried = {
        k: min(seconds(lambda k=k: task.ours(trees, k).fit(X, y)) for _ in range(2)) for k in (4, 8, 16, 32)
    }
    text = ", ".join(f"{k}: {t:.2f} s" for k, t in tried.items())
    table.add_row("features tried x8", "", "", f"{tried[32] / tried[4]:.1f}x", "linear: 8x", text)


def peak_memory(task: Any, which: str, trees: int, folder: str) -> None:
    """Print how far one fit raises the memory of this process, in MB; for a process of its own, on Linux."""

    def status(field: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(field))

    X, y = np.load(f"{folder}/X.npy"), np.load(f"{folder}/y.npy")
    make = {"theirs": task.theirs, "ours": task.ours}[which]
    make(2, "sqrt").fit(X[:1000], y[:1000])  # whatever the libraries allocate once
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before = status("VmRSS")
    forest = make(trees, "sqrt").fit(X, y)
    print(json.dumps((status("VmHWM") - before) / 1024))
    del forest


def compare_memory(task: Any, table: Table, trees: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, array in zip("Xy", task.data(100_000, 50), strict=True):
            np.save(f"{folder}/{name}.npy", array)

        def peak(which: str) -> float:
            command = [
                sys.executable,
                __file__,
                "--task",
                next(name for name, some in TASKS.items() if some is task),
                "--trees",
                str(trees),
                "--peak",
                which,
                folder,
            ]
            return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

        a, b = peak("theirs"), peak("ours")
    table.add_row("memory-100k", f"{a:.0f} MB", f"{b:.0f} MB", f"{a / b:.2f}x", "1x", "peak above the data")


def compare_lightgbm(task: Any, table: Table, trees: int) -> None:
    """LightGBM in forest mode, which bins columns and is told to grow as large trees; regression only."""
    from lightgbm import LGBMRegressor

    X, y = task.data(15_000, 100)
    train, test = slice(None, 10_000), slice(10_000, None)
    settings = {"boosting_type": "rf", "n_estimators": trees, "num_leaves": 8192, "min_child_samples": 1}
    draws = {"bagging_fraction": 0.632, "bagging_freq": 1, "feature_fraction_bynode": 1 / 3, "verbose": -1}
    a, b = LGBMRegressor(**settings, **draws, n_jobs=1, random_state=0), task.ours(trees, 1 / 3)
    times = interleaved(lambda: a.fit(X[train], y[train]), lambda: b.fit(X[train], y[train]), 1)
    check = task.shown(a.score(X[test], y[test]), b.score(X[test], y[test]))
    shown = f"LightGBM: {times[0]:.2f} s", f"{times[1]:.3f} s", f"{times[0] / times[1]:.1f}x"
    table.add_row("lightgbm-10k", *shown, "", check)


def compare_oob(task: Any, table: Table, trees: int = 500) -> None:
    """Out-of-bag R2 of both forests on classic tables of numbers."""
    for name in ("airfoil", "concrete", "energy-heating", "kin8nm", "wine-quality-red", "yacht", "auto-mpg"):
        X, y = load(name, task="regression")
        X = np.column_stack([np.asarray(X[column], dtype=float) for column in X])
        complete = ~np.isnan(X).any(axis=1)
        X, y = X[complete], np.asarray(y, dtype=float)[complete]
        a, b = (
            make(trees, 1 / 3, n_jobs=2).set_params(oob_score=True).fit(X, y)
            for make in (task.theirs, task.ours)
        )
        difference = b.oob_score_ - a.oob_score_
        scores = f"R2 {a.oob_score_:.4f}", f"R2 {b.oob_score_:.4f}"
        table.add_row(
            f"oob: {name}", *scores, f"{difference:+.4f}", "within 0.01", f"{len(y)} x {X.shape[1]}"
        )


def coding(table: Table) -> None:
    """Code ten million cells: continuous float32 and float64, and small integers."""
    from foresift.data.table import make_table

    rng = np.random.default_rng(0)
    kinds = {
        "float32": rng.normal(size=(100_000, 100)).astype(np.float32),
        "float64": rng.normal(size=(100_000, 100)),
        "small integers": rng.integers(0, 50, size=(100_000, 100)).astype(np.float64),
    }
    times = {name: min(seconds(lambda X=X: make_table(X)) for _ in range(2)) for name, X in kinds.items()}
    text = ", ".join(f"{name} {t:.2f} s" for name, t in times.items())
    table.add_row("coding 10M cells", "", "", "", "< 1 s", text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--task", choices=list(TASKS), default="classification")
    parser.add_argument("--quick", action="store_true", help="20 trees instead of 100, one seed")
    parser.add_argument("--only", action="append", default=[], help="names of rows to run; may be repeated")
    parser.add_argument("--trees", type=int, default=None)
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    task = TASKS[args.task]
    trees = args.trees or (20 if args.quick else 100)
    if args.peak:
        peak_memory(task, args.peak[0], trees, args.peak[1])
        return
    title = f"{date.today()}, {args.task}, {trees} trees, one thread each unless said"
    table = Results(title, ("what", "scikit-learn", "foresift", "ratio", "bar", "check"))
    only = args.only
    compare_fits(task, table, only, trees, repeats=2 if args.quick else 3, seeds=1 if args.quick else 5)
    for name, step in {
        "predict-100k": lambda: compare_predictions(task, table, trees),
        "two-threads": lambda: compare_threads(task, table, min(trees, 40)),
        "bins": lambda: compare_bins(task, table, min(trees, 20)),
        "sampling": lambda: compare_sampling(task, table, trees),
        "growth": lambda: growth(task, table, min(trees, 20)),
        "memory": lambda: compare_memory(task, table, trees),
        "coding": lambda: coding(table),
        "oob": lambda: compare_oob(task, table),
        "lightgbm": lambda: compare_lightgbm(task, table, trees),
    }.items():
        others = ("coding",) if args.task == "regression" else ("oob", "lightgbm")  # of the other task
        if name in others and name not in only:
            continue
        if not only or name in only:
            step()
    table.show()


if __name__ == "__main__":
    main()
