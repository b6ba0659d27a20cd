"""The curves of a paper's figures, drawn from our numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from foresift.evaluation.papers.reproduce import Row
from foresift.evaluation.papers.specs import PaperTable
from foresift.report.plots.display import pyplot

__all__ = ["draw_curves", "has_curves"]

# Okabe and Ito's colours, distinguishable with colour blindness too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#999999")
LINES = ("-", "--", ":", "-.")
AXES = {
    "intervals": ("trees", "mean size of the intervals, bits"),
    "path": ("features", "error"),
    "error": ("features", "error"),
    "accuracy": ("features", "accuracy"),
    "commonality": ("features", "share in common"),
    "bounds": ("rows", "expected gain, bits"),
    "gains": ("gain, hundredths of a bit", "density"),
    "thresholds": ("feature", "mean gain, bits"),
}


def has_curves(rows: Sequence[Row]) -> bool:
    """Whether there is anything to draw.

    Examples
    --------
    >>> has_curves([])
    False
    """
    return any(len(points) > 1 for points in _curves(rows).values())


def draw_curves(table: PaperTable, rows: Sequence[Row], path: Path) -> None:
    """Write the curves of a table as a PNG, with a panel for each data set and classifier.

    The rows come from `reproduce.rows_of_table`. Those without a number in `size` are drawn as a level.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from foresift.evaluation.papers.specs import read_paper
    >>> points = [Row("3", "iris", "net", "net", "", size, 4.7, 0.5, 5) for size in ("1", "2")]
    >>> with TemporaryDirectory() as folder:
    ...     draw_curves(read_paper("opitz").tables[0], points, Path(folder, "picture"))
    ...     Path(folder, "picture").read_bytes()[1:4]
    b'PNG'
    """
    curves = _curves(rows)
    plt = pyplot()
    plt.switch_backend("Agg")
    datasets = list(dict.fromkeys(place[0] for place in curves))
    classifiers = list(dict.fromkeys(place[1] for place in curves))
    one_panel = table.measure == "intervals"
    down, across = _layout(len(datasets), len(classifiers), one_panel)
    width = max(6.4, 3.2 * across)
    figure, axes = plt.subplots(
        down, across, figsize=(width, 2.5 * down + 0.8), squeeze=False, constrained_layout=True
    )
    panels = axes.ravel()
    names = datasets if one_panel else list(dict.fromkeys(place[2] for place in curves))
    styles = _styles(names)
    for (dataset, classifier, label), points in curves.items():
        place = 0 if one_panel else datasets.index(dataset) * len(classifiers) + classifiers.index(classifier)
        panel, style = panels[place], styles[dataset if one_panel else label]
        if not one_panel:
            panel.set_title(", ".join(filter(None, (dataset, classifier))), fontsize=8)
        if len(points) == 1:
            panel.axhline(next(iter(points.values())), **style)
        else:
            sizes = sorted(points)
            panel.plot(sizes, [points[size] for size in sizes], **style)
    x, y = AXES[table.measure]
    over = table.options.get("over", x)
    for panel in panels:
        panel.set(xlabel=over, ylabel=y + (", %" if table.scale == 100 else ""))
        panel.tick_params(which="both", labelsize=7)
        if "x" in table.options.get("log", ""):
            panel.set_xscale("log")
        if "y" in table.options.get("log", ""):
            panel.set_yscale("log")
        panel.spines[["top", "right"]].set_visible(False)
    for panel in panels[len(datasets) * len(classifiers) if not one_panel else 1 :]:
        panel.set_visible(False)
    _legend(figure, styles)
    figure.savefig(path, format="png", dpi=110)
    plt.close(figure)


def _curves(rows: Sequence[Row]) -> dict[tuple[str, str, str], dict[int, float]]:
    """Points by data set, classifier and label; a level has the one point 0."""
    curves: dict[tuple[str, str, str], dict[int, float]] = {}
    for row in rows:
        place = (row.dataset, row.classifier, row.label)
        if row.size.isdigit():
            curves.setdefault(place, {})[int(row.size)] = row.ours
        elif row.size in ("", "all"):
            curves.setdefault(place, {})[0] = row.ours
    return curves


def _layout(n_datasets: int, n_classifiers: int, one_panel: bool) -> tuple[int, int]:
    if one_panel:
        return 1, 1
    if n_classifiers > 1:
        return n_datasets, n_classifiers
    across = min(4, n_datasets)
    return -(-n_datasets // across), across


def _styles(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """A colour for each family (the text before a comma), a line style for each of its members."""
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(name.split(",")[0], []).append(name)
    return {
        name: {
            "color": COLOURS[k % len(COLOURS)],
            "linestyle": LINES[(members.index(name) + k // len(COLOURS)) % len(LINES)],
            "linewidth": 1.2,
        }
        for k, members in enumerate(families.values())
        for name in members
    }


def _legend(figure: Any, styles: dict[str, dict[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], **style) for style in styles.values()]
    figure.legend(lines, list(styles), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
