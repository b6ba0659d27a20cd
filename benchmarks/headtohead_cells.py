"""Made tables of the comparison with other packages: what every column is, is known.

A table is drawn by the name of its cell and a seed. Columns are Gaussian and correlated in blocks. The first
column of a block may be relevant; the others of its block are its proxies. The order of the columns is
random.

A *false discovery* is a selected column that is independent of everything relevant: of the target, and of all
columns that the target depends on. Proxies count neither as false nor as found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

IRRELEVANT, RELEVANT, PROXY = 0, 1, 2
FIRST_SEED = (
    900_000  # nothing was tuned on seeds from here on; docs/headtohead.md says when they were looked at
)


@dataclass(frozen=True)
class Cell:
    """What a table is like.

    `block` columns at a time have a correlation of `rho`. `noise` is that of a quantity. Of a table without
    relevant columns the target is drawn on its own.
    """

    n: int
    p: int
    relevant: int = 0
    signal: str = "linear"  # or a key of SIGNALS, "groups" or "factor"
    target: str = "classes"  # or "quantity"
    effect: float = 0.5
    block: int = 5
    rho: float = 0.5
    minority: float = 0.5
    noise: str = "normal"  # or "t(2)"
    seeds: int = 50

    @property
    def task(self) -> str:
        """As scikit-learn calls it."""
        return "classification" if self.target == "classes" else "regression"


CELLS: dict[str, Cell] = {
    "null classes 200x100": Cell(200, 100, seeds=300),
    "null classes 100x1000": Cell(100, 1000, seeds=300),
    "null minority 3 % 1000x100": Cell(1000, 100, minority=0.03, seeds=300),
    "null quantity t(2) 300x200": Cell(300, 200, target="quantity", noise="t(2)", seeds=300),
    "linear classes 100x100, 5": Cell(100, 100, 5, effect=1.0),
    "linear classes 500x500, 20": Cell(500, 500, 20, effect=0.5),
    "linear classes 2000x200, 20": Cell(2000, 200, 20, effect=0.12),
    "linear classes 300x5000, 10": Cell(300, 5000, 10, effect=0.8),
    "linear quantity 500x200, 20": Cell(500, 200, 20, target="quantity", effect=0.15),
    "linear quantity 200x1000, 15": Cell(200, 1000, 15, target="quantity", effect=0.4),
    "linear quantity t(2) 300x200, 10": Cell(300, 200, 10, target="quantity", effect=0.4, noise="t(2)"),
    "additive classes 500x200, 10": Cell(500, 200, 10, "additive", effect=0.8),
    "additive classes 2000x500, 10": Cell(2000, 500, 10, "additive", effect=0.4),
    "additive quantity 500x200, 15": Cell(500, 200, 15, "additive", "quantity", effect=0.35),
    "additive quantity 300x1000, 5": Cell(300, 1000, 5, "additive", "quantity", effect=0.5),
    "xor classes 500x100, 2": Cell(500, 100, 2, "xor", effect=2.0),
    "xor classes 1000x300, 4": Cell(1000, 300, 4, "xor", effect=2.0),
    "product quantity 500x100, 2": Cell(500, 100, 2, "product", "quantity", effect=0.7),
    "product classes 1000x100, 4": Cell(1000, 100, 4, "product", effect=1.0),
    "linear and product quantity 500x200, 8": Cell(500, 200, 8, "mixed", "quantity", effect=0.4),
    "proxies classes 400x200, 5": Cell(400, 200, 5, effect=0.4, block=8, rho=0.9),
    "proxies quantity 300x500, 5": Cell(300, 500, 5, target="quantity", effect=0.2, block=10, rho=0.9),
    "factor classes 400x200, 35": Cell(400, 200, 35, "factor", effect=0.3),
    "minority 3 % linear 2000x100, 5": Cell(2000, 100, 5, effect=0.5, minority=0.03),
    "minority 3 % additive 1000x500, 5": Cell(1000, 500, 5, "additive", effect=1.5, minority=0.03),
    "groups 100x5000, 20": Cell(100, 5000, 20, "groups", effect=0.8, rho=0.3),
    "uncorrelated linear classes 200x200, 10": Cell(200, 200, 10, effect=0.8, rho=0.0),
}


def make(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y, and what each column is."""
    cell = CELLS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    X, truth = _columns(cell, rng)
    relevant = np.flatnonzero(truth == RELEVANT)
    if cell.signal == "groups":
        y = rng.integers(0, 2, cell.n)
        X[:, relevant] += cell.effect * y[:, np.newaxis]
    else:
        y = _target(cell, _latent(cell, X[:, relevant], rng), rng)
    order = rng.permutation(cell.p)
    return X[:, order], y, truth[order]


def _columns(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(cell.n, cell.p))
    n_blocks = -(-cell.p // cell.block)
    shared = np.repeat(rng.normal(size=(cell.n, n_blocks)), cell.block, axis=1)[:, : cell.p]
    X = np.sqrt(cell.rho) * shared + np.sqrt(1 - cell.rho) * X
    truth = np.zeros(cell.p, dtype=int)
    if cell.signal == "factor":  # all relevant columns but five measure one factor; no proxies
        truth[: cell.relevant] = RELEVANT
        X[:, : cell.relevant] = rng.normal(size=(cell.n, cell.relevant))
        X[:, 5 : cell.relevant] += 2 * rng.normal(size=(cell.n, 1))
        return X, truth
    if cell.rho:
        truth[: cell.block * cell.relevant] = PROXY
    truth[cell.block * np.arange(cell.relevant)] = RELEVANT
    return X, truth


def _latent(cell: Cell, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What the relevant columns say about the target."""
    if not cell.relevant:
        return np.zeros(cell.n)
    if cell.signal == "factor":
        measured = X[:, 5:].mean(axis=1)
        return cell.effect * (X[:, :5].sum(axis=1) + measured / measured.std())
    return cell.effect * SIGNALS[cell.signal](X, rng)


def _linear(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X @ rng.choice([-1.0, 1.0], size=X.shape[1])


def _additive(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Curves in turn, each with a variance of 1 in the table: three are monotone, two are not."""
    curves: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
        lambda x: np.tanh(2 * x),
        lambda x: x**2,
        lambda x: (x > 0.5).astype(float),
        lambda x: np.cos(2 * x),
        lambda x: np.maximum(x, 0),
    )
    terms = np.column_stack([curves[k % len(curves)](x) for k, x in enumerate(X.T)])
    return ((terms - terms.mean(axis=0)) / terms.std(axis=0)).sum(axis=1)


def _xor(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.sign(X[:, ::2] * X[:, 1::2]).sum(axis=1)


def _product(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (X[:, ::2] * X[:, 1::2]).sum(axis=1)


def _mixed(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Half of the columns add up, the other half matter in pairs."""
    half = X.shape[1] // 2
    return _linear(X[:, :half], rng) + _product(X[:, half:], rng)


SIGNALS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "linear": _linear,
    "additive": _additive,
    "xor": _xor,
    "product": _product,
    "mixed": _mixed,
}


def _target(cell: Cell, latent: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if cell.target == "quantity":
        return latent + (rng.standard_t(2, cell.n) if cell.noise == "t(2)" else rng.normal(size=cell.n))
    latent = latent + rng.logistic(size=cell.n)
    return (latent > np.quantile(latent, 1 - cell.minority)).astype(int)
