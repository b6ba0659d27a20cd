"""Paths, generators, datasets and the like in place of X or y: one sentence says what to pass instead."""

import io
from pathlib import Path
from types import SimpleNamespace

import dask.dataframe as dd
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import foresift
from foresift import CartClassifier, InfoGainSelector, SubsetBaggingClassifier, compare, select

FRAME = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) % 3})
Y = np.arange(20) % 2


def of_library(name, **attributes):
    return type("Thing", (SimpleNamespace,), {"__module__": name})(**attributes)


@pytest.fixture
def folder(tmp_path):
    FRAME.assign(y=Y).to_csv(tmp_path / "t.csv", index=False)
    FRAME.to_parquet(tmp_path / "t.parquet")
    return tmp_path


CASES = {
    "text": (lambda f: "t.csv", r"a path: read the file first, X, y = foresift.read\('t.csv', target=...\)"),
    "path": (lambda f: Path("t.csv"), r"a path: read the file first, X, y = foresift.read\('t.csv', target="),
    "generator": (lambda f: (row for row in [[1.0], [2.0]]), r"a generator, .* only once: pass list\(NAME\)"),
    "map": (lambda f: map(list, [[1.0], [2.0]]), r"a map, which can be read only once: pass list\(NAME\)"),
    "iterator": (lambda f: FRAME.itertuples(), r"a map, which can be read only once|a zip, which"),
    "file": (
        lambda f: (f / "t.csv").open(),
        r"an open file: read it first, X, y = foresift.read\(path, targ",
    ),
    "bytes in memory": (lambda f: io.BytesIO(b"a,b"), "an open file: read it first"),
    "dataset": (lambda f: ds.dataset(f / "t.parquet"), r"a dataset of pyarrow: .* of NAME.to_table\(\)"),
    "scanner": (lambda f: ds.dataset(f / "t.parquet").scanner(), r"a dataset of pyarrow: .* NAME.to_table\("),
    "reader": (
        lambda f: pa.table(FRAME).to_reader(),
        r"a stream of batches of pyarrow: .* NAME.read_all\(\)",
    ),
    "parquet": (
        lambda f: pq.ParquetFile(f / "t.parquet"),
        r"a file of pyarrow: pass the result of NAME.read\(",
    ),
    "polars": (lambda f: pl.from_pandas(FRAME).lazy(), r"a lazy frame: pass the result of NAME.collect\(\)"),
    "narwhals": (
        lambda f: nw.from_native(FRAME).lazy(),
        r"a lazy frame: pass the result of NAME.collect\(\)",
    ),
    "dask": (lambda f: dd.from_pandas(FRAME, npartitions=2), r"a lazy frame: .* of NAME.compute\(\)"),
    "duckdb": (lambda f: of_library("duckdb"), r"a query of duckdb: pass the result of NAME.df\(\)"),
    "tensor": (
        lambda f: of_library("torch", requires_grad=True),
        r"a tensor that NumPy cannot read: pass NAME.detach\(\).cpu\(\).numpy\(\)",
    ),
    "foresift.read": (
        lambda f: foresift.read(f / "t.csv", "y"),
        r"a table of foresift.read: pass its parts, X, y = table, or select\(\*\*table.arguments\)",
    ),
    "groups": (lambda f: FRAME.groupby(FRAME.columns[0]), r"groups of a frame: pass a table, such as"),
    "dicts": (lambda f: FRAME.to_dict("records"), r"a list of dicts: pass pandas.DataFrame\(NAME\)"),
}
CALLS = {
    "select": select,
    "compare": lambda X, y: compare(X, y, ["info-gain"], ["nb"], cv=2),
    "selector": lambda X, y: InfoGainSelector().fit(X, y),
    "model": lambda X, y: CartClassifier().fit(X, y),
    "ensemble": lambda X, y: SubsetBaggingClassifier(n_estimators=2).fit(X, y),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("case", CASES)
def test_what_to_pass(case, call, folder):
    make, message = CASES[case]
    with pytest.raises(TypeError, match="^X is (" + message.replace("NAME", "X") + ")"):
        CALLS[call](make(folder), Y)
    if case not in ("text", "dicts"):
        with pytest.raises(TypeError, match="^y is (" + message.replace("NAME", "y") + ")"):
            CALLS[call](FRAME, make(folder))


@pytest.mark.parametrize("case", CASES)
def test_in_prediction(case, folder):
    make, message = CASES[case]
    for method in (CartClassifier().fit(FRAME, Y).predict, InfoGainSelector().fit(FRAME, Y).transform):
        with pytest.raises(TypeError, match="^X is (" + message.replace("NAME", "X") + ")"):
            method(make(folder))


@pytest.mark.parametrize("call", CALLS)
def test_no_table(call):
    with pytest.raises(TypeError, match=r"^X is None: pass a table\.$"):
        CALLS[call](None, Y)


def test_no_target(folder):
    with pytest.raises(TypeError, match=r"^y is missing: pass the class of every row"):
        select(FRAME)
    with pytest.raises(TypeError, match=r"or select\(\*\*table.arguments\)\.$"):
        select(foresift.read(folder / "t.csv", "y"))


@pytest.mark.parametrize("call", CALLS)
def test_the_name_of_a_column_is_no_target(call):
    with pytest.raises(TypeError, match=r"^y is .*not the name of a column"):
        CALLS[call](FRAME, "b")


def test_arrays_of_other_libraries_are_read():
    tensor = of_library("torch", requires_grad=False, device=SimpleNamespace(type="cpu"))
    type(tensor).__array__ = lambda self, dtype=None, copy=None: FRAME.to_numpy()
    expected = InfoGainSelector().fit(FRAME.to_numpy(), Y).scores_
    for X in (tensor, dd.from_pandas(FRAME, npartitions=2).to_dask_array(lengths=True)):
        np.testing.assert_array_equal(InfoGainSelector().fit(X, Y).scores_, expected)
    assert InfoGainSelector().fit(FRAME, dd.from_pandas(pd.Series(Y), npartitions=2)).n_features_in_ == 2
