"""What only some tests need: absent, they skip; where they must run, they fail."""

from __future__ import annotations

import importlib
import os

import pytest


def need(module: str) -> None:
    """Skip the test module without this package, unless it was promised to be there."""
    if os.environ.get("LOCALARC_REQUIRE_SERVICE"):
        importlib.import_module(module)
    else:
        reason = f"{module} is not installed: pip install '.[service-tests]'"
        pytest.importorskip(module, reason=reason)


def missing(reason: str) -> None:
    """Skip a test, unless what it lacks was promised to be there."""
    if os.environ.get("LOCALARC_REQUIRE_SERVICE"):
        pytest.fail(reason)
    pytest.skip(reason)
