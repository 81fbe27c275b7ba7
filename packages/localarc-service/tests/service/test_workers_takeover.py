"""Two services of several workers on one PostgreSQL: one serves, the other stands by."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from localarc.cli import main
from localarc_client.wire.workers import owner_of
from localarc_service.storage.interface import StorageError
from localarc_service.storage.postgres.connection import Address
from localarc_service.storage.postgres.group import Group, member
from localarc_service.storage.postgres.store import PostgresStore
from service import test_takeover
from service.postgres_server import Postgres
from service.service_in_thread import wait_for
from service.service_process import Server, failed_start, free_port
from service.test_crash import STREAMS
from service.test_ownership import end_session
from service.test_takeover import (
    Pair,
    assert_nothing_is_lost_or_doubled,
    serving,
    stand_by,
    status,
    under_load,
)
from service.test_workers import filled
from service.test_workers_process import Client, workers_of

pytestmark = pytest.mark.service

WORKERS = 2
KILLS = 6
CONFIG = {"alpha": 0.1, "method": "arc"}


def two_services(loops: Path, address: Address) -> contextlib.AbstractContextManager[Pair]:
    return test_takeover.two_services(loops, address, "--workers", str(WORKERS))


@pytest.fixture
def pair(loops: Path, address: Address) -> Iterator[Pair]:
    with two_services(loops, address) as both:
        yield both


def place_of(address: Address, name: str) -> Address:
    """The schema of the worker that owns a stream."""
    return member(address, owner_of(name, WORKERS))


def test_a_standby_takes_all_streams_over_when_the_supervisor_is_killed(
    pair: Pair, address: Address
) -> None:
    source = random.Random(0)
    assert {owner_of(name, WORKERS) for name in STREAMS} == {0, 1}
    with under_load(pair, Client) as received:
        owner, standby = pair
        for _ in range(KILLS):
            time.sleep(source.uniform(0.05, 0.5))
            owner.kill()
            standby.wait_until_ready()
            stand_by(owner)
            owner, standby = standby, owner
    assert sum(len(each.losses) for each in received) > 10 * KILLS  # or little was at stake
    assert_nothing_is_lost_or_doubled(pair, partial(place_of, address), received)


def test_a_killed_worker_comes_back_in_its_own_service(pair: Pair, address: Address) -> None:
    source = random.Random(0)
    owner, standby = pair
    with under_load(pair, Client) as received:
        for count in range(KILLS):
            time.sleep(source.uniform(0.05, 0.5))
            os.kill(sorted(workers_of(owner))[count % WORKERS], signal.SIGKILL)
            wait_for(lambda: len(workers_of(owner)) == WORKERS and status(owner)[0] == 200)
            assert stands_by(standby)
    assert serving(pair) is owner
    assert sum(len(each.losses) for each in received) > 10 * KILLS
    assert_nothing_is_lost_or_doubled(pair, partial(place_of, address), received)


def test_workers_of_a_standby_that_die_are_started_again(pair: Pair) -> None:
    owner, standby = pair
    killed = set(workers_of(standby))
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: len(set(workers_of(standby)) - killed) == WORKERS)
    owner.kill()
    standby.wait_until_ready()


def test_a_service_that_stops_hands_all_streams_over(pair: Pair) -> None:
    owner, standby = pair
    first = {}
    for name in ("demand", "parcels"):
        assert owner.caller().create(name, CONFIG)[0] == 201
        first[name] = owner.caller().predict(name, id="one")
    assert owner.stop() == 0
    standby.wait_until_ready()
    for name, answer in first.items():
        assert standby.caller().predict(name, id="one") == answer


def stands_by(server: Server) -> bool:
    return status(server) == (503, "standby: another process serves these streams.")


def test_a_service_that_loses_the_group_gives_up_every_stream(
    pair: Pair, postgres: Postgres, address: Address
) -> None:
    """The supervisor's session ends, those of its workers go on."""
    for name in ("demand", "parcels"):  # of both workers
        assert pair[0].caller().create(name, CONFIG)[0] == 201
    for count in range(1, 5):
        end_session(postgres, address)
        wait_for(partial(has_lost_groups, pair[0], count))  # both have one log
        wait_for(partial(is_served_by_one, pair))


def has_lost_groups(server: Server, count: int) -> bool:
    return server.errors.count("the lock of all workers was lost") == count


def is_served_by_one(pair: Pair) -> bool:
    """Whether one service serves all streams, and the other none."""
    found = sorted(
        (status(server)[0], *(server.caller().predict(name)[0] for name in ("demand", "parcels")))
        for server in pair
    )
    return found == [(200, 200, 200), (503, 503, 503)]


