"""A fit that fails or is interrupted leaves an estimator as it was: the earlier model, or not fitted."""

import gc
import inspect
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from test_contract import ESTIMATORS, SEARCHES

from foresift import (
    AggregateSelector,
    GEFSClassifier,
    GEFSRegressor,
    RandomSelector,
    RelevanceSelector,
    SequentialSelector,
    SiftForestClassifier,
)
from foresift.data.numeric_coding import NumericCoder

pytestmark = pytest.mark.filterwarnings("ignore:No feature passed the rule")


def table(n_columns=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, n_columns))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=40) > 0, 1, 0)  # classes, or numbers


class Stop:
    """Raises KeyboardInterrupt at the n-th call of a Python function, as Ctrl-C does somewhere."""

    def __init__(self, after=None):
        self.n_calls, self.after = 0, after

    def __enter__(self):
        gc.disable()  # what is raised in a finalizer is lost, and those of other tests may be due any time
        self.before = sys.getprofile()
        sys.setprofile(self._count)
        return self

    def __exit__(self, *error):
        sys.setprofile(self.before)
        gc.enable()

    def _count(self, frame, event, argument):
        # What is raised in a generator that is being closed is lost.
        if event == "call" and not frame.f_code.co_flags & inspect.CO_GENERATOR:
            self.n_calls += 1
            if self.n_calls == self.after:
                raise KeyboardInterrupt


def answers(estimator, X):
    return estimator.transform(X) if hasattr(estimator, "transform") else estimator.predict(X)


def fitted(estimator, X, y):
    estimator = clone(estimator)
    for name in estimator.get_params():
        if name.split("__")[-1] == "random_state":
            estimator.set_params(**{name: 0})
    return estimator.fit(X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_after_a_failed_refit_the_earlier_model_answers(estimator):
    X, y = table()
    model = fitted(estimator, X, y)
    content, before = pickle.dumps(model), answers(model, X)
    for other, classes in [
        (X[:, :1], y[:1].repeat(40)),  # one class
        (pd.DataFrame(X[:, :2], columns=["a", "b"]), y[:-1]),  # a class short
        (X[:0], y[:0]),
    ]:
        with pytest.raises(ValueError, match=r"[A-Za-z]"):
            model.fit(other, classes)
        assert pickle.dumps(model) == content
    np.testing.assert_array_equal(answers(model, X), before)
    with pytest.raises(ValueError, match="is expecting 4 features"):
        answers(model, X[:, :1])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_after_a_failed_first_fit_nothing_is_fitted(estimator):
    X, y = table()
    model = clone(estimator)
    with pytest.raises(ValueError, match=r"[A-Za-z]"):
        model.fit(X, y[:1].repeat(40))
    with pytest.raises(NotFittedError):
        answers(model, X)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_ctrl_c_anywhere_in_a_refit(estimator):
    X, y = table()
    model = fitted(estimator, X, y)
    other, classes = table(n_columns=3, seed=1)
    content = pickle.dumps(model)
    pickle.loads(content).fit(other, classes)  # fills the caches of others
    with Stop() as counter:
        pickle.loads(content).fit(other, classes)
    # The last calls may be those of `Stop` itself.
    for after in np.random.default_rng(0).integers(10, counter.n_calls - 5, size=12):
        trial = pickle.loads(content)
        before = pickle.dumps(trial)
        with Stop(after), pytest.raises(KeyboardInterrupt):
            trial.fit(other, classes)
        if isinstance(trial, SEARCHES | GEFSClassifier | GEFSRegressor) and trial.n_features_in_ == 3:
            answers(trial, other)  # the best so far is a model like any other
        else:
            assert pickle.dumps(trial) == before


def test_a_refit_forgets_what_only_the_earlier_one_had():
    X, y = table()
    forest = SiftForestClassifier(20, oob_score=True, feature_sampling="confidence", random_state=0).fit(X, y)
    assert hasattr(forest, "oob_score_")
    forest.set_params(oob_score=False, feature_sampling="uniform").fit(X, y)
    assert not hasattr(forest, "oob_score_")
    assert not hasattr(forest, "confidence_intervals_")


def test_a_failed_warm_start_changes_nothing():
    X, y = table()
    options = {"feature_sampling": "confidence", "update_every": 5, "random_state": 0}
    forest = SiftForestClassifier(10, warm_start=True, **options).fit(X, y)
    content = pickle.dumps(forest)
    forest.set_params(n_estimators=40)
    for after in (200, 400, 600):
        with Stop(after), pytest.raises(KeyboardInterrupt):
            forest.fit(X, y)
    assert pickle.dumps(forest.set_params(n_estimators=10)) == content
    grown = forest.set_params(n_estimators=40).fit(X, y)
    whole = SiftForestClassifier(40, **options).fit(X, y)
    np.testing.assert_array_equal(grown.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("n_columns", [5_000, 200_000])
def test_many_columns_then_one(n_columns):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, n_columns)).astype(np.float32), rng.integers(0, 2, 20)
    model = SiftForestClassifier(20, max_features=200, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="class"):
        model.fit(X[:, :1], np.zeros(20))
    with pytest.raises(ValueError, match=f"is expecting {n_columns} features"):
        model.predict_proba(np.zeros((3, 1)))


