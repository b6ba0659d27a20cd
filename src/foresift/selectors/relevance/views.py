"""Rows that depend on each other, seen so that they do not: what the rank tests look at instead of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from foresift.data.dependence import Dependence
from foresift.selectors.relevance.time_series import Filter, fit_filter

__all__ = ["Independent", "Spread", "Squares", "View", "uneven", "views_of", "visible"]

MIN_GROUPS = 10  # whose means are tested: with fewer, correlations of 1 are not rare enough
MANY_SERIES = 20  # that are groups of a panel, whose own sums say how far sums spread
MIN_VARYING = 10  # pairs of rows within groups that differ, in effect
_NEAR = 4  # rows; shifted by fewer, columns that lead or lag are related to the target
_NOTHING = 1e-9  # of the variance; what is seen of less is rounding


class Spread(NamedTuple):
    """Variance of sums of ranks times values, if rows are permuted, and how many rows stand behind it."""

    variance: NDArray[np.float64]
    n_free: NDArray[np.float64] | float


class Squares(NamedTuple):
    """Sums of squares: of the ranks of every column, and of every value of the target."""

    ranks: NDArray[np.float64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, ranks: NDArray[np.float64], values: NDArray[np.float64]) -> Squares:
        """Sum them up."""
        return cls((ranks**2).sum(axis=1), (values**2).sum(axis=0))


class View(ABC):
    """A linear map of rows; afterwards those of the target are exchangeable, if nothing predicts it."""

    weight = 1.0  # of its p-value

    def filled(self, values: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Ranks of a column, of which some are missing and in the middle."""
        return values

    @abstractmethod
    def seen(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map numbers of rows, which are along the last axis."""

    def centred(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values as they are seen, along the first axis, without what all rows share: here it is gone."""
        return values

    def n_rows(self, n_seen: int) -> float:
        """About how many of the rows that are seen are independent."""
        return float(n_seen)

    @abstractmethod
    def spread(self, ranks: NDArray[np.float64], values: NDArray[np.float64], squares: Squares) -> Spread:
        """How far sums of ranks (along the last axis) times centred values (along the first) spread.

        `squares` are the sums of their squares.
        """


class Independent(View):
    """Rows as they are."""

    def seen(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return them."""
        return values

    def centred(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Deviations from the mean."""
        return np.asarray(values - values.mean(axis=0))

    def spread(self, ranks: NDArray[np.float64], values: NDArray[np.float64], squares: Squares) -> Spread:
        """All rows are permuted."""
        n_rows = len(values)
        return Spread(np.outer(*squares) / (n_rows - 1), n_rows)


@dataclass(frozen=True)
class Grouped:
    """Rows group by group."""

    order: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where every group starts."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)

    def means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means of the groups."""
        return np.asarray(np.add.reduceat(values[..., self.order], self.starts, axis=-1) / self.sizes)

    def deviations(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Deviations of the rows from the means of their groups, group by group."""
        return np.asarray(values[..., self.order] - np.repeat(self.means(values), self.sizes, axis=-1))

    def several(self) -> Grouped:
        """Only groups of several rows."""
        return Grouped(self.order[np.repeat(self.sizes > 1, self.sizes)], self.sizes[self.sizes > 1])


@dataclass(frozen=True)
class Within(View):
    """Deviations from the means of the groups: whatever a group has in common is gone."""

    groups: Grouped  # of several rows

    def seen(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Deviations from the mean of the group."""
        return self.groups.deviations(values)

    def n_rows(self, n_seen: int) -> float:
        """One less for every group."""
        return float((self.groups.sizes - 1).sum() + 1)

    def spread(self, ranks: NDArray[np.float64], values: NDArray[np.float64], squares: Squares) -> Spread:
        """Rows are permuted within their groups; no test where hardly any group has different rows."""
        starts, free = self.groups.starts, self.groups.sizes - 1
        of_ranks = np.add.reduceat(ranks**2, starts, axis=1)
        of_values = np.add.reduceat(values**2, starts, axis=0)
        variance = (of_ranks / free) @ of_values
        varying = variance**2 / np.maximum((of_ranks**2 / free**3) @ of_values**2, np.finfo(float).tiny)
        return Spread(np.where(varying < MIN_VARYING, np.nan, variance), self.n_rows(len(values)))


@dataclass(frozen=True)
class Between(View):
    """Means of the groups, scaled so that those of few rows vary no more than those of many."""

    groups: Grouped
    scale: NDArray[np.float64]  # of every group

    def seen(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scaled deviations of the means from their common mean."""
        means, unit = self.scale * self.groups.means(values), self.scale / np.linalg.norm(self.scale)
        return np.asarray(means - np.multiply.outer(means @ unit, unit))

    def spread(self, ranks: NDArray[np.float64], values: NDArray[np.float64], squares: Squares) -> Spread:
        """Groups are permuted."""
        n_groups = len(values)
        return Spread(np.outer(*squares) / (n_groups - 1), float(n_groups))


@dataclass(frozen=True)
class Pooled(View):
    """Both together, each as much as it tells of the target, as in a model with random group effects."""

    within: Within
    between: Between
    scale: float  # of deviations within groups

    weight = 2.0

    def seen(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scaled deviations, then scaled means."""
        return np.concatenate([self.scale * self.within.seen(values), self.between.seen(values)], axis=-1)

    def n_rows(self, n_seen: int) -> float:
        """No number that holds for all columns."""
        return 0.0

    def spread(self, ranks: NDArray[np.float64], values: NDArray[np.float64], squares: Squares) -> Spread:
        """The sum of both variances, and the rows behind it (Satterthwaite 1946)."""
        at = len(self.within.groups.order)
        within = self.within.spread(ranks[:, :at], values[:at], squares)
        means = ranks[:, at:], values[at:]
        between = self.between.spread(*means, Squares.of(*means))
        variance = np.nan_to_num(within.variance) + between.variance
        some = np.maximum(variance, np.finfo(float).tiny)
        rows = [
            np.nan_to_num(one.variance / some) ** 2 / max(1.0, one.n_free - 2) for one in (within, between)
        ]
        # Columns that hardly vary within groups, but do, have no test here.
        unsure = np.isnan(within.variance) & (np.abs(ranks[:, :at]).max(axis=1) > 0)[:, np.newaxis]
        return Spread(np.where(unsure, np.nan, variance), 1 / np.maximum(rows[0] + rows[1], 1e-9) + 2)


@dataclass(frozen=True)
class Innovations(View):
    """What is new in every row of a series: less what trend, season and the rows before say of it."""

    filter: Filter

    def filled(self, values: NDArray[np.float64], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Missing ranks are between those before and after: a jump to the middle would be news."""
        if not missing.any():
            return values
        filled, first = values.copy(), 0
        for size in self.filter.sizes.tolist():
            rows = self.filter.order[first : first + size]
            known = np.flatnonzero(~missing[rows])
            if len(known):
                filled[rows] = np.interp(np.arange(size), known, values[rows[known]])
            first += size
        return filled

    def seen(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Filter the series; what is new has a mean again."""
        new = self.filter.apply(values)
        return np.asarray(new - new.mean(axis=-1, keepdims=True))

    def n_rows(self, n_seen: int) -> float:
        """Less what was estimated; of many series no number, since rows may depend on each other still."""
        return 0.0 if len(self.filter.starts) >= MANY_SERIES else max(3.0, n_seen - self.filter.n_estimated)

    def spread(self, ranks: NDArray[np.float64], values: NDArray[np.float64], squares: Squares) -> Spread:
        """Of many series, by the sums of each; else of uncorrelated rows, or more if that is clearly so."""
        starts = self.filter.starts
        if len(starts) >= MANY_SERIES:
            sums = [np.add.reduceat(ranks * one, starts, axis=1) for one in values.T]
            return Spread(np.stack([(one**2).sum(axis=1) for one in sums], axis=1), len(starts) + 1.0)
        n_free = self.n_rows(len(values))
        variance = np.outer(*squares) / (n_free - 1)
        sure = not self.filter.stationary  # a season or a trend may well be one of the variance, too
        more = uneven(ranks, values, squares, sure=sure)
        return Spread(
            variance * np.maximum(more, autocorrelated(ranks, values, squares, n_free, sure=sure)), n_free
        )


def uneven(
    ranks: NDArray[np.float64], values: NDArray[np.float64], squares: Squares, *, sure: bool = False
) -> NDArray[np.float64]:
    """By how much sums vary more because rows of a column and of the target vary more at the same places.

    It is 1 where more may be chance, unless it is `sure` that there is more.
    """
    n_rows, norm = len(values), np.outer(*squares)
    factor = n_rows * (ranks**2 @ values**2) / norm
    tails = n_rows**2 * np.outer((ranks**4).sum(axis=1), (values**4).sum(axis=0)) / norm**2
    return _beyond(factor, 1.0 if sure else 1 + 2 * np.sqrt(np.maximum(tails, 1.0) / n_rows))


def autocorrelated(
    ranks: NDArray[np.float64],
    values: NDArray[np.float64],
    squares: Squares,
    n_free: float,
    *,
    sure: bool = False,
) -> NDArray[np.float64]:
    """By how much sums vary more because of what a filter has left of autocorrelation.

    It shows in the correlations with shifted rows, which are too large on average.
    """
    n_rows, norm = len(values), np.outer(*squares)
    factor, of_ranks = np.ones_like(norm), np.fft.rfft(ranks, axis=1)
    for k, one in enumerate(values.T):
        crossed = np.fft.irfft(of_ranks * np.conj(np.fft.rfft(one)), n_rows, axis=1)
        factor[:, k] = n_free * (crossed[:, _NEAR : n_rows - _NEAR + 1] ** 2).mean(axis=1) / norm[:, k]
    return _beyond(factor, 1.0 if sure else 1 + 2 * np.sqrt(2.0 / n_rows))


def _beyond(factor: NDArray[np.float64], least: NDArray[np.float64] | float) -> NDArray[np.float64]:
    return np.where(factor > least, factor, 1.0)


def visible(view: View, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is seen of values along the last axis; 0 if that is rounding, as deviations of a constant are."""
    seen = view.seen(values)
    if seen is values:
        return values
    some = seen.var(axis=-1, keepdims=True) > _NOTHING * values.var(axis=-1, keepdims=True)
    return np.where(some, seen, 0.0)


def views_of(dependence: Dependence, values: NDArray[np.float64]) -> list[View]:
    """How the rows are looked at, for a target of these values, which are along the first axis."""
    views: list[View] = []
    if dependence.kind != "groups":
        views.append(Innovations(fit_filter(dependence, values)))
    if dependence.groups is None:
        return views
    groups = Grouped(dependence.order, np.bincount(dependence.groups))
    of_group = _share_of_groups(groups, values.T)
    if len(groups.sizes) >= MIN_GROUPS:
        scale = 1 / np.sqrt(of_group + (1 - of_group) / groups.sizes)
        views.append(Between(groups, scale / scale.max()))
    several = groups.several()
    if dependence.kind == "groups" and len(several.order):
        views.append(Within(several))
        if isinstance(views[0], Between) and of_group < 1 - _NOTHING:
            share = 1 / np.sqrt(1 - of_group) / scale.max()
            views.append(Pooled(views[-1], views[0], float(share)))  # type: ignore[arg-type]
    return views


def _share_of_groups(groups: Grouped, values: NDArray[np.float64]) -> float:
    """Share of the groups in the variance of values (along the last axis), by analysis of variance."""
    sizes, n_rows = groups.sizes, len(groups.order)
    if len(sizes) in (1, n_rows):
        return 0.0
    within = (groups.deviations(values) ** 2).sum(axis=-1) / (n_rows - len(sizes))
    means = groups.means(values) - values.mean(axis=-1, keepdims=True)
    usual = (n_rows - (sizes**2).sum() / n_rows) / (len(sizes) - 1)
    between = np.maximum(((sizes * means**2).sum(axis=-1) / (len(sizes) - 1) - within) / usual, 0.0)
    return float(np.mean(between / np.maximum(between + within, np.finfo(float).tiny)))
