"""Bodies: read up to a limit, and turned into messages without any benefit of the doubt."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import msgspec
from starlette.requests import Request

from localarc.service.api.errors import Refusal
from localarc.wire.config import VALID_NAMES, StreamConfig
from localarc.wire.predictions import BatchEnvelope, FeedbackRequest, Operation, PredictRequest

JSON = "application/json"
BYTES = "application/octet-stream"

Kind = TypeVar("Kind")

_NONE: dict[str, tuple[str, ...]] = {}


async def read(request: Request, content_type: str, limit: int, seconds: float) -> bytes:
    """The body, if it is what it should be, not too large, and there in so many seconds."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != content_type or "content-encoding" in request.headers:
        raise Refusal(415, f"the body must be plain {content_type}, got {given or 'no type'!r}.")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise Refusal(413, f"the body must hold at most {limit} bytes, got {declared}.")
    try:
        async with asyncio.timeout(seconds):
            return await _received(request, limit)
    except TimeoutError as error:
        raise Refusal(408, f"the body must arrive within {seconds:g} s: send it again.") from error


async def _received(request: Request, limit: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise Refusal(413, f"the body must hold at most {limit} bytes, got more.")
    return bytes(body)


class Reader(Generic[Kind]):
    """Reads one kind of message; 400 for what is not JSON, 422 for what is not the message.

    `names` are the names known in each place, to be told to who wrote another one.

    The parser lets the last of two equal keys win, in silence. So a body in which a key may occur
    twice is parsed again by one that tells.
    """

    def __init__(
        self, kind: Any, keys: tuple[str, ...] = (), names: Mapping[str, tuple[str, ...]] = _NONE
    ) -> None:
        self._names = names
        self._decode = msgspec.json.Decoder(kind).decode
        self._keys = [f'"{key}"'.encode() for key in keys]

    def __call__(self, body: bytes | msgspec.Raw) -> Kind:
        """The message in a body."""
        try:
            message: Kind = self._decode(body)
            self._check_keys(bytes(body))
        except msgspec.ValidationError as error:
            raise Refusal(422, f"{error}{self._instead(str(error))}.") from error
        except RecursionError as error:
            raise Refusal(400, "the body is nested too deeply.") from error
        except ValueError as error:  # msgspec's decoding errors and broken UTF-8
            raise Refusal(400, f"the body is not JSON: {error}.") from error
        return message

    def _instead(self, error: str) -> str:
        """What could have been written in the place of a name that nobody knows."""
        if not error.startswith(("Invalid", "Object contains unknown field")):
            return ""
        place = re.search(r" - at `(\$[^`]*)`$", error)
        known = self._names.get(place[1] if place else "$", ())
        return f": expected one of {', '.join(known)}" if known else ""

    def _check_keys(self, body: bytes) -> None:
        if not self._keys or b"\\" in body or any(body.count(key) > 1 for key in self._keys):
            json.loads(body, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Refusal(422, "an object of the body has the same key twice.")
    return found


read_config: Reader[StreamConfig] = Reader(StreamConfig, names=VALID_NAMES)
read_predict: Reader[PredictRequest] = Reader(PredictRequest, ("x", "id", "group", "scores"))
read_feedback: Reader[FeedbackRequest] = Reader(FeedbackRequest, ("loss",))
read_batch: Reader[BatchEnvelope] = Reader(BatchEnvelope, ("operations",))
read_operation: Reader[Operation] = Reader(
    Operation, ("op", "stream", "x", "id", "group", "scores", "loss")
)
