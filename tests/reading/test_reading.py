"""Files come back cell for cell, whatever is in them."""

import csv
import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_cases import CHARS, read_table, written
from typer.testing import CliRunner

from foresift.cli.app import app
from foresift.cli.table import read_columns
from foresift.errors import InputError
from foresift.reading.delimited import Delimited, sniff_delimiter, sniff_encodings
from foresift.reading.files import open_table
from foresift.reading.splitting import split_table

CELLS = st.text(CHARS, max_size=12)


@st.composite
def tables(draw, cells=CELLS, least=2):
    width = draw(st.integers(least, 5))
    rows = draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=8))
    header = [f"c{j}" for j in range(width)]
    return header, rows


@settings(max_examples=200, deadline=None)
@given(
    table=tables(),
    delimiter=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_every_cell_comes_back(table, delimiter, encoding, quoting, end):
    header, rows = table
    content = written(header, rows, delimiter, quoting, end).encode(encoding)
    read = Delimited(io.BytesIO(content), "a file", delimiter=delimiter, encoding=encoding)
    assert read.header == header
    assert list(read.rows()) == rows
    assert list(read.rows()) == rows  # and again from the start


@settings(max_examples=150, deadline=None)
@given(table=tables(), delimiter=st.sampled_from(",;\t|"))
def test_delimiter_is_told_if_all_cells_are_quoted(table, delimiter):
    text = written(*table, delimiter, csv.QUOTE_ALL)
    assert sniff_delimiter(text) == delimiter


PLAIN = st.one_of(
    st.integers(-999, 999).map(str), st.text("abcXYZ .-_/:'", min_size=1, max_size=8), st.just("")
)


@settings(max_examples=150, deadline=None)
@given(table=tables(PLAIN), delimiter=st.sampled_from(",;\t|"))
def test_delimiter_is_told_if_no_cell_has_another(table, delimiter):
    assert sniff_delimiter(written(*table, delimiter)) == delimiter


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a;b\n1,5;2,5\n1,0;3,1\n", ";"),  # decimal commas
        ("a,b\n1;2,3\n4;5,6\n", ","),
        ("price, EUR;size\n1,5;2\n2,5;3\n", ";"),
        ("a\tb, c\n1\t2, 3\n", "\t"),
        ("one\n1\n2\n", ","),
        ("a,b\n1,2\n3\n4,5\n", ","),  # ragged
        ("", ","),
    ],
)
def test_delimiter_where_others_are_about(text, delimiter):
    assert sniff_delimiter(text) == delimiter


SPACED = 'a  b   c\n1.5 x  3\n 20 \'y 4 \n3   "z  z" 5\n'


def test_runs_of_spaces_separate_if_nothing_else_does(tmp_path):
    path, small = tmp_path / "t.csv", tmp_path / "small.csv"
    path.write_text(SPACED)
    table = read_table(path)
    assert table.how == "CSV with spaces, utf-8"
    assert [column.labels().tolist() for column in table.columns] == [
        ["1.5", "20", "3"],
        ["x", "'y", "z  z"],
        ["3", "4", "5"],
    ]
    table.write(small, {"b", "c"})
    assert list(read_table(small).origin.rows()) == [["x", "3"], ["'y", "4"], ["z  z", "5"]]
    assert sniff_delimiter("full name\nAda Lovelace\nPlato\n") == ","  # but not if they do not fit


@pytest.mark.parametrize(
    "text",
    [
        'a, b\n1, "x, y"\n2, "z, u, v"\n',  # a space before the quote
        'a,b\n1,"x, y",\n2,"z, u, v",\n',  # a delimiter at the end of rows only
        'a,b,\n1,"x, y"\n2,"z, u, v"\n',  # and of the header only
        'a,b,\n1,"x, y",\n2,"z, u, v",\n',
    ],
)
def test_small_liberties_are_taken_as_they_are_meant(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    first, second, *more = read_table(path).columns
    assert (first.name, first.values.tolist()) == ("a", [1, 2])
    assert (second.name, second.texts) == ("b", ["x, y", "z, u, v"])
    assert all(column.missing.all() for column in more)


def test_an_empty_cell_too_many_in_some_rows_is_an_error():
    """It may be the last cell of a row with a comma too many before it."""
    for text in ("a,b\n1,2\n3,4,\n", "a,b\n1,2,\n3,4\n", "a,b\n1,2,\n3,4,5\n"):
        with pytest.raises(InputError, match=r"line 3: \d cells, but the (header has|rows above have) \d"):
            list(Delimited(io.BytesIO(text.encode()), "a file").rows())


def test_a_sample_that_ends_within_a_row_tells_the_delimiter():
    assert sniff_delimiter("a;b;c\n1;2;3\n4;5;6\n7", whole=False) == ";"


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=50))
def test_utf8_is_told(text):
    sample = text.encode()
    first = sniff_encodings(sample)[0]
    assert sample.decode(first) in (text, text.removeprefix("\ufeff"))


