"""The kernel that trains networks: gradients, its slow twin, what it learns, and what it is given."""

import numpy as np
import pytest
import reference_mlp as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from foresift import _core


def train(values, target, inputs=None, rows=None, *, weights=None, number=0, **options):
    values = np.ascontiguousarray(values, dtype=np.float32)
    inputs = np.arange(values.shape[1]) if inputs is None else inputs
    rows = np.arange(len(values)) if rows is None else rows
    weights = None if weights is None else np.asarray(weights, np.float32)
    inputs, rows = np.asarray(inputs, np.uint32), np.asarray(rows, np.uint32)
    target = np.asarray(target)
    target = target.astype(np.float32 if target.dtype.kind == "f" else np.int32)
    return _core.train_network(
        values, target, weights, inputs, rows, number, None, _core.NetworkOptions(**options)
    )


def outputs(layers, values, inputs=None, linear=False):
    values = np.ascontiguousarray(values, dtype=np.float32)
    inputs = np.arange(values.shape[1]) if inputs is None else inputs
    return _core.network_outputs(*layers, np.asarray(inputs, np.uint32), values, linear)


def random_problem(seed, n_rows=12, n_columns=5, n_outputs=1, linear=False):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    values[:, 1] = rng.integers(0, 2, n_rows)  # a one-hot column
    values[:, 2] = 0  # a constant one
    return rng, values, rng.normal(size=n_rows) if linear else rng.integers(0, max(2, n_outputs), n_rows)


@pytest.mark.parametrize(("n_outputs", "linear"), [(1, False), (3, False), (1, True)])
def test_gradients_of_the_twin_equal_finite_differences(n_outputs, linear):
    rng, values, target = random_problem(0, n_outputs=n_outputs, linear=linear)
    layers = [rng.normal(size=(4, 6)), rng.normal(size=(n_outputs, 5))]
    slopes = reference.gradients(*layers, values[0], target[0], linear)
    for layer, slope in zip(layers, slopes, strict=True):
        for at in np.ndindex(layer.shape):
            before, e = layer[at], 1e-6
            layer[at] = before + e
            up = reference.error(*layers, values[0], target[0], linear)
            layer[at] = before - e
            down = reference.error(*layers, values[0], target[0], linear)
            layer[at] = before
            assert slope[at] == pytest.approx((up - down) / (2 * e), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("n_outputs", "linear"), [(1, False), (4, False), (1, True)])
def test_one_step_of_the_kernel_is_down_the_gradient(n_outputs, linear):
    """One row, one epoch, no momentum: weights move by -rate times the finite differences of the error."""
    _, values, target = random_problem(1, n_rows=1, n_outputs=n_outputs, linear=linear)
    rate, shape = 0.25, {"n_hidden": 6, "n_outputs": n_outputs, "seed": 3}
    before = train(values, target, epochs=0, **shape)
    after = train(values, target, epochs=1, learning_rate=rate, momentum=0.0, **shape)
    layers = [layer.astype(float) for layer in before]
    rate = reference.damped(rate, 0.0, *layers, values[0]) if linear else rate
    for k, layer in enumerate(layers):
        for at in np.ndindex(layer.shape):
            start, e = layer[at], 1e-5
            layer[at] = start + e
            up = reference.error(*layers, values[0], target[0], linear)
            layer[at] = start - e
            down = reference.error(*layers, values[0], target[0], linear)
            layer[at] = start
            assert after[k][at] - start == pytest.approx(-rate * (up - down) / (2 * e), abs=2e-7)


