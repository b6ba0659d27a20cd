"""Make the tables of docs/bommaganti.md: the ensemble of the thesis with its four ways to select features.

    python docs/bommaganti.py run --repeats 10 --jobs 2    # 10 x 10-fold cross-validation per data set
    python docs/bommaganti.py tables                       # Tables 5 to 7 beside the thesis's, into the page
    python docs/bommaganti.py pairs                        # exclusive or among noise: order=1 and order=2

The UCI tables are read from the folder that the environment variable FORESIFT_DATA names. `run` keeps every
finished cross-validation in build/bommaganti/, so that a run that was stopped goes on; remove that folder
after a change of the package.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold

from foresift import (
    C45Classifier,
    CartClassifier,
    CumulativeGainSelector,
    FeatureBoostingSelector,
    InfoGainSelector,
    SubsetBaggingClassifier,
)

HERE = Path(__file__).resolve().parent
PAGE = HERE / "bommaganti.md"
OUT = HERE / "bommaganti"
RUNS = HERE.parent / "build" / "bommaganti"

# name in the thesis: (file, sizes of Tables 5 to 7, as far as its text tells them)
DATA = {
    "cancer": ("breast-cancer-wisconsin", (2, 3, 7)),
    "heart": ("heart-cleveland", (2, 5, 12)),
    "credit-a": ("credit-a", (2, 6, 12)),
    "credit-g": ("credit-g", (2, 6, 12)),
    "glass": ("glass", (2, 3, 7)),
    "hepatitis": ("hepatitis", (2, 6, 12)),
    "vote": ("house-votes-84", (2, 6, 12)),
    "hypo": ("hypo", (2, 6, 12)),
    "ionosphere": ("ionosphere", (2, 6, 12)),
    "kr-vs-kp": ("kr-vs-kp", (2, 6, 12)),
    "labor": ("labor", (2, 6, 12)),
    "diabetes": ("diabetes", (2, 3, 7)),
    "sick": ("sick", (2, 6, 12)),
}
METHODS = ("Random", "I. Gain", "C. Gain", "F. Boost")
# Errors in percent that the thesis prints: single tree and bagging of all features, then Tables 5, 6 and 7.
THESIS = {
    "cancer": (6.50, 4.40, (3.51, 5.50, 5.60, 4.34), (2.99, 4.39, 4.45, 4.34), (3.45, 4.02, 3.59, 3.40)),
    "heart": (
        25.68,
        20.33,
        (19.86, 22.75, 26.62, 24.04),
        (19.26, 19.07, 22.29, 20.27),
        (19.72, 19.17, 20.61, 19.38),
    ),
    "credit-a": (
        15.13,
        14.17,
        (19.04, 14.79, 14.70, 18.09),
        (13.93, 15.55, 15.15, 14.00),
        (13.54, 14.05, 13.93, 13.93),
    ),
    "credit-g": (
        29.60,
        25.50,
        (30.20, 28.67, 30.33, 29.93),
        (37.73, 25.05, 27.83, 27.78),
        (30.99, 25.38, 27.09, 25.64),
    ),
    "glass": (
        31.80,
        25.89,
        (31.17, 42.35, 39.34, 32.34),
        (27.95, 30.09, 33.51, 29.13),
        (25.38, 26.60, 27.81, 24.82),
    ),
    "hepatitis": (
        23.45,
        18.19,
        (19.97, 16.48, 19.49, 19.12),
        (16.12, 16.91, 18.16, 18.26),
        (16.87, 20.00, 19.31, 18.19),
    ),
    "vote": (3.92, 3.91, (10.11, 5.16, 4.98, 8.56), (6.22, 4.80, 4.37, 4.80), (3.86, 4.45, 3.66, 4.01)),
    "hypo": (0.58, 0.55, (7.65, 2.89, 0.58, 7.60), (7.14, 0.91, 0.61, 5.08), (5.12, 0.85, 0.53, 1.95)),
    "ionosphere": (
        9.64,
        7.49,
        (11.78, 10.11, 11.90, 11.18),
        (8.47, 9.07, 9.80, 8.81),
        (7.91, 8.34, 8.28, 8.63),
    ),
    "kr-vs-kp": (
        0.60,
        0.61,
        (39.99, 24.97, 24.63, 31.80),
        (21.96, 6.03, 7.08, 21.70),
        (10.85, 4.11, 4.38, 10.20),
    ),
    "labor": (
        19.65,
        13.26,
        (29.08, 21.25, 27.57, 21.91),
        (15.67, 19.09, 21.06, 19.61),
        (16.02, 18.99, 14.08, 15.63),
    ),
    "diabetes": (
        27.91,
        24.08,
        (28.16, 25.56, 27.66, 27.97),
        (26.04, 25.87, 25.63, 25.95),
        (24.02, 24.44, 24.76, 24.78),
    ),
    "sick": (2.93, 1.31, (6.10, 2.83, 1.64, 6.16), (6.11, 1.83, 1.52, 5.57), (4.78, 1.63, 1.43, 3.17)),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return X as numbers, y, and which columns are nominal (their categories are numbered)."""
    folder = Path(os.environ["FORESIFT_DATA"])
    file = DATA[name][0]
    frame = pd.read_csv(folder / f"{file}.csv")
    y = frame.pop("class").astype(str).to_numpy()
    discrete = json.loads((folder / "schema.json").read_text())[file]["discrete"]
    nominal = [j for j, column in enumerate(frame.columns) if discrete == "all" or column in discrete]
    for j in nominal:
        codes = pd.factorize(frame.iloc[:, j])[0]
        frame[frame.columns[j]] = np.where(codes < 0, np.nan, codes)
    return frame.to_numpy(dtype=np.float64), y, nominal


