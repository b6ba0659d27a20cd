"""What `select` keeps by its goal, also if nothing is significant, and how much of it is false."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from power import few_or_many
from scipy.stats import ttest_1samp
from selection_cases import FAST, table

from foresift import InfoGainSelector, RelevanceSelector, select
from foresift.evaluation.select import choosing
from foresift.evaluation.select.by_loss import Choice
from foresift.evaluation.select.choosing import Work
from foresift.evaluation.select.fitted import order_of
from foresift.evaluation.select.resample import Resampled
from foresift.stats import selection_stability

pytestmark = pytest.mark.usefixtures("small_forests")


@pytest.fixture(scope="module")
def by_goal():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 6)), columns=["cause", "near", "far", "n0", "n1", "n2"])
    X["near"], X["far"] = X["cause"] + 0.3 * X["near"], X["cause"] + X["far"]
    y = (X["cause"] > 0).to_numpy()
    return {goal: select(X, y, goal=goal, random_state=0, parameters=FAST) for goal in ("compact", "all")}


def relevant_in(found):
    return [row["name"] for row in found.ranking if row["relevant"]]


def test_all_keeps_every_relevant_column(by_goal):
    found = by_goal["all"]
    assert found.features == relevant_in(found)
    assert set(found.features) == {"cause", "near", "far"}
    assert found.method["goal"] == "all"
    assert found.method["title"] == "relevance test; every relevant column is kept"
    assert "The goal was to keep every relevant column." in found.details
    assert found.verdict == "3 of 6 columns are relevant and kept."
    assert found.certainty == "clear"


def test_compact_keeps_the_first_of_them(by_goal):
    found = by_goal["compact"]
    assert found.method["goal"] == "compact"
    assert found.features == relevant_in(found)[: found.curve["by_rule"]] == ["cause"]
    assert "The aim was one relevant column of each redundant group" in found.sentence
    assert found.verdict == "1 of 6 columns is enough; 3 are relevant."
    assert found.certainty == "clear"


@pytest.mark.parametrize(
    ("suggested", "few", "n_kept"),
    [(1, 30, 4), (4, 30, 4), (5, 30, 5), (9, 30, 6), (1, 3, 3), (5, 3, 5), (9, 3, 6)],
)
def test_the_curve_adds_redundant_columns_and_leaves_out_others_only_of_many(
    monkeypatch, suggested, few, n_kept
):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 9))
    y = (X[:, :4].sum(axis=1) > 0).astype(int)
    X[:, 4:6] = X[:, :2] + 0.5 * rng.normal(size=(400, 2))
    fitted = RelevanceSelector(random_state=0, **FAST).fit(X, y)
    assert fitted.representative_.sum() == 4
    assert fitted.relevant_.sum() == 6
    monkeypatch.setattr(choosing, "FEW", few)
    work = Work(None, fitted, "auto", "compact", None, 0, None, print)
    kept = work.keep(fitted, Choice(suggested, True))
    assert kept.tolist() == order_of(fitted)[:n_kept].tolist()


@pytest.mark.parametrize(("predicts", "n_kept"), [(True, 5), (False, 2)])
def test_of_a_quantity_columns_that_do_not_pass_are_kept_only_if_they_predict(predicts, n_kept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = X[:, 0] + X[:, 1] + rng.normal(size=300)
    fitted = RelevanceSelector(random_state=0, **FAST).fit(X, y)
    assert fitted.relevant_.sum() == 2
    rows = SimpleNamespace(table=SimpleNamespace(dependence=None))
    work = Work(rows, fitted, "auto", "compact", None, 0, None, print)
    assert len(work.keep(fitted, Choice(5, predicts, 2))) == n_kept
    assert len(work.keep(fitted, Choice(5, predicts, 1))) == 2  # the relevant ones are enough


def test_the_goal_changes_neither_test_nor_curve(by_goal):
    compact, whole = (by_goal[goal].to_dict() for goal in ("compact", "all"))
    for part in ("curve", "stability"):
        assert {**compact[part], "chosen": 0} == {**whole[part], "chosen": 0}
    for one, other in zip(compact["features"], whole["features"], strict=True):
        assert {**one, "kept": None} == {**other, "kept": None}


def test_only_compact_repeats_the_choice_in_inner_folds():
    steps = {}
    for goal in ("compact", "all"):
        X, y = table(60, 1)
        told = steps[goal] = []
        select(X, y, goal=goal, random_state=0, parameters=FAST, tell=lambda *args, t=told: t.append(args))
    assert ("checking", 15, 0) in steps["compact"]
    assert ("checking", 5, 0) in steps["all"]


def test_without_a_check_each_goal_keeps_what_the_test_tells():
    X, y = table(150)
    compact, whole = (
        select(X, y, goal=goal, check=False, random_state=0, parameters=FAST) for goal in ("compact", "all")
    )
    assert whole.features == relevant_in(whole)
    kept = [row for row in compact.ranking if row["kept"]]
    assert len(kept) == compact.selector_.representative_.sum() < len(whole.features)
    assert all(row["redundant_with"] is None for row in kept)
    assert compact.certainty is whole.certainty is None
    n_kept, n_relevant = len(kept), len(whole.features)
    said = f'{"columns are" if n_kept > 1 else "column is"} enough was not checked; goal="all" keeps all'
    assert f"Whether {n_kept} {said} {n_relevant}." in compact.notes
    assert not any("not checked" in note for note in whole.notes)


def test_certainty_is_in_the_dictionary_and_the_report(by_goal):
    for found in by_goal.values():
        plain = json.loads(json.dumps(found.to_dict()))
        assert plain["certainty"] == found.certainty
        assert found.certainty in ("clear", "provisional", "too few rows")
        assert "certainty of this answer" in found.to_html()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"goal": "small"}, "goal must be one of compact, all, but is 'small'."),
        ({"goal": None}, "goal must be one of compact, all, but is None."),
        (
            {"goal": "all", "method": "relevance"},
            "goal='all' is for the method auto, not for relevance: leave it out, or use auto.",
        ),
        (
            {"goal": "all", "method": InfoGainSelector()},
            "goal='all' is for the method auto, not for InfoGainSelector: leave it out, or use auto.",
        ),
        (
            {"goal": "all", "n_features_to_select": 3},
            "goal='all' keeps every relevant column, so n_features_to_select cannot be 3 too: leave out one"
            " of them.",
        ),
    ],
)
def test_a_goal_that_cannot_be_is_refused(arguments, message):
    X, y = table(40)
    with pytest.raises(ValueError) as raised:
        select(X, y, **arguments)
    assert str(raised.value) == message


def test_the_usual_goal_goes_with_any_method():
    X, y = table(60)
    assert select(X, y, "info-gain", 2, goal="compact", check=False).method["goal"] is None
    found = select(X, y, n_features_to_select=2, check=False, random_state=0, parameters=FAST)
    assert found.method["goal"] is None
    assert found.method["title"] == "relevance test"


def test_many_weak_columns_are_kept_though_none_is_significant():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 100))
    y = (X.sum(axis=1) > 0).astype(int)
    found = select(X, y, error="fwer", alpha=0.01, random_state=0, parameters=FAST)
    assert not any(row["relevant"] for row in found.ranking)
    assert len(found.features) == found.curve["by_rule"] > 1
    assert [row["kept"] for row in found.ranking].index(False) == len(found.features)  # the best of them
    assert (
        f"the best {len(found.features)} together predict better than chance and are kept." in found.verdict
    )
    assert found.certainty != "clear"
    assert "no error rate holds for them." in found.sentence
    assert "no column is significant alone" in found.sentence
    every = select(X, y, goal="all", error="fwer", alpha=0.01, random_state=0, parameters=FAST)
    assert every.features == []


def test_what_no_subsample_finds_again_is_not_clear(monkeypatch):
    """Of subsamples that all select nothing there is no stability, and that is no sign of a stable answer."""

    def nothing(self):
        n_columns = self.rows.table.n_columns
        passed, none = np.zeros((4, n_columns), dtype=bool), np.zeros(n_columns)
        return Resampled(none, selection_stability(passed), none, passed)

    monkeypatch.setattr(Work, "resample", nothing)
    found = select(*table(150), random_state=0, parameters=FAST)
    assert len(relevant_in(found)) > 0
    assert found.stability is None
    assert found.certainty == "too few rows"
    assert "subsamples do not select the same columns (stability 0.00)" in found.sentence


@pytest.mark.parametrize("goal", ["compact", "all"])
def test_noise_is_not_kept(goal):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 20)), np.arange(300) % 2
    found = select(X, y, goal=goal, random_state=0, parameters=FAST)
    assert found.features == []
    assert "one of the 20 columns is significant; none is kept." in found.verdict


@few_or_many(4, 60)
def test_share_of_false_columns_in_what_is_kept(n_tables):
    """Five columns matter, two of them with a proxy, and 40 are noise; seeds that nothing was tuned on."""
    false = {"compact": [], "all": []}
    for seed in range(5000, 5000 + n_tables):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(250, 47))
        y = (X[:, :5] @ [1.5, 1.2, 0.9, 0.7, 0.5] + rng.normal(size=250) > 0).astype(int)
        X[:, 5:7] = X[:, :2] + 0.5 * rng.normal(size=(250, 2))
        for goal, shares in false.items():
            kept = [int(name[1:]) for name in select(X, y, goal=goal, random_state=seed).features]
            assert {0, 1, 5, 6} & set(kept)
            shares.append(np.mean([j >= 7 for j in kept]))
    for goal, shares in false.items():
        assert np.mean(shares) <= 0.1 or ttest_1samp(shares, 0.1, alternative="greater").pvalue > 0.001, goal


@few_or_many(5, 100)
def test_noise_is_rarely_kept(n_tables):
    """By chance nothing passes in nine of ten tables, and the best of them seldom seem to predict."""
    n_kept = 0
    for seed in range(6000, 6000 + n_tables):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(120, 10)), rng.integers(0, 2, 120)
        n_kept += bool(select(X, y, random_state=seed, parameters=FAST).features)
    assert n_kept <= (2 if n_tables == 5 else 20)
