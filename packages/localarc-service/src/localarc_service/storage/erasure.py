"""Erasure: what was deleted leaves the files of the database, some seconds after its rows.

The bytes of a deleted row stay in free pages, in unused parts of other pages and in the write-ahead
log. SQLite's `secure_delete` was seen to miss copies that it leaves when it moves rows between
pages (3.40); so the database is written anew by VACUUM, and a checkpoint empties the log. This
takes as long as the database is large, so deletions are collected for a while. That something is to
be erased is stored together with the deletion: the next start completes what a crash interrupts.
"""

from __future__ import annotations

import logging
import sqlite3
import time

TABLE = "CREATE TABLE erasure (id INTEGER PRIMARY KEY)"
"""Has a row while something that was deleted is still in the files."""

DELETED_SECONDS = 10.0
"""At most this long after a stream was deleted or renamed, its bytes are gone."""
REPLACED_SECONDS = 3600.0
"""At most this long after events were removed because of their age."""
RETRY_SECONDS = 10.0
"""After an attempt that failed, or found a reader of the write-ahead log, such as a backup."""

_log = logging.getLogger("localarc.service")


class Erasure:
    """When the database is written anew."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        interrupted = database.execute("SELECT count(*) FROM erasure").fetchone()[0]
        self._due = time.monotonic() if interrupted else None

    @property
    def is_pending(self) -> bool:
        """Whether something is to be erased."""
        return self._due is not None

    @property
    def is_due(self) -> bool:
        """Whether it is time."""
        return self._due is not None and time.monotonic() >= self._due

    def note(self) -> None:
        """Store, in the transaction of the caller, that something is to be erased."""
        self._database.execute("INSERT OR IGNORE INTO erasure VALUES (1)")

    def schedule(self, seconds: float) -> None:
        """Erase within this number of seconds."""
        due = time.monotonic() + seconds
        self._due = due if self._due is None else min(due, self._due)

    def run(self) -> None:
        """Erase now, or try again later; an interrupted attempt changes nothing."""
        try:
            done = self._erase()
        except sqlite3.Error as error:
            _log.warning("deleted data could not be erased yet: %s", error)
            done = False
        self._due = None if done else time.monotonic() + RETRY_SECONDS

    def _erase(self) -> bool:
        self._database.execute("VACUUM")
        if not self._empty_write_ahead_log():
            _log.warning("deleted data could not be erased yet: another process reads the database")
            return False
        self._database.execute("DELETE FROM erasure")
        return True

    def _empty_write_ahead_log(self) -> bool:
        """Whether it could be emptied; does not wait for readers."""
        patience = self._database.execute("PRAGMA busy_timeout").fetchone()[0]
        self._database.execute("PRAGMA busy_timeout = 0")
        try:
            busy = self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            self._database.execute(f"PRAGMA busy_timeout = {patience}")
        return not busy
