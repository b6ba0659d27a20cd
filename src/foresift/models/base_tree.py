"""The base of all trees and forests: growth parameters, reading of data, fit and prediction."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from foresift import _core
from foresift.data.plain_state import PlainEstimator
from foresift.data.sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    RealNotInt,
    StrOptions,
    fit_context,
    table_tags,
    track,
)
from foresift.data.table import Schema, Table, make_table
from foresift.data.weights import check_sample_weight, scale_up
from foresift.engine.grow import in_row_spans, make_grower, resolve_max_features
from foresift.engine.node_table import NodeTable, TableArrays

__all__ = ["TreeClassifier", "TreeModel", "TreeRegressor"]


class TreeModel(CallbackSupportMixin, PlainEstimator):
    """What trees and forests share, whether they predict classes or a quantity."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_depth": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "min_samples_split": [
            Interval(numbers.Real, 2, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "min_samples_leaf": [Interval(numbers.Real, 0, None, closed="neither")],
        "min_gain": [Interval(numbers.Real, 0, None, closed="left")],
        "max_features": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "n_thresholds": [Interval(numbers.Integral, 1, 65_536, closed="both"), None],
        "nominal_splits": [StrOptions({"subsets", "multiway"})],
        "correct_nominal": ["boolean"],
        "missing": [StrOptions({"learn", "fractional"})],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "max_bins": [Interval(numbers.Integral, 2, 65_536, closed="both")],
        "record_tried": ["boolean"],
        "random_state": ["random_state"],
    }

    correct_nominal = False  # a parameter of plain trees and forests only
    constant_draw = "redraw"  # a parameter of forests only
    _task: ClassVar[str]  # of `make_table`

    node_tables_: list[NodeTable]
    schema_: Schema
    n_features_in_: int
    # Only of single trees: grows the tree on coded rows, which the members of an ensemble share.
    grow_on: Callable[[Table, NDArray[np.float64] | None], None]

    @fit_context(prefer_skip_nested_validation=False)  # a forest may have a selector among its parameters
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to training data.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The columns; missing values are allowed, except by `SSVTreeClassifier` in numeric columns.
        y : array-like of shape (n,)
            The class of every row; for a regressor a finite number.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows: a row of weight 2 counts as two rows, a row of weight 0 is ignored. Weights
            with a mean below one are scaled to a mean of one.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Fit a single tree; other models override this."""
        table, weights = self._make_table(X, y, sample_weight)
        with track(self, 1, task="tree", X=X, y=y) as progress:
            self.grow_on(table, weights)
            progress.advance()

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Find the leaf that every row reaches.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows. If a missing value is divided among all branches, it follows the largest one.

        Returns
        -------
        ndarray of shape (n, n_trees)
            Rows of the node tables.
        """
        check_is_fitted(self)
        batches = [np.ascontiguousarray(batch) for batch in self.schema_.encode_batches(X, self)]
        leaves = [
            np.stack([_core.leaves(table.arrays, batch) for table in self.node_tables_], axis=1)
            for batch in batches
        ]
        return np.concatenate(leaves)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean decrease of impurity of every feature, scaled to a sum of one (all 0 without a split)."""
        check_is_fitted(self)
        decreases = np.array([table.decreases(self.n_features_in_) for table in self.node_tables_])
        totals = decreases.sum(axis=1, keepdims=True)
        mean = np.divide(decreases, totals, out=np.zeros_like(decreases), where=totals > 0).mean(axis=0)
        return np.asarray(mean / mean.sum() if mean.sum() > 0 else mean)

    def __sklearn_tags__(self) -> Any:
        return table_tags(super().__sklearn_tags__())

    def outputs_of_encoded(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Class probabilities, or the quantity in one column, of rows from `Schema.encode`, C-contiguous."""
        arrays = [table.arrays for table in self.node_tables_]
        return self._output_sums(arrays, values) / len(arrays)

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, or the quantity in one column: those of the leaves, averaged over trees."""
        check_is_fitted(self)
        arrays = [table.arrays for table in self.node_tables_]
        parts = [self._output_sums(arrays, batch) for batch in self.schema_.encode_batches(X, self)]
        return np.concatenate(parts) / len(arrays)

    def _output_sums(self, arrays: list[TableArrays], batch: NDArray[Any]) -> NDArray[np.float64]:
        values = np.ascontiguousarray(batch)
        sums = np.zeros((len(values), self.node_tables_[0].counts.shape[1]))

        def add(first: int, last: int, stop: _core.StopFlag) -> None:
            _core.add_proba(arrays, values[first:last], None, sums[first:last], stop)

        in_row_spans(add, len(values), getattr(self, "n_jobs", 1))
        return sums

    def _make_table(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, NDArray[np.float64] | None]:
        table = make_table(
            X,
            y,
            categorical_features=self.categorical_features,
            max_bins=self.max_bins,
            estimator=self,
            task=self._task,
        )
        table.target.require_variety(self)
        return table, self.row_weights(table, check_sample_weight(sample_weight, table.n_rows))

    def row_weights(self, table: Table, weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Weights of the rows for the engine, with a mean of at least one."""
        return scale_up(weights)

    def _make_grower(self, table: Table, weights: NDArray[np.float64] | None, **others: Any) -> _core.Grower:
        """Make the engine for these data; `others` add to or replace the options of the estimator."""
        min_split, min_leaf = self._min_weights(table.n_rows if weights is None else float(weights.sum()))
        options = {
            "criterion": self.criterion,
            "missing": self.missing,
            "n_thresholds": self.n_thresholds or 0,
            "multiway": self.nominal_splits == "multiway",
            "correct_nominal": bool(self.correct_nominal),
            "min_leaf": min_leaf,
            "max_features": resolve_max_features(self.max_features, table.n_columns),
            "constant_leaf": self.constant_draw == "leaf",
            "max_depth": -1 if self.max_depth is None else min(self.max_depth, 2**31 - 1),
            "min_split": min_split,
            "min_gain": float(self.min_gain),
            "record_tried": bool(self.record_tried),
        }
        return make_grower(table, weights, **{**options, **others})

    def _min_weights(self, total: float) -> tuple[float, float]:
        """Minimum weight of a node to split, and of a branch; `total` is the weight of all rows."""
        split, leaf = float(self.min_samples_split), float(self.min_samples_leaf)
        return max(2.0, split * total) if split <= 1 else split, leaf * total if leaf < 1 else leaf

    def _set_attributes(self, table: Table) -> None:
        self.schema_ = table.schema


class TreeClassifier(ClassifierMixin, TreeModel):
    """Base of trees and forests that predict classes."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TreeModel._parameter_constraints,
        "criterion": [StrOptions({"entropy", "gini", "gain_ratio", "ssv"})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    _task = "classification"
    classes_: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of every row.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows. A category that did not occur at a node follows the largest branch of the node.

        Returns
        -------
        ndarray of shape (n,)
            Class labels; of equally probable classes the first in `classes_`.
        """
        proba = self.predict_proba(X)
        return np.asarray(self.classes_.take(proba.argmax(axis=1)))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities: the class frequencies of the leaves, averaged over trees.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return self._outputs(X)

    def row_weights(self, table: Table, weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Weights of the rows for the engine: sample times class weights, with a mean of at least one."""
        if self.class_weight is not None:
            self._check_class_weight()
            rows = slice(None) if weights is None else weights > 0
            by_class = np.zeros(table.n_rows)
            by_class[rows] = compute_sample_weight(self.class_weight, table.target.values(rows))
            weights = by_class if weights is None else weights * by_class
            if not weights.any():
                raise ValueError("class_weight gives every row a weight of 0: make one of them positive.")
        return scale_up(weights)

    def _check_class_weight(self) -> None:
        if not isinstance(self.class_weight, dict):
            return
        weights = self.class_weight.values()
        if not all(isinstance(weight, numbers.Real) and 0 <= float(weight) <= 1e50 for weight in weights):
            raise ValueError(f"class_weight must hold weights from 0 to 1e50, but is {self.class_weight}.")

    def _set_attributes(self, table: Table) -> None:
        super()._set_attributes(table)
        self.classes_ = table.target.labels
        self.n_classes_ = table.target.n_classes


class TreeRegressor(RegressorMixin, TreeModel):
    """Base of trees and forests that predict a quantity."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TreeModel._parameter_constraints,
        "criterion": [StrOptions({"squared_error"})],
    }

    _task = "regression"

    def _make_table(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, NDArray[np.float64] | None]:
        table, weights = super()._make_table(X, y, sample_weight)
        table.target.require_variety(self, weights)
        return table, weights

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the quantity of every row: the mean of the leaf, averaged over trees.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows. A category that did not occur at a node follows the largest branch of the node.

        Returns
        -------
        ndarray of shape (n,)
            The predictions.
        """
        return self._outputs(X)[:, 0]

    def _make_grower(self, table: Table, weights: NDArray[np.float64] | None, **others: Any) -> _core.Grower:
        return super()._make_grower(table, weights, **{"criterion": "variance", **others})
