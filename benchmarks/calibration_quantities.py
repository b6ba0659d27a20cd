"""Made tables with a quantity as target, for the calibration of RelevanceSelector, and both kinds in one."""

from __future__ import annotations

from dataclasses import replace

import calibration_cells
import numpy as np
from calibration_cells import CORRELATE, RELEVANT, Cell, as_columns, curved, of_factors

Y_KINDS = ("normal", "t(2)", "log-normal", "count", "zero-inflated", "ordinal")
NULL, SIGNAL = Cell(200, 50, seeds=100), Cell(400, 100, 5, effect=0.22)


def _of(cell: Cell, y: str = "normal", **other: object) -> Cell:
    return replace(cell, y=y, **other)


QUANTITIES: dict[str, Cell] = {
    **{f"null {y} y": _of(NULL, y) for y in Y_KINDS},
    "null 100x300": _of(NULL, n=100, p=300),
    "null 1000x20": _of(NULL, n=1000, p=20),
    "null correlation 0.9": _of(NULL, rho=0.9),
    "null nominal": _of(NULL, "t(2)", columns="nominal"),
    "null tied": _of(NULL, "count", columns="tied"),
    "null mixed": _of(NULL, "log-normal", columns="mixed"),
    "null missing together": _of(NULL, columns="gaps"),
    "null wide, half in common": _of(NULL, n=60, p=500, maker="wide", common=0.5),
    **{f"{y} y": _of(SIGNAL, y, effect=0.5 if y == "zero-inflated" else 0.22) for y in Y_KINDS},
    "heteroscedastic y": _of(SIGNAL, "heteroscedastic"),
    "1 relevant": _of(SIGNAL, informative=1),
    "20 relevant": _of(SIGNAL, informative=20),
    "150x300, 5 relevant": _of(SIGNAL, n=150, p=300, effect=0.4),
    "2000x50, 5 relevant": _of(SIGNAL, n=2000, p=50, effect=0.1),
    "correlation 0.5 of columns": _of(SIGNAL, rho=0.5),
    "correlation 0.9 of columns": _of(SIGNAL, rho=0.9),
    "nominal columns": _of(SIGNAL, columns="nominal", effect=0.35),
    "tied columns": _of(SIGNAL, columns="tied"),
    "mixed columns, t(2) y": _of(SIGNAL, "t(2)", columns="mixed", effect=0.6),
    "missing together, 5 relevant": _of(SIGNAL, columns="gaps", effect=0.35),
    "product x1 * x2": _of(SIGNAL, p=50, informative=2, maker="product", effect=0.4),
    "product x1 * x2, t(2) y": _of(SIGNAL, "t(2)", p=50, informative=2, maker="product", effect=0.5),
    "Friedman": _of(SIGNAL, p=50, maker="friedman"),
    "curves, 15 relevant": _of(SIGNAL, informative=15, maker="curves", effect=0.22),
    "y causes 10": _of(SIGNAL, n=200, informative=10, maker="effects", effect=0.25),
    "proxies, 20 + 5": _of(SIGNAL, n=300, informative=25, maker="proxies", effect=0.3),
    "half wide, half in common": _of(SIGNAL, n=60, p=500, informative=250, maker="wide", common=0.5),
}
CELLS = calibration_cells.CELLS | QUANTITIES


def make(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, list[int], np.ndarray]:
    """X, y, numbers of the nominal columns, and what each column is."""
    if name not in QUANTITIES:
        return calibration_cells.make(name, seed)
    cell = QUANTITIES[name]
    rng = np.random.default_rng([seed, *name.encode()])
    truth = (np.arange(cell.p) < cell.informative).astype(int)
    if cell.maker == "effects":  # y causes the columns
        y, X = rng.normal(size=cell.n), rng.normal(size=(cell.n, cell.p))
        X[:, : cell.informative] += cell.effect * y[:, np.newaxis]
        return X, y, [], truth
    if cell.maker == "wide":
        X, latent = _wide(cell, rng)
        return X, latent, [], truth
    X = rng.normal(size=(cell.n, cell.p))
    relevant = np.arange(cell.informative)
    if cell.rho:
        shared = np.repeat(rng.normal(size=(cell.n, -(-cell.p // 5))), 5, axis=1)[:, : cell.p]
        X = np.sqrt(cell.rho) * shared + np.sqrt(1 - cell.rho) * X
        relevant *= 5
        truth = np.where(np.arange(cell.p) < 5 * cell.informative, CORRELATE, 0)
        truth[relevant] = RELEVANT
    if cell.maker == "proxies":  # of one factor, all but five
        factor = rng.normal(size=cell.n)
        X[:, : cell.informative - 5] = factor[:, np.newaxis] + 0.5 * X[:, : cell.informative - 5]
        latent = 0.5 * factor + cell.effect * X[:, cell.informative - 5 : cell.informative].sum(axis=1)
    else:
        latent = _latent(cell, X[:, relevant], rng)
    y = _quantity(cell.y, latent, X[:, 0], rng)
    X, nominal = as_columns(cell, X, rng)
    return X, y, nominal, truth


def _latent(cell: Cell, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What the relevant columns say about y."""
    if cell.maker == "product":
        return cell.effect * X[:, 0] * X[:, 1]
    if cell.maker == "friedman":
        u = np.argsort(np.argsort(X, axis=0), axis=0) / len(X)
        parts = (10 * np.sin(np.pi * u[:, 0] * u[:, 1]), 20 * (u[:, 2] - 0.5) ** 2, 10 * u[:, 3], 5 * u[:, 4])
        return sum(parts) / 3
    if cell.maker == "curves":
        return cell.effect * curved(X).sum(axis=1)
    return X @ (cell.effect * rng.choice([-1, 1], size=X.shape[1]))


def _quantity(kind: str, latent: np.ndarray, first: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    noise, n = rng.normal(size=len(latent)), len(latent)
    if kind == "t(2)":
        return latent + rng.standard_t(2, n)
    if kind == "log-normal":
        return np.exp(1.5 * (latent + noise))
    if kind == "count":
        return rng.poisson(np.exp(latent)).astype(float)
    if kind == "zero-inflated":
        return np.where(rng.random(n) < 0.5, 0, np.exp(1.5 * latent + noise))
    if kind == "ordinal":
        return np.digitize(latent + noise, [-1, 0, 1]).astype(float)
    if kind == "heteroscedastic":  # by a relevant column
        return latent + noise * np.exp(0.7 * first)
    return latent + noise


def _wide(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """All informative columns share factors, the others have factors of their own."""
    factors, own = rng.normal(size=(2, cell.n, 6))
    n_sharing = cell.informative
    X = [
        of_factors(factors, n_sharing, cell.common, rng),
        of_factors(own, cell.p - n_sharing, cell.common, rng),
    ]
    return np.hstack(X), factors @ [1, 0.5, 0, 0, 0, 0] + 0.6 * rng.normal(size=cell.n)
