"""What `select` costs and is worth: nested scores over tables, and verdicts on small tables.

`nested` selects columns on the training rows of every fold, grows a forest on the selected columns and one on
all, and scores both on the test rows. Every fold leaves one line of JSON; a run takes up where the last one
stopped. The tables are those of FORESIFT_DATA and generated ones (Madelon-like, wide).

    python benchmarks/nested_select.py nested results.jsonl [--tables iris,glass] [--before DIR]
    python benchmarks/nested_select.py table results.jsonl
    python benchmarks/nested_select.py verdicts [--tables 20] [--rows 60]

`--before DIR` selects with another version of the package, which lies in DIR; the forests that are scored are
the present ones. `table` prints the differences with corrected intervals (Nadeau & Bengio 2003), `verdicts`
compares the answers of `select` on small tables with forests scored on 10,000 fresh rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from foresift import SiftForestClassifier, select
from foresift.data.slices import take_columns, take_rows
from foresift.datasets import available, load
from foresift.stats import corrected_interval

N_FOLDS = 5
SLOW_ROWS = 4000  # tables with more are not repeated


def madelon(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """5 informative columns, 15 combinations of them, 480 of noise."""
    return make_classification(
        2600,
        500,
        n_informative=5,
        n_redundant=15,
        n_clusters_per_class=16,
        class_sep=1.6,
        random_state=seed,
    )


def wide(seed: int, n_rows: int = 60, n_columns: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Six factors in all columns, and a common one of half of the variance."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_rows, 6))
    X = factors @ (0.5 * rng.normal(size=(6, n_columns))) + 0.8 * rng.normal(size=(n_rows, n_columns))
    loadings = rng.uniform(0.5, 1.5, size=n_columns)
    X += np.sqrt(X.var(axis=0).mean() / np.mean(loadings**2)) * np.outer(rng.normal(size=n_rows), loadings)
    y = factors[:, 0] + 0.5 * factors[:, 1] + 0.6 * rng.normal(size=n_rows) > 0
    return X, y.astype(int)


GENERATED = {
    "madelon-like": lambda: madelon(7),
    "wide 60x2000": lambda: wide(7),
    "wide 120x500": lambda: wide(8, 120, 500),
}


def data_of(name: str) -> tuple[Any, np.ndarray]:
    """X and the codes of the classes."""
    X, y = GENERATED[name]() if name in GENERATED else load(name)
    return X, np.unique(y, return_inverse=True)[1]


def kept_by(X: Any, y: np.ndarray, seed: int) -> tuple[list[int], float]:
    """Numbers of the selected columns, and processor seconds."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select(X, y, random_state=seed)
    names = found.labels if found.labels is not None else found._names
    return [list(names).index(name) for name in found.features], time.process_time() - started


def scores(
    X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray, columns: list[int]
) -> tuple[float, float]:
    """Accuracy and area under the curve of a forest on some columns; of the class shares without columns."""
    classes = np.unique(y)
    if columns:
        X = take_columns(X, np.array(columns))
        forest = SiftForestClassifier(100, max_features="sqrt", random_state=0).fit(
            take_rows(X, train), y[train]
        )
        shares = np.zeros((len(test), len(classes)))
        shares[:, np.searchsorted(classes, forest.classes_)] = forest.predict_proba(take_rows(X, test))
    else:
        shares = np.tile(np.bincount(y[train], minlength=len(classes)) / len(train), (len(test), 1))
    accuracy = float((classes[shares.argmax(axis=1)] == y[test]).mean())
    present = np.isin(classes, y[test])
    if present.sum() < 2:
        return accuracy, float("nan")
    if len(classes) == 2:
        return accuracy, float(roc_auc_score(y[test], shares[:, 1]))
    areas = [roc_auc_score(y[test] == c, shares[:, k]) for k, c in enumerate(classes) if present[k]]
    return accuracy, float(np.average(areas, weights=[(y[test] == c).sum() for c in classes[present]]))


def nested(path: Path, names: list[str], repeats: int) -> None:
    """Add a line for every table, repeat and fold that the file does not have."""
    lines = path.read_text().splitlines() if path.exists() else []
    done = {(row["table"], row["repeat"], row["fold"]) for row in map(json.loads, lines)}
    for name in names:
        X, y = data_of(name)
        for repeat in range(repeats if len(y) <= SLOW_ROWS else 1):
            folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(y, y)
            for fold, (train, test) in enumerate(folds):
                if (name, repeat, fold) in done:
                    continue
                columns, seconds = kept_by(take_rows(X, train), y[train], repeat)
                n_columns = np.shape(X)[1]
                row = {"table": name, "repeat": repeat, "fold": fold, "n_kept": len(columns), "n": n_columns}
                row["kept"] = scores(X, y, train, test, columns)
                row["all"] = scores(X, y, train, test, list(range(n_columns)))
                row["seconds"] = round(seconds, 2)
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")


