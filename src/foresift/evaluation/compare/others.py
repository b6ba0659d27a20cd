"""Methods of other libraries by name, with scikit-learn's forest, on tables of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin

from foresift.data.numeric_coding import ValueTable
from foresift.data.target import Quantity
from foresift.errors import InputError
from foresift.evaluation.harness.chosen import Size, column_order

__all__ = ["CodedSelector", "PermutationSelector", "make_other"]


def make_other(key: str, sizes: Sequence[Size], task: str) -> Any:
    """Make one of `registry.OTHERS`; an `InputError` says which package is missing.

    Examples
    --------
    >>> make_other("rfe", [3, 5], "regression").selector
    RFE(estimator=RandomForestRegressor(), n_features_to_select=3)
    """
    from sklearn import ensemble
    from sklearn import feature_selection as fs

    forest = ensemble.RandomForestRegressor if task == Quantity.task else ensemble.RandomForestClassifier
    if key == "boruta":
        try:
            boruta = import_module("boruta")
        except ImportError as error:
            raise InputError("The method 'boruta' needs BorutaPy: pip install boruta.") from error
        return CodedSelector(
            boruta.BorutaPy(forest(max_depth=5), n_estimators="auto")
        )  # as its authors advise
    if key == "rfe":
        counts = [size for size in sizes if not isinstance(size, str)]
        return CodedSelector(
            fs.RFE(forest(), n_features_to_select=min(counts) if len(counts) == len(sizes) else None)
        )
    if key == "rfecv":
        return CodedSelector(fs.RFECV(forest(), cv=5))
    if key == "permutation":
        return CodedSelector(PermutationSelector(forest()))
    return CodedSelector(fs.SelectFromModel(forest()))


class CodedSelector(SelectorMixin, BaseEstimator):
    """A selector that needs numbers, on any table: categories become codes, gaps the median of their column.

    Like the selectors of foresift it keeps at least one column, the best.

    Parameters
    ----------
    selector : selector
        Any selector with the protocol of scikit-learn.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> X = {"size": [1.0, None, 3.0, 4.0], "colour": ["red", "red", "blue", "blue"]}
    >>> CodedSelector(SelectKBest(k=1)).fit(X, [0, 0, 1, 1]).get_support()
    array([False,  True])
    """

    def __init__(self, selector: Any) -> None:
        self.selector = selector

    def fit(self, X: Any, y: Any) -> Self:
        """Code the columns and fit the selector."""
        table = ValueTable.open(X)
        values = np.array(table.values, dtype=np.float64)
        for column in values.T:
            gaps = np.isnan(column)
            if gaps.any():
                column[gaps] = 0.0 if gaps.all() else np.median(column[~gaps])
        y = np.asarray(y)
        if y.dtype.kind in "OUS":
            y = np.unique(y.astype(str), return_inverse=True)[1]
        self.n_features_in_ = values.shape[1]
        if table.schema.names is not None:
            self.feature_names_in_ = np.array(table.schema.names, dtype=object)
        self.selector_ = clone(self.selector).fit(values, y)
        for name in ("scores_", "ranking_"):
            if (found := getattr(self.selector_, name, None)) is not None:
                setattr(self, name, found)
        model: Any = getattr(self.selector_, "estimator_", None)
        if not hasattr(self, "ranking_") and hasattr(model, "feature_importances_"):
            self.scores_ = model.feature_importances_
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _get_support_mask(self) -> NDArray[np.bool_]:
        own = self.selector_
        mask = np.array(own.get_support() if hasattr(own, "get_support") else own.support_, dtype=bool)
        if not mask.any() and (order := column_order(self)) is not None:
            mask[order[0]] = True
        return mask


class PermutationSelector(SelectorMixin, BaseEstimator):
    """Columns whose permutation makes a model worse on held-out rows: a third of them, kept from training.

    A column is selected if its mean importance (Breiman 2001; `sklearn.inspection`) exceeds 0 by two standard
    deviations over the repeats.

    Parameters
    ----------
    estimator : classifier or regressor
        The model.
    n_repeats : int, default=10
        How many times each column is permuted.
    random_state : int, default=None
        Seeds the split and the permutations.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> selector = PermutationSelector(GaussianNB(), random_state=0).fit(*load_iris(return_X_y=True))
    >>> selector.scores_.argmax() in (2, 3)
    True
    """

    def __init__(self, estimator: Any, n_repeats: int = 10, random_state: int | None = None) -> None:
        self.estimator = estimator
        self.n_repeats = n_repeats
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model to two thirds of the rows, and permute columns of the others."""
        from sklearn.base import is_regressor
        from sklearn.inspection import permutation_importance
        from sklearn.model_selection import train_test_split

        seed = self.random_state
        rare = is_regressor(self.estimator) or np.unique(y, return_counts=True)[1].min() < 3
        train, test, y_train, y_test = train_test_split(
            X, y, test_size=1 / 3, random_state=seed, stratify=None if rare else y
        )
        model = clone(self.estimator).fit(train, y_train)
        found = permutation_importance(model, test, y_test, n_repeats=self.n_repeats, random_state=seed)
        self.scores_ = found.importances_mean
        self.support_ = found.importances_mean > 2 * found.importances_std
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.support_
