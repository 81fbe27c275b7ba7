"""Rows of the event log, the same in every database."""

from __future__ import annotations

from typing import TypeAlias

from localarc_service.storage.checksums import row_checksum
from localarc_service.stored import events
from localarc_service.streams.manager import PendingWrite

EventRow: TypeAlias = tuple[int, str, int, bytes, int]
"""The id of an event, its stream and seq, the event, and the checksum."""


def event_row(number: int, write: PendingWrite) -> EventRow:
    """The row of an event that gets this id."""
    data = events.encode(write.event)
    return number, write.stream, write.seq, data, row_checksum(write.stream, write.seq, data)
