"""Selector and classifier are judged on rows that neither has seen, by one ranking per split."""

import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SelectorMixin
from sklearn.metrics import f1_score, make_scorer, recall_score
from sklearn.model_selection import GroupShuffleSplit, StratifiedKFold, TimeSeriesSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from foresift import CFSSelector, InfoGainSelector, RandomSelector, SequentialSelector, SiftForestClassifier
from foresift.data.numeric_coding import NumericCoder
from foresift.data.sklearn_compat import seeded
from foresift.evaluation.harness.evaluate import Protocol, plan_scores, score_units, selected
from foresift.evaluation.harness.splits import cv_name, splits
from foresift.evaluation.harness.tasks import Data, canonical, describe
from foresift.evaluation.registry import make_estimator

SEEN = []


class SpySelector(SelectorMixin, BaseEstimator):
    """Ranks columns backwards, and remembers the rows it saw: the first column numbers them."""

    def fit(self, X, y):
        SEEN.append(("selector", frozenset(np.asarray(X)[:, 0].astype(int).tolist())))
        self.ranking_ = np.arange(np.shape(X)[1], 0, -1)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def _get_support_mask(self):
        return self.ranking_ <= 2


class SpyClassifier(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        SEEN.append(("classifier", np.shape(X)))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Broken(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("out of order")


@pytest.fixture(autouse=True)
def _forget():
    SEEN.clear()


def table(n=60, p=6, seed=0, name="toy", groups=None):
    X, y = make_classification(n, p, n_informative=3, n_redundant=0, random_state=seed)
    return Data.of(name, X, y, groups)


def numbered(n=40, p=4, groups=None):
    X = np.random.default_rng(0).normal(size=(n, p))
    X[:, 0] = np.arange(n)
    return Data.of("numbered", X, np.arange(n) % 2, groups)


def score(data, methods, classifiers, protocol):
    jobs = plan_scores(data, methods, classifiers, protocol)
    return [record for job in jobs for record in score_units(data, job.arguments, job.units)]


# --- leaks ---


@pytest.mark.parametrize("cv", [5, 0.3, TimeSeriesSplit(3), "groups"], ids=str)
def test_selector_sees_training_rows_only_and_once_per_split(cv):
    groups = np.repeat(np.arange(10), 4) if cv == "groups" else None
    data = numbered(groups=groups)
    cv = 5 if cv == "groups" else cv
    score(
        data, {"spy": SpySelector()}, {"a": SpyClassifier(), "b": SpyClassifier()}, Protocol(cv, sizes=[1, 3])
    )
    fits = [rows for who, rows in SEEN if who == "selector"]
    expected = [frozenset(split.train.tolist()) for split in splits(data, cv)]
    assert fits == expected  # two classifiers and two sizes share one fit
    for split, rows in zip(splits(data, cv), fits, strict=True):
        assert rows.isdisjoint(split.test.tolist())


def test_classifier_gets_the_best_columns_of_each_size():
    data = numbered()
    record, *_ = score(data, {"spy": SpySelector()}, {"c": SpyClassifier()}, Protocol(2, sizes=[3, "own", 1]))
    assert [shape[1] for who, shape in SEEN if who == "classifier"][:3] == [2, 1, 3]
    assert record.features == {"own": [2, 3], "order": [3, 2, 1, 0]}
    assert selected(record.features, "3") == [1, 2, 3]
    assert list(record.scores["accuracy"]) == ["own", "1", "3"]


# --- against an independent loop ---


@pytest.mark.parametrize("k", [1, 4])
def test_equals_scikit_learns_pipeline(k):
    data = table()
    protocol = Protocol(StratifiedKFold(4, shuffle=True), repeats=2, sizes=[k], random_state=3)
    records = score(data, {"f": SelectKBest()}, {"nb": GaussianNB()}, protocol)
    cv = [(s.train, s.test) for s in splits(data, protocol.cv, repeats=2, random_state=3)]
    literal = cross_val_score(make_pipeline(SelectKBest(k=k), GaussianNB()), data.X, data.y, cv=cv)
    assert [r.scores["accuracy"][str(k)] for r in records] == literal.tolist()
    assert len(cv) == 8
    assert len({s.rows for s in splits(data, protocol.cv, repeats=2, random_state=3)}) == 8


def test_several_scorers_at_once():
    data = table()
    recall = make_scorer(recall_score, pos_label=1)
    scoring = {"auc": "roc_auc", "recall": recall}
    records = score(data, {"none": None}, {"nb": GaussianNB()}, Protocol(3, scoring=scoring))
    cv = [(s.train, s.test) for s in splits(data, 3)]
    for name, scorer in scoring.items():
        literal = cross_val_score(GaussianNB(), data.X, data.y, cv=cv, scoring=scorer)
        assert [r.scores[name]["all"] for r in records] == literal.tolist()


def test_search_gives_the_sets_it_came_by():
    data = table(80, 5)
    search = SequentialSelector(GaussianNB(), direction="backward", n_features_to_select=1, cv=3)
    (job, *_) = plan_scores(data, {"sbs": search}, {"nb": GaussianNB()}, Protocol(2, sizes=[1, 2, 3]))
    (record,) = score_units(data, job.arguments, job.units)
    split = job.arguments.split
    literal = seeded(clone(search), np.random.default_rng([job.units[0].seed, 0]))
    literal.fit(data.X[split.train], data.y[split.train])
    for size in (1, 2, 3):
        assert selected(record.features, str(size)) == list(literal.path_.best(size).features)


def test_cfs_is_filled_up_by_its_ranking():
    data = table(80, 8)
    records = score(data, {"cfs": CFSSelector()}, {"nb": GaussianNB()}, Protocol(2, sizes=["own", 1, 8]))
    for record in records:
        assert set(selected(record.features, "1")) <= set(record.features["own"])
        assert selected(record.features, "8") == list(range(8))


# --- purity ---


def test_result_does_not_depend_on_what_else_is_asked():
    data = table()
    models = {"tree": DecisionTreeClassifier(), "nb": GaussianNB()}
    methods = {"none": None, "random": RandomSelector(3), "gain": InfoGainSelector(2)}
    together = {r.unit.key: r for r in score(data, methods, models, Protocol(3))}
    for name, method in methods.items():
        for model in models:
            for record in score(data, {name: method}, {model: models[model]}, Protocol(3)):
                twin = together[record.unit.key]
                assert (record.scores, record.features) == (twin.scores, twin.features)
    assert len(together) == 18


def test_units_of_a_job_can_be_done_one_by_one():
    data = table()
    models = {"tree": DecisionTreeClassifier(), "other": DecisionTreeClassifier(max_features=1)}
    (job, *_) = plan_scores(data, {"random": RandomSelector(3)}, models, Protocol(3))
    whole = score_units(data, job.arguments, job.units)
    parts = [score_units(data, job.arguments, (unit,))[0] for unit in job.units]
    assert [(r.unit, r.scores, r.features) for r in whole] == [(r.unit, r.scores, r.features) for r in parts]


def test_seeds_change_with_split_and_random_state_only():
    data = table()
    one, other = (
        score(data, {"r": RandomSelector(2)}, {"t": DecisionTreeClassifier()}, Protocol(3, 2, random_state=s))
        for s in (0, 1)
    )
    assert len({tuple(r.features["order"]) for r in one}) > 1
    assert {r.unit.seed for r in one}.isdisjoint(r.unit.seed for r in other)
    assert len({r.unit.seed for r in one}) == 6
    fixed = score(
        data, {"r": RandomSelector(2, random_state=5)}, {"t": DecisionTreeClassifier()}, Protocol(3)
    )
    assert len({tuple(r.features["order"]) for r in fixed}) == 1  # a given number is the user's wish


def test_error_of_a_classifier_is_its_own():
    records = score(table(), {"none": None}, {"bad": Broken(), "nb": GaussianNB()}, Protocol(2))
    assert [r.error for r in records] == ["RuntimeError: out of order", ""] * 2
    assert "fit" in records[0].traceback
    assert records[0].scores == {}
    assert records[1].scores["accuracy"]["all"] > 0.5


def test_error_of_a_selector_is_that_of_all():
    selector = SelectFromModel(GaussianNB())  # has no importances
    records = score(table(), {"bad": selector}, {"nb": GaussianNB(), "t": SpyClassifier()}, Protocol(2))
    assert len(records) == 4
    assert all(r.error for r in records)
    assert [r.unit.classifier for r in records] == ["nb", "t"] * 2


def test_selector_without_ranking_cannot_be_cut():
    selector = SelectFromModel(DecisionTreeClassifier())
    (record, _) = score(table(), {"m": selector}, {"nb": GaussianNB()}, Protocol(2, sizes=[2]))
    assert "leave sizes out" in record.error
    (record, _) = score(table(), {"m": selector}, {"nb": GaussianNB()}, Protocol(2))
    assert record.error == ""
    assert set(record.features) == {"own"}


def test_a_size_that_a_selector_does_not_know_costs_that_size_only():
    rfe = RFE(DecisionTreeClassifier(random_state=0), n_features_to_select=3)
    nb = {"nb": GaussianNB()}
    records = score(table(), {"rfe": rfe}, nb, Protocol(2, sizes=["own", 2, 3, 5]))
    literal = score(table(), {"rfe": rfe}, nb, Protocol(2, sizes=["own", 3, 5]))
    for record, other in zip(records, literal, strict=True):
        assert record.error == ""
        assert record.scores == other.scores
        assert selected(record.features, "3") == record.features["own"]
        assert list(record.extra["unknown_sizes"]) == ["2"]
        assert "so there is no best 2 of 6: leave that size out" in record.extra["unknown_sizes"]["2"]
    selector = SelectFromModel(DecisionTreeClassifier(random_state=0))
    for record in score(table(), {"m": selector}, nb, Protocol(2, sizes=["own", 2])):
        assert list(record.scores["accuracy"]) == ["own"]
        assert list(record.extra["unknown_sizes"]) == ["2"]


# --- what defines a unit ---


def keys(data=None, method=None, classifier=None, **protocol):
    data = data or table()
    method, classifier = method or InfoGainSelector(), classifier or GaussianNB()
    jobs = plan_scores(data, {"m": method}, {"c": classifier}, Protocol(**{"cv": 2, **protocol}))
    return [unit.key for job in jobs for unit in job.units]


def test_everything_that_matters_is_in_the_key():
    base = keys()
    assert base == keys()
    assert base == keys(repeats=2)[:2]  # more repeats add units, they change none
    others = [
        keys(data=table(seed=1)),
        keys(data=table(name="other")),
        keys(method=InfoGainSelector(ratio=True)),
        keys(classifier=GaussianNB(var_smoothing=1e-8)),
        keys(cv=3)[:2],
        keys(sizes=[2]),
        keys(scoring="f1"),
        keys(random_state=1),
        keys(classifier=make_pipeline(NumericCoder(), GaussianNB())),
    ]
    everything = [key for some in (base, *others) for key in some]
    assert len(set(everything)) == len(everything)


def test_what_does_not_matter_is_not_in_the_key():
    one, other = (SequentialSelector(n_jobs=jobs, verbose=verbose) for jobs, verbose in ((1, 0), (2, 1)))
    assert keys(method=one) == keys(method=other)


def test_keys_are_the_same_in_another_process():
    code = (
        "from sklearn.naive_bayes import GaussianNB; from foresift import InfoGainSelector\n"
        "from foresift.evaluation.harness.evaluate import *\n"
        "from foresift.evaluation.harness.tasks import *\n"
        "data = Data.of('t', {'a': [1., 2., None, 4.], 'b': ['x', 'y', None, 'x']}, [0, 1, 0, 1])\n"
        "jobs = plan_scores(data, {'m': InfoGainSelector()}, {'c': GaussianNB()}, Protocol(2,"
        " scoring={'b': 'f1', 'a': 'accuracy'}))\n"
        "print(*[u.key for j in jobs for u in j.units])"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    ]
    assert runs[0] == runs[1]
    assert len(runs[0].split()) == 2


def test_jobs_can_be_pickled():
    data = table()
    (job, *_) = plan_scores(data, {"m": InfoGainSelector()}, {"c": make_estimator("svm")}, Protocol(2))
    again = pickle.loads(pickle.dumps(job))
    assert again.units[0].key == job.units[0].key
    assert len(pickle.dumps(job)) < 20_000


def test_describe():
    assert describe(np.array([1, 2])) == describe(np.array([1, 2]))
    assert describe(np.array([1, 2])) != describe(np.array([1, 3]))
    assert describe({3, 1}) == [1, 3]
    assert describe(float("nan")) == {"float": "nan"}
    assert describe(np.mean).endswith("mean")
    assert canonical(describe(np.random.RandomState(0))) == canonical(describe(np.random.RandomState(0)))
    assert canonical(describe(np.random.RandomState(0))) != canonical(describe(np.random.RandomState(1)))
    with pytest.raises(ValueError, match="can be pickled"):
        describe(type("Odd", (), {"__reduce__": lambda self: 1 / 0})())


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.assign(a=frame.a + 1),
        lambda frame: frame.rename(columns={"a": "c"}),
        lambda frame: frame.iloc[::-1],
        lambda frame: frame[["b", "a"]],
        lambda frame: frame.assign(b=frame.b.cat.add_categories(["w"]).fillna("w")),
    ],
)
def test_checksum_sees_every_change(change):
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": pd.Categorical(["x", None, "y"])})
    base = Data.of("t", frame, [0, 1, 1])
    assert Data.of("t", frame.copy(), [0, 1, 1]).checksum == base.checksum
    assert Data.of("t", change(frame), [0, 1, 1]).checksum != base.checksum
    assert Data.of("t", frame, [0, 1, 0]).checksum != base.checksum
    assert Data.of("t", frame, [0, 1, 1], groups=[0, 1, 2]).checksum != base.checksum


