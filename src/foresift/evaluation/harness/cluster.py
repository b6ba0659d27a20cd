"""Run jobs on a Dask cluster: data is sent once, and a lost worker loses no results."""

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

__all__ = ["ClusterError", "connected", "require_workers", "run_on_cluster"]

_AHEAD = 3  # jobs queued for each thread of the cluster, so that none is idle


class ClusterError(InputError):
    """An error of the cluster, described in one sentence."""


@contextmanager
def connected(address: str, timeout: float = 5.0) -> Iterator[Any]:
    """Connect to a scheduler and yield a `distributed.Client`, closed at the end.

    Raises
    ------
    ClusterError
        If Dask is not installed, or no scheduler answers within `timeout` seconds.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError("A cluster needs Dask: pip install 'foresift[dask]'.") from error
    try:
        asyncio.run(_ask(address, timeout))  # a client may wait forever
        client = Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, ValueError, MemoryError) as error:
        # MemoryError: the greeting of another server, such as a web server, is read as a length.
        raise ClusterError(
            f"No Dask scheduler answers at {address} (tried for {timeout:g} s): start one with"
            " `dask scheduler`, and give the address it prints, such as tcp://127.0.0.1:8786."
        ) from error
    try:
        yield client
    finally:
        client.close()


async def _ask(address: str, timeout: float) -> None:
    """Ask a scheduler for its identity."""
    from distributed import rpc

    async with rpc(address, timeout=timeout) as scheduler:
        await asyncio.wait_for(scheduler.identity(), timeout)


def require_workers(client: Any, timeout: float = 10.0) -> None:
    """Raise if a cluster has no workers."""
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


# A table is sent as bytes, and every process unpacks it: arrays from Dask may be unaligned, NumPy then adds
# in another order, and the last bits would differ between workers.
_UNPACKED: dict[str, Data] = {}


def _perform_packed(perform: Callable[[Data, Job], list[Record]], content: bytes, job: Job) -> list[Record]:
    data = _UNPACKED.get(job.data)
    if data is None:
        data = pickle.loads(content)
        _UNPACKED.clear()  # keep one table in memory; other threads hold references of their own
        _UNPACKED[job.data] = data
    return perform(data, job)


def run_on_cluster(
    client: Any,
    perform: Callable[[Data, Job], list[Record]],
    jobs: Sequence[Job],
    tables: Mapping[str, Data],
) -> Iterator[list[Record]]:
    """Yield the records of every job as they finish; `tables` has the data by checksum.

    A table is a Dask task of its own, not data scattered to a worker: if the worker that holds it is lost,
    the scheduler makes it again elsewhere. A job that has killed several workers, for example by lack of
    memory, is recorded as failed.
    """
    from distributed import KilledWorker, as_completed

    require_workers(client)
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
                        f"The scheduler at {address} is gone, or has cancelled our jobs. Finished results are"
                        " stored: start it again, and the same call continues."
                    ) from error
                if not isinstance(error, KilledWorker):
                    hint = " Is the same foresift installed there?" if isinstance(error, ImportError) else ""
                    raise ClusterError(f"The cluster gave up on a job: {error!r}.{hint}") from error
                text = "KilledWorker: every worker that ran it was lost; memory may be too small."
                yield [Record(unit, error=text, host=host_facts()) for unit in job.units]
            future.release()
            send(1)
    finally:
        client.cancel(list(waiting))
