"""`select`: the check is honest, equal to a plain loop, and the same for any number of threads."""

import html
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold

from foresift import InfoGainSelector, RelevanceSelector, Selection, SiftForestClassifier, select
from foresift.output import json_lines
from foresift.selection.assess import (
    LEAST_IN_A_LEAF,
    Assessment,
    Check,
    Plan,
    Rows,
    assess,
    order_of,
    plan_for,
)
from foresift.selection.choosing import count_copies
from foresift.selection.resample import _two_parts, resample, samples_for
from foresift.selection.sentences import say
from foresift.stats import Estimate
from foresift.subset_size import SizeCurve, choose_size

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
N_TREES = 10
FAST = {"n_estimators": 15}


@pytest.fixture(autouse=True, scope="module")
def small_forests():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("foresift.selection.assess.N_TREES", N_TREES)
        yield


def table(n=150, n_noise=4, seed=0):
    """Two columns that matter, a copy of the first, a category that matters, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    columns = {"strong": y + 0.4 * rng.normal(size=n), "weak": y + 0.9 * rng.normal(size=n)}
    columns["copy"] = 2 * columns["strong"] + 1
    columns["word"] = np.where(rng.random(n) < 0.8, np.where(y == 1, "yes", "no"), "maybe").astype(object)
    columns |= {f"noise{j}": rng.normal(size=n) for j in range(n_noise)}
    columns["noise0"][::7] = np.nan
    return pd.DataFrame(columns), np.array(["lo", "hi"])[y]


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
    return {key: found[key] for key in ("features", "curve", "check", "stability", "sentence")}


def test_what_is_found(selection):
    rows = {row["name"]: row for row in selection.ranking}
    assert set(selection.features) <= {"strong", "weak", "copy", "word"}
    assert "word" in selection.features
    assert all(rows[name]["relevant"] for name in ("strong", "weak", "copy", "word"))
    assert {rows["strong"]["redundant_with"], rows["copy"]["redundant_with"]} <= {None, "strong", "copy"}
    assert (rows["strong"]["redundant_with"] is None) != (rows["copy"]["redundant_with"] is None)
    assert [row["rank"] for row in selection.ranking] == list(range(1, 9))
    assert rows["word"]["kind"] == "categorical"
    assert rows["strong"]["frequency"] > 0.9 > rows["noise1"]["frequency"]
    assert rows["strong"]["low"] > 0 > rows["noise1"]["low"]


def test_relevant_come_first_and_redundant_ones_after_them(selection):
    assert "then those that tell the same as a better one, then" in selection.method["order"]
    groups = [
        0 if row["relevant"] and not row["redundant_with"] else 1 + (not row["relevant"])
        for row in selection.ranking
    ]
    assert groups == sorted(groups)
    kept = [row["kept"] for row in selection.ranking]
    assert kept == sorted(kept, reverse=True)


def test_the_dictionary_is_json_and_what_the_sentence_says(selection):
    plain = json.loads(json.dumps(selection.to_dict(), allow_nan=False))
    assert plain["sentence"] == selection.sentence
    n_relevant = sum(row["relevant"] for row in plain["features"])
    assert f"{n_relevant} are relevant" in plain["verdict"]
    assert "Tested at a false discovery rate of 10%; 1 of the relevant tells the same" in plain["sentence"]
    check = plain["check"]
    assert (
        f"selecting like this and growing a forest has an accuracy of {check['kept']['score']:.1%}, a "
        in (plain["sentence"])
    )
    assert plain["sentence"].startswith(plain["verdict"] + " ")
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


def test_the_check_is_a_plain_loop():
    X, y = table(90)
    X = X.drop(columns="word")
    found = select(X, y, "info-gain", 2, random_state=5)
    codes = (y == "lo").astype(int)
    folds = StratifiedKFold(5, shuffle=True, random_state=5)
    kept, full, curve = [], [], []
    for train, test in folds.split(X, codes):

        def score(columns, train=train, test=test):
            forest = SiftForestClassifier(
                N_TREES, min_samples_leaf=LEAST_IN_A_LEAF, max_features="sqrt", random_state=5
            )
            here, there = X.iloc[train, columns].to_numpy(), X.iloc[test, columns].to_numpy()
            return accuracy_score(codes[test], forest.fit(here, codes[train]).predict(there))

        ranking = InfoGainSelector(2).fit(X.iloc[train], codes[train]).ranking_
        kept.append(score(np.flatnonzero(ranking <= 2)))
        full.append(score(np.arange(7)))
        curve.append([score(np.flatnonzero(ranking <= size)) for size in range(1, 8)])
    assert found.check["kept"]["score"] == pytest.approx(np.mean(kept))
    assert found.check["full"]["score"] == pytest.approx(np.mean(full))
    assert [p["score"] for p in found.curve["points"]] == pytest.approx(np.mean(curve, axis=0))
    d = np.subtract(kept, full)
    half = stats.t.ppf(0.975, 4) * math.sqrt(1 / 5 + 0.2 / 0.8) * d.std(ddof=1)
    assert found.check["difference"]["low"] == pytest.approx(d.mean() - half)


def test_sizes_are_chosen_by_folds_inside_of_folds():
    """A plain loop: without a fold, a ranking for each of the others chooses the size."""
    X, y = table(90)
    X = X.drop(columns="word").to_numpy()
    codes = (y == "lo").astype(int)
    parts = [test for _, test in StratifiedKFold(5, shuffle=True, random_state=5).split(X, codes)]
    plan, sizes = plan_for(*X.shape), np.arange(1, 8)

    def rank(train):
        return np.argsort(InfoGainSelector(2).fit(X[train], codes[train]).ranking_, kind="stable")

    def score(columns, train, test):
        columns = np.sort(columns)
        forest = SiftForestClassifier(
            N_TREES, min_samples_leaf=LEAST_IN_A_LEAF, max_features="sqrt", random_state=5
        )
        forest.fit(X[train][:, columns], codes[train])
        return accuracy_score(codes[test], forest.predict(X[test][:, columns]))

    def others(*left_out):
        return np.sort(np.concatenate([part for i, part in enumerate(parts) if i not in left_out]))

    kept, n_kept = [], []
    for i, test in enumerate(parts):
        curves = [
            [score(rank(others(i, j))[:size], others(i, j), parts[j]) for size in sizes]
            for j in range(5)
            if j != i
        ]
        size = choose_size(SizeCurve(sizes, np.array(curves), 0))
        kept.append(score(rank(others(i))[:size], others(i), test))
        n_kept.append(size)
    rows = Rows(X, codes, np.zeros(7, dtype=bool))
    found = assess(
        rows, InfoGainSelector(2), lambda s, size: order_of(s)[:size], plan, by_curve=True, seed=5, n_jobs=2
    )
    assert found.n_kept.tolist() == n_kept
    assert len(set(n_kept)) > 1
    assert found.check.kept.value == pytest.approx(np.mean(kept))


def test_selection_outside_the_folds_would_be_seen():
    """The best 5 of 1,500 columns of noise tell their own rows apart, and others not at all."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 1500)), np.arange(40) % 2
    found = select(X, y, "info-gain", 5, random_state=0)
    kept = [int(name[1:]) for name in found.features]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    leaky = [
        SiftForestClassifier(N_TREES, random_state=0).fit(X[a][:, kept], y[a]).score(X[b][:, kept], y[b])
        for a, b in folds.split(X, y)
    ]
    assert np.mean(leaky) > 0.75
    assert found.check["kept"]["score"] < 0.65


