"""A random forest that draws candidate columns from a distribution over features."""

from __future__ import annotations

import copy
import numbers
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score
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
from foresift.engine.bootstrap import draw_options, oob_proba_sums
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
from foresift.models.trees import TreeClassifier

__all__ = ["SiftForestClassifier"]


class SiftForestClassifier(TreeClassifier):
    """A fast random forest for any table, with a choice of how candidate columns are drawn.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"entropy", "gini", "gain_ratio", "ssv"}, default="entropy"
        The split criterion; see `CartClassifier`.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Candidate columns per node. With 1, as in Rogers & Gunn, columns do not compete, so that their gains
        can be compared; more candidates usually predict better.
    n_thresholds : int, default=None
        Number of random candidate cuts per numeric column; None evaluates every cut.
    feature_sampling : str, array-like of shape (n_features,) or selector, default="uniform"
        The distribution from which the candidate columns of a node are drawn, without replacement:

        - "uniform": equal probabilities;
        - "confidence": by the mean gain in the trees so far, as uniform as its confidence intervals allow
          (Rogers & Gunn 3.1);
        - "two-stage": by the mean gain in one unpruned tree in which all columns are candidates at every
          node;
        - "two-stage+confidence": start like "two-stage", and change only as far as the confidence intervals
          require; the tree also sets the weight of one observation;
        - "soft": by the total gain in the trees so far (eq. 11);
        - an array: these weights; a column of weight 0 is never used;
        - a selector or other estimator: a clone is fitted to the training data, and the weights are its
          `scores_` (or `feature_importances_`), 0 outside its support.
    update_every : int, default=1
        Trees between two updates of an adaptive distribution. 1 as in the paper; a larger number lets that
        many trees grow in parallel.
    confidence : float, default=0.95
        Confidence of the intervals.
    weight_unit : float, default=0.1
        The weight of one observation in an interval, as a fraction of the node complexity of all data.
    soft_constant : float, default=1.0
        C of eq. 11: the initial gain of every column, in trees. The larger, the slower "soft" leaves the
        uniform distribution.
    bootstrap : bool, default=True
        Draw the rows of every tree with replacement; otherwise without (all rows, or `max_samples`).
    max_samples : int, float or None, default=None
        Rows drawn per tree: a number, a fraction, or as many as X has.
    oob_score : bool or callable, default=False
        Whether to compute the out-of-bag score: accuracy, or a callable of (y_true, y_predicted).
    max_depth, min_samples_split, min_samples_leaf, min_gain, nominal_splits, correct_nominal, missing
        Growth of the trees; see `CartClassifier`. Fractions are those of all rows, not of the rows drawn.
    categorical_features, max_bins, class_weight
        Reading of the data; see `CartClassifier`. The weight of a row in a tree is its class weight times its
        sample weight times how often it was drawn.
    record_tried : bool, default=False
        Keep the gains of all split candidates (`node_tables_[t].tried`).
    warm_start : bool, default=False
        Keep the trees of the last `fit` and add trees up to `n_estimators`.
    n_jobs : int, default=None
        Threads for growing and predicting; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of rows, columns and random cuts.

    Attributes
    ----------
    node_tables_ : list of NodeTable
        The trees.
    feature_weights_ : ndarray of shape (n_features,)
        The distribution of the columns after the last tree; sums to one.
    feature_gains_ : ndarray of shape (n_features,)
        Mean gain of every column, weighted by node complexity; see `foresift.importance.average_gain`.
    confidence_intervals_ : ndarray of shape (n_features, 2)
        Intervals of these means, if the sampling uses them; NaN with too few observations.
    mean_interval_sizes_ : ndarray of shape (n_updates,)
        Mean size of the intervals after every `update_every` trees, and after the last (Figure 5). The first
        may be huge, because it has hardly more than one observation.
    weight_changes_ : ndarray of shape (n_updates,)
        Change of an adaptive distribution in each of these updates, as the total variation distance.
    feature_importances_ : ndarray of shape (n_features,)
        Mean decrease of impurity; `foresift.importance` has better measures.
    oob_score_ : float
        Out-of-bag score, if `oob_score` is set.
    oob_decision_function_ : ndarray of shape (n, n_classes)
        Out-of-bag class probabilities of every row; NaN for a row that every tree was grown on.
    classes_ : ndarray
        Class labels.
    n_features_in_, feature_names_in_, schema_
        Number, names and categories of the columns.

    Examples
    --------
    >>> from foresift import SiftForestClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = SiftForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TreeClassifier._parameter_constraints,
        "n_estimators": [Interval(numbers.Integral, 1, None, closed="left")],
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

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="entropy",
        max_features="sqrt",
        n_thresholds=None,
        feature_sampling="uniform",
        update_every=1,
        confidence=0.95,
        weight_unit=0.1,
        soft_constant=1.0,
        bootstrap=True,
        max_samples=None,
        oob_score=False,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_gain=0.0,
        nominal_splits="subsets",
        correct_nominal=True,
        missing="learn",
        categorical_features="from_dtype",
        max_bins=65_536,
        record_tried=False,
        class_weight=None,
        warm_start=False,
        n_jobs=None,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_features = max_features
        self.n_thresholds = n_thresholds
        self.feature_sampling = feature_sampling
        self.update_every = update_every
        self.confidence = confidence
        self.weight_unit = weight_unit
        self.soft_constant = soft_constant
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.nominal_splits = nominal_splits
        self.correct_nominal = correct_nominal
        self.missing = missing
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.record_tried = record_tried
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    _seed: int
    _sampling: Sampling
    _sampling_name: str

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        old = self._trees_to_keep()
        table, weights = self._make_table(X, y, sample_weight)
        if old and (self.schema_, list(self.classes_)) != (table.schema, list(table.target.labels)):
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
        self._set_attributes(table)
        self._set_sampling(sampling, table.n_columns)
        if self.oob_score:
            self._score_out_of_bag(X, table, check_sample_weight(sample_weight, table.n_rows), grower)

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
        sums = GainSums(self.n_features_in_)
        sums.add_trees(self.node_tables_)
        return sums.mean

    def _make_sampling(
        self, X: Any, y: Any, sample_weight: Any, table: Table, weights: NDArray[np.float64] | None, seed: int
    ) -> Sampling:
        name = self.feature_sampling
        if not isinstance(name, str):
            given = weights_by(name, X, y, sample_weight, seed) if hasattr(name, "fit") else name
            return Sampling(checked_weights(given, table.n_columns))
        counts = table.target.counts(weights)
        return named_sampling(
            name,
            table.n_columns,
            counts,
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
        sums, times = oob_proba_sums(self.node_tables_, grower, batches, table.target.n_classes, self.n_jobs)
        weights = np.ones(table.n_rows) if weights is None else weights
        scored = (times > 0) & (weights > 0)
        if not scored[weights > 0].all():
            warn_caller(
                f"{((weights > 0) & ~scored).sum()} rows are in the sample of every tree and have no"
                " out-of-bag estimate: grow more trees."
            )
        with np.errstate(invalid="ignore"):
            self.oob_decision_function_ = sums / times[:, np.newaxis]
        truth = self.classes_.take(table.target.codes[scored])
        predicted = self.classes_.take(self.oob_decision_function_[scored].argmax(axis=1))
        if not scored.any():
            self.oob_score_ = float("nan")
        elif callable(self.oob_score):
            self.oob_score_ = float(self.oob_score(truth, predicted))
        else:
            self.oob_score_ = float(accuracy_score(truth, predicted, sample_weight=weights[scored]))
