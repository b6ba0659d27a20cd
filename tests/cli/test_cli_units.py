"""--keep and --feature-groups: columns that must stay, and columns that belong together."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from foresift.cli.app import app

METHOD = ("--target", "sick", "--method", "info-gain")
NAMES = ["age", "s_1", "s_2", "t_1", "t_2", "z"]


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "160", "TERM": "dumb"})


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, len(NAMES))), columns=NAMES)
    table["sick"] = np.where(table["age"] + table["s_2"] > 0, "yes", "no")
    table["who"] = np.repeat(np.arange(30), 4)
    table["visit"] = np.tile(np.arange(4), 30)
    table["always"] = "same"
    table["id"] = [f"n{i}" for i in range(120)]
    table.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_kept_columns_and_patterns(path, tmp_path):
    flags = ("--keep", "z, t_1", "--feature-groups", "s_*", "--drop", "who,visit", "--k", 1)
    result = run("select", path, *METHOD, *flags, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "Kept the best 1 of 3 columns and groups beside the 2 that you keep (t_1, z)." in result.stdout
    assert "by request" in result.stdout
    head = next(line for line in result.stdout.splitlines() if line.startswith("rank"))
    assert "group" in head
    told = json.loads((tmp_path / "out" / "selection.json").read_text())
    assert [row["name"] for row in told["features"] if row["requested"]] == ["t_1", "z"]
    assert {row["name"] for row in told["features"] if row["group"] == "s_*"} == {"s_1", "s_2"}
    assert told["curve"]["points"][0]["n"] == 0
    report = (tmp_path / "out" / "report.html").read_text()
    assert "kept by request" in report
    assert "numeric, in s_*" in report
    assert "number of columns and groups beside those kept by request" in report
    assert "requested,group" in (tmp_path / "out" / "ranking.csv").read_text().splitlines()[0]


@pytest.mark.parametrize(
    "groups",
    [
        {"s": "s_*", "t": ["t_1", "t_2", "always"]},
        [["s_1", "s_2"], ["t_1", " t_2 "], ["always"]],
        ["s_*", "t_*"],
    ],
)
def test_groups_in_a_file(path, tmp_path, groups):
    (tmp_path / "groups.json").write_text(json.dumps(groups))
    flags = ("--feature-groups", tmp_path / "groups.json", "--k", 1, "--no-check", "--quiet")
    result = run("select", path, *METHOD, *flags)
    assert result.exit_code == 0, result.output
    assert result.stdout.split() in (["age"], ["s_1", "s_2"])
    told = json.loads(run("select", path, *METHOD, *flags[:-1], "--json").stdout)
    assert len({row["group"] for row in told["features"]} - {None}) == 2


def test_one_hot(path, tmp_path):
    table = pd.read_csv(path).drop(columns=["id", "always", "who", "visit"])
    table["colour"] = np.array(["red", "green", "blue"])[np.arange(120) % 3]
    pd.get_dummies(table, columns=["colour"], dtype=int).to_csv(path, index=False)
    flags = ("--feature-groups", "one-hot", "--no-check", "--json")
    told = json.loads(run("select", path, *METHOD, *flags).stdout)
    assert {row["name"] for row in told["features"] if row["group"] == "colour"} == {
        "colour_blue",
        "colour_green",
        "colour_red",
    }


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--keep", "agee"), "There is no column 'agee' (--keep); did you mean 'age'?"),
        (("--keep", "sick"), "--keep names 'sick', which is the target: leave it out."),
        (("--keep", "who", "--groups", "who"), "--keep names 'who', which is no feature (--groups)"),
        (("--keep", "visit", "--time", "visit"), "--keep names 'visit', which is no feature (--time)"),
        (("--keep", "age,age"), "--keep has column 'age' twice: name every column once."),
        (("--keep", "always"), "--keep names 'always', which is left out: "),
        (("--keep", "id"), "--keep names 'id', which is left out: "),
        (("--keep", "z", "--drop", "z"), "--keep names 'z', which is left out: --drop names it too."),
        (("--feature-groups", "none.json"), "There is no file 'none.json' (--feature-groups): give a JSON"),
        (("--feature-groups", "q_*"), "--feature-groups has the pattern 'q_*', which matches no column"),
        (("--feature-groups", "s_*,s_1*"), "--feature-groups has column 's_1' twice"),
        (("--feature-groups", "one-hot"), "--feature-groups one-hot finds no columns of 0 and 1"),
        (("--feature-groups", "s_*", "--k", 8), "--k 8 is more than the 7 columns and groups"),
        (("--feature-groups", "s_*", "--k", 8, "--method", "auto"), "--k 8, but there are 7 columns and"),
    ],
)
def test_what_cannot_be(path, flags, message):
    result = run("select", path, *METHOD, *flags)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON: give labels with lists of columns or patterns, or a list of such lists."),
        ("[]", "has no groups: give labels"),
        ("3", "has no groups: give labels"),
        ('["age", "z"]', "has 'age' for a group: give labels"),
        ("[[1, 2]]", "has [1, 2] for a group: give labels"),
        ('{"s": ["s_1", "s_9"]}', "There is no column 's_9' (--feature-groups); did you mean"),
        ('{"s": ["s_1", "sick"]}', "--feature-groups names 'sick', which is the target: leave it out."),
        ('{"s": ["s_1"], "z": ["z", "s_1"]}', "--feature-groups has column 's_1' twice"),
        ('{"s": []}', "--feature-groups has no column in 's'"),
    ],
)
def test_files_that_cannot_be(path, tmp_path, text, message):
    (tmp_path / "groups.json").write_text(text)
    result = run("select", path, *METHOD, "--feature-groups", tmp_path / "groups.json")
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
