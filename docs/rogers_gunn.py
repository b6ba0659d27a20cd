"""Make every picture and table of docs/rogers-gunn.md.

    python docs/rogers_gunn.py figures    # Figures 2, 3, 4 and 6 of the paper
    python docs/rogers_gunn.py bounds     # what each bound removes and keeps
    python docs/rogers_gunn.py precision  # how well the scores rank ten relevant features among a hundred
    python docs/rogers_gunn.py all --trials 100 --jobs 2

Pictures, CSV and JSON files go to docs/rogers-gunn/, the tables also into the page, between their markers.
Tables 3 and 4 and Figure 5 are made by `foresift reproduce rogers-gunn`.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import matplotlib as mpl
import numpy as np
from rogers_gunn_trials import BOUNDS, HERE, OUT, Forest, Selector, bounds, in_parallel, precision

from foresift.criteria import expected_gain, node_complexity
from foresift.datasets import make_simple

mpl.use("Agg")
import matplotlib.pyplot as plt

BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#777777"
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


def figure_2() -> None:
    """Expected gain of an irrelevant feature over the composition of a node."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), width_ratios=(1, 1.15))
    sizes = np.arange(1, 41)
    grid = np.stack(np.meshgrid(sizes, sizes), axis=-1)
    image = left.pcolormesh(
        sizes, sizes, expected_gain(grid, "exact"), norm="log", cmap="viridis", rasterized=True
    )
    plain_ticks(figure.colorbar(image, ax=left).ax.yaxis, [0.05, 0.1, 0.2, 0.5, 1])
    left.set(
        xlabel="positive examples i", ylabel="negative examples n - i", title="exact expected gain (bits)"
    )
    left.set_aspect("equal")
    colours = mpl.colormaps["plasma"](np.linspace(0.05, 0.8, 5))
    for n, colour in zip((6, 10, 20, 40, 100), colours, strict=True):
        i = np.arange(1, n)
        exact = expected_gain(np.stack([i, n - i], axis=-1), "exact")
        right.plot(i / n, exact, ".-", ms=4, lw=1, color=colour)
        for bound, dashes in (("lower", ":"), ("upper", "--")):
            right.hlines(expected_gain([1, n - 1], bound), 0, 1, color=colour, ls=dashes, lw=1)
        right.text(1.02, expected_gain([1, n - 1], "mid"), f"n = {n}", color=colour, va="center")
    right.plot([], [], ".-", color=GREY, label="exact")
    right.plot([], [], "--", color=GREY, label="upper (eq. 22)")
    right.plot([], [], ":", color=GREY, label="lower (eq. 21)")
    right.set(xlabel="share of positive examples i / n", ylabel="expected gain (bits)", yscale="log")
    right.set(xlim=(0, 1.15), xticks=np.linspace(0, 1, 5), ylim=(0.02, 0.7), title="exact and the two bounds")
    plain_ticks(right.yaxis, [0.02, 0.05, 0.1, 0.2, 0.5])
    right.legend(loc="upper center", ncols=3, columnspacing=1.2)
    save(figure, "figure-2")


