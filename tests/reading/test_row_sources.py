"""Rows in batches: every kind of source gives the rows of the table that it was made of."""

import datetime
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from foresift.data.coded_column import CodedColumn
from foresift.data.row_source import BATCH_ROWS
from foresift.engine.local_blocks import LocalBlocks
from foresift.reading.row_sources import is_row_source, open_rows

N = 70_001  # more than one batch


def make_table(n=N, seed=0):
    rng = np.random.default_rng(seed)
    wide = rng.normal(size=n).astype(np.float32)
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(int(k)) for k in rng.integers(0, 400, n)]
    columns = {
        "narrow": wide,
        "wide": rng.normal(size=n),
        "whole": rng.integers(0, 9, n),
        "holes": pa.array(rng.integers(0, 9, n), mask=rng.random(n) < 0.1),
        "flag": rng.random(n) < 0.5,
        "flaw": pa.array(rng.random(n) < 0.5, mask=rng.random(n) < 0.1),
        "text": pa.array(np.array(["low", "mid", "high"])[rng.integers(0, 3, n)], mask=rng.random(n) < 0.1),
        "coded": pa.array(np.array(["b", "a"])[rng.integers(0, 2, n)]).dictionary_encode(),
        "day": days,
        "moment": pa.array(rng.integers(0, 2**33, n), pa.timestamp("ms")),
        "price": pa.array(rng.integers(0, 999, n)).cast(pa.decimal128(24, 0)),
        "y": np.array(["no", "yes"])[(wide > 0).astype(int)],
    }
    return pa.table(columns)


TABLE = make_table()


def gathered(source):
    """All rows of a source: features, by name, and target."""
    batches = [batch for part in range(source.n_parts) for batch in source.batches(part)]
    columns = {}
    for name in batches[0].X:
        parts = [batch.X[name] for batch in batches]
        parts = [part.decoded() if isinstance(part, CodedColumn) else np.asarray(part) for part in parts]
        columns[name] = np.concatenate(parts)
    return columns, np.concatenate([batch.y for batch in batches])


def assert_same_rows(source, table, target="y"):
    columns, y = gathered(source)
    assert list(columns) == [name for name in table.column_names if name != target]
    for name, values in columns.items():
        wanted = table[name].to_pylist()
        missing = np.array([value is None for value in wanted])
        if values.dtype.kind == "f":
            assert np.array_equal(np.isnan(values), missing)
            wanted = np.array([np.nan if value is None else float(value) for value in wanted])
            assert np.array_equal(values, wanted, equal_nan=True)
        elif values.dtype.kind == "M":
            assert values.astype("M8[us]").tolist() == [
                value if isinstance(value, datetime.datetime) else datetime.datetime(*value.timetuple()[:3])
                for value in wanted
            ]
        else:
            assert values.tolist() == wanted
    assert y.tolist() == table[target].to_pylist()


def blocks_of(source, **options):
    return LocalBlocks(source, None, "auto", n_jobs=1, **options)


def assert_same_blocks(one, other):
    assert one.coding.schema.names == other.coding.schema.names
    for here, there in zip(one.coding.cuts, other.coding.cuts, strict=True):
        assert (here is None) == (there is None)
        assert here is None or np.array_equal(here, there)
    for here, there in zip(one.coding.schema.categories, other.coding.schema.categories, strict=True):
        assert here is None or here.tolist() == there.tolist()
    assert one.coding.schema.units == other.coding.schema.units
    assert one.coding.labels.tolist() == other.coding.labels.tolist()
    for here, there in zip(one.collect(tuple), other.collect(tuple), strict=True):
        assert np.array_equal(here[0], there[0])
        assert np.array_equal(here[1], there[1])
        assert here[2] == there[2]


def parquet_file(folder, table=TABLE, name="rows.parquet", **options):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, path, **options)
    return path


def stream_of(table=TABLE, rows=20_000):
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=rows))


def file_source(folder):
    return parquet_file(folder)


def small_groups(folder):
    return str(parquet_file(folder, row_group_size=1000))


def feather_source(folder):
    feather.write_feather(TABLE, folder / "rows.feather")
    return folder / "rows.feather"


def packed_feather(folder):
    feather.write_feather(TABLE, folder / "rows.arrow", compression="lz4", chunksize=10_000)
    return folder / "rows.arrow"


def folder_source(folder):
    for k, first in enumerate(range(0, N, 30_000)):
        parquet_file(folder, TABLE.slice(first, 30_000), f"rows/part-{k}.parquet")
    (folder / "rows" / "_SUCCESS").touch()
    return folder / "rows"


def pattern(folder):
    folder_source(folder)
    return f"{folder}/rows/part-*.parquet"


def reader(folder):
    return stream_of()


def stream(folder):
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return stream_of().__arrow_c_stream__(requested_schema)

    return Stream()


def dataset(folder):
    from pyarrow import dataset

    return dataset.dataset(folder_source(folder))


