"""Random forests that draw candidate columns from a distribution over features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from foresift.data.table import Table
from foresift.models.base_forest import ForestModel
from foresift.models.base_tree import TreeClassifier, TreeRegressor

__all__ = ["FORESTS", "SiftForestClassifier", "SiftForestRegressor", "default_forest"]


class SiftForestClassifier(ForestModel, TreeClassifier):
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
    constant_draw : {"redraw", "leaf"}, default="redraw"
        What a node does if all candidate columns are constant in it: draw further columns, one by one, until
        one is not; or become a leaf, as in R's randomForest and ranger. It matters with few candidates and
        columns of few values.
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
        **ForestModel._parameter_constraints,
    }
    _metric = staticmethod(accuracy_score)

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="entropy",
        max_features="sqrt",
        constant_draw="redraw",
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
        self.constant_draw = constant_draw
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

    def _continues(self, table: Table) -> bool:
        return super()._continues(table) and list(self.classes_) == list(table.target.labels)

    def _keep_oob(self, outputs: NDArray[np.float64]) -> NDArray[Any]:
        self.oob_decision_function_ = outputs
        return np.asarray(self.classes_.take(outputs.argmax(axis=1)))


class SiftForestRegressor(ForestModel, TreeRegressor):
    """A fast random forest for a quantity, with a choice of how candidate columns are drawn.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"squared_error"}, default="squared_error"
        The split criterion: the decrease of the variance of y.
    max_features : int, float, {"sqrt", "log2"} or None, default=1/3
        Candidate columns per node. A third of the columns, at least one, as in R's randomForest;
        scikit-learn's forest has all of them by default (1.0).
    constant_draw : {"redraw", "leaf"}, default="redraw"
        What a node does if all candidate columns are constant in it; see `SiftForestClassifier`.
    feature_sampling, update_every, confidence, weight_unit
        The distribution from which the candidate columns of a node are drawn; see `SiftForestClassifier`.
        Gains are decreases of the variance; in the node complexity every distinct y is a class.
    soft_constant : float, default=1.0
        The initial gain of every column in "soft", in variances of y.
    bootstrap : bool, default=True
        Draw the rows of every tree with replacement; otherwise without (all rows, or `max_samples`).
    max_samples : int, float or None, default=None
        Rows drawn per tree: a number, a fraction, or as many as X has.
    oob_score : bool or callable, default=False
        Whether to compute the out-of-bag score: R2, or a callable of (y_true, y_predicted).
    max_depth, min_samples_split, min_samples_leaf, min_gain, n_thresholds, missing
        Growth of the trees; see `CartRegressor`. Fractions are those of all rows, not of the rows drawn.
    nominal_splits, correct_nominal
        Splits of nominal columns; see `CartRegressor`.
    categorical_features, max_bins
        Reading of the data; see `CartClassifier`.
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
        Mean gain of every column, weighted by node complexity, as a fraction of the variance of y.
    confidence_intervals_, mean_interval_sizes_, weight_changes_
        Intervals of these means and how they and the distribution changed; see `SiftForestClassifier`.
    feature_importances_ : ndarray of shape (n_features,)
        Mean decrease of impurity; `foresift.importance` has better measures.
    oob_score_ : float
        Out-of-bag score, if `oob_score` is set.
    oob_prediction_ : ndarray of shape (n,)
        Out-of-bag prediction of every row; NaN for a row that every tree was grown on.
    n_features_in_, feature_names_in_, schema_
        Number, names and categories of the columns.

    Examples
    --------
    >>> from foresift import SiftForestRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = SiftForestRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.4
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TreeRegressor._parameter_constraints,
        **ForestModel._parameter_constraints,
    }
    _metric = staticmethod(r2_score)

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_features=1 / 3,
        constant_draw="redraw",
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
        warm_start=False,
        n_jobs=None,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_features = max_features
        self.constant_draw = constant_draw
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
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _keep_oob(self, outputs: NDArray[np.float64]) -> NDArray[Any]:
        self.oob_prediction_ = outputs[:, 0]
        return self.oob_prediction_


FORESTS: dict[str, Any] = {"classification": SiftForestClassifier, "regression": SiftForestRegressor}


def default_forest(task: str, n_estimators: int = 100) -> Any:
    """The forest that scores columns if none is given: with sqrt(p), or p / 3, split candidates per node."""
    candidates = {"max_features": "sqrt"} if task == "classification" else {}
    return FORESTS[task](n_estimators, **candidates)
