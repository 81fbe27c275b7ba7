"""Optional requirements: a test that lacks one is skipped, or fails where it must run."""

from __future__ import annotations

import importlib
import os

import pytest


def need(module: str) -> None:
    """Skip the test module without this package; fail in `make service`."""
    if os.environ.get("LOCALARC_REQUIRE_SERVICE"):
        importlib.import_module(module)
    else:
        reason = f"{module} is not installed: pip install './packages/localarc-service[tests]'"
        pytest.importorskip(module, reason=reason)


def missing(reason: str) -> None:
    """Skip a test; fail in `make service`."""
    if os.environ.get("LOCALARC_REQUIRE_SERVICE"):
        pytest.fail(reason)
    pytest.skip(reason)
