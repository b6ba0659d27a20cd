"""What RelevanceSelector must hold on the tables of the calibration, judged from its results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from calibration_quantities import CELLS
from calibration_results import ALPHA, KEY, Summary, mean_and_error, outcomes, read, summaries
from scipy.stats import binomtest, ttest_1samp

from foresift.stats import holm

LEVEL = 0.05  # of the tests of error rates, adjusted by Holm over the cells
MARGIN = 0.02  # of power below the best single test
OURS = ("relevance", "minimal", "auto")
TESTS = ("forest", "ranks", "residuals", "curves", "pairs")
PEERS = ("f-test", "spearman", "boruta", "ipss", "ipss-l1")  # for a quantity
ADDITIVE, MADELON = "additive 500x500, 15", "Madelon-like"

Found = dict[str, dict[str, Summary]]
Verdicts = list[tuple[bool, str]]  # whether it holds, and what


def checked(results: Path, seeds: Path | None) -> tuple[dict[str, str], bool]:
    """Tables in Markdown by their marks, and whether all holds; results of quantities have no `seeds`."""
    found = {cell: of for cell, of in summaries(outcomes(results)).items() if "relevance" in of}
    signal = {cell: of for cell, of in found.items() if CELLS[cell].informative}
    rates, verdicts = error_rates(found)
    parts = {"error rates": rates, "power": power(signal)}
    verdicts += judged_power(signal) + judged_peers(signal)
    if seeds is not None:
        parts["seeds"], of_numbers = varying(seeds)
        verdicts += of_numbers
    lines = [f"- {'Holds' if holds else '**Fails**'}: {text}" for holds, text in verdicts]
    parts["verdicts"] = "\n".join(lines)
    if seeds is None:
        parts = {f"{mark} of quantities": text for mark, text in parts.items()}
    return parts, all(holds for holds, _ in verdicts)


def p_above(summary: Summary, cell: str) -> float:
    """P-value of an error rate of at most ALPHA: any false one in null tables, else the FDR."""
    if not CELLS[cell].informative:
        n_false = round(summary.any_false * summary.seeds)
        return float(binomtest(n_false, summary.seeds, ALPHA, alternative="greater").pvalue)
    if np.std(summary.falses) == 0:
        return float(summary.fdr <= ALPHA)
    return float(ttest_1samp(summary.falses, ALPHA, alternative="greater").pvalue)


def error_rates(found: Found) -> tuple[str, Verdicts]:
    """Rates of what is selected, of its representatives, of what `select` keeps and of the version before."""
    cells = [cell for cell in found if CELLS[cell].informative < CELLS[cell].p]
    lines = {cell: [cell, str(found[cell]["relevance"].seeds)] for cell in cells}
    header, verdicts = ["cell", "tables"], []
    for method in run_of(found, *OURS, "before", "before, minimal", *PEERS):
        rates = {cell: found[cell][method] for cell in cells if method in found[cell]}
        pvalues = {cell: p_above(summary, cell) for cell, summary in rates.items()}
        ours = method in OURS
        header += [method, "p"] if ours else [method]
        for cell in cells:
            lines[cell].append(rate(rates.get(cell)))
            if ours:
                lines[cell].append(f"{pvalues[cell]:.2g}" if cell in pvalues else "")
        if ours:
            verdicts.append(judged_rate(method, pvalues))
    return in_markdown(header, lines.values()), verdicts


def run_of(found: Found, *methods: str) -> list[str]:
    """Return those of the methods that were run in any cell."""
    return [method for method in methods if any(method in of for of in found.values())]


def in_markdown(header: list[str], lines: Iterable[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *lines))


def judged_rate(method: str, pvalues: dict[str, float]) -> tuple[bool, str]:
    """Whether no cell is above the target, adjusted by Holm over the cells."""
    adjusted = holm(list(pvalues.values()))
    above = [f"{cell} (p = {p:.2g})" for cell, p in zip(pvalues, adjusted, strict=True) if p <= LEVEL]
    text = f"error rate of `{method}`, {len(pvalues)} cells, least p-value {min(pvalues.values()):.2g}"
    text += f", adjusted {adjusted.min():.2g}"
    return not above, f"{text}{'; above: ' if above else ''}{', '.join(above)}"


def rate(summary: Summary | None) -> str:
    """Mean and standard error; in null tables the share of false ones is 0 or 1."""
    if summary is None:
        return ""
    mean, error = mean_and_error(summary.falses)
    return f"{mean:.3f} ({error:.3f})"


def power(found: Found) -> str:
    """Power beside that of the version before, of single tests and of a t-test, on the same tables."""
    methods = run_of(found, "relevance", "before", *TESTS, "t-test", *PEERS)
    others = [*run_of(found, "before"), "best test"]
    lines = []
    for cell, of in found.items():
        shown = [f"{of[method].power:.3f}" if method in of else "" for method in methods]
        for name in others:
            them = best_test(of) if name == "best test" else of.get(name)
            shown.append("{:+.3f} ({:.3f})".format(*difference(of["relevance"], them)) if them else "")
        lines.append([cell, *shown])
    return in_markdown(["cell", *methods, *(f"minus {name}" for name in others)], lines)


def best_test(of: dict[str, Summary]) -> Summary:
    """The single test with the most power in a cell."""
    return max((of[test] for test in TESTS if test in of), key=lambda summary: summary.power)


def judged_power(found: Found) -> Verdicts:
    """Compare with the best single test, with the version before and with the t-test."""
    below = []
    for cell, of in found.items():
        gap, error = difference(of["relevance"], best_test(of))
        if gap < -MARGIN and gap < -2 * error:
            below.append(f"{cell} {gap:+.3f} ({error:.3f})")
    text = f"power nowhere below the best single test by more than {MARGIN} and two standard errors"
    verdicts = [(not below, f"{text}{'; below: ' if below else ''}{', '.join(below)}")]
    gains = [difference(of["relevance"], of["before"]) for of in found.values() if "before" in of]
    if gains:
        gap, error = np.mean([gain for gain, _ in gains]), np.linalg.norm([e for _, e in gains]) / len(gains)
        text = f"mean power of {len(gains)} cells above the version before: {gap:+.4f} ({error:.4f})"
        verdicts.append((bool(gap > 0), text))
    if ADDITIVE in found:
        gap, error = difference(found[ADDITIVE]["relevance"], found[ADDITIVE]["t-test"])
        text = f"{ADDITIVE}: power minus that of a t-test {gap:+.3f} ({error:.3f})"
        verdicts.append((gap >= -2 * error, text))
    if MADELON in found:
        us = found[MADELON]["relevance"]
        text = f"{MADELON}: FDR {us.fdr:.3f} (at most 0.12), power {us.power:.3f} (1.0)"
        verdicts.append((us.fdr <= 0.12 and us.power == 1, text))
    return verdicts


def judged_peers(found: Found) -> Verdicts:
    """Compare with other methods for a quantity, where their own error rate holds."""
    verdicts = []
    for peer in run_of(found, *PEERS):
        holding = {cell: of for cell, of in found.items() if peer in of and p_above(of[peer], cell) > LEVEL}
        gaps = {cell: difference(of["relevance"], of[peer]) for cell, of in holding.items()}
        below = [
            f"{cell} {gap:+.3f} ({error:.3f})" for cell, (gap, error) in gaps.items() if gap < -2 * error
        ]
        text = f"power nowhere below that of `{peer}` by more than two standard errors, {len(gaps)} cells"
        text += f" where its rate holds, mean difference {np.mean([gap for gap, _ in gaps.values()]):+.3f}"
        verdicts.append((not below, f"{text}{'; below: ' if below else ''}{', '.join(below)}"))
    return verdicts


def difference(us: Summary, them: Summary) -> tuple[float, float]:
    """Mean difference in power and its standard error, over the tables that both have done."""
    return mean_and_error([our - their for our, their in zip(us.powers, them.powers, strict=False)])


def varying(path: Path) -> tuple[str, Verdicts]:
    """Numbers selected of the same rows with several seeds."""
    lines = [
        "| table | method | selected | coefficient of variation |",
        "| --- | --- | --- | --- |",
    ]
    records = sorted(read(path, KEY), key=lambda r: (r["cell"], r["seed"], r["run"] == "before"))
    for record in records:
        selected = record["selected"]
        lines.append(
            f"| {record['cell']}, {record['seed']} | {record['run']} | {', '.join(map(str, selected))} "
            f"| {variation(selected):.2f} |"
        )
    verdicts = []
    for method in ("relevance", "before"):
        of = [record["selected"] for record in records if record["run"] == method]
        if not of:
            continue
        variations = [variation(selected) for selected in of]
        mean, most = float(np.mean(variations)), max(variations)
        n_lost = sum(0 in selected and np.median(selected) > 50 for selected in of)
        lines.append(f"| mean, maximum | {method} | | {mean:.2f}, {most:.2f} |")
        if method == "relevance":
            text = f"variation over seeds: mean {mean:.2f} (at most 0.15), maximum {most:.2f} (at most 0.3)"
            text += f", nothing selected where the median is above 50: {n_lost} of {len(of)} tables (none)"
            verdicts.append((mean <= 0.15 and most <= 0.3 and n_lost == 0, text))
    return "\n".join(lines), verdicts


def variation(selected: Sequence[int]) -> float:
    """Coefficient of variation; 0 if nothing is ever selected."""
    return float(np.std(selected, ddof=1) / np.mean(selected)) if any(selected) else 0.0
