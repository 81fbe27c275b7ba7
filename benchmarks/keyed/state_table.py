"""The state of 100,000 keys as one Parquet file: seconds and megabytes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.keyed.sections import Cost, cpu
from localarc import ARC
from localarc.keyed import KeyedStreams

KEYS = 100_000


def measure() -> Iterator[Cost]:
    """Write and read; the ratio of the row of bytes is to one calibrator's state file per key."""
    import pyarrow

    random = np.random.default_rng(0)
    names = [f"customer-{i:07d}" for i in range(KEYS)]
    streams = KeyedStreams(ARC(0.1), key="key", loss="loss")
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
