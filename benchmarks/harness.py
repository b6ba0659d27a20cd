"""Processor time of the harness beyond that of the units, which take a tenth of a second each.

python benchmarks/harness.py [--units 50] [--seconds 0.1]
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from foresift.experiment import run
from foresift.store import Store
from foresift.units import Data, Job, Record, Unit


def spin(data, seconds, units):
    """Use the processor for so long, and note how long it was."""
    start = time.process_time()
    while (spent := time.process_time() - start) < seconds:
        pass
    order = list(range(data.n_features))
    return [Record(unit, {"accuracy": {"5": 0.5}}, {"order": order}, {"spent": spent}) for unit in units]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--units", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=0.1)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    data = Data.of("noise", rng.normal(size=(1000, 100)), rng.integers(0, 2, 1000))
    unit = Unit("spin", "noise", data.checksum, *[""] * 5, 0, 0, "", 0, "", "")
    units = [replace(unit, fold=fold) for fold in range(options.units)]
    jobs = [Job(spin, data.checksum, options.seconds, (unit,)) for unit in units]
    with tempfile.TemporaryDirectory() as folder:
        for synchronous in ("FULL", "NORMAL", "OFF"):
            with Store(Path(folder, f"{synchronous}.sqlite")) as store:
                store.sql(f"PRAGMA synchronous = {synchronous}")
                wall, start = time.perf_counter(), time.process_time()
                run(jobs, [data], store, progress=lambda *counts: None)
                wall, used = time.perf_counter() - wall, time.process_time() - start
                spent = sum(record.extra["spent"] for record in store.records())
                adding = time.perf_counter()
                store.add(replace_all(store.records(), options.units))
                adding = time.perf_counter() - adding
            print(
                f"synchronous {synchronous:6}: {options.units} units of {options.seconds} s: processor time"
                f" {100 * (used / spent - 1):.2f} % beyond the units', clock {100 * (wall / spent - 1):.1f} %"
            )
            print(f"    {options.units} records in one transaction: {1000 * adding:.1f} ms")


def replace_all(records, by):
    return [replace(record, unit=replace(record.unit, fold=record.unit.fold + by)) for record in records]


if __name__ == "__main__":
    main()
