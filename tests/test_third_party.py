"""Classifiers of other packages in every estimator that takes one: nothing but scikit-learn's interface."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold, cross_val_score

from foresift import (
    FeatureBoostingSelector,
    GEFSClassifier,
    GEFSSelector,
    RelevanceSelector,
    ResampleBoostClassifier,
    SequentialSelector,
    SubsetBaggingClassifier,
    SubsetSizeCV,
    compare,
)


class Centroids(ClassifierMixin, BaseEstimator):
    """The nearest class mean. It has none of the private parts that scikit-learn's own estimators have."""

    def __init__(self, shrinkage=0.0):
        self.shrinkage = shrinkage

    def fit(self, X, y):
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        self.classes_ = np.unique(y)
        centre = X.mean(axis=0)
        means = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        self.means_ = (1 - self.shrinkage) * means + self.shrinkage * centre
        return self

    def predict_proba(self, X):
        squares = ((np.asarray(X, dtype=float)[:, np.newaxis] - self.means_) ** 2).sum(axis=2)
        shares = np.exp(squares.min(axis=1, keepdims=True) - squares)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def lightgbm():
    package = pytest.importorskip("lightgbm")
    return package.LGBMClassifier(n_estimators=3, min_child_samples=2, verbose=-1, n_jobs=1)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, np.where(X[:, 1] > 0, "yes", "no")


@pytest.mark.parametrize("make", [Centroids, lightgbm])
@pytest.mark.parametrize(
    "take",
    [
        lambda model: RelevanceSelector(SubsetSizeCV(model, cv=2), n_estimators=20, random_state=0),
        lambda model: SequentialSelector(model, 2, cv=2),
        lambda model: SequentialSelector(model, 1, direction="forward", cv=2, scoring="roc_auc"),
        lambda model: SubsetBaggingClassifier(model, n_estimators=3, random_state=0),
        lambda model: ResampleBoostClassifier(model, n_estimators=3, random_state=0),
        lambda model: GEFSClassifier(model, population=4, n_candidates=6, random_state=0),
        lambda model: GEFSSelector(estimator=model, population=4, n_candidates=6, random_state=0),
        lambda model: FeatureBoostingSelector(estimator=model, n_iterations=8, random_state=0),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM names its columns
def test_a_classifier_of_another_package(take, make, data):
    X, y = data
    model = take(make()).fit(X, y)
    if hasattr(model, "get_support"):
        assert model.get_support()[1]
    else:
        assert model.score(X, y) > 0.8


def test_scores_are_those_of_plain_cross_validation(data):
    X, y = data
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    selector = SequentialSelector(Centroids(), 3, cv=folds).fit(X, y)
    for step in selector.path_:
        expected = cross_val_score(Centroids(), X[:, list(step.features)], y, cv=folds).mean()
        assert step.score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("make", [Centroids, lightgbm])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_in_a_comparison(make, data):
    found = compare(*data, methods=["info-gain"], estimators={"other": make()}, sizes=[2], cv=2)
    assert not found.failures
