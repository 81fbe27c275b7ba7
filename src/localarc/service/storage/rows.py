"""Rows of the event log, the same in every database."""

from __future__ import annotations

from typing import TypeAlias

from localarc.service.storage import events
from localarc.service.storage.checksums import row_checksum
from localarc.service.streams.manager import PendingWrite

EventRow: TypeAlias = tuple[int, str, int, bytes, int]
"""The id of an event, its stream and seq, the event, and the checksum."""


def event_row(number: int, write: PendingWrite) -> EventRow:
    """The row of an event that gets this id."""
    data = events.encode(write.event)
    return number, write.stream, write.seq, data, row_checksum(write.stream, write.seq, data)
