"""Processor time of the harness beyond that of the units, which take a tenth of a second each.

python benchmarks/harness.py [--units 50] [--seconds 0.1] [--runs 3]

First the store and what drives it, with units that only use the processor; then `compare` whole, with a
classifier that does: splitting, slicing, hashing, the store and the summary. The least of several runs, since
other programs use the caches too. Processor time: on a busy machine the clock tells of the others.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin

from foresift import compare
from foresift.evaluation.harness.run import run
from foresift.evaluation.harness.store import Store
from foresift.evaluation.harness.tasks import Data, Job, Record, Unit


def spin(data, seconds, units):
    """A task."""
    spent = spinning(seconds)
    order = list(range(data.n_features))
    return [Record(unit, {"accuracy": {"5": 0.5}}, {"order": order}, {"spent": spent}) for unit in units]


def spinning(seconds):
    """Use the processor for so long; return how long it was."""
    start = time.process_time()
    while (spent := time.process_time() - start) < seconds:
        pass
    return spent


class Spinner(SelectorMixin, ClassifierMixin, BaseEstimator):
    """A selector and a classifier that does nothing for a while, and notes how long."""

    spent = 0.0  # of all of them

    def __init__(self, seconds=0.1):
        self.seconds = seconds

    def fit(self, X, y):
        """Spin."""
        Spinner.spent += spinning(self.seconds)
        self.classes_, self.scores_ = np.unique(y), np.arange(X.shape[1], 0.0, -1)
        return self

    def predict(self, X):
        """Say the first class."""
        return np.full(len(X), self.classes_[0])

    def _get_support_mask(self):
        return self.scores_ > len(self.scores_) - 5


def half(estimator, X, y):
    """A scorer that takes no time."""
    return 0.5


def whole(n_units, seconds, path):
    """Processor time of a comparison beyond what its classifier takes, as a share of that."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 100)), rng.integers(0, 2, 1000)
    Spinner.spent, start = 0.0, time.process_time()
    folds = {
        "cv": 10,
        "repeats": max(1, n_units // 20),
    }  # each with a unit of "first" and one of no selection
    models = {"methods": {"first": Spinner(0)}, "estimators": {"spin": Spinner(seconds)}}
    compare(X, y, **models, scoring=half, store=path, **folds)
    used = time.process_time() - start
    return used / Spinner.spent - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--units", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    data = Data.of("noise", rng.normal(size=(1000, 100)), rng.integers(0, 2, 1000))
    unit = Unit("spin", "noise", data.checksum, *[""] * 5, 0, 0, "", 0, "", "")
    units = [replace(unit, fold=fold) for fold in range(options.units)]
    jobs = [Job(spin, data.checksum, options.seconds, (unit,)) for unit in units]
    with tempfile.TemporaryDirectory() as folder:
        for synchronous in ("FULL", "NORMAL", "OFF"):
            beyond = []
            for number in range(options.runs):
                with Store(Path(folder, f"{synchronous}{number}.sqlite")) as store:
                    store.sql(f"PRAGMA synchronous = {synchronous}")
                    wall, start = time.perf_counter(), time.process_time()
                    run(jobs, [data], store, progress=lambda *counts: None)
                    wall, used = time.perf_counter() - wall, time.process_time() - start
                    spent = sum(record.extra["spent"] for record in store.records())
                beyond.append((used / spent - 1, wall / spent - 1))
            processor, clock = (100 * min(values) for values in zip(*beyond, strict=True))
            print(
                f"synchronous {synchronous:6}: {options.units} units of {options.seconds} s: processor time"
                f" {processor:.2f} % beyond the units', clock {clock:.1f} %"
            )
        shares = [
            whole(options.units, options.seconds, Path(folder, f"{run}.sqlite"))
            for run in range(options.runs)
        ]
    print(f"compare, whole: processor time {100 * min(shares):.2f} % beyond its classifier's")


if __name__ == "__main__":
    main()
