"""The event store: events and snapshots in SQLite, on disk when a commit returns.

`events` is appended to and pruned from its oldest end; `snapshots` holds the latest one of each
stream. A stream is its snapshot and the events after it.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from localarc.service.storage import events, migrations
from localarc.service.storage.checksums import row_checksum
from localarc.service.storage.format import VERSION
from localarc.service.storage.migrations import OLDEST
from localarc.service.streams.manager import PendingWrite
from localarc.service.streams.stream import Stream
from localarc.wire.events import ChangeEvent

FILE_NAME = "log.sqlite"
_PRUNE_BATCH = 10_000

_SCHEMA = (
    "CREATE TABLE events (id INTEGER PRIMARY KEY, stream TEXT NOT NULL, seq INTEGER NOT NULL,"
    " event BLOB NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE snapshots (stream TEXT PRIMARY KEY, last_event INTEGER NOT NULL,"
    " state BLOB NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB)",
)


class StorageError(ValueError):
    """A data folder that cannot be read."""


class EventStore:
    """The database of a data folder, used by one thread."""

    def __init__(self, folder: Path, synchronous: str = "FULL") -> None:
        self._database = sqlite3.connect(
            folder / FILE_NAME, isolation_level=None, check_same_thread=False
        )
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute(f"PRAGMA synchronous = {synchronous}")
        self._database.execute(f"PRAGMA journal_size_limit = {2**24}")
        self._open()
        self._next = 1 + max(
            self._largest("max(id) FROM events"), self._largest("max(last_event) FROM snapshots")
        )
        self.recount()
        self.unsaved: dict[str, int] = {}  # the first event after a stream's snapshot, oldest first

    def _open(self) -> None:
        """Create the tables, or convert those of an older version: all or nothing."""
        found = self._version()
        if found not in (None, *range(OLDEST, VERSION + 1)):
            raise StorageError(
                f"the data folder has format version {found}, this localarc reads {OLDEST} to "
                f"{VERSION}. Install the release of localarc that wrote it."
            )
        with self._transaction():
            if found is None:
                for table in _SCHEMA:
                    self._database.execute(table)
            elif found < VERSION:
                migrations.migrate(self._database, found)
            self._database.execute(f"PRAGMA user_version = {VERSION}")

    def _version(self) -> int | None:
        """The version of the folder, None if it is new."""
        found: int = self._database.execute("PRAGMA user_version").fetchone()[0]
        tables = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found == 0:  # version 1 wrote its number after its tables
            return 1 if tables else None
        return found

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit at the end of the block, or roll back."""
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            yield

    def _largest(self, expression: str) -> int:
        return self._database.execute(f"SELECT {expression}").fetchone()[0] or 0

    def recount(self) -> None:
        """Measure the log: the number of events and their bytes."""
        size = "SELECT count(*), ifnull(sum(length(event)), 0) FROM events"
        count, length = self._database.execute(size).fetchone()
        self.events, self.bytes = int(count), int(length)

    # ---- writing -----------------------------------------------------------------------------

    def append(self, writes: Collection[PendingWrite]) -> None:
        """Put events on disk, all of them or none."""
        rows = [_event_row(number, write) for number, write in enumerate(writes, self._next)]
        with self._transaction():
            self._database.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
        for number, name, _, data, _ in rows:
            self.unsaved.setdefault(name, number)
            self.bytes += len(data)
        self._next += len(rows)
        self.events += len(rows)

    def snapshot(self, stream: Stream) -> None:
        """Store all of a stream, so that its events so far are no longer needed."""
        name, last_event, data = stream.name, self._next - 1, stream.snapshot()
        row = name, last_event, data, row_checksum(name, last_event, data)
        with self._transaction():
            self._database.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", row)
        self.unsaved.pop(stream.name, None)

    def prune(self) -> int:
        """Delete the oldest events that no stream needs, in batches; returns how many."""
        oldest = self._database.execute("SELECT min(id) FROM events").fetchone()[0]
        needed = next(iter(self.unsaved.values()), self._next)
        if oldest is None or oldest >= needed:
            return 0
        stop = min(needed, oldest + _PRUNE_BATCH)
        size = "SELECT count(*), ifnull(sum(length(event)), 0) FROM events WHERE id < ?"
        count, length = self._database.execute(size, (stop,)).fetchone()
        with self._transaction():
            self._database.execute("DELETE FROM events WHERE id < ?", (stop,))
        self.events -= int(count)
        self.bytes -= int(length)
        return int(count)

    def probe(self) -> None:
        """Write as much as a usual commit does, to find out whether writing works."""
        with self._transaction():
            self._database.execute("INSERT OR REPLACE INTO probe VALUES (1, zeroblob(65536))")

    # ---- reading -----------------------------------------------------------------------------

    def load(
        self,
        names: Collection[str] | None = None,
        publish: Callable[[str, ChangeEvent], None] = lambda name, change: None,
    ) -> dict[str, Stream]:
        """All streams, or those named, from their snapshots and the events after them."""
        streams: dict[str, Stream] = {}
        for name in self._names_with_snapshot() if names is None else names:
            found = self._database.execute("SELECT state FROM snapshots WHERE stream = ?", (name,))
            for (data,) in found:
                streams[name] = Stream.from_snapshot(data)
        for number, name, seq, data in self._rows(names):
            stream = streams.get(name)
            if stream is None or seq > stream.state.seq:
                change = _replay(streams, name, seq, data)
                if names is None:  # at the start; later, commits keep this up to date
                    self.unsaved.setdefault(name, number)
                    publish(name, change)
        return streams

    def _names_with_snapshot(self) -> list[str]:
        found = self._database.execute("SELECT stream FROM snapshots ORDER BY stream")
        return [name for (name,) in found]

    def _rows(self, names: Collection[str] | None) -> Iterator[tuple[int, str, int, bytes]]:
        for row in self._database.execute("SELECT id, stream, seq, event FROM events ORDER BY id"):
            if names is None or row[1] in names:
                yield row

    def close(self) -> None:
        """Checkpoint the write-ahead log, and close the database."""
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._database.close()


def _event_row(number: int, write: PendingWrite) -> tuple[int, str, int, bytes, int]:
    data = events.encode(write.event)
    return number, write.stream, write.seq, data, row_checksum(write.stream, write.seq, data)


def _replay(streams: dict[str, Stream], name: str, seq: int, data: bytes) -> ChangeEvent:
    event = events.decode(data)
    if isinstance(event, events.StreamCreated) and name not in streams:
        streams[name] = Stream.create(name, event)
        return streams[name].created_event()
    if name not in streams or seq != streams[name].state.seq + 1:
        raise StorageError(f"events of a stream are missing before its seq {seq}: it is damaged.")
    return streams[name].replay(event)
