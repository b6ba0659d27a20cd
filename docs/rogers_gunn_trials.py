"""The trials behind docs/rogers-gunn.md: data, methods, test errors, and what the bounds do.

The command is docs/rogers_gunn.py.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import ttest_rel
from sklearn.datasets import make_classification
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline

from foresift import ForestGainSelector, SiftForestClassifier
from foresift.datasets import make_friedman, make_simple

HERE = Path(__file__).resolve().parent
OUT = HERE / "rogers-gunn"
PAGE = HERE / "rogers-gunn.md"
TRIALS = HERE.parent / "build" / "rogers-gunn"

N_FRESH = 2000
SIZES = {"Simple": 300, "Friedman": 200}
MAKERS = {"Simple": make_simple, "Friedman": make_friedman}
FILES = {
    "Sonar": "sonar",
    "WBC": "breast-cancer-wisconsin",
    "Votes": "house-votes-84",
    "Pima": "diabetes",
    "Ionosphere": "ionosphere",
}
BOUNDS = ("lower", "mid", "upper", "exact")

Forest, Selector = SiftForestClassifier, ForestGainSelector
METHODS: dict[str, Callable[[int], Any]] = {
    "plain": lambda seed: Forest(random_state=seed),
    "confidence": lambda seed: Forest(feature_sampling="confidence", random_state=seed),
    "two-stage": lambda seed: Forest(feature_sampling="two-stage", random_state=seed),
    "two-stage+confidence": lambda seed: Forest(feature_sampling="two-stage+confidence", random_state=seed),
    "soft": lambda seed: Forest(feature_sampling="soft", random_state=seed),
    "WS": lambda seed: Forest(feature_sampling=Selector(1.0), random_state=seed),
    "FS mid": lambda seed: selected("mid", seed),
    "FS upper": lambda seed: selected("upper", seed),
    "FS exact": lambda seed: selected("exact", seed),
    "WS & FS": lambda seed: Forest(feature_sampling=Selector(), random_state=seed),
}


def selected(bound: str, seed: int) -> Any:
    """Make a plain forest that sees the selected features only."""
    return make_pipeline(Selector(bound=bound, random_state=seed), Forest(random_state=seed))


def data_names() -> list[str]:
    """Name the artificial data sets, and those of the paper that are in FORESIFT_DATA."""
    folder = os.environ.get("FORESIFT_DATA")
    found = [name for name in FILES if folder and (Path(folder) / f"{FILES[name]}.csv").is_file()]
    return [*MAKERS, *found]


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a UCI table as numbers: of WBC the complete rows, of Votes a missing vote half way from n to y."""
    frame = pd.read_csv(Path(os.environ["FORESIFT_DATA"]) / f"{FILES[name]}.csv")
    if name == "WBC":
        frame = frame.dropna()
    y = frame.pop("class").to_numpy()
    if name == "Votes":
        frame = frame.apply(lambda column: column.map({"n": 0.0, "y": 1.0})).fillna(0.5)
    return frame.to_numpy(dtype=np.float64), y


