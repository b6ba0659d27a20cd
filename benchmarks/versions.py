"""Time forests, prediction and selectors of two versions of the package, in turns, as ratios.

    python benchmarks/versions.py /path/of/old /path/of/new [--runs 2]

A path is what PYTHONPATH is set to: a folder that holds the package `foresift`. Every run is a process of its
own with one thread; the least processor time of all runs counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

CODE = """
import json, time, warnings
import numpy as np
from sklearn.datasets import make_classification
from foresift import *

warnings.simplefilter("ignore")
def table(n, p):
    X, y = make_classification(n, p, n_informative=20, n_redundant=0, random_state=0)
    return X.astype(np.float32), y

def seconds(work):
    work()
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best

(X, y), (small, labels), seeded = table(10_000, 100), table(1_000, 60), {"random_state": 0, "n_jobs": 1}
forest = SiftForestClassifier(30, max_features="sqrt", **seeded).fit(X, y)
gain = ForestGainSelector(bound="mid", max_features="sqrt", n_estimators=100, **seeded)
print(json.dumps({
    "fit 30 trees, 10,000 x 100": seconds(
        lambda: SiftForestClassifier(30, max_features="sqrt", **seeded).fit(X, y)
    ),
    "fit 100 trees, 1,000 x 60": seconds(
        lambda: SiftForestClassifier(100, max_features="sqrt", **seeded).fit(small, labels)
    ),
    "predict 10,000 rows": seconds(lambda: forest.predict_proba(X)),
    "predict one row, 50 times": seconds(lambda: [forest.predict_proba(X[:1]) for _ in range(50)]),
    "ReliefF, 2,000 x 100": seconds(lambda: ReliefFSelector().fit(X[:2000], y[:2000])),
    "RelevanceSelector, 1,000 x 60": seconds(lambda: RelevanceSelector(**seeded).fit(small, labels)),
    "ForestGainSelector, 1,000 x 60": seconds(lambda: gain.fit(small, labels)),
    "C4.5, 1,000 x 60": seconds(lambda: C45Classifier().fit(small, labels)),
    "network, 1,000 x 60": seconds(lambda: NetworkClassifier(epochs=20, random_state=0).fit(small, labels)),
}))
"""


def measured(path: str) -> dict[str, float]:
    """Seconds of every case with the package of a folder."""
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    result = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    return json.loads(result.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--runs", type=int, default=2)
    arguments = parser.parse_args()
    runs = [(measured(arguments.old), measured(arguments.new)) for _ in range(arguments.runs)]
    for case in runs[0][0]:
        old, new = (min(run[side][case] for run in runs) for side in (0, 1))
        print(f"{case:32s} {1000 * old:8.1f} ms -> {1000 * new:8.1f} ms, ratio {old / new:.2f}")


if __name__ == "__main__":
    main()
