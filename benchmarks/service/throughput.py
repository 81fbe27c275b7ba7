"""Throughput of several workers beside one, with a load generator that needs almost no CPU time.

`python -m benchmarks.service.throughput [--workers 2]`. The generator is wrk (Debian: `apt-get
install wrk`), one process for the streams of each worker; with it, 2 cores are left to 2 workers.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine
from benchmarks.service.cases import Running, names, prepare, processor
from benchmarks.service.report import service

_SCRIPT = Path(__file__).with_name("rounds.lua")
_SLICES = 4
_CONNECTIONS = 64


@dataclass
class Result:
    """What was measured of one service."""

    requests: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    failed: int = 0

    @property
    def rate(self) -> float:
        return self.requests / self.seconds

    @property
    def cpu_per_request(self) -> float:
        """CPU microseconds of the service per request."""
        return 1e6 * self.cpu / self.requests


def load(result: Result, running: Running, streams: int, kinds: int, seconds: float) -> None:
    """Load a service from one process of wrk for each kind of streams."""
    cpu = processor(running.process)
    processes = [_wrk(running.port, names(streams, kind, kinds), seconds, kinds, kind)
                 for kind in range(kinds)]  # fmt: skip
    said = [process.communicate()[0] for process in processes]
    result.cpu += processor(running.process) - cpu
    totals = [_total(each) for each in said]
    result.requests += sum(requests for requests, _ in totals)
    result.seconds += max(spent for _, spent in totals)
    result.failed += sum(_failures(each) for each in said)


def _wrk(
    port: int, streams: list[str], seconds: float, kinds: int, kind: int
) -> subprocess.Popen[str]:
    run = uuid.uuid4().hex[:8]
    options = ["-t", "1", "-c", str(_CONNECTIONS // kinds), "-d", f"{seconds:.0f}s"]
    arguments = ["-s", str(_SCRIPT), f"http://127.0.0.1:{port}", "--", ",".join(streams), run]
    command = ["wrk", *options, *arguments, str(kind)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _total(said: str) -> tuple[int, float]:
    found = re.search(r"(\d+) requests in ([\d.]+)(m?s|m)", said)
    assert found is not None, said
    return int(found[1]), float(found[2]) * {"ms": 1e-3, "s": 1.0, "m": 60.0}[found[3]]


def _failures(said: str) -> int:
    return sum(map(int, re.findall(r"Non-2xx or 3xx responses: (\d+)", said)))


def main() -> None:
    parser = machine.argument_parser("Compare the throughput of one worker and of several.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=12)
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("the load generator is missing: apt-get install wrk")
    count = options.workers
    with contextlib.ExitStack() as stack:
        flags = {1: ["--without-sync"], count: ["--without-sync", "--workers", str(count)]}
        made = {workers: stack.enter_context(service(*each)) for workers, each in flags.items()}
        for running in made.values():
            asyncio.run(prepare(running.port, options.streams))
        results = {workers: Result() for workers in made}
        for _ in range(_SLICES):
            for workers, running in made.items():
                seconds = options.seconds / _SLICES
                load(results[workers], running, options.streams, count, seconds)
    print(f"{os.cpu_count()} cores, {_CONNECTIONS} connections of wrk, {options.streams} streams")
    for workers, result in results.items():
        print(
            f"{workers} worker(s): {result.rate:,.0f} requests/s, "
            f"{result.cpu_per_request:.0f} us of CPU time each, {result.failed} failed"
        )
    one, several = results[1], results[count]
    print(
        f"{several.rate / one.rate:.2f} times the requests/s, "
        f"{several.cpu_per_request / one.cpu_per_request:.2f} of the CPU time per request"
    )
    rows = [vars(result) | {"workers": workers} for workers, result in results.items()]
    machine.write_json(options.json, throughput=rows)


if __name__ == "__main__":
    main()