def test_the_rule_of_one_standard_error():
    scores = np.array([[0.5, 0.80, 0.84, 0.8], [0.6, 0.90, 0.9, 0.9]])
    curve = SizeCurve(np.array([1, 2, 3, 9]), scores, 0)
    assert choose_size(curve) == 2  # 0.85 is within 0.03 of 0.87
    assert choose_size(curve, "best") == 3


@pytest.mark.parametrize("size", [10, 25, 50])
def test_samples_share_no_row_and_keep_the_classes(size):
    y = np.repeat([0, 1, 2], [50, 30, 20])
    first, second = _two_parts(y, size, np.random.default_rng(0))
    assert len(first) == len(second) == size
    assert not set(first) & set(second)
    for part in (first, second):
        shares = np.bincount(y[part], minlength=3) / size
        assert np.abs(shares - [0.5, 0.3, 0.2]).max() <= 1 / size + 1e-9


@pytest.mark.filterwarnings("ignore:No feature passed")
def test_intervals_hold_what_they_say():
    """Scores of independent tables of the same kind spread as the interval of one of them tells."""
    scores, halves = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 8))
        y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
        fitted = RelevanceSelector(n_estimators=20, redundancy=None, random_state=seed).fit(X, y)

        def fit(selector, rows, X=X, y=y):
            return selector.fit(X[rows], y[rows])

        scores.append(fitted.scores_[0])
        halves.append(resample(fit, fitted, y, tree_share=1, seed=seed).half_widths[0])
    ratio = np.median(halves) / (stats.t.ppf(0.975, 19) * np.std(scores, ddof=1))
    assert 0.5 < ratio < 2  # a spread of 10 is itself known to a quarter


