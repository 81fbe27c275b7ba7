"""Requests and responses between workers: frames over a Unix socket, many at a time.

Each frame has its length in front. Frames that are written in one turn of the event loop leave in
one system call. A streamed response is sent part by part, each when the other side asks for it.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

import msgspec
from starlette.types import ASGIApp, Message

from localarc_service.errors import ApiError

_RECONNECT_SECONDS = 0.05
RETRY_AFTER = 1  # seconds
Headers: TypeAlias = list[tuple[bytes, bytes]]


class Ask(msgspec.Struct, array_like=True, tag=0):
    """A request, numbered when it is sent.

    With `part`, it asks for this worker's part of a response that all workers make together.
    """

    number: int
    part: bool
    method: str
    path: str
    query: bytes
    headers: Headers
    client: tuple[str, int] | None
    body: bytes


class Answer(msgspec.Struct, array_like=True, tag=1):
    """A response, or the next part of it; `more` parts can be asked for."""

    number: int
    status: int
    headers: Headers
    body: bytes
    more: bool = False


class More(msgspec.Struct, array_like=True, tag=2):
    """Asks for the next part of a response."""

    number: int


class Cancel(msgspec.Struct, array_like=True, tag=3):
    """No more parts are wanted."""

    number: int


Settle: TypeAlias = Callable[[Answer | ApiError], None]
Frame: TypeAlias = Ask | Answer | More | Cancel
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Frame).decode


class Channel(asyncio.Protocol):
    """One end of a connection between two workers."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.Transport, transport)

    def send(self, frame: Frame) -> None:
        """Send a frame; one for a connection that is lost is dropped."""
        if self._transport is not None:
            data = _encode(frame)
            self._transport.write(len(data).to_bytes(4, "big") + data)

    def data_received(self, data: bytes) -> None:
        """Pass on all frames that are complete."""
        buffer, start = self._buffer, 0
        buffer += data
        while len(buffer) >= start + 4:
            stop = start + 4 + int.from_bytes(buffer[start : start + 4], "big")
            if len(buffer) < stop:
                break
            self.received(_decode(buffer[start + 4 : stop]))
            start = stop
        del buffer[:start]

    def received(self, frame: Frame) -> None:
        """Work on a frame."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()


# ---- asking ----------------------------------------------------------------------------------


class Asking(Channel):
    """The end that asks: responses find the requests that wait for them."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[int, Settle] = {}
        self.lost = asyncio.Event()

    def ask(self, frame: Ask | More, settle: Settle) -> None:
        """Ask for a response, or for the next part of it; `settle` is given the outcome."""
        self._waiting[frame.number] = settle
        self.send(frame)

    def cancel(self, number: int) -> None:
        """Stop a response."""
        self._waiting.pop(number, None)
        self.send(Cancel(number))

    def received(self, frame: Frame) -> None:
        """Pass a response to the request that waits for it."""
        assert isinstance(frame, Answer)
        settle = self._waiting.pop(frame.number, None)
        if settle is not None:
            settle(frame)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail pending requests: whether they were done is unknown."""
        self._transport = None
        waiting, self._waiting = self._waiting, {}
        for settle in waiting.values():
            settle(_unknown())
        self.lost.set()


class Peer:
    """Another worker, as seen from this one; connected whenever it runs."""

    def __init__(self, index: int, path: Path) -> None:
        self.index = index
        self._path = path
        self._channel: Asking | None = None
        self._numbers = itertools.count()
        self._closed = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Connect, now and after each loss."""
        self._task = asyncio.create_task(self._connect())

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                _, channel = await loop.create_unix_connection(Asking, str(self._path))
            except OSError:
                await asyncio.sleep(_RECONNECT_SECONDS)
                continue
            self._channel = channel
            await channel.lost.wait()
            self._channel = None

    def request(self, scope: Any, body: bytes, part: bool = False) -> Ask:
        """A request of a client as a frame."""
        return Ask(
            0,
            part,
            scope["method"],
            scope["path"],
            scope["query_string"],
            scope["headers"],
            scope.get("client"),
            body,
        )

    async def ask(self, frame: Ask | More) -> Answer:
        """The response to a request; raises 503 if the worker does not run."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.send(frame, partial(_settle, future))
        return await future

    def send(self, frame: Ask | More, settle: Settle) -> None:
        """Send a request; `settle` is given the outcome. Raises 503 if the worker does not run."""
        if self._channel is None:
            raise _unavailable()
        if isinstance(frame, Ask):
            frame.number = next(self._numbers)
        self._channel.ask(frame, settle)

    def cancel(self, number: int) -> None:
        """Stop a response."""
        if self._channel is not None:
            self._channel.cancel(number)

    def close(self) -> None:
        """Ask nothing more."""
        if self._task is not None:
            self._task.cancel()
        if self._channel is not None:
            self._channel.close()


def _settle(future: asyncio.Future[Answer], outcome: Answer | ApiError) -> None:
    if future.done():
        return  # no caller waits
    if isinstance(outcome, ApiError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _unavailable() -> ApiError:
    """A request that was not sent."""
    reason = "the worker that owns this stream is starting: try again."
    return ApiError(503, reason, retry_after=RETRY_AFTER)


def _unknown() -> ApiError:
    """The error for a request whose outcome is unknown."""
    reason = (
        "the worker that owns this stream stopped before it responded, so that the outcome is "
        "unknown: repeat the request."
    )
    return ApiError(502, reason, retry_after=RETRY_AFTER)


# ---- answering -------------------------------------------------------------------------------


class Answering(Channel):
    """The end that answers: each request is given to an ASGI application."""

    def __init__(
        self, app_for: Callable[[bool], ASGIApp], tasks: set[Any], open_ends: set[Channel]
    ) -> None:
        super().__init__()
        self._app_for = app_for
        self._tasks = tasks  # what a shutdown waits for
        self._open_ends = open_ends
        self._exchanges: dict[int, Exchange] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection."""
        super().connection_made(transport)
        self._open_ends.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all responses: the worker that asked is gone."""
        self._transport = None
        self._open_ends.discard(self)
        for exchange in self._exchanges.values():
            exchange.stop()

    def received(self, frame: Frame) -> None:
        """Begin a response, or continue or stop one."""
        if isinstance(frame, Ask):
            exchange = self._exchanges[frame.number] = Exchange(frame, self.send)
            task = asyncio.create_task(self._run(exchange))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif (found := self._exchanges.get(frame.number)) is not None:
            found.proceed() if isinstance(frame, More) else found.stop()

    async def _run(self, exchange: Exchange) -> None:
        try:
            await exchange.run(self._app_for(exchange.ask.part))
        finally:
            del self._exchanges[exchange.ask.number]


class Exchange:
    """One request for an ASGI application, and its response as frames."""

    def __init__(self, ask: Ask, respond: Callable[[Answer], None]) -> None:
        self.ask = ask
        self._respond = respond
        self._status, self._headers = 500, Headers()
        self._body: bytes | None = ask.body  # until it is received
        self._asked = True
        self._changed: asyncio.Event | None = None  # made for streamed responses only
        self._stopped = False

    async def run(self, app: ASGIApp) -> None:
        """Run the application."""
        ask = self.ask
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": ask.method,
            "scheme": "http",
            "path": ask.path,
            "raw_path": ask.path.encode(),
            "query_string": ask.query,
            "root_path": "",
            "headers": ask.headers,
            "client": ask.client,
            "server": None,
            "state": {},
        }
        await app(scope, self._receive, self._send)

    def proceed(self) -> None:
        """The next part is wanted."""
        self._asked = True
        self._wake()

    def stop(self) -> None:
        """The rest is no longer wanted."""
        self._stopped = True
        self._wake()

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()

    async def _wait(self, until: Callable[[], bool]) -> None:
        self._changed = self._changed or asyncio.Event()
        while not until():
            self._changed.clear()
            await self._changed.wait()

    async def _receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._wait(lambda: self._stopped)
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status, self._headers = message["status"], list(message["headers"])
            return
        more = message.get("more_body", False)
        if not self._asked:
            await self._wait(lambda: self._asked or self._stopped)
        if not self._stopped:
            self._asked = False
            body = message.get("body", b"")
            self._respond(Answer(self.ask.number, self._status, self._headers, body, more))


async def answer(app: ASGIApp, ask: Ask) -> Answer:
    """The response of an application of this process, which must not be streamed."""
    found: list[Answer] = []
    await Exchange(ask, found.append).run(app)
    return found[0]
