"""Work shared out among threads: results in order, what ends it early, and parallel work inside."""

import os
import threading
import time
import weakref

import pytest
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from foresift import _core
from foresift.engine.grow import InOrder, in_threads, one_blas_thread


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5])
def test_results_are_in_the_order_of_the_tasks(n_jobs):
    def work(k):
        time.sleep(0.002 * (k % 3))
        return k, threading.current_thread() is threading.main_thread()

    results = in_threads(work, range(20), n_jobs, _core.StopFlag())
    assert [k for k, _ in results] == list(range(20))
    assert {in_main for _, in_main in results} == {n_jobs in (None, 1)}
    assert in_threads(work, [], n_jobs, _core.StopFlag()) == []


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_what_comes_in_any_order_is_handed_on_by_number_and_let_go(n_jobs):
    taken, held = [], weakref.WeakSet()
    take = InOrder(lambda part: taken.append((part.number, len(held))))

    class Part:
        def __init__(self, number):
            self.number = number
            held.add(self)

    def work(k):
        time.sleep(0.004 * (k % 3 == 0))  # others overtake it
        if k != 25:
            take(k, Part(k))

    in_threads(work, range(30), n_jobs, _core.StopFlag())
    assert [number for number, _ in taken] == list(range(25))  # what comes after a gap does not count
    assert len(held) <= 4  # those behind the gap
    assert max(n for _, n in taken) < 25


def test_n_jobs_may_come_from_joblib():
    with parallel_config(n_jobs=2):
        names = in_threads(lambda _: threading.get_ident(), range(4), None, _core.StopFlag())
    assert threading.get_ident() not in names


class Flag:
    """Stands in for `StopFlag`, which only native code can read."""

    was_set = False

    def set(self):
        self.was_set = True


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_an_error_stops_the_others(error):
    begun, flag = [], Flag()

    def work(k):
        begun.append(k)
        if k == 2:
            raise error("third")
        while k < 2 and not flag.was_set:  # as native code does, they work until they are stopped
            time.sleep(0.001)
        time.sleep(0.01)

    with pytest.raises(error, match="third"):
        in_threads(work, range(2000), 3, flag)
    assert flag.was_set
    assert len(begun) < 2000


def test_parallel_work_inside_begins_no_processes():
    def work(_):
        return Parallel(n_jobs=2)(delayed(os.getpid)() for _ in range(2))

    inside = in_threads(work, range(3), 2, _core.StopFlag())
    assert {process for some in inside for process in some} == {os.getpid()}


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_linear_algebra_has_its_threads_again_when_users_that_overlap_are_done():
    # In one thread, as two threads could do it: some libraries do not listen to others than the main one.
    first, second = one_blas_thread(), one_blas_thread()
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first.__enter__()
        within = blas_threads()
        second.__enter__()
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        assert blas_threads() == before
    assert set(before) == {2}
    assert set(within) == {1}
