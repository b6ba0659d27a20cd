"""Comparisons: chance is chance, intervals and tests are what they say, and every input finds its words."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.feature_selection import RFE, RFECV, SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from foresift import C45Classifier, InfoGainSelector, RandomSelector, SiftForestClassifier
from foresift.evaluation.compare import Comparison, compare, make_method
from foresift.evaluation.compare.stored import stored_comparison
from foresift.evaluation.compare.summary import selection_shares, summarise
from foresift.evaluation.harness.evaluate import Protocol, plan_scores, selected
from foresift.evaluation.harness.run import run
from foresift.evaluation.harness.store import Store
from foresift.evaluation.harness.tasks import Data
from foresift.evaluation.registry import METHODS
from foresift.stats.stability import selection_stability

# --- intervals, tests, stability, against formulas written out ---


@pytest.fixture(scope="module")
def found():
    X, y = make_classification(150, 12, n_informative=3, n_redundant=0, shuffle=False, random_state=1)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(12)])
    data, store = Data.of("made", frame, y), Store(":memory:")
    methods = {"none": None, "gain": InfoGainSelector(), "random": RandomSelector()}
    jobs = plan_scores(
        data, methods, {"nb": GaussianNB(), "tree": DecisionTreeClassifier()}, Protocol(5, 4, [2, 6])
    )
    run(jobs, [data], store)
    records = store.records(unit for job in jobs for unit in job.units)
    return summarise(records, {data.checksum: 12}), records, data


def scores_of(records, row):
    some = [r for r in records if (r.unit.method, r.unit.classifier) == (row.method, row.classifier)]
    return {(r.unit.repeat, r.unit.fold): r.scores[row.scorer][row.size] for r in some}


def corrected(differences, ratio):
    """Nadeau & Bengio's t, written out."""
    n = len(differences)
    return np.mean(differences) / math.sqrt((1 / n + ratio) * np.var(differences, ddof=1))


def test_intervals_are_nadeau_and_bengios(found):
    rows, records, _ = found
    assert len(rows) == 2 * (1 + 2 + 2)
    for row in rows:
        values = np.array(list(scores_of(records, row).values()))
        assert row.n == len(values) == 20
        assert row.mean == pytest.approx(values.mean(), abs=1e-15)
        half = scipy_stats.t.ppf(0.975, 19) * math.sqrt((1 / 20 + 30 / 120) * np.var(values, ddof=1))
        assert row.upper - row.mean == pytest.approx(half, rel=1e-12)
        assert row.mean - row.lower == pytest.approx(half, rel=1e-12)


def adjusted_by_holm(raw):
    adjusted, top = {}, 0.0
    for place, key in enumerate(sorted(raw, key=raw.get)):
        top = adjusted[key] = max(top, min(1.0, (len(raw) - place) * raw[key]))
    return adjusted


@pytest.mark.parametrize("against", ["best", "none"])
def test_pvalues_are_adjusted_within_a_classifier(found, against):
    rows, records, _ = found
    for classifier in ("nb", "tree"):
        family = [row for row in rows if row.classifier == classifier]
        assert [row.best for row in family].count(True) == 1
        base = next(row for row in family if (row.best if against == "best" else row.method == "none"))
        if against == "best":
            assert base.mean == max(row.mean for row in family)
        raw = {}
        for k, row in enumerate(family):
            if row is not base:
                a, b = scores_of(records, row), scores_of(records, base)
                t = corrected([a[trial] - b[trial] for trial in a], 30 / 120)
                raw[k] = 2 * scipy_stats.t.sf(abs(t), 19)
        adjusted = adjusted_by_holm(raw)
        assert len(raw) == 4
        for k, row in enumerate(family):
            value = row.p_best if against == "best" else row.p_none
            if row is base:
                assert math.isnan(value)
            else:
                assert value == pytest.approx(adjusted[k], rel=1e-9)
            if against == "best":
                assert row is base or row.p_best_alone == pytest.approx(raw[k], rel=1e-9)


def test_stability_is_that_of_the_selections(found):
    rows, records, _ = found
    for row in rows:
        if row.method == "none":
            assert math.isnan(row.stability)
            assert row.n_features == 12
            continue
        masks = np.zeros((20, 12), dtype=bool)
        some = [r for r in records if (r.unit.method, r.unit.classifier) == (row.method, row.classifier)]
        for mask, record in zip(masks, some, strict=True):
            mask[selected(record.features, row.size)] = True
        assert row.stability == selection_stability(masks).value
        assert row.n_features == int(row.size)
    gain, random = (
        next(r for r in rows if r.method == m and r.size == "2").stability for m in ("gain", "random")
    )
    assert gain > random


