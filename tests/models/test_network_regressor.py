"""Networks for a quantity: what they learn, in which unit, and what they are given."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from foresift import NetworkClassifier, NetworkRegressor

TAKEN_IN_TURN = {
    f"check_sample_weight_equivalence_on_{kind}_data": "two rows move a network twice, one of weight 2 once"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks([NetworkRegressor()], expected_failed_checks=lambda _: TAKEN_IN_TURN)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def friedman():
    return make_friedman1(400, noise=0.5, random_state=0)


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(3, 2, 60), "colour": rng.choice(["red", "blue", "green"], 60)})
    frame["flag"] = rng.random(60) < 0.5
    y = frame["size"] + 3 * (frame["colour"] == "red") + rng.normal(scale=0.1, size=60)
    frame.loc[::7, "size"] = np.nan
    frame.loc[::9, "colour"] = None
    return frame, y


def test_learns_what_a_line_cannot():
    X, y = make_friedman1(2000, noise=0.5, random_state=0)
    score = NetworkRegressor(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert score > LinearRegression().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) + 0.05


def test_categories_and_missing_values(mixed):
    X, y = mixed
    network = NetworkRegressor(random_state=0).fit(X, y)
    assert network.score(X.dropna(), y[X.dropna().index]) > 0.9
    assert np.isfinite(network.predict(X.assign(colour="violet", size=1e30))).all()


def test_classes_and_quantities_begin_alike(mixed):
    X, y = mixed
    shape = {"epochs": 1, "learning_rate": 1e-12, "random_state": 5}
    network = NetworkRegressor(**shape).fit(X, y).network_
    other = NetworkClassifier(**shape).fit(X, y > y.median()).network_
    assert network.linear
    assert not other.linear
    np.testing.assert_allclose(network.hidden, other.hidden, atol=1e-7)
    np.testing.assert_allclose(network.output, other.output, atol=1e-7)


@pytest.mark.parametrize(("centre", "unit"), [(1e9, 1.0), (0.0, 1e-9), (-5.0, 1e12), (3.0, 2.0)])
def test_the_unit_of_y_does_not_matter(friedman, centre, unit):
    X, y = friedman
    plain = NetworkRegressor(random_state=0).fit(X, y)
    other = NetworkRegressor(random_state=0).fit(X, centre + unit * y)
    np.testing.assert_allclose((other.predict(X) - centre) / unit, plain.predict(X), rtol=1e-3)


@pytest.mark.parametrize("container", [list, pd.Series, lambda y: pd.array(y, dtype="Int64")])
def test_whole_numbers_are_numbers(friedman, container):
    X, y = friedman
    y = np.rint(y).astype(int)
    expected = NetworkRegressor(epochs=3, random_state=0).fit(X, y.astype(float)).predict(X)
    assert np.array_equal(
        NetworkRegressor(epochs=3, random_state=0).fit(X, container(y)).predict(X), expected
    )


def test_rows_without_weight_are_not_there(mixed):
    X, y = mixed
    weights = (np.arange(60) < 40).astype(float)
    far = np.where(weights > 0, y, 1e100)  # scaled by the other rows, more than single precision holds
    part = NetworkRegressor(random_state=0).fit(X[:40], y[:40])
    whole = NetworkRegressor(random_state=0).fit(X, far, sample_weight=weights)
    assert np.array_equal(part.predict(X), whole.predict(X))
    again = NetworkRegressor(random_state=0).fit(X, y, sample_weight=7 * weights)
    np.testing.assert_allclose(again.predict(X), whole.predict(X), rtol=1e-6)


def test_weights_pull(mixed):
    X, _ = mixed
    y = np.arange(60) % 2  # nothing to learn but the mean
    for factor in (9.0, 1e9):
        weights = np.where(y == 1, factor, 1.0)
        pulled = NetworkRegressor(random_state=0).fit(X, y, weights).predict(X).mean()
        assert pulled == pytest.approx(np.average(y, weights=weights), abs=0.15)


@pytest.mark.parametrize("rate", [0.15, 100.0, 1e30])
def test_a_rate_that_is_too_large_does_not_diverge(friedman, rate):
    X, y = friedman
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # saturated units
        network = NetworkRegressor(learning_rate=rate, random_state=0).fit(X, y)
    assert network.score(X, y) > (0.7 if rate < 1 else -3)


def test_a_wide_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1500))
    y = X[:, 0] + X[:, 1]
    assert NetworkRegressor(epochs=10, random_state=0).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        ([1.0, 2.0, np.nan, 4.0], ValueError, "Input y contains NaN: drop the rows"),
        ([1.0, 2.0, np.inf, 4.0], ValueError, "Input y contains infinity"),
        (["a", "b", "c", "d"], ValueError, "y holds text, but NetworkRegressor predicts numbers: convert"),
        ([3.0, 3.0, 3.0, 3.0], ValueError, "y has one value, 3.0: NetworkRegressor needs at least two"),
        ([1.0, 2.0, 3.0], ValueError, "inconsistent numbers of samples"),
    ],
)
def test_bad_targets(y, error, message):
    with pytest.raises(error, match=message):
        NetworkRegressor().fit(np.arange(8.0).reshape(4, 2), y)


def test_bad_weights():
    X, y = np.arange(8.0).reshape(4, 2), [1.0, 2.0, 2.0, 2.0]
    with pytest.raises(ValueError, match="All rows with a positive sample_weight have the same y"):
        NetworkRegressor().fit(X, y, [0, 1, 1, 1])
    model = NetworkRegressor(random_state=0).fit(X, y, [1e-200, 1, 1, 1])
    assert np.isfinite(model.predict(X)).all()


def test_copies(mixed):
    X, y = mixed
    model = NetworkRegressor(random_state=0, n_hidden=3, epochs=2).fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert np.array_equal(clone(model).fit(X, y).predict(X), model.predict(X))
