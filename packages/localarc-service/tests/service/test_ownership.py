"""One process owns a schema of PostgreSQL; a former owner writes nothing."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator

import pytest

from localarc_client.wire.predictions import PredictRequest
from localarc_service.api.auth import Tokens
from localarc_service.limits import Limits
from localarc_service.storage.interface import StorageError
from localarc_service.storage.postgres import ownership
from localarc_service.storage.postgres.connection import Address
from localarc_service.storage.postgres.ownership import NotOwnerError
from localarc_service.storage.postgres.store import PostgresStore
from localarc_service.streams.manager import StreamManager
from service.postgres_server import Postgres
from service.service_in_thread import Inside, wait_for
from service.service_process import Caller
from service.test_store import manager_with

pytestmark = pytest.mark.service


@pytest.fixture
def owner(address: Address) -> Iterator[PostgresStore]:
    with contextlib.closing(PostgresStore(address)) as store:
        assert store.acquire()
        yield store


@pytest.fixture
def other(address: Address) -> Iterator[PostgresStore]:
    with contextlib.closing(PostgresStore(address)) as store:
        yield store


def write(store: PostgresStore, manager: StreamManager, key: str) -> None:
    """Make a prediction of stream a, and store it."""
    manager.uncommitted = []
    manager.predict("a", PredictRequest(id=key))
    store.append(manager.uncommitted)


def predictions(store: PostgresStore) -> list[str]:
    return list(store.load(["a"])["a"].state.pending)


def end_session(postgres: Postgres, address: Address) -> None:
    """End the owner's session at the server, as a failing network would."""
    key = address.lock_key % 2**64
    assert postgres.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
        f" AND classid = {key >> 32} AND objid = {key % 2**32}"
    ) == [(True,)]


def test_a_second_process_waits_until_the_owner_ends(
    owner: PostgresStore, other: PostgresStore
) -> None:
    manager = manager_with(owner)
    assert not other.acquire()
    assert not other.is_owner()
    with pytest.raises(NotOwnerError):
        other.load()
    owner.close()
    assert other.acquire()
    found = other.load()
    assert {name: each.snapshot() for name, each in found.items()} == {
        name: each.snapshot() for name, each in manager.streams.items()
    }


def test_a_former_owner_writes_nothing(
    owner: PostgresStore, other: PostgresStore, postgres: Postgres, address: Address
) -> None:
    manager = manager_with(owner)
    end_session(postgres, address)
    wait_for(other.acquire)
    twin = StreamManager(manager.limits, lambda: 1.0)
    twin.begin(other.load())
    write(other, twin, "of the other".replace(" ", "-"))
    with pytest.raises(owner.errors):
        write(owner, manager, "too-late")
    assert not owner.is_owner()
    assert predictions(other) == ["of-the-other"]


def test_the_epoch_stops_a_former_owner_whose_connection_still_works(
    owner: PostgresStore, postgres: Postgres, address: Address
) -> None:
    """As behind a pool of connections, where a lock can get lost unnoticed."""
    manager = manager_with(owner)
    postgres.execute(f"UPDATE {address.schema}.owner SET epoch = epoch + 1")
    with pytest.raises(NotOwnerError, match="another process owns the database"):
        write(owner, manager, "too-late")
    assert not owner.is_owner()
    rows = postgres.execute(f"SELECT count(*) FROM {address.schema}.events")
    assert rows == [(42,)]


@pytest.mark.parametrize("how", ["snapshot", "prune", "probe"])
def test_nothing_at_all_is_written_by_a_former_owner(
    owner: PostgresStore, postgres: Postgres, address: Address, how: str
) -> None:
    manager = manager_with(owner)
    streams = list(manager.streams.values())
    if how == "prune":
        owner.snapshot(streams)
    postgres.execute(f"UPDATE {address.schema}.owner SET epoch = epoch + 1")
    with pytest.raises(NotOwnerError):
        owner.snapshot(streams) if how == "snapshot" else getattr(owner, how)()
    tables = "SELECT (SELECT count(*) FROM {0}.events), (SELECT count(*) FROM {0}.snapshots)"
    found = postgres.execute(tables.format(address.schema))
    assert found == [(42, 2 if how == "prune" else 0)]


def test_an_owner_without_requests_notices_that_its_session_ended(
    owner: PostgresStore, postgres: Postgres, address: Address
) -> None:
    assert owner.is_owner()
    end_session(postgres, address)
    wait_for(lambda: not owner.is_owner())


def test_an_owner_without_requests_notices_another_owner(
    owner: PostgresStore, postgres: Postgres, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "_HEARTBEAT_SECONDS", 0.0)
    owner.flush()
    assert owner.is_owner()
    postgres.execute(f"UPDATE {address.schema}.owner SET epoch = epoch + 1")
    owner.flush()
    assert not owner.is_owner()


