"""What scikit-learn expects of every estimator: its own checks, pipelines, searches, copies, routing."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import foresift
from foresift import CartClassifier, SiftForestClassifier

# Every public estimator stands here, with the parameters the checks run with.
ESTIMATORS = [
    CartClassifier(),
    CartClassifier(criterion="gini", max_features="sqrt", n_thresholds=3, missing="fractional"),
    SiftForestClassifier(n_estimators=5),
    SiftForestClassifier(n_estimators=5, bootstrap=False, max_features=None),
]


def expected_failures(estimator):
    """Return {name of a check: why it may fail}; no other may."""
    if getattr(estimator, "bootstrap", False):
        # As in scikit-learn's forests: rows are drawn alike whatever their weight, which then multiplies how
        # often a row was drawn. Dropping or repeating rows changes what is drawn, so the trees are others.
        reason = "a bootstrap of weighted rows is not one of repeated rows"
        return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    public = [getattr(foresift, name) for name in foresift.__all__]
    estimators = {item for item in public if isinstance(item, type) and issubclass(item, BaseEstimator)}
    assert estimators == {type(estimator) for estimator in ESTIMATORS}


@pytest.fixture
def iris():
    return load_iris(return_X_y=True, as_frame=True)


def fitted(estimator, X, y):
    estimator = clone(estimator)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    return estimator.fit(X, y)


def answer(estimator, X):
    return estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else estimator.transform(X)


EVERY = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: repr(e).split("\n")[0])


@EVERY
def test_parameters_round_trip(estimator):
    parameters = estimator.get_params()
    again = type(estimator)(**parameters)
    assert again.get_params() == parameters
    assert clone(estimator).get_params() == parameters
    assert vars(clone(estimator)) == vars(estimator)  # __init__ only assigns
    assert type(estimator)().set_params(**parameters).get_params() == parameters
    with pytest.raises(ValueError, match="Invalid parameter"):
        clone(estimator).set_params(no_such_parameter=1)


@EVERY
def test_copies_of_a_fitted_estimator(estimator, iris):
    X, y = iris
    model = fitted(estimator, X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(answer(again, X), answer(model, X))
    assert vars(again).keys() == vars(model).keys()
    fresh = clone(model)
    assert not [name for name in vars(fresh) if name.endswith("_")]
    assert np.array_equal(answer(fresh.fit(X, y), X), answer(model, X))


@EVERY
def test_names_and_number_of_columns(estimator, iris):
    X, y = iris
    for frame in (X, pl.from_pandas(X)):
        model = fitted(estimator, frame, y)
        assert model.n_features_in_ == 4
        assert model.feature_names_in_.tolist() == X.columns.tolist()
        with pytest.raises(ValueError, match="feature names"):
            answer(model, frame[list(X.columns[::-1])])
    plain = fitted(estimator, X.to_numpy(), y)
    assert not hasattr(plain, "feature_names_in_")
    assert fitted(estimator, X, y).fit(X.to_numpy(), y).n_features_in_ == 4


@EVERY
def test_refitting_forgets_the_names(estimator, iris):
    X, y = iris
    assert not hasattr(fitted(estimator, X, y).fit(X.to_numpy(), y), "feature_names_in_")


@EVERY
def test_in_a_pipeline(estimator, iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), clone(estimator))
    assert fitted(pipeline, X, y).score(X, y) > 0.9
    assert fitted(make_pipeline(SimpleImputer(), clone(estimator)), X, y).score(X, y) > 0.9
    assert pipeline.fit(X, y)[-1].feature_names_in_.tolist() == X.columns.tolist()


@EVERY
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_after_transformers_of_any_output(estimator, output, iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler().set_output(transform=output), clone(estimator))
    assert fitted(pipeline, X, y).score(X, y) > 0.9


@EVERY
def test_in_a_grid_search(estimator, iris):
    X, y = iris
    grid = {"max_depth": [1, None], "criterion": ["entropy", "gini"]}
    before = vars(estimator).copy()
    search = GridSearchCV(estimator, grid, cv=3).fit(X, y)
    assert search.best_params_["max_depth"] is None
    assert search.best_score_ > 0.9
    assert vars(estimator) == before


@EVERY
def test_weights_are_routed(estimator, iris):
    X, y = iris
    weights = (y != 2).astype(float)  # the third class does not count
    with config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asked)
        assert set(pipeline.fit(X, y, sample_weight=weights).predict(X)) == {0, 1}
        assert cross_validate(asked, X, y, params={"sample_weight": weights})["test_score"].mean() < 0.7
        ignored = clone(estimator).set_fit_request(sample_weight=False)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), ignored)
        assert set(pipeline.fit(X, y, sample_weight=weights).predict(X)) == {0, 1, 2}
        with pytest.raises(ValueError, match="sample_weight"):
            make_pipeline(clone(estimator)).fit(X, y, sample_weight=weights)


@EVERY
def test_the_inputs_stay_as_they_are(estimator, iris):
    X, y = iris
    X = X.astype(np.float32)
    X.iloc[::7, 1] = np.nan
    weights = np.random.default_rng(0).random(len(y))
    copies = X.copy(), y.copy(), weights.copy()
    model = clone(estimator).fit(X, y, sample_weight=weights)
    model.predict(X)
    pd.testing.assert_frame_equal(X, copies[0])
    pd.testing.assert_series_equal(y, copies[1])
    assert np.array_equal(weights, copies[2])


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_output_of_transformers(output, iris):
    X, y = iris
    for estimator in ESTIMATORS:
        if isinstance(estimator, TransformerMixin):
            model = fitted(estimator, X, y).set_output(transform=output)
            frame = model.transform(X)
            assert isinstance(frame, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[output])
            assert list(frame.columns) == model.get_feature_names_out().tolist()
