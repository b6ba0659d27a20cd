"""Work through a list of jobs: what is missing in the store is done, here or on a cluster, and stored."""

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
    """What `run` did.

    Attributes
    ----------
    n_units : int
        Units that were asked for.
    n_known : int
        Units that were in the store already.
    n_done, n_failed : int
        Units that were done now, and that failed now.
    """

    n_units: int
    n_known: int
    n_done: int
    n_failed: int


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: what is finished is stored; the message says how much."""


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
    """Do what is missing in the store.

    Each finished job is stored at once, by this process. A run that ends early, however it does, is gone on
    with by the same call. Results do not depend on `n_jobs`, on what was stored before, or on the machines.

    Parameters
    ----------
    jobs : iterable of Job
        The work, from `evaluate.plan_scores` for instance.
    data : iterable of Data
        The tables the jobs speak of.
    store : Store
        Where results go.
    n_jobs : int, default=None
        How many jobs run at once, each in a process of its own; -1 for all cores. Under
        ``joblib.parallel_config("dask")`` they run on the cluster instead, and `joblib.parallel_config` with
        another backend is followed too. What a job does in itself then runs in one thread.
    retry_failed : bool, default=False
        Whether units that failed before are tried again.
    progress : bool or callable, default=False
        Whether to draw a bar with the time left on standard error; or what to call with the numbers of units
        finished, failed among them, and wanted.

    Returns
    -------
    Outcome
        Counts.

    Raises
    ------
    Interrupted
        On Ctrl-C.
    WorkerLost
        If a process was killed, for lack of memory for instance.

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
        n_there = len(wanted & store.statuses().keys())  # one may have been stored and not counted
        raise Interrupted(f"Stopped: {n_there} of {n_units} units are in {store.path}.") from None
    return Outcome(n_units, n_known, n_done, n_failed)


def _without(jobs: Sequence[Job], known: set[str]) -> list[Job]:
    """Leave out known units, and those named a second time."""
    seen = set(known)
    missing = []
    for job in jobs:
        units = tuple(unit for unit in job.units if unit.key not in seen)
        seen.update(unit.key for unit in units)
        if units:
            missing.append(replace(job, units=units))
    return missing


def _perform_all(jobs: Sequence[Job], tables: dict[str, Data], n_jobs: int | None) -> Iterator[list[Record]]:
    """Yield the records of every job as they come."""
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
        # Each worker reads a table once, from a file that all of them share the memory of.
        paths = {key: Path(folder, f"{key}.joblib") for key in {job.data for job in jobs}}
        for key, path in paths.items():
            try:
                joblib.dump(tables[key], path)
            except OSError as error:
                error.filename = error.filename or str(path)  # a full disk names no file
                raise
        try:
            with _deaf_children():
                found = parallel(
                    joblib.delayed(_perform_from_file)(str(paths[job.data]), job) for job in jobs
                )
            yield from found
        except (KeyboardInterrupt, GeneratorExit):
            _end_workers()
            raise
        except TerminatedWorkerError as error:
            raise WorkerLost(
                "A worker process was killed, perhaps because memory ran out: take fewer at once (n_jobs,"
                " --jobs). What is finished is stored, and the same call goes on from there."
            ) from error


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Let processes that are started here not hear Ctrl-C: this one does, and ends them silently."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # or it would start now, and unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    heard: list[int] = []  # threads that do not block it get it all the same: it waits till all have started
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _: heard.append(number)) if main else None
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if main:
            signal.signal(signal.SIGINT, handler)
    if heard and callable(handler):
        handler(signal.SIGINT, None)  # who listens shall know of it
    if heard:
        raise KeyboardInterrupt


def _end_workers() -> None:
    """End joblib's processes, also those that are just starting, which would tell of a lost pipe."""
    executor = reusable_executor._executor
    if executor is not None:
        executor.shutdown(wait=True, kill_workers=True)


def _perform_from_file(path: str, job: Job) -> list[Record]:
    return perform(_load(path), job)


@lru_cache(maxsize=4)
def _load(path: str) -> Data:
    return joblib.load(path, mmap_mode="r")


def perform(data: Data, job: Job, *, alone: bool = False) -> list[Record]:
    """Do a job; an error of its function is that of all its units. Unless it is alone, it gets one thread.

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
