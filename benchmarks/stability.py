"""How stable selections from gene expressions are: the same columns in 20 independent samples of 100 rows.

    python benchmarks/stability.py [--first-seed 100] [--samples 20]

2,000 columns in blocks of 20 with a correlation of 0.5, as genes of one pathway; all genes of five blocks
have other means in one of two groups of rows. Prints the stability of Nogueira et al. (2018) with its
standard error, of columns and of blocks, the mean number of columns, and the share of false ones.
mrmr-selection is optional. docs/headtohead.md shows the results.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from sklearn.feature_selection import SelectFdr, SelectKBest, f_classif

from foresift import MutualInfoSelector, RelevanceSelector, select
from foresift.stats import selection_stability

N_ROWS, N_COLUMNS, BLOCK, N_RELEVANT, EFFECT, K = 100, 2000, 20, 5, 0.6, 20


def make(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """X and y; the first blocks are relevant."""
    rng = np.random.default_rng([seed, N_COLUMNS])
    y = rng.integers(0, 2, N_ROWS)
    shared = np.repeat(rng.normal(size=(N_ROWS, N_COLUMNS // BLOCK)), BLOCK, axis=1)
    X = np.sqrt(0.5) * (shared + rng.normal(size=(N_ROWS, N_COLUMNS)))
    X[:, : BLOCK * N_RELEVANT] += EFFECT * y[:, np.newaxis]
    return X, y


def by_select(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    return np.isin([f"x{j}" for j in range(X.shape[1])], select(X, y, random_state=seed).features)


def by_mrmr_selection(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    import pandas as pd
    from mrmr import mrmr_classif

    chosen = mrmr_classif(pd.DataFrame(X), pd.Series(y), K=K, n_jobs=1, show_progress=False)
    return np.isin(np.arange(X.shape[1]), chosen)


METHODS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "relevance, FDR 0.1": lambda X, y, seed: RelevanceSelector(random_state=seed).fit(X, y).relevant_,
    "F test, FDR 0.1": lambda X, y, seed: SelectFdr(f_classif, alpha=0.1).fit(X, y).get_support(),
    "relevance, 20": lambda X, y, seed: RelevanceSelector(K, random_state=seed).fit(X, y).support_,
    "F test, 20": lambda X, y, seed: SelectKBest(f_classif, k=K).fit(X, y).get_support(),
    "mrmr, 20": lambda X, y, seed: MutualInfoSelector(K, scheme="mrmr").fit(X, y).support_,
    "mrmr-selection, 20": by_mrmr_selection,
    "relevance, minimal": lambda X, y, seed: (
        RelevanceSelector(minimal=True, random_state=seed).fit(X, y).support_
    ),
    "select": by_select,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--samples", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| method | stability of columns | of blocks | columns | false |")
    print("| --- | --- | --- | --- | --- |")
    tables = [(seed, *make(seed)) for seed in range(options.first_seed, options.first_seed + options.samples)]
    for name, method in METHODS.items():
        if name.startswith("mrmr-selection") and find_spec("mrmr") is None:
            continue
        masks = np.array([method(X, y, seed) for seed, X, y in tables])
        blocks = masks.reshape(len(masks), -1, BLOCK).any(axis=2)
        stable = [selection_stability(of) for of in (masks, blocks)]
        texts = [f"{s.value:.2f} ({(s.upper - s.lower) / 3.92:.2f})" for s in stable]
        false = np.mean(masks[:, BLOCK * N_RELEVANT :].sum(axis=1) / np.maximum(masks.sum(axis=1), 1))
        print(f"| {name} | {' | '.join(texts)} | {masks.sum(axis=1).mean():.1f} | {false:.2f} |", flush=True)


if __name__ == "__main__":
    main()
