"""What the bounds of `ForestGainSelector` remove and keep, and how well its scores rank.

    python benchmarks/forest_gain_bounds.py bounds     # what each bound removes and keeps
    python benchmarks/forest_gain_bounds.py precision  # ten relevant features among a hundred, found by rank
    python benchmarks/forest_gain_bounds.py bounds --trials 100 --jobs 2

CSV files go to docs/rogers-gunn/, the tables also into docs/rogers-gunn.md, between their markers.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.datasets import make_classification

from foresift import ForestGainSelector as Selector
from foresift.datasets import make_friedman, make_simple

DOCS = Path(__file__).resolve().parents[1] / "docs"
OUT = DOCS / "rogers-gunn"
PAGE = DOCS / "rogers-gunn.md"

BOUNDS = ("lower", "mid", "upper", "exact")


def in_parallel(function: Callable[..., Any], calls: Iterable[tuple], jobs: int) -> list[Any]:
    """Call a function with each of many tuples of arguments, in processes."""
    return Parallel(n_jobs=jobs)(delayed(function)(*call) for call in calls)


def fill(marker: str, lines: list[list[str]]) -> None:
    """Put a table between its markers in the page."""
    rows = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    text = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    page = PAGE.read_text()
    begin, end = f"<!-- {marker} -->\n", f"<!-- end of {marker} -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(
            f"{PAGE.name} has no place for the table: write the lines {begin.strip()!r} and {end!r}."
        )
    PAGE.write_text(before + begin + text + "\n" + end + after)


# --- bounds -------------------------------------------------------------------------------------------------


def problem(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return X, y and how many of the first columns are relevant."""
    if name == "Simple":
        return *make_simple(random_state=seed), 2
    if name == "Friedman":
        return *make_friedman(random_state=seed), 5
    table = make_classification(2000, 100, n_informative=10, n_redundant=0, shuffle=False, random_state=seed)
    return *table, 10


def judge_bounds(name: str, max_features: Any, seed: int) -> list[dict[str, Any]]:
    """Say what share of the irrelevant features each rule removes, and of the relevant ones it keeps."""
    X, y, k = problem(name, seed)
    records = []
    for bound in BOUNDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            selector = Selector(bound=bound, max_features=max_features, random_state=seed).fit(X, y)
        records.append((bound, selector.support_))
    records.append(("p < 0.05", selector.pvalues_ < 0.05))
    return [
        {
            "data": name,
            "max_features": max_features,
            "rule": rule,
            "seeds": 1,
            "irrelevant_removed": 1 - kept[k:].mean(),
            "relevant_kept": kept[:k].mean(),
        }
        for rule, kept in records
    ]


def bounds(trials: int, jobs: int) -> None:
    """Measure what each bound does, and write it as a table."""
    cases = [(name, m) for m in (1, "sqrt") for name in ("Simple", "Friedman", "make_classification")]
    cases.insert(3, ("make_classification", 3))
    calls = [(*case, seed) for case in cases for seed in range(trials)]
    found = pd.DataFrame([row for rows in in_parallel(judge_bounds, calls, jobs) for row in rows])
    groups = found.groupby(["data", "max_features", "rule"], sort=False)
    table = groups.agg(
        seeds=("seeds", "sum"),
        irrelevant_removed=("irrelevant_removed", "mean"),
        relevant_kept=("relevant_kept", "mean"),
    ).reset_index()
    table.to_csv(OUT / "bounds.csv", index=False, float_format="%.4g")
    lines = [["data", "max_features", *dict.fromkeys(table["rule"])]]
    for (name, m), part in table.groupby(["data", "max_features"], sort=False):
        cells = [f"{row.irrelevant_removed:.1%} / {row.relevant_kept:.1%}" for row in part.itertuples()]
        lines.append([name, str(m), *cells])
    fill("bounds", lines)
    print(table.to_string())


def find_ten(n_estimators: int, max_features: Any, seed: int) -> dict[str, Any]:
    """Say what share of the ten best features are relevant: by score, and by what it is above chance."""
    X, y, k = problem("make_classification", seed)
    options = {"n_estimators": n_estimators, "max_features": max_features, "random_state": seed}
    selector = Selector(bound="exact", **options).fit(X, y)
    orders = {"by_score": selector.scores_, "by_excess": selector.scores_ - selector.expected_scores_}
    found = {name: np.mean(np.argsort(-values)[:k] < k) for name, values in orders.items()}
    return {"trees": n_estimators, "max_features": max_features, **found}


def precision(trials: int, jobs: int) -> None:
    """Measure how well two orders find ten features among a hundred, over 20 seeds at most."""
    cases = [(trees, m) for trees in (100, 500) for m in (1, 3, "sqrt")]
    calls = [(*case, seed) for case in cases for seed in range(min(trials, 20))]
    found = pd.DataFrame(in_parallel(find_ten, calls, jobs))
    table = found.groupby(["trees", "max_features"], sort=False).mean().reset_index()
    table.to_csv(OUT / "precision.csv", index=False, float_format="%.4g")
    lines = [["trees", "max_features", "best 10 by `scores_`", "best 10 by `scores_ - expected_scores_`"]]
    for row in table.itertuples():
        lines.append([str(row.trees), str(row.max_features), f"{row.by_score:.3f}", f"{row.by_excess:.3f}"])
    fill("precision", lines)
    print(table.to_string())


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    tasks = {"bounds": bounds, "precision": precision}
    parser.add_argument("what", choices=tasks)
    parser.add_argument("--trials", type=int, default=100, help="seeds of every measurement")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    tasks[arguments.what](arguments.trials, arguments.jobs)


if __name__ == "__main__":
    main()
