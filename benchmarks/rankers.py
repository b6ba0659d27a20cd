"""Speed of the rankers: the Relief family against skrebate and fast-select in one run; SSV and CFS alone.

All Reliefs get the same table, 4,000 rows and 100 numeric columns, and 10 neighbours. fast-select compiles
itself in its first run, which does not count here; skrebate runs once. For a quantity skrebate's ReliefF has
another definition; the job is the same. Its MultiSURF takes many minutes on the whole table: both get a
quarter of the rows. `twins` needs no peer: it compares with the literal definitions of the tests, in plain
Python.

    python benchmarks/rankers.py            # everything, a few minutes
    python benchmarks/rankers.py --quick    # 1,000 rows
    python benchmarks/rankers.py --only growth
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import Results, interleaved, seconds
from sklearn.datasets import make_classification

from foresift import CFSSelector, MultiSURFSelector, ReliefFSelector, SSVSelector


def data(rows: int, columns: int = 100) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(rows, columns, n_informative=10, random_state=0)


def ours(n_jobs: int = 1) -> ReliefFSelector:
    return ReliefFSelector(n_neighbors=10, n_jobs=n_jobs)


def peer_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def compare(
    table: Results,
    name: str,
    bar: str,
    theirs: Any,
    rows: int,
    repeats: int,
    mine: Any,
    quantity: bool = False,
) -> None:
    """One peer against ours; the clock on the wall, since both may use threads."""
    X, y = data(rows)
    y = X[:, :10].sum(axis=1) if quantity else y
    fit: Callable[[Any], Callable[[], Any]] = lambda model: lambda: model.fit(X, y)  # noqa: E731
    if repeats > 1:
        theirs.fit(X, y)  # compiles
        t_theirs, t_ours = interleaved(fit(theirs), fit(mine), repeats, time.perf_counter)
    else:
        t_theirs = seconds(fit(theirs), time.perf_counter)
        t_ours = min(seconds(fit(mine), time.perf_counter) for _ in range(3))
    apart = np.abs(theirs.feature_importances_ - mine.scores_).max()
    table.add_row(
        name,
        f"{t_theirs:.2f} s",
        f"{t_ours:.3f} s",
        f"{t_theirs / t_ours:.1f}x",
        bar,
        f"apart by {apart:.0e}",
    )


def compare_twins(table: Results) -> None:
    """Ours against the literal twins, on a table that they can manage."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import reference_relief as twins

    X, y = data(150, 20)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    quantity, ones = X[:, 0] / np.ptp(X[:, 0]), np.ones(len(X))
    for name, selector, target, twin in (
        ("RReliefF", ours(), quantity, lambda: twins.rrelieff(X, [0] * 20, quantity, 10, ones)),
        ("MultiSURF", MultiSURFSelector(), y, lambda: twins.surf(X, [0] * 20, y, ones, by_row=True)),
    ):
        expected: list[Any] = []
        t_twin = seconds(lambda e=expected, w=twin: e.append(w()))
        t_ours = min(seconds(lambda s=selector, t=target: s.fit(X, t)) for _ in range(3))
        apart = f"apart by {np.abs(selector.scores_ - expected[0]).max():.0e}"
        ratio = f"{t_twin / t_ours:.0f}x"
        table.add_row(f"twin of {name}, 150 x 20", f"{t_twin:.2f} s", f"{t_ours:.4f} s", ratio, "", apart)


def alone(table: Results, rows: int) -> None:
    """RReliefF and MultiSURF, processor time of one thread."""
    X, y = data(rows)
    quantity = X[:, :10].sum(axis=1)
    for name, selector, target in (
        ("RReliefF", ours(), quantity),
        ("MultiSURF", MultiSURFSelector(), y),
        ("MultiSURF, quantity", MultiSURFSelector(), quantity),
    ):
        t = min(seconds(lambda s=selector, t=target: s.fit(X, t)) for _ in range(3))
        table.add_row(f"{name}, alone", "", f"{t:.3f} s", "", "", "")


