"""How fast the weights of confidence sampling should converge (Rogers & Gunn, end of section 6).

Forests with `feature_sampling="confidence"` and various rates are grown on sixteen generated tables. The
error on 2,000 fresh rows, the weight on the relevant columns, and how far the weights are from those after
the last tree, are measured after 10, 30, 100 and 300 trees.

    python benchmarks/convergence_rate.py run rates.csv --seeds 100 104    # one thread
    python benchmarks/convergence_rate.py show rates.csv

Choose on some seeds and report on others. Errors are compared with the default on the same table, and their
standard errors are those over seeds of the mean over the tables.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from foresift import SiftForestClassifier

N_FRESH = 2000
N_TREES = 10, 30, 100, 300
SIZES = (200, 50), (1000, 50), (200, 500), (1000, 500)
CANDIDATES = 1, "sqrt"
BASE = "unit 0.1"  # the default
LOST = 0.5  # a relevant column of less than half of an equal weight

SETTINGS: dict[str, dict[str, Any]] = {
    "uniform": {"feature_sampling": "uniform"},
    "unit 0.001": {"weight_unit": 0.001},
    "unit 0.01": {"weight_unit": 0.01},
    "unit 0.1": {},
    "unit 1": {"weight_unit": 1.0},
    "unit 10": {"weight_unit": 10.0},
    "confidence 0.5": {"confidence": 0.5},
    "confidence 0.999": {"confidence": 0.999},
    "every 10": {"update_every": 10},
    "every 10, unit 0.01": {"update_every": 10, "weight_unit": 0.01},
    "every 30": {"update_every": 30},
    "two-stage": {"feature_sampling": "two-stage"},
    "two-stage+confidence": {"feature_sampling": "two-stage+confidence"},
}

Problem = Callable[[np.random.Generator, int, int], tuple[np.ndarray, np.ndarray, int]]


def noisy(rng: np.random.Generator, signal: np.ndarray) -> np.ndarray:
    """Classes by a signal plus noise of half its standard deviation."""
    return signal + rng.normal(size=len(signal)) * signal.std() / 2 > np.median(signal)


def linear(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Five equally relevant columns."""
    X = rng.normal(size=(n, p))
    return X, noisy(rng, X[:, :5].sum(axis=1)), 5


