"""Bad input gets an error that names the column and says what to do; feature names follow scikit-learn."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning

from foresift.data.table import make_table

X = np.arange(8.0).reshape(4, 2)
Y = ["no", "yes", "no", "yes"]
DAY = datetime.date(2020, 2, 29)


class Reader(ClassifierMixin, BaseEstimator):
    """An estimator that only looks at its data."""

    def fit(self, X, y):
        self.schema_ = make_table(X, y, estimator=self).schema
        return self

    def predict(self, X):
        return self.schema_.encode(X, self)


def objects(*values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


BAD_X = {
    "1-D": (np.ones(3), ValueError, "Reshape your data"),
    "a series": (pd.Series([1.0, 2.0]), ValueError, "Expected (2D array|a 2-dimensional container)"),
    "scalar": (1.0, ValueError, "Expected 2D array, got scalar"),
    "3-D": (np.ones((2, 2, 2)), ValueError, "Found array with dim 3"),
    "no rows": (
        np.ones((0, 2)),
        ValueError,
        r"0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of 1 is required",
    ),
    "no columns": (np.ones((2, 0)), ValueError, r"0 feature\(s\) \(shape=\(2, 0\)\) while a minimum of 1"),
    "frame without rows": (pd.DataFrame({"a": []}), ValueError, r"0 sample\(s\) \(shape=\(0, 1\)\)"),
    "frame without columns": (pl.DataFrame(), ValueError, "while a minimum of 1 is required"),
    "empty mapping": ({}, ValueError, "while a minimum of 1 is required"),
    "sparse without rows": (sparse.csr_array((0, 2)), ValueError, r"0 sample\(s\)"),
    "ragged": ([[1, 2], [3]], ValueError, "inhomogeneous"),
    "np.matrix": (np.matrix([[1.0]]), TypeError, "np.matrix is not supported"),
    "structured": (np.ones((2, 1), dtype=[("a", float)]), TypeError, "structured array; pass a mapping"),
    "lazy": (pl.LazyFrame({"a": [1]}), TypeError, r"pass the result of X\.collect\(\)"),
    "complex": (np.ones((2, 2)) * 1j, ValueError, "Complex data not supported"),
    "complex column": (pd.DataFrame({"z": [1j]}), ValueError, "Complex data not supported: column 'z'"),
    "complex objects": ({"z": objects(1j, 1.0)}, ValueError, "Complex data not supported: column 'z'"),
    "infinity": ([[1.0, 2.0], [1.0, np.inf]], ValueError, "Input X contains infinity .* in column 1"),
    "infinity and NaN": ([[np.nan, -np.inf]], ValueError, "infinity .* in column 1"),
    "infinity in float32": (np.float32([[0, np.inf]]), ValueError, "infinity .* in column 1"),
    "infinity in sparse": (sparse.csr_array([[0, np.inf]]), ValueError, "infinity .* in column 1"),
    "infinity in a frame": (
        pl.DataFrame({"a": [1.0], "b": [-np.inf]}),
        ValueError,
        "infinity .* in column 'b'",
    ),
    "infinity in objects": ({"a": objects(None, np.inf)}, ValueError, "infinity .* in column 'a'"),
    "infinity in the sum of duplicates": (
        sparse.coo_array(([1e308, 1e308], ([0, 0], [0, 0])), shape=(1, 2)),
        ValueError,
        "infinity",
    ),
    "long double": (np.array([["1e4000"]], dtype=np.longdouble), ValueError, "infinity or a value too large"),
    "huge integer": ({"a": objects(10**400, 1)}, ValueError, "too large"),
    "mixed": ({"m": objects(1, "a")}, TypeError, "column 'm' mixes values of types int, str: convert it"),
    "mixed with floats": ({"m": objects(1.5, "a", None)}, TypeError, "mixes values of types float, str"),
    "mixed booleans": ({"m": objects(True, 2.0)}, TypeError, "mixes values of types bool, float"),
    "bytes and text": ([[b"\xff", 1], ["a", 2]], TypeError, "column 0 mixes values of types bytes, str"),
    "mixed lists": ([[1, "a"], ["b", 2]], TypeError, "column 0 mixes values of types int, str"),
    "dict": (
        {"d": objects({"a": 1}, 2)},
        TypeError,
        "'d' holds values of type dict, but argument must be a string",
    ),
    "dict in an array": (np.array([[{}, 1.0]]), TypeError, "argument must be a string or a number"),
    "lists": (pd.DataFrame({"d": [[1], [2]]}), TypeError, "column 'd' holds values of type list"),
    "polars lists": (pl.DataFrame({"d": [[1], [2]]}), TypeError, "column 'd' has dtype List"),
    "polars struct": (pl.DataFrame({"d": [{"a": 1}]}), TypeError, "column 'd' has dtype Struct"),
    "pyarrow struct": (pa.table({"d": [{"a": 1}]}), TypeError, "column 'd' has dtype Struct"),
    "months": (
        {"t": np.array([1, 2], "timedelta64[M]")},
        TypeError,
        "'t' holds durations without a fixed unit",
    ),
    "dates and times": (
        {"t": objects(DAY, pd.Timestamp(DAY))},
        TypeError,
        "'t' mixes values of types Timestamp, date",
    ),
    "dates and numbers": ({"t": objects(DAY, 1)}, TypeError, "'t' mixes values of types date, int"),
    "duplicate names": (
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        ValueError,
        "Two columns of X are named 'a'",
    ),
    "duplicate in pyarrow": (
        pa.table([[1], [2]], names=["a", "a"]),
        ValueError,
        "Two columns of X are named 'a'",
    ),
    "numbers as keys": ({1: [1.0]}, TypeError, "keys of X, a mapping of columns, must be strings"),
    "lengths of columns": ({"a": [1, 2], "b": [1]}, ValueError, "different lengths: {'a': 2, 'b': 1}"),
    "matrix as a column": ({"a": np.ones((2, 2))}, ValueError, r"column 'a' has shape \(2, 2\)"),
}


@pytest.mark.parametrize("case", BAD_X)
def test_bad_x(case):
    bad, error, message = BAD_X[case]
    with pytest.raises(error, match=message):
        make_table(bad)
    with pytest.raises(error, match=message):
        make_table(bad, estimator=BaseEstimator())


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_identifiers_are_no_categories(make):
    names = [f"customer {i}" for i in range(70_000)]
    with pytest.raises(
        ValueError, match=r"column 'id' has 70,000 distinct .* at most 65,534 .* identifier: drop"
    ):
        make_table(make({"id": names}))
    numeric = make({"id": np.arange(70_000)})
    assert make_table(numeric).store.n_values(0) <= 65_536
    with pytest.raises(ValueError, match=r"column 'id' has 70,000 distinct"):
        make_table(numeric, categorical_features=["id"])
    most = make_table(make({"id": names[:65_534]}))
    assert most.store.n_values(0) == 65_534
    assert sorted(most.store.codes(0).tolist()) == list(range(65_534))


BAD_Y = {
    "too short": (Y[:3], ValueError, r"inconsistent numbers of samples: \[4, 3\]"),
    "sparse": (sparse.csr_array([[1], [0], [1], [0]]), TypeError, "Sparse data was passed for y"),
    "NaN": ([0.0, 1.0, np.nan, 1.0], ValueError, "Input y contains NaN"),
    "None": (["no", None, "no", "yes"], ValueError, "Input y contains NaN: drop the rows"),
    "NaN in text": (objects("no", np.nan, "no", "yes"), ValueError, "Input y contains NaN"),
    "pandas.NA": (pd.array(["no", None, "no", "yes"], dtype="string"), ValueError, "Input y contains NaN"),
    "missing integer": (pd.array([1, None, 0, 1], dtype="Int64"), ValueError, "Input y contains NaN"),
    "missing category": (pd.Categorical(["no", None, "no", "yes"]), ValueError, "Input y contains NaN"),
    "polars null": (pl.Series(["no", None, "no", "yes"]), ValueError, "Input y contains NaN"),
    "arrow null": (
        pa.chunked_array([pa.array(["no", None, "no", "yes"]).dictionary_encode()]),
        ValueError,
        "Input y contains NaN",
    ),
    "infinity": ([0.0, 1.0, np.inf, 1.0], ValueError, "Input y contains infinity"),
    "continuous": ([0.1, 1.7, 0.3, 2.2], ValueError, "Unknown label type: continuous"),
    "two columns": (np.ones((4, 2)), ValueError, "y should be a 1d array"),
    "two columns in a frame": (pd.DataFrame(np.ones((4, 2))), ValueError, "y should be a 1d array"),
    "mixed": (objects("a", 1, "a", 1), TypeError, "y mixes values of types int, str"),
}


@pytest.mark.parametrize("case", BAD_Y)
def test_bad_y(case):
    bad, error, message = BAD_Y[case]
    if isinstance(bad, pd.api.extensions.ExtensionArray):
        bad = pd.Series(bad)
    with pytest.raises(error, match=message):
        make_table(X, bad)


GOOD_Y = {
    "list": Y,
    "text": np.array(Y),
    "objects": np.array(Y, dtype=object),
    "integers": np.array([-1, 7, -1, 7], dtype="int8"),
    "whole floats": np.array([0.0, 2.0, 0.0, 2.0]),
    "booleans": np.array([False, True, False, True]),
    "pandas": pd.Series(Y),
    "pandas categories": pd.Series(pd.Categorical(Y, ["yes", "no"])),
    "pandas frame": pd.DataFrame({"y": Y}),
    "polars": pl.Series(Y),
    "polars categories": pl.Series(Y, dtype=pl.Categorical),
    "pyarrow": pa.chunked_array([Y]),
}


@pytest.mark.parametrize("case", GOOD_Y)
def test_classes(case):
    table = make_table(X, GOOD_Y[case])
    assert table.target.codes.tolist() == [0, 1, 0, 1]
    assert (table.target.codes.dtype, table.target.n_classes) == (np.int32, 2)
    assert table.target.labels.tolist() == np.unique(np.asarray(GOOD_Y[case])).tolist()
    table.target.require_variety()


def test_one_class_and_column_vector():
    table = make_table(X, ["no"] * 4)
    assert table.target.n_classes == 1
    with pytest.raises(ValueError, match="y has one class, 'no': Reader needs at least two classes"):
        table.target.require_variety(Reader())
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert make_table(X, np.array([[1], [2], [1], [2]])).target.n_classes == 2
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        Reader().fit(X, None)


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": lambda data: pa.table(dict(data)),
    "mapping": dict,
}
DATA = {"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 0.0, 1.0, 1.0]}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.filterwarnings("error")
def test_feature_names(frame):
    make = FRAMES[frame]
    reader = Reader().fit(make(DATA), Y)
    assert reader.feature_names_in_.tolist() == ["a", "b"]
    assert reader.feature_names_in_.dtype == object
    assert reader.n_features_in_ == 2
    np.testing.assert_array_equal(reader.predict(make(DATA)), np.transpose(list(DATA.values())))
    with pytest.raises(ValueError, match=r"should match .*\n.*must be in the same order"):
        reader.predict(make({"b": DATA["b"], "a": DATA["a"]}))
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- c\n.*yet now missing:\n- b\n"):
        reader.predict(make({"a": DATA["a"], "c": DATA["b"]}))
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- c\n"):
        reader.predict(make({**DATA, "c": DATA["b"]}))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but Reader was fitted with"):
        reader.predict(X)
    with (
        pytest.warns(UserWarning, match="X does not have valid feature names"),
        pytest.raises(ValueError, match="X has 1 features, but Reader is expecting 2 features"),
    ):
        reader.predict(X[:, :1])
    nameless = reader.fit(X, Y)
    assert not hasattr(nameless, "feature_names_in_")
    with pytest.warns(UserWarning, match="X has feature names, but Reader was fitted without feature names"):
        nameless.predict(make(DATA))


def test_schema_alone_checks_its_columns():
    schema = make_table(DATA).schema
    with pytest.raises(ValueError, match="in the same order"):
        schema.encode({"b": [1.0], "a": [1.0]})
    with pytest.raises(ValueError, match="X has 3 features, but Schema is expecting 2 features"):
        make_table(X).schema.encode(np.ones((1, 3)))
    with pytest.raises(TypeError, match="Feature names are only supported if all"):
        Reader().fit(pd.DataFrame({"a": [1, 2], 1: [1, 2]}), [0, 1])
