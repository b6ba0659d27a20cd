"""The columns of CSV text are those that a plain loop over its cells finds, however it is cut into blocks."""

import contextlib
import csv
import io

import numpy as np
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_reading import read_column
from table_cases import CHARS, read_table, written

from foresift.reading.cells import MISSING
from foresift.reading.delimited import Delimited
from foresift.reading.text_blocks import blocks_of_rows
from foresift.reading.text_columns import read_text_columns

# Numbers and texts that are easily mistaken for each other; many of them within a column of the same kind.
WHOLE = st.integers(-2000, 2000).map(str) | st.sampled_from(
    ["7", " 7 ", "-0", "0", "05", "999", "1000", str(2**70)]
)
POINTED = st.floats(width=32).map(repr) | st.sampled_from(
    [
        "1.234",
        "-12.500",
        "1.000",
        "2.5",
        "1.",
        ".5",
        "+3",
        "+3.125",
        "1e5",
        "1e-05",
        "1e400",
        "inf",
        "-Infinity",
        "NAN",
    ]
)
ODD = st.sampled_from(
    [
        "x",
        "1_000",
        "0x10",
        "0X1f",
        "05123",
        "007",
        "nan(1)",
        "\u0663",
        "1,5",
        "1 2",
        "--1",
        "\xa01",
        "1\v",
        'a "b"',
        "\n",
    ]
) | st.text(CHARS, max_size=4)
NONE = st.sampled_from([*MISSING, " ", " NA", "NA ", "  ?\t"])


@st.composite
def mixed_rows(draw):
    kinds = [
        WHOLE,
        WHOLE | NONE,
        WHOLE | POINTED,
        POINTED | NONE,
        st.sampled_from(["1.234", "-12.500", "7", "?"]),
    ]
    width, n_rows = draw(st.integers(1, 5)), draw(st.integers(1, 40))
    columns = []
    for _ in range(width):
        cells = draw(st.lists(draw(st.sampled_from(kinds)), min_size=n_rows, max_size=n_rows))
        if draw(st.booleans()):  # something else, perhaps late
            cells[draw(st.integers(0, n_rows - 1))] = draw(POINTED | ODD)
        columns.append(cells)
    if draw(st.booleans()):  # only then dots may separate thousands
        columns.append(["1,5", "2,250"] * n_rows)
    return [list(row) for row in zip(*columns, strict=False)]


def assert_read(columns, rows, padded=True, **options):
    commas = {row[-1] for row in rows} <= {"1,5", "2,250"}
    for j, column in enumerate(columns):
        kind, values, *more = read_column(
            [row[j] for row in rows], text=column.name == "c3", padded=padded, **options
        )
        if column.mark == ",":
            assert padded
            cells = [np.nan if cell is None else float(cell.replace(",", ".")) for cell in values]
            np.testing.assert_array_equal(column.values, cells)
        elif kind == "text":
            assert column.labels().tolist() == values
            assert column.texts == list(dict.fromkeys(filter(lambda text: text is not None, values)))
        else:
            assert column.texts is None
            np.testing.assert_array_equal(column.values, values)
            if commas:
                np.testing.assert_array_equal(column.grouped, more[0])
                assert column.mark == ("." if more[1] else "")


