"""Models of other packages in everything that takes one: nothing but scikit-learn's interface."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import StratifiedKFold, cross_val_score

from foresift import (
    FeatureBoostingSelector,
    GEFSClassifier,
    GEFSRegressor,
    GEFSSelector,
    RelevanceSelector,
    ResampleBoostClassifier,
    SequentialSelector,
    SubsetBaggingClassifier,
    SubsetBaggingRegressor,
    SubsetSizeCV,
    compare,
    select,
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


class Steps(RegressorMixin, BaseEstimator):
    """The mean over the columns of means by thirds: a regressor that does not know how to print itself."""

    def fit(self, X, y):
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        self.cuts_ = [np.quantile(column, [1 / 3, 2 / 3]) for column in X.T]
        bins = [np.digitize(column, cuts) for column, cuts in zip(X.T, self.cuts_, strict=True)]
        self.means_ = [
            [y[part == i].mean() if (part == i).any() else y.mean() for i in range(3)] for part in bins
        ]
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        X = np.asarray(X, dtype=float)
        parts = zip(X.T, self.cuts_, self.means_, strict=True)
        return self.mean_ + sum(np.take(m, np.digitize(x, cuts)) - self.mean_ for x, cuts, m in parts)


def lightgbm_regressor():
    package = pytest.importorskip("lightgbm")
    return package.LGBMRegressor(n_estimators=5, min_child_samples=2, verbose=-1, n_jobs=1)


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


@pytest.mark.parametrize("make", [Steps, lightgbm_regressor])
@pytest.mark.parametrize(
    "take",
    [
        lambda model: RelevanceSelector(SubsetSizeCV(model, cv=2), n_estimators=20, random_state=0),
        lambda model: SequentialSelector(model, 2, cv=2),
        lambda model: SequentialSelector(model, 1, direction="forward", cv=2, scoring="neg_max_error"),
        lambda model: SubsetBaggingRegressor(model, n_estimators=3, random_state=0),
        lambda model: GEFSRegressor(model, population=4, n_candidates=6, random_state=0),
        lambda model: GEFSSelector(estimator=model, population=4, n_candidates=6, random_state=0),
        lambda model: FeatureBoostingSelector(estimator=model, n_iterations=30, random_state=0),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_regressor_of_another_package(take, make, data):
    X, _ = data
    y = 3 * X[:, 1] + 0.1 * np.cos(np.arange(60))
    model = take(make()).fit(X, y)
    if hasattr(model, "get_support"):
        assert model.get_support()[1]
    else:
        assert model.score(X, y) > 0.3


@pytest.mark.parametrize("make", [Centroids, lightgbm, Steps, lightgbm_regressor])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_in_select(make, data):
    X, y = data
    model = make()
    if not hasattr(model, "predict_proba"):
        y = 3 * X[:, 1] + 0.1 * np.cos(np.arange(60))
    found = select(X, y, "info-gain", 2, estimator=model, random_state=0)
    assert "x1" in found.features
    assert found.check["model"] == type(model).__name__


def test_lightgbm_on_a_mixed_table():
    rng = np.random.default_rng(0)
    X = {
        "size": rng.normal(size=200),
        "colour": rng.choice(["red", "green", "blue"], 200).astype(object),
        "noise": np.where(rng.random(200) < 0.2, np.nan, rng.normal(size=200)),
    }
    y = 2 * X["size"] + 3 * (X["colour"] == "red") + 0.1 * rng.normal(size=200)
    found = select(X, y, estimator=lightgbm_regressor().set_params(n_estimators=50), random_state=0)
    assert set(found.features) == {"size", "colour"}
    assert found.check["kept"]["score"] > 0.8