def test_the_encoding_of_the_whole_file_counts(tmp_path):
    """The first sign of another encoding may be far behind the sample."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"x,y\n" + b"1,a\n" * 200_000 + "2,\u00e9\n".encode("cp1252"))
    table = read_table(path)
    assert table.columns[1].texts == ["a", "\u00e9"]
    assert table.how == "CSV with commas, cp1252"


FRAME = pd.DataFrame(
    {
        "size": [1.5, None, 2.5, 4.0],
        "count": pd.array([1, 2, None, 2**40], dtype="Int64"),
        "colour": ["red", None, "blue", "red"],
        "level": pd.Categorical(["lo", "hi", None, "hi"]),
        "flag": pd.array([True, False, None, True], dtype="boolean"),
        "day": pd.to_datetime(["2024-01-31", "2024-02-29", None, "1970-01-01"]).date,
        "when": pd.to_datetime(
            ["2024-01-31T10:00", None, "1970-01-01T00:00:01", "1970-01-02"], format="ISO8601"
        ),
        "y": ["u", "v", "u", "v"],
    }
)


def write(form, path):
    if form == "parquet":
        pyarrow.parquet.write_table(pa.Table.from_pandas(FRAME), path)
    else:
        pyarrow.feather.write_feather(pa.Table.from_pandas(FRAME), path)


@pytest.mark.parametrize("form", ["parquet", "feather"])
@pytest.mark.parametrize("packed", [False, True])
def test_typed_files(tmp_path, form, packed):
    path = tmp_path / f"t.{form}"
    write(form, path)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    table = read_table(path)
    split = split_table(table, "y")
    columns = split.columns
    np.testing.assert_array_equal(columns["size"], [1.5, np.nan, 2.5, 4])
    np.testing.assert_array_equal(columns["count"], [1, 2, np.nan, 2**40])
    assert columns["colour"].tolist() == ["red", None, "blue", "red"]
    assert columns["level"].tolist() == ["lo", "hi", None, "hi"]
    assert columns["flag"].tolist() == ["true", "false", None, "true"]
    np.testing.assert_array_equal(columns["day"], [19753, 19782, np.nan, 0])
    np.testing.assert_array_equal(columns["when"], [1706695200, np.nan, 1, 86400])
    assert {d.name: d.kind for d in split.decisions}["when"] == "date"
    assert split.labels.tolist() == ["u", "v", "u", "v"]
    small = tmp_path / f"small{table.suffix}"
    table.write(small, {"y", "level"})
    again = read_table(small)
    assert [column.name for column in again.columns] == ["level", "y"]
    assert again.columns[0].labels().tolist() == ["lo", "hi", None, "hi"]
    read = pd.read_parquet if form == "parquet" else pd.read_feather
    with (gzip.open if packed else open)(small, "rb") as file:
        pd.testing.assert_frame_equal(read(io.BytesIO(file.read())), FRAME[["level", "y"]])


def test_names_with_dots_in_parquet(tmp_path):
    pyarrow.parquet.write_table(
        pa.table({"a": [1.0, 2], "a.b": [3.0, 4], "y": ["u", "v"]}), tmp_path / "t.pq"
    )
    columns = split_table(read_table(tmp_path / "t.pq"), "y").columns
    assert columns["a"].tolist() == [1, 2]
    assert columns["a.b"].tolist() == [3, 4]


ARFF = """% a comment
@RELATION 'my table'

