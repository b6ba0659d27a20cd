"""Weights of the rows, and progress reported through scikit-learn's callbacks where it has them."""

from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from foresift.data import sklearn_compat as _sklearn
from foresift.data.sklearn_compat import CallbackSupportMixin, ProgressBar, fit_context, track
from foresift.data.weights import check_sample_weight

needs_callbacks = pytest.mark.skipif(
    not _sklearn.HAS_CALLBACKS, reason="scikit-learn 1.9 has sklearn.callback"
)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, np.nan, 1.0], "Input sample_weight contains NaN"),
        ([1.0, np.inf, 1.0], "Input sample_weight contains infinity"),
        ([1.0, -0.5, 1.0], "Negative values in data passed to `sample_weight`"),
        ([0.0, 0.0, 0.0], "at least one non-zero number"),
        (0.0, "at least one non-zero number"),
        ([1.0, 1.0], r"sample_weight\.shape == \(2,\), expected \(3,\)! Give one weight per row"),
        (np.ones((3, 1)), "Sample weights must be 1D array or scalar"),
        (["a", "b", "c"], "could not convert string to float"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weights, 3)


def test_good_weights():
    assert check_sample_weight(None, 3) is None
    assert check_sample_weight(2, 3).tolist() == [2.0, 2.0, 2.0]
    assert check_sample_weight(pd.Series([0, 1, 2]), 3).tolist() == [0.0, 1.0, 2.0]
    own = np.ones(3)
    assert check_sample_weight(own, 3) is own
    assert check_sample_weight(np.ones(6)[::2], 3).flags.c_contiguous


class Worker(CallbackSupportMixin, BaseEstimator):
    """Finishes its subtasks in several threads."""

    _parameter_constraints: ClassVar = {"n_tasks": [int], "fails": ["boolean"]}

    def __init__(self, n_tasks=20, fails=False):
        self.n_tasks = n_tasks
        self.fails = fails

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        with track(self, self.n_tasks, task="tree", X=X, y=y) as progress:
            with ThreadPoolExecutor(4) as pool:
                answers = list(pool.map(lambda _: progress.advance(), range(self.n_tasks)))
            if self.fails:
                raise RuntimeError("half way")
        self.stopped_ = any(answers)
        return self


class Log:
    """A callback that writes down what it is told."""

    def __init__(self, stop_at=None):
        self.events, self.stop_at = [], stop_at

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        assert X is not None
        self.events.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.task_name, context.task_id))
        return context.task_id == self.stop_at

    def teardown(self, estimator, context):
        self.events.append("teardown")


@needs_callbacks
def test_callbacks_hear_of_every_subtask_once():
    log = Log()
    worker = Worker().set_callbacks(log).fit([[1.0]])
    assert log.events[:2] == ["setup", ("begin", "fit", 0)]
    assert log.events[-2:] == [("end", "fit", 0), "teardown"]
    pairs = [(what, "tree", k) for k in range(20) for what in ("begin", "end")]
    assert log.events[2:-2] == pairs
    assert not worker.stopped_
    assert not hasattr(worker, "_callback_fit_ctx")


@needs_callbacks
def test_callbacks_may_stop_the_fit_and_are_torn_down_after_an_error():
    assert Worker().set_callbacks(Log(stop_at=3)).fit([[1.0]]).stopped_
    log = Log()
    with pytest.raises(RuntimeError, match="half way"):
        Worker(fails=True).set_callbacks(log).fit([[1.0]])
    assert log.events[-1] == "teardown"
    assert ("end", "fit", 0) not in log.events


@needs_callbacks
def test_progress_bar(capsys):
    Worker().set_callbacks(ProgressBar()).fit([[1.0]])
    assert "Worker - fit" in capsys.readouterr().out


def test_without_callbacks():
    assert not Worker().fit([[1.0]]).stopped_
    with pytest.raises(_sklearn.InvalidParameterError, match="'n_tasks' parameter"):
        Worker(n_tasks="many").fit([[1.0]])


@pytest.mark.skipif(_sklearn.HAS_CALLBACKS, reason="stand-ins for scikit-learn before 1.9")
def test_stand_ins_say_what_is_missing():
    with pytest.warns(UserWarning, match=r"Callbacks need scikit-learn 1\.9"):
        worker = Worker().set_callbacks(Log())
    assert not worker.fit([[1.0]]).stopped_
    with pytest.raises(ImportError, match=r"ProgressBar needs scikit-learn 1\.9"):
        ProgressBar()
