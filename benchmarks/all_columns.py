"""The forest of all columns that `select` compares with, beside gradient boosting on the same five folds.

    python benchmarks/all_columns.py run results.jsonl [--tables iris,concrete]
    python benchmarks/all_columns.py table results.jsonl

Every fold leaves one line of JSON; a run takes up where the last one stopped. The tables are those of
FORESIFT_DATA and FORESIFT_DATA_REGRESSION, of which 2,000 rows are drawn at most, without classes of fewer
than 5 rows. Both have their default parameters. HistGradientBoosting takes categories as such; LightGBM gets
indicators of them, as from `select`, because by default it splits no category of fewer than 100 rows.
Scores are those of `select`: accuracy, ROC AUC where one class has more than 80 % of the rows, and R2 for a
quantity.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from nested_select import N_FOLDS, add, is_quantity, lines_of, strata
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from foresift import SiftForestClassifier, SiftForestRegressor
from foresift.data.numeric_coding import NumericCoder
from foresift.data.slices import take_rows
from foresift.datasets import available, load
from foresift.evaluation.select.judging import LOPSIDED
from foresift.evaluation.select.models import CANDIDATES, MIN_IN_A_LEAF, N_TREES
from foresift.stats import corrected_interval

MAX_ROWS = 2000
MODELS = ("forest", "hist", "lightgbm")


def data_of(name: str) -> tuple[Any, np.ndarray]:
    """X with plain names of columns, and the codes of the classes or the quantity."""
    X, y = load(name)
    drawn = np.sort(np.random.default_rng(0).permutation(len(y))[:MAX_ROWS])
    if not is_quantity(y):
        _, codes, counts = np.unique(y[drawn], return_inverse=True, return_counts=True)
        drawn = drawn[counts[codes] >= N_FOLDS]
        y = np.unique(y, return_inverse=True)[1]
    X = take_rows(X, drawn).dropna(
        axis="columns", how="all"
    )  # HistGradientBoosting does not take such columns
    X.columns = [f"x{j}" for j in range(X.shape[1])]
    return X, y[drawn]


def model_of(name: str, X: Any, quantity: bool) -> Any:
    if name == "forest":
        leaf = {"min_samples_leaf": MIN_IN_A_LEAF, "random_state": 0}
        if quantity:
            return SiftForestRegressor(N_TREES, max_features=CANDIDATES, **leaf)
        return SiftForestClassifier(N_TREES, max_features="sqrt", **leaf)
    if name == "hist":
        boosting = HistGradientBoostingRegressor if quantity else HistGradientBoostingClassifier
        return boosting(categorical_features="from_dtype", random_state=0)
    import lightgbm

    boosting = lightgbm.LGBMRegressor if quantity else lightgbm.LGBMClassifier
    model = boosting(n_jobs=1, verbose=-1, random_state=0)
    return model if all(kind.kind == "f" for kind in X.dtypes) else make_pipeline(NumericCoder(), model)


def metric_of(y: np.ndarray) -> str:
    if is_quantity(y):
        return "R2"
    return "AUC" if np.bincount(y).max() > LOPSIDED * len(y) else "accuracy"


def score(model: Any, X: Any, y: np.ndarray, metric: str) -> float:
    if metric == "R2":
        return float(r2_score(y, model.predict(X)))
    if metric == "accuracy":
        return float(accuracy_score(y, model.predict(X)))
    shares = model.predict_proba(X)
    if shares.shape[1] == 2:
        return float(roc_auc_score(y, shares[:, 1]))
    return float(roc_auc_score(y, shares, multi_class="ovr", average="weighted", labels=model.classes_))


def run(path: Path, names: list[str]) -> None:
    """Add a line for every table and fold that the file does not have."""
    done = {(row["table"], row["fold"]) for row in lines_of(path)}
    for name in names:
        if all((name, fold) in done for fold in range(N_FOLDS)):
            continue
        X, y = data_of(name)
        metric = metric_of(y)
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(y, strata(y))
        for fold, (train, test) in enumerate(folds):
            if (name, fold) in done:
                continue
            row = {"table": name, "fold": fold, "rows": len(y), "columns": X.shape[1], "metric": metric}
            for key in MODELS:
                started = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model = model_of(key, X, is_quantity(y)).fit(take_rows(X, train), y[train])
                    row[key] = score(model, take_rows(X, test), y[test], metric)
                row[f"{key}_seconds"] = round(time.process_time() - started, 2)
            add(path, row)


def table(path: Path) -> None:
    """Print a line for every table; * is a difference whose corrected interval excludes 0."""
    rows = defaultdict(list)
    for row in lines_of(path):
        rows[row["table"]].append(row)
    print("| table | rows | columns | score | forest | HistGradientBoosting | LightGBM | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    counts = defaultdict(list)
    for name, some in sorted(rows.items(), key=lambda pair: (pair[1][0]["metric"] == "R2", pair[0])):
        values = {key: np.array([row[key] for row in some]) for key in MODELS}
        cells = [
            name,
            some[0]["rows"],
            some[0]["columns"],
            some[0]["metric"],
            f"{values['forest'].mean():.3f}",
        ]
        for key in MODELS[1:]:
            found = corrected_interval(values[key] - values["forest"], 1 / N_FOLDS)
            sure = (found.low > 0) - (found.high < 0)
            counts[key, some[0]["metric"] == "R2"].append((sure, found.value))
            cells.append(f"{found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f}){' *' if sure else ''}")
        cells.append(" / ".join(f"{np.mean([row[f'{key}_seconds'] for row in some]):.1f}" for key in MODELS))
        print("| " + " | ".join(map(str, cells)) + " |")
    print()
    for (key, quantity), found in counts.items():
        sure, difference = np.array(found).T
        said = f"better than the forest on {(sure > 0).sum()}, worse on {(sure < 0).sum()}"
        tables = f"{len(found)} tables {'of a quantity' if quantity else 'of classes'}"
        print(f"{key}, {tables}: {said}, mean difference {difference.mean():+.4f}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("results", type=Path)
    parser.add_argument("--tables", default="")
    options = parser.parse_args()
    if options.what == "table":
        table(options.results)
        return
    sizes = {
        place.name: min(place.rows, MAX_ROWS) * place.features * (place.classes or 1) for place in available()
    }
    run(
        options.results, options.tables.split(",") if options.tables else sorted(sizes, key=sizes.__getitem__)
    )


if __name__ == "__main__":
    main()
