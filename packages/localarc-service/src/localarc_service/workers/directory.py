"""The names of the streams of all workers: a small file per worker, which the others read."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from localarc_service.errors import ApiError
from localarc_service.streams.directory import Directory
from localarc_service.workers.shared_lock import SharedLock

_log = logging.getLogger("localarc.service")


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
        try:
            with self._own.open("a") as file:
                file.writelines(f"{name}\n" for name in names)
        except OSError as error:
            told = f"the name cannot be written for other workers: {error.strerror}. Try again."
            raise ApiError(503, told) from error

    def publish(self, names: Iterable[str]) -> bool:
        """Replace the names of this worker's streams; without them, others create none."""
        draft = self._own.with_suffix(".draft")
        try:
            draft.write_text("".join(f"{name}\n" for name in names))
            os.replace(draft, self._own)
        except OSError as error:
            if self._own.exists():
                _log.error("the names of streams cannot be written for other workers: %s", error)
            self.withdraw()
            return False
        return True

    def withdraw(self) -> None:
        """Let creations wait until this worker has loaded its streams."""
        self._own.unlink(missing_ok=True)


def _read(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except FileNotFoundError:
        told = "the streams of another worker are being loaded: try again."
        raise ApiError(503, told) from None
