"""How many rows `RelevanceSelector` needs to find a column, by the strength of its effect and the number of columns.

    python benchmarks/rows.py [--seeds 50] [--quantity]

Two classes of equal size. Two columns each have means that differ between the classes by 0.2, 0.5 and 0.8 standard
deviations; the others are noise. With `--quantity` the same columns have the correlations with a normal target that such
differences correspond to: 0.1, 0.24 and 0.37. A number is the fraction of the two columns, over all tables, that pass at a
false discovery rate of 0.1; the last is the mean fraction of noise among the columns that pass.
"""

from __future__ import annotations

import argparse
import os

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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--quantity", action="store_true")
    options = parser.parse_args()
    table = Results("columns found", ("columns", "rows", *map(str, EFFECTS), "false"))
    for n_columns in COLUMNS:
        for n_rows in ROWS:
            passed = np.array([
                RelevanceSelector(random_state=0, redundancy=None, n_jobs=1)
                .fit(*make(n_rows, n_columns, options.quantity, seed))
                .relevant_
                for seed in range(options.seeds)
            ])
            power = passed[:, :6].reshape(-1, 3, 2).mean(axis=(0, 2))
            false = np.mean(passed[:, 6:].sum(axis=1) / np.maximum(passed.sum(axis=1), 1))
            table.add_row(str(n_columns), str(n_rows), *(f"{share:.2f}" for share in power), f"{false:.2f}")
    table.show()


if __name__ == "__main__":
    main()
