"""Bagging over feature subsets: tables of every kind, and what cannot be fitted."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from test_ensembles import Bagging, draws_of, make_data

from foresift import (
    C45Classifier,
    FeatureBoostingSelector,
    InfoGainSelector,
    ResampleBoostClassifier,
    SubsetBaggingClassifier,
)
from foresift.importance import node_tables

NAMES = list("abcdef")

# --- containers ---


def containers(X):
    columns = {name: X[:, j] for j, name in enumerate(NAMES)}
    return {
        "array": X,
        "list": X.tolist(),
        "pandas": pd.DataFrame(columns, index=np.arange(len(X))[::-1]),
        "pandas-numbers": pd.DataFrame(X, columns=[5, 4, 3, 2, 1, 0]),
        "polars": pl.DataFrame(columns),
        "pyarrow": pa.table(columns),
        "csr": sparse.csr_array(X),
        "csc": sparse.csc_matrix(X),
        "mapping": {name: column.tolist() for name, column in columns.items()},
    }


@pytest.mark.parametrize("container", list(containers(np.zeros((2, 6)))))
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=3)])
def test_containers(container, estimator):
    X, y = make_data()
    data = containers(X)[container]
    for model in (
        Bagging(estimator, 3, subset_size=2, oob_score=True),
        ResampleBoostClassifier(estimator, 3),
    ):
        model.set_params(random_state=0)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*drawn by every member")
            expected = model.fit(X, y).predict_proba(X)
            found = model.fit(data, y).predict_proba(data)
        assert np.array_equal(found, expected)
        assert hasattr(model, "feature_names_in_") == (
            container in ("pandas", "polars", "pyarrow", "mapping")
        )


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "mapping"])
@pytest.mark.parametrize(
    "estimator", [None, make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier())]
)
def test_text_columns(kind, estimator):
    X, _ = make_data()
    columns = {
        "a": np.where(X[:, 1] > 0, "high", "low").tolist(),
        "b": [None if v < -1.5 else str(round(v)) for v in X[:, 2]],
        "c": np.where(X[:, 4] > 0, "high", "low").tolist(),
        "d": np.where(X[:, 0] > 0, "x", "z").tolist(),
    }
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "mapping": dict}[kind]
    labels = np.where((X[:, 1] > 0) | (X[:, 4] > 0), "yes", "no")
    model = Bagging(estimator, subset_size=3).fit(make(columns), labels)
    assert model.score(make(columns), labels) > 0.75
    assert set(model.predict(make(columns))) == {"no", "yes"}


# --- odd and bad input ---


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(), GaussianNB(), LinearSVC()])
def test_a_bootstrap_of_one_class(estimator):
    X, _ = make_data(n=25)
    y = np.where(np.arange(25) == 3, "rare", "common")  # not drawn in every third bootstrap
    model = Bagging(estimator, 12, oob_score=True).fit(X, y)
    one_class = [i for i in range(12) if draws_of(i, X)[1][3] == 0]
    assert one_class
    for i in one_class:
        assert set(model.estimators_[i].predict(X)) == {"common"}
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("value", [2.0, np.nan])
@pytest.mark.parametrize("subset_size", [1, None])
def test_columns_that_say_nothing(value, subset_size):
    X, y = make_data(n_classes=2)
    X[:, [0, 2, 3, 5]] = value
    model = Bagging(subset_size=subset_size, n_estimators=12, oob_score=True).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    X[:] = value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nothing = Bagging(subset_size=subset_size).fit(X, y)
    assert all(node_table.n_leaves == 1 for node_table in node_tables(nothing))


def test_one_feature_and_two_rows():
    model = Bagging().fit([[1.0], [2.0]], ["a", "b"])
    assert model.predict_proba([[1.0], [2.0]]).sum(axis=1) == pytest.approx(1)


X_SMALL, Y_SMALL = make_data(n=30)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subset_size": 7}, "subset_size=7 is more than the 6 columns"),
        ({"subset_size": 0}, "subset_size"),
        ({"subset_size": 1.5}, "subset_size"),
        (
            {"subset_size": 3, "distribution": [1, 1, 0, 0, 0, 0]},
            "2 columns a positive weight.*lower subset_size to 2",
        ),
        ({"subset_size": 3, "distribution": InfoGainSelector(2)}, "2 columns a positive weight"),
        ({"distribution": [1, -1, 1, 1, 1, 1]}, "finite weights of 0 or more"),
        ({"distribution": [1, np.nan, 1, 1, 1, 1]}, "finite weights of 0 or more"),
        ({"distribution": [np.inf] * 6}, "finite weights of 0 or more"),
        ({"distribution": [0] * 6}, "0 for every column"),
        ({"distribution": [1, 1]}, r"shape \(2,\), but X has 6 columns"),
        ({"distribution": ["a"] * 6}, "one number per column"),
        ({"distribution": "even"}, "distribution"),
        ({"distribution": None}, "distribution"),
        ({"distribution": LinearRegression()}, "distribution"),
        ({"distribution": InfoGainSelector(9)}, "n_features_to_select=9"),
        ({"distribution": FeatureBoostingSelector(order=2), "subset_size": 1}, "has no pairs"),
        ({"vote": "loud"}, "vote"),
        ({"ballot": "paper"}, "ballot"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"oob_score": "yes"}, "oob_score"),
        ({"estimator": "tree"}, "estimator"),
        ({"estimator": LinearRegression()}, "needs a classifier, but LinearRegression is not one"),
        ({"estimator": C45Classifier}, r"pass an instance, C45Classifier\(\)"),
        ({"estimator": C45Classifier(min_samples_leaf=-3)}, "min_samples_leaf"),
        ({"estimator": DecisionTreeClassifier(max_depth=-3)}, "max_depth"),
        (
            {"estimator": C45Classifier(max_features=5), "subset_size": 2},
            "max_features=5 is more than the 2 columns",
        ),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        SubsetBaggingClassifier(**options).fit(X_SMALL, Y_SMALL)


@pytest.mark.parametrize("kind", [SubsetBaggingClassifier, ResampleBoostClassifier])
def test_what_is_no_estimator_is_refused_and_leaves_a_model_that_is_not_fitted(kind):
    model = kind(estimator=[])
    with pytest.raises(ValueError, match="'estimator' parameter"):
        model.fit(X_SMALL, Y_SMALL)
    for answer in (model.predict, model.predict_proba):
        with pytest.raises(NotFittedError):
            answer(X_SMALL)


@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_bad_data(estimator):
    with pytest.raises(ValueError, match="one class"):
        Bagging(estimator).fit(X_SMALL, np.zeros(30))
    with pytest.raises(ValueError, match="one class"):
        Bagging(estimator).fit(X_SMALL, Y_SMALL, sample_weight=(Y_SMALL == 1).astype(float))
    with pytest.raises(ValueError, match="Negative"):
        Bagging(estimator).fit(X_SMALL, Y_SMALL, sample_weight=np.full(30, -1.0))
    frame = pd.DataFrame(X_SMALL, columns=NAMES)
    model = Bagging(estimator).fit(frame, Y_SMALL)
    for other in (frame[NAMES[::-1]], pl.from_pandas(frame)[NAMES[::-1]]):
        with pytest.raises(ValueError, match="same order"):
            model.predict(other)
    with pytest.raises(ValueError, match=r"5 features.*6 features"), pytest.warns(UserWarning, match="names"):
        model.predict(X_SMALL[:, :5])
    X = X_SMALL.copy()
    X[0, 0] = np.nan
    if estimator is not None:
        with pytest.raises(ValueError, match="NaN"):
            Bagging(estimator).fit(X, Y_SMALL)
