"""Print the load results: 64 connections, 100 streams, with and without waiting for the disk.

With `--against REF`, the code of that commit runs beside, in the same slices. Every response is
checked. Service and client share the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.service.cases import Load, Running, drive, prepare

UNSYNCED, SYNCED = "without waiting for the disk", "on disk before the response"
_SLICES = 6
_ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def service(*options: str, source: Path | None = None) -> Iterator[Running]:
    """A running service with its own data folder; its code can be that of another commit."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "localarc.cli", "serve", "--data", folder, "--port", "0"]
        about: Any = {"stdout": subprocess.PIPE, "text": True}
        if source is not None:
            about["env"] = os.environ | {"PYTHONPATH": str(source)}
        with subprocess.Popen([*command, *options], **about) as process:
            assert process.stdout is not None
            try:
                port = int(process.stdout.readline().rpartition(":")[2])
                yield Running(port, process.pid)
            finally:
                process.terminate()
                process.wait()


def source_of(ref: str) -> Path:
    """The code of another commit, in the build folder, where its compiled loops stay too."""
    run = partial(subprocess.run, cwd=_ROOT, check=True, stdout=subprocess.PIPE)
    commit = run(["git", "rev-parse", "--verify", f"{ref}^{{commit}}"], text=True).stdout.strip()
    folder = _ROOT / "build" / f"against-{commit[:12]}"
    if not folder.exists():
        folder.mkdir(parents=True)
        run(["tar", "-x", "-C", folder], input=run(["git", "archive", commit, "src"]).stdout)
    return folder / "src"


def for_seconds(seconds: float) -> Callable[[], bool]:
    until = time.perf_counter() + seconds
    return lambda: time.perf_counter() < until


async def side_by_side(
    services: dict[str, Running], seconds: float, connections: int, streams: int
) -> dict[str, Load]:
    """Load the services in turn, in short slices, so that all run on the same machine load."""
    loads = {name: Load() for name in services}
    for running in services.values():
        await prepare(running.port, streams)
    for _ in range(_SLICES):
        for name, running in services.items():
            keep_going = for_seconds(seconds / _SLICES)
            await drive(loads[name], running, connections, streams, keep_going)
    return loads


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
    parser.add_argument("--against", metavar="REF", help="a commit whose code runs beside")
    parser.add_argument(
        "--without-sync", action="store_true", help="with --against, leave the disk out of it"
    )
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if options.against is None:
            services = {
                UNSYNCED: stack.enter_context(service("--without-sync")),
                SYNCED: stack.enter_context(service()),
            }
        else:
            source, flags = source_of(options.against), ["--without-sync"][: options.without_sync]
            services = {
                options.against: stack.enter_context(service(*flags, source=source)),
                "this code": stack.enter_context(service(*flags)),
            }
        loads = asyncio.run(
            side_by_side(services, options.seconds, options.connections, options.streams)
        )
    print(
        f"{options.connections} connections, {options.streams} streams, "
        f"{options.seconds:g} s each, {os.cpu_count()} cores for service and client, "
        f"load {os.getloadavg()[0]:.0f}"
    )
    print(row("", "requests/s", "p50 ms", "p99 ms", "CPU us", "errors", "MB", "grew MB"))
    for name, load in loads.items():
        print(result(name, load))
    before, now = loads.values()
    if options.against is None:
        print(f"waiting for the disk keeps {now.rate / before.rate:.0%} of the requests/s")
    else:
        print(
            f"beside {options.against}: {now.rate / before.rate:.2f} of the requests/s, "
            f"{now.quantile(0.5) / before.quantile(0.5):.2f} of the p50, "
            f"{now.quantile(0.99) / before.quantile(0.99):.2f} of the p99, "
            f"{now.cpu_per_request / before.cpu_per_request:.2f} of the CPU time per request"
        )
    machine.write_json(options.json, service=[summary(name, load) for name, load in loads.items()])


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
