"""Connections move to the worker whose streams they use, and lose nothing on the way."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from localarc_client import Client
from localarc_client.wire.workers import owner_of
from localarc_service.connections import Connections
from localarc_service.limits import Limits
from localarc_service.workers.handover import IN_A_ROW, Handover
from localarc_service.workers.layout import worker_folder
from service.service_in_thread import wait_for
from service.service_process import Server

NAMES = [f"s{number}" for number in range(8)]
OF_WORKER = [[name for name in NAMES if owner_of(name, 2) == index] for index in (0, 1)]


# ---- in one process --------------------------------------------------------------------------


def test_a_connection_is_received_with_where_it_comes_from(tmp_path: Path) -> None:
    async def main() -> None:
        received: list[tuple[socket.socket, int, bool]] = []
        here, there = Handover(tmp_path, 0), Handover(tmp_path, 1)
        there.start(lambda *about: received.append(about))
        client, accepted = socket.socketpair()
        with client, accepted:
            assert here.give(accepted.fileno(), to=1)
            assert here.give(accepted.fileno(), to=1, returned=True)
        while len(received) < 2:
            await asyncio.sleep(0.01)
        assert [about[1:] for about in received] == [(0, False), (0, True)]
        for connection, _, _ in received:
            connection.close()
        here.close()
        there.close()

    asyncio.run(main())


def test_nothing_is_given_to_a_worker_that_does_not_run(tmp_path: Path) -> None:
    async def main() -> None:
        here, there = Handover(tmp_path, 0), Handover(tmp_path, 1)
        client, accepted = socket.socketpair()
        with client, accepted:
            assert not here.give(accepted.fileno(), to=1)
            there.start(lambda *about: None)
            there.close()
            assert not here.give(accepted.fileno(), to=1)
        here.close()

    asyncio.run(main())


def test_a_full_queue_keeps_the_connection_here(tmp_path: Path) -> None:
    async def main() -> None:
        here, there = Handover(tmp_path, 0), Handover(tmp_path, 1)
        there.start(lambda connection, giver, returned: connection.close())
        client, accepted = socket.socketpair()
        with client, accepted:
            given = [here.give(accepted.fileno(), to=1) for _ in range(100_000)]
        assert given[0]
        assert not given[-1]  # nobody has read in between
        here.close()
        there.close()

    asyncio.run(main())


def test_there_is_room_up_to_either_limit() -> None:
    connections = Connections(Limits(connections=3, connections_per_address=2))
    for host in ("10.0.0.1", "10.0.0.1"):
        assert connections.has_room(host)
        connections.admit(_Silent(), host)
    assert not connections.has_room("10.0.0.1")
    assert connections.has_room("10.0.0.2")
    connections.admit(_Silent(), "10.0.0.2")
    assert not connections.has_room("10.0.0.3")


class _Silent:
    deadline = 0.0

    def expire(self) -> None: ...

    def evict(self) -> None: ...


# ---- with two workers ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("handover") / "data"
    with Server(folder, "--workers", "2") as started:
        for name in NAMES:
            assert started.caller().create(name, {"alpha": 0.1, "method": "arc"})[0] == 201
        yield started


def process_of(server: Server, index: int) -> int:
    """The process of a worker: the one that uses its folder."""
    assert server.process is not None
    parent = server.process.pid
    log = str(worker_folder(server.folder, index) / "log.sqlite")
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return next(int(pid) for pid in children if log in map(os.path.realpath, _files(int(pid))))


def _files(pid: int) -> list[str]:
    return [str(each) for each in Path(f"/proc/{pid}/fd").iterdir()]


def holders(server: Server, port: int) -> set[int]:
    """The workers that hold the service's end of a connection from this port."""
    entries = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inodes = {
        f"socket:[{entry[9]}]"
        for entry in entries
        if int(entry[1][-4:], 16) == server.port and int(entry[2][-4:], 16) == port
    }
    found = set()
    for index in (0, 1):
        for each in _files(process_of(server, index)):
            with contextlib.suppress(OSError):
                if os.readlink(each) in inodes:
                    found.add(index)
    return found


