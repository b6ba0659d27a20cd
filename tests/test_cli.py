"""The command line: the demonstration ranks as it was built, and bad input gives one clear sentence."""

import importlib.util
import re
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from foresift.cli import METHODS, app
from foresift.reading import read_table, to_column

DEMO = Path(str(files("foresift") / "_data" / "bikeshare.csv"))
RELEVANT = {"plan", "payment", "months_subscribed", "rides_last_month", "support_calls", "home_to_station_m"}
FOLLOWS = "minutes_last_month"
ROOT = Path(__file__).parents[1]


def run(*args):
    # Wide enough that rich folds no name.
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "120", "TERM": "dumb"})


def ranked(result):
    """Return the column names of a printed ranking, best first."""
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines()]
    return [row[1] for row in rows if len(row) > 3 and row[0].isdigit()]


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "table.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_demo_puts_relevant_columns_on_top():
    names = ranked(run("select", DEMO, "--target", "cancelled"))
    assert len(names) == 13
    assert set(names[:7]) == RELEVANT | {FOLLOWS}


def test_ranking_depends_on_the_seed_only():
    args = ["select", DEMO, "--target", "cancelled", "--trees", 50, "--seed", 3]
    first = run(*args, "--jobs", 1)
    assert first.exit_code == 0
    assert first.stdout == run(*args, "--jobs", 2, "--method", "forest-gain").stdout


def test_k_shows_the_best():
    args = ["select", DEMO, "--target", "cancelled", "--trees", 50]
    assert ranked(run(*args, "--k", 3)) == ranked(run(*args))[:3]


def test_demo_table_is_what_its_generator_makes():
    spec = importlib.util.spec_from_file_location("make_demo_table", ROOT / "tools" / "make_demo_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.make_table() == DEMO.read_text(encoding="utf-8")


def test_column_that_no_tree_can_use_comes_last(write):
    rows = "\n".join(f"{i},,{'ab'[i > 20]}" for i in range(40))
    names = ranked(run("select", write(f"x,empty,y\n{rows}\n"), "--target", "y", "--trees", 20))
    assert names == ["x", "empty"]


def test_reads_bom_quotes_crlf_blank_lines_and_nameless_columns(write):
    path = write('\ufeff,"a, b"\r\n1,"x\r\ny"\r\n\r\n 2 ,"say ""hi"""\r\n')
    assert read_table(path) == {"column 1": ["1", "2"], "a, b": ["x\r\ny", 'say "hi"']}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "", "2e3"], [1.0, np.nan, 2000.0]),
        (["?", "NA", "NaN"], [np.nan, np.nan, np.nan]),
        (["1", "two", "?"], ["1", "two", None]),
        (["1_000", "1", ""], ["1_000", "1", None]),
    ],
)
def test_kind_of_a_column(cells, expected):
    column = to_column(cells)
    numeric = not any(isinstance(value, str) for value in expected)
    assert column.dtype == (np.float64 if numeric else object)
    np.testing.assert_equal(column.tolist(), expected)


TWENTY_ONE = "".join(f"1,{i}\n" for i in range(21))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("x,y\n", "has a header but no rows"),
        ("x,y\n1,a\n2\n3,b\n", "line 3: 1 cells, but the header has 2"),
        ("x,y\n1,a,b\n", "line 2: 3 cells, but the header has 2"),
        ("x,x,y\n1,2,a\n3,4,b\n", "more than one column is named 'x'"),
        ("x,y\n1,a\n2,a\n", "same value in every row"),
        ("x,y\n1,a\n2,?\n3,b\n", "missing in 1 rows"),
        ("y\na\nb\n", "no column besides the target"),
        ("x,yy\n1,a\n2,b\n", "no column 'y'; did you mean one of 'yy'"),
        ("x,y\n" + TWENTY_ONE, "21 values in 21 rows: too many classes"),
        ("x,y\n1,a\n2,b\ninf,a\n", "inf"),
        ('x,y\n1,a\n2,"b\n', "not valid CSV"),
        (b"x,y\n1,a\n2,\x00b\n", "NUL"),
        (b"\xff\xfex\x00,\x00y\x00", "not UTF-8"),
        ("x,y\n1,\u00e9t\u00e9\n".encode("latin-1"), "not UTF-8"),
        (bytes(range(128, 256)) * 50, "not UTF-8"),
    ],
)
def test_bad_table_gives_one_sentence(write, content, message):
    result = run("select", write(content), "--target", "y")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.startswith("foresift: ")
    assert result.stderr.count("\n") == 1


def test_missing_file_and_folder(tmp_path):
    for path, message in [(tmp_path / "no.csv", "No such file"), (tmp_path, "directory")]:
        result = run("select", path, "--target", "y")
        assert result.exit_code == 2
        assert message in result.stderr
        assert "Traceback" not in result.output


def test_misspelt_target_suggests_near_names():
    result = run("select", DEMO, "--target", "canceled")
    assert result.exit_code == 2
    assert "'cancelled'" in result.stderr


@pytest.mark.parametrize(
    "args", [["--k", 0], ["--k", 14], ["--trees", 0], ["--seed", -1], ["--method", "magic"], ["--jobs", 0]]
)
def test_bad_option(args):
    result = run("select", DEMO, "--target", "cancelled", "--trees", 1, *args)
    assert result.exit_code == 2
    assert result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("method", METHODS)
def test_every_method_ranks(method, tmp_path):
    rng = np.random.default_rng(0)
    signal, noise = rng.normal(size=(2, 60)).round(3)
    rows = [
        f"{a},{b},{'xy'[int(b > 0)]},{'no' if a < 0 else 'yes'}" for a, b in zip(signal, noise, strict=True)
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["signal,noise,word,class", *rows]))
    result = run("select", path, "--target", "class", "--method", method, "--trees", 20)
    assert result.exit_code == 0, result.output
    names = ranked(result)
    assert names[0] == "signal"
    assert sorted(names) == ["noise", "signal", "word"]


@pytest.mark.parametrize("method", ["sfs", "sbs", "plus-minus", "exhaustive", "contribution"])
def test_a_search_looks_for_k_columns(method, tmp_path):
    """Noise that was shown only because K columns had to be would not be kept."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50)
    X = rng.normal(size=(50, 4)).round(2)
    X[:, 2] += 4 * y
    path = tmp_path / "table.csv"
    rows = [",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,c,d,class", *rows]))
    result = run("select", path, "--target", "class", "--method", method, "--k", 3, "--trees", 5)
    assert len(ranked(result)) == 3
    assert len(re.findall(r"\byes\b", result.stdout)) == 3, result.stdout


def test_readme_example_runs(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    exec(example, {})
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line.split()) >= 4 for line in lines[:30])  # the ranking, and then a tree
    assert lines[-1].startswith("Size of the tree")


def test_methods_version_and_help():
    listed = [line.split()[0] for line in run("methods").stdout.splitlines()]
    assert listed == [*METHODS, "auto"]
    assert run("--version").stdout == f"foresift {version('foresift')}\n"
    assert "select" in run("--help").stdout
