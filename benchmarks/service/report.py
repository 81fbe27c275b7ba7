"""Print the load results: 64 connections, 100 streams, with and without waiting for the disk.

With `--against REF`, the code of that commit runs beside, in the same slices; with `--workers N`, a
service with one worker runs beside one with N. Every response is checked. Service and client share
the machine; `--clients` processes send the requests.
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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.service.cases import Load, Running, drive, prepare

UNSYNCED, SYNCED = "without waiting for the disk", "on disk before the response"
_SLICES = 6
_ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def service(
    *options: str, source: str | None = None, command: Sequence[str] = ("-m", "localarc.cli")
) -> Iterator[Running]:
    """A running service with its own data folder; its code can be that of another commit."""
    with tempfile.TemporaryDirectory() as folder:
        start = [sys.executable, *command, "serve", "--data", folder, "--port", "0"]
        about: Any = {"stdout": subprocess.PIPE, "text": True}
        if source is not None:
            about["env"] = os.environ | {"PYTHONPATH": source}
        with subprocess.Popen([*start, *options], **about) as process:
            assert process.stdout is not None
            try:
                port = int(process.stdout.readline().rpartition(":")[2])
                yield Running(port, process.pid)
            finally:
                process.terminate()
                process.wait()


def source_of(ref: str) -> str:
    """A path with the code of another commit, in the build folder, where its loops stay too."""
    run = partial(subprocess.run, cwd=_ROOT, check=True, stdout=subprocess.PIPE)
    commit = run(["git", "rev-parse", "--verify", f"{ref}^{{commit}}"], text=True).stdout.strip()
    folder = _ROOT / "build" / f"against-{commit[:12]}"
    if not folder.exists():
        folder.mkdir(parents=True)
        run(["tar", "-x", "-C", folder], input=run(["git", "archive", commit]).stdout)
    return os.pathsep.join(map(str, (folder / "src", *folder.glob("packages/*/src"))))


def for_seconds(seconds: float) -> Callable[[], bool]:
    until = time.perf_counter() + seconds
    return lambda: time.perf_counter() < until


def side_by_side(
    services: dict[str, Running],
    seconds: float,
    connections: int,
    streams: int,
    clients: int = 1,
    kinds: int = 1,
) -> dict[str, Load]:
    """Load the services in turn, in short slices, so that all run on the same machine load."""
    loads = {name: Load() for name in services}
    for running in services.values():
        asyncio.run(prepare(running.port, streams))
    with ProcessPoolExecutor(clients) as pool:
        for _ in range(_SLICES):
            for name, running in services.items():
                share = running, connections // clients, streams, kinds, seconds / _SLICES
                slices = [pool.submit(one_slice, *share) for _ in range(clients)]
                loads[name].add([each.result() for each in slices])
    return loads


def one_slice(running: Running, connections: int, streams: int, kinds: int, seconds: float) -> Load:
    """A slice of the load, from this process."""
    load = Load()
    asyncio.run(drive(load, running, connections, streams, for_seconds(seconds), kinds))
    return load


def row(name: str, *cells: str) -> str:
    return f"{name:<30}" + "".join(f"{cell:>12}" for cell in cells)


def result(name: str, load: Load) -> str:
    times = f"{load.quantile(0.5):.1f}", f"{load.quantile(0.99):.1f}"
    memory = f"{load.memory[-1] / 1e6:.0f}", f"{load.growth / 1e6:+.1f}"
    work = f"{load.cpu_per_request:.0f}"
    return row(name, f"{load.rate:,.0f}", *times, work, str(load.errors), *memory)


def main() -> None:
    parser = machine.argument_parser("Measure the service under load.")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--clients", type=int, default=1, help="processes that send requests")
    beside = parser.add_mutually_exclusive_group()
    beside.add_argument("--against", metavar="REF", help="a commit whose code runs beside")
    beside.add_argument("--workers", type=int, metavar="N", help="a service with N runs beside")
    parser.add_argument(
        "--without-sync",
        action="store_true",
        help="with --against or --workers, leave the disk out of it",
    )
    parser.add_argument(
        "--mixed",
        action="store_true",
        help="with --workers, let each connection ask for the streams of all workers",
    )
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        made = {name: stack.enter_context(each) for name, each in compared(options).items()}
        kinds = 1 if options.mixed else options.workers or 1
        size = options.connections, options.streams, options.clients, kinds
        loads = side_by_side(made, options.seconds, *size)
    print(
        f"{options.connections} connections of {options.clients} process(es), "
        f"{options.streams} streams, {options.seconds:g} s each, {os.cpu_count()} cores for "
        f"service and client, load {os.getloadavg()[0]:.0f}"
    )
    print(row("", "requests/s", "p50 ms", "p99 ms", "CPU us", "errors", "MB", "grew MB"))
    for name, load in loads.items():
        print(result(name, load))
    before, now = loads.values()
    if not options.against and not options.workers:
        print(f"waiting for the disk keeps {now.rate / before.rate:.0%} of the requests/s")
    else:
        print(
            f"beside {options.against or '1 worker'}: "
            f"{now.rate / before.rate:.2f} of the requests/s, "
            f"{now.quantile(0.5) / before.quantile(0.5):.2f} of the p50, "
            f"{now.quantile(0.99) / before.quantile(0.99):.2f} of the p99, "
            f"{now.cpu_per_request / before.cpu_per_request:.2f} of the CPU time per request"
        )
    machine.write_json(options.json, service=[summary(name, load) for name, load in loads.items()])


def compared(options: argparse.Namespace) -> dict[str, AbstractContextManager[Running]]:
    """The two services that are compared, by name."""
    flags = ["--without-sync"][: options.without_sync]
    if options.workers:
        count = str(options.workers)
        return {
            "1 worker": service(*flags),
            f"{count} workers": service(*flags, "--workers", count),
        }
    if options.against:
        before = service(*flags, source=source_of(options.against))
        return {options.against: before, "this code": service(*flags)}
    return {UNSYNCED: service("--without-sync"), SYNCED: service()}


def summary(name: str, load: Load) -> dict[str, str | float]:
    """The result as a JSON object."""
    return {
        "name": name,
        "requests_per_second": load.rate,
        "p50_ms": load.quantile(0.5),
        "p99_ms": load.quantile(0.99),
        "cpu_us": load.cpu_per_request,
        "errors": load.errors,
        "memory_bytes": load.memory[-1],
        "memory_growth_bytes": load.growth,
    }
