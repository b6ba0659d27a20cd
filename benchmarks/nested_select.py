"""What `select` costs and is worth: nested scores over tables, and verdicts on small tables and on noise.

`nested` selects columns on the training rows of every fold, grows a forest on the selected columns and one on
all, and scores both on the test rows. Every fold leaves one line of JSON; a run takes up where the last one
stopped, and finishes a fold of all tables before the next. The tables are those of FORESIFT_DATA and
generated ones (Madelon-like, wide), or with `--quantity` those of FORESIFT_DATA_REGRESSION, of which
1,500 rows are drawn at most.

    python benchmarks/nested_select.py nested results.jsonl [--quantity] [--tables iris,glass] [--before DIR]
        [--by select,rfecv,boruta] [--repeats 10]
    python benchmarks/nested_select.py table results.jsonl
    python benchmarks/nested_select.py verdicts [--tables 20] [--rows 60]
    python benchmarks/nested_select.py noise results.jsonl [--tables 100] [--checked 20]

`--before DIR` selects with another version of the package, which lies in DIR; the forests that are scored are
the present ones. `--by` names selectors that are scored on the same folds. `table` prints the differences
with corrected intervals (Nadeau & Bengio 2003), `verdicts` compares the answers of `select` on small tables
with forests scored on 10,000 fresh rows, and `noise` counts relevant columns where a quantity depends on none
of 200; the first tables are also checked.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import RFECV
from sklearn.metrics import mean_absolute_error, r2_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from foresift import SiftForestClassifier, SiftForestRegressor, select
from foresift.data.slices import take_columns, take_rows
from foresift.datasets import available, load
from foresift.stats import corrected_interval

N_FOLDS = 5
SLOW_ROWS = 4000  # tables with more are not repeated
MAX_ROWS = 1500  # of tables with a quantity
N_STRATA = 10  # folds of a quantity are stratified by tenths
N_NOISE = (200, 200)  # rows and columns


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


@cache
def data_of(name: str) -> tuple[Any, np.ndarray]:
    """X, and the codes of the classes or the quantity."""
    X, y = GENERATED[name]() if name in GENERATED else load(name)
    if not is_quantity(y):
        return X, np.unique(y, return_inverse=True)[1]
    drawn = np.sort(np.random.default_rng(0).permutation(len(y))[:MAX_ROWS])
    return take_rows(X, drawn), y[drawn]


def is_quantity(y: np.ndarray) -> bool:
    return y.dtype.kind == "f"


def strata(y: np.ndarray) -> np.ndarray:
    """The classes, or tenths of a quantity."""
    if not is_quantity(y):
        return y
    return np.searchsorted(np.quantile(y, np.arange(1, N_STRATA) / N_STRATA), y)


def kept_by(by: str, X: Any, y: np.ndarray, seed: int) -> tuple[list[int], float]:
    """Numbers of the selected columns, and processor seconds."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns = {"select": by_select, "rfecv": by_rfecv, "boruta": by_boruta}[by](X, y, seed)
    return columns, time.process_time() - started


def by_select(X: Any, y: np.ndarray, seed: int) -> list[int]:
    task = "regression" if is_quantity(y) else "classification"
    found = select(X, y, task=task, random_state=seed)
    names = found.labels if found.labels is not None else found._names
    return [list(names).index(name) for name in found.features]


