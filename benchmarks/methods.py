"""What every method of the command line costs: processor seconds of `fit` with one thread, and what it finds.

The tables are scikit-learn's `make_classification` with 5 informative columns of 10 and 10 of 100 or 2,000,
none redundant. A method that takes longer than `--limit` on a table is stopped there and gets no further one.

    python benchmarks/methods.py                      # everything, some minutes
    python benchmarks/methods.py --only relieff cfs
    python benchmarks/methods.py --pairs              # who finds columns that matter only together
    python benchmarks/methods.py --copies             # what becomes of a near copy of a good column
"""

from __future__ import annotations

import argparse
import os
import signal
import warnings
from datetime import date
from typing import Any, NoReturn

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from common import Results, seconds
from sklearn.datasets import make_classification

from foresift.datasets import make_friedman
from foresift.evaluation.registry import METHODS

SIZES = {"300 x 10": (300, 10, 5), "2,000 x 100": (2000, 100, 10), "10,000 x 100": (10_000, 100, 10)}
SIZES["200 x 2,000"] = (200, 2000, 10)


def selector(key: str) -> Any:
    """The selector of a method, for one thread and quiet."""
    made = METHODS[key].make()
    quiet = {"n_jobs": 1, "random_state": 0, "verbose": 0}
    return made.set_params(**{name: value for name, value in quiet.items() if name in made.get_params()})


def _stop(*_: object) -> NoReturn:
    raise TimeoutError


def _timed(model: Any, X: Any, y: Any, limit: float) -> float:
    """Processor seconds of a fit, which raises TimeoutError beyond the limit."""
    signal.setitimer(signal.ITIMER_PROF, limit)  # of processor time, so that other programs do not count
    try:
        return seconds(lambda: model.fit(X, y))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def cost(key: str, rows: int, columns: int, informative: int, limit: float) -> str:
    """Seconds of one fit, and how many of the best columns are informative ones."""
    X, y = make_classification(
        rows, columns, n_informative=informative, n_redundant=0, shuffle=False, random_state=0
    )
    places = np.random.default_rng(0).permutation(columns)  # where scores tie, the first columns win
    model = selector(key)
    X = X[:, places]
    try:
        taken = _timed(model, X, y, limit)
    except TimeoutError:
        return f"> {limit:.0f}"
    except ValueError:  # an exhaustive search of so many columns is refused
        return "refused"
    found = (model.ranking_[places < informative] <= informative).sum()
    return f"{taken:.2g}, {found} of {informative}"


def costs(key: str, limit: float) -> list[str]:
    """The cost on every table, in order, up to one that takes too long."""
    cells: list[str] = []
    for size in SIZES.values():
        cells.append("" if cells and cells[-1][:1] in ("", ">", "r") else cost(key, *size, limit))
    return cells


def pairs(key: str, limit: float, n_noise: int = 10, n_tables: int = 10) -> tuple[str, str]:
    """In how many tables the two columns of an exclusive or come first, and seconds per table."""
    found, taken = 0, 0.0
    for seed in range(n_tables):
        X = np.random.default_rng(seed).normal(size=(500, 2 + n_noise))
        y = (X[:, -2] > 0) ^ (X[:, -1] > 0)  # the last two, which lose where scores tie
        model = selector(key)
        try:
            taken += _timed(model, X, y, limit)
        except TimeoutError:
            return "", f"> {limit:.0f}"
        found += model.ranking_[-2:].max() == 2
    return f"{found} of {n_tables}", f"{taken / n_tables:.2g}"


def copies(key: str, limit: float, n_tables: int = 5) -> tuple[str, str]:
    """In how many tables a column and its near copy are both kept, and their median ranks."""
    ranks, kept = [], 0
    for seed in range(n_tables):
        X, y = make_friedman(500, random_state=seed)
        near = X[:, 3] + np.random.default_rng(seed).normal(0, 0.02, len(y))  # its deviation is 0.29
        model = selector(key)
        try:
            _timed(model, np.column_stack([X, near]), y, limit)
        except TimeoutError:
            return "", f"> {limit:.0f} s"
        ranks.append(sorted(model.ranking_[[3, 10]]))
        kept += model.support_[[3, 10]].all()
    return f"{kept} of {n_tables}", "{:.0f} and {:.0f}".format(*np.median(ranks, axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--limit", type=float, default=20.0, help="processor seconds per fit")
    parser.add_argument("--pairs", action="store_true", help="an exclusive or of 2 of 12 columns, 500 rows")
    parser.add_argument("--copies", action="store_true", help="Friedman's table and a near copy, 500 rows")
    args = parser.parse_args()
    signal.signal(signal.SIGPROF, _stop)
    warnings.simplefilter("ignore")
    heads = ("both first", "seconds") if args.pairs else tuple(SIZES)
    heads = ("both kept", "ranks") if args.copies else heads
    table = Results(f"{date.today()}, one thread", ("method", *heads))
    for key in args.only:
        if args.pairs or args.copies:
            table.add_row(key, *(copies if args.copies else pairs)(key, args.limit))
        else:
            table.add_row(key, *costs(key, args.limit))
    table.show()


if __name__ == "__main__":
    main()
