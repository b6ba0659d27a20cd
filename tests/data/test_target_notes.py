"""What is said of a target: numbers that are taken as classes, and classes that look like one."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

from foresift import compare, select
from foresift.cli.app import app

TAKEN = "The target has 4 distinct whole numbers, treated as classes"
COMPARE = ("--methods", "info-gain", "--classifiers", "nb", "--cv", "2")


def table(n=80):
    rng = np.random.default_rng(0)
    y = 3 + np.arange(n) % 4
    return pd.DataFrame({"a": y + rng.normal(size=n), "b": rng.normal(size=n)}), y


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "400", "TERM": "dumb"})


def written(path, labels):
    X, y = table()
    X.assign(y=np.array(labels, dtype=object)[(y - 3) % len(labels)]).to_csv(path, index=False)
    return path


NUMBERS = {
    "int": lambda y: y,
    "float": lambda y: y.astype(float),
    "list": lambda y: y.tolist(),
    "pandas": lambda y: pd.Series(y),
    "polars": lambda y: pl.Series(y),
    "frame": lambda y: pd.DataFrame({"y": y}),
}
CLASSES = {
    "text": lambda y: y.astype(str),
    "codes": lambda y: y - 3,
    "two": lambda y: y % 2,
    "truth": lambda y: y > 4,
    "categories": lambda y: pd.Categorical(y),
    "a column of categories": lambda y: pd.Series(pd.Categorical(y)),
}


@pytest.mark.parametrize("kind", [*NUMBERS, *CLASSES])
def test_numbers_taken_as_classes_are_told(kind):
    X, y = table()
    target = (NUMBERS | CLASSES)[kind](y)
    found = select(X, target, "info-gain", 1, check=False)
    assert any(TAKEN in note and "task=" in note for note in found.notes) == (kind in NUMBERS)
    assert (TAKEN in found.sentence) == (kind in NUMBERS)
    assert (TAKEN in found.to_html()) == (kind in NUMBERS)
    methods = compare(X, target, ["info-gain"], ["nb"], cv=2)
    assert any(TAKEN in note for note in methods.about["notes"]) == (kind in NUMBERS)
    assert (TAKEN in " ".join(str(methods).split())) == (kind in NUMBERS)
    assert (TAKEN in methods.to_html()) == (kind in NUMBERS)


@pytest.mark.parametrize(("labels", "told"), [([3, 4, 5, 6], True), (["3", "4", "5", "high"], False)])
def test_commands_tell_of_numbers_too(tmp_path, labels, told):
    path = written(tmp_path / "t.csv", labels)
    chosen = run("select", path, "--target", "y", "--method", "info-gain", "--no-check")
    assert (TAKEN in chosen.stdout) == told
    assert ("--task regression" in chosen.stdout) == told
    compared = run("compare", path, "--target", "y", *COMPARE)
    assert (TAKEN in " ".join(compared.stdout.split())) == told
    plain = json.loads(run("compare", path, "--target", "y", *COMPARE, "--json").stdout)
    assert any(TAKEN in note for note in plain["about"]["notes"]) == told
    for command in (("select", "--method", "info-gain", "--no-check"), ("compare", *COMPARE)):
        sure = run(command[0], path, "--target", "y", "--categorical", "y", *command[1:])
        assert sure.exit_code == 0
        assert TAKEN not in " ".join(sure.stdout.split())


def test_amounts_with_fractions_are_no_classes():
    X, y = table()
    amounts = y + 0.5 * (np.arange(80) / 80)
    with pytest.raises(ValueError, match="too many classes"):
        select(X, amounts, task="classification")
    assert select(X, amounts, "pearson", 1, check=False).data["task"] == "regression"


def test_classes_that_look_like_one_are_told():
    X, y = table()
    labels = np.array(["yes", "YES", "no", " no"], dtype=object)[y - 3]
    for notes in (
        select(X, labels, "info-gain", 1, check=False).notes,
        compare(X, labels, ["info-gain"], ["nb"], cv=2).about["notes"],
    ):
        (note,) = notes
        assert "' no' and 'no'" in note
        assert "'YES' and 'yes'" in note
        assert "only in case or spaces" in note
    assert select(X, np.array(["yes", "no", "ye s", "n"])[y - 3], "info-gain", 1, check=False).notes == []


def test_commands_print_the_classes(tmp_path):
    path = written(tmp_path / "t.csv", ["yes", "no", "no", "YES"])
    for result in (
        run("select", path, "--target", "y", "--method", "info-gain", "--no-check"),
        run("compare", path, "--target", "y", *COMPARE),
    ):
        assert "Classes: no (40 rows), YES (20), yes (20)\n" in result.stdout
        assert "The classes 'YES' and 'yes' differ only in case or spaces" in " ".join(result.stdout.split())
    quiet = run("select", path, "--target", "y", "--method", "info-gain", "--no-check", "--quiet")
    assert "Classes" not in quiet.stdout


def test_of_many_classes_some_are_printed(tmp_path):
    X, _ = table(200)
    path = tmp_path / "t.csv"
    X.assign(y=[f"c{i % 20}" for i in range(200)]).to_csv(path, index=False)
    result = run("select", path, "--target", "y", "--method", "info-gain", "--no-check")
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("Classes: ")]
    assert line.count("c") == 10 + 1
    assert line.endswith(", ... (20 classes)")
