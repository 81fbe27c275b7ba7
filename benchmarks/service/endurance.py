"""What a long life costs: `python -m benchmarks.service.endurance`, about six minutes.

- Memory: the service's resident memory while it answers a million requests.
- Health: how long `/livez` takes while 2,100 connections are silent or trickle and one header
  never ends, beside the same checks on an idle service.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import resource
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Event

from benchmarks import machine
from benchmarks.service.cases import Connection, Load, Running, drive, prepare, resident
from benchmarks.service.report import service

STREAMS, CONNECTIONS, PARTS = 20, 32, 10
HOSTILE, CHECKS = 2_100, 400
SPAWN = multiprocessing.get_context("spawn")


# ---- memory ----------------------------------------------------------------------------------


async def memory(running: Running, requests: int) -> list[tuple[int, int]]:
    """Requests answered so far and resident bytes, ten times over the run."""
    await prepare(running.port, STREAMS)
    seen = [(0, resident(running.process))]
    for _ in range(PARTS):
        answered = await enough(running, requests // PARTS)
        seen.append((seen[-1][0] + answered, resident(running.process)))
    return seen


async def enough(running: Running, requests: int) -> int:
    load = Load()
    await drive(load, running, CONNECTIONS, STREAMS, lambda: load.requests < requests)
    assert load.errors == 0, f"{load.errors} requests failed"
    return load.requests


# ---- health ----------------------------------------------------------------------------------


@contextlib.contextmanager
def hostile(port: int) -> Iterator[None]:
    """An attack from a process of its own, so that it does not slow down who measures."""
    ready, done = SPAWN.Event(), SPAWN.Event()
    process = SPAWN.Process(target=attack, args=(port, ready, done))
    process.start()
    try:
        assert ready.wait(60.0), "the attack did not start"
        yield
    finally:
        done.set()
        process.join()


def attack(port: int, ready: Event, done: Event) -> None:
    """Half the connections are silent, half send a byte now and then; one header never ends."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, limit[1]), limit[1]))
    wires = [socket.create_connection(("127.0.0.1", port)) for _ in range(HOSTILE)]
    endless = threading.Thread(target=never_end, args=(port, done))
    endless.start()
    ready.set()
    trickle(wires[::2], done)
    endless.join()
    for wire in wires:
        wire.close()


def trickle(wires: list[socket.socket], done: Event) -> None:
    while not done.wait(0.2):
        for wire in wires:
            with contextlib.suppress(OSError):
                wire.sendall(b"G")


def never_end(port: int, done: Event) -> None:
    while not done.is_set():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as wire:
            wire.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ")
            while not done.is_set():
                wire.sendall(b"a" * 1000)


async def checks(port: int) -> list[float]:
    """Milliseconds of health checks, each on a new connection."""
    taken = []
    for _ in range(CHECKS):
        before = time.perf_counter()
        connection = Connection(port)
        await connection.open()
        status, _ = await connection.call("GET", "/livez", {})
        taken.append(1e3 * (time.perf_counter() - before))
        await connection.close()
        assert status == 200
    return taken


def health() -> dict[str, list[float]]:
    with service() as running:
        idle = asyncio.run(checks(running.port))
        with hostile(running.port):
            attacked = asyncio.run(checks(running.port))
    return {"idle": idle, "attacked": attacked}


# ---- report ----------------------------------------------------------------------------------


def main() -> None:
    parser = machine.argument_parser("Measure a service's memory over a long run, and its health.")
    parser.add_argument("--requests", type=int, default=1_000_000)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores for service and client, load {os.getloadavg()[0]:.0f}")
    taken = health()
    for name, values in taken.items():
        print(
            f"/livez, {name:<9} median {statistics.median(values):6.1f} ms, "
            f"slowest of {len(values)} {max(values):6.1f} ms"
        )
    with service() as running:
        seen = asyncio.run(memory(running, options.requests))
    for requests, size in seen:
        print(f"{requests:>10,} requests {size / 1e6:8.1f} MB")
    machine.write_json(options.json, health=[taken], memory=seen)


if __name__ == "__main__":
    main()
