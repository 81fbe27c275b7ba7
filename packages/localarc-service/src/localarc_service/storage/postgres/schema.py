"""The tables of the event store in PostgreSQL."""

from __future__ import annotations

from typing import LiteralString

from psycopg import sql

from localarc_service.storage.interface import StorageError
from localarc_service.storage.postgres import migration
from localarc_service.storage.postgres.connection import Connection
from localarc_service.stored.format import VERSION

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
# The schema of a service with several workers has this table alone: each has a schema of its own.
_GROUP_TABLE = (
    "CREATE TABLE workers (one boolean PRIMARY KEY DEFAULT true CHECK (one),"
    " workers integer NOT NULL)"
)


def prepare(connection: Connection, schema: str) -> None:
    """Create the tables, or convert those of an older version.

    All or nothing, in the transaction of the caller, who has the lock.
    """
    _create_schema(connection, schema)
    if not _has_table(connection, schema, "owner"):
        for table in _TABLES:
            connection.execute(table)
        new = "INSERT INTO owner (version, epoch, last_event) VALUES (%s, 0, 0)"
        connection.execute(new, (VERSION,))
    version = version_of(connection, schema)
    if version < VERSION:
        migration.migrate(connection, version)


def version_of(connection: Connection, schema: str) -> int:
    """The version of the stored format, in the schema that is searched; raises if it is unknown."""
    found = connection.execute("SELECT version FROM owner").fetchone()
    if found is None or not migration.OLDEST <= found[0] <= VERSION:
        raise StorageError(
            f"schema {schema!r} of the database has format version {found and found[0]}, this "
            f"localarc reads {migration.OLDEST} to {VERSION}. Install the release of localarc that "
            "wrote it."
        )
    return int(found[0])


def prepare_group(connection: Connection, schema: str, workers: int) -> None:
    """Record the number of workers if none is, in the transaction of the caller with the lock."""
    require_workers(connection, schema, workers)
    _create_schema(connection, schema)
    if not _has_table(connection, schema, "workers"):
        connection.execute(_GROUP_TABLE)
        connection.execute("INSERT INTO workers (workers) VALUES (%s)", (workers,))


def workers_of(connection: Connection, schema: str) -> int:
    """How many workers share the streams of a schema; 0 if it has none."""
    if _has_table(connection, schema, "workers"):
        table = sql.Identifier(schema, "workers")
        query = sql.SQL("SELECT workers FROM {}").format(table)
        found = connection.execute(query).fetchone()
        if found is None:
            raise StorageError(f"the table workers of schema {schema!r} is empty: restore it.")
        return int(found[0])
    return int(_has_table(connection, schema, "owner"))


def require_workers(connection: Connection, schema: str, workers: int) -> None:
    """Raise StorageError unless a schema is new, or was made for that many workers."""
    found = workers_of(connection, schema)
    if found not in (0, workers):
        raise StorageError(
            f"schema {schema!r} of the database holds the streams of {found} worker(s), not of "
            f"{workers}: pass --workers {found}, or copy them into another schema with `localarc "
            f"export --out FILE` and `localarc import FILE --store-schema NEW --workers {workers}`."
        )


def _create_schema(connection: Connection, schema: str) -> None:
    if not _exists(connection, "SELECT to_regnamespace(%s) IS NOT NULL", schema):
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))


def _has_table(connection: Connection, schema: str, table: str) -> bool:
    return _exists(connection, "SELECT to_regclass(%s) IS NOT NULL", f"{schema}.{table}")


def _exists(connection: Connection, query: LiteralString, name: str) -> bool:
    found = connection.execute(query, (name,)).fetchone()
    return found == (True,)
