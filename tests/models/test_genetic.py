"""GEFSClassifier and GEFSSelector on real data: what they learn, that runs repeat, and what they refuse."""

import pickle

import numpy as np
import pandas as pd
import pytest
from callbacks import Listener
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from foresift import CartClassifier, GEFSClassifier, GEFSSelector
from foresift.data.sklearn_compat import HAS_CALLBACKS
from foresift.models.c45 import C45Classifier
from foresift.models.gefs.genes import adjusted
from foresift.models.networks import probabilities

SMALL = {"population": 6, "n_candidates": 18, "n_offspring": 4, "epochs": 5, "random_state": 0}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200, :8], y[:200]


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=120), "colour": rng.choice(["red", "blue", "green"], 120)})
    y = np.where((frame["colour"] == "red") ^ (frame["size"] > 0), "yes", "no")
    frame["noise"] = rng.normal(size=120)
    frame.loc[::9, "size"] = np.nan
    frame.loc[::11, "colour"] = None
    return frame, y


def genomes(model):
    return [genome.tolist() for genome in model.genomes_]


def story(model):
    """The history without the clock."""
    return [
        {key: value for key, value in record.items() if key != "seconds"} for record in model.generations_
    ]


def assert_same(a, b, X):
    assert genomes(a) == genomes(b)
    assert story(a) == story(b)
    assert np.array_equal(a.predict_proba(X), b.predict_proba(X))
    assert (a.n_trained_, a.n_diverged_, a.diversity_weight_) == (
        b.n_trained_,
        b.n_diverged_,
        b.diversity_weight_,
    )


def test_defaults_are_the_papers():
    parameters = GEFSClassifier().get_params()
    expected = {"population": 20, "n_candidates": 250, "mutation_rate": 0.5, "diversity_weight": 1.0}
    expected |= {"learning_rate": 0.15, "momentum": 0.9, "estimator": "mlp"}
    assert {key: parameters[key] for key in expected} == expected


def test_history_and_population(cancer):
    model = GEFSClassifier(**SMALL).fit(*cancer)
    assert [record["n_trained"] for record in model.generations_] == [6, 10, 14, 18]
    assert [record["generation"] for record in model.generations_] == [0, 1, 2, 3]
    assert len(model.genomes_) == len(model.estimators_) == len(model.fitness_) == 6
    assert model.n_trained_ == 18
    assert model.n_diverged_ == 0
    seconds = [record["seconds"] for record in model.generations_]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0
    weight = model.generations_[0]["diversity_weight"]
    for before, now in zip(model.generations_, model.generations_[1:], strict=False):
        assert now["diversity_weight"] == weight
        changes = (now[key] - before[key] for key in ("ensemble_error", "mean_error", "diversity"))
        weight = adjusted(weight, *changes)
    assert model.diversity_weight_ == weight


def test_the_ensemble_is_the_average_of_its_members(cancer):
    X, y = cancer
    model = GEFSClassifier(**SMALL).fit(X, y)
    values = model.coding_.code(X)
    mean = np.mean([network.outputs(values) for network in model.estimators_], axis=0, dtype=float)
    assert np.array_equal(model.predict_proba(X), probabilities(mean))
    assert np.array_equal(model.predict(X), model.classes_[(mean[:, 0] > 0.5).astype(int)])
    errors = [((network.outputs(values)[:, 0] > 0.5) != y).mean() for network in model.estimators_]
    assert model.generations_[-1]["mean_error"] == pytest.approx(np.mean(errors))
    assert model.generations_[-1]["ensemble_error"] == pytest.approx((model.predict(X) != y).mean())
    for genome, network in zip(model.genomes_, model.estimators_, strict=True):
        assert np.array_equal(network.inputs, genome)  # every column is one input


def test_breeding_makes_a_better_ensemble(cancer):
    X, y = make_classification(300, 30, n_informative=4, n_redundant=0, flip_y=0.05, random_state=0)
    long = GEFSClassifier(population=10, n_candidates=110, epochs=10, random_state=0).fit(X, y)
    first, last = long.generations_[0], long.generations_[-1]
    assert last["ensemble_error"] <= first["ensemble_error"]
    assert last["mean_error"] < first["mean_error"]


@pytest.mark.parametrize(
    "changes", [{}, {"evaluate": "oob"}, {"emphasis": "adaboost"}, {"evaluate": "validation"}]
)
def test_same_for_any_number_of_threads(changes, cancer):
    one = GEFSClassifier(**SMALL, **changes, n_jobs=1).fit(*cancer)
    two = GEFSClassifier(**SMALL, **changes, n_jobs=2).fit(*cancer)
    assert_same(one, two, cancer[0])


@pytest.mark.parametrize(
    "changes", [{}, {"evaluate": "oob"}, {"emphasis": "adaboost"}, {"estimator": GaussianNB()}]
)
def test_fit_more_goes_on(changes, cancer):
    X, y = cancer
    whole = GEFSClassifier(**SMALL, **changes).fit(X, y)
    part = GEFSClassifier(**{**SMALL, **changes, "n_candidates": 10}).fit(X, y)
    assert_same(pickle.loads(pickle.dumps(part)).fit_more(X, y, 8), whole, X)