# --- splits ---


def test_groups_stay_together():
    groups = np.repeat(np.arange(12), 5)
    data = table(60, groups=groups)
    for cv in (3, GroupShuffleSplit(2, test_size=0.3)):
        found = splits(data, cv, repeats=2)
        for split in found:
            assert set(groups[split.train]).isdisjoint(groups[split.test])
        assert len({split.rows for split in found}) == len(found)


def test_order_in_time():
    for split in splits(table(), TimeSeriesSplit(4)):
        assert split.train.max() < split.test.min()


def test_random_shares_and_given_splits():
    data = table(60)
    found = splits(data, 0.25, repeats=5)
    assert [len(split.test) for split in found] == [15] * 5
    assert [split.repeat for split in found] == list(range(5))
    given = [(np.arange(30), np.arange(30, 60))]
    assert splits(data, given)[0].test.tolist() == list(range(30, 60))
    assert cv_name(given) == "given splits"


@pytest.mark.parametrize(
    ("cv", "repeats", "message"),
    [
        (1, 1, "at least 2"),
        (50, 1, "fewer than the 50 folds"),
        (1.5, 1, "between 0 and 1"),
        (5, 0, "repeats"),
        ([], 1, "no splits"),
        ([(np.arange(3), [])], 1, "no test rows"),
        ([(np.arange(3), np.arange(3, 6))], 2, "same way every time"),
        (TimeSeriesSplit(3), 2, "same way every time"),
    ],
)
def test_bad_splits(cv, repeats, message):
    with pytest.raises(ValueError, match=message):
        splits(table(), cv, repeats=repeats)


