"""Split criteria of one column: gain, gain ratio, SSV, node complexity, variance reduction, and chance."""

from foresift.engine.criteria import (
    best_ssv_split,
    expected_gain,
    gain_pvalue,
    gain_ratio,
    gain_variance,
    information_gain,
    node_complexity,
    ssv,
)
from foresift.engine.reduction import (
    expected_reduction,
    reduction_pvalue,
    reduction_variance,
    variance_reduction,
)

__all__ = [
    "best_ssv_split",
    "expected_gain",
    "expected_reduction",
    "gain_pvalue",
    "gain_ratio",
    "gain_variance",
    "information_gain",
    "node_complexity",
    "reduction_pvalue",
    "reduction_variance",
    "ssv",
    "variance_reduction",
]
