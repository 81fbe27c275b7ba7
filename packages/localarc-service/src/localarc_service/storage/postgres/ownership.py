"""Ownership: at most one process writes to a schema, and it knows whether it still may.

The owner's session holds an advisory lock, which PostgreSQL releases when the session ends: then a
process that stands by gets it. Each owner has its own epoch, one more than the previous owner's.
Every transaction that writes checks the epoch first and locks its row, so that a process whose lock
has gone to another writes nothing, however late it finds out.
"""

from __future__ import annotations

import contextlib
import logging
import select
import time
from collections.abc import Iterator

import psycopg

from localarc_service.storage.postgres import schema
from localarc_service.storage.postgres.connection import Address, Connection

_HEARTBEAT_SECONDS = 1.0
_log = logging.getLogger("localarc.service")


class NotOwnerError(Exception):
    """Another process owns the database, or this one lost its connection."""


class Ownership:
    """The session of the owner, or of a process that would like to be."""

    def __init__(self, address: Address, synchronous: str) -> None:
        self._address = address
        self._synchronous = synchronous
        self._connection: Connection | None = None
        self._epoch = 0  # of this process; 0 if it is not the owner
        self._heard = 0.0  # when the database answered last
        self.last_event = 0  # the latest one that was committed

    def acquire(self) -> bool:
        """Become the owner; False while another process is."""
        try:
            connection = self._connection or self._connect()
            locked = connection.execute(
                "SELECT pg_try_advisory_lock(%s)", (self._address.lock_key,)
            ).fetchone()
            if locked != (True,):
                return False
            self._begin_epoch(connection)
        except BaseException:
            self.close()
            raise
        return True

    def _connect(self) -> Connection:
        self._connection = connection = self._address.connect()
        schema.require_workers(connection, self._address.schema, 1)
        found = connection.execute("SHOW synchronous_commit").fetchone()
        if self._synchronous == "OFF":
            connection.execute("SET synchronous_commit = off")
        elif found == ("off",):
            _log.warning("synchronous_commit is off for this database: here, it is on")
            connection.execute("SET synchronous_commit = on")
        return connection

    def _begin_epoch(self, connection: Connection) -> None:
        with connection.transaction():
            schema.prepare(connection, self._address.schema)
            begin = "UPDATE owner SET epoch = epoch + 1 RETURNING epoch, last_event"
            found = connection.execute(begin).fetchone()
        assert found is not None
        self._epoch, last_event = found
        if last_event < self.last_event:
            _log.error(
                "the database lost %d acknowledged event(s): it is older than it was",
                self.last_event - last_event,
            )
        self.last_event, self._heard = last_event, time.monotonic()

    def is_owner(self) -> bool:
        """Whether the session is open, as far as this machine has heard."""
        if not self._epoch or self._connection is None or self._connection.closed:
            return False
        if _has_input(self._connection):  # maybe it says good-bye
            self._ask()
        return self._epoch > 0

    def heartbeat(self) -> None:
        """Once a second without other traffic, ask the database who the owner is."""
        if self._epoch and time.monotonic() - self._heard >= _HEARTBEAT_SECONDS:
            self._ask()

    def _ask(self) -> None:
        try:
            found = self.connection.execute("SELECT epoch FROM owner").fetchone()
        except psycopg.Error:
            found = None
        self._heard = time.monotonic()
        if found != (self._epoch,):
            self.close()

    @property
    def connection(self) -> Connection:
        """The owner's connection, to read."""
        if not self._epoch or self._connection is None:
            raise NotOwnerError("the connection to the database was lost")
        return self._connection

    @contextlib.contextmanager
    def transaction(self, new_events: int = 0) -> Iterator[Connection]:
        """The owner's connection, to write: commits at the end of the block, or rolls back.

        If the connection is lost meanwhile, the outcome is not known: the next `acquire` succeeds
        only after the server has decided it, and then `last_event` shows it.
        """
        connection, last_event = self.connection, self.last_event + new_events
        fence = "UPDATE owner SET last_event = %s WHERE epoch = %s"
        try:
            with connection.transaction():
                if connection.execute(fence, (last_event, self._epoch)).rowcount != 1:
                    raise NotOwnerError("another process owns the database")
                yield connection
        except NotOwnerError:
            self.close()
            raise
        self.last_event, self._heard = last_event, time.monotonic()

    def release(self) -> None:
        """Give the ownership up: when this returns, another process can have it."""
        if self._epoch and self._connection is not None:
            with contextlib.suppress(psycopg.Error):
                self._connection.execute("SELECT pg_advisory_unlock_all()")
        self.close()

    def close(self) -> None:
        """End the session, in any state; the server notices soon."""
        self._epoch = 0
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                connection.close()


def _has_input(connection: Connection) -> bool:
    """Whether the server sent something; `poll`, because `select` knows 1,024 files only."""
    waiting = select.poll()
    waiting.register(connection, select.POLLIN)
    return bool(waiting.poll(0))
