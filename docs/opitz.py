"""Make the tables of docs/opitz.md: GEFS beside a single network, Bagging and AdaBoost (Opitz, Table 3).

    python docs/opitz.py run                        # every data set, as often as REPETITIONS says
    python docs/opitz.py run --only iris glass --repetitions 2
    python docs/opitz.py table                      # write the tables into the page

The UCI tables are read from the folder that the environment variable FORESIFT_DATA names. Every finished fold
goes to docs/opitz/folds.csv at once, and folds that are there are not run again: remove the file after a
change of the package.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from foresift import GEFSClassifier, NetworkClassifier

HERE = Path(__file__).parent
FOLDS = HERE / "opitz" / "folds.csv"
PAGE = HERE / "opitz.md"
METHODS = ("single", "bagging", "adaboost", "initial", "gefs")
FIELDS = ("data", "repetition", "fold", "method", "wrong", "rows", "seconds")
MEMBERS, CANDIDATES = 20, 250

# Table 2 of the paper: hidden units and epochs. Table 3: errors in %, in the order of METHODS.
PAPER: dict[str, tuple[int, int, tuple[float, ...]]] = {
    "credit-a": (10, 35, (14.8, 13.8, 15.7, 13.6, 13.1)),
    "credit-g": (10, 30, (27.9, 24.2, 25.3, 23.9, 24.8)),
    "diabetes": (5, 30, (23.9, 22.8, 23.3, 24.5, 23.0)),
    "glass": (10, 80, (38.6, 33.1, 31.1, 30.8, 30.4)),
    "heart-cleveland": (5, 40, (18.6, 17.0, 21.1, 16.8, 16.1)),
    "hepatitis": (10, 60, (20.1, 17.8, 19.7, 15.5, 16.7)),
    "house-votes-84": (5, 40, (4.9, 4.1, 5.3, 3.9, 4.4)),
    "hypo": (15, 40, (6.4, 6.2, 6.2, 7.5, 5.9)),
    "ionosphere": (10, 40, (9.7, 9.2, 8.3, 6.3, 5.4)),
    "iris": (5, 80, (4.3, 4.0, 3.9, 4.0, 3.3)),
    "kr-vs-kp": (15, 20, (2.3, 0.8, 0.3, 3.0, 0.7)),
    "labor": (10, 80, (6.1, 4.2, 3.2, 3.5, 3.5)),
    "letter": (40, 30, (18.0, 10.5, 4.6, 10.3, 9.5)),
    "satellite": (15, 30, (13.0, 10.6, 10.0, 14.2, 11.2)),
    "segmentation": (15, 20, (6.6, 5.4, 3.3, 5.2, 3.6)),
    "sick": (10, 40, (5.9, 5.7, 4.5, 6.1, 3.5)),
    "sonar": (10, 60, (16.6, 16.8, 13.0, 17.3, 17.8)),
    "soybean": (25, 40, (9.2, 6.9, 6.3, 6.0, 5.9)),
    "vehicle": (10, 40, (24.9, 20.7, 19.7, 22.2, 19.0)),
}
# Those that take longest come last.
SLOW = ("segmentation", "vehicle", "soybean", "sick", "hypo", "kr-vs-kp", "satellite", "letter")
ORDER = [*(name for name in PAPER if name not in SLOW), *SLOW]
# The paper has five 10-fold cross-validations of every data set.
REPETITIONS = {"sick": 1, "hypo": 1, "kr-vs-kp": 1, "satellite": 1, "letter": 1}
FOLDS_OF = {"letter": 2}


def load(name: str) -> tuple[Any, Any]:
    """Read a table and its classes, with columns typed as the schema says."""
    import pandas as pd

    folder = Path(os.environ["FORESIFT_DATA"])
    spec = json.loads((folder / "schema.json").read_text(encoding="utf-8"))[name]
    frame = pd.read_csv(folder / spec["file"], dtype=str, keep_default_na=False, na_values=[""])
    y = frame.pop("class").to_numpy(dtype=object)
    nominal = set(frame.columns) if spec["discrete"] == "all" else set(spec["discrete"])
    return frame.astype({c: "category" if c in nominal else "float64" for c in frame.columns}), y


class Ensembles:
    """Bagging and AdaBoost of networks, as the paper describes them."""

    def __init__(self, shape: dict[str, int], X: Any, y: Any, seed: int) -> None:
        self.shape, self.X, self.y, self.seed = shape, X, y, seed
        self.classes = np.unique(y)

    def member(self, rows: np.ndarray, number: int) -> NetworkClassifier:
        """Train one network on these rows."""
        network = NetworkClassifier(**self.shape, random_state=1000 * self.seed + number)
        return network.fit(self.X.iloc[rows], self.y[rows])

    def bagging(self, X: Any) -> np.ndarray:
        """Average the outputs of networks on bootstrap samples."""
        rng, n = np.random.default_rng(self.seed), len(self.y)
        total = np.zeros((len(X), len(self.classes)))
        for k in range(MEMBERS):
            network = self.member(rng.integers(0, n, n), k)
            total[:, np.searchsorted(self.classes, network.classes_)] += network.predict_proba(X)
        return self.classes[total.argmax(axis=1)]

    def adaboost(self, X: Any) -> np.ndarray:
        """Resample by the errors of the last network; votes of weight log beta.

        A network without errors, or with more than one half, has no beta: it votes with that of one error in
        twice as many rows, or not at all, and the probabilities begin again.
        """
        rng, n = np.random.default_rng(self.seed), len(self.y)
        chance, votes = np.full(n, 1 / n), np.zeros((len(X), len(self.classes)))
        for k in range(MEMBERS):
            network = self.member(rng.choice(n, n, p=chance), k)
            wrong = network.predict(self.X) != self.y
            error = chance[wrong].sum()
            if error < 0.5:
                beta = (1 - error) / max(error, 1 / (2 * n))
                votes[np.arange(len(X)), np.searchsorted(self.classes, network.predict(X))] += np.log(beta)
            if not 0 < error < 0.5:
                chance = np.full(n, 1 / n)
                continue
            chance = np.where(wrong, chance * beta, chance)
            chance /= chance.sum()
        return self.classes[votes.argmax(axis=1)]


def run_fold(
    name: str, X: Any, y: Any, at: tuple[int, int], train: Any, test: Any, jobs: int
) -> Iterator[dict]:
    """Train all methods on one fold of one repetition; yield what each got wrong."""
    hidden, epochs, _ = PAPER[name]
    shape = {"n_hidden": hidden, "epochs": epochs}
    ours, theirs, answers = X.iloc[train], y[train], X.iloc[test]
    seed = 10 * at[0] + at[1]
    ensembles = Ensembles(shape, ours, theirs, seed)
    gefs = GEFSClassifier(**shape, n_candidates=MEMBERS, n_jobs=jobs, random_state=seed)
    work = {
        "single": lambda: NetworkClassifier(**shape, random_state=seed).fit(ours, theirs).predict(answers),
        "bagging": lambda: ensembles.bagging(answers),
        "adaboost": lambda: ensembles.adaboost(answers),
        "initial": lambda: gefs.fit(ours, theirs).predict(answers),
        "gefs": lambda: gefs.fit_more(ours, theirs, CANDIDATES - MEMBERS).predict(answers),
    }
    for method in METHODS:
        began = time.perf_counter()
        wrong = int((work[method]() != y[test]).sum())
        seconds = round(time.perf_counter() - began, 2)
        yield dict(zip(FIELDS, (name, *at, method, wrong, len(test), seconds), strict=True))


def finished() -> list[dict[str, str]]:
    """Rows of the folds that have been run."""
    if not FOLDS.exists():
        return []
    with FOLDS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run(names: list[str], repetitions: int | None, jobs: int) -> None:
    """Run the folds that are not there yet."""
    for name in names:
        X, y = load(name)
        for repetition in range(REPETITIONS.get(name, 5) if repetitions is None else repetitions):
            cv = StratifiedKFold(FOLDS_OF.get(name, 10), shuffle=True, random_state=repetition)
            for fold, (train, test) in enumerate(cv.split(X, y)):
                key = (name, str(repetition), str(fold))
                if any((row["data"], row["repetition"], row["fold"]) == key for row in finished()):
                    continue
                rows = list(run_fold(name, X, y, (repetition, fold), train, test, jobs))
                keep(rows)
                print(*key, *(f"{row['method']} {row['wrong']}" for row in rows), flush=True)


def keep(rows: list[dict]) -> None:
    """Add the rows of a fold to the file, in one piece: several processes may write to it."""
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
    if not FOLDS.exists():
        writer.writeheader()
    writer.writerows(rows)
    with FOLDS.open("a", newline="", encoding="utf-8") as file:
        file.write(text.getvalue())


def errors() -> dict[str, tuple[int, tuple[float, ...]]]:
    """Whole cross-validations of every data set, and the mean error in % of every method over them."""
    count: dict[tuple[str, str], int] = Counter()
    for row in finished():
        count[row["data"], row["repetition"]] += row["method"] == METHODS[0]
    whole = {key for key, folds in count.items() if folds == FOLDS_OF.get(key[0], 10)}
    sums: dict[str, dict[str, list[int]]] = {}
    for row in finished():
        if (row["data"], row["repetition"]) in whole:
            pair = sums.setdefault(row["data"], {m: [0, 0] for m in METHODS})[row["method"]]
            pair[0] += int(row["wrong"])
            pair[1] += int(row["rows"])
    return {
        name: (
            sum(data == name for data, _ in whole),
            tuple(100 * wrong / n for wrong, n in sums[name].values()),
        )
        for name in sorted(sums)
    }


def record(table: dict[str, tuple[float, ...]], better: int, worse: int) -> str:
    """Wins, losses and ties of one method against another, at the precision of the printed table."""
    pairs = [(round(row[better], 1), round(row[worse], 1)) for row in table.values()]
    wins, losses = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    return f"{wins}-{losses}-{len(pairs) - wins - losses}"


def table() -> None:
    """Write the tables into the page, between their markers."""
    runs = errors()
    found = {name: ours for name, (_, ours) in runs.items()}
    paper = {name: PAPER[name][2] for name in found}
    lines = [
        "| data | runs | single | Bagging | AdaBoost | initial | 250 networks | paper: single | Bagging "
        "| AdaBoost | initial | 250 |",
        "| --- |" + " --- |" * 11,
    ]
    for name, ours in found.items():
        lines.append(
            f"| {name} | {runs[name][0]} | "
            + " | ".join(f"{error:.1f}" for error in (*ours, *paper[name]))
            + " |"
        )
    wins = ["| against | initial | paper | 250 networks | paper |", "| --- | --- | --- | --- | --- |"]
    for k, title in enumerate(("single", "Bagging", "AdaBoost", "initial")):
        first = (record(found, 3, k), record(paper, 3, k)) if k < 3 else ("", "")
        wins.append(f"| {title} | {first[0]} | {first[1]} | {record(found, 4, k)} | {record(paper, 4, k)} |")
    text = PAGE.read_text(encoding="utf-8")
    for marker, content in (("errors", lines), ("wins", wins)):
        begin, end = f"<!-- {marker} -->", f"<!-- /{marker} -->"
        head, rest = text.split(begin)
        text = head + begin + "\n\n" + "\n".join(content) + "\n\n" + end + rest.split(end)[1]
    PAGE.write_text(text, encoding="utf-8")
    print("\n".join([*lines, "", *wins]))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("--only", nargs="+", choices=list(PAPER), default=ORDER)
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    if args.what == "table":
        table()
    elif "FORESIFT_DATA" not in os.environ:
        sys.exit("Set FORESIFT_DATA to the folder of the UCI tables.")
    else:
        run(args.only, args.repetitions, args.jobs)


if __name__ == "__main__":
    main()