def lazy(folder):
    polars = pytest.importorskip("polars")
    return polars.scan_parquet(parquet_file(folder))


def lazy_memory(folder):
    polars = pytest.importorskip("polars")
    return polars.from_arrow(TABLE).lazy()


def query(folder):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().read_parquet(str(parquet_file(folder)))


def dask_frame(folder):
    frame = pytest.importorskip("dask.dataframe")
    return frame.read_parquet(folder_source(folder))


SOURCES = [
    file_source,
    small_groups,
    feather_source,
    packed_feather,
    folder_source,
    pattern,
    reader,
    stream,
    dataset,
    lazy,
    lazy_memory,
    query,
    dask_frame,
]


@pytest.mark.parametrize("make", SOURCES, ids=lambda make: make.__name__)
def test_all_rows_in_their_order_twice(make, tmp_path):
    X = make(tmp_path)
    assert is_row_source(X)
    source = open_rows(X, "y")
    counts = [source.n_rows_of(part) for part in range(source.n_parts)]
    assert None in counts or sum(counts) == N
    for _ in range(2):
        assert_same_rows(source, TABLE)
    assert max(len(batch.y) for batch in source.batches()) <= BATCH_ROWS


@pytest.mark.parametrize("make", SOURCES, ids=lambda make: make.__name__)
def test_every_source_gives_the_same_blocks(make, tmp_path):
    by_files = make in (folder_source, pattern, dask_frame)
    rows = folder_source(tmp_path / "other") if by_files else parquet_file(tmp_path / "other")
    assert_same_blocks(blocks_of(open_rows(make(tmp_path), "y")), blocks_of(open_rows(rows, "y")))


def test_units_and_kinds_are_those_of_a_table_in_memory(tmp_path):
    from foresift.data.row_source import InMemory
    from foresift.data.target import Target

    ours = blocks_of(open_rows(parquet_file(tmp_path), "y"))
    memory = InMemory(TABLE.drop_columns(["y"]), Target.of(np.array(TABLE["y"].to_pylist()), N))
    theirs = blocks_of(memory)
    assert ours.coding.schema.units == theirs.coding.schema.units
    for here, there in zip(ours.collect(tuple), theirs.collect(tuple), strict=True):
        assert np.array_equal(here[0], there[0])


def test_numbers_are_not_copied_and_stay_narrow(tmp_path):
    X, _ = next(open_rows(parquet_file(tmp_path), "y").batches())
    assert X["narrow"].dtype == np.float32
    assert X["holes"].dtype == np.float64
    assert not X["wide"].flags.owndata


def test_some_columns(tmp_path):
    path = parquet_file(tmp_path)
    assert list(next(open_rows(path, "y", drop=["text", "day"]).batches()).X) == [
        name for name in TABLE.column_names if name not in ("text", "day", "y")
    ]
    assert list(next(open_rows(path, "y", columns=["wide", "text"]).batches()).X) == ["wide", "text"]
    assert list(next(open_rows(path, "y", columns=["wide", "text"], drop="wide").batches()).X) == ["text"]


def test_folders_are_columns_and_types_are_merged(tmp_path):
    parquet_file(tmp_path, pa.table({"x": [1, 2], "y": [0, 1]}), "rows/year=2023/a.parquet")
    parquet_file(tmp_path, pa.table({"x": [1.5, None], "y": [0, 1]}), "rows/year=2024/b.parquet")
    for path in (tmp_path / "rows", f"{tmp_path}/rows/*/*.parquet"):
        source = open_rows(path, "y")
        columns, y = gathered(source)
        assert source.n_parts == 2
        assert columns["year"].tolist() == ["2023", "2023", "2024", "2024"]
        assert np.array_equal(columns["x"], [1, 2, 1.5, np.nan], equal_nan=True)
        assert y.tolist() == [0, 1, 0, 1]


def test_labels_of_rows_are_no_column(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.0, 2.0], "y": [0, 1]}, index=["a", "b"])
    frame.to_parquet(tmp_path / "x.parquet")
    assert list(next(open_rows(tmp_path / "x.parquet", "y").batches()).X) == ["x"]


def test_what_is_read_in_batches():
    assert is_row_source("x.csv")
    assert is_row_source(stream_of())
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    in_memory = [
        [[1.0]],
        np.ones((2, 2)),
        {"x": [1.0]},
        TABLE,
        TABLE["wide"],
        pandas.DataFrame({"x": [1.0]}),
        pandas.Series([1.0]),
        polars.DataFrame({"x": [1.0]}),
        polars.Series([1.0]),
        None,
    ]
    assert not any(map(is_row_source, in_memory))


def test_other_libraries_are_not_imported(tmp_path):
    path = parquet_file(tmp_path, TABLE.slice(0, 100))
    code = f"""
        import sys
        from foresift.reading.row_sources import is_row_source, open_rows
        assert is_row_source({str(path)!r})
        next(open_rows({str(path)!r}, "y").batches())
        assert not {{"polars", "dask", "duckdb"}} & set(sys.modules)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
