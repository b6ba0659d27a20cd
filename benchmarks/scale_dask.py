"""RelevanceSelector on a Dask cluster: the same bits as without one, also if workers are killed."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scale_large import new_folder, write_files

N_FILES = 8
# Tasks of each phase, one of which a worker has when it is killed.
PHASES = {"first pass": "_first_pass", "coding": "_coded", "growing": "_sum_of", "rank sums": "_sum_of"}
PATIENCE = 60.0  # seconds until a worker is busy


@contextlib.contextmanager
def cluster_of(n_workers: int) -> Iterator[Any]:
    """A client of worker processes of one thread, which have imported the package."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1", "silence_logs": 50}
    with LocalCluster(n_workers=n_workers, processes=True, **options) as cluster, Client(cluster) as client:
        client.run(__import__, "foresift.engine.dask_blocks")
        yield client


class Killer:
    """Kills a worker with SIGKILL while it works on a phase of a fit."""

    def __init__(self, client: Any, phase: str) -> None:
        self.client, self.phase, self.said = client, phase, "no worker was killed"
        self._thread = threading.Thread(target=self._kill, daemon=True)
        self._n_passes = 0

    def __enter__(self) -> Killer:
        from foresift.engine.dask_blocks import DaskBlocks

        self._pids = self.client.run(os.getpid)
        self._kept = {name: getattr(DaskBlocks, name) for name in ("_gathered", "_wait", "sum")}
        for name, method in self._kept.items():
            setattr(DaskBlocks, name, self._telling(name, method))
        return self

    def __exit__(self, *error: object) -> None:
        from foresift.engine.dask_blocks import DaskBlocks

        for name, method in self._kept.items():
            setattr(DaskBlocks, name, method)
        if self._thread.ident is not None:
            self._thread.join()

    def _telling(self, name: str, method: Any) -> Any:
        """The method, which begins to look for a worker to kill if it is that of our phase."""

        def told(blocks: Any, what: Any) -> Any:
            if self._thread.ident is None and self._phase(name, what) == self.phase:
                self._thread.start()
            return method(blocks, what)

        return told

    def _phase(self, name: str, what: Any) -> str:
        """The phase that a call begins: below the roots, if it asks for histograms."""
        if name == "_wait":
            return "coding"
        if name == "_gathered":
            return "first pass" if "first_pass" in str(what[0].key) else "counting"
        kind = type(what).__name__
        self._n_passes += kind == "Requests"
        if kind == "Requests" and self._n_passes > 3:
            return "growing"
        return "rank sums" if kind == "RankProducts" else ""

    def _kill(self) -> None:
        until = time.perf_counter() + PATIENCE
        while time.perf_counter() < until:
            for worker, keys in self.client.processing().items():
                own = [str(key) for key in keys if PHASES[self.phase] in str(key)]
                if own and worker in self._pids:
                    os.kill(self._pids[worker], signal.SIGKILL)
                    self.said = f"killed a worker with {len(own)} tasks {own[0]:.20}"
                    return
            time.sleep(0.005)


def _fitted(X: Any) -> tuple[Any, float]:
    from foresift import RelevanceSelector

    began = time.perf_counter()
    selector = RelevanceSelector(random_state=0, n_jobs=1).fit(X, "y")
    return selector, time.perf_counter() - began


def _same(one: Any, other: Any) -> bool:
    """Whether columns, scores and p-values are equal to the last bit."""
    results = [(s.relevant_.tobytes(), s.scores_.tobytes(), s.pvalues_.tobytes()) for s in (one, other)]
    return results[0] == results[1] and list(one.feature_names_in_) == list(other.feature_names_in_)


def _frame(folder: Path) -> Any:
    """A partition for every file, as on one machine."""
    import dask.dataframe as dd

    return dd.read_parquet(folder, split_row_groups=False)


def compare(folder: Path, rows: int, n_columns: int) -> int:
    """Print times and whether results are equal; 1 if they are not, or if no worker could be killed."""
    wrong = False

    def tell(what: str, seconds: float, selector: Any, note: str = "", done: bool = True) -> None:
        nonlocal wrong
        same = _same(alone, selector)
        wrong |= not (same and done)
        verdict = "PASS" if same and done else "FAIL"
        equal = "equal bits" if same else "DIFFERENT BITS"
        print(f"{verdict}: {what}, {seconds:.1f} s, {equal}{note and '; ' + note}", flush=True)

    with new_folder(folder):
        write_files(folder, N_FILES, rows // N_FILES, n_columns)
        alone, seconds = _fitted(str(folder))
        print(f"one machine without a cluster: {seconds:.1f} s, {alone.relevant_.sum()} relevant columns")
        walls = {}
        for n_workers in (1, 2):
            with cluster_of(n_workers):
                selector, walls[n_workers] = _fitted(_frame(folder))
                tell(f"{n_workers} workers", walls[n_workers], selector)
        print(f"2 workers are {walls[1] / walls[2]:.2f} times as fast as 1")
        for phase in PHASES:
            with cluster_of(2) as client, Killer(client, phase) as killer:
                selector, seconds = _fitted(_frame(folder))
            tell(
                f"a worker killed in {phase}",
                seconds,
                selector,
                killer.said,
                killer.said.startswith("killed"),
            )
    return int(wrong)
