"""The site in Chromium, opened from its folder, without a network."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

PAGES = (
    "index",
    "guarantees",
    "models",
    "compare",
    "CHANGELOG",
    "experiments/index",
    "reference/localarc",
)


class Visit:
    """One tab, with a record of what it asked for and what it complained about."""

    def __init__(self, browser: Any, **context: Any) -> None:
        self.context = browser.new_context(offline=True, **context)
        self.page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _on_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


@pytest.fixture
def visit(chromium: Any) -> Iterator[Visit]:
    tab = Visit(chromium)
    yield tab
    tab.context.close()


def test_nothing_is_fetched_from_elsewhere_and_nothing_fails(visit: Visit, site: Path) -> None:
    for name in PAGES:
        visit.page.goto(f"{site.as_uri()}/{name}.html")
        visit.page.wait_for_selector(".version-menu")
    assert len(visit.requests) > len(PAGES)
    assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []
    assert visit.complaints == []


def test_search_finds_a_class_and_leads_to_it(visit: Visit, site: Path) -> None:
    visit.page.goto(f"{site.as_uri()}/index.html")
    visit.page.keyboard.press("f")
    visit.page.locator(".md-search__input").press_sequentially("LabelSets")
    found = visit.page.locator(".md-search-result__item a[href*='localarc.LabelSets']").first
    found.wait_for()
    found.click()
    visit.page.wait_for_url("**/reference/localarc.html*")
    assert visit.page.locator('[id="localarc.LabelSets"]').is_visible()
    assert visit.complaints == []


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_page_follows_the_readers_colour_scheme(
    chromium: Any, site: Path, scheme: str, dark: bool
) -> None:
    tab = Visit(chromium, color_scheme=scheme)
    tab.page.goto(f"{site.as_uri()}/index.html")
    shown = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in shown.strip("rgb()").split(",")[:3])
    assert (brightness < 3 * 128) is dark
    tab.page.locator("label[title^='Switch to']:visible").click()
    other = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert other != shown
    tab.context.close()


def test_the_first_page_leads_to_the_version_and_the_menu_shows_it(
    visit: Visit, site: Path
) -> None:
    visit.page.goto(f"{site.parent.as_uri()}/index.html")
    visit.page.wait_for_url(f"**/{site.name}/index.html")
    assert visit.page.locator(".version-menu").input_value() == site.name


def test_the_menu_leads_to_another_version(
    visit: Visit, site: Path, hook: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    for version in ("0.9.0", "0.10.0"):
        shutil.copytree(site, tmp_path / version)
    hook("versions").on_post_build(config=SimpleNamespace(site_dir=str(tmp_path / "0.10.0")))
    visit.page.goto(f"{(tmp_path / '0.10.0').as_uri()}/scale/spark.html")
    assert visit.page.locator(".version-menu").input_value() == "0.10.0"
    visit.page.locator(".version-menu").select_option("0.9.0")
    visit.page.wait_for_url("**/0.9.0/index.html")
    assert visit.page.locator(".version-menu").input_value() == "0.9.0"
    assert visit.complaints == []


def test_every_picture_of_the_front_page_is_shown(visit: Visit, site: Path) -> None:
    visit.page.goto(f"{site.as_uri()}/index.html")
    widths = visit.page.eval_on_selector_all("article img", "all => all.map(i => i.naturalWidth)")
    assert len(widths) >= 1
    assert all(width > 0 for width in widths)
