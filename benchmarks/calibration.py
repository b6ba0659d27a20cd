"""Error rates and power of RelevanceSelector and its peers on made tables, where the truth is known.

A unit of work is one method on one table: it leaves one line of JSON, and a run takes up where the last one
stopped. A table is drawn by the name of its cell and a seed. Every method gets one thread.

    python benchmarks/calibration.py run results.jsonl                         # ours, 50 or 100 seeds a cell
    python benchmarks/calibration.py run results.jsonl --methods boruta --seeds 5
    python benchmarks/calibration.py table results.jsonl [relevance.md]        # Markdown; into the page
    python benchmarks/calibration.py picture results.jsonl calibration.png
    python benchmarks/calibration.py speed times.jsonl --sizes 2000x100,5000x500 [--methods relevance]

Methods: `relevance` (all defaults), `knockoff+` (its rule, on the differences of columns and first shadows of
the same fit), `boruta` (BorutaPy as its authors recommend) and `rfecv` (scikit-learn's RFECV with a random
forest; small cells only).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFECV

from foresift import RelevanceSelector

ALPHA = 0.1
METHODS = ("relevance", "knockoff+", "boruta", "rfecv")
IRRELEVANT, RELEVANT, CORRELATE = 0, 1, 2
PEERS = ("boruta", "rfecv")


@dataclass(frozen=True)
class Cell:
    """What a table is like. `rho` correlates blocks of five columns, the first of which may be relevant."""

    n: int
    p: int
    informative: int = 0
    maker: str = "logistic"  # or "clusters" (make_classification), "xor"
    rho: float = 0.0
    minority: float = 0.5
    n_classes: int = 2
    columns: str = "continuous"  # or "nominal", "tied", "heavy", "rare", "gaps", "mixed", "mostly rare"
    effect: float = 0.7
    seeds: int = 50


CELLS: dict[str, Cell] = {
    "null 200x100": Cell(200, 100, seeds=100),
    "null 500x500": Cell(500, 500, seeds=100),
    "null 2000x50": Cell(2000, 50, seeds=100),
    "null nominal 500x50": Cell(500, 50, columns="nominal", seeds=100),
    "null minority 2 % 1000x50": Cell(1000, 50, minority=0.02, seeds=100),
    "null mixed 300x80": Cell(300, 80, columns="mixed", seeds=100),
    "null missing together 300x40": Cell(300, 40, columns="gaps", seeds=100),
    "null rare binary, a few continuous 200x40": Cell(200, 40, columns="mostly rare", seeds=100),
    "clusters 500x200, 10": Cell(500, 200, 10, "clusters"),
    "clusters 500x200, 3": Cell(500, 200, 3, "clusters"),
    "clusters 500x500, 10": Cell(500, 500, 10, "clusters"),
    "clusters 2000x100, 10": Cell(2000, 100, 10, "clusters"),
    "logistic 500x100, 1": Cell(500, 100, 1, effect=0.5),
    "logistic 500x100, 5": Cell(500, 100, 5, effect=0.5),
    "logistic 500x100, 20": Cell(500, 100, 20, effect=0.5),
    "correlation 0.5": Cell(500, 100, 5, rho=0.5, effect=0.5),
    "correlation 0.9": Cell(500, 100, 5, rho=0.9, effect=0.5),
    "minority 10 %": Cell(1000, 100, 5, minority=0.1, effect=0.6),
    "minority 2 %": Cell(2000, 100, 5, minority=0.02, effect=1.0),
    "5 classes": Cell(500, 100, 5, n_classes=5, effect=0.8),
    "nominal": Cell(500, 100, 5, columns="nominal", effect=0.7),
    "tied": Cell(500, 100, 5, columns="tied", effect=0.5),
    "heavy tails": Cell(500, 100, 5, columns="heavy", effect=0.5),
    "mixed": Cell(500, 100, 5, columns="mixed", effect=0.7),
    "xor 1000x52": Cell(1000, 52, 2, "xor", seeds=10),
}
SMALL = [name for name, cell in CELLS.items() if cell.n * cell.p <= 50_000]  # where RFECV is run


def make(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, list[int], np.ndarray]:
    """X, y, numbers of the nominal columns, and what each column is."""
    cell = CELLS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    if cell.maker == "clusters":
        X, y = make_classification(
            cell.n,
            cell.p,
            n_informative=cell.informative,
            n_redundant=0,
            shuffle=False,
            random_state=int(rng.integers(2**31)),
        )
        return X, y, [], (np.arange(cell.p) < cell.informative).astype(int)
    X = rng.normal(size=(cell.n, cell.p))
    truth = np.zeros(cell.p, dtype=int)
    if cell.rho:
        shared = np.repeat(rng.normal(size=(cell.n, -(-cell.p // 5))), 5, axis=1)[:, : cell.p]
        X = np.sqrt(cell.rho) * shared + np.sqrt(1 - cell.rho) * X
        truth[: 5 * cell.informative] = CORRELATE
    relevant = np.arange(cell.informative) * (5 if cell.rho else 1)
    truth[relevant] = RELEVANT
    y = _classes(cell, X[:, relevant], rng)
    X, nominal = _columns(cell, X, rng)
    return X, y, nominal, truth


def _classes(cell: Cell, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if cell.maker == "xor":
        return ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    if cell.n_classes > 2:
        effects = rng.normal(size=(X.shape[1], cell.n_classes)) * cell.effect
        return (X @ effects + rng.gumbel(size=(cell.n, cell.n_classes))).argmax(axis=1)
    latent = X @ (cell.effect * rng.choice([-1, 1], size=X.shape[1])) + rng.logistic(size=cell.n)
    return (latent > np.quantile(latent, 1 - cell.minority)).astype(int)


def _columns(cell: Cell, X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, list[int]]:
    kinds = np.array([cell.columns] * cell.p)
    if cell.columns == "mixed":
        kinds = np.resize(["continuous", "nominal", "tied", "rare", "heavy"], cell.p)
    elif cell.columns == "mostly rare":
        kinds = np.resize(["continuous", *["rare"] * 7], cell.p)
    for j, kind in enumerate(kinds):
        if kind == "nominal":  # quantiles, renamed at random
            n_categories = int(rng.integers(2, 12))
            ranks = X[:, j].argsort().argsort()
            X[:, j] = rng.permutation(n_categories)[ranks * n_categories // cell.n]
        elif kind == "tied":
            X[:, j] = np.round(X[:, j] * rng.choice([0.7, 1.5]))
        elif kind == "rare":
            X[:, j] = X[:, j] > 1.5
        elif kind == "heavy":
            X[:, j] = np.sign(X[:, j]) * np.abs(X[:, j]) ** 5
    if cell.columns == "mixed":
        X[rng.random(X.shape) < 0.05] = np.nan
    elif cell.columns == "gaps":  # all columns in the same rows, as if half of a questionnaire was left blank
        X[rng.random(cell.n) < 0.47] = np.nan
    return X, np.flatnonzero(kinds == "nominal").tolist()


def relevance(X: np.ndarray, y: np.ndarray, nominal: list[int], seed: int) -> dict[str, np.ndarray]:
    selector = RelevanceSelector(alpha=ALPHA, categorical_features=nominal, random_state=seed).fit(X, y)
    differences = selector.scores_ - np.nan_to_num(selector.shadow_scores_[:, 0])
    return {"relevance": selector.relevant_, "knockoff+": knockoff_plus(differences)}


def knockoff_plus(differences: np.ndarray) -> np.ndarray:
    """Barber & Candes' rule: the least threshold at which (1 + losses) / wins is at most ALPHA."""
    for t in np.sort(np.abs(differences[differences != 0])):
        wins = (differences >= t).sum()
        if (1 + (differences <= -t).sum()) <= ALPHA * wins:
            return np.asarray(differences >= t)
    return np.zeros(len(differences), dtype=bool)