def is_held_by(server: Server, port: int, owner: int) -> bool:
    return holders(server, port) == {owner}


class Raw:
    """A connection whose bytes the test chooses."""

    def __init__(self, server: Server) -> None:
        self._socket = socket.create_connection(("127.0.0.1", server.port), 60)
        self._file = self._socket.makefile("rb")
        self.port = self._socket.getsockname()[1]

    def send(self, *names: str) -> None:
        requests = [
            f"POST /v1/streams/{name}/predict HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
            for name in names
        ]
        self._socket.sendall("".join(requests).encode())

    def receive(self) -> int:
        status = int(self._file.readline().split()[1])
        length = 0
        while (line := self._file.readline()) != b"\r\n":
            key, _, value = line.partition(b":")
            length = int(value) if key.lower() == b"content-length" else length
        self._file.read(length)
        return status

    def ask(self, name: str) -> int:
        self.send(name)
        return self.receive()

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@pytest.mark.service
def test_a_connection_follows_its_streams_from_worker_to_worker(server: Server) -> None:
    for _ in range(4):  # the kernel chooses the first worker
        with contextlib.closing(Raw(server)) as connection:
            for owner in (1, 0, 1):
                for name in OF_WORKER[owner][:1] * (IN_A_ROW + 1):
                    assert connection.ask(name) == 200
                wait_for(partial(is_held_by, server, connection.port, owner))


@pytest.mark.service
def test_a_connection_that_alternates_stays(server: Server) -> None:
    with contextlib.closing(Raw(server)) as connection:
        connection.ask(NAMES[0])
        first = holders(server, connection.port)
        for _ in range(2 * IN_A_ROW):
            assert connection.ask(OF_WORKER[0][0]) == connection.ask(OF_WORKER[1][0]) == 200
        assert holders(server, connection.port) == first


@pytest.mark.service
def test_requests_that_are_sent_without_waiting_are_all_answered(server: Server) -> None:
    for owner in (0, 1) * 3:
        with contextlib.closing(Raw(server)) as connection:
            for _ in range(10):
                names = (OF_WORKER[owner] * 16)[:16]  # as many as may wait
                for name in names:
                    connection.send(name)
                assert [connection.receive() for _ in names] == [200] * len(names)
            for name in OF_WORKER[owner] * 2:
                assert connection.ask(name) == 200


@pytest.mark.service
def test_our_client_has_connections_for_each_worker(server: Server) -> None:
    with Client(server.url) as client:
        for _ in range(IN_A_ROW + 1):
            for name in NAMES:
                client.predict(name)
        used: Any = client._http._transport
        assert set(used._pools.used) == {0, 1}
        found = []
        for pool in used._pools.used.values():
            (connection,) = pool._pool.connections
            stream = connection._connection._network_stream
            found.append(holders(server, stream.get_extra_info("client_addr")[1]))
        assert found == [{0}, {1}]


@pytest.mark.service
def test_a_worker_without_room_returns_the_connection(tmp_path: Path) -> None:
    """Each worker may have two connections: no request is lost when three want the same one."""
    options = "--workers", "2", "--max-connections", "4", "--max-connections-per-address", "4"
    with Server(tmp_path / "data", *options) as server:
        caller = server.caller()
        assert caller.create(OF_WORKER[0][0], {"alpha": 0.1, "method": "arc"})[0] == 201
        caller.close()
        with contextlib.ExitStack() as stack:
            every: list[Raw] = []
            while len(every) < 3:  # a third one of the same worker closes another
                every.append(stack.enter_context(contextlib.closing(Raw(server))))
                assert every[-1].ask(OF_WORKER[0][0]) == 200
                every = [each for each in every if holders(server, each.port)]
            for _ in range(3 * IN_A_ROW):
                assert [connection.ask(OF_WORKER[0][0]) for connection in every] == [200] * 3
            placed = [holders(server, each.port) for each in every]
            assert {1} in placed  # worker 0 has room for two at most
            assert all(len(each) == 1 for each in placed)
