"""The steps of docs/service/postgres.md when data is lost: restore a dump, promote a replica."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localarc_service.storage.postgres.connection import Address
from service.postgres_server import Postgres
from service.service_in_thread import wait_for
from service.service_process import Server, free_port
from service.test_crash import Received
from service.test_takeover import (
    assert_nothing_is_lost_or_doubled,
    serving,
    status,
    two_services,
    under_load,
)

pytestmark = pytest.mark.service

PAGE = Path(__file__).parents[4] / "docs" / "service" / "postgres.md"
CONFIG: dict[str, Any] = {"alpha": 0.1, "method": "arc", "retain": 100_000}
NAMES = "demand", "parcels", "returns"  # of both workers, where there are two
Answers = dict[tuple[str, str], Any]


def documented(line: str) -> str:
    """A command as the page has it."""
    assert line in [each.strip() for each in PAGE.read_text().splitlines()], line
    return line


@pytest.fixture
def database() -> Iterator[Postgres]:
    """A server with a database named as on the page."""
    with Postgres() as server:
        server.run(documented("createdb --owner localarc localarc"))
        yield server


def url_of(server: Postgres, database: str) -> str:
    return f"postgresql://localarc@127.0.0.1:{server.port}/{database}"


def predict(server: Server, number: int) -> Answers:
    """A prediction of each stream, and its loss."""
    caller, found = server.caller(), {}
    for name in NAMES:
        key = f"p{number}"
        found[name, key] = caller.predict(name, id=key)
        assert found[name, key][0] == 200, found[name, key]
        assert caller.feedback(name, key, 0.5)[0] == 200
    caller.close()
    return found


def assert_answers(server: Server, expected: Answers) -> None:
    """Repeated requests get the stored answer."""
    for (name, key), answer in expected.items():
        assert server.caller().predict(name, id=key) == answer
        assert server.caller().feedback(name, key, 0.5)[0] == 200


@pytest.mark.parametrize("workers", [1, 2])
def test_a_dump_of_a_running_service_is_restored_step_by_step(
    loops: Path, database: Postgres, workers: int
) -> None:
    def service(name: str) -> Server:
        options = "--store", url_of(database, name), "--workers", str(workers)
        return Server(loops, *options, port=free_port())

    running, before, after = service("localarc"), Answers(), Answers()
    with running:
        for name in NAMES:
            assert running.caller().create(name, CONFIG)[0] == 201
        for number in range(20):
            before |= predict(running, number)
        stop = threading.Event()
        writing = threading.Thread(target=write, args=(running, after, stop))
        writing.start()
        database.run(
            documented(
                "pg_dump --format=custom --schema=localarc --schema='localarc_[0-9]*' "
                "--file=localarc.dump localarc"
            )
        )
        # Test the backup: a service of its own on a copy.
        database.run(documented("createdb --owner localarc localarc_copy"))
        database.run(documented("pg_restore --dbname=localarc_copy localarc.dump"))
        with service("localarc_copy") as copy:
            found = copy.caller().call("GET", "/readyz")[1]
            assert (found["streams"], found["quarantined"], found["read_only"]) == (3, 0, 0)
            assert_answers(copy, before)
        stop.set()
        writing.join()
        states = {name: running.caller().state(name) for name in NAMES}
        # Restore in place: stop every service, restore, start one.
        assert running.stop() == 0
    database.run(
        documented(
            "pg_restore --clean --if-exists --single-transaction --dbname=localarc localarc.dump"
        )
    )
    with running:
        found = running.caller().call("GET", "/readyz")[1]
        assert (found["streams"], found["quarantined"], found["read_only"]) == (3, 0, 0)
        assert_answers(running, before)
        assert {name: running.caller().state(name) for name in NAMES} != states
        name, key = list(after)[-1]
        assert running.caller().feedback(name, key, 0.5)[0] == 404  # made after the backup


def write(server: Server, received: Answers, stop: threading.Event) -> None:
    number = 1000
    while not stop.is_set() or number < 1010:
        received |= predict(server, number)
        number += 1


def test_nothing_acknowledged_is_lost_when_a_synchronous_replica_is_promoted(loops: Path) -> None:
    with contextlib.ExitStack() as stack:
        primary = stack.enter_context(Postgres())
        replica = stack.enter_context(Postgres(replica_of=primary, name="replica"))
        primary.execute("ALTER SYSTEM SET synchronous_standby_names = 'replica'")
        primary.execute("SELECT pg_reload_conf()")
        wait_for(
            lambda: primary.execute("SELECT sync_state FROM pg_stat_replication") == [("sync",)]
        )
        hosts = f"127.0.0.1:{primary.port},127.0.0.1:{replica.port}"
        url = f"postgresql://localarc@{hosts}/postgres?target_session_attrs=read-write"
        pair = stack.enter_context(two_services(loops, Address(url)))
        with under_load(pair) as received:
            wait_for(lambda: losses(received) > 300)  # or little is at stake
            primary.kill()
            wait_for(lambda: all(status(server)[0] == 503 for server in pair))
            before = losses(received)
            replica.execute(documented("SELECT pg_promote();"))
            serving(pair)
            wait_for(lambda: losses(received) > before + 300)
        assert_nothing_is_lost_or_doubled(pair, lambda name: Address(url), received)
        assert "the database lost" not in pair[0].errors


def losses(received: list[Received]) -> int:
    """How many losses were acknowledged so far."""
    return sum(len(each.losses) for each in received)
