"""foresift beside its best peers: made tables where the truth is known, and the classic tables.

A unit of work is one method on one table: it leaves one line of JSON in FOLDER/truth.jsonl (made tables) or
FOLDER/tables.jsonl (classic tables, see FORESIFT_DATA and FORESIFT_DATA_REGRESSION), and a run takes up where
the last one stopped. All cells, tables and methods are done for the first seed, then for the next. Every
method gets one thread, and as many made tables as it is fast (`Method.tables`).

    pip install '.[heads]'                                             # the other packages
    nice -n 15 python benchmarks/headtohead.py run docs/headtohead     # resumable
    python benchmarks/headtohead.py run docs/headtohead --only truth --methods relevance,f-test --seeds 10
    python benchmarks/headtohead.py run docs/headtohead --quiet --seeds 3   # times, with nothing else running
    python benchmarks/headtohead.py check docs/headtohead [docs/headtohead.md]   # what holds and what is lost
    python benchmarks/headtohead.py table docs/headtohead [docs/headtohead.md]   # Markdown; into the page
    python benchmarks/headtohead.py picture docs/headtohead docs/headtohead/headtohead.png

A method that needs more than LIMIT seconds of processor time for a table is stopped, and not run again in
that cell. What is stopped or left out is recorded.
Times are those of a machine that did other work too (`loaded`), unless --quiet says otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["TQDM_DISABLE"] = "1"

import numpy as np
from calibration_results import read, write_into
from headtohead_cells import CELLS, FIRST_SEED, make
from headtohead_check import checked
from headtohead_peers import METHODS, Method
from headtohead_results import FILES, append, picture, shown
from headtohead_tables import as_numbers, data_of, scores, split_of, tables

from foresift.data.slices import take_rows

N_SEEDS = 300  # at most; cells and methods say how many
LIMIT = 120.0  # seconds of processor time
N_SPLITS = 5  # of a classic table: each of its rows is tested once


class TooLong(BaseException):
    """A method has used up its time. Not an Exception, which the method might catch."""


@contextlib.contextmanager
def at_most(limit: float) -> Iterator[None]:
    """Raise TooLong after some processor time."""

    def stop(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Runs:
    """What one file of results has, and what may be added to it."""

    def __init__(self, path: Path, key: tuple[str, str, str], limit: float, quiet: bool) -> None:
        self.path, self.key, self.limit, self.quiet = path, key, limit, quiet
        self.done: set[tuple[Any, ...]] = set()
        self.over: set[tuple[str, str]] = set()
        for record in read(path, key):
            self._note(record)

    def _note(self, record: dict[str, Any]) -> None:
        place, method, number = (record[name] for name in self.key)
        if not self.quiet or not record["loaded"] or "skipped" in record:
            self.done.add((place, method, number))
        if "stopped" in record or "skipped" in record:
            self.over.add((place, method))

    def is_wanted(self, place: str, name: str, number: int) -> bool:
        """Whether to run a method: not if it has run, or was stopped or skipped."""
        return (place, name, number) not in self.done and (place, name) not in self.over

    def skip(self, place: str, name: str, number: int, why: str) -> None:
        """Record that a method is not run here."""
        self._add(place, name, number, {"skipped": why})

    def run(self, place: str, name: str, number: int, work: Callable[[], np.ndarray]) -> np.ndarray | None:
        """Select with a limit of time; what goes wrong is recorded."""
        began = time.process_time()
        try:
            with warnings.catch_warnings(), at_most(self.limit):
                warnings.simplefilter("ignore")
                chosen = np.asarray(work(), dtype=bool)
        except TooLong:
            self._add(place, name, number, {"stopped": self.limit})
            return None
        except Exception as error:
            self._add(place, name, number, {"failed": f"{type(error).__name__}: {error}"[:200]})
            return None
        self.spent = round(time.process_time() - began, 3)
        return chosen

    def add(self, place: str, name: str, number: int, facts: dict[str, Any]) -> None:
        """Record what the last run found."""
        self._add(place, name, number, {**facts, "seconds": self.spent})

    def _add(self, place: str, name: str, number: int, facts: dict[str, Any]) -> None:
        record = dict(zip(self.key, (place, name, number), strict=True)) | facts
        record |= {"version": METHODS[name].version, "loaded": not self.quiet}
        append(self.path, record)
        self._note(record)


def reason_to_skip(method: Method, p: int, n_classes: int) -> str | None:
    if p > method.max_p:
        return f"more than {method.max_p} columns"
    if method.two_classes and n_classes > 2:
        return "more than two classes"
    return None


def run_truth(runs: Runs, cells: list[str], names: list[str], index: int) -> None:
    """All methods on one made table of every cell."""
    for place in cells:
        cell, seed = CELLS[place], FIRST_SEED + index
        wanted = [
            name
            for name in names
            if index < min(cell.seeds, METHODS[name].tables) and runs.is_wanted(place, name, seed)
        ]
        if not wanted:
            continue
        X, y, truth = make(place, seed)
        of = np.bincount(truth, minlength=3).tolist()
        for name in wanted:
            method = METHODS[name]
            if why := reason_to_skip(method, cell.p, 2):
                runs.skip(place, name, seed, why)
                continue
            k = (cell.relevant or 1) if method.is_told else None
            chosen = runs.run(place, name, seed, partial(method.run, X, y, cell.task, seed, k))
            if chosen is not None:
                found = np.bincount(truth[chosen], minlength=3).tolist()
                runs.add(place, name, seed, {"chosen": found, "of": of})


def run_tables(runs: Runs, places: list[str], names: list[str], number: int) -> None:
    """All methods on one split of every classic table."""
    for place in places:
        task = tables()[place]
        wanted = [name for name in names if runs.is_wanted(place, name, number)]
        if not wanted or number >= N_SPLITS:
            continue
        X, y = data_of(place)
        train, _ = split_of(place, number)
        frame, target = take_rows(X, train), y[train]
        n_classes = len(np.unique(y)) if task == "classification" else 1
        coded = as_numbers(frame)
        for name in wanted:
            method = METHODS[name]
            if why := reason_to_skip(method, X.shape[1], n_classes):
                runs.skip(place, name, number, why)
                continue
            given = frame if method.is_ours else coded
            seed = FIRST_SEED + number
            chosen = runs.run(place, name, number, partial(method.run, given, target, task, seed, None))
            if chosen is not None:
                columns = tuple(np.flatnonzero(chosen).tolist())
                facts = {"chosen": columns, "p": X.shape[1], "scores": scores(place, number, columns)}
                runs.add(place, name, number, facts)


def run(options: argparse.Namespace) -> None:
    """Made tables of a seed, then the same split of all classic tables, then the next seed."""
    options.folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in options.methods if METHODS[name].version is not None]
    for name in sorted(set(options.methods) - set(names)):
        print(f"{name} is left out: {METHODS[name].package} is not installed.", flush=True)
    kinds = {}
    for kind, (file, key) in FILES.items():
        kinds[kind] = Runs(options.folder / file, key, options.limit, options.quiet)
    cells = [name for name in CELLS if options.cells in name]
    places = [name for name in tables() if options.cells in name]
    if not places and options.only != "truth":
        print("No classic tables: set FORESIFT_DATA and FORESIFT_DATA_REGRESSION.", flush=True)
    for index in range(options.seeds):
        if options.only != "tables":
            run_truth(kinds["truth"], cells, [name for name in names if name != "all"], index)
        if options.only != "truth":
            run_tables(kinds["tables"], places, names, index)
        print(f"seed {index} done", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("run", "check", "table", "picture"))
    parser.add_argument("folder", type=Path, help="with the results; run adds to them")
    parser.add_argument("target", type=Path, nargs="?", help="picture, or a page with marks")
    parser.add_argument("--methods", default=",".join(METHODS), help=f"by commas: {', '.join(METHODS)}")
    parser.add_argument("--cells", default="", help="cells and tables whose names have this in them")
    parser.add_argument("--only", choices=("truth", "tables"), help="made tables, or classic ones")
    parser.add_argument("--seeds", type=int, default=N_SEEDS, help="no more than so many")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of processor time per table")
    parser.add_argument("--quiet", action="store_true", help="nothing else runs here: times count")
    options = parser.parse_args()
    options.methods = options.methods.split(",")
    if unknown := set(options.methods) - set(METHODS):
        parser.error(f"no such method: {', '.join(sorted(unknown))}")
    if options.what == "picture" and options.target is None:
        parser.error("picture needs a file to write")
    return options


def main() -> int:
    options = arguments()
    if options.what == "run":
        run(options)
        return 0
    if options.what == "picture":
        picture(options.folder, options.target)
        return 0
    parts, holds = checked(options.folder) if options.what == "check" else (shown(options.folder), True)
    for mark, lines in parts.items():
        if options.target is None:
            print(lines, end="\n\n")
        else:
            write_into(options.target, mark, lines)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
