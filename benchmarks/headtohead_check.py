"""What foresift must hold in the comparison with other packages, and where it loses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from headtohead_cells import CELLS
from headtohead_peers import ALPHA, METHODS
from headtohead_results import (
    MODELS,
    Classic,
    Found,
    classic_of,
    differences,
    error_of,
    has_signal,
    in_markdown,
    methods_of,
    span,
    truth_of,
)
from scipy.stats import binomtest, ttest_1samp, wilcoxon

from foresift.stats import holm

LEVEL = 0.05  # of the tests, adjusted by Holm
WITH_RATE = ("relevance", "select")  # whose rates are tested; `select` promises one unless it says otherwise
JUDGED = "relevance"  # whose power is compared
MIN_SEEDS = 10  # that two methods must have in common

Verdicts = list[tuple[bool, str]]


def checked(folder: Path) -> tuple[dict[str, str], bool]:
    """Tables in Markdown by their marks, and whether the error rates hold; a lost cell is no failure."""
    found, classic = truth_of(folder), classic_of(folder)
    parts = {}
    rates, verdicts = error_rates(found)
    parts["rates"] = rates
    parts["lost"], lines = compared(found)
    parts["score"] = "\n\n".join(
        best_peer(classic, task)
        for task in ("classification", "regression")
        if differences(classic, task, "select", "all")
    )
    said = [f"- {'Holds' if holds else '**Fails**'}: {text}" for holds, text in verdicts]
    parts["verdicts"] = "\n".join([*said, *(f"- {line}" for line in lines)])
    return parts, all(holds for holds, _ in verdicts)


def p_above(cell: str, found: Found) -> float:
    """P-value of an error rate of at most ALPHA: any false one in null tables, else the FDR."""
    falses = list(found.falses.values())
    if not has_signal(cell):
        n_false = sum(value > 0 for value in falses)
        return float(binomtest(n_false, len(falses), ALPHA, alternative="greater").pvalue)
    if np.ptp(falses) == 0:
        return 1.0 if np.mean(falses) <= ALPHA else 0.5 ** len(falses)
    return float(ttest_1samp(falses, ALPHA, alternative="greater").pvalue)


def error_rates(found: dict[str, dict[str, Found]]) -> tuple[str, Verdicts]:
    """Rates of foresift with their standard errors and p-values; the verdicts are adjusted over the cells."""
    lines = {cell: [cell, str(len(of[JUDGED].falses))] for cell, of in found.items() if JUDGED in of}
    header, verdicts = ["cell", "tables"], []
    for method in WITH_RATE:
        header += [method, "p"]
        pvalues = {}
        for cell, line in lines.items():
            if method not in found[cell]:
                line += ["", ""]
                continue
            pvalues[cell] = p_above(cell, found[cell][method])
            mean, error = error_of(found[cell][method].falses.values())
            line += [f"{mean:.3f} ({error:.3f})", f"{pvalues[cell]:.2g}"]
        if not pvalues:
            continue
        adjusted = holm(list(pvalues.values()))
        above = [cell for cell, p in zip(pvalues, adjusted, strict=True) if p <= LEVEL]
        numbers = [len(found[cell][method].falses) for cell in pvalues]
        text = (
            f"error rate of `{method}`, {len(pvalues)} cells of {span(numbers)} tables,"
            f" least p-value {min(pvalues.values()):.2g}, adjusted {adjusted.min():.2g}"
        )
        verdicts.append((not above, text + (f"; above: {', '.join(above)}" if above else "")))
    return in_markdown(header, lines.values()), verdicts


def p_more(differences: list[float]) -> float:
    """P-value of a mean difference of at most 0, paired over the tables."""
    if np.ptp(differences) == 0:
        return 1.0 if differences[0] <= 0 else 0.5 ** len(differences)
    return float(ttest_1samp(differences, 0, alternative="greater").pvalue)


def rates_hold(found: dict[str, dict[str, Found]], method: str) -> set[str]:
    """Cells in which the error rate of a method is not significantly too high, adjusted over its cells."""
    cells = [cell for cell, of in found.items() if method in of]
    adjusted = holm([p_above(cell, found[cell][method]) for cell in cells]) if cells else []
    return {cell for cell, p in zip(cells, adjusted, strict=True) if p > LEVEL}


def compared(found: dict[str, dict[str, Found]]) -> tuple[str, list[str]]:
    """Power beside every peer whose own rate holds in a cell; p-values are adjusted over a peer's cells."""
    pairs: dict[tuple[str, str], list[float]] = {}
    few: list[float] = []
    for peer, method in METHODS.items():
        if method.is_ours or method.is_told:
            continue
        for cell in rates_hold(found, peer):
            if not has_signal(cell) or JUDGED not in found[cell]:
                continue
            ours, theirs = found[cell][JUDGED].powers, found[cell][peer].powers
            gaps = [theirs[seed] - ours[seed] for seed in sorted(theirs.keys() & ours.keys())]
            if len(gaps) >= MIN_SEEDS:
                pairs[cell, peer] = gaps
            elif gaps:
                few.append(float(np.mean(gaps)))
    if not pairs:
        return "", [f"no peer has {MIN_SEEDS} tables of a cell yet"]
    losing, winning = _adjusted(pairs, 1), _adjusted(pairs, -1)
    cells = [cell for cell in found if any(cell == place for place, _ in pairs)]
    lines, lost, won, behind = [], [], [], []
    for cell in cells:
        peers = [peer for place, peer in pairs if place == cell]
        best = max(peers, key=lambda peer: float(np.mean(pairs[cell, peer])))
        gap, error = error_of(pairs[cell, best])
        is_lost = [peer for peer in peers if losing[cell, peer] <= LEVEL]
        is_won = all(winning[cell, peer] <= LEVEL for peer in peers)
        lost += [cell] if is_lost else []
        won += [cell] if is_won else []
        behind += [cell] if gap > 0 else []
        verdict = f"lost to {', '.join(is_lost)}" if is_lost else "won" if is_won else ""
        ours = float(np.mean(list(found[cell][JUDGED].powers.values())))
        number, difference = str(len(pairs[cell, best])), f"{-gap:+.3f} ({error:.3f})"
        lines.append([cell, ", ".join(peers), f"{ours:.2f}", best, number, difference, verdict])
    header = [
        "cell",
        "peers whose rate holds",
        f"power of {JUDGED}",
        "best of them",
        "tables",
        "difference",
        "",
    ]
    n = len(cells)
    told = [
        f"power of `{JUDGED}` beside peers whose error rate holds: {n} of"
        f" {sum(map(has_signal, CELLS))} cells compared, {len(pairs)} pairs of cell and peer",
        f"lost (significantly less power than a peer whose rate holds): {len(lost)} of {n} cells,"
        f" {100 * len(lost) / n:.0f} %{': ' if lost else ''}{'; '.join(lost)}",
        f"won (significantly more than every such peer): {len(won)} of {n}, {100 * len(won) / n:.0f} %",
        f"mean power below that of the best such peer, significantly or not: {len(behind)} of {n}",
        f"not judged, because there are fewer than {MIN_SEEDS} tables: {len(few)} pairs of cell and peer; the"
        f" peer's mean power is higher in {sum(gap > 0 for gap in few)} of them",
    ]
    return in_markdown(header, lines), told