@pytest.mark.parametrize(("n_rows", "n_columns"), [(30, 3), (600, 12), (10**6, 20), (62, 2000), (50, 10**5)])
def test_plans_are_bounded(n_rows, n_columns):
    plan = plan_for(n_rows, n_columns)
    assert plan.n_rows <= n_rows
    n_ranked = [plan.n_folds - len(lot) for lot in plan.lots(by_curve=True)]  # folds, each time
    rankings = sum(n_ranked) / plan.n_folds
    assert plan.n_rows * n_columns * rankings * plan.tree_share <= 5e6 or plan.tree_share == 0.2
    n_samples, size = samples_for(n_rows, n_columns)
    assert n_samples % 2 == 0
    assert 4 <= n_samples <= 20
    assert 2 * size <= n_rows


def test_lopsided_classes_are_scored_by_rank():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 10 == 0
    X = rng.normal(size=(300, 3)) + np.array([3.0, 0, 0]) * y[:, None]
    found = select(X, np.where(y, "fraud", "fine"), random_state=0, parameters=FAST)
    assert found.check["metric"] == found.curve["metric"] == "ROC AUC"
    assert found.check["kept"]["score"] > 0.8
    assert "a ROC AUC of 0." in found.sentence


def test_rare_classes_and_few_rows():
    X, y = table(60, 1)
    y = y.astype(object)
    y[:2] = "rare"
    found = select(X, y, random_state=0, parameters=FAST)
    assert found.check["n_rows"] == 58
    assert found.check["classes_left_out"] == ["rare"]
    assert found.sentence.endswith("Classes of fewer than 6 rows were left out of the check: rare.")
    few = select(X[:15], y[:15], random_state=0, parameters=FAST)
    assert few.check is None
    assert few.curve is None
    assert "The check was left out because it needs 20 rows in classes of at least 6" in few.sentence
    assert few.notes == few.to_dict()["notes"] != []
    assert not select(X[:15], y[:15], check=False, random_state=0, parameters=FAST).notes  # as asked


def test_a_search_says_that_it_was_not_checked():
    X, y = table(40, 1)
    found = select(X[["strong", "noise0"]], y, "sfs", 1, random_state=0, parameters={"verbose": 0})
    assert found.notes == ["The check was left out because sfs would take too long to repeat in folds."]