def compare_threads(table: Results, rows: int) -> None:
    X, y = data(rows)
    one, two = ours(), ours(n_jobs=2)
    t_one, t_two = interleaved(lambda: one.fit(X, y), lambda: two.fit(X, y), 5, time.perf_counter)
    same = np.array_equal(one.scores_, two.scores_)
    ratio = f"{t_one / t_two:.2f}x"
    table.add_row("two threads", f"one: {t_one:.3f} s", f"two: {t_two:.3f} s", ratio, "1.7x", f"same: {same}")


def growth(table: Results) -> None:
    """Four times the rows, and ten and a hundred times the columns."""
    times = {}
    for rows, columns in ((2000, 100), (8000, 100), (2000, 1000), (2000, 10_000)):
        X, y = data(rows, columns)
        times[rows, columns] = min(seconds(lambda X=X, y=y: ours().fit(X, y)) for _ in range(3))
    base = times[2000, 100]
    bars = {(8000, 100): "n^2: 16x", (2000, 1000): "p: 10x", (2000, 10_000): "p: 100x"}
    for (rows, columns), bar in bars.items():
        t = times[rows, columns]
        table.add_row(
            f"{rows} x {columns}", f"2000 x 100: {base:.3f} s", f"{t:.3f} s", f"{t / base:.1f}x", bar, ""
        )


def others(table: Results) -> None:
    """SSV and CFS alone, in processor time; labels of noise are the worst case of SSV."""
    X, y = make_classification(10_000, 200, n_informative=10, n_redundant=0, random_state=0, shuffle=False)
    noise = np.random.default_rng(0).integers(0, 2, len(y))
    for what, selector, columns, target, bar in (
        ("SSV1, 10,000 x 100, noise", SSVSelector(10, mode="separate"), 100, noise, "1 s"),
        ("SSV1, 10,000 x 100", SSVSelector(10, mode="separate"), 100, y, "1 s"),
        ("SSV2, 10,000 x 100", SSVSelector(mode="tree"), 100, y, ""),
        ("CFS, 10,000 x 200", CFSSelector(), 200, y, "seconds"),
    ):
        times = [seconds(lambda s=selector, c=columns, t=target: s.fit(X[:, :c], t)) for _ in range(3)]
        right = f"{selector.support_[:10].sum()} of {selector.support_.sum()} kept are informative"
        table.add_row(what, "", f"{min(times):.3f} s", "", bar, "" if target is noise else right)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="1,000 rows instead of 4,000")
    names = ("fast-select", "skrebate", "twins", "alone", "threads", "growth", "others")
    parser.add_argument("--only", action="append", default=[], choices=names, help="may be repeated")
    args = parser.parse_args()
    rows, wanted, peers = 1000 if args.quick else 4000, args.only or names, ""
    table = Results(
        f"{date.today()}, {rows} x 100, k = 10", ("what", "peer", "foresift", "ratio", "bar", "check")
    )
    for peer in ("fast-select", "skrebate"):
        if peer not in wanted:
            continue
        if (number := peer_version(peer)) is None:
            raise SystemExit(f"{peer} is not installed: pip install {peer}, or choose other rows with --only")
        peers += f"{peer} {number}, "
    if "fast-select" in wanted:
        from fast_select import ReliefF

        for n_jobs in (1, 2):
            theirs = ReliefF(n_features_to_select=10, n_neighbors=10, n_jobs=n_jobs)
            compare(table, f"fast-select, {n_jobs} threads", "2x", theirs, rows, 7, ours(n_jobs))
    if "skrebate" in wanted:
        from skrebate import MultiSURF, ReliefF

        theirs = ReliefF(n_neighbors=10, n_jobs=1)
        compare(table, "skrebate, 1 thread", "100x", theirs, rows, 1, ours())
        compare(table, "skrebate, quantity", "50x", theirs, rows, 1, ours(), quantity=True)
        compare(table, "skrebate, MultiSURF", "50x", MultiSURF(n_jobs=1), rows // 4, 1, MultiSURFSelector())
    if "twins" in wanted:
        compare_twins(table)
    if "alone" in wanted:
        alone(table, rows)
    if "threads" in wanted:
        compare_threads(table, rows)
    if "growth" in wanted:
        growth(table)
    if "others" in wanted:
        others(table)
    table.show(peers)


if __name__ == "__main__":
    main()
