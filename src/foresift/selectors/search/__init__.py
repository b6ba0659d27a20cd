"""Searches through sets of columns."""
