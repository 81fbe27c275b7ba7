"""Shared by all tests: data that may be absent, and examples that are the same on every machine."""

import os
from collections import Counter

import pytest
from hypothesis import settings

# A busy machine is no reason to fail, so no example has a deadline.
settings.register_profile("localarc", derandomize=True, deadline=None)
settings.load_profile("localarc")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why tests were skipped, in one line for each reason; `-rs` says where, too."""
    skipped = terminalreporter.getreports("skipped")
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count} skipped: {reason}")


@pytest.fixture(scope="session")
def elec2() -> str:
    """Skip, with the way out, where Elec2 is not here; fail where it must be."""
    from localarc_lab import data  # imported here: some suites run without the lab

    if data.find("elec2") is None:
        reason = "Elec2 is not here: set LOCALARC_DATA or run localarc data get elec2"
        if os.environ.get("LOCALARC_REQUIRE_DATA"):
            pytest.fail(reason)
        pytest.skip(reason)
    return "elec2"
