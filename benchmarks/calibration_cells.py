"""Made tables for the calibration of RelevanceSelector: what every column is, is known.

A table is drawn by the name of its cell and a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_classification

IRRELEVANT, RELEVANT, CORRELATE = 0, 1, 2


@dataclass(frozen=True)
class Cell:
    """What a table is like.

    `rho` correlates blocks of five columns, the first of which may be relevant. `common` is the share of the
    variance of wide tables that one factor of all columns has; without informative columns their classes are
    permuted.
    """

    n: int
    p: int
    informative: int = 0
    maker: str = "logistic"  # or "clusters", "xor", "wide", "madelon", "additive", "groups", "proxies"
    rho: float = 0.0
    minority: float = 0.5
    n_classes: int = 2
    columns: str = "continuous"  # or "nominal", "tied", "heavy", "rare", "gaps", "mixed", "mostly rare"
    effect: float = 0.7
    common: float = 0.0
    seeds: int = 50
    y: str = "classes"  # or a kind of quantity


CELLS: dict[str, Cell] = {
    "null 200x100": Cell(200, 100, seeds=100),
    "null 500x500": Cell(500, 500, seeds=100),
    "null 2000x50": Cell(2000, 50, seeds=100),
    "null nominal 500x50": Cell(500, 50, columns="nominal", seeds=100),
    "null minority 2 % 1000x50": Cell(1000, 50, minority=0.02, seeds=100),
    "null mixed 300x80": Cell(300, 80, columns="mixed", seeds=100),
    "null missing together 300x40": Cell(300, 40, columns="gaps", seeds=100),
    "null rare binary, a few continuous 200x40": Cell(200, 40, columns="mostly rare", seeds=100),
    "clusters 500x200, 10": Cell(500, 200, 10, "clusters"),
    "clusters 500x200, 3": Cell(500, 200, 3, "clusters"),
    "clusters 500x500, 10": Cell(500, 500, 10, "clusters"),
    "clusters 2000x100, 10": Cell(2000, 100, 10, "clusters"),
    "logistic 500x100, 1": Cell(500, 100, 1, effect=0.5),
    "logistic 500x100, 5": Cell(500, 100, 5, effect=0.5),
    "logistic 500x100, 20": Cell(500, 100, 20, effect=0.5),
    "correlation 0.5": Cell(500, 100, 5, rho=0.5, effect=0.5),
    "correlation 0.9": Cell(500, 100, 5, rho=0.9, effect=0.5),
    "minority 10 %": Cell(1000, 100, 5, minority=0.1, effect=0.6),
    "minority 2 %": Cell(2000, 100, 5, minority=0.02, effect=1.0),
    "5 classes": Cell(500, 100, 5, n_classes=5, effect=0.8),
    "nominal": Cell(500, 100, 5, columns="nominal", effect=0.7),
    "tied": Cell(500, 100, 5, columns="tied", effect=0.5),
    "heavy tails": Cell(500, 100, 5, columns="heavy", effect=0.5),
    "mixed": Cell(500, 100, 5, columns="mixed", effect=0.7),
    "xor 1000x52": Cell(1000, 52, 2, "xor", seeds=10),
    "null wide, common 50 %": Cell(60, 2000, 0, "wide", common=0.5, seeds=100),
    "null wide, common 80 %": Cell(60, 2000, 0, "wide", common=0.8, seeds=100),
    "wide, common 50 %": Cell(60, 2000, 2000, "wide", common=0.5),
    "wide, common 80 %": Cell(60, 2000, 2000, "wide", common=0.8),
    "half wide, common 50 %": Cell(60, 2000, 1000, "wide", common=0.5),
    "half wide, common 80 %": Cell(60, 2000, 1000, "wide", common=0.8),
    "Madelon-like": Cell(2600, 500, 20, "madelon", seeds=10),
    "additive 500x500, 15": Cell(500, 500, 15, "additive", effect=0.42),
    "groups 200x100, 10": Cell(200, 100, 10, "groups", effect=0.5),
    "groups 400x200, 40": Cell(400, 200, 40, "groups", effect=0.35),
    "proxies 400x200, 30 + 5": Cell(400, 200, 35, "proxies"),
}
Maker = Callable[[Cell, np.random.Generator], tuple[np.ndarray, np.ndarray]]
SMALL = [name for name, cell in CELLS.items() if cell.n * cell.p <= 50_000]  # where RFECV is run
OF_AUTO = ["null 200x100", "logistic 500x100, 20", "correlation 0.9", "additive 500x500, 15"]  # of `select`


def make(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, list[int], np.ndarray]:
    """X, y, numbers of the nominal columns, and what each column is."""
    cell = CELLS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    if cell.maker in MAKERS:
        return *MAKERS[cell.maker](cell, rng), [], (np.arange(cell.p) < cell.informative).astype(int)
    X = rng.normal(size=(cell.n, cell.p))
    truth = np.zeros(cell.p, dtype=int)
    if cell.rho:
        shared = np.repeat(rng.normal(size=(cell.n, -(-cell.p // 5))), 5, axis=1)[:, : cell.p]
        X = np.sqrt(cell.rho) * shared + np.sqrt(1 - cell.rho) * X
        truth[: 5 * cell.informative] = CORRELATE
    relevant = np.arange(cell.informative) * (5 if cell.rho else 1)
    truth[relevant] = RELEVANT
    y = _classes(cell, X[:, relevant], rng)
    X, nominal = as_columns(cell, X, rng)
    return X, y, nominal, truth


def _classes(cell: Cell, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if cell.maker == "xor":
        return ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    if cell.n_classes > 2:
        effects = rng.normal(size=(X.shape[1], cell.n_classes)) * cell.effect
        return (X @ effects + rng.gumbel(size=(cell.n, cell.n_classes))).argmax(axis=1)
    latent = X @ (cell.effect * rng.choice([-1, 1], size=X.shape[1])) + rng.logistic(size=cell.n)
    return (latent > np.quantile(latent, 1 - cell.minority)).astype(int)


def as_columns(cell: Cell, X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, list[int]]:
    kinds = np.array([cell.columns] * cell.p)
    if cell.columns == "mixed":
        kinds = np.resize(["continuous", "nominal", "tied", "rare", "heavy"], cell.p)
    elif cell.columns == "mostly rare":
        kinds = np.resize(["continuous", *["rare"] * 7], cell.p)
    for j, kind in enumerate(kinds):
        if kind == "nominal":  # quantiles, renamed at random
            n_categories = int(rng.integers(2, 12))
            ranks = X[:, j].argsort().argsort()
            X[:, j] = rng.permutation(n_categories)[ranks * n_categories // cell.n]
        elif kind == "tied":
            X[:, j] = np.round(X[:, j] * rng.choice([0.7, 1.5]))
        elif kind == "rare":
            X[:, j] = X[:, j] > 1.5
        elif kind == "heavy":
            X[:, j] = np.sign(X[:, j]) * np.abs(X[:, j]) ** 5
    if cell.columns == "mixed":
        X[rng.random(X.shape) < 0.05] = np.nan
    elif cell.columns == "gaps":  # all columns in the same rows, as if half of a questionnaire was left blank
        X[rng.random(cell.n) < 0.47] = np.nan
    return X, np.flatnonzero(kinds == "nominal").tolist()


def _clusters(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    seed = int(rng.integers(2**31))
    return make_classification(
        cell.n, cell.p, n_informative=cell.informative, n_redundant=0, shuffle=False, random_state=seed
    )


def _madelon(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Clusters on the corners of a cube of five dimensions, and combinations of these dimensions."""
    return make_classification(
        cell.n,
        cell.p,
        n_informative=5,
        n_redundant=cell.informative - 5,
        n_clusters_per_class=16,
        shuffle=False,
        random_state=int(rng.integers(2**31)),
    )


