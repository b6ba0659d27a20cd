"""Make what is on docs/murata.md besides the searches: times of a deletion, and pairs of features.

    python docs/murata.py steps      # processor time of a deletion, and at growing numbers of features
    python docs/murata.py pairs      # how often pairs are found in XOR, noise and sums
    python docs/murata.py figures    # the picture and the tables from what the runs left
    python docs/murata.py all

The searches themselves, Figures 4 to 9, are made by `foresift reproduce murata`. The UCI tables are read from
the folder that the environment variable FORESIFT_DATA names. What has been run lies as JSON in build/murata/;
remove that folder after a change of the package. `figures` writes docs/murata/ and the tables of the page,
between their markers.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

import matplotlib as mpl
import numpy as np
from murata_runs import HERE, OUT, RUNS, TABLES, first_steps, pairs, protection, step_times

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


# --- pictures -----------------------------------------------------------------------------------------------


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
    """Draw and write everything."""
    OUT.mkdir(exist_ok=True)
    plt.rcParams.update(STYLE)
    steps, first = saved("steps", step_times), saved("first-steps", first_steps)
    figure_times(first, steps)
    put("times", table_of_times(first))
    put("pairs", table_of_pairs(saved("pairs", pairs)))
    kept = saved("protection", protection)
    numbers = {"steps": steps, "first steps": first, "protection": kept}
    (OUT / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("steps", "pairs", "figures", "all"))
    arguments = parser.parse_args()
    if "FORESIFT_DATA" not in os.environ:
        parser.exit(
            0, "docs/murata.py: the tables of the paper are wanted; set FORESIFT_DATA to their folder.\n"
        )
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
