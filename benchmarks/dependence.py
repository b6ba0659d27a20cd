"""Error rates and power of RelevanceSelector on made tables whose rows depend on each other.

A table leaves one line of JSON, and a run takes up where the last one stopped.

    python benchmarks/dependence.py run results.jsonl               # 100 null tables of a cell, 50 others
    python benchmarks/dependence.py run other.jsonl --first-seed 1000 --seeds 20 --cells "AR 0.9"
    python benchmarks/dependence.py run results.jsonl --again       # forget `respected`: the code changed
    python benchmarks/dependence.py check results.jsonl [page.md]   # what must hold; into the page
    python benchmarks/dependence.py oracle                          # its p-values beside those of statsmodels

Methods: `respected` (groups and times are passed to `fit`), `ignored` (they are not), `oracle` (generalized
least squares for every column: it knows the covariance of the rows, the effects of the other columns and, of
classes, the variable that they were cut from; adjusted by Benjamini & Hochberg's procedure).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from calibration_results import ALPHA, read, write_into
from dependence_cells import CELLS, Cell, Table
from dependence_check import KEY, METHODS, checked
from joblib import Parallel, delayed

from foresift import RelevanceSelector
from foresift.stats import benjamini_hochberg

N_NULL, N_SIGNAL = 100, 50
FIRST_SEED = 10_000  # nothing was tuned on these and the following; tuning took those from 1000 on


def selector(cell: Cell, seed: int) -> RelevanceSelector:
    return RelevanceSelector(
        task=cell.task, alpha=ALPHA, categorical_features=cell.nominal, random_state=seed
    )


def respected(cell: Cell, table: Table, seed: int) -> np.ndarray:
    return selector(cell, seed).fit(table.X, table.y, groups=table.groups, time=table.time).relevant_


def ignored(cell: Cell, table: Table, seed: int) -> np.ndarray:
    return selector(cell, seed).fit(table.X, table.y).relevant_


def oracle(cell: Cell, table: Table, seed: int) -> np.ndarray:
    return benjamini_hochberg(table.oracle.pvalues()) <= ALPHA


RUNS: dict[str, Callable[[Cell, Table, int], np.ndarray]] = {
    "respected": respected,
    "ignored": ignored,
    "oracle": oracle,
}


def one(cell: Cell, signal: bool, seed: int, methods: list[str], done: dict[str, Any]) -> dict[str, Any]:
    """Numbers of irrelevant and of relevant columns that each method chooses of a table."""
    table = cell.make(seed, signal)
    chosen, seconds = dict(done.get("chosen", {})), dict(done.get("seconds", {}))
    for method in methods:
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = RUNS[method](cell, table, seed)
        seconds[method] = round(time.process_time() - began, 2)
        chosen[method] = np.bincount(table.relevant[found], minlength=2).tolist()
    of = int(table.relevant.sum())
    return dict(zip((*KEY, "of"), (cell.name, int(signal), seed, of), strict=True)) | {
        "chosen": chosen,
        "seconds": seconds,
    }


def run(path: Path, options: argparse.Namespace) -> None:
    """Do what is not done yet; a half-written last line is done again."""
    done = {tuple(record[name] for name in KEY): record for record in read(path, KEY)}
    for record in done.values() if options.again else ():
        record["chosen"] = {k: v for k, v in record["chosen"].items() if k not in options.methods}
    tasks = []
    for i in range(max(N_NULL, N_SIGNAL)):  # all cells in turn
        for name, cell in CELLS.items():
            for signal, of in enumerate((N_NULL, N_SIGNAL)):
                seed = options.first_seed + i
                record = done.get((name, signal, seed), {})
                missing = [method for method in options.methods if method not in record.get("chosen", {})]
                if options.cells in name and i < min(of, options.seeds or of) and missing:
                    tasks.append(delayed(one)(cell, bool(signal), seed, missing, record))
    began = time.monotonic()
    with path.open("a") as file:
        runs = Parallel(options.jobs, return_as="generator_unordered", batch_size=4)(tasks)
        for i, record in enumerate(runs, 1):
            file.write(json.dumps(record) + "\n")
            if i % 100 == 0 or i == len(tasks):
                file.flush()
                print(f"{i} of {len(tasks)} tables, {time.monotonic() - began:.0f} s", flush=True)
    tidy(path)


def tidy(path: Path) -> None:
    """Sort the lines, and keep the last one of every table."""
    order = {name: i for i, name in enumerate(CELLS)}
    records = sorted(read(path, KEY), key=lambda r: (order[r["cell"]], r["signal"], r["seed"]))
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def beside_statsmodels(seed: int) -> None:
    """The oracle's p-values of a table of every cell beside those of statsmodels."""
    import statsmodels.api as sm

    for name, cell in CELLS.items():
        model = cell.make(seed, signal=True).oracle
        gaps = []
        for j, p in enumerate(model.pvalues()[:3]):
            y = model.latent - model.effects.sum(axis=1) + model.effects[:, j]
            design = np.column_stack([model.nuisance, model.scores[:, j]])
            fitted = sm.GLS(y, design, sigma=model.covariance).fit()
            gaps.append(abs(np.log10(fitted.pvalues[-1] / p)))
        print(f"{name}: greatest difference of log10 p {max(gaps):.1e}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("run", "check", "oracle"))
    parser.add_argument("results", type=Path, nargs="?", help="lines of JSON; added to by run")
    parser.add_argument("page", type=Path, nargs="?", help="of check: a page with marks")
    parser.add_argument("--methods", default=None, help=f"by commas: {', '.join(METHODS)}")
    parser.add_argument("--again", action="store_true", help="forget these methods first, else `respected`")
    parser.add_argument("--cells", default="", help="those whose names have this in them")
    parser.add_argument("--seeds", type=int, help="no more than so many tables of a kind")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    if options.what != "oracle" and options.results is None:
        parser.error(f"{options.what} needs a file of results")
    named = options.methods or ("respected" if options.again else ",".join(METHODS))
    options.methods = named.split(",")
    return options


def main() -> int:
    options = arguments()
    if options.what == "run":
        run(options.results, options)
    elif options.what == "oracle":
        beside_statsmodels(options.first_seed)
    else:
        parts, holds = checked(options.results)
        for mark, lines in parts.items():
            if options.page is None:
                print(f"{mark}\n\n{lines}\n")
            else:
                write_into(options.page, mark, lines)
        return 0 if holds else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
