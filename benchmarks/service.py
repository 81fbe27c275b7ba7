"""The service under load: 64 connections, 100 streams, with and without waiting for the disk.

    python -m benchmarks.service [--seconds 30] [--connections 64] [--streams 100]

Every answer is checked. Service and client share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

from benchmarks.load import Load, Running, drive, prepare

LOOSE, KEPT = "without waiting for the disk", "on disk before the answer"
_SLICES = 6


@contextlib.contextmanager
def service(*options: str) -> Iterator[Running]:
    """A service on a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "localarc.cli", "serve", "--data", folder, "--port", "0"]
        with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                port = int(process.stdout.readline().rpartition(":")[2])
                yield Running(port, process.pid)
            finally:
                process.terminate()
                process.wait()


def for_seconds(seconds: float) -> Callable[[], bool]:
    until = time.perf_counter() + seconds
    return lambda: time.perf_counter() < until


async def side_by_side(
    services: dict[str, Running], seconds: float, connections: int, streams: int
) -> dict[str, Load]:
    """Each service under load in turn, a little at a time, so that all meet the same machine."""
    loads = {name: Load() for name in services}
    for running in services.values():
        await prepare(running.port, streams)
    for _ in range(_SLICES):
        for name, running in services.items():
            go_on = for_seconds(seconds / _SLICES)
            await drive(loads[name], running, connections, streams, go_on)
    return loads


def row(name: str, *cells: str) -> str:
    return f"{name:<30}" + "".join(f"{cell:>12}" for cell in cells)


def told(name: str, load: Load) -> str:
    times = f"{load.quantile(0.5):.1f}", f"{load.quantile(0.99):.1f}"
    memory = f"{load.memory[-1] / 1e6:.0f}", f"{load.growth / 1e6:+.1f}"
    work = f"{load.work:.0f}"
    return row(name, f"{load.rate:,.0f}", *times, work, str(load.errors), *memory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--streams", type=int, default=100)
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        services = {
            name: stack.enter_context(service(*options))
            for name, options in {LOOSE: ["--without-sync"], KEPT: []}.items()
        }
        loads = asyncio.run(side_by_side(services, given.seconds, given.connections, given.streams))
    print(
        f"{given.connections} connections, {given.streams} streams, {given.seconds:g} s each, "
        f"{os.cpu_count()} cores for service and client, load {os.getloadavg()[0]:.0f}"
    )
    print(row("", "requests/s", "p50 ms", "p99 ms", "CPU us", "errors", "MB", "grew MB"))
    for name, load in loads.items():
        print(told(name, load))
    print(
        f"waiting for the disk keeps {loads[KEPT].rate / loads[LOOSE].rate:.0%} of the requests/s"
    )


if __name__ == "__main__":
    main()
