"""How much each feature of a fitted tree or forest matters, read from its node tables."""

from foresift.engine.importances import (
    average_gain,
    co_occurrence,
    contribution_ratio,
    mean_decrease_impurity,
    node_tables,
)

__all__ = [
    "average_gain",
    "co_occurrence",
    "contribution_ratio",
    "mean_decrease_impurity",
    "node_tables",
]
