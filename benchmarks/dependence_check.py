"""What RelevanceSelector must hold on tables with dependent rows, judged from its results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from calibration_check import LEVEL, in_markdown
from calibration_results import ALPHA, mean_and_error, read
from dependence_cells import CELLS, Cell
from scipy.stats import binomtest, ttest_1samp

from foresift.stats import holm

KEY = ("cell", "signal", "seed")
METHODS = ("respected", "ignored", "oracle")
NULL, SIGNAL = 0, 1
HEADER = (
    "cell",
    "tables",
    "any false, null",
    "p (adjusted)",
    "FDR, signal",
    "p (adjusted)",
    "power",
    "power, oracle",
    "ignored: any false, null",
    "false of 30",
    "FDR, signal",
)
FAMILIES = ("groups", "time", "panels", "hard tables")


@dataclass(frozen=True)
class Outcome:
    """What a method chose of the tables of a cell, null or with signal: shares of every table."""

    n_false: np.ndarray
    n_true: np.ndarray
    of: np.ndarray

    @property
    def falses(self) -> np.ndarray:
        """Share of the chosen that is false; in null tables whether any was chosen."""
        return self.n_false / np.maximum(self.n_false + self.n_true, 1)

    @property
    def powers(self) -> np.ndarray:
        """Share of the relevant that was chosen."""
        return self.n_true / np.maximum(self.of, 1)

    def p_above(self, signal: int) -> float:
        """P-value of an error rate of at most ALPHA."""
        falses = self.falses
        if signal == NULL:
            return float(binomtest(int(falses.sum()), len(falses), ALPHA, alternative="greater").pvalue)
        if np.ptp(falses) < 1e-9:
            return float(falses[0] <= ALPHA)
        return float(ttest_1samp(falses, ALPHA, alternative="greater").pvalue)


Found = dict[tuple[str, int, str], Outcome]  # by cell, signal and method


def outcomes(path: Path) -> Found:
    kept: dict[tuple[str, int, str], list[tuple[int, int, int]]] = defaultdict(list)
    for record in sorted(read(path, KEY), key=lambda record: record["seed"]):
        for method, chosen in record["chosen"].items():
            kept[record["cell"], record["signal"], method].append((*chosen, record["of"]))
    return {key: Outcome(*np.array(rows).T) for key, rows in kept.items()}


def family(cell: Cell) -> str:
    if cell.extra:
        return "hard tables"
    if cell.rho is None:
        return "groups"
    return "time" if len(cell.sizes) == 1 else "panels"


def checked(path: Path) -> tuple[dict[str, str], bool]:
    """Tables in Markdown by their marks, and whether all holds; Holm over all cells, and over hard ones."""
    found = outcomes(path)
    cells = [name for name in CELLS if all((name, s, "respected") in found for s in (NULL, SIGNAL))]
    parts, verdicts, adjusted = {}, [], {}
    for hard in (False, True):
        names = [name for name in cells if CELLS[name].extra == hard]
        pvalues = {
            (name, signal): found[name, signal, "respected"].p_above(signal)
            for name in names
            for signal in (NULL, SIGNAL)
        }
        if not pvalues:
            continue
        adjusted |= dict(zip(pvalues, holm(list(pvalues.values())), strict=True))
        verdicts.append(judged(f"{len(names)} {'hard ' if hard else ''}cells", pvalues, adjusted))
    for mark in FAMILIES:
        lines = [line(name, found, adjusted) for name in cells if family(CELLS[name]) == mark]
        parts[f"{mark}"] = in_markdown(list(HEADER), lines)
    parts["means"] = means(found, cells)
    parts["verdicts"] = "\n".join(
        f"- {'Holds' if holds else '**Fails**'}: {text}" for holds, text in verdicts
    )
    return parts, all(holds for holds, _ in verdicts)


def judged(
    what: str, pvalues: dict[tuple[str, int], float], adjusted: dict[tuple[str, int], float]
) -> tuple[bool, str]:
    above = [
        f"{name}, {('null', 'signal')[signal]} (p = {p:.2g}, adjusted {adjusted[name, signal]:.2g})"
        for (name, signal), p in pvalues.items()
        if adjusted[name, signal] <= LEVEL
    ]
    text = (
        f"error rates of {what} in {len(pvalues)} tests, least p-value {min(pvalues.values()):.2g}, adjusted"
    )
    text += f" {min(adjusted[key] for key in pvalues):.2g}"
    return not above, f"{text}{'; above: ' if above else ''}{', '.join(above)}"


def line(name: str, found: Found, adjusted: dict[tuple[str, int], float]) -> list[str]:
    null, signal = (found[name, s, "respected"] for s in (NULL, SIGNAL))
    shown = [name, f"{len(null.of)}, {len(signal.of)}"]
    for s, outcome in enumerate((null, signal)):
        shown += [with_error(outcome.falses), f"{outcome.p_above(s):.2g} ({adjusted[name, s]:.2g})"]
    shown.append(with_error(signal.powers))
    oracle, null, signal = (found.get((name, *k)) for k in ((1, "oracle"), (0, "ignored"), (1, "ignored")))
    shown.append(with_error(oracle.powers) if oracle else "")
    shown += [f"{null.falses.mean():.2f}", f"{null.n_false.mean():.1f}"] if null else ["", ""]
    return [*shown, f"{signal.falses.mean():.2f}" if signal else ""]


def with_error(values: Sequence[float] | np.ndarray) -> str:
    return "{:.2f} ({:.2f})".format(*mean_and_error(values))


def means(found: Found, cells: list[str]) -> str:
    """Means over the cells of every kind of table."""
    lines = []
    for mark in FAMILIES:
        for y in dict.fromkeys(cell.y for cell in CELLS.values()):
            names = [name for name in cells if family(CELLS[name]) == mark and CELLS[name].y == y]
            if not names:
                continue
            rates = [mean(found, names, s, method, "falses") for method in METHODS for s in (NULL, SIGNAL)]
            powers = [mean(found, names, SIGNAL, method, "powers") for method in ("respected", "oracle")]
            lines.append([mark, y, str(len(names)), *rates, *powers])
    header = ["tables", "y", "cells"]
    header += [f"{method}: {what}" for method in METHODS for what in ("any false", "FDR")]
    return in_markdown([*header, "power", "power, oracle"], lines)


def mean(found: Found, names: list[str], signal: int, method: str, what: str) -> str:
    """Mean over cells of their means; nothing if a cell was not run."""
    of = [found[name, signal, method] for name in names if (name, signal, method) in found]
    return f"{np.mean([getattr(outcome, what).mean() for outcome in of]):.2f}" if of else ""
