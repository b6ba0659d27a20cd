"""What tests of ForestGainSelector share."""

from functools import partial

import numpy as np
import pytest

BOUNDS = ["lower", "mid", "upper", "exact"]

same = partial(pytest.approx, rel=1e-9, abs=1e-12, nan_ok=True)


def table_with_ties(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, k, n) for k in (2, 3, 6)] + [rng.normal(size=n)]).astype(float)
    return X, ((X[:, 2] + X[:, 3] + rng.normal(size=n)) > 3).astype(int)
