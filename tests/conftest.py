"""Shared by all tests: data that may be absent, and examples that are the same on every machine."""

import os

import pytest
from hypothesis import settings

from localarc.experiments import data

# A busy machine is no reason to fail, so no example has a deadline.
settings.register_profile("localarc", derandomize=True, deadline=None)
settings.load_profile("localarc")


@pytest.fixture(scope="session")
def elec2() -> str:
    """Skip, with the way out, where Elec2 is not here; fail where it must be."""
    if data.find("elec2") is None:
        reason = "Elec2 is not here: set LOCALARC_DATA or run localarc data get elec2"
        if os.environ.get("LOCALARC_REQUIRE_DATA"):
            pytest.fail(reason)
        pytest.skip(reason)
    return "elec2"
