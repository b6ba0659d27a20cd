"""Make every picture and table of docs/murata.md.

    python docs/murata.py searches --minutes 60   # the three searches on the four tables of the paper
    python docs/murata.py steps                   # time of a step at growing numbers of features
    python docs/murata.py pairs                   # how often pairs are found in XOR, noise and sums
    python docs/murata.py figures                 # pictures and tables from what the runs left
    python docs/murata.py all --jobs 2

The UCI tables are read from the folder that the environment variable FORESIFT_DATA names. Every finished run
is one JSON file in build/murata/, so that what was stopped goes on; remove that folder after a change of the
package. `--minutes` is the processor time that backward search may take on a table. `figures` draws what is
there, writes docs/murata/ and the tables of the page, between their markers.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

import matplotlib as mpl
import numpy as np
from murata_runs import (
    HERE,
    METHODS,
    OUT,
    RUNS,
    TABLES,
    first_steps,
    pairs,
    path_of,
    protection,
    run,
    step_times,
)

from foresift import commonality

mpl.use("Agg")
import matplotlib.pyplot as plt

PAGE = HERE / "murata.md"
COLOURS = {"SBS": "#000000", "sequential": "#0072B2", "batch": "#D55E00"}
LABELS = {"SBS": "SBS", "sequential": "sequential", "batch": "batch"}
STYLE = {
    "figure.dpi": 150,
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
}
LIMIT = 0.10


def save(figure: Any, name: str) -> None:
    """Write a picture."""
    path = OUT / f"{name}.png"
    figure.savefig(path, metadata={"Software": None}, pil_kwargs={"optimize": True})
    plt.close(figure)
    print(f"{path.relative_to(HERE.parent)}: {path.stat().st_size / 1000:.0f} kB")


def saved(name: str, make: Any) -> dict[str, Any]:
    """What `make` returned, from the file of an earlier run if there is one."""
    path = RUNS / f"{name}.json"
    if not path.is_file():
        RUNS.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(make(), indent=1))
    return json.loads(path.read_text())


def finished() -> dict[tuple[str, str], dict[str, Any]]:
    """Runs whose file is there."""
    keys = [(table, method) for table in TABLES for method in METHODS]
    found = {key: RUNS / f"{key[0]}-{key[1]}.json" for key in keys}
    return {key: json.loads(path.read_text()) for key, path in found.items() if path.is_file()}


# --- pictures -----------------------------------------------------------------------------------------------


def figure_errors(runs: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Error over reduction rate (Figures 4 to 7), on folds that no search has seen."""
    figure, grid = plt.subplots(2, 2, figsize=(9.6, 6.4))
    for axes, table in zip(grid.flat, TABLES, strict=True):
        for method in METHODS:
            if (table, method) not in runs:
                continue
            path = path_of(runs[table, method])
            axes.plot(
                path.reduction_rates,
                path.errors,
                ".-",
                ms=3,
                lw=1,
                color=COLOURS[method],
                label=LABELS[method],
            )
        first = path_of(next(found for (name, _), found in runs.items() if name == table))
        axes.axhline(first.errors[0] + LIMIT, color="#777777", ls=":", lw=1, label="10 % more than at first")
        axes.set(
            title=f"{table}, {first.n_features_in} features", xlabel="reduction rate", ylabel="error rate"
        )
        axes.set(ylim=(0, min(1.0, first.errors[0] + 0.4)), xlim=(0, 1))
        axes.legend(loc="upper left")
    save(figure, "errors")


