"""The one style of all pictures of the gallery, and the order of its pages."""

import matplotlib
from cycler import cycler

__all__ = ["ORDER", "use_style"]

# From a first answer to harder questions.
ORDER = [
    "plot_classes.py",
    "plot_quantity.py",
    "plot_how_many.py",
    "plot_redundancy.py",
    "plot_together.py",
    "plot_error_rate.py",
    "plot_leak.py",
    "plot_patients.py",
    "plot_time.py",
    "plot_compare.py",
    "plot_keep.py",
    "plot_tree.py",
]

# As in foresift.plots: distinguishable with colour blindness too (Okabe & Ito 2008).
COLOURS = ["#17654f", "#d55e00", "#0072b2", "#cc79a7", "#e69f00", "#56b4e9", "#5c5c5c"]

STYLE = {
    "axes.edgecolor": "#868f8a",
    "axes.labelcolor": "#1c2320",
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "figure.figsize": (6.4, 3.6),
    "font.size": 10,
    "legend.frameon": False,
    "savefig.dpi": 100,
    "text.color": "#1c2320",
    "xtick.color": "#1c2320",
    "ytick.color": "#1c2320",
}


def use_style(gallery_conf, file_name) -> None:
    """Begin every example in this style, whatever the one before has set."""
    matplotlib.rcParams.update(STYLE)
