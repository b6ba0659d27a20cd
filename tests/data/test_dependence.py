"""Groups and times of rows: what is read, and one sentence for what cannot be."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

from foresift import InfoGainSelector, select
from foresift.data.dependence import facts_of_dependence, read_dependence

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8, 2))
Y = [0, 1] * 4
PAIRS = [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    "groups",
    [
        list("bbaaddcc"),
        np.array([2, 2, 1, 1, 4, 4, 3, 3]),
        pd.Series(list("bbaaddcc"), dtype="category"),
        pl.Series("who", list("bbaaddcc")),
        pd.DataFrame({"who": [2.0, 2, 1, 1, 4, 4, 3, 3]}),
        {"who": [True, True, False, False, True, True, True, True]},
    ],
    ids=["text", "numbers", "categories", "polars", "frame", "booleans"],
)
def test_groups_are_numbered_as_they_come(groups):
    found = read_dependence("auto", groups, None, 8)
    assert found.kind == "groups"
    assert found.groups[:4].tolist() == [0, 0, 1, 1]
    assert found.n_groups == len(set(found.groups.tolist()))


def test_times_of_all_types_are_ordered():
    for time in (
        pd.date_range("2024-01-01", periods=8)[::-1],
        np.arange(8).astype("M8[D]")[::-1],
        [f"2024-01-0{8 - i}" for i in range(8)],
        np.linspace(1, 0, 8),
        pl.Series(pd.date_range("2024-01-01", periods=8)[::-1]),
    ):
        assert read_dependence("auto", None, time, 8).time.tolist() == [7, 6, 5, 4, 3, 2, 1, 0]


def test_what_is_respected():
    assert read_dependence("none", PAIRS, range(8), 8) is None
    assert read_dependence("groups", PAIRS, range(8), 8).kind == "groups"
    assert read_dependence("time", PAIRS, None, 8).kind == "time"
    assert read_dependence("auto", PAIRS, np.arange(8) % 2, 8).kind == "panel"
    assert read_dependence("panel", PAIRS, None, 8).time.tolist() == list(range(8))
    whole = read_dependence("auto", PAIRS, None, 8)
    assert read_dependence("auto", whole, None, 8) is whole
    assert read_dependence("none", whole, None, 8) is None


def test_columns_are_called_by_their_names():
    groups, time = pd.Series(PAIRS, name="patient"), {"visit": np.arange(8) % 2}
    found = read_dependence("auto", groups, time, 8)
    assert facts_of_dependence(found, groups, time) == {
        "groups": {"column": "patient", "n_groups": 4},
        "time": {"column": "visit"},
    }
    assert facts_of_dependence(read_dependence("time", None, None, 8), None, None) == {
        "time": {"column": None}
    }


@pytest.mark.parametrize("fit", ["selector", "select"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"groups": PAIRS[:5]}, "groups has 5 values, but X has 8 rows: name a group for every row."),
        ({"time": range(9)}, "time has 9 values, but X has 8 rows: give a time for every row."),
        (
            {"groups": ["a", None, *"abcabc"]},
            "groups is missing in row 1: name a group for every row, or drop the row.",
        ),
        (
            {"groups": pd.Series([1.0, 1, np.nan, 2, 2, 2, 2, 2], name="who")},
            "groups (who) is missing in row 2: name a group for every row, or drop the row.",
        ),
        (
            {"time": pd.to_datetime(["2024-01-01", None] * 4)},
            "time is missing in row 1: give a time for every row, or drop the row.",
        ),
        (
            {"groups": ["x"] * 8},
            "groups has one group only, and there is no other to test it on: leave it out if rows are"
            " independent, or use time if they follow each other.",
        ),
        (
            {"groups": {"row": range(8)}},
            "groups (row) has a group of its own for every row, so no rows belong together: leave it out.",
        ),
        (
            {"time": [0, 1, 2, 3, 4, 5, 5, 6]},
            "time repeats: 1 row has the time of another row; pass groups too if there are several series, or"
            " give every row a time of its own.",
        ),
        (
            {"time": [0, 1, 0, 0, 0, 1, 0, 1], "groups": PAIRS},
            "time repeats: 1 row has the time of another row of a group; give every row a time of its own.",
        ),
        (
            {"groups": "patient"},
            "groups is the text 'patient': name a group for every row, not the name of a column.",
        ),
        ({"groups": np.zeros((8, 2))}, "groups is not one column of values: name a group for every row."),
        (
            {"groups": np.array(["a", 1, 2, "b"] * 2, dtype=object)},
            "groups mixes types that do not compare: name a group for every row, all of one type.",
        ),
    ],
)
def test_bad_groups_and_times(fit, given, message):
    run = InfoGainSelector().fit if fit == "selector" else partial(select, method="info-gain")
    with pytest.raises((TypeError, ValueError)) as caught:
        run(X, Y, **given)
    assert str(caught.value) == message


def test_an_unknown_dependence():
    with pytest.raises(
        ValueError, match="dependence must be one of auto, none, groups, time, panel, but is 'x'"
    ):
        select(X, Y, "info-gain", dependence="x")
    with pytest.raises(ValueError, match=r'^dependence="panel" needs groups: pass the group of every row\.$'):
        select(X, Y, "info-gain", dependence="panel")


def test_a_part_of_what_was_read_before():
    panel = read_dependence("auto", PAIRS, np.arange(8), 8)
    assert read_dependence("groups", panel, None, 8).kind == "groups"
    assert read_dependence("none", panel, None, 8) is None
    in_groups = read_dependence("auto", PAIRS, None, 8)
    assert read_dependence("time", in_groups, None, 8).time.tolist() == list(range(8))
    with pytest.raises(ValueError, match='dependence="groups" needs groups'):
        read_dependence("groups", read_dependence("time", None, None, 8), None, 8)


def test_text_is_ordered_as_numbers_or_dates():
    assert read_dependence("auto", None, ["1", "2", "10"], 3).time.tolist() == [0, 1, 2]
    assert read_dependence("auto", None, ["2024-02-01", "2023-12-31"], 2).time.tolist() == [1, 0]
    with pytest.raises(ValueError, match="time holds text such as '31/01/2020', whose order is not known"):
        read_dependence("auto", None, ["31/01/2020", "01/02/2020"], 2)
