"""Sources of rows that cannot be read: one sentence that says what to do, and nothing left behind."""

import datetime
import errno
import os
import re
import tempfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from foresift.engine.local_blocks import LocalBlocks
from foresift.errors import InputError
from foresift.reading.row_sources import open_rows

TABLE = pa.table({"size": np.arange(5000.0), "colour": ["red", "blue"] * 2500, "kind": [0, 1] * 2500})


@pytest.fixture(autouse=True)
def _nothing_left(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert not list(folder.iterdir())


def refused(X, y="kind", **options):
    with pytest.raises((InputError, ValueError)) as caught:
        LocalBlocks(open_rows(X, y, **options), None, "auto", memory_limit=0)
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith((".", "?"))
    return said


def stored(folder, table=TABLE, name="rows.parquet"):
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    parquet.write_table(table, path)
    return path


def test_names_that_are_not_there(tmp_path):
    path = stored(tmp_path)
    assert refused(path, "kinds") == "There is no column 'kinds'; did you mean 'kind'?"
    assert "there are 'size', 'colour', 'kind'" in refused(path, "zzz")
    assert "'sizes'; did you mean 'size'" in refused(path, drop=["sizes"])
    assert "'sizes'; did you mean 'size'" in refused(path, columns=["sizes"])
    assert refused(path, drop=["kind"]) == "drop names the target 'kind'."
    assert "no column besides the target 'kind'" in refused(path, drop=["size", "colour"])
    assert "name its target column, y='...', instead of ndarray" in refused(path, np.zeros(5000))
    assert "names of columns, not [3]" in refused(path, drop=[3])


def test_a_stream_that_breaks_off():
    def batches():
        yield from TABLE.to_batches(max_chunksize=1000)[:3]
        raise RuntimeError("the line is dead.\nTraceback")

    said = refused(pa.RecordBatchReader.from_batches(TABLE.schema, batches()))
    assert re.search(r"Reading the stream failed after 3 batches of rows \(\w+: .*the line is dead", said)


def test_a_stream_without_rows():
    assert refused(TABLE.slice(0, 0).to_reader()) == (
        "There are no rows in the stream: pass a table that has some."
    )


def test_no_room_for_a_copy_of_a_stream(monkeypatch):
    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        closed = False

        def write(self, content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def flush(self):
            pass

        def close(self):
            pass

        def tell(self):
            return 0

        def readable(self):
            return False

        def writable(self):
            return True

        def seekable(self):
            return False

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **options: Full())
    said = refused(TABLE.to_reader())
    assert "no room for a copy of the stream (it can be read only once) in " in said
    assert "save the rows as Parquet and name that file" in said


def test_columns_that_are_no_columns(tmp_path):
    lists = TABLE.append_column("parts", pa.array([[1, 2]] * 5000))
    assert "'parts'" in refused(stored(tmp_path, lists))
    assert "leave it out (drop)" in refused(lists.to_reader())
    open_rows(lists.to_reader(), "kind", drop=["parts"])
    assert "more than one column is named 'size'" in refused(
        pa.Table.from_arrays([*TABLE.columns, TABLE["size"]], [*TABLE.column_names, "size"]).to_reader()
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (pa.array([None, *[1] * 4999]), "Target 'kind' has missing values: drop the rows"),
        (pa.array([np.nan, *[1.5] * 4999]), "missing values: drop the rows"),
        (pa.nulls(5000), "Target 'kind' has missing values: drop the rows"),
        (pa.array(["a"] * 5000), "y has one class, 'a'"),
        (
            pa.array([datetime.date(2024, 1, 1)] * 5000),
            "holds dates or times (date32[day]): convert it to num",
        ),
        (pa.array([[1]] * 5000), "holds values of type list"),
    ],
)
def test_targets_that_cannot_be(tmp_path, values, said):
    table = TABLE.drop_columns(["kind"]).append_column("kind", values)
    assert said in refused(stored(tmp_path, table))
    assert said in refused(table.to_reader())


def test_a_folder_with_a_broken_file(tmp_path):
    for k in range(3):
        stored(tmp_path, name=f"rows/part-{k}.parquet")
    broken = tmp_path / "rows" / "part-1.parquet"
    content = broken.read_bytes()
    broken.write_bytes(content[:100])
    assert re.search(r"part-1\.parquet is no Parquet file, or a damaged one", refused(tmp_path / "rows"))
    broken.write_bytes(content[:50] + b"\xff" * 2000 + content[2050:])  # the metadata is whole
    assert "part-1.parquet: damaged" in refused(tmp_path / "rows")


