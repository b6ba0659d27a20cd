"""CSV files in batches: the columns are those of a file that is read at once."""

import csv
import gzip
import io
import random

import numpy as np
import pyarrow as pa
import pytest

import foresift
from foresift.data.coded_column import CodedColumn
from foresift.engine.local_blocks import LocalBlocks
from foresift.errors import InputError
from foresift.reading import csv_scan, text_blocks, text_columns
from foresift.reading.row_sources import open_rows

N = 600


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(text_blocks, "SIZE", 2**10)
    monkeypatch.setattr(text_blocks, "MAX_SIZE", 2**16)
    monkeypatch.setattr(text_blocks, "_MIN_ROWS", 1)
    monkeypatch.setattr(text_blocks, "_HEAD", 8)


def written(folder, columns, delimiter=",", name="rows.csv"):
    text = io.StringIO(newline="")
    rows = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    rows.writerows([columns, *zip(*columns.values(), strict=True)])
    path = folder / name
    content = text.getvalue().encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def gathered(source):
    batches = list(source.batches())
    columns = {}
    for name in batches[0].X:
        parts = [batch.X[name] for batch in batches]
        columns[name] = np.concatenate(
            [part.decoded() if isinstance(part, CodedColumn) else part for part in parts]
        )
    return columns, np.concatenate([batch.y for batch in batches]), len(batches)


def assert_like_read(path, target="y"):
    source = open_rows(path, target)
    columns, y, n_batches = gathered(source)
    whole = foresift.read(path, target=target)
    expected = {name: np.asarray(whole.X[name]) for name in whole.X.columns}
    assert list(columns) == list(expected)
    for name, values in columns.items():
        if values.dtype.kind in "fi":
            assert np.array_equal(values, expected[name].astype(float), equal_nan=True), name
        else:
            there = [None if value != value else value for value in expected[name].tolist()]
            assert values.tolist() == there, name
    assert source.n_rows_of(0) == len(y)
    if whole.task == "classification" and y.dtype == object:
        assert y.tolist() == whole.y.tolist()
    else:
        assert y.astype(float).tolist() == np.asarray(whole.y).astype(float).tolist()
    return source, n_batches


def choices(values, seed=0):
    return random.Random(seed).choices(values, k=N)


def numbers(form="{:.4f}", seed=1):
    return [form.format(x) for x in np.random.default_rng(seed).normal(scale=500, size=N)]


