"""Profiles of columns: the target over the values of each, in a few parts, to draw and to put in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc
from scipy.stats import rankdata

from foresift.data.table import Table
from foresift.data.target import Quantity

__all__ = ["MIN_SHOWN", "Profiles"]

MAX_PARTS = 8  # ranges of a numeric column, or categories, beside missing values
MIN_ROWS = 8  # of a range, on average
MAX_CLASSES = 5  # of the target, that have a share of their own; the others are added up
MIN_SHOWN = 5  # rows of a part that words name
MAX_ROWS = 20_000
FLAT = 0.05  # p-value above which parts do not differ
GAP = 0.01  # p-value up to which rows with and without a value differ clearly
MONOTONE = 0.7  # correlation of the order of the ranges and the target from which on it rises or falls
BEND = 0.5  # share of the span by which the middle is above, or below, both ends


@dataclass(frozen=True, eq=False)
class Profiles:
    """What the target is in ranges or categories of the columns of a table.

    Attributes
    ----------
    table : Table
        The rows.
    y : ndarray
        Codes of the classes, or a quantity in its unit.
    classes : list of str
        Names of the classes; empty for a quantity.
    weights : ndarray of float64 or None
        How much each row counts in shares and means.
    whole : Table
        All rows, of which those drawn may be a sample: numbers of values, and of missing ones, are of these.

    Examples
    --------
    >>> from foresift.data.table import make_table
    >>> table = make_table({"size": [1, 2, 3, 4] * 5}, ["no", "no", "yes", "yes"] * 5)
    >>> profiles = Profiles.of(table)
    >>> profile = profiles.column(0)
    >>> [(part["low"], part["n"], part["target"]) for part in profile["parts"]]
    [(1.0, 5, [0.0, 1.0]), (2.0, 5, [0.0, 1.0]), (3.0, 5, [1.0, 0.0]), (4.0, 5, [1.0, 0.0])]
    >>> profiles.target()["classes"], profile["direction"]
    (['yes', 'no'], 'up')
    """

    table: Table
    y: NDArray[Any]
    classes: list[str]
    weights: NDArray[np.float64] | None
    whole: Table

    @classmethod
    def of(
        cls,
        table: Table,
        weights: NDArray[np.float64] | None = None,
        y: NDArray[np.float64] | None = None,
        seed: int = 0,
    ) -> Profiles:
        """Profiles of the rows of positive weight, of many rows a sample; `y` is a quantity in its unit."""
        if weights is not None and not (weights > 0).all():
            used = np.flatnonzero(weights > 0)
            table, weights, y = table.take_rows(used), weights[used], None if y is None else y[used]
        whole = table
        if table.n_rows > MAX_ROWS:
            rng = np.random.default_rng([seed, 6])
            rows = np.sort(rng.choice(table.n_rows, MAX_ROWS, replace=False))
            weights, y = (None if values is None else values[rows] for values in (weights, y))
            table = table.take_rows(rows)
        target = table.target
        if isinstance(target, Quantity):
            return cls(table, target.y if y is None else y, [], weights, whole)
        return cls(table, target.codes, list(map(str, target.labels.tolist())), weights, whole)

    @property
    def is_quantity(self) -> bool:
        """Whether the target is a quantity."""
        return not self.classes

    @cached_property
    def _shown(self) -> NDArray[np.intp]:
        """Number of every class among those that are shown; the last one stands for all others.

        Of two classes the rarer one comes first, and stands for both; of more the most frequent ones.
        """
        counts = np.bincount(self.y, minlength=len(self.classes))
        frequent_first = np.argsort(-counts, kind="stable")
        order = frequent_first[::-1] if len(counts) == 2 else frequent_first
        shown = np.empty(len(counts), dtype=np.intp)
        most = MAX_CLASSES if len(counts) > MAX_CLASSES + 1 else len(counts)
        shown[order] = np.minimum(np.arange(len(counts)), most)
        return shown

    @cached_property
    def _n_shown(self) -> int:
        return int(self._shown.max()) + 1

    @cached_property
    def _by_target(self) -> NDArray[np.intp]:
        """Rows by their quantity, so that quartiles of parts are found by counting."""
        return np.argsort(self.y, kind="stable")

    @cached_property
    def _ranks(self) -> NDArray[np.float64]:
        return np.asarray(rankdata(self.y) - (len(self.y) + 1) / 2)

    def target(self) -> dict[str, Any]:
        """What is true of all rows: the classes that are shown and their shares, or the mean."""
        all_rows = np.zeros(len(self.y), dtype=np.intp)
        overall = self._summaries(all_rows, 1)[0]
        about = {"n_rows": len(self.y), "of": self.whole.n_rows, "overall": overall}
        if self.is_quantity:
            return about
        names = [""] * self._n_shown
        for name, at in zip(self.classes, self._shown.tolist(), strict=True):
            names[at] = name
        n_others = int((self._shown == self._n_shown - 1).sum())
        if n_others > 1:
            names[-1] = f"{n_others} other classes"
        return {**about, "classes": names, "merged": n_others > 1}

    def column(self, j: int) -> dict[str, Any]:
        """Parts of a column with the number of rows and the target of each, and the direction.

        A part has `low` and `high`, or the category as `value`, or neither if it is that of other categories
        (`n_values` of them) or of missing values (`missing`). The target are the shares of the classes, or
        mean, lower and upper quartile of a quantity. Where it clearly differs between rows with and without
        a value, `known` is the target of those with one.
        """
        store = self.table.store
        codes, n_values = np.asarray(store.codes(j)), store.n_values(j)
        counts = np.bincount(codes, minlength=n_values + 1)
        nominal = store.is_nominal(j)
        of_code = _frequent(counts[:-1]) if nominal else _ranges(counts[:-1])
        n_parts = int(of_code.max(initial=-1)) + 1
        part_of = np.append(of_code, n_parts)[codes]
        found = self._summaries(part_of, n_parts + 1)
        sizes = np.bincount(part_of, minlength=n_parts + 1).tolist()
        parts = []
        for k in range(n_parts):
            values = np.flatnonzero((of_code == k) & (counts[:-1] > 0))
            about = self._category(j, values) if nominal else self._range(j, values)
            parts.append({**about, "n": sizes[k], "target": found[k]})
        if nominal:
            named = [part for part in parts if "value" in part]
            parts = sorted(named, key=lambda part: -part["target"][0]) + parts[len(named) :]
        direction = self._direction(parts, part_of, nominal=nominal)
        if sizes[-1]:
            parts.append({"missing": True, "n": sizes[-1], "target": found[-1]})
        known = self._known(part_of == n_parts)
        unit = self.table.schema.units[j] if self.table.schema.units else ""
        if self.whole is not self.table:
            n_all = self.whole.store.n_values(j)
            counts = np.bincount(np.asarray(self.whole.store.codes(j)), minlength=n_all + 1)
        return {
            "n_values": int(np.count_nonzero(counts[:-1])),
            "missing": int(counts[-1]) / int(counts.sum()),
            "direction": direction,
            **({"known": known} if known else {}),
            **({"unit": unit} if unit else {}),
            "parts": parts,
        }

    def _range(self, j: int, values: NDArray[np.intp]) -> dict[str, Any]:
        known = self.table.store.values(j)
        return {"low": float(known[values[0]]), "high": float(known[values[-1]])}

    def _category(self, j: int, values: NDArray[np.intp]) -> dict[str, Any]:
        if len(values) > 1:
            return {"n_values": len(values)}
        known = self.table.schema.categories[j]
        assert known is not None
        return {"value": str(known[values[0]])}

    def _summaries(self, part_of: NDArray[np.intp], n_parts: int) -> list[list[float]]:
        """The target in every part; of a part without rows nothing."""
        if not self.is_quantity:
            cells = part_of * self._n_shown + self._shown[self.y]
            counts = np.bincount(cells, self.weights, n_parts * self._n_shown).reshape(n_parts, -1)
            totals = counts.sum(axis=1, keepdims=True)
            shares = np.divide(counts, totals, out=np.zeros_like(counts, dtype=float), where=totals > 0)
            return [[round(share, 4) for share in some] for some in shares.tolist()]
        weight = np.bincount(part_of, self.weights, n_parts)
        rows = self.y if self.weights is None else self.y * self.weights
        sums = np.bincount(part_of, rows, n_parts)
        ordered = self._by_target[np.argsort(part_of[self._by_target], kind="stable")]
        sizes = np.bincount(part_of, minlength=n_parts)
        starts = np.cumsum(sizes) - sizes
        found = []
        for begin, size, total, mass in zip(
            starts.tolist(), sizes.tolist(), sums.tolist(), weight.tolist(), strict=True
        ):
            if not size or mass <= 0:
                found.append([0.0, 0.0, 0.0])
                continue
            some = ordered[begin : begin + size]
            if self.weights is None:
                low, high = self.y[some[(size - 1) // 4]], self.y[some[-1 - (size - 1) // 4]]
            else:
                up_to = np.cumsum(self.weights[some]) / mass
                low, high = self.y[some[np.searchsorted(up_to, (0.25, 0.75)).clip(max=size - 1)]]
            found.append([_short(total / mass), _short(low), _short(high)])
        return found

    def _known(self, missing: NDArray[np.bool_]) -> list[float] | None:
        """The target in the rows with a value, if it clearly differs from that in the rows without."""
        part_of = missing.astype(np.intp)
        if np.bincount(part_of, minlength=2).min() < MIN_SHOWN:
            return None
        by_chance = _tail(*self._differences(part_of, 2)) > GAP
        return None if by_chance else self._summaries(part_of, 2)[0]

    def _direction(self, parts: list[dict[str, Any]], part_of: NDArray[np.intp], *, nominal: bool) -> str:
        """How the target changes: "up", "down", "peak", "dip" or "mixed" along a range; "flat" if by chance.

        Of several classes, and of categories, "differs" is all that can be said.
        """
        if len(parts) < 2:
            return "flat"
        statistic, freedom = self._differences(part_of, len(parts))
        by_chance = _tail(statistic, freedom) > FLAT
        if nominal or self._n_lines > 1:
            return "flat" if by_chance else "differs"
        known = part_of < len(parts)
        values = self._ranks if self.is_quantity else self._shown[self.y] == 0
        sizes = np.bincount(part_of[known]).astype(np.float64)
        levels = np.bincount(part_of[known], values[known]) / np.maximum(sizes, 1)
        trend = _correlation(np.arange(len(levels), dtype=float), levels, sizes)
        # The statistic has a part for the trend, and one for the rest.
        has_trend = _tail(statistic * trend**2, 1) <= FLAT
        if by_chance and not has_trend:
            return "flat"
        straight = _tail(statistic * (1 - trend**2), freedom - 1) > FLAT
        # Words must agree with what is drawn, which has weights, and means instead of ranks.
        shown = np.array([part["target"][0] for part in parts if part["n"] >= MIN_SHOWN] or [0.0])
        if ((has_trend and straight) or abs(trend) >= MONOTONE) and (shown[-1] - shown[0]) * trend > 0:
            return "up" if trend > 0 else "down"
        inside, ends, span = shown[1:-1], shown[[0, -1]], np.ptp(shown)
        if len(inside) and inside.max() - ends.max() > BEND * span:
            return "peak"
        if len(inside) and ends.min() - inside.min() > BEND * span:
            return "dip"
        return "mixed"

    @property
    def _n_lines(self) -> int:
        """Numbers that describe the target: one share of two classes, or the mean."""
        return 1 if self.is_quantity else self._n_shown - 1

    def _differences(self, part_of: NDArray[np.intp], n_parts: int) -> tuple[float, int]:
        """Statistic of the differences between parts: chi-square, or that of Kruskal and Wallis."""
        known = part_of < n_parts
        sizes = np.bincount(part_of[known], minlength=n_parts).astype(float)
        n, used = sizes.sum(), sizes > 0
        if self.is_quantity:
            ranks = self._ranks[known] - self._ranks[known].mean()
            sums = np.bincount(part_of[known], ranks, n_parts)
            variance = float(np.mean(ranks**2))
            squares = float((sums[used] ** 2 / sizes[used]).sum())
            return squares / variance * (n - 1) / n if variance else 0.0, int(used.sum()) - 1
        cells = part_of[known] * self._n_shown + self._shown[self.y[known]]
        counts = np.bincount(cells, minlength=n_parts * self._n_shown).reshape(n_parts, -1)[used]
        counts = counts[:, counts.sum(axis=0) > 0]
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
        freedom = (counts.shape[0] - 1) * (counts.shape[1] - 1)
        return float(((counts - expected) ** 2 / expected).sum()), freedom


def _tail(statistic: float, freedom: int) -> float:
    """P-value of a chi-square statistic."""
    return float(gammaincc(freedom / 2, statistic / 2)) if freedom > 0 else 1.0


def _ranges(counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Part of every value of a numeric column: each of a few values, or ranges with about as many rows.

    A value that has the rows of a whole range by itself is one.

    Examples
    --------
    >>> _ranges(np.array([2, 2, 2])).tolist(), _ranges(np.array([90] + 20 * [1]))[[0, 1, 10, 20]].tolist()
    ([0, 1, 2], [0, 1, 1, 2])
    """
    present = np.flatnonzero(counts)
    if len(present) <= MAX_PARTS:
        return np.searchsorted(present, np.arange(len(counts)), side="right") - 1
    ends = np.cumsum(counts)
    of_code, first, done = np.zeros(len(counts), dtype=np.intp), 0, 0
    for part in range(MAX_PARTS):
        of_code[first:] = part
        left = int(ends[-1]) - done
        share = left / min(MAX_PARTS - part, max(1 if part else 2, left // MIN_ROWS))
        last = int(np.searchsorted(ends, done + share - 0.5))
        before = 0 if last == 0 else ends[last - 1]
        # A frequent value would make the range too large: it begins the next one.
        if last > first and ends[last] - done > 1.5 * share and before - done > 0.3 * share:
            last -= 1
        if last >= len(counts) - 1 or not counts[last + 1 :].any():
            break
        first, done = last + 1, int(ends[last])
    return of_code


def _frequent(counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Part of every category: the most frequent ones, and one of all others.

    Examples
    --------
    >>> _frequent(np.array([1, 5, 3])).tolist(), _frequent(np.arange(12))[[0, 4, 5, 11]].tolist()
    ([2, 0, 1], [7, 7, 6, 0])
    """
    n_present = int(np.count_nonzero(counts))
    most = MAX_PARTS - 1 if n_present > MAX_PARTS else max(0, n_present - 1)
    ranks = np.empty(len(counts), dtype=np.intp)
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(ranks, most)


def _correlation(x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    x, y = (values - np.average(values, weights=weights) for values in (x, y))
    spread = np.sqrt((weights * x * x).sum() * (weights * y * y).sum())
    return float((weights * x * y).sum() / spread) if spread > 0 else 0.0


def _short(value: float) -> float:
    """A number in six digits, to be drawn."""
    return float(f"{value:.6g}")