def test_fit_more_wants_the_same_data(cancer):
    X, y = cancer
    model = GEFSClassifier(**SMALL).fit(X, y)
    before = model.predict_proba(X)
    for wrong in ((X + 1, y), (X[:, :5], y), (X, 1 - y), (X, y.astype(str))):
        with pytest.raises(ValueError, match="pass what fit was given"):
            model.fit_more(*wrong, 4)
    with pytest.raises(ValueError, match="pass what fit was given"):
        model.fit_more(X, y, 4, sample_weight=np.arange(len(y)))
    with pytest.raises(ValueError, match="parameters have changed"):
        clone(model).fit(X, y).set_params(epochs=9).fit_more(X, y, 4)
    with pytest.raises(ValueError, match="one more member"):
        model.fit_more(X, y, 0)
    for wrong in (2.5, "4", None, True):
        with pytest.raises(TypeError, match=r"n_candidates=.*pass an int"):
            model.fit_more(X, y, wrong)
    assert np.array_equal(model.predict_proba(X), before)
    assert model.fit_more(X, y, np.int64(4)).n_trained_ == 22


def test_time_and_patience(cancer):
    X, y = cancer
    no_time = GEFSClassifier(**SMALL, max_seconds=0).fit(X, y)
    assert no_time.n_trained_ == 6
    assert no_time.fit_more(X, y, 12).n_trained_ == 6
    patient = GEFSClassifier(**{**SMALL, "n_candidates": 400}, patience=2).fit(X, y)
    errors = [record["ensemble_error"] for record in patient.generations_]
    assert len(errors) == np.argmin(errors) + 3 < 50


@pytest.mark.skipif(not HAS_CALLBACKS, reason="needs scikit-learn 1.9")
def test_progress(cancer):
    listener = Listener()
    model = GEFSClassifier(**SMALL).set_callbacks(listener).fit(*cancer)
    assert listener.ended[:-1] == [("network", k) for k in range(18)]
    stopper = Listener(stop_after=8)
    stopped = GEFSClassifier(**SMALL).set_callbacks(stopper).fit(*cancer)
    assert stopped.n_trained_ == 10  # the generation is finished
    assert genomes(stopped) == genomes(GEFSClassifier(**{**SMALL, "n_candidates": 10}).fit(*cancer))
    assert model.n_trained_ == 18


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(),
        GaussianNB(),
        RidgeClassifier(),  # has no probabilities
        CartClassifier(max_depth=3),
        C45Classifier(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_other_classifiers(estimator, mixed):
    X, y = mixed
    model = GEFSClassifier(estimator, **SMALL, n_jobs=2).fit(X, y)
    again = GEFSClassifier(estimator, **SMALL).fit(X, y)
    assert_same(model, again, X)
    assert model.predict_proba(X).shape == (120, 2)
    assert {type(member) for member in model.estimators_} == {type(estimator)}
    assert 0 < model.generations_[-1]["mean_error"] < 0.6  # out of bag: full-grown trees make errors too
    assert np.array_equal(model.predict_proba(X)[:1], model.predict_proba(X[:1]))
    if not isinstance(estimator, RidgeClassifier | GaussianNB):
        assert model.score(X, y) > 0.8


def test_accuracy_out_of_bag(mixed):
    X, y = mixed
    trained = GEFSClassifier(DecisionTreeClassifier(), **SMALL, evaluate="training").fit(X, y)
    unseen = GEFSClassifier(DecisionTreeClassifier(), **SMALL).fit(X, y)
    assert trained.generations_[-1]["mean_error"] < unseen.generations_[-1]["mean_error"] - 0.05


def test_nominal_columns_as_they_are(mixed):
    X, y = mixed
    model = GEFSClassifier(CartClassifier(), **SMALL).fit(X, y)
    member = next(k for k, genome in enumerate(model.genomes_) if 1 in genome)
    place = model.genomes_[member].tolist().index(1)
    assert model.estimators_[member].schema_.nominal[place]
    assert model.estimators_[member].n_features_in_ == len(model.genomes_[member])


def test_held_out_rows(cancer):
    X, y = cancer
    model = GEFSClassifier(KNeighborsClassifier(1), **SMALL, evaluate="validation", validation_fraction=0.3)
    model.fit(X, y)
    assert all(
        member.n_samples_fit_ == 200 - sum(int(0.3 * n) for n in np.bincount(y))
        for member in model.estimators_
    )
    assert model.generations_[-1]["mean_error"] > 0  # one neighbour never errs on its own rows
    with pytest.raises(ValueError, match="holds out no row"):
        GEFSClassifier(**SMALL, evaluate="validation", validation_fraction=0.01).fit(X[:60], y[:60])


def test_weights(cancer):
    X, y = cancer
    weights = (np.arange(200) < 150).astype(float)
    for changes in ({}, {"evaluate": "oob"}, {"emphasis": "adaboost"}, {"estimator": GaussianNB()}):
        part = GEFSClassifier(**SMALL, **changes).fit(X[:150], y[:150])
        whole = GEFSClassifier(**SMALL, **changes).fit(X, y, sample_weight=weights)
        if "emphasis" not in changes:
            assert_same(part, whole, X)
        uneven = GEFSClassifier(**SMALL, **changes).fit(X, y, sample_weight=np.where(y == 1, 10.0, 1.0))
        assert uneven.predict_proba(X)[:, 1].mean() > whole.predict_proba(X)[:, 1].mean()
    with pytest.raises(ValueError, match=r"KNeighborsClassifier takes no sample_weight.*evaluate='oob'"):
        GEFSClassifier(KNeighborsClassifier(), evaluate="training").fit(X, y, sample_weight=np.arange(200))
    GEFSClassifier(KNeighborsClassifier(), **SMALL).fit(X, y, sample_weight=np.arange(200))


def test_one_column():
    X = np.linspace(-1, 1, 40)[:, None]
    model = GEFSClassifier(**SMALL).fit(X, X[:, 0] > 0)
    assert {gene for genome in genomes(model) for gene in genome} == {0}
    assert model.score(X, X[:, 0] > 0) > 0.9
    assert GEFSSelector(**SMALL).fit(X, X[:, 0] > 0).support_.tolist() == [True]


@pytest.mark.parametrize("evaluate", ["training", "oob", "validation"])
def test_a_class_with_one_example(evaluate, cancer):
    X, y = cancer[0][:40], cancer[1][:40].copy()
    y[7] = 2
    model = GEFSClassifier(**SMALL, evaluate=evaluate).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)


