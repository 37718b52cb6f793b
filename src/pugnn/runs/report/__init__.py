"""The report of a run: one HTML file that needs nothing besides itself."""

from pugnn.runs.report.page import write_report

__all__ = ["write_report"]
