"""The store: finished runs in a folder, by everything that they depend on."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from localarc import atomic_write
from localarc.kernels import Kernel
from localarc.reporting.provenance import versions
from localarc.running.record import Record
from localarc.serialization import StateError
from localarc.streams import Stream
from localarc.validation import IntArray
from localarc_lab.compare.methods import Method
from localarc_lab.sources import source_digests

Task = tuple[Method, float]
"""A method and a target."""

Run = tuple[Record, float]
"""A record, and the seconds of processor time that it took."""


class Store:
    """Finished runs in a folder, by everything that they depend on."""

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        stream: Stream,
        delays: IntArray,
        kernel: Kernel | None,
    ) -> None:
        self._folder = None if folder is None else Path(folder)
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        parts = [digest(stream, delays), repr(kernel), source_digests(), versions()]
        self._common = json.dumps(parts, sort_keys=True)

    def read(self, task: Task) -> Run | None:
        """A stored run, or None if it is missing or damaged."""
        file = self._file(task)
        if file is None:
            return None
        try:
            seconds = float(json.loads(file.with_suffix(".json").read_text())["seconds"])
            return Record.load(file), seconds
        except (OSError, ValueError, KeyError, TypeError, StateError):
            return None

    def write(self, task: Task, record: Record, seconds: float) -> None:
        """Store a run."""
        file = self._file(task)
        if file is None:
            return
        record.save(file)
        about = {"method": task[0].title, "target": task[1], "seconds": seconds}
        atomic_write.write(file.with_suffix(".json"), json.dumps(about).encode())

    def _file(self, task: Task) -> Path | None:
        method, alpha = task
        if self._folder is None or method.identity is None:
            return None
        text = json.dumps([self._common, method.identity, alpha])
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.record"


def digest(stream: Stream, delays: IntArray) -> str:
    """Return a SHA-256 of all rounds."""
    found = hashlib.sha256()
    curves = stream.curves
    arrays: list[Any] = [stream.X, curves.breakpoints, curves.losses, curves.offsets, delays]
    arrays += [array for array in (curves.sizes, curves.widths) if array is not None]
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    found.update(repr((curves.bound, stream.groups)).encode())
    return found.hexdigest()
