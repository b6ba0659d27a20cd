"""Error rates of RelevanceSelector on tables that were made to break them.

A task is one table, drawn by the name of its kind and a seed: it leaves one line of JSON, and a run
takes up where the last one stopped. Every fit gets one thread.

    python benchmarks/odd_tables.py run results.jsonl [--kinds flags] [--tables 20] [--first 1000]
    python benchmarks/odd_tables.py table results.jsonl [page.md]     # Markdown; into the page
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from calibration import ALPHA, read, write_into  # asks for one thread, so before foresift

from foresift import RelevanceSelector
from foresift.stats import holm

Rng = np.random.Generator
Maker = Callable[[Rng], tuple[np.ndarray, np.ndarray]]

COLUMNS: dict[str, Callable[[Rng, int, int], np.ndarray]] = {
    "normal": lambda rng, n, p: rng.normal(size=(n, p)),
    "binary": lambda rng, n, p: rng.integers(0, 2, (n, p)),
    "nominal": lambda rng, n, p: rng.integers(0, 50, (n, p)),
    "all_different": lambda rng, n, p: np.arange(n * p).reshape(n, p),
    "counts": lambda rng, n, p: rng.poisson(0.5, (n, p)),
    "low_counts": lambda rng, n, p: rng.poisson(0.3, (n, p)),
    "zeros_80": lambda rng, n, p: rng.gamma(1, size=(n, p)) * (rng.random((n, p)) >= 0.8),
    "zeros_95": lambda rng, n, p: rng.gamma(1, size=(n, p)) * (rng.random((n, p)) >= 0.95),
    "flags": lambda rng, n, p: rng.permuted(np.arange(n)[:, np.newaxis] < rng.integers(2, 4, p), axis=0),
    "copies": lambda rng, n, p: rng.normal(size=(n, 1)) + 0.02 * rng.normal(size=(n, p)),
    "closer_copies": lambda rng, n, p: rng.normal(size=(n, 1)) + 0.001 * rng.normal(size=(n, p)),
    "group": lambda rng, n, p: rng.normal(size=(n, 1)) + rng.normal(size=(n, p)) / 3,
    "groups": lambda rng, n, p: rng.normal(size=(n, p // 7)).repeat(7, axis=1) + rng.normal(size=(n, p)) / 3,
    "words": lambda rng, n, p: rng.poisson(np.exp(rng.normal(-0.5, 1, (n, 1)) + rng.normal(0, 0.7, (1, p)))),
    "blank": lambda rng, n, p: np.where(rng.random((n, 1)) < 0.15, rng.normal(size=(n, p)), np.nan),
}


def drawn(rng: Rng, n: int, columns: dict[str, int]) -> np.ndarray:
    """So many columns of each of these sorts."""
    return np.hstack([COLUMNS[name](rng, n, p) for name, p in columns.items()]).astype(float)


def noise(sizes: int | list[int], **columns: int) -> Maker:
    """Classes of these sizes, or two halves, that have nothing to do with the columns."""

    def make(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        of = [sizes // 2] * 2 if isinstance(sizes, int) else sizes
        y = rng.permutation(np.repeat(np.arange(len(of)), of))
        return drawn(rng, len(y), columns), y

    return make


def signs(n_relevant: int, **columns: int) -> Maker:
    """The sign of the first column, or of the product of the first two, decides but for 5 % of 200 rows."""

    def make(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        X = drawn(rng, 200, columns)
        return X, (X[:, :n_relevant].prod(axis=1) > 0) ^ (rng.random(200) < 0.05)

    return make


def sensors(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Twenty columns that measure a level which decides, and three flags."""
    level = rng.normal(size=(200, 1))
    latent = level[:, 0] + 0.3 * rng.normal(size=200)
    X = np.hstack([level + 0.5 * rng.normal(size=(200, 20)), drawn(rng, 200, {"flags": 3})])
    return X, latent > np.quantile(latent, 0.95)


