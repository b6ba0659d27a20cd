"""The relevance test of nominal columns beside chi-square or Kruskal-Wallis tests, on made tables.

    python benchmarks/nominal_columns.py [--first-seed 100] [--tables 20]
    python benchmarks/nominal_columns.py --false [--first-seed 100] [--tables 100] [--only NAME]

All columns are nominal; the first five have an effect of each category, the others none. Both adjust by
Benjamini & Hochberg's procedure at 0.1. Prints the share of the five columns found and the false discovery
proportion, with standard errors. With --false tables that make false discoveries likely: rare classes and
values, rare categories, and many categories beside strong predictors. docs/measurements/relevance-cases.md
shows the results.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, false_discovery_control, kruskal

from foresift import RelevanceSelector

RELEVANT, ALPHA = 5, 0.1
CELLS = (  # rows, columns, categories, effect, task
    (300, 50, 3, 0.5, "classification"),
    (300, 50, 6, 0.5, "classification"),
    (300, 50, 12, 0.6, "classification"),
    (1000, 100, 20, 0.3, "classification"),
    (200, 50, 6, 0.3, "regression"),
    (300, 100, 12, 0.3, "regression"),
)


@dataclass(frozen=True)
class Odd:
    """A table of irrelevant nominal columns: its rows, columns, and the shares of the categories.

    `rare` is the share of the rows of one of two classes, or of those in which a quantity is not 0. `strong`
    numeric predictors of a quantity, or of its sign, may stand beside the columns.
    """

    n: int
    p: int
    shares: tuple[float, ...]
    task: str = "classification"
    rare: float | None = None
    strong: int = 0


UNEVEN = (0.8, 0.1, 0.1)
ODD = {
    "quantity, 3 % not zero": Odd(200, 200, UNEVEN, "regression", rare=0.03),
    "quantity, 10 % not zero": Odd(200, 200, UNEVEN, "regression", rare=0.1),
    "quantity, 20 % not zero, ten categories": Odd(200, 200, (0.1,) * 10, "regression", rare=0.2),
    "classes, minority 3 %": Odd(1000, 200, UNEVEN, rare=0.03),
    "classes, minority 10 %": Odd(300, 200, UNEVEN, rare=0.1),
    "seven classes": Odd(400, 100, (0.5, 0.2, 0.1, 0.1, 0.05, 0.05)),
    "quantity, ten strong predictors": Odd(178, 60, (0.05,) * 20, "regression", strong=10),
    "classes, ten strong predictors": Odd(250, 60, (0.05,) * 20, strong=10),
}


def make(
    seed: int, n: int, p: int, n_categories: int, effect: float, task: str
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of categories and the target."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_categories, (n, p))
    effects = rng.normal(size=(RELEVANT, n_categories))
    effects = (effects - effects.mean(axis=1, keepdims=True)) / effects.std(axis=1, keepdims=True)
    latent = effect * sum(effects[j][codes[:, j]] for j in range(RELEVANT))
    if task == "regression":
        return codes, latent + rng.normal(size=n)
    return codes, (latent + rng.logistic(size=n) > 0).astype(int)


def odd(name: str, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A table, the irrelevant columns last, and its target."""
    rng, table = np.random.default_rng([seed, *name.encode()]), ODD[name]
    codes = rng.choice(len(table.shares), size=(table.n, table.p), p=table.shares)
    X = pd.DataFrame({f"c{j}": pd.Categorical(column.astype(str)) for j, column in enumerate(codes.T)})
    is_quantity = table.task == "regression"
    if table.strong:
        values = rng.normal(size=(table.n, table.strong))
        y = values.sum(axis=1) + 0.5 * rng.normal(size=table.n)
        strong = pd.DataFrame(values, columns=[f"x{j}" for j in range(table.strong)])
        return pd.concat([strong, X], axis=1), y if is_quantity else (y > 0).astype(int)
    if table.rare:
        rare = rng.random(table.n) < table.rare
        return X, np.where(rare, 3 + rng.normal(size=table.n), 0) if is_quantity else rare.astype(int)
    return X, rng.choice(7, table.n, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05])


def show_false(first_seed: int, tables: int, part: str) -> None:
    """Mean false discovery proportion on odd tables: without relevant columns the share with any."""
    print("| table | rows x columns | false discovery proportion |")
    print("| --- | --- | --- |")
    for name, table in ODD.items():
        if part not in name:
            continue
        found = []
        for seed in range(first_seed, first_seed + tables):
            X, y = odd(name, seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                selector = RelevanceSelector(task=table.task, alpha=ALPHA, random_state=seed).fit(X, y)
            chosen = selector.relevant_
            found.append(chosen[-table.p :].sum() / max(1, chosen.sum()))
        error = np.std(found, ddof=1) / np.sqrt(tables)
        print(f"| {name} | {table.n} x {X.shape[1]} | {np.mean(found):.3f} ({error:.3f}) |", flush=True)


def ours(codes: np.ndarray, y: np.ndarray, task: str, seed: int) -> np.ndarray:
    X = pd.DataFrame({f"c{j}": pd.Categorical(column.astype(str)) for j, column in enumerate(codes.T)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RelevanceSelector(task=task, alpha=ALPHA, random_state=seed).fit(X, y).relevant_


def single(codes: np.ndarray, y: np.ndarray, task: str, seed: int) -> np.ndarray:
    """One classic test per column."""
    if task == "classification":
        pvalues = [chi2_contingency(pd.crosstab(column, y)).pvalue for column in codes.T]
    else:
        pvalues = [kruskal(*(y[column == k] for k in np.unique(column))).pvalue for column in codes.T]
    return false_discovery_control(pvalues) <= ALPHA


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--tables", type=int)
    parser.add_argument("--false", action="store_true", help="tables that make false discoveries likely")
    parser.add_argument("--only", default="", help="with --false: tables whose names have this in them")
    options = parser.parse_args()
    if options.false:
        show_false(options.first_seed, options.tables or 100, options.only)
        return
    options.tables = options.tables or 20
    print("| rows, columns, categories, task | power | FDP | single tests: power | FDP |")
    print("| --- | --- | --- | --- | --- |")
    for n, p, n_categories, effect, task in CELLS:
        found = []
        for seed in range(options.first_seed, options.first_seed + options.tables):
            codes, y = make(seed, n, p, n_categories, effect, task)
            masks = [method(codes, y, task, seed) for method in (ours, single)]
            found.append(
                [x for m in masks for x in (m[:RELEVANT].mean(), m[RELEVANT:].sum() / max(1, m.sum()))]
            )
        means, errors = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(options.tables)
        texts = [f"{mean:.3f} ({error:.3f})" for mean, error in zip(means, errors, strict=True)]
        print(f"| {n} x {p}, {n_categories}, {task} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()
