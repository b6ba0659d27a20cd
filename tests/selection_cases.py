"""What tests of select share: a table, and settings that are quick."""

import numpy as np
import pandas as pd

from foresift import SiftForestClassifier
from foresift.data.target import Target
from foresift.evaluation.select.judging import Classified

N_TREES = 10

FAST = {"n_estimators": 15}


def judge(metric="accuracy"):
    """Judge of two classes, by a metric."""
    found = Classified(Target.of([0, 1], 2), SiftForestClassifier())
    found.metric = metric
    return found


def table(n=150, n_noise=4, seed=0):
    """Two columns that matter, a copy of the first, a category that matters, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    columns = {"strong": y + 0.4 * rng.normal(size=n), "weak": y + 0.9 * rng.normal(size=n)}
    columns["copy"] = 2 * columns["strong"] + 1
    columns["word"] = np.where(rng.random(n) < 0.8, np.where(y == 1, "yes", "no"), "maybe").astype(object)
    columns |= {f"noise{j}": rng.normal(size=n) for j in range(n_noise)}
    columns["noise0"][::7] = np.nan
    return pd.DataFrame(columns), np.array(["lo", "hi"])[y]
