"""The base of random forests that draw candidate columns from a distribution over features."""

from __future__ import annotations

import copy
import numbers
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from foresift import _core
from foresift.data.sklearn_compat import (
    HasMethods,
    Interval,
    Progress,
    RealNotInt,
    StrOptions,
    seed_of,
    track,
)
from foresift.data.table import Table
from foresift.data.weights import check_sample_weight
from foresift.engine.bootstrap import draw_options, oob_sums, score_out_of_bag
from foresift.engine.candidate_gains import GainSums
from foresift.engine.column_sampling import (
    LEARNING,
    NAMES,
    ConfidenceSampling,
    Sampling,
    checked_weights,
    named_sampling,
    weights_by,
)
from foresift.engine.grow import grow_trees
from foresift.engine.node_table import NodeTable
from foresift.errors import warn_caller
from foresift.models.base_tree import TreeModel

__all__ = ["ForestModel"]


class ForestModel(TreeModel):
    """What the forests share, whether they predict classes or a quantity."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TreeModel._parameter_constraints,
        "n_estimators": [Interval(numbers.Integral, 1, None, closed="left")],
        "constant_draw": [StrOptions({"redraw", "leaf"})],
        "feature_sampling": [StrOptions(NAMES), "array-like", HasMethods(["fit", "get_params"])],
        "update_every": [Interval(numbers.Integral, 1, None, closed="left")],
        "confidence": [Interval(numbers.Real, 0, 1, closed="neither")],
        "weight_unit": [Interval(numbers.Real, 0, None, closed="neither")],
        "soft_constant": [Interval(numbers.Real, 0, None, closed="left")],
        "bootstrap": ["boolean"],
        "max_samples": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            None,
        ],
        "oob_score": ["boolean", callable],
        "warm_start": ["boolean"],
        "n_jobs": [numbers.Integral, None],
    }

    _seed: int
    _gain_unit: float = 1.0
    _metric: ClassVar[Callable[..., float]]  # of the out-of-bag score
    _sampling: Sampling
    _sampling_name: str

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        old = self._trees_to_keep()
        table, weights = self._make_table(X, y, sample_weight)
        if old and not self._continues(table):
            raise ValueError(
                "warm_start would keep trees of other columns, categories or classes: set it to False."
            )
        n_rows = table.n_rows if weights is None else int(np.count_nonzero(weights))
        seed = self._seed if old else seed_of(self.random_state)
        draw = draw_options(self.bootstrap, self.max_samples, n_rows)
        if self.oob_score and draw != {**draw, "draw": "bootstrap"} and draw.get("n_draw", n_rows) == n_rows:
            raise ValueError(
                "oob_score needs rows outside the sample of a tree: set bootstrap=True, or max_samples below"
                " 1.0."
            )
        sampling = self._sampling_to_keep() if old else None
        if sampling is None:
            sampling = self._make_sampling(X, y, sample_weight, table, weights, seed)
        grower = self._make_grower(
            table, weights, seed=seed, **draw, record_tried=bool(self.record_tried or sampling.learns)
        )
        wanted = range(len(old), self.n_estimators)
        with track(self, len(wanted), task="tree", X=X, y=y) as progress:
            new = self._grow(grower, wanted, sampling, progress)
        self.node_tables_ = old + new
        self._seed = seed
        self._gain_unit = self._gain_unit if old else table.target.gain_unit(weights)
        self._set_attributes(table)
        self._set_sampling(sampling, table.n_columns)
        if self.oob_score:
            self._score_out_of_bag(X, table, check_sample_weight(sample_weight, table.n_rows), grower)

    def _continues(self, table: Table) -> bool:
        """Whether trees of this table can be added to those of the last fit."""
        return self.schema_ == table.schema

    def _trees_to_keep(self) -> list[NodeTable]:
        if not self.warm_start or not hasattr(self, "node_tables_"):
            return []
        n_old = len(self.node_tables_)
        if self.n_estimators < n_old:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to the {n_old} trees grown so far "
                "when warm_start=True."
            )
        if (self.node_tables_[0].tried is not None) != self.record_tried:
            raise ValueError("record_tried cannot change between fits when warm_start=True.")
        if self.n_estimators == n_old:
            warn_caller("Warm-start fitting without increasing n_estimators does not fit new trees.")
        return self.node_tables_

    def _grow(
        self, grower: _core.Grower, wanted: range, sampling: Sampling, progress: Progress
    ) -> list[NodeTable]:
        """Grow the trees of these numbers; update an adaptive sampling after every `update_every` trees."""

        def grow(numbers: range, *, tried: bool) -> list[NodeTable]:
            weights = sampling.weights
            return grow_trees(
                grower, numbers, progress, tried=tried, feature_weights=weights, n_jobs=self.n_jobs
            )

        if not sampling.learns:
            return grow(wanted, tried=self.record_tried)
        grown: list[NodeTable] = []
        at = wanted.start
        while at < wanted.stop:
            # Updates come after multiples of `update_every`, also when a warm start begins in between.
            end = min(wanted.stop, (at // self.update_every + 1) * self.update_every)
            batch = grow(range(at, end), tried=True)
            sampling.learn(batch)
            grown += batch if self.record_tried else [replace(table, tried=None) for table in batch]
            at += len(batch)
            if at < end:  # a callback asked to stop
                break
            if at % self.update_every == 0:
                sampling.update()
        return grown

    def _sampling_to_keep(self) -> Sampling | None:
        """A copy of the adaptive sampling of the kept trees; None if the sampling is not adaptive."""
        name = self.feature_sampling if isinstance(self.feature_sampling, str) else ""
        if name in LEARNING and name != self._sampling_name:
            raise ValueError(
                f'feature_sampling="{name}" learns from all trees, so a warm start cannot change to it: '
                "keep the one of the last fit, or set warm_start to False."
            )
        return copy.deepcopy(self._sampling) if name in LEARNING else None  # a copy, for this fit may fail

    def _set_sampling(self, sampling: Sampling, n_features: int) -> None:
        """Keep the sampling for a warm start, and set attributes to its state after the last tree."""
        self._sampling = sampling
        self._sampling_name = self.feature_sampling if isinstance(self.feature_sampling, str) else ""
        if sampling.learns and len(self.node_tables_) % self.update_every != 0:
            sampling = copy.deepcopy(sampling)
            sampling.update()
        uniform = np.full(n_features, 1 / n_features)
        self.feature_weights_ = uniform if sampling.weights is None else sampling.weights
        for name in ("confidence_intervals_", "mean_interval_sizes_", "weight_changes_"):
            self.__dict__.pop(name, None)  # of another sampling, before a warm start
        if isinstance(sampling, ConfidenceSampling):
            self.confidence_intervals_ = sampling.intervals
            self.mean_interval_sizes_ = np.array(sampling.sizes)
        if sampling.learns:
            self.weight_changes_ = np.array(sampling.changes)

    @property
    def feature_gains_(self) -> NDArray[np.float64]:
        """Mean gain of every feature as a split candidate, weighted by node complexity."""
        check_is_fitted(self)
        if isinstance(self._sampling, ConfidenceSampling):
            return self._sampling.sums.mean
        sums = GainSums(self.n_features_in_, self._gain_unit)
        sums.add_trees(self.node_tables_)
        return sums.mean

    def _make_sampling(
        self, X: Any, y: Any, sample_weight: Any, table: Table, weights: NDArray[np.float64] | None, seed: int
    ) -> Sampling:
        name = self.feature_sampling
        if not isinstance(name, str):
            given = weights_by(name, X, y, sample_weight, seed) if hasattr(name, "fit") else name
            return Sampling(checked_weights(given, table.n_columns))
        return named_sampling(
            name,
            table.n_columns,
            table.target,
            weights,
            lambda: self._grow_whole_tree(table, weights, seed),
            confidence=self.confidence,
            weight_unit=self.weight_unit,
            soft_constant=self.soft_constant,
        )

    def _grow_whole_tree(self, table: Table, weights: NDArray[np.float64] | None, seed: int) -> NodeTable:
        """Grow an unpruned tree on all rows, with all columns as recorded candidates at every node."""
        full = {"max_features": table.n_columns, "max_depth": -1, "min_split": 2.0, "min_leaf": 1.0}
        options = {**full, "min_gain": 0.0, "record_tried": True, "draw": "all", "seed": seed}
        arrays = self._make_grower(table, weights, **options).grow([0])
        return NodeTable.from_core(arrays[0], tried=True)

    def _score_out_of_bag(
        self, X: Any, table: Table, weights: NDArray[np.float64] | None, grower: _core.Grower
    ) -> None:
        batches = self.schema_.encode_batches(X, self)
        sums, times = oob_sums(self.node_tables_, grower, batches, table.target.n_outputs, self.n_jobs)
        with np.errstate(invalid="ignore"):
            predicted = self._keep_oob(sums / times[:, np.newaxis])
        weights = np.ones(table.n_rows) if weights is None else weights
        self.oob_score_ = score_out_of_bag(
            self.oob_score, self._metric, table.target, predicted, times > 0, weights
        )

    @abstractmethod
    def _keep_oob(self, outputs: NDArray[np.float64]) -> NDArray[Any]:
        """Set the attribute with the out-of-bag outputs, NaN without any, and return the predictions."""