def draw(name: str, trial: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X and y of a trial, and X and y of fresh rows, of which only artificial tables have any.

    Simple's classes part at the median of the whole draw: the same boundary for the table and the fresh rows.
    """
    if name not in MAKERS:
        X, y = load(name)
        return X, y, X[:0], y[:0]
    n = SIZES[name]
    X, y = MAKERS[name](n + N_FRESH, random_state=trial)
    return X[:n], y[:n], X[n:], y[n:]


def train_rows(X: np.ndarray, trial: int) -> tuple[np.ndarray, np.ndarray]:
    """Split the rows of a trial into 90 % for training and 10 % for testing."""
    return next(ShuffleSplit(1, test_size=0.1, random_state=trial).split(X))


def in_parallel(function: Callable[..., Any], calls: Iterable[tuple], jobs: int) -> list[Any]:
    """Call a function with each of many tuples of arguments, in processes."""
    return Parallel(n_jobs=jobs)(delayed(function)(*call) for call in calls)


# --- errors -------------------------------------------------------------------------------------------------


def run_trial(name: str, trial: int) -> pd.DataFrame:
    """Fit every method once to the training rows of a trial; return errors on test rows and on fresh rows."""
    path = TRIALS / f"{name}-{trial}.csv"
    if path.is_file():
        return pd.read_csv(path)
    X, y, X_fresh, y_fresh = draw(name, trial)
    rows, held_out = train_rows(X, trial)
    records = []
    for method, make in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # no feature passed the rule: the best is kept
            model = make(trial).fit(X[rows], y[rows])
        error = np.mean(model.predict(X[held_out]) != y[held_out])
        fresh = np.mean(model.predict(X_fresh) != y_fresh) if len(X_fresh) else np.nan
        records.append((name, method, trial, error, fresh))
    result = pd.DataFrame(records, columns=["data", "method", "trial", "error", "fresh_error"])
    unfinished = path.with_suffix(".part")
    result.to_csv(unfinished, index=False)
    unfinished.replace(path)
    return result


def summary(name: str, method: str, errors: pd.DataFrame) -> dict[str, Any]:
    """Compare a method with the plain forest in the same trials, by paired t-tests."""
    row: dict[str, Any] = {"data": name, "method": method}
    for kind in ("error", "fresh_error"):
        mine, plain = (errors[errors["method"] == m].sort_values("trial")[kind] for m in (method, "plain"))
        mine, plain = mine.to_numpy(), plain.to_numpy()
        differs = (mine != plain).any() and not np.isnan(mine).any()
        prefix = kind.removesuffix("error")
        row |= {"trials": len(mine), f"{prefix}error": mine.mean(), f"{prefix}variance": mine.var(ddof=1)}
        row[f"{prefix}difference"] = (mine - plain).mean()
        row[f"{prefix}p_value"] = ttest_rel(mine, plain).pvalue if differs else np.nan
    return row


def errors(trials: int, jobs: int) -> None:
    """Measure the test errors of Tables 3 and 4, and write them beside the paper's."""
    TRIALS.mkdir(parents=True, exist_ok=True)
    names = data_names()
    found = pd.concat(in_parallel(run_trial, [(n, t) for t in range(trials) for n in names], jobs))
    rows = [summary(name, method, found[found["data"] == name]) for name in names for method in METHODS]
    paper = pd.read_csv(OUT / "paper.csv").rename(
        columns={"error": "paper_error", "variance": "paper_variance"}
    )
    table = pd.DataFrame(rows).merge(paper, how="left", on=["data", "method"])
    table.to_csv(OUT / "errors.csv", index=False, float_format="%.4g")
    for name in MAKERS:
        fill(f"errors {name}", errors_of_one(table[table["data"] == name]))
    if len(names) > len(MAKERS):
        fill("errors UCI", errors_of_many(table[~table["data"].isin(MAKERS)]))
    print(table.to_string())


def errors_of_one(table: pd.DataFrame) -> list[list[str]]:
    """Lay out the errors on an artificial data set: test rows, fresh rows, the paper's."""
    head = ["method", "test rows", "difference", "p", f"{N_FRESH:,} fresh rows", "difference", "p", "paper"]
    lines = [head]
    for row in table.itertuples():
        ours = [
            cell
            for error, difference, p in (
                (row.error, row.difference, row.p_value),
                (row.fresh_error, row.fresh_difference, row.fresh_p_value),
            )
            for cell in (f"{error:.4f}", *(("", "") if np.isnan(p) else (f"{difference:+.4f}", f"{p:.2g}")))
        ]
        lines.append([row.method, *ours, "" if np.isnan(row.paper_error) else f"{row.paper_error:.4f}"])
    return lines


def errors_of_many(table: pd.DataFrame) -> list[list[str]]:
    """Lay out the errors on the UCI tables: ours, whether significantly below or above plain, the paper's."""
    names = list(dict.fromkeys(table["data"]))
    lines = [["method", *names]]
    for method in METHODS:
        cells = []
        for name in names:
            row = table[(table["data"] == name) & (table["method"] == method)].iloc[0]
            verdict = " better" if row.difference < 0 else " worse"
            sign = verdict if row.p_value < 0.05 else ""
            paper = "" if np.isnan(row.paper_error) else f" ({row.paper_error:.4f})"
            cells.append(f"{row.error:.4f}{sign}{paper}")
        lines.append([method, *cells])
    return lines


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
