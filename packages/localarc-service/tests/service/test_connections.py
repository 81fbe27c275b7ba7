"""Connections: silent, slow and endless ones take nothing away from other clients."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import math
import resource
import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localarc_service.connections import Connections, Peer
from localarc_service.http_server import allowed_connections
from localarc_service.limits import Limits
from localarc_service.protocol import Connection
from service.conftest import Start
from service.service_in_thread import Inside, wait_for
from service.service_process import Caller, Server

HEAD = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n"
HASTY = Limits(head_seconds=0.2, idle_seconds=0.2, body_seconds=0.2, reading_seconds=0.2)


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def everything_from(wire: socket.socket) -> bytes:
    """All that arrives until the connection is closed."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while data := wire.recv(2**16):
            found += data
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", b""),
        (b"\r\n", b"HTTP/1.1 408 "),
        (HEAD, b"HTTP/1.1 408 "),
        (HEAD + b"\r\n", b"HTTP/1.1 200 "),
        (HEAD + b"Content-Length: 5\r\n\r\nabc", b"HTTP/1.1 200 "),
    ],
    ids=["nothing", "an empty line", "half a head", "no second request", "half a body"],
)
def test_a_client_that_falls_silent_is_disconnected(
    start: Start, sent: bytes, status: bytes
) -> None:
    service = start(limits=HASTY)
    with connected(service.port) as wire:
        wire.sendall(sent)
        answer = everything_from(wire)
    assert answer.startswith(status)
    assert answer.count(b"HTTP/1.1") == (1 if status else 0)


@pytest.mark.slow
@pytest.mark.parametrize("start_of_it", [b"", HEAD, HEAD + b"\r\n", b"\r\n"])
def test_a_trickle_of_bytes_does_not_extend_the_deadline(start: Start, start_of_it: bytes) -> None:
    service = start(limits=HASTY)
    with connected(service.port) as wire:
        wire.sendall(start_of_it)
        rest = b"\r\n" if start_of_it in (b"\r\n", HEAD + b"\r\n") else b"a"

        def is_closed() -> bool:
            try:
                wire.sendall(rest)
            except ConnectionError:
                return True
            time.sleep(0.05)
            return False

        wait_for(is_closed)


def test_a_client_that_reads_nothing_is_disconnected(start: Start) -> None:
    service = start(limits=HASTY)
    with connected(service.port) as wire:
        request = HEAD.replace(b"livez", b"openapi.json") + b"\r\n"
        with contextlib.suppress(ConnectionError):
            wire.sendall(request * 2000)
        wait_for(lambda: len(service.connections) == 0)


def test_a_client_that_reads_the_end_of_a_response_late_still_owes_a_request(
    service: Inside,
) -> None:
    assert service.http.call("GET", "/livez")[0] == 200
    (peer,) = service.connections._peers.values()
    (connection,) = peer.idle

    async def read_late() -> float:
        connection.pause_writing()  # type: ignore[attr-defined]
        connection.resume_writing()  # type: ignore[attr-defined]
        return connection.deadline

    loop = service.app_state.writer._loop
    assert asyncio.run_coroutine_threadsafe(read_late(), loop).result(60) < math.inf