@attribute size REAL
@attribute "the colour" {red, 'light blue', "it's"}
@attribute note string
@attribute born date "yyyy-MM-dd"
@attribute code {1,2}
@attribute y {u,v}
@data
1.5, red, 'some, text', "2024-01-31", 1, u
% another
?,'light blue',?,2024-02-29,2,v
-2e3,"it's",'don\\'t',?,?,u
"""


def test_arff(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(ARFF)
    table = read_table(path)
    split = split_table(table, "y")
    np.testing.assert_array_equal(split.columns["size"], [1.5, np.nan, -2000])
    assert split.columns["the colour"].tolist() == ["red", "light blue", "it's"]
    assert split.columns["note"].tolist() == ["some, text", None, "don't"]
    np.testing.assert_array_equal(split.columns["born"], [19753, 19782, np.nan])
    assert split.columns["code"].tolist() == ["1", "2", None]
    assert {d.name: d.why for d in split.decisions}["code"] == "the file says so"
    table.write(tmp_path / "small.arff", {"y", "the colour", "note"})
    again = split_table(read_table(tmp_path / "small.arff"), "y")
    assert list(again.columns) == ["the colour", "note"]
    for name, values in again.columns.items():
        assert values.tolist() == split.columns[name].tolist()


def test_sparse_arff(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(
        "@relation r\n@attribute a numeric\n@attribute b {x,z}\n@attribute y {u,v}\n@data\n"
        "{0 1.5, 2 v}\n{1 z}\n{}\n{0 ?,1 'z'}\n"
    )
    split = split_table(read_table(path), "y")
    np.testing.assert_array_equal(split.columns["a"], [1.5, 0, 0, np.nan])
    assert split.columns["b"].tolist() == ["x", "z", "x", "z"]
    assert split.labels.tolist() == ["v", "u", "u", "u"]


@settings(max_examples=100, deadline=None)
@given(cells=st.lists(st.text(CHARS, min_size=1, max_size=8), min_size=1, max_size=6))
def test_arff_strings_come_back(cells):
    from foresift.reading.arff import Arff

    names = [f"c{j}" for j in range(len(cells))]
    quoted = [
        "'" + c.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r") + "'"
        for c in cells
    ]
    text = "@relation r\n" + "".join(f"@attribute {n} string\n" for n in names) + "@data\n" + ",".join(quoted)
    table = Arff(io.BytesIO(text.encode()), "a file")
    assert list(table.rows()) == [cells]
    file = io.BytesIO()
    table.write(file, names)
    assert list(Arff(file, "again").rows()) == [cells]


def test_bom_quotes_crlf_blank_lines_and_nameless_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes('\ufeff,"a, b"\r\n1,"x\r\ny"\r\n\r\n 2 ,"say ""hi"""\r\n'.encode())
    first, second = read_table(path).columns
    assert (first.name, first.values.tolist()) == ("column 1", [1, 2])
    assert (second.name, second.texts) == ("a, b", ["x\r\ny", 'say "hi"'])


