"""The claim of all workers: one service at a time has their data folder, or their database."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from localarc_service.server import FolderLock, Options
from localarc_service.storage.held_files import HeldFile
from localarc_service.workers import layout

if TYPE_CHECKING:
    from localarc_service.storage.postgres.group import Group

_ORPHAN_SECONDS = 60.0  # for workers of a parent that was killed


class Claim(Protocol):
    """What the parent of the workers holds while it lives."""

    @property
    def files(self) -> tuple[HeldFile, ...]:
        """Files that must stay in their place for the claim to hold."""

    def claim(self) -> str:
        """Make the claim, or see that it still holds; why it does not, or nothing if it does."""

    def forget(self) -> None:
        """In a forked process: close what belongs to the parent, which keeps its claim."""

    def release(self) -> None:
        """Let another service have it."""


def made(options: Options) -> Claim:
    """The claim of a service; raises ValueError if it cannot have it, now or ever."""
    if options.database is not None:
        return _group(options)
    if options.data is None:
        raise ValueError("a service requires a data folder or a database.")
    return FolderClaim(options.data, options.workers)


def _group(options: Options) -> Group:
    from localarc_service.storage.postgres.group import Group

    assert options.database is not None
    group = Group(options.database, options.workers)
    group.claim()  # raises if the database has another number of workers
    return group


class FolderClaim:
    """A data folder with one folder per worker, and its lock."""

    def __init__(self, data: Path, workers: int) -> None:
        data.mkdir(parents=True, exist_ok=True)
        self._lock = FolderLock(data)
        try:
            layout.use(data, workers)
            _prepare(data, workers)
        except BaseException:
            self.release()
            raise

    @property
    def files(self) -> tuple[HeldFile, ...]:
        """The lock of the whole folder."""
        return (self._lock.file,)

    def claim(self) -> str:
        """Nothing: the lock is held until the process ends."""
        return ""

    def forget(self) -> None:
        """Close this process's handle of the lock; the parent has its own."""
        self._lock.release()

    def release(self) -> None:
        """Let another process use the folder."""
        self._lock.release()


def _prepare(data: Path, workers: int) -> None:
    """Make the folders, which share compiled loops, and wait for workers of a killed parent."""
    (data / "compiled").mkdir(exist_ok=True)
    until = time.monotonic() + _ORPHAN_SECONDS
    for index in range(workers):
        folder = layout.worker_folder(data, index)
        folder.mkdir(exist_ok=True)
        with contextlib.suppress(FileExistsError):
            (folder / "compiled").symlink_to(Path("..") / "compiled")
        while True:
            try:
                FolderLock(folder).release()
                break
            except ValueError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
