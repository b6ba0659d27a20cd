"""How far weights of Relief from some rows of a large table are from those of all rows, and what they cost.

    python benchmarks/relief_rows.py [--rows 40000] [--seeds 20]

Rows that are drawn are compared with all rows. Of every number of them: the least processor time, the root
mean square of the differences of the weights from those of all rows, how often the six informative columns
have the six highest weights, and the rank correlation of the weights with those of all rows. The last line of
a method is every row of another table of the same kind: no closer can a sample come to what is true.
"""

from __future__ import annotations

import argparse
import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import CONSOLE, Results, seconds
from scipy.stats import spearmanr

from foresift import MultiSURFSelector, ReliefFSelector, ReliefSelector

P, INFORMATIVE = 30, (0, 1, 2, 3, 4, 20)
METHODS = {
    "relief": (ReliefSelector, "classes"),
    "relieff": (ReliefFSelector, "classes"),
    "relieff, a quantity": (ReliefFSelector, "quantity"),
    "multisurf": (MultiSURFSelector, "classes"),
}
SAMPLES = (500, 1000, 2000, 5000, 10_000)


def make(n_rows: int, y: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Three columns of falling strength, a product of two, one of three values, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, P))
    X[:, 20:25] = rng.integers(3, size=(n_rows, 5))
    quantity = X[:, 0] + 0.7 * X[:, 1] + 0.5 * X[:, 2] + X[:, 3] * X[:, 4] + (X[:, 20] == 1)
    quantity += rng.normal(size=n_rows)
    return X, quantity if y == "quantity" else (quantity > np.median(quantity)).astype(int)


def line(name: str, m: str, times: list[float], found: np.ndarray, every: np.ndarray) -> list[str]:
    best = [set(np.argsort(-w)[: len(INFORMATIVE)].tolist()) == set(INFORMATIVE) for w in found]
    errors = np.sqrt(np.mean((found - every) ** 2, axis=0))
    ranks = [spearmanr(w, every)[0] for w in found]
    noise = np.setdiff1d(np.arange(P), INFORMATIVE)
    largest, of_noise = errors[list(INFORMATIVE)].max(), np.sqrt(np.mean(errors[noise] ** 2))
    shares = f"{np.mean(best):.2f} of {len(best)}"
    return [
        name,
        m,
        f"{min(times):.2f}",
        f"{largest:.5f}",
        f"{of_noise:.5f}",
        shares,
        f"{np.mean(ranks):.2f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    header = ("method", "rows", "s", "error, informative", "error, noise", "six best", "rank correlation")
    table = Results(f"{options.rows:,} x {P}", header)
    for name in options.methods:
        kind, y = METHODS[name]
        tables = [make(options.rows, y, seed) for seed in (0, 1)]
        weights: list[np.ndarray] = []

        def fit(kind=kind, weights=weights, tables=tables, **parameters):
            X, target = tables[parameters.pop("of", 0)]
            weights.append(kind(P, **parameters).fit(X, target).scores_)

        whole = seconds(lambda fit=fit: fit(n_samples=None))
        every = weights.pop()
        for m in SAMPLES:
            times = [
                seconds(lambda fit=fit, m=m, s=s: fit(n_samples=m, random_state=s))
                for s in range(options.seeds)
            ]
            table.add_row(*line(name, f"{m:,}", times, np.array(weights), every))
            weights.clear()
        table.add_row(*line(name, "all", [whole], every[np.newaxis], every))
        other = seconds(lambda fit=fit: fit(n_samples=None, of=1))
        table.add_row(*line(name, "all of another", [other], np.array(weights), every))
    table.show()
    CONSOLE.print("Error: root mean square over the samples; of informative columns the largest.")


if __name__ == "__main__":
    main()