def boruta(X: np.ndarray, y: np.ndarray, nominal: list[int], seed: int) -> dict[str, np.ndarray]:
    from boruta import BorutaPy

    X = np.where(np.isnan(X), -999.0, X)  # it knows neither missing values nor categories
    forest = RandomForestClassifier(n_jobs=1, class_weight="balanced", max_depth=5)
    return {"boruta": BorutaPy(forest, n_estimators="auto", random_state=seed).fit(X, y).support_}


def rfecv(X: np.ndarray, y: np.ndarray, nominal: list[int], seed: int) -> dict[str, np.ndarray]:
    X = np.where(np.isnan(X), -999.0, X)
    forest = RandomForestClassifier(100, n_jobs=1, random_state=seed)
    return {"rfecv": RFECV(forest, step=0.1, cv=5, n_jobs=1).fit(X, y).support_}


RUNS: dict[str, Callable[..., dict[str, np.ndarray]]] = {
    "relevance": relevance,
    "boruta": boruta,
    "rfecv": rfecv,
}


def run(path: Path, methods: list[str], names: list[str], seeds: int | None) -> None:
    """Do what is not done yet; a half-written last line is done again."""
    done = {(r["cell"], r["method"], r["seed"]) for r in read(path)}
    for name in names:
        for seed in range(CELLS[name].seeds if seeds is None else min(seeds, CELLS[name].seeds)):
            for method in methods:
                if (name, method, seed) in done:
                    continue
                X, y, nominal, truth = make(name, seed)
                began = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    chosen = RUNS[method](X, y, nominal, seed)
                seconds = time.process_time() - began
                with path.open("a") as file:
                    for key, mask in chosen.items():
                        counts = np.bincount(truth[mask], minlength=3).tolist()
                        of = np.bincount(truth, minlength=3).tolist()
                        record = {"cell": name, "method": key, "seed": seed, "seconds": round(seconds, 3)}
                        file.write(json.dumps({**record, "chosen": counts, "of": of}) + "\n")


