"""Workbooks, JSON lines, folders of Parquet files and packed files: what is special to each, and bad ones."""

import base64
import bz2
import datetime
import gzip
import io
import json
import lzma
import os
import zipfile
import zlib

import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_cases import read_table
from test_bad_files import assert_one_sentence, run
from test_formats import excel, zstd

from foresift.cli.table import read_columns
from foresift.evaluation.harness import progress
from foresift.reading import arrow_folders, json_lines
from foresift.reading.files import open_table

ROWS = [["x", "y"], *([i % 7 + 0.5, "ab"[i % 2]] for i in range(40))]
TEXT = "".join(",".join(map(str, row)) + "\n" for row in ROWS).encode()
LINES = [json.dumps({"x": x, "y": y}) for x, y in ROWS[1:]]
BOOK = excel(S=ROWS)


def archive(**files):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return file.getvalue()


def far_cell():
    book = openpyxl.load_workbook(io.BytesIO(BOOK))
    book.active["XFD1048576"] = 1  # calamine would take 0.5 TB for the cells between
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def charts():
    book = openpyxl.Workbook()
    book.remove(book.active)
    book.create_chartsheet("chart")
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def lines(*more):
    return "\n".join([*LINES, *more]).encode()


BAD = {
    "gzip, cut": (gzip.compress(TEXT)[:-20], "is a damaged gzip file (Compressed file ended before"),
    "bzip2, cut": (bz2.compress(TEXT)[:-20], "is a damaged bzip2 file (Compressed file ended before"),
    "bzip2, damaged": (bz2.compress(TEXT)[:50] + b"??" + bz2.compress(TEXT)[52:], "is a damaged bzip2 file"),
    "xz, cut": (lzma.compress(TEXT)[:-20], "is a damaged xz file (Compressed file ended before"),
    "xz, damaged": (
        lzma.compress(TEXT)[:50] + b"??" + lzma.compress(TEXT)[52:],
        "is a damaged xz file (Corrupt",
    ),
    "zstd, cut": (zstd(TEXT)[:-20], "is a damaged zstd file (Truncated compressed stream)"),
    "zstd, damaged": (zstd(TEXT)[:9] + b"??" + zstd(TEXT)[11:], "is a damaged zstd file"),
    "packed twice": (gzip.compress(bz2.compress(TEXT)), "is packed twice: unpack it first"),
    "xz of nothing": (lzma.compress(b""), "is empty"),
    "xz of zeros": (lzma.compress(bytes(2**20)), "is not text: it contains NUL bytes"),
    "workbook, cut": (BOOK[:-30], "is no Excel workbook, or a damaged one (File is not a zip file)"),
    "workbook, another": (
        archive(**{"[Content_Types].xml": "", "xl/a": ""}),
        "is no Excel workbook, or a damaged",
    ),
    "workbook, old": (b"\xd0\xcf\x11\xe0" + bytes(999), "is no Excel workbook, or a damaged one"),
    "workbook with a password": (
        b"\xd0\xcf\x11\xe0" + bytes(99) + "EncryptedPackage".encode("utf-16-le"),
        "is protected by a password: save it without one",
    ),
    "workbook with a far cell": (
        far_cell(),
        "is a workbook that takes more than 4 GB of memory (--max-memory)",
    ),
    "workbook of charts": (charts(), "holds no table: a header and rows are needed"),
    "workbook, empty": (excel(S=[]), "holds no table: a header and rows are needed"),
    "workbook, header only": (excel(S=[["x", "y"]]), "has a header but no rows"),
    "workbook, names twice": (excel(S=[["x", "x", "y"], [1, 2, "a"]]), "more than one column is named 'x'"),
    "document": (
        archive(**{"[Content_Types].xml": "", "word/a": ""}),
        "is a ZIP archive and no workbook: save",
    ),
    "archive of a CSV file": (
        archive(**{"t.csv": TEXT}),
        "is a ZIP archive: unpack it first; it contains t.csv.",
    ),
    "workbook whose parts are in another order": (
        archive(**{"other.xml": "", "[Content_Types].xml": ""}),
        "is a ZIP archive, or a damaged Excel workbook: save",
    ),
    "JSON, broken": (lines('{"x": 1.5, "y":'), "line 41: not valid JSON (Expecting value at character 16)"),
    "JSON, two in a line": (lines("{} {}"), "line 41: not valid JSON (Extra data at character 4)"),
    "JSON, no object": (lines("5"), "line 41: not a JSON object, such as {"),
    "JSON, a key twice": (lines('{"x": 1, "x": 2}'), "line 41: not valid JSON (the key 'x' twice)"),
    "JSON, nested": (lines('{"x": 1, "t": [1], "y": "a"}'), "Column 't' of"),
    "JSON, deep": (lines('{"x":' * 10**5), "line 41: nested too deeply"),
    "JSON, deep lists": (lines('{"x": ' + "[" * 10**5), "line 41: nested too deeply"),
    "JSON, infinite": (lines('{"x": Infinity, "y": "a"}'), "'x' holds an infinite number (inf) in row 41"),
    "JSON, huge number": (lines('{"x": 1e999, "y": "a"}'), "holds an infinite number (inf) in row 41"),
    "JSON, huge integer": (lines(f'{{"x": -{10**400}, "y": "a"}}'), "holds an infinite number (-inf)"),
    "JSON on several lines": (b'{\n"x": 1,\n"y": "a"\n}\n', "line 1: not valid JSON"),
    "JSON, no UTF-8": ((lines() + b"\n") * 400 + b'{"x": "\xff"}', "line 16001: not utf-8 text"),
    "JSON, a NUL byte": (lines('{"x": 1,\0"y": "a"}'), "is not text: it contains NUL bytes"),
    "JSON of columns": (b'{"x": [1, 2], "y": ["a", "b"]}', "is a JSON file, but not of records: save"),
    "JSON array, broken": (
        b'[{"x": 1},\n{"x" 2}]',
        "JSON (Expecting ':' delimiter at character 6 of line 2)",
    ),
    "JSON array, no object": (b'[{"x": 1}, 2]', "record 2: not a JSON object"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gives_one_sentence(tmp_path, name):
    content, message = BAD[name]
    path = tmp_path / "table"
    path.write_bytes(content)
    assert_one_sentence(run("select", path, "--target", "y", "--out", tmp_path / "out"), message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{}\n{}\n", "has no columns"),
        (b"\n \n", "has no columns"),
        (b"x,y\n1,a\n", "line 1: not valid JSON"),
        (b"", "is empty"),
    ],
)
def test_bad_json_by_its_name(tmp_path, content, message):
    path = tmp_path / "table.jsonl"
    path.write_bytes(content)
    assert_one_sentence(run("select", path, "--target", "y"), message)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_every_packed_file_is_unpacked_up_to_a_limit(tmp_path, pack):
    path = tmp_path / "table"
    path.write_bytes(pack(TEXT * 50))
    result = run("select", path, "--target", "y", "--max-memory", "0.00001")
    assert_one_sentence(result, "unpacks to more than 1e-05 GB: if it should, raise the limit (--max-memory)")
    seen = []
    open_table(path, progress=seen.append)
    assert seen[-1] == 1


def test_large_workbooks_and_json_are_refused(tmp_path):
    path = tmp_path / "table"
    for content, message in (
        (BOOK, "above the limit of 1e-06 GB: save the table as CSV or Parquet, or raise"),
        ((lines() + b"\n") * 9, "above the limit of 1e-06 GB: use fewer rows, fewer columns, or raise"),
        (b"[" + b",".join(lines().splitlines()) + b"]", "above the limit of 1e-06 GB: save it as JSON lines"),
    ):
        path.write_bytes(content)
        assert_one_sentence(run("select", path, "--target", "y", "--max-memory", "1e-6"), message)


def test_names_that_differ_in_every_record_take_no_memory(tmp_path):
    path = tmp_path / "table.jsonl"
    path.write_text("".join(f'{{"k{i}": 1, "y": "a"}}\n' for i in range(50_000)))
    assert_one_sentence(run("select", path, "--target", "y"), "above the limit of 4 GB")


XLS = (  # of x, day and y, as xlwt writes it
    "eNrtWEtoE1EUPW9m0nxo89FUaIUQClat7ULcuGlHpdpVStWFX7CJyUIqqQQXVhdWa5aC4EpxU6gLN/Wz8K8obgSFii4EQUh02ZWg4KLNeO/NTExi"
    "hAa0WJkzvPvuu++duXfmvXfn82YuUpi+3VlEHQago2T50VJlU1T8TiMM6rcsVp3aR8VysaLg99FEtnjwqO21l+eQ57sIDbeM5ySBT1QO4wSGx7OZ+DJi"
    "h8SQVBxDP0mFa2QJokOiWiXyqMjVIm/KyMcit4nlosh+GltQBzFnDvdstVfxfq1L+oLg894TzgexbEY7XvIqPntJlcd6sD13LHl8hXXEjFbMgCZ0KJPN"
    "5LgdwnUEgAOEvkSib3CwgChN9gy+WXHgq7Orn8Vd+/LaFcj+vdbu/Y3dR5NYb7+sGcAkrFHZJHlK0GzgtbB3ATFeA7QoJHef0oF0coI0LkkqqQBndMkA"
    "4ZoM0CY7o5VkGiHRI7I/whTCwo0vbxOpEfOIWCYl65efDevEs4VzzCByUHo8Isk3eoSxSeR5Oeta0TtFRmkk1d0j7baya0rGXJDebvKzRfDOXF+lbyA9"
    "P7/7fiz/2dxI+uxQ8XR09r05jS66FWni8zGFXtWrrl5hPDCdWtl55KPIjl9yik8L27Fb9gMwhEXeRYSIyHKL746qtDT7XjFb1bGfkEcl7FeSxe684Ctk"
    "nhKebvO0BjxNeIc05t2t8DThGTZPb8DThTevM+9hhafX+DMa8AzhnfEw72mFZ1T8DWgUBwdF+fYnAnDhwoULFy5cuHDxL0PJG2v5/dyw39b5C8Br/9dZ"
    "pFJyf5P8t9iDcTpO0kflTmSpzmGiqfWzBh7lnEstkeP8L2TsI+85jCElcYw1vX7pu0hVX8+SieE/t4Wa9V9qJs6/7P8HWovcJA=="
)
ODS = """<?xml version="1.0"?><office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="S">{}</table:table></office:spreadsheet></office:body></office:document-content>"""


def test_old_workbooks_and_open_documents(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(zlib.decompress(base64.b64decode(XLS)))
    split = read_columns(str(path), "y")[1]
    assert split.columns["x"].tolist() == [0.5, 1.5, 2.5, 3.5]
    assert split.columns["day"].tolist() == [19723, 19724, 19725, 19726]
    assert split.labels.tolist() == ["a", "b", "a", "b"]
    cells = "".join(
        '<table:table-row><table:table-cell office:value-type="float" office:value="{0}"><text:p>{0}</text:p>'
        '</table:table-cell><table:table-cell office:value-type="string"><text:p>{1}</text:p>'
        "</table:table-cell></table:table-row>".format(*row).replace('"float" office:value="x"', '"string"')
        for row in ROWS
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    files = {"mimetype": kind, "content.xml": ODS.format(cells), "META-INF/manifest.xml": manifest}
    path.write_bytes(archive(**files))
    assert read_columns(str(path), "y")[1].columns["x"].tolist() == [row[0] for row in ROWS[1:]]


def sheet_of(tmp_path, rows, target="y", **options):
    path = tmp_path / "t.xlsx"
    path.write_bytes(excel(S=rows))
    return read_columns(str(path), target, **options)[1].columns


def test_cells_of_a_workbook(tmp_path):
    day, noon = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12)
    columns = sheet_of(
        tmp_path,
        [
            ["id", "mixed", "text", "error", "moment", "hour", "flag", 2024, "y"],
            [3, 1, "1", 1.5, day, datetime.time(1, 30), True, 1, "a"],
            [1, "two", "05", "#DIV/0!", noon, datetime.time(2), False, 2, "b"],
            [7, True, " 2.5 ", 2.5, None, None, None, 3, "a"],
            [4, day, "NA", "#N/A", day, None, True, 3, "b"],
            [4, 2.5, None, 3, day, None, True, 3, "b"],
        ],
    )
    assert columns["id"].tolist() == [3, 1, 7, 4, 4]
    assert columns["mixed"].tolist() == ["1", "two", "true", "2024-01-31", "2.5"]
    assert str(columns["text"].tolist()) == "[1.0, 5.0, 2.5, nan, nan]"
    assert str(columns["error"].tolist()) == "[1.5, nan, 2.5, nan, 3.0]"
    assert columns["moment"][:2].tolist() == [1706659200, 1706702400]
    assert columns["hour"][:2].tolist() == [5400, 7200]
    assert columns["flag"].tolist() == ["true", "false", None, "true", "true"]
    assert columns["2024"].tolist() == [1, 2, 3, 3, 3]


def test_where_the_table_of_a_sheet_is(tmp_path):
    blank = [None] * 5
    rows = [blank, *([None, None, *row] for row in ROWS), blank]
    assert list(sheet_of(tmp_path, rows)) == ["x"]
    titled = [["Sizes of 2024"], [], ["by hand"], *([None, *row] for row in ROWS)]
    assert list(sheet_of(tmp_path, titled)) == ["x"]
    path = tmp_path / "t.xlsx"
    assert open_table(path, target="y").notes == ["Skipped the cells above the header in row 4."]
    assert open_table(path, target="z").names == ["Sizes of 2024", "column 2", "column 3"]
    gap = [["x", None, None, "y"], *([x, None, x, y] for x, y in ROWS[1:])]
    path.write_bytes(excel(S=gap))
    assert open_table(path).names == ["x", "column 2", "column 3", "y"]


def test_sheets(tmp_path):
    path = tmp_path / "t.xlsx"
    path.write_bytes(excel(Notes=[["by hand"], ["in 2024"]], Data=ROWS, More=ROWS[:20], Empty=[]))
    said = "This is the sheet 'Data'; the workbook also has 'Notes', 'More', 'Empty' (--sheet NAME)."
    assert open_table(path, target="y").notes == [said]
    assert open_table(path).names == ["by hand"]
    table, split = read_columns(str(path), "y", sheet="More")
    assert (table.how, list(table.notes), len(split.labels)) == ("Excel, sheet 'More'", [], 19)
    command = ("select", path, "--target", "y", "--no-check", "--method", "info-gain")
    assert said in run(*command).stdout
    assert_one_sentence(
        run(*command, "--sheet", "no"), "has no sheet 'no' (--sheet); there are 'Notes', 'Data',"
    )
    assert_one_sentence(run(*command, "--sheet", "Empty"), "The sheet 'Empty' of")
    result = run(*command, "--write-data", "--k", "1", "--out", tmp_path / "out")
    assert "selected.csv is CSV: workbooks are read, not written." in result.stderr
    assert (tmp_path / "out" / "selected.csv").read_bytes().startswith(b"x,y\r\n0.5,a\r\n1.5,b\r\n")
    path.write_bytes(TEXT)
    assert_one_sentence(run(*command, "--sheet", "no"), "--sheet names a sheet of an Excel workbook, but")


@pytest.mark.parametrize("title", [[], [["Customers of 2024"], []]])
def test_a_typo_in_the_target_is_looked_up_on_all_sheets(tmp_path, title):
    path = tmp_path / "t.xlsx"
    path.write_bytes(excel(Notes=[["by hand"], ["in 2024"]], Data=[*title, ["x", "cancelled"], *ROWS[1:]]))
    said = "no column 'canceled'; did you mean 'cancelled'? This is the sheet 'Data'; the workbook also has"
    assert_one_sentence(run("select", path, "--target", "canceled"), said)
    assert_one_sentence(
        run("select", path, "--target", "canceled", "--sheet", "Data"), "did you mean 'cancelled'?"
    )


def test_merged_cells_are_suspected(tmp_path):
    path = tmp_path / "t.xlsx"
    rows = [
        ["region", "none", *ROWS[0]],
        *(["north" if i == 0 else None, None, *row] for i, row in enumerate(ROWS[1:])),
    ]
    path.write_bytes(excel(S=rows))
    assert open_table(path, target="y").notes == [
        "Column 'region' is empty in 39 of 40 rows (merged cells?)."
    ]


def test_an_array_is_called_json(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(f"[{','.join(LINES)}]")
    assert open_table(path).how == "JSON"
    path.write_text("\n".join(LINES))
    assert open_table(path).how == "JSON lines"


def test_lines_of_json(tmp_path):
    path = tmp_path / "t"
    records = [
        b'\xef\xbb\xbf{"a": 1, "b": "2024-01-31", "c": 12345678901234567890, "y": "u"}\r\n',
        b"\n",
        b'{"b": "2024-02-29", "c": 1, "d": NaN, "y": "v", "t": {"p": 1}}\n',
        b'  {"a": null, "c": 2.5, "d": 2, "e": "\\ud83d\\ude00 \\ud800", "y": "u", "t": [1]}\n\n',
        b'{"a": true, "b": "x, [y]", "c": 3, "d": "x", "y": "v"}',
    ]
    path.write_bytes(b"".join(records))
    table = read_table(path, drop=["t"])
    found = {column.name: column.labels().tolist() for column in table.columns}
    assert list(found) == ["a", "b", "c", "y", "d", "e"]
    assert found["a"] == ["1", None, None, "true"]
    assert found["b"] == ["2024-01-31", "2024-02-29", None, "x, [y]"]
    assert found["c"] == ["1.2345678901234567e+19", "1", "2.5", "3"]
    assert found["d"] == [None, None, "2", "x"]
    assert found["e"] == [None, None, "\U0001f600 \ufffd", None]
    table.write(tmp_path / "small", {"c", "t", "y"})
    assert (tmp_path / "small").read_text().splitlines()[:2] == [
        '{"c": 12345678901234567890, "y": "u"}',
        '{"c": 1, "y": "v", "t": {"p": 1}}',
    ]


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(["2024-01-31", "NA", "05", "{", "[1]"]),
)


@settings(max_examples=150, deadline=None)
@given(
    records=st.lists(st.dictionaries(st.sampled_from("abc"), VALUES), min_size=1, max_size=12),
    sizes=st.tuples(st.integers(1, 60), st.integers(1, 60)),
)
def test_lines_are_parsed_by_pyarrow_as_by_json(records, sizes):
    """The types of the first block need not be those of the others."""
    content = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)

    def read(parsed):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_lines, "_FIRST", sizes[0])
            patch.setattr(json_lines, "_BLOCK", sizes[1])
            if not parsed:
                patch.setattr(json_lines, "_parsed", lambda block, kinds: None)
            return json_lines.JsonLines(io.BytesIO(content.encode(errors="replace")), "demo")

    fast, slow = read(True), read(False)
    assert fast.schema == slow.schema
    assert fast.read(fast.names).to_pydict() == slow.read(slow.names).to_pydict()


