"""What one column, or one split of it, tells about the classes: gain, gain ratio, SSV, node complexity."""

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

__all__ = [
    "best_ssv_split",
    "expected_gain",
    "gain_pvalue",
    "gain_ratio",
    "gain_variance",
    "information_gain",
    "node_complexity",
    "ssv",
]
