"""What durability costs and finds: `python -m benchmarks.service.durability`, about two minutes.

- Damage: the files of a service that was killed, damaged at random places; how many losses of
  acknowledged events go unnoticed, with and without the high-water mark.
- Commits: events that are committed with and without the mark, side by side.
- Shutdown: snapshots of thousands of streams in one transaction, and in one each.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

from benchmarks import machine
from benchmarks.service.cases import Connection, Load, Running, drive
from benchmarks.service.report import for_seconds
from localarc_client.wire.config import ArcConfig
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.limits import Limits
from localarc_service.storage.high_water_mark import HighWaterMark
from localarc_service.storage.store import EventStore
from localarc_service.streams.manager import StreamManager

STREAMS = 20
Damage = Callable[[Path, random.Random], None]


# ---- damage ----------------------------------------------------------------------------------


def truncate(folder: Path, source: random.Random) -> None:
    path = folder / "log.sqlite-wal"
    os.truncate(path, source.randrange(path.stat().st_size))


def remove(folder: Path, source: random.Random) -> None:
    (folder / "log.sqlite-wal").unlink()


def overwrite_log(folder: Path, source: random.Random) -> None:
    _overwrite(folder / "log.sqlite-wal", source)


def overwrite_database(folder: Path, source: random.Random) -> None:
    with contextlib.closing(sqlite3.connect(folder / "log.sqlite")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _overwrite(folder / "log.sqlite", source, 4096)


def _overwrite(path: Path, source: random.Random, first: int = 0) -> None:
    """Overwrite a byte, or a block of a disk; the first page says that it is a database."""
    size = source.choice((1, 16, 512, 4096))
    with path.open("r+b") as file:
        file.seek(source.randrange(first, path.stat().st_size) // size * size)
        file.write(source.randbytes(size))


DAMAGES: dict[str, Damage] = {
    "write-ahead log cut off": truncate,
    "write-ahead log overwritten": overwrite_log,
    "write-ahead log removed": remove,
    "database overwritten": overwrite_database,
}


def kill_under_load(folder: Path, seconds: float) -> dict[str, int]:
    """Kill a service under load; the acknowledged seq of each stream, from its intact files."""
    command = [sys.executable, "-m", "localarc.cli", "serve", "--data", str(folder), "--port", "0"]
    with subprocess.Popen([*command], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline().rpartition(":")[2])
            asyncio.run(_load(port, process.pid, seconds))
        finally:
            process.kill()
    with copy_of(folder) as copy, contextlib.closing(EventStore(copy)) as store:
        return {name: stream.state.seq for name, stream in store.load().items()}


async def _load(port: int, process: int, seconds: float) -> None:
    connection = Connection(port)
    await connection.open()
    for number in range(STREAMS):
        path, body = (
            f"/v1/streams/load-{number}",
            {"alpha": 0.1, "method": "arc", "features": 2, "retain": 50},
        )
        while (await connection.call("PUT", path, body))[0] == 503:
            await asyncio.sleep(0.1)
    await connection.close()
    await drive(Load(), Running(port, process), 8, STREAMS, for_seconds(seconds))


@contextlib.contextmanager
def copy_of(folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        for name in "log.sqlite", "log.sqlite-wal", "log.marks":
            shutil.copy(folder / name, place)
        yield Path(place)


def verdict(folder: Path, acknowledged: dict[str, int]) -> tuple[str, float]:
    """Whether a start notices what is lost, and the share of streams that it serves."""
    try:
        with contextlib.closing(EventStore(folder)) as store:
            streams = store.load()
    except sqlite3.DatabaseError:
        return "does not start", 0.0
    complete = {name for name, each in streams.items() if each.state.seq == acknowledged[name]}
    lost = acknowledged.keys() - complete
    if not lost:
        return "nothing lost", 1.0
    found = "silent" if lost - store.quarantined.keys() else "named"
    return found, len(complete) / len(acknowledged)


def measure_damage(trials: int) -> Iterator[dict[str, object]]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        acknowledged = kill_under_load(folder, 0.5)
        for name, damage in DAMAGES.items():
            for mark in False, True:
                yield _trials(name, damage, mark, folder, acknowledged, trials)


def _trials(
    name: str, damage: Damage, mark: bool, folder: Path, acknowledged: dict[str, int], trials: int
) -> dict[str, object]:
    found: Counter[str] = Counter()
    served = 0.0
    for trial in range(trials):
        with copy_of(folder) as copy:
            damage(copy, random.Random(f"{name}-{trial}"))
            if not mark:
                (copy / "log.marks").unlink()
            kind, share = verdict(copy, acknowledged)
        found[kind] += 1
        served += share
    return {"damage": name, "mark": mark, **found, "served": served / trials}


# ---- commits ---------------------------------------------------------------------------------


def measure_commits(size: int, count: int) -> dict[str, float]:
    """CPU and time of commits with the mark, relative to those without it, in turn."""
    spent = {True: [0.0, 0.0], False: [0.0, 0.0]}
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        sides = {}
        for mark in spent:
            folder = Path(place) / str(mark)
            folder.mkdir()
            store = stack.enter_context(contextlib.closing(EventStore(folder)))
            sides[mark] = store, StreamManager(Limits(), time.time)
            for name in range(size):
                sides[mark][1].create(f"s{name}", ArcConfig(0.1, retain=10))
        for t in range(count):
            for mark, (store, manager) in sides.items():
                for name in range(size):
                    manager.predict(f"s{name}", PredictRequest(id=f"p{t}"))
                    manager.feedback(f"s{name}", f"p{t}", FeedbackRequest(0.0))
                off = mock.patch.object(HighWaterMark, "advance", return_value=None)
                with contextlib.nullcontext() if mark else off:
                    cpu, wall = time.process_time(), time.perf_counter()
                    store.append(manager.uncommitted)
                    spent[mark][0] += time.process_time() - cpu
                    spent[mark][1] += time.perf_counter() - wall
                manager.uncommitted = []
    with_mark, without = spent[True], spent[False]
    return {
        "events": 2 * size,
        "cpu_us": 1e6 * with_mark[0] / count,
        "cpu_ratio": with_mark[0] / without[0],
        "ms": 1e3 * with_mark[1] / count,
        "ratio": with_mark[1] / without[1],
    }


# ---- shutdown --------------------------------------------------------------------------------


def measure_shutdown(streams: int) -> dict[str, float]:
    """Seconds that the snapshots of all streams take, together and one by one."""
    manager = StreamManager(Limits(streams=streams), time.time)
    for number in range(streams):
        manager.create(f"s{number}", ArcConfig(0.1))
        for t in range(20):
            manager.predict(f"s{number}", PredictRequest(id=f"p{t}"))
            manager.feedback(f"s{number}", f"p{t}", FeedbackRequest(0.0))
    seconds = {}
    for name in "together", "one by one":
        with (
            tempfile.TemporaryDirectory() as place,
            contextlib.closing(EventStore(Path(place))) as store,
        ):
            store.append(manager.uncommitted)
            everything = list(manager.streams.values())
            parts = [everything] if name == "together" else [[each] for each in everything]
            started = time.perf_counter()
            for part in parts:
                store.snapshot(part)
            seconds[name] = time.perf_counter() - started
    return {"streams": streams, **seconds}


def main() -> None:
    parser = machine.argument_parser("Measure what durability costs and finds.")
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("--streams", type=int, default=5000)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    damage = []
    for row in measure_damage(options.trials):
        damage.append(row)
        print(*(f"{name}: {value}" for name, value in row.items()), sep=", ", flush=True)
    commits = [measure_commits(size, options.commits) for size in (1, 16)]
    for costs in commits:
        print(
            f"commits of {costs['events']} events: {costs['cpu_us']:.0f} us CPU, "
            f"{costs['cpu_ratio']:.2f} times without the mark; {costs['ms']:.2f} ms, "
            f"{costs['ratio']:.2f} times"
        )
    shutdown = measure_shutdown(options.streams)
    ratio = shutdown["one by one"] / shutdown["together"]
    print(
        f"snapshots of {options.streams} streams: {shutdown['together']:.2f} s in one transaction, "
        f"{shutdown['one by one']:.2f} s in one each, {ratio:.1f} times"
    )
    machine.write_json(options.json, damage=damage, commits=commits, shutdown=[shutdown])


if __name__ == "__main__":
    main()