def test_a_folder_with_columns_of_other_types(tmp_path):
    stored(tmp_path, name="rows/a.parquet")
    stored(tmp_path, pa.table({"size": ["x"], "colour": ["red"], "kind": [1]}), "rows/b.parquet")
    said = refused(tmp_path / "rows")
    assert "'size'" in said
    assert "b.parquet: save it with one type" in said
    assert LocalBlocks(open_rows(tmp_path / "rows", "kind", drop=["size"]), None, "auto").n_rows == 5001


def test_a_column_that_one_file_lacks_is_missing_there(tmp_path):
    stored(tmp_path, name="rows/a.parquet")
    stored(tmp_path, pa.table({"size": [1.0], "kind": [1]}), "rows/b.parquet")
    blocks = LocalBlocks(open_rows(tmp_path / "rows", "kind"), None, "auto")
    assert blocks.collect(lambda block: int((block.codes[1] == 2).sum())) == [1]


def test_files_that_change_or_vanish(tmp_path):
    path = stored(tmp_path)
    source = open_rows(path, "kind")
    stored(tmp_path, TABLE.slice(0, 4000))
    assert LocalBlocks(source, None, "auto").n_rows == 4000  # before anything was read
    path.unlink()
    with pytest.raises(InputError, match=r"rows\.parquet: damaged, or gone \(.*Failed to open"):
        LocalBlocks(source, None, "auto")


def test_paths_that_lead_nowhere(tmp_path):
    assert "No such file or directory" in refused(tmp_path / "none.parquet")
    assert "No file matches" in refused(f"{tmp_path}/*.parquet")
    (tmp_path / "empty").mkdir()
    assert "it is a folder without Parquet or Feather files, and empty" in refused(tmp_path / "empty")
    (tmp_path / "a.jsonl").write_text('{"size": 1, "kind": 2}\n')
    assert "is not read in batches: save it as CSV or Parquet" in refused(tmp_path / "a.jsonl")
    (tmp_path / "nothing.csv").touch()
    assert "is empty" in refused(tmp_path / "nothing.csv")


def test_what_cannot_be_read_in_batches():
    assert "X is a int, which cannot be read in batches" in refused(3)


def test_a_lazy_frame_that_fails(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(TABLE).lazy()
    failing = frame.with_columns(polars.col("colour").cast(polars.Int64, strict=True))
    assert "Reading the LazyFrame failed" in refused(failing)
    assert "The LazyFrame cannot be read" in refused(frame.select("nothing"))
    assert "There are no rows in the LazyFrame" in refused(frame.filter(polars.col("size") < 0))


def test_a_query_that_fails():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    query = connection.sql(
        "select case when i < 100000 then i else error('too far') end as size, i % 2 as kind"
        " from range(200000) t(i)"
    )
    assert "Reading the duckdb query failed" in refused(query)


def part(k, odd):
    import pandas as pd

    frame = pd.DataFrame({"size": np.arange(5000.0), "kind": np.arange(5000) % 2})
    if k == 1 and odd == "text":
        frame["size"] = pd.Series(["a", "b"] * 2500, dtype="str")
    if k == 1 and odd == "error":
        raise OSError("the disk is gone")
    if k == 1 and odd == "columns":
        frame = frame.rename(columns={"size": "width"})
    return frame


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ("text", "column 'size' holds numbers in one batch of rows and categories in another"),
        ("error", "Partition 1 of the Dask DataFrame cannot be computed (OSError: the disk is gone)"),
        ("columns", "A batch of rows lacks column 'size': give all of them the same columns"),
    ],
)
def test_a_partition_that_differs(odd, said):
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_map(part, [0, 1], odd=odd, meta=part(0, odd).iloc[:0], enforce_metadata=False)
    assert said in refused(frame)


def test_targets_of_dask_that_do_not_fit():
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_map(part, [0, 1], odd="", meta=part(0, "").iloc[:0])
    other = frames.from_map(part, [0, 1, 2], odd="", meta=part(0, "").iloc[:0])
    assert "y has 3 partitions, but X 2" in refused(frame[["size"]], other["kind"])
    assert "y must be the name of its target column" in refused(frame, np.zeros(10))
    assert "5,000 rows, but that of y 2,500" in refused(frame[["size"]], frame[frame["kind"] == 0]["kind"])
