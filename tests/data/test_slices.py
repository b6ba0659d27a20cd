"""Rows and columns of every container, and of the column store."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from foresift import _core
from foresift.data.containers import read
from foresift.data.slices import columns_of, matrix_of, take_columns, take_rows
from foresift.data.table import make_table

NUMBERS = np.array([[1.0, 0.0, np.nan, 4.0], [0.0, 2.5, 3.0, 0.0], [7.0, 0.0, 0.0, 1.0]])
NAMES = ["a", "b", "c", "d"]
COLUMNS = {name: NUMBERS[:, j] for j, name in enumerate(NAMES)}
MIXED = {
    "size": [1.5, None, 3.0],
    "colour": ["red", None, "blue"],
    "flag": [True, False, True],
    "count": [3, 1, 2],
}
CONTAINERS = {
    "array": NUMBERS,
    "fortran": np.asfortranarray(NUMBERS),
    "list": NUMBERS.tolist(),
    "pandas": pd.DataFrame(COLUMNS, index=[9, 9, 0]),
    "pandas-numbers": pd.DataFrame(NUMBERS, columns=[3, 2, 1, 0]),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
    "narwhals": nw.from_native(pl.DataFrame(COLUMNS)),
    "mapping": COLUMNS,
    "mapping-lists": {name: column.tolist() for name, column in COLUMNS.items()},
    "mapping-pandas": {name: pd.Series(column, index=[2, 2, 5]) for name, column in COLUMNS.items()},
    "mapping-polars": {name: pl.Series(column) for name, column in COLUMNS.items()},
    "mapping-pyarrow": {name: pa.chunked_array([column[:1], column[1:]]) for name, column in COLUMNS.items()},
    "csr": sparse.csr_array(NUMBERS),
    "csc": sparse.csc_matrix(NUMBERS),
    "coo": sparse.coo_array(NUMBERS),
}
EVERY = pytest.mark.parametrize("kind", list(CONTAINERS))


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(matrix_of(read(X)), dtype=float)


@EVERY
@pytest.mark.parametrize("rows", [[0, 2], [2, 0, 0, 1], [1]])
def test_rows(kind, rows):
    X = CONTAINERS[kind]
    taken = take_rows(X, np.array(rows))
    np.testing.assert_array_equal(dense(taken), NUMBERS[rows])
    if kind not in ("list", "csc", "coo"):  # which become arrays and compressed rows
        assert type(taken) is type(X)


@EVERY
@pytest.mark.parametrize("columns", [[0, 2], [3, 1], [1]])
def test_columns(kind, columns):
    X = CONTAINERS[kind]
    taken = take_columns(X, np.array(columns))
    np.testing.assert_array_equal(dense(taken), NUMBERS[:, columns])
    if kind.startswith("pandas"):
        assert taken.columns.tolist() == X.columns[columns].tolist()
    if kind.startswith("mapping"):
        assert list(taken) == [NAMES[j] for j in columns]


@pytest.mark.parametrize(
    "make",
    [
        dict,
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        lambda columns: pd.DataFrame(columns).convert_dtypes(),
        lambda columns: {name: pa.array(column) for name, column in columns.items()},
    ],
)
def test_a_column_stays_what_it_is(make):
    """Rows of a table are read as the whole table is: text stays text, and missing stays missing."""
    whole = make_table(make(MIXED))
    some = make_table(take_columns(take_rows(make(MIXED), np.array([1, 0, 2])), np.arange(4)))
    assert some.schema.nominal.tolist() == whole.schema.nominal.tolist() == [False, True, True, False]
    for j in range(4):
        assert some.store.codes(j).tolist() == whole.store.codes(j)[[1, 0, 2]].tolist()
        assert some.store.has_missing(j) == whole.store.has_missing(j) == (j < 2)


def test_categories_stay_categories():
    frame = pd.DataFrame({"code": pd.Categorical([1, 2, 1]), "x": [1.0, 2.0, 3.0]})
    taken = take_rows(frame, np.array([0, 2]))
    assert make_table(taken).schema.nominal.tolist() == [True, False]


def test_matrices_of_columns():
    assert matrix_of(read(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}))).dtype == np.float64
    assert matrix_of(read({"a": [True, False], "b": [False, False]})).dtype == bool
    mixed = matrix_of(read({"a": [True, False], "b": ["x", "y"], "c": [1, 2]}))
    assert mixed.dtype == object
    assert mixed.tolist() == [[True, "x", 1], [False, "y", 2]]
    assert [column.tolist() for column in columns_of(read({"a": [1, 2], "b": ["x", "y"]}))] == [
        [1, 2],
        ["x", "y"],
    ]


# --- the column store ---


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 4), max_size=7))
def test_columns_of_the_store(seed, columns):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (12, 4)).astype(float)
    X[:, 1] = rng.normal(size=12)
    X[rng.random(X.shape) < 0.2] = np.nan
    store = _core.ColumnStore(12, 65_536)
    store.add_numeric(X)
    store.add_nominal(rng.integers(-1, 3, 12).astype(np.int32), 3)
    taken = store.take(columns)
    assert (taken.n_rows, taken.n_columns) == (12, len(columns))
    for k, j in enumerate(columns):
        assert taken.codes(k).tolist() == store.codes(j).tolist()
        assert taken.codes(k).dtype == store.codes(j).dtype
        assert taken.n_values(k) == store.n_values(j)
        assert taken.is_nominal(k) == store.is_nominal(j) == (j == 4)
        assert taken.has_missing(k) == store.has_missing(j)
        if j < 4:
            assert taken.values(k).tolist() == store.values(j).tolist()


def test_columns_that_the_store_has_not():
    store = _core.ColumnStore(3, 65_536)
    store.add_numeric(NUMBERS)
    with pytest.raises(ValueError, match="no such column"):
        store.take([4])
    taken = store.take([1])
    del store  # it is a copy
    assert taken.values(0).tolist() == [0, 2.5]


def test_columns_of_a_table():
    table = make_table(MIXED, ["no", "yes", "no"])
    taken = table.take(np.array([3, 1]))
    assert taken.schema.names == ("count", "colour")
    assert taken.schema.nominal.tolist() == [False, True]
    assert taken.target.codes.tolist() == [0, 1, 0]
    assert taken.schema.encode({"count": [5], "colour": ["red"]}).tolist() == [[5, 1]]
