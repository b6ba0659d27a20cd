"""Estimators by name read any table, and learn how from training rows alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from foresift.data.numeric_coding import NumericCoder
from foresift.evaluation.harness.evaluate import Protocol, plan_scores, score_units
from foresift.evaluation.harness.splits import splits
from foresift.evaluation.harness.tasks import Data
from foresift.evaluation.registry import ESTIMATORS, make_estimator


def score(data, estimators, protocol):
    jobs = plan_scores(data, {"none": None}, estimators, protocol)
    return [record for job in jobs for record in score_units(data, job.arguments, job.units)]


def test_scaling_is_learned_from_training_rows():
    X = np.random.default_rng(0).normal(size=(40, 4))
    X[:, 0] = np.arange(40)
    data = Data.of("numbered", X, np.arange(40) % 2)
    split = splits(data, 4)[0]
    model = make_estimator("knn").fit(data.X[split.train], data.y[split.train])
    coder = model[0]
    coded = coder.transform(data.X[split.train])
    np.testing.assert_allclose(coded.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(coded.std(axis=0), 1, atol=1e-6)
    # The same numbers as a pipeline of scikit-learn's, fold by fold.
    records = score(data, {"knn": make_estimator("knn")}, Protocol(4))
    cv = [(s.train, s.test) for s in splits(data, 4)]
    literal = cross_val_score(make_estimator("knn"), data.X, data.y, cv=cv)
    assert [r.scores["accuracy"]["all"] for r in records] == literal.tolist()


@pytest.mark.parametrize(
    ("key", "task"), [(key, task) for key, named in ESTIMATORS.items() for task in named.tasks]
)
def test_named_estimators_read_any_table(key, task):
    if key in ("lightgbm", "xgboost"):
        pytest.importorskip(key)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = pd.DataFrame(
        {"size": rng.normal(size=120) + 3 * y, "colour": np.where(rng.random(120) < 0.3, "red", "blue")}
    )
    X["colour"] = X.colour.astype("category")
    X.loc[rng.random(120) < 0.1, "size"] = np.nan
    X.loc[rng.random(120) < 0.1, "colour"] = None
    scorer, least = "accuracy", 0.75
    if task == "regression":
        y, scorer, least = 100 * y + rng.normal(size=120), "r2", 0.2
    data = Data.of("mixed", X, y, task="auto")
    assert data.task == task
    records = score(data, {key: make_estimator(key, task)}, Protocol(3, scoring=scorer))
    assert [r.error for r in records] == [""] * 3
    assert np.mean([r.scores[scorer]["all"] for r in records]) > least


@parametrize_with_checks([NumericCoder()])
def test_coder_keeps_scikit_learns_contract(estimator, check):
    check(estimator)


def test_coder_names_what_it_makes():
    coder = NumericCoder().fit({"size": [1.0, 2.0], "colour": ["red", "blue"]})
    assert coder.get_feature_names_out().tolist() == ["size", "colour=blue", "colour=red"]
    assert NumericCoder().fit(np.eye(2)).get_feature_names_out().tolist() == ["x0", "x1"]
