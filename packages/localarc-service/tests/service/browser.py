"""The page in Chromium, with a record of its console messages and its requests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from service.requirements import missing, need

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
TIMEOUT = 60_000.0  # milliseconds, for machines that are busy with something else
DESKTOP = {"width": 1200, "height": 900}
PHONE = {"width": 390, "height": 844}


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, without a window."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS])
        yield browser
        browser.close()


class Visit:
    """One browser tab on a service's page."""

    def __init__(self, browser: Browser, url: str, **context: Any) -> None:
        self._context = browser.new_context(**{"viewport": DESKTOP, **context})
        self._context.set_default_timeout(TIMEOUT)
        self.url = url
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page: Page = self._context.new_page()
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", self._on_request)

    def open(self, stream: str = "") -> Page:
        self.page.goto(f"{self.url}/{f'#{stream}' if stream else ''}")
        return self.page

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.messages.append(message.text)

    def _on_request(self, request: Request) -> None:
        self.requests.append(request.url)

    def foreign_requests(self) -> list[str]:
        """Requests that went to another origin."""
        return [url for url in self.requests if not url.startswith(f"{self.url}/")]

    def unexpected(self, *expected: str) -> list[str]:
        """Errors and warnings in the console, except those that contain one of these texts."""
        return [text for text in self.messages if not any(part in text for part in expected)]

    def close(self) -> None:
        self._context.close()