def read(path: Path, key: tuple[str, ...] = ("cell", "method", "seed")) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    records = {}
    for line in path.read_text().splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        records[tuple(record[name] for name in key)] = record
    return list(records.values())


@dataclass(frozen=True)
class Summary:
    """One method in one cell: means over the seeds; `falses` and `powers` have a share for each seed."""

    seeds: int
    any_false: float
    falses: tuple[float, ...]
    powers: tuple[float, ...]
    correlates: float
    seconds: float

    @property
    def fdr(self) -> float:
        """Share of irrelevant columns among the chosen."""
        return float(np.mean(self.falses))

    @property
    def power(self) -> float:
        """Share of the relevant columns found."""
        return float(np.mean(self.powers))


def summaries(records: list[dict[str, Any]]) -> dict[str, dict[str, Summary]]:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        groups[record["cell"], record["method"]].append(record)
    found: dict[str, dict[str, Summary]] = {name: {} for name in CELLS}
    for (cell, method), group in groups.items():
        chosen = np.array([r["chosen"] for r in group])
        of = np.maximum(np.array([r["of"] for r in group]), 1)
        false = chosen[:, IRRELEVANT] / np.maximum(chosen.sum(axis=1), 1)
        power = chosen[:, RELEVANT] / of[:, RELEVANT]
        found[cell][method] = Summary(
            len(group),
            float((chosen[:, IRRELEVANT] > 0).mean()),
            tuple(false.tolist()),
            tuple(power.tolist()),
            float((chosen[:, CORRELATE] / of[:, CORRELATE]).mean()),
            float(np.mean([r["seconds"] for r in group])),
        )
    return found


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean over the tables, and its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def table(path: Path) -> str:
    """Markdown: a line per cell and method."""
    lines = [
        "| cell | method | seeds | any false | FDR | power | correlates | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for cell, methods in summaries(read(path)).items():
        for method in METHODS:
            if method not in methods:
                continue
            s = methods[method]
            informative = CELLS[cell].informative
            power = f"{s.power:.2f}" if informative else ""
            correlates = f"{s.correlates:.2f}" if CELLS[cell].rho else ""
            lines.append(
                f"| {cell} | {method} | {s.seeds} | {s.any_false:.2f} | {s.fdr:.3f} | {power} | {correlates} "
                f"| {s.seconds:.2f} |"
            )
    return "\n".join(lines)


def beside(path: Path, peer: str) -> str:
    """Markdown: ours and a peer on the tables with relevant columns that both have done."""
    done: dict[str, dict[tuple[str, int], dict[str, Any]]] = defaultdict(dict)
    for record in read(path):
        done[record["method"]][record["cell"], record["seed"]] = record
    common = sorted(done["relevance"].keys() & done[peer].keys())
    found = summaries([done[method][key] for method in ("relevance", peer) for key in common])
    lines = [
        f"| cell | tables | FDR | FDR, {peer} | power | power, {peer} | difference | both hold |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for cell, methods in found.items():
        if not methods or not CELLS[cell].informative:
            continue
        us, them = methods["relevance"], methods[peer]
        rates = [mean_and_error(s.falses) for s in (us, them)]
        gap, error = mean_and_error(np.subtract(us.powers, them.powers))
        hold = all(rate <= ALPHA + 2 * error for rate, error in rates)
        lines.append(
            f"| {cell} | {us.seeds} | {' | '.join(f'{rate:.3f} ({error:.3f})' for rate, error in rates)} "
            f"| {us.power:.2f} | {them.power:.2f} | {gap:+.3f} ({error:.3f}) | {'yes' if hold else 'no'} |"
        )
    return "\n".join(lines)


def write_into(page: Path, mark: str, lines: str) -> None:
    """Replace what stands between the page's two marks of this name."""
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    before, rest = page.read_text().split(begin, 1)
    _, after = rest.split(end, 1)
    page.write_text(f"{before}{begin}\n{lines}\n{end}{after}")


def picture(path: Path, target: Path) -> None:
    """False discovery rate and power of every cell, one mark per method."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    found = {  # a table or two are no rate
        cell: {method: s for method, s in methods.items() if s.seeds >= 5}
        for cell, methods in summaries(read(path)).items()
        if methods
    }
    rows = {cell: -k for k, cell in enumerate(found)}
    figure, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(9, 0.3 * len(rows) + 1.2))
    marks = dict(zip(METHODS, ("o", "x", "s", "^"), strict=True))
    for method in METHODS:
        shown = [(rows[cell], s) for cell, of in found.items() if (s := of.get(method))]
        if not shown:
            continue
        at = [row for row, _ in shown]
        style = {"s": 28, "marker": marks[method], "label": method}
        left.scatter([s.fdr for _, s in shown], at, **style)
        powered = [
            (rows[c], of[method].power) for c, of in found.items() if method in of and CELLS[c].informative
        ]
        right.scatter([power for _, power in powered], [row for row, _ in powered], **style)
    left.axvline(ALPHA, color="black", linewidth=0.8)
    left.set(xlabel="false discovery rate (line: target)", yticks=list(rows.values()), yticklabels=list(rows))
    right.set(xlabel="share of the relevant columns found", xlim=(-0.02, 1.02))
    right.legend(loc="upper left", fontsize=8)
    figure.tight_layout()
    figure.savefig(target, dpi=110)


def speed(path: Path, sizes: str, methods: list[str]) -> None:
    """Processor seconds of `fit` on one thread; the first method runs again last, its slower run counts."""
    for n, p in (map(int, size.split("x")) for size in sizes.split(",")):
        X, y = make_classification(n, p, n_informative=10, n_redundant=0, shuffle=False, random_state=0)
        record: dict[str, Any] = {"size": f"{n}x{p}"}
        for method in [*methods, *methods[:1]]:
            began = time.process_time()
            chosen = RUNS[method](X, y, [], 0)[method]
            record[method] = max(record.get(method, 0.0), round(time.process_time() - began, 2))
            record[f"{method} finds"] = [int(chosen[:10].sum()), int(chosen[10:].sum())]
        record["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps(record), flush=True)
        with path.open("a") as file:
            file.write(json.dumps(record) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("run", "table", "picture", "speed"))
    parser.add_argument("results", type=Path, help="lines of JSON; added to by run")
    parser.add_argument("target", type=Path, nargs="?", help="of picture; of table: a page with marks")
    parser.add_argument("--methods", default="relevance", help=f"of run, by commas: {', '.join(RUNS)}")
    parser.add_argument("--cells", default=None, help="of run: those whose names have this in them")
    parser.add_argument("--seeds", type=int, default=None, help="of run: no more than so many")
    parser.add_argument("--sizes", default="2000x100", help="of speed: rows x columns, by commas")
    options = parser.parse_args()
    if options.what == "table" and options.target is not None:
        write_into(options.target, "calibration", table(options.results))
        for peer in PEERS:
            write_into(options.target, f"beside {peer}", beside(options.results, peer))
    elif options.what == "table":
        print(table(options.results), *(beside(options.results, peer) for peer in PEERS), sep="\n\n")
    elif options.what == "picture":
        if options.target is None:
            parser.error("picture needs a file to write")
        picture(options.results, options.target)
    elif options.what == "speed":
        speed(options.results, options.sizes, options.methods.split(","))
    else:
        methods = options.methods.split(",")
        names = [name for name in CELLS if options.cells is None or options.cells in name]
        if methods == ["rfecv"]:
            names = [name for name in names if name in SMALL]
        run(options.results, methods, names, options.seeds)


if __name__ == "__main__":
    main()
