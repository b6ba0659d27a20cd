"""Fits report to scikit-learn's callbacks, and end when one of them asks for it."""

import numpy as np
import pytest
from callbacks import Listener
from sklearn.datasets import make_classification

from foresift import CartClassifier, SiftForestClassifier
from foresift.data.sklearn_compat import HAS_CALLBACKS

pytestmark = pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks came with scikit-learn 1.9")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callbacks_hear_of_every_tree(n_jobs):
    X, y = make_classification(300, 8, random_state=0)
    listener = Listener()
    forest = SiftForestClassifier(23, n_jobs=n_jobs, random_state=0).set_callbacks(listener).fit(X, y)
    assert listener.events == ["setup", "teardown"]
    trees = [task for name, task in listener.ended if name == "tree"]
    assert sorted(trees) == list(range(23))
    assert sorted(listener.begun) == sorted(listener.ended)
    assert listener.begun[0] == listener.ended[-1] == ("fit", 0)
    assert forest.node_tables_ == SiftForestClassifier(23, random_state=0).fit(X, y).node_tables_


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n", [100, 4000], ids=["small trees", "large trees"])
def test_a_callback_can_end_the_growth(n, n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 30)), rng.integers(0, 2, n)  # noise: deep trees
    listener = Listener(stop_after=3)
    forest = SiftForestClassifier(200, n_jobs=n_jobs, max_features=None, random_state=0)
    forest.set_callbacks(listener).fit(X, y)
    assert 3 <= len(forest.node_tables_) < 200
    assert listener.events == ["setup", "teardown"]
    assert np.isfinite(forest.predict_proba(X[:10])).all()


def test_the_progress_bar_of_scikit_learn():
    from sklearn.callback import ProgressBar

    X, y = make_classification(300, 8, random_state=0)
    forest = SiftForestClassifier(5, n_jobs=2, random_state=0).set_callbacks(ProgressBar()).fit(X, y)
    assert len(forest.node_tables_) == 5


def test_a_failing_callback_ends_the_fit_and_is_torn_down():
    class Failing(Listener):
        def on_fit_task_end(self, estimator, context, **about):
            raise KeyError("from the callback")

    X, y = make_classification(300, 8, random_state=0)
    for n_jobs in (1, 2):
        listener = Failing()
        with pytest.raises(KeyError, match="from the callback"):
            SiftForestClassifier(50, n_jobs=n_jobs).set_callbacks(listener).fit(X, y)
        assert listener.events == ["setup", "teardown"]


def test_a_tree_is_one_task():
    X, y = make_classification(300, 8, random_state=0)
    listener = Listener()
    CartClassifier().set_callbacks(listener).fit(X, y)
    assert listener.ended == [("tree", 0), ("fit", 0)]
