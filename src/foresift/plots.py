"""Pictures with matplotlib, in the manner of scikit-learn's displays: `from_...` reads, `plot` draws."""

from foresift.report.plots import (
    ConvergenceDisplay,
    CriticalDifferenceDisplay,
    CurveDisplay,
    MethodCurvesDisplay,
    RankingDisplay,
    RedundancyDisplay,
    StabilityDisplay,
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
