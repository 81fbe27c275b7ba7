"""Migration of a database: its rows become those of the present version, all or nothing."""

from __future__ import annotations

from localarc_service.storage.migrations import upgrade_event, upgrade_row, upgrade_snapshot
from localarc_service.storage.postgres.connection import Connection
from localarc_service.stored.format import VERSION

OLDEST = 5
"""Databases are younger than folders."""

_FETCH_ROWS = 100  # no statement for long would look like an owner that stalls


def migrate(connection: Connection, version: int) -> None:
    """Convert an older version to the present one, in the transaction of the caller."""
    connection.execute("UPDATE owner SET version = %s", (VERSION,))
    with connection.cursor("rows", binary=True) as rows:
        rows.itersize = _FETCH_ROWS
        for number, *row in rows.execute("SELECT * FROM events"):
            *_, data, checksum = upgrade_row(row, version, upgrade_event)
            if data != row[2]:
                change = "UPDATE events SET event = %s, checksum = %s WHERE id = %s"
                connection.execute(change, (data, checksum, number))
    with connection.cursor("rows", binary=True) as rows:
        rows.itersize = 1
        for found in rows.execute("SELECT * FROM snapshots"):
            name, _, data, checksum = upgrade_row(found, version, upgrade_snapshot)
            change = "UPDATE snapshots SET state = %s, checksum = %s WHERE stream = %s"
            connection.execute(change, (data, checksum, name))
