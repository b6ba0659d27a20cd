"""Make src/foresift/engine/_data/null_gains.npz: mean and variance of the best gain of an irrelevant feature.

    python tools/make_null_gains.py src/foresift/engine/_data/null_gains.npz

takes about seven minutes on two cores. `exact`: both moments for every node of up to 256 rows, in the order
of `foresift.engine.null_gain`. `grid`: n times the mean and n^2 times the variance for n = 256, 512, ...
65,536, at equal steps of log(i) / log(n / 2), where i is the number of rows of the rarer class.
"""

import sys
import time
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from scipy.interpolate import PchipInterpolator

from foresift import _core
from foresift.engine.null_gain import EXACT_ROWS, GRID_LEVELS, GRID_STEPS


def moments(i: int, n: int, n_points: int = 0) -> tuple[float, float]:
    """Mean and variance for a node of n rows, i of the rarer class."""
    return _core.null_moments(i, n - i, n_points)


def all_of(work: partial, pairs: list[tuple[int, int]]) -> np.ndarray:
    """Mean and variance for each pair (i, n), as two rows."""
    return np.array(Parallel(n_jobs=-1, prefer="threads")(delayed(work)(i, n) for i, n in pairs)).T


def grid_level(n: int) -> np.ndarray:
    """Scaled moments at equal steps of log(i) / log(n / 2), between those worked out at whole i."""
    rarer = np.unique(np.rint(2.0 ** np.arange(0, np.log2(n // 2) + 0.25, 0.5)).astype(int))
    n_points = 400 if n <= 8192 else 200
    exact = all_of(partial(moments, n_points=n_points), [(int(i), n) for i in rarer])
    at = np.linspace(0, np.log2(n // 2), GRID_STEPS + 1)
    return np.array(
        [PchipInterpolator(np.log2(rarer), row * n**k)(at) for k, row in enumerate(exact, start=1)]
    )


def main() -> None:
    """Write the file named on the command line."""
    begin = time.time()
    pairs = [(i, n) for n in range(2, EXACT_ROWS + 1) for i in range(1, n // 2 + 1)]
    exact = all_of(partial(moments), pairs)
    print(f"exact: {len(pairs)} nodes, {time.time() - begin:.0f} s", flush=True)
    levels = []
    for level in range(GRID_LEVELS):
        levels.append(grid_level(EXACT_ROWS << level))
        print(f"n = {EXACT_ROWS << level}: {time.time() - begin:.0f} s", flush=True)
    np.savez(sys.argv[1], exact=exact, grid=np.stack(levels, axis=1))


if __name__ == "__main__":
    main()
