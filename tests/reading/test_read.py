"""`foresift.read` in Python gives what the command line reads."""

import builtins
import json
from importlib.resources import files

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

import foresift
from foresift import CartClassifier, InfoGainSelector, select
from foresift.cli.app import app
from foresift.cli.table import read_columns
from foresift.reading.read import _in_python

DATA = files("foresift.datasets") / "_data"
PATHS = {"bikeshare": (str(DATA / "bikeshare.csv"), "cancelled"), "rents": (str(DATA / "rents.csv"), "rent")}


@pytest.mark.parametrize("name", PATHS)
def test_the_same_as_the_command_line(name):
    path, target = PATHS[name]
    table = foresift.read(path, target)
    _, split = read_columns(path, target)
    X, y = table
    assert list(X.columns) == list(split.columns)
    for column, values in split.columns.items():
        if values.dtype == object:
            assert X[column].astype(object).where(X[column].notna(), None).tolist() == values.tolist()
        else:
            np.testing.assert_array_equal(X[column], values)
    np.testing.assert_array_equal(y, split.labels)
    assert (table.task, table.target) == (split.task, target)
    assert [(c["name"], c["kind"], c["left_out"]) for c in table.columns] == [
        (d.name, d.kind, d.left_out) for d in split.decisions
    ]


def test_a_selection_of_it_is_that_of_the_command_line():
    path, target = PATHS["bikeshare"]
    options = ["--target", target, "--trees", "20", "--no-check", "--json", "--groups", "birth_weekday"]
    told = json.loads(CliRunner().invoke(app, ["select", path, *options]).stdout)
    table = foresift.read(path, target, groups="birth_weekday")
    found = select(**table.arguments, random_state=0, check=False, parameters={"n_estimators": 20})
    assert found.ranking == told["features"]
    assert found.data["groups"] == told["data"]["groups"]


def test_scikit_learn_takes_it():
    X, y = foresift.read(*PATHS["bikeshare"])
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    pipeline = make_pipeline(InfoGainSelector(3), CartClassifier(max_depth=3)).fit(train, y_train)
    assert pipeline.score(test, y_test) > 0.6


def test_options(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i},{i % 7},z{i % 3},{'' if i == 5 else i % 2},2024-01-{i + 1:02},g{i % 4}" for i in range(25)]
    path.write_text("id,code,word,y,day,group\n" + "\n".join(rows))
    table = foresift.read(
        path,
        "y",
        categorical="code",
        drop=["word"],
        groups="group",
        time="day",
        skip_unlabelled=True,
        keep_ids=True,
    )
    assert list(table.X.columns) == ["id", "code"]
    assert table.X["code"].iloc[0] == "0"
    assert (list(table.groups), list(table.time)) == (["group"], ["day"])
    assert table.arguments.keys() == {"X", "y", "task", "groups", "time"}
    assert table.notes == ["1 row (data row 6) without a target was dropped."]
    assert table.columns[-1] == {"name": "word", "kind": "dropped", "why": "as you say", "left_out": True}
    assert (
        repr(table) == f"<{path} (CSV with commas, utf-8): 24 rows, 2 features, target 'y' (classification)>"
    )
    assert foresift.read(path, "code", task="classification").task == "classification"
    assert list(foresift.read(str(path), "word", numeric=["y"]).X.columns) == ["code", "y", "day", "group"]


