"""An array with names beside it: the same data to everybody, and named columns to estimators of ours."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB

from foresift import AggregateSelector, InfoGainSelector, PearsonSelector, SequentialSelector
from foresift.data.containers import read
from foresift.data.named import NamedArray
from foresift.evaluation.harness.evaluate import Protocol, plan_scores, score_units
from foresift.evaluation.harness.tasks import Data

NAMES = ("a", "b", "c")


@pytest.fixture
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, (X[:, 1] + rng.normal(size=60) > 0).astype(int)


def test_reads_as_the_array_with_names(numbers):
    X, _ = numbers
    source = read(NamedArray(X, NAMES))
    assert source.names == NAMES
    assert source.array is X
    texts = np.array([["x", 1.0], [None, 2.0]], dtype=object)
    blocks, plain = (list(read(Z).blocks()) for Z in (NamedArray(texts, ("t", "n")), texts))
    for block, other in zip(blocks, plain, strict=True):
        np.testing.assert_array_equal(block.values, other.values)
        assert block.nominal == other.nominal


def test_objects_are_named_in_errors():
    X = np.array([[1.0, {}], [2.0, {}]], dtype=object)
    with pytest.raises(TypeError, match="column 'b' holds values of type dict"):
        list(read(NamedArray(X, ("a", "b"))).blocks())


@pytest.mark.parametrize(
    "selector",
    [
        InfoGainSelector(),
        PearsonSelector(n_features_to_select="cv"),
        SequentialSelector(GaussianNB(), n_features_to_select=1, random_state=0),
        AggregateSelector([InfoGainSelector(), SelectKBest(k=2)]),
    ],
)
def test_selectors_do_the_same(numbers, selector):
    X, y = numbers
    scores = selector.fit(X, y).scores_.copy()
    np.testing.assert_array_equal(selector.fit(NamedArray(X, NAMES), y).scores_, scores)
    assert selector.feature_names_in_.tolist() == list(NAMES)


@pytest.mark.parametrize("method", [InfoGainSelector(), SelectKBest(k=2)])
def test_units_of_a_mapping_are_those_of_its_array(numbers, method):
    X, y = numbers
    named = Data.of("toy", dict(zip(NAMES, X.T, strict=True)), y)
    plain = Data.of("toy", X, y)
    assert named.named
    assert not plain.named
    records = []
    for data in (named, plain):
        (job, *_) = plan_scores(data, {"m": method}, {"nb": GaussianNB()}, Protocol(cv=3, sizes=[1, 2]))
        records.append(score_units(data, job.arguments, job.units)[0])
    assert not records[0].error
    assert records[0].scores == records[1].scores
    assert records[0].features == records[1].features