def _wide(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """All informative columns share factors, the others have factors of their own."""
    n_sharing = cell.informative or cell.p
    factors = rng.normal(size=(cell.n, 6))
    X = of_factors(factors, n_sharing, cell.common, rng)
    if n_sharing < cell.p:
        own = of_factors(rng.normal(size=(cell.n, 6)), cell.p - n_sharing, cell.common, rng)
        X = np.hstack([X, own])
    y = (factors @ [1, 0.5, 0, 0, 0, 0] + 0.6 * rng.normal(size=cell.n) > 0).astype(int)
    return X, y if cell.informative else rng.permutation(y)


def of_factors(factors: np.ndarray, p: int, common: float, rng: np.random.Generator) -> np.ndarray:
    n, n_factors = factors.shape
    X = 0.5 * factors @ rng.normal(size=(n_factors, p)) + 0.8 * rng.normal(size=(n, p))
    others = 0.5**2 * n_factors + 0.8**2  # variance
    loadings = rng.uniform(0.5, 1.5, size=p)  # their mean square is 13 / 12
    scale = np.sqrt(common / (1 - common) * others * 12 / 13)
    return X + scale * np.outer(rng.normal(size=n), loadings)


def _groups(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two groups that differ in the means of the relevant columns: the classes cause the columns."""
    y = rng.integers(0, 2, cell.n)
    X = rng.normal(size=(cell.n, cell.p))
    X[:, : cell.informative] += cell.effect * y[:, np.newaxis]
    return X, y


def curved(X: np.ndarray) -> np.ndarray:
    """Functions of the columns, five in turn, with a standard deviation of 1."""
    curves = (
        np.sin,
        np.tanh,
        lambda x: np.maximum(x, 0),
        lambda x: np.exp(x / 2),
        lambda x: np.sign(x) * np.sqrt(np.abs(x)),
    )
    terms = np.column_stack([curves[k % len(curves)](x) for k, x in enumerate(X.T)])
    return terms / terms.std(axis=0)


def _additive(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A sum of curved functions; a t-test has a power of about 0.4."""
    X = rng.normal(size=(cell.n, cell.p))
    latent = cell.effect * curved(X[:, : cell.informative]).sum(axis=1)
    return X, (latent - np.median(latent) + rng.logistic(size=cell.n) > 0).astype(int)


def _proxies(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """All informative columns but five measure one factor."""
    X, factor = rng.normal(size=(cell.n, cell.p)), rng.normal(size=cell.n)
    n_proxies = cell.informative - 5
    X[:, :n_proxies] = factor[:, np.newaxis] + 0.5 * X[:, :n_proxies]
    latent = 0.8 * factor + 0.5 * X[:, n_proxies : cell.informative].sum(axis=1)
    return X, (latent + rng.logistic(size=cell.n) > 0).astype(int)


MAKERS: dict[str, Maker] = {
    "clusters": _clusters,
    "madelon": _madelon,
    "wide": _wide,
    "additive": _additive,
    "groups": _groups,
    "proxies": _proxies,
}
