"""The pictures in the documentation show the current page.

`LOCALARC_PICTURES=docs/service` writes them there; otherwise they go to a temporary folder.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from localarc.client import Client
from service.browser import PHONE, TIMEOUT, Visit, chromium
from service.running import Server
from service.traffic import Traffic

from playwright.sync_api import Browser, Page, expect  # isort: skip (playwright may be absent)

pytestmark = pytest.mark.service
expect.set_options(timeout=TIMEOUT)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with three streams that have some history."""
    with Server(tmp_path_factory.mktemp("pictures") / "data") as server:
        with Client(server.url) as client:
            for seed, (name, count) in enumerate(
                {"demand-north": 3000, "demand-south": 800}.items()
            ):
                traffic = Traffic(client, name, pending=8, seed=seed)
                traffic.create(timeout=3600.0)
                for t in range(0, count, 50):
                    traffic.pending = 12 + round(8 * math.sin(t / 300))
                    traffic.rounds(50)
            strict = Traffic(client, "parcel-weights", pending=4, seed=7)
            strict.create(method="arc", alpha=0.05, kernel=None, clip=None, initial_threshold=1.6)
            strict.rounds(1200)
        yield server.url


def open_page(browser: Browser, url: str, stream: str = "", **context: Any) -> Page:
    page = Visit(browser, url, **context).open(stream)
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    if stream:
        page.locator("#map-chart").scroll_into_view_if_needed()  # it is read when it is seen
        expect(page.locator("#map-chart .cells rect").first).to_be_visible()
        page.evaluate("scrollTo(0, 0)")
    else:
        expect(page.locator("#streams li")).to_have_count(3)
    return page


def save_picture(page: Page, name: str, folder: Path, **options: Any) -> None:
    """Save a screenshot as a small PNG."""
    path = folder / f"{name}.png"
    Image.open(io.BytesIO(page.screenshot(**options))).convert("RGB").save(path, optimize=True)
    assert 5_000 < path.stat().st_size < 400_000


def test_the_documentation_pictures_can_be_made(browser: Browser, url: str, tmp_path: Path) -> None:
    folder = Path(os.environ.get("LOCALARC_PICTURES", tmp_path))
    save_picture(
        open_page(browser, url, viewport={"width": 1100, "height": 350}), "overview", folder
    )
    save_picture(open_page(browser, url, "demand-north"), "stream", folder, full_page=True)
    dark = open_page(browser, url, "demand-north", color_scheme="dark")
    save_picture(dark, "dark", folder)
    phone = {"viewport": PHONE, "is_mobile": True, "has_touch": True}
    save_picture(open_page(browser, url, "demand-north", **phone), "phone", folder)
