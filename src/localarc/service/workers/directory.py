"""The names of the streams of all workers: a small file per worker, which the others read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from localarc.service.api.errors import ApiError
from localarc.service.streams.directory import Directory
from localarc.service.workers.shared_lock import SharedLock


class SharedDirectory(Directory):
    """The directory as one worker sees it; the file of a worker that is down stays."""

    def __init__(self, folder: Path, index: int, workers: int, lock: SharedLock) -> None:
        files = [folder / f"names-{number}" for number in range(workers)]
        self._own = files.pop(index)
        self._others = files
        self._lock = lock

    @contextlib.contextmanager
    def locked(self) -> Iterator[Collection[str]]:
        """The names of streams of other workers; raises 503 while one does not know its own."""
        with self._lock as locked:
            if not locked:
                raise ApiError(503, "another worker creates a stream: try again.")
            yield [name for file in self._others for name in _read(file)]

    def reserve(self, names: Iterable[str]) -> None:
        """Have others count these names as well; within `locked`."""
        with self._own.open("a") as file:
            file.writelines(f"{name}\n" for name in names)

    def publish(self, names: Iterable[str]) -> None:
        """Replace the names of this worker's streams."""
        draft = self._own.with_suffix(".draft")
        draft.write_text("".join(f"{name}\n" for name in names))
        os.replace(draft, self._own)

    def withdraw(self) -> None:
        """Let creations wait until this worker has loaded its streams."""
        self._own.unlink(missing_ok=True)


def _read(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except FileNotFoundError:
        told = "the streams of another worker are being loaded: try again."
        raise ApiError(503, told) from None
