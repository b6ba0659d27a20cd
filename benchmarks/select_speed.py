"""Time `select` of two versions of the package on three tables, and check that their results are equal.

    python benchmarks/select_speed.py /path/of/old /path/of/new [--tables narrow wide ...]

A path is what PYTHONPATH is set to: a folder that holds the package `foresift`. Every run is a process of its
own, in turns, so that whatever else the machine does meets both versions. Of three runs the least processor
time counts. Exit code 1 if features, scores or check differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

RUNS = 3


def make(name: str) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """600 x 13, 10,000 x 100, or 60 x 2,000 of a few hidden factors and a common cause."""
    rng = np.random.default_rng(0)
    if name == "narrow":
        X = rng.normal(size=(600, 13))
        return X, (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=600) > 0).astype(int)
    if name == "long":
        X = rng.normal(size=(10_000, 100))
        return X, (X[:, :5].sum(axis=1) + 2 * rng.normal(size=10_000) > 0).astype(int)
    factors, loads = rng.normal(size=(60, 6)), 0.5 * rng.normal(size=(6, 2000))
    common = rng.normal(size=(60, 1)) * rng.uniform(0.5, 1.5, size=2000)
    X = factors @ loads + common + 0.8 * rng.normal(size=(60, 2000))
    return X, (factors[:, 0] + 0.5 * factors[:, 1] + 0.6 * rng.normal(size=60) > 0).astype(int)


def run(name: str) -> dict[str, Any]:
    """Select once, and say how long that took and what came of it."""
    from foresift import select

    X, y = make(name)
    select(X[:60, :5], y[:60], random_state=0)  # what is imported or made on first use
    start = time.process_time()
    found = select(X, y, random_state=0, n_jobs=1).to_dict()
    seconds = time.process_time() - start
    parts = {key: found[key] for key in ("features", "curve", "check", "stability")}
    text = json.dumps(parts, sort_keys=True).encode()
    return {"seconds": seconds, "result": hashlib.sha256(text).hexdigest()[:16]}


def main() -> int:
    """Compare two versions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paths", nargs="+", help="folders of the old and of the new package")
    parser.add_argument("--tables", nargs="+", default=["narrow", "long", "wide"])
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(run(options.paths[0])))
        return 0
    old, new = options.paths
    differ = False
    for table in options.tables:
        runs: dict[str, list[dict[str, Any]]] = {old: [], new: []}
        for _ in range(RUNS):
            for path, done in runs.items():
                command = [sys.executable, __file__, "--run", table]
                answer = subprocess.check_output(command, env={**os.environ, "PYTHONPATH": path})
                done.append(json.loads(answer.splitlines()[-1]))
        before, after = (min(each["seconds"] for each in done) for done in runs.values())
        equal = len({each["result"] for done in runs.values() for each in done}) == 1
        differ |= not equal
        print(f"{table:7} {before:7.2f} s -> {after:6.2f} s, {before / after:5.2f} times as fast,", end=" ")
        print("equal results" if equal else "DIFFERENT RESULTS", flush=True)
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
