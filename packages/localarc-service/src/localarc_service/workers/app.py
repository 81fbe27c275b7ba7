"""The application of one worker: a request is served here, by the owner of its stream, or by all.

What concerns one stream goes to its owner. The list, quarantine, readiness, metrics and batches are
put together from the parts of all workers. Everything else is the same in every worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localarc_client.wire.routes import STREAMS
from localarc_client.wire.workers import owner_of
from localarc_service.api import auth, stream_list
from localarc_service.api.endpoints import ENDPOINTS, Endpoint
from localarc_service.api.pipeline import Pipeline
from localarc_service.api.request import Request
from localarc_service.api.request_ids import HEADER, request_id
from localarc_service.api.responses import Response, problem_response
from localarc_service.app import Router, health_application
from localarc_service.app_state import AppState
from localarc_service.errors import ApiError
from localarc_service.workers import merging
from localarc_service.workers.channel import (
    Answer,
    Answering,
    Ask,
    Channel,
    More,
    Peer,
    answer,
)
from localarc_service.workers.connection import Neighbours, is_large
from localarc_service.workers.handover import Adopt, Handover

_REQUEST_ID = HEADER.lower().encode()
_STREAMS = "/v1/streams/"
_STOP_SECONDS = 20.0  # for other workers to finish their requests
_MERGED: dict[str, Callable[[Sequence[Answer]], Response]] = {
    "/v1/streams": merging.stream_list,
    "/v1/quarantine": merging.quarantine,
    "/readyz": merging.ready,
    "/metrics": merging.metrics,
}


def parts_application(app: AppState) -> ASGIApp:
    """This worker's parts of what all workers answer together; only other workers can ask."""
    rows = [each for each in ENDPOINTS if each.path in _MERGED and each.path != "/v1/streams"]
    rows += [each for each in ENDPOINTS if each.path == "/v1/batch"]
    listing = Endpoint(STREAMS, stream_list.part)
    return Router([Pipeline(app, each, counted=False) for each in (*rows, listing)], _nothing)


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError(f"no worker has a part of {scope['path']}")


@dataclass(frozen=True)
class Place:
    """Which worker this is, where their sockets are, and a pipe that ends with their parent."""

    index: int
    workers: int
    sockets: Path
    lifeline: int

    def socket(self, index: int) -> Path:
        """The socket of a worker, for the others."""
        return self.sockets / str(index)


