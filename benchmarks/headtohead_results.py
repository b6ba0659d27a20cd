"""What the comparison with other packages found: summaries, tables in Markdown and a picture."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from calibration_results import mean_and_error, read
from headtohead_cells import CELLS, IRRELEVANT, RELEVANT
from headtohead_peers import ALPHA, METHODS
from headtohead_tables import MODELS, tables

from foresift.stats import selection_stability

FILES = {
    "truth": ("truth.jsonl", ("cell", "method", "seed")),
    "tables": ("tables.jsonl", ("table", "method", "split")),
}
ONLY_TOGETHER = ("xor", "product")  # signals of columns that are not informative alone
MARKS = ("o", "s", "^", "v", "D", "x", "+", "P", "*", "<", ">", "1", "2", "3", "4")


def append(path: Path, record: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")


def records(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Those of one file; the last one of those with the same key counts."""
    file, key = FILES[kind]
    return read(folder / file, key)


@dataclass(frozen=True)
class Found:
    """One method in one cell, by seed: false ones among the selected, relevant ones found, both as shares.

    Only runs on a machine that did nothing else have seconds.
    """

    falses: dict[int, float]
    powers: dict[int, float]
    sizes: dict[int, int]
    seconds: dict[int, float]
    strict: dict[int, float] = field(default_factory=dict)  # false ones among the selected but for proxies

    @property
    def any_false(self) -> float:
        """Share of the tables with a false discovery."""
        return float(np.mean([value > 0 for value in self.falses.values()]))