def figure_3() -> None:
    """Bounds of the expected gain over the size of a node."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.8), width_ratios=(1.3, 1))
    n = np.arange(2, 501)
    single = np.stack([np.ones_like(n), n - 1], axis=-1)
    even = n[n % 2 == 0]
    halves = np.stack([even // 2, even // 2], axis=-1)
    share = 1 / n
    entropy = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
    left.plot(n, entropy, color=GREY, label="parent entropy, i = 1")
    left.plot(n, expected_gain(single, "upper"), color=RED, label="upper bound (eq. 22)")
    left.plot(even, expected_gain(halves, "exact"), color="black", ls="--", label="exact, equal classes")
    left.plot(n, expected_gain(single, "mid"), color=ORANGE, label="mid-point, the threshold")
    left.plot(n, expected_gain(single, "lower"), color=BLUE, label="lower bound (eq. 21)")
    left.set(xlabel="examples in the node n", ylabel="information gain (bits)", xscale="log", yscale="log")
    right.axhline(1, color="black", ls="--", lw=1)
    for bound, colour in (("upper", RED), ("mid", ORANGE), ("lower", BLUE)):
        right.plot(
            even, expected_gain(halves, bound) / expected_gain(halves, "exact"), color=colour, label=bound
        )
    right.set(
        xlabel="examples in the node n", ylabel="bound / exact, equal classes", xscale="log", ylim=(0, 1.5)
    )
    for axes in (left, right):
        plain_ticks(axes.xaxis, [2, 5, 10, 20, 50, 100, 200, 500])
        axes.legend()
    plain_ticks(left.yaxis, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1])
    save(figure, "figure-3")


def plain_ticks(axis: Any, ticks: list[float]) -> None:
    """Label an axis with these numbers, not with powers of ten."""
    axis.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axis.set_ticks([], minor=True)


def figure_4() -> dict[str, Any]:
    """Densities of the gains of three features of Simple, every node alike and by node complexity."""
    X, y = make_simple(random_state=0)
    forest = Forest(5000, max_features=1, record_tried=True, random_state=0).fit(X, y)
    tried = [(table.counts[table.tried["node"]], table.tried) for table in forest.node_tables_]
    weights = np.concatenate([node_complexity(counts) for counts, _ in tried])
    feature, gain = (np.concatenate([trials[key] for _, trials in tried]) for key in ("feature", "gain"))
    edges = np.linspace(0, 1, 101)
    figure, rows = plt.subplots(2, 3, figsize=(9.6, 4.6), sharex=True, sharey="col")
    shares: dict[str, Any] = {"gain 1": {}, "gain 0.918": {}}
    names = ("X1, relevant", "X2, relevant", "X3, irrelevant")
    for column, (j, name) in enumerate(zip((0, 1, 2), names, strict=True)):
        mine = feature == j
        for row, (weighting, w, colour) in enumerate((("unit", None, GREY), ("complexity", weights, BLUE))):
            mass, _ = np.histogram(np.minimum(gain[mine], 1), edges, weights=None if w is None else w[mine])
            mass = mass / mass.sum()
            axes = rows[row, column]
            axes.stairs(mass * 100, edges, fill=True, color=colour)
            axes.set(ylabel="" if column else f"{weighting} weighting\ndensity", xlim=(0, 1.02))
            for spike, at in (("gain 1", 99), ("gain 0.918", 91)):
                shares[spike].setdefault(name[:2], {})[weighting] = round(float(mass[at]), 5)
        rows[0, column].set(title=name)
        rows[1, column].set(xlabel="information gain (bits)")
    save(figure, "figure-4")
    return shares


def place_between_bounds(seed: int) -> np.ndarray:
    """Place the irrelevant features of Simple, and "exact", between the lower (0) and the upper bound (1)."""
    X, y = make_simple(random_state=seed)
    lower, upper = (
        Selector(bound=bound, max_features=1, random_state=seed).fit(X, y) for bound in ("lower", "upper")
    )
    places = np.array([lower.scores_, lower.expected_scores_]) - lower.thresholds_
    return (places / (upper.thresholds_ - lower.thresholds_))[:, 2:]


def figure_6(trials: int, jobs: int) -> dict[str, Any]:
    """Scores of Simple's features beside what an irrelevant one is expected to score."""
    X, y = make_simple(random_state=0)
    fitted = {bound: Selector(bound=bound, max_features=1, random_state=0).fit(X, y) for bound in BOUNDS}
    scores, thresholds = fitted["mid"].scores_, {bound: fitted[bound].thresholds_ for bound in BOUNDS}
    at = np.arange(1, len(scores) + 1)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.8), width_ratios=(1.3, 1))
    left.fill_between(
        at, thresholds["lower"], thresholds["upper"], color="#CFE3F1", label="lower to upper bound"
    )
    left.plot(at, thresholds["mid"], color=ORANGE, label="mid")
    left.plot(at, thresholds["exact"], "--", color="black", label="exact")
    left.plot(at[:2], scores[:2], "o", color=GREEN, label="relevant feature")
    left.plot(at[2:], scores[2:], "o", color=RED, label="irrelevant feature")
    left.set(xlabel="feature (1 and 2 are relevant)", ylabel="mean information gain (bits)", xticks=at)
    left.set(yscale="log", ylim=(0.03, 1), title="one table, 100 trees")
    plain_ticks(left.yaxis, [0.03, 0.05, 0.1, 0.2, 0.5, 1])
    left.legend(ncols=2)
    places, exact = np.hstack(in_parallel(place_between_bounds, [(seed,) for seed in range(trials)], jobs))
    right.hist(places, np.linspace(-0.5, 2.5, 31), color=RED, rwidth=0.85)
    right.axvline(0.5, color=ORANGE, label="mid")
    right.axvline(exact.mean(), color="black", ls="--", label="exact (mean)")
    right.axvspan(0, 1, color="#CFE3F1", zorder=0)
    right.set(xlabel="place between the bounds (0: lower, 1: upper)", ylabel="irrelevant features")
    right.set(xlim=(-0.25, 2), title=f"the irrelevant features of {trials} tables")
    right.legend()
    save(figure, "figure-6")
    numbers = {
        "between the bounds": np.mean((places > 0) & (places < 1)),
        "below lower": np.mean(places <= 0),
    }
    numbers |= {"above upper": np.mean(places >= 1), "place of exact": exact.mean()}
    table = {"scores": scores, **thresholds}
    return {key: round(float(v), 4) for key, v in numbers.items()} | {
        k: v.round(4).tolist() for k, v in table.items()
    }


def figures(trials: int, jobs: int) -> None:
    """Draw all of them, and write the numbers behind Figures 4 and 6."""
    figure_2()
    figure_3()
    numbers = {"figure 4, share of the mass in the bin": figure_4()}
    numbers["figure 6, mean gain and thresholds"] = figure_6(trials, jobs)
    (OUT / "figures.json").write_text(json.dumps(numbers, indent=1) + "\n")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    tasks = {"figures": figures, "bounds": bounds, "precision": precision}
    parser.add_argument("what", choices=(*tasks, "all"))
    parser.add_argument("--trials", type=int, default=100, help="trials or seeds of every measurement")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    plt.rcParams.update(STYLE)
    for name, task in tasks.items():
        if arguments.what in (name, "all"):
            task(arguments.trials, arguments.jobs)


if __name__ == "__main__":
    main()
