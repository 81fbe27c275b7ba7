"""Loading: streams from their snapshots and the events after them, whichever store has the rows.

A row whose checksum differs is skipped. What is missing then shows: an event does not follow the
previous one, or the stream ends before its high-water mark or a damaged event. Such a stream is set
aside with what could be read of it, and the others are loaded.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from localarc_client.wire.events import ChangeEvent
from localarc_service.storage.checksums import is_intact
from localarc_service.stored import events
from localarc_service.streams.quarantine import Quarantine
from localarc_service.streams.stream import Stream

_log = logging.getLogger("localarc.service")


class Loader:
    """Collects the rows of a store: snapshots first, then events in the order of their ids."""

    def __init__(self) -> None:
        self.streams: dict[str, Stream] = {}
        self._reasons: dict[str, str] = {}
        self._with_snapshot: set[str] = set()
        self._latest: dict[str, int] = {}  # the largest seq of an event
        self._damaged: dict[str, int] = {}  # the largest seq of a damaged event, as far as it says
        self._differed: dict[str, int] = {}  # thresholds that differed before this replay

    def add_snapshot(self, name: str, last_event: int, data: bytes, checksum: int) -> None:
        """The snapshot of a stream; if it is damaged, the events may reach back to the creation."""
        self._with_snapshot.add(name)
        try:
            if is_intact(name, last_event, data, checksum):
                stream = self.streams[name] = Stream.from_snapshot(data)
                self._differed[name] = stream.replay_differs
        except Exception as error:
            _log.error("a snapshot cannot be read: %s", type(error).__name__)

    def add_event(self, name: str, seq: int, data: bytes, checksum: int) -> ChangeEvent | None:
        """Replay an event; None if it is in the snapshot, is damaged, or follows damage."""
        if not is_intact(name, seq, data, checksum):
            if isinstance(name, str) and isinstance(seq, int):
                self._damaged[name] = max(seq, self._damaged.get(name, seq))
            return None
        self._latest[name] = max(seq, self._latest.get(name, 0))
        stream = self.streams.get(name)
        if name in self._reasons or (stream is not None and seq <= stream.state.seq):
            return None
        try:
            return self._replay(name, seq, events.decode(data))
        except Exception as error:
            _log.error("an event cannot be replayed: %s", type(error).__name__)
            self._reasons[name] = f"event {seq} cannot be replayed: {str(error).rstrip('.')}"
            return None

    def _replay(self, name: str, seq: int, event: events.Event) -> ChangeEvent | None:
        stream = self.streams.get(name)
        if stream is None and seq == 0 and isinstance(event, events.StreamCreated):
            self.streams[name] = stream = Stream.create(name, event)
            return stream.created_event()
        if stream is None or seq != stream.state.seq + 1:
            self._reasons[name] = self._incomplete(name, seq - 1)
            return None
        return stream.apply(event)

    def set_aside(self, acknowledged: Mapping[str, int]) -> dict[str, Quarantine]:
        """Remove what is damaged or incomplete from `streams`, given the high-water mark."""
        known = {*self.streams, *self._with_snapshot, *self._latest, *acknowledged}
        names = known if acknowledged else known | self._damaged.keys()
        found = {name: self._judge(name, acknowledged.get(name, -1)) for name in sorted(names)}
        quarantined = {name: each for name, each in found.items() if each is not None}
        for name in quarantined:
            self.streams.pop(name, None)
        return quarantined

    def _judge(self, name: str, acknowledged: int) -> Quarantine | None:
        stream = self.streams.get(name)
        seq = -1 if stream is None else stream.state.seq
        latest = max(acknowledged, self._latest.get(name, -1))
        reason = self._reasons.get(name)
        if reason is None and (stream is None or seq < latest):
            reason = self._incomplete(name, latest)
        if reason is None and seq < self._damaged.get(name, -1):
            reason = f"an event after {seq} is damaged"
        if reason is None and stream is not None:
            differs = stream.replay_differs - self._differed.get(name, 0)
            if differs:
                reason = f"{differs} threshold(s) differ on replay by more than rounding"
        return None if reason is None else Quarantine(name, reason, stream, max(0, latest - seq))

    def _incomplete(self, name: str, last: int) -> str:
        stream = self.streams.get(name)
        if stream is None and name in self._with_snapshot:
            return "its snapshot is damaged"
        first = 0 if stream is None else stream.state.seq + 1
        which = f"event {first} is" if first == last else f"events {first} to {last} are"
        return f"{which} damaged or missing"
