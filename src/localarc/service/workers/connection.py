"""A shorter way for small requests of streams that another worker owns.

They are read from the client's connection and given to the owner as they are; the response is
written as it comes. No application runs here: that halves what a detour costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from localarc.service.api.errors import ApiError
from localarc.service.api.request_ids import HEADER, request_id
from localarc.service.api.responses import problem_response
from localarc.service.connections import Connections
from localarc.service.protocol import Connection
from localarc.service.workers.channel import Answer, Ask, Headers, Peer

Route: TypeAlias = Callable[[bytes], Peer | None]
"""The worker that owns the stream in a URL; None if it is this one, or there is no stream."""

SMALL_BODY = 2**16  # bytes that are received before anything is known about the client
_METHODS = b"POST", b"PUT"


class WorkerConnection(Connection):
    """A connection of a client to one of several workers."""

    def __init__(self, route: Route, connections: Connections, **parts: Any) -> None:
        super().__init__(connections, **parts)
        self._route = route

    def begin(self) -> None:
        """Pass the request on, if that is all there is to do with it."""
        peer = self._route(self.url) if self._is_simple() else None
        if peer is None:
            super().begin()
            return
        ask = Ask(
            0, False, self.parser.get_method().decode(), self.url.decode(), b"", self.headers,
            self.client, b"",
        )  # fmt: skip
        self.cycle = Passage(self, peer, ask)  # type: ignore[assignment]

    def _is_simple(self) -> bool:
        busy = self.cycle is not None and not self.cycle.response_complete
        parser = self.parser
        return (
            not (busy or self.expect_100_continue or parser.should_upgrade())
            and parser.get_method() in _METHODS
            and parser.get_http_version() == "1.1"
            and parser.should_keep_alive()
            and not is_large(self.headers)
        )

    def respond(self, found: Answer, keep_alive: bool) -> None:
        """Write a response."""
        lines = [STATUS_LINE[found.status]]
        for name, value in (*self.server_state.default_headers, *found.headers):
            lines += name, b": ", value, b"\r\n"
        if not keep_alive:
            lines.append(b"connection: close\r\n")
        self.transport.write(b"".join([*lines, b"\r\n", found.body]))


class Passage:
    """A request on its way to another worker and back, in the place of uvicorn's cycle.

    `set` is called when a part of the body has arrived, as that of an event.
    """

    def __init__(self, connection: WorkerConnection, peer: Peer, ask: Ask) -> None:
        self._connection = connection
        self._peer = peer
        self._ask = ask
        self._sent = False
        self.body = b""
        self.more_body = True
        self.response_started = self.response_complete = self.disconnected = False
        self.keep_alive = True

    @property
    def message_event(self) -> Passage:
        """What is told of parts of the body."""
        return self

    def set(self) -> None:
        """Send the request once it is complete."""
        if self.more_body or self._sent or self.disconnected:
            return
        self._sent = True
        self._ask.body = self.body
        try:
            self._peer.send(self._ask, self._respond)
        except ApiError as error:
            self._respond(error)

    def _respond(self, found: Answer | ApiError) -> None:
        self.response_started = self.response_complete = True
        connection = self._connection
        if self.disconnected or connection.transport.is_closing():
            return
        connection.respond(
            _problem(found) if isinstance(found, ApiError) else found, self.keep_alive
        )
        if not self.keep_alive:
            connection.transport.close()
        connection.on_response_complete()


def _problem(error: ApiError) -> Answer:
    key = request_id(None)
    made = problem_response(error, key)
    headers = [*made.headers, (HEADER.lower().encode(), key.encode())]
    return Answer(0, made.status, headers, made.body)


def is_large(headers: Headers) -> bool:
    """Whether a body may be larger than what is received from everyone."""
    for name, value in headers:
        if name == b"content-length":
            return int(value) > SMALL_BODY
        if name == b"transfer-encoding":
            return True
    return False
