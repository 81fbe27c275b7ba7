"""The log: entries and snapshots in SQLite, on disk when a commit returns.

`events` is appended to and pruned from its old end; `snapshots` holds the newest one per stream.
A stream is its snapshot and the entries after it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Self

from localarc.service.storage import events
from localarc.service.storage.events import Creation
from localarc.service.streams.manager import Row
from localarc.service.streams.stream import Stream
from localarc.wire.events import ChangeEvent

VERSION = 1
_PRUNED_AT_ONCE = 10_000

_SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, stream TEXT NOT NULL, seq INTEGER NOT NULL, entry BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS snapshots (
    stream TEXT PRIMARY KEY, event INTEGER NOT NULL, state BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS probe (id INTEGER PRIMARY KEY, filler BLOB);
"""


_SAVED = "max(event) FROM snapshots"


class LogError(ValueError):
    """A log that cannot be read."""


class Log:
    """The database of a data folder, used by one thread."""

    def __init__(self, folder: Path, synchronous: str = "FULL") -> None:
        self._database = sqlite3.connect(
            folder / "log.sqlite", isolation_level=None, check_same_thread=False
        )
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute(f"PRAGMA synchronous = {synchronous}")
        self._database.execute(f"PRAGMA journal_size_limit = {2**24}")
        self._check_version()
        self._database.executescript(_SCHEMA)
        self._database.execute(f"PRAGMA user_version = {VERSION}")
        self._next = 1 + max(self._newest("max(id) FROM events"), self._newest(_SAVED))
        self.count_again()
        self.unsaved: dict[str, int] = {}  # the first event after a stream's snapshot, oldest first

    def _check_version(self) -> None:
        found = self._database.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, VERSION):
            raise LogError(
                f"the log has format version {found}, this localarc reads {VERSION}. Install the "
                "release of localarc that wrote it."
            )

    def _newest(self, what: str) -> int:
        return self._database.execute(f"SELECT {what}").fetchone()[0] or 0

    def count_again(self) -> None:
        """Measure the log: how many events, how many bytes."""
        size = "SELECT count(*), ifnull(sum(length(entry)), 0) FROM events"
        events, length = self._database.execute(size).fetchone()
        self.events, self.bytes = int(events), int(length)

    # ---- writing -----------------------------------------------------------------------------

    def append(self, rows: Collection[Row]) -> None:
        """Put rows on disk, all of them or none."""
        data = [
            (number, row.stream, row.seq, events.encode(row.entry))
            for number, row in enumerate(rows, self._next)
        ]
        with self._transaction():
            self._database.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", data)
        for number, name, _, entry in data:
            self.unsaved.setdefault(name, number)
            self.bytes += len(entry)
        self._next += len(data)
        self.events += len(data)

    def snapshot(self, stream: Stream) -> None:
        """Keep all of a stream, so that its entries so far are no longer needed."""
        row = stream.name, self._next - 1, stream.snapshot()
        with self._transaction():
            self._database.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", row)
        self.unsaved.pop(stream.name, None)

    def prune(self) -> int:
        """Delete the oldest events that no stream needs, some at a time; how many went."""
        oldest = self._database.execute("SELECT min(id) FROM events").fetchone()[0]
        needed = next(iter(self.unsaved.values()), self._next)
        if oldest is None or oldest >= needed:
            return 0
        stop = min(needed, oldest + _PRUNED_AT_ONCE)
        size = "SELECT count(*), ifnull(sum(length(entry)), 0) FROM events WHERE id < ?"
        count, length = self._database.execute(size, (stop,)).fetchone()
        with self._transaction():
            self._database.execute("DELETE FROM events WHERE id < ?", (stop,))
        self.events -= int(count)
        self.bytes -= int(length)
        return int(count)

    def probe(self) -> None:
        """Write something, to see whether writing works; as large as a usual commit."""
        with self._transaction():
            self._database.execute("INSERT OR REPLACE INTO probe VALUES (1, zeroblob(65536))")

    def _transaction(self) -> _Transaction:
        return _Transaction(self._database)

    # ---- reading -----------------------------------------------------------------------------

    def load(
        self,
        names: Collection[str] | None = None,
        told: Callable[[str, ChangeEvent], None] = lambda name, notice: None,
    ) -> dict[str, Stream]:
        """All streams, or those named, from their snapshots and the entries after them."""
        streams: dict[str, Stream] = {}
        for name in self._saved() if names is None else names:
            found = self._database.execute("SELECT state FROM snapshots WHERE stream = ?", (name,))
            for (state,) in found:
                streams[name] = Stream.restored(state)
        for number, name, seq, data in self._rows(names):
            stream = streams.get(name)
            if stream is None or seq > stream.book.seq:
                notice = _replay(streams, name, seq, data)
                if names is None:  # at the start; later, commits keep this up to date
                    self.unsaved.setdefault(name, number)
                    told(name, notice)
        return streams

    def _saved(self) -> list[str]:
        found = self._database.execute("SELECT stream FROM snapshots ORDER BY stream")
        return [name for (name,) in found]

    def _rows(self, names: Collection[str] | None) -> Iterator[tuple[int, str, int, bytes]]:
        for row in self._database.execute("SELECT id, stream, seq, entry FROM events ORDER BY id"):
            if names is None or row[1] in names:
                yield row

    def close(self) -> None:
        """Fold the write-ahead log into the database, and close it."""
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._database.close()


class _Transaction:
    """Begin, then commit or, whatever fails, go back."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __enter__(self) -> Self:
        self._database.execute("BEGIN IMMEDIATE")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._database.execute("COMMIT")
        finally:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")


def _replay(streams: dict[str, Stream], name: str, seq: int, data: bytes) -> ChangeEvent:
    entry = events.decode(data)
    if isinstance(entry, Creation) and name not in streams:
        streams[name] = Stream.created(name, entry)
        return streams[name].birth()
    if name not in streams or seq != streams[name].book.seq + 1:
        raise LogError(f"the log of a stream has a gap before its seq {seq}: it is damaged.")
    return streams[name].replay(entry)
