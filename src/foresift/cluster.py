"""Jobs on a Dask cluster: data travels once, and a worker that dies loses nothing."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from foresift.units import Data, Job, Record, host_facts

__all__ = ["ClusterError", "connected", "run_on_cluster"]

_AHEAD = 3  # jobs that wait for each thread of the cluster, so that none is idle


class ClusterError(Exception):
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
        client = Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address} (tried for {timeout:g} s): start one with"
            " `dask scheduler`, and give the address it prints, such as tcp://127.0.0.1:8786."
        ) from error
    try:
        yield client
    finally:
        client.close()


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

    held = {
        key: client.submit(
            pickle.loads, pickle.dumps(tables[key], protocol=5), key=f"foresift-{key}", pure=True
        )
        for key in {job.data for job in jobs}
    }
    waiting: dict[Any, Job] = {}
    left = iter(jobs)
    done = as_completed([], with_results=True, raise_errors=False, loop=client.loop)

    def send(count: int) -> None:
        for job in itertools.islice(left, count):
            future = client.submit(perform, held[job.data], job, pure=False)
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
                if not isinstance(error, KilledWorker):
                    raise ClusterError(f"The cluster gave up on a job: {error!r}.") from error
                text = "KilledWorker: every worker that tried it died; its memory may be too small."
                yield [Record(unit, error=text, host=host_facts()) for unit in job.units]
            future.release()
            send(1)
    finally:
        client.cancel(list(waiting))
