"""A run that ends early, however it does, is gone on with, and gives what it would have given."""

import multiprocessing
import os
import signal
import sys
import time

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from foresift import RandomSelector, SiftForestClassifier
from foresift.evaluation.compare import compare
from foresift.evaluation.harness.evaluate import Protocol, plan_scores
from foresift.evaluation.harness.run import Interrupted, Outcome, WorkerLost, run
from foresift.evaluation.harness.store import Store
from foresift.evaluation.harness.tasks import Data, Job, Record, Unit

X, Y = make_classification(60, 8, n_informative=4, random_state=0)
DATA = Data.of("toy", X, Y)
METHODS = {"none": None, "random": RandomSelector(3)}
MODELS = {"nb": GaussianNB(), "tree": DecisionTreeClassifier()}
RESULTS = "SELECT * FROM units ORDER BY key"


def plan(**protocol):
    return plan_scores(DATA, METHODS, MODELS, Protocol(**{"cv": 3, **protocol}))


def numbers(data, arguments, units):
    """A kind of unit of its own: says which number it was, and may do something on the way."""
    for unit in units:
        if arguments:
            arguments(unit.fold)
    return [Record(unit, {"number": {"all": float(unit.fold)}}) for unit in units]


def number_jobs(n, what=None):
    units = [Unit("number", "toy", DATA.checksum, *[""] * 5, 0, fold, "", 0, "", "") for fold in range(n)]
    return [Job(numbers, DATA.checksum, what, (unit,)) for unit in units]


def odd_fails(fold):
    if fold % 2:
        raise ValueError(f"{fold} is odd")


def fifth_interrupts(fold):
    if fold == 5:
        raise KeyboardInterrupt


def test_only_what_is_missing_is_done():
    done = []
    with Store(":memory:") as store:
        jobs = number_jobs(6, done.append)
        assert run(jobs[:4], [DATA], store) == Outcome(4, 0, 4, 0)
        assert run(jobs, [DATA], store) == Outcome(6, 4, 2, 0)
        assert run(jobs * 2, [DATA], store) == Outcome(6, 6, 0, 0)
    assert done == list(range(6))


def test_part_of_a_job_is_missing():
    """Classifiers that come later do what is theirs, with the same selections."""
    with Store(":memory:") as store, Store(":memory:") as other:
        only = plan_scores(DATA, METHODS, {"tree": MODELS["tree"]}, Protocol(3))
        assert run(only, [DATA], store).n_done == 6
        assert run(plan(), [DATA], store) == Outcome(12, 6, 6, 0)
        run(plan(), [DATA], other)
        assert store.sql(RESULTS) == other.sql(RESULTS)


def test_failures_are_kept_and_tried_again_on_request():
    with Store(":memory:") as store:
        assert run(number_jobs(6, odd_fails), [DATA], store) == Outcome(6, 0, 3, 3)
        assert run(number_jobs(6), [DATA], store) == Outcome(6, 6, 0, 0)
        assert store.sql("SELECT error FROM runs ORDER BY error DESC LIMIT 1") == [("ValueError: 5 is odd",)]
        assert run(number_jobs(6), [DATA], store, retry_failed=True) == Outcome(6, 3, 3, 0)
        assert set(store.statuses().values()) == {"done"}


def test_ctrl_c_keeps_what_is_finished():
    with Store(":memory:") as store:
        with pytest.raises(Interrupted, match="5 of 8 tasks are in :memory:"):
            run(number_jobs(8, fifth_interrupts), [DATA], store)
        assert len(store.records()) == 5
        assert run(number_jobs(8), [DATA], store) == Outcome(8, 5, 3, 0)


def test_progress_is_told():
    told = []
    with Store(":memory:") as store:
        run(number_jobs(2), [DATA], store)
        run(number_jobs(4, odd_fails), [DATA], store, progress=lambda *counts: told.append(counts))
    assert told == [(3, 0, 4), (4, 1, 4)]


def test_bar_says_how_long_it_takes(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Store(":memory:") as store:
        run(number_jobs(4, odd_fails), [DATA], store, progress=True)
    drawn = capsys.readouterr().err
    assert "4/4" in drawn
    assert "2 failed" in drawn


def test_processes_give_the_same(tmp_path):
    with Store(tmp_path / "one.sqlite") as one, Store(tmp_path / "two.sqlite") as two:
        assert run(plan(), [DATA], one).n_done == 12
        assert run(plan(), [DATA], two, n_jobs=2).n_done == 12
        assert one.sql(RESULTS) == two.sql(RESULTS)
        workers = two.sql("SELECT DISTINCT json_extract(about_host, '$.pid') FROM runs")
        assert os.getpid() not in [pid for (pid,) in workers]


def test_jobs_at_once_have_one_thread_each():
    threads = []

    def count(fold):
        threads.append(joblib.effective_n_jobs(-1))

    with Store(":memory:") as store, joblib.parallel_config("threading"):
        run(number_jobs(3, count), [DATA], store, n_jobs=2)
    assert threads == [1, 1, 1]


def fourth_dies(fold):
    if fold == 4:
        time.sleep(0.5)  # others are stored meanwhile
        os.kill(os.getpid(), signal.SIGKILL)


def test_killed_worker_is_told(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        with pytest.raises(WorkerLost, match="use fewer processes"):
            run(number_jobs(8, fourth_dies), [DATA], store, n_jobs=2)
        known = len(store.records())
        assert run(number_jobs(8), [DATA], store) == Outcome(8, known, 8 - known, 0)


# --- kill -9 ---


def _compare(path):
    models = [("forest", SiftForestClassifier(5)), ("nb", GaussianNB())]
    compare(X, Y, ["info-gain", "random"], models, sizes=["own", 1, 3], cv=5, repeats=3, store=path)


def test_killed_at_any_moment_it_goes_on_as_if_nothing_had_been(tmp_path):
    """Twenty times kill -9, at random moments: the same results, bit for bit, and none of them twice."""
    whole, broken = tmp_path / "whole.sqlite", tmp_path / "broken.sqlite"
    start = time.perf_counter()
    _compare(whole)
    duration = time.perf_counter() - start
    rng, context, counts = np.random.default_rng(0), multiprocessing.get_context("fork"), []
    for _ in range(20):
        child = context.Process(target=_compare, args=(broken,))
        child.start()
        time.sleep(rng.uniform(0, duration / 6))
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        if broken.exists():
            with Store(broken) as store:
                assert store.sql("PRAGMA integrity_check") == [("ok",)]
                counts.append(len(store.statuses()))
    _compare(broken)
    with Store(whole) as one, Store(broken) as other:
        assert one.sql(RESULTS) == other.sql(RESULTS)
        assert len(one.sql("SELECT key FROM runs")) == len(other.sql("SELECT key FROM runs")) == 90
    assert counts == sorted(counts)  # nothing that was there got lost
    assert any(0 < count < 90 for count in counts), "no kill came in the middle"
