"""`select`: what is found and kept, the same for any number of threads, and mistakes that are told."""

import html
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selection_cases import FAST, table
from sklearn.feature_selection import SelectKBest

from foresift import ForestGainSelector, RelevanceSelector, Selection, select
from foresift.evaluation.select.fitted import order_of
from foresift.evaluation.select.plan import Plan
from foresift.report.output import json_lines

pytestmark = pytest.mark.usefixtures("small_forests")
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@pytest.fixture(scope="module")
def selection():
    X, y = table()
    return select(X, y, random_state=1, n_jobs=2, parameters=FAST)


@given(PLAIN)
@settings(deadline=None)
def test_json_comes_back_as_it_was(value):
    assert json.loads("".join(json_lines(value))) == value


def test_json_of_a_wide_table_has_a_line_per_column(selection):
    plain = selection.to_dict()
    wide = plain | {"features": 50 * plain["features"]}
    text, wider = ("".join(json_lines(some)) for some in (plain, wide))
    assert json.loads(wider) == wide
    rows = "\n".join(json.dumps(row) for row in plain["features"])
    n_more = 49 * len(plain["features"])
    assert wider.count("\n") - text.count("\n") == n_more
    assert len(wider) - len(text) == 49 * (len(rows) + 1) + 3 * n_more  # two spaces and a comma


def test_rankings_one_after_the_other_find_the_same(selection, monkeypatch):
    X, y = table()
    together = assess_by(X, y, one_by_one=False, monkeypatch=monkeypatch)
    apart = assess_by(X, y, one_by_one=True, monkeypatch=monkeypatch)
    assert apart == together


def assess_by(X, y, *, one_by_one, monkeypatch):
    monkeypatch.setattr(Plan, "one_by_one", one_by_one)
    found = select(X, y, random_state=1, n_jobs=2, parameters=FAST).to_dict()
    return {key: found[key] for key in ("features", "curve", "check", "stability", "details")}


def test_what_is_found(selection):
    rows = {row["name"]: row for row in selection.ranking}
    assert {"weak", "word"} < set(selection.features)
    # The p-value of noise3 is 0.01 by chance.
    assert set(selection.features) <= {"strong", "weak", "copy", "word", "noise3"}
    assert all(rows[name]["relevant"] for name in ("strong", "weak", "copy", "word"))
    assert {rows["strong"]["redundant_with"], rows["copy"]["redundant_with"]} <= {None, "strong", "copy"}
    assert (rows["strong"]["redundant_with"] is None) != (rows["copy"]["redundant_with"] is None)
    assert [row["rank"] for row in selection.ranking] == list(range(1, 9))
    assert rows["word"]["kind"] == "categorical"
    assert rows["strong"]["frequency"] > 0.9 > rows["noise1"]["frequency"]
    assert rows["strong"]["low"] > 0 > rows["noise1"]["low"]


def test_one_of_each_group_comes_first_then_other_relevant_columns(selection):
    assert selection.method["order"] == (
        "one of each redundant group by score, then the other relevant columns, then the rest"
    )
    chosen = dict(zip(table()[0].columns, selection.selector_.representative_, strict=True))
    groups = [0 if chosen[row["name"]] else 1 if row["relevant"] else 2 for row in selection.ranking]
    assert groups == sorted(groups)
    assert set(groups) == {0, 1, 2}
    assert not any(chosen[row["name"]] and row["redundant_with"] for row in selection.ranking)
    for group in (0, 1, 2):
        scores = [row["score"] for row, own in zip(selection.ranking, groups, strict=True) if own == group]
        assert scores == sorted(scores, reverse=True)
    kept = [row["kept"] for row in selection.ranking]
    assert kept == sorted(kept, reverse=True)


def test_the_dictionary_is_json_and_what_the_sentence_says(selection):
    plain = json.loads(json.dumps(selection.to_dict(), allow_nan=False))
    assert [plain["verdict"], *plain["details"], *plain["notes"]] == [
        selection.verdict,
        *selection.details,
        *selection.notes,
    ]
    n_relevant = sum(row["relevant"] for row in plain["features"])
    assert f"{n_relevant} are relevant" in plain["verdict"]
    assert "Relevance was tested at a false discovery rate of 10 %." in plain["details"]
    assert "1 of the relevant columns is redundant with a better one." in plain["details"]
    check = plain["check"]
    assert (
        f"on the selected columns reaches {100 * check['kept']['score']:.1f} % accuracy" in selection.sentence
    )
    assert selection.sentence.startswith(plain["verdict"] + " ")
    assert len(plain["verdict"].split()) < 16
    assert len(check["n_kept"]) == check["n_folds"] == 5
    assert plain["data"]["classes"] == [
        {"name": "hi", "count": int((table()[1] == "hi").sum())},
        {"name": "lo", "count": int((table()[1] == "lo").sum())},
    ]
    assert plain["curve"]["chosen"] == len(selection.features) <= n_relevant