def folder_of(path, **parts):
    for name, columns in parts.items():
        file = path / name.replace("__", "/").replace("_is_", "=")
        file.parent.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(pa.table(columns), f"{file}.parquet")
    return path


PART = {"x": [1, 2], "y": ["a", "b"]}


def test_folders_named_like_columns(tmp_path):
    folder_of(tmp_path, year_is_2023__a=PART, year_is_2024__b=PART)
    (tmp_path / "year=__HIVE_DEFAULT_PARTITION__").mkdir()
    pyarrow.parquet.write_table(pa.table(PART), tmp_path / "year=__HIVE_DEFAULT_PARTITION__" / "c.parquet")
    table, split = read_columns(str(tmp_path), "y")
    assert table.how == "Parquet folder of 3 files"
    assert str(split.columns["year"].tolist()) == "[2023.0, 2023.0, 2024.0, 2024.0, nan, nan]"
    assert split.columns["x"].tolist() == [1, 2] * 3


def test_parts_of_different_types(tmp_path):
    day = datetime.date(1970, 1, 2)
    words = pa.array(["u", "v"]).dictionary_encode()
    folder_of(
        tmp_path,
        a={"x": [1, 2], "w": words, "d": [day, None], "n": [None, None], "only": [1, 1], "y": ["a", "b"]},
        b={
            "x": [1.5, None],
            "w": pa.array(["w", "u"], pa.large_string()),
            "d": [datetime.datetime(1970, 1, 3), None],
            "n": ["p", "q"],
            "y": ["a", "b"],
        },
    )
    columns = {column.name: column.labels().tolist() for column in read_table(tmp_path).columns}
    assert columns["x"] == ["1", "2", "1.5", None]
    assert columns["w"] == ["u", "v", "w", "u"]
    assert columns["d"] == ["1", None, "2", None]
    assert columns["n"] == [None, None, "p", "q"]
    assert columns["only"] == ["1", "1", None, None]