def test_names_in_another_order():
    X, y = table(2)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = SiftForestClassifier(20, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="class"):
        model.fit(frame[["b", "a"]], y[:1].repeat(40))
    with pytest.raises(ValueError, match="same order"):
        model.score(frame[["b", "a"]], y)
    assert model.score(frame, y) == 1.0
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_a_search_that_was_stopped_keeps_its_best_set_of_the_new_table():
    X, y = table(6)
    selector = SequentialSelector(GaussianNB(), 1, cv=2).fit(X[:, :4], y)
    clone(selector).fit(X, y)
    with Stop() as counter:
        clone(selector).fit(X, y)
    with Stop(counter.n_calls // 2), pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    assert selector.interrupted_
    assert selector.n_features_in_ == len(selector.support_) == 6
    selector = RelevanceSelector(n_estimators=20, random_state=0).fit(X[:, :4], y)
    with Stop(500), pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    assert selector.n_features_in_ == len(selector.support_) == 4


def test_a_coder_keeps_what_it_learned_when_a_refit_fails():
    coder = NumericCoder().fit({"a": [1.0, 3.0], "b": ["x", "y"]})
    content = pickle.dumps(coder)
    with pytest.raises(ValueError, match="infinity"):
        coder.fit([[np.inf]])
    assert pickle.dumps(coder) == content
    with pytest.raises(NotFittedError):
        NumericCoder().transform([[1.0]])


@pytest.mark.parametrize(
    "nest",
    [
        lambda search: SiftForestClassifier(3, feature_sampling=search, random_state=0),
        lambda search: AggregateSelector([search, RandomSelector(random_state=0)]),
    ],
)
def test_a_search_inside_keeps_no_half_of_what_is_around_it(nest):
    X, y = table(6)
    model = nest(SequentialSelector(GaussianNB(), 1, cv=2)).fit(X, y)
    other = X[:, :4]
    pickle.loads(pickle.dumps(model)).fit(other, y)
    again = pickle.loads(pickle.dumps(model))
    with Stop() as counter:
        again.fit(other, y)
    for after in np.linspace(100, counter.n_calls - 100, 12).astype(int):
        trial = pickle.loads(pickle.dumps(model))
        before = pickle.dumps(trial)
        with Stop(after), pytest.raises(KeyboardInterrupt):
            trial.fit(other, y)
        assert pickle.dumps(trial) == before


def test_a_subclass_may_learn_before_it_fits():
    class Labelled(SiftForestClassifier):
        def fit(self, X, y):
            self.names_ = sorted(set(y))
            return super().fit(X, [self.names_.index(label) for label in y])

    X, y = table()
    y = np.where(y == 1, "yes", "no")
    assert Labelled(3, random_state=0).fit(X, y).fit(X, y).names_ == ["no", "yes"]
