"""Pictures with matplotlib, in the manner of scikit-learn's displays: `from_...` reads, `plot` draws.

A display is made from the dictionary of a selection or from plain arrays, so it knows no method. matplotlib
is imported only when something is drawn: that alone takes longer than many a selection.
"""

from foresift.report.plots.of_many import ConvergenceDisplay, CriticalDifferenceDisplay, StabilityDisplay
from foresift.report.plots.of_methods import MethodCurvesDisplay
from foresift.report.plots.of_one import (
    CurveDisplay,
    RankingDisplay,
    RedundancyDisplay,
    plot_curve,
    plot_ranking,
    plot_redundancy,
)

__all__ = [
    "ConvergenceDisplay",
    "CriticalDifferenceDisplay",
    "CurveDisplay",
    "MethodCurvesDisplay",
    "RankingDisplay",
    "RedundancyDisplay",
    "StabilityDisplay",
    "plot_curve",
    "plot_ranking",
    "plot_redundancy",
]
