"""SURF and MultiSURF: against skrebate and a literal twin, and what must not change the weights."""

import numpy as np
import pytest
import reference_relief as reference
from oracle_tables import two_classes
from relief_tables import mixed_table, scaled

from foresift import MultiSURFSelector, SURFSelector
from foresift.data.table import make_table

BOTH = (SURFSelector, MultiSURFSelector)

# skrebate 0.8.4, n_jobs=1; no distance ties with a limit.
SKREBATE = {
    SURFSelector: [
        0.05748966992318196,
        -1.0117059851926077e-05,
        0.012433204355252934,
        -0.005968699806797114,
        -0.008155529510888257,
        0.05438150016873457,
        -0.02022283112781271,
        -0.013253352973488947,
    ],
    MultiSURFSelector: [
        0.0517237584969828,
        -6.91182036870329e-05,
        0.012364057089188231,
        -0.005839996910253447,
        -0.008608492044577608,
        0.04687022193326396,
        -0.013791690970370227,
        -0.012072104605951546,
    ],
}


@pytest.mark.parametrize("kind", BOTH)
def test_equals_skrebate(kind):
    X, y = two_classes()
    assert kind().fit(X, y).scores_ == pytest.approx(SKREBATE[kind], abs=1e-14)


def twin(kind, X, n_values, y, weights, quantity=False):
    return reference.surf(X, n_values, y, weights, by_row=kind is MultiSURFSelector, quantity=quantity)


def informative(X):
    return np.array([len(np.unique(column[~np.isnan(column)])) > 1 for column in X.T])


@pytest.mark.filterwarnings("ignore:No feature passed")
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("kind", BOTH)
def test_equals_the_twin(kind, seed):
    frame, X, n_values, y, rng = mixed_table(seed)
    y = y % (2 + seed % 2)
    some = informative(X)
    numbers = rng.normal(size=len(y)) if seed % 3 else rng.integers(0, 5, size=len(y)) + 0.5
    for weights in (None, rng.integers(1, 4, size=len(y)).astype(float)):
        ones = np.ones(len(y)) if weights is None else weights
        found = kind().fit(frame, y, sample_weight=weights).scores_
        assert found[some] == pytest.approx(twin(kind, X, n_values, y, ones)[some], abs=1e-12)
        found = kind().fit(frame, numbers, sample_weight=weights).scores_
        assert found[some] == pytest.approx(
            twin(kind, X, n_values, scaled(numbers), ones, True)[some], abs=1e-12
        )


@pytest.mark.parametrize("kind", BOTH)
def test_nominal_columns(kind):
    """Whole distances: many lie on the limit, or next to it."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(60, 6))
    y = (X[:, 0] + X[:, 1] > 2).astype(int)
    found = kind(categorical_features=range(6)).fit(X, y).scores_
    assert found == pytest.approx(twin(kind, X.astype(float), [3] * 6, y, np.ones(60)), abs=1e-13)


@pytest.mark.filterwarnings("ignore:No feature passed")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", BOTH)
def test_repeated_rows_are_weights(kind, seed):
    frame, _, _, y, rng = mixed_table(seed)
    weights = rng.integers(0, 4, size=len(y))
    weights[:3] = 1  # every class stays
    rows = np.repeat(np.arange(len(y)), weights)
    for target in (y, y + rng.random(len(y))):
        weighted = kind().fit(frame, target, sample_weight=weights.astype(float))
        repeated = kind().fit(frame.iloc[rows], target[rows])
        assert weighted.scores_ == pytest.approx(repeated.scores_, abs=1e-12)


@pytest.mark.parametrize("kind", BOTH)
def test_threads_samples_and_coded_tables(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 7))
    numbers = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=300)
    for y, task in ((np.digitize(numbers, [-1, 1]), "classification"), (numbers, "regression")):
        whole = kind().fit(X, y)
        assert set(whole.ranking_[:2]) == {1, 2}
        np.testing.assert_array_equal(kind(n_jobs=2).fit(X, y).scores_, whole.scores_)
        coded = kind().fit_table(make_table(X, y, task=task))
        assert coded.scores_ == pytest.approx(whole.scores_, abs=1e-12)
        many = [kind(n_samples=50, random_state=seed).fit(X, y).scores_ for seed in range(30)]
        assert np.mean(many, axis=0) == pytest.approx(
            whole.scores_, abs=5 * np.std(many, axis=0).max() / 30**0.5
        )


@pytest.mark.parametrize("kind", BOTH)
def test_the_task(kind):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 3)), np.arange(40) % 4
    as_classes = kind(3, task="classification").fit(X, y).scores_
    np.testing.assert_array_equal(kind(3).fit(X, y).scores_, as_classes)
    as_numbers = kind(3, task="regression").fit(X, y).scores_
    assert kind(3).fit(X, y + 0.5).scores_ == pytest.approx(as_numbers, abs=1e-15)
    assert not np.allclose(as_classes, as_numbers)
