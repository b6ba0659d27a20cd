"""The report: one HTML page that needs nothing beside itself, of a selection or of a comparison."""

from foresift.report.pages import comparison_html, framed, selection_html

__all__ = ["comparison_html", "framed", "selection_html"]