def test_constant_and_empty_columns(cancer):
    X, y = cancer
    X = np.column_stack([X[:, :2], np.full(200, 3.0), np.full(200, np.nan)])
    model = GEFSClassifier(**SMALL).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    constant = GEFSClassifier(**SMALL).fit(X[:, 2:], y)
    shares = constant.predict_proba(X[:, 2:])
    assert np.allclose(shares, shares[0])  # nothing to tell rows apart by


def test_constant_columns_are_in_no_genome(mixed):
    frame, y = mixed
    frame = frame.assign(one=1.0, same="x", none=np.nan, gone=np.where(np.arange(120) < 60, np.nan, 7.0))
    names = frame.columns
    weights = np.ones(120)
    weights[:10] = 0
    frame.loc[frame.index[:10], "one"] = 2.0  # where no row counts
    for estimator, constant in (
        ("mlp", ["one", "same", "none", "gone"]),  # a network takes a missing number for the mean
        (CartClassifier(), ["one", "same", "none"]),
    ):
        search = {**SMALL, "initial_length": 4.0, "estimator": estimator}
        first = GEFSClassifier(**{**search, "n_candidates": 6}).fit(frame, y, sample_weight=weights)
        assert set(names[np.concatenate(first.genomes_)]) == set(names) - set(constant)
        last = first.fit_more(frame, y, 40, sample_weight=weights)
        assert set(names[np.concatenate(last.genomes_)]) <= set(names) - set(constant)
        selector = GEFSSelector(**search).fit(frame, y, sample_weight=weights)
        scores = dict(zip(names, selector.scores_, strict=True))
        assert [scores[name] for name in constant] == [0.0] * len(constant)
        assert sum(scores.values()) == pytest.approx(1)
        n_varying = len(names) - len(constant)
        assert selector.support_.tolist() == [score >= 1 / n_varying for score in selector.scores_]


def test_selector_without_a_column_that_varies():
    X, y = np.tile([1.0, 2.0, 3.0], (30, 1)), np.arange(30) % 2
    assert GEFSSelector(1, **SMALL).fit(X, y).scores_.tolist() == [0.0] * 3
    with pytest.warns(UserWarning, match="No feature passed the rule"):
        GEFSSelector(**SMALL).fit(X, y)


def test_iris():
    X, y = load_iris(return_X_y=True)
    model = GEFSClassifier(n_candidates=60, random_state=0, n_jobs=2).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_selector_finds_columns_that_matter():
    X, y = make_classification(400, 12, n_informative=3, n_redundant=0, shuffle=False, random_state=1)
    selector = GEFSSelector(epochs=10, n_jobs=2, random_state=0).fit(X, y)
    assert selector.scores_.sum() == pytest.approx(1)
    assert set(np.flatnonzero(selector.ranking_ <= 3)) == {0, 1, 2}
    assert selector.support_.tolist() == (selector.scores_ >= 1 / 12).tolist()
    assert selector.n_trained_ == 250
    genes = np.concatenate(selector.genomes_)
    assert len(selector.genomes_) == len(selector.fitness_) == 20
    assert genes.min() >= 0
    assert genes.max() < 12


def test_selector_is_the_classifiers_search(cancer):
    X, y = cancer
    same = {**SMALL, "initial_length": 1.0, "diversity_weight": 0.5, "evaluate": "training"}
    selector, model = GEFSSelector(**same).fit(X, y), GEFSClassifier(**same).fit(X, y)
    assert [genome.tolist() for genome in selector.genomes_] == genomes(model)
    assert np.array_equal(selector.fitness_, model.fitness_)
