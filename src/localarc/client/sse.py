"""Server-Sent Events, read as they arrive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Event:
    """One thing that happened in a stream; `id` is its place in the log, to go on from.

    `kind` is created, predicted, learned, expired, imported, or reset where events were missed.
    """

    id: str
    kind: str
    data: dict[str, Any] = field(default_factory=dict)


class EventReader:
    """Collects what arrives until the empty line that ends an event.

    >>> reader = EventReader()
    >>> list(reader.take(b'id: 7\\nevent: learned\\ndata: {"lo'))
    []
    >>> list(reader.take(b'ss": 1.0}\\n\\n: still here\\n\\n'))
    [Event(id='7', kind='learned', data={'loss': 1.0})]
    """

    def __init__(self, last: str = "") -> None:
        self.last = last  # the id of the last whole event, to go on from
        self._rest = b""
        self._fields: dict[str, list[str]] = {}

    def take(self, chunk: bytes) -> Iterator[Event]:
        """The events that this chunk completes."""
        # Lines end with a line feed alone: names may hold what Python calls line boundaries.
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            name, _, value = line.decode().rstrip("\r").partition(":")
            if name or value:
                self._fields.setdefault(name, []).append(value.removeprefix(" "))
            elif event := self._ended():
                yield event

    def _ended(self) -> Event | None:
        fields, self._fields = self._fields, {}
        if "data" not in fields:
            return None
        self.last = fields.get("id", [self.last])[-1]
        kind = fields.get("event", ["message"])[-1]
        return Event(self.last, kind, json.loads("\n".join(fields["data"])))
