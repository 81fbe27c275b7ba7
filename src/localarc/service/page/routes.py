"""The page's routes: a fixed list of files, each with a strict policy; nothing is looked up."""

from __future__ import annotations

import functools
import gzip
import hashlib
from dataclasses import dataclass
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localarc.service.page import plotly_script

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' '{plotly_script.EMPTY_STYLE}'",
        "connect-src 'self'",
        "img-src 'self' data:",  # the heat map is drawn as one
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_PLACEHOLDER = "<!-- placeholders for the styles of parts of Plotly that the page does not use -->"


@dataclass(frozen=True)
class Page:
    """One file, ready to be sent."""

    content: bytes
    compressed: bytes
    tag: str
    media_type: str


def routes() -> list[BaseRoute]:
    """The page at `/` and its files under `/page/`."""
    plotly_script.script_path()  # says now, not at the first visit, how to install it
    names = sorted(each.name for each in files(__package__).joinpath("static").iterdir())
    parts = [name for name in names if name != "index.html"]
    return [
        Route("/", _endpoint("index.html"), include_in_schema=False),
        *(Route(f"/page/{name}", _endpoint(name), include_in_schema=False) for name in parts),
        Route("/page/plotly.min.js", _endpoint("plotly.min.js"), include_in_schema=False),
    ]


def _endpoint(name: str):  # type: ignore[no-untyped-def]
    def send(request: Request) -> Response:  # not async: read and compressed off the event loop
        page = _page(name)
        headers = HEADERS | {"ETag": page.tag}
        if request.headers.get("if-none-match") == page.tag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers |= {"Content-Encoding": "gzip"}
            return Response(page.compressed, headers=headers, media_type=page.media_type)
        return Response(page.content, headers=headers, media_type=page.media_type)

    return send


@functools.cache
def _page(name: str) -> Page:
    content = _content(name)
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return Page(content, gzip.compress(content, 6), tag, _TYPES[name.rpartition(".")[2]])


def _content(name: str) -> bytes:
    if name == "plotly.min.js":
        return plotly_script.script()
    text = files(__package__).joinpath("static", name).read_text(encoding="utf-8")
    present = "".join(f'<i hidden id="{each}"></i>' for each in plotly_script.refused_styles())
    return text.replace(_PLACEHOLDER, present).encode()