@pytest.mark.parametrize(("n_outputs", "linear"), [(1, False), (2, False), (5, False), (1, True)])
@pytest.mark.parametrize("n_hidden", [1, 4, 10, 17])
def test_training_equals_the_twin(n_hidden, n_outputs, linear):
    rng, values, target = random_problem(n_hidden, n_outputs=n_outputs, linear=linear)
    inputs = rng.integers(0, 5, size=7)  # some twice
    rows = rng.integers(0, 12, size=15)
    weights = rng.random(12) + 0.5
    options = {"n_hidden": n_hidden, "n_outputs": n_outputs, "epochs": 4, "seed": 11, "number": 2}
    ours = train(values, target, inputs, rows, weights=weights, **options)
    twin = reference.train(
        values.astype(float), target, inputs, rows, weights=weights, linear=linear, **options
    )
    for a, b in zip(ours, twin, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    expected = [reference.forward(*twin, row[inputs], linear)[1] for row in values.astype(float)]
    np.testing.assert_allclose(outputs(ours, values, inputs, linear), expected, atol=1e-4 if linear else 1e-5)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**63), st.integers(0, 10**6), st.integers(1, 20), st.integers(0, 4), st.floats(0.0, 0.99)
)
def test_one_epoch_equals_the_twin_for_any_shape(seed, number, n_hidden, n_outputs, momentum):
    linear, n_outputs = n_outputs == 0, max(1, n_outputs)
    rng, values, target = random_problem(seed % 1000, n_rows=6, n_outputs=n_outputs, linear=linear)
    inputs = rng.integers(0, 5, size=rng.integers(1, 9))
    options = {"n_hidden": n_hidden, "n_outputs": n_outputs, "epochs": 1, "momentum": momentum}
    ours = train(values, target, inputs, seed=seed, number=number, **options)
    twin = reference.train(
        values.astype(float), target, inputs, range(6), seed=seed, number=number, linear=linear, **options
    )
    for a, b in zip(ours, twin, strict=True):
        np.testing.assert_allclose(a, b, atol=5e-6)


def test_xor_is_learned():
    values = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    target = [0, 1, 1, 0]
    runs = [train(values, target, n_hidden=5, epochs=2000, number=k) for k in range(10)]
    right = [np.array_equal(outputs(run, values)[:, 0] > 0.5, np.array(target) == 1) for run in runs]
    assert sum(right) >= 9
    # Without the bias and the hidden layer nothing could: one input alone does not know it.
    alone = train(values, target, [0], n_hidden=5, epochs=2000)
    assert not np.array_equal(outputs(alone, values, [0])[:, 0] > 0.5, np.array(target) == 1)


def test_iris_is_learned():
    values, target = load_iris(return_X_y=True)
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    network = train(values, target, n_hidden=5, n_outputs=3, epochs=80)
    assert (outputs(network, values).argmax(axis=1) == target).mean() > 0.96


def test_weights_begin_uniform_and_depend_on_seed_and_number():
    values, target = np.zeros((1, 400)), [0]
    first, _ = train(values, target, n_hidden=20, epochs=0)
    assert np.abs(first).max() <= 0.5
    assert abs(first.mean()) < 0.01
    assert first.std() == pytest.approx(1 / np.sqrt(12), rel=0.03)
    for other in ({"seed": 1}, {"number": 1}):
        again, _ = train(values, target, n_hidden=20, epochs=0, **other)
        assert abs(np.corrcoef(first.ravel(), again.ravel())[0, 1]) < 0.05


def test_sigmoid_is_exact_to_single_precision_and_saturates():
    hidden = np.array([[1.0, 0.0]], np.float32)
    output = np.array([[0.0, 0.0]], np.float32)
    x = np.concatenate([np.linspace(-30, 30, 2001), [-1e30, 1e30]]).astype(np.float32)
    for layers in ((hidden, np.array([[1.0, 0.0]], np.float32)), (hidden, output)):
        out = _core.network_outputs(*layers, np.array([0], np.uint32), x[:, None])[:, 0]
        expected = reference.sigmoid(layers[1][0, 0] * reference.sigmoid(np.clip(x, -80, 80).astype(float)))
        assert np.abs(out - expected).max() < 3e-7


def test_a_rate_that_is_too_large_leaves_numbers_that_are_not():
    _, values, target = random_problem(3)
    layers = train(100 * values, target, n_hidden=5, epochs=50, learning_rate=3e38)
    assert not all(np.isfinite(layer).all() for layer in layers)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"inputs": [5]}, ValueError),
        ({"rows": [12]}, ValueError),
        ({"target": [0]}, ValueError),
        ({"weights": [1.0]}, ValueError),
        ({"n_hidden": 0}, ValueError),
        ({"n_layers": 2}, TypeError),
    ],
)
def test_arguments_that_do_not_fit(change, error):
    _, values, target = random_problem(4)
    with pytest.raises(error):
        train(**{"values": values, "target": target, "n_hidden": 3, **change})
    network = train(values, target, n_hidden=3)
    with pytest.raises(ValueError):
        outputs(network, values, [0, 1])
    with pytest.raises(ValueError, match="inputs has the number 4"):
        outputs(network, values[:, :4], range(5))
