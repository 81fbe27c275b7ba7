"""What to provide: `python -m benchmarks.service.sizing`, about two minutes.

For each method: memory and a snapshot of a stream whose buffers are full, memory of a pending
prediction, CPU time of a request and of an operation in a batch, and disk space of an event.
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.service.cases import Connection, Running, processor, resident
from benchmarks.service.report import service

KERNEL = {"kernel": {"length_scale": 0.1}}
METHODS: dict[str, dict[str, Any]] = {
    "auto": {"features": 2},
    "larc-lattice": {"features": 2, **KERNEL},
    "larc-dictionary": {"features": 3, **KERNEL},
    "arc": {"method": "arc"},
    "mondrian": {"method": "mondrian"},
}
STREAMS, BATCH = 4, 500
ROUNDS = 4_500  # more than the 4,096 answers that a stream retains
PENDING = 1_000  # per stream
CONNECTIONS, REQUESTS = 16, 100  # rounds of each connection


@dataclass
class Size:
    """What one method takes."""

    method: str
    stream_bytes: float
    pending_bytes: float
    request_us: float
    operation_us: float
    snapshot_bytes: float = 0.0
    event_bytes: float = 0.0


class Rounds:
    """Made-up rounds of one method's streams."""

    def __init__(self, method: str) -> None:
        self.method = method
        self._features = METHODS[method].get("features", 0)
        self._chance = random.Random(method)

    def config(self) -> dict[str, Any]:
        return {"alpha": 0.1, "initial_threshold": 0.5} | METHODS[self.method]

    def predict(self) -> dict[str, Any]:
        body: dict[str, Any] = {"x": [self._chance.random() for _ in range(self._features)]}
        return body | ({"group": self._chance.choice("abcd")} if self.method == "mondrian" else {})

    def feedback(self) -> dict[str, Any]:
        return {"loss": float(self._chance.random() < 0.1), "score": self._chance.random()}


async def ok(connection: Connection, method: str, path: str, body: object) -> bytes:
    """A request that must succeed, once loops are compiled."""
    while (response := await connection.call(method, path, body))[0] == 503:
        await asyncio.sleep(0.2)
    assert response[0] in (200, 201), response
    return response[1]


# ---- load ------------------------------------------------------------------------------------


async def fill(connection: Connection, rounds: Rounds, stream: str, count: int) -> None:
    """Create a stream, and send it rounds in batches."""
    await ok(connection, "PUT", f"/v1/streams/{stream}", rounds.config())
    for start in range(0, count, BATCH):
        operations = []
        for t in range(start, start + BATCH):
            about = {"stream": stream, "id": f"p{t}"}
            operations.append({"op": "predict", **about, **rounds.predict()})
            operations.append({"op": "feedback", **about, **rounds.feedback()})
        await ok(connection, "POST", "/v1/batch", {"operations": operations})


async def leave_pending(connection: Connection, rounds: Rounds, stream: str) -> None:
    about = ({"op": "predict", "stream": stream, "id": f"open-{t}"} for t in range(PENDING))
    body = {"operations": [each | rounds.predict() for each in about]}
    await ok(connection, "POST", "/v1/batch", body)


async def single_requests(port: int, rounds: Rounds, streams: Sequence[str]) -> None:
    """Rounds of one connection, each of two requests."""
    connection = Connection(port)
    await connection.open()
    for number in range(REQUESTS):
        path, key = f"/v1/streams/{random.choice(streams)}", f"{id(connection)}-{number}"
        await ok(connection, "POST", f"{path}/predict", {"id": key, **rounds.predict()})
        await ok(connection, "PUT", f"{path}/predictions/{key}/feedback", rounds.feedback())
    await connection.close()


# ---- measurements ----------------------------------------------------------------------------


async def measure(running: Running, method: str) -> Size:
    rounds = Rounds(method)
    names = [f"{method}-{number}" for number in range(STREAMS)]
    connection = Connection(running.port)
    await connection.open()
    await fill(connection, rounds, f"first-{method}", BATCH)  # loads what the others share
    memory, cpu = [resident(running.process)], [processor(running.process)]
    for name in names:
        await fill(connection, rounds, name, ROUNDS)
    memory.append(resident(running.process))
    cpu.append(processor(running.process))
    for name in names:
        await leave_pending(connection, rounds, name)
    memory.append(resident(running.process))
    await connection.close()
    cpu.append(processor(running.process))
    await asyncio.gather(
        *(single_requests(running.port, rounds, names) for _ in range(CONNECTIONS))
    )
    cpu.append(processor(running.process))
    return Size(
        method,
        stream_bytes=(memory[1] - memory[0]) / STREAMS,
        pending_bytes=(memory[2] - memory[1]) / STREAMS / PENDING,
        operation_us=1e6 * (cpu[1] - cpu[0]) / (STREAMS * ROUNDS * 2),
        request_us=1e6 * (cpu[3] - cpu[2]) / (CONNECTIONS * REQUESTS * 2),
    )


def on_disk(folder: Path, size: Size) -> None:
    """Add the bytes of a snapshot, and of an event: the file with and without them."""
    ours = f"{size.method}-%"
    with closing(sqlite3.connect(folder / "log.sqlite")) as log:
        events, snapshots = (
            log.execute(f"SELECT {what} WHERE stream LIKE ?", [ours]).fetchone()[0]
            for what in ("COUNT(*) FROM events", "AVG(LENGTH(state)) FROM snapshots")
        )
        before = _packed(log, folder / f"{size.method}-with")
        log.execute("DELETE FROM events WHERE stream LIKE ?", [ours])
        log.commit()
        size.event_bytes = (before - _packed(log, folder / f"{size.method}-without")) / events
    size.snapshot_bytes = snapshots


def _packed(log: sqlite3.Connection, path: Path) -> int:
    log.execute("VACUUM INTO ?", [str(path)])
    return path.stat().st_size


def sizes() -> tuple[int, list[Size]]:
    """Memory of a service without streams, and the size of each method."""
    with tempfile.TemporaryDirectory() as name:
        options = ("--data", name, "--log-events", "1000000", "--max-streams", "1000")
        with service(*options) as running:
            empty = resident(running.process)
            found = [asyncio.run(measure(running, method)) for method in METHODS]
        for size in found:
            on_disk(Path(name), size)
    return empty, found


def main() -> None:
    options = machine.argument_parser("Measure what streams and requests take.").parse_args()
    print(f"{machine.describe()}, load {os.getloadavg()[0]:.0f}")
    empty, found = sizes()
    print(f"a service without streams: {empty / 1e6:.0f} MB\n")
    print("| method | stream | pending prediction | request | in a batch | event | snapshot |")
    print("|---|---|---|---|---|---|---|")
    for size in found:
        print(
            f"| `{size.method}` | {size.stream_bytes / 1e6:.1f} MB | {size.pending_bytes:.0f} B "
            f"| {size.request_us:.0f} us | {size.operation_us:.0f} us "
            f"| {size.event_bytes:.0f} B | {size.snapshot_bytes / 1e6:.2f} MB |"
        )
    machine.write_json(options.json, sizes=found)


if __name__ == "__main__":
    main()
