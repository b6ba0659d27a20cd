"""Features that better ones account for: copies go, whatever they are made of; parts of an XOR stay."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from foresift import ForestGainSelector
from foresift.datasets import make_simple


def selected(make, seed, **options):
    X, y = make(np.random.default_rng(seed))
    options = {"redundancy": 0.5, "bound": "exact", "n_estimators": 50, "n_jobs": 2, **options}
    return ForestGainSelector(random_state=seed, **options).fit(X, y)


# Every table has two columns that say the same, in front.


def numeric_copy(rng, n=200):
    a, b = rng.normal(size=(2, n))
    y = a + 0.5 * b + 0.3 * rng.normal(size=n) > 0
    return np.column_stack([a, a, b, rng.normal(size=n)]), y


def monotone(rng, n=200):
    X, y = numeric_copy(rng, n)
    X[:, 1] = np.exp(2 * X[:, 1])
    return X, y


def mirrored(rng, n=200):
    X, y = numeric_copy(rng, n)
    X[:, 1] = -(X[:, 1] ** 3)
    return X, y


def nominal_copy(rng, n=200):
    a = rng.integers(0, 4, n)
    y = (np.isin(a, [1, 2])) ^ (rng.random(n) < 0.15)
    columns = {"a": pd.Categorical(a), "same": pd.Categorical(a), "b": rng.normal(size=n)}
    return pd.DataFrame({**columns, "c": rng.choice(list("xyz"), n)}), y


def recoded(rng, n=200):
    X, y = nominal_copy(rng, n)
    X["same"] = X["a"].cat.rename_categories(dict(zip(range(4), "wzqp", strict=True))).astype(str)
    return X, y


def binary_copy(rng, n=200):
    a, b = rng.integers(0, 2, (2, n))
    y = a + b + 0.5 * rng.normal(size=n) > 1
    return np.column_stack([a, a, b, rng.integers(0, 2, n)]).astype(float), y


def copy_with_gaps(rng, n=200):
    X, y = numeric_copy(rng, n)
    X[::6, :2] = np.nan
    return X, y


def copy_of_three_classes(rng, n=200):
    X, y = numeric_copy(rng, n)
    return X, y + (X[:, 0] > 1)


def copy_in_simple(rng):
    X, y = make_simple(n_noise=2, random_state=int(rng.integers(2**31)))
    return X[:, [1, 1, 0, 2, 3]], y


@pytest.mark.parametrize("make", [numeric_copy, nominal_copy, binary_copy])
def test_of_two_copies_one_stays(make):
    assert [int(selected(make, seed).support_[:2].sum()) for seed in range(10)] == [1] * 10


@pytest.mark.parametrize(
    "make", [monotone, mirrored, recoded, copy_with_gaps, copy_of_three_classes, copy_in_simple]
)
def test_of_two_columns_that_say_the_same_one_stays(make):
    assert [int(selected(make, seed).support_[:2].sum()) for seed in (0, 7)] == [1, 1]


# Tables whose classes are the XOR of the first two columns.


def xor_of_signs(rng, n=200):
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] > 0) ^ (X[:, 1] > 0)


def xor_of_bits(rng, n=200):
    X = rng.integers(0, 2, (n, 4))
    return X, X[:, 0] ^ X[:, 1]


def xor_of_categories(rng, n=200):
    X, y = xor_of_bits(rng, n)
    return pd.DataFrame(X).set_axis(list("abcd"), axis=1).replace({0: "no", 1: "yes"}), y


@pytest.mark.parametrize("make", [xor_of_signs, xor_of_bits])
def test_both_parts_of_an_xor_stay(make):
    assert [int(selected(make, seed).support_[:2].sum()) for seed in range(10)] == [2] * 10


def test_both_parts_of_an_xor_of_categories_stay():
    for seed in (0, 7):
        assert selected(xor_of_categories, seed).support_[:2].all()


# --- what it tells ---


def test_shares():
    selector = selected(numeric_copy, 0)
    better, worse = np.argsort(selector.ranking_[:2])
    assert selector.redundancy_[better] == 0
    assert selector.redundancy_[worse] >= 0.5
    assert selector.redundancy_[2] < 0.5
    assert np.array_equal(
        selector.support_, (selector.scores_ > selector.thresholds_) & ~(selector.redundancy_ >= 0.5)
    )
    below = selector.scores_ <= selector.thresholds_
    assert np.isnan(selector.redundancy_[below]).all()  # they were not asked
    plain = selected(numeric_copy, 0, redundancy=None)
    assert not hasattr(plain, "redundancy_")
    assert plain.support_[:3].all()
    for name in ("scores_", "thresholds_", "ranking_"):
        assert np.array_equal(getattr(plain, name), getattr(selector, name))


def test_a_stricter_limit_drops_no_more():
    kept = [selected(numeric_copy, 1, redundancy=limit).support_.sum() for limit in (0.3, 0.6, 0.9)]
    assert kept == sorted(kept)


def test_as_many_as_wanted_the_redundant_ones_last():
    n_features = 4
    for k in range(1, n_features + 1):
        selector = selected(numeric_copy, 2, n_features_to_select=k)
        assert selector.support_.sum() == k
        if k == 2:
            assert selector.support_.tolist()[2:] == [True, False]
            assert selector.support_[:2].sum() == 1


def test_refitting_without_forgets_the_shares():
    X, y = numeric_copy(np.random.default_rng(0))
    selector = clone(selected(numeric_copy, 0))
    assert hasattr(selector.fit(X, y), "redundancy_")
    assert np.array_equal(clone(selector).fit(X, y).redundancy_, selector.redundancy_, equal_nan=True)
    selector.set_params(redundancy=None).fit(X, y)
    assert not hasattr(selector, "redundancy_")
    assert selector.support_[:2].all()


def test_weights_and_tiny_tables():
    X, y = numeric_copy(np.random.default_rng(0), 120)
    weights = np.random.default_rng(1).integers(0, 3, 120)
    selector = ForestGainSelector(redundancy=0.8, bound="exact", n_estimators=20, random_state=0)
    assert selector.fit(X, y, sample_weight=weights).support_.any()
    for n in (4, 9, 12):
        few = clone(selector).set_params(n_features_to_select=2).fit(X[:n], np.arange(n) % 2)
        assert few.support_.sum() == 2
