"""The tables of the event store in PostgreSQL."""

from __future__ import annotations

from typing import LiteralString

from psycopg import sql

from localarc.service.storage.format import VERSION
from localarc.service.storage.interface import StorageError
from localarc.service.storage.postgres.connection import Connection

# `owner` has one row: who may write, and the latest event. `marks` has the latest event of each
# stream, so that missing rows show. No event of a stream can be stored twice.
_TABLES = (
    "CREATE TABLE owner (one boolean PRIMARY KEY DEFAULT true CHECK (one),"
    " version integer NOT NULL, epoch bigint NOT NULL, last_event bigint NOT NULL)",
    "CREATE TABLE events (id bigint PRIMARY KEY, stream text NOT NULL, seq bigint NOT NULL,"
    " event bytea NOT NULL, checksum bigint NOT NULL, UNIQUE (stream, seq))",
    "CREATE TABLE snapshots (stream text PRIMARY KEY, last_event bigint NOT NULL,"
    " state bytea NOT NULL, checksum bigint NOT NULL)",
    "CREATE TABLE marks (stream text PRIMARY KEY, seq bigint NOT NULL)",
)


def prepare(connection: Connection, schema: str) -> None:
    """Create the tables if there are none, in the transaction of the caller, who has the lock."""
    if not _exists(connection, "SELECT to_regnamespace(%s) IS NOT NULL", schema):
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    if not _exists(connection, "SELECT to_regclass(%s) IS NOT NULL", f"{schema}.owner"):
        for table in _TABLES:
            connection.execute(table)
        new = "INSERT INTO owner (version, epoch, last_event) VALUES (%s, 0, 0)"
        connection.execute(new, (VERSION,))
    found = connection.execute("SELECT version FROM owner").fetchone()
    if found != (VERSION,):
        raise StorageError(
            f"schema {schema!r} of the database has format version {found and found[0]}, this "
            f"localarc reads {VERSION}. Install the release of localarc that wrote it."
        )


def _exists(connection: Connection, query: LiteralString, name: str) -> bool:
    found = connection.execute(query, (name,)).fetchone()
    return found == (True,)
