"""Make the last table of docs/bommaganti.md: feature boosting on an exclusive or among noise.

    python benchmarks/feature_pairs.py    # order=1 and order=2, into the page

The tables and figures of the thesis are made by `foresift reproduce bommaganti`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from foresift import CartClassifier, FeatureBoostingSelector

PAGE = Path(__file__).resolve().parents[1] / "docs" / "bommaganti.md"


def pairs(n_seeds: int = 10) -> str:
    """How often both columns of an exclusive or rank first among 50 noise columns."""
    lines = ["| rows | columns | order=1 | order=1, settings of order=2 | order=2 |", "| --- " * 5 + "|"]
    same: dict[str, Any] = {"accuracy": "oob", "subset_size": 7, "n_iterations": 632, "learning_rate": 0.5}
    ways: list[Callable[[int], Any]] = [
        lambda seed: FeatureBoostingSelector(2, random_state=seed),
        lambda seed: FeatureBoostingSelector(2, estimator=CartClassifier(), random_state=seed, **same),
        lambda seed: FeatureBoostingSelector(2, order=2, random_state=seed),
    ]
    for n_rows in (300, 500, 1000):
        for kind in ("numeric", "binary"):
            found = np.zeros(len(ways), dtype=int)
            for seed in range(n_seeds):
                rng = np.random.default_rng(seed)
                X = rng.normal(size=(n_rows, 52))
                X = X if kind == "numeric" else (X > 0).astype(float)
                y = (X[:, 10] > 0) ^ (X[:, 30] > 0)
                found += [set(way(seed).fit(X, y).get_support(indices=True)) == {10, 30} for way in ways]
            lines.append(f"| {n_rows:,} | {kind} | " + " | ".join(f"{k} of {n_seeds}" for k in found) + " |")
    return "\n".join(lines)


def put(marker: str, text: str) -> None:
    """Replace the text between two markers of the page."""
    page = PAGE.read_text()
    begin, end = f"<!-- {marker} -->", f"<!-- end {marker} -->"
    before, rest = page.split(begin)
    PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}")


if __name__ == "__main__":
    put("pairs", pairs())
