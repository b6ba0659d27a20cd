"""Does it pay to choose the ranker? `BestRankerSelector` against each of its candidates, on held-out rows.

In every outer fold the selector chooses a ranker and a size on the training rows. Every candidate alone
chooses its size by the same inner folds and rule. Forests on the columns of each are scored on the test rows:
accuracy, or R2. The tables are some of FORESIFT_DATA and FORESIFT_DATA_REGRESSION, in five folds, and six
generated cells with a table of 200 rows per seed and 2,000 fresh test rows. Every fold leaves one line of
JSON; a run takes up where the last one stopped.

    python benchmarks/best_ranker.py run results.jsonl [--tables sonar,xor] [--seeds 10]
    python benchmarks/best_ranker.py table results.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from nested_select import data_of, is_quantity, scores, strata
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from foresift import BestRankerSelector
from foresift.data.slices import take_rows
from foresift.selectors.best import _DEFAULTS

N_FOLDS = 5
N_ROWS, N_TEST = 200, 2000  # of generated tables
CLASSES = ("glass", "heart-cleveland", "hepatitis", "ionosphere", "sonar", "vehicle", "diabetes", "promoters")
QUANTITIES = ("auto-mpg", "machine-cpu", "bodyfat", "servo")


def linear(rng: Any, X: np.ndarray) -> np.ndarray:
    """Five columns add up."""
    return X[:, :5].sum(axis=1) + rng.normal(size=len(X)) > 0


def xor(rng: Any, X: np.ndarray) -> np.ndarray:
    """Two columns matter only together."""
    return ((X[:, 0] > 0) ^ (X[:, 1] > 0)) ^ (rng.random(len(X)) < 0.1)


def copies(rng: Any, X: np.ndarray) -> np.ndarray:
    """The best column has four near copies, and two weaker ones have none."""
    X[:, 3:7] = X[:, :1] + 0.1 * rng.normal(size=(len(X), 4))
    return 2 * X[:, 0] + X[:, 1] + X[:, 2] + rng.normal(size=len(X)) > 0


def interval(rng: Any, X: np.ndarray) -> np.ndarray:
    """Two columns matter by their distance from 0, so that means of the classes are equal."""
    return X[:, 0] ** 2 + X[:, 1] ** 2 + 0.5 * rng.normal(size=len(X)) > 1.4


def noise(rng: Any, X: np.ndarray) -> np.ndarray:
    """No column matters."""
    return rng.random(len(X)) < 0.5


def friedman(rng: Any, X: np.ndarray) -> np.ndarray:
    """A quantity of five columns, two of them in a product."""
    U = 1 / (1 + np.exp(-1.7 * X[:, :5]))
    curved = 10 * np.sin(np.pi * U[:, 0] * U[:, 1]) + 20 * (U[:, 2] - 0.5) ** 2
    return curved + 10 * U[:, 3] + 5 * U[:, 4] + rng.normal(size=len(X))


CELLS = {made.__name__: made for made in (linear, xor, copies, interval, noise, friedman)}


def split_of(name: str, number: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """X, y, training rows and test rows."""
    if name in CELLS:
        rng = np.random.default_rng([number, sorted(CELLS).index(name)])
        X = rng.normal(size=(N_ROWS + N_TEST, 20))
        y = CELLS[name](rng, X)
        y = y if is_quantity(y) else y.astype(int)
        return X, y, np.arange(N_ROWS), np.arange(N_ROWS, N_ROWS + N_TEST)
    X, y = data_of(name)
    repeat, fold = divmod(number, N_FOLDS)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(y, strata(y))
    return X, y, *list(folds)[fold]


def measured(name: str, number: int) -> dict[str, Any]:
    """Scores of the choice, of every candidate and of all columns, on the test rows of a fold."""
    X, y, train, test = split_of(name, number)
    some, task = take_rows(X, train), "regression" if is_quantity(y) else "classification"
    started = time.process_time()
    best = BestRankerSelector(task=task, random_state=number).fit(some, y[train])
    seconds = time.process_time() - started
    sets = {"best": best.get_support(indices=True)}
    for key, curve in zip(best.candidate_names_, best.candidate_curves_, strict=True):
        one = clone(_DEFAULTS[key]).set_params(task=task, n_features_to_select=1.0)
        if "random_state" in one.get_params():
            one.set_params(random_state=number)
        sets[key] = np.flatnonzero(one.fit(some, y[train]).subset_of_size(curve.chosen))
    sets["all"] = np.arange(np.shape(X)[1])
    found = {key: scores(X, y, train, test, columns.tolist())[0] for key, columns in sets.items()}
    sizes = {key: len(columns) for key, columns in sets.items()}
    curve = best.size_curve_
    inner = float(curve.mean[curve.sizes == curve.chosen][0])
    about = {"table": name, "number": number, "chosen": best.chosen_, "seconds": round(seconds, 2)}
    return {**about, "inner": inner, "scores": found, "sizes": sizes}


def run(path: Path, names: list[str], seeds: int) -> None:
    """Add a line for every table and fold that the file does not have."""
    done = {(row["table"], row["number"]) for row in lines_of(path)}
    for number in range(seeds):
        for name in names:
            if (name, number) not in done and (name in CELLS or number < max(N_FOLDS, seeds // 2)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    row = measured(name, number)
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(path: Path) -> None:
    """Print mean scores and sizes, and the difference of the choice from the others."""
    by_table = defaultdict(list)
    for row in lines_of(path):
        by_table[row["table"]].append(row)
    keys = ["best", *_DEFAULTS, "all"]
    print("| table | " + " | ".join(keys) + " | columns of best | chosen |")
    print("|" + " --- |" * (len(keys) + 3))
    gaps: dict[str, dict[str, float]] = defaultdict(dict)
    for name, rows in by_table.items():
        values = {key: np.array([row["scores"][key] for row in rows]) for key in keys}
        cells = [f"{v.mean():.3f} ± {_error(v, name):.3f}" for v in values.values()]
        chosen = Counter(row["chosen"] for row in rows).most_common()
        names = ", ".join(f"{key} {count}" for key, count in chosen)
        size = np.mean([row["sizes"]["best"] for row in rows])
        print(f"| {name} | " + " | ".join(cells) + f" | {size:.1f} | {names} |")
        singles = np.stack([values[key] for key in _DEFAULTS])
        for key in (*_DEFAULTS, "all"):
            gaps[key][name] = float((values["best"] - values[key]).mean())
        gaps["mean of the candidates"][name] = float((values["best"] - singles.mean(axis=0)).mean())
        gaps["best candidate in hindsight"][name] = float(values["best"].mean() - singles.mean(axis=1).max())
        gaps["its own inner score"][name] = float(values["best"].mean() - np.mean([r["inner"] for r in rows]))
    print(
        "\n| best less | mean over tables | standard error | tables better / worse |\n" + "| --- " * 4 + "|"
    )
    for key, by in gaps.items():
        v = np.array([*by.values()])
        error = v.std(ddof=1) / np.sqrt(len(v))
        print(f"| {key} | {v.mean():+.4f} | {error:.4f} | {(v > 1e-9).sum()} / {(v < -1e-9).sum()} |")
    every = [row for rows in by_table.values() for row in rows]
    print(f"\n{len(every)} folds, {np.mean([row['seconds'] for row in every]):.1f} processor seconds each.")


def _error(values: np.ndarray, name: str) -> float:
    """Standard error over fresh tables, or of repeated cross-validation (Nadeau & Bengio)."""
    if name in CELLS:
        return float(values.std(ddof=1) / np.sqrt(len(values)))
    share = 1 / len(values) + 1 / (N_FOLDS - 1)
    return float(np.sqrt(share * values.var(ddof=1)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("path", type=Path)
    parser.add_argument("--tables", default=",".join([*CELLS, *CLASSES, *QUANTITIES]))
    parser.add_argument("--seeds", type=int, default=10, help="of a cell; tables have half as many folds")
    given = parser.parse_args()
    if given.what == "run":
        run(given.path, given.tables.split(","), given.seeds)
    else:
        table(given.path)


if __name__ == "__main__":
    main()