def by_rfecv(X: Any, y: np.ndarray, seed: int) -> list[int]:
    """scikit-learn's search, a tenth of the columns at a time."""
    forest = RandomForestRegressor(50, max_features=2 / 3, min_samples_leaf=3, random_state=seed)
    found = RFECV(forest, step=max(1, np.shape(X)[1] // 10), cv=5).fit(as_numbers(X), y)
    return np.flatnonzero(found.support_).tolist()


def by_boruta(X: Any, y: np.ndarray, seed: int) -> list[int]:
    """BorutaPy as its documentation shows it, with 100 trees; tentative columns are left out."""
    from boruta import BorutaPy

    found = BorutaPy(RandomForestRegressor(100, max_depth=5), n_estimators=100, random_state=seed)
    return np.flatnonzero(found.fit(as_numbers(X), y).support_).tolist()


def as_numbers(X: Any) -> np.ndarray:
    """Codes of categories, and the median for what is missing."""
    columns = [np.asarray(X[name]) for name in X]
    coded = [c if c.dtype.kind == "f" else np.unique(c.astype(str), return_inverse=True)[1] for c in columns]
    values = np.array(coded, dtype=float).T
    return np.where(np.isnan(values), np.nanmedian(values, axis=0), values)


def scores(
    X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray, columns: list[int]
) -> tuple[float, float]:
    """Accuracy and area under the curve of a forest on some columns; of the class shares without columns.

    Of a quantity: R2 and mean absolute error, without columns those of the mean.
    """
    X = take_columns(X, np.array(columns)) if columns else X
    if is_quantity(y):
        predicted = np.full(len(test), y[train].mean())
        if columns:
            forest = SiftForestRegressor(100, max_features=2 / 3, min_samples_leaf=3, random_state=0)
            predicted = forest.fit(take_rows(X, train), y[train]).predict(take_rows(X, test))
        return float(r2_score(y[test], predicted)), float(mean_absolute_error(y[test], predicted))
    classes = np.unique(y)
    if columns:
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


def nested(path: Path, names: list[str], repeats: int, selectors: list[str]) -> None:
    """Add a line for every table, repeat, fold and selector that the file does not have."""
    done = {(row["table"], row["repeat"], row["fold"], row["by"]) for row in lines_of(path)}
    for repeat, fold, name, by in product(range(repeats), range(N_FOLDS), names, selectors):
        X, y = data_of(name)
        if (name, repeat, fold, by) in done or (repeat and len(y) > SLOW_ROWS):
            continue
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(y, strata(y))
        train, test = list(folds)[fold]
        columns, seconds = kept_by(by, take_rows(X, train), y[train], repeat)
        n_columns = np.shape(X)[1]
        row = {"table": name, "repeat": repeat, "fold": fold, "n_kept": len(columns), "n": n_columns}
        row["kept"] = scores(X, y, train, test, columns)
        row["seconds"] = round(seconds, 2)
        if by == "select":
            row["all"] = scores(X, y, train, test, list(range(n_columns)))
        else:
            row["by"] = by
        add(path, row | ({"rows": len(y), "quantity": True} if is_quantity(y) else {}))


def add(path: Path, row: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text().splitlines() if path.exists() else []:
        yield {"by": "select", **json.loads(line)}


def table(path: Path) -> None:
    """Print a line for every table, and the means."""
    rows = defaultdict(list)
    for row in lines_of(path):
        rows[row["table"]].append(row)
    rows = {name: some for name, some in rows.items() if len(some) >= N_FOLDS}  # others are not done yet
    if any("quantity" in row for some in rows.values() for row in some):
        table_of_quantities(rows)
        return
    print("| table | folds | columns | kept | accuracy, all | difference | AUC, all | difference | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    means = []
    for name, some in rows.items():
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


def table_of_quantities(rows: dict[str, list[dict[str, Any]]]) -> None:
    """Print R2 and errors, with the other selectors beside; ** is a loss whose interval excludes 0."""
    others = sorted({row["by"] for some in rows.values() for row in some} - {"select"})
    heads = ["table", "rows", "columns", "R2, all", "error, all"]
    heads += ["folds", "kept", "R2", "difference", "error", "s"]
    heads += [f"{by}: {what}" for by in others for what in ("folds", "kept", "difference", "s")]
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    means = defaultdict(list)
    for name, some in rows.items():
        full = {(row["repeat"], row["fold"]): row["all"] for row in some if row["by"] == "select"}
        r2, error = np.mean(list(full.values()), axis=0)
        cells = [name, some[0]["rows"], some[0]["n"], f"{r2:.3f}", f"{error:.3g}"]
        for by in ("select", *others):
            mine = [row for row in some if row["by"] == by and (row["repeat"], row["fold"]) in full]
            if len(mine) < 2:
                cells += [len(mine), "", "", ""]
                continue
            kept = np.array([row["kept"] for row in mine])
            lost = kept - np.array([full[row["repeat"], row["fold"]] for row in mine])
            found = corrected_interval(lost[:, 0], 1 / N_FOLDS)
            n_kept, seconds = (np.mean([row[key] for row in mine]) for key in ("n_kept", "seconds"))
            said = f"{found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f})"
            said += " **" if found.high < 0 else ""
            r2, error = kept.mean(axis=0)
            more = ([f"{r2:.3f}"], [f"{error:.3g}"]) if by == "select" else ([], [])
            cells += [len(mine), f"{n_kept:.1f}", *more[0], said, *more[1], f"{seconds:.1f}"]
            means[by].append((found.value, n_kept / some[0]["n"], seconds))
        print("| " + " | ".join(map(str, cells)) + " |")
    print()
    for by, found in means.items():
        r2, share, seconds = np.mean(found, axis=0)
        print(f"{by}, {len(found)} tables: R2 {r2:+.4f}, {share:.2f} of the columns kept, {seconds:.1f} s")


def noise(path: Path, n_tables: int, n_checked: int) -> None:
    """Count the tables of noise where a column is relevant; the first are also checked."""
    done = {(row["target"], row["seed"], row["checked"]) for row in lines_of(path)}
    for checked, stop in ((False, n_tables), (True, n_checked)):
        for seed in range(stop):
            for target in ("normal", "t(2)"):
                if (target, seed, checked) not in done:
                    add(
                        path,
                        {
                            "target": target,
                            "seed": seed,
                            "checked": checked,
                            **on_noise(target, seed, checked),
                        },
                    )
    counts, tables, above = Counter(), Counter(), Counter()
    for row in lines_of(path):
        kind = row["target"], row["checked"]
        tables[kind] += 1
        counts[kind] += row["n_relevant"] == 0
        above[kind] += row["checked"] and row["low"] > 0
    for target, checked in tables:
        kind = target, checked
        said = f"{counts[kind]} of {tables[kind]} without a relevant column"
        print(f"{target}, {'checked' if checked else 'test only'}: {said}")
        if checked:
            mine = [row for row in lines_of(path) if row["target"] == target and row["checked"]]
            kept = Counter(row["n_kept"] for row in mine)
            r2 = ", ".join(f"{key} {np.mean([row[key] for row in mine]):+.4f}" for key in ("kept", "full"))
            print(f"  columns kept: {dict(kept)}; nested R2: {r2}; {above[kind]} with an interval above 0")


def on_noise(target: str, seed: int, checked: bool) -> dict[str, Any]:
    """What `select` says of 200 normal columns and a target that depends on none."""
    rng = np.random.default_rng([seed, 23])
    X = rng.normal(size=N_NOISE)
    y = rng.normal(size=N_NOISE[0]) if target == "normal" else rng.standard_t(2, size=N_NOISE[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select(X, y, check=checked, random_state=seed)
    answer = {"n_relevant": sum(row["relevant"] for row in found.ranking), "n_kept": len(found.features)}
    if found.check is None:
        return answer
    kept, full = found.check["kept"], found.check["full"]
    return answer | {
        "kept": kept["score"],
        "low": kept["low"],
        "full": full["score"],
        "full_low": full["low"],
    }


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
    parser.add_argument("what", choices=["nested", "table", "verdicts", "noise"])
    parser.add_argument("results", nargs="?", type=Path)
    parser.add_argument("--tables", default="")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--checked", type=int, default=20, help="tables of noise that are also checked")
    parser.add_argument("--quantity", action="store_true", help="the tables of FORESIFT_DATA_REGRESSION")
    parser.add_argument("--by", default="select", help="of select, rfecv and boruta")
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
    if options.what == "noise":
        noise(options.results, int(options.tables or 100), options.checked)
        return
    places = available(task="regression" if options.quantity else "classification")
    sizes = {place.name: place.rows * place.features for place in places if place.rows > 30}
    if not options.quantity:
        sizes |= {name: np.size(make()[0]) for name, make in GENERATED.items()}
    names = options.tables.split(",") if options.tables else sorted(sizes, key=lambda name: sizes[name])
    nested(options.results, names, options.repeats, options.by.split(","))


if __name__ == "__main__":
    main()
