"""Trees and forests answer bad input with an error that says what is wrong."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from foresift import CartClassifier, SiftForestClassifier

EVERY_MODEL = pytest.mark.parametrize(
    "model", [CartClassifier(), SiftForestClassifier(3)], ids=["tree", "forest"]
)


def test_unfitted_trees_say_so():
    for call in (
        lambda tree: tree.predict([[1.0]]),
        lambda tree: tree.predict_proba([[1.0]]),
        lambda tree: tree.apply([[1.0]]),
        lambda tree: tree.feature_importances_,
    ):
        for model in (CartClassifier(), SiftForestClassifier()):
            with pytest.raises(NotFittedError):
                call(model)
            assert not hasattr(model, "feature_importances_")


@EVERY_MODEL
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.empty((0, 3)), [], "0 sample"),
        (np.empty((3, 0)), [0, 1, 0], "0 feature"),
        ([[1.0], [2.0]], [1, 1], "one class"),
        ([[1.0], [2.0]], [1, None], "NaN"),
        ([[1.0], [2.0]], [1.0, np.nan], "NaN"),
        ([[1.0], [2.0]], [0, 1, 0], "inconsistent"),
        ([[1.0], [np.inf]], [0, 1], "infinity"),
        ([1.0, 2.0], [0, 1], "1D"),
        (np.array([[1j], [2j]]), [0, 1], "Complex"),
        ([[1.0], [2.0]], [0.5, 1.7], "continuous"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), [0, 1], "Two columns of X are named"),
        (pd.DataFrame({"a": [1, "x"]}), [0, 1], "a"),
    ],
)
def test_bad_data_is_refused(model, X, y, message):
    with pytest.raises((ValueError, TypeError), match=message):
        clone(model).fit(X, y)


@EVERY_MODEL
def test_columns_at_predict_must_be_those_of_fit(model):
    train = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [3.0, 1.0, 2.0]})
    model = clone(model).fit(train, [0, 1, 0])
    for frame in (pd, pl):
        with pytest.raises(ValueError, match="same order"):
            model.predict(frame.DataFrame({"b": [1.0], "a": [2.0]}))
        with pytest.raises(ValueError, match="unseen at fit"):
            model.predict(frame.DataFrame({"a": [1.0], "c": [2.0]}))
        with pytest.raises(ValueError, match="now missing"):
            model.predict(frame.DataFrame({"a": [1.0]}))
    with pytest.raises(ValueError, match=r"3 features.*2 features"), pytest.warns(UserWarning, match="names"):
        model.predict(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="infinity"):
        model.predict(pd.DataFrame({"a": [np.inf], "b": [1.0]}))


@EVERY_MODEL
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1], "Negative"),
        ([1, np.nan, 1], "NaN"),
        ([1e308, 1, 1], "weights of the rows range from 1 to 1e"),
        ([0, 0, 0], "non-zero"),
        ([1, 1], "weight"),
        ([[1]] * 3, "1D"),
    ],
)
def test_bad_weights_are_refused(model, weights, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit([[1.0], [2.0], [3.0]], [0, 1, 0], sample_weight=weights)


@pytest.mark.parametrize(
    "parameters",
    [
        {"criterion": "luck"},
        {"max_depth": 0},
        {"min_samples_split": 1},
        {"min_samples_leaf": 0},
        {"min_gain": -0.1},
        {"max_features": 0},
        {"max_features": 1.5},
        {"n_thresholds": 0},
        {"nominal_splits": "all"},
        {"missing": "impute"},
        {"max_bins": 1},
        {"max_bins": 65_537},
        {"class_weight": "heavy"},
        {"categorical_features": ["no such column"]},
        {"categorical_features": [7]},
        {"max_features": 3},
    ],
)
def test_bad_parameters_are_refused(parameters):
    name = next(iter(parameters))
    for model in (CartClassifier(**parameters), SiftForestClassifier(**parameters)):
        with pytest.raises(ValueError, match=name):
            model.fit([[1.0, 2.0], [2.0, 1.0]], [0, 1])
