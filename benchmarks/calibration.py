"""Error rates and power of RelevanceSelector and its peers on made tables, where the truth is known.

A task is one method on one table: it leaves one line of JSON, and a run takes up where the last one
stopped. Every method gets one thread.

    python benchmarks/calibration.py run results.jsonl [--package DIR]   # 50 or 100 tables a cell
    python benchmarks/calibration.py run results.jsonl --again           # forget ours first: the code changed
    python benchmarks/calibration.py run fresh.jsonl --first-seed 100    # other tables of the same cells
    python benchmarks/calibration.py run results.jsonl --methods boruta --seeds 5
    python benchmarks/calibration.py seeds seeds.jsonl [--package DIR]   # the same rows with eight seeds
    python benchmarks/calibration.py check results.jsonl,seeds.jsonl [page.md]  # what must hold
    python benchmarks/calibration.py run quantities.jsonl --quantities   # cells of quantities, then check
    python benchmarks/calibration.py table results.jsonl [page.md]  # Markdown; into the page
    python benchmarks/calibration.py picture results.jsonl calibration.png
    python benchmarks/calibration.py speed times.jsonl --sizes 2000x100,5000x500 [--methods relevance,boruta]
    python benchmarks/calibration.py speed times.jsonl --quantities --methods relevance,boruta --iterations 5

Methods: `relevance` (all defaults; the same fit gives `minimal`, its representatives, and its single tests,
each adjusted by Benjamini & Hochberg's procedure), `auto` (all that `select` keeps; a few cells), `t-test`
(adjusted alike; numeric cells only; for a quantity `f-test` and `spearman`), `boruta` (BorutaPy as its
authors recommend), for a quantity `ipss` (integrated path stability selection with its default, gradient
boosting) and `ipss-l1` (with the lasso), `rfecv` (scikit-learn's RFECV with a random forest; small cells
only) and, with `--package DIR`, `before`: the RelevanceSelector of the package `foresift` in DIR.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from calibration_cells import CELLS as CLASSES
from calibration_cells import OF_AUTO, SMALL
from calibration_check import checked
from calibration_quantities import CELLS, QUANTITIES, make
from calibration_results import ALPHA, KEY, PEERS, beside, picture, read, table, write_into
from scipy.stats import spearmanr
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFECV, f_classif, f_regression

import foresift
from foresift import RelevanceSelector, select
from foresift.stats import benjamini_hochberg

WIDE = [(f"wide, common {share} %", number) for share in (50, 80) for number in range(5)]
N_SEEDS = 8


def relevance(
    X: np.ndarray, y: np.ndarray, nominal: list[int], seed: int, task: str = "classification"
) -> dict[str, np.ndarray]:
    selector = RelevanceSelector(task=task, alpha=ALPHA, categorical_features=nominal, random_state=seed)
    selector.fit(X, y)
    tests = dict(selector.test_pvalues_)
    tests["residuals"] = np.where(np.isnan(tests["residuals"]), tests["ranks"], tests["residuals"])
    return {
        "relevance": selector.relevant_,
        "minimal": selector.representative_,
        **{name: passing(p) for name, p in tests.items() if not np.isnan(p).all()},
    }


def auto(X: np.ndarray, y: np.ndarray, nominal: list[int], seed: int) -> dict[str, np.ndarray]:
    selection = select(X, y, alpha=ALPHA, parameters={"categorical_features": nominal}, random_state=seed)
    return {"auto": np.isin([f"x{j}" for j in range(X.shape[1])], selection.features)}


def passing(pvalues: np.ndarray) -> np.ndarray:
    """Which pass Benjamini & Hochberg's procedure; columns without a test do not count."""
    tested = ~np.isnan(pvalues)
    passed = np.zeros(len(pvalues), dtype=bool)
    passed[tested] = benjamini_hochberg(pvalues[tested]) <= ALPHA
    return passed


def before(X: np.ndarray, y: np.ndarray, nominal: list[int], seed: int) -> dict[str, np.ndarray]:
    selector = RelevanceSelector(alpha=ALPHA, categorical_features=nominal, random_state=seed).fit(X, y)
    minimal = selector.relevant_ & (selector.redundant_with_ < 0)
    return {"before": selector.relevant_, "before, minimal": minimal}


def t_test(X: np.ndarray, y: np.ndarray, nominal: list[int], seed: int) -> dict[str, np.ndarray]:
    return {"t-test": passing(f_classif(X, y)[1])}  # of several classes: analysis of variance


def f_test(X: np.ndarray, y: np.ndarray, nominal: list[int], seed: int) -> dict[str, np.ndarray]:
    return {"f-test": passing(f_regression(X, y)[1])}