def test_shares_of_the_splits(found):
    _, records, data = found
    shares = selection_shares(records, data.features)
    assert set(shares) == {"gain", "random"}
    assert sum(shares["gain"]["2"].values()) == pytest.approx(2)
    best = next(iter(shares["gain"]["2"]))
    gains = [r for r in records if r.unit.method == "gain"]
    picked = [best in [data.features[j] for j in selected(r.features, "2")] for r in gains]
    assert shares["gain"]["2"][best] == np.mean(picked)


# --- what goes in ---


def test_everything_can_be_given_as_names_estimators_or_pairs():
    X, y = load_iris(return_X_y=True, as_frame=True)
    result = compare(
        X,
        y,
        ["fscore", SelectKBest(k=2), ("two", RandomSelector(2))],
        [GaussianNB(), "c45"],
        cv=0.3,
        repeats=3,
        scoring=["accuracy", "neg_log_loss"],
    )
    assert {row.method for row in result.rows} == {"none", "fscore", "SelectKBest", "two"}
    assert {row.classifier for row in result.rows} == {"GaussianNB", "c45"}
    assert len(result.rows) == 16
    assert result.best("c45").classifier == "c45"
    assert result.best(scorer="neg_log_loss").scorer == "neg_log_loss"
    with pytest.raises(ValueError, match="no results"):
        result.best("svm")


def test_comparison_as_dict_frame_and_text():
    X, y = load_iris(return_X_y=True, as_frame=True)
    methods = ["info-gain", ("bad[/]", SelectKBest("nonsense"))]
    result = compare(X, y, methods, "nb", sizes=[1, 2], cv=3, name="[bold]iris")
    assert isinstance(result, Comparison)
    again = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert again["about"]["features"] == list(X.columns)
    assert again["rows"][0]["stability"] is None
    assert again["failures"][0]["count"] == 3
    assert list(again["selected"]["info-gain"]) == ["1", "2"]
    frame = result.to_frame()
    assert frame.shape[0] == 3
    text = str(result)
    for part in (
        "[bold]iris: 150 rows, 4 columns; 3 stratified folds",
        "info-gain",
        "none",
        "bad[/]",
        "Failed 3",
    ):
        assert part in text
    assert f"{result.best().mean:.4f}" in text


