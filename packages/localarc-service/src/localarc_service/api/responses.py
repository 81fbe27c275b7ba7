"""Responses: a status, headers and a body, each with the headers that every response has."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import msgspec
from starlette.responses import StreamingResponse
from starlette.types import Send

from localarc_client.wire.infinite import as_text
from localarc_service.errors import ApiError

PROBLEM = "application/problem+json"
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
RAW_SECURITY_HEADERS = [
    (name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()
]
RawHeaders = list[tuple[bytes, bytes]]
encode = msgspec.json.Encoder(enc_hook=as_text).encode


class Response(NamedTuple):
    """A complete response."""

    status: int
    body: bytes
    headers: RawHeaders

    async def send(self, send: Send) -> None:
        """Send it."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


def response(body: bytes, media_type: str, status: int = 200) -> Response:
    """A response of some media type."""
    return Response(
        status, body, [(b"content-length", b"%d" % len(body)), *_usual_headers(media_type)]
    )


def problem_response(error: ApiError, request_id: str | None = None) -> Response:
    """An error as JSON."""
    made = response(encode(error.problem(request_id)), PROBLEM, error.status)
    if error.status == 401:
        made.headers.append((b"www-authenticate", b"Bearer"))
    if error.retry_after is not None:
        made.headers.append((b"retry-after", b"%d" % error.retry_after))
    return made


def raw_headers(response: Response | StreamingResponse) -> RawHeaders:
    """The headers of a response, to be extended."""
    return response.headers if isinstance(response, Response) else response.raw_headers


@cache
def _usual_headers(media_type: str) -> RawHeaders:
    return [(b"content-type", media_type.encode()), *RAW_SECURITY_HEADERS]
