"""A shorter way for small requests of streams that another worker owns.

They are read from the client's connection and given to the owner as they are; the response is
written as it comes. No application runs here: that halves what a detour costs. If such requests
follow each other, the connection moves to the owner.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from localarc_client.wire.workers import owner_of
from localarc_service.api.request_ids import HEADER, request_id
from localarc_service.api.responses import problem_response
from localarc_service.connections import Connections
from localarc_service.errors import ApiError
from localarc_service.protocol import Connection
from localarc_service.workers.channel import Answer, Ask, Headers, Peer
from localarc_service.workers.handover import IN_A_ROW, Handover

SMALL_BODY = 2**16  # bytes that are received before anything is known about the client
_METHODS = b"POST", b"PUT"
_STREAMS = b"/v1/streams/"
_NOT_SIMPLE = re.compile(rb"[^A-Za-z0-9._~/-]")  # a query, or something that is quoted


@dataclass(frozen=True)
class Neighbours:
    """The other workers, as connections see them, and the application of this one's streams."""

    index: int
    peers: Mapping[int, Peer]
    own: ASGIApp
    handover: Handover

    def owner_of(self, url: bytes) -> int | None:
        """The worker with the stream of a request; None if it takes more than a look to tell."""
        if not url.startswith(_STREAMS):
            return None
        stop = url.find(b"/", len(_STREAMS))
        return None if stop < 0 else _owner_of(url[len(_STREAMS) : stop], len(self.peers) + 1)


@lru_cache(maxsize=4096)
def _owner_of(segment: bytes, workers: int) -> int | None:
    return None if _NOT_SIMPLE.search(segment) else owner_of(segment.decode(), workers)


class WorkerConnection(Connection):
    """A connection of a client to one of several workers.

    An `adopted` one was accepted by another worker; one that `stays` is not handed over.
    """

    def __init__(
        self,
        neighbours: Neighbours,
        connections: Connections,
        adopted: bool = False,
        stays: bool = False,
        **parts: Any,
    ) -> None:
        super().__init__(connections, **parts)
        self._neighbours = neighbours
        self._every_stream = self.app
        self._adopted = adopted
        self._stays = stays
        self._elsewhere: Peer | None = None  # where the latest requests went
        self._in_a_row = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit the connection; one that had requests before waits for the next."""
        super().connection_made(transport)
        if self._adopted and not transport.is_closing():
            self._complete = True
            self.wait_for_request()

    def begin(self) -> None:
        """Pass the request on, if that is all there is to do with it."""
        here = self._neighbours
        owner = here.owner_of(self.url)
        peer = None
        if owner == here.index:
            self.app = here.own  # straight to it
        else:
            self.app = self._every_stream
            if owner is not None and self._is_simple():
                peer = here.peers[owner]
        self._in_a_row = self._in_a_row + 1 if peer is self._elsewhere else 1
        self._elsewhere = peer
        if peer is None:
            super().begin()
        else:
            self._pass_on(peer)

    def _pass_on(self, peer: Peer) -> None:
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
            and not _NOT_SIMPLE.search(self.url)
        )

    def respond(self, found: Answer, keep_alive: bool) -> None:
        """Write a response."""
        lines = [STATUS_LINE[found.status]]
        for name, value in (*self.server_state.default_headers, *found.headers):
            lines += name, b": ", value, b"\r\n"
        if not keep_alive:
            lines.append(b"connection: close\r\n")
        self.transport.write(b"".join([*lines, b"\r\n", found.body]))

    def move(self) -> None:
        """Hand the connection to the worker that serves it, if its requests keep going there."""
        transport, peer = self.transport, self._elsewhere
        if peer is None or self._in_a_row < IN_A_ROW or self._stays or not self._is_idle():
            return
        transport.pause_reading()  # what arrives from now on is read by the other worker
        if self._neighbours.handover.give(transport.get_extra_info("socket").fileno(), peer.index):
            transport.abort()  # closes this process's descriptor alone
        else:
            transport.resume_reading()

    def _is_idle(self) -> bool:
        """Whether no byte of a request or of a response is in this process."""
        transport = self.transport
        return (
            self._complete
            and not transport.is_closing()
            and not (self.pipeline or self._responding() or transport.get_write_buffer_size())
        )


class Passage:
    """A request on its way to another worker and back, in the place of uvicorn's cycle.

    `set` is called when a part of the body has arrived, as on an event.
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
        """The object that is notified of parts of the body."""
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
        if isinstance(found, ApiError):
            connection.respond(_problem(found), self.keep_alive)
        else:
            connection.respond(found, self.keep_alive)
        if not self.keep_alive:
            connection.transport.close()
        connection.on_response_complete()
        if not isinstance(found, ApiError):  # which can come while the parser is at work
            connection.move()


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
