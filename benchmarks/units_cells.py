"""Made tables with columns that must stay, or that belong together. Which of the others matter is known.

    X, y, kept, nominal, members, relevant = CELLS["quantity, linear"].make(seed=1000, signal=False)

A table with kept columns has 30 others. Half of them share with y what the kept columns say, and nothing
else: beside these they are irrelevant. A table with groups has one or three of them, and nine single columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

N_ROWS = 300
P, N_SHARING = 30, 15  # columns that are not kept, and those that share something with the kept ones
OWN = (0, 20, 21)  # of these, with signal: the first shares something with the kept ones
N_KEPT_CATEGORIES = 6
PRODUCT = "product of two"
N_INDICATORS, N_SINGLE = 30, 9
N_DEVICES, N_SENSORS, CORRELATION = 3, 8, 0.8
OF_KEPT, OF_OWN, OF_CATEGORIES, OF_SENSOR = 1.5, 0.4, 0.7, 0.25  # effects, where the noise has 1


class Table(NamedTuple):
    """A made table; `members` and `relevant` have an item for every column or group that is not kept."""

    X: np.ndarray
    y: np.ndarray
    kept: list[int]
    nominal: list[int]
    members: list[list[int]]
    relevant: np.ndarray


@dataclass(frozen=True)
class Cell:
    """What a table is like; classes are whether the quantity that `draw` makes is above its median."""

    name: str
    y: str  # or "classes"
    draw: Callable[[np.random.Generator, bool], Table]
    grouped: bool = False
    hard: bool = False  # reported apart

    @property
    def task(self) -> str:
        """What RelevanceSelector calls it."""
        return "regression" if self.y == "quantity" else "classification"

    def make(self, seed: int, signal: bool) -> Table:
        """Draw a table; with `signal` three columns, or the first group, are relevant."""
        table = self.draw(np.random.default_rng([seed, int(signal), *self.name.encode()]), signal)
        if self.y == "quantity":
            return table
        return table._replace(y=(table.y > np.median(table.y)).astype(int))


Kept = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]  # kept columns, and what they say


def _beside(draw_kept: Kept, nominal: bool = False) -> Callable[[np.random.Generator, bool], Table]:
    def draw(rng: np.random.Generator, signal: bool) -> Table:
        kept, said = draw_kept(rng)
        X = rng.normal(size=(N_ROWS, P))
        y = OF_KEPT * said + rng.normal(size=N_ROWS)
        if signal:
            y += OF_OWN * X[:, OWN].sum(axis=1)
        X[:, :N_SHARING] += 0.7 * said[:, np.newaxis]
        places = list(range(P, P + kept.shape[1]))
        relevant = np.isin(np.arange(P), OWN) & signal
        return Table(
            np.hstack([X, kept]), y, places, places * nominal, [[column] for column in range(P)], relevant
        )

    return draw


def _one(link: Callable[[np.ndarray], np.ndarray]) -> Kept:
    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        z = rng.normal(size=(N_ROWS, 1))
        return z, link(z[:, 0])

    return draw


def _product(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    z = rng.normal(size=(N_ROWS, 2))
    return z, z[:, 0] * z[:, 1]


def _categories(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    category = rng.integers(N_KEPT_CATEGORIES, size=N_ROWS)
    return category[:, np.newaxis].astype(float), rng.normal(size=N_KEPT_CATEGORIES)[category]


def _indicators(rng: np.random.Generator, signal: bool) -> Table:
    category = rng.integers(N_INDICATORS, size=N_ROWS)
    y = rng.normal(size=N_ROWS)
    if signal:
        y += OF_CATEGORIES * rng.normal(size=N_INDICATORS)[category]
    return _grouped([np.eye(N_INDICATORS)[category]], y, signal, rng)


def _sensors(rng: np.random.Generator, signal: bool) -> Table:
    devices = []
    for _ in range(N_DEVICES):
        common, own = rng.normal(size=(N_ROWS, 1)), rng.normal(size=(N_ROWS, N_SENSORS))
        devices.append(np.sqrt(CORRELATION) * common + np.sqrt(1 - CORRELATION) * own)
    y = rng.normal(size=N_ROWS)
    if signal:
        y += OF_SENSOR * devices[0][:, 0]
    return _grouped(devices, y, signal, rng)


def _grouped(groups: list[np.ndarray], y: np.ndarray, signal: bool, rng: np.random.Generator) -> Table:
    """Add single columns of noise."""
    X = np.hstack([*groups, rng.normal(size=(N_ROWS, N_SINGLE))])
    sizes = [group.shape[1] for group in groups] + [1] * N_SINGLE
    members = [part.tolist() for part in np.split(np.arange(X.shape[1]), np.cumsum(sizes)[:-1])]
    return Table(X, y, [], [], members, (np.arange(len(sizes)) == 0) & signal)


def _cells() -> list[Cell]:
    cells = []
    for y in ("quantity", "classes"):
        cells += [
            Cell(f"{y}, linear", y, _beside(_one(lambda z: z))),
            Cell(f"{y}, exp(z)", y, _beside(_one(np.exp))),
            Cell(f"{y}, z²", y, _beside(_one(np.square))),
            Cell(f"{y}, {PRODUCT}", y, _beside(_product)),
            Cell(f"{y}, six categories", y, _beside(_categories, nominal=True)),
            Cell(f"{y}, sin(3z)", y, _beside(_one(lambda z: 2 * np.sin(3 * z))), hard=True),
            Cell(f"{y}, 30 indicators", y, _indicators, grouped=True),
            Cell(f"{y}, 8 sensors", y, _sensors, grouped=True),
        ]
    return cells


CELLS: dict[str, Cell] = {cell.name: cell for cell in _cells()}
