"""What select says in words: losses, sizes, redundant columns, leaks and duplicate rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from selection_cases import FAST, judge, table
from sklearn.feature_selection import SelectKBest, f_regression, mutual_info_classif

from foresift import select
from foresift.evaluation.select.assess import Assessment, Check, Rival
from foresift.evaluation.select.by_loss import Choice
from foresift.evaluation.select.certainty import certainty_of
from foresift.evaluation.select.choosing import count_copies
from foresift.evaluation.select.models import Model
from foresift.evaluation.select.plan import plan_for
from foresift.evaluation.select.sentences import say
from foresift.selectors.size_cv import SizeCurve
from foresift.stats import Estimate

pytestmark = pytest.mark.usefixtures("small_forests")


def test_a_column_that_is_too_good_is_pointed_out():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = pd.DataFrame({"paid_back": y + 0.0, "age": rng.normal(size=80), "income": rng.normal(size=80)})
    found = select(X, y, random_state=0, parameters=FAST)
    assert "The best column alone (paid_back) predicts almost perfectly (accuracy 100.0 %)" in found.sentence
    assert "leak" in found.notes[0]
    assert "-0.0" not in found.sentence
    assert "The difference is 0.0 points in every fold, so there is no interval." in found.sentence
    assert found.check["difference"] == {"value": 0.0, "low": None, "high": None}
    assert "predicts almost perfectly" in found.to_html()


LEAKS = {
    "classes": lambda y, rng: (y % 2, y % 2 + 0.0, "accuracy 100.0 %"),
    "rare class": lambda y, rng: (
        y % 10 == 0,
        np.where(y % 10 == 0, "x", "y").astype(object),
        "ROC AUC 1.000",
    ),
    "quantity": lambda y, rng: (y + 0.5, y * 3.0 + 0.01 * rng.normal(size=len(y)), "R2 1.000"),
}


@pytest.mark.parametrize("method", ["auto", "relieff", "forest-gain", "k best"])
@pytest.mark.parametrize("case", LEAKS)
def test_leaks_are_pointed_out_without_the_check(case, method):
    rng = np.random.default_rng(0)
    y, leak, score = LEAKS[case](rng.permutation(300), rng)
    others = pd.DataFrame({"age": rng.normal(size=300), "income": rng.normal(size=300)})
    X = others.assign(paid_back=leak)
    if method == "k best":
        method = SelectKBest(f_regression if case == "quantity" else mutual_info_classif, k=1)
        if case == "rare class":
            X["paid_back"] = X["paid_back"] == "x"
    found = select(X, y, method, check=False, random_state=0)
    (note,) = (note for note in found.notes if "leak" in note)
    assert note == (
        f"The best column alone (paid_back) predicts almost perfectly ({score}). It may be a leak: check that"
        " it is known when the prediction is made."
    )
    for some in (others, others.assign(paid_back=rng.permutation(leak))):
        assert not any("leak" in note for note in select(some, y, check=False, random_state=0).notes)


KNOWN_FOR_ONE_CLASS = {
    "categories": lambda n, rng: rng.choice(["price", "moved", "service"], n).astype(object),
    "text of every row": lambda n, rng: np.array([f"because {i}" for i in range(n)], dtype=object),
    "numbers": lambda n, rng: rng.normal(size=n),
}


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("case", KNOWN_FOR_ONE_CLASS)
def test_a_column_that_is_missing_in_one_class_is_a_leak(case, check):
    """Columns that are as good in small samples must not hide it: the first column differs between folds."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 600)
    X = pd.DataFrame(rng.normal(size=(600, 4)), columns=[*"abcd"])
    X["a"] += 2.0 * y
    X["b"] += 1.5 * y
    X["reason"] = KNOWN_FOR_ONE_CLASS[case](600, rng)
    X.loc[y == 0, "reason"] = None
    found = select(X, y, check=check, random_state=0, parameters=FAST)
    (note,) = (note for note in found.notes if "leak" in note)
    assert "reason" in note
    assert "accuracy 100.0 %" in note


@pytest.mark.parametrize("check", [False, True])
def test_columns_with_gaps_at_random_and_strong_ones_are_no_leaks(check):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 600)
    X = pd.DataFrame({"a": 3.0 * y + rng.normal(size=600), "b": rng.normal(size=600)})
    X["text"] = pd.Series([f"t{i}" for i in range(600)], dtype=object)
    X["kind"] = np.where(rng.random(600) < 0.9, y, 1 - y).astype(str)
    X = X.mask(rng.random(X.shape) < 0.3)
    found = select(X, y, check=check, random_state=0, parameters=FAST)
    assert not any("leak" in note for note in found.notes)