def figure_commonality(runs: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Share of the kept features that SBS keeps too (Figure 8)."""
    figure, row = plt.subplots(1, 4, figsize=(9.6, 2.8), sharey=True)
    for axes, table in zip(row, TABLES, strict=True):
        axes.plot([0, 1], [1, 0], ":", color="#777777", lw=1, label="two random sets")
        for method in ("sequential", "batch"):
            if (table, method) in runs and (table, "SBS") in runs:
                sbs = path_of(runs[table, "SBS"])
                rates, shares = commonality(path_of(runs[table, method]), sbs)
                axes.plot(rates, shares, ".-", ms=3, lw=1, color=COLOURS[method], label=LABELS[method])
        axes.set(title=table, xlabel="reduction rate", xlim=(0, 1), ylim=(0, 1.02))
    row[0].set(ylabel="in common with SBS")
    row[0].legend(loc="lower left")
    save(figure, "commonality")


def figure_times(first: dict[str, dict[str, float]], steps: dict[str, list[float]]) -> None:
    """Seconds to drop one feature (Figure 9), and how a step grows with the number of features."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.4))
    for k, method in enumerate(("SBS", "sequential", "batch")):
        values = [first[table][method] for table in TABLES]
        left.bar(np.arange(4) + 0.27 * (k - 1), values, 0.25, color=COLOURS[method], label=LABELS[method])
    left.set(xticks=range(4), xticklabels=TABLES, ylabel="processor seconds of a deletion", yscale="log")
    left.legend()
    for method in ("SBS", "sequential"):
        slope = np.polyfit(np.log(steps["p"]), np.log(steps[method]), 1)[0]
        label = f"{LABELS[method]}: p^{slope:.1f}"
        right.plot(steps["p"], steps[method], "o-", color=COLOURS[method], label=label)
    right.set(xscale="log", yscale="log", xlabel="features p", ylabel="seconds of one step")
    right.set_xticks(steps["p"], labels=[f"{p:g}" for p in steps["p"]])
    right.set_xticks([], minor=True)
    right.legend()
    save(figure, "times")


# --- tables -------------------------------------------------------------------------------------------------


def table_of_searches(runs: dict[tuple[str, str], dict[str, Any]]) -> str:
    """One row per table and method: how far it got, at what error."""
    lines = [
        "| table | method | steps | error with all | reduction at +10 % | error there | error at 50 % |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (table, method), found in runs.items():
        path = path_of(found)
        limit = path.errors[0] + LIMIT
        passed = np.flatnonzero(path.errors > limit)
        last = passed[0] - 1 if len(passed) else len(path) - 1
        half = np.flatnonzero(path.reduction_rates >= 0.5 - 1e-9)
        mid = f"{path.errors[half[0]]:.3f}" if len(half) else "-"
        steps = f"{len(path) - 1} of {path.n_features_in - 1}"
        reduction = f"{path.reduction_rates[last]:.2f}" + (
            "" if len(passed) or found["complete"] else " or more"
        )
        cells = [
            table,
            LABELS[method],
            steps,
            f"{path.errors[0]:.3f}",
            reduction,
            f"{path.errors[last]:.3f}",
            mid,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table_of_commonality(runs: dict[tuple[str, str], dict[str, Any]]) -> str:
    """Share in common with SBS at some reduction rates, beside that of random sets."""
    marks = (0.25, 0.5, 0.8)
    lines = ["| table | method | " + " | ".join(f"at {mark:g}" for mark in marks) + " |"]
    lines.append("| --- | --- |" + " --- |" * len(marks))
    for table in TABLES:
        for method in ("sequential", "batch"):
            if (table, method) not in runs or (table, "SBS") not in runs:
                continue
            rates, shares = commonality(path_of(runs[table, method]), path_of(runs[table, "SBS"]))
            cells = []
            for mark in marks:
                at = int(np.abs(rates - mark).argmin())
                near = abs(rates[at] - mark) < 0.06
                cells.append(f"{shares[at]:.2f} (random {1 - rates[at]:.2f})" if near else "-")
            lines.append(f"| {table} | {LABELS[method]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table_of_times(first: dict[str, dict[str, float]]) -> str:
    """Processor seconds of the first deletion."""
    lines = ["| table | SBS | sequential | batch | SBS / sequential |", "| --- | --- | --- | --- | --- |"]
    for table, row in first.items():
        cells = [f"{row[method]:.2f}" for method in ("SBS", "sequential", "batch")]
        lines.append(f"| {table} | " + " | ".join(cells) + f" | {row['SBS'] / row['sequential']:.0f} |")
    return "\n".join(lines)


def table_of_pairs(found: dict[str, Any]) -> str:
    """What was found in tables of each kind."""
    lines = ["| data | tables | pair found | a false pair | spread of the statistic |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for name, row in found.items():
        lines.append(f"| {name} | " + " | ".join(str(value) for value in row.values()) + " |")
    return "\n".join(lines)


def put(name: str, text: str) -> None:
    """Put a table between its markers in the page."""
    page = PAGE.read_text()
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    head, rest = page.split(begin)
    PAGE.write_text(head + begin + text + "\n" + end + rest.split(end)[1])


def figures() -> None:
    """Draw and write everything that the runs so far allow."""
    OUT.mkdir(exist_ok=True)
    plt.rcParams.update(STYLE)
    runs, steps, first = finished(), saved("steps", step_times), saved("first-steps", first_steps)
    if runs:
        figure_errors(runs)
        figure_commonality(runs)
        put("searches", table_of_searches(runs))
        put("commonality", table_of_commonality(runs))
    figure_times(first, steps)
    put("times", table_of_times(first))
    put("pairs", table_of_pairs(saved("pairs", pairs)))
    kept = saved("protection", protection)
    numbers = {"steps": steps, "first steps": first, "protection": kept}
    (OUT / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n")
    for (table, method), found in runs.items():
        (OUT / f"{table}-{method}.json").write_text(json.dumps(found) + "\n")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("searches", "steps", "pairs", "figures", "all"))
    parser.add_argument("--minutes", type=float, default=60, help="processor time of SBS on a table")
    parser.add_argument("--jobs", type=int, default=1, help="threads of a search")
    arguments = parser.parse_args()
    if "FORESIFT_DATA" not in os.environ:
        parser.exit(
            0, "docs/murata.py: the tables of the paper are wanted; set FORESIFT_DATA to their folder.\n"
        )
    if arguments.what in ("searches", "all"):
        for method in METHODS:
            for table in TABLES:
                run(table, method, arguments.minutes, arguments.jobs)
    if arguments.what in ("steps", "all"):
        saved("steps", step_times)
        saved("first-steps", first_steps)
    if arguments.what in ("pairs", "all"):
        saved("pairs", pairs)
        saved("protection", protection)
    if arguments.what in ("figures", "all"):
        figures()


if __name__ == "__main__":
    main()
