"""Tests of differences between methods, adjusted p-values, intervals, stability of selections."""

from foresift.stats.comparisons import (
    Friedman,
    WinLossTie,
    adjusted_pvalues,
    benjamini_hochberg,
    critical_difference,
    friedman,
    holm,
    nemenyi,
    sign_test,
    wilcoxon,
    win_loss_tie,
)
from foresift.stats.resampled import (
    Estimate,
    Outcome,
    corrected_interval,
    corrected_resampled_ttest,
    paired_ttest,
)
from foresift.stats.stability import (
    Stability,
    jaccard,
    kuncheva,
    selection_stability,
)

__all__ = [
    "Estimate",
    "Friedman",
    "Outcome",
    "Stability",
    "WinLossTie",
    "adjusted_pvalues",
    "benjamini_hochberg",
    "corrected_interval",
    "corrected_resampled_ttest",
    "critical_difference",
    "friedman",
    "holm",
    "jaccard",
    "kuncheva",
    "nemenyi",
    "paired_ttest",
    "selection_stability",
    "sign_test",
    "wilcoxon",
    "win_loss_tie",
]
