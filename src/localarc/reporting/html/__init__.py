"""The report: one page that holds a run, its promise and its failures, and needs nothing else."""

from localarc.reporting.html.page import render, write_report

__all__ = ["render", "write_report"]
