"""Methods compared on a quantity: the task, estimators, folds, scores, keys and messages."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, cross_val_score

from foresift import InfoGainSelector, ReliefSelector, SSVSelector, SubsetSizeCV, compare
from foresift.data.folds import quantile_strata
from foresift.data.target import Quantity
from foresift.evaluation.compare.stored import stored_comparison
from foresift.evaluation.harness.splits import splits
from foresift.evaluation.harness.store import Store
from foresift.evaluation.harness.tasks import Data
from foresift.evaluation.registry import METHODS, make_estimator


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X[:200], y[:200]  # whole numbers, more than 20 of them


@pytest.fixture(scope="module")
def found(diabetes):
    methods = ["info-gain", "mrmr", ("k-best", SelectKBest(f_regression, k=3))]
    return compare(*diabetes, methods, ["ridge", "rf"], sizes=["own", 2], cv=5)


def test_a_quantity_is_scored_by_r2(found, diabetes):
    X, y = diabetes
    assert found.failures == []
    assert found.about["task"] == "regression"
    assert found.about["scoring"] == ["r2"]
    assert found.about["classes"] == []
    (note,) = found.about["notes"]
    assert "treated as a quantity" in note
    assert note in " ".join(str(found).split())
    folds = [(s.train, s.test) for s in splits(Data.of("data", X, y, task="regression"), 5)]
    (row,) = [row for row in found.rows if (row.method, row.estimator) == ("none", "ridge")]
    assert row.mean == pytest.approx(
        cross_val_score(make_estimator("ridge", "regression"), X, y, cv=folds).mean()
    )
    assert 0.3 < found.best().mean < 0.7
    assert "r2 0." in found.verdict
    assert json.dumps(found.to_dict(), allow_nan=False)
    assert "r2" in found.to_html()


def test_intervals_of_r2_are_not_cut_at_0():
    rng = np.random.default_rng(0)
    found = compare(rng.normal(size=(60, 3)), rng.normal(size=60), ["random"], ["cart"], cv=5)
    assert min(row.mean for row in found.rows) < 0
    assert min(row.lower for row in found.rows) < min(row.mean for row in found.rows)


@pytest.mark.parametrize("cv", [5, 0.25])
def test_folds_are_stratified_by_quantiles(cv):
    y = np.random.default_rng(0).lognormal(sigma=2, size=200)
    data = Data.of("skewed", np.zeros((200, 1)), y, task="regression")
    for split in splits(data, cv):
        fifths = np.bincount(Quantity(y).strata(5)[split.test])
        assert fifths.tolist() == [len(split.test) // 5] * 5


def test_strata_have_rows_for_every_fold():
    many_zeros = Quantity(np.r_[np.zeros(95), np.arange(1.0, 6)])
    assert np.bincount(quantile_strata(many_zeros, 5)).tolist() == [95, 5]
    assert np.bincount(quantile_strata(many_zeros, 10)).tolist() == [100]
    assert np.bincount(quantile_strata(Quantity(np.arange(12.0)), 5)).tolist() == [6, 6]
    assert np.bincount(quantile_strata(Quantity(np.arange(100.0)), 0.3)).tolist() == [10] * 10
    data = Data.of("zeros", np.zeros((100, 1)), many_zeros.y, task="regression")
    assert len(splits(data, 10)) == 10


def test_groups_and_splitters(diabetes):
    X, y = diabetes
    groups = np.arange(len(y)) // 4
    data = Data.of("grouped", X, y, groups, task="auto")
    for split in splits(data, 4):
        assert not set(groups[split.train]) & set(groups[split.test])
    folds = KFold(3, shuffle=True, random_state=1)
    found = compare(X, y, ["info-gain"], ["ridge"], cv=folds)
    assert [row.n for row in found.rows] == [3, 3]


def test_the_task_can_be_said():
    X, y = load_iris(return_X_y=True)
    as_classes = compare(X, y, ["info-gain"], ["knn"], cv=3)
    as_numbers = compare(X, y, ["info-gain"], ["knn"], cv=3, task="regression")
    assert [f.about["task"] for f in (as_classes, as_numbers)] == ["classification", "regression"]
    assert [f.about["scoring"] for f in (as_classes, as_numbers)] == [["accuracy"], ["r2"]]
    many = np.arange(150) % 30
    assert compare(X, many, ["random"], ["knn"], cv=3, task="classification").about["scoring"] == ["accuracy"]
    halves = compare(X, np.where(y > 1, 0.5, 1.5), ["info-gain"], ["knn"], cv=3)  # two values
    assert halves.about["classes"] == ["0.5", "1.5"]
    assert halves.failures == []


def test_selectors_are_told_that_whole_numbers_are_a_quantity(diabetes):
    X, y = diabetes
    methods = {"gain": InfoGainSelector(3), "cv": InfoGainSelector(SubsetSizeCV(cv=3))}
    with Store(":memory:") as store:
        found = compare(X, y.astype(int), methods, ["ridge"], cv=3, store=store)
        parameters = [
            json.loads(text) for (text,) in store.sql("SELECT DISTINCT method_parameters FROM units")
        ]
    assert found.failures == []
    assert [p["task"] for p in parameters if p] == ["regression"] * 2
    assert methods["gain"].task == "auto"  # the user's own is left alone


def test_a_store_has_both_tasks(tmp_path):
    X, y = load_iris(return_X_y=True)
    path, y = tmp_path / "both.sqlite", y.astype(float)
    first = compare(X, y, ["info-gain"], ["knn"], cv=3, store=path, name="iris")
    second = compare(
        X, y, ["info-gain"], ["knn"], cv=3, store=path, name="iris", task="regression", scoring="r2"
    )
    again = compare(X, y, ["info-gain"], ["knn"], cv=3, store=path, name="iris")
    assert again.rows == first.rows
    with Store(path) as store:
        options = [json.loads(text) for (text,) in store.sql("SELECT options FROM units")]
        assert [o.get("task") for o in options].count("regression") == len(options) / 2 == 6
        read = stored_comparison(store)
    assert read.about["task"] == "regression"  # the latest of this name
    assert read.about["classes"] == []
    assert [row.mean for row in read.rows] == [row.mean for row in second.rows]


FOR_CLASSES = [key for key, method in METHODS.items() if not method.takes("regression")]


@pytest.mark.parametrize("key", FOR_CLASSES)
def test_a_method_for_classes_names_the_nearest_that_takes_a_quantity(diabetes, key):
    instead = METHODS[key].instead
    assert METHODS[instead].takes("regression")
    with pytest.raises(
        ValueError, match=f"{key}' takes classes only, but y is a quantity: use {instead}, or"
    ):
        compare(*diabetes, ["random", key], ["ridge"])


def test_what_a_method_takes_is_what_it_does(diabetes):
    X, y = (np.asarray(part)[:40] for part in diabetes)
    for method in METHODS.values():
        if not method.is_slow and method.takes("regression"):
            method.make(task="regression").fit(X, y)
        elif not method.is_slow:
            with pytest.raises(ValueError, match=r"quantity|continuous"):
                method.make().fit(X, y + 0.5)


def test_default_methods_take_the_target(diabetes):
    found = compare(*diabetes, estimators=["ridge"], cv=2)
    assert found.failures == []
    assert {"none", "relevance", "random"} <= {row.method for row in found.rows}


IRIS = load_iris(return_X_y=True)
TEXT = np.array(["a", "b", "c"])[IRIS[1]]


@pytest.mark.parametrize(
    ("y", "arguments", "message"),
    [
        (
            TEXT,
            {"estimators": [LinearRegression()]},
            "is a regressor, but y holds classes: give a classifier",
        ),
        (TEXT, {"estimators": ["ridge"]}, "'ridge' takes a quantity only, but y holds classes: use rf"),
        (TEXT, {"task": "regression"}, "y holds text, but numbers are needed"),
        (TEXT, {"task": "regresion"}, "task is 'regresion': give 'auto', 'classification' or 'regression'"),
        (TEXT, {"scoring": "r2"}, "The scorer 'r2' does not work on these 3 classes"),
        (
            None,
            {"estimators": [LogisticRegression()]},
            "is a classifier, but y is a quantity: give a regressor",
        ),
        (None, {"estimators": ["nb"]}, "'nb' takes classes only, but y is a quantity: use rf, cart"),
        (None, {"scoring": "accuracy"}, "The scorer 'accuracy' does not work on a quantity .* 'r2' or"),
        (None, {"scoring": "r3"}, "There is no scorer 'r3'"),
        (None, {"methods": [SSVSelector()]}, "SSVSelector takes classes only, but y is a quantity: use Info"),
        (
            None,
            {"methods": [ReliefSelector()]},
            "takes classes only, but y is a quantity: use ReliefFSelector",
        ),
    ],
)
def test_mistakes_are_told(y, arguments, message):
    y = IRIS[0][:, 0] + 0.01 * IRIS[0][:, 1] if y is None else y
    with pytest.raises(ValueError, match=message):
        compare(IRIS[0][:, 1:], y, **{"methods": ["random"], "cv": 3, **arguments})


def test_the_former_name_of_estimators():
    X, y = IRIS
    with pytest.warns(FutureWarning, match="classifiers is now called estimators"):
        found = compare(X, y, ["random"], classifiers=["nb"], cv=2)
    assert {row.estimator for row in found.rows} == {"nb"}
    with pytest.warns(FutureWarning, match="classifier is now called estimator"):
        assert found.best(classifier="nb") == found.best("nb")


def test_a_frame_with_categories_and_gaps():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=90), "colour": rng.choice(["red", "blue"], 90)})
    y = X["size"] + 3 * (X.colour == "red") + 0.1 * rng.normal(size=90)
    X.loc[::7, "size"] = np.nan
    found = compare(X, y, ["info-gain", "relieff"], ["rf", "knn"], cv=3)
    assert found.failures == []
    assert found.best().mean > 0.5


def test_a_lambda_scores_without_a_store(diabetes, tmp_path):
    X, y = diabetes
    error = {"mae": lambda model, X, y: -np.abs(model.predict(X) - y).mean(), "r2": "r2"}
    found = compare(X, y, ["info-gain"], ["ridge"], cv=5, scoring=error, n_jobs=2)
    assert found.best(scorer="mae").mean < -20
    assert found.best(scorer="mae").upper < -20  # no bounds
    with pytest.raises(
        ValueError, match="scorer 'mae' cannot be kept in a store: define it with def at the top"
    ):
        compare(X, y, ["info-gain"], ["ridge"], cv=5, scoring=error, store=tmp_path / "f.sqlite")
