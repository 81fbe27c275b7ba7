"""Handlers: a request in, work for the writer, an answer out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from localarc.service.api import bodies, queries
from localarc.service.api.endpoint import Query
from localarc.service.api.errors import Refusal
from localarc.service.parts import Parts
from localarc.service.streams import calibrators
from localarc.wire.fields import PREDICTION_ID_PATTERN, STREAM_NAME_PATTERN
from localarc.wire.predictions import BatchResponse, Operation
from localarc.wire.status import Alive, Ready, StreamList

PROBLEM = "application/problem+json"
EVENTS = "text/event-stream"
METRICS = "text/plain; version=0.0.4; charset=utf-8"

AFTER = Query("after", "the seq of the last event heard", 0, 2**53)
FIRST = Query("first", "the feature from left to right, from 0", 0, 1023, default=0)
SECOND = Query("second", "the feature from bottom to top; leave it out for one", 0, 1023)
SIZE = Query("size", "how many values of each feature", 2, 64, default=32)

_encode = msgspec.json.Encoder().encode
_name, _id = re.compile(STREAM_NAME_PATTERN), re.compile(PREDICTION_ID_PATTERN)
Result = TypeVar("Result")


async def create(parts: Parts, request: Request) -> Response:
    """Create a stream."""
    name = stream_name(request)
    wanted = bodies.read_config(await _json(parts, request))
    await _finished(lambda: calibrators.rehearse(wanted))
    answer, new = await parts.writer.ask(lambda desk: desk.create(name, wanted), writes=1)
    return message(answer, 201 if new else 200)


async def predict(parts: Parts, request: Request) -> Response:
    """A threshold now."""
    name = stream_name(request)
    wanted = bodies.read_predict(await _json(parts, request))
    return message(await parts.writer.ask(lambda desk: desk.predict(name, wanted), writes=1))


async def feedback(parts: Parts, request: Request) -> Response:
    """Its loss, when it is known."""
    name, key = stream_name(request), request.path_params["id"]
    if not _id.search(key):
        raise Refusal(422, f"an id must match {PREDICTION_ID_PATTERN}, got {key[:80]!r}.")
    told = bodies.read_feedback(await _json(parts, request))
    work = parts.writer.ask(lambda desk: desk.feedback(name, key, told.loss), writes=1)
    return message(await work)


async def batch(parts: Parts, request: Request) -> Response:
    """Many operations, one commit."""
    envelope = bodies.read_batch(await _json(parts, request))
    wanted = [_operation(raw) for raw in envelope.operations]
    work = parts.writer.ask(lambda desk: desk.operations(wanted), writes=len(wanted))
    return message(BatchResponse(await work))


async def _json(parts: Parts, request: Request) -> bytes:
    limits = parts.limits
    return await bodies.read(request, bodies.JSON, limits.body_bytes, limits.body_seconds)


def _operation(raw: msgspec.Raw) -> Operation | Refusal:
    try:
        return bodies.read_operation(raw)
    except Refusal as refusal:
        return refusal


async def streams(parts: Parts, request: Request) -> Response:
    """All streams."""
    work = parts.writer.ask(lambda desk: [queries.line(each) for each in desk.streams.values()])
    return message(StreamList(sorted(await work, key=lambda each: each.stream)))


async def summary(parts: Parts, request: Request) -> Response:
    """How a stream stands."""
    name = stream_name(request)
    return message(await parts.writer.ask(lambda desk: queries.summary(desk.stream(name))))


async def history(parts: Parts, request: Request) -> Response:
    """How it came to stand there."""
    name = stream_name(request)
    finish = await parts.writer.ask(lambda desk: queries.history(desk.stream(name)))
    return message(await _finished(finish))


async def threshold_map(parts: Parts, request: Request) -> Response:
    """The threshold as a function of two features."""
    name = stream_name(request)
    first, second, size = (number(request, query) for query in (FIRST, SECOND, SIZE))

    def look(desk: Any) -> Callable[[], Any]:
        return queries.threshold_map(desk.stream(name), first or 0, second, size or 2)

    return message(await _finished(await parts.writer.ask(look)))


async def export_state(parts: Parts, request: Request) -> Response:
    """The calibrator, in the format that `LARC.from_state` reads."""
    name = stream_name(request)
    state = await parts.writer.ask(lambda desk: desk.stream(name).calibrator.state())
    return Response(state, media_type=bodies.BYTES)


async def import_state(parts: Parts, request: Request) -> Response:
    """Replace the calibrator by such a state."""
    name = stream_name(request)
    limits = parts.limits
    state = await bodies.read(request, bodies.BYTES, limits.state_bytes, limits.body_seconds)
    return message(await parts.writer.ask(lambda desk: desk.import_state(name, state), writes=1))


async def events(parts: Parts, request: Request) -> Response:
    """What happens to a stream, as it happens."""
    name = stream_name(request)
    heard = number(request, AFTER)
    last = request.headers.get("last-event-id", "")
    if last:
        if not (last.isascii() and last.isdecimal() and len(last) < 17):
            raise Refusal(422, f"Last-Event-ID must be the seq of an event, got {last[:40]!r}.")
        heard = int(last)
    seq = await parts.writer.ask(lambda desk: desk.stream(name).book.seq)
    frames = parts.hub.listen(name, seq, heard)
    return StreamingResponse(frames, media_type=EVENTS, headers={"X-Accel-Buffering": "no"})


async def alive(parts: Parts, request: Request) -> Response:
    """The process answers."""
    return message(Alive(True))


async def ready(parts: Parts, request: Request) -> Response:
    """Requests are taken."""
    trouble = parts.writer.trouble
    if trouble:
        return message(Ready(False, f"{trouble}.", 0, 0), 503)
    found = await parts.writer.ask(lambda desk: (len(desk.streams), len(desk.unhealthy)))
    return message(Ready(True, "requests are taken.", *found))


async def metrics(parts: Parts, request: Request) -> Response:
    """Figures for Prometheus."""
    if parts.writer.ready:
        await parts.writer.ask(parts.metrics.look)
    text = parts.metrics.text(not parts.writer.trouble, len(parts.hub))
    return Response(text, media_type=METRICS)


# ---- in and out ------------------------------------------------------------------------------


def message(answer: Any, status: int = 200) -> Response:
    """A message as JSON."""
    return Response(_encode(answer), status, media_type=bodies.JSON)


def problem(refusal: Refusal) -> Response:
    """A refusal as JSON."""
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else None
    return Response(_encode(refusal.problem()), refusal.status, headers, media_type=PROBLEM)


def stream_name(request: Request) -> str:
    """The stream that the path names."""
    name: str = request.path_params["stream"]
    if not _name.search(name):
        raise Refusal(422, f"a stream's name must match {STREAM_NAME_PATTERN}, got {name[:80]!r}.")
    return name


def number(request: Request, query: Query) -> int | None:
    """A whole number after the question mark."""
    text = request.query_params.get(query.name)
    if text is None:
        return query.default
    if text.isascii() and text.isdecimal() and len(text) < 17:
        value = int(text)
        if query.least <= value <= query.most:
            return value
    raise Refusal(
        422,
        f"{query.name} must be a whole number from {query.least} to {query.most}, "
        f"got {text[:40]!r}.",
    )


async def _finished(work: Callable[[], Result]) -> Result:
    """Do something slow outside the event loop."""
    try:
        return await to_thread.run_sync(work)
    except (ValueError, TypeError, ArithmeticError, MemoryError) as error:
        raise Refusal(422, str(error)) from error
