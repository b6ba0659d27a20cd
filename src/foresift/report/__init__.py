"""The report: a self-contained HTML page of a selection or a comparison."""

from foresift.report.pages import comparison_html, framed, selection_html

__all__ = ["comparison_html", "framed", "selection_html"]
