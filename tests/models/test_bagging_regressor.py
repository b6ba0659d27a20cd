"""Bagging over feature subsets for a quantity: draws, members, means and the out-of-bag estimate."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from foresift import CartClassifier, CartRegressor, NetworkRegressor, SubsetBaggingRegressor
from foresift.data.sklearn_compat import seed_of
from foresift.engine.column_sampling import draw_columns
from foresift.models.members import draw_rows

DRAWN = {
    f"check_sample_weight_equivalence_on_{kind}_data": "rows are drawn by weight"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        SubsetBaggingRegressor(n_estimators=5, subset_size=0.5),
        SubsetBaggingRegressor(KNeighborsRegressor(2), n_estimators=5),
    ],
    expected_failed_checks=lambda _: DRAWN,
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def Bagging(estimator=None, n_estimators=7, **options):
    return SubsetBaggingRegressor(estimator, n_estimators, **{"random_state": 0, **options})


@pytest.fixture
def friedman():
    return make_friedman1(150, n_features=6, noise=0.5, random_state=0)


def draws_of(i, shares, size):
    """Columns and how often every row is drawn for member i, by the documented order of the draws."""
    rng = np.random.default_rng((seed_of(0), i))
    return draw_columns(rng, np.full(6, 1 / 6), size), draw_rows(rng, shares)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("estimator", [CartRegressor(), DecisionTreeRegressor(random_state=0)])
def test_the_mean_of_members_fitted_one_by_one(friedman, estimator, weighted):
    X, y = friedman
    weights = np.random.default_rng(1).choice([0.0, 1.0, 3.0], 150) if weighted else None
    model = Bagging(estimator, 9, subset_size=3, oob_score=True)
    model.fit(X, y, sample_weight=weights)
    shares = np.full(150, 1 / 150) if weights is None else weights / weights.sum()
    expected, oob, heard = np.zeros(150), np.zeros(150), np.zeros(150)
    for i in range(9):
        columns, times = draws_of(i, shares, 3)
        assert model.estimators_features_[i].tolist() == columns.tolist()
        drawn = np.repeat(np.arange(150), times)
        answers = clone(estimator).fit(X[drawn][:, columns], y[drawn]).predict(X[:, columns])
        expected += answers / 9
        oob += np.where(times == 0, answers, 0)
        heard += times == 0
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9)
    known = heard > 0
    np.testing.assert_allclose(model.oob_prediction_[known], (oob / np.maximum(heard, 1))[known], rtol=1e-9)
    assert np.isnan(model.oob_prediction_[~known]).all()
    used = known & (shares > 0)
    expected_score = r2_score(y[used], (oob / np.maximum(heard, 1))[used], sample_weight=shares[used])
    assert model.oob_score_ == pytest.approx(expected_score, rel=1e-9)
    assert model.estimator_weights_.tolist() == [1 / 9] * 9


def test_as_good_as_scikit_learns():
    X, y = make_friedman1(600, noise=0.5, random_state=0)
    ours = Bagging(None, 50).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    other = BaggingRegressor(n_estimators=50, random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert ours == pytest.approx(other, abs=0.02)


@pytest.mark.parametrize("estimator", [None, NetworkRegressor(epochs=5), DecisionTreeRegressor()])
def test_same_for_any_number_of_jobs(friedman, estimator):
    X, y = friedman
    X = pd.DataFrame(X, columns=list("abcdef"))
    with parallel_config("threading"):  # processes take seconds to start
        one, two = (Bagging(estimator, subset_size=4, n_jobs=n).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.predict(X), two.predict(X))
    assert np.array_equal(pickle.loads(pickle.dumps(one)).predict(X), one.predict(X))


@pytest.mark.parametrize("estimator", [None, NetworkRegressor(epochs=5)])
def test_the_unit_of_y_does_not_matter(friedman, estimator):
    X, y = friedman
    y = np.rint(64 * y) / 64  # so that a tree finds the same ties in any unit
    plain, far = (Bagging(estimator).fit(X, centre + y).predict(X) for centre in (0.0, 1e9))
    np.testing.assert_allclose(far - 1e9, plain, rtol=1e-3)


def test_columns_by_a_selector_or_weights(friedman):
    X, y = friedman
    model = Bagging(distribution=SelectKBest(f_regression, k=2), subset_size=2).fit(X, y)
    assert {tuple(columns) for columns in model.estimators_features_} == {
        tuple(model.selector_.get_support(indices=True))
    }
    model = Bagging(distribution=[0, 0, 1, 0, 3, 0], subset_size=2).fit(X, y)
    assert {tuple(columns) for columns in model.estimators_features_} == {(2, 4)}


def test_categories_and_missing_values(friedman):
    X, y = friedman
    X = pd.DataFrame(X, columns=list("abcdef")).assign(colour=np.where(y > y.mean(), "red", "blue"))
    X.loc[::7, "a"] = np.nan
    assert Bagging(oob_score=True).fit(X, y).oob_score_ > 0.6


@pytest.mark.parametrize("estimator", [None, NetworkRegressor(epochs=2)])
def test_a_member_of_rows_with_one_y_predicts_it(estimator):
    X, y = np.arange(6.0).reshape(3, 2), [5.0, 5.0, 7.0]  # 8 of 27 draws have no 7
    model = Bagging(estimator, 60).fit(X, y)
    constant = [np.ptp(member.predict(X)) == 0 for member in model.estimators_]
    assert any(constant)
    if estimator is not None:
        assert any(isinstance(member, DummyRegressor) for member in model.estimators_)
    assert model.estimators_[constant.index(True)].predict(X)[0] in (5.0, 7.0)


def test_another_metric(friedman):
    X, y = friedman
    model = Bagging(None, 30, oob_score=mean_absolute_error).fit(X, y)
    assert model.oob_score_ == pytest.approx(np.abs(model.oob_prediction_ - y).mean())
    with pytest.warns(UserWarning, match="have no out-of-bag estimate: raise n_estimators"):
        Bagging(None, 2, oob_score=True).fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        (GaussianNB(), [1.0, 2.0, 3.0], "SubsetBaggingRegressor needs a regressor, but GaussianNB is not"),
        (CartClassifier(), [1.0, 2.0, 3.0], "needs a regressor, but CartClassifier is not one"),
        (None, [1.0, np.nan, 3.0], "Input y contains NaN"),
        (None, ["a", "b", "c"], "y holds text, but SubsetBaggingRegressor predicts numbers"),
        (None, [2.0, 2.0, 2.0], r"y has one value, 2\.0: SubsetBaggingRegressor needs at least two"),
    ],
)
def test_what_is_refused(estimator, y, message):
    with pytest.raises(ValueError, match=message):
        Bagging(estimator).fit(np.arange(6.0).reshape(3, 2), y)
