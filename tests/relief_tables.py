"""Tables for the tests of the Relief family, with what the literal twins take."""

import numpy as np
import pandas as pd


def scaled(v):
    known = v[~np.isnan(v)]
    span = np.ptp(known) if known.size else 0
    return (v - known.min()) / span if span > 0 else v * 0


def mixed_table(seed, gaps=True, nominal=True):
    """A data frame full of ties, with the scaled values and categories that the twin takes, and classes."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 36)), int(rng.integers(1, 7))
    frame, X, n_values = {}, np.zeros((n, p)), []
    for f in range(p):
        missing = rng.random(n) < (0.2 if gaps and rng.random() < 0.4 else 0)
        missing[0] = False
        if nominal and rng.random() < 0.4:
            codes = rng.integers(0, int(rng.choice([2, 3, 5])), size=n).astype(float)
            codes[missing] = np.nan
            present = np.unique(codes[~missing])
            frame[f"c{f}"] = pd.Categorical([None if np.isnan(c) else f"v{int(c)}" for c in codes])
            X[:, f] = np.where(missing, np.nan, np.searchsorted(present, codes))
            n_values.append(len(present))
        else:
            v = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(0, 4, size=n).astype(float)
            v[missing] = np.nan
            frame[f"c{f}"] = v
            X[:, f] = scaled(v)
            n_values.append(0)
    y = rng.integers(0, 3, size=n)
    y[:3] = [0, 1, 2]
    return pd.DataFrame(frame), X, n_values, y, rng
