"""Speed of mRMR: 50 of 1,000 columns, 10,000 rows, against mrmr-selection in one run, one thread each.

mrmr-selection computes another score, F over the mean of |r|, for the same job. It is no dependency of
foresift: pip install mrmr-selection. The other peer, with the same score, is mRMR by NumPy, whose tables are
counted by one `bincount` per step.

    python benchmarks/mutual_info.py            # about a minute
    python benchmarks/mutual_info.py --quick    # 2,000 rows, 200 columns, 20 of them
"""

from __future__ import annotations

import argparse
import os
import time
from datetime import date
from importlib.metadata import PackageNotFoundError, version

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from common import Results, seconds
from scipy.special import xlogy
from sklearn.datasets import make_classification, make_regression

from foresift import MutualInfoSelector

SCHEMES = ("mim", "mrmr", "jmi", "cmim", "disr")
N_BINS = 5


def numpy_mrmr(X: np.ndarray, y: np.ndarray, n_features: int) -> list[int]:
    """The same features by NumPy: all columns of a step are counted together."""
    ranks = np.argsort(np.argsort(X, axis=0, kind="stable"), axis=0, kind="stable")
    codes = (ranks * N_BINS // len(X)).T  # no ties
    offsets = np.arange(X.shape[1])[:, np.newaxis] * N_BINS

    def information(other: np.ndarray, size: int) -> np.ndarray:
        cells = (codes + offsets) * size + other
        counts = np.bincount(cells.ravel(), minlength=X.shape[1] * N_BINS * size)
        shares = counts.reshape(-1, N_BINS, size) / len(X)
        parts = (shares, shares.sum(axis=2), shares.sum(axis=1))
        joint, own, others = (xlogy(s, s).reshape(len(shares), -1).sum(axis=1) for s in parts)
        return joint - own - others

    relevance, redundancy = information(y, int(y.max()) + 1), np.zeros(X.shape[1])
    chosen = [int(relevance.argmax())]
    while len(chosen) < n_features:
        redundancy += information(codes[chosen[-1]], N_BINS)
        scores = relevance - redundancy / len(chosen)
        scores[chosen] = -np.inf
        chosen.append(int(scores.argmax()))
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a smaller table")
    rows, columns, wanted = (2000, 200, 20) if parser.parse_args().quick else (10_000, 1000, 50)
    X, y = make_classification(rows, columns, n_informative=20, n_redundant=20, random_state=0)
    quantity = make_regression(rows, columns, n_informative=20, noise=10.0, random_state=0)
    table = Results(
        f"{date.today()}, {rows:,} x {columns:,}, {wanted} columns", ("what", "peer", "foresift", "ratio")
    )
    ours = MutualInfoSelector(wanted, scheme="mrmr", n_bins=N_BINS)
    fit = lambda: ours.fit(X, y)  # noqa: E731
    clock = time.process_time  # what other programs take does not count; all in one thread
    own = min(seconds(fit, clock) for _ in range(3))
    found: list[int] = []
    theirs = seconds(lambda: found.extend(numpy_mrmr(X, y, wanted)), clock)
    same = found == np.argsort(ours.ranking_)[:wanted].tolist()
    table.add_row(
        f"mrmr, NumPy, same columns: {same}", f"{theirs:.2f} s", f"{own:.2f} s", f"{theirs / own:.1f}x"
    )
    peers = ""
    try:
        peers = f"mrmr-selection {version('mrmr-selection')}, "
    except PackageNotFoundError:
        print("mrmr-selection is not installed: pip install mrmr-selection")
    if peers:
        from mrmr import mrmr_classif, mrmr_regression

        for what, peer, (A, b) in (
            ("mrmr", mrmr_classif, (X, y)),
            ("mrmr, quantity", mrmr_regression, quantity),
        ):
            frame, target = pd.DataFrame(A).rename(columns=str), pd.Series(b)
            theirs = seconds(
                lambda p=peer, f=frame, t=target: p(f, t, K=wanted, n_jobs=1, show_progress=False), clock
            )
            own = min(seconds(lambda A=A, b=b: ours.fit(A, b), clock) for _ in range(3))
            table.add_row(
                f"{what}, mrmr-selection", f"{theirs:.2f} s", f"{own:.2f} s", f"{theirs / own:.1f}x"
            )
    for scheme in SCHEMES:
        other = MutualInfoSelector(wanted, scheme=scheme, n_bins=N_BINS)
        table.add_row(scheme, "", f"{seconds(lambda o=other: o.fit(X, y), clock):.2f} s", "")
    table.show(peers)


if __name__ == "__main__":
    main()
