"""What the writer asks of a store, whichever database it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

from localarc_client.wire.events import ChangeEvent
from localarc_service.streams.manager import PendingWrite
from localarc_service.streams.quarantine import Quarantine
from localarc_service.streams.stream import Stream


class StorageError(ValueError):
    """A data folder or a database that cannot be read."""


class Store(Protocol):
    """Events and snapshots, on disk when a call returns; used by one thread.

    One process at a time owns the database: `acquire`, then `load` everything, then write. A
    process that is no longer the owner starts over, because another one may have written.
    """

    place: str  # what messages call it: the data folder, the database
    errors: tuple[type[Exception], ...]  # what a call raises when the database fails
    events: int  # in the log
    bytes: int  # of these events
    unsaved: dict[str, int]  # the first event after a stream's snapshot, oldest first
    quarantined: dict[str, Quarantine]  # streams that `load` found damaged; their rows are kept
    degraded: str  # why nothing can be written, as known without trying; empty if it can

    def acquire(self) -> bool:
        """Become the owner; False while another process is."""

    def is_owner(self) -> bool:
        """Whether this process is the owner, as far as can be seen without asking the database."""

    def load(
        self,
        names: Collection[str] | None = None,
        publish: Callable[[str, ChangeEvent], None] = lambda name, change: None,
    ) -> dict[str, Stream]:
        """All streams, or those named, except for damaged ones."""

    def append(
        self, writes: Collection[PendingWrite], replaced: Mapping[str, Stream | None] | None = None
    ) -> None:
        """Store events, after replacing or removing all that is stored about some streams."""

    def snapshot(self, streams: Iterable[Stream]) -> list[str]:
        """Store all of some streams in one transaction; returns the names of those that cannot."""

    def prune(self) -> int:
        """Delete the oldest events that no stream needs; returns how many."""

    def flush(self) -> None:
        """Do what responses need not wait for; called often, and raises nothing."""

    def probe(self) -> None:
        """Raise if nothing can be written."""

    def close(self) -> None:
        """Close the database."""
