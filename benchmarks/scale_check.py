"""What histograms must hold beside exact cuts, judged from the results of `scale.py calibrate`."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from calibration_cells import IRRELEVANT, RELEVANT
from calibration_check import LEVEL, MARGIN, Verdicts, in_markdown
from calibration_results import ALPHA, KEY, mean_and_error, read
from scale_cells import CELLS
from scipy.stats import binomtest, ttest_1samp

from foresift.stats import holm

METHODS = ("histograms", "exact")
Tables = dict[int, dict[str, Any]]  # records of one method in one cell by seed


def checked(path: Path) -> tuple[str, Verdicts]:
    """A table in Markdown, and what holds."""
    found: dict[str, dict[str, Tables]] = {cell: defaultdict(dict) for cell in CELLS}
    for record in read(path, KEY):
        found[record["cell"]][record["run"]][record["seed"]] = record
    found = {cell: of for cell, of in found.items() if of}
    lines = []
    above: dict[str, dict[str, float]] = defaultdict(dict)
    below: dict[str, float] = {}
    gaps: dict[str, tuple[float, float]] = {}
    for cell, of in found.items():
        line = [cell, " / ".join(str(len(of[method])) for method in METHODS)]
        for method in METHODS:
            shares = [false_share(record) for record in of[method].values()]
            if shares:
                above[method][cell] = p_above(shares, cell)
            line.append("{:.3f} ({:.3f})".format(*_mean_and_error(shares)))
        line.append(f"{above['histograms'][cell]:.2g}")
        line += [small_pvalues(of[method], test) for test in ("all", "forest") for method in METHODS]
        line += _powers(cell, of, gaps, below) if CELLS[cell].informative else [""] * 6
        line += [f"{np.mean([r['seconds'] for r in of[method].values()]):.1f}" for method in METHODS]
        lines.append(line)
    header = ["cell", "tables", "error rate", "exact", "p", "p <= 0.05", "exact", "forest p <= 0.05", "exact"]
    header += ["power", "exact", "difference", "forest", "exact", "difference", "seconds", "exact"]
    verdicts = [*_judged_rates(above), *_judged_pairs(found), *_judged_power(gaps, below)]
    return in_markdown(header, lines), verdicts


def _powers(
    cell: str, of: dict[str, Tables], gaps: dict[str, tuple[float, float]], below: dict[str, float]
) -> list[str]:
    """Power of everything and of the forest alone on the tables that both have done, and differences."""
    shown = []
    for test in ("all", "forest"):
        both = sorted(of["histograms"].keys() & of["exact"].keys())
        us, them = ([found_share(of[method][seed], test) for seed in both] for method in METHODS)
        gap, error = _mean_and_error(np.subtract(us, them).tolist())
        shown += [f"{np.mean(us):.3f}", f"{np.mean(them):.3f}", f"{gap:+.3f} ({error:.3f})"]
        if test == "all":
            gaps[cell] = gap, error
            below[cell] = _p_of_mean(np.subtract(us, them), 0.0, "less")
    return shown


def false_share(record: dict[str, Any]) -> float:
    """Share of irrelevant columns among the selected: in null tables 0 or 1."""
    chosen = record["chosen"]["all"]
    return chosen[IRRELEVANT] / max(1, sum(chosen))


def found_share(record: dict[str, Any], test: str) -> float:
    """Share of the relevant columns that are selected."""
    return record["chosen"][test][RELEVANT] / record["of"][RELEVANT]


def small_pvalues(records: Tables, test: str) -> str:
    """Share of the irrelevant columns with a p-value of at most 0.05, with its standard error over tables."""
    shares = [r["small"][test][0] / max(1, r["small"][test][1]) for r in records.values()]
    return "{:.3f} ({:.3f})".format(*_mean_and_error(shares))


def p_above(shares: list[float], cell: str) -> float:
    """P-value of an error rate of at most ALPHA: any false one in null tables, else the FDR."""
    if CELLS[cell].informative:
        return _p_of_mean(np.array(shares), ALPHA, "greater")
    n_false = int(np.count_nonzero(shares))
    return float(binomtest(n_false, len(shares), ALPHA, alternative="greater").pvalue)


def _p_of_mean(values: np.ndarray, mean: float, side: str) -> float:
    if len(values) < 3:  # a table or two are no rate
        return 1.0
    if np.std(values) == 0:
        return float(values[0] <= mean if side == "greater" else values[0] >= mean)
    return float(ttest_1samp(values, mean, alternative=side).pvalue)


def _mean_and_error(values: list[float]) -> tuple[float, float]:
    if len(values) < 2:
        return float(np.mean(values)) if values else np.nan, np.nan
    return mean_and_error(values)


def _judged_rates(above: dict[str, dict[str, float]]) -> Verdicts:
    """No cell is above the target, adjusted by Holm over the cells."""
    verdicts = []
    for method, pvalues in above.items():
        adjusted = holm(list(pvalues.values()))
        bad = [f"{cell} (p = {p:.2g})" for cell, p in zip(pvalues, adjusted, strict=True) if p <= LEVEL]
        text = f"error rate of {method} at most {ALPHA}: {len(pvalues)} cells, least p-value"
        text += f" {min(pvalues.values()):.2g}, adjusted {adjusted.min():.2g}"
        verdicts.append((not bad, text + ("; above: " + ", ".join(bad) if bad else "")))
    return verdicts


def _judged_pairs(found: dict[str, dict[str, Tables]]) -> Verdicts:
    """On null tables that both have done, histograms select something no more often than exact cuts."""
    alone = dict.fromkeys(METHODS, 0)
    n_tables = 0
    for cell, of in found.items():
        both = [] if CELLS[cell].informative else of["histograms"].keys() & of["exact"].keys()
        n_tables += len(both)
        for method, other in (METHODS, METHODS[::-1]):
            alone[method] += sum(false_share(of[method][s]) > false_share(of[other][s]) for s in both)
    if not n_tables:
        return []
    ours, n = alone["histograms"], sum(alone.values())
    p = float(binomtest(ours, n, alternative="greater").pvalue) if n else 1.0
    text = (
        f"of {n_tables} null tables, {ours} have false ones with histograms alone, {n - ours} with exact cuts"
    )
    return [(p > LEVEL, f"{text} alone (p = {p:.2g})")]


def _judged_power(gaps: dict[str, tuple[float, float]], below: dict[str, float]) -> Verdicts:
    """No cell has less power, adjusted by Holm, and the mean over cells is within the margin."""
    if not gaps:
        return []
    adjusted = holm(list(below.values()))
    bad = [
        "{} {:+.3f} ({:.3f})".format(c, *gaps[c]) for c, p in zip(below, adjusted, strict=True) if p <= LEVEL
    ]
    text = f"power of histograms nowhere below that of exact cuts: {len(gaps)} cells, least p-value"
    text += f" {min(below.values()):.2g}, adjusted {adjusted.min():.2g}"
    verdicts = [(not bad, text + ("; below: " + ", ".join(bad) if bad else ""))]
    known = [gap for gap in gaps.values() if not np.isnan(gap[1])]
    if known:
        mean = float(np.mean([gap for gap, _ in known]))
        error = float(np.linalg.norm([error for _, error in known]) / len(known))
        text = f"mean difference in power over {len(known)} cells {mean:+.4f} ({error:.4f}),"
        verdicts.append((mean - 2 * error > -MARGIN, f"{text} above -{MARGIN} by two standard errors"))
    return verdicts
