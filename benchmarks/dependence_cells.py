"""Made tables whose rows depend on each other: groups, series in time, panels. Which columns matter is known.

    X, y, groups, time, relevant, oracle = CELLS["quantity, AR 0.9"].make(seed=1000, signal=False)

Rows are in order: group by group, in each in the order of time. A column of a null table has nothing to do
with y. Trends and seasons that columns and y share count as nothing: they tell of the time, not of y.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.linalg import cholesky, solve_triangular

P = 30
CLEAR = 3.5  # standard errors that a relevant column's effect has for one who knows the model
KINDS = {
    "constant": (P, 0, 0),
    "varying": (0, P, 0),
    "mixed": (10, 10, 10),
}  # constant, varying, half of each
N_CATEGORIES = 5
MISSING = 0.2
FEW_GROUPS = 15  # with fewer, no column that is constant within groups is relevant


class Oracle(NamedTuple):
    """The model behind y: `latent` = noise of this covariance + a combination of `nuisance` + `effects`.

    A class is whether that is above its median; then `latent` is the class, `scores` count with the slope of
    its probability, and there are no `effects`, which nobody knows. `scores` are the columns as numbers: a
    number for every category, nothing missing. If classes are constant within groups, a row is the mean of
    a group.
    """

    latent: np.ndarray
    scores: np.ndarray
    effects: np.ndarray
    nuisance: np.ndarray
    covariance: np.ndarray

    def pvalues(self) -> np.ndarray:
        """Test every column by generalized least squares, the effects of the others being known."""
        others = self.effects.sum(axis=1, keepdims=True) - self.effects
        x, y = np.split(self.whitened(self.scores, self.latent[:, np.newaxis] - others), 2, axis=1)
        n_free = len(x) - self.nuisance.shape[1] - 1
        r2 = (x * y).sum(axis=0) ** 2 / ((x**2).sum(axis=0) * (y**2).sum(axis=0))
        return 2 * stats.t.sf(np.sqrt(n_free * r2 / (1 - r2)), n_free)

    def whitened(self, *columns: np.ndarray) -> np.ndarray:
        """Columns with the noise made white, less what the nuisance explains."""
        root = cholesky(self.covariance, lower=True)
        white = solve_triangular(root, np.hstack([self.nuisance, *columns]), lower=True)
        base, _ = np.linalg.qr(white[:, : self.nuisance.shape[1]])
        rest = white[:, self.nuisance.shape[1] :]
        return rest - base @ (base.T @ rest)


class Table(NamedTuple):
    """A made table; `groups` or `time` is None if the cell has none."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray | None
    time: np.ndarray | None
    relevant: np.ndarray
    oracle: Oracle


