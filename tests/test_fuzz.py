"""A part of the fuzz of `fuzz_estimators.py`: the same cases each time, and what it can tell."""

import os
import signal
import sys

import numpy as np
import pytest

import foresift

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process")

if sys.platform == "linux":
    import fuzz_checks
    import fuzz_estimators
    from fuzz_parameters import draw_parameters
    from fuzz_tables import draw_sketch

N_SHARES = 4  # so that several workers of pytest can run them


@pytest.mark.parametrize(
    ("seed", "rounds"), [(0, 6), pytest.param(1, 60, marks=pytest.mark.slow)], ids=["quick", "slow"]
)
@pytest.mark.parametrize("share", range(N_SHARES))
def test_random_tables_and_parameters(share, seed, rounds):
    names = fuzz_checks.names()[share::N_SHARES]
    found, n_run, _ = fuzz_estimators.findings_of(names, seed=seed, rounds=rounds)
    assert n_run >= rounds * (len(names) - 2)
    assert not found, "\n" + fuzz_estimators.report(found)


def test_every_public_name_is_fuzzed():
    names = fuzz_checks.names()
    estimators = {name for name in foresift.__all__ if hasattr(getattr(foresift, name), "fit")}
    assert {*estimators, "select", "compare", "commonality"} <= set(names)
    for module in (foresift.importance, foresift.criteria, foresift.stats):
        assert [name for name in module.__all__ if name.islower() and name not in names] == []


def test_a_case_does_the_same_every_time():
    stories = [fuzz_checks.run_case("CartClassifier", 5).story for _ in range(2)]
    assert stories[0] == stories[1]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: [][0], "IndexError"),
        (lambda: np.zeros(3).reshape(2), "ValueError that is internal"),
        (lambda: float("a"), "ValueError that is no sentence"),
        (lambda: exec("raise ValueError"), "ValueError that is without a word"),
        (lambda: exec("raise MemoryError"), "MemoryError"),
    ],
)
def test_what_is_a_finding(call, kind):
    case = fuzz_checks.Case("test", 0)
    assert case.attempt("call", call) is fuzz_checks.Failed
    assert [finding["kind"] for finding in case.findings] == [kind]


def test_what_is_none():
    case = fuzz_checks.Case("test", 0)
    assert case.attempt("call", lambda: 3) == 3
    model = foresift.CartClassifier()
    assert case.attempt("fit", lambda: model.fit([[1.0], [2.0]], [0, 0])) is fuzz_checks.Failed
    assert case.attempt("set", lambda: model.set_params(a=1)) is fuzz_checks.Failed
    assert not case.findings


@pytest.mark.parametrize("how", [signal.SIGSEGV, signal.SIGSTOP])
def test_a_crash_and_a_hang_are_findings_of_their_case(how, monkeypatch):
    monkeypatch.setattr(fuzz_estimators, "CASE_SECONDS", -1)
    with fuzz_estimators.Worker() as worker:
        worker.start()
        os.kill(worker.process.pid, how)
        (found,) = worker.run("CartClassifier", 7)
        assert (found["name"], found["number"], found["kind"]) == ("CartClassifier", 7, "crash or hang")
        assert "--only CartClassifier --case 7" in fuzz_estimators.report([found])
        monkeypatch.undo()
        assert worker.process is None  # the next case gets a new one


def test_parameters_are_drawn_for_every_estimator():
    rng = np.random.default_rng(0)
    for name in foresift.__all__:
        kind = getattr(foresift, name)
        if hasattr(kind, "get_params"):
            for _ in range(20):
                kind(**draw_parameters(rng, kind, draw_sketch(rng)))
