"""Copy a data folder for another number of workers: each stream to the store of its new owner."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

import msgspec

from localarc import atomic_write
from localarc.service.server import FolderLock
from localarc.service.storage.store import EventStore
from localarc.service.streams.stream import Stream
from localarc.service.workers.layout import (
    FILE_NAME,
    Layout,
    store_folders,
    worker_folder,
)
from localarc.wire.workers import owner_of


def rebalance(data: Path, to: Path, workers: int) -> int:
    """Write a new folder with the same streams for that many workers; returns their number.

    The old folder keeps its streams. The new one appears when it is complete. Snapshots are copied,
    not the event log before them.
    """
    if to.exists():
        raise ValueError(f"{to} exists: choose a folder that does not.")
    partial = to.with_name(f".{to.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # of an attempt that was interrupted
    with contextlib.closing(_Lock(data)):
        streams = _load(data)
        partial.mkdir(mode=0o700, parents=True)
        for index, folder in enumerate(_folders(partial, workers)):
            own = {name: each for name, each in streams.items() if _owns(index, name, workers)}
            with contextlib.closing(EventStore(folder)) as store:
                store.append([], own)
    partial.rename(to)
    _sync(to.parent)
    return len(streams)


class _Lock:
    """Keeps services from using a folder and those of its workers."""

    def __init__(self, data: Path) -> None:
        self._locks: list[FolderLock] = []
        try:
            for folder in dict.fromkeys([data, *store_folders(data)]):
                self._locks.append(FolderLock(folder))
        except ValueError:
            self.close()
            raise

    def close(self) -> None:
        for lock in self._locks:
            lock.release()


def _load(data: Path) -> dict[str, Stream]:
    found: dict[str, Stream] = {}
    for folder in store_folders(data):
        with contextlib.closing(EventStore(folder)) as store:
            found |= store.load()
            if store.quarantined:
                names = ", ".join(sorted(store.quarantined))
                raise ValueError(
                    f"the stored data of {names} is damaged: decide about it with `localarc repair "
                    f"--data {data}` first."
                )
    return found


def _folders(data: Path, workers: int) -> list[Path]:
    """The folders of new stores."""
    if workers == 1:
        return [data]
    atomic_write.write(data / FILE_NAME, msgspec.json.encode(Layout(workers)))
    folders = [worker_folder(data, index) for index in range(workers)]
    for folder in folders:
        folder.mkdir()
    return folders


def _owns(index: int, stream: str, workers: int) -> bool:
    return owner_of(stream, workers) == index


def _sync(folder: Path) -> None:
    """Put a rename on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
