"""Speed of ForestGainSelector and BorutaPy, as a ratio in one run, and whether they find the right columns.

Both sides get the same table, 2,000 rows and 100 columns of which the first 10 are informative, and the same
two cores; `fit` is timed whole, by the clock on the wall. Ours tries five columns per node and keeps what is
above the paper's mid-point, which are not the defaults; scores do not depend on that threshold. BorutaPy is
used as its authors recommend, with as many trees as it chooses. It runs once; ours runs before and after it,
and the slower run counts.

    python benchmarks/selection.py            # everything, a few minutes
    python benchmarks/selection.py --quick    # fewer trees, seeds and iterations; the ratio then means little
    python benchmarks/selection.py --only precision-at-10
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import Results, seconds
from rich.table import Table
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from foresift import ForestGainSelector

ROWS, COLUMNS, INFORMATIVE = 2_000, 100, 10
CORES = 2
TIME_BAR, PRECISION_BAR = 50, 0.95
# The informative columns of this table act together. Nodes split by the best of five columns are soon those
# where the rest of them shows; with one column per node most splits are useless, and so are the nodes below.
MAX_FEATURES = 5


@dataclass(frozen=True)
class Size:
    """How much to do."""

    trees: int
    seeds: int
    iterations: int  # at most, of Boruta


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A table whose first columns are the informative ones, and no others are of any use."""
    return make_classification(
        ROWS, COLUMNS, n_informative=INFORMATIVE, n_redundant=0, random_state=seed, shuffle=False
    )


def ours(trees: int, seed: int, max_features: Any = MAX_FEATURES) -> ForestGainSelector:
    return ForestGainSelector(
        bound="mid", n_estimators=trees, max_features=max_features, n_jobs=CORES, random_state=seed
    )


def theirs(iterations: int, seed: int) -> Any:
    """BorutaPy as its documentation recommends: shallow balanced trees on all cores (we leave it two)."""
    from boruta import BorutaPy

    forest = RandomForestClassifier(n_jobs=-1, class_weight="balanced", max_depth=5)
    return BorutaPy(forest, n_estimators="auto", max_iter=iterations, random_state=seed)


def precision_at_10(selector: ForestGainSelector) -> float:
    """Share of the informative columns among the ten that the scores put first."""
    return float(np.mean(np.flatnonzero(selector.ranking_ <= INFORMATIVE) < INFORMATIVE))


def found(support: np.ndarray) -> str:
    """Precision and recall of a choice of columns."""
    right = support[:INFORMATIVE].sum()
    chosen = support.sum()
    precision = f"{right / chosen:.2f}" if chosen else "none"
    return f"{chosen} columns, precision {precision}, recall {right / INFORMATIVE:.2f}"


def compare_with_boruta(table: Table, size: Size, seed: int = 0) -> None:
    X, y = data(seed)
    a, b = theirs(size.iterations, seed), ours(size.trees, seed)
    before = seconds(lambda: b.fit(X, y), time.perf_counter)
    t_theirs = seconds(lambda: a.fit(X, y), time.perf_counter)
    t_ours = max(before, seconds(lambda: b.fit(X, y), time.perf_counter))
    table.add_row(
        "boruta",
        f"{t_theirs:.1f} s",
        f"{t_ours:.3f} s",
        f"{t_theirs / t_ours:.1f}x",
        f"{TIME_BAR}x",
        f"BorutaPy confirms {found(a.support_)}; ours keeps {found(b.support_)}, "
        f"precision at 10 {precision_at_10(b):.2f}",
    )


def measure_precision(table: Table, size: Size, name: str, **options: Any) -> None:
    """Precision at 10 of the scores, mean over seeds; each seed is another table and another forest."""
    times, precisions = [], []
    for seed in range(size.seeds):
        X, y = data(seed)
        selector = ours(size.trees, seed, **options)
        times.append(seconds(lambda selector=selector, X=X, y=y: selector.fit(X, y), time.perf_counter))
        precisions.append(precision_at_10(selector))
    table.add_row(
        name,
        "",
        f"{np.mean(times):.3f} s",
        "",
        f"{PRECISION_BAR}",
        f"precision at 10: mean {np.mean(precisions):.3f}, least {min(precisions):.2f}, {size.seeds} seeds",
    )


def compare_max_features(table: Table, size: Size) -> None:
    """What the number of columns tried per node does to precision and time."""
    for max_features in (1, 2, 3, 5, "sqrt"):
        measure_precision(table, size, f"max_features={max_features!r}", max_features=max_features)


def keep_to_two_cores() -> None:
    """Where there are more cores, take two, so that n_jobs=-1 means two for everybody."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])


def boruta_version() -> str:
    try:
        return version("boruta")
    except PackageNotFoundError:
        sys.exit(
            "BorutaPy is not installed: pip install boruta, or leave it out "
            "with --only precision-at-10 --only max-features"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="100 trees, 3 seeds and 20 iterations of Boruta, not 500, 20, 100",
    )
    rows = ("boruta", "precision-at-10", "max-features")
    parser.add_argument("--only", action="append", default=[], choices=rows, help="may be repeated")
    parser.add_argument("--trees", type=int, default=None)
    args = parser.parse_args()
    size = Size(100, 3, 20) if args.quick else Size(500, 20, 100)
    if args.trees:
        size = Size(args.trees, size.seeds, size.iterations)
    wanted = args.only or rows
    peer = f"BorutaPy {boruta_version()}, " if "boruta" in wanted else ""
    keep_to_two_cores()
    title = (
        f"{date.today()}, {ROWS} x {COLUMNS}, {size.trees} trees, at most {size.iterations} Boruta iterations"
    )
    columns = ("what", "BorutaPy", "foresift", "ratio", "bar", "check")
    table = Results(f"{title}, {CORES} cores", columns)
    for name, step in {
        "boruta": lambda: compare_with_boruta(table, size),
        "precision-at-10": lambda: measure_precision(table, size, "precision-at-10"),
        "max-features": lambda: compare_max_features(table, size),
    }.items():
        if name in wanted:
            step()
    table.show(peer)


if __name__ == "__main__":
    main()
