"""A group: the schemas of several workers, one each, which one service owns together.

The service's own schema has one table, with the number of workers, and a lock, which the parent of
the workers holds. They may own their schemas only while it does: two services never share a group.
"""

from __future__ import annotations

import contextlib
import logging
import os

import psycopg

from localarc_service.storage.interface import StorageError
from localarc_service.storage.postgres import schema
from localarc_service.storage.postgres.connection import Address, Connection

_STANDBY = "standby: another process serves these streams"
_log = logging.getLogger("localarc.service")


def member(address: Address, index: int) -> Address:
    """The schema of one worker."""
    return Address(address.url, f"{address.schema}_{index}")


def workers_of(address: Address) -> int:
    """How many workers share the streams of a schema; 0 if it has none."""
    try:
        with contextlib.closing(address.connect()) as connection:
            return schema.workers_of(connection, address.schema)
    except psycopg.Error as error:
        raise StorageError(f"the database cannot be used: {str(error).strip()}.") from error


class Group:
    """The session that holds the lock of a group, or would like to."""

    files = ()  # a database is no file of ours

    def __init__(self, address: Address, workers: int) -> None:
        self._address = address
        self._workers = workers
        self._connection: Connection | None = None
        self._locked = False
        member(address, workers - 1)  # raises if its name is too long

    def claim(self) -> str:
        """Take the lock, or see that it is still held; why that fails, or nothing if it does not.

        Raises ValueError if the schema was made for another number of workers.
        """
        try:
            if self._connection is None:
                self._connect()
            self._locked = self._ask()
            return "" if self._locked else _STANDBY
        except psycopg.Error as error:
            if self._locked:
                _log.error("the lock of all workers was lost: they give up their streams")
            self.release()
            return f"the database cannot be used: {str(error).strip()}"
        except StorageError:
            self.release()
            raise

    def _connect(self) -> None:
        self._connection = connection = self._address.connect()
        schema.require_workers(connection, self._address.schema, self._workers)

    def _ask(self) -> bool:
        connection = self._connection
        assert connection is not None
        if self._locked:
            connection.execute("SELECT 1")
            return True
        attempt = "SELECT pg_try_advisory_lock(%s)"
        if connection.execute(attempt, (self._address.lock_key,)).fetchone() != (True,):
            return False
        with connection.transaction():
            schema.prepare_group(connection, self._address.schema, self._workers)
        return True

    def forget(self) -> None:
        """In a forked process: leave the session to the parent, which goes on using it."""
        if self._connection is not None:
            os.close(self._connection.fileno())  # `close` would end the parent's session

    def release(self) -> None:
        """End the session: when this returns, another service can have the group."""
        self._locked = False
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                connection.close()