def truth_of(folder: Path) -> dict[str, dict[str, Found]]:
    """By cell and method, in the order of both."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in sorted(records(folder, "truth"), key=lambda record: record["seed"]):
        if "chosen" in record:
            groups[record["cell"], record["method"]].append(record)
    found: dict[str, dict[str, Found]] = {}
    for cell in CELLS:
        for method in METHODS:
            if group := groups.get((cell, method)):
                found.setdefault(cell, {})[method] = _found(group)
    return found


def _found(group: list[dict[str, Any]]) -> Found:
    falses, powers, sizes, seconds, strict = {}, {}, {}, {}, {}
    for record in group:
        seed, chosen, of = record["seed"], record["chosen"], record["of"]
        falses[seed] = chosen[IRRELEVANT] / max(sum(chosen), 1)
        powers[seed] = chosen[RELEVANT] / max(of[RELEVANT], 1)
        sizes[seed] = sum(chosen)
        strict[seed] = chosen[IRRELEVANT] / max(chosen[IRRELEVANT] + chosen[RELEVANT], 1)
        if not record["loaded"]:
            seconds[seed] = record["seconds"]
    return Found(falses, powers, sizes, seconds, strict)


def in_markdown(header: list[str], lines: Iterable[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *lines))


def shown(folder: Path) -> dict[str, str]:
    """Tables in Markdown by their marks."""
    found = truth_of(folder)
    parts = {}
    if found:
        parts["summary"] = of_all(found)
        parts["false discoveries"] = of_cells(found, lambda cell, f: mean(f.falses.values()))
        parts["power"] = of_cells(found, lambda cell, f: mean(f.powers.values()) if has_signal(cell) else "")
        parts["columns"] = of_cells(found, lambda cell, f: f"{np.mean(list(f.sizes.values())):.1f}")
        parts["seconds"] = of_quiet(found)
        parts["left out"] = left_out(folder)
    classic = classic_of(folder)
    for task, mark in (("classification", "classes"), ("regression", "quantities")):
        if any(tables_task == task for tables_task in classic_tasks(classic).values()):
            parts[mark] = of_classic(classic, task)
    return parts


def has_signal(cell: str) -> bool:
    return CELLS[cell].relevant > 0


def span(numbers: Iterable[int]) -> str:
    """The least and the largest number, or the only one."""
    return "-".join(map(str, sorted({min(some := list(numbers)), max(some)})))


def mean(values: Iterable[float]) -> str:
    return f"{np.mean(list(values)):.2f}"


def methods_of(found: dict[str, dict[str, Any]]) -> list[str]:
    """In the order of METHODS, those that were run anywhere."""
    return [method for method in METHODS if any(method in of for of in found.values())]


def of_cells(found: dict[str, dict[str, Found]], cell_text: Any) -> str:
    """A line per cell, a column per method; in brackets the tables, where a method has fewer than ours."""
    methods = methods_of(found)
    lines = []
    for cell, of in found.items():
        n = max(len(f.falses) for f in of.values())
        line = [cell, str(n)]
        for method in methods:
            text = cell_text(cell, of[method]) if method in of else ""
            fewer = f" ({len(of[method].falses)})" if text and len(of[method].falses) < n else ""
            line.append(text + fewer)
        lines.append(line)
    return in_markdown(["cell", "tables", *methods], lines)


def of_all(found: dict[str, dict[str, Found]]) -> str:
    """A line per method: means over its cells with relevant columns; and `relevance` on the same tables."""
    lines = []
    for method in methods_of(found):
        numbers = {
            cell: len(of[method].powers) for cell, of in found.items() if has_signal(cell) and method in of
        }
        if not numbers:
            continue
        line = [method, str(len(numbers)), span(numbers.values())]
        for one in (method, "relevance"):
            own = {cell: found[cell][one] for cell in numbers if one in found[cell]}
            seeds = {cell: found[cell][method].powers for cell in own}
            together = {cell for cell in own if CELLS[cell].signal in ONLY_TOGETHER}
            for share, cells in (
                ("powers", own.keys() - together),
                ("powers", together),
                ("falses", own.keys()),
                ("strict", own.keys()),
            ):
                means = [np.mean([getattr(own[cell], share)[seed] for seed in seeds[cell]]) for cell in cells]
                line.append(mean(means) if means else "")
        lines.append(line)
    shares = ["power", "together", "false", "without proxies"]
    header = ["method", "cells", "tables a cell", *shares, "`relevance`: power", *shares[1:]]
    return in_markdown(header, lines)


def of_quiet(found: dict[str, dict[str, Found]]) -> str:
    """A line per method, a column per cell that was run on a quiet machine: mean seconds."""
    cells = [cell for cell, of in found.items() if any(f.seconds for f in of.values())]
    lines = []
    for method in methods_of(found):
        seconds = [found[cell][method].seconds if method in found[cell] else {} for cell in cells]
        texts = [f"{np.mean(list(some.values())):.2f}" if some else "" for some in seconds]
        if any(texts):
            lines.append([method, *texts])
    return in_markdown(["method", *cells], lines)


def left_out(folder: Path) -> str:
    """What was skipped, stopped or failed, and why; made tables and classic ones."""
    reasons: dict[tuple[str, str], set[str]] = defaultdict(set)
    for kind, (_, key) in FILES.items():
        for record in records(folder, kind):
            if "skipped" in record:
                why = record["skipped"]
            elif "stopped" in record:
                why = f"stopped after {record['stopped']:.0f} s of processor time"
            elif "failed" in record:
                why = f"failed: {record['failed']}"
            else:
                continue
            reasons[record["method"], why.replace("|", "/").replace("\n", " ")].add(record[key[0]])
    lines = [
        [method, why, ", ".join(sorted(places)) if len(places) <= 6 else f"{len(places)} cells or tables"]
        for (method, why), places in sorted(reasons.items(), key=lambda item: list(METHODS).index(item[0][0]))
    ]
    return in_markdown(["method", "why", "where"], lines)


# --- classic tables -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Classic:
    """One method on one classic table: scores by split and model, columns, and how stable they are."""

    scores: dict[int, list[float]]  # of MODELS; accuracy or R2
    n_columns: float
    share: float
    stability: float
    seconds: float


def classic_of(folder: Path) -> dict[str, dict[str, Classic]]:
    """By table and method."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in sorted(records(folder, "tables"), key=lambda record: record["split"]):
        if "chosen" in record:
            groups[record["table"], record["method"]].append(record)
    found: dict[str, dict[str, Classic]] = defaultdict(dict)
    for (table, method), group in groups.items():
        p = group[0]["p"]
        masks = np.array([np.isin(np.arange(p), record["chosen"]) for record in group])
        stability = selection_stability(masks).value if len(group) > 1 else float("nan")
        found[table][method] = Classic(
            {record["split"]: [record["scores"][model][0] for model in MODELS] for record in group},
            float(masks.sum(axis=1).mean()),
            float(masks.mean()),
            stability,
            float(np.mean([record["seconds"] for record in group])),
        )
    return dict(found)