def test_a_size_that_a_selector_does_not_know_is_told_and_the_others_stay(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    rfe = RFE(DecisionTreeClassifier(max_depth=2, random_state=0), n_features_to_select=3)
    arguments = X[:200, :6], y[:200], [rfe], ["nb"]
    store = tmp_path / "f.sqlite"
    found = compare(*arguments, sizes=[2, 3, 4], cv=3, store=store)
    assert [(row.method, row.size, row.n, row.n_failed) for row in found.rows] == [
        ("none", "all", 3, 0),
        ("RFE", "3", 3, 0),
        ("RFE", "4", 3, 0),
    ]
    (failure,) = found.failures
    assert (failure["method"], failure["size"], failure["count"]) == ("RFE", "2", 3)
    text = " ".join(str(found).split())
    assert "RFE: RFE gives several columns the same rank, so there is no best 2" in text
    assert "Failed" not in text
    assert "tried again" not in text
    with Store(store) as results:
        assert stored_comparison(results).failures == found.failures


def test_a_size_known_in_some_splits_only_is_never_the_best():
    X, y = load_breast_cancer(return_X_y=True)
    cv = RFECV(DecisionTreeClassifier(max_depth=2, random_state=0), cv=3)
    found = compare(X[:150, :6], y[:150], [cv], ["nb"], sizes=["own", 1, 2, 3, 4, 5], cv=6)
    partial = [row for row in found.rows if row.n < 6]
    assert partial
    assert all(row.n + row.n_failed == 6 and not row.best for row in found.rows if row.n < 6)
    assert all(not math.isnan(row.mean) for row in found.rows)


def test_a_store_is_gone_on_with(tmp_path):
    X, y = load_iris(return_X_y=True)
    told = []
    path = tmp_path / "results.sqlite"
    first = compare(X, y, ["random"], ["nb"], cv=3, store=path)
    second = compare(X, y, ["random", "fscore"], ["nb"], cv=3, store=path, progress=lambda *n: told.append(n))
    assert [n[0] for n in told] == [7, 8, 9]
    assert next(r for r in second.rows if r.method == "random").mean == first.rows[1].mean
    assert second.about["store"] == str(path)


def test_groups_and_frames_of_categories():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    frame = pd.DataFrame({"a": rng.normal(size=60) + y, "b": pd.Categorical(rng.choice(list("xy"), 60))})
    result = compare(frame, y, ["info-gain"], ["knn", "rf"], cv=3, groups=np.arange(60) // 3)
    assert result.failures == []
    assert result.about["cv"] == "3 stratified folds of groups"


@pytest.mark.parametrize("key", METHODS)
def test_every_method_can_be_compared(key):
    selector = make_method(key, [1, 2])
    assert not getattr(selector, "verbose", 0)
    assert not getattr(selector, "return_partial", False)
    small = {"n_estimators": 5, "n_iterations": 5, "n_candidates": 4, "population": 3}
    selector.set_params(**{k: v for k, v in small.items() if k in selector.get_params()})
    if key == "relevance":
        selector.set_params(n_estimators=20)
    if hasattr(selector, "estimator") and key in ("sfs", "sbs", "plus-minus", "exhaustive"):
        selector.set_params(estimator=GaussianNB(), cv=2)
    X, y = load_iris(return_X_y=True)
    result = compare(X[::3], y[::3], [(key, selector)], ["nb"], sizes=[1, 2], cv=2)
    assert result.failures == []
    assert [(row.method, row.n_features) for row in result.rows[1:]] == [(key, 1), (key, 2)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": ["relif"]}, "did you mean 'relief'"),
        ({"estimators": ["svn"]}, "did you mean 'svm'"),
        ({"methods": []}, "At least one method"),
        ({"methods": [RandomSelector(), RandomSelector(3)]}, "Two methods are named 'RandomSelector'"),
        ({"sizes": [9]}, "from 1 to 4"),
        ({"methods": {"none": RandomSelector(1)}}, "'none' means no selection"),
        ({"random_state": None}, "random_state is None"),
        ({"methods": ["random", "random"]}, "The method 'random' is given twice"),
        ({"scoring": "roc_auc"}, "The scorer 'roc_auc' does not work on these 3 classes"),
        ({"estimators": [SiftForestClassifier(feature_sampling=[1, 1, 1, 1])]}, "cannot follow"),
        ({"estimators": [C45Classifier(categorical_features=[0])]}, "dtype"),
    ],
)
def test_mistakes_are_told(arguments, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        compare(X, y, **{"methods": ["random"], **arguments})


@pytest.mark.parametrize("scorer", ["r2", "neg_mean_squared_error", "f1"])
def test_scorers_that_cannot_score_text_are_refused_before_the_run(scorer):
    X, y = load_iris(return_X_y=True)
    told = []
    with pytest.raises(ValueError, match=f"The scorer '{scorer}' does not work on these 2 classes"):
        compare(X, np.where(y == 0, "a", "b"), ["random"], ["nb"], cv=2, scoring=scorer, progress=told.append)
    assert told == []


def test_scorers_that_can_are_not():
    X, y = load_iris(return_X_y=True)
    names = ["accuracy", "balanced_accuracy", "f1_macro", "roc_auc_ovr", "neg_log_loss", "top_k_accuracy"]
    assert compare(X, y.astype(str), ["random"], ["nb"], cv=2, scoring=names).failures == []
    names = ["roc_auc", "average_precision", "matthews_corrcoef", "recall", "neg_brier_score"]
    assert compare(X, y == 0, ["random"], ["nb"], cv=2, scoring=names).failures == []


class ScoresOnly(BaseEstimator):
    """Ranks columns by their variance, and selects nothing of its own."""

    def fit(self, X, y):
        self.scores_ = np.asarray(X, dtype=float).var(axis=0)
        return self


def test_a_selector_that_selects_nothing_of_its_own_is_stored_and_found_again(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    given = {"methods": {"by variance": ScoresOnly(), "gain": InfoGainSelector(2)}, "estimators": ["nb"]}
    store = tmp_path / "results.sqlite"
    first = compare(X, y, **given, sizes=["own", 2], cv=2, store=store)
    again = compare(X, y, **given, sizes=["own", 2], cv=2, store=store)
    assert [row.to_dict() for row in again.rows] == [row.to_dict() for row in first.rows]
    assert {(row.method, row.size) for row in first.rows} >= {("by variance", "2"), ("gain", "own")}
    assert any(failure["size"] == "own" for failure in first.failures)


@pytest.mark.parametrize(("n_classes", "score"), [(2, "roc_auc"), (3, "balanced_accuracy")])
def test_a_rare_class_is_noted_and_nothing_that_only_guesses_is_recommended(n_classes, score, tmp_path):
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(190, int), np.arange(10) % (n_classes - 1) + 1]
    X = rng.normal(size=(200, 4))
    about = {"sizes": [1, 2], "cv": 5, "store": tmp_path / "rare.sqlite"}
    found = compare(X, y, ["info-gain"], **about)
    (note,) = found.about["notes"]
    assert note == (
        "One class has 95.0 % of the rows, so guessing has an accuracy of 95.0 %. Score by"
        f' {score} instead: --scoring {score} (scoring="{score}" in Python).'
    )
    assert note in str(found).replace("\n", "")
    assert found.recommended is None
    assert found.recommendation.startswith("None is recommended")
    with Store(tmp_path / "rare.sqlite") as store:
        assert stored_comparison(store).recommendation == found.recommendation
    other = compare(X, y, ["info-gain"], scoring=score, **about)
    assert other.failures == []
    assert other.about["notes"] == []
    X[:, 0] += 20 * y
    assert compare(X, y, ["info-gain"], sizes=[1, 2], cv=5).recommended.size == "1"
