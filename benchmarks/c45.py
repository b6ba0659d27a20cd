"""Speed of C4.5 and of bagging over feature subsets, on the tables of the thesis that FORESIFT_DATA holds.

The peer is scikit-learn's bagging of binary entropy trees, on half of the columns, of the same tables with
categories as indicator columns and missing values filled in, which its trees need (outside the clock). Errors
of both are shown: they are different trees, pruned and not, so they need not agree.

    python benchmarks/c45.py                # one tree; 25 members x 100 folds per table
    python benchmarks/c45.py --folds 10     # a tenth of that
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
from common import Results, seconds
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from foresift import C45Classifier, SubsetBaggingClassifier

FOLDER = Path(os.environ.get("FORESIFT_DATA", ""))
NAMES = (
    "breast-cancer-wisconsin",
    "heart-cleveland",
    "credit-a",
    "credit-g",
    "glass",
    "hepatitis",
    "house-votes-84",
    "ionosphere",
    "labor",
    "diabetes",
    "hypo",
    "kr-vs-kp",
    "sick",
)


def load(name: str) -> tuple[np.ndarray, np.ndarray, list[int], np.ndarray]:
    """Return X as numbers, y, the nominal columns, and X as indicators without missing values."""
    frame = pd.read_csv(FOLDER / f"{name}.csv")
    y = frame.pop("class").astype(str).to_numpy()
    discrete = json.loads((FOLDER / "schema.json").read_text())[name]["discrete"]
    nominal = [j for j, column in enumerate(frame.columns) if discrete == "all" or column in discrete]
    labels = [frame.columns[j] for j in nominal]
    flat = pd.get_dummies(frame, columns=labels, dtype=float)
    for label in labels:
        codes = pd.factorize(frame[label])[0]
        frame[label] = np.where(codes < 0, np.nan, codes)
    flat = flat.fillna(flat.median()).fillna(0.0)
    return frame.to_numpy(dtype=float), y, nominal, flat.to_numpy()


def tree(table: Results) -> None:
    """One tree of credit-g, 1,000 x 20: fit from an array, grown and pruned."""
    X, y, nominal, _ = load("credit-g")
    times = [seconds(lambda: C45Classifier(categorical_features=nominal).fit(X, y)) for _ in range(20)]
    data, leaves = (
        "credit-g, one tree",
        C45Classifier(categorical_features=nominal).fit(X, y).node_table_.n_leaves,
    )
    table.add_row(data, "", f"{1000 * min(times):.1f} ms", "", f"{leaves} leaves")


def ensemble(table: Results, name: str, n_folds: int) -> None:
    X, y, nominal, flat = load(name)
    wrong, spent = np.zeros(2), np.zeros(2)
    for train, test in RepeatedStratifiedKFold(n_splits=10, n_repeats=n_folds // 10, random_state=0).split(
        X, y
    ):
        base = C45Classifier(categorical_features=nominal)
        rivals = (
            (
                BaggingClassifier(
                    DecisionTreeClassifier(criterion="entropy"), 25, max_features=0.5, random_state=0
                ),
                flat,
            ),
            (SubsetBaggingClassifier(base, 25, subset_size=0.5, random_state=0), X),
        )
        for k, (model, rows) in enumerate(rivals):
            start = time.process_time()
            predicted = model.fit(rows[train], y[train]).predict(rows[test])
            spent[k] += time.process_time() - start
            wrong[k] += np.mean(predicted != y[test])
    ratio = f"{spent[0] / spent[1]:.1f}x"
    errors = " / ".join(f"{100 * errors / n_folds:.1f} %" for errors in wrong)
    table.add_row(name, f"{spent[0]:.1f} s", f"{spent[1]:.1f} s", ratio, errors)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folds", type=int, default=100)
    parser.add_argument("--data", nargs="*", default=NAMES)
    options = parser.parse_args()
    if not (FOLDER / "schema.json").is_file():
        print("Left out: FORESIFT_DATA does not name a folder of UCI tables.")
        return
    columns = ("25 members x folds", "scikit-learn", "foresift", "ratio", "error, theirs / ours")
    table = Results(f"C4.5 and its ensemble, {options.folds} folds, one thread", columns)
    tree(table)
    for name in options.data:
        ensemble(table, name, options.folds)
    table.show()


if __name__ == "__main__":
    main()
