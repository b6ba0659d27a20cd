"""Answers about a table: select, compare, and the experiments behind published tables."""
