"""The same units on a real Dask cluster: a scheduler and two workers, each a process of its own."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from foresift import RandomSelector, SiftForestRegressor
from foresift.evaluation.harness.cluster import ClusterError, connected
from foresift.evaluation.harness.evaluate import Protocol, plan_scores
from foresift.evaluation.harness.run import Outcome, run
from foresift.evaluation.harness.store import Store
from foresift.evaluation.harness.tasks import Data, Job, Record, Unit

pytest.importorskip("distributed", reason="needs Dask: pip install 'foresift[dask]'")

RESULTS = "SELECT * FROM units ORDER BY key"
RNG = np.random.default_rng(0)
# Large enough that sending it with every job would be seen.
DATA = Data.of("noise", RNG.normal(size=(500, 400)), RNG.integers(0, 2, 500))


def dask(*arguments):
    # The workers get the functions of this file by name.
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        env={**os.environ, "PYTHONPATH": path, "DASK_DISTRIBUTED__ADMIN__LOG_LENGTH": "10"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def cluster():
    """Address of a scheduler, and its workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet = ("--host", "127.0.0.1", "--no-dashboard")
    scheduler = dask("scheduler", "--port", str(port), *quiet)
    workers = [dask("worker", address, "--nthreads", "1", "--no-nanny", *quiet) for _ in range(2)]
    try:
        with connected(address, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def slow(data, seconds, units):
    time.sleep(seconds)
    return [Record(unit, {"sum": {"all": float(data.X.sum())}}, host={"pid": os.getpid()}) for unit in units]


def jobs_of(function, n, argument=None):
    units = [
        Unit(function.__name__, "noise", DATA.checksum, *[""] * 5, 0, k, "", 0, "", "") for k in range(n)
    ]
    return [Job(function, DATA.checksum, argument, (unit,)) for unit in units]


def test_cluster_gives_the_same(cluster):
    jobs = plan_scores(DATA, {"none": None, "r": RandomSelector(5)}, {"nb": GaussianNB()}, Protocol(8))
    with Store(":memory:") as here, Store(":memory:") as there, connected(cluster[0]) as client:
        run(jobs, [DATA], here)
        with joblib.parallel_config("dask", client=client):
            assert run(jobs, [DATA], there) == Outcome(16, 0, 16, 0)
            assert run(jobs, [DATA], there) == Outcome(16, 16, 0, 0)
        assert here.sql(RESULTS) == there.sql(RESULTS)
        workers = there.sql("SELECT DISTINCT json_extract(about_host, '$.pid') FROM runs")
        assert os.getpid() not in [pid for (pid,) in workers]


def test_a_quantity_on_the_cluster_gives_the_same(cluster):
    data = Data.of("numbers", DATA.X[:, :5], DATA.X[:, 0] + RNG.normal(size=500), task="regression")
    forest = SiftForestRegressor(5)
    jobs = plan_scores(
        data, {"none": None, "r": RandomSelector(2)}, {"rf": forest}, Protocol(4, scoring="r2")
    )
    with Store(":memory:") as here, Store(":memory:") as there, connected(cluster[0]) as client:
        run(jobs, [data], here)
        with joblib.parallel_config("dask", client=client):
            assert run(jobs, [data], there) == Outcome(8, 0, 8, 0)
        assert here.sql(RESULTS) == there.sql(RESULTS)


def test_data_travels_once(cluster, monkeypatch):
    pickled = []
    monkeypatch.setattr(
        Data, "__getstate__", lambda self: (pickled.append(1), self.__dict__)[1], raising=False
    )
    with Store(":memory:") as store, connected(cluster[0]) as client:
        with joblib.parallel_config("dask", client=client):
            run(jobs_of(slow, 12, 0.0), [DATA], store)
        assert len(store.records()) == 12
    assert len(pickled) == 1


def test_killed_worker_loses_nothing(cluster):
    address, workers = cluster
    killed = []

    def kill(finished, failed, wanted):
        if finished == 4 and not killed:
            workers[0].send_signal(signal.SIGKILL)
            killed.append(finished)

    with Store(":memory:") as store, connected(address) as client:
        with joblib.parallel_config("dask", client=client):
            assert run(jobs_of(slow, 24, 0.05), [DATA], store, progress=kill) == Outcome(24, 0, 24, 0)
        assert killed == [4]
        assert len(client.scheduler_info()["workers"]) == 1
        values = {record.scores["sum"]["all"] for record in store.records()}
        assert values == {float(DATA.X.sum())}


def test_address_that_does_not_answer():
    with socket.socket() as silent:  # somebody is there, who says nothing
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        mute = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        for address in (mute, "tcp://127.0.0.1:9", "nonsense://x", "no-such-host.invalid:8786"):
            with pytest.raises(ClusterError, match=f"No Dask scheduler answers at {address}"):
                connected(address, 1).__enter__()


def test_address_of_another_server():
    """A web server's greeting is no length of a message: 3 EiB would be asked for."""
    with socket.socket() as web:
        web.bind(("127.0.0.1", 0))
        web.listen()

        def greet():
            caller, _ = web.accept()
            with caller:
                caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9)
                caller.settimeout(5)
                while caller.recv(4096):
                    pass

        threading.Thread(target=greet, daemon=True).start()
        address = f"tcp://127.0.0.1:{web.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"No Dask scheduler answers at {address}"):
            connected(address, 5).__enter__()


def test_a_scheduler_that_is_killed_is_told(cluster):
    """The last test of this file: it ends the cluster."""
    jobs = jobs_of(slow, 20, 0.1)
    with Store(":memory:") as store, connected(cluster[0]) as client:
        scheduler = client.run_on_scheduler(os.getpid)

        def kill(finished, failed, wanted):
            if finished == 3:
                os.kill(scheduler, signal.SIGKILL)

        with (
            joblib.parallel_config("dask", client=client),
            pytest.raises(ClusterError, match=r"is gone, .* Finished results are stored"),
        ):
            run(jobs, [DATA], store, progress=kill)
        n_stored = len(store.records())
        assert n_stored >= 3
        assert run(jobs, [DATA], store) == Outcome(20, n_stored, 20 - n_stored, 0)
