"""Whatever is wrong with a file or a folder: one sentence, an exit code, nothing half-written."""

import gzip
import os
import pickle
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import typer
from typer.testing import CliRunner

import foresift
from foresift.__main__ import main
from foresift.cli.app import app, methods
from foresift.cli.errors import BAD_INPUT, CLOSED_PIPE, FAILED, STOPPED
from foresift.reading import delimited
from foresift.report import output
from foresift.report.output import atomic, folder, together

GOOD = "x,y\n" + "".join(f"{i % 7}.5,{'ab'[i % 2]}\n" for i in range(40))
COMPARE = ("--target", "y", "--methods", "random", "--classifiers", "nb", "--cv", "2")


def run(*args, **more):
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "120"}, **more)


def assert_one_sentence(result, message, code=BAD_INPUT):
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.startswith("foresift: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


TABLES = {
    "empty": ("", "is empty"),
    "blank lines": ("\n\n", "is empty"),
    "header only": ("x,y\n", "has a header but no rows"),
    "short row": ("x,y\n1,a\n2\n3,b\n", "line 3: 1 cell, but the header has 2"),
    "long row": ("x,y\n1,a,b\n", "line 2: 3 cells, but the header has 2"),
    "another delimiter": (
        "x~y\n1~a\n2~b\n",
        "no column 'y'; there is 'x~y'. The table was read as one column: if the delimiter"
        " is not commas, give it (--delimiter).",
    ),
    "ragged with a detected delimiter": ("x,y\n1,a,b\n", "the detected delimiter is commas; --delimiter"),
    "twice the same header": ("x,x,y\n1,2,a\n3,4,b\n", "more than one column is named 'x'"),
    "one class": ("x,y\n1,a\n2,a\n", "same value in every row"),
    "missing labels": (
        "x,y\n1,a\n2,?\n3,b\n",
        "missing in 1 row (data row 2): fill it in, or drop that row (--skip-unlabelled)",
    ),
    "nothing but the target": ("y\na\nb\n", "no column besides the target"),
    "no such target": ("x,yy\n1,a\n2,b\n", "no column 'y'; did you mean 'yy'?"),
    "target of names": (
        "x,y\n" + "".join(f"1,name {i}\n" for i in range(21)),
        "21 values in 21 rows: too many classes. Merge them",
    ),
    "target with infinity": (
        "x,y\n" + "".join(f"{i},{i / 2}\n" for i in range(9)) + "1,inf\n",
        "Target 'y' holds an infinite number (inf) in row 10",
    ),
    "infinity": ("x,y\n1,a\n2,b\ninf,a\n", "'x' holds an infinite number (inf) in row 3"),
    "minus infinity": ("x,y\n1,a\n2,b\n-inf,a\n", "'x' holds an infinite number (-inf) in row 3"),
    "one row": ("x,y\n1,a\n", "The table has a single row with a target: get more rows."),
    "no label at all": ("x,y\n1,\n2,?\n", "'y' is missing in every row: give another column (--target)."),
    "open quote": ('x,y\n1,a\n2,"b\n', "a quote is not closed"),
    "open quote in a long file": ('x,y\n1,"a\n' + "2,b\n" * 50_000, "a quote is not closed"),
    "open quote at the end of a long file": ("x,y\n" + "2,b\n" * 50_000 + '2,"b\n', "a quote is not closed"),
    "a quote within quotes far down": (
        "x,y\n" + "2,b\n" * 50_000 + '2,"b"c\n',
        "from line 50002 on: not valid CSV",
    ),
    "short row far down": (
        "x,y\n" + "2,b\n" * 50_000 + "2\n",
        "line 50002: 1 cell, but the header has 2: correct the line.",
    ),
    "long row far down": (
        "x,y\n" + "2,b\n" * 30 + "2,3,b\n",
        "line 32: 3 cells, but the header has 2: correct the line; a cell that contains the delimiter needs",
    ),
    "NUL byte": (b"x,y\n1,a\n2,\x00b\n", "NUL"),
    "NUL byte far down": (b"x,y\n" + b"1,a\n" * 99_999 + b"2,\x00b\n", "line 100001: a NUL byte"),
    "half of UTF-16": (b"\xff\xfex\x00,\x00y", "not utf-16 text"),
    "bytes of no encoding": (bytes(range(128, 256)) * 50, "not cp1252 text"),
    "garbage": (np.random.default_rng(0).bytes(5000), "is not text"),
    "only constants": ("x,y\n1,a\n1,b\n", "x: every cell is 1"),
    "Excel": (b"PK\x03\x04" + bytes(100), "Excel workbook"),
    "a web page": ("<!DOCTYPE html>\n<html><body>Not found</body></html>\n", "is a web page: save the"),
    "JSON of columns": (
        '{"x":{"0":1,"1":2},"y":{"0":"a","1":"b"}}',
        "is a JSON file, but not of records: save",
    ),
    "an HTML table": ("<table><tr><td>x</td></tr></table>", "is an HTML table: save the table as CSV"),
    "tar": (gzip.compress(b"t.csv".ljust(257, b"\0") + b"ustar" + bytes(250)), "is a tar archive: unpack it"),
    "Stata": (b"<stata_dta><header>", "is a Stata file (.dta): save the table as CSV or Parquet"),
    "old Stata": (b"\x72\x02\x01\x00" + bytes(99), "is a Stata file (.dta): save the table as"),
    "SAS": (bytes(12) + b"\xc2\xea\x81\x60" + bytes(99), "is a SAS file: save the table as CSV or Parquet"),
    "SPSS": (b"$FL2@(#) SPSS DATA FILE", "is an SPSS file (.sav): save the table as CSV or Parquet"),
    "damaged Parquet": (b"PAR1" + bytes(100) + b"PAR1", "no Parquet file"),
    "Feather of version 1": (b"FEA1" + bytes(100), "a Feather file of version 1"),
    "damaged Feather": (b"ARROW1\0\0" + bytes(100), "no Feather file"),
    "damaged gzip": (gzip.compress(GOOD.encode())[:-20], "damaged gzip file"),
    "ARFF without data": ("@relation r\n@attribute x numeric\n", "no @data line"),
    "ARFF of relations": ("@relation r\n@attribute x relational\n@data\n", "cannot be used"),
    "ARFF with a word for a number": (
        "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n1,a\none,b\n",
        "'one' in the numeric attribute 'x'",
    ),
    "ARFF with an open quote": (
        "@relation r\n@attribute x string\n@attribute y {a,b}\n@data\n'one,a\n",
        "a quote is not closed",
    ),
    "ARFF, sparse row of a long number": (
        "@relation r\n@attribute y {a,b}\n@data\n{" + "9" * 5000 + " a}\n",
        "is no cell of a sparse row",
    ),
    "nothing but comments": ("# x,y\n# 1,a\n", "is empty"),
    "ARFF, short row": (
        "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n1\n",
        "line 5: 1 cells",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_bad_table_gives_one_sentence(tmp_path, name):
    content, message = TABLES[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert_one_sentence(run("select", path, "--target", "y", "--out", tmp_path / "out"), message)
    assert [entry.name for entry in tmp_path.iterdir()] == ["table.csv"]


def test_debug_shows_where(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n")
    result = run("select", path, "--target", "y", "--debug")
    assert result.exit_code == 1
    assert "no rows" in str(result.exception)


def test_missing_file_and_folder(tmp_path):
    assert_one_sentence(run("select", tmp_path / "no.csv", "--target", "y"), "No such file")
    assert_one_sentence(run("select", tmp_path, "--target", "y"), "it is a folder")
    assert_one_sentence(run("select", "", "--target", "y"), "The name of the file is empty")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bikes.csv", "No such file or directory; did you mean {}/bike.csv?"),
        ("no/bike.csv", "No such file or directory; there is no folder {}/no."),
        ("*.csv", "No such file or directory; name one file, or a folder of Parquet files."),
        ("~$bike.xlsx", "is the lock file that Excel makes while bike.xlsx is open: name bike.xlsx."),
    ],
)
def test_paths_of_no_table(tmp_path, name, message):
    for there in ("bike.csv", "~$bike.xlsx"):
        (tmp_path / there).write_text(GOOD)
    assert_one_sentence(run("select", tmp_path / name, "--target", "y"), message.format(tmp_path))
    result = run("select", "https://example.org/bike.csv", "--target", "y")
    assert_one_sentence(result, "bike.csv: it is a web address; download the file first.")


def test_encodings_are_told_or_said(tmp_path):
    path = tmp_path / "table.csv"
    text = GOOD.replace("x,y", "caf\u00e9,y")
    for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"):
        path.write_bytes(text.encode(encoding))
        assert "caf\u00e9" in run("select", path, "--target", "y", "--no-check").stdout, encoding
    path.write_bytes(text.encode("cp1252"))
    said = "Read as Windows-1252, because it is not UTF-8 (--encoding overrides it)."
    assert said in run("select", path, "--target", "y", "--no-check").stdout
    known = run("select", path, "--target", "y", "--no-check", "--encoding", "cp1252")
    assert said not in known.stdout
    assert_one_sentence(run("select", path, "--target", "y", "--encoding", "utf-8"), "is not utf-8 text")
    assert_one_sentence(
        run("select", path, "--target", "y", "--encoding", "klingon"), "no text encoding 'klingon'"
    )
    assert_one_sentence(run("select", path, "--target", "y", "--encoding", "utf-16"), "is not utf-16 text")


def test_a_line_without_end_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "MAX_LINE", 1000)
    path = tmp_path / "table.csv"
    for content in ("x" * 3000, GOOD + "1," + "a" * 3000 + "\n"):
        path.write_text(content)
        assert_one_sentence(run("select", path, "--target", "y"), "more than 1,000 characters")


@pytest.mark.parametrize("encoding", ["rot13", "base64", "hex", "zip", "undefined", "punycode"])
def test_a_codec_that_is_no_encoding_of_text(tmp_path, encoding):
    path = tmp_path / "table.csv"
    path.write_text(GOOD)
    result = run("select", path, "--target", "y", "--encoding", encoding)
    message = "is not" if encoding in ("undefined", "punycode") else f"There is no text encoding {encoding!r}"
    assert_one_sentence(result, message)


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_a_column_of_lists(tmp_path, form):
    path = tmp_path / f"table.{form}"
    columns = {"x": [1.5, 2.5, 4.0] * 10, "tags": [["a"], ["b", "c"], []] * 10, "y": ["u", "v"] * 15}
    write = pyarrow.parquet.write_table if form == "parquet" else pyarrow.feather.write_feather
    write(pa.table(columns), path)
    message = "'tags' of " + str(path) + " holds values of type list"
    assert_one_sentence(run("select", path, "--target", "y"), message)
    assert run("select", path, "--target", "y", "--drop", "tags", "--no-check").exit_code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--k", 0], "--k"),
        (["--k", 14], "only 1 columns"),
        (["--trees", 0], "--trees"),
        (["--seed", -1], "--seed"),
        (["--method", "magic"], "--method"),
        (["--jobs", 0], "cannot be 0"),
        (["--alpha", 2], "between 0 and 1"),
        (["--write-data"], "needs --out"),
        (["--delimiter", "ab"], "one character"),
        (["--numeric", "z"], "no column 'z' (--numeric)"),
        (["--drop", "y"], "names the target"),
        (["--drop", "z"], "no column 'z' (--drop)"),
        (["--drop", "x"], "no column besides the target"),
        (["--method", "pearson", "--trees", "3"], "no parameter 'n_estimators'"),
    ],
)
def test_bad_option(tmp_path, args, message):
    path = tmp_path / "table.csv"
    path.write_text(GOOD)
    result = run("select", path, "--target", "y", "--no-check", *args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_a_file_where_the_folder_should_be(tmp_path):
    path, out = tmp_path / "table.csv", tmp_path / "out"
    path.write_text(GOOD)
    out.write_text("I was here first")
    for place in (out, out / "below"):
        assert_one_sentence(run("select", path, "--target", "y", "--out", place), "Cannot write", FAILED)
    assert out.read_text() == "I was here first"


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    """A disk that is full is one that answers a write with ENOSPC; /dev/full is made for it."""
    path, out = tmp_path / "table.csv", tmp_path / "out"
    path.write_text(GOOD)
    out.mkdir()
    (out / "report.html").write_text("an older report")

    def full(self, text, **_):
        with open("/dev/full", "w") as file:
            file.write(text)

    monkeypatch.setattr(Path, "write_text", full)
    result = run("select", path, "--target", "y", "--no-check", "--out", out)
    assert_one_sentence(result, "report.html: no space left on the device", FAILED)
    assert {entry.name for entry in out.iterdir()} == {"report.html"}
    assert (out / "report.html").read_text() == "an older report"


def test_a_folder_that_vanished_is_made_again(tmp_path):
    """Clearing a build folder while a long command runs must not cost its answer."""
    place = tmp_path / "new" / "out"
    with folder(place):
        shutil.rmtree(place.parent)
        with together(place) as new:
            new("answer.txt").write_text("42")
    assert (place / "answer.txt").read_text() == "42"
    with atomic(tmp_path / "page" / "report.html") as page:
        page.write_text("42")
    assert (tmp_path / "page" / "report.html").read_text() == "42"


@pytest.mark.parametrize("command", ["select", "compare", "report", "reproduce"])
def test_commands_make_a_folder_that_vanished_again(command, tmp_path, monkeypatch):
    path, out, store = tmp_path / "table.csv", tmp_path / "out", tmp_path / "t.sqlite"
    path.write_text(GOOD)
    options = {
        "select": [path, "--target", "y", "--method", "info-gain", "--no-check", "--out", out],
        "compare": [path, *COMPARE, "--out", out],
        "report": [store, "--out", out / "report.html"],
        "reproduce": ["rogers-gunn", "--quick", "--only", "Simple", "--table", "3", "--out", out],
    }
    if command == "report":
        assert run("compare", path, *COMPARE, "--store", store).exit_code == 0
    result = run(command, *options[command])
    assert result.exit_code == 0, result.output
    names = {entry.name for entry in out.iterdir()}
    really = output.together

    def later(place):
        shutil.rmtree(out, ignore_errors=True)
        return really(place)

    for user in ("foresift.report.output", "foresift.evaluation.papers.tables"):
        monkeypatch.setattr(f"{user}.together", later)
    assert run(command, *options[command]).exit_code == 0
    assert {entry.name for entry in out.iterdir()} == names


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_atomic_writes_all_or_nothing(tmp_path, error):
    path = tmp_path / "answer.txt"
    path.write_text("old")

    def fail():
        with atomic(path) as place:
            place.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["answer.txt"]
    with atomic(path) as place:
        place.write_text("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_several_files_are_written_all_or_none(tmp_path):
    (tmp_path / "b").mkdir()  # no file can go there, which is seen only at the end

    def both(second):
        with together(tmp_path) as new:
            new("a").write_text("new")
            new(second).write_text("new")

    with pytest.raises(IsADirectoryError) as caught:
        both("b")
    assert caught.value.filename == str(tmp_path / "b")
    assert os.listdir(tmp_path) == ["b"]
    both("c")
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_nothing_slow_is_imported_before_the_program_listens():
    code = "import sys; sys.path.insert(0, sys.argv[1]); import foresift.__main__; print(*sys.modules)"
    command = [sys.executable, "-S", "-c", code, str(Path(foresift.__file__).parents[1])]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"typing", "re", "enum", "importlib.metadata", "typer", "numpy"} & set(there)


def test_ctrl_c_before_anything_is_said(monkeypatch):
    def typed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(signal, "signal", typed)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == STOPPED


def test_folders_above_one_that_stays_empty_go_too(tmp_path):
    (tmp_path / "old").mkdir()
    with folder(tmp_path / "old" / "a" / "b" / "c") as place:
        assert place.is_dir()
    assert os.listdir(tmp_path) == ["old"]
    assert os.listdir(tmp_path / "old") == []
    with folder(tmp_path / "old" / "a" / "b") as place:
        (place / "answer").touch()
    assert (tmp_path / "old" / "a" / "b" / "answer").exists()


def test_an_error_of_a_file_names_it_and_nothing_else(tmp_path):
    (tmp_path / "no").touch()
    with pytest.raises(NotADirectoryError) as caught, atomic(tmp_path / "no" / "answer.txt"):
        pass
    assert str(caught.value) == f"[Errno 17] it is a file, not a folder: '{tmp_path / 'no'}'"


def test_closed_output_is_told(monkeypatch):
    said = []
    monkeypatch.setattr("typer.echo", lambda text, err=False: said.append(text))
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(typer.Exit) as end:
        methods()
    assert (end.value.exit_code, said) == (
        FAILED,
        ["foresift: Cannot write the output: standard output is closed."],
    )


def test_a_folder_that_stays_empty_goes(tmp_path):
    with folder(tmp_path / "a") as place:
        assert list(place.iterdir()) == []
    assert list(tmp_path.iterdir()) == []
    with folder(tmp_path / "b") as place:
        (place / "file").touch()
    assert (tmp_path / "b" / "file").exists()


# Runs the program, and presses Ctrl-C just as a function of it is called.
PRESS = """
import os, signal, sys
from importlib import import_module

module, owner, name = sys.argv[1].split(":")
home = import_module(module)
home = getattr(home, owner) if owner else home
function = getattr(home, name)

def pressed(*args, **kwargs):
    setattr(home, name, function)
    os.kill(os.getpid(), signal.SIGINT)
    return function(*args, **kwargs)

setattr(home, name, pressed)
sys.argv = ["foresift", *sys.argv[2:]]
from foresift.__main__ import main
main()
"""


def start(command, path, *args):
    # The package that the tests import, wherever it lies.
    env = {**os.environ, "PYTHONPATH": str(Path(foresift.__file__).parents[1])}
    command = [sys.executable, *command, "select", str(path), "--target", "y", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def ended(process):
    try:
        output, errors = process.communicate(timeout=120)
    finally:
        process.kill()
        process.communicate()
    return process.returncode, output, errors


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize(
    "moment",
    [
        "foresift.reading.text_columns::read_text_columns",
        "foresift.selectors.relevance:RelevanceSelector:_score",
        "foresift.evaluation.select.assess:_Folds:ranked",
        "os::fsync",
    ],
)
def test_ctrl_c_at_any_moment(tmp_path, moment):
    path, out = tmp_path / "table.csv", tmp_path / "out"
    path.write_text(GOOD)
    code, output, errors = ended(start(["-c", PRESS, moment], path, "--out", out, "--trees", 10))
    assert (code, output, errors) == (STOPPED, "", "foresift: stopped.\n")
    left = {entry.name for entry in out.iterdir()} if out.exists() else set()
    assert left == set()


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_while_the_program_starts(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(GOOD)
    process = start(["-c", PRESS, "foresift.cli.app::app"], path)
    code, output, errors = ended(process)
    assert (code, output, errors) == (-signal.SIGINT, "", "")


@pytest.mark.skipif(os.name != "posix", reason="closes a pipe")
def test_a_closed_pipe_is_no_error(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(GOOD)
    process = start(["-m", "foresift"], path, "--no-check")
    process.stdout.close()  # as `head` does when it has seen enough
    errors = process.stderr.read()
    assert process.wait(timeout=60) == CLOSED_PIPE
    assert errors == ""


def test_a_first_line_of_data_is_no_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,2,3\n4,5,6\n7,8,9\n")
    assert_one_sentence(run("select", path, "--target", "6"), "The first line looks like data")


def test_files_of_python_are_named(tmp_path):
    np.save(tmp_path / "t.npy", np.eye(3))
    np.savez(tmp_path / "t.npz", a=np.eye(3))
    (tmp_path / "t.pkl").write_bytes(pickle.dumps({"x": [1, 2], "y": ["a", "b"]}))
    named = {
        "npy": "a NumPy array (.npy)",
        "npz": "an archive of NumPy arrays (.npz)",
        "pkl": "a Python pickle",
    }
    for suffix, what in named.items():
        message = f"is {what}: save the table as CSV or Parquet"
        assert_one_sentence(run("select", tmp_path / f"t.{suffix}", "--target", "y"), message)


def test_an_empty_out_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(GOOD)
    commands = [("select", "t.csv", "--target", "y"), ("compare", "t.csv", *COMPARE), ("report", "t.sqlite")]
    for command in commands:
        assert_one_sentence(run(*command, "--out", ""), "--out is empty")
    assert os.listdir() == ["t.csv"]


def test_reports_make_their_folders(tmp_path):
    X, y = [[float(i % 7), float(i % 3)] for i in range(40)], ["u", "v"] * 20
    found = [
        foresift.select(X, y, "info-gain", check=False),
        foresift.compare(X, y, methods=["random"], estimators=["nb"], cv=2, progress=False),
    ]
    for i, one in enumerate(found):
        path = tmp_path / f"new {i}" / "folder" / "report.html"
        assert one.to_html(path) == path.read_text(encoding="utf-8")
