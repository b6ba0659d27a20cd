"""When MutualInfoSelector stops: its rule for mRMR beside others, on made tables and on the classic ones.

Made tables are the cells of headtohead_cells.py that have relevant columns, but with other seeds than the
comparison. Classic tables are those of headtohead_tables.py (see FORESIFT_DATA and FORESIFT_DATA_REGRESSION),
training and test rows of the first split.

    python benchmarks/mutual_info_stopping.py made --first-seed 50000       # about 6 minutes
    python benchmarks/mutual_info_stopping.py tables                        # about 2 minutes

The order is that of mRMR throughout; a rule says how many of its columns are kept, at least one:

- *score*: the score of the next column is above that of the best shadow in all 19 permutations. The rule was
  this up to November 2026.
- *score, half of them*: in ten of them, which shows what the comparison with all of them costs.
- *equal redundancy*: as *score*, but a shadow has the redundancy of its original.
- *relevance*: the I(X;Y) of the next column is above that of the best shadow in all permutations.
- *excess*: that of MutualInfoSelector(scheme="mrmr").
- *oracle*: up to the first irrelevant column, on made tables. No rule that stops once can find more without
  a false discovery.

mim, jmi, cmim and disr have orders and rules of their own.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from common import Results
from headtohead_cells import CELLS, IRRELEVANT, RELEVANT, make
from headtohead_tables import data_of, scores, split_of, tables

from foresift import MutualInfoSelector
from foresift.data.slices import take_rows
from foresift.data.table import make_table
from foresift.selectors.candidates import TableCandidates

N_SHADOWS, N_BINS = 19, 5
MAX_STEPS = 200
OTHER_SCHEMES = ("mim", "jmi", "cmim", "disr")

Step = tuple[int, np.ndarray, np.ndarray, np.ndarray]  # the next column, scores, redundancy, relevance


def steps(X: Any, y: np.ndarray, task: str, seed: int) -> Iterator[Step]:
    """Columns in the order of mRMR; scores and relevance of all that are left, and below of their shadows."""
    table, rng = make_table(X, y, task=task), np.random.default_rng(seed)
    orders = [rng.permutation(table.n_rows) for _ in range(N_SHADOWS)]
    used = np.arange(table.n_rows)
    pool = TableCandidates("mrmr", table, used, None, orders, N_BINS, False, 1, True)
    for _ in range(min(MAX_STEPS, table.n_columns)):
        values, relevance = pool.scores(), pool.relevance[:, pool.left]
        following = int((values[0] >= values[0].max() - 1e-12).argmax())
        column = int(pool.left[following])
        yield (
            column,
            values,
            relevance[0] - values[0],
            np.insert(relevance, 0, relevance[:, following], axis=1),
        )
        pool.add(column)


RULES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], bool]] = {
    "score": lambda values, _, __: values[0].max() > values[1:].max(),
    "score, half of them": lambda values, _, __: values[0].max() > np.median(values[1:].max(axis=1)),
    "equal redundancy": lambda values, redundancy, relevance: (
        values[0].max() > (relevance[1:, 1:] - redundancy).max()
    ),
    "relevance": lambda _, __, relevance: relevance[0, 0] > relevance[1:, 1:].max(),
}


def kept(X: Any, y: np.ndarray, task: str, seed: int, truth: np.ndarray | None) -> dict[str, list[int]]:
    """What every rule keeps."""
    open_rules = dict.fromkeys(RULES if truth is None else (*RULES, "oracle"), True)
    found: dict[str, list[int]] = {name: [] for name in open_rules}
    for column, *of_step in steps(X, y, task, seed):
        for name in open_rules:
            passes = truth[column] != IRRELEVANT if name == "oracle" else RULES[name](*of_step)
            open_rules[name] &= bool(passes)
            if open_rules[name] or not found[name]:
                found[name].append(column)
        if not any(open_rules.values()):
            break
    for scheme in ("mrmr", *OTHER_SCHEMES):
        selector = MutualInfoSelector(scheme=scheme, task=task, random_state=seed, n_bins=N_BINS)
        name = "excess" if scheme == "mrmr" else scheme
        found[name] = np.flatnonzero(selector.fit(X, y).support_).tolist()
    return found


def mean_of_cells(by_cell: list[np.ndarray]) -> list[str]:
    """Mean over cells of the means over tables, with the standard error of the tables drawn."""
    means = np.mean([cell.mean(axis=0) for cell in by_cell], axis=0)
    variances = [cell.var(axis=0, ddof=1) / len(cell) for cell in by_cell]
    errors = np.sqrt(np.sum(variances, axis=0)) / len(by_cell)
    return [f"{mean:.3f} ({error:.3f})" for mean, error in zip(means, errors, strict=True)]


def made(first_seed: int, n_seeds: int) -> None:
    """Power, false discovery proportion and number of columns."""
    found: dict[str, list[np.ndarray]] = {}
    for place, cell in CELLS.items():
        if not cell.relevant:
            continue
        rows: dict[str, list[tuple[float, ...]]] = {}
        for seed in range(first_seed, first_seed + n_seeds):
            X, y, truth = make(place, seed)
            for name, columns in kept(X, y, cell.task, seed, truth).items():
                of = np.bincount(truth[columns], minlength=3)
                rows.setdefault(name, []).append((of[RELEVANT] / cell.relevant, of[0] / of.sum(), of.sum()))
        for name, row in rows.items():
            found.setdefault(name, []).append(np.array(row))
    title = f"{len(found['excess'])} cells, seeds {first_seed} to {first_seed + n_seeds - 1}"
    table = Results(title, ("rule", "power (SE)", "false discovery proportion (SE)", "columns (SE)"))
    for name, by_cell in found.items():
        table.add_row(name, *mean_of_cells(by_cell))
    table.show("")


def null(first_seed: int, n_seeds: int) -> None:
    """How often a column is added where none is relevant."""
    table = Results(
        f"seeds {first_seed} to {first_seed + n_seeds - 1}", ("cell", "scheme", "tables with any")
    )
    for place, cell in CELLS.items():
        for scheme in ("mrmr", "jmi", "cmim") if not cell.relevant else ():
            n_any = 0
            for seed in range(first_seed, first_seed + n_seeds):
                X, y, _ = make(place, seed)
                selector = MutualInfoSelector(scheme=scheme, task=cell.task, random_state=seed, n_bins=N_BINS)
                n_any += selector.fit(X, y).n_added_ > 0
            table.add_row(place, scheme, f"{n_any} of {n_seeds}")
    table.show("")


def classic() -> None:
    """The score of a forest less that with all columns, and the fraction of columns kept."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for place, task in tables().items():
        X, y = data_of(place)
        train, _ = split_of(place, 0)
        of_all = scores(place, 0, tuple(range(X.shape[1])))["forest"][0]
        for name, columns in kept(take_rows(X, train), y[train], task, 0, None).items():
            change = scores(place, 0, tuple(sorted(columns)))["forest"][0] - of_all
            found.setdefault(name, {}).setdefault(task, []).append((change, len(columns) / X.shape[1]))
    n_tables = {task: len(rows) for task, rows in found["excess"].items()}
    heads = [
        f"{task}, {n} tables: {what}" for task, n in n_tables.items() for what in ("score (SE)", "columns")
    ]
    table = Results("first split, a forest, against all columns", ("rule", *heads))
    for name, by_task in found.items():
        cells = []
        for task in n_tables:
            changes, fractions = np.transpose(by_task[task])
            error = changes.std(ddof=1) / len(changes) ** 0.5
            cells += [f"{changes.mean():+.4f} ({error:.4f})", f"{fractions.mean():.2f}"]
        table.add_row(name, *cells)
    table.show("")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("made", "null", "tables"))
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=12)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", "No feature passed")
    if given.what == "tables":
        classic()
    else:
        (made if given.what == "made" else null)(given.first_seed, given.seeds)


if __name__ == "__main__":
    main()