@dataclass(frozen=True)
class Kind:
    """What the page calls it, how it is made and tested, and how many of its columns are special."""

    says: str
    make: Maker
    tables: int = 60
    alpha: float = ALPHA
    error: str = "fdr"
    n_shadows: int | None = None
    nominal: int = 0  # so many of the first columns
    relevant: int = 0  # of the first columns
    flags: int = 0  # of the last columns
    weights: bool = False


TWO_FLAGS = noise([142, 8], normal=30, flags=2)
KINDS: dict[str, Kind] = {
    "20 x 5": Kind("20 x 5", noise(20, normal=5), 200),
    "20 x 50": Kind("20 x 50", noise(20, normal=50), 200),
    "20 x 500": Kind("20 x 500", noise(20, normal=500), 200),
    "wide": Kind("50 x 3,000", noise(50, normal=3000)),
    "binary": Kind("20 x 50, binary", noise(20, binary=50)),
    "2 rows": Kind("100 x 30, 2 rows in one class", noise([98, 2], normal=30)),
    "uneven": Kind("200 x 30, classes of 120, 50, 20, 8 and 2 rows", noise([120, 50, 20, 8, 2], normal=30)),
    "classes": Kind("100 x 20, ten classes", noise([10] * 10, normal=20)),
    "counts": Kind("200 x 40, Poisson counts of mean 0.5", noise(200, counts=40)),
    "zeros": Kind(
        "150 x 40, continuous, counts, 80 % and 95 % zeros",
        noise([105, 45], normal=10, low_counts=10, zeros_80=10, zeros_95=10),
    ),
    "nominal": Kind("200 x 20, nominal, 50 categories", noise([120, 80], nominal=20), nominal=20),
    "identity": Kind(
        "100 x 21, one a nominal column of 100 different values",
        noise(100, all_different=1, normal=20),
        nominal=1,
    ),
    "flags": Kind("200 x 50, constant but for 2 or 3 rows", noise(200, flags=50)),
    "two flags": Kind(
        "150 x 32, two columns constant but for 2 or 3 rows, a class of 5 %", TWO_FLAGS, 200, flags=2
    ),
    "one group": Kind("100 x 30, all correlated 0.9", noise(100, group=30)),
    "copies": Kind("100 x 9, near copies of one column", noise(100, copies=9), 200),
    "words": Kind("200 x 60, word counts of short and long texts", noise(200, words=60)),
    "blank": Kind("300 x 40, all columns missing in the same 85 % of the rows", noise(300, blank=40)),
    "weights": Kind("150 x 15, whole-number weights, 1 + Poisson", noise([105, 45], normal=15), weights=True),
    "fwer": Kind('100 x 40, `error="fwer"`, target 0.05', noise(100, normal=40), alpha=0.05, error="fwer"),
    "0.2": Kind("100 x 40, target 0.2", noise(100, normal=40), alpha=0.2),
    "0.01": Kind("60 x 15, target 0.01", noise(60, normal=15), alpha=0.01),
    "decides": Kind("200 x 50, one column decides but for 5 %", signs(1, normal=50), relevant=1),
    "decides, groups": Kind(
        "the same, the others in seven groups correlated 0.9", signs(1, normal=1, groups=49), relevant=1
    ),
    "xor": Kind("200 x 50, exclusive or of two, 5 % turned round", signs(2, normal=50), relevant=2),
}
SENSORS = (
    '200 x 23, 20 measure what decides, three constant but for 2 or 3 rows, a class of 5 %, `error="fwer"`'
)
LIMITS: dict[str, Kind] = {
    "two flags, 0.01": Kind('the same, `error="none"`, target 0.01', TWO_FLAGS, 200, 0.01, "none", flags=2),
    "sensors": Kind(SENSORS, sensors, 150, error="fwer", relevant=20, flags=3),
    "4 twins": Kind("60 x 20, near copies, `n_shadows=4`", noise(60, closer_copies=20), 200, n_shadows=4),
}
ALL = KINDS | LIMITS
FLAGS = {f"p of rare columns at most {level}": level for level in (0.05, 0.01)}
TABLES = {  # by their marks on the page
    "odd tables": (list(KINDS), ["table", "tables", "rate", "p at most 0.05"]),
    "limits": (["two flags", *LIMITS], ["table", "tables", "rate", "by Holm", *FLAGS]),
}


