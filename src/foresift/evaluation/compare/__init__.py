"""Methods compared on held-out rows: `compare`, and what a store has of it."""

from foresift.evaluation.compare.comparison import Comparison, compare, make_method

__all__ = ["Comparison", "compare", "make_method"]
