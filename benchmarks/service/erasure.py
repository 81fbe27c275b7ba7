"""What erasure costs: `python -m benchmarks.service.erasure`, about half a minute.

Streams of several sizes of database; one of them is deleted. While the database is written anew,
requests wait. The time of a plain copy of the file, side by side, is the unit.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import machine
from localarc_client.wire.config import ArcConfig
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.limits import Limits
from localarc_service.storage.store import EventStore
from localarc_service.streams import lifecycle
from localarc_service.streams.manager import StreamManager

ROUNDS = 60
EVENTS = 20_000  # in the log; older ones are in snapshots
SIZES = 100, 400, 1600


def filled(store: EventStore, streams: int) -> StreamManager:
    """A store whose log is limited as that of a service, with streams that have answers."""
    manager = StreamManager(Limits(streams=streams), time.time)
    for number in range(streams):
        name = f"s{number}"
        manager.create(name, ArcConfig(0.1, features=8))
        for t in range(ROUNDS):
            manager.predict(name, PredictRequest([0.1 * t] * 8, f"order-{t}"))
            manager.feedback(name, f"order-{t}", FeedbackRequest(float(t % 9 == 0)))
        store.append(manager.uncommitted)
        manager.uncommitted = []
        if store.events > EVENTS:
            store.snapshot(manager.streams[each] for each in list(store.unsaved))
            while store.prune():
                pass
    store.snapshot([manager.streams["s0"]])
    return manager


def measure(streams: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        folder.mkdir()
        with contextlib.closing(EventStore(folder)) as store:
            manager = filled(store, streams)
            lifecycle.delete(manager, "s0")
            started = time.perf_counter()
            store.append([], manager.replaced)
            deleted = time.perf_counter()
            store._erasure.run()
            erased = time.perf_counter()
            size = os.path.getsize(folder / "log.sqlite")
            shutil.copy(folder / "log.sqlite", Path(place) / "copy")
            _sync(Path(place) / "copy")
            copied = time.perf_counter()
    return {
        "MB": size / 1e6,
        "delete_ms": 1e3 * (deleted - started),
        "erase_ms": 1e3 * (erased - deleted),
        "copies": (erased - deleted) / (copied - erased),
    }


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lines() -> Iterator[str]:
    yield machine.describe()
    yield "streams  database   DELETE   erasure   in copies of the file"
    for streams in SIZES:
        found = measure(streams)
        yield (
            f"{streams:7d}  {found['MB']:5.1f} MB  {found['delete_ms']:4.0f} ms  "
            f"{found['erase_ms']:5.0f} ms   {found['copies']:.1f}"
        )


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