@pytest.mark.parametrize("how", [{"time": np.arange(120)}, {"groups": np.arange(120) // 4}], ids=list)
def test_leaks_of_dependent_rows(how):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = pd.DataFrame({"paid_back": y, "age": rng.normal(size=120)})
    assert (
        "(paid_back) predicts almost perfectly" in select(X, y, check=False, random_state=0, **how).sentence
    )


@pytest.mark.parametrize("check", [False, True])
def test_a_category_that_gives_a_quantity_away_is_a_leak_wherever_it_ranks(check):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random(size=(300, 3)), columns=["a", "b", "c"])
    y = X["a"] + 0.5 * rng.random(size=300)
    X["row"] = [f"r{i}" for i in range(300)]  # a value for every row predicts nothing
    X["grade"] = pd.cut(y, 20).astype(str)
    found = select(X, y, "relevance", 1, check=check, random_state=0, parameters=FAST)
    (note,) = (note for note in found.notes if "leak" in note)
    assert note.startswith("The best column alone (grade) predicts almost perfectly (R2 0.99")
    X["copy"] = y
    found = select(X, y, "info-gain", 1, check=check, random_state=0)
    (note,) = (note for note in found.notes if "leak" in note)
    assert note.startswith("2 columns predict almost perfectly alone: copy (R2 ")
    assert ", grade (R2 0.99" in note
    assert "They may be leaks" in note


def test_a_text_column_that_fixes_the_class_is_a_leak_beside_columns_that_are_kept():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = pd.DataFrame({"a": y + rng.normal(size=400), "id": [f"i{i}" for i in range(400)]})
    X["branch"] = [f"b{5 * one + more}" for one, more in zip(y, rng.integers(0, 5, 400), strict=True)]
    for how in ({}, {"keep": ["a"]}):
        notes = select(X, y, "relieff", 1, check=False, random_state=0, **how).notes
        (note,) = (note for note in notes if "leak" in note)
        assert "branch" in note
        assert "(accuracy 100.0 %)" in note


def test_a_leak_of_a_group_and_beside_kept_columns_and_of_few_rows():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = pd.DataFrame({"a": y // 2, "b": y % 2, "c": rng.normal(size=90), "d": rng.normal(size=90)})
    grouped = {"feature_groups": {"ab": ["a", "b"]}, "check": False, "random_state": 0}
    found = select(X, y, **grouped, parameters=FAST)
    assert "The best group alone (ab) predicts almost perfectly (accuracy 100.0 %)" in found.sentence
    assert "leak" not in select(X, y, **grouped, keep=["c"], parameters=FAST).sentence
    assert "leak" not in select(X[:12], y[:12], "info-gain", 1, check=False).sentence  # too few to say


def test_rows_that_are_there_twice_are_pointed_out():
    X, y = table(120)
    once = select(X, y, random_state=0, parameters=FAST)
    twice = select(pd.concat([X, X[:60]]), np.append(y, y[:60]), random_state=0, parameters=FAST)
    assert not any("duplicates" in note for note in once.notes)
    assert "60 of the 180 rows used in the check are duplicates" in " ".join(twice.notes)
    assert twice.sentence.endswith(" ".join(twice.notes))
    notes = select(pd.concat([X, X[:60]]), np.append(y, y[:60]), "info-gain", 1, check=False).notes
    assert "60 of the 180 rows inspected are duplicates, which count more than once. Drop them." in notes
    assert not any("duplicates" in note for note in select(X, y, "info-gain", 1, check=False).notes)


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


def assessed(kept=0.775, full=0.79, low=-0.06, high=0.03, chosen=2, alone=0.7, n_rows=400, metric="accuracy"):
    """What folds could have told of three columns."""
    curve = SizeCurve(np.arange(1, 4), np.tile([alone, 0.79, 0.79], (5, 1)), chosen)
    estimates = Estimate(full, 0.7, 0.8), Estimate(kept, 0.7, 0.8), Estimate(kept - full, low, high)
    about = plan_for(n_rows, 3), n_rows, 0.2, np.array([1, 2, 2, 2, 3]), 0.5
    return Assessment(judge(metric), Model(), curve, Choice(chosen, True), Check(*estimates), *about)


def said(n_relevant, n_kept, *, n=3, n_wanted=None, doubles=0, key="auto", goal="compact", **more):
    ranking = [
        {"name": f"c{i}", "relevant": i < n_relevant, "kept": i < n_kept, "redundant_with": None}
        for i in range(n)
    ]
    for row in ranking[n_relevant - doubles : n_relevant]:
        row["redundant_with"] = "c0"
    method = {"key": key, "title": "", "goal": goal, "error": "fdr", "alpha": 0.1}
    a = assessed(**more)
    certainty = certainty_of(a, None, significant=n_relevant > 0 or not n_kept)
    return say(ranking, method, n_wanted, {"n_rows": a.n_rows, "classes": []}, a, certainty)


def whole(*args, **more):
    verdict, details, notes = said(*args, **more)
    return " ".join([verdict, *details, *notes])


CLEAR, SOME, FEW = {"low": -0.01}, {}, {"n_rows": 60}  # levels of certainty
WORSE = {"high": -0.01}


@pytest.mark.parametrize(
    ("counts", "more", "verdict"),
    [
        ((3, 2), CLEAR, "2 of 3 columns are enough; 3 are relevant."),
        ((3, 2), SOME, "Provisional: 2 of 3 columns seem enough; 3 are relevant."),
        ((3, 2), FEW, "Too few rows to say whether 2 of 3 columns are enough; 3 are relevant."),
        (
            (3, 2),
            WORSE,
            "2 of 3 columns are kept, but a forest on all columns predicts better; 3 are relevant.",
        ),
        ((3, 1), SOME, "Provisional: 1 of 3 columns seems enough; 3 are relevant."),
        ((2, 2), CLEAR, "2 of 3 columns are relevant, and they are enough."),
        ((1, 1), CLEAR, "1 of 3 columns is relevant, and it is enough."),
        ((2, 2), SOME, "Provisional: 2 of 3 columns are relevant, and they seem enough."),
        ((2, 2), FEW, "Too few rows to say whether the 2 relevant of 3 columns are enough."),
        ((2, 2), WORSE, "2 of 3 columns are relevant and kept, but a forest on all columns predicts better."),
        ((0, 0), CLEAR, "None of the 3 columns is significant; none is kept."),
        (
            (0, 0),
            FEW,
            "Too few rows to say which columns matter: none of the 3 columns is significant; none is kept.",
        ),
        (
            (0, 2),
            CLEAR,
            "Provisional: none of the 3 columns is significant alone, but the best 2 together predict better"
            " than chance and are kept.",
        ),
        (
            (0, 1),
            FEW,
            "Too few rows to say which columns matter: none of the 3 columns is significant alone, but the"
            " best one predicts better than chance and is kept.",
        ),
        (
            (0, 3),
            SOME,
            "Provisional: none of the 3 columns is significant alone, but all together predict better than"
            " chance and are kept.",
        ),
        ((2, 2), CLEAR | {"goal": "all"}, "2 of 3 columns are relevant and kept."),
        ((2, 2), SOME | {"goal": "all"}, "Provisional: 2 of 3 columns are relevant and kept."),
        ((2, 2), FEW | {"goal": "all"}, "Too few rows to be certain: 2 of 3 columns are relevant and kept."),
        ((3, 2), CLEAR | {"key": "relevance", "goal": None}, "3 of 3 columns are relevant; 2 are kept."),
        ((0, 2), {"n_wanted": 2}, "The best 2 of 3 columns are kept, as requested; none is relevant."),
        ((3, 1), {"n_wanted": 1}, "The best 1 of 3 columns is kept, as requested; 3 are relevant."),
    ],
)
def test_verdicts(counts, more, verdict):
    assert said(*counts, **more).verdict == verdict


def test_a_loss_that_was_seen_is_not_denied():
    assert "Each fold kept 1 to 3 columns." in whole(3, 2)
    assert (
        "In nested 5-fold cross-validation a forest on the selected columns reaches 77.5 % accuracy, a"
        " forest on all columns 79.0 %. The difference, -1.5 points (95 % interval -6.0 to +3.0), is not"
        " significant."
    ) in whole(3, 2)
    assert "is significant: the other columns are needed." in whole(3, 2, low=-0.06, high=-0.01)
    assert "improves without the other columns" in whole(3, 2, kept=0.82, low=0.01, high=0.05)


def test_doubts_are_said_with_what_to_do():
    why = "This is provisional: a loss of up to 6.0 points cannot be excluded. More rows would settle it."
    assert said(3, 2).details[-1] == why
    assert "a loss of up to 0.060 in ROC AUC cannot" in said(3, 2, metric="ROC AUC").details[-1]
    assert said(0, 2, n_rows=60).details[-1] == (
        "There are too few rows to be certain: the check has only 60 rows, no column is significant alone and"
        " a loss of up to 6.0 points cannot be excluded. More rows would settle it."
    )
    assert "More rows" not in whole(3, 2, **CLEAR)
    assert "More rows" not in whole(3, 2, **WORSE)


def test_boosting_must_beat_the_better_of_both_forests():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    found = select(X, y, "info-gain", 2, random_state=0)
    boosting, forest = found.check["boosting"]["score"], found.check["kept"]["score"]
    assert found.check["full"]["score"] < boosting < forest
    assert found.check["boosting_difference"]["value"] == pytest.approx(boosting - forest)
    assert not any("Gradient boosting" in note for note in found.notes)


def test_boosting_is_compared_with_the_forest_that_is_better():
    rival = Rival(Estimate(0.85, 0.8, 0.9), Estimate(0.03, 0.01, 0.05))
    about = {"certainty": None, "data": {"n_rows": 400, "classes": []}, "n_wanted": None}
    method = {"key": "auto", "title": "", "goal": "compact", "error": "fdr", "alpha": 0.1}
    ranking = [{"name": "c", "relevant": True, "kept": True, "redundant_with": None}]
    for kept, forest in ((0.82, "82.0 % with the selected ones"), (0.775, "79.0 %")):
        a = replace(assessed(kept=kept), rival=rival)
        (note,) = say(ranking, method, assessment=a, **about).notes
        assert f"85.0 % accuracy with all columns, the forest {forest}. Check" in note


def test_the_goal_is_said():
    compact = (
        "The aim was one relevant column of each redundant group, and more where models predict better with"
        " them."
    )
    best = "The Brier score of a forest on the best {} is close to the lowest of all sizes."
    assert {compact, best.format("2 columns")} <= set(said(3, 2).details)
    assert {compact, best.format("column")} <= set(said(3, 1, chosen=1).details)
    assert "The goal was to keep every relevant column." in said(2, 2, goal="all").details
    for other in (whole(3, 2, n_wanted=2), whole(3, 3, key="relevance", goal=None), whole(0, 0)):
        assert "goal" not in other


def test_columns_that_did_not_pass_are_marked():
    said_so = (
        "The kept columns were chosen by the Brier score of held-out rows: no error rate holds for them."
    )
    assert said_so in said(0, 2).details
    assert said_so not in whole(0, 0)
    assert said_so not in whole(3, 2)


def test_a_curve_that_wants_more_than_is_relevant_is_not_kept_quiet():
    assert "The size curve suggests 3 columns, but only 2 are relevant." in said(2, 2, chosen=3).details
    assert "The size curve suggests 3 columns, but only 1 is relevant." in said(1, 1, chosen=3).details


def test_a_curve_that_the_kept_columns_do_not_reach_is_told():
    """The check scores the procedure, which may keep more columns in the folds."""
    reached = "The size curve reaches 55.0 % accuracy with 1 column, as many as are kept here."
    assert reached in said(1, 1, chosen=1, alone=0.55).details
    assert "as are kept here" not in whole(1, 1, chosen=1, alone=0.75)
    assert "as are kept here" not in whole(2, 2, alone=0.55)
    assert "as are kept here" not in whole(0, 0, alone=0.55)


def test_columns_that_the_curve_would_leave_out_are_explained():
    but = "but 2 are kept because they are not redundant."
    assert f"The size curve suggests 1 column, {but}" in said(3, 2, chosen=1).details
    assert f"The size curve suggests 1 column, {but}" in said(3, 2, doubles=1, chosen=1).details
    assert "suggests" not in whole(3, 2, chosen=2)


def test_redundant_columns_that_are_kept_are_explained():
    """Or a reader asks why they are kept, and how to be rid of them."""
    without = (
        "redundant with a better one, but forests on fewer columns predict worse. To leave redundant columns"
        " out, request"
    )
    assert f"2 of the kept columns are {without} 1 column." in said(3, 3, doubles=2, chosen=3).details
    assert f"1 of the kept columns is {without} 2 columns." in said(4, 3, n=5, doubles=2, chosen=3).details
    for other in (
        whole(3, 1, doubles=2, chosen=1),  # none of them is kept
        whole(3, 3, doubles=2, n_wanted=3),  # as asked
        whole(2, 2, doubles=1, chosen=3),  # all that are relevant
        whole(3, 3, doubles=2, goal="all"),  # as asked
    ):
        assert "of the kept columns" not in other
