"""Contribution ratio: times of a deletion, and pairs of features.

    python benchmarks/contribution.py times    # of a deletion, also by the number of features
    python benchmarks/contribution.py pairs    # how often pairs are found in XOR, noise and sums, and kept

The tables go into docs/murata.md, between their markers. The searches themselves, Figures 4 to 9, are made by
`foresift reproduce murata`. The UCI tables are read from the folder that FORESIFT_DATA names.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from foresift import ContributionSelector, SequentialSelector, SiftForestClassifier
from foresift.data.folds import make_folds
from foresift.data.table import make_table
from foresift.importance import co_occurrence
from foresift.models.scorer import make_subset_scorer
from foresift.selectors.search.subset_forests import SubsetForests

PAGE = Path(__file__).resolve().parents[1] / "docs" / "murata.md"

TABLES = ("pendigits", "waveform", "spambase", "optdigits")
N_TREES = 50


def forest(seed: int) -> SiftForestClassifier:
    """Return the forest of Algorithm 1: sqrt(p) features and 10 random thresholds per node."""
    return SiftForestClassifier(
        N_TREES, max_features="sqrt", n_thresholds=10, min_gain=1e-12, random_state=seed
    )


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a table from the folder that FORESIFT_DATA names."""
    frame = pd.read_csv(Path(os.environ["FORESIFT_DATA"]) / f"{name}.csv")
    y = frame.pop("class").to_numpy()
    return frame.to_numpy(dtype=np.float64), y


# --- times of a step ----------------------------------------------------------------------------------------


def first_steps() -> dict[str, dict[str, float]]:
    """Processor seconds of the first deletion on each table: SBS evaluates p sets, the others one.

    `path_.seconds` are those of the clock on the wall; here a busy machine does not count.
    """
    costs: dict[str, dict[str, float]] = {}
    for name in TABLES:
        X, y = load(name)
        table, p = make_table(X, y), X.shape[1]
        score = make_subset_scorer(forest(0), X, table, None, make_folds(table, None, 3, seed=0))
        forests = SubsetForests(forest(0), X, table, None, 1)
        subsets = [tuple(j for j in range(p) if j != k) for k in range(3)]
        begin = time.process_time()
        score(subsets)
        evaluation = (time.process_time() - begin) / len(subsets)
        begin = time.process_time()
        for subset in subsets:
            forests.read(np.array(subset), False)
        growth = (time.process_time() - begin) / len(subsets)
        costs[name] = {"SBS": p * evaluation, "sequential": growth + evaluation, "batch": evaluation}
    return costs


def step_times() -> dict[str, list[float]]:
    """Seconds of the first step of both searches at growing numbers of features, one thread, best of two."""
    times: dict[str, list[float]] = {"p": [10, 20, 40, 80], "SBS": [], "sequential": []}
    for p in times["p"]:
        X, y = make_classification(1000, int(p), n_informative=5, n_redundant=0, random_state=0)
        tries: dict[str, list[float]] = {"SBS": [], "sequential": []}
        for _ in range(2):
            for name, search in (
                ("SBS", SequentialSelector(forest(0), int(p) - 1, random_state=0)),
                ("sequential", ContributionSelector(int(p) - 1, estimator=forest(0), random_state=0)),
            ):
                begin = time.process_time()
                search.fit(X, y)
                share = search.path_.seconds[1] / search.path_.seconds.sum()
                tries[name].append((time.process_time() - begin) * share)
        for name, values in tries.items():
            times[name].append(round(min(values), 4))
    return times


# --- pairs --------------------------------------------------------------------------------------------------


def xor(seed: int, n: int = 400, p: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """XOR of the signs of the first two columns, one class in ten wrong, the other columns noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    return X, np.where(rng.random(n) < 0.1, ~y, y).astype(int)


def noise(seed: int, n: int = 400, p: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Nothing but noise."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng.integers(0, 2, n)


def additive(seed: int, n: int = 400, p: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Three columns that add up, the other columns noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, :3].sum(axis=1) + rng.normal(size=n) > 0).astype(int)


def pairs(seeds: int = 40) -> dict[str, Any]:
    """How often pairs are found in forests of 100 and 500 trees, and the spread of the statistic."""
    found: dict[str, Any] = {}
    upper = np.triu_indices(10, 1)
    for name, make in (("XOR", xor), ("noise", noise), ("additive", additive)):
        for n_trees in (100, 500):
            spreads, true, false = [], 0, 0
            for seed in range(seeds):
                X, y = make(seed)
                got = co_occurrence(forest(seed).set_params(n_estimators=n_trees).fit(X, y))
                mask = got.significant()
                wanted = name == "XOR" and bool(mask[0, 1])
                true += wanted
                false += int(mask[upper].sum()) > wanted
                spreads.append(np.nanstd(got.statistic[upper]))
            found[f"{name}, {n_trees} trees"] = {
                "tables": seeds,
                "pair found": true,
                "a false pair": false,
                "spread of the statistic": round(float(np.mean(spreads)), 2),
            }
    return found


def protection(seeds: int = 40) -> dict[str, int]:
    """In how many tables of XOR and 30 columns of noise both halves are among the last two features."""
    kept = {"plain": 0, "protect_pairs=True": 0}
    for seed in range(seeds):
        X, y = xor(seed, p=32)
        for name in kept:
            trees = forest(seed).set_params(n_estimators=300)
            options: dict[str, Any] = {"estimator": trees, "random_state": seed}
            search = ContributionSelector(2, mode="batch", protect_pairs=name != "plain", **options).fit(X, y)
            kept[name] += int(search.support_[:2].all())
    return {"tables": seeds, **kept}


# --- tables of the page -------------------------------------------------------------------------------------


def put(name: str, header: list[str], rows: list[list[str]]) -> None:
    """Put a table between its markers in the page."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *rows)]
    page = PAGE.read_text()
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    head, rest = page.split(begin)
    PAGE.write_text(head + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1])


def write_times() -> None:
    """Measure and write the times of a deletion."""
    ways = ["SBS", "sequential", "batch"]
    first = first_steps()
    rows = [
        [name, *(f"{row[way]:.2f}" for way in ways), f"{row['SBS'] / row['sequential']:.0f}"]
        for name, row in first.items()
    ]
    put("times", ["table", *ways, "SBS / sequential"], rows)
    steps = step_times()
    rows = [[way, *(f"{value:.2f}" for value in steps[way])] for way in ("SBS", "sequential")]
    put("steps", ["features", *(f"{p:g}" for p in steps["p"])], rows)


def write_pairs() -> None:
    """Count and write the pairs that are found, and how often `protect_pairs` keeps one."""
    found = pairs()
    rows = [[name, *map(str, row.values())] for name, row in found.items()]
    put("pairs", ["data", *next(iter(found.values()))], rows)
    kept = protection()
    put("protection", list(kept), [[str(count) for count in kept.values()]])


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    tasks = {"times": write_times, "pairs": write_pairs}
    parser.add_argument("what", choices=tasks)
    tasks[parser.parse_args().what]()


if __name__ == "__main__":
    main()