def spearman(X: np.ndarray, y: np.ndarray, nominal: list[int], seed: int) -> dict[str, np.ndarray]:
    return {"spearman": passing(np.array([spearmanr(x, y).pvalue for x in X.T]))}


def boruta(
    X: np.ndarray,
    y: np.ndarray,
    nominal: list[int],
    seed: int,
    task: str = "classification",
    iterations: int = 99,  # what its default comes to
) -> dict[str, np.ndarray]:
    from boruta import BorutaPy

    X = np.where(np.isnan(X), -999.0, X)  # it knows neither missing values nor categories
    if task == "regression":
        forest = RandomForestRegressor(n_jobs=1, max_depth=5)
    else:
        forest = RandomForestClassifier(n_jobs=1, class_weight="balanced", max_depth=5)
    selector = BorutaPy(forest, n_estimators="auto", max_iter=iterations + 1, random_state=seed)
    return {"boruta": selector.fit(X, y).support_}


def stability_paths(
    X: np.ndarray, y: np.ndarray, nominal: list[int], seed: int, selector: str, name: str
) -> dict[str, np.ndarray]:
    from ipss import ipss

    X = np.where(np.isnan(X), -999.0, X)
    np.random.seed(seed)  # noqa: NPY002 it has no seed of its own
    found = ipss(X, y, selector, target_fdr=ALPHA, force_regression=True)
    return {name: np.isin(np.arange(X.shape[1]), found["selected_features"])}


def rfecv(X: np.ndarray, y: np.ndarray, nominal: list[int], seed: int) -> dict[str, np.ndarray]:
    X = np.where(np.isnan(X), -999.0, X)
    forest = RandomForestClassifier(100, n_jobs=1, random_state=seed)
    return {"rfecv": RFECV(forest, step=0.1, cv=5, n_jobs=1).fit(X, y).support_}


RUNS: dict[str, Callable[..., dict[str, np.ndarray]]] = {
    "relevance": relevance,
    "auto": auto,
    "before": before,
    "t-test": t_test,
    "boruta": boruta,
    "rfecv": rfecv,
}
OF_QUANTITIES: dict[str, Callable[..., dict[str, np.ndarray]]] = {
    "relevance": partial(relevance, task="regression"),
    "f-test": f_test,
    "spearman": spearman,
    "boruta": partial(boruta, task="regression"),
    "ipss": partial(stability_paths, selector="gb", name="ipss"),
    "ipss-l1": partial(stability_paths, selector="l1", name="ipss-l1"),
}


def suits(method: str, name: str) -> bool:
    """Whether a method is run in a cell."""
    if method in ("rfecv", "auto"):
        return name in (SMALL if method == "rfecv" else OF_AUTO)
    if name in QUANTITIES and method in ("boruta", "ipss", "ipss-l1"):
        return CELLS[name].informative > 0
    return method not in ("t-test", "f-test", "spearman") or CELLS[name].columns not in (
        "nominal",
        "mixed",
        "gaps",
    )


def run(path: Path, methods: list[str], names: list[str], first: int, seeds: int | None) -> None:
    """Do what is not done yet; a half-written last line is done again."""
    done = {(r["cell"], r["run"], r["seed"]) for r in read(path, KEY)}
    n_seeds = {name: min(CELLS[name].seeds, seeds or CELLS[name].seeds) for name in names}
    for seed in range(first, first + max(n_seeds.values(), default=0)):  # all cells in turn
        for name in names:
            for method in methods:
                if seed >= first + n_seeds[name] or (name, method, seed) in done or not suits(method, name):
                    continue
                X, y, nominal, truth = make(name, seed)
                began = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    chosen = (OF_QUANTITIES if name in QUANTITIES else RUNS)[method](X, y, nominal, seed)
                seconds = time.process_time() - began
                record = {"cell": name, "run": method, "seed": seed, "seconds": round(seconds, 3)}
                record["of"] = np.bincount(truth, minlength=3).tolist()
                record["chosen"] = {
                    key: np.bincount(truth[mask], minlength=3).tolist() for key, mask in chosen.items()
                }
                append(path, record)


def run_seeds(path: Path, methods: list[str]) -> None:
    """Numbers of columns that are selected of the same wide tables with several seeds."""
    done = {(r["cell"], r["run"], r["seed"]) for r in read(path, KEY)}
    for name, number in WIDE:
        X, y, nominal, _ = make(name, number)
        for method in methods:
            if (name, method, number) in done:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                selected = [int(RUNS[method](X, y, nominal, seed)[method].sum()) for seed in range(N_SEEDS)]
            append(path, {"cell": name, "run": method, "seed": number, "selected": selected})


