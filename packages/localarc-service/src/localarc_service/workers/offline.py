"""The store of a service that does not run: one, or those of its workers as one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from localarc_client.wire.workers import owner_of
from localarc_service.server import FolderLock
from localarc_service.storage.interface import Store
from localarc_service.storage.opening import open_store
from localarc_service.storage.transfer import ImportTarget
from localarc_service.streams.manager import PendingWrite
from localarc_service.streams.quarantine import Quarantine
from localarc_service.streams.stream import Stream
from localarc_service.workers import layout
from localarc_service.workers.layout import store_folders

if TYPE_CHECKING:
    from localarc_service.storage.postgres.connection import Address


@contextlib.contextmanager
def opened(place: Path | Address, workers: int | None = None) -> Iterator[ImportTarget]:
    """The store in a folder or a database that no service uses, until the end of the block.

    A new one is made for that many workers, or for one. Raises ValueError if a service runs, and
    if the store was made for another number.
    """
    stores = _folder_stores if isinstance(place, Path) else _schema_stores
    with contextlib.ExitStack() as stack:
        places = stores(stack, place, workers)  # type: ignore[arg-type]
        found = [stack.enter_context(contextlib.closing(open_store(each))) for each in places]
        yield found[0] if len(found) == 1 else DividedStore(found)


def _folder_stores(stack: contextlib.ExitStack, data: Path, workers: int | None) -> list[Path]:
    layout.require_whole(data)
    os.umask(0o077)  # only the owner can read the data folder
    data.mkdir(parents=True, exist_ok=True)
    stack.callback(FolderLock(data).release)
    layout.use(data, workers or layout.workers_of(data))
    folders = store_folders(data)
    for folder in folders:
        if folder != data:
            folder.mkdir(exist_ok=True)
            stack.callback(FolderLock(folder).release)  # a worker may survive its parent
    return folders


def _schema_stores(
    stack: contextlib.ExitStack, address: Address, workers: int | None
) -> list[Address]:
    from localarc_service.storage.postgres.group import Group, member, workers_of

    count = workers or workers_of(address) or 1
    if count == 1:
        return [address]
    group = Group(address, count)
    stack.callback(group.release)
    if reason := group.claim():
        raise ValueError(f"the database cannot be changed: {reason}. Stop the services first.")
    return [member(address, index) for index in range(count)]


class DividedStore:
    """The stores of all workers, in the order of their numbers, as one."""

    def __init__(self, stores: Sequence[Store]) -> None:
        self._stores = stores
        self.place = stores[0].place
        self.errors = stores[0].errors

    @property
    def quarantined(self) -> dict[str, Quarantine]:
        """Damaged streams that `load` found."""
        return {name: each for store in self._stores for name, each in store.quarantined.items()}

    def acquire(self) -> bool:
        """Become the owner of all; False while another process owns one."""
        return all(store.acquire() for store in self._stores)

    def load(self) -> dict[str, Stream]:
        """All streams, except for damaged ones."""
        return {name: each for store in self._stores for name, each in store.load().items()}

    def append(
        self, writes: Collection[PendingWrite], replaced: Mapping[str, Stream | None] | None = None
    ) -> None:
        """Replace what is stored about some streams, in one transaction of each worker."""
        assert not writes, "events belong to a running service"
        count = len(self._stores)
        for index, store in enumerate(self._stores):
            own = {k: each for k, each in (replaced or {}).items() if owner_of(k, count) == index}
            store.append([], own)
