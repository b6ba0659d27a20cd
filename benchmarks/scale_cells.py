"""Made tables of many rows, to compare histograms with exact cuts: what every column is, is known.

A table is drawn by the name of its cell and a seed. Effects are divided by the root of the number of rows,
so that more rows find no more of the relevant columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from calibration_cells import CORRELATE, RELEVANT

from foresift.data.row_source import BATCH_ROWS, Batch, RowSource

KINDS = ("continuous", "few-valued", "binary", "3 categories", "40 categories", "10 % missing", "heavy tails")


@dataclass(frozen=True)
class Cell:
    """What a table is like.

    `informative` columns come first; with `rho` they are the first ones of correlated blocks of five.
    `effect` / sqrt(n) is the standard deviation of what a column (or a pair) adds to the latent variable.
    With `parts`, histograms are made of so many files, one after the other.
    """

    n: int = 20_000
    p: int = 30
    informative: int = 0
    shape: str = "linear"  # or "curves", "products"
    effect: float = 0.0
    y: str = "classes"  # or "normal", "t(2)", "zero-inflated"
    n_classes: int = 2
    minority: float = 0.5
    rho: float = 0.0
    mixed: bool = False
    sorted_by: str = ""  # or "target", "column"
    parts: int = 1


MIXED = Cell(p=35, mixed=True)
LINEAR = Cell(informative=10, effect=5.0)
CURVES = Cell(informative=10, shape="curves", effect=12.0)
SMALL: dict[str, Cell] = {
    "null": Cell(p=50),
    "null mixed": MIXED,
    "null minority 2 %": Cell(minority=0.02),
    "null 7 classes": Cell(n_classes=7),
    "null normal y": Cell(y="normal"),
    "null t(2) y": Cell(y="t(2)"),
    "null zero-inflated y": Cell(y="zero-inflated"),
    "null sorted by target, 4 files": Cell(sorted_by="target", parts=4),
    "logistic": LINEAR,
    "curves": CURVES,
    "products": Cell(informative=6, shape="products", effect=40.0),
    "correlation 0.5": replace(LINEAR, p=50, informative=5, rho=0.5),
    "mixed": replace(MIXED, informative=14, effect=8.0),
    "7 classes": Cell(informative=10, n_classes=7, effect=4.6),
    "normal y": replace(LINEAR, y="normal", effect=2.5),
    "curves, t(2) y": replace(CURVES, y="t(2)", effect=7.0),
    "curves, zero-inflated y": replace(CURVES, y="zero-inflated", effect=10.0),
    "curves, sorted by target": replace(CURVES, sorted_by="target"),
    "curves, sorted by a relevant column": replace(CURVES, sorted_by="column"),
    "curves, sorted by target, 4 files": replace(CURVES, sorted_by="target", parts=4),
    "curves, sorted by a relevant column, 4 files": replace(CURVES, sorted_by="column", parts=4),
}
IN_BLOCKS = ("null", "null mixed", "logistic", "curves", "normal y", "curves, sorted by target")
CELLS = SMALL | {f"{name}, 200,000 rows": replace(SMALL[name], n=200_000, p=35) for name in IN_BLOCKS}


class Made(NamedTuple):
    """A table: its columns, y, numbers of the nominal columns, and what each column is."""

    X: np.ndarray
    y: np.ndarray
    nominal: list[int]
    truth: np.ndarray


class Parts(RowSource):
    """Rows of a table in memory as if they came from several files."""

    def __init__(self, X: np.ndarray, y: np.ndarray, n_parts: int) -> None:
        self._rows = list(zip(np.array_split(X, n_parts), np.array_split(y, n_parts), strict=True))

    @property
    def n_parts(self) -> int:
        """Number of files."""
        return len(self._rows)

    def n_rows_of(self, part: int) -> int:
        """Rows of a file."""
        return len(self._rows[part][0])

    def batches(self, part: int = 0) -> Iterator[Batch]:
        """Rows of a file."""
        X, y = self._rows[part]
        for first in range(0, len(X), BATCH_ROWS):
            yield Batch(X[first : first + BATCH_ROWS], y[first : first + BATCH_ROWS])


def make(name: str, seed: int) -> Made:
    """Draw a table."""
    cell = CELLS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    X = rng.normal(size=(cell.n, cell.p))
    truth = np.zeros(cell.p, dtype=int)
    relevant = np.arange(cell.informative)
    if cell.rho:
        shared = np.repeat(rng.normal(size=(cell.n, -(-cell.p // 5))), 5, axis=1)[:, : cell.p]
        X = np.sqrt(cell.rho) * shared + np.sqrt(1 - cell.rho) * X
        relevant *= 5
        truth[: 5 * cell.informative] = CORRELATE
    truth[relevant] = RELEVANT
    terms = _terms(cell.shape, X[:, relevant]) * (cell.effect / np.sqrt(cell.n))
    y = _classes(cell, terms, rng) if cell.y == "classes" else _quantity(cell.y, terms, rng)
    if cell.sorted_by:
        order = np.argsort(y if cell.sorted_by == "target" else X[:, 0], kind="stable")
        X, y = X[order], y[order]
    return Made(X, y, _as_kinds(X, rng) if cell.mixed else [], truth)


def _terms(shape: str, X: np.ndarray) -> np.ndarray:
    """What the relevant columns, or pairs of them, add up to; each term has a standard deviation of 1."""
    if shape == "products":
        return X[:, ::2] * X[:, 1::2]
    if shape == "linear":
        return X
    curves = (np.square, np.abs, lambda x: (x > 1).astype(float), lambda x: (np.abs(x) < 0.5).astype(float))
    terms = np.column_stack([curves[k % len(curves)](x) for k, x in enumerate(X.T)])
    return (terms - terms.mean(axis=0)) / terms.std(axis=0)


def _classes(cell: Cell, terms: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n, k = terms.shape
    if cell.n_classes > 2:
        latent = terms @ rng.normal(size=(k, cell.n_classes))
        return (latent + rng.gumbel(size=(n, cell.n_classes))).argmax(axis=1)
    latent = terms @ rng.choice([-1.0, 1.0], size=k) + rng.logistic(size=n)
    return (latent > np.quantile(latent, 1 - cell.minority)).astype(int)


def _quantity(kind: str, terms: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n, k = terms.shape
    latent = terms @ rng.choice([-1.0, 1.0], size=k)
    if kind == "t(2)":
        return latent + rng.standard_t(2, n)
    if kind == "zero-inflated":
        return np.where(rng.random(n) < 0.5, 0, np.exp(1.5 * latent + rng.normal(size=n)))
    return latent + rng.normal(size=n)


def _as_kinds(X: np.ndarray, rng: np.random.Generator) -> list[int]:
    """Turn normal columns into all kinds, in turn; return the nominal ones."""
    n, p = X.shape
    nominal = []
    for j in range(p):
        kind = KINDS[j % len(KINDS)]
        if kind == "few-valued":
            X[:, j] = np.round(X[:, j] * rng.choice([0.7, 1.5]))
        elif kind == "binary":
            X[:, j] = X[:, j] > rng.choice([0.0, 1.5])
        elif kind.endswith("categories"):  # quantiles, renamed at random
            n_categories = int(kind.split()[0])
            ranks = X[:, j].argsort().argsort()
            X[:, j] = rng.permutation(n_categories)[ranks * n_categories // n]
            nominal.append(j)
        elif kind == "10 % missing":
            X[rng.random(n) < 0.1, j] = np.nan
        elif kind == "heavy tails":
            X[:, j] = np.sign(X[:, j]) * np.abs(X[:, j]) ** 5
    return nominal