WRONG = {
    "target": ({"target": "z"}, r"There is no column 'z'; there are 'a', 'b,c', 'y'\.$"),
    "numeric": ({"numeric": ["z"]}, r"There is no column 'z' \(numeric=\); there are 'a', 'b,c', 'y'\.$"),
    "time": ({"time": "y"}, "time= names the target 'y'"),
    "both": ({"time": "a", "groups": "a"}, "groups= and time= both name 'a'"),
    "drop": ({"drop": "y"}, "drop names the target 'y'"),
    "task": ({"task": "classes"}, "task must be auto, classification or regression"),
    "quantity": ({"task": "regression"}, "are no numbers: leave out task='regression'"),
    "memory": ({"max_memory": 0}, "max_memory is a number of gigabytes above 0"),
    "delimiter": ({"delimiter": ",,"}, "delimiter is one character"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_name_parameters(case, tmp_path):
    options, message = WRONG[case]
    path = tmp_path / "t.csv"
    path.write_text('a,"b,c",y\n1,2,no\n3,4,yes\n5,7,no\n')
    with pytest.raises(ValueError, match=message) as caught:
        foresift.read(path, **{"target": "y", **options})
    assert "--" not in str(caught.value)


def test_other_errors(tmp_path):
    with pytest.raises(ValueError, match=r"Cannot read .*none.csv: No such file or directory"):
        foresift.read(tmp_path / "none.csv", "y")
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,no\n3,\n")
    with pytest.raises(ValueError, match=r"1 row \(data row 2, at the end\): .* \(skip_unlabelled=True\)"):
        foresift.read(path, "y")
    for wrong in (pd.DataFrame({"a": [1]}), path.open(), 3):
        with pytest.raises(TypeError, match="read takes the path of a file, not a "):
            foresift.read(wrong, "y")
    with pytest.raises(TypeError, match="target is the name of a column, not 1"):
        foresift.read(path, 1)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("(--numeric would take it as missing)", "(numeric= would take it as missing)"),
        ("'x' is not: --numeric my-age makes the others", "'x' is not: numeric=['my-age'] makes the others"),
        ("'x' is not: --numeric 'it'\"'\"'s' makes it", "'x' is not: numeric=[\"it's\"] makes it"),
        ('drop the column (--drop "it\'s").', 'drop the column (drop=["it\'s"]).'),
        ("(--skip-unlabelled); --keep-ids", "(skip_unlabelled=True); keep_ids=True"),
    ],
)
def test_options_become_parameters(typed, said):
    assert _in_python(typed) == said


@pytest.mark.parametrize("mark", ['"', "\n", "\r"])
def test_marks_that_cannot_separate_cells(mark, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    with pytest.raises(ValueError, match=r"delimiter= cannot be .*: give the character between the cells"):
        foresift.read(path, "y", delimiter=mark)


def test_frames_of_what_is_installed(monkeypatch):
    path, target = PATHS["bikeshare"]
    whole = foresift.read(path, target).X
    missing = {"pandas"}
    imported = builtins.__import__

    def without(name, *args, **kwargs):
        if name in missing:
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    other = foresift.read(path, target).X
    assert isinstance(other, pl.DataFrame)
    missing.add("polars")
    plain = foresift.read(path, target).X
    assert isinstance(plain, dict)
    missing.clear()
    expected = InfoGainSelector().fit(whole, np.arange(600) % 2).scores_
    for X in (other, plain):
        assert list(X.columns if isinstance(X, pl.DataFrame) else X) == list(whole.columns)
        np.testing.assert_array_equal(InfoGainSelector().fit(X, np.arange(600) % 2).scores_, expected)


def test_a_sheet_of_a_workbook(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        for name, scale in (("first", 1), ("second", 10)):
            frame = pd.DataFrame({"x": [scale * 1.5, scale * 2.5, scale * 4.5], "y": ["a", "b", "a"]})
            frame.to_excel(writer, sheet_name=name, index=False)
    first, second = foresift.read(path, "y"), foresift.read(path, "y", sheet="second")
    assert first.X["x"].tolist() == [1.5, 2.5, 4.5]
    assert first.notes == ["This is the sheet 'first'; the workbook also has 'second' (sheet='NAME')."]
    assert second.X["x"].tolist() == [15, 25, 45]
    assert second.notes == []
    with pytest.raises(
        ValueError, match=r"no column 'z'; .* the workbook also has 'second' \(sheet='NAME'\)"
    ):
        foresift.read(path, "z")
    with pytest.raises(ValueError, match=r"no sheet 'third' \(sheet=\); there are 'first', 'second'"):
        foresift.read(path, "y", sheet="third")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"numeric": None}, "numeric, categorical and drop are names of columns, not None"),
        ({"drop": [1]}, r"names of columns, not \[1\]"),
        ({"groups": 3}, "groups is a text, such as the name of a column, or None, not 3"),
        ({"delimiter": 5}, "delimiter is a text"),
        ({"max_memory": "4"}, "max_memory is a number of gigabytes, not '4'"),
    ],
)
def test_options_of_another_type(tmp_path, options, message):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    with pytest.raises(TypeError, match=message):
        foresift.read(path, "y", **options)
