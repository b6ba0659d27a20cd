"""One call from a table to an answer: what is kept, how well it predicts, and how sure that is."""

from foresift.evaluation.select.result import Selection
from foresift.evaluation.select.selection import select

__all__ = ["Selection", "select"]