def test_the_same_for_any_number_of_threads(selection):
    def outcome(found):
        plain = found.to_dict()
        return {**plain, "created": None, "method": None}

    X, y = table()
    assert outcome(select(X, y, random_state=1, n_jobs=1, parameters=FAST)) == outcome(selection)


def test_a_number_of_columns_is_kept_as_asked():
    X, y = table(80)
    assert len(select(X, y, n_features_to_select=6, random_state=0, check=False).features) == 6
    found = select(X, y, "forest-gain", 3, random_state=0, check=False, parameters={"n_estimators": 30})
    assert len(found.features) == 3
    assert found.method["parameters"]["n_estimators"] == 30
    assert found.method["error"] is None
    assert all(row["relevant"] is None and row["chance"] is not None for row in found.ranking)


def test_order_of_forest_gain_is_by_what_is_above_chance():
    X, y = table(80)
    found = select(X, y, "forest-gain", random_state=0, check=False, parameters={"n_estimators": 30})
    assert found.method["order"] == "by how far the score exceeds that of an irrelevant column"
    above = [row["score"] - row["chance"] for row in found.ranking]
    assert above == sorted(above, reverse=True)
    assert [row["name"] for row in found.ranking] == [X.columns[j] for j in order_of(found.selector_)]


def test_the_rule_of_forest_gain_is_said_to_be_no_test():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40))
    y = (X[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(int)
    trees = {"n_estimators": 30}
    found = select(X, y, "forest-gain", random_state=0, check=False, parameters=trees)
    kept = [row for row in found.ranking if row["kept"]]
    high = sum(row["pvalue"] > 0.05 for row in kept)
    assert high > 5  # as many irrelevant columns are above their expectation
    assert found.notes == [
        "The rule of forest-gain is not a test, and many irrelevant columns pass it by chance: "
        f"{high} of the {len(kept)} columns kept have a p-value above 0.05. To control an error rate, use the"
        " method auto or relevance."
    ]
    given = select(X, y, ForestGainSelector(**trees), random_state=0, check=False)
    assert given.notes[0].startswith("The rule of ForestGainSelector is not a test")
    for other in (
        select(X, y, "forest-gain", 20, random_state=0, check=False, parameters=trees),  # as asked
        select(X, y, "relevance", random_state=0, check=False, parameters=FAST),
        select(X, y, SelectKBest(k=20), check=False),
    ):
        assert other.notes == []


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, dict])
def test_transform_keeps_the_container(container):
    X, y = table(80)
    made = container(X.to_dict("list")) if container is not pd.DataFrame else X
    found = select(made, y, n_features_to_select=2, random_state=0, check=False)
    small = found.transform(made)
    assert isinstance(small, container)
    assert set(small if container is dict else small.columns) == set(found.features)
    with pytest.raises(ValueError, match="lacks the column"):
        found.transform(X.drop(columns=found.features[0]))


def test_transform_of_arrays():
    X, y = table(80)
    array = X.drop(columns="word").to_numpy()
    found = select(array, y, n_features_to_select=2, random_state=0, check=False)
    kept = sorted(int(name[1:]) for name in found.features)
    np.testing.assert_array_equal(found.transform(array), array[:, kept])
    with pytest.raises(ValueError, match="has 3 columns, but the selection was made of 7"):
        found.transform(array[:, :3])


def test_nothing_relevant():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 3)), np.arange(80) % 2
    found = select(X, y, random_state=0, n_jobs=1, parameters=FAST)
    assert found.features == []
    assert found.certainty == "too few rows"
    assert found.verdict == (
        "Too few rows to say which columns matter: none of the 3 columns is significant; none is kept."
    )
    assert (
        "There are too few rows to be certain: the check has only 80 rows and a forest on all columns may be"
        " up to "
    ) in found.sentence
    assert " points better than guessing. More rows would settle it." in found.sentence
    assert "a loss of" not in found.sentence
    assert "stability" not in found.sentence  # subsamples of noise agree on nothing
    assert found.check["kept"]["score"] <= 0.65  # the commonest class, where nothing is kept
    assert (
        f"always predicting the most frequent class reaches {100 * found.check['baseline']:.1f} %."
        in found.sentence
    )
    assert found.check["baseline"] == 0.5
    assert "on the selected columns" not in found.sentence
    assert found.method["order"] == "by score"
    page = found.to_html()
    assert "No column was kept" in page
    assert "the 0 kept" not in page
    with pytest.raises(ValueError, match="No column was kept"):
        found.transform(X)