def redundant(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Five hidden causes, each with four columns of correlation 0.9 with it."""
    X, causes = rng.normal(size=(n, p)), rng.normal(size=(n, 5))
    X[:, :20] = 0.9 * np.repeat(causes, 4, axis=1) + np.sqrt(1 - 0.81) * X[:, :20]
    return X, noisy(rng, causes.sum(axis=1)), 20


def unequal(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, int]:
    """One strong column and nine weak ones, which have as much variance together."""
    X = rng.normal(size=(n, p))
    return X, noisy(rng, 3 * X[:, 0] + X[:, 1:10].sum(axis=1)), 10


def xor(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Two columns that matter only together, and two that matter alone."""
    X = rng.normal(size=(n, p))
    return X, noisy(rng, 2 * np.sign(X[:, 0] * X[:, 1]) + X[:, 2] + X[:, 3]), 4


PROBLEMS: dict[str, Problem] = {"linear": linear, "redundant": redundant, "unequal": unequal, "xor": xor}


def measured(problem: str, n: int, p: int, candidates: Any, name: str, seed: int) -> Iterator[dict[str, Any]]:
    """One forest, after several numbers of trees."""
    rng = np.random.default_rng([seed, n, p, list(PROBLEMS).index(problem)])
    X, y, n_relevant = PROBLEMS[problem](rng, n + N_FRESH, p)
    forest = SiftForestClassifier(max_features=candidates, warm_start=True, n_jobs=1, random_state=seed)
    forest.set_params(**{"feature_sampling": "confidence", **SETTINGS[name]})
    started, rows, weights = time.process_time(), [], []
    for n_trees in N_TREES:
        forest.set_params(n_estimators=n_trees).fit(X[:n], y[:n])
        seconds = time.process_time() - started
        weights.append(forest.feature_weights_)
        rows.append(
            {
                "problem": problem,
                "rows": n,
                "columns": p,
                "candidates": candidates,
                "setting": name,
                "seed": seed,
                "trees": n_trees,
                "error": np.mean(forest.predict(X[n:]) != y[n:]),
                "relevant": weights[-1][:n_relevant].sum(),
                "lost": np.mean(weights[-1][:n_relevant] < LOST / p),
                "seconds": seconds,
            }
        )
    for row, found in zip(rows, weights, strict=True):
        yield {**row, "distance": np.abs(found - weights[-1]).sum() / 2}


def run(path: Path, seeds: range, names: list[str]) -> None:
    """Append the measurements of all tables, seed by seed."""
    for seed in seeds:
        started, rows = time.process_time(), []
        for problem, (n, p), candidates, name in product(PROBLEMS, SIZES, CANDIDATES, names):
            rows += measured(problem, n, p, candidates, name, seed)
        new = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            if new:
                writer.writeheader()
            writer.writerows(rows)
        print(f"seed {seed}: {time.process_time() - started:.0f} s", flush=True)


def read(path: Path) -> dict[tuple[str, ...], dict[str, float]]:
    """Measurements by problem, rows, columns, candidates, setting, seed and trees."""
    with path.open(newline="") as file:
        return {
            tuple(list(row.values())[:7]): {name: float(row[name]) for name in list(row)[7:]}
            for row in csv.DictReader(file)
        }


def mean_and_error(found: list[tuple[str, float]]) -> str:
    """Mean of values with their seeds; standard error over the seeds, in percent."""
    by_seed: dict[str, list[float]] = {}
    for seed, value in found:
        by_seed.setdefault(seed, []).append(value)
    means = np.array([np.mean(values) for values in by_seed.values()])
    spread = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    return f"{100 * means.mean():+.2f} ± {100 * spread:.2f}"


def show(path: Path, cells: list[str], trees: int) -> None:
    """Print a table for each number of candidates: a row a setting, means over the tables."""
    found = read(path)
    names = dict.fromkeys(key[4] for key in found)
    for candidates, *cell in product(map(str, CANDIDATES), *([cells] if cells else [])):
        chosen = {
            key: value
            for key, value in found.items()
            if key[3] == candidates and (not cell or cell[0] in {*key[:3], f"{key[1]}x{key[2]}"})
        }
        print(f"\n{' '.join([f'candidates {candidates}', *cell])}; error at {trees} trees, in percent\n")
        print("| setting | error | less the default's | on relevant | lost | distance after 10, 30, 100 |")
        print("| --- | --- | --- | --- | --- | --- |")
        for name in names:
            own = {key: value for key, value in chosen.items() if key[4] == name}
            last = {key: value for key, value in own.items() if key[6] == str(trees)}
            base = [
                (key[5], value["error"] - chosen[(*key[:4], BASE, *key[5:])]["error"])
                for key, value in last.items()
            ]
            means = [
                np.mean([value[what] for value in last.values()]) for what in ("error", "relevant", "lost")
            ]
            far = [
                np.mean([value["distance"] for key, value in own.items() if key[6] == str(n_trees)])
                for n_trees in N_TREES[:-1]
            ]
            shown = ", ".join(f"{100 * part:.1f}" for part in far)
            error, relevant, lost = (f"{100 * mean:.1f}" for mean in means)
            print(f"| {name} | {error} | {mean_and_error(base)} | {relevant} | {lost} | {shown} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "show"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 4), metavar=("FIRST", "END"))
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--cells", nargs="+", default=[], help="linear, 200, 200x500: a table for each")
    parser.add_argument("--trees", type=int, choices=N_TREES, default=100)
    args = parser.parse_args()
    if args.command == "run":
        run(args.path, range(*args.seeds), args.settings)
    else:
        show(args.path, args.cells, args.trees)


if __name__ == "__main__":
    main()