def _adjusted(pairs: dict[tuple[str, str], list[float]], sign: int) -> dict[tuple[str, str], float]:
    """P-values of a mean difference of at most 0, times the sign; by Holm over the cells of each peer."""
    found = {}
    for peer in {peer for _, peer in pairs}:
        own = {key: p_more([sign * gap for gap in gaps]) for key, gaps in pairs.items() if key[1] == peer}
        found |= dict(zip(own, holm(list(own.values())), strict=True))
    return found


def best_peer(classic: dict[str, dict[str, Classic]], task: str) -> str:
    """Our methods beside the peer with the best mean score, by model and for all three, on the same splits.

    Also the shares of the columns that both keep, over these tables.
    """
    unit, what = (100, "points of accuracy") if task == "classification" else (1, "R2")
    digits = 2 if unit == 100 else 4
    peers = [m for m in methods_of(classic) if not METHODS[m].is_ours and m != "all"]
    gaps = {peer: differences(classic, task, peer, "all") for peer in peers}
    most = max(map(len, gaps.values()))
    whole = {peer: of for peer, of in gaps.items() if len(of) == most}  # others have seen fewer tables
    lines = []
    for model, some in {
        **{model: [k] for k, model in enumerate(MODELS)},
        "mean of the three": [0, 1, 2],
    }.items():
        best = max(whole, key=lambda peer: float(np.mean([gap[some].mean() for gap in whole[peer].values()])))
        for method in ("select", "relevance", "mrmr", "aggregate"):
            found = differences(classic, task, method, best)
            if not found:
                continue
            pairs = [float(gap[some].mean()) for gap in found.values()]
            mean, error = error_of(np.array(pairs) * unit)
            p = float(wilcoxon(pairs).pvalue) if np.any(pairs) else 1.0
            shares = [np.mean([classic[table][one].share for table in found]) for one in (method, best)]
            difference = f"{mean:+.{digits}f} ({error:.{digits}f})"
            columns = f"{shares[0]:.2f}, {shares[1]:.2f}"
            lines.append([model, best, method, str(len(pairs)), difference, f"{p:.2g}", columns])
    header = ["model", "best peer", "method", "tables", f"difference, {what}", "p (Wilcoxon)"]
    return in_markdown([*header, "share of columns, its and the peer's"], lines)
