"""Load on a service: connections that repeatedly request a threshold and report its loss."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from localarc_client.wire.workers import owner_of

# A service keeps the latest responses and events of a stream, and a downsampled history. With few
# responses to retain and many first rounds, all of these are full before the load starts, so that
# memory must stay flat.
CONFIG = {"alpha": 0.1, "kernel": {"length_scale": 0.1}, "features": 2, "retain": 50}
_FIRST_ROUNDS = range(0, 1500, 500)
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass
class Load:
    """The measurements."""

    seconds: float = 0.0
    cpu: float = 0.0  # seconds of the service
    requests: int = 0
    errors: int = 0
    latencies: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)  # resident bytes of the service, over time

    def add(self, clients: list[Load]) -> None:
        """Add what several processes measured at the same time; each saw the whole service."""
        self.seconds += max(each.seconds for each in clients)
        self.cpu += max(each.cpu for each in clients)
        for each in clients:
            self.requests += each.requests
            self.errors += each.errors
            self.latencies += each.latencies
        self.memory += clients[0].memory

    @property
    def rate(self) -> float:
        return self.requests / self.seconds

    def quantile(self, share: float) -> float:
        """The latency in milliseconds at this quantile."""
        ordered = sorted(self.latencies)
        return 1e3 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    @property
    def cpu_per_request(self) -> float:
        """CPU microseconds of the service per request."""
        return 1e6 * self.cpu / self.requests

    @property
    def growth(self) -> int:
        """The growth of the service's memory in bytes."""
        return max(self.memory) - self.memory[0]


class Connection:
    """A minimal HTTP client, so that it uses little of the shared machine."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def call(self, method: str, path: str, body: object) -> tuple[int, bytes]:
        content = json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        self._writer.write(head.encode() + content)
        response = await self._reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(response)
        assert length is not None, response
        return int(response[9:12]), await self._reader.readexactly(int(length[1]))

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


@dataclass(frozen=True)
class Running:
    """A running service."""

    port: int
    process: int


def resident(process: int) -> int:
    """Resident memory of a process and its workers, in bytes."""
    pages = sum(int(Path(f"/proc/{each}/statm").read_text().split()[1]) for each in family(process))
    return pages * os.sysconf("SC_PAGE_SIZE")


def processor(process: int) -> float:
    """CPU seconds that a process and its workers have used."""
    return sum(map(_processor, family(process)))


def _processor(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def family(process: int) -> list[int]:
    """A process and its children."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *map(int, children)]


async def prepare(port: int, streams: int) -> None:
    """Create the streams, once the service is up, and fill everything it keeps about them."""
    connection = Connection(port)
    await connection.open()
    for number in range(streams):
        path = f"/v1/streams/load-{number}"
        while (response := await connection.call("PUT", path, CONFIG))[0] == 503:
            await asyncio.sleep(0.1)
        assert response[0] == 201, response
        for start in _FIRST_ROUNDS:
            rounds = first_rounds(number, range(start, start + _FIRST_ROUNDS.step))
            response = await connection.call("POST", "/v1/batch", {"operations": rounds})
            assert response[0] == 200, response
    await connection.close()


def first_rounds(number: int, which: range) -> list[dict[str, object]]:
    """Rounds of one stream, as operations of a batch."""
    about, chance = {"stream": f"load-{number}"}, random.Random(f"{number}-{which.start}")
    operations: list[dict[str, object]] = []
    for t in which:
        x, loss = [chance.random(), chance.random()], float(chance.random() < 0.1)
        operations.append({"op": "predict", **about, "id": f"first-{t}", "x": x})
        operations.append({"op": "feedback", **about, "id": f"first-{t}", "loss": loss})
    return operations


def names(streams: int, number: int, kinds: int) -> list[str]:
    """The streams of one connection: those of one of `kinds` workers, as our clients choose."""
    every = [f"load-{each}" for each in range(streams)]
    return [name for name in every if owner_of(name, kinds) == number % kinds]


async def drive(
    load: Load,
    running: Running,
    connections: int,
    streams: int,
    keep_going: Callable[[], bool],
    kinds: int = 1,
) -> None:
    """Run rounds over all connections while `keep_going` returns True, adding to `load`."""
    before, cpu = time.perf_counter(), processor(running.process)
    name = uuid.uuid4().hex[:8]
    async with asyncio.TaskGroup() as group:
        for number in range(connections):
            chosen = names(streams, number, kinds)
            group.create_task(rounds(load, running.port, chosen, f"{name}-{number}", keep_going))
        group.create_task(watch(load, running.process, keep_going))
    load.seconds += time.perf_counter() - before
    load.cpu += processor(running.process) - cpu


async def rounds(
    load: Load, port: int, streams: list[str], name: str, keep_going: Callable[[], bool]
) -> None:
    """One connection: request a threshold, report its loss, repeat."""
    chance = random.Random(name)
    connection = Connection(port)
    await connection.open()
    for number in itertools.count():
        if not keep_going():
            break
        path, key = f"/v1/streams/{chance.choice(streams)}", f"{name}-{number}"
        x = [chance.random(), chance.random()]
        response = await timed(load, connection, "POST", f"{path}/predict", {"x": x, "id": key})
        missed = chance.random() > json.loads(response)["threshold"]
        address = f"{path}/predictions/{key}/feedback"
        await timed(load, connection, "PUT", address, {"loss": float(missed)})
    await connection.close()


async def timed(load: Load, connection: Connection, method: str, path: str, body: object) -> bytes:
    before = time.perf_counter()
    status, content = await connection.call(method, path, body)
    load.latencies.append(time.perf_counter() - before)
    load.requests += 1
    load.errors += status != 200
    return content


async def watch(load: Load, process: int, keep_going: Callable[[], bool]) -> None:
    """Sample the memory of the service."""
    while keep_going():
        load.memory.append(resident(process))
        await asyncio.sleep(0.1)
