"""Files come back cell for cell, whatever is in them; what each column is, is told and can be overruled."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresift.errors import InputError
from foresift.reading.amounts import read_amount, read_amounts, uses_decimal_commas
from foresift.reading.cells import MISSING, Column, gather
from foresift.reading.delimited import Delimited, sniff_delimiter, sniff_encodings
from foresift.reading.files import read_table
from foresift.reading.kinds import Wishes, decide
from foresift.reading.parting import split_table

# What a text file may hold: NUL is refused, a lone surrogate has no encoding, and a mark of an encoding at
# the very start is one.
CHARS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff") | st.sampled_from(
    "\n\r\t\"',;| "
)
CELLS = st.text(CHARS, max_size=12)


@st.composite
def tables(draw, cells=CELLS, least=2):
    width = draw(st.integers(least, 5))
    rows = draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=8))
    header = [f"c{j}" for j in range(width)]
    return header, rows


def written(header, rows, delimiter=",", quoting=csv.QUOTE_MINIMAL, end="\r\n"):
    if end == "\n" and any("\r" in cell for row in rows for cell in row):
        quoting = csv.QUOTE_ALL  # before Python 3.13 the writer does not see that such a cell needs quotes
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows([header, *rows])
    return file.getvalue()


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


@settings(max_examples=100, deadline=None)
@given(
    cells=st.lists(
        st.one_of(
            st.floats(allow_infinity=False).map(repr),
            st.sampled_from([*MISSING, " ", " 7 ", "1_000", "x", "0x10", "\u0663"]),
        ),
        min_size=1,
        max_size=30,
    ),
    at_once=st.integers(1, 12),
)
def test_gather_reads_numbers_or_text_as_a_plain_loop_does(cells, at_once):
    def number(cell):
        return np.nan if cell.strip() in MISSING else float(cell)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("foresift.reading.cells.CELLS", at_once)
        (column,) = gather(lambda: iter([[cell] for cell in cells]), ["c"])
    try:
        if any("_" in cell for cell in cells):
            raise ValueError
        expected = [number(cell) for cell in cells]
    except ValueError:
        texts = [None if cell.strip() in MISSING else cell.strip() for cell in cells]
        assert column.labels().tolist() == texts
    else:
        np.testing.assert_array_equal(column.values, expected)


def text_column(cells, name="c"):
    (column,) = gather(lambda: iter([[cell] for cell in cells]), [name], padded=True)
    return column


MANY = [str(i) for i in range(30)]


@pytest.mark.parametrize(
    ("cells", "kind", "why"),
    [
        (["1", "2", ""], "numeric", "every cell is a number"),
        (["a", "b", "a"], "categorical", "text"),
        (["1", "2", "3", "none"], "categorical", "text such as 'none' among numbers"),
        (["2024-01-31", "2024-02-29", ""], "date", "YYYY-MM-DD, taken as days since 1970"),
        (["2024-01-31T10:00:00+02:00", "2024-02-29 11:30"], "date", "seconds since 1970"),
        (["31.01.2024", "01.02.2024"], "date", "DD.MM.YYYY"),
        (["1/31/2024", "2/1/2024"], "date", "MM/DD/YYYY"),
        (["31/1/2024", "1/2/2024"], "date", "DD/MM/YYYY"),
        (["3-Feb-2024", "29-Dec-2023"], "date", "DD-Mon-YYYY"),
        (["10:30", "23:59", "9:15"], "date", "seconds since midnight"),
        (["2024-01-31", "soon"], "categorical", "text"),
        (["2024-13-31", "2024-02-30"], "categorical", "text"),
        (["1,234", "5,678,901", "12"], "numeric", "thousands commas"),
        (["31.01.24", "01.02.24"], "date", "DD.MM.YY, taken as days since 1970"),
        (["1/31/24", "2/1/24"], "date", "MM/DD/YY"),
        (["3/31/2024 1:05 PM", "2/1/2024 11:59 AM"], "date", "seconds since 1970"),
        (["2020-01", "2021-12"], "date", "YYYY-MM, taken as days since 1970"),
        (["Jan 2020", "Feb 2020"], "date", "Mon YYYY"),
        (["2024-01-31", "1.2.2024", "2024-03-01"], "date", "YYYY-MM-DD or DD.MM.YYYY"),
        ([f"2024-01-{i:02}" for i in range(1, 32)] + ["31/12/2023", "?"], "date", "or DD/MM/YYYY"),
        ([f"2024-01-{i:02}" for i in range(1, 32)] + ["soon"], "date", "text such as 'soon' is missing"),
        (["1.2.3", "1.10.4"], "categorical", "text"),  # versions
        (["$1,234.50", "$7", "-$3.25"], "numeric", "money in $, thousands commas"),
        (["1234.50 EUR", "7 EUR"], "numeric", "money in EUR"),
        (["12.3%", "4 %"], "numeric", "percents"),
        (["(123)", "45", "6.5"], "numeric", "negative in parentheses"),
        (["1 234", "12"], "numeric", "thousands apart"),
        (["$5", "\u20ac5"], "categorical", "text"),  # not the same thing
        (["5%", "0.5"], "categorical", "text"),
        (["36 months", "1 month", "60 months"], "numeric", "in months"),
        (["71.5 kg", "60 kg"], "numeric", "in kg"),
        (["1,71.5 kg", "60 kg"], "categorical", "text"),
        (["180cm", "1,950cm"], "numeric", "thousands commas, in cm"),
        (["5 kg", "5 g"], "categorical", "text"),  # not the same unit
        (["5 kg", "5"], "categorical", "text such as '5 kg' among numbers"),
        (["12A", "13A"], "categorical", "text"),  # a code: no unit is written so
        (["05123", "81234", "05123"], "categorical", "leading zeros, taken as codes"),
        (["01", "12", "07"], "numeric", "every cell is a number"),  # months
        (["0.5", "00.25", "0"], "numeric", "every cell is a number"),
        (["5", "5", "5"], "constant", "every cell is 5"),
        (["b", "b"], "constant", "every cell is b"),
        (["", "NA"], "constant", "every cell is missing"),
        (["1", "", "1"], "numeric", "every cell is a number"),  # missing or not is a difference
        (MANY, "id", "numbers that count the rows"),
        (MANY[::-1], "id", "numbers that count the rows"),
        ([str(37 * i + 5) for i in range(30)], "id", "numbers that count the rows"),
        ([*MANY[1::2], *MANY[::2]], "id", "every whole number of a range once"),
        ([f"name {i}" for i in range(30)], "id", "every text is different"),
        ([f"name {i // 2}" for i in range(30)], "categorical", "text"),
        ([str(i * i) for i in range(30)], "numeric", "every cell is a number"),
        ([f"{i}.25" for i in range(30)], "numeric", "every cell is a number"),
        (MANY[:5], "numeric", "every cell is a number"),  # too few to tell
    ],
)
def test_what_a_column_is(cells, kind, why):
    decision, values = decide(text_column(cells), Wishes())
    assert (decision.kind, why in decision.why) == (kind, True), decision
    assert decision.left_out == (kind in ("id", "constant"))
    assert len(values) == len(cells)


@pytest.mark.parametrize(
    "name", ["id", "customer_id", "customerId", "Customer-ID", "order_number", "rowId", "UUID"]
)
def test_distinct_numbers_named_like_an_identifier(name):
    squares = [str(i * i) for i in range(30)]
    assert decide(text_column(squares, name), Wishes())[0].kind == "id"
    assert decide(text_column(squares, "humid"), Wishes())[0].kind == "numeric"
    assert decide(text_column(squares, name), Wishes(keep_ids=True))[0].kind == "numeric"
    assert decide(text_column(squares, name), Wishes(numeric=[name]))[0].kind == "numeric"
    assert decide(text_column([*squares[:-1], "0"], name), Wishes())[0].kind == "numeric"  # 0 twice


def test_dates_become_the_numbers_that_pandas_has():
    days = ["2024-01-31", "1969-07-20", "2000-02-29"]
    _, values = decide(text_column(days), Wishes())
    np.testing.assert_array_equal(
        values, pd.to_datetime(days).to_numpy().astype("datetime64[D]").astype(float)
    )
    moments = ["2024-01-31T10:00:00+02:00", "1969-07-20T20:17:40Z"]
    _, values = decide(text_column(moments), Wishes())
    np.testing.assert_array_equal(values, [pd.Timestamp(moment).timestamp() for moment in moments])


def test_decimal_commas_where_the_comma_does_not_delimit(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;y\n1,5;1.000,25;u\n-2;3;v\n")
    columns = split_table(read_table(path), "y").columns
    assert columns["a"].tolist() == [1.5, -2]
    assert columns["b"].tolist() == [1000.25, 3]


def test_amounts_are_numbers_however_they_are_written():
    texts = ["($1,234.50)", "$ 7", "-$3", "+$2", "4$"]
    assert read_amounts(texts).numbers.tolist() == [-1234.5, 7, -3, 2, 4]
    assert read_amounts(["1.234,50", "1 234,5"], decimal_comma=True).numbers.tolist() == [1234.5, 1234.5]
    for wrong in ("(5", "5)", "(-5)", "--5", "$5%", "1,23,456", "1,2345", "0,123", "five", "", "12 34"):
        assert read_amounts([wrong]) is None, wrong


@settings(max_examples=100, deadline=None)
@given(
    number=st.decimals(-(10**9), 10**9, places=2), style=st.sampled_from(["{:,}", "${:,}", "{:,} %", "{}"])
)
def test_what_python_formats_is_read_back(number, style):
    text = style.format(number)
    assert read_amount(text) == float(number)
    swapped = text.translate(str.maketrans(",.", ".,"))
    assert read_amounts([swapped], decimal_comma=True).numbers.tolist() == [float(number)]


@pytest.mark.parametrize(
    ("texts", "sure"),
    [
        (["1,5", "2"], True),
        (["0,123"], True),
        (["1.234,567"], True),
        (["1,234", "2"], False),
        (["1,234,567"], False),
        (["1,5", "x"], False),
        ([], False),
    ],
)
def test_decimal_commas_beyond_doubt(texts, sure):
    assert uses_decimal_commas(texts) == sure


def test_dates_in_two_formats_are_those_that_pandas_has():
    days = pd.date_range("2019-01-01", periods=300)
    texts = [day.strftime("%d.%m.%Y" if i % 3 else "%Y-%m-%d") for i, day in enumerate(days)]
    decision, values = decide(text_column(texts), Wishes())
    assert not decision.left_out
    np.testing.assert_array_equal(values, days.to_numpy().astype("datetime64[D]").astype(float))


def test_dots_between_thousands_where_other_columns_have_decimal_commas(tmp_path):
    path = tmp_path / "t.csv"
    rows = "12.345;{};10.5;1,5;u\n7;1.000;2.250;2,25;v\n?;2.345;3.125;3;u\n"
    path.write_text("people;euros;size;share;y\n" + rows.format("3.450"))
    split = split_table(read_table(path), "y")
    np.testing.assert_array_equal(split.columns["people"], [12345, 7, np.nan])
    np.testing.assert_array_equal(split.columns["euros"], [3450, 1000, 2345])
    assert split.columns["size"].tolist() == [10.5, 2.25, 3.125]
    assert "thousands dots" in split.decisions[0].why
    said = split_table(read_table(path), "y", Wishes(numeric=["people"]))
    np.testing.assert_array_equal(said.columns["people"], [12.345, 7, np.nan])
    path.write_text("people;euros;size;share;y\n" + rows.format("3450").replace(",", "."))  # no decimal comma
    np.testing.assert_array_equal(split_table(read_table(path), "y").columns["people"], [12.345, 7, np.nan])


def test_a_long_number_says_that_dots_are_no_thousands(tmp_path, monkeypatch):
    monkeypatch.setattr("foresift.reading.cells.CELLS", 2)  # row by row
    path = tmp_path / "t.csv"
    path.write_text("people;share;y\n12.345;1,5;u\n1234;2,25;v\n")
    assert split_table(read_table(path), "y").columns["people"].tolist() == [12.345, 1234]
    path.write_text("people;share;y\n0.345;1,5;u\n1.234;2,25;v\n")  # nor are they after a nought
    assert split_table(read_table(path), "y").columns["people"].tolist() == [0.345, 1.234]


def test_codes_keep_their_zeros(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("zip,y\n81234,u\n 05123 ,v\n81234,v\n")
    split = split_table(read_table(path), "y")
    assert split.columns["zip"].tolist() == ["81234", "05123", "81234"]
    numbers = split_table(read_table(path), "y", Wishes(numeric=["zip"])).columns["zip"]
    assert numbers.tolist() == [81234, 5123, 81234]


def test_text_of_a_typed_file_stays_text(tmp_path):
    pyarrow.parquet.write_table(pa.table({"code": ["12", "7"], "y": ["u", "v"]}), tmp_path / "t.pq")
    assert split_table(read_table(tmp_path / "t.pq"), "y").columns["code"].tolist() == ["12", "7"]


def target(tmp_path, labels, **wishes):
    path = tmp_path / "t.csv"
    path.write_text("x;y\n" + "".join(f"{i % 7};{label}\n" for i, label in enumerate(labels)))
    return split_table(read_table(path, text=["y"]), "y", Wishes(**wishes)).labels


@pytest.mark.parametrize(
    ("n_rows", "label"),
    [
        (200, lambda i: i % 60),  # few rows each
        (60, lambda i: i % 21),
        (50, lambda i: i % 15),
        (400, lambda i: f"{i % 30}.5"),
        (400, lambda i: f"{i % 30},5"),
        (400, lambda i: f"{i + 1}.000,5 EUR"),
        (9999, lambda i: i % 51),
    ],
)
def test_a_number_is_no_target(tmp_path, n_rows, label):
    labels = [label(i) for i in range(n_rows)]
    with pytest.raises(InputError, match=r"classes only: cut it .*qcut.*--categorical 'y'"):
        target(tmp_path, labels)
    if len(set(labels)) <= n_rows // 2:
        assert len(target(tmp_path, labels, categorical=["y"])) == n_rows


@pytest.mark.parametrize(("n_rows", "n_classes"), [(20, 10), (130, 26), (250, 50), (75, 15)])
def test_numbers_that_name_classes_are_a_target(tmp_path, n_rows, n_classes):
    assert len(set(target(tmp_path, [i % n_classes for i in range(n_rows)]))) == n_classes


def test_what_the_user_says_goes_first():
    mixed = text_column(["1", "two", "3", ""])
    decision, values = decide(mixed, Wishes(numeric=["c"]))
    np.testing.assert_array_equal(values, [1, np.nan, 3, np.nan])
    assert "1 distinct texts that are no numbers count as missing" in decision.why
    decision, values = decide(text_column(["1", "2.0", ""]), Wishes(categorical=["c"]))
    assert values.tolist() == ["1", "2", None]
    with pytest.raises(InputError, match="no cell of it is a number"):
        decide(text_column(["a", "b"]), Wishes(numeric=["c"]))


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
    file = io.StringIO()
    table.write(file, names)
    assert list(Arff(io.BytesIO(file.getvalue().encode()), "again").rows()) == [cells]


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


def test_what_a_message_says_keeps_a_column_does():
    for cells, flag in ((MANY, "--numeric"), ([f"{i:05}" for i in range(7, 997, 33)], "--categorical")):
        column = text_column(cells, "zip")
        decision, _ = decide(column, Wishes())
        assert (decision.left_out, decision.keep_by) == (True, flag)
        kept, _ = decide(column, Wishes(**{flag.removeprefix("--"): ("zip",)}))
        assert (kept.left_out, kept.kind) == (False, flag.removeprefix("--"))
    texts = [f"t{i}" for i in range(70_000)]
    assert decide(Column("free", np.arange(70_000, dtype=np.int32), texts), Wishes())[0].keep_by == ""


def test_rows_without_a_target_can_be_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x;c;y\n1.000;u;a\n2.000;v;\n3.000;w;b\n")
    split = split_table(read_table(path), "y", Wishes(skip_unlabelled=True))
    assert (split.labels.tolist(), split.n_unlabelled) == (["a", "b"], 1)
    assert split.columns["x"].tolist() == [1, 3]
    assert split.columns["c"].tolist() == ["u", "w"]
    path.write_text("x,y\n1,\n2,\n")
    with pytest.raises(InputError, match="'y' is missing in every row"):
        split_table(read_table(path), "y", Wishes(skip_unlabelled=True))


def test_labels_of_numbers():
    column = Column("y", np.array([0.0, 1.0, -0.5, np.nan, 1e300]))
    assert column.labels().tolist() == ["0", "1", "-0.5", None, "1e+300"]


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
