"""Speed of the searches against scikit-learn's, as ratios in one run; and how a step grows with the features.

All in processor time of one thread, both sides with the same data and the same kind of forest.

    python benchmarks/wrappers.py            # everything, a quarter of an hour
    python benchmarks/wrappers.py --quick    # fewer features
    python benchmarks/wrappers.py --only backward
"""

from __future__ import annotations

import argparse
import os
from datetime import date
from functools import partial
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import Results, interleaved, seconds
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, RFECV, SequentialFeatureSelector
from sklearn.model_selection import cross_val_score

from foresift import ContributionSelector, SequentialSelector, SiftForestClassifier
from foresift.data.table import make_table
from foresift.selectors.search.subset_forests import SubsetForests


def data(rows: int, columns: int, informative: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        rows, columns, n_informative=informative, n_redundant=0, shuffle=False, random_state=0
    )


def forests(n_trees: int, criterion: str) -> tuple[RandomForestClassifier, SiftForestClassifier]:
    """Both try every cut of sqrt(p) columns per node, and grow to purity on bootstraps."""
    theirs = RandomForestClassifier(n_trees, criterion=criterion, random_state=0)
    return theirs, SiftForestClassifier(n_trees, criterion=criterion, max_features="sqrt", random_state=0)


def check(X: np.ndarray, y: np.ndarray, informative: int, *found: Any) -> str:
    """How many informative columns each side kept, and how well a forest does on what it kept."""
    judge = RandomForestClassifier(100, random_state=1)
    said = []
    for selector in found:
        kept = selector.get_support(indices=True)
        accuracy = cross_val_score(judge, X[:, kept], y, cv=5).mean()
        said.append(f"{(kept < informative).sum()} of {informative}, {100 * accuracy:.1f} %")
    return " / ".join(said)


def compare(
    table: Results, what: str, bar: str, theirs: Any, ours: Any, problem: Any, informative: int
) -> None:
    """The peer once, which takes a minute or more, between two of ours."""
    X, y = problem
    t_ours = seconds(lambda: ours.fit(X, y))
    t_theirs = seconds(lambda: theirs.fit(X, y))
    t_ours = min(t_ours, seconds(lambda: ours.fit(X, y)))
    ratio = f"{t_theirs / t_ours:.1f}x"
    kept = check(X, y, informative, theirs, ours)
    table.add_row(what, f"{t_theirs:.1f} s", f"{t_ours:.2f} s", ratio, bar, kept)


def backward(table: Results, quick: bool) -> None:
    problem = data(500, 12 if quick else 20, 5)
    end = problem[0].shape[1] - (3 if quick else 10)
    for criterion in ("gini", "entropy"):
        rf, sift = forests(50, criterion)
        theirs = SequentialFeatureSelector(rf, n_features_to_select=end, direction="backward", cv=3)
        ours = SequentialSelector(sift, end, random_state=0)
        compare(table, f"backward search, {criterion}", "20x", theirs, ours, problem, 5)


def contribution(table: Results, quick: bool) -> None:
    """RFE estimates no errors, so ours with cv=None does the same work."""
    problem = data(2000, 20 if quick else 100, 10)
    for criterion in ("gini", "entropy"):
        rf, sift = forests(100, criterion)
        ours = ContributionSelector(10, estimator=sift, cv=None)
        what = f"sequential contribution, no errors, {criterion}"
        compare(table, what, "15x", RFE(rf, n_features_to_select=10), ours, problem, 10)


def forest_by_forest(table: Results, quick: bool) -> None:
    """The same way by four of its 91 forests, turn and turn about: for a machine that is busy."""
    X, y = data(2000, 100, 10)
    sizes = (40, 10) if quick else (100, 70, 40, 10)
    for criterion in ("gini", "entropy"):
        rf, sift = forests(100, criterion)
        ours = SubsetForests(sift, X, make_table(X, y), None, None)
        times = [
            interleaved(partial(rf.fit, X[:, :p], y), partial(ours.read, np.arange(p), False), 3)
            for p in sizes
        ]
        theirs, mine = -np.trapezoid(np.array(times), sizes, axis=0)
        what = f"contribution, forests of {sizes} features, {criterion}"
        table.add_row(
            what, f"{theirs:.1f} s", f"{mine:.2f} s", f"{theirs / mine:.1f}x", "15x", "whole way, by area"
        )


def errors(table: Results, quick: bool) -> None:
    """With an error at every step: RFECV repeats the whole elimination in every fold."""
    problem = data(2000, 20 if quick else 100, 10)
    rf, sift = forests(100, "entropy")
    theirs = RFECV(rf, min_features_to_select=10, cv=3)
    ours = ContributionSelector(10, estimator=sift, random_state=0)
    compare(table, "sequential contribution, 3-fold errors", "RFECV", theirs, ours, problem, 10)


def growth(table: Results, quick: bool) -> None:
    """One step from p features on: backward search grows p forests, the contribution ratio one."""
    sift = SiftForestClassifier(20, max_features="sqrt", random_state=0)
    times: dict[str, list[float]] = {"backward": [], "contribution": []}
    sizes = (10, 20, 40) if quick else (10, 20, 40, 80, 160)
    for p in sizes:
        X, y = data(1000, p, 5)
        for name, selector in (
            ("backward", SequentialSelector(sift, p - 1, random_state=0)),
            ("contribution", ContributionSelector(p - 1, estimator=sift, random_state=0)),
        ):
            tries = []
            for _ in range(3):
                selector.fit(X, y)
                tries.append(selector.path_.seconds[1])
            times[name].append(min(tries))
    for name, values in times.items():
        shown = ", ".join(f"{1000 * value:.0f} ms" for value in values)
        slope = np.polyfit(np.log(sizes), np.log(values), 1)[0]
        bar = (
            "p^1 and more: p forests of sqrt(p)" if name == "backward" else "p^0.5: sqrt(p) columns per node"
        )
        table.add_row(f"one step, p = {sizes}, {name}", "", shown, f"p^{slope:.2f}", bar, "wall clock")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer features")
    parts = {
        "backward": backward,
        "contribution": contribution,
        "forests": forest_by_forest,
        "errors": errors,
        "growth": growth,
    }
    parser.add_argument("--only", action="append", default=[], choices=tuple(parts), help="may be repeated")
    args = parser.parse_args()
    columns = (
        "what",
        "scikit-learn",
        "foresift",
        "ratio",
        "bar",
        "informative kept, accuracy: theirs / ours",
    )
    table = Results(f"{date.today()}, one thread, processor time", columns)
    for name in args.only or parts:
        parts[name](table, args.quick)
    table.show()


if __name__ == "__main__":
    main()
