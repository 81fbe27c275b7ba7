"""The HTML report: a single page without external resources."""

from localarc.reporting.html.page import render, write_report

__all__ = ["render", "write_report"]
