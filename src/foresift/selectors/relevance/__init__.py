"""Calibrated relevance: columns beside permuted shadows in one forest, at an error rate that holds."""

from foresift.selectors.relevance.selector import RelevanceSelector

__all__ = ["RelevanceSelector"]