def test_a_column_that_is_too_good_is_pointed_out():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = pd.DataFrame({"paid_back": y + 0.0, "age": rng.normal(size=80), "income": rng.normal(size=80)})
    found = select(X, y, random_state=0, parameters=FAST)
    assert "The best column alone (paid_back) predicts almost perfectly (accuracy 100.0%)" in found.sentence
    assert "leak" in found.notes[0]
    assert "-0.0" not in found.sentence
    assert "a difference of 0.0 points in every fold, too uniform" in found.sentence
    assert "unlikely" not in found.sentence
    assert found.check["difference"] == {"value": 0.0, "low": None, "high": None}
    assert "predicts almost perfectly" in found.to_html()


def test_rows_that_are_there_twice_are_pointed_out():
    X, y = table(120)
    once = select(X, y, random_state=0, parameters=FAST)
    twice = select(pd.concat([X, X[:60]]), np.append(y, y[:60]), random_state=0, parameters=FAST)
    assert not any("copies" in note for note in once.notes)
    assert "60 of 180 rows that the check looked at are copies of others" in " ".join(twice.notes)
    assert twice.sentence.endswith(" ".join(twice.notes))


def test_rows_that_are_equal_by_coincidence_are_no_copies():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(300, 3)).astype(float), rng.integers(0, 2, 300)
    assert count_copies(X, y) == 0  # though most of them are equal to another
    X[:, 0] = rng.normal(size=300)
    assert count_copies(X, y) == 0
    X[200:], y[200:] = X[:100], y[:100]
    assert count_copies(X, y) == 100
    y[200:] = 1 - y[:100]  # another class: another row
    assert count_copies(X, y) == 0


def test_nothing_is_compared_if_every_fold_keeps_all():
    X, y = table(120)
    kept = select(X[["strong", "weak"]], y, "info-gain", 2, random_state=0)
    assert set(kept.check["n_kept"]) == {2}
    assert "it kept all columns every time, and a forest of them has an accuracy of" in kept.sentence
    assert "difference" not in kept.sentence


def test_large_tables_are_checked_on_some_rows(monkeypatch):
    monkeypatch.setattr("foresift.selection.assess.MOST_CELLS", 900)
    monkeypatch.setattr("foresift.selection.assess.LEAST_ROWS", 100)
    X, y = table(400)
    found = select(X, y, random_state=0, parameters=FAST)
    assert 100 <= found.check["n_rows"] <= 120
    assert f"5 folds of {found.check['n_rows']} of the 400 rows" in found.sentence


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
    assert found.method["order"] == "by how far the score is above what chance gives"
    above = [row["score"] - row["chance"] for row in found.ranking]
    assert above == sorted(above, reverse=True)
    assert [row["name"] for row in found.ranking] == [X.columns[j] for j in order_of(found.selector_)]


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
    assert found.sentence.startswith("None of 3 columns is relevant")
    assert found.check["kept"]["score"] <= 0.65  # the commonest class, where nothing is kept
    assert f"always saying the commonest class {found.check['baseline']:.1%}." in found.sentence
    assert found.check["baseline"] == 0.5
    assert "growing a forest has" not in found.sentence
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
        (("table.csv", [0, 1]), TypeError, "read 'table.csv' first, as with pandas.read_csv"),
        (([[1], [2]], "kind"), TypeError, r"not the name of a column: select\(X.drop\(columns='kind'\)"),
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
    with pytest.warns(UserWarning, match="alpha and error changed nothing: info-gain has no test"):
        select(X, y, "info-gain", alpha=0.01, error="fwer", check=False)
    found = select(X, y, "relevance", alpha=0.2, error="fwer", check=False, random_state=0, parameters=FAST)
    assert (found.method["alpha"], found.method["error"]) == (0.2, "fwer")
    assert "0.1" not in found.method["title"]