def test_bad_folders(tmp_path, monkeypatch):
    def bad(message, *more, **parts):
        folder = folder_of(tmp_path / str(len(os.listdir(tmp_path))), **parts)
        folder.mkdir(exist_ok=True)
        for name, content in more:
            (folder / name).write_bytes(content)
        assert_one_sentence(run("select", folder, "--target", "y"), message)
        return folder

    bad("it is a folder without Parquet or Feather files, and empty")
    bad("it is a folder without Parquet or Feather files, and empty", ("_SUCCESS", b""), (".x", b"x,y\n"))
    bad("files; name a file in it, such as", ("a.txt", b""), ("b.txt", b""))
    folder = bad("CSV parts are not joined: name one file, such as", ("a.csv", TEXT), ("b.CSV.gz", TEXT))
    said = f"such as {folder / 'a.csv'}, join them (in pandas: concat), or save each as Parquet."
    assert_one_sentence(run("select", folder, "--target", "y"), said)
    bad("b.parquet is no Parquet file, or a damaged one", ("b.parquet", b"PAR1" + bytes(99)), a=PART)
    bad("b.parquet is no Parquet file, or a damaged one (Parquet file size is 0", ("b.parquet", b""), a=PART)
    bad("has a header but no rows", a={name: pa.array([], pa.string()) for name in PART})
    bad("Column 'l' of", a=PART, b={"l": [[1]], **{name: values[:1] for name, values in PART.items()}})
    folder = bad("a.parquet, but of type string in", a=PART, b={"x": ["one"], "y": ["a"]})
    assert [column.name for column in read_table(folder, drop=["x"]).columns] == ["y"]
    delta = folder_of(tmp_path / "delta", a=PART)
    (delta / "_delta_log").mkdir()
    assert_one_sentence(run("select", delta, "--target", "y"), "is a Delta table")
    monkeypatch.setattr(arrow_folders, "MAX_FILES", 1)
    bad("it is a folder of more than 1 files", a=PART, b=PART)


def test_a_folder_above_the_limit(tmp_path):
    long = ["a" * 1000 + str(i) for i in range(3000)]
    part = {"x": long, "z": list(range(3000)), "y": ["a", "b"] * 1500}
    folder_of(tmp_path, a=part, b=part)
    result = run("select", tmp_path, "--target", "y", "--max-memory", "0.004")
    assert_one_sentence(result, "above the limit of 0.004")
    assert read_table(tmp_path, drop=["x"], max_memory=0.004).n_rows == 6000


def test_progress_of_reading(tmp_path):
    seen = []
    opened = open_table(folder_of(tmp_path, a=PART, b=PART))
    opened.read(progress=seen.append)
    assert seen[-1] == 1
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines())
    open_table(path, progress=seen.append)
    assert seen[-1] == 1
    said = [progress._left(seconds) for seconds in (None, 5.2, 400)]
    assert said == ["", "about 5 s left", "about 7 min left"]
