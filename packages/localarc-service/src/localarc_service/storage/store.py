"""The event store: events and snapshots in SQLite, on disk when a commit returns.

`events` is appended to and pruned from its oldest end; `snapshots` holds the latest one of each
stream. A stream is its snapshot and the events after it. The high-water mark beside the database
shows whether the latest commits are there.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from localarc_client.wire.events import ChangeEvent
from localarc_service.storage import erasure, migrations
from localarc_service.storage.checksums import row_checksum
from localarc_service.storage.erasure import Erasure
from localarc_service.storage.held_files import HeldFile, HeldFiles
from localarc_service.storage.high_water_mark import HighWaterMark
from localarc_service.storage.interface import StorageError
from localarc_service.storage.loading import Loader
from localarc_service.storage.migrations import OLDEST
from localarc_service.storage.rows import EventRow, event_row
from localarc_service.storage.salvage import is_damaged, salvage
from localarc_service.stored.format import VERSION
from localarc_service.streams.manager import PendingWrite
from localarc_service.streams.quarantine import Quarantine
from localarc_service.streams.stream import Stream

FILE_NAME = "log.sqlite"
NO_MARKS = "the high-water mark is missing or damaged: loss of the latest events would not show"
_PRUNE_BATCH = 10_000
_log = logging.getLogger("localarc.service")

_SCHEMA = (
    "CREATE TABLE events (id INTEGER PRIMARY KEY, stream TEXT NOT NULL, seq INTEGER NOT NULL,"
    " event BLOB NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE snapshots (stream TEXT PRIMARY KEY, last_event INTEGER NOT NULL,"
    " state BLOB NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB)",
    erasure.TABLE,
)

_SALVAGED_FROM = 5  # the version since which tables are these


class EventStore:
    """The database of a data folder, used by one thread; the folder's lock is its owner's.

    Nothing is written once the database, its log or a file in `held` is no longer the one at its
    path.
    """

    place = "the data folder"
    errors: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(
        self, folder: Path, synchronous: str = "FULL", held: Iterable[HeldFile] = ()
    ) -> None:
        self._path = folder / FILE_NAME
        self._log_path = folder / f"{FILE_NAME}-wal"
        self._held = HeldFiles(held)
        self._looked = False  # at the files, since the last `flush`
        self._synchronous = synchronous
        self.degraded = ""  # why nothing can be written, as known without trying; empty if it can
        self._connect()
        try:
            self._prepare(folder)
        except BaseException:
            self._database.close()
            raise

    def _prepare(self, folder: Path) -> None:
        """Bring the tables up to date, and read what the folder holds."""
        version = self._version()
        self._marks = HighWaterMark(folder)
        self.salvaged = version >= _SALVAGED_FROM and is_damaged(self._database)
        if self.salvaged:
            salvage(self._database, self._path, _SCHEMA, version, self._marks.last_event)
            self._connect()
        if version < VERSION:  # else opening a folder writes nothing: it works on a full disk
            self._migrate(version)
        self._held.hold(self._path)
        self._held.hold(self._log_path)
        self._erasure = Erasure(self._database)
        self._next = 1 + max(
            self._marks.last_event,
            self._largest("max(id) FROM events"),
            self._largest("max(last_event) FROM snapshots"),
        )
        self.recount()
        self.unsaved: dict[str, int] = {}  # the first event after a stream's snapshot, oldest first
        self.quarantined: dict[str, Quarantine] = {}  # found by `load`; their rows are kept

    def _connect(self) -> None:
        """Open the database; on a full disk, without the file that other processes would share."""
        try:
            self._connect_with("NORMAL")
            self.degraded = ""
        except sqlite3.OperationalError as error:
            if not self._path.exists():
                raise
            self._connect_with("EXCLUSIVE")
            self.degraded = str(error)

    def _connect_with(self, locking_mode: str) -> None:
        database = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            database.text_factory = _text
            database.execute(f"PRAGMA locking_mode = {locking_mode}")
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(f"PRAGMA synchronous = {self._synchronous}")
            database.execute(f"PRAGMA journal_size_limit = {2**24}")
        except sqlite3.Error:
            database.close()
            raise
        self._database = database

    def _version(self) -> int:
        """The version of the folder, 0 if it is new."""
        found: int = self._database.execute("PRAGMA user_version").fetchone()[0]
        tables = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found == 0:  # version 1 wrote its number after its tables
            return OLDEST if tables else 0
        if not OLDEST <= found <= VERSION:
            raise StorageError(
                f"the data folder has format version {found}, this localarc reads {OLDEST} to "
                f"{VERSION}. Install the release of localarc that wrote it."
            )
        return found

    def _migrate(self, version: int) -> None:
        """Create the tables, or convert those of an older version: all or nothing."""
        with self._transaction():
            if version == 0:
                for table in _SCHEMA:
                    self._database.execute(table)
            else:
                migrations.migrate(self._database, version)
            self._database.execute(f"PRAGMA user_version = {VERSION}")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit at the end of the block, or roll back; raises if the files have moved."""
        self._require_files()
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            yield

    def _require_files(self) -> None:
        self._looked = True
        if moved := self._held.look():
            self.degraded = moved
            raise sqlite3.OperationalError(moved)

    @property
    def has_marks(self) -> bool:
        """Whether the high-water mark is known in full."""
        return self._marks.exists and not self._marks.unreadable_lines

    def acquire(self) -> bool:
        """The process has locked the folder already."""
        return True

    def is_owner(self) -> bool:
        """A folder stays locked until the process ends."""
        return True

    def _largest(self, expression: str) -> int:
        return self._database.execute(f"SELECT {expression}").fetchone()[0] or 0

    def recount(self) -> None:
        """Measure the log: the number of events and their bytes."""
        size = "SELECT count(*), ifnull(sum(length(event)), 0) FROM events"
        count, length = self._database.execute(size).fetchone()
        self.events, self.bytes = int(count), int(length)

    # ---- writing -----------------------------------------------------------------------------

    def append(
        self, writes: Collection[PendingWrite], replaced: Mapping[str, Stream | None] | None = None
    ) -> None:
        """Put events on disk, all of them or none.

        Before that, everything stored about the streams in `replaced` is replaced by a snapshot, or
        removed.
        """
        rows = [event_row(number, write) for number, write in enumerate(writes, self._next)]
        replaced = replaced or {}
        removed = [name for name, stream in replaced.items() if stream is None]
        self._require_files()  # before the marks are, which are found by their path
        with self._marks.without(removed), self._transaction():
            if replaced:
                self._replace(replaced)
            self._database.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
        self._next += len(rows)
        self._count(rows, replaced)
        if replaced:
            self._erasure.schedule(erasure.DELETED_SECONDS if removed else erasure.REPLACED_SECONDS)
        ends = {name: stream.state.seq for name, stream in replaced.items() if stream is not None}
        ends.update((name, seq) for _, name, seq, _, _ in rows)
        self._marks.advance(self._next - 1, ends)

    def _replace(self, replaced: Mapping[str, Stream | None]) -> None:
        names = json.dumps([*replaced])
        for table in "events", "snapshots":
            which = "stream IN (SELECT value FROM json_each(?))"
            self._database.execute(f"DELETE FROM {table} WHERE {which}", (names,))
        for stream in filter(None, replaced.values()):
            self._insert_snapshot(stream)
        self._erasure.note()

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

    def snapshot(self, streams: Iterable[Stream]) -> list[str]:
        """Store all of some streams in one transaction: their events so far are no longer needed.

        Returns the names of those that cannot be stored; the others are.
        """
        stored, failed = [], []
        with self._transaction():
            for stream in streams:
                try:
                    self._insert_snapshot(stream)
                    stored.append(stream.name)
                except (sqlite3.DataError, ValueError, OverflowError, MemoryError):
                    # A bug in the service: the log keeps the stream's events, others continue.
                    _log.exception("the snapshot of a stream failed")
                    failed.append(stream.name)
        for name in stored:
            self.unsaved.pop(name, None)
        return failed

    def _insert_snapshot(self, stream: Stream) -> None:
        name, last_event, data = stream.name, self._next - 1, stream.snapshot()
        row = name, last_event, data, row_checksum(name, last_event, data)
        self._database.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", row)

    def prune(self) -> int:
        """Delete the oldest events that no stream needs, in batches; returns how many."""
        kept = json.dumps([*self.quarantined])
        others = "FROM events WHERE stream NOT IN (SELECT value FROM json_each(?))"
        first = f"SELECT id {others} ORDER BY id LIMIT 1"
        oldest = self._database.execute(first, (kept,)).fetchone()
        needed = next(iter(self.unsaved.values()), self._next)
        if oldest is None or oldest[0] >= needed:
            return 0
        which = kept, min(needed, oldest[0] + _PRUNE_BATCH)
        size = f"SELECT count(*), ifnull(sum(length(event)), 0) {others} AND id < ?"
        count, length = self._database.execute(size, which).fetchone()
        with self._transaction():
            self._database.execute(f"DELETE {others} AND id < ?", which)
        self.events -= int(count)
        self.bytes -= int(length)
        return int(count)

    def flush(self) -> None:
        """Flush the high-water mark to disk, and erase what was deleted, if it is time."""
        if not self._looked:
            self.degraded = self._held.look() or self.degraded
        self._looked = False
        self._marks.flush()
        if self._erasure.is_due:
            self._erase()

    def _erase(self) -> None:
        if not self.degraded:
            self._marks.remove_leftovers()
            self._erasure.run()

    def probe(self) -> None:
        """Write as much as a usual commit does, to find out whether writing works."""
        self._require_files()
        if self.degraded:
            self._database.close()  # and with it the log, which the next connection makes anew
            self._connect()
            self._held.hold(self._log_path)
            self._erasure = Erasure(self._database)
        if self.degraded:
            raise sqlite3.OperationalError(self.degraded)
        with self._transaction():
            self._database.execute("INSERT OR REPLACE INTO probe VALUES (1, zeroblob(65536))")

    # ---- reading -----------------------------------------------------------------------------

    def load(
        self,
        names: Collection[str] | None = None,
        publish: Callable[[str, ChangeEvent], None] = lambda name, change: None,
    ) -> dict[str, Stream]:
        """All streams, or those named, except for damaged ones: these are then in `quarantined`."""
        loader = Loader()
        for row in self._snapshots(names):
            loader.add_snapshot(*row)
        for number, name, seq, data, checksum in self._rows(names):
            change = loader.add_event(name, seq, data, checksum)
            if change is not None and names is None:  # later, commits keep this up to date
                self.unsaved.setdefault(name, number)
                publish(name, change)
        marks = self._marks.streams
        known = marks if names is None else {name: marks[name] for name in names if name in marks}
        self._set_aside(loader.set_aside(known))
        if names is None and not self.has_marks and loader.streams:
            _log.warning(NO_MARKS)
            self._begin_marks(loader.streams)
        return loader.streams

    def _set_aside(self, found: Mapping[str, Quarantine]) -> None:
        self.quarantined.update(found)
        for name in found:
            self.unsaved.pop(name, None)

    def _begin_marks(self, streams: Mapping[str, Stream]) -> None:
        """Complete the marks; other versions, and copies of the database alone, have none."""
        ends = {name: each.state.seq for name, each in streams.items()}
        self._marks.advance(self._next - 1, ends)

    def _snapshots(self, names: Collection[str] | None) -> Iterator[tuple[str, int, bytes, int]]:
        found = self._database.execute("SELECT stream FROM snapshots ORDER BY stream")
        for (name,) in found.fetchall():
            if names is None or name in names:
                query = "SELECT * FROM snapshots WHERE stream = ?"
                yield self._database.execute(query, (name,)).fetchone()

    def _rows(self, names: Collection[str] | None) -> Iterator[EventRow]:
        for row in self._database.execute("SELECT * FROM events ORDER BY id"):
            if names is None or row[1] in names:
                yield row

    def close(self) -> None:
        """Erase what was deleted, checkpoint the write-ahead log, and close the database."""
        self._marks.close()
        try:
            if not self._held.look():
                if self._erasure.is_pending:
                    self._erase()
                self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._database.close()


def _text(data: bytes) -> str:
    """Text of a row, also of a damaged one."""
    return data.decode(errors="replace")
