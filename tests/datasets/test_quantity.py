"""The artificial table with a quantity: signal, blocks, categories and noise by their definitions."""

import math

import numpy as np
import pandas as pd
import pytest

from foresift.datasets import make_quantity


def test_quantity_is_the_sum_of_its_effects_and_noise():
    X, y, role = make_quantity(20_000, n_relevant=3, n_noise=2, noise=0.5, random_state=0)
    assert role.tolist() == ["relevant"] * 3 + ["noise"] * 2
    assert list(X) == ["x1", "x2", "x3", "x4", "x5"]
    values = X.to_numpy()
    error = y - values[:, :3].sum(axis=1) / math.sqrt(3)
    assert error.std() == pytest.approx(0.5, rel=0.03)
    assert y.var() == pytest.approx(1.25, rel=0.05)
    np.testing.assert_allclose(np.corrcoef(np.c_[values, error].T), np.eye(6), atol=0.03)
    assert make_quantity(noise=0, n_relevant=3, random_state=0)[1] == pytest.approx(
        make_quantity(noise=0, n_relevant=3, random_state=0)[0].to_numpy()[:, :3].sum(axis=1) / math.sqrt(3)
    )


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_blocks_of_a_quantity_are_correlated(correlation):
    X, y, role = make_quantity(
        20_000, n_relevant=2, n_noise=5, block_size=3, correlation=correlation, random_state=1
    )
    assert role.tolist() == ["relevant"] * 2 + ["redundant"] * 4 + ["noise"] * 5
    block = np.array([0, 1, 0, 0, 1, 1, 2, 2, 2, 3, 3])
    expected = np.where(block[:, None] == block, correlation, 0.0)
    np.fill_diagonal(expected, 1)
    np.testing.assert_allclose(np.corrcoef(X.to_numpy().T), expected, atol=0.03)
    # Given the relevant columns, the others say nothing.
    rest = y - X.to_numpy()[:, :2].sum(axis=1) / math.sqrt(2)
    assert np.abs(np.corrcoef(np.c_[rest, X.to_numpy()].T)[0, 1:]).max() < 0.03


def test_nominal_columns_of_a_quantity():
    X, y, role = make_quantity(
        20_000, n_relevant=4, n_noise=4, nominal=0.5, n_categories=4, noise=0.1, random_state=2
    )
    assert [column for column in X if X[column].dtype == "category"] == ["x2", "x4", "x6", "x8"]
    for column in ("x2", "x4", "x6", "x8"):
        counts = X[column].value_counts()
        assert sorted(counts.index) == ["c0", "c1", "c2", "c3"]
        assert counts.to_numpy() == pytest.approx([5000] * 4, rel=0.06)
        means = pd.Series(y).groupby(X[column], observed=True).mean()
        # The effects 3, 1, -1 and -3, over their deviation, in some order.
        expected = (
            np.array([-3, -1, 1, 3]) / math.sqrt(5) / 2 if role[int(column[1]) - 1] == "relevant" else 0
        )
        np.testing.assert_allclose(np.sort(means), expected, atol=0.06)
    assert (make_quantity(50, nominal=1.0)[0].dtypes == "category").all()


def test_interactions_of_a_quantity_need_both_columns():
    X, y, _ = make_quantity(50_000, n_relevant=5, n_noise=1, signal="interaction", noise=0, random_state=0)
    x = X.to_numpy().T
    np.testing.assert_allclose(y, (x[0] * x[1] + x[2] * x[3] + x[4]) / math.sqrt(3))
    assert y.var() == pytest.approx(1, abs=0.05)
    assert np.abs(np.corrcoef(np.vstack([y, x[:4]]))[0, 1:]).max() < 0.03


def test_noise_of_a_quantity():
    def error(**options):
        options = {"n_relevant": 2, "n_noise": 0, "random_state": 3, **options}
        noiseless = make_quantity(100_000, noise=0, **options)[1]
        return make_quantity(100_000, noise=2.0, **options)[1] - noiseless, noiseless

    plain, _ = error()
    assert plain.std() == pytest.approx(2, rel=0.02)
    assert (plain**4).mean() / plain.var() ** 2 == pytest.approx(3, rel=0.05)
    heavy, _ = error(heavy_tailed=True)
    assert heavy.std() == pytest.approx(2, rel=0.1)
    assert np.mean(np.abs(heavy) > 8) > 20 * np.mean(np.abs(plain) > 8) + 1e-3
    uneven, signal = error(heteroscedastic=True)
    assert uneven.std() == pytest.approx(2, rel=0.05)
    low, high = (np.abs(signal - at) < 0.1 for at in (-1, 1))
    assert uneven[high].std() / uneven[low].std() == pytest.approx(math.e, rel=0.1)


@pytest.mark.parametrize("options", [{}, {"block_size": 3, "nominal": 0.4, "heteroscedastic": True}])
def test_more_noise_columns_change_nothing_before_them_of_a_quantity(options):
    X, y, role = make_quantity(50, n_noise=20, random_state=5, **options)
    for n_noise in (0, 1, 7):
        fewer, same_y, roles = make_quantity(50, n_noise=n_noise, random_state=5, **options)
        pd.testing.assert_frame_equal(fewer, X.iloc[:, : len(roles)])
        np.testing.assert_array_equal(same_y, y)
        assert roles.tolist() == role[: len(roles)].tolist()
    assert not np.array_equal(make_quantity(50, random_state=6, **options)[1], y)


def test_a_quantity_may_be_noise_alone():
    X, y, role = make_quantity(30, n_relevant=0, n_noise=3, heteroscedastic=True, random_state=0)
    assert X.shape == (30, 3)
    assert set(role) == {"noise"}
    assert y.std() > 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 1}, "n_samples must be a whole number, 2 or more; got 1"),
        ({"n_relevant": -1}, "n_relevant must be a whole number, 0 or more"),
        ({"n_noise": 1.5}, "n_noise must be a whole number"),
        ({"block_size": 0}, "block_size must be a whole number, 1 or more"),
        ({"n_categories": 1}, "n_categories must be a whole number, 2 or more"),
        ({"correlation": 1.0}, "correlation must be from 0 to below 1"),
        ({"correlation": math.nan}, "correlation must be from 0"),
        ({"nominal": 1.1}, "nominal must be from 0 to 1"),
        ({"nominal": "all"}, "nominal must be from 0 to 1"),
        ({"noise": -1}, "noise must be a finite number, 0 or more"),
        ({"signal": "loud"}, 'signal must be "additive" or "interaction"'),
        ({"n_relevant": 0, "n_noise": 0}, "at least one column"),
    ],
)
def test_bad_values_of_a_quantity_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_quantity(**parameters)