def models(nominal: list[int], sizes: tuple[int, ...], seed: int) -> dict[str, Any]:
    """Make the two baselines, and the ensemble with every method and size."""
    tree = C45Classifier(categorical_features=nominal)
    ways: dict[str, Any] = {
        "Random": "uniform",
        "I. Gain": InfoGainSelector(categorical_features=nominal),
        "C. Gain": CumulativeGainSelector(categorical_features=nominal),
        "F. Boost": FeatureBoostingSelector(estimator=tree),
    }
    found: dict[str, Any] = {"Single DT": tree, "Bagging": SubsetBaggingClassifier(tree, random_state=seed)}
    for size in sizes:
        for way, distribution in ways.items():
            found[f"{way}/{size}"] = SubsetBaggingClassifier(
                tree, subset_size=size, distribution=distribution, random_state=seed
            )
    return found


def cross_validate(name: str, repeat: int) -> dict[str, Any]:
    """One 10-fold cross-validation of everything: error in percent and seconds of each model."""
    path = RUNS / f"{name}-{repeat}.json"
    if path.is_file():
        return json.loads(path.read_text())
    X, y, nominal = load(name)
    wrong: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for fold, (train, test) in enumerate(StratifiedKFold(10, shuffle=True, random_state=repeat).split(X, y)):
        for key, model in models(nominal, DATA[name][1], 100 * repeat + fold).items():
            start = time.perf_counter()
            predicted = model.fit(X[train], y[train]).predict(X[test])
            seconds[key] = seconds.get(key, 0) + time.perf_counter() - start
            wrong[key] = wrong.get(key, 0) + int((predicted != y[test]).sum())
    record = {
        "name": name,
        "repeat": repeat,
        "error": {key: 100 * count / len(y) for key, count in wrong.items()},
        "seconds": seconds,
    }
    RUNS.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(record))
    part.rename(path)
    return record


def run(names: list[str], repeats: int, jobs: int) -> None:
    """Run what is missing, and write the means to docs/bommaganti/errors.csv."""
    calls = [(name, repeat) for repeat in range(repeats) for name in names]
    Parallel(n_jobs=jobs, verbose=5)(delayed(cross_validate)(*call) for call in calls)
    rows = []
    for name in DATA:
        found = [json.loads(path.read_text()) for path in sorted(RUNS.glob(f"{name}-*.json"))]
        for key in found[0]["error"] if found else ():
            errors = np.array([record["error"][key] for record in found])
            spread = errors.std(ddof=1) if len(errors) > 1 else np.nan
            seconds = np.mean([record["seconds"][key] for record in found])
            rows.append((name, key, len(errors), errors.mean(), spread, seconds))
    OUT.mkdir(exist_ok=True)
    columns = ["data", "model", "repeats", "error", "sd", "seconds_per_10_folds"]
    pd.DataFrame(rows, columns=columns).round(3).to_csv(OUT / "errors.csv", index=False)


