"""Services for tests, ended when the test ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from localarc.service.api.auth import Tokens
from localarc.service.limits import Limits
from service.inside import Inside

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from service.browser import Visit

Start = Callable[..., Inside]
Visitor = Callable[..., "Visit"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts services on the test's folder."""
    started: list[Inside] = []

    def begin(
        limits: Limits | None = None,
        tokens: Tokens | None = None,
        hosts: frozenset[str] | None = None,
        **more: Any,
    ) -> Inside:
        made = Inside(tmp_path, limits or Limits(), tokens or Tokens({}), hosts, **more).start()
        started.append(made)
        return made

    yield begin
    for each in started:
        each.stop()


@pytest.fixture
def service(start: Start) -> Inside:
    """A service with usual limits and no tokens."""
    return start()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium, one per module."""
    from service.browser import chromium

    with chromium() as opened:
        yield opened


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visitor]:
    """Opens tabs, none of which may send a request to another origin."""
    from service.browser import Visit

    made: list[Visit] = []

    def begin(url: str, **context: Any) -> Visit:
        made.append(Visit(browser, url, **context))
        return made[-1]

    yield begin
    for tab in made:
        assert tab.foreign_requests() == []
        tab.close()
