"""Matplotlib displays in the style of scikit-learn: `from_...` reads a result, `plot` draws it."""

from foresift.report.plots.of_columns import AssociationDisplay, ColumnDisplay, plot_columns
from foresift.report.plots.of_many import ConvergenceDisplay, CriticalDifferenceDisplay, StabilityDisplay
from foresift.report.plots.of_methods import MethodCurvesDisplay, ParetoDisplay
from foresift.report.plots.of_one import (
    CurveDisplay,
    RankingDisplay,
    RedundancyDisplay,
    plot_curve,
    plot_ranking,
    plot_redundancy,
)

__all__ = [
    "AssociationDisplay",
    "ColumnDisplay",
    "ConvergenceDisplay",
    "CriticalDifferenceDisplay",
    "CurveDisplay",
    "MethodCurvesDisplay",
    "ParetoDisplay",
    "RankingDisplay",
    "RedundancyDisplay",
    "StabilityDisplay",
    "plot_columns",
    "plot_curve",
    "plot_ranking",
    "plot_redundancy",
]