@pytest.mark.parametrize("scoring", [3, None, [3], {"a": 3}])
def test_what_is_no_scorer_is_refused(scoring):
    with pytest.raises(TypeError, match=r"scoring has (3|None): give names of scorers, or scorers"):
        _ = Protocol(2, scoring=scoring).scorers


def test_bad_plans():
    data, gain, nb = table(), InfoGainSelector(), GaussianNB()
    for protocol, message in [
        (Protocol(2, sizes=[7]), "from 1 to 6"),
        (Protocol(2, sizes=[0]), "from 1 to 6"),
        (Protocol(2, sizes=["best"]), "'own'"),
        (Protocol(2, sizes=[]), "empty"),
        (Protocol(2, scoring="acuracy"), "acuracy"),
        (Protocol(2, scoring=[]), "no scorer"),
        (
            Protocol(2, scoring=[make_scorer(f1_score), make_scorer(recall_score)]),
            "Two scorers have one name",
        ),
        (Protocol(None), "cv is None: give a number of folds"),
        (Protocol("10x10"), "cv is '10x10': give a number of folds"),
    ]:
        with pytest.raises(ValueError, match=message):
            plan_scores(data, {"m": gain}, {"c": nb}, protocol)
    with pytest.raises(ValueError, match="not a classifier"):
        plan_scores(data, {"m": gain}, {"c": gain}, Protocol(2))
    with pytest.raises(ValueError, match="no selector"):
        plan_scores(data, {"m": "gain"}, {"c": nb}, Protocol(2))
    for X, y, groups, message in [
        (np.eye(3), [0, 1], None, "one value each"),
        (np.eye(3), [0, 0, 0], None, "the same value in every row"),
        (np.eye(3), ["a", None, "b"], None, "missing"),
        (np.eye(3), [0, 1, 0], [1, 2], "one group"),
        (np.eye(3), ["a", math.nan, "b"], None, "y has missing"),
        (np.eye(3), [0, 1, 0], ["a", math.nan, "b"], "groups has missing"),
        (np.eye(3), [0, 1, 0], [None, None, "b"], "groups has missing"),
    ]:
        with pytest.raises(ValueError, match=message):
            Data.of("t", X, y, groups)


def test_classifier_never_asks_for_more_columns_than_there_are():
    forest = SiftForestClassifier(3, max_features=4)
    records = score(table(), {"r": RandomSelector()}, {"f": forest}, Protocol(2, sizes=[1, 5]))
    assert [r.error for r in records] == ["", ""]
