"""--groups, --time and --dependence: columns that say which rows belong together."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from foresift import select
from foresift.cli.app import app

METHOD = ("--target", "sick", "--method", "info-gain")


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "160", "TERM": "dumb"})


def frame():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(30), 6)
    return pd.DataFrame(
        {
            "patient id": [f"p{i}" for i in who],
            "visit": np.tile(pd.date_range("2024-01-28", periods=6).strftime("%d.%m.%Y"), 30),
            "a": rng.normal(size=180),
            "b": rng.normal(size=30)[who],
            "sick": np.where(rng.normal(size=30)[who] > 0, "yes", "no"),
        }
    )


@pytest.fixture
def path(tmp_path):
    frame().to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


def test_groups(path, tmp_path):
    result = run("select", path, *METHOD, "--groups", "patient id", "--out", tmp_path / "out", "--write-data")
    assert result.exit_code == 0, result.output
    assert "  patient id: groups of the rows, no feature\n" in result.stdout
    assert "Folds keep the 30 groups of patient id whole." in result.stdout
    told = json.loads((tmp_path / "out" / "selection.json").read_text())
    assert told["data"]["groups"] == {"column": "patient id", "n_groups": 30}
    assert told["data"]["n_columns"] == 4
    assert {"name": "patient id", "reason": "groups of the rows (--groups)"} in told["data"][
        "columns_left_out"
    ]
    assert {row["name"] for row in told["features"]} == {"visit", "a", "b"}
    assert "30 groups of patient id" in (tmp_path / "out" / "report.html").read_text()
    assert "patient id" in (tmp_path / "out" / "selected.csv").read_text().splitlines()[0]


def test_a_panel(path):
    result = run("select", path, *METHOD, "--groups", "patient id", "--time", "visit", "--json")
    told = json.loads(result.stdout)
    assert told["data"]["time"] == {"column": "visit"}
    table = frame()
    found = select(
        table[["a", "b"]].to_dict("list"),
        table["sick"],
        "info-gain",
        groups=table["patient id"],
        time=pd.to_datetime(table["visit"], dayfirst=True),
        random_state=0,
    )
    assert told["check"]["full"] == found.check["full"]


@pytest.mark.parametrize(
    ("form", "kind"),
    [("%Y-%m-%d", "text"), ("%d.%m.%Y", "text"), ("%m/%d/%Y", "text"), ("", "number"), ("", "parquet")],
)
def test_times_are_in_their_order(form, kind, tmp_path):
    rng = np.random.default_rng(0)
    order = rng.permutation(150)
    days = pd.date_range("2023-11-20", periods=150)[order]
    y = np.cumsum(rng.normal(size=150))[order]
    times = {"text": lambda: days.strftime(form), "number": lambda: 10 * order, "parquet": lambda: days}[
        kind
    ]()
    table = pd.DataFrame({"when": times, "a": rng.normal(size=150), "b": rng.normal(size=150), "y": y})
    path = tmp_path / "t"
    table.to_parquet(path) if kind == "parquet" else table.to_csv(path, index=False)
    result = run("select", path, "--target", "y", "--method", "pearson", "--k", 2, "--time", "when", "--json")
    told = json.loads(result.stdout)
    found = select(table[["a", "b"]].to_dict("list"), y, "pearson", 2, time=days, random_state=0)
    assert told["check"]["full"] == pytest.approx(found.check["full"])
    assert "Folds are blocks of time, with a gap between training and test rows." in told["details"]


def test_compare(path):
    how = ("--methods", "info-gain", "--estimators", "nb", "--cv", 3)
    told = json.loads(
        run("compare", path, "--target", "sick", *how, "--groups", "patient id", "--json").stdout
    )
    assert told["about"]["cv"] == "3 stratified folds of groups"
    assert told["about"]["groups"] == {"column": "patient id", "n_groups": 30}
    result = run("compare", path, "--target", "sick", *how, "--time", "visit")
    assert result.exit_code == 2
    assert "--time visit repeats: 174 rows have the time of another row" in result.stderr


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--groups", "patientid"), "There is no column 'patientid' (--groups); did you mean 'patient id'?"),
        (("--time", "day"), "There is no column 'day' (--time); there are 'patient id', 'visit'"),
        (("--groups", "sick"), "--groups names the target 'sick'."),
        (
            ("--groups", "visit", "--time", "visit"),
            "--groups and --time both name 'visit': name two columns.",
        ),
        (("--groups", "visit", "--drop", "visit"), "--drop and --groups both name 'visit'"),
        (("--groups", "a"), "--groups a has a group of its own for every row"),
        (("--time", "visit"), "or give every row a time of its own."),
        (("--dependence", "groups"), "--dependence groups needs --groups NAME."),
        (("--groups", "patient id", "--cv", 31), "There are 30 groups, fewer than the 31 folds: lower --cv."),
    ],
)
def test_what_cannot_be(path, flags, message):
    result = run("select", path, *METHOD, *flags)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(("flag", "column"), [("--groups", "patient id"), ("--time", "visit")])
def test_missing_cells(flag, column, tmp_path):
    table = frame()
    table.loc[[3, 7], column] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    result = run("select", tmp_path / "t.csv", *METHOD, "--groups", "patient id", flag, column)
    assert result.exit_code == 2
    assert (
        f"Column '{column}' ({flag}) is missing in 2 rows: fill it in, or drop those rows." in result.stderr
    )


def test_notes_name_the_options(path, tmp_path):
    result = run("select", path, *METHOD, "--no-check")
    assert "--groups 'patient id' keeps them together." in result.stdout
    assert "looks like" not in run("select", path, *METHOD, "--no-check", "--dependence", "none").stdout
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"day": pd.date_range("2024-01-01", periods=150), "y": np.cumsum(rng.normal(size=150))}
    )
    table["a"], table["b"] = np.cumsum(rng.normal(size=(2, 150)), axis=1)
    table.to_csv(tmp_path / "t.csv", index=False)
    dated = run("select", tmp_path / "t.csv", "--target", "y", "--method", "pearson", "--no-check").stdout
    assert "--time day tests them by blocks of time." in dated
    assert "Neighbouring" not in dated
    table.drop(columns="day").to_csv(tmp_path / "t.csv", index=False)
    plain = run("select", tmp_path / "t.csv", "--target", "y", "--method", "pearson", "--no-check").stdout
    assert "--dependence time takes the rows in their order; else give --groups NAME or --time NAME" in plain
