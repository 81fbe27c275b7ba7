"""Opening a store: a data folder, or a schema of a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from localarc_service.storage.held_files import HeldFile
from localarc_service.storage.interface import Store
from localarc_service.storage.store import EventStore

if TYPE_CHECKING:
    from localarc_service.storage.postgres.connection import Address


def postgres_address(url: str, schema: str) -> Address:
    """The address of a database; raises ValueError if it cannot be one."""
    try:
        from localarc_service.storage.postgres.connection import Address
    except ImportError as error:
        raise ImportError(
            "a store in PostgreSQL requires psycopg: "
            f"pip install './packages/localarc-service[postgres]' ({error})"
        ) from error
    return Address(url, schema)


def open_store(
    place: Path | Address, synchronous: str = "FULL", held: Iterable[HeldFile] = ()
) -> Store:
    """The store in a folder, or the one in a database, which is not connected to yet.

    A folder is the caller's while the files in `held` are in their place.
    """
    if isinstance(place, Path):
        return EventStore(place, synchronous, held)
    from localarc_service.storage.postgres.store import PostgresStore

    return PostgresStore(place, synchronous)