def test_bad_arguments():
    X, y = table(40)
    with pytest.raises(ValueError, match="no method 'magic'"):
        select(X, y, "magic")
    with pytest.raises(ValueError, match="InfoGainSelector has no parameter 'n_trees'"):
        select(X, y, "info-gain", parameters={"n_trees": 3})


def test_report_and_notebook(tmp_path):
    X, y = table(80)
    X = X.rename(columns={"strong": "<script>alert(1)</script>"})
    found = select(X, y, random_state=0, check=False)
    page = found.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert "<script>alert(1)" not in page
    shown = found._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert html.unescape(shown.split('"')[1]) == page
    assert isinstance(found, Selection)
    assert list(found.to_frame()["name"]) == [row["name"] for row in found.ranking]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("table.csv", [0, 1]), TypeError, r"read the file first, X, y = foresift.read\('table.csv'"),
        (([[1], [2]], "kind"), TypeError, r"not the name of a column: .*select\(X.drop\(columns='kind'\)"),
        (
            ([[1], [2]], [0, 1], "reliff"),
            ValueError,
            r"no method 'reliff'; did you mean 'relieff'\? There are: auto",
        ),
        (([[1], [2]], [0, 1], "magic"), ValueError, r"'magic'\. There are: auto, forest-gain"),
    ],
)
def test_what_is_often_given_by_mistake_is_told(arguments, error, message):
    with pytest.raises(error, match=message):
        select(*arguments)


def test_progress_is_told():
    X, y = table(60, 1)
    told = []
    select(X, y, random_state=0, n_jobs=1, parameters=FAST, tell=lambda *args: told.append(args))
    assert [args for args in told if args[2] == 0] == [
        ("ranking", 1, 0),
        ("checking", 15, 0),
        ("repeating", 20, 0),
    ]
    assert told.count(("checking", 15, 1)) == 15
    assert told.count(("repeating", 20, 1)) == 20


def test_relevance_by_its_own_name_keeps_all_that_is_relevant():
    X, y = table(100)
    found = select(X, y, "relevance", random_state=0, check=False)
    plain = RelevanceSelector(random_state=0).fit(X, y)
    assert set(found.features) == set(X.columns[plain.relevant_])


@pytest.mark.parametrize("n", [2, 6])
def test_too_few_rows_for_a_test_are_refused(n):
    X, y = np.arange(2.0 * n).reshape(n, 2), np.arange(n) % 2
    with pytest.raises(ValueError, match=f"{n} rows are too few for a test of relevance.*at least 10"):
        select(X, y)
    assert len(select(X, y, "info-gain", 1, check=False).features) == 1


@pytest.mark.parametrize("wanted", [0, 9, -1, True, 1.5])
def test_a_number_that_cannot_be_kept_is_refused(wanted):
    X, y = table(40)
    with pytest.raises(ValueError, match="use a whole number from 1 to 3"):
        select(X[["strong", "weak", "noise0"]], y, n_features_to_select=wanted)


def test_an_error_rate_without_a_test_is_said_to_change_nothing():
    X, y = table(40)
    with pytest.warns(UserWarning, match="alpha and error have no effect: info-gain does not test"):
        select(X, y, "info-gain", alpha=0.01, error="fwer", check=False)
    found = select(X, y, "relevance", alpha=0.2, error="fwer", check=False, random_state=0, parameters=FAST)
    assert (found.method["alpha"], found.method["error"]) == (0.2, "fwer")
    assert "0.1" not in found.method["title"]


def test_without_a_check_nothing_is_kept_that_tells_the_same_as_a_better_one():
    X, y = table(100)
    found = select(X, y, random_state=0, check=False)
    kept = [row for row in found.ranking if row["kept"]]
    assert {"strong", "copy", "word"} & set(found.features)
    assert all(row["relevant"] and row["redundant_with"] is None for row in kept)
    assert len(kept) < sum(row["relevant"] for row in found.ranking)


def test_shown_in_one_line():
    X, y = table(60)
    shown = repr(select(X, y, "info-gain", 4, check=False))
    assert shown.startswith("<Selection by info-gain: 4 of 8 columns kept: '")
    assert shown.endswith(", ...>")
    assert "\n" not in shown


def test_the_number_of_columns_is_an_argument_of_select():
    X, y = table()
    with pytest.raises(ValueError, match="Pass n_features_to_select to select itself"):
        select(X, y, parameters={"n_features_to_select": 2})


def test_rare_classes_of_a_long_table_are_in_the_check():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30_000, 2)), rng.integers(0, 2, 30_000)
    y[rng.choice(30_000, 12, replace=False)] = 2
    X[:, 0] += y
    found = select(X, y, random_state=1, parameters={"n_estimators": 5}, n_jobs=2)
    assert found.check["classes_left_out"] == []
