"""Services for tests, ended when the test ends."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from localarc_service.api.auth import Tokens
from localarc_service.limits import Limits
from localarc_service.storage.interface import Store
from localarc_service.storage.opening import open_store
from service.postgres_server import Postgres
from service.service_in_thread import Inside

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from localarc_service.storage.postgres.connection import Address
    from service.browser import Visit

Open = Callable[[], contextlib.AbstractContextManager[Store]]
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


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server, the same for all tests that do not kill it."""
    with Postgres() as server:
        yield server


@pytest.fixture(scope="session")
def loops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of services on a database: compiled loops, and nothing else."""
    return tmp_path_factory.mktemp("services") / "loops"


_numbers = itertools.count(1)


@pytest.fixture
def address(postgres: Postgres) -> Address:
    """A schema of its own for each test."""
    from localarc_service.storage.postgres.connection import Address

    return Address(postgres.url, f"test_{next(_numbers)}")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.service)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Where a store is, of either kind: what holds for one holds for the other."""
    return tmp_path if request.param == "sqlite" else request.getfixturevalue("address")


@pytest.fixture
def opened(place: Any) -> Open:
    """Opens the store of the test, as its owner."""

    @contextlib.contextmanager
    def begin() -> Iterator[Store]:
        with contextlib.closing(open_store(place)) as store:
            assert store.acquire()
            yield store

    return begin


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
