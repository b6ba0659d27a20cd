"""Classification trees on the native engine."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from foresift import _core
from foresift.data.sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    RealNotInt,
    StrOptions,
    fit_context,
    seed_of,
    table_tags,
    track,
)
from foresift.data.table import Schema, Table, make_table
from foresift.data.weights import check_sample_weight, scale_up
from foresift.engine.grow import in_row_spans, make_grower, resolve_max_features
from foresift.engine.node_table import NODE_DTYPE, TRIED_DTYPE, NodeTable, TableArrays

__all__ = ["NODE_DTYPE", "TRIED_DTYPE", "CartClassifier", "NodeTable", "TreeClassifier"]


class TreeClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """What a tree and a forest share: parameters of growth, preparation of data, prediction."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": [StrOptions({"entropy", "gini", "gain_ratio", "ssv"})],
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
        "missing": [StrOptions({"learn", "fractional"})],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
        "max_bins": [Interval(numbers.Integral, 2, 65_536, closed="both")],
        "record_tried": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "random_state": ["random_state"],
    }

    node_tables_: list[NodeTable]
    schema_: Schema
    classes_: NDArray[Any]
    n_features_in_: int

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of every row.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows. A category that was not seen at a node of a tree takes that node's largest branch.

        Returns
        -------
        ndarray of shape (n,)
            Class labels; of equally probable classes the first in `classes_`.
        """
        shares = self.predict_proba(X)
        return np.asarray(self.classes_.take(shares.argmax(axis=1)))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of every class: the class shares of the leaves, averaged over trees.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities, in the order of `classes_`.
        """
        check_is_fitted(self)
        arrays = [table.arrays for table in self.node_tables_]
        parts = [self._sum_of_shares(arrays, batch) for batch in self.schema_.encode_batches(X, self)]
        return np.concatenate(parts) / len(arrays)

    def proba_of_encoded(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Predict the probability of every class for rows that `Schema.encode` has read, C-contiguous."""
        arrays = [table.arrays for table in self.node_tables_]
        return self._sum_of_shares(arrays, values) / len(arrays)

    def _sum_of_shares(self, arrays: list[TableArrays], batch: NDArray[Any]) -> NDArray[np.float64]:
        values = np.ascontiguousarray(batch)
        sums = np.zeros((len(values), len(self.classes_)))

        def add(first: int, last: int, stop: _core.StopFlag) -> None:
            _core.add_proba(arrays, values[first:last], None, sums[first:last], stop)

        in_row_spans(add, len(values), getattr(self, "n_jobs", 1))
        return sums

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Find the leaf that every row reaches.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The rows. Where a missing value goes to all branches in parts, the largest one is followed.

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
        """Mean decrease of impurity of every feature, scaled to a sum of one (all 0 if nothing was split)."""
        check_is_fitted(self)
        decreases = np.array([table.decreases(self.n_features_in_) for table in self.node_tables_])
        totals = decreases.sum(axis=1, keepdims=True)
        mean = np.divide(decreases, totals, out=np.zeros_like(decreases), where=totals > 0).mean(axis=0)
        return np.asarray(mean / mean.sum() if mean.sum() > 0 else mean)

    def __sklearn_tags__(self) -> Any:
        return table_tags(super().__sklearn_tags__())

    def _make_table(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, NDArray[np.float64] | None]:
        table = make_table(
            X, y, categorical_features=self.categorical_features, max_bins=self.max_bins, estimator=self
        )
        table.target.require_two_classes(self)
        return table, self.row_weights(table, check_sample_weight(sample_weight, table.n_rows))

    def row_weights(self, table: Table, weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        """Weights of the rows for the engine: those of their classes included, at least one on average."""
        if self.class_weight is not None:
            self._check_class_weight()
            rows = slice(None) if weights is None else weights > 0
            by_class = np.zeros(table.n_rows)
            by_class[rows] = compute_sample_weight(self.class_weight, table.target.values(rows))
            weights = by_class if weights is None else weights * by_class
            if not weights.any():
                raise ValueError("class_weight leaves no row with a weight: make that of a class positive.")
        return scale_up(weights)

    def _check_class_weight(self) -> None:
        if not isinstance(self.class_weight, dict):
            return
        weights = self.class_weight.values()
        if not all(isinstance(weight, numbers.Real) and 0 <= float(weight) <= 1e50 for weight in weights):
            raise ValueError(f"class_weight must hold weights from 0 to 1e50, but is {self.class_weight}.")

    def _make_grower(self, table: Table, weights: NDArray[np.float64] | None, **others: Any) -> _core.Grower:
        """Make the engine for these data; `others` are further options, or replace those of the estimator."""
        min_split, min_leaf = self._least_weights(table.n_rows if weights is None else float(weights.sum()))
        options = {
            "criterion": self.criterion,
            "missing": self.missing,
            "n_thresholds": self.n_thresholds or 0,
            "multiway": self.nominal_splits == "multiway",
            "min_leaf": min_leaf,
            "max_features": resolve_max_features(self.max_features, table.n_columns),
            "max_depth": -1 if self.max_depth is None else min(self.max_depth, 2**31 - 1),
            "min_split": min_split,
            "min_gain": float(self.min_gain),
            "record_tried": bool(self.record_tried),
        }
        return make_grower(table, weights, **{**options, **others})

    def _least_weights(self, total: float) -> tuple[float, float]:
        """Least weight of a node that may be split, and of a branch; `total` is the weight of all rows.

        scikit-learn rounds shares of the rows up, which makes no difference to whole numbers of rows.
        """
        split, leaf = float(self.min_samples_split), float(self.min_samples_leaf)
        return max(2.0, split * total) if split <= 1 else split, leaf * total if leaf < 1 else leaf

    def _learned(self, table: Table) -> None:
        self.schema_ = table.schema
        self.classes_ = table.target.labels
        self.n_classes_ = table.target.n_classes


class CartClassifier(TreeClassifier):
    """A classification tree, unpruned: binary cuts of numeric and two sets of categories of nominal columns.

    Parameters
    ----------
    criterion : {"entropy", "gini", "gain_ratio", "ssv"}, default="entropy"
        What a split is judged by: information gain in bits; decrease of the Gini impurity; gain over split
        information, among the splits of at least average gain (C4.5); separability of split value
        (Grabczewski & Jankowski).
    max_depth : int, default=None
        Most splits from the root to a leaf.
    min_samples_split : int or float, default=2
        Least weight of a node that may be split. Weights count: a row of weight 2 is two rows. A float up to
        1.0 is a share of the weight of all rows, though at least 2, as in scikit-learn.
    min_samples_leaf : int or float, default=1
        Least weight of a branch; of a multiway split, of two of its branches (as in C4.5). A float below 1.0
        is a share of the weight of all rows, as in scikit-learn; 1.0 is a weight of one.
    min_gain : float, default=0
        Least gain of a split. With 0 an impure node is split even if no column helps by itself, as XOR needs.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Columns tried per node: a number, a share, or all. A constant column counts, but one that is not
        constant is tried as long as there is one.
    n_thresholds : int, default=None
        Try this many cuts per numeric column, drawn uniformly between the smallest and the largest value at
        the node; None tries every cut.
    nominal_splits : {"subsets", "multiway"}, default="subsets"
        Split a nominal column into two sets of categories, or into one branch per category.
    missing : {"learn", "fractional"}, default="learn"
        "learn": missing values go together to the side that scores best (of a nominal column: they are one
        more category); where a node saw none, to the largest branch. "fractional": a split is judged on the
        known rows and the others go to all branches as fractions of a case (C4.5).
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns are nominal: by dtype (text, categories, booleans), none, or those named, numbered or
        masked here.
    max_bins : int, default=65536
        A numeric column with more distinct values is cut into so many quantile bins; below, cuts are exact.
    record_tried : bool, default=False
        Keep the gain of every column tried at every node (`node_table_.tried`).
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" makes them equally heavy.
    random_state : int, RandomState or None, default=None
        Draws columns and random cuts; a tree that tries everything needs none.

    Attributes
    ----------
    node_table_ : NodeTable
        The tree.
    classes_ : ndarray
        Class labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, if X had any.
    schema_ : Schema
        What the columns were: nominal ones with their categories.

    Examples
    --------
    >>> from foresift import CartClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CartClassifier(max_depth=2).fit(X, y)
    >>> tree.node_table_.n_leaves, round(tree.score(X, y), 2)
    (3, 0.96)
    """

    def __init__(
        self,
        *,
        criterion="entropy",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_gain=0.0,
        max_features=None,
        n_thresholds=None,
        nominal_splits="subsets",
        missing="learn",
        categorical_features="from_dtype",
        max_bins=65_536,
        record_tried=False,
        class_weight=None,
        random_state=None,
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.n_thresholds = n_thresholds
        self.nominal_splits = nominal_splits
        self.missing = missing
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.record_tried = record_tried
        self.class_weight = class_weight
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> CartClassifier:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or mapping of shape (n, n_features)
            The columns; missing values are allowed.
        y : array-like of shape (n,)
            The class of every row.
        sample_weight : array-like of shape (n,), default=None
            How much each row counts: a row of weight 2 is two rows, one of weight 0 is not there. Weights
            that are below one on average are scaled up to an average of one.

        Returns
        -------
        CartClassifier
            Itself.
        """
        table, weights = self._make_table(X, y, sample_weight)
        with track(self, 1, task="tree", X=X, y=y) as progress:
            self.grow_on(table, weights)
            progress.advance()
        return self

    def grow_on(self, table: Table, weights: NDArray[np.float64] | None) -> None:
        """Grow the tree on rows that are coded already, as members of an ensemble share them."""
        grower = self._make_grower(table, weights, seed=seed_of(self.random_state))
        (self.node_table_,) = (NodeTable.from_core(a, tried=self.record_tried) for a in grower.grow([0]))
        self._learned(table)

    @property
    def node_tables_(self) -> list[NodeTable]:  # type: ignore[override]
        """The tree as a list of one, as forests have it."""
        return [self.node_table_]