def append(path: Path, record: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")


def forget(path: Path, methods: list[str]) -> None:
    """Leave out what these methods have done."""
    kept = [json.dumps(record) + "\n" for record in read(path, KEY) if record["run"] not in methods]
    path.write_text("".join(kept))


def run_package(package: Path) -> None:
    """The same command with `before` as its method, in a process that has another foresift."""
    environment = {**os.environ, "PYTHONPATH": str(package.resolve())}
    subprocess.run([sys.executable, *sys.argv, "--methods", "before"], env=environment, check=True)


def speed(path: Path, sizes: str, methods: list[str], quantities: bool, iterations: int | None) -> None:
    """Processor seconds of `fit` on one thread; the first method runs again last, its slower run counts.

    With `iterations` BorutaPy stops early, and its time and the ratio are lower bounds.
    """
    runs = dict(OF_QUANTITIES if quantities else RUNS)
    if iterations is not None:
        runs["boruta"] = partial(runs["boruta"], iterations=iterations)
    for n, p in (map(int, size.split("x")) for size in sizes.split(",")):
        if quantities:
            X, y = make_regression(n, p, n_informative=10, noise=100, shuffle=False, random_state=0)
        else:
            X, y = make_classification(n, p, n_informative=10, n_redundant=0, shuffle=False, random_state=0)
        record: dict[str, Any] = {"size": f"{n}x{p}"}
        for method in [*methods, *methods[:1]]:
            began = time.process_time()
            chosen = runs[method](X, y, [], 0)[method]
            record[method] = max(record.get(method, 0.0), round(time.process_time() - began, 2))
            record[f"{method} finds"] = [int(chosen[:10].sum()), int(chosen[10:].sum())]
        if "boruta" in methods:
            record["ratio"] = round(record["boruta"] / record[methods[0]], 1)
            record["iterations of boruta"] = iterations or "all"
        record["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps(record), flush=True)
        append(path, record)


def show(page: Path | None, parts: dict[str, str]) -> None:
    """Print Markdown, or write it between the marks of a page."""
    for mark, lines in parts.items():
        if page is None:
            print(lines, end="\n\n")
        else:
            write_into(page, mark, lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("run", "seeds", "check", "table", "picture", "speed"))
    parser.add_argument(
        "results", help="lines of JSON; added to by run and seeds. Of check: both files, of quantities one"
    )
    parser.add_argument("target", type=Path, nargs="?", help="picture, or a page with marks")
    parser.add_argument("--methods", help=f"by commas: {', '.join(RUNS)}; else ours and, of run, t-test")
    parser.add_argument("--package", type=Path, help="folder of another version of the package, for `before`")
    parser.add_argument("--again", action="store_true", help="forget what these methods have done")
    parser.add_argument(
        "--quantities", action="store_true", help="of run, check, table, speed: quantities, not classes"
    )
    parser.add_argument("--cells", default="", help="of run: those whose names have this in them")
    parser.add_argument("--seeds", type=int, default=None, help="of run: no more than so many")
    parser.add_argument(
        "--first-seed", type=int, default=0, help="of run: number of the first table of a cell"
    )
    parser.add_argument("--sizes", default="2000x100", help="of speed: rows x columns, by commas")
    parser.add_argument("--iterations", type=int, help="of speed: BorutaPy stops after so many of its 99")
    options = parser.parse_args()
    if options.what == "picture" and options.target is None:
        parser.error("picture needs a file to write")
    peers = ",f-test,spearman" if options.quantities else ",t-test"
    options.methods = (options.methods or "relevance" + peers * (options.what == "run")).split(",")
    ours = Path(foresift.__file__).parents[1]
    if "before" in options.methods and (options.package is None or not ours.samefile(options.package)):
        parser.error(f"`before` needs --package, and has the foresift in {ours}")
    return options


def main() -> int:
    options = arguments()
    if options.what == "check":
        results, *seeds = map(Path, options.results.split(","))
        parts, holds = checked(results, seeds[0] if seeds else None)
        show(options.target, parts)
        return 0 if holds else 1
    path = Path(options.results)
    if options.what == "table":
        tables = {f"beside {peer}": beside(path, peer) for peer in PEERS}
        show(options.target, {"calibration": table(path), **tables})
    elif options.what == "picture":
        picture(path, options.target)
    elif options.what == "speed":
        speed(path, options.sizes, options.methods, options.quantities, options.iterations)
    else:
        if options.again and path.exists():
            forget(path, options.methods)
        if options.what == "seeds":
            run_seeds(path, options.methods)
        else:
            names = [
                name for name in (QUANTITIES if options.quantities else CLASSES) if options.cells in name
            ]
            run(path, options.methods, names, options.first_seed, options.seeds)
        if options.package is not None and "before" not in options.methods:
            run_package(options.package)
    return 0


if __name__ == "__main__":
    sys.exit(main())
