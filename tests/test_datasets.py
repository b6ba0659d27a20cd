"""The artificial tables: their formulas written out again, their seeds, and what they refuse."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.feature_selection import f_classif

from foresift.datasets import make_friedman, make_simple

MAKERS = [make_simple, make_friedman]


@pytest.mark.parametrize("n_samples", [2, 3, 41, 300])
def test_simple_is_cut_at_the_median(n_samples):
    X, y = make_simple(n_samples, random_state=1)
    target = [float(row[0]) ** 2 + 2 * float(row[1]) for row in X]  # Rogers & Gunn eq. 23
    above = set(np.argsort(target)[-(n_samples // 2) :])
    assert y.tolist() == [int(row in above) for row in range(n_samples)]


@pytest.mark.parametrize("seed", range(5))
def test_friedman_without_noise(seed):
    X, y = make_friedman(noise=0.0, random_state=seed)
    for row, label in zip(X.tolist(), y, strict=True):  # Rogers & Gunn eq. 24
        x1, x2, x3, x4, x5 = row[:5]
        target = 10 * math.sin(math.pi * x1 * x2) + 20 * (x3 - 1 / 2) ** 2 + 10 * x4 + 5 * x5
        assert label == (target > 14)


@pytest.mark.parametrize("noise", [0.0, 1.0, 3.0])
def test_friedman_is_the_table_of_scikit_learn_in_two_classes(noise):
    X, y = make_friedman(500, n_noise=0, noise=noise, random_state=7)
    X_regression, target = make_friedman1(500, n_features=5, noise=noise, random_state=7)
    np.testing.assert_array_equal(X, X_regression)
    np.testing.assert_array_equal(y, target > 14)


def test_noise_of_friedman_moves_the_rows_near_the_threshold():
    """A row d below the threshold is above it with the probability that a Gaussian exceeds d."""
    n = 20_000
    X, y = make_friedman(n, n_noise=0, noise=1.0, random_state=0)
    x1, x2, x3, x4, x5 = X.T
    target = 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
    for low in (-2.0, -1.0, 0.0, 1.0):
        rows = (target - 14 >= low) & (target - 14 < low + 1)
        expected = np.mean([0.5 * math.erfc((14 - t) / math.sqrt(2)) for t in target[rows]])
        assert y[rows].mean() == pytest.approx(expected, abs=0.03)


def test_classes_are_balanced():
    assert make_simple(300, random_state=0)[1].sum() == 150
    assert make_simple(301, random_state=0)[1].sum() == 150
    assert 0.5 < make_friedman(20_000, random_state=0)[1].mean() < 0.56


@pytest.mark.parametrize(
    ("make", "n_samples", "n_features"), [(make_simple, 300, 9), (make_friedman, 200, 10)]
)
def test_defaults_are_those_of_the_paper(make, n_samples, n_features):
    X, y = make(random_state=0)
    assert X.shape == (n_samples, n_features)
    assert X.dtype == np.float64
    assert y.shape == (n_samples,)
    assert y.dtype == np.int64
    assert set(y) == {0, 1}
    assert X.min() >= 0
    assert X.max() < 1


@pytest.mark.parametrize("make", MAKERS)
def test_all_columns_are_uniform_and_independent(make):
    X, _ = make(20_000, n_noise=4, random_state=3)
    np.testing.assert_allclose(X.mean(axis=0), 0.5, atol=0.01)
    np.testing.assert_allclose(X.var(axis=0), 1 / 12, atol=0.002)
    np.testing.assert_allclose(np.corrcoef(X.T), np.eye(X.shape[1]), atol=0.03)


def test_the_second_column_of_simple_carries_most():
    X, y = make_simple(5000, random_state=0)
    scores = f_classif(X, y)[0]
    assert scores[1] > 2 * scores[0]
    assert scores[0] > 10 * scores[2:].max()


@pytest.mark.parametrize("make", MAKERS)
def test_more_noise_columns_change_nothing_before_them(make):
    X, y = make(50, n_noise=20, random_state=5)
    for n_noise in (0, 1, 7):
        fewer, same_y = make(50, n_noise=n_noise, random_state=5)
        np.testing.assert_array_equal(fewer, X[:, : fewer.shape[1]])
        np.testing.assert_array_equal(same_y, y)


def test_the_noise_of_friedman_leaves_the_columns_alone():
    np.testing.assert_array_equal(
        make_friedman(noise=0.0, random_state=2)[0], make_friedman(noise=2.0, random_state=2)[0]
    )


@pytest.mark.parametrize("make", MAKERS)
def test_seeds(make):
    X, y = make(random_state=4)
    for state in (4, np.int64(4), np.random.RandomState(4)):
        again = make(random_state=state)
        np.testing.assert_array_equal(again[0], X)
        np.testing.assert_array_equal(again[1], y)
    assert not np.array_equal(make(random_state=6)[0], X)
    assert not np.array_equal(make()[0], make()[0])
    state = np.random.RandomState(4)
    assert not np.array_equal(make(random_state=state)[0], make(random_state=state)[0])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 1}, "n_samples must be a whole number, 2 or more; got 1"),
        ({"n_samples": 10.0}, "n_samples must be a whole number"),
        ({"n_samples": None}, "n_samples must be a whole number"),
        ({"n_noise": -1}, "n_noise must be a whole number, 0 or more; got -1"),
        ({"n_noise": 0.5}, "n_noise must be a whole number"),
        ({"random_state": "seed"}, "random_state|seed"),
    ],
)
def test_bad_values_are_refused(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters)


@pytest.mark.parametrize("noise", [-0.1, math.nan, math.inf, "loud", None])
def test_bad_noise_is_refused(noise):
    with pytest.raises(ValueError, match="noise must be a finite number, 0 or more"):
        make_friedman(noise=noise)
