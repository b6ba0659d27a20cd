"""Comparison of methods on held-out rows: `compare`, and comparisons read from a store."""

from foresift.evaluation.compare.comparison import Comparison, compare
from foresift.evaluation.compare.methods import make_method

__all__ = ["Comparison", "compare", "make_method"]
