"""The report of a run: one HTML file that needs nothing besides itself."""

from pugnn.runs.report.page import renew_report, write_report

__all__ = ["renew_report", "write_report"]