@dataclass(frozen=True)
class Cell:
    """What a table is like.

    `sizes` of the groups: numbers, or "1 to 30", or "by y": the larger the group's effect on y, the larger.
    `group_sd`: standard deviation of the groups' effects on y, where that of the noise is 1. `rho`: of AR(1)
    noise in y and in the columns, within groups.
    """

    name: str
    y: str  # "quantity", "classes", or "classes of groups": constant within groups
    sizes: tuple[int, ...] | str = (400,)
    columns: str = "varying"  # or "constant" within groups, or "mixed"
    group_sd: float = 0.0
    rho: float | None = None  # None: there is no time
    form: str = ""  # or "trend", "common season", "seasons"
    values: str = "normal"  # or "heavy", "nominal", "gaps"
    extra: bool = False  # reported apart

    @property
    def task(self) -> str:
        """What RelevanceSelector calls it."""
        return "regression" if self.y == "quantity" else "classification"

    @property
    def nominal(self) -> list[int]:
        """Numbers of the nominal columns."""
        return list(range(P)) if self.values == "nominal" else []

    def make(self, seed: int, signal: bool) -> Table:
        """Draw a table; with `signal` two to six of the columns are relevant."""
        rng = np.random.default_rng([seed, int(signal), *self.name.encode()])
        of_groups, sizes = self._groups(rng)
        groups = np.repeat(np.arange(len(sizes)), sizes)
        time = np.concatenate([np.arange(size) for size in sizes])
        X, scores = self._columns(groups, time, rng)
        noise = self.group_sd * of_groups[groups] + self._noise(groups, 1, rng)[:, 0]
        noise += self._shape(time, 1, rng)[:, 0]
        if self.values == "gaps":
            X[rng.random(X.shape) < MISSING] = np.nan
        oracle = Oracle(noise, scores, np.zeros_like(scores), self._nuisance(time), self._covariance(groups))
        if self.y == "classes of groups":
            oracle = _of_means(oracle, groups)
        relevant = self._relevant(len(sizes)) & signal
        seen = oracle if self.y == "quantity" else _of_classes(oracle)
        oracle = _with_effects(oracle, seen, relevant, rng)
        y = oracle.latent
        if self.y != "quantity":
            y = (y > np.median(y)).astype(int)
            oracle = seen._replace(latent=y.astype(float))
        y = y[groups] if self.y == "classes of groups" else y
        in_groups, in_time = len(sizes) > 1, self.rho is not None
        return Table(X, y, groups if in_groups else None, time if in_time else None, relevant, oracle)

    def _groups(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Effects of the groups on y, and their sizes."""
        if self.sizes == "1 to 30":
            sizes = rng.integers(1, 31, 40)
        elif self.sizes == "by y":
            effects = rng.normal(size=60)
            return effects, np.minimum(1 + rng.poisson(np.exp(1 + 0.7 * effects)), 30)
        else:
            sizes = np.array(self.sizes)
        return rng.normal(size=len(sizes)), sizes

    def _noise(self, groups: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
        """`k` columns of AR(1) noise within groups, with a variance of 1."""
        shape = (len(groups), k)
        noise = rng.normal(size=shape) if self.values != "heavy" else rng.standard_t(3, shape) / np.sqrt(3)
        if self.rho is not None:
            for i in np.flatnonzero(groups[1:] == groups[:-1]) + 1:
                noise[i] = self.rho * noise[i - 1] + np.sqrt(1 - self.rho**2) * noise[i]
        return noise

    def _columns(
        self, groups: np.ndarray, time: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """The columns, and as the numbers that may have effects."""
        share = np.repeat([1.0, 0.0, 0.5], KINDS[self.columns])  # of the variance that is among groups
        if self.values == "nominal":  # chains that stay as they are or draw a category
            changes = rng.random((len(groups), P)) < (1 - share) * (1 - (self.rho or 0))
            changes[time == 0] = True
            since = np.maximum.accumulate(np.where(changes, np.arange(len(groups))[:, np.newaxis], 0))
            X = np.take_along_axis(rng.integers(N_CATEGORIES, size=changes.shape), since, axis=0)
            numbers = stats.zscore(np.arange(N_CATEGORIES))
            return X.astype(float), np.column_stack([rng.permutation(numbers)[x] for x in X.T])
        of_groups = rng.normal(size=(groups[-1] + 1, P))
        X = np.sqrt(share) * of_groups[groups] + np.sqrt(1 - share) * self._noise(groups, P, rng)
        X += self._shape(time, P, rng)
        return X, X.copy()

    def _shape(self, time: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
        """Trends or seasons of `k` columns."""
        if self.form == "trend":
            return np.outer(time / len(time) - 0.5, rng.choice([-1, 1], k) * rng.uniform(2, 4, k))
        if not self.form:
            return np.zeros((len(time), k))
        phases = 0 if self.form == "common season" else rng.uniform(0, 2 * np.pi, k)
        return 1.5 * np.sin(2 * np.pi * time[:, np.newaxis] / self._period + phases * np.ones(k))

    @property
    def _period(self) -> int:
        return 12 if self.form == "common season" else 24

    def _nuisance(self, time: np.ndarray) -> np.ndarray:
        columns = [np.ones(len(time))]
        if self.form == "trend":
            columns += [time / len(time)]
        elif self.form:
            angle = 2 * np.pi * time / self._period
            columns += [np.sin(angle), np.cos(angle)]
        return np.column_stack(columns)

    def _covariance(self, groups: np.ndarray) -> np.ndarray:
        rows = np.arange(len(groups))
        lags = np.abs(rows[:, np.newaxis] - rows)
        within = (self.rho or 0.0) ** lags  # 0 ** 0 is 1
        return (groups[:, np.newaxis] == groups) * (self.group_sd**2 + within)

    def _relevant(self, n_groups: int) -> np.ndarray:
        """Up to six columns: two that are constant within groups, if there are enough of these."""
        if self.columns == "mixed":
            wanted = (2, 2, 2) if n_groups >= FEW_GROUPS else (0, 3, 3)
            wanted = (2, 0, 2) if self.y == "classes of groups" else wanted
        else:
            wanted = (2, 0, 0) if self.columns == "constant" else (0, 6, 0)
        return np.concatenate([np.arange(of) < n for of, n in zip(KINDS[self.columns], wanted, strict=True)])


def _of_means(oracle: Oracle, groups: np.ndarray) -> Oracle:
    """The same model of the groups' means."""
    means = (np.arange(groups[-1] + 1)[:, np.newaxis] == groups) / np.bincount(groups)[:, np.newaxis]
    *columns, covariance = oracle
    return Oracle(*(means @ column for column in columns), means @ covariance @ means.T)


def _of_classes(oracle: Oracle) -> Oracle:
    """What is left of the model for one who sees the classes: slopes of their probability, covariances.

    By the arcsine law of the signs of two normal numbers, as if effects were small and the median were 0.
    """
    deviations = np.sqrt(np.diag(oracle.covariance))
    slopes = stats.norm.pdf(0) / deviations
    correlations = np.clip(oracle.covariance / np.outer(deviations, deviations), -1, 1)
    covariance = np.arcsin(correlations) / (2 * np.pi)
    return oracle._replace(scores=oracle.scores * slopes[:, np.newaxis], covariance=covariance)


def _with_effects(oracle: Oracle, seen: Oracle, relevant: np.ndarray, rng: np.random.Generator) -> Oracle:
    """Add effects of relevant columns, each of which one who has `seen` as a model sees equally well."""
    information = (seen.whitened(seen.scores) ** 2).sum(axis=0)
    effects = oracle.scores * relevant * rng.choice([-1, 1], P) * CLEAR / np.sqrt(information)
    return oracle._replace(latent=oracle.latent + effects.sum(axis=1), effects=effects)


def _cells() -> list[Cell]:
    sizes = {"20 x 10": (10,) * 20, "100 x 3": (3,) * 100, "sizes 1 to 30": "1 to 30"}
    cells = []
    for y in ("quantity", "classes"):
        for size, of in sizes.items():
            for columns in KINDS:
                for sd in (0.5, 2.0):
                    cells.append(Cell(f"{y}, {size}, {columns}, sd {sd:g}", y, of, columns, sd))
        cells += [Cell(f"{y}, AR {rho}", y, rho=rho) for rho in (0.5, 0.9, 0.99)]
        cells += [
            Cell(f"{y}, {form}", y, rho=0.5, form=form) for form in ("common season", "seasons", "trend")
        ]
        cells.append(Cell(f"{y}, AR 0.7, heavy tails", y, rho=0.7, values="heavy"))
        for groups, length in ((20, 20), (100, 6), (5, 80)):
            cells.append(Cell(f"{y}, panel {groups} x {length}", y, (length,) * groups, "mixed", 1.0, 0.7))
        cells += [replace(cell, name=f"{y}, {cell.name}", y=y, extra=True) for cell in EXTRA]
    y = "classes of groups"
    cells += [Cell(f"{y}, {size}, mixed, sd 2", y, of, "mixed", 2.0) for size, of in sizes.items()]
    return cells


EXTRA = (
    Cell("3 x 60", "", (60,) * 3, "mixed", 2.0),
    Cell("half of 200 groups of one row", "", (1, 3) * 100, "mixed", 1.0),
    Cell("sizes depend on y", "", "by y", "mixed", 1.0),
    Cell("nominal, 40 x 8", "", (8,) * 40, "mixed", 1.0, values="nominal"),
    Cell("nominal, AR 0.9", "", rho=0.9, values="nominal"),
    Cell("missing values, 40 x 8", "", (8,) * 40, "mixed", 1.0, values="gaps"),
    Cell("missing values, AR 0.9", "", rho=0.9, values="gaps"),
)
CELLS: dict[str, Cell] = {cell.name: cell for cell in _cells()}
