"""Coding of columns as inputs, networks as a classifier, and populations of them in threads."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from foresift import CartClassifier, GEFSClassifier, NetworkClassifier
from foresift.data.numeric_coding import InputCoding, ValueTable
from foresift.data.table import make_table
from foresift.models.backprop import Backprop, MLPEnsemble, step_weights
from foresift.models.networks import probabilities

RATES = {"epochs": 5, "learning_rate": 0.15, "momentum": 0.9}


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(3, 2, 60), "colour": rng.choice(["red", "blue", "green"], 60)})
    frame["same"] = 4.0
    frame["flag"] = rng.random(60) < 0.5
    return frame, rng.integers(0, 2, 60)


def coding_of(X, y, weights=None):
    table = ValueTable.open(X, y)
    return InputCoding.learn(table.values, table.schema.categories, weights), table.values, table


def test_coding_equals_scikit_learns(mixed):
    X, y = mixed
    coding, rows, _ = coding_of(X, y)
    assert coding.starts.tolist() == [0, 1, 4, 5, 7]
    values = coding.code(rows)
    np.testing.assert_allclose(
        values[:, [0, 4]], StandardScaler().fit_transform(X[["size", "same"]]), rtol=1e-6
    )
    onehot = OneHotEncoder(sparse_output=False).fit_transform(X[["colour", "flag"]])
    assert np.array_equal(values[:, [1, 2, 3, 5, 6]], onehot)


def test_rows_of_a_table_are_those_that_prediction_reads(mixed):
    X, y = mixed
    X = X.mask(np.random.default_rng(1).random(X.shape) < 0.2)
    X["flag"] = X["flag"].astype("boolean")
    table = ValueTable.open(X, y)
    assert table.schema == make_table(X, y).schema
    assert np.array_equal(table.values, table.schema.encode(X), equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int64, bool])
def test_rows_of_an_array_are_not_copied_and_stay_narrow(dtype):
    X = np.random.default_rng(0).integers(0, 5, size=(20, 3)).astype(dtype)
    for data in (X, np.asfortranarray(X), sparse.csr_array(X), pd.DataFrame(X)):
        table = ValueTable.open(data)
        encoded = table.schema.encode(data)
        assert table.values.itemsize <= encoded.itemsize
        assert np.array_equal(table.values, encoded)
    if X.dtype.kind == "f":
        assert np.shares_memory(ValueTable.open(X).values, X)


def test_missing_and_unseen_are_nothing(mixed):
    X, y = mixed
    X.loc[:9, "size"] = np.nan
    X.loc[5:14, "colour"] = None
    coding, rows, table = coding_of(X, y)
    values = coding.code(rows)
    assert np.isfinite(values).all()
    assert (values[:10, 0] == 0).all()
    assert (values[5:15, 1:4] == 0).all()
    assert values[10:, 0].mean() == pytest.approx(0, abs=1e-6)  # standardised by the known ones
    new = X.iloc[:1].assign(colour="violet", size=1e30, same=17.0)
    coded = coding.code(table.schema.encode(new))
    assert (coded[0, 1:5] == 0).all()
    assert coded[0, 0] == 1e6


def test_weights_count_in_mean_and_deviation():
    X = np.array([[1.0], [2.0], [4.0], [100.0]])
    weights = np.array([1.0, 2.0, 1.0, 0.0])
    coding, rows, _ = coding_of(X, [0, 1, 0, 1], weights)
    repeated, _, _ = coding_of(X[[0, 1, 1, 2]], [0, 1, 1, 0])
    np.testing.assert_allclose(coding.code(rows), repeated.code(rows), rtol=1e-6)


@given(arrays(np.float64, 12, elements=st.floats(-1.7e308, 1.7e308)))
def test_any_finite_numbers_become_small_ones(column):
    coding, rows, _ = coding_of(column[:, None], np.arange(12) % 2)
    values = coding.code(rows)
    assert np.isfinite(values).all()
    assert np.abs(values).max() <= np.sqrt(12) + 1e-3


def test_a_nominal_column_of_missing_values_has_no_inputs():
    X = {"x": [1.0, 2.0, 3.0, 4.0], "empty": np.array([None] * 4, dtype=object)}
    coding, _, _ = coding_of(pd.DataFrame(X).astype({"empty": "category"}), [0, 1, 0, 1])
    assert coding.n_inputs == 1
    assert coding.inputs_of([1]).tolist() == []
    assert coding.inputs_of([1, 0, 0]).tolist() == [0, 0]


def test_nothing_but_missing_values():
    X, y = pd.DataFrame({"empty": pd.Categorical([None] * 10)}), np.arange(10) < 7
    network = NetworkClassifier(random_state=0).fit(X, y)
    assert network.predict(X).all()
    model = GEFSClassifier(CartClassifier(), population=3, n_candidates=5, random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (10, 2)
    assert GEFSClassifier(population=3, n_candidates=5, random_state=0).fit(X, y).predict(X).all()


def test_hidden_units_by_the_rule():
    rule = {(8, 2): 5, (47, 2): 5, (51, 2): 6, (134, 19): 19, (228, 2): 23, (9, 6): 6}
    for (n_inputs, n_classes), n_hidden in rule.items():
        options = Backprop.for_data(n_inputs, n_classes, seed=0, **RATES)
        assert options.n_hidden == n_hidden
        assert options.n_outputs == (1 if n_classes == 2 else n_classes)
    assert Backprop.for_data(8, 2, n_hidden=3, seed=0, **RATES).n_hidden == 3


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_same_networks_for_any_number_of_threads(n_jobs):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(50, 4)).astype(np.float32)
    target = rng.integers(0, 3, 50).astype(np.int32)
    inputs = [rng.integers(0, 4, size).astype(np.uint32) for size in (1, 9, 4, 2, 7)]
    rows = [rng.integers(0, 50, 50).astype(np.uint32) for _ in inputs]
    options = Backprop.for_data(4, 3, seed=1, **RATES)
    one = MLPEnsemble(values, target, None, options, 1)
    many = MLPEnsemble(values, target, None, options, n_jobs)
    expected = one.train(inputs, rows, range(5))
    networks = many.train(inputs, rows, range(5))
    for a, b in zip(expected, networks, strict=True):
        assert np.array_equal(a.inputs, b.inputs)
        assert np.array_equal(a.hidden, b.hidden)
        assert np.array_equal(a.output, b.output)
    assert np.array_equal(one.outputs(expected), many.outputs(networks))


def test_a_network_does_not_depend_on_its_company():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 3)).astype(np.float32)
    options = Backprop.for_data(3, 2, seed=1, **RATES)
    ensemble = MLPEnsemble(values, rng.integers(0, 2, 30).astype(np.int32), None, options)
    inputs = [np.array(columns, dtype=np.uint32) for columns in ([0], [1, 2], [0, 1, 2])]
    everything = np.arange(30, dtype=np.uint32)
    together = ensemble.train(inputs, [everything] * 3, [4, 5, 6])
    (alone,) = ensemble.train(inputs[1:2], [everything], [5])
    assert np.array_equal(alone.hidden, together[1].hidden)


def test_step_weights():
    assert step_weights(None) is None
    assert step_weights(np.full(3, 7.0)) is None
    weights = step_weights(np.array([0.0, 1.0, 3.0]))
    assert weights.tolist() == [0.0, 0.5, 1.5]


def test_probabilities():
    assert probabilities(np.array([[0.0, 0.0, 0.0]])) == pytest.approx(np.full((1, 3), 1 / 3))
    assert probabilities(np.array([[0.3]], dtype=np.float32)).sum() == 1


def test_learns_what_a_line_cannot():
    X, y = make_moons(400, noise=0.15, random_state=0)
    network = NetworkClassifier(epochs=60, random_state=0).fit(X[:200], y[:200])
    assert (
        network.score(X[200:], y[200:])
        > LogisticRegression().fit(X[:200], y[:200]).score(X[200:], y[200:]) + 0.05
    )


def test_iris():
    X, y = load_iris(return_X_y=True)
    network = NetworkClassifier(epochs=80, random_state=0).fit(X[::2], y[::2])
    assert network.score(X[1::2], y[1::2]) > 0.93
    assert network.predict_proba(X).sum(axis=1) == pytest.approx(1)


def test_rows_without_weight_are_not_there(mixed):
    X, y = mixed
    weights = (np.arange(60) < 40).astype(float)
    part = NetworkClassifier(random_state=0).fit(X[:40], y[:40])
    whole = NetworkClassifier(random_state=0).fit(X, y, sample_weight=weights)
    assert np.array_equal(part.predict_proba(X), whole.predict_proba(X))
    again = NetworkClassifier(random_state=0).fit(X, y, sample_weight=7 * weights)
    assert np.array_equal(again.predict_proba(X), whole.predict_proba(X))


def test_weights_pull(mixed):
    X, _ = mixed
    y = np.arange(60) % 2  # nothing to learn but the shares
    weights = np.where(y == 1, 9.0, 1.0)
    plain = NetworkClassifier(random_state=0, epochs=5).fit(X, y).predict_proba(X)[:, 1].mean()
    pulled = NetworkClassifier(random_state=0, epochs=5).fit(X, y, weights).predict_proba(X)[:, 1].mean()
    assert pulled > plain + 0.2


def test_divergence_is_an_error_that_says_what_to_do():
    X, y = make_moons(100, random_state=0)
    with pytest.raises(ValueError, match="smaller learning_rate"):
        NetworkClassifier(learning_rate=3e38, random_state=0).fit(X, y)


def test_saturation_is_a_warning_that_says_what_to_do():
    X, y = make_moons(100, random_state=0)
    with pytest.warns(UserWarning, match=r"the same for every row: with learning_rate=1000.*Use a smaller"):
        network = NetworkClassifier(learning_rate=1000, random_state=0).fit(X, y)
    assert len(np.unique(network.predict(X))) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NetworkClassifier(random_state=0).fit(X, y)
        NetworkClassifier(random_state=0).fit(
            np.ones((100, 2)), y
        )  # rows that are alike must be answered alike


@pytest.mark.parametrize(
    "parameters",
    [
        {"epochs": 0},
        {"epochs": 2**33},
        {"n_hidden": 0},
        {"n_hidden": 2**33},
        {"learning_rate": 0},
        {"momentum": 1.0},
        {"momentum": -0.1},
    ],
)
def test_parameters_out_of_range(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        NetworkClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])
