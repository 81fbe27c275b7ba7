"""Two services on one PostgreSQL: one serves, the other takes over, and nothing gets lost."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localarc_service.storage.postgres.connection import Address
from localarc_service.stored import events
from service.postgres_server import Postgres
from service.service_in_thread import wait_for
from service.service_process import Server, free_port
from service.test_crash import (
    STREAMS,
    Client,
    Received,
    assert_monitors_are_those_of_the_losses,
    assert_retries_get_the_same_responses,
    assert_the_store_has_the_same_streams,
    rerun,
    stored_events,
)

pytestmark = pytest.mark.service

KILLS = 20
RESTARTS = 5
CLIENTS = 6
PAUSE = 0.02  # seconds between a client's requests: a replay by the library follows

Pair = list[Server]


@pytest.fixture
def pair(loops: Path, address: Address) -> Iterator[Pair]:
    with two_services(loops, address) as both:
        yield both


@contextlib.contextmanager
def two_services(loops: Path, address: Address, *more: str) -> Iterator[Pair]:
    """The one that serves first, then the one that stands by."""
    options = "--store", address.url, "--store-schema", address.schema, "--log-events", "1000000"
    both = [Server(loops, *options, *more, port=free_port()) for _ in range(2)]
    with both[0]:
        stand_by(both[1])
        with contextlib.ExitStack() as stack:
            stack.push(both[1])
            yield both


def status(server: Server) -> tuple[int, str]:
    """The answer of /readyz; 0 while there is none."""
    caller = server.caller()
    try:
        code, answer = caller.call("GET", "/readyz")
        return code, answer["detail"]
    except ConnectionError:
        return 0, ""
    finally:
        caller.close()


def stand_by(server: Server) -> None:
    """Start a service, and wait until it stands by."""
    server.start(wait=False)
    wait_for(lambda: status(server) == (503, "standby: another process serves these streams."))


@contextlib.contextmanager
def under_load(pair: Pair, kind: type[Client] = Client) -> Iterator[list[Received]]:
    """Clients of both services, until the block ends; what they received."""
    for name, config in STREAMS.items():
        assert pair[0].caller().create(name, config)[0] == 201
    stop = threading.Event()
    ports = [server.port for server in pair]
    clients = [kind(number, ports, stop, PAUSE) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    yield [client.received for client in clients]
    stop.set()
    for client in clients:
        client.join(120)
        assert client.error is None, client.error


def serving(pair: Pair) -> Server:
    """The service that gets ready; the other one does not."""
    wait_for(lambda: any(status(server)[0] == 200 for server in pair))
    found = [server for server in pair if status(server)[0] == 200]
    assert len(found) == 1
    return found[0]


def assert_nothing_is_lost_or_doubled(
    pair: Pair, place_of: Callable[[str], Address], received: list[Received]
) -> None:
    """Compare what clients received with what is stored of each stream, wherever that is."""
    server = serving(pair)
    assert_retries_get_the_same_responses(server.caller(), received)
    states = {name: server.caller().state(name) for name in STREAMS}
    for each in pair:
        if each.process is not None:
            each.kill()
    answered = made = 0
    for name, state in states.items():
        address = place_of(name)
        assert_the_store_has_the_same_streams(address, {name: state})
        stored = stored_events(address, name)
        for kind, keys in (
            (events.PredictionMade, [key for each in received for key in each.predictions]),
            (events.FeedbackReceived, [key for each in received for key in each.losses]),
        ):
            counts = Counter(each.id for each in stored if isinstance(each, kind))
            acknowledged = {key for stream, key in keys if stream == name}
            assert acknowledged <= counts.keys()  # none is lost
            assert set(counts.values()) <= {1}  # none is doubled
            answered, made = answered + len(acknowledged), made + len(counts)
        assert rerun(address, name) == state  # bit for bit, with the same thresholds
        assert_monitors_are_those_of_the_losses(address, name)
    print(f"{answered} of {made} stored events were acknowledged; 0 are lost, 0 are doubled")


def test_a_standby_takes_over_whenever_the_owner_is_killed(pair: Pair, address: Address) -> None:
    source = random.Random(0)
    with under_load(pair) as received:
        owner, standby = pair
        for _ in range(KILLS):
            time.sleep(source.uniform(0.05, 0.3))
            owner.kill()
            standby.wait_until_ready()
            stand_by(owner)
            owner, standby = standby, owner
    assert sum(len(each.losses) for each in received) > 10 * KILLS  # or little was at stake
    assert_nothing_is_lost_or_doubled(pair, lambda name: address, received)


def test_the_services_come_back_whenever_postgresql_is_killed(loops: Path) -> None:
    source = random.Random(0)
    with Postgres() as postgres:
        address = Address(postgres.url)
        with two_services(loops, address) as pair:
            with under_load(pair) as received:
                for _ in range(RESTARTS):
                    time.sleep(source.uniform(0.5, 1.5))
                    postgres.kill()
                    wait_for(lambda: all(status(server)[0] == 503 for server in pair))
                    assert serving_nothing(pair)
                    postgres.start()
                    serving(pair)
            assert sum(len(each.losses) for each in received) > 10 * RESTARTS
            assert_nothing_is_lost_or_doubled(pair, lambda name: address, received)


def serving_nothing(pair: Pair) -> bool:
    """Whether both are alive, say that they are not ready, and refuse writes and reads."""
    callers = [server.caller() for server in pair]
    alive = [caller.call("GET", "/livez")[0] for caller in callers]
    writes = [caller.predict("plane", x=[0.5, 0.5])[0] for caller in callers]
    reads = [caller.call("GET", "/v1/streams/plane")[0] for caller in callers]
    return (alive, writes, reads) == ([200, 200], [503, 503], [503, 503])


def test_a_standby_is_alive_and_stops_when_told(pair: Pair) -> None:
    _, standby = pair
    assert standby.caller().call("GET", "/livez")[0] == 200
    answer = standby.caller().call("GET", "/v1/streams")
    assert answer[0] == 503
    assert "standby" in answer[1]["detail"]
    assert standby.stop() == 0


def test_an_owner_that_stops_hands_over(pair: Pair) -> None:
    owner, standby = pair
    owner.caller().create("s", {"alpha": 0.1, "method": "arc"})
    first = owner.caller().predict("s", id="one")
    assert owner.stop() == 0
    standby.wait_until_ready()
    assert standby.caller().predict("s", id="one") == first
