"""What it is worth that connections move between workers: CPU time of the service per request.

`python -m benchmarks.service.handover` loads three services in turn: one worker, several, and
several that keep each connection where the kernel put it. Some clients have a connection for each
worker, as ours do; others, such as httpx, know nothing of workers. Every slice opens new
connections, which the kernel places anew.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import statistics
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

import httpx

from benchmarks import machine
from benchmarks.service.cases import Connection, Running, family, prepare
from benchmarks.service.report import service
from localarc_client import AsyncClient
from localarc_client.wire.workers import owner_of

_STREAMS = 16
_SETTLING = 8  # rounds of each task before the measurement: connections move after 8 requests
_STAYING = (
    "from localarc_service.workers import connection; connection.IN_A_ROW = 10**9; "
    "from localarc.cli import main; main()"
)


class RoundClient(Protocol):
    """Whoever asks for a threshold and reports its loss."""

    async def round(self, stream: str, key: str, x: list[float], missed: float) -> None:
        """Run one round."""

    async def close(self) -> None:
        """Close all connections."""


class Ours:
    """The client of this repository."""

    def __init__(self, port: int) -> None:
        self._client = AsyncClient(f"http://127.0.0.1:{port}")

    async def round(self, stream: str, key: str, x: list[float], missed: float) -> None:
        await self._client.predict(stream, x=x, id=key)
        await self._client.feedback(stream, key, loss=missed)

    async def close(self) -> None:
        await self._client.close()


class Foreign:
    """httpx, with connections that it keeps."""

    def __init__(self, port: int) -> None:
        self._client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False)

    async def round(self, stream: str, key: str, x: list[float], missed: float) -> None:
        path = f"/v1/streams/{stream}"
        response = await self._client.post(f"{path}/predict", json={"id": key, "x": x})
        response.raise_for_status()
        address = f"{path}/predictions/{key}/feedback"
        response = await self._client.put(address, json={"loss": missed})
        response.raise_for_status()

    async def close(self) -> None:
        await self._client.aclose()


class Light:
    """A minimal client, of which a shared machine can run many; a connection for each worker."""

    def __init__(self, workers: int, port: int) -> None:
        self._port, self._workers = port, workers
        self._connections: dict[int, Connection] = {}

    async def round(self, stream: str, key: str, x: list[float], missed: float) -> None:
        path = f"/v1/streams/{stream}"
        connection = await self._connection(owner_of(stream, self._workers))
        status, content = await connection.call("POST", f"{path}/predict", {"x": x, "id": key})
        assert status == 200, content
        address = f"{path}/predictions/{key}/feedback"
        status, content = await connection.call("PUT", address, {"loss": missed})
        assert status == 200, content

    async def _connection(self, owner: int) -> Connection:
        if owner not in self._connections:
            self._connections[owner] = Connection(self._port)
            await self._connections[owner].open()
        return self._connections[owner]

    async def close(self) -> None:
        for connection in self._connections.values():
            await connection.close()


@dataclass(frozen=True)
class Traffic:
    """Who sends requests, and for which streams."""

    name: str
    make: Callable[[int], RoundClient]
    clients: int
    tasks: int  # of each client, at the same time
    one_stream: bool = False  # each client has a stream of its own


def traffic(workers: int) -> list[Traffic]:
    """Clients that know of workers, and some that do not; few that are slow, and many."""
    return [
        Traffic("our client", Ours, 16, 2),
        Traffic("httpx, one stream each", Foreign, 16, 2, one_stream=True),
        Traffic("64 clients, as ours", partial(Light, workers), 64, 1),
        Traffic("64 clients", partial(Light, 1), 64, 1),
        Traffic("64 clients, one stream each", partial(Light, 1), 64, 1, one_stream=True),
    ]


@dataclass
class Work:
    """CPU microseconds per request of each service, slice by slice."""

    slices: dict[str, list[float]] = field(default_factory=dict)

    def ratios(self, service: str, to: str) -> list[float]:
        """The CPU time per request beside another service's, slice by slice."""
        pairs = zip(self.slices[service], self.slices[to], strict=True)
        return [this / other for this, other in pairs]


async def one_slice(running: Running, traffic: Traffic, rounds: int) -> float:
    """Load a service over new connections; CPU microseconds per request."""
    clients = [traffic.make(running.port) for _ in range(traffic.clients)]
    tasks = [(client, number) for number, client in enumerate(clients)] * traffic.tasks
    await asyncio.gather(*[play(*task, traffic, _SETTLING) for task in tasks])
    before = processor(running.process)
    await asyncio.gather(*[play(*task, traffic, rounds) for task in tasks])
    used = processor(running.process) - before
    for client in clients:
        await client.close()
    return 1e6 * used / (2 * rounds * len(tasks))


async def play(client: RoundClient, number: int, traffic: Traffic, rounds: int) -> None:
    """Run rounds of one task."""
    name = uuid.uuid4().hex
    chance = random.Random(name)
    for count in range(rounds):
        stream = number % _STREAMS if traffic.one_stream else chance.randrange(_STREAMS)
        x = [chance.random(), chance.random()]
        missed = float(chance.random() < 0.1)
        await client.round(f"load-{stream}", f"{name}-{count}", x, missed)


def processor(process: int) -> float:
    """CPU seconds that all threads of a service have used, without the rounding of clock ticks."""
    threads = [each for pid in family(process) for each in Path(f"/proc/{pid}/task").iterdir()]
    return 1e-9 * sum(int((each / "schedstat").read_text().split()[0]) for each in threads)


@contextlib.contextmanager
def services(workers: int) -> Iterator[dict[str, Running]]:
    """The services that are compared, by name."""
    count = "--workers", str(workers)
    with (
        service("--without-sync") as one,
        service("--without-sync", *count) as moving,
        service("--without-sync", *count, command=("-c", _STAYING)) as staying,
    ):
        made = {"1 worker": one, f"{workers} workers": moving, "connections stay": staying}
        for running in made.values():
            asyncio.run(prepare(running.port, _STREAMS))
        yield made


def measure(options: argparse.Namespace) -> dict[str, Work]:
    """All kinds of traffic on all services, in turn."""
    kinds = traffic(options.workers)
    works = {each.name: Work() for each in kinds}
    with services(options.workers) as made:
        for _ in range(options.slices):
            for each in kinds:
                for name, running in made.items():
                    cpu = asyncio.run(one_slice(running, each, options.rounds))
                    works[each.name].slices.setdefault(name, []).append(cpu)
    return works


def cell(ratios: list[float], together: float) -> str:
    """The ratio over all slices, the median of slices, and their range."""
    middle = statistics.median(ratios)
    return f"{together:.2f}; median {middle:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def main() -> None:
    parser = machine.argument_parser("Measure what moving connections between workers is worth.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=16, help="of each task in a slice")
    parser.add_argument("--slices", type=int, default=9, help="of each service and client")
    options = parser.parse_args()
    works = measure(options)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}, {options.slices} slices")
    print("CPU time of the service per request, beside one worker's: all slices; median (range)")
    for name, work in works.items():
        one, *others = work.slices
        mean = statistics.mean(work.slices[one])
        print(f"{name}: {mean:.0f} us with one worker")
        for other in others:
            together = statistics.mean(work.slices[other]) / mean
            print(f"    {other:<20}{cell(work.ratios(other, one), together)}")
    rows = [{"traffic": name, **work.slices} for name, work in works.items()]
    machine.write_json(options.json, handover=rows)


if __name__ == "__main__":
    main()
