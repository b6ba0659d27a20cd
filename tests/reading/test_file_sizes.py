"""Small files that hold very much are refused, or read in no more time and memory than they need."""

import contextlib
import gzip
import io
import time

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from table_cases import read_table
from test_bad_files import assert_one_sentence, run

from foresift.errors import InputError
from foresift.reading.arff import Arff
from foresift.reading.arrow_files import ArrowFile

ROWS = b"".join(b"%d.5,%c\n" % (i % 7, b"ab"[i % 2]) for i in range(40))
SPACES = " " * 200_000


@pytest.mark.parametrize(
    "row",
    [
        f"x{SPACES}y,'a'",
        f"'x'{SPACES},a",
        f"'x'{SPACES}y,a",
        f"x,{SPACES}'a",
        f"{{0 x{SPACES}y, 1 a}}",
        f"{{0 'x'{SPACES}y}}",
        f"{{0{SPACES}'x}}",
    ],
)
def test_a_row_of_spaces_takes_no_time(row):
    head = "@relation r\n@attribute x string\n@attribute y {a,b}\n@data\n"
    start = time.process_time()
    with contextlib.suppress(InputError):
        assert len(next(Arff(io.BytesIO(f"{head}{row}\n".encode()), "a file").rows())) == 2
    assert time.process_time() - start < 2  # it was minutes


def packed(path, block, n_blocks):
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(n_blocks):
            file.write(block)


def test_what_a_gzip_file_holds_is_looked_at_before_it_is_unpacked(tmp_path):
    path = tmp_path / "table.csv.gz"
    for block, message in (
        (bytes(2**20), "is not text: it contains NUL bytes"),
        (b"PK\x03\x04" * 99, "a ZIP archive"),
    ):
        packed(path, block, 2**20 * 9 // len(block))
        path.write_bytes(path.read_bytes()[:-40])  # whoever unpacks all of it finds that the end is missing
        assert_one_sentence(run("select", path, "--target", "y"), message)


def test_a_gzip_file_is_unpacked_up_to_a_limit(tmp_path):
    path = tmp_path / "table.csv.gz"
    packed(path, ROWS * 100, 20)  # 480 KB
    path.write_bytes(gzip.compress(b"x,y\n") + path.read_bytes())
    for command in ("select", "compare"):
        result = run(command, path, "--target", "y", "--max-memory", "0.0002")
        assert_one_sentence(
            result, "unpacks to more than 0.0002 GB: if it should, raise the limit (--max-memory)"
        )
    assert read_table(path, max_memory=0.001).n_rows == 80_000
    assert_one_sentence(run("select", path, "--target", "y", "--max-memory", "0"), "gigabytes above 0, not 0")


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_a_file_of_very_many_rows_is_refused_unread(tmp_path, form):
    path = tmp_path / f"table.{form}"
    n_rows = 2_000_000
    table = pa.table({"x": np.ones(n_rows), "z": np.ones(n_rows), "y": pa.array(["a", "b"] * (n_rows // 2))})
    if form == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path, compression="zstd")
    result = run("select", path, "--target", "y", "--max-memory", "0.07")
    assert_one_sentence(
        result, "has 2,000,000 rows and takes 0.08 GB of memory or more, above the limit of 0.07"
    )
    with pytest.raises(InputError, match="above the limit"):
        read_table(path, max_memory=0.07)
    assert read_table(path, max_memory=0.07, drop=["z"]).n_rows == n_rows
    assert read_table(path, max_memory=0.09).n_rows == n_rows


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_long_texts_that_pack_well_are_refused(tmp_path, form):
    path = tmp_path / f"table.{form}"
    table = pa.table(
        {"x": ["a" * 1000 + str(i) for i in range(9999)], "z": range(9999), "y": ["a", "b", "c"] * 3333}
    )
    if form == "parquet":
        pyarrow.parquet.write_table(table, path, compression="zstd")
    else:
        pyarrow.feather.write_feather(table, path, compression="zstd")
    with pytest.raises(InputError, match="above the limit"):
        read_table(path, max_memory=0.005)
    assert read_table(path, max_memory=0.005, drop=["x"]).n_rows == 9999


def test_a_text_that_comes_often_is_held_once(tmp_path):
    path = tmp_path / "table.parquet"
    words = pa.DictionaryArray.from_arrays(np.arange(2000) % 2, ["a" * 10**5, "b" * 10**5]).cast(pa.string())
    pyarrow.parquet.write_table(pa.table({"x": words, "y": ["u", "v"] * 1000}), path)
    del words
    read = ArrowFile(path.open("rb"), "a file", "Parquet").read(["x"])
    assert read.get_total_buffer_size() < 10**6  # not 200 MB


def test_a_gzip_file_in_an_encoding_that_was_named(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress("x,y\n1,a\n2,b\n".encode("utf-32-le")))
    assert [column.name for column in read_table(path, encoding="utf-32-le").columns] == ["x", "y"]
