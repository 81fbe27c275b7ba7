"""A database of an older format is converted by its next owner, and read as it is by an export."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from localarc_service.storage.postgres import migration
from localarc_service.storage.postgres.connection import Address
from localarc_service.storage.postgres.reading import read
from localarc_service.storage.postgres.store import PostgresStore
from localarc_service.stored.format import VERSION
from localarc_service.streams.stream import Stream
from service.postgres_server import Postgres
from service.test_golden import GOLDEN, load

pytestmark = pytest.mark.service

OLD = migration.OLDEST


@pytest.fixture
def old(address: Address, postgres: Postgres) -> Address:
    """A database with the rows of the golden folder of version 5."""
    with contextlib.closing(PostgresStore(address)) as store:
        assert store.acquire()
    with (
        contextlib.closing(sqlite3.connect(GOLDEN / f"v{OLD}" / "log.sqlite")) as source,
        postgres.connect() as target,
    ):
        target.execute(f"SET search_path = {address.schema}".encode())
        events = source.execute("SELECT * FROM events").fetchall()
        snapshots = source.execute("SELECT * FROM snapshots").fetchall()
        with target.cursor() as cursor:
            cursor.executemany("INSERT INTO events VALUES (%s, %s, %s, %s, %s)", events)
            cursor.executemany("INSERT INTO snapshots VALUES (%s, %s, %s, %s)", snapshots)
        last = max(number for number, *_ in events)
        target.execute("UPDATE owner SET version = %s, last_event = %s", (OLD, last))
    return address


def contents(streams: dict[str, Stream]) -> dict[str, bytes]:
    return {name: stream.snapshot() for name, stream in streams.items()}


def version(postgres: Postgres, address: Address) -> int:
    [(found,)] = postgres.execute(f"SELECT version FROM {address.schema}.owner")
    return int(found)


def test_the_next_owner_converts_it_and_finds_the_streams_of_a_converted_folder(
    old: Address, postgres: Postgres, tmp_path: Path
) -> None:
    expected = contents(load(OLD, tmp_path))
    assert len(expected) > 10
    assert contents(read(old)[0]) == expected
    assert version(postgres, old) == OLD  # an export changes nothing
    for _ in range(2):  # converted once, and opened
        with contextlib.closing(PostgresStore(old)) as store:
            assert store.acquire()
            assert version(postgres, old) == VERSION
            assert contents(store.load()) == expected
            assert not store.quarantined
    assert contents(read(old)[0]) == expected


def test_a_damaged_row_stays_damaged(old: Address, postgres: Postgres) -> None:
    postgres.execute(f"UPDATE {old.schema}.events SET event = event || ' ' WHERE seq = 7")
    damaged = set(read(old)[1])
    assert damaged
    with contextlib.closing(PostgresStore(old)) as store:
        assert store.acquire()
        store.load()
        assert set(store.quarantined) == damaged


def test_a_migration_that_fails_changes_nothing(
    old: Address, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(data: bytes, version: int) -> bytes:
        raise MemoryError

    rows = f"SELECT * FROM {old.schema}.events ORDER BY id"
    before = postgres.execute(rows)
    with monkeypatch.context() as patch, contextlib.closing(PostgresStore(old)) as store:
        patch.setattr(migration, "upgrade_snapshot", fail)
        with pytest.raises(MemoryError):
            store.acquire()
    assert (version(postgres, old), postgres.execute(rows)) == (OLD, before)
    with contextlib.closing(PostgresStore(old)) as store:
        assert store.acquire()
        assert version(postgres, old) == VERSION
