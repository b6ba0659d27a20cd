"""Rows that depend on each other: whether they can be tested, and where shadows have their values from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresift.data.dependence import Dependence
from foresift.data.table import Table
from foresift.selectors.relevance.moments import counted_rows
from foresift.selectors.relevance.ranks import MIN_RARE
from foresift.selectors.relevance.row_maps import MIN_EXCHANGED, draw_row_maps
from foresift.selectors.relevance.time_series import Filter, fit_filter
from foresift.selectors.relevance.views import MIN_GROUPS

__all__ = ["DependentRows", "half_of"]

MIN_ROWS = 10  # independent ones, below which nothing is tested
BLOCKS = 8  # of time, of which halves of the rows are made


@dataclass(frozen=True, eq=False)
class DependentRows:
    """Rows of a table that depend on each other, those of weight 0 left out.

    Attributes
    ----------
    counted : ndarray of int
        The rows.
    n_rows : int
        Number of all rows.
    dependence : Dependence
        Of the counted rows.
    filter : Filter or None
        What is known of the target in time.
    n_independent : float
        About how many rows that do not depend on each other tell as much.
    """

    counted: NDArray[np.intp]
    n_rows: int
    dependence: Dependence
    filter: Filter | None
    n_independent: float

    @classmethod
    def of(cls, table: Table, weights: NDArray[np.float64] | None) -> DependentRows:
        """Look at the target of a table."""
        assert table.dependence is not None
        counted = counted_rows(table, weights)
        dependence = table.dependence.take(counted)
        if dependence.kind == "groups":
            return cls(counted, table.n_rows, dependence, None, float(len(counted)))
        values = table.target.contrasts(counted)
        if not values.size:  # one class, or no row, in half of the rows
            return cls(counted, table.n_rows, dependence, None, 0.0)
        fitted = fit_filter(dependence, values)
        return cls(counted, table.n_rows, dependence, fitted, fitted.n_independent)

    @property
    def too_few(self) -> bool:
        """Whether there are too few independent rows for any test."""
        return self.n_independent < MIN_ROWS

    @property
    def why_untested(self) -> str:
        """Why columns may have no test."""
        if self.too_few:
            return (
                f"{len(self.counted)} rows in the order of time tell no more than about"
                f" {max(1, round(self.n_independent))} independent ones, too few independent rows to test"
                f" ({MIN_ROWS} are needed). Observe for longer, or test the differences of X and y from"
                " row to row."
            )
        few = "" if self.stationary else f" (at least {MIN_RARE} rows need another value)"
        return (
            "they do not vary within groups, or too little, and there are too few groups to compare"
            f" ({self.dependence.n_groups}; {MIN_GROUPS} are needed)."
            if self.dependence.kind != "time" and self.dependence.n_groups < MIN_GROUPS
            else f"they do not vary enough{few}. Raise n_estimators or max_features if columns were hardly"
            " tried."
        )

    def removed(self, *, beside: bool) -> str | None:
        """Say what is taken away of columns and target in time, and `beside` kept columns."""
        if self.filter is None or self.filter.stationary:
            return None
        periods = self.filter.periods
        # A season makes a trend clear, be there one or not.
        parts = {"trend": not periods, "season": any(periods), "steps": not all(periods)}
        found = " and ".join(name for name, there in parts.items() if there)
        found += f" of the target{' and the kept columns' if beside else ''}"
        return f"the {found} {'are' if ' and ' in found or not all(periods) else 'is'} removed"

    @property
    def shifted(self) -> bool:
        """Whether shadows are shifted in time."""
        return self.dependence.kind != "groups" and self.dependence.n_groups < MIN_EXCHANGED

    @property
    def stationary(self) -> bool:
        """Whether shadows are like their columns: not if they are shifted to another season or level."""
        return not self.shifted or (self.filter is not None and self.filter.stationary)

    def maps(self, n_maps: int, seed: int) -> NDArray[np.uint32]:
        """Where the rows of shadows have their values from; rows of weight 0 keep theirs."""
        rng = np.random.default_rng([seed, 5])
        shift = int(np.ceil(len(self.counted) / max(1.0, self.n_independent)))
        drawn = draw_row_maps(self.dependence, n_maps, shift, rng)
        maps = np.tile(np.arange(self.n_rows, dtype=np.uint32), (n_maps, 1))
        maps[:, self.counted] = self.counted[drawn]
        return maps


def half_of(table: Table, weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """1 for a random half of the rows, 0 for the others: groups stay whole, and so do blocks of time.

    Of four groups of like means, or classes, two are in it.
    """
    counted = np.flatnonzero(weights > 0)
    assert table.dependence is not None
    dependence = table.dependence.take(counted)
    if dependence.groups is not None and (dependence.time is None or dependence.n_groups >= BLOCKS):
        of_row, n_parts = dependence.groups, dependence.n_groups
        level = table.target.contrasts(counted)[:, 0]
    else:
        n_parts, level = BLOCKS, np.zeros(len(counted))
        assert dependence.time is not None
        order = np.argsort(dependence.time, kind="stable")
        of_row = np.empty(len(counted), dtype=np.intp)
        of_row[order] = np.arange(len(counted)) * BLOCKS // len(counted)
    sizes = np.bincount(of_row, minlength=n_parts)
    means = np.bincount(of_row, level, minlength=n_parts) / np.maximum(sizes, 1)
    by_mean = np.lexsort((rng.random(n_parts), means))
    shuffled = by_mean[np.lexsort((rng.random(n_parts), np.arange(n_parts) // 4))]
    in_half = np.zeros(n_parts)
    in_half[shuffled[rng.integers(2) :: 2]] = 1
    half = np.zeros(table.n_rows)
    half[counted] = in_half[of_row]
    return half
