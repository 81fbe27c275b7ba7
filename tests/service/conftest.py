"""Services for tests, ended when the test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localarc.service.api.auth import Tokens
from localarc.service.limits import Limits
from service.inside import Inside

Start = Callable[..., Inside]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts services on the test's folder."""
    started: list[Inside] = []

    def begin(
        limits: Limits | None = None,
        tokens: Tokens | None = None,
        hosts: frozenset[str] | None = None,
        now: float = 1_000.0,
    ) -> Inside:
        made = Inside(tmp_path, limits or Limits(), tokens or Tokens({}), hosts, now).start()
        started.append(made)
        return made

    yield begin
    for each in started:
        each.stop()


@pytest.fixture
def service(start: Start) -> Inside:
    """A service with usual limits and no tokens."""
    return start()
