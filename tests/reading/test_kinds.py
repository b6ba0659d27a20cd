"""What each column is: told from its cells, and overruled by the user; what may be a target."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_cases import read_table

from foresift.cli.table import column_notes
from foresift.errors import InputError
from foresift.reading.amounts import decimal_mark, read_amount, read_amounts
from foresift.reading.cells import Column
from foresift.reading.kinds import ColumnOptions, decide
from foresift.reading.splitting import split_table
from foresift.reading.text_blocks import blocks_of_rows
from foresift.reading.text_columns import read_text_columns


def text_column(cells, name="c"):
    (column,) = read_text_columns(blocks_of_rows(lambda: ([cell] for cell in cells)), [name])
    return column


MANY = [str(i) for i in range(30)]


@pytest.mark.parametrize(
    ("cells", "kind", "why"),
    [
        (["1", "2", ""], "numeric", "every cell is a number"),
        (["a", "b", "a"], "categorical", "text"),
        (["1", "2", "3", "none"], "categorical", "text such as 'none' among numbers"),
        (["2024-01-31", "2024-02-29", ""], "date", "YYYY-MM-DD, taken as days since 1970"),
        (["2024-01-31T10:00:00+02:00", "2024-02-29 11:30"], "date", "YYYY-MM-DD HH:MM, taken as seconds"),
        (["2024-01-31 10:00:05", "2024-02-29 11:30"], "date", "YYYY-MM-DD HH:MM:SS, taken as seconds"),
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
        (["1 234", "12"], "numeric", "thousands separators"),
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
    decision, values = decide(text_column(cells), ColumnOptions())
    assert (decision.kind, why in decision.why) == (kind, True), decision
    assert decision.left_out == (kind in ("id", "constant"))
    assert len(values) == len(cells)


@pytest.mark.parametrize(
    "name", ["id", "customer_id", "customerId", "Customer-ID", "order_number", "rowId", "UUID"]
)
def test_distinct_numbers_named_like_an_identifier(name):
    squares = [str(i * i) for i in range(30)]
    assert decide(text_column(squares, name), ColumnOptions())[0].kind == "id"
    assert decide(text_column(squares, "humid"), ColumnOptions())[0].kind == "numeric"
    assert decide(text_column(squares, name), ColumnOptions(keep_ids=True))[0].kind == "numeric"
    assert decide(text_column(squares, name), ColumnOptions(numeric=[name]))[0].kind == "numeric"
    assert decide(text_column([*squares[:-1], "0"], name), ColumnOptions())[0].kind == "numeric"  # 0 twice


def test_dates_become_the_numbers_that_pandas_has():
    days = ["2024-01-31", "1969-07-20", "2000-02-29"]
    _, values = decide(text_column(days), ColumnOptions())
    np.testing.assert_array_equal(
        values, pd.to_datetime(days).to_numpy().astype("datetime64[D]").astype(float)
    )
    moments = ["2024-01-31T10:00:00+02:00", "1969-07-20T20:17:40Z"]
    _, values = decide(text_column(moments), ColumnOptions())
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
    for wrong in ("(5", "5)", "(-5)", "--5", "$5%", "1,23,456", "five", "", "12 34"):
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
        (["1,5", "2"], ","),
        (["0,123"], ","),
        (["1.234,567"], ","),
        (["24,8 kg", "1 kg"], ","),
        (["1,234", "2"], ""),
        (["1,234,567"], "."),
        (["$1,234.50"], "."),
        (["$0.25", "$1,234"], "."),
        (["1,5", "x"], ""),
        ([], ""),
    ],
)
def test_decimal_marks_beyond_doubt(texts, sure):
    assert decimal_mark(texts) == sure


def test_dates_in_two_formats_are_those_that_pandas_has():
    days = pd.date_range("2019-01-01", periods=300)
    texts = [day.strftime("%d.%m.%Y" if i % 3 else "%Y-%m-%d") for i, day in enumerate(days)]
    decision, values = decide(text_column(texts), ColumnOptions())
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
    said = split_table(read_table(path), "y", ColumnOptions(numeric=["people"]))
    np.testing.assert_array_equal(said.columns["people"], [12.345, 7, np.nan])
    path.write_text("people;euros;size;share;y\n" + rows.format("3450").replace(",", "."))  # no decimal comma
    np.testing.assert_array_equal(split_table(read_table(path), "y").columns["people"], [12.345, 7, np.nan])


def test_a_long_number_says_that_dots_are_no_thousands(tmp_path, monkeypatch):
    monkeypatch.setattr("foresift.reading.text_blocks.SIZE", 2)  # row by row
    path = tmp_path / "t.csv"
    path.write_text("people;share;y\n12.345;1,5;u\n1234;2,25;v\n")
    assert split_table(read_table(path), "y").columns["people"].tolist() == [12.345, 1234]
    path.write_text("people;share;y\n0.345;1,5;u\n1.234;2,25;v\n")  # nor are they after a nought
    assert split_table(read_table(path), "y").columns["people"].tolist() == [0.345, 1.234]


@pytest.mark.parametrize("late", ["", "1.234,5", "1,234", "x", "7 EUR", "-", "-2,5e-06", "1e3"])
def test_columns_of_decimal_commas_are_read_as_their_texts_are(tmp_path, late):
    """However they are read: by pyarrow, or text by text as in a Parquet file."""
    path = tmp_path / "t.csv"
    cells = [f"{i % 70},{i % 9}5" for i in range(3000)] + ([late] if late else [])
    frame = pd.DataFrame({"x": cells, "people": [f"{i % 8 + 1}.{i % 9}00" for i in range(len(cells))]})
    frame["y"] = ["u", "v", "w"] * 1000 + (["u"] if late else [])
    frame.to_csv(path, sep=";", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    split, other = (split_table(read_table(p), "y") for p in (path, tmp_path / "t.parquet"))
    assert split.decisions == other.decisions
    for name, values in split.columns.items():
        np.testing.assert_array_equal(values, other.columns[name])


@pytest.mark.parametrize(
    ("delimiter", "cells", "values"),
    [
        ("\t", ["4000", "123,456"], [4000, 123456]),  # some with commas between thousands, some without
        ("\t", ["1000000", "1,5"], [1000000, 1.5]),
        (";", ["71956", "05123", "1,5"], ["71956", "05123", "1,5"]),  # codes, whatever else there is
        (";", ["831,511", "12"], [831.511, 12]),
        ("\t", ["831,511", "0,5"], [831.511, 0.5]),
        ("\t", ["831,511", "1234,567"], [831.511, 1234.567]),
    ],
)
def test_commas_of_decimals_or_of_thousands(tmp_path, delimiter, cells, values):
    path = tmp_path / "t.csv"
    ids = [str(7220720808108379030 - 3**i) for i in range(30)]  # too long for their digits, but no decimals
    rows = [delimiter.join((cell, ids[i % 30], "uvw"[i % 3])) for i, cell in enumerate(cells * 30)]
    path.write_text("\n".join([delimiter.join(("x", "order", "y")), *rows]))
    split = split_table(read_table(path), "y")
    assert split.columns["x"][: len(cells)].tolist() == values


def test_decimal_commas_with_exponents_are_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x;y\n" + "".join(f"{i},25;{'ab'[i % 2]}\n" for i in range(40)) + "-2,5e-06;a\n1E3;b\n")
    split = split_table(read_table(path), "y")
    assert split.columns["x"].tolist() == [*(i + 0.25 for i in range(40)), -2.5e-06, 1000]
    assert read_amounts(["-2,5e-06", "1,5"]).numbers.tolist() == [-2.5e-06, 1.5]


def test_dots_beside_exponents_or_noughts_are_no_thousands(tmp_path):
    path = tmp_path / "t.csv"
    for other in ("1e-05", "05"):
        path.write_text(f"people;share;y\n1.234;1,5;u\n{other};2,25;v\n2.345;3,5;v\n")
        split = split_table(read_table(path), "y")
        assert split.columns["people"].tolist() == [1.234, float(other), 2.345]


def test_codes_keep_their_zeros(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("zip,y\n81234,u\n 05123 ,v\n81234,v\n")
    split = split_table(read_table(path), "y")
    assert split.columns["zip"].tolist() == ["81234", "05123", "81234"]
    numbers = split_table(read_table(path), "y", ColumnOptions(numeric=["zip"])).columns["zip"]
    assert numbers.tolist() == [81234, 5123, 81234]


TEXTS = {
    "weight": ["17,7", "0,25", "1.200,5", "?", "3"],
    "price": ["\u00a3 14,42", "\u00a3 3", "\u00a3 2,50", "", "\u00a3 7"],
    "height": ["171 cm", "1,5 cm", "160 cm", "NA", "182 cm"],
    "people": ["12.345", "7", "2.500", "null", "1.000"],  # thousands, by what the other columns say
    "born": ["31.01.2024", "01.02.2024", "", "28.02.2023", "1.3.2022"],
    "zip": ["05123", "81234", "05123", " 00501 ", "N/A"],
    "member": ["true", "false", " true", "", "false"],
    "colour": ["red", " ", "blue", "red ", "NaN"],
    "size": ["15", "2", " 325", "<NA>", "nan"],
    "odd": ["1", "2", "many", "4", "5"],
    "empty": ["", "?", "NA", "", ""],
    "y": ["u", "v", " u", "v", "u"],
}


def write_texts(path, columns):
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=2)
    elif path.suffix == ".feather":
        pyarrow.feather.write_feather(pa.table(columns), path, chunksize=2)
    else:
        pd.DataFrame(columns).to_csv(
            path, index=False, sep={".csv": ",", ".txt": ";", ".tsv": "\t"}[path.suffix]
        )


@pytest.mark.parametrize("suffix", [".txt", ".tsv", ".parquet", ".feather"])
def test_a_table_is_read_alike_from_every_format(tmp_path, suffix):
    splits = []
    for path in (tmp_path / "t.csv", tmp_path / f"t{suffix}"):
        write_texts(path, TEXTS)
        splits.append(split_table(read_table(path, text={"y"}), "y"))
    plain, other = splits
    assert other.decisions == plain.decisions
    assert column_notes(other) == column_notes(plain)
    assert list(other.columns) == list(plain.columns)
    for name, values in plain.columns.items():
        np.testing.assert_array_equal(other.columns[name], values)
    assert other.labels.tolist() == plain.labels.tolist() == ["u", "v", "u", "v", "u"]
    kinds = {d.name: d.kind for d in plain.decisions}
    assert kinds == {
        **dict.fromkeys(["weight", "price", "height", "people", "size"], "numeric"),
        **dict.fromkeys(["zip", "member", "colour", "odd"], "categorical"),
        "born": "date",
        "empty": "constant",
    }
    np.testing.assert_array_equal(plain.columns["weight"], [17.7, 0.25, 1200.5, np.nan, 3])
    np.testing.assert_array_equal(plain.columns["price"], [14.42, 3, 2.5, np.nan, 7])
    np.testing.assert_array_equal(plain.columns["people"], [12345, 7, 2500, np.nan, 1000])
    assert plain.columns["colour"].tolist() == ["red", None, "blue", "red", None]


def test_typed_columns_are_what_their_text_in_a_csv_file_is(tmp_path):
    columns = {
        "size": pa.array([1.5, None, 2.0, 4.25]),
        "member": pa.array([True, False, None, True]),
        "level": pa.array(["lo", "", "hi", "NA"]).dictionary_encode(),
        "day": pa.array([19753, 0, None, 19782], pa.date32()),
        "y": pa.array(["u", "v", "v", "u"]),
    }
    splits = []
    for suffix in ("csv", "parquet", "feather"):
        path = tmp_path / f"t.{suffix}"
        if suffix == "csv":
            pyarrow.csv.write_csv(pa.table(columns), path)
        else:
            write_texts(path, columns)
        splits.append(split_table(read_table(path, text={"y"}), "y"))
    for split in splits[1:]:
        assert [(d.name, d.kind) for d in split.decisions] == [(d.name, d.kind) for d in splits[0].decisions]
        for name, values in splits[0].columns.items():
            np.testing.assert_array_equal(split.columns[name], values)
    assert splits[0].columns["level"].tolist() == ["lo", None, "hi", None]


@pytest.mark.parametrize("blank", ["", " ", "?", "NA"])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("coded", [False, True])
def test_a_blank_target_is_missing_in_every_format(tmp_path, blank, suffix, coded):
    path = tmp_path / f"t.{suffix}"
    labels = ["u", "v", blank, "u"]
    typed = coded and suffix != "csv"
    write_texts(path, {"x": [1.5, 2, 3, 3], "y": pa.array(labels).dictionary_encode() if typed else labels})
    with pytest.raises(InputError, match="'y' is missing in 1 row "):
        split_table(read_table(path, text={"y"}), "y")
    split = split_table(read_table(path, text={"y"}), "y", ColumnOptions(skip_unlabelled=True))
    assert split.labels.tolist() == ["u", "v", "u"]


def test_without_a_column_of_decimal_commas_they_are_between_thousands(tmp_path):
    columns = {"x": ["1,234", "2,500", "7"], "y": ["u", "v", "u"]}
    for suffix in ("csv", "tsv", "parquet", "feather"):
        write_texts(tmp_path / f"t.{suffix}", columns)
        split = split_table(read_table(tmp_path / f"t.{suffix}"), "y")
        assert split.columns["x"].tolist() == [1234, 2500, 7], suffix


AMOUNTS = {"amt": ["1,243", "960", "2,080"], "disc": ["24,8 %", "3 %", "1,5 %"], "y": ["u", "v", "u"]}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "feather"])
def test_decimal_points_of_another_column_leave_thousands_commas_alone(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    write_texts(path, {**AMOUNTS, "z": [0.646, 0.5, 1.25]})
    columns = split_table(read_table(path), "y").columns
    assert columns["amt"].tolist() == [1243, 960, 2080]
    assert columns["disc"].tolist() == [24.8, 3, 1.5]
    write_texts(path, {**AMOUNTS, "z": ["$0.646", "$5", "$7"]})
    assert split_table(read_table(path), "y").columns["amt"].tolist() == [1243, 960, 2080]
    write_texts(path, {**AMOUNTS, "z": ["0.646", "5", "7"], "w": ["1.243", "2.080", "3.125"]})
    assert split_table(read_table(path), "y").columns["w"].tolist() == [1.243, 2.08, 3.125]
    write_texts(path, {**AMOUNTS, "z": [1, 2, 3]})  # decimal commas alone
    assert split_table(read_table(path), "y").columns["amt"].tolist() == [1.243, 960, 2.08]


def test_points_and_commas_between_semicolons(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("amt;disc;z;y\n1,243;24,8;0.646;u\n960;3;0.5;v\n")
    assert split_table(read_table(path), "y").columns["amt"].tolist() == [1.243, 960]
    path.write_text("amt;disc;y\n1,243;24;u\n960;3;v\n")
    assert split_table(read_table(path), "y").columns["amt"].tolist() == [1.243, 960]
    path.write_text("amt;z;y\n1,243;0.646;u\n960;0.5;v\n")  # points alone
    assert split_table(read_table(path), "y").columns["amt"].tolist() == [1243, 960]


def test_text_among_numbers_does_not_hide_their_decimal_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('amt,z,y\n"1,243",0.646,u\n"24,8",0.5,v\nabc,0.5,v\n')
    split = split_table(read_table(path), "y", ColumnOptions(numeric=["amt"]))
    np.testing.assert_array_equal(split.columns["amt"], [1.243, 24.8, np.nan])


def test_strings_of_arff_are_read_as_cells_of_a_csv_file(tmp_path):
    path = tmp_path / "t.arff"
    declared = "".join(f"@attribute {name} string\n" for name in TEXTS)
    cells = ([f"'{cell}'" for cell in row] for row in zip(*TEXTS.values(), strict=True))
    path.write_text(f"@relation r\n{declared}@data\n" + "".join(",".join(row) + "\n" for row in cells))
    write_texts(tmp_path / "t.csv", TEXTS)
    arff, plain = (split_table(read_table(p, text={"y"}), "y") for p in (path, tmp_path / "t.csv"))
    assert arff.decisions == plain.decisions
    for name, values in plain.columns.items():
        np.testing.assert_array_equal(arff.columns[name], values)


def test_an_infinite_number_can_be_a_category(tmp_path):
    write_texts(tmp_path / "t.parquet", {"x": [1.5, np.inf, 2], "y": ["u", "v", "u"]})
    split = split_table(read_table(tmp_path / "t.parquet", text={"x"}), "y", ColumnOptions(categorical=["x"]))
    assert split.columns["x"].tolist() == ["1.5", "inf", "2"]


def target(tmp_path, labels, **options):
    path = tmp_path / "t.csv"
    path.write_text("x;y\n" + "".join(f"{i % 7};{label}\n" for i, label in enumerate(labels)))
    return split_table(read_table(path, text=["y"]), "y", ColumnOptions(**options)).labels


@pytest.mark.parametrize(
    ("label", "number"),
    [
        (lambda i: i % 60, lambda i: i % 60),
        (lambda i: f"{i % 3}.5", lambda i: i % 3 + 0.5),
        (lambda i: f"{i % 30},5", lambda i: i % 30 + 0.5),
        (lambda i: f"{i + 1}.000,5 EUR", lambda i: 1000 * (i + 1) + 0.5),
        (lambda i: f"{i % 40} months", lambda i: i % 40),
    ],
)
def test_numbers_that_are_a_quantity(tmp_path, label, number):
    labels = [label(i) for i in range(200)]
    found = target(tmp_path, labels)
    assert found.dtype == np.float64
    assert found.tolist() == [number(i) for i in range(200)]
    if len(set(labels)) <= 100:
        for said in ({"categorical": ["y"]}, {"task": "classification"}):
            assert target(tmp_path, labels, **said).tolist() == list(map(str, labels))


@pytest.mark.parametrize("label", [lambda i: i % 20, lambda i: f"0{i % 10}{i % 10}", lambda i: f"{i % 2}.5"])
def test_numbers_that_are_classes(tmp_path, label):
    labels = [label(i) for i in range(200)]
    assert target(tmp_path, labels).tolist() == list(map(str, labels))


def test_a_task_that_does_not_fit(tmp_path):
    assert target(tmp_path, [i % 5 for i in range(50)], task="regression").dtype == np.float64
    for labels in (["low", "high"] * 9, ["2020-01-05", "2021-01-07", "2022-03-05"] * 9):
        with pytest.raises(InputError, match=r"which are no numbers: leave out --task regression, or give"):
            target(tmp_path, labels, task="regression")
    with pytest.raises(InputError, match="too many classes"):
        target(tmp_path, range(50), task="classification")


def test_what_the_user_says_goes_first():
    mixed = text_column(["1", "two", "3", ""])
    decision, values = decide(mixed, ColumnOptions(numeric=["c"]))
    np.testing.assert_array_equal(values, [1, np.nan, 3, np.nan])
    assert decision.why == "as you say; 'two' in 1 cell is no number and counts as missing"
    decision, values = decide(text_column(["1", "2.0", ""]), ColumnOptions(categorical=["c"]))
    assert values.tolist() == ["1", "2", None]
    with pytest.raises(InputError, match="no cell of it is a number"):
        decide(text_column(["a", "b"]), ColumnOptions(numeric=["c"]))


def test_what_a_message_says_keeps_a_column_does():
    for cells, flag in ((MANY, "--numeric"), ([f"{i:05}" for i in range(7, 997, 33)], "--categorical")):
        column = text_column(cells, "zip")
        decision, _ = decide(column, ColumnOptions())
        assert (decision.left_out, decision.keep_by) == (True, flag)
        kept, _ = decide(column, ColumnOptions(**{flag.removeprefix("--"): ("zip",)}))
        assert (kept.left_out, kept.kind) == (False, flag.removeprefix("--"))
    texts = [f"t{i}" for i in range(70_000)]
    assert decide(Column("free", np.arange(70_000, dtype=np.int32), texts), ColumnOptions())[0].keep_by == ""


def test_rows_without_a_target_can_be_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x;c;y\n1.000;u;a\n2.000;v;\n3.000;w;b\n")
    split = split_table(read_table(path), "y", ColumnOptions(skip_unlabelled=True))
    assert (split.labels.tolist(), split.notes[0][:5]) == (["a", "b"], "1 row")
    assert split.columns["x"].tolist() == [1, 3]
    assert split.columns["c"].tolist() == ["u", "w"]
    path.write_text("x,y\n1,\n2,\n")
    with pytest.raises(InputError, match="'y' is missing in every row"):
        split_table(read_table(path), "y", ColumnOptions(skip_unlabelled=True))


def test_labels_of_numbers():
    column = Column("y", np.array([0.0, 1.0, -0.5, np.nan, 1e300]))
    assert column.labels().tolist() == ["0", "1", "-0.5", None, "1e+300"]


@pytest.mark.parametrize("cell", ["\u20ac{}.20", "{}.5", "{}", "{},5"])
@pytest.mark.parametrize("mark", ["-", "--", "\u2013", "n/a", "?"])
def test_dashes_among_numbers_are_missing(tmp_path, cell, mark):
    path = tmp_path / "t.csv"
    cells = [mark if i % 20 == 7 else cell.format(i % 31) for i in range(200)]
    path.write_text("price;y\n" + "".join(f"{text};{'uv'[i % 2]}\n" for i, text in enumerate(cells)))
    split = split_table(read_table(path, text={"y"}), "y")
    (decision,) = split.decisions
    assert decision.kind == "numeric"
    assert np.flatnonzero(np.isnan(split.columns["price"])).tolist() == list(range(7, 200, 20))
    if mark not in ("n/a", "?"):  # which are missing everywhere
        assert decision.why.endswith(f"; {mark!r} in 10 cells is missing")
        assert column_notes(split) == [("price", decision.why)]


def test_dashes_among_other_texts_are_categories(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sign,zip,said,y\n+,05123,1,-\n-,-,-,1\n-,81234,2,-\n")
    split = split_table(read_table(path, text={"y", "said"}), "y", ColumnOptions(categorical=["said"]))
    assert {name: values.tolist() for name, values in split.columns.items()} == {
        "sign": ["+", "-", "-"],
        "zip": ["05123", "-", "81234"],
        "said": ["1", "-", "2"],
    }
    assert split.labels.tolist() == ["-", "1", "-"]


def test_a_category_of_mostly_numbers_is_said_first(tmp_path):
    path = tmp_path / "t.csv"
    names = [f"d{j}" for j in range(20)]
    rows = "".join(
        f"{'2024-01-31,' * 20}{'abc' if i % 19 == 0 else f'$ {i % 19}.20'},{'uv'[i % 2]}\n"
        for i in range(190)
    )
    path.write_text(",".join([*names, "my price", "y"]) + "\n" + rows)
    said = column_notes(split_table(read_table(path, text={"y"}), "y"))
    assert said[0] == (
        "my price",
        "95 % of the distinct values are numbers, 'abc' is not:"
        " --numeric 'my price' makes the others missing",
    )
    path.write_text(
        "p,x,y\n" + "".join(f"{'abc' if i == 5 else f'${i}.2'},{i % 3},{'uv'[i % 2]}\n" for i in range(60))
    )
    ((name, what),) = column_notes(split_table(read_table(path, text={"y"}), "y"))
    assert name == "p"
    assert what.startswith(
        "left out, id: every text is different; 98 % of the distinct values are numbers, 'abc' is not"
    )


def test_what_is_no_number_is_named_and_counted():
    cells = ["1", "2", "abc", "abc", "3"]
    decision, _ = decide(text_column(cells), ColumnOptions(numeric=["c"]))
    assert decision.why == "as you say; 'abc' in 2 cells is no number and counts as missing"
    decision, _ = decide(text_column([*cells, "x"]), ColumnOptions(numeric=["c"]))
    assert decision.why == "as you say; 2 texts such as 'abc' in 3 cells are no numbers and count as missing"


def test_rows_without_a_target_decide_no_kinds(tmp_path):
    """Such as a row of units below the header."""
    path = tmp_path / "t.csv"
    rows = "".join(f"{i % 5}.5,2024-01-{i % 9 + 1:02},{i % 4},g{i % 3},{'uv'[i % 2]}\n" for i in range(30))
    path.write_text("age,day,code,group,y\nyears,date,inf,-,\n" + rows + "mean,,,,?\n")
    options = ColumnOptions(skip_unlabelled=True, categorical=["code"], groups="group", time="day")
    split = split_table(read_table(path, text={"y", "code", "group"}), "y", options)
    assert [(d.name, d.kind) for d in split.decisions] == [("age", "numeric"), ("code", "categorical")]
    assert split.columns["age"][:3].tolist() == [0.5, 1.5, 2.5]
    assert split.columns["code"][:2].tolist() == ["0", "1"]
    assert split.about_rows["time"]["day"][0] == 19723
    assert split.notes == ["2 rows (data rows 1 and 32) without a target were dropped."]
    assert column_notes(split)[0] == ("y", "missing in 2 rows (data rows 1 and 32), which are left out")


def test_rows_of_messages_are_those_of_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,\n" + "".join(f"{i},{i / 2}\n" for i in range(30)) + "2,inf\n")
    with pytest.raises(InputError, match=r"infinite number \(inf\) in row 32"):
        split_table(read_table(path), "y", ColumnOptions(skip_unlabelled=True))
