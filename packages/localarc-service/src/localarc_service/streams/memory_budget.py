"""The memory of all streams together: an estimate that is kept up to date, and its limit.

A stream may always use as much as it has used before: at the limit, a stream that does not grow
continues, and one that would grow is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from localarc_client.wire.config import StreamConfig
from localarc_service.errors import ApiError
from localarc_service.event_bus import REPLAY_EVENTS
from localarc_service.streams.stream import Stream

# Bytes of the objects that a stream keeps, as tracemalloc measured them on CPython 3.11, rounded
# up; packages/localarc-service/tests/service/test_memory.py compares.
_STREAM, _PENDING, _TICKET, _ANSWERED, _POINT, _EVENT, _GROUP = 6_000, 340, 260, 280, 380, 300, 300
_WITH_TICKETS = "auto", "gate", "mondrian"
_MEASURE_EVERY = 16  # events, between measurements of a calibrator


def pending_bytes(config: StreamConfig, numbers: int) -> int:
    """The size of a pending prediction with this number of features and scores."""
    return _PENDING + 8 * numbers + (_TICKET if config.method in _WITH_TICKETS else 0)


def buffer_bytes(stream: Stream) -> int:
    """The size of a stream without its calibrator."""
    state = stream.state
    return (
        _STREAM
        + len(state.pending) * pending_bytes(state.config, state.config.features)
        + len(state.answered) * _ANSWERED
        + len(state.history.rounds) * _POINT
        + min(state.seq, REPLAY_EVENTS) * _EVENT
        + len(state.groups) * _GROUP
    )


class MemoryBudget:
    """The largest size so far of every stream, and their sum."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.total = 0
        self._largest: dict[str, int] = {}
        self._calibrators: dict[str, int] = {}

    def update(self, streams: Iterable[Stream]) -> None:
        """Measure streams that have changed; those that were removed have to be forgotten."""
        for stream in streams:
            name = stream.name
            if name not in self._calibrators or stream.state.seq % _MEASURE_EVERY == 0:
                self._calibrators[name] = stream.method.memory_bytes
            self._grow(name, self._calibrators[name] + buffer_bytes(stream))

    def _grow(self, name: str, size: int) -> None:
        before = self._largest.get(name, 0)
        if size > before:
            self._largest[name] = size
            self.total += size - before

    def forget(self, name: str) -> None:
        """A stream is gone."""
        self.total -= self._largest.pop(name, 0)
        self._calibrators.pop(name, None)

    def require(self, stream: Stream, more: int) -> None:
        """Raise if there is no room for the stream to grow by `more` bytes."""
        if self.limit is None:
            return
        known = self._calibrators.get(stream.name)
        own = stream.method.memory_bytes if known is None else known
        growth = own + buffer_bytes(stream) + more - self._largest.get(stream.name, 0)
        if growth > 0 and self.total + growth > self.limit:
            raise ApiError(
                429,
                f"the streams have reached the memory limit of {self.limit / 2**20:.0f} MiB, "
                "and this one would grow: raise --max-memory, send feedback for pending "
                "predictions, or retain fewer answers. Streams that do not grow continue.",
            )
