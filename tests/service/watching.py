"""Chromium on the page, with an ear for complaints and an eye on where requests go."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from service.needed import missing, need

need("playwright")
from playwright.sync_api import (  # noqa: E402
    Browser,
    ConsoleMessage,
    Page,
    Request,
    sync_playwright,
)

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
PATIENCE = 60_000.0  # milliseconds, for machines that are busy with something else
DESK = {"width": 1200, "height": 900}
PHONE = {"width": 390, "height": 844}


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, without a window."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("Chromium is not here: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS])
        yield browser
        browser.close()


class Visit:
    """One visitor's page at a service; at the end nothing may have gone wrong unnoticed."""

    def __init__(self, browser: Browser, url: str, **context: Any) -> None:
        self._context = browser.new_context(**{"viewport": DESK, **context})
        self._context.set_default_timeout(PATIENCE)
        self.url = url
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page: Page = self._context.new_page()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._asked)

    def open(self, stream: str = "") -> Page:
        self.page.goto(f"{self.url}/{f'#{stream}' if stream else ''}")
        return self.page

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _asked(self, request: Request) -> None:
        self.requests.append(request.url)

    def strangers(self) -> list[str]:
        """Requests that went to anybody but the service."""
        ours = (f"{self.url}/", "data:", "blob:")
        return [url for url in self.requests if not url.startswith(ours)]

    def unexpected(self, *expected: str) -> list[str]:
        """Complaints in the console, but for those that a test asked for."""
        return [text for text in self.complaints if not any(each in text for each in expected)]

    def close(self) -> None:
        self._context.close()