def tables() -> str:
    """Write Tables 5 to 7 as Markdown: ours, and in brackets the thesis's."""
    frame = pd.read_csv(OUT / "errors.csv").set_index(["data", "model"])["error"]
    lines = []
    for number, which in ((5, "smallest"), (6, "medium"), (7, "largest")):
        lines += [f"Table {number}: {which} subsets", ""]
        lines += ["| | k | Single DT | Bagging | " + " | ".join(METHODS) + " |", "| --- " * 8 + "|"]
        for name, (_, sizes) in DATA.items():
            if (name, "Bagging") not in frame.index:
                continue
            size = sizes[number - 5]
            keys = ["Single DT", "Bagging", *(f"{way}/{size}" for way in METHODS)]
            theirs = [*THESIS[name][:2], *THESIS[name][number - 3]]
            ours = [frame[name, key] for key in keys]
            best = min(ours)
            cells = [
                f"{'**' if error == best else ''}{error:.1f}{'**' if error == best else ''} ({printed:.1f})"
                for error, printed in zip(ours, theirs, strict=True)
            ]
            lines.append(f"| {name} | {size} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def agreement() -> str:
    """Compare the order of methods in every row of the three tables with the thesis's."""
    frame = pd.read_csv(OUT / "errors.csv").set_index(["data", "model"])["error"]
    names = [name for name in DATA if (name, "Bagging") in frame.index]
    claims: dict[str, list[bool]] = {}

    def add(claim: str, ours: float, theirs: float) -> None:
        claims.setdefault(claim, []).append((ours < 0) == (theirs < 0))

    correlations = []
    for name in names:
        single, bagging = frame[name, "Single DT"], frame[name, "Bagging"]
        add("bagging beats the single tree or not", bagging - single, THESIS[name][1] - THESIS[name][0])
        for at, size in enumerate(DATA[name][1]):
            ours = np.array([frame[name, f"{way}/{size}"] for way in METHODS])
            theirs = np.array(THESIS[name][2 + at])
            for way, a, b in zip(METHODS, ours, theirs, strict=True):
                add(f"{way} beats bagging of all features or not", a - bagging, b - THESIS[name][1])
            correlations.append(
                np.corrcoef(np.r_[single, bagging, ours], np.r_[THESIS[name][:2], theirs])[0, 1]
            )
    lines = ["| same direction as the thesis | rows |", "| --- | --- |"]
    lines += [f"| {claim} | {sum(same)} of {len(same)} |" for claim, same in claims.items()]
    lines.append(
        f"\nCorrelation of the six errors of a row with the thesis's: median {np.median(correlations):.2f},"
        f" above 0.5 in {np.sum(np.array(correlations) > 0.5)} of {len(correlations)} rows."
    )
    return "\n".join(lines)


def pairs(n_seeds: int = 10) -> str:
    """How often both columns of an exclusive or come out on top among 50 of noise."""
    lines = ["| rows | columns | order=1 | order=1, as order=2 but for pairs | order=2 |", "| --- " * 5 + "|"]
    same: dict[str, Any] = {"accuracy": "oob", "subset_size": 7, "n_iterations": 632, "learning_rate": 0.5}
    ways: list[Callable[[int], Any]] = [
        lambda seed: FeatureBoostingSelector(2, random_state=seed),
        lambda seed: FeatureBoostingSelector(2, estimator=CartClassifier(), random_state=seed, **same),
        lambda seed: FeatureBoostingSelector(2, order=2, random_state=seed),
    ]
    for n_rows in (300, 500, 1000):
        for kind in ("numeric", "binary"):
            found = np.zeros(len(ways), dtype=int)
            for seed in range(n_seeds):
                rng = np.random.default_rng(seed)
                X = rng.normal(size=(n_rows, 52))
                X = X if kind == "numeric" else (X > 0).astype(float)
                y = (X[:, 10] > 0) ^ (X[:, 30] > 0)
                found += [set(way(seed).fit(X, y).get_support(indices=True)) == {10, 30} for way in ways]
            lines.append(f"| {n_rows:,} | {kind} | " + " | ".join(f"{k} of {n_seeds}" for k in found) + " |")
    return "\n".join(lines)


def put(marker: str, text: str) -> None:
    """Replace what stands between two markers of the page."""
    page = PAGE.read_text()
    begin, end = f"<!-- {marker} -->", f"<!-- end {marker} -->"
    before, rest = page.split(begin)
    PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "tables", "pairs"])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=list(DATA), metavar="NAME")
    options = parser.parse_args()
    if options.what == "run":
        run(options.data, options.repeats, options.jobs)
    elif options.what == "tables":
        put("tables", tables())
        put("agreement", agreement())
    else:
        put("pairs", pairs())


if __name__ == "__main__":
    main()
