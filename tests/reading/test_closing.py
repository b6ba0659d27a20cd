"""Files that were read are closed: no warning of Python's own is left, whatever became of the table."""

import bz2
import gc
import warnings

import numpy as np
import pandas as pd
import pytest

import foresift
from foresift.reading.files import open_table

TABLE = pd.DataFrame({"size": [1.5, 2.5, 4.0] * 20, "kind": ["a", "b", "c"] * 20})


def write(path):
    writers = {
        ".csv": lambda: TABLE.to_csv(path, index=False),
        ".bz2": lambda: path.write_bytes(bz2.compress(TABLE.to_csv(index=False).encode())),
        ".jsonl": lambda: TABLE.to_json(path, orient="records", lines=True),
        ".json": lambda: TABLE.to_json(path, orient="records"),
        ".parquet": lambda: TABLE.to_parquet(path),
        ".feather": lambda: TABLE.to_feather(path),
        ".xlsx": lambda: TABLE.to_excel(path, index=False),
    }
    writers[path.suffix]()
    return path


@pytest.fixture
def _no_file_is_left_open():
    gc.collect()  # what other tests have left
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        yield
        gc.collect()
    assert [str(one.message) for one in caught if one.category is ResourceWarning] == []


@pytest.mark.usefixtures("_no_file_is_left_open")
@pytest.mark.parametrize("suffix", [".csv", ".csv.bz2", ".jsonl", ".json", ".parquet", ".feather", ".xlsx"])
def test_read_closes_the_file(tmp_path, suffix):
    X, y = foresift.read(write(tmp_path / f"t{suffix}"), target="kind")
    assert (len(X), y[2]) == (60, "c")


@pytest.mark.usefixtures("_no_file_is_left_open")
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_select_closes_the_file(tmp_path, suffix):
    found = foresift.select(str(write(tmp_path / f"t{suffix}")), "kind", check=False, random_state=0)
    assert found.features == ["size"]


@pytest.mark.usefixtures("_no_file_is_left_open")
@pytest.mark.parametrize(
    "content", [b"a,b\n", b"\x00\x01\x02", b"PAR1 damaged", b"[{]", b"BZh91AY&SY damaged", b""]
)
def test_files_that_are_refused_are_closed(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"t\.csv"):
        foresift.read(path, target="b")


def test_an_open_table_can_be_read_and_written_as_long_as_it_is_there(tmp_path):
    table = open_table(write(tmp_path / "t.csv"))
    first, second = table.read(), table.read()
    np.testing.assert_array_equal(first.columns[0].values, second.columns[0].values)
    del table, second
    first.write(tmp_path / "again.csv", ["size"])
    assert (tmp_path / "again.csv").read_text().startswith("size\n1.5\n")
