"""The event store in PostgreSQL: events and snapshots, on the server's disk when a commit returns.

It stores what the SQLite store does, row by row. The high-water mark is a table, because a
transaction is there as a whole or not at all, and damaged rows are what can be missing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import psycopg

from localarc_client.wire.events import ChangeEvent
from localarc_service.storage.checksums import row_checksum
from localarc_service.storage.loading import Loader
from localarc_service.storage.postgres.connection import Address, Connection
from localarc_service.storage.postgres.ownership import NotOwnerError, Ownership
from localarc_service.storage.rows import EventRow, event_row
from localarc_service.streams.manager import PendingWrite
from localarc_service.streams.quarantine import Quarantine
from localarc_service.streams.stream import Stream

_PRUNE_BATCH = 10_000
_FETCH_ROWS = 1_000
_log = logging.getLogger("localarc.service")

_INSERT_EVENTS = (
    "INSERT INTO events SELECT * FROM"
    " unnest(%b::int8[], %b::text[], %b::int8[], %b::bytea[], %b::int8[])"
)
_SET_MARKS = (
    "INSERT INTO marks SELECT * FROM unnest(%b::text[], %b::int8[])"
    " ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq"
)
_SET_SNAPSHOT = (
    "INSERT INTO snapshots VALUES (%b, %b, %b, %b) ON CONFLICT (stream) DO UPDATE"
    " SET last_event = excluded.last_event, state = excluded.state, checksum = excluded.checksum"
)
_SIZE = "SELECT count(*), coalesce(sum(length(event)), 0) FROM events WHERE stream <> ALL(%s)"


class PostgresStore:
    """One schema of a database, used by one thread."""

    place = "the database"
    errors: tuple[type[Exception], ...] = (psycopg.Error, NotOwnerError)

    def __init__(self, address: Address, synchronous: str = "FULL") -> None:
        self._ownership = Ownership(address, synchronous)
        self.degraded = ""
        self.events = self.bytes = 0
        self.unsaved: dict[str, int] = {}  # the first event after a stream's snapshot, oldest first
        self.quarantined: dict[str, Quarantine] = {}  # found by `load`; their rows are kept

    # ---- ownership ---------------------------------------------------------------------------

    def acquire(self) -> bool:
        """Become the owner, and forget what was known of the rows; False while another one is."""
        if not self._ownership.acquire():
            return False
        self.unsaved, self.quarantined = {}, {}
        self.recount()
        return True

    def is_owner(self) -> bool:
        """Whether this process is the owner, as far as it has heard."""
        return self._ownership.is_owner()

    def flush(self) -> None:
        """Notice within a second that this process is no longer the owner."""
        self._ownership.heartbeat()

    def probe(self) -> None:
        """Write something, to find out whether writing works."""
        with self._ownership.transaction():
            pass

    def close(self) -> None:
        """Give the ownership up: another process can take over at once."""
        self._ownership.release()

    # ---- writing -----------------------------------------------------------------------------

    def append(
        self, writes: Collection[PendingWrite], replaced: Mapping[str, Stream | None] | None = None
    ) -> None:
        """Commit events, all of them or none.

        Before that, everything stored about the streams in `replaced` is replaced by a snapshot, or
        removed.
        """
        first = self._ownership.last_event + 1
        rows = [event_row(number, write) for number, write in enumerate(writes, first)]
        replaced = replaced or {}
        with self._ownership.transaction(len(rows)) as connection:
            if replaced:
                _replace(connection, replaced, first - 1)
            if rows:
                columns = [list(column) for column in zip(*rows, strict=True)]
                connection.execute(_INSERT_EVENTS, columns)
                _set_marks(connection, {name: seq for _, name, seq, _, _ in rows})
        self._count(rows, replaced)

    def _count(self, rows: list[EventRow], replaced: Mapping[str, Stream | None]) -> None:
        for name in replaced:
            self.unsaved.pop(name, None)
            self.quarantined.pop(name, None)
        for number, name, _, data, _ in rows:
            self.unsaved.setdefault(name, number)
            self.bytes += len(data)
        self.events += len(rows)
        if replaced:
            self.recount()

    def recount(self) -> None:
        """Measure the log: the number of events and their bytes."""
        self.events, self.bytes = self._size(_SIZE, [])

    def _size(self, query: Any, *which: Any) -> tuple[int, int]:
        found = self._ownership.connection.execute(query, which).fetchone()
        assert found is not None
        return int(found[0]), int(found[1])

    def snapshot(self, streams: Iterable[Stream]) -> list[str]:
        """Store all of some streams in one transaction: their events so far are no longer needed.

        Returns the names of those that cannot be stored; the others are.
        """
        stored, failed = [], []
        with self._ownership.transaction() as connection:
            for stream in streams:
                try:
                    row = _snapshot_row(stream, self._ownership.last_event)
                except (ValueError, OverflowError, MemoryError):
                    # A bug in the service: the log keeps the stream's events, others continue.
                    _log.exception("the snapshot of a stream failed")
                    failed.append(stream.name)
                    continue
                connection.execute(_SET_SNAPSHOT, row)
                stored.append(stream.name)
        for name in stored:
            self.unsaved.pop(name, None)
        return failed

    def prune(self) -> int:
        """Delete the oldest events that no stream needs, in batches; returns how many."""
        kept = [*self.quarantined]
        first = "SELECT min(id) FROM events WHERE stream <> ALL(%s)"
        oldest = self._ownership.connection.execute(first, (kept,)).fetchone()
        needed = next(iter(self.unsaved.values()), self._ownership.last_event + 1)
        if oldest is None or oldest[0] is None or oldest[0] >= needed:
            return 0
        end = min(needed, oldest[0] + _PRUNE_BATCH)
        count, length = self._size(_SIZE + " AND id < %s", kept, end)
        with self._ownership.transaction() as connection:
            delete = "DELETE FROM events WHERE stream <> ALL(%s) AND id < %s"
            connection.execute(delete, (kept, end))
        self.events -= count
        self.bytes -= length
        return count

    # ---- reading -----------------------------------------------------------------------------

    def load(
        self,
        names: Collection[str] | None = None,
        publish: Callable[[str, ChangeEvent], None] = lambda name, change: None,
    ) -> dict[str, Stream]:
        """All streams, or those named, except for damaged ones: these are then in `quarantined`."""
        loader = Loader()
        which = None if names is None else list(names)
        for row in self._select("SELECT * FROM snapshots", " ORDER BY stream", which):
            loader.add_snapshot(*row)
        for number, name, seq, data, checksum in self._rows(which):
            change = loader.add_event(name, seq, data, checksum)
            if change is not None and names is None:  # later, commits keep this up to date
                self.unsaved.setdefault(name, number)
                publish(name, change)
        found = loader.set_aside(dict(self._select("SELECT stream, seq FROM marks", "", which)))
        self.quarantined.update(found)
        for name in found:
            self.unsaved.pop(name, None)
        return loader.streams

    def _rows(self, names: list[str] | None) -> Iterator[EventRow]:
        return self._select("SELECT * FROM events", " ORDER BY id", names)

    def _select(self, select: Any, order: Any, names: list[str] | None) -> Iterator[Any]:
        """Rows of all streams, or of those named, a thousand at a time."""
        connection = self._ownership.connection
        where = " WHERE stream = ANY(%s)" if names is not None else ""
        with connection.transaction(), connection.cursor("rows", binary=True) as cursor:
            cursor.itersize = _FETCH_ROWS
            yield from cursor.execute(select + where + order, None if names is None else (names,))


def _replace(
    connection: Connection, replaced: Mapping[str, Stream | None], last_event: int
) -> None:
    """Replace all streams in a few round trips, however many they are."""
    for delete in (
        "DELETE FROM events WHERE stream = ANY(%s)",
        "DELETE FROM snapshots WHERE stream = ANY(%s)",
        "DELETE FROM marks WHERE stream = ANY(%s)",
    ):
        connection.execute(delete, (list(replaced),))
    kept = [stream for stream in replaced.values() if stream is not None]
    with connection.cursor() as cursor:
        cursor.executemany(_SET_SNAPSHOT, (_snapshot_row(stream, last_event) for stream in kept))
    _set_marks(connection, {stream.name: stream.state.seq for stream in kept})


def _set_marks(connection: Connection, ends: Mapping[str, int]) -> None:
    connection.execute(_SET_MARKS, (list(ends), list(ends.values())))


def _snapshot_row(stream: Stream, last_event: int) -> tuple[str, int, bytes, int]:
    name, data = stream.name, stream.snapshot()
    return name, last_event, data, row_checksum(name, last_event, data)
