"""ForestGainSelector for a quantity: what its rule keeps, and the p-values of irrelevant columns.

    python benchmarks/forest_gain_quantities.py --seeds 50 --jobs 1

The first table has the shares of the irrelevant columns removed and of the relevant ones kept, and how often
a relevant column has more above its threshold than an irrelevant one (AUC). The second has the share of
p-values below 0.05 where no column is relevant. Standard errors are those over tables.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_regression

from foresift import ForestGainSelector

Table = tuple[np.ndarray, np.ndarray, np.ndarray]
NOISE: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t(2)": lambda rng, n: rng.standard_t(2, size=n),
    "log-normal": lambda rng, n: np.exp(rng.normal(size=n)),
}


def simple(rng: np.random.Generator, noise: str) -> Table:
    """Two relevant columns of nine."""
    X = rng.random((200, 9))
    return X, X[:, 0] + X[:, 1] + 0.4 * NOISE[noise](rng, 200), np.arange(9) < 2


def friedman(rng: np.random.Generator, noise: str) -> Table:
    """Five relevant columns of ten, with Friedman's formula."""
    X = rng.random((200, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + 2 * NOISE[noise](rng, 200), np.arange(10) < 5


def linear(rng: np.random.Generator, noise: str) -> Table:
    """Ten relevant columns of 50."""
    X, y, weights = make_regression(500, 50, coef=True, random_state=int(rng.integers(2**31)))
    return X, y + 100 * NOISE[noise](rng, 500), weights != 0


COLUMNS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "distinct": lambda rng: rng.normal(size=(200, 10)),
    "binary": lambda rng: rng.integers(0, 2, (200, 10)),
    "rare": lambda rng: rng.random((200, 10)) < 0.03,
    "counts": lambda rng: rng.binomial(2, 0.3, (200, 10)),
    "nominal": lambda rng: rng.integers(0, 8, (200, 10)),
}


def fit(X: np.ndarray, y: np.ndarray, seed: int, **options: Any) -> ForestGainSelector:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ForestGainSelector(random_state=seed, **options).fit(X, y)


def percent(values: Any) -> str:
    error = np.std(values, ddof=1) / len(values) ** 0.5
    return f"{100 * np.mean(values):5.1f} ({100 * error:.1f})"


def of_rule(make: Callable[..., Table], noise: str, n_seeds: int, **options: Any) -> list[str]:
    found = []
    for seed in range(n_seeds):
        X, y, relevant = make(np.random.default_rng([seed, 0]), noise)
        selector = fit(X, y, seed, **options)
        above = selector.scores_ - selector.expected_scores_
        auc = (above[relevant][:, np.newaxis] > above[~relevant]).mean()
        found.append(((above[~relevant] <= 0).mean(), (above[relevant] > 0).mean(), auc))
    return [percent(values) for values in np.array(found).T]


def of_pvalues(columns: str, noise: str, n_seeds: int, **options: Any) -> tuple[str, float]:
    below, least = [], 1.0
    for seed in range(n_seeds):
        rng = np.random.default_rng([seed, 1])
        nominal = range(10) if columns == "nominal" else None
        X = COLUMNS[columns](rng).astype(float)
        selector = fit(X, NOISE[noise](rng, 200), seed, categorical_features=nominal, **options)
        below.append(np.nanmean(selector.pvalues_ < 0.05))
        least = min(least, float(np.nanmin(selector.pvalues_)))
    return percent(below), least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    print("data, noise, max_features: removed, kept, AUC in % (standard error)")
    for make in (simple, friedman, linear):
        for noise in ("normal", "t(2)"):
            for drawn in (1, "sqrt"):
                shares = of_rule(make, noise, given.seeds, max_features=drawn, n_jobs=given.jobs)
                print(f"{make.__name__:8} {noise:6} {drawn!s:4}:", *shares, flush=True)
    print("columns, quantity, max_features: p-values below 0.05 in % (standard error), least p-value")
    for columns in COLUMNS:
        for noise in NOISE:
            for drawn in (1, "sqrt"):
                share, least = of_pvalues(
                    columns, noise, given.seeds, max_features=drawn, n_jobs=given.jobs, n_estimators=50
                )
                print(f"{columns:8} {noise:10} {drawn!s:4}: {share}, {least:.1e}", flush=True)


if __name__ == "__main__":
    main()