def classic_tasks(classic: dict[str, dict[str, Classic]]) -> dict[str, str]:
    """Tasks of the tables in the results, told by the catalogue where the data is not here."""
    from foresift.datasets.uci import CATALOGUE

    known = tables()
    return {
        table: known.get(table, "regression" if CATALOGUE[table].classes is None else "classification")
        for table in classic
    }


def differences(
    classic: dict[str, dict[str, Classic]], task: str, method: str, other: str
) -> dict[str, np.ndarray]:
    """Mean difference of the scores of each model, over the splits that both have done, by table."""
    found = {}
    for table, kind in classic_tasks(classic).items():
        of = classic[table]
        if kind != task or method not in of or other not in of:
            continue
        common = sorted(of[method].scores.keys() & of[other].scores.keys())
        if common:
            pairs = [np.subtract(of[method].scores[s], of[other].scores[s]) for s in common]
            found[table] = np.mean(pairs, axis=0)
    return found


def of_classic(classic: dict[str, dict[str, Classic]], task: str) -> str:
    """A line per method: means over tables, each less the score of all columns on the same splits."""
    unit = 100 if task == "classification" else 1
    mine = {table: classic[table] for table, kind in classic_tasks(classic).items() if kind == task}
    lines = []
    for method in methods_of(mine):
        gaps = differences(classic, task, method, "all")
        if not gaps:
            continue
        means = np.mean(list(gaps.values()), axis=0) * unit
        done = [of[method] for table, of in mine.items() if table in gaps]
        raw = np.mean([np.mean(list(c.scores.values()), axis=0) for c in done], axis=0) * unit
        stable = [c.stability for c in done if not np.isnan(c.stability)]
        text = "{:.1f} ({:+.2f})" if unit == 100 else "{:.3f} ({:+.3f})"
        texts = [text.format(score, gap) for score, gap in zip(raw, means, strict=True)]
        lines.append(
            [
                method,
                str(len(gaps)),
                *texts,
                f"{np.mean([c.n_columns for c in done]):.1f}",
                f"{np.mean([c.share for c in done]):.2f}",
                f"{np.mean(stable):.2f}" if stable else "",
                f"{np.mean([c.seconds for c in done]):.2f}",
            ]
        )
    return in_markdown(["method", "tables", *MODELS, "columns", "share", "stability", "seconds"], lines)


def picture(folder: Path, target: Path) -> None:
    """False discovery rate and power of every cell, one mark per method; those told a number are left out."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    found = truth_of(folder)
    methods = [method for method in methods_of(found) if not METHODS[method].is_told]
    rows = {cell: -k for k, cell in enumerate(found)}
    figure, (left, right) = plt.subplots(1, 2, sharey=True, figsize=(11, 0.34 * len(rows) + 1.6))
    for k, method in enumerate(methods):
        style = {
            "marker": MARKS[k],
            "s": 46 if METHODS[method].is_ours else 26,
            "label": method,
            "alpha": 0.8,
        }
        style["color"] = f"C{k % 10}"
        shown_cells = [cell for cell, of in found.items() if method in of]
        left.scatter(
            [np.mean(list(found[cell][method].falses.values())) for cell in shown_cells],
            [rows[cell] for cell in shown_cells],
            **style,
        )
        signal = [cell for cell in shown_cells if has_signal(cell)]
        right.scatter(
            [np.mean(list(found[cell][method].powers.values())) for cell in signal],
            [rows[cell] for cell in signal],
            **style,
        )
    left.axvline(ALPHA, color="black", linewidth=0.8)
    left.set(xlabel="false discovery rate (line: target)", yticks=list(rows.values()), yticklabels=list(rows))
    right.set(xlabel="share of the relevant columns found", xlim=(-0.03, 1.03))
    figure.legend(*left.get_legend_handles_labels(), loc="upper center", ncol=7, fontsize=8)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.7 / figure.get_figheight()))
    figure.savefig(target, dpi=110)


def error_of(values: Iterable[float]) -> tuple[float, float]:
    """Mean and standard error; the error of a single value is not known."""
    values = list(values)
    return mean_and_error(values) if len(values) > 1 else (float(np.mean(values)), float("nan"))