def test_readiness_says_how_many_workers_own_their_streams(loops: Path, address: Address) -> None:
    with contextlib.closing(PostgresStore(member(address, 1))) as foreign:
        assert foreign.acquire()
        options = "--store", address.url, "--store-schema", address.schema, "--workers", "2"
        server = Server(loops, *options, port=free_port())
        with contextlib.ExitStack() as stack:
            stack.push(server)
            server.start(wait=False)
            expected = "1 of 2 workers are ready: standby: another process serves these streams."
            wait_for(lambda: status(server) == (503, expected))
            assert server.caller().call("GET", "/v1/streams/demand")[0] == 404  # of worker 0
            assert server.caller().call("GET", "/v1/streams/parcels")[0] == 503
            told = server.caller().call("PUT", "/v1/streams/demand", CONFIG)
            assert told[0] == 503  # nobody knows how many streams there are
            assert "another worker are being loaded" in told[1]["detail"]
            foreign.close()
            server.wait_until_ready()
            for name in ("demand", "parcels"):
                assert server.caller().create(name, CONFIG)[0] == 201


def test_the_services_come_back_whenever_postgresql_is_killed(loops: Path) -> None:
    source = random.Random(0)
    with Postgres() as postgres:
        address = Address(postgres.url)
        with two_services(loops, address) as pair:
            with under_load(pair, Client) as received:
                for _ in range(3):
                    time.sleep(source.uniform(0.5, 1.5))
                    postgres.kill()
                    wait_for(lambda: all(status(server)[0] == 503 for server in pair))
                    wait_for(lambda: all("the database" in status(server)[1] for server in pair))
                    postgres.start()
                    serving(pair)
            assert_nothing_is_lost_or_doubled(pair, partial(place_of, address), received)


# ---- the number of workers -----------------------------------------------------------------------


def test_another_number_of_workers_is_refused(tmp_path: Path, address: Address) -> None:
    options = "--store", address.url, "--store-schema", address.schema
    group, other = Group(address, 2), Group(address, 2)
    assert group.claim() == ""
    assert other.claim().startswith("standby")
    for count in (3, 1):
        told = failed_start(tmp_path / "loops", *options, "--port", "0", "--workers", str(count))
        assert f"holds the streams of 2 worker(s), not of {count}: pass --workers 2" in told
    for each in (group, other):
        each.release()


def test_streams_move_between_groups_of_different_size(tmp_path: Path, address: Address) -> None:
    states = filled(tmp_path / "one")
    file, again = str(tmp_path / "streams.zip"), str(tmp_path / "again.zip")
    place = "--store", address.url, "--store-schema"
    assert localarc("export", "--data", str(tmp_path / "one"), "--out", file) == ""
    assert localarc("import", file, *place, address.schema, "--workers", "3") == ""
    assert localarc("export", *place, address.schema, "--out", again) == ""
    assert localarc("import", again, *place, f"{address.schema}_b", "--workers", "2") == ""
    for schema, workers in ((address.schema, 3), (f"{address.schema}_b", 2)):
        found: dict[str, bytes] = {}
        for index in range(workers):
            one = member(Address(address.url, schema), index)
            with contextlib.closing(PostgresStore(one)) as store:
                assert store.acquire()
                loaded = store.load()
            assert {owner_of(name, workers) for name in loaded} == {index}
            found |= {name: each.calibrator.state() for name, each in loaded.items()}
        assert found == states
    assert "has a stream named" in localarc("import", file, *place, address.schema)
    group = Group(address, 3)
    assert group.claim() == ""
    told = localarc("import", file, *place, address.schema, "--replace")
    assert "standby: another process serves these streams. Stop the services first." in told
    group.release()
    assert localarc("import", file, *place, address.schema, "--replace") == ""


def localarc(*words: str) -> str:
    """Why a command failed; nothing if it did not."""
    done = CliRunner().invoke(main, list(words))
    return done.output if done.exit_code else ""


def test_a_schema_of_one_process_is_not_taken_by_several(address: Address) -> None:
    with contextlib.closing(PostgresStore(address)) as store:
        assert store.acquire()
    with pytest.raises(StorageError, match=r"streams of 1 worker\(s\), not of 2"):
        Group(address, 2).claim()


def test_a_group_of_another_number_cannot_be_claimed_later(
    postgres: Postgres, address: Address
) -> None:
    """Both saw an empty database; the second is told when it is its turn."""
    first, second = Group(address, 2), Group(address, 3)
    with contextlib.closing(postgres.connect()) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (address.lock_key,))
        assert first.claim().startswith("standby")
        assert second.claim().startswith("standby")
    wait_for(lambda: first.claim() == "")
    first.release()
    with pytest.raises(StorageError, match=r"streams of 2 worker\(s\), not of 3"):
        wait_for(lambda: second.claim() == "")


def test_a_name_without_room_for_the_number_of_a_worker_is_refused(address: Address) -> None:
    with pytest.raises(ValueError, match="the schema must be lower-case letters"):
        Group(Address(address.url, "s" * 62), 2)
