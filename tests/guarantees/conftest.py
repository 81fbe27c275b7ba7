"""Adversaries make calibrators miss their targets: the warnings about it are tested elsewhere."""

import warnings
from collections.abc import Iterator

import pytest

from localarc import PromiseWarning


@pytest.fixture(autouse=True)
def _silence() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PromiseWarning)
        yield
