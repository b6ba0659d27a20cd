"""What the selectors share that compare near rows: Relief, ReliefF, SURF and MultiSURF."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foresift import _core
from foresift.data.numeric_coding import ValueTable
from foresift.data.sklearn_compat import Interval, StrOptions, seed_of, track
from foresift.data.table import Table
from foresift.data.target import Quantity
from foresift.data.weights import scale_up
from foresift.engine.grow import in_threads
from foresift.errors import warn_caller
from foresift.selectors.base import RankingSelector, Scores

__all__ = ["NearRowsSelector", "ScaledRows", "sampled_sentence"]

MAX_ROWS = 20_000  # of positive weight, that "auto" compares with all others;
MANY_ROWS_SAMPLE = 5_000  # and how many of a table with more: see docs/guide/rankers.md
_BATCHES = 64  # of rows, whatever the number of threads
_ROUNDING = 1e-12  # of a weight


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """The rows of positive weight, as the kernels take them.

    Attributes
    ----------
    values : ndarray of float64 of shape (n, n_columns)
        Numbers scaled to [0, 1] by their range, codes of categories, NaN for missing.
    n_values : list of int
        The number of categories of a column; 0 for a numeric one.
    target : tuple
        Codes and number of the classes; or a quantity, scaled to [0, 1].
    weights : ndarray of float64 of shape (n,) or None
        How often each row occurs; None for once.
    """

    values: NDArray[np.float64]
    n_values: list[int]
    target: tuple[Any, ...]
    weights: NDArray[np.float64] | None

    @classmethod
    def of(cls, table: ValueTable, weights: NDArray[np.float64] | None) -> ScaledRows:
        """Scale the rows of a table."""
        weights = scale_up(weights)
        used = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights)
        values, n_values = _scaled(table, used)
        target: tuple[Any, ...]
        if isinstance(table.target, Quantity):
            y = table.target.y[used]
            target = ((y - y.min()) / np.ptp(y),)
        else:
            target = np.ascontiguousarray(table.target.codes[used]), table.target.n_classes
        return cls(values, n_values, target, None if weights is None else np.ascontiguousarray(weights[used]))

    def kernel(self, make: Callable[..., Any], **options: Any) -> Any:
        """Make a kernel for these rows."""
        return make(self.values, self.n_values, *self.target, self.weights, **options)

    def varies(self) -> NDArray[np.bool_]:
        """Mask of the columns with at least two different known values."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.fmax.reduce(self.values) > np.fmin.reduce(self.values))


class NearRowsSelector(RankingSelector):
    """A selector whose weights are means over rows of what `_kernel` says of each."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RankingSelector._parameter_constraints,
        "n_samples": [Interval(numbers.Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "n_jobs": [numbers.Integral, None],
        "random_state": ["random_state"],
    }

    _needs_values = True
    n_samples: int | str | None
    categorical_features: Any
    n_jobs: int | None
    random_state: Any

    @abstractmethod
    def _kernel(self, rows: ScaledRows) -> Any:
        """Make the kernel; its `sums` adds up what rows say of the columns."""

    def _weights_of(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights of the columns from the mean of the kernel's sums over the rows."""
        return means

    def _open(self, X: Any, y: Any) -> ValueTable:
        return ValueTable.open(
            X,
            y,
            categorical_features=self.categorical_features,
            estimator=self,
            task=self.task,
        )

    def _open_table(self, table: Table) -> ValueTable:
        return ValueTable(table.numbers(), table.schema, table.target)

    def _score(self, table: ValueTable, weights: NDArray[np.float64] | None) -> Scores:
        rows = ScaledRows.of(table, weights)
        kernel, varies, counts = self._kernel(rows), rows.varies(), rows.weights
        sample = np.arange(len(rows.values), dtype=np.uint32)
        del rows  # the kernel has its own
        n_samples = self._n_samples(len(sample))
        if n_samples < len(sample):
            rng = np.random.default_rng(seed_of(self.random_state))
            sample = np.sort(rng.permutation(sample)[:n_samples])
        sums = self._sums(kernel, sample)
        scores = self._weights_of(sums / (len(sample) if counts is None else counts[sample].sum()))
        # A column of one value, or none, is not informative; irrelevant ones may be below 0.
        scores[~varies] = min(0.0, scores.min())
        return Scores(scores, {"n_samples_": len(sample)})

    def _n_samples(self, n_rows: int) -> int:
        """How many of the rows are compared with all of them."""
        if self.n_samples is None:
            return n_rows
        if not isinstance(self.n_samples, str):
            return min(int(self.n_samples), n_rows)
        if n_rows <= MAX_ROWS:
            return n_rows
        warn_caller(sampled_sentence(MANY_ROWS_SAMPLE, n_rows))
        return MANY_ROWS_SAMPLE

    def _sums(self, kernel: Any, sample: NDArray[np.uint32]) -> NDArray[np.float64]:
        stop = _core.StopFlag()
        batches = np.array_split(sample, min(_BATCHES, len(sample)))
        with track(self, len(batches), task="batch") as progress:

            def work(batch: NDArray[np.uint32]) -> NDArray[np.float64]:
                sums: NDArray[np.float64] = kernel.sums(batch, stop)
                progress.advance()
                return sums

            # Batches are added up in order, so that rounding does not depend on the threads.
            return np.asarray(np.sum(in_threads(work, batches, self.n_jobs, stop), axis=0))

    def _own_support(self) -> NDArray[np.bool_]:
        return self.scores_ > _ROUNDING


def sampled_sentence(n_samples: int, n_rows: int) -> str:
    """Say that only some of the rows were compared with all of them.

    Examples
    --------
    >>> print(sampled_sentence(5000, 40_000))
    Only 5,000 of the 40,000 rows, drawn at random, were compared with the others; n_samples=None takes all.
    """
    return (
        f"Only {n_samples:,} of the {n_rows:,} rows, drawn at random, were compared with the others;"
        " n_samples=None takes all."
    )


def _scaled(table: ValueTable, used: NDArray[np.intp]) -> tuple[NDArray[np.float64], list[int]]:
    """Rows of numbers scaled to [0, 1] by their range among `used`, and of category codes; NaN is missing."""
    rows = np.full((len(used), table.n_columns), np.nan)
    n_values = [0] * table.n_columns
    for j, nominal in enumerate(table.schema.nominal):
        values = table.values[used, j].astype(np.float64)
        known = ~np.isnan(values)
        column = values[known]
        if nominal:  # categories are counted among these rows
            present, column = np.unique(column, return_inverse=True)
            n_values[j] = max(len(present), 1)
        elif column.size:
            if max(-column.min(), column.max()) > 1e300:
                column = column / 4  # so that the span cannot overflow
            span = np.ptp(column)
            column = (column - column.min()) / span if span > 0 else column * 0.0
        rows[known, j] = column
    return rows, n_values
