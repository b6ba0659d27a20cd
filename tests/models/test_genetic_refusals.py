"""What GEFSClassifier and GEFSSelector warn of and refuse: rates that are too large, and bad parameters."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from foresift import GEFSClassifier, GEFSSelector

SMALL = {"population": 6, "n_candidates": 18, "n_offspring": 4, "epochs": 5, "random_state": 0}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200, :8], y[:200]


def test_before_fit_and_after_a_fit_that_failed(cancer):
    X, y = cancer
    model = GEFSClassifier(NaNs(), **SMALL)
    with pytest.raises(ValueError, match="useless"):
        model.fit(X, y)  # the columns of X are known by then
    for ask in (lambda: model.genomes_, lambda: model.predict(X), lambda: model.fit_more(X, y, 4)):
        with pytest.raises(NotFittedError, match="GEFSClassifier instance is not fitted yet"):
            ask()
    assert not hasattr(model, "generations_")


def test_rates_that_diverge(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="learning_rate must be from 0 to 3"):
        GEFSClassifier(**SMALL, learning_rate=1e300).fit(X, y)
    with pytest.warns(UserWarning, match=r"\d+ of 18 models were dropped.*smaller learning_rate"):
        some = GEFSClassifier(**SMALL, learning_rate=2e37).fit(X, y)
    assert 9 <= some.n_diverged_ < 18
    assert all(network.is_finite for network in some.estimators_)
    assert np.isfinite(some.predict_proba(X)).all()


@pytest.mark.parametrize("make", [GEFSClassifier, GEFSSelector])
def test_members_that_answer_the_same_for_every_row(make, cancer):
    X, y = cancer
    with pytest.warns(
        UserWarning, match="6 of the 6 members answer the same.*smaller learning_rate"
    ) as caught:
        model = make(**SMALL, learning_rate=1000).fit(X, y)  # weights are finite, units saturated
    assert model.n_diverged_ == 0
    assert {Path(warning.filename).name for warning in caught} == {Path(__file__).name}
    with pytest.warns(UserWarning, match="DecisionTreeClassifier learns nothing"):
        make(estimator=DecisionTreeClassifier(min_samples_leaf=150), **SMALL).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(**SMALL).fit(X, y)
        GEFSClassifier(**SMALL).fit(X * 0, y)  # rows that are alike must be answered alike


class NaNs(GaussianNB):
    """A classifier that knows nothing."""

    def predict_proba(self, X):
        return np.full((len(X), 2), np.nan)


def test_other_classifiers_that_are_not_finite(cancer):
    with pytest.raises(ValueError, match=r"All 18 models are useless: the predictions of NaNs") as caught:
        GEFSClassifier(NaNs(), **SMALL).fit(*cancer)
    assert "learning_rate" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_candidates": 10}, "less than population=20"),
        ({"population": 1}, "population"),
        ({"n_offspring": 0}, "n_offspring"),
        ({"mutation_rate": 1.5}, "mutation_rate"),
        ({"estimator": "tree"}, "estimator"),
        ({"evaluate": "test"}, "evaluate"),
        ({"emphasis": "arc-x4"}, "emphasis"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"patience": 0}, "patience"),
        ({"learning_rate": -1}, "learning_rate"),
        ({"epochs": 2**33}, "epochs"),
        ({"n_hidden": 2**33}, "n_hidden"),
    ],
)
def test_parameters_out_of_range(parameters, message, cancer):
    with pytest.raises(ValueError, match=message):
        GEFSClassifier(**parameters).fit(*cancer)
    with pytest.raises(ValueError, match=message):
        GEFSSelector(**parameters).fit(*cancer)


@pytest.mark.parametrize("estimator", [LinearRegression(), GaussianNB], ids=str)
def test_estimators_that_are_no_classifiers(estimator, cancer):
    for make in (GEFSClassifier, GEFSSelector):
        with pytest.raises(ValueError, match=f"{make.__name__} needs a classifier"):
            make(estimator=estimator, **SMALL).fit(*cancer)
