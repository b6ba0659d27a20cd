"""Blocks on a real Dask cluster: the same as on one machine, also if a worker is killed."""

import os
import pickle
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from foresift.engine.local_blocks import LocalBlocks
from foresift.errors import InputError
from foresift.reading.row_sources import open_rows

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'foresift[dask]'")
frames = pytest.importorskip("dask.dataframe", reason="needs Dask: pip install 'foresift[dask]'")
pytest.importorskip("pandas")

from foresift.engine.dask_blocks import DaskBlocks  # noqa: E402

SIZES = [9000, 70_001, 100, 0, 5000, 4097, 30]


class Histogram:
    """Counts of codes by class, and a slow one if it should be."""

    def __init__(self, n_columns, n_classes, pause=0.0, folder=None):
        self.shape, self.pause, self.folder = (n_columns, 256, n_classes), pause, folder

    def zeros(self):
        return np.zeros(self.shape, dtype=np.int64), np.zeros(1, dtype=np.int64)

    def add(self, block, to, stop):
        if self.folder is not None:
            Path(self.folder, f"{os.getpid()}-{block.number}").touch()
        time.sleep(self.pause)
        for j, codes in enumerate(block.codes):
            np.add.at(to[0][j], (codes, block.target), 1)
        to[1][0] += block.number * len(block.target)


def table(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).astype(np.float32)
    return pa.table(
        {
            "x": x,
            "ties": rng.integers(0, 5, n).astype(np.float64),
            "holes": pa.array(rng.integers(0, 900, n), pa.int64(), mask=rng.random(n) < 0.2),
            "flag": rng.random(n) < 0.5,
            "text": pa.array([f"w{k}" for k in rng.integers(0, 300 + seed, n)], pa.string()),
            "when": pa.array(rng.integers(0, 2**40, n), pa.timestamp("us")),
            "y": pa.array(np.array(["a", "b", "c"])[(x > 0).astype(int) + (x > 1)].tolist(), pa.string()),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    for k, n in enumerate(SIZES):
        parquet.write_table(table(n, k), path / f"part-{k}.parquet")
    return path


@pytest.fixture
def client():
    # The workers get the functions of this file by name.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def frame_of(folder):
    files = sorted(folder.iterdir())
    return frames.from_map(pandas_of, files, meta=pandas_of(files[0]).iloc[:0])


def pandas_of(path):
    return parquet.read_table(path).to_pandas()


def codes_of(block):
    return block.codes, block.target, block.number


def assert_same(one, other):
    assert one.n_rows == other.n_rows == sum(SIZES)
    assert one.coding.schema.names == other.coding.schema.names
    assert one.coding.schema.units == other.coding.schema.units
    assert one.coding.n_values.tolist() == other.coding.n_values.tolist()
    assert one.coding.labels.tolist() == other.coding.labels.tolist()
    for here, there in zip(one.coding.cuts, other.coding.cuts, strict=True):
        assert (here is None) == (there is None)
        assert here is None or np.array_equal(here, there)
    for here, there in zip(one.coding.schema.categories, other.coding.schema.categories, strict=True):
        assert here is None or here.tolist() == there.tolist()
    for tables in ((one.sample, other.sample), (one.head, other.head)):
        assert tables[0].target.values().tolist() == tables[1].target.values().tolist()
    for name, values in one.sample_X.items():
        assert pa.array(values, from_pandas=True).equals(pa.array(other.sample_X[name], from_pandas=True))
    for here, there in zip(one.collect(codes_of), other.collect(codes_of), strict=True):
        assert np.array_equal(here[0], there[0])
        assert np.array_equal(here[1], there[1])
        assert here[2] == there[2]
    what = Histogram(one.n_columns, 3)
    assert all(map(np.array_equal, one.sum(what), other.sum(what)))


def test_the_same_as_on_one_machine(client, folder):
    local = LocalBlocks(open_rows(folder, "y"), None, "auto")
    assert len(local.head.target.values()) == 10_000
    assert_same(local, DaskBlocks(open_rows(frame_of(folder), "y"), client, None, "auto"))
    assert_same(local, DaskBlocks(open_rows(folder, "y"), client, None, "auto"))
    assert_same(local, LocalBlocks(open_rows(frame_of(folder), "y"), None, "auto"))


def test_a_series_as_target(client, folder):
    frame = frame_of(folder)
    local = LocalBlocks(open_rows(folder, "y"), None, "auto")
    rows = open_rows(frame.drop(columns="y"), frame["y"])
    assert_same(local, DaskBlocks(rows, client, None, "auto"))


def kill_when(client, begun, killed, n_begun=1):
    """Kill the worker that begins the n-th task, with SIGKILL."""
    pids = list(client.run(os.getpid).values())

    def kill():
        while len(files := list(begun.iterdir())) < n_begun:
            time.sleep(0.01)
        pid = int(max(files, key=lambda path: path.stat().st_mtime_ns).name.partition("-")[0])
        assert pid in pids
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def slow_part(path, begun):
    frame = pandas_of(path)
    Path(begun, f"{os.getpid()}-{time.time_ns()}").touch()
    time.sleep(0.2)
    return frame


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_begun", [1, len(SIZES) + 3, 2 * len(SIZES) + 3])  # counts, first pass, codes
def test_a_worker_killed_in_the_passes_changes_nothing(client, folder, tmp_path, n_begun):
    files = sorted(folder.iterdir())
    frame = frames.from_map(slow_part, files, begun=str(tmp_path), meta=pandas_of(files[0]).iloc[:0])
    killed = []
    thread = kill_when(client, tmp_path, killed, n_begun)
    there = DaskBlocks(open_rows(frame, "y"), client, None, "auto")
    thread.join()
    assert killed
    assert_same(LocalBlocks(open_rows(folder, "y"), None, "auto"), there)


@pytest.mark.filterwarnings("ignore")
def test_a_worker_killed_in_a_sum_changes_nothing(client, folder, tmp_path):
    local = LocalBlocks(open_rows(folder, "y"), None, "auto")
    there = DaskBlocks(open_rows(frame_of(folder), "y"), client, None, "auto")
    killed = []
    thread = kill_when(client, tmp_path, killed)
    sums = there.sum(Histogram(local.n_columns, 3, pause=0.2, folder=str(tmp_path)))
    thread.join()
    assert killed
    assert all(map(np.array_equal, sums, local.sum(Histogram(local.n_columns, 3))))
    assert_same(local, there)  # blocks that were lost have been made again


def test_errors_of_workers_are_told_in_a_sentence(client, folder, tmp_path):
    odd = frame_of(folder)
    with pytest.raises(InputError, match="There is no column 'yy'; did you mean 'y'"):
        open_rows(odd, "yy")
    nothing = odd[odd["x"] > 1e9]
    with pytest.raises(InputError, match="There are no rows in the Dask DataFrame"):
        DaskBlocks(open_rows(nothing, "y"), client, None, "auto")
    holes = odd.assign(y=odd["y"].where(odd["x"] < 3))
    with pytest.raises(InputError, match="Target 'y' has missing values: drop the rows"):
        DaskBlocks(open_rows(holes, "y"), client, None, "auto")
    stream = table(100, 0).to_reader()
    with pytest.raises(InputError, match="A cluster cannot read the stream"):
        DaskBlocks(open_rows(stream, "y"), client, None, "auto")


def test_sources_can_be_pickled(folder):
    source = pickle.loads(pickle.dumps(open_rows(folder, "y")))
    assert sum(len(y) for part in range(source.n_parts) for _, y in source.batches(part)) == sum(SIZES)
