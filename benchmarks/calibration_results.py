"""What the calibration of RelevanceSelector found: tables, pictures and what is judged."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from calibration_cells import CORRELATE, IRRELEVANT, RELEVANT
from calibration_quantities import CELLS

ALPHA = 0.1
KEY = ("cell", "run", "seed")
METHODS = ("relevance", "before", "boruta", "rfecv")  # of the first table and the picture
PEERS = ("boruta", "rfecv")


def read(path: Path, key: tuple[str, ...]) -> list[dict[str, Any]]:
    """Records of a file; the last one of those with the same key counts."""
    if not path.exists():
        return []
    records = {}
    for line in path.read_text().splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:  # half-written
            continue
        records[tuple(record[name] for name in key)] = record
    return list(records.values())


def outcomes(path: Path) -> list[dict[str, Any]]:
    """A record for every method on every table; one fit may have left those of several methods."""
    return [
        {**record, "method": method, "chosen": chosen}
        for record in read(path, KEY)
        for method, chosen in record["chosen"].items()
    ]


@dataclass(frozen=True)
class Summary:
    """One method in one cell: means over the seeds; `falses` and `powers` have a share for each, in order."""

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
    for record in sorted(records, key=lambda record: record["seed"]):
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
    for cell, methods in summaries(outcomes(path)).items():
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
    for record in outcomes(path):
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
        for cell, methods in summaries(outcomes(path)).items()
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
