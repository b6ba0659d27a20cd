"""P-values of rare 0/1 columns beside a target with a season: error rates, and power for one with an effect.

    python benchmarks/rare_columns.py [--first-seed 1001] [--tables 20]

Daily rows with a weekly pattern in the target, autocorrelated noise and three real predictors. The rare
columns are independent of the target: single days, runs of about five days, or mostly weekends. Seeds below
1000 are those on which the least number of rows was tuned. docs/dependence.md shows the results.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from foresift import RelevanceSelector

N_ROWS, N_EACH, LEVELS = 400, 20, (0.05, 0.01, 0.001)
KINDS, RATES = ("single days", "runs", "weekends"), (0.01, 0.03, 0.05, 0.1)
CELLS = (  # autocorrelation and distribution of the noise, what is predicted
    (0.5, "normal", "quantity"),
    (0.9, "normal", "quantity"),
    (0.5, "t(3)", "quantity"),
    (0.5, "normal", "halves"),
    (0.5, "normal", "upper tenth"),
)
EFFECT = 2.0  # standard deviations of the noise, of a column with an effect


def autocorrelated(rng: np.random.Generator, memory: float, noise: str) -> np.ndarray:
    values = rng.standard_t(3, N_ROWS) / np.sqrt(3) if noise == "t(3)" else rng.normal(size=N_ROWS)
    for i in range(1, N_ROWS):
        values[i] += memory * values[i - 1]
    return values


def rare(rng: np.random.Generator, kind: str, rate: float) -> np.ndarray:
    """Columns of which about this share of the rows is 1."""
    if kind == "single days":
        return rng.random((N_ROWS, N_EACH)) < rate
    if kind == "weekends":
        weekend = np.arange(N_ROWS) % 7 >= 5
        return rng.random((N_ROWS, N_EACH)) < np.where(weekend, 3 * rate, rate / 5)[:, np.newaxis]
    stay, columns = 0.8, np.zeros((N_ROWS, N_EACH), dtype=bool)
    columns[0] = rng.random(N_EACH) < rate
    for i in range(1, N_ROWS):
        likely = np.where(columns[i - 1], stay, rate * (1 - stay) / (1 - rate))
        columns[i] = rng.random(N_EACH) < likely
    return columns


def table(seed: int, memory: float, noise: str, target: str) -> tuple[np.ndarray, np.ndarray]:
    """Three predictors, a rare column with an effect, and the rare ones without, by kind and rate."""
    rng = np.random.default_rng(seed)
    predictors, event = rng.normal(size=(N_ROWS, 3)), rng.random(N_ROWS) < 0.05
    y = 0.5 * predictors.sum(axis=1) + 4 * (np.arange(N_ROWS) % 7 >= 5) + EFFECT * event
    y += autocorrelated(rng, memory, noise)
    if target != "quantity":
        y = (y > np.quantile(y, 0.5 if target == "halves" else 0.9)).astype(int)
    columns = [rare(rng, kind, rate) for kind in KINDS for rate in RATES]
    return np.column_stack([predictors, event, *columns]).astype(float), y


def pvalues(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of all columns; NaN for those that are not tested."""
    selector = RelevanceSelector(redundancy=None, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, y, time=np.arange(N_ROWS))
    found = selector.pvalues_.copy()
    found[list(selector.untested_)] = np.nan
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first-seed", type=int, default=1001)
    parser.add_argument("--tables", type=int, default=20)
    options = parser.parse_args()
    found = np.array(
        [
            [
                pvalues(*table(seed, *cell))
                for seed in range(options.first_seed, options.first_seed + options.tables)
            ]
            for cell in CELLS
        ]
    )
    irrelevant = found[:, :, 4:].reshape(*found.shape[:2], len(KINDS), len(RATES), N_EACH)
    print(f"| columns | tested | {' | '.join(f'p <= {level:g}' for level in LEVELS)} |")
    print(f"| --- | --- |{' --- |' * len(LEVELS)}")
    rows = {"all": irrelevant}
    rows |= {kind: irrelevant[:, :, [k]] for k, kind in enumerate(KINDS)}
    rows |= {f"{100 * rate:g} % of the rows": irrelevant[:, :, :, [k]] for k, rate in enumerate(RATES)}
    rows |= {", ".join(map(str, cell)): irrelevant[[k]] for k, cell in enumerate(CELLS)}
    for name, part in rows.items():
        by_table = part.reshape(part.shape[0] * part.shape[1], -1)
        by_table = by_table[~np.isnan(by_table).all(axis=1)]
        texts = []
        for level in LEVELS:
            shares = np.nanmean(np.where(np.isnan(by_table), np.nan, by_table <= level), axis=1)
            texts.append(f"{np.nanmean(shares):.4f} ({np.nanstd(shares, ddof=1) / np.sqrt(len(shares)):.4f})")
        print(f"| {name} | {np.mean(~np.isnan(part)):.2f} | {' | '.join(texts)} |", flush=True)
    for cell, of in zip(CELLS, found[:, :, 3], strict=True):
        print(f"power at 0.01, {cell}: {np.mean(of <= 0.01):.2f}, tested in {np.mean(~np.isnan(of)):.2f}")


if __name__ == "__main__":
    main()
