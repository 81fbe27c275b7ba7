"""The page's routes: a fixed list of files with a strict content security policy."""

from __future__ import annotations

import functools
import gzip
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
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
_MEDIA_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True)
class StaticFile:
    """One file, ready to be sent."""

    content: bytes
    compressed: bytes
    etag: str
    media_type: str


def routes() -> list[BaseRoute]:
    """The page at `/` and its files under `/page/`."""
    names = sorted(file.name for file in files(__package__).joinpath("static").iterdir())
    return [
        Route("/", _endpoint("index.html"), include_in_schema=False),
        *(
            Route(f"/page/{name}", _endpoint(name), include_in_schema=False)
            for name in names
            if name != "index.html"
        ),
    ]


def _endpoint(name: str) -> Callable[[Request], Response]:
    def send(request: Request) -> Response:  # not async: read and compressed off the event loop
        file = _read(name)
        headers = HEADERS | {"ETag": file.etag}
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers |= {"Content-Encoding": "gzip"}
            return Response(file.compressed, headers=headers, media_type=file.media_type)
        return Response(file.content, headers=headers, media_type=file.media_type)

    return send


@functools.cache
def _read(name: str) -> StaticFile:
    content = files(__package__).joinpath("static", name).read_bytes()
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return StaticFile(
        content, gzip.compress(content, 6), etag, _MEDIA_TYPES[name.rpartition(".")[2]]
    )