@pytest.fixture
def pipeline_lengths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many requests waited whenever one began, and when it had."""
    found: list[int] = []
    begin = Connection.begin

    def counted(connection: Connection) -> None:
        begin(connection)
        found.append(len(connection.pipeline))

    monkeypatch.setattr(Connection, "begin", counted)
    return found


def test_a_client_that_never_waits_for_responses_takes_no_memory(
    service: Inside, pipeline_lengths: list[int]
) -> None:
    for _ in range(3):
        with connected(service.port) as wire, contextlib.suppress(ConnectionError):
            wire.sendall((HEAD + b"\r\n") * 5_000)
            assert everything_from(wire).count(b"HTTP/1.1 429 ") <= 1
    assert 1 <= max(pipeline_lengths) <= 16


def listening(service: Inside) -> socket.socket:
    """A connection whose response goes on until `end_events`."""
    service.create()
    wire = connected(service.port)
    wire.sendall(b"GET /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert wire.recv(100).startswith(b"HTTP/1.1 200 ")
    return wire


def end_events(service: Inside) -> None:
    loop = service.app_state.writer._loop
    loop.call_soon_threadsafe(service.app_state.event_bus.interrupt)


def test_what_waits_is_answered_in_order_before_the_client_is_told_that_it_was_too_much(
    service: Inside, pipeline_lengths: list[int]
) -> None:
    with listening(service) as wire:
        wire.sendall((HEAD + b"\r\n") * 1_000)
        wait_for(lambda: pipeline_lengths[-1] == 16)
        end_events(service)
        answer = everything_from(wire)
    statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200"] * 16 + [b"429"]
    assert b"connection: close" in answer.rpartition(b"HTTP/1.1 ")[2]
    assert max(pipeline_lengths) == 16


def test_reading_resumes_when_one_request_at_most_is_left(
    service: Inside, pipeline_lengths: list[int]
) -> None:
    with listening(service) as wire:
        (peer,) = service.connections._peers.values()
        (connection,) = (each for each in peer.open if each not in peer.idle)
        assert isinstance(connection, Connection)
        wire.sendall((HEAD + b"\r\n") * 2)
        wait_for(lambda: pipeline_lengths[-1] == 2)
        loop = service.app_state.writer._loop

        async def resumed() -> bool:
            connection.flow.resume_reading()  # as any part of a request's work may do
            return not connection.flow.read_paused

        assert not asyncio.run_coroutine_threadsafe(resumed(), loop).result(60)
        end_events(service)
        wait_for(lambda: connection in peer.idle)
        assert not connection.flow.read_paused
        wire.sendall(HEAD + b"Connection: close\r\n\r\n")
        assert everything_from(wire).count(b"HTTP/1.1 200 ") == 3


def test_a_client_that_leaves_while_its_requests_wait_is_no_error(
    service: Inside, pipeline_lengths: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    with listening(service) as wire:
        wire.sendall((HEAD + b"\r\n") * 2)
        wait_for(lambda: pipeline_lengths[-1] == 2)
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end_events(service)
    wait_for(lambda: len(service.connections) == 1)  # ours
    assert caplog.records == []


def test_a_bad_request_is_rejected_after_the_response_to_the_one_before(service: Inside) -> None:
    with connected(service.port) as wire:
        wire.sendall(HEAD + b"\r\n" + b"no HTTP at all\r\n\r\n")
        answer = everything_from(wire)
    assert [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]] == [b"200", b"400"]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"".join(b"X-%d: 1\r\n" % k for k in range(99)), 200),  # and Host: 100
        (b"".join(b"X-%d: 1\r\n" % k for k in range(100)), 431),
        (b"X: " + b"a" * 60_000 + b"\r\n", 200),
        (b"X: " + b"a" * 66_000 + b"\r\n", 431),
        (b"X: " + b"a" * 500_000, 431),
        (b"X" * 500_000, 431),
    ],
    ids=["100 fields", "101 fields", "60 kB", "66 kB", "an endless value", "an endless name"],
)
def test_a_large_head_is_rejected(service: Inside, head: bytes, status: int) -> None:
    with connected(service.port) as wire:
        wire.sendall(HEAD + head + b"\r\n")
        answer = wire.recv(2**16)
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert service.http.call("GET", "/livez")[0] == 200


@pytest.mark.parametrize("end", [b"5;a=", b"0\r\nX: "], ids=["extension", "trailer"])
def test_an_endless_end_of_a_body_is_rejected(service: Inside, end: bytes) -> None:
    service.create()
    with connected(service.port) as wire:
        wire.sendall(
            b"POST /v1/streams/s/predict HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + end
        )
        with contextlib.suppress(ConnectionError):
            for _ in range(40):
                wire.sendall(b"a" * 2**16)
        wait_for(lambda: len(service.connections) == 1)  # ours
    assert service.predict()[0] == 200


def test_the_longest_silent_connection_makes_room_for_a_new_one(start: Start) -> None:
    service = start(limits=Limits(connections_per_address=4))
    service.http.close()
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(contextlib.closing(Caller(service.port)))
        assert served.call("GET", "/livez")[0] == 200
        silent = [stack.enter_context(connected(service.port)) for _ in range(3)]
        wait_for(lambda: len(service.connections) == 4)
        new = stack.enter_context(contextlib.closing(Caller(service.port)))
        assert new.call("GET", "/livez")[0] == 200
        assert silent[0].recv(1) == b""
        assert served.call("GET", "/livez")[0] == 200  # it has had a request, so it stays
        assert len(service.connections) == 4


@pytest.mark.parametrize("limits", [{"connections_per_address": 2}, {"connections": 2}], ids=str)
def test_connections_with_a_request_under_way_stay(start: Start, limits: dict[str, int]) -> None:
    service = start(limits=Limits(**limits))
    service.create()
    service.http.close()
    wait_for(lambda: len(service.connections) == 0)
    listeners = [http.client.HTTPConnection("127.0.0.1", service.port) for _ in range(2)]
    for listener in listeners:
        listener.request("GET", "/v1/streams/s/events")
        assert listener.getresponse().status == 200
    refused = http.client.HTTPConnection("127.0.0.1", service.port)
    refused.connect()
    with contextlib.closing(refused):
        response = http.client.HTTPResponse(refused.sock)
        response.begin()
        assert (response.status, response.getheader("Retry-After")) == (429, "1")
    for listener in listeners:
        listener.close()


class Known:
    """A connection without a socket."""

    deadline = 0.0
    is_closed = False

    def evict(self) -> None:
        self.is_closed = True

    expire = evict


def test_the_address_with_most_connections_makes_room_for_others() -> None:
    table = Connections(Limits(connections=5, connections_per_address=4))
    many, few = [Known() for _ in range(4)], Known()
    for each in many:
        assert table.admit(each, "192.0.2.1") is not None
    table.admit(few, "192.0.2.2")
    peer = table.admit(Known(), "192.0.2.3")
    assert isinstance(peer, Peer)
    assert [each.is_closed for each in (*many, few)] == [True, False, False, False, False]
    assert len(table) == 5


def test_fewer_files_than_connections_lower_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: asked.append(pair))
    for soft, hard, expected in ((1024, 4096, 2048), (1024, 1024, 768), (256, 300, 44)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, pair=(soft, hard): pair)
        assert allowed_connections(2048) == expected
    assert asked == [(2304, 4096), (300, 300)]


@contextlib.contextmanager
def many_files() -> Iterator[None]:
    """Room for thousands of connections of this process."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, before[1]), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def slowest(port: int, times: int = 50) -> float:
    """The longest of some health checks, each on a new connection, in seconds."""
    worst = 0.0
    for _ in range(times):
        started = time.perf_counter()
        with contextlib.closing(Caller(port)) as caller:
            assert caller.call("GET", "/livez")[0] == 200
        worst = max(worst, time.perf_counter() - started)
    return worst