def test_without_a_check_nothing_is_kept_that_tells_the_same_as_a_better_one():
    X, y = table(100)
    found = select(X, y, random_state=0, check=False)
    kept = [row for row in found.ranking if row["kept"]]
    assert {"strong", "copy"} & set(found.features)
    assert all(row["relevant"] and row["redundant_with"] is None for row in kept)
    assert len(kept) < sum(row["relevant"] for row in found.ranking)


def test_shown_in_one_line():
    X, y = table(60)
    shown = repr(select(X, y, "info-gain", 4, check=False))
    assert shown.startswith("<Selection by info-gain: 4 of 8 columns kept: '")
    assert shown.endswith(", ...>")
    assert "\n" not in shown


def assessed(kept=0.775, full=0.79, low=-0.06, high=0.03, chosen=2, alone=0.7):
    """What folds could have told of three columns."""
    curve = SizeCurve(np.arange(1, 4), np.tile([alone, 0.79, 0.79], (5, 1)), chosen)
    estimates = Estimate(full, 0.7, 0.8), Estimate(kept, 0.7, 0.8), Estimate(kept - full, low, high)
    return Assessment(
        "accuracy", curve, Check(*estimates), plan_for(100, 3), 100, 0.2, np.array([1, 2, 2, 2, 3]), 0.5
    )


def said(n_relevant, n_kept, *, n=3, n_wanted=None, doubles=0, **more):
    ranking = [
        {"name": f"c{i}", "relevant": i < n_relevant, "kept": i < n_kept, "redundant_with": None}
        for i in range(n)
    ]
    for row in ranking[n_relevant - doubles : n_relevant]:
        row["redundant_with"] = "c0"
    method = {"key": "auto", "title": "", "error": "fdr", "alpha": 0.1}
    return say(ranking, method, n_wanted, {"n_rows": 100, "classes": []}, assessed(**more))


def test_a_loss_that_was_seen_is_not_denied():
    whole = said(3, 2).whole
    assert whole.startswith("2 of 3 columns are enough; 3 are relevant.")
    assert "it kept 1 to 3 columns" in whole
    assert (
        "-1.5 points (95 % interval -6.0 to +3.0), so no loss can be shown, and one of more than 6.0" in whole
    )
    assert "no loss was seen" not in whole
    assert "costs something" in said(3, 2, low=-0.06, high=-0.01).whole
    assert "helps" in said(3, 2, kept=0.82, low=0.01, high=0.05).whole


def test_a_curve_that_wants_more_than_is_relevant_is_not_kept_quiet():
    assert "By the curve of sizes 3 columns would do better, but no more are relevant." in (
        said(2, 2, chosen=3).details
    )
    assert said(2, 2, chosen=3).verdict == "2 of 3 columns are relevant and kept."
    assert said(1, 1, chosen=1).verdict == "1 of 3 columns is relevant and kept."
    assert said(0, 2, n_wanted=2).verdict == "The best 2 of 3 columns are kept, as asked; none is relevant."


def test_columns_that_tell_the_same_and_are_kept_are_explained():
    """Or a reader asks why what is told already is kept, and how to be rid of it."""
    without = (
        "tell the same as a better one, but fewer columns score less; to have none of that kind, ask for"
    )
    assert f"2 of those kept {without} 1 column." in said(3, 3, doubles=2, chosen=3).details
    one = said(3, 2, doubles=2).details
    assert "The best 2 are within one standard error of the best size." in one
    assert f"1 of those kept {without.replace('tell', 'tells', 1)} 1 column." in one
    for other in (
        said(3, 1, doubles=2, chosen=1),  # none of them is kept
        said(3, 3, doubles=2, n_wanted=3),  # as asked
        said(2, 2, doubles=1, chosen=3),  # all that are relevant, and smaller sizes were not compared with it
    ):
        assert "of those kept" not in other.whole


def test_sizes_are_those_of_every_selector():
    assert [p["n"] for p in select(*table(60, 8), "info-gain", 2, random_state=0).curve["points"]] == [
        *range(1, 13)
    ]