def test_an_owner_with_thousands_of_connections_knows_that_it_is_one(address: Address) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        with contextlib.closing(PostgresStore(address)) as store:
            assert store.acquire()
            assert store._ownership.connection.fileno() > 1024
            assert store.is_owner()
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_former_owner_that_wins_again_sees_what_was_written_meanwhile(
    owner: PostgresStore, other: PostgresStore, postgres: Postgres, address: Address
) -> None:
    manager = manager_with(owner)
    end_session(postgres, address)
    wait_for(other.acquire)
    manager.begin(other.load())
    write(other, manager, "meanwhile")
    wait_for(lambda: not owner.is_owner())
    assert not owner.acquire()
    other.close()
    assert owner.acquire()
    assert predictions(owner) == ["meanwhile"]
    write(owner, manager, "next")
    assert predictions(owner) == ["meanwhile", "next"]


def test_services_with_schemas_of_their_own_share_a_database(
    owner: PostgresStore, address: Address
) -> None:
    manager_with(owner)
    elsewhere = Address(address.url, f"{address.schema}_2")
    with contextlib.closing(PostgresStore(elsewhere)) as store:
        assert store.acquire()
        assert store.load() == {}
        manager_with(store, "c")
        assert list(store.load()) == ["c"]
    assert list(owner.load()) == ["a", "b"]


def test_a_database_that_is_older_than_what_was_acknowledged_is_told(
    owner: PostgresStore,
    postgres: Postgres,
    address: Address,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As after a fail-over to a replica that lagged."""
    manager_with(owner)
    end_session(postgres, address)
    postgres.execute(f"UPDATE {address.schema}.owner SET last_event = last_event - 3")
    wait_for(lambda: not owner.is_owner())
    wait_for(owner.acquire)
    assert "the database lost 3 acknowledged event(s)" in caplog.text


def test_commits_wait_for_the_disk_even_where_the_server_does_not(
    owner: PostgresStore, address: Address
) -> None:
    lax = Address(f"{address.url}?options=-csynchronous_commit%3Doff", f"{address.schema}_lax")
    with contextlib.closing(PostgresStore(lax)) as store:
        assert store.acquire()
        found = store._ownership.connection.execute("SHOW synchronous_commit").fetchone()
    assert found == ("on",)


def test_another_format_is_rejected(
    owner: PostgresStore, other: PostgresStore, postgres: Postgres, address: Address
) -> None:
    owner.close()
    postgres.execute(f"UPDATE {address.schema}.owner SET version = 99")
    with pytest.raises(StorageError, match="has format version 99, this localarc reads"):
        other.acquire()


@pytest.mark.parametrize(
    ("statement", "reason", "missing"),
    [
        ("UPDATE {}.events SET event = '\\x00' WHERE seq = 7", "event 7 is damaged", 14),
        ("DELETE FROM {}.events WHERE seq = 20", "event 20 is damaged or missing", 1),
        ("DELETE FROM {}.events WHERE seq BETWEEN 3 AND 5", "events 3 to 5 are", 18),
        ("DELETE FROM {}.events WHERE true", "events 0 to 20 are damaged or missing", 21),
    ],
)
def test_a_damaged_row_puts_its_stream_in_quarantine(
    owner: PostgresStore,
    postgres: Postgres,
    address: Address,
    statement: str,
    reason: str,
    missing: int,
) -> None:
    manager = manager_with(owner)
    postgres.execute(f"{statement.format(address.schema)} AND stream = 'a'")
    streams = owner.load()
    assert streams["b"].snapshot() == manager.streams["b"].snapshot()
    found = owner.quarantined["a"]
    assert (reason in found.reason, found.missing) == (True, missing), found
    owner.snapshot(streams.values())
    owner.prune()
    kept = postgres.execute(f"SELECT count(*) FROM {address.schema}.events WHERE stream = 'b'")
    assert kept == [(0,)]
    if found.readable is not None:
        owner.append([], {"a": found.readable})
        assert owner.load()["a"].state.seq == 20 - missing
    assert ("a" in owner.quarantined) == (found.readable is None)


def test_a_damaged_snapshot_puts_its_stream_in_quarantine(
    owner: PostgresStore, postgres: Postgres, address: Address
) -> None:
    manager = manager_with(owner)
    owner.snapshot(manager.streams.values())
    owner.prune()
    postgres.execute(f"UPDATE {address.schema}.snapshots SET state = '\\x00' WHERE stream = 'a'")
    assert list(owner.load()) == ["b"]
    assert owner.quarantined["a"].reason == "its snapshot is damaged"


def test_a_service_that_may_not_own_its_streams_gives_them_up(address: Address) -> None:
    """As a worker does whose parent lost the lock of the group."""
    service = Inside(address, Limits(), Tokens({})).start()
    writer, reason = service.app_state.writer, ["standby: told so"]
    with contextlib.closing(Caller(service.port)) as caller:
        assert caller.create("a", {"alpha": 0.1, "method": "arc"})[0] == 201
        writer.hindrance = lambda: reason[0]
        with contextlib.closing(PostgresStore(address)) as other:
            wait_for(other.acquire)
            assert caller.predict("a")[0] == 503
        wait_for(lambda: caller.call("GET", "/readyz")[1]["detail"] == "standby: told so.")
        reason[0] = ""
        wait_for(lambda: caller.predict("a")[0] == 200)
    service.stop()
