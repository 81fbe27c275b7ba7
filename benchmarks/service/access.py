"""What tokens, the audit log and logs cost: `python -m benchmarks.service.access`, about a minute.

Services run side by side and are asked in turn, a slice each, by one connection: a prediction and
its loss. The table has the CPU time of a request relative to the first service. Then comes the CPU
time of a quota by itself, of one process and as workers share it.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine
from benchmarks.service.cases import Running
from benchmarks.service.report import service
from localarc_service.access.counts import AccessCounts
from localarc_service.access.token import Scope, Token
from localarc_service.access.tokens import Tokens
from localarc_service.workers.shared_lock import SharedLock

SLICES, ROUNDS, TOKENS, ADMISSIONS = 8, 250, 1000, 10_000


@dataclass
class Case:
    """A service, the token that it is asked with, and the CPU seconds of each slice."""

    name: str
    running: Running
    connection: http.client.HTTPConnection
    headers: dict[str, str]
    seconds: list[float]

    def call(self, method: str, path: str, body: object) -> None:
        self.connection.request(method, path, json.dumps(body), self.headers)
        response = self.connection.getresponse()
        content = response.read()
        assert response.status in (200, 201), content

    def slice(self, number: int) -> None:
        """Predictions and their losses, on a new connection: the others took their time."""
        self.connection.close()
        before = cpu_seconds(self.running.process)
        for t in range(ROUNDS):
            key = f"{number}-{t}"
            self.call("POST", "/v1/streams/s/predict", {"id": key})
            self.call("PUT", f"/v1/streams/s/predictions/{key}/feedback", {"loss": t % 2})
        self.seconds.append(cpu_seconds(self.running.process) - before)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def variants(folder: Path) -> dict[str, tuple[str, ...]]:
    """Options of the services; each includes those of the previous one."""
    one, many = folder / "one", folder / "many"
    secret = (folder / "secret").read_text()
    limits = "streams=s,t-* expires=2100-01-01 requests=1000000"
    one.write_text(f"write {secret} name=one\n")
    others = "".join(f"write {secrets.token_hex(16)} name=t{n}\n" for n in range(TOKENS - 1))
    many.write_text(f"{others}write {secret} name=one {limits}\n")
    limited = "--token-file", str(many)
    audit = *limited, "--audit-log", str(folder / "audit.jsonl")
    listed = *limited, "--audit-log", str(folder / "listed.jsonl"), "--audit-predictions"
    logged = *listed, "--log-requests", "--log-format", "json"
    return {
        "no tokens": (),
        "one token": ("--token-file", str(one)),
        f"{TOKENS:,} tokens with limits and quotas": limited,
        "and an audit log": audit,
        "and every prediction in it": listed,
        "and every request in the log": logged,
    }


def quota_costs() -> dict[str, float]:
    """CPU microseconds of counting one request, in one process, and with the lock of workers."""
    kinds = {
        "a quota of one process": AccessCounts(),
        "a quota of several workers": AccessCounts(SharedLock(0.01)),
    }
    token = Token("one", Scope.WRITE, b"digest", requests=1e9)
    tokens = {name: Tokens([token], counts=counts) for name, counts in kinds.items()}
    seconds = dict.fromkeys(kinds, 0.0)
    for _ in range(SLICES):
        for name, each in tokens.items():
            before = time.process_time()
            for _ in range(ADMISSIONS):
                each.admit(token)
            seconds[name] += time.process_time() - before
    return {name: 1e6 * total / (SLICES * ADMISSIONS) for name, total in seconds.items()}


def main() -> None:
    """Measure, and print the table."""
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        folder = Path(place)
        (folder / "secret").write_text(secrets.token_hex(16))
        secret = (folder / "secret").read_text()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
        cases = []
        for name, options in variants(folder).items():
            running = stack.enter_context(service("--without-sync", *options))
            connection = http.client.HTTPConnection("127.0.0.1", running.port)
            stack.callback(connection.close)
            cases.append(Case(name, running, connection, headers, []))
            cases[-1].call("PUT", "/v1/streams/s", {"alpha": 0.1, "method": "arc"})
        for number in range(SLICES + 1):
            for case in cases:
                case.slice(number)
    print(machine.describe())
    first = sum(cases[0].seconds[1:])
    for case in cases:
        total = sum(case.seconds[1:])  # the first slice warms up
        each = 1e6 * total / (2 * ROUNDS * SLICES)
        print(f"{case.name:45} {total / first:5.2f}   {each:5.0f} us of CPU time per request")
    for name, each in quota_costs().items():
        print(f"{name:45}         {each:5.1f} us of CPU time per request")


if __name__ == "__main__":
    main()
