"""Server-sent events, parsed as they arrive, and resumed after a lost connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import msgspec

from localarc_client.errors import UnexpectedResponseError
from localarc_client.retry import Attempt, NoReply, Retries, RetryState
from localarc_client.wire.events import AnyEvent

MAX_SILENCE = 60.0
"""Seconds without data after which an event stream is considered lost."""

_KINDS = {str(event.__struct_config__.tag) for event in get_args(AnyEvent)}
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


class EventParser:
    """Collects lines until the empty line that ends an event.

    >>> parser = EventParser()
    >>> list(parser.feed(b'id: 7\\nevent: reset\\ndata: {"kind": "re'))
    []
    >>> list(parser.feed(b'set", "seq": 7}\\n\\n: still here\\n\\n'))
    [ResetEvent(seq=7)]
    """

    def __init__(self, last_id: str = "") -> None:
        self.last_id = last_id  # of the last complete event
        self._rest = b""
        self._fields: dict[str, list[str]] = {}

    def feed(self, chunk: bytes) -> Iterator[AnyEvent]:
        """Yield the events that this chunk completes."""
        # Only a line feed ends a line: group names may contain other characters that
        # str.splitlines treats as line boundaries.
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            name, _, value = line.decode().rstrip("\r").partition(":")
            if name or value:
                self._fields.setdefault(name, []).append(value.removeprefix(" "))
            elif event := self._finish():
                yield event

    def _finish(self) -> AnyEvent | None:
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return None
        self.last_id = fields.get("id", [self.last_id])[-1]
        if fields.get("event", [""])[-1] not in _KINDS:
            return None  # a kind that only a newer service knows
        try:
            return _decoder.decode("\n".join(fields["data"]))
        except msgspec.MsgspecError as error:
            raise UnexpectedResponseError(f"cannot read event {self.last_id}: {error}.") from error


class Subscription:
    """The events of one stream, across lost connections."""

    ended = NoReply(EOFError("the event stream ended"))

    def __init__(self, retries: Retries, after: int | None) -> None:
        self._retries = retries
        self._parser = EventParser("" if after is None else str(after))
        self._state = RetryState(retries)

    @property
    def last_id(self) -> str:
        """The id of the last event that arrived completely."""
        return self._parser.last_id

    def feed(self, chunk: bytes) -> Iterator[AnyEvent]:
        """Yield the events in a chunk; the service is up, so the count of failures restarts."""
        self._state = RetryState(self._retries)
        return self._parser.feed(chunk)

    def pause_after(self, attempt: Attempt) -> float | None:
        """Return the seconds until the next attempt; an incomplete event will be sent again."""
        self._parser = EventParser(self.last_id)
        return self._state.pause_after(attempt)
