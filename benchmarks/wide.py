"""Error rates, power and time of RelevanceSelector on wide tables, by the number of shadows per column.

A table leaves one line of JSON, and a run takes up where the last one stopped.

    python benchmarks/wide.py run results.jsonl                 # 8 tables of a cell without and with signal
    python benchmarks/wide.py run other.jsonl --first-seed 0 --seeds 3 --shadows 10,6,default,4
    python benchmarks/wide.py check results.jsonl [page.md]     # what must hold; into the page
    python benchmarks/wide.py speed /path/of/old /path/of/new   # folders that hold the package foresift

All numbers of shadows see the same tables, so that differences between them are of pairs. Every tree scores
half of them, in turn; the default has a third. Of columns of
noise, of which every table has thousands, it is also counted how many p-values are small: these counts show
a wrong tail long before an error rate does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from calibration_cells import CORRELATE, IRRELEVANT, RELEVANT
from calibration_check import LEVEL, in_markdown
from calibration_results import ALPHA, mean_and_error, read, write_into
from scipy.stats import ttest_1samp

from foresift import RelevanceSelector

KEY = ("cell", "signal", "seed")
SHADOWS = "10,default"  # the first is what the others are compared with
FIRST_SEED, SEEDS = 30_000, 8  # tuning took the seeds from 0 on
TAILS = (1e-2, 1e-3, 1e-4)
BLOCK = 5  # columns that are correlated with each other
EXPLAINED = 0.75  # of the variance of what classes are cut from
MAX_LOSS = 0.02  # of power, that would be worth a table in half of the time


@dataclass(frozen=True)
class Cell:
    """What a table is like; classes are whether the quantity is above its median."""

    n: int
    p: int
    y: str = "classes"
    rho: float = 0.0  # correlation within blocks, of which the first column may be relevant
    common: float = 0.0  # share of one factor, of which the target is independent, in all columns
    columns: str = "continuous"  # or "mixed", "odd"

    @property
    def task(self) -> str:
        """What RelevanceSelector calls it."""
        return "regression" if self.y == "quantity" else "classification"


CELLS: dict[str, Cell] = {
    "100 x 5,000": Cell(100, 5000),
    "200 x 10,000": Cell(200, 10_000),
    "500 x 5,000": Cell(500, 5000),
    "200 x 5,000, rho 0.5": Cell(200, 5000, rho=0.5),
    "200 x 5,000, rho 0.8": Cell(200, 5000, rho=0.8),
    "100 x 5,000, common factor": Cell(100, 5000, common=0.4),
    "200 x 5,000, mixed": Cell(200, 5000, columns="mixed"),
    "200 x 5,000, odd": Cell(200, 5000, columns="odd"),
    "quantity, 200 x 5,000": Cell(200, 5000, "quantity"),
    "quantity, 200 x 5,000, mixed": Cell(200, 5000, "quantity", columns="mixed"),
    "quantity, 100 x 10,000, rho 0.8": Cell(100, 10_000, "quantity", rho=0.8),
}


@dataclass(frozen=True)
class Table:
    """A made table; `odd` are columns of noise unlike all others."""

    X: np.ndarray
    y: np.ndarray
    kinds: np.ndarray
    nominal: list[int]
    odd: np.ndarray


def make(cell: Cell, seed: int, signal: bool) -> Table:
    """Draw a table: with `signal` the first column of some blocks is relevant, the others are correlates."""
    rng = np.random.default_rng([seed, int(signal), *repr(cell).encode()])
    X = rng.normal(size=(cell.n, cell.p))
    if cell.rho:
        common = np.repeat(rng.normal(size=(cell.n, cell.p // BLOCK)), BLOCK, axis=1)
        X = np.sqrt(1 - cell.rho) * X + np.sqrt(cell.rho) * common
    nominal, odd = [], np.empty(0, dtype=np.intp)
    if cell.columns == "mixed":  # a third each: continuous, binary of any share, three categories
        at, shares = np.arange(cell.p), rng.uniform(0.05, 0.5, size=cell.p)
        X = np.where(at % 3 == 1, rng.random(X.shape) < shares, X)
        X = np.where(at % 3 == 2, rng.integers(3, size=X.shape), X)
        nominal = np.flatnonzero(at % 3 == 2).tolist()
    if cell.columns == "odd":  # binary, but for the last few, which are mostly 0 and else continuous
        odd = np.arange(cell.p - 20, cell.p)
        X[:, : odd[0]] = rng.random((cell.n, odd[0])) < rng.uniform(0.05, 0.5, size=odd[0])
        X[:, odd] *= rng.random((cell.n, len(odd))) < 0.2
    kinds, noise = np.full(cell.p, IRRELEVANT), rng.normal(size=cell.n)
    y = noise
    if signal:
        relevant = BLOCK * np.arange(3 * cell.n // 100)
        if cell.rho:
            kinds[(relevant[:, np.newaxis] + np.arange(BLOCK)).ravel()] = CORRELATE
        kinds[relevant] = RELEVANT
        some = X[:, relevant] - X[:, relevant].mean(axis=0)
        some /= some.std(axis=0)
        y = np.sqrt(EXPLAINED / len(relevant)) * some.sum(axis=1) + np.sqrt(1 - EXPLAINED) * noise
    if cell.common:
        X = np.sqrt(1 - cell.common) * X + np.sqrt(cell.common) * rng.normal(size=(cell.n, 1))
        if signal:  # any column says something of the factor, and with it of what the relevant ones say
            kinds[kinds == IRRELEVANT] = CORRELATE
    if cell.y == "classes":
        y = (y > np.median(y)).astype(int)
    return Table(X, y, kinds, nominal, odd)


def one(cell: str, signal: int, seed: int, shadows: list[str]) -> dict[str, Any]:
    """What every number of shadows chooses of a table, and how many p-values of noise are small."""
    table = make(CELLS[cell], seed, bool(signal))
    record: dict[str, Any] = dict(zip(KEY, (cell, signal, seed), strict=True))
    record["of"] = np.bincount(table.kinds, minlength=3).tolist()
    for name in shadows:
        selector = RelevanceSelector(
            task=CELLS[cell].task,
            alpha=ALPHA,
            redundancy=None,
            n_shadows=None if name == "default" else int(name),
            categorical_features=table.nominal,
            random_state=seed,
        )
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(table.X, table.y)
        seconds = round(time.process_time() - began, 2)
        forest = selector.test_pvalues_["forest"]
        noise = table.kinds == IRRELEVANT
        tails = {
            test: [int(np.count_nonzero(p[noise] <= tail)) for tail in TAILS]
            for test, p in (("forest", forest), ("all", selector.pvalues_))
        }
        record[name] = {
            "chosen": np.bincount(table.kinds[selector.relevant_], minlength=3).tolist(),
            "forest": int(np.count_nonzero(forest[table.kinds == RELEVANT] <= TAILS[1])),
            "tails": tails,
            "odd": int(np.count_nonzero(forest[table.odd] <= 0.05)),
            "seconds": seconds,
        }
    return record


def run(path: Path, options: argparse.Namespace) -> None:
    """Do what is not done yet; a half-written last line is done again."""
    done = {tuple(record[name] for name in KEY) for record in read(path, KEY)}
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    wanted = [(cell, s, seed) for seed in seeds for cell in CELLS if options.cells in cell for s in (0, 1)]
    tasks = [task for task in wanted if task not in done]
    began = time.monotonic()
    with path.open("a") as file:
        for i, task in enumerate(tasks, 1):
            file.write(json.dumps(one(*task, options.shadows)) + "\n")
            file.flush()
            if i % (2 * len(CELLS)) == 0 or i == len(tasks):
                print(f"{i} of {len(tasks)} tables, {time.monotonic() - began:.0f} s", flush=True)
    order = {name: i for i, name in enumerate(CELLS)}
    records = sorted(read(path, KEY), key=lambda r: (order[r["cell"]], r["signal"], r["seed"]))
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def values_of(records: list[dict[str, Any]], shadows: str) -> dict[str, np.ndarray]:
    """What is averaged over the tables of a file, an array each; NaN where a table has no such number."""
    null = np.array([record["signal"] == 0 for record in records])
    of = np.array([record["of"] for record in records])
    found = [record[shadows] for record in records]
    chosen = np.array([some["chosen"] for some in found])
    false = chosen[:, IRRELEVANT] / np.maximum(chosen.sum(axis=1), 1)
    noise = np.where(of[:, [IRRELEVANT]] > 0, of[:, [IRRELEVANT]], np.nan)
    n_relevant = np.where(null, 1, of[:, RELEVANT])
    values = {
        "any false, null": np.where(null, false, np.nan),
        "FDR, signal": np.where(null | (of[:, IRRELEVANT] == 0), np.nan, false),
        "power": np.where(null, np.nan, chosen[:, RELEVANT] / n_relevant),
        "power of the forest": np.where(null, np.nan, np.array([s["forest"] for s in found]) / n_relevant),
    }
    for name, which in (("forest", "forest's"), ("all", "combined")):
        counts = np.array([some["tails"][name] for some in found]) / noise
        for k, tail in enumerate(TAILS[1:], start=1):
            values[f"{which} p-values of noise up to {tail:g}, divided by {tail:g}"] = counts[:, k] / tail
    is_odd = np.array(["odd" in record["cell"] for record in records])
    odd = np.array([some["odd"] for some in found]) / 20
    values["forest's p-values of odd columns up to 0.05, divided by 0.05"] = np.where(
        is_odd, odd / 0.05, np.nan
    )
    values["seconds"] = np.array([some["seconds"] for some in found])
    return values


def checked(path: Path, shadows: list[str]) -> tuple[dict[str, str], bool]:
    """Tables in Markdown by their marks, and whether fewer shadows do no worse."""
    records = read(path, KEY)
    values = {n: values_of(records, n) for n in shadows}
    header = ["", *shadows, *(f"{n} less {shadows[0]}" for n in shadows[1:])]
    lines = []
    for what, reference in values[shadows[0]].items():
        known = ~np.isnan(reference)
        columns = [values[n][what][known] for n in shadows]
        columns += [columns[k] - columns[0] for k in range(1, len(shadows))]
        lines.append([what, *(with_error(column) for column in columns)])
    cells = []
    for cell in CELLS:
        here = np.array([record["cell"] == cell for record in records])
        if here.any():
            some = [values[n][what][here] for n in shadows for what in ("FDR, signal", "power")]
            n_tables = f"{np.isnan(some[1]).sum()}, {(~np.isnan(some[1])).sum()}"
            cells.append([cell, n_tables, *(with_error(shares[~np.isnan(shares)]) for shares in some)])
    of_cells = ["cell", "tables"] + [f"{what}, {n}" for n in shadows for what in ("FDR", "power")]
    verdicts = [verdict(values[n], values[shadows[0]]["power"], n) for n in shadows[1:]]
    parts = {
        "wide": in_markdown(header, lines),
        "wide, cells": in_markdown(of_cells, cells),
        "wide, verdicts": "\n".join(f"- {'Holds' if h else '**Fails**'}: {text}" for h, text in verdicts),
    }
    return parts, all(holds for holds, _ in verdicts)


def verdict(values: dict[str, np.ndarray], reference: np.ndarray, shadows: str) -> tuple[bool, str]:
    """No error rate is significantly above the target, and power not by more than MAX_LOSS below."""
    rates = [values[what] for what in ("any false, null", "FDR, signal")]
    pvalues = [float(ttest_1samp(r[~np.isnan(r)], ALPHA, alternative="greater").pvalue) for r in rates]
    loss = reference - values["power"]
    mean, error = mean_and_error(loss[~np.isnan(loss)])
    text = f"{shadows}: p-values of the error rates {pvalues[0]:.2g} and {pvalues[1]:.2g}, power"
    text += f" lower by {mean:.4f} (standard error {error:.4f}), at most {MAX_LOSS}"
    return min(pvalues) > LEVEL and mean + 2 * error <= MAX_LOSS, text


def with_error(values: np.ndarray) -> str:
    """Mean over the tables, and its standard error."""
    if len(values) < 2:
        return "-"
    mean, error = mean_and_error(values.tolist())
    return f"{mean:.3f} ± {error:.3f}"


TIMED: dict[str, Callable[[Any, np.ndarray, np.ndarray], Any]] = {
    "RelevanceSelector, 200 x 10,000": lambda fs, X, y: fs.RelevanceSelector(random_state=0).fit(X, y),
    "select, 60 x 10,000": lambda fs, X, y: fs.select(X[:60], y[:60], random_state=0, n_jobs=1),
}


def timed() -> dict[str, float]:
    """Processor seconds of every case with the package that is imported."""
    import foresift

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10_000)).astype(np.float32)
    y = (X[:, :10].sum(axis=1) + 3 * rng.normal(size=200) > 0).astype(int)
    foresift.select(X[:60, :5], y[:60], random_state=0)  # what is imported or made on first use
    seconds = {}
    for name, work in TIMED.items():
        began = time.process_time()
        work(foresift, X, y)
        seconds[name] = time.process_time() - began
    return seconds


def speed(paths: list[str], runs: int = 3) -> None:
    """The least time of every case with either package, in turns."""
    best: dict[str, dict[str, float]] = {path: {} for path in paths}
    for _ in range(runs):
        for path in paths:
            environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
            code = [sys.executable, __file__, "timed"]
            found = json.loads(subprocess.run(code, env=environment, capture_output=True, check=True).stdout)
            best[path] = {name: min(s, best[path].get(name, s)) for name, s in found.items()}
    for name in TIMED:
        times = [best[path][name] for path in paths]
        print(
            f"{name}: {' and '.join(f'{s:.2f}' for s in times)} s, {times[0] / times[-1]:.2f} times as fast"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("run", "check", "speed", "timed"))
    parser.add_argument("paths", nargs="*", help="results, lines of JSON; a page; of speed: two folders")
    parser.add_argument("--cells", default="", help="those whose names have this in them")
    parser.add_argument("--shadows", type=lambda text: text.split(","), default=SHADOWS.split(","))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    options = parser.parse_args()
    if options.what == "timed":
        print(json.dumps(timed()))
    elif options.what == "speed":
        speed(options.paths)
    elif options.what == "run":
        run(Path(options.paths[0]), options)
    else:
        parts, holds = checked(Path(options.paths[0]), options.shadows)
        for mark, lines in parts.items():
            if len(options.paths) == 1:
                print(f"{mark}\n\n{lines}\n")
            else:
                write_into(Path(options.paths[1]), mark, lines)
        return 0 if holds else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
