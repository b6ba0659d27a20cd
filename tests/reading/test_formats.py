"""One table in every format: the same columns, kinds, missing values and selection."""

import bz2
import csv
import datetime
import decimal
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from table_cases import read_table
from test_bad_files import run

import foresift
from foresift.cli.table import read_columns

N_ROWS = 120
FIRST = datetime.date(2024, 1, 1)


def table():
    """Typed columns, None for missing."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, N_ROWS)
    gone = rng.random((3, N_ROWS)) < 0.1
    days = [FIRST + datetime.timedelta(days=int(d)) for d in rng.integers(0, 400, N_ROWS)]
    return {
        "size": [None if g else round(float(x), 3) for g, x in zip(gone[0], rng.normal(label), strict=True)],
        "count": [int(x) for x in rng.integers(0, 9, N_ROWS) + label],
        "colour": [
            None if g else ("blå", "grün", "red")[i]
            for g, i in zip(gone[1], rng.integers(0, 3, N_ROWS), strict=True)
        ],
        "day": days,
        "when": [
            None if g else datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=int(s))
            for g, s in zip(gone[2], rng.integers(0, 10**7, N_ROWS), strict=True)
        ],
        "flag": [bool(x) for x in rng.random(N_ROWS) < 0.3 + 0.4 * label],
        "zip": [f"{x:05}" for x in rng.choice([123, 4567, 89012], N_ROWS)],
        "price": [f"{x:,} EUR" for x in rng.integers(900, 2000, N_ROWS) + 300 * label],
        "note": [("NA", "so-so", "good", "")[i] for i in rng.integers(0, 4, N_ROWS)],
        "y": [("no", "yes")[i] for i in label],
    }


def _shown(cell):
    return "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)


def _csv(delimiter=",", encoding="utf-8"):
    columns = table()
    lines = [list(columns), *([_shown(cell) for cell in row] for row in zip(*columns.values(), strict=True))]
    quoted = ([f'"{cell}"' if delimiter in cell else cell for cell in line] for line in lines)
    return "".join(delimiter.join(line) + "\r\n" for line in quoted).encode(encoding)


def zstd(content):
    return pa.compress(content, codec="zstd", asbytes=True)


def excel(**sheets):
    """A workbook of sheets, each a list of rows; by default of the table."""
    columns = table()
    rows_of_table = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in (sheets or {"Data": rows_of_table}).items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _json_lines():
    columns = table()
    records = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(
        json.dumps({k: v for k, v in record.items() if v is not None}, default=str, ensure_ascii=False) + "\n"
        for record in records
    ).encode()


def _feather(path):
    pyarrow.feather.write_feather(pa.table(table()), path)


def _parquet(path):
    pyarrow.parquet.write_table(pa.table(table()), path)


def _parquet_of_other_types(path):
    kinds = {
        "size": pa.decimal128(8, 3),
        "count": pa.float64(),
        "colour": pa.large_string(),
        "day": pa.timestamp("ns"),
        "when": pa.timestamp("ms", "Europe/Berlin"),
    }
    columns = pa.table(table())
    for name, kind in kinds.items():
        values = columns[name].cast(pa.timestamp("ms", "UTC")) if name == "when" else columns[name]
        columns = columns.set_column(columns.schema.get_field_index(name), name, values.cast(kind))
    pyarrow.parquet.write_table(columns, path)


def _folder(path, ending="parquet"):
    whole = pa.table(table())
    (path / "more").mkdir(parents=True)
    write = pyarrow.parquet.write_table if ending == "parquet" else pyarrow.feather.write_feather
    write(whole.slice(0, 50), path / f"a.{ending}")
    write(whole.slice(50, 30), path / "more" / f"b.{ending}")
    write(whole.slice(80), path / "more" / f"c.{ending}")
    (path / "_SUCCESS").touch()
    (path / f".a.{ending}.crc").write_bytes(b"crc")
    (path / "README.txt").write_text("about the table")


FORMS = {
    **{
        f"CSV {delimiter!r} {encoding}": (lambda d=delimiter, e=encoding: _csv(d, e))
        for delimiter in ",;\t"
        for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252")
    },
    "gzip": lambda: gzip.compress(_csv()),
    "bzip2": lambda: bz2.compress(_csv()),
    "xz": lambda: lzma.compress(_csv()),
    "zstd": lambda: zstd(_csv()),
    "Excel": excel,
    "JSON lines": _json_lines,
    "JSON lines, zstd": lambda: zstd(_json_lines()),
    "JSON lines, UTF-16": lambda: _json_lines().decode().encode("utf-16"),
    "JSON array": lambda: b"[" + b",\n".join(_json_lines().splitlines()) + b"]",
    "Feather": _feather,
    "Parquet": _parquet,
    "Parquet of other types": _parquet_of_other_types,
    "Parquet folder": _folder,
    "Feather folder": lambda path: _folder(path, "feather"),
}


def saved(form, path):
    write = FORMS[form]
    if write.__name__ in ("_feather", "_parquet", "_parquet_of_other_types", "_folder") or "folder" in form:
        write(path)
    else:
        path.write_bytes(write())
    return path


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return read_columns(str(saved("CSV ',' utf-8", tmp_path_factory.mktemp("csv") / "t")), "y")[1]


@pytest.mark.parametrize("form", FORMS)
def test_every_format_has_the_same_columns(tmp_path, form, expected):
    split = read_columns(str(saved(form, tmp_path / "t")), "y")[1]
    kinds = {decision.name: decision.kind for decision in split.decisions}
    assert kinds == {decision.name: decision.kind for decision in expected.decisions}
    assert kinds["day"] == kinds["when"] == "date"
    assert kinds["price"] == "numeric"
    assert split.labels.tolist() == expected.labels.tolist()
    assert list(split.columns) == list(expected.columns)
    for name, values in split.columns.items():
        np.testing.assert_array_equal(values, expected.columns[name], err_msg=name)
    assert {name: values[2] for name, values in split.columns.items()}["zip"] in ("00123", "04567", "89012")


def selection(path):
    result = run("select", path, "--target", "y", "--no-check", "--trees", 40, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    return [(row["name"], row["kept"], row["pvalue"]) for row in found["features"]]


@pytest.mark.parametrize("form", ["Excel", "JSON lines", "Parquet folder", "xz"])
def test_every_format_has_the_same_selection(tmp_path, form):
    assert selection(saved(form, tmp_path / "t")) == selection(saved("CSV ';' cp1252", tmp_path / "csv"))


@pytest.mark.parametrize("form", [f for f in FORMS if not f.startswith("CSV") or f == "CSV '\\t' utf-16"])
def test_a_smaller_table_of_every_format(tmp_path, form, expected):
    read = read_table(saved(form, tmp_path / "t"))
    small = tmp_path / f"small{read.suffix}"
    read.write(small, {"y", "colour", "when"})
    again = read_columns(str(small), "y")[1]
    assert list(again.columns) == ["colour", "when"]
    for name, values in again.columns.items():
        np.testing.assert_array_equal(values, expected.columns[name])


@pytest.mark.parametrize(
    "form", ["bzip2", "xz", "zstd", "Excel", "JSON lines", "JSON lines, zstd", "Parquet"]
)
def test_standard_input(tmp_path, form):
    env = {**os.environ, "PYTHONPATH": str(Path(foresift.__file__).parents[1])}
    command = [sys.executable, "-m", "foresift", "select", "-", "--target", "y", "--method", "info-gain"]
    content = saved(form, tmp_path / "t").read_bytes()
    done = subprocess.run([*command, "--no-check", "--k", "2"], input=content, capture_output=True, env=env)
    assert b"standard input" in done.stdout, done.stderr


def odd_columns(n=60):
    """Columns for every rule of the types of columns."""
    rng = np.random.default_rng(1)
    return {
        "constant": [1.5] * n,
        "always": [True] * n,
        "row": list(range(n)),
        "customer_id": rng.permutation(1000)[:n].tolist(),
        "name": [f"n{i}" for i in range(n)],
        "empty": pa.nulls(n),
        "one missing": [None] + [1] * (n - 1),
        "NA": ["NA", "1", "2"] * 20,
        "dash": ["-", "1.5", "2"] * 20,
        "padded": ["007", "012", "100"] * 20,
        "thousands": ["1,234", "2,345", "999"] * 20,
        "percent": ["1%", "2%", "5%"] * 20,
        "spaces": [" a ", "a", "b "] * 20,
        "large": [2**60 + i % 7 for i in range(n)],
        "bytes": pa.array([1, 2, 3] * 20, pa.uint8()),
        "decimal": [decimal.Decimal("1.10"), decimal.Decimal("2.25"), None] * 20,
        "midnight": [datetime.datetime(2024, 1, 1 + i % 7) for i in range(n)],
        "hour": [datetime.datetime(2024, 1, 1, i % 24) for i in range(n)],
        "time": [datetime.time(1, i) for i in range(n)],
        "level": pa.array(["u", "v", None] * 20).dictionary_encode(),
        "doubtful": [*map(str, range(n - 1)), "x"],
        "y": ["a", "b"] * 30,
    }


@pytest.mark.parametrize("form", ["Parquet", "Feather"])
def test_typed_columns_are_decided_as_in_csv(tmp_path, form):
    typed = pa.table(odd_columns())
    write = pyarrow.parquet.write_table if form == "Parquet" else pyarrow.feather.write_feather
    write(typed, tmp_path / "typed")
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(typed.column_names)
        writer.writerows(map(_shown, row.values()) for row in typed.to_pylist())
    found, expected = (read_columns(str(tmp_path / name), "y")[1] for name in ("typed", "t.csv"))
    assert [(d.name, d.kind, d.left_out, d.keep_by) for d in found.decisions] == [
        (d.name, d.kind, d.left_out, d.keep_by) for d in expected.decisions
    ]
    for name, values in expected.columns.items():
        np.testing.assert_array_equal(found.columns[name], values, err_msg=name)


def test_typed_columns_as_text(tmp_path):
    columns = {
        "id": [2**60, 2**60 + 1],
        "size": [1.0, 2.5],
        "midnight": [datetime.datetime(2024, 1, 1), None],
        "moment": [datetime.datetime(2024, 1, 1, 12), None],
    }
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "t")
    found = {column.name: column.texts for column in read_table(tmp_path / "t", text=list(columns)).columns}
    assert found == {
        "id": ["1152921504606846976", "1152921504606846977"],
        "size": ["1", "2.5"],
        "midnight": ["2024-01-01"],
        "moment": ["2024-01-01 12:00:00"],
    }
