"""Reporting: the results of a run as numbers, files and an HTML page.

`write_report` writes the page; `assess` and `summary` compute what it shows; `write_results` writes
the page, the summary and the record to a folder.
"""

from localarc.reporting.assessment import Assessment, Run, assess, summary
from localarc.reporting.files import OutputError, write_results
from localarc.reporting.html import write_report

__all__ = [
    "Assessment",
    "OutputError",
    "Run",
    "assess",
    "summary",
    "write_report",
    "write_results",
]