@pytest.mark.parametrize("mark", ["sep=;", '"sep=;"', "SEP=;"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_line_that_tells_a_spreadsheet_the_delimiter_is_no_header(tmp_path, mark, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(f"{mark}\r\na;b\r\n1,5;x\r\n2;y\r\n".encode(encoding))
    table = read_table(path)
    assert [column.name for column in table.columns] == ["a", "b"]
    assert list(table.origin.rows()) == [["1,5", "x"], ["2", "y"]]
    path.write_text("sep=,\na;b,c\n1,2\n3,4,5\n")
    with pytest.raises(InputError, match=r"line 4: 3 cells, but the header has 2"):
        read_table(path)


@pytest.mark.parametrize(
    ("text", "header", "n_comments"),
    [
        ("# made by hand\n#\nx,y\n1,a\n2,b\n", ["x", "y"], 2),
        ("\ufeff# made by hand\r\n\r\n# on Monday, with care\r\nx,y\r\n1,a\r\n", ["x", "y"], 3),
        ("# semicolons; of two kinds\nx;y\n1;a\n", ["x", "y"], 1),
        ("sep=;\n# made by hand\nx;y\n1;a\n", ["x", "y"], 1),
        ("# three columns\nx y z\n1  2 a\n3 4  b\n", ["x", "y", "z"], 1),
        ("#x,y\n1,a\n2,b\n", ["#x", "y"], 0),  # a header
        ("#x,y\na,b\nc,d\n", ["#x", "y"], 0),
        ("# made by hand\n# x,y\n1,a\n2,b\n", ["# x", "y"], 1),  # and so NumPy writes one
        ("x,y\n# no comment,a\n2,b\n", ["x", "y"], 0),  # below the header it is a cell
    ],
)
def test_comments_before_the_header_are_skipped(tmp_path, text, header, n_comments):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    table = read_table(path)
    assert [column.name for column in table.columns] == header
    assert table.origin.n_comments == n_comments


def test_lines_are_counted_with_comments(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("# one\n# two\nx,y\n1,a\n2\n")
    with pytest.raises(InputError, match="line 5: 1 cell,"):
        read_table(path)


def test_comments_are_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("# one\n# two\nx,y\n" + "".join(f"{i % 7}.5,{'ab'[i % 2]}\n" for i in range(40)))
    said = "Skipped 2 comment lines before the header."
    runner = CliRunner()
    result = runner.invoke(app, ["select", str(path), "--target", "y", "--no-check", "--json"])
    assert said in json.loads(result.stdout)["notes"]
    result = runner.invoke(app, ["compare", str(path), "--target", "y", "--methods", "pearson", "--cv", "2"])
    assert said in result.stdout


def test_text_stays_as_it_is_written_where_asked(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("zip,y\n01234,1\n1234,2\n")
    assert read_table(path, text={"zip"}).columns[0].texts == ["01234", "1234"]


@settings(max_examples=60, deadline=None)
@given(table=tables(), delimiter=st.sampled_from(",;\t|"))
def test_a_smaller_table_has_the_same_cells(tmp_path_factory, table, delimiter):
    header, rows = table
    folder = tmp_path_factory.mktemp("t")
    path, small = folder / "t.csv", folder / "small.csv"
    path.write_bytes(written(header, rows, delimiter).encode())
    read_table(path, delimiter=delimiter).write(small, {"c0", "c1"})
    again = Delimited(io.BytesIO(small.read_bytes()), "small", delimiter=delimiter)
    assert again.header == ["c0", "c1"]
    assert list(again.rows()) == [row[:2] for row in rows]


@pytest.mark.parametrize("target", ["y", "k"])
def test_a_commented_header_is_one_if_it_has_the_target(tmp_path, target):
    path = tmp_path / "t.csv"
    path.write_text("# made by hand\n# k,y,z\n" + "u,a,p\nv,b,q\n" * 10)
    opened = open_table(path, target=target)
    assert opened.names == ["# k", "y", "z"]
    assert opened.origin.n_comments == 1
    assert opened.read().n_rows == 20
    split = read_columns(str(path), target)[1]
    assert split.target == {"y": "y", "k": "# k"}[target]
    assert open_table(path).names == ["u", "a", "p"]  # nothing tells


def test_comments_are_no_header_if_the_target_is_below(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("# k,y,z\nk,y,x\nu,a,p\nv,b,q\n")
    assert open_table(path, target="y").names == ["k", "y", "x"]


@pytest.mark.parametrize("packed", [False, True])
def test_comments_longer_than_the_sample(tmp_path, packed):
    path = tmp_path / "t.csv"
    text = "".join(f"# comment {i}\n" for i in range(40_000)) + "x;y\n" + "1,5;a\n2;\u00e4\n" * 20
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    table, split = read_columns(str(path), "y")
    assert table.origin.n_comments == 40_000
    assert split.columns["x"].tolist() == [1.5, 2] * 20
    with pytest.raises(InputError, match="40,000 comment lines were skipped before the header"):
        read_columns(str(path), "no such")
    path.write_text("# c\n" * 100_000)
    with pytest.raises(InputError, match="is empty: a header line and rows are needed"):
        read_columns(str(path), "y")


def test_names_are_those_of_the_header(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(40))
    path.write_text(" spacey ,x ,\ty\n" + rows)
    out = tmp_path / "out"
    command = ["select", str(path), "--target", "y", "--k", "1", "--numeric", "x,spacey", "--no-check"]
    result = CliRunner().invoke(app, [*command, "--out", str(out), "--write-data"])
    assert result.exit_code == 0, result.output
    names = set(pd.read_csv(path).columns)
    assert set(pd.read_csv(out / "ranking.csv")["name"]) == {" spacey ", "x "}
    assert set(pd.read_csv(out / "selected.csv").columns) < names
    found = json.loads((out / "selection.json").read_text())
    assert {row["name"] for row in found["features"]} < names
    assert found["data"]["target"] == "\ty"
    path.write_text(" y,y ,x\n" + rows)
    result = CliRunner().invoke(app, ["select", str(path), "--target", "y"])
    assert "no column 'y'; did you mean one of ' y', 'y '?" in result.stderr


def test_names_with_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"tickets, open",x,y\n' + "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(40)))
    for typed, dropped in {"tickets, open": 1, '"tickets, open"': 1, 'x,"tickets, open"': 2}.items():
        if dropped == 1:
            assert read_columns(str(path), "y", drop=typed)[0].left_out == ["tickets, open"]
        categorical = read_columns(str(path), "y", categorical=typed)[1].decisions
        assert sum(decision.kind == "categorical" for decision in categorical) == dropped
    with pytest.raises(InputError, match="""contains a comma: --numeric '"tickets, open"'"""):
        read_columns(str(path), "y", numeric="x,tickets, open")


def test_long_cells_are_read_and_written(tmp_path):
    path, copy = tmp_path / "t.csv", tmp_path / "copy.csv"
    path.write_text('x,z,y\n"' + "long " * 60_000 + '",1,a\nshort,5",b\n')  # and inches, which only csv reads
    table = read_table(path)
    assert len(table.columns[0].texts[0]) == 60_000 * 5 - 1
    table.write(copy, {"x", "y"})
    assert read_table(copy).columns[0].texts == table.columns[0].texts
