"""Reporting: what came of a run, in numbers, files and a page."""
