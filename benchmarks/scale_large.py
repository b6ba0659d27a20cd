"""Time and memory of RelevanceSelector on folders of Parquet files that are read in batches."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

BATCH_ROWS = 2**17
CLEAR = frozenset(range(10))  # columns with an effect of their own; two more have one as a product
MAX_FALSE = 5
SAMPLED = 0.05  # seconds between two looks at the memory


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder that is removed in the end, whatever happens; it must not exist yet."""
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def write_files(folder: Path, n_files: int, rows_per_file: int, n_columns: int) -> list[Path]:
    """Write Parquet files of float32 in batches."""
    import pyarrow as pa
    from pyarrow import parquet

    paths = [folder / f"part-{k:04d}.parquet" for k in range(n_files)]
    fields = [*((f"x{j}", pa.float32()) for j in range(n_columns)), ("y", pa.int8())]
    for k, path in enumerate(paths):
        rng = np.random.default_rng([k, n_columns])
        with parquet.ParquetWriter(path, pa.schema(fields)) as writer:
            for first in range(0, rows_per_file, BATCH_ROWS):
                X, y = _rows(min(rows_per_file - first, BATCH_ROWS), n_columns, rng)
                writer.write_table(pa.table([*X, y], schema=pa.schema(fields)))
    return paths


def _rows(n: int, n_columns: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Columns, a row each, and two classes: ten linear effects and a product."""
    X = rng.standard_normal(size=(n_columns, n), dtype=np.float32)
    latent = 0.3 * X[:10].sum(axis=0) + 0.5 * X[10] * X[11] + 2 * rng.normal(size=n)
    return X, (latent > 0).astype(np.int8)


def anonymous(pid: int | str) -> int:
    """Bytes of memory of a process that are not of files; 0 when it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024
    return 0


def fit(folder: str, memory_limit: str) -> dict[str, Any]:
    """Fit in this process."""
    from foresift import RelevanceSelector

    before, began, clock = anonymous("self"), time.process_time(), time.perf_counter()
    selector = RelevanceSelector(random_state=0, n_jobs=1, memory_limit=memory_limit or None).fit(folder, "y")
    seconds, wall = time.process_time() - began, time.perf_counter() - clock
    found = np.flatnonzero(selector.relevant_).tolist()
    return {"seconds": seconds, "wall": wall, "before": before, "found": found}


def _watched(folder: Path, memory_limit: str = "") -> dict[str, Any]:
    """Fit in a process of its own, and look at its memory meanwhile."""
    command = [sys.executable, __file__, str(folder), memory_limit]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        peak = 0
        try:
            while process.poll() is None:
                peak = max(peak, anonymous(process.pid))
                time.sleep(SAMPLED)
            said = process.stdout.read() if process.stdout is not None else ""
        finally:
            process.kill()
    if process.returncode:
        sys.exit(f"The fit to {folder} failed with {process.returncode}.")
    return {"peak": peak, **json.loads(said)}


def measure(folder: Path, rows: int, n_columns: int, n_files: int, memory_limit: str) -> int:
    """Print time and memory for a twentieth, a fifth and all of the rows; 1 if columns are missed."""
    from foresift.engine.open_blocks import bytes_of

    rows_per_file, seconds, wrong = rows // n_files, {}, []
    counts = sorted({max(1, n_files // 20), max(1, n_files // 5), n_files})
    print("| rows | limit | CPU s | wall s | peak MB | codes MB | peak - codes MB | at start MB | false |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with new_folder(folder):
        paths = write_files(folder, n_files, rows_per_file, n_columns)
        for count, limit in [*((count, "") for count in counts), (n_files, memory_limit)]:
            n, some = count * rows_per_file, folder / "some"
            with new_folder(some):
                for path in paths[:count]:
                    os.link(path, some / path.name)
                found = _watched(some, limit)
            false = sorted(set(found["found"]) - CLEAR - {10, 11})
            if not set(found["found"]) >= CLEAR or len(false) > MAX_FALSE:
                wrong.append(f"{n:,} rows {limit}: {found['found']}")
            in_memory = n * n_columns <= bytes_of(limit or None)
            codes = n * n_columns * in_memory + 2 * n  # two bytes for the target
            sizes = [found["peak"], codes, found["peak"] - codes, found["before"]]
            line = [f"{n:,}", limit, f"{found['seconds']:.1f}", f"{found['wall']:.1f}"]
            line += [f"{size / 1e6:,.0f}" for size in sizes] + [str(false)]
            print(f"| {' | '.join(line)} |", flush=True)
            if not limit:
                seconds[n] = found["seconds"], found["wall"]
    if len(seconds) > 1:
        slopes = np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)[0]
        print("CPU time grows as rows to the power of {:.2f}, wall time {:.2f}".format(*slopes))
    print(f"FAIL: {'; '.join(wrong)}" if wrong else "PASS: the relevant columns were found")
    return int(bool(wrong))


if __name__ == "__main__":
    print(json.dumps(fit(sys.argv[1], sys.argv[2])))
