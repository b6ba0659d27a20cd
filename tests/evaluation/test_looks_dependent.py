"""Notes on rows that look as if they belong together, and none on those that do not."""

import os

import numpy as np
import pandas as pd
import pytest

from foresift import select
from foresift.data.table import make_table
from foresift.datasets import available, load
from foresift.evaluation.select.looks_dependent import notes_on_rows

# Pixels of images, angles of an object, positions one move apart; batches, models by year or make, districts
# by place, and experiments that vary one setting after another.
REALLY = {
    *("kr-vs-kp", "satellite", "segmentation", "sonar"),
    *("abalone", "airfoil", "auto-mpg", "auto-price", "california-housing", "concrete", "energy-heating"),
    *("machine-cpu", "yacht"),
}


def notes(X, y, task="classification"):
    return notes_on_rows(make_table(X, y, task=task), list(X))


def series(n, seed, memory=0.9):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    for i in range(1, n):
        x[i] += memory * x[i - 1]
    return x


@pytest.mark.parametrize("name", ["patient_id", "Shop", "sensorNo", "SITE", "userid"])
@pytest.mark.parametrize("text", [False, True])
def test_identifiers_that_repeat(name, text):
    rng = np.random.default_rng(0)
    who = np.arange(120) // 4
    X = pd.DataFrame({"a": rng.normal(size=120), name: [f"p{i}" for i in who] if text else who})
    (note,) = notes(X, rng.integers(0, 2, 120))
    assert note.startswith(f"The column {name} looks like an identifier of groups: 30 values in 120 rows.")
    assert f"groups=X['{name}']" in note


@pytest.mark.parametrize(
    "column",
    [
        {"patient_age": np.arange(120) // 4},
        {"patient": np.arange(120)},
        {"patient": np.arange(120) % 3},
        {"sensor": np.arange(120) // 4 + 0.5},
        {"households": np.arange(120) // 4},
    ],
    ids=["age", "all different", "categories", "a measurement", "a count"],
)
def test_what_is_no_identifier(column):
    rng = np.random.default_rng(0)
    assert notes(pd.DataFrame({"a": rng.normal(size=120), **column}), rng.integers(0, 2, 120)) == []


def test_columns_that_change_together():
    rng = np.random.default_rng(0)
    who = rng.permutation(np.repeat(np.arange(30), 4))
    X = pd.DataFrame(rng.normal(size=(30, 3))[who], columns=["height", "weight", "blood"])
    X["mood"] = rng.normal(size=120)
    (note,) = notes(X, rng.integers(0, 2, 120))
    assert note.startswith(
        "The columns height, weight and blood always change together, as if the 120 rows were of 30"
    )
    assert "groups=X['height']" in note
    X["weight"], X["blood"] = -X["height"], X["height"] ** 3
    assert notes(X, rng.integers(0, 2, 120)) == []


def test_series():
    X = pd.DataFrame({f"x{j}": series(400, j) for j in range(4)})
    y = series(400, 9)
    (note,) = notes(X, y, "regression")
    assert note.startswith("Neighbouring rows are alike")
    assert "Neighbouring" in notes(X, y > 0)[0]
    mixed = np.random.default_rng(0).permutation(400)
    assert notes(X.iloc[mixed], y[mixed], "regression") == []


def test_sorted_files():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    y = X["a"].to_numpy() + 0.3 * rng.normal(size=300)
    order = np.argsort(y)
    (note,) = notes(X.iloc[order], y[order], "regression")
    assert note.startswith("The rows are sorted by the target")
    assert notes(X.iloc[order], y[order] > 0) == []
    alike = pd.DataFrame({f"x{j}": series(300, j) for j in range(4)})
    (note,) = notes(alike, np.arange(300) // 100)
    assert note.startswith("Neighbouring rows are alike within each class")
    assert "dependence" not in note  # a class that stands together cannot be tested in the order of the rows
    by_column = np.argsort(X["a"].to_numpy())
    assert notes(X.iloc[by_column], y[by_column], "regression") == []


def test_dates():
    rng = np.random.default_rng(0)
    dates = pd.date_range("2024-01-01", periods=200).strftime("%Y-%m-%d").to_numpy()
    X = pd.DataFrame({"a": rng.normal(size=200), "day": dates})
    y = series(200, 1)
    assert "time=X['day']" in notes(X, rng.normal(size=200), "regression")[0]  # in order
    mixed = rng.permutation(200)
    assert "dates of day" in notes(X.iloc[mixed], y[mixed], "regression")[0]
    assert notes(X.iloc[mixed], rng.normal(size=200), "regression") == []  # dates of birth, as it were


def test_text_that_looks_like_dates():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "when": [f"{1 + i % 28}.03.2024" for i in range(60)]})
    y = rng.integers(0, 2, 60)
    said = "when is text that looks like dates, taken as categories: convert it, for example with"
    assert any(said in note for note in select(X, y, "info-gain", 1, check=False).notes)
    X["till"] = X["when"]
    said = "when, till are text that looks like dates"
    assert any(said in note for note in select(X, y, "info-gain", 1, check=False).notes)
    X = pd.DataFrame({"a": X["a"], "when": pd.to_datetime(X["when"], format="%d.%m.%Y"), "b": "x1"})
    assert not any("text" in note for note in select(X, y, "info-gain", 1, check=False).notes)


def test_only_if_nobody_has_said():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "patient": np.arange(60) // 3})
    y = rng.integers(0, 2, 60)
    assert any("identifier of groups" in note for note in select(X, y, "info-gain", 1, check=False).notes)
    for how in ({"groups": X["patient"]}, {"dependence": "none"}, {"dependence": "time"}):
        assert not select(X, y, "info-gain", 1, check=False, **how).notes


@pytest.mark.skipif("FORESIFT_DATA" not in os.environ, reason="needs the tables of the papers")
def test_no_false_alarms():
    fired = set()
    for place in available():
        if place.file:
            X, y = load(place.name, task=place.task, download=False)
            if notes_on_rows(make_table(X, y, task=place.task), list(X)):
                fired.add(place.name)
    assert fired <= REALLY