class WorkerApp:
    """An ASGI application that knows the other workers. `own` serves the streams of this one."""

    def __init__(self, app: AppState, own: ASGIApp, place: Place, stream_metrics: int = 0) -> None:
        self._app = app
        self._own = own
        self._parts = parts_application(app)
        self._health = health_application(app)
        self._index, self._workers = place.index, place.workers
        self._socket = place.socket(place.index)
        self._lifeline = place.lifeline
        others = [index for index in range(place.workers) if index != place.index]
        self._peers = {index: Peer(index, place.socket(index)) for index in others}
        self.handover = Handover(place.sockets, place.index)
        self._merged_by = _MERGED | {
            "/metrics": partial(merging.metrics, stream_series=stream_metrics)
        }
        self._tasks: set[asyncio.Task[Any]] = set()
        self._open_ends: set[Channel] = set()
        self.on_orphaned: Callable[[], None] = lambda: None
        self.on_connection: Adopt = lambda connection, giver, returned: connection.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, wherever its stream is."""
        if scope["type"] != "http":
            await self._lifespan(scope, receive, send)
            return
        path = scope["path"]
        if path.startswith(_STREAMS):
            owner = owner_of(path.split("/", 4)[3], self._workers)
            if owner != self._index:
                await self._forward(self._peers[owner], _with_id(scope), receive, send)
            else:
                await self._own(scope, receive, send)
        elif path in _MERGED and scope["method"] in ("GET", "HEAD"):
            await self._together(_with_id(scope), receive, send, self._merged)
        elif path == "/v1/batch" and scope["method"] == "POST":
            await self._together(_with_id(scope), receive, send, self._batch)
        else:
            await self._own(scope, receive, send)

    @property
    def neighbours(self) -> Neighbours:
        """What the connections of clients must know of the other workers."""
        return Neighbours(self._index, self._peers, self._own, self.handover)

    async def health(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the health checks alone; ready means that all workers are."""
        if scope["type"] == "http" and scope["path"] == "/readyz":
            await self(scope, receive, send)
        else:
            await self._health(scope, receive, send)

    # ---- the life of the worker --------------------------------------------------------------

    async def _lifespan(self, scope: Scope, receive: Receive, send: Send) -> None:
        loop = asyncio.get_running_loop()

        def connect() -> Answering:
            return Answering(self._app_for, self._tasks, self._open_ends)

        with contextlib.suppress(FileNotFoundError):
            self._socket.unlink()  # of a process that was killed
        server = await loop.create_unix_server(connect, str(self._socket))
        self.handover.start(self.on_connection)
        for peer in self._peers.values():
            peer.start()
        loop.add_reader(self._lifeline, self._end_of_life)

        async def receive_here() -> Message:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                await self._leave()
                server.close()
            return message

        await self._own(scope, receive_here, send)

    def _end_of_life(self) -> None:
        """The supervisor is gone."""
        asyncio.get_running_loop().remove_reader(self._lifeline)
        os.close(self._lifeline)
        self.on_orphaned()

    async def _leave(self) -> None:
        """Ask nothing more of others, and answer until they ask nothing more."""
        self.handover.close()
        for peer in self._peers.values():
            peer.close()
        until = time.monotonic() + _STOP_SECONDS
        while (self._open_ends or self._tasks) and time.monotonic() < until:
            await asyncio.sleep(0.01)

    def _app_for(self, part: bool) -> ASGIApp:
        return self._parts if part else self._own

    # ---- one stream --------------------------------------------------------------------------

    async def _forward(self, peer: Peer, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the owner of a stream respond."""
        ask = None
        try:
            ask = peer.request(scope, await self._body(scope, receive))
            found = await peer.ask(ask)
        except ApiError as error:
            await _problem(scope, error).send(send)
            return
        except ClientDisconnect:
            return
        await send(
            {"type": "http.response.start", "status": found.status, "headers": found.headers}
        )
        await send({"type": "http.response.body", "body": found.body, "more_body": found.more})
        if found.more:
            await _stream(peer, ask.number, receive, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The body; a large one is received only with a token, as the owner would do."""
        limits = self._app.limits
        is_state = scope["path"].endswith("/state")
        request = Request(scope, receive)
        if is_large(scope["headers"]):
            auth.identify(self._app.tokens, request, auth.Scope.READ)
        return await request.body(limits.state_bytes if is_state else limits.body_bytes)

    # ---- all workers together ----------------------------------------------------------------

    async def _together(self, scope: Scope, receive: Receive, send: Send, work: Any) -> None:
        """Respond, and count the request once."""
        started = time.perf_counter()
        try:
            response = await work(scope, receive)
        except ApiError as error:
            response = _problem(scope, error)
        except ClientDisconnect:
            return
        seconds = time.perf_counter() - started
        self._app.metrics.count_request(scope["path"], scope["method"], response.status, seconds)
        await response.send(send)

    async def _merged(self, scope: Scope, receive: Receive) -> Response:
        return self._merged_by[scope["path"]](await self.ask_all(scope))

    async def _batch(self, scope: Scope, receive: Receive) -> Response:
        body = await self._body(scope, receive)
        split = merging.split_batch(body, self._workers)
        asked = [self._ask(index, scope, part) for index, part in split.bodies.items()]
        answers = await asyncio.gather(*asked)
        return merging.batch(split, dict(zip(split.bodies, answers, strict=True)))

    async def ask_all(self, scope: Scope) -> list[Answer]:
        """The part of each worker; those that do not run answer 503."""
        scope = {**scope, "method": "GET"}
        asked = [self._ask(index, scope, b"") for index in range(self._workers)]
        return list(await asyncio.gather(*asked))

    async def _ask(self, index: int, scope: Scope, body: bytes) -> Answer:
        if index == self._index:
            client = scope.get("client")
            headers, query = scope["headers"], scope["query_string"]
            ask = Ask(0, True, scope["method"], scope["path"], query, headers, client, body)
            return await answer(self._parts, ask)
        peer = self._peers[index]
        try:
            return await peer.ask(peer.request(scope, body, part=True))
        except ApiError as error:
            made = _problem(scope, error)
            return Answer(0, made.status, made.headers, made.body)


def _with_id(scope: Scope) -> Scope:
    """The request with an id that all workers write in their logs."""
    given = dict(reversed(scope["headers"])).get(_REQUEST_ID, b"").decode("latin-1")
    known = request_id(given)
    if known == given:
        return scope
    others = [each for each in scope["headers"] if each[0] != _REQUEST_ID]
    return {**scope, "headers": [*others, (_REQUEST_ID, known.encode())]}


def _problem(scope: Scope, error: ApiError) -> Response:
    known = dict(reversed(scope["headers"]))[_REQUEST_ID]
    made = problem_response(error, known.decode())
    made.headers.append((_REQUEST_ID, known))
    return made


async def _stream(peer: Peer, number: int, receive: Receive, send: Send) -> None:
    """Pass on the parts of a response until it ends or the client is gone."""
    gone = asyncio.ensure_future(_disconnected(receive))
    try:
        while not gone.done():
            part = asyncio.ensure_future(peer.ask(More(number)))
            both: set[asyncio.Future[Any]] = {gone, part}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not part.done():
                part.cancel()
                break
            found = part.result()
            await send({"type": "http.response.body", "body": found.body, "more_body": found.more})
            if not found.more:
                return
        peer.cancel(number)
    finally:
        gone.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
