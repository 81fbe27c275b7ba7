"""The built pages, checked: links and anchors lead somewhere, nothing is fetched from elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mkdocs.config.defaults import MkDocsConfig

log = logging.getLogger("mkdocs.hooks.links")
FETCHED = {
    ("script", "src"),
    ("img", "src"),
    ("source", "src"),
    ("iframe", "src"),
    ("link", "href"),
}


class PageLinks(HTMLParser):
    """The anchors of a page, what it links to, and what it fetches."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors = {"", "__top"}
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect from one element."""
        for name, value in attrs:
            if name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value or "")
            elif (tag, name) in FETCHED:
                self.fetched.add(value or "")
            elif (tag, name) == ("a", "href"):
                self.links.add(value or "")


def on_post_build(*, config: MkDocsConfig) -> None:
    """Warn of every broken link; warnings end the build."""
    for problem in problems(Path(config.site_dir)):
        log.warning(problem)


def problems(site: Path) -> Iterator[str]:
    """One sentence for every link that leads nowhere, and for every resource of another host."""
    pages = {path: PageLinks(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in sorted(page.fetched):
            if urlsplit(address).scheme not in ("", "data") or address.startswith("//"):
                yield f"{name} fetches {address}: bundle it in docs/site/theme"
        for address in sorted(page.links | page.fetched):
            if reason := _broken(address, path, pages):
                yield f"{name} links to {address}: {reason}"


def _broken(address: str, path: Path, pages: dict[Path, PageLinks]) -> str | None:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    if parts.path.startswith("/"):
        return "an absolute path does not work from a folder"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return "no such file"
    known = pages[target].anchors if target in pages else {""}
    return None if unquote(parts.fragment) in known else "no such anchor"
