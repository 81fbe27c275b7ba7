"""Folders that the user of a sandbox can reach, which pytest's own are not."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """A folder that everybody can read."""
    with tempfile.TemporaryDirectory(prefix="localarc-deploy-") as name:
        Path(name).chmod(0o755)
        yield Path(name)
