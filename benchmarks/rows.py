"""How many rows `RelevanceSelector` needs to find a column, by its effect and the number of columns.

    python benchmarks/rows.py [--seeds 50] [--quantity]
    python benchmarks/rows.py --missing [--seeds 200]

Two classes of equal size. Two columns each have means that differ between the classes by 0.2, 0.5 and 0.8
standard deviations; the others are noise. With `--quantity` the same columns have the correlations with a
normal target that such differences correspond to: 0.1, 0.24 and 0.37. A number is the fraction of the two
columns, over all tables, that pass at a false discovery rate of 0.1; the last is the mean fraction of noise
among the columns that pass.

With `--missing`: 1,000 rows and 30 columns, one of which decides the class (with noise of the same
variance). Values of three columns are missing: of the relevant one at random, of one of noise at random,
and of one of noise in all rows of one class and most rows of the other. How often does each pass?
"""

from __future__ import annotations

import argparse
import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import Results

from foresift import RelevanceSelector

EFFECTS = (0.2, 0.5, 0.8)
ROWS = (50, 100, 200, 500, 1000, 2000)
COLUMNS = (20, 100, 1000)


def make(n_rows: int, n_columns: int, quantity: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns 0 and 1 have the weakest effect, 4 and 5 the strongest."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = rng.normal(size=n_rows) if quantity else rng.permutation(n_rows) % 2
    for j, effect in enumerate(np.repeat(EFFECTS, 2)):
        if quantity:
            r = effect / np.sqrt(effect**2 + 4)
            X[:, j] = r * y + np.sqrt(1 - r**2) * X[:, j]
        else:
            X[:, j] += effect * y
    return X, y


def found(options: argparse.Namespace) -> None:
    """The table of columns found, by rows and columns."""
    table = Results("columns found", ("columns", "rows", *map(str, EFFECTS), "false"))
    for n_columns in COLUMNS:
        for n_rows in ROWS:
            passed = np.array(
                [
                    relevance(*make(n_rows, n_columns, options.quantity, seed)).relevant_
                    for seed in range(options.seeds)
                ]
            )
            power = passed[:, :6].reshape(-1, 3, 2).mean(axis=(0, 2))
            false = np.mean(passed[:, 6:].sum(axis=1) / np.maximum(passed.sum(axis=1), 1))
            table.add_row(str(n_columns), str(n_rows), *(f"{share:.2f}" for share in power), f"{false:.2f}")
    table.show()


def missing(options: argparse.Namespace) -> None:
    """The table of columns with missing values: how often they pass, and small p-values of the noise."""
    header = ("missing", "relevant", "noise", "p <= 0.05", "noise, missing by class")
    table = Results("columns with missing values that pass", header)
    for share in (0.5, 0.9, 0.98):
        passed, small = [], []
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(1000, 30))
            y = (X[:, 0] + rng.normal(size=1000) > 0).astype(int)
            X[rng.random(1000) < share, 0] = np.nan
            X[rng.random(1000) < share, 1] = np.nan
            X[rng.random(1000) < np.where(y == 1, 2 * share - 1, 1), 2] = np.nan
            selector = relevance(X, y)
            passed.append(selector.relevant_[:3])
            small.append(selector.pvalues_[1] <= 0.05)
        relevant, noise, by_class = np.mean(passed, axis=0)
        table.add_row(
            f"{share}", f"{relevant:.2f}", f"{noise:.2f}", f"{np.mean(small):.2f}", f"{by_class:.2f}"
        )
    table.show()


def relevance(X: np.ndarray, y: np.ndarray) -> RelevanceSelector:
    return RelevanceSelector(random_state=0, redundancy=None, n_jobs=1).fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--quantity", action="store_true")
    parser.add_argument("--missing", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # that no column passes
    missing(options) if options.missing else found(options)


if __name__ == "__main__":
    main()