def table(path: Path) -> None:
    """Print a line for every table, and the means."""
    rows = defaultdict(list)
    for row in map(json.loads, path.read_text().splitlines()):
        rows[row["table"]].append(row)
    print("| table | folds | columns | kept | accuracy, all | difference | AUC, all | difference | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    means = []
    for name, some in rows.items():
        if len(some) < N_FOLDS:  # not done yet
            continue
        kept, full = (np.array([row[key] for row in some]) for key in ("kept", "all"))
        points = corrected_interval(100 * (kept - full)[:, 0], 1 / N_FOLDS)
        area = corrected_interval((kept - full)[:, 1], 1 / N_FOLDS)
        means.append((points.value, area.value, np.mean([row["n_kept"] / row["n"] for row in some])))
        bad = " **" if points.value < -2 and points.high < 0 else ""
        n_kept, seconds = (np.mean([row[key] for row in some]) for key in ("n_kept", "seconds"))
        print(
            f"| {name} | {len(some)} | {some[0]['n']} | {n_kept:.1f} | {100 * full[:, 0].mean():.1f}"
            f" | {points.value:+.2f} ({points.low:+.1f} to {points.high:+.1f}){bad}"
            f" | {full[:, 1].mean():.3f} | {area.value:+.4f} | {seconds:.1f} |"
        )
    mean = np.nanmean(means, axis=0)
    print(
        f"\n{len(means)} tables: {mean[0]:+.2f} points, {mean[1]:+.4f} AUC, {mean[2]:.2f} of the columns kept"
    )


def small_table(seed: int, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows to select on and 10,000 fresh ones of the same kind, which differs from seed to seed."""
    rng = np.random.default_rng([seed, 60])
    n_columns = int(rng.choice([10, 30, 100]))
    n_relevant = int(rng.choice([1, 2, 5]))
    effect, n = rng.choice([0.7, 1.5]), n_rows + 10_000
    X = rng.normal(size=(n, n_columns))
    if seed % 2:  # correlated in blocks
        X += 1.5 * np.repeat(rng.normal(size=(n, n_columns // 5)), 5, axis=1)
    latent = effect * X[:, :n_relevant].sum(axis=1) + rng.logistic(size=n)
    y = (latent > 0).astype(int)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def verdicts(n_tables: int, n_rows: int) -> None:
    """Print what `select` says of small tables, and what fresh rows say."""
    for seed in range(n_tables):
        X, y, fresh, target = small_table(seed, n_rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = select(X, y, random_state=0)
        columns = [int(name[1:]) for name in found.features]
        rows, both = np.arange(n_rows), (np.vstack([X, fresh]), np.concatenate([y, target]))
        test = np.arange(n_rows, n_rows + len(target))
        kept, full = (scores(*both, rows, test, some)[0] for some in (columns, list(range(X.shape[1]))))
        fresh_rows = f"{100 * (kept - full):+.1f} points on fresh rows"
        print(f"{seed:3d} {found.certainty or 'none':14s} {fresh_rows} | {found.verdict}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["nested", "table", "verdicts"])
    parser.add_argument("results", nargs="?", type=Path)
    parser.add_argument("--tables", default="")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--before", help="folder with another version of the package")
    options = parser.parse_args()
    if options.before:
        rest = [part for part in sys.argv if part not in ("--before", options.before)]
        env = {**os.environ, "PYTHONPATH": options.before}
        sys.exit(subprocess.run([sys.executable, *rest], env=env, check=False).returncode)
    if options.what == "verdicts":
        verdicts(int(options.tables or 20), options.rows)
        return
    if options.results is None:
        parser.error("name the file of the results")
    if options.what == "table":
        table(options.results)
        return
    sizes = {place.name: place.rows * place.features for place in available() if place.rows > 30}
    sizes |= {name: np.size(make()[0]) for name, make in GENERATED.items()}
    names = options.tables.split(",") if options.tables else sorted(sizes, key=lambda name: sizes[name])
    nested(options.results, names, options.repeats)


if __name__ == "__main__":
    main()
