"""Unpruned trees with binary splits, for classes and for a quantity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from foresift.data.sklearn_compat import seed_of
from foresift.data.table import Table
from foresift.engine.node_table import NodeTable
from foresift.models.base_tree import TreeClassifier, TreeModel, TreeRegressor

__all__ = ["CartClassifier", "CartRegressor"]


class Cart(TreeModel):
    """A single tree, grown and not pruned."""

    node_table_: NodeTable

    def grow_on(self, table: Table, weights: NDArray[np.float64] | None) -> None:
        """Grow the tree on coded rows, which the members of an ensemble share."""
        grower = self._make_grower(table, weights, seed=seed_of(self.random_state))
        (self.node_table_,) = (NodeTable.from_core(a, tried=self.record_tried) for a in grower.grow([0]))
        self._set_attributes(table)

    @property
    def node_tables_(self) -> list[NodeTable]:  # type: ignore[override]
        """The tree as a list, for code shared with forests."""
        return [self.node_table_]


class CartClassifier(Cart, TreeClassifier):
    """An unpruned classification tree: binary splits of numeric and nominal columns.

    Parameters
    ----------
    criterion : {"entropy", "gini", "gain_ratio", "ssv"}, default="entropy"
        The split criterion: information gain in bits; decrease of the Gini impurity; gain over split
        information, among the splits of at least average gain (C4.5); separability of split value
        (Grabczewski & Jankowski).
    max_depth : int, default=None
        Maximum depth.
    min_samples_split : int or float, default=2
        Minimum weight of a node to split. A row of weight 2 counts as two rows. A float up to 1.0 is a
        fraction of the weight of all rows, but at least 2, as in scikit-learn.
    min_samples_leaf : int or float, default=1
        Minimum weight of a branch; of a multiway split, of two of its branches (as in C4.5). A float below
        1.0 is a fraction of the weight of all rows, as in scikit-learn; 1.0 is a weight of one.
    min_gain : float, default=0
        Minimum gain of a split. With 0 an impure node is split even if no single column has a gain, as in
        XOR.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Candidate columns per node: a number, a fraction, or all. A constant column counts, but drawing
        continues until one candidate is not constant.
    n_thresholds : int, default=None
        Number of candidate cuts per numeric column, drawn uniformly between the smallest and the largest
        value at the node; None evaluates every cut.
    nominal_splits : {"subsets", "multiway"}, default="subsets"
        Split a nominal column into two sets of categories, or into one branch per category.
    correct_nominal : bool, default=True
        Whether a nominal column with more than 16 categories must gain more than by chance. The search is
        repeated with the classes of the node's rows shuffled. Its gain is subtracted (but for "ssv", which is
        no gain) when candidates are compared, and a column that gains no more does not split. Without this,
        identifiers and other nearly unique values look like perfect splits. Recorded gains are not corrected.
    missing : {"learn", "fractional"}, default="learn"
        "learn": missing values go to the side with the better score (in a nominal column they are one more
        category); if none occurred at a node, to the largest branch. "fractional": a split is evaluated on
        the known rows, and the others go to all branches as fractional cases (C4.5).
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The nominal columns: by dtype (text, categories, booleans), none, or a list of names, indices or a
        mask.
    max_bins : int, default=65536
        A numeric column with more distinct values is cut into this many quantile bins; otherwise every cut is
        exact.
    record_tried : bool, default=False
        Keep the gains of all split candidates (`node_table_.tried`).
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives them equal total weight.
    random_state : int, RandomState or None, default=None
        Seed of the candidate columns, random cuts and shuffled classes; has no effect without these.

    Attributes
    ----------
    node_table_ : NodeTable
        The tree.
    classes_ : ndarray
        Class labels.
    n_features_in_, feature_names_in_, schema_
        Number, names and categories of the columns.

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
        correct_nominal=True,
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
        self.correct_nominal = correct_nominal
        self.missing = missing
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.record_tried = record_tried
        self.class_weight = class_weight
        self.random_state = random_state


class CartRegressor(Cart, TreeRegressor):
    """An unpruned regression tree: binary splits of numeric and nominal columns.

    Parameters
    ----------
    criterion : {"squared_error"}, default="squared_error"
        The split criterion: the decrease of the variance of y. The prediction of a leaf is its mean.
    max_depth, min_samples_split, min_samples_leaf, max_features, n_thresholds, missing
        Growth of the tree; see `CartClassifier`.
    min_gain : float, default=0
        Minimum gain of a split: a decrease of the variance, in squared units of y.
    nominal_splits, correct_nominal
        Splits of nominal columns; see `CartClassifier`. Their categories are ordered by their mean y; the
        best cut of that order is the best of all divisions into two sets (Fisher 1958).
    categorical_features, max_bins
        Reading of the data; see `CartClassifier`.
    record_tried : bool, default=False
        Keep the gains of all split candidates (`node_table_.tried`).
    random_state : int, RandomState or None, default=None
        Seed of the candidate columns, random cuts and shuffled y; has no effect without these.

    Attributes
    ----------
    node_table_ : NodeTable
        The tree.
    n_features_in_, feature_names_in_, schema_
        Number, names and categories of the columns.

    Examples
    --------
    >>> from foresift import CartRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> tree = CartRegressor(max_depth=2).fit(X, y)
    >>> tree.node_table_.n_leaves, round(tree.score(X, y), 2)
    (4, 0.43)
    """

    def __init__(
        self,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_gain=0.0,
        max_features=None,
        n_thresholds=None,
        nominal_splits="subsets",
        correct_nominal=True,
        missing="learn",
        categorical_features="from_dtype",
        max_bins=65_536,
        record_tried=False,
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
        self.correct_nominal = correct_nominal
        self.missing = missing
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.record_tried = record_tried
        self.random_state = random_state
