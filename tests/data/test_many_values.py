"""Columns of more distinct values than there are codes: what reckons with values takes them as they are."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from foresift import (
    CartClassifier,
    FScoreSelector,
    GEFSClassifier,
    GEFSSelector,
    NetworkClassifier,
    PearsonSelector,
    ReliefFSelector,
    ReliefSelector,
    SubsetBaggingClassifier,
)
from foresift.data.numeric_coding import NumericCoder
from foresift.data.sklearn_compat import seed_of
from foresift.models.backprop import Backprop, MLPEnsemble

N = 140_000
FEW = {"population": 2, "n_candidates": 2, "initial_length": 1.0, "random_state": 0}


def make_problem(dtype=np.float64):
    rng = np.random.default_rng(0)
    steps = np.arange(N, dtype=dtype)
    steps[-1] = 1e9  # in one bin with the last but one
    X = np.column_stack([steps, rng.lognormal(sigma=3.0, size=N), rng.normal(size=N)]).astype(dtype)
    return X, (X[:, 2] + rng.normal(size=N) > 0).astype(int)


def standardised(X):
    X = X.astype(np.float64)
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.fixture(scope="module", params=[np.float64, np.float32])
def problem(request):
    return make_problem(request.param)


class Recorder(ClassifierMixin, BaseEstimator):
    """Asks for the columns as they are, and keeps what it is fitted to."""

    _parameter_constraints: ClassVar = {"categorical_features": "no_validation"}
    seen: ClassVar = []

    def __init__(self, categorical_features=None):
        self.categorical_features = categorical_features

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen.append(X)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_the_coder_standardises_the_values(problem):
    X, _ = problem
    assert np.allclose(NumericCoder().fit_transform(X), standardised(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("container", ["array", "frame", "mixed"])
def test_a_network_learns_from_what_it_predicts_on(container):
    X, y = make_problem()
    given = X if container == "array" else pd.DataFrame(X, columns=["a", "b", "c"])
    if container == "mixed":
        given["d"] = np.where(y == 1, "yes", "no")
    model = NetworkClassifier(epochs=1, n_hidden=2, random_state=0).fit(given, y)
    coding = model.coding_
    assert (coding.centre * coding.unit)[:3] == pytest.approx(X.mean(axis=0))
    assert (coding.unit / np.where(coding.gain, coding.gain, 1))[:3] == pytest.approx(X.std(axis=0))

    values = coding.code(model.schema_.encode(given, model))
    assert np.allclose(values[:, :3], standardised(X), rtol=1e-5, atol=1e-5)
    rates = {"learning_rate": model.learning_rate, "momentum": model.momentum}
    options = Backprop(2, 1, epochs=1, seed=seed_of(0), **rates)
    rows, inputs = np.arange(N, dtype=np.uint32), np.arange(values.shape[1], dtype=np.uint32)
    (network,) = MLPEnsemble(values, y.astype(np.int32), None, options).train([inputs], [rows], [0])
    assert np.array_equal(network.hidden, model.network_.hidden)


def test_genetic_ensembles_breed_on_the_values(problem):
    X, y = problem
    wanted = standardised(X)
    model = GEFSClassifier(epochs=1, n_hidden=1, **FEW).fit(X, y)
    assert model.coding_.centre * model.coding_.unit == pytest.approx(X.mean(axis=0, dtype=np.float64))

    model = GEFSClassifier(GaussianNB(), evaluate="training", **FEW).fit(X, y)
    for genome, member in zip(model.genomes_, model.estimators_, strict=True):
        assert member.theta_[1] == pytest.approx(wanted[y == 1][:, genome].mean(axis=0), rel=1e-3, abs=1e-6)


@pytest.mark.filterwarnings("ignore:.*answer the same for every row")
@pytest.mark.parametrize("make", [GEFSClassifier, GEFSSelector])
def test_members_that_read_columns_as_they_are_get_the_values(problem, make):
    X, y = problem
    Recorder.seen.clear()
    make(estimator=Recorder(), evaluate="training", **FEW).fit(X, y)
    columns = {X[:, j].tobytes() for j in range(3)}
    assert len(Recorder.seen) == 2
    for part in Recorder.seen:
        assert part.dtype == X.dtype
        assert {part[:, k].tobytes() for k in range(part.shape[1])} <= columns


def test_members_of_a_bagging_ensemble_get_the_values(problem):
    X, y = problem
    Recorder.seen.clear()
    SubsetBaggingClassifier(Recorder(), n_estimators=2, subset_size=2, random_state=0).fit(X, y)
    values = [set(X[:, j].tolist()) for j in range(3)]
    for part in Recorder.seen:
        drawn = [set(part[:, k].tolist()) for k in range(part.shape[1])]
        assert all(any(some <= whole for whole in values) for some in drawn)
        assert len(drawn) == 2
        assert max(map(len, drawn)) > 65_536


@pytest.mark.parametrize("make", [ReliefSelector, ReliefFSelector])
def test_relief_measures_distances_of_the_values(problem, make):
    X, y = problem
    n_neighbors = 1 if make is ReliefSelector else 10
    scores = make(n_samples=20, random_state=0).fit(X, y).scores_
    low = X.min(axis=0).astype(np.float64)
    scaled = (X - low) / (X.max(axis=0) - low)
    sample = np.sort(np.random.default_rng(seed_of(0)).permutation(np.arange(N, dtype=np.uint32))[:20])
    wanted = np.zeros(3)
    for row in sample:
        away = np.abs(scaled - scaled[row])
        distance = away.sum(axis=1)
        distance[row] = np.inf
        for of_class, sign in ((y == y[row], -1), (y != y[row], 1)):
            nearest = np.argsort(np.where(of_class, distance, np.inf))[:n_neighbors]
            wanted += sign * away[nearest].mean(axis=0) / len(sample)
    assert scores == pytest.approx(wanted, rel=1e-6, abs=1e-12)


def test_means_and_deviations_are_those_of_the_values(problem):
    X, y = problem
    exact = X.astype(np.float64)
    wanted = [abs(np.corrcoef(column, y)[0, 1]) for column in exact.T]
    assert PearsonSelector().fit(X, y).scores_ == pytest.approx(wanted)
    no, yes = exact[y == 0], exact[y == 1]
    wanted = np.abs(no.mean(axis=0) - yes.mean(axis=0)) / (no.std(axis=0, ddof=1) + yes.std(axis=0, ddof=1))
    assert FScoreSelector().fit(X, y).scores_ == pytest.approx(wanted)


def test_trees_part_values_as_they_part_codes(problem):
    X, y = problem
    tree = CartClassifier(max_depth=3).fit(X, y)
    nodes, counts = tree.node_table_.nodes, tree.node_table_.counts
    shares, sizes = np.unique(tree.predict_proba(X)[:, 1], return_counts=True)
    leaves = nodes["first_child"] < 0
    wanted = {}
    for share, size in zip(
        counts[leaves, 1] / counts[leaves].sum(axis=1), nodes["size"][leaves], strict=True
    ):
        wanted[share] = wanted.get(share, 0) + size
    assert dict(zip(shares.tolist(), sizes.tolist(), strict=True)) == pytest.approx(wanted)