def unit(name: str, seed: int) -> dict[str, Any]:
    """Columns chosen, and there, irrelevant and relevant; small p-values of the irrelevant, and of flags."""
    kind = ALL[name]
    rng = np.random.default_rng([seed, *name.encode()])
    X, y = kind.make(rng)
    weights = 1.0 + rng.poisson(1.0, len(y)) if kind.weights else None
    selector = RelevanceSelector(
        error=kind.error,
        alpha=kind.alpha,
        n_shadows=kind.n_shadows,
        categorical_features=list(range(kind.nominal)),
        redundancy=None,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = selector.fit(X, y, sample_weight=weights).pvalues_
    truth = (np.arange(len(p)) < kind.relevant).astype(int)
    record: dict[str, Any] = {"kind": name, "seed": seed}
    record["chosen"] = np.bincount(truth[selector.relevant_], minlength=2).tolist()
    record["of"] = np.bincount(truth, minlength=2).tolist()
    record["small"] = int((p[truth == 0] <= 0.05).sum())
    if kind.flags:
        record["flags"] = [int((p[-kind.flags :] <= level).sum()) for level in FLAGS.values()]
    if kind.error == "fwer":
        record["holm"] = int((holm(p)[truth == 0] <= kind.alpha).any())
    return record


def run(path: Path, names: list[str], first: int, tables: int | None) -> None:
    done = {(r["kind"], r["seed"]) for r in read(path, ("kind", "seed"))}
    for name in names:
        for seed in range(first, first + (tables or ALL[name].tables)):
            if (name, seed) not in done:
                with path.open("a") as file:
                    file.write(json.dumps(unit(name, seed), separators=(",", ":")) + "\n")


def share(values: np.ndarray, target: float = 0.0) -> str:
    """Mean and standard error; that of a share of the tables is at least what it is at its target."""
    error = values.std()
    if np.isin(values, (0, 1)).all():
        error = max(error, np.sqrt(target * (1 - target)))
    return f"{values.mean():.3f} ({error / np.sqrt(len(values)):.3f})"


def cells(kind: Kind, records: list[dict[str, Any]]) -> dict[str, str]:
    """What a line may show."""
    of = {key: np.array([r[key] for r in records]) for key in records[0]}
    false, chosen, irrelevant = of["chosen"][:, 0], of["chosen"].sum(axis=1), of["of"][:, 0]
    rates = {"fdr": false / np.maximum(1, chosen), "fwer": false > 0, "none": false / irrelevant}
    found = {
        "table": kind.says,
        "tables": str(len(records)),
        "rate": share(rates[kind.error], kind.alpha),
        "p at most 0.05": share(of["small"] / irrelevant),
    }
    if kind.error == "fwer":
        found["by Holm"] = share(of["holm"], kind.alpha)
    if kind.flags:
        found |= {head: share(of["flags"][:, k] / kind.flags) for k, head in enumerate(FLAGS)}
    return found


def table(path: Path, names: list[str], heads: list[str]) -> str:
    """Markdown: a line per kind."""
    groups = defaultdict(list)
    for record in read(path, ("kind", "seed")):
        groups[record["kind"]].append(record)
    found = [cells(ALL[name], groups[name]) for name in names if groups[name]]
    lines = [heads, ["---"] * len(heads), *([line.get(head, "") for head in heads] for line in found)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("results", type=Path, help="lines of JSON; added to by run")
    parser.add_argument("page", type=Path, nargs="?", help="of table: a page with marks")
    parser.add_argument("--kinds", default="", help="of run: those whose names have this in them")
    parser.add_argument("--tables", type=int, default=None, help="of run: so many of each kind")
    parser.add_argument("--first", type=int, default=0, help="of run: the first seed")
    options = parser.parse_args()
    if options.what == "run":
        run(options.results, [name for name in ALL if options.kinds in name], options.first, options.tables)
        return
    for mark, (names, heads) in TABLES.items():
        lines = table(options.results, names, heads)
        if options.page is None:
            print(lines, end="\n\n")
        else:
            write_into(options.page, mark, lines)


if __name__ == "__main__":
    main()
