"""Jobs on a Dask cluster: data travels once, and a worker that dies loses nothing."""

from __future__ import annotations

import asyncio
import itertools
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from foresift.errors import InputError
from foresift.evaluation.harness.tasks import Data, Job, Record, host_facts

__all__ = ["ClusterError", "connected", "run_on_cluster"]

_AHEAD = 3  # jobs that wait for each thread of the cluster, so that none is idle


class ClusterError(InputError):
    """What is wrong with a cluster, in one sentence."""


@contextmanager
def connected(address: str, timeout: float = 5.0) -> Iterator[Any]:
    """Connect to a scheduler; a `distributed.Client`, closed at the end.

    Raises
    ------
    ClusterError
        If Dask is not installed, nobody answers within `timeout` seconds, or there are no workers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError("A cluster needs Dask: pip install 'foresift[dask]'.") from error
    try:
        asyncio.run(_ask(address, timeout))  # a client may wait for ever
        client = Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, ValueError, MemoryError) as error:
        # MemoryError: another server's greeting, of a web page for instance, is read as a length.
        raise ClusterError(
            f"No Dask scheduler answers at {address} (tried for {timeout:g} s): start one with"
            " `dask scheduler`, and give the address it prints, such as tcp://127.0.0.1:8786."
        ) from error
    try:
        yield client
    finally:
        client.close()


async def _ask(address: str, timeout: float) -> None:
    """Have a scheduler say who it is."""
    from distributed import rpc

    async with rpc(address, timeout=timeout) as scheduler:
        await asyncio.wait_for(scheduler.identity(), timeout)


def _require_workers(client: Any, timeout: float = 10.0) -> None:
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError as error:
        address = client.scheduler.address
        raise ClusterError(
            f"The scheduler at {address} has no workers (waited {timeout:g} s): start some, with"
            f" `dask worker {address}` on each machine."
        ) from error


def _same(content: bytes) -> bytes:
    return content


# A table travels as bytes, and every process unpacks it for itself: arrays that Dask passes on may lie at odd
# addresses, where NumPy adds up in another order, and the last bits would differ from worker to worker.
_UNPACKED: dict[str, Data] = {}


def _perform_packed(perform: Callable[[Data, Job], list[Record]], content: bytes, job: Job) -> list[Record]:
    data = _UNPACKED.get(job.data)
    if data is None:
        data = pickle.loads(content)
        _UNPACKED.clear()  # a worker keeps one table in memory; another thread may be using the last
        _UNPACKED[job.data] = data
    return perform(data, job)


def run_on_cluster(
    client: Any,
    perform: Callable[[Data, Job], list[Record]],
    jobs: Sequence[Job],
    tables: Mapping[str, Data],
) -> Iterator[list[Record]]:
    """Yield the records of every job as they come.

    A table is a task of its own, not data put onto some worker: if the worker that holds it dies, the
    scheduler, which keeps the task, makes it again elsewhere. A job that has killed several workers, by lack
    of memory for instance, is recorded as failed.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    perform : callable
        Does a job.
    jobs : sequence of Job
        The work.
    tables : mapping of str to Data
        The tables, by checksum.
    """
    from distributed import KilledWorker, as_completed

    _require_workers(client)
    address = client.scheduler.address
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # it is sent once, on purpose
        held = {
            key: client.submit(_same, pickle.dumps(tables[key], protocol=5), key=f"foresift-{key}")
            for key in {job.data for job in jobs}
        }
    waiting: dict[Any, Job] = {}
    left = iter(jobs)
    done = as_completed([], with_results=True, raise_errors=False, loop=client.loop)

    def send(count: int) -> None:
        for job in itertools.islice(left, count):
            future = client.submit(_perform_packed, perform, held[job.data], job, pure=False)
            waiting[future] = job
            done.add(future)

    try:
        send(_AHEAD * max(1, sum(client.nthreads().values())))
        while waiting:
            future, result = next(done)
            job = waiting.pop(future)
            if future.status == "finished":
                yield result
            else:
                error = result[1] if isinstance(result, tuple) else result
                if isinstance(error, CancelledError):
                    raise ClusterError(
                        f"The scheduler at {address} is gone, or has dropped our jobs. What is finished is"
                        " stored: start it again, and the same call goes on."
                    ) from error
                if not isinstance(error, KilledWorker):
                    hint = " Is the same foresift installed there?" if isinstance(error, ImportError) else ""
                    raise ClusterError(f"The cluster gave up on a job: {error!r}.{hint}") from error
                text = "KilledWorker: every worker that tried it died; its memory may be too small."
                yield [Record(unit, error=text, host=host_facts()) for unit in job.units]
            future.release()
            send(1)
    finally:
        client.cancel(list(waiting))
