"""The pictures in the documentation show the current page, at a quarter past three in the morning.

`LOCALARC_PICTURES=docs/service` writes them there; otherwise they go to a temporary folder.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from localarc_client import Client
from localarc_service.api.auth import Tokens
from localarc_service.limits import Limits
from service.browser import PHONE, TIMEOUT, Visit
from service.forecaster import Traffic
from service.service_in_thread import Inside

from playwright.sync_api import Browser, Page, expect  # isort: skip (playwright may be absent)

pytestmark = pytest.mark.service
expect.set_options(timeout=TIMEOUT)

NOW = datetime(2026, 3, 4, 3, 15, tzinfo=UTC).timestamp()
MINUTE, HOUR = 60.0, 3600.0
NAMES = {"feature_names": ["hour of the day", "temperature"]}
ONE_THRESHOLD = {"method": "arc", "kernel": None, "clip": None, "initial_threshold": 1.6} | NAMES


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A night's service: a group of two streams gets worse, a stream stops, the others are fine."""
    folder = tmp_path_factory.mktemp("pictures")
    service = Inside(folder, Limits(), Tokens({}), now=NOW - 12 * HOUR).start()
    address = f"http://127.0.0.1:{service.port}"
    with Client(address) as client:
        for seed, name in enumerate(("demand-north", "demand-south", "returns-berlin"), 3):
            traffic = Traffic(client, name, pending=8, seed=seed)
            traffic.create(timeout=24 * HOUR, **NAMES)
            run(service, traffic, 900, 11 * HOUR, NOW - MINUTE)
        silent = Traffic(client, "fraud-scores", pending=4, seed=5)
        silent.create(**ONE_THRESHOLD)
        run(service, silent, 300, 4 * HOUR, NOW - 3 * HOUR)
        for name, before, after, worse in (
            ("parcel-weights", 700, 300, 8.0),
            ("shelf-space", 900, 200, 3.0),
        ):
            changed = Traffic(client, name, pending=4, seed=7)
            changed.create(window=200, **ONE_THRESHOLD)
            changed.spread |= {"harbour": 3.0, "hills": 1.2, "old town": 0.8}  # equally hard
            run(service, changed, before, 9 * HOUR, NOW - 2 * HOUR)
            changed.spread["old town"] = worse  # the scales there were replaced
            run(service, changed, after, 2 * HOUR - MINUTE, NOW - MINUTE)
        service.clock.now = NOW
        expect_statuses(
            client,
            {"parcel-weights": "broken", "shelf-space": "drifting", "fraud-scores": "stale"},
        )
    yield address
    service.stop()


def run(service: Inside, traffic: Traffic, rounds: int, seconds: float, end: float) -> None:
    """Rounds that are spread evenly over a time."""
    for t in range(0, rounds, 5):
        service.clock.now = end - seconds * (1 - (t + 5) / rounds)
        traffic.rounds(5)


def expect_statuses(client: Client, expected: dict[str, str]) -> None:
    found = {item.stream: item.health.status for item in client.streams()}
    assert {name: state for name, state in found.items() if state != "ok"} == expected


def open_page(browser: Browser, url: str, view: str = "", **context: Any) -> Page:
    visit = Visit(browser, url, timezone_id="UTC", **context)
    visit.page.clock.set_fixed_time(datetime.fromtimestamp(NOW, UTC))
    page = visit.open(view)
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    if view:
        expect(page.locator("#recent-chart > svg")).to_be_visible()
        expect(page.locator("#events li:not([data-tone])").first).to_be_visible()
    else:
        expect(page.locator("#streams li")).to_have_count(6)
    return page


def save_picture(page: Page, name: str, folder: Path) -> None:
    """Save a screenshot as a small PNG."""
    path = folder / f"{name}.png"
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(path, optimize=True)
    assert 5_000 < path.stat().st_size < 400_000


def test_the_documentation_pictures_can_be_made(browser: Browser, url: str, tmp_path: Path) -> None:
    folder = Path(os.environ.get("LOCALARC_PICTURES", tmp_path))
    save_picture(
        open_page(browser, url, viewport={"width": 1100, "height": 620}), "overview", folder
    )
    tall = {"viewport": {"width": 1200, "height": 1800}}
    save_picture(open_page(browser, url, "parcel-weights", **tall), "stream", folder)
    dark = {"color_scheme": "dark"}
    save_picture(open_page(browser, url, "parcel-weights?group=old+town", **dark), "dark", folder)
    phone = {"viewport": PHONE, "is_mobile": True, "has_touch": True}
    save_picture(open_page(browser, url, "parcel-weights", **phone), "phone", folder)


def test_a_map_has_the_names_of_the_features(browser: Browser, url: str) -> None:
    page = open_page(browser, url, "demand-north")
    page.locator("#map-chart").scroll_into_view_if_needed()  # it is read when it is seen
    expect(page.locator("#map-chart .cells rect").first).to_be_visible()
    expect(page.locator("#map-chart .x-title")).to_have_text("hour of the day")