FEATURES = {
    "numbers": numbers(),
    "whole": choices(["1", "2", "17"]),
    "missing": choices(["1.5", "NA", "", "?", "2"]),
    "spaces": choices([" 1", "2 ", " NA "]),
    "text": choices(["low", " mid ", "high", ""]),
    "codes": choices(["00123", "04711", "10000"]),
    "dates": choices(["2024-01-31", "2023-05-01", ""]),
    "moments": [f"2024-01-{k % 28 + 1:02}T{k % 24:02}:00:00" for k in range(N)],
    "slashed": [f"{k % 28 + 1}/{k % 12 + 1}/2024" for k in range(N)],
    "money": choices(["$1,250", "$7.50", "$0.25"]),
    "percent": choices(["5%", "12.5%", "7 %"]),
    "dashes": choices(["1.5", "-", "3"]),
    "late text": ["1", "2"] * (N // 2 - 1) + ["3", "none"],
    "late dash": ["1.5", "2.25"] * (N // 2 - 1) + ["-", "1.5"],
    "late code": ["1", "2"] * (N // 2 - 1) + ["3", "007"],
    "constant": ["x"] * N,
    "constant number": ["3"] * N,
    "empty": [""] * N,
    "counter": list(map(str, range(10, 10 + N))),
    "flags": choices(["True", "False"]),
    "big": choices(["123456789012345678", "1e300", "5"]),
}


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
@pytest.mark.parametrize("target", ["text", "whole", "float"])
def test_columns_are_those_of_a_file_that_fits(tmp_path, target, name):
    y = {"text": choices(["no", "yes"], 5), "whole": choices(["0", "1"], 5), "float": numbers(seed=5)}[target]
    source, n_batches = assert_like_read(written(tmp_path, {**FEATURES, "y": y}, name=name))
    assert n_batches > 5
    left_out = {decision.name for decision in source.decisions if decision.left_out}
    assert left_out == {"constant", "constant number", "empty", "counter"}


@pytest.mark.parametrize(
    "more",
    [
        {"x": numbers("{:.2f}")},
        {"x": [cell.replace(".", ",") for cell in numbers("{:.2f}")]},
        {"x": choices(["1,5", "2,25"]), "grouped": choices(["1.250", "3.125", "17"])},
        {"x": choices(["1,5e3", "2,25"]), "points": choices(["1.25", "0.5"])},
        {"x": choices(["1,234", "2,345"]), "points": choices(["1.25", "0.5"])},
        {"x": choices(["1,234", "5,678"])},
        {"x": ["1,234"] * (N - 1) + ["1,5"]},
        {"x": ["1.234"] * (N - 1) + ["0.5"], "comma": choices(["0,5", "1,25"])},
    ],
)
def test_decimal_marks_follow_other_columns(tmp_path, more):
    columns = {"text": choices(["a", "b"]), **more, "y": choices(["no", "yes"], 5)}
    assert_like_read(written(tmp_path, columns, ";"))


@pytest.mark.parametrize(
    "y",
    [
        [cell.replace(".", ",") for cell in numbers("{:.2f}")],
        choices(["1,5", "2"]),
        choices(["007", "010"]),
        choices(["$5", "$1,250"]),
        choices(["1.0", "1", "2"]),
        choices(["2024-01-31", "2023-05-01"]),
    ],
)
def test_targets_are_read_like_columns(tmp_path, y):
    columns = {"text": choices(["a", "b"]), "x": choices(["1,5", "2,25"]), "y": y}
    source = open_rows(written(tmp_path, columns, ";"), "y")
    found = gathered(source)[1]
    whole = foresift.read(written(tmp_path, columns, ";"), target="y", task="auto")
    there = np.asarray(whole.y)
    if whole.task == "regression":
        assert found.astype(float).tolist() == there.tolist()
    else:  # classes that are numbers are numbers here, and text there
        same = {(str(here), str(label)) for here, label in zip(found.tolist(), there.tolist(), strict=True)}
        assert len(same) == len(set(there.tolist()))


def test_cells_that_are_not_regular(tmp_path):
    rows = [f'{k},"a ""b"", {k % 3}",5" nails,{k % 2}' for k in range(N)]
    path = tmp_path / "rows.csv"
    path.write_text("x,text,odd,y\n" + "\n".join(rows) + "\n")
    assert_like_read(path)


def test_many_different_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_scan, "MAX_TEXTS", 50)
    moments = [f"2024-01-{k % 28 + 1:02} {k % 24:02}:{k % 60:02}:{k * 7 % 60:02}" for k in range(N)]
    columns = {
        "moments": moments,
        "days": [f"{k % 12 + 1}/{k % 28 + 1}/{2000 + k % 20}" for k in range(N)],
        "money": [f"${k * 13:,}.25" for k in range(N)],
        "late dash": [*numbers()[:-1], "-"],
        "grouped": [f"{k % 9 + 1}.{k:03}" for k in range(N)],
        "comma": choices(["1,5", "0,25"]),
        "names": [f"name {k % 590}" for k in range(N)],
        "ids": [*map(str, np.random.default_rng(0).permutation(N)[:-1]), "x"],
        "y": numbers(seed=5),
    }
    path = written(tmp_path, columns, ";")
    source = open_rows(path, "y")
    found, y, _ = gathered(source)
    monkeypatch.undo()
    whole = foresift.read(path, target="y")
    assert [d.name for d in source.decisions if d.left_out] == ["names", "ids"]
    for name, values in found.items():
        assert np.array_equal(values, np.asarray(whole.X[name]), equal_nan=True), name
    assert y.tolist() == np.asarray(whole.y).tolist()


def test_a_text_after_many_numbers_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_scan, "MAX_TEXTS", 20)
    money = [f"${k * 13:,}.25" for k in range(N - 1)] + ["free"]
    path = written(tmp_path, {"money": money, "x": numbers(), "y": choices("ab")})
    with pytest.raises(InputError, match=r"'money' has 'free' after 40 different cells.*\(drop\)"):
        LocalBlocks(open_rows(path, "y"), None, "auto")


def test_bad_files_are_told_in_a_sentence(tmp_path):
    cases = {
        "x,y\n": "has a header but no rows",
        "x,y\n1,a\n2,\n": "Target 'y' has missing values: drop the rows",
        "x,y\n1,a\n2\n": "line 3: 1 cell, but the header has 2",
        "x,y\ninf,1\n2,0\n": "infinite",
        "x,y\nc,1\nc,0\n": "no column besides the target 'y' (x: every cell is c)",
    }
    for text, said in cases.items():
        (tmp_path / "x.csv").write_text(text)
        with pytest.raises((InputError, ValueError)) as caught:
            LocalBlocks(open_rows(tmp_path / "x.csv", "y"), None, "auto")
        assert said in str(caught.value)
        assert str(caught.value).endswith((".", ")."))


def test_zstd(tmp_path):
    path = written(tmp_path, {"x": numbers(), "y": choices("ab")})
    packed = tmp_path / "rows.csv.zst"
    with pa.CompressedOutputStream(str(packed), "zstd") as file:
        file.write(path.read_bytes())
    assert_like_read(packed)


def test_a_file_that_changes_is_told(tmp_path):
    path = written(tmp_path, {"x": numbers(), "t": choices("ab"), "y": choices("ab")})
    source = open_rows(path, "y")
    path.write_text(path.read_text().replace(",a,", ",q,"))
    with pytest.raises(InputError, match="do not change"):
        list(source.batches())


@pytest.mark.parametrize("seed", range(30))
def test_a_few_numbers_decide_as_all_do(seed):
    rng = np.random.default_rng(seed)
    scale = [1, 10, 1e3, 1e5][seed % 4]
    values = np.round(rng.normal(scale=scale, size=400), seed % 5)
    values[rng.random(400) < 0.1] = np.nan
    rows = csv_scan.Telling([0])
    for block in np.array_split(values, 50):
        rows.add({0: block}, 1.0)
    few = rows.take([0])[0]
    assert len(few) <= 6
    assert (np.nanmin(few), np.nanmax(few)) == (np.nanmin(values), np.nanmax(values))
    for mark in ".,":
        assert text_columns._has_decimals(few, mark) == text_columns._has_decimals(values, mark)
