"""One connection: uvicorn's HTTP/1.1, with limits and deadlines for what the client owes.

A client owes a request until the last byte of its body has arrived, from the moment it connects or
the previous response is complete. Deadlines are checked twice per second, without timers.

A client that sends requests without waiting for responses is not read from while two or more of
them wait for their turn: what it sends meanwhile stays in the kernel's buffers, and then with it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import msgspec
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from localarc_service.api.request_ids import request_id
from localarc_service.connections import Connections, Peer
from localarc_service.errors import ApiError

_LINGER_SECONDS = 2.0  # for a rejected client to read the response
_LINGER_BYTES = 2**20
_MOST_WAITING = 16  # requests of one connection that wait for the responses to earlier ones
_FEW_WAITING = 1  # at most, for more to be read
_TOO_MANY = ApiError(
    429, "the service has too many connections, or too many from this address.", retry_after=1
)
_TOO_MANY_WAITING = ApiError(
    429,
    f"a connection may have {_MOST_WAITING} requests waiting for the responses to earlier ones: "
    "read these first, then send the others again.",
    retry_after=1,
)


class RejectedError(Exception):
    """The request has been rejected: the parser must stop."""


class Flow(FlowControl):
    """Reads from the client only while it may send: uvicorn resumes after every response."""

    def __init__(self, transport: asyncio.Transport, may_read: Callable[[], bool]) -> None:
        super().__init__(transport)
        self._may_read = may_read

    def resume_reading(self) -> None:
        """Read again, if more is wanted."""
        if self._may_read():
            super().resume_reading()


class Connection(HttpToolsProtocol):
    """A connection that is closed when its client exceeds a limit."""

    def __init__(self, connections: Connections, **parts: Any) -> None:
        super().__init__(**parts)
        self.deadline = math.inf
        self._connections = connections
        self._limits = connections.limits
        self._peer: Peer | None = None
        self._owed_bytes = 0  # received since the last complete request, or part of a body
        self._in_head = True
        self._complete = False  # the latest request has arrived
        self._rejected = False
        self._answering: RequestResponseCycle | None = None  # the others wait in the pipeline
        self._rejection: ApiError | None = None  # to be sent after the responses that are due

    # ---- what the client owes ----------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit the connection, or reject it."""
        super().connection_made(transport)
        self.flow = Flow(transport, self._may_read)
        host = self.client[0] if self.client else ""
        self._peer = self._connections.admit(self, host)
        self.deadline = self.loop.time() + self._limits.head_seconds
        if self._peer is None:
            self._rejected = True
            transport.write(_response(_TOO_MANY))
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._peer is not None:
            self._connections.remove(self, self._peer)
        self.pipeline.clear()
        super().connection_lost(exc)
        if self._answering is not None:  # uvicorn tells the latest request alone
            self._answering.disconnected = True
            self._answering.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, unless it is too much."""
        self._owed_bytes += len(data)
        if self._rejected:
            if self._owed_bytes > _LINGER_BYTES:
                self.transport.abort()
            return
        super().data_received(data)
        if self._owed_bytes > self._limits.head_bytes and not self._rejected:
            self._reject(self._too_large())

    def on_message_begin(self) -> None:
        """The first byte of a request: from now on, its head has a deadline."""
        super().on_message_begin()
        self._in_head, self._complete = True, False
        self.deadline = min(self.deadline, self.loop.time() + self._limits.head_seconds)

    def on_headers_complete(self) -> None:
        """The head has arrived: start the request, unless the head is too large."""
        limits = self._limits
        if len(self.headers) > limits.head_fields or self._head_bytes() > limits.head_bytes:
            self._reject(self._too_large())
            raise RejectedError
        if len(self.pipeline) >= _MOST_WAITING:
            self._reject(_TOO_MANY_WAITING)
            raise RejectedError
        self._in_head = False
        self.deadline = self.loop.time() + limits.body_seconds
        self.begin()

    def begin(self) -> None:
        """Start the request, or let it wait while an earlier one is answered."""
        waiting = len(self.pipeline)
        super().on_headers_complete()
        if len(self.pipeline) == waiting:
            self._answering = self.cycle

    def on_body(self, body: bytes) -> None:
        """A part of the body has arrived; it has a limit of its own."""
        super().on_body(body)
        self._owed_bytes = 0

    def on_message_complete(self) -> None:
        """The request has arrived: the client owes nothing."""
        super().on_message_complete()
        self._in_head = self._complete = True
        self._owed_bytes = 0
        self.deadline = math.inf
        if self._peer is not None:
            self._peer.new.pop(self, None)
            self._peer.idle.pop(self, None)

    def on_response_complete(self) -> None:
        """The client owes the next request, or the rest of this one."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        following = self.pipeline.pop() if self.pipeline else None
        self.flow.resume_reading()
        if following is not None:
            self._start(*following)
        elif self._rejection is not None:
            self._refuse(self._rejection)
        elif not self._complete:
            self.deadline = min(self.deadline, self.loop.time() + self._limits.head_seconds)
        else:
            self.wait_for_request()

    def _start(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Start a request that waited."""
        self._answering = cycle
        task = self.loop.create_task(cycle.run_asgi(app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def wait_for_request(self) -> None:
        """The client owes the next request, after one that was complete."""
        if self._peer is not None:
            self.deadline = self.loop.time() + self._limits.idle_seconds
            self._peer.new.pop(self, None)
            self._peer.idle[self] = None

    def _may_read(self) -> bool:
        return len(self.pipeline) <= _FEW_WAITING and self._rejection is None

    # ---- what the client does not read -------------------------------------------------------

    def pause_writing(self) -> None:
        """The client reads too slowly: it gets some time to go on."""
        super().pause_writing()
        self.deadline = min(self.deadline, self.loop.time() + self._limits.reading_seconds)

    def resume_writing(self) -> None:
        """The client reads again."""
        super().resume_writing()
        if self._complete and self._responding():
            self.deadline = math.inf

    # ---- the end -----------------------------------------------------------------------------

    def expire(self) -> None:
        """Close the connection, with a reason if a request has begun."""
        if self._rejected or self.flow.write_paused:
            self.transport.abort()
        elif self._in_head and self._owed_bytes:
            self._reject(_too_late("head", self._limits.head_seconds))
        elif not self._in_head and not self.cycle.response_started:
            self._reject(_too_late("body", self._limits.body_seconds))
        else:
            self.evict()

    def evict(self) -> None:
        """Close the connection without a word."""
        self.deadline = math.inf
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Reject what is not HTTP."""
        if not self._rejected:
            self._reject(ApiError(400, "the request is not valid HTTP/1.1."))

    def _too_large(self) -> ApiError:
        limits = self._limits
        return ApiError(
            431,
            f"the head of a request must have at most {limits.head_bytes} bytes and "
            f"{limits.head_fields} fields.",
        )

    def _head_bytes(self) -> int:
        if self._owed_bytes <= self._limits.head_bytes:
            return self._owed_bytes
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _reject(self, error: ApiError) -> None:
        """Respond when it is this request's turn, and read nothing more until then."""
        self._rejected = True
        self._owed_bytes = 0
        if self._in_head and self._responding():  # to earlier requests, which were complete
            self._rejection, self._complete, self.deadline = error, True, math.inf
            self.flow.pause_reading()
        elif self.pipeline or (self._responding() and self.cycle.response_started):
            self.deadline = self.loop.time() + _LINGER_SECONDS
            self.transport.close()  # another response is under way
        else:
            self._refuse(error)

    def _refuse(self, error: ApiError) -> None:
        """Respond, and close once the client has had time to read the response."""
        self._rejection = None
        self.flow.resume_reading()
        self.deadline = self.loop.time() + _LINGER_SECONDS
        self.transport.write(_response(error))
        self.transport.write_eof()
        if self._responding():
            self.cycle.disconnected = True  # its request will not arrive
            self.cycle.message_event.set()

    def _responding(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete


def _too_late(part: str, seconds: float) -> ApiError:
    return ApiError(408, f"the {part} must arrive within {seconds:g} s: try again.")


def _response(error: ApiError) -> bytes:
    key = request_id(None)
    body = msgspec.json.encode(error.problem(key))
    lines = [
        b"content-type: application/problem+json",
        b"content-length: %d" % len(body),
        b"cache-control: no-store",
        b"connection: close",
        b"x-request-id: %s" % key.encode(),
    ]
    if error.retry_after is not None:
        lines.append(b"retry-after: %d" % error.retry_after)
    return STATUS_LINE[error.status] + b"\r\n".join([*lines, b"", body])
