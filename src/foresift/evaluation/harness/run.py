"""Run the jobs whose results are missing in the store, on this machine or on a cluster."""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky import reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import get_active_backend

from foresift.evaluation.harness.cluster import run_on_cluster
from foresift.evaluation.harness.evaluate import attempt
from foresift.evaluation.harness.store import Store
from foresift.evaluation.harness.tasks import Data, Job, Record

__all__ = ["Interrupted", "Outcome", "WorkerLost", "run"]

Report = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Outcome:
    """Counts of tasks: wanted, already in the store, done now and failed now."""

    n_units: int
    n_known: int
    n_done: int
    n_failed: int


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: finished results are stored; the message says how many."""


class WorkerLost(RuntimeError):
    """A worker process on this machine was killed; the message says what to do."""


def run(
    jobs: Iterable[Job],
    data: Iterable[Data],
    store: Store,
    *,
    n_jobs: int | None = None,
    retry_failed: bool = False,
    progress: bool | Report = False,
) -> Outcome:
    """Run the tasks that are missing in the store.

    Each finished job is stored at once, by this process. After an interruption of any kind, the same call
    continues. Results do not depend on `n_jobs`, on what was stored before, or on the machines.

    Parameters
    ----------
    jobs : iterable of Job
        The jobs, for example from `evaluate.plan_scores`.
    data : iterable of Data
        The tables that the jobs use.
    store : Store
        Takes the results.
    n_jobs : int, default=None
        Number of processes; -1 for all cores. `joblib.parallel_config` is respected: with ``"dask"`` the jobs
        run on the cluster. Each job then uses one thread.
    retry_failed : bool, default=False
        Whether to run tasks again that failed before.
    progress : bool or callable, default=False
        Whether to show a progress bar on standard error; or a function of the numbers of finished, failed and
        wanted tasks.

    Returns
    -------
    Outcome
        Counts.

    Raises
    ------
    Interrupted
        On Ctrl-C.
    WorkerLost
        If a process was killed, for example for lack of memory.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from foresift import InfoGainSelector
    >>> from foresift.evaluation.harness.evaluate import Protocol, plan_scores
    >>> data = Data.of("iris", *load_iris(return_X_y=True))
    >>> jobs = plan_scores(data, {"gain": InfoGainSelector()}, {"nb": GaussianNB()}, Protocol(cv=3))
    >>> store = Store(":memory:")
    >>> run(jobs, [data], store)
    Outcome(n_units=3, n_known=0, n_done=3, n_failed=0)
    >>> run(jobs, [data], store)
    Outcome(n_units=3, n_known=3, n_done=0, n_failed=0)
    """
    jobs, tables = list(jobs), {table.checksum: table for table in data}
    for table in tables.values():
        store.add_data(table)
    known = {key for key, status in store.statuses().items() if status == "done" or not retry_failed}
    wanted = {unit.key for job in jobs for unit in job.units}
    n_units = len(wanted)
    missing = _without(jobs, known)
    n_missing = sum(len(job.units) for job in missing)
    n_known = n_units - n_missing
    n_done = n_failed = 0
    try:
        with _reporting(progress, n_known, n_units) as report:
            for records in _perform_all(missing, tables, n_jobs):
                store.add(records)
                failed = sum(bool(record.error) for record in records)
                n_failed, n_done = n_failed + failed, n_done + len(records) - failed
                report(n_known + n_done + n_failed, n_failed, n_units)
    except KeyboardInterrupt:
        n_stored = len(wanted & store.statuses().keys())  # one may have been stored and not counted
        raise Interrupted(f"Stopped: {n_stored} of {n_units} tasks are in {store.path}.") from None
    return Outcome(n_units, n_known, n_done, n_failed)


def _without(jobs: Sequence[Job], known: set[str]) -> list[Job]:
    """Leave out known and repeated tasks."""
    seen = set(known)
    missing = []
    for job in jobs:
        units = tuple(unit for unit in job.units if unit.key not in seen)
        seen.update(unit.key for unit in units)
        if units:
            missing.append(replace(job, units=units))
    return missing


def _perform_all(jobs: Sequence[Job], tables: dict[str, Data], n_jobs: int | None) -> Iterator[list[Record]]:
    """Yield the records of every job as they finish."""
    backend, _ = get_active_backend()
    if type(backend).__name__ == "DaskDistributedBackend":
        yield from run_on_cluster(backend.client, perform, jobs, tables)
        return
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    if joblib.effective_n_jobs(n_jobs) == 1:
        for job in jobs:
            yield perform(tables[job.data], job, alone=True)
        return
    with tempfile.TemporaryDirectory(prefix="foresift-") as folder:
        # Each worker maps a table once, from a file, so that all share its memory.
        paths = {key: Path(folder, f"{key}.joblib") for key in {job.data for job in jobs}}
        for key, path in paths.items():
            try:
                joblib.dump(tables[key], path)
            except OSError as error:
                error.filename = error.filename or str(path)  # a full disk names no file
                raise
        try:
            with _children_ignore_ctrl_c():
                found = parallel(
                    joblib.delayed(_perform_from_file)(str(paths[job.data]), job) for job in jobs
                )
            yield from found
        except (KeyboardInterrupt, GeneratorExit):
            _end_workers()
            raise
        except TerminatedWorkerError as error:
            raise WorkerLost(
                "A worker process was killed, perhaps because memory ran out: use fewer processes (n_jobs,"
                " --jobs). Finished results are stored, and the same call continues from there."
            ) from error


@contextmanager
def _children_ignore_ctrl_c() -> Iterator[None]:
    """Start processes that ignore Ctrl-C: this process handles it and ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # otherwise it would start now, and unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    received: list[int] = []  # other threads may still get the signal: it waits until all have started
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _: received.append(number)) if main else None
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if main:
            signal.signal(signal.SIGINT, handler)
    if received and callable(handler):
        handler(signal.SIGINT, None)
    if received:
        raise KeyboardInterrupt


def _end_workers() -> None:
    """End joblib's processes, also those that are just starting, which would complain about a lost pipe."""
    executor = reusable_executor._executor
    if executor is not None:
        executor.shutdown(wait=True, kill_workers=True)


def _perform_from_file(path: str, job: Job) -> list[Record]:
    return perform(_load(path), job)


@lru_cache(maxsize=4)
def _load(path: str) -> Data:
    return joblib.load(path, mmap_mode="r")


def perform(data: Data, job: Job, *, alone: bool = False) -> list[Record]:
    """Run a job; an error of its function counts for all its tasks. Unless alone, it gets one thread.

    Examples
    --------
    >>> from foresift.evaluation.harness.tasks import Unit
    >>> unit = Unit("toy", *[""] * 7, 0, 0, "", 0, "", "")
    >>> [record.error for record in perform(None, Job(len, "", None, (unit,)))]
    ['TypeError: len() takes exactly one argument (3 given)']
    """
    found: list[Record] = []

    def work() -> dict[str, Any]:
        found.extend(job.function(data, job.arguments, job.units))
        return {}

    with nullcontext() if alone else joblib.parallel_config(backend="sequential"):
        whole = attempt(job.units[0], work)
    return [replace(whole, unit=unit) for unit in job.units] if whole.error else found


def _reporting(progress: bool | Report, n_known: int, n_units: int) -> AbstractContextManager[Report]:
    if callable(progress):
        return nullcontext(progress)
    if not progress:
        return nullcontext(lambda finished, failed, wanted: None)
    from foresift.evaluation.harness.progress import units

    return units(n_known, n_units)