LIMIT = 0.5  # seconds; 0.1 on a machine that does nothing else


@pytest.mark.service
def test_thousands_of_idle_connections_and_an_endless_head_keep_nobody_out(tmp_path: Path) -> None:
    with Server(tmp_path / "data", "--health-port", "0") as server, many_files():
        health = int(server.read_line().partition("/livez")[0].rpartition(":")[2])
        caller = server.caller()
        caller.create("s", {"alpha": 0.1, "method": "arc"})
        done = threading.Event()
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(connected(server.port)) for _ in range(2100)]

            def trickle() -> None:
                while not done.is_set():
                    for wire in wires[::2]:
                        with contextlib.suppress(OSError):
                            wire.sendall(b"G")
                    time.sleep(0.2)

            def never_end() -> None:
                while not done.is_set():
                    with contextlib.suppress(OSError), connected(server.port) as wire:
                        wire.sendall(HEAD + b"X: ")
                        while not done.is_set():
                            wire.sendall(b"a" * 1000)

            hostile = [threading.Thread(target=work) for work in (trickle, never_end)]
            for thread in hostile:
                thread.start()
            try:
                assert max(slowest(server.port), slowest(health)) < LIMIT
                for t in range(200):
                    assert caller.predict("s", id=f"p{t}")[0] == 200
                    assert caller.feedback("s", f"p{t}", 0.0)[0] == 200
            finally:
                done.set()
                for thread in hostile:
                    thread.join()


@pytest.mark.service
def test_the_health_port_has_health_checks_and_nothing_else(tmp_path: Path) -> None:
    with Server(tmp_path / "data", "--health-port", "0") as server:
        line = server.read_line()
        assert line.startswith("localarc serve: http://127.0.0.1:")
        assert line.endswith("/livez and /readyz\n")
        health = Caller(int(line.partition("/livez")[0].rpartition(":")[2]))
        with contextlib.closing(health):
            assert health.call("GET", "/livez") == (200, {"alive": True})
            assert health.call("GET", "/readyz")[0] == 200
            for path in ("/v1/streams", "/metrics", "/", "/openapi.json"):
                assert health.call("GET", path)[0] == 404
        assert server.stop() == 0