@contextlib.contextmanager
def short_blocks(size):
    """Read few bytes at a time, after a look at the first row alone."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SIZE": size, "_MIN_ROWS": 0, "_HEAD": 1, "_MIN_HEAD": 1}.items():
            patch.setattr(f"foresift.reading.text_blocks.{name}", value)
        yield


@settings(max_examples=400, deadline=None)
@given(rows=mixed_rows(), size=st.integers(1, 400), padded=st.booleans())
def test_columns_of_rows_are_those_of_a_plain_loop(rows, size, padded):
    names = [f"c{j}" for j in range(len(rows[0]))]
    missing = MISSING if padded else {"?", ""}
    with short_blocks(size):
        source = blocks_of_rows(lambda: iter(rows))
        columns = read_text_columns(source, names, text={"c3"}, missing=missing, declared=not padded)
    assert [column.name for column in columns] == names
    assert_read(columns, rows, missing=missing, padded=padded)


@settings(max_examples=400, deadline=None)
@given(
    rows=mixed_rows(),
    size=st.integers(1, 400),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be"]),
    last=st.booleans(),
)
def test_columns_of_a_file_are_those_of_a_plain_loop(rows, size, quoting, delimiter, end, encoding, last):
    names = [f"c{j}" for j in range(len(rows[0]))]
    text = written(names, rows, delimiter, quoting, end)
    text = text if last else text.removesuffix(end)
    file = io.BytesIO(text.encode(encoding))
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row][1:]
    with short_blocks(size):
        table = Delimited(file, "a file", delimiter=delimiter, encoding=encoding)
        assert_read(table.columns(names, {"c3"}), rows)


def test_a_late_text_among_many_rows(tmp_path):
    path = tmp_path / "t.csv"
    cells = [str(i % 500) for i in range(30_000)]
    cells[-2], cells[7] = "late", "05"
    path.write_text("x,z,y\n" + "".join(f"{i}.5,{cell},a\n" for i, cell in enumerate(cells)))
    with short_blocks(2**12):
        x, z, y = read_table(path).columns
    assert z.labels().tolist() == cells
    assert x.values.tolist() == [i + 0.5 for i in range(30_000)]
    assert (y.texts, y.values.tolist()) == (["a"], [0] * 30_000)


def test_cells_that_pyarrow_refuses_in_many_columns(tmp_path, monkeypatch):
    """They are found together: a new attempt for each column took minutes for a thousand of them."""
    attempts, read = [], pyarrow.csv.read_csv
    monkeypatch.setattr(pyarrow.csv, "read_csv", lambda *a, **more: attempts.append(1) or read(*a, **more))
    path = tmp_path / "t.csv"
    for cell, width in (("   NA ", 60), (" NA", 1200), ("\u00a01.5", 60)):
        row = ",".join(["1.5", cell] * width)
        path.write_text("\n".join([",".join(f"c{j}" for j in range(2 * width)), *[row] * 20]))
        attempts.clear()
        one, other = read_table(path).columns[:2]
        assert one.values.tolist() == [1.5] * 20
        expected = [np.nan if "NA" in cell else 1.5] * 20
        np.testing.assert_array_equal(other.values, expected)
        assert len(attempts) < 30


def test_blank_lines_do_not_hide_late_codes(tmp_path):
    path = tmp_path / "t.csv"
    rows = "1,2,a\n" * 3000
    path.write_text(f"x,z,y\n{rows}\n5,05123,a\n\n\n{rows}")
    _, z, _ = read_table(path).columns
    assert z.labels().tolist() == ["2"] * 3000 + ["05123"] + ["2"] * 3000


@pytest.mark.parametrize(
    "text",
    [
        'x,y\n5",a\n6",b\n',  # inches: quotes within cells
        'x,y\n"5"" long",a\n7,"b"\n',
        "x,y\n\n1,a\n\n\n2,b\n",
        "x,y\n1,a\n\r\n2,b",
        "x y\n1  a\n 2 b\n",
        "x\u00a7y\n1\u00a7a\n2\u00a7b\n",
        'x, y\n"1", "a"\n"2", "b"\n',
        "x,y\n1,a,\n2,b, \n",
        "x,y,\n1,a,\n2,b,\n",
    ],
)
def test_what_only_the_slow_way_can_read_is_read_the_same(text):
    delimiter = "\u00a7" if "\u00a7" in text else None
    table = Delimited(io.BytesIO(text.encode()), "a file", delimiter=delimiter)
    with short_blocks(4):
        assert_read(table.columns(table.names), list(table.rows()))
