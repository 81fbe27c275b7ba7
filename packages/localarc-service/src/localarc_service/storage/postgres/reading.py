"""Reading a database that another process owns: all streams as of one moment."""

from __future__ import annotations

import contextlib

import psycopg

from localarc_service.storage import migrations
from localarc_service.storage.interface import StorageError
from localarc_service.storage.loading import Loader
from localarc_service.storage.postgres import schema
from localarc_service.storage.postgres.connection import Address, Connection
from localarc_service.storage.postgres.group import member
from localarc_service.streams.quarantine import Quarantine
from localarc_service.streams.stream import Stream


def read(address: Address) -> tuple[dict[str, Stream], dict[str, Quarantine]]:
    """The streams of a database and the damaged ones, in one transaction that blocks no writer."""
    try:
        with contextlib.closing(address.connect()) as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return _load_all(connection, address)
    except psycopg.Error as error:
        raise StorageError(f"the database cannot be read: {str(error).strip()}.") from error


def _load_all(
    connection: Connection, address: Address
) -> tuple[dict[str, Stream], dict[str, Quarantine]]:
    """The streams of a schema, or of the schemas of its workers."""
    count = schema.workers_of(connection, address.schema)
    if count == 0:
        raise StorageError(
            f"the database has no streams: there is no schema {address.schema!r} of ours."
        )
    places = [member(address, index) for index in range(count)] if count > 1 else [address]
    streams: dict[str, Stream] = {}
    damaged: dict[str, Quarantine] = {}
    for place in places:
        if not schema.workers_of(connection, place.schema):
            continue  # a worker that has never been the owner
        connection.execute("SELECT set_config('search_path', %s, false)", (place.schema,))
        found = _load(connection, place.schema)
        streams |= found[0]
        damaged |= found[1]
    return streams, damaged


def _load(connection: Connection, place: str) -> tuple[dict[str, Stream], dict[str, Quarantine]]:
    version = schema.version_of(connection, place)
    loader = Loader()
    for found in connection.execute("SELECT * FROM snapshots ORDER BY stream", binary=True):
        loader.add_snapshot(*migrations.upgrade_row(found, version, migrations.upgrade_snapshot))
    for _, *row in connection.execute("SELECT * FROM events ORDER BY id", binary=True):
        loader.add_event(*migrations.upgrade_row(row, version, migrations.upgrade_event))
    marks: dict[str, int] = dict(connection.execute("SELECT stream, seq FROM marks").fetchall())
    damaged = loader.set_aside(marks)
    return loader.streams, damaged
