"""Weights of the tests of RelevanceSelector: false discoveries and power of several ways, on tuning seeds.

A table is one line of JSON: how many columns every way selects, by what they are. All ways have the same
p-values of single tests. The cells are those of the calibration and of the comparison with other packages, on
seeds that neither of them reports (5000 and up).

    python benchmarks/relevance_weights.py run weights.jsonl [--seeds 10]  # null cells four times as many
    python benchmarks/relevance_weights.py show weights.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import calibration_quantities as calibration
import headtohead_cells as heads
import numpy as np
from calibration_results import ALPHA, read

from foresift import RelevanceSelector
from foresift.selectors.relevance import combining
from foresift.selectors.relevance.combining import WEIGHTS, combined_log_pvalues, log_cauchy_mean
from foresift.stats import benjamini_hochberg

FIRST_SEED = 5000
KEY = ("cell", "seed")
MAX_CELLS = 400_000  # rows times columns of a table; larger ones have half as many seeds
FOREST_OFFSET = 20

Logs = dict[str, np.ndarray]


def fixed(logs: Logs, **weights: float) -> np.ndarray:
    """The weights of `WEIGHTS`, or others; ranks have that of residuals where there are none."""
    own = {name: np.full(len(logs["forest"]), weight) for name, weight in (WEIGHTS | weights).items()}
    own["ranks"] = own["ranks"] + np.where(np.isnan(logs["residuals"]), own["residuals"], 0.0)
    return log_cauchy_mean(
        np.array([logs[name] for name in WEIGHTS]), np.array([own[name] for name in WEIGHTS])
    )


def shared(logs: Logs, **others: float) -> dict[str, float]:
    """Weights of ranks and residuals by what each finds."""
    both = 1 - sum((WEIGHTS | others)[name] for name in ("forest", "curves", "pairs"))
    own = dict(zip(WEIGHTS, combining._weights(logs["ranks"], logs["residuals"]), strict=True))
    share = own["residuals"] / (own["ranks"] + own["residuals"])
    return {**others, "ranks": both * (1 - share), "residuals": both * share}


def all_adapt(logs: Logs) -> np.ndarray:
    """Forest and pairs, too, weigh more where they find more than ranks and residuals."""
    most = max(combining._n_clear(logs["ranks"]), combining._n_clear(logs["residuals"]))
    of_forest = combining._n_clear(np.where(np.isnan(logs["ranks"]), np.nan, logs["forest"]))
    forest = WEIGHTS["forest"] * ((FOREST_OFFSET + of_forest) / (FOREST_OFFSET + most)) ** 12
    pairs = (
        WEIGHTS["pairs"]
        * ((combining._OFFSET + combining._n_clear(logs["pairs"])) / (combining._OFFSET + most)) ** 8
    )
    others = {"forest": float(np.clip(forest, 0.1, 0.5)), "pairs": float(np.clip(pairs, 0.01, 0.2))}
    return fixed(logs, **shared(logs, **others))


def without_curves(logs: Logs) -> np.ndarray:
    """As by default, but that curves are not tested."""
    return combined_log_pvalues(logs | {"curves": np.full(len(logs["forest"]), np.nan)})


WAYS: dict[str, Callable[[Logs], np.ndarray]] = {
    "default": combined_log_pvalues,
    "all fixed": fixed,
    "all adapt": all_adapt,
    "forest 0.10": lambda logs: fixed(logs, **shared(logs, forest=0.10)),
    "forest 0.25": lambda logs: fixed(logs, **shared(logs, forest=0.25)),
    "curves 0.04": lambda logs: fixed(logs, **shared(logs, curves=0.04)),
    "curves 0.10": lambda logs: fixed(logs, **shared(logs, curves=0.10)),
    "pairs 0.06": lambda logs: fixed(logs, **shared(logs, pairs=0.06)),
    "no curves": without_curves,
}


def cells() -> dict[str, tuple[int, int, bool, bool]]:
    """Rows, columns, whether any column is relevant, and whether the target is a quantity, by name."""
    found = {}
    for name, cell in calibration.CELLS.items():
        found[name] = (cell.n, cell.p, cell.informative > 0, name in calibration.QUANTITIES)
    for name, other in heads.CELLS.items():
        found[f"heads: {name}"] = (other.n, other.p, other.relevant > 0, other.target == "quantity")
    return found


def made(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, list[int], np.ndarray]:
    """X, y, nominal columns, and what each column is."""
    if name.startswith("heads: "):
        X, y, truth = heads.make(name.removeprefix("heads: "), seed)
        return X, y, [], truth
    return calibration.make(name, seed)


def run(path: Path, seeds: int) -> None:
    """Do what is not done yet, seed by seed."""
    done = {(record["cell"], record["seed"]) for record in read(path, KEY)}
    for index in range(4 * seeds):
        for name, (n, p, signal, quantity) in cells().items():
            wanted = seeds * (1 if signal else 4) // (2 if n * p > MAX_CELLS else 1)
            seed = FIRST_SEED + index
            if index >= wanted or (name, seed) in done:
                continue
            X, y, nominal, truth = made(name, seed)
            task = "regression" if quantity else "classification"
            selector = RelevanceSelector(
                task=task, categorical_features=nominal, redundancy=None, random_state=seed
            )
            with warnings.catch_warnings(), np.errstate(divide="ignore"):
                warnings.simplefilter("ignore")
                tests = selector.fit(X, y).test_pvalues_
                logs = {test: np.log(pvalues) for test, pvalues in tests.items()}
            record: dict[str, Any] = {"cell": name, "seed": seed, "chosen": {}}
            record["of"] = np.bincount(truth, minlength=3).tolist()
            for way, combined in WAYS.items():
                passed = benjamini_hochberg(np.nan_to_num(np.exp(combined(logs)), nan=1.0)) <= ALPHA
                record["chosen"][way] = np.bincount(truth[passed], minlength=3).tolist()
            with path.open("a") as file:
                file.write(json.dumps(record) + "\n")


def show(path: Path) -> None:
    """Means over cells, of classes and of quantities, with standard errors of differences to the default."""
    known = cells()
    outcomes: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for record in read(path, KEY):
        for way, (false, found, proxies) in record["chosen"].items():
            total = max(1, false + found + proxies)
            outcomes[record["cell"]][way].append((false / total, found / max(1, record["of"][1])))
    for quantity in (False, True):
        for signal in (True, False):
            names = [name for name in outcomes if known[name][2:] == (signal, quantity)]
            if not names:
                continue
            n_tables = sum(len(outcomes[name]["default"]) for name in names)
            kind = "a quantity" if quantity else "classes"
            print(
                f"{kind}, {'relevant columns' if signal else 'null'}: {len(names)} cells, {n_tables} tables"
            )
            for way in WAYS:
                line = f"  {way:12}"
                for k, what in enumerate(("FDR", "power") if signal else ("any false",)):
                    rows = [np.array(outcomes[name][way])[:, k] for name in names]
                    base = [np.array(outcomes[name]["default"])[:, k] for name in names]
                    if not signal:
                        rows, base = ([one > 0 for one in some] for some in (rows, base))
                    gaps = [a.astype(float) - b for a, b in zip(rows, base, strict=True)]
                    errors = [one.std(ddof=1) / np.sqrt(len(one)) if len(one) > 1 else 0.0 for one in gaps]
                    error = np.sqrt(np.square(errors).sum()) / len(names)
                    mean, gap = (np.mean([one.mean() for one in some]) for some in (rows, gaps))
                    line += f"  {what} {mean:.4f} ({gap:+.4f}, SE {error:.4f})"
                print(line)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("run", "show"))
    parser.add_argument("results", type=Path)
    parser.add_argument("--seeds", type=int, default=10, help="of a cell with relevant columns")
    options = parser.parse_args()
    run(options.results, options.seeds) if options.what == "run" else show(options.results)


if __name__ == "__main__":
    main()
