"""The SSV decision tree (Grabczewski & Jankowski), pruned by an inner cross-validation."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from foresift import _core
from foresift.data.complete import missing_numbers, require_numbers
from foresift.data.folds import splits_of
from foresift.data.plain_state import saved
from foresift.data.sklearn_compat import (
    HasMethods,
    Interval,
    Progress,
    RealNotInt,
    StrOptions,
    seed_of,
    track,
)
from foresift.data.table import Schema, Table
from foresift.data.weights import check_sample_weight, scale_up
from foresift.engine.grow import grow_trees, in_threads
from foresift.engine.node_table import NodeTable
from foresift.engine.pruning import (
    GivenFolds,
    StratifiedFolds,
    errors_by_degree,
    prune_splits,
    pruning_degrees,
)
from foresift.models.base_tree import TreeClassifier

__all__ = ["SSVTreeClassifier"]

_SHARED = (
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "categorical_features",
    "max_bins",
    "class_weight",
    "random_state",
)


class SSVTreeClassifier(TreeClassifier):
    """A tree by the separability criterion SSV, pruned by cross-validation (Grabczewski & Jankowski).

    Every node is split in two, at a threshold of a numeric column or by a subset of the categories of a
    nominal one, where SSV is largest: twice the number of separated pairs of rows of different classes, minus
    the rows of each class on the side with fewer of them. The tree is grown until no node can be split. Then
    final splits (whose two sides are leaves) that save no more than a given number of training errors are
    deleted, and repeatedly those that become final. Inner cross-validation chooses this number, the degree of
    pruning.

    Parameters
    ----------
    pruning : "cv", int, float or None, default="cv"
        The degree of pruning: chosen by cross-validation; a number of training errors; a fraction of all
        rows; or no pruning. 0 deletes the splits that save no training error.
    cv : int, splitter of scikit-learn or list of pairs, default=10
        The cross-validation of pruning="cv": a number of stratified folds, a splitter, or pairs of training
        and held-out rows.
    max_depth, min_samples_split, min_samples_leaf, max_bins, class_weight
        As in `CartClassifier`.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        The nominal columns, as in `CartClassifier`. A missing value of a nominal column is one more category;
        missing values of a numeric column raise an error, also in `predict`.
    n_jobs : int, default=None
        Threads over the folds and in prediction; -1 uses all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Assigns the rows to folds.

    Attributes
    ----------
    node_table_ : NodeTable
        The tree, after pruning.
    pruning_degree_ : float or None
        The degree of pruning as a fraction of the weight of all rows: splits that save no more training
        errors are deleted. None without pruning.
    pruning_degrees_ : ndarray of shape (n_degrees,)
        The degrees that prune the full tree differently, from 0 up to the one that leaves only the root. Only
        with pruning="cv".
    cv_errors_ : ndarray of shape (n_degrees,)
        Error rate on held-out rows for each of them. Only with pruning="cv".
    classes_ : ndarray
        Class labels.
    n_features_in_, feature_names_in_, schema_
        Number, names and categories of the columns.

    See Also
    --------
    foresift.SSVSelector : Ranks features by SSV trees.

    Notes
    -----
    A degree counts errors relative to the number of rows, so that it has the same meaning for the full tree
    and for the trees of the folds. Only a few degrees change the full tree. For each of them the trees of the
    folds are pruned half way to the next degree, and their errors on held-out rows are added up. The degree
    with the fewest errors is chosen; of equal ones the largest, which leaves the simplest tree.

    A row of weight 2 counts as two rows in the folds too, and these may be in different folds. If the weights
    are not whole numbers, a row is in one fold with all its weight. The order of the rows has no effect.

    References
    ----------
    K. Grabczewski and N. Jankowski, "Feature selection with decision tree criterion", HIS 2005.

    Examples
    --------
    >>> from foresift import SSVTreeClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> SSVTreeClassifier(pruning=None).fit(X, y).node_table_.n_leaves
    20
    >>> tree = SSVTreeClassifier(random_state=0).fit(X, y)
    >>> tree.node_table_.n_leaves, round(tree.pruning_degree_ * len(y))
    (11, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "pruning": [
            StrOptions({"cv"}),
            Interval(numbers.Integral, 0, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="both"),
            None,
        ],
        "cv": [
            Interval(numbers.Integral, 2, None, closed="left"),
            HasMethods(["split", "get_n_splits"]),
            "array-like",
        ],
        **{name: TreeClassifier._parameter_constraints[name] for name in _SHARED},
        "n_jobs": [
            Interval(numbers.Integral, None, -1, closed="right"),
            Interval(numbers.Integral, 1, None, closed="left"),
            None,
        ],
    }

    # Parameters of growth that the paper fixes.
    criterion = "ssv"
    nominal_splits = "subsets"
    missing = "learn"
    max_features = None
    n_thresholds = None
    min_gain = 0.0
    record_tried = False

    node_table_: NodeTable

    def __init__(
        self,
        *,
        pruning="cv",
        cv=10,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        categorical_features="from_dtype",
        max_bins=65_536,
        class_weight=None,
        n_jobs=None,
        random_state=None,
    ):
        self.pruning = pruning
        self.cv = cv
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.categorical_features = categorical_features
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        table, weights = self._make_table(X, y, sample_weight)
        require_numbers(table)
        folds = self._folds(table, weights, sample_weight) if self.pruning == "cv" else None
        with track(self, 1 + (folds.n_folds if folds else 0), task="tree", X=X, y=y) as progress:
            (full,) = grow_trees(self._make_grower(table, weights), [0], progress, tried=False)
            if folds:
                self._cross_validate(full, X, table, weights, folds, progress)
        self.pruning_degree_ = self._degree(full)
        self.node_table_ = full if self.pruning_degree_ is None else prune_splits(full, self.pruning_degree_)
        self._set_attributes(table)

    def _folds(
        self, table: Table, weights: NDArray[np.float64] | None, sample_weight: Any
    ) -> GivenFolds | StratifiedFolds:
        effective = np.ones(table.n_rows) if weights is None else weights
        if not isinstance(self.cv, numbers.Integral):
            return GivenFolds(splits_of(self.cv, table.target.codes), effective)
        # Class weights do not repeat rows, but a class weight of 0 removes them.
        copies = scale_up(check_sample_weight(sample_weight, table.n_rows))
        counted = np.where(effective > 0, 1.0 if copies is None else copies, 0.0)
        return StratifiedFolds(table, counted, int(self.cv), seed_of(self.random_state))

    def _degree(self, full: NodeTable) -> float | None:
        if self.pruning is None:
            return None
        if self.pruning == "cv":
            least = self.cv_errors_.min() + 1e-9
            return float(self.pruning_degrees_[np.flatnonzero(self.cv_errors_ <= least)[-1]])
        is_count = isinstance(self.pruning, numbers.Integral)
        return float(self.pruning / full.nodes["size"][0] if is_count else self.pruning)

    def _cross_validate(
        self,
        full: NodeTable,
        X: Any,
        table: Table,
        weights: NDArray[np.float64] | None,
        folds: GivenFolds | StratifiedFolds,
        progress: Progress,
    ) -> None:
        """Count the errors of the trees of the folds on held-out rows, by degree of pruning."""
        weights = np.ones(table.n_rows) if weights is None else weights
        degrees = np.unique(pruning_degrees(full).clip(min=0.0))
        between = np.append((degrees[:-1] + degrees[1:]) / 2, np.inf)
        stop = _core.StopFlag()

        def grow(fold: int) -> NodeTable:
            grower = self._make_grower(table, folds.parts(fold, weights)[0])
            (arrays,) = grower.grow([0], None, stop)
            progress.advance()
            return NodeTable.from_core(arrays, tried=False)

        trees = in_threads(grow, range(folds.n_folds), self.n_jobs, stop)
        errors, total, begin = np.zeros(len(degrees)), 0.0, 0
        for batch in table.schema.encode_batches(X):
            for fold, tree in enumerate(trees):
                out = folds.parts(fold, weights)[1][begin : begin + len(batch)]
                rows = np.flatnonzero(out)
                total += float(out.sum())
                leaves = _core.leaves(tree.arrays, np.ascontiguousarray(batch[rows]))
                errors += errors_by_degree(tree, leaves, table.target.codes[begin + rows], out[rows], between)
            begin += len(batch)
        self.pruning_degrees_, self.cv_errors_ = degrees, errors / total if total > 0 else errors

    def _set_attributes(self, table: Table) -> None:
        super()._set_attributes(table)
        self.schema_ = CompleteSchema(**vars(table.schema))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False  # in numeric columns
        return tags

    @property
    def node_tables_(self) -> list[NodeTable]:  # type: ignore[override]
        """The tree as a list, for code shared with forests."""
        return [self.node_table_]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Sum of the SSV of every feature's splits, scaled to a sum of one (all 0 without a split)."""
        check_is_fitted(self)
        nodes = self.node_table_.nodes[~self.node_table_.is_leaf]
        sums = np.bincount(nodes["feature"], nodes["gain"], minlength=self.n_features_in_)
        return np.asarray(sums / sums.sum() if sums.sum() > 0 else sums)


@saved
@dataclass(frozen=True, eq=False)
class CompleteSchema(Schema):
    """A schema that rejects missing values in numeric columns."""

    def encode(self, X: Any, estimator: Any = None) -> NDArray[Any]:
        """Encode X as `Schema.encode` does, and raise if a numeric column has missing values."""
        values = super().encode(X, estimator)
        if len(values):
            incomplete = np.isnan(values.min(axis=0)) & ~self.nominal  # the minimum propagates NaN
            if incomplete.any():
                raise ValueError(missing_numbers(self.names, np.flatnonzero(incomplete).tolist()))
        return values
