"""The state of 100,000 keys as one Parquet file, and as streams of a service: seconds and bytes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.keyed.sections import Cost, cpu
from localarc import ARC
from localarc.many import Columns, KeyedStreams

KEYS = 100_000


def measure() -> Iterator[Cost]:
    """Write and read; the ratio of the row of bytes is to one calibrator's state file per key."""
    import pyarrow

    random = np.random.default_rng(0)
    names = [f"customer-{i:07d}" for i in range(KEYS)]
    streams = KeyedStreams(Columns(key="key", loss="loss"), ARC(0.1))
    for _ in range(5):  # losses are no whole numbers, so that no two states are equal
        losses = random.uniform(size=KEYS)
        streams.calibrate(pyarrow.table({"key": names, "loss": losses}))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "state.parquet")
        written, read = cpu(lambda: streams.save(path)), cpu(lambda: KeyedStreams.load(path))
        size = path.stat().st_size
        one = len(streams.panel.calibrator(names[0]).state())
        yield Cost("write", KEYS, written / KEYS * 1e6, written, "seconds in all")
        yield Cost("read", KEYS, read / KEYS * 1e6, read, "seconds in all")
        yield Cost("bytes per key", KEYS, size / KEYS, size / KEYS / one, "a state file per key")
        yield from _service(path)


def _service(path: Path) -> Iterator[Cost]:
    """Into a service, and back into a table."""
    folder, back = str(path.parent / "service"), str(path.parent / "back.parquet")
    for way, words in {
        "localarc import": ("import", str(path), "--data", folder),
        "localarc export": ("export", "--data", folder, "--parquet", "--out", back),
    }.items():
        seconds, gigabytes = _command(*words)
        yield Cost(way, KEYS, seconds / KEYS * 1e6, seconds, "seconds in all")
        yield Cost(f"{way}: bytes", KEYS, gigabytes * 1e9 / KEYS, gigabytes, "GB at most")


def _command(*words: str) -> tuple[float, float]:
    """The CPU time and the largest memory of a command."""
    with subprocess.Popen(
        [sys.executable, "-m", "localarc", *words], stdout=subprocess.DEVNULL
    ) as started:
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise subprocess.CalledProcessError(started.returncode, words)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e9
