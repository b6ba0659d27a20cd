"""Processor time of two versions of the package on large tables, and whether they find the same columns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """A table, and what is clearly relevant in it; with a suffix it is a file for the command line."""

    n: int
    p: int
    clear: tuple[int, ...]
    suffix: str = ""


TEN = tuple(range(10))
CASES = {
    "RelevanceSelector 100,000 x 50": Case(100_000, 50, TEN),
    "RelevanceSelector 1,000,000 x 50": Case(1_000_000, 50, TEN),
    "RelevanceSelector covertype-like 581,000 x 54": Case(581_000, 54, (0, 1, 2, 10, 11, 14, 15)),
    "RelevanceSelector 200 x 10,000": Case(200, 10_000, (0, 1, 2)),
    "foresift select CSV 100,000 x 50": Case(100_000, 50, TEN, ".csv"),
    "foresift select Parquet 1,000,000 x 50": Case(1_000_000, 50, TEN, ".parquet"),
}


def make(name: str, share: float) -> tuple[np.ndarray, np.ndarray]:
    """A table, or one of fewer rows."""
    case = CASES[name]
    n, rng = max(200, int(case.n * share)), np.random.default_rng(0)
    if "covertype" in name:
        return _covertype(n, rng)
    X = rng.normal(size=(n, case.p)).astype(np.float32)
    if case.p > n:
        latent = X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=n)
    else:
        latent = X[:, :10] @ np.full(10, 0.3) + 0.5 * X[:, 10] * X[:, 11] + rng.normal(size=n) * 2
    return X, np.argsort(np.argsort(latent)) * 2 // n


def _covertype(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Ten numeric columns, the first three of which matter, and one-hot groups of 4 and 40; 7 classes."""
    X = np.zeros((n, 54), dtype=np.float32)
    X[:, :10] = np.round(rng.normal(size=(n, 10)) * [280, 110, 7, 200, 60, 1500, 27, 20, 38, 1300])
    area, soil = rng.choice(4, n, p=[0.45, 0.05, 0.43, 0.07]), rng.choice(40, n, p=_shares(40))
    rows = np.arange(n)
    X[rows, 10 + area] = X[rows, 14 + soil] = 1
    effects = rng.normal(size=(3, 7))
    latent = (X[:, :3] / X[:, :3].std(axis=0)) @ effects
    latent += rng.normal(size=(4, 7))[area] + rng.normal(size=(40, 7))[soil]
    return X, (latent + np.log(_shares(7)) + rng.gumbel(size=(n, 7))).argmax(axis=1)


def _shares(k: int) -> np.ndarray:
    return (weights := 1 / np.arange(1, k + 1)) / weights.sum()


def run(name: str, share: float) -> dict[str, Any]:
    """Fit once in this process: processor seconds, and the numbers of the relevant columns."""
    from foresift import RelevanceSelector

    X, y = make(name, share)
    warnings.simplefilter("ignore")
    RelevanceSelector(random_state=0).fit(X[:200, :5], y[:200])  # what is imported or made on first use
    began = time.process_time()
    selector = RelevanceSelector(random_state=0, n_jobs=1).fit(X, y)
    return {"seconds": time.process_time() - began, "found": np.flatnonzero(selector.relevant_).tolist()}


def _timed(path: str, name: str, share: float, file: Path | None) -> tuple[float, list[int]]:
    """Run a case with the package of a folder; of a command, processor seconds of the whole process count."""
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, name, str(share)]
    if file is not None:
        command = [sys.executable, "-m", "foresift", "select", str(file), "--target", "y", "--json"]
        command += ["--jobs", "1"]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if process.returncode:
            sys.exit(f"{name} with {path} failed:\n{errors.read().decode()}")
        answer = json.loads(out.read())
    if file is None:
        return answer["seconds"], answer["found"]
    return usage.ru_utime + usage.ru_stime, _relevant(answer["features"])


def _relevant(features: list[dict[str, Any]]) -> list[int]:
    """Numbers of the columns that pass the test, of the answer of the command."""
    return sorted(int(feature["name"][1:]) for feature in features if feature["relevant"])


def _write(name: str, share: float, folder: Path) -> Path | None:
    """The table of a case as a file, if it is one for the command line."""
    from pyarrow import csv, parquet, table

    suffix = CASES[name].suffix
    if not suffix:
        return None
    X, y = make(name, share)
    columns = table({**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "y": y})
    path = folder / f"table{suffix}"
    (csv.write_csv if suffix == ".csv" else parquet.write_table)(columns, path)
    return path


def compare(old: str, new: str, wanted: list[str], repeat: int, share: float) -> int:
    """Print the least processor time of both versions; 1 if one misses a column that is clearly relevant."""
    missed = False
    print("| case | before, s | now, s | ratio | columns found by one version alone | clear ones |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, case in CASES.items():
        if wanted and not any(some in name for some in wanted):
            continue
        with tempfile.TemporaryDirectory() as folder:
            file = _write(name, share, Path(folder))
            runs = [[_timed(path, name, share, file) for path in (old, new)] for _ in range(repeat)]
        before, after = (min(pair[side][0] for pair in runs) for side in (0, 1))
        found = [set(runs[0][side][1]) for side in (0, 1)]
        lost = [
            f"{version} misses {sorted(set(case.clear) - has)}"
            for version, has in zip(("before", "now"), found, strict=True)
            if set(case.clear) - has
        ]
        missed |= bool(lost)
        line = [
            name,
            f"{before:.2f}",
            f"{after:.2f}",
            f"{before / after:.2f}",
            str(sorted(found[0] ^ found[1])),
        ]
        print(f"| {' | '.join(line)} | {', '.join(lost) or 'found by both'} |", flush=True)
    print(
        "FAIL: columns that are clearly relevant were missed"
        if missed
        else "PASS: same clearly relevant columns"
    )
    return int(missed)


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], float(sys.argv[2]))))
