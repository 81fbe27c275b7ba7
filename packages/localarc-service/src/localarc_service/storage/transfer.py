"""Transfer: streams leave a store in a file and enter another, of any kind.

The file is an export, with all of them, or the table of keyed streams, with their calibrators.

Streams are read as of one moment, while a service may use the store. What enters is there as a
whole or not at all: one transaction replaces what is stored about all streams of the file, where
several workers share a store, one transaction of each worker.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from localarc_service.storage import export_file
from localarc_service.storage.backup import copy
from localarc_service.storage.store import EventStore
from localarc_service.stored import events
from localarc_service.streams.manager import PendingWrite
from localarc_service.streams.quarantine import Quarantine
from localarc_service.streams.stream import Stream

if TYPE_CHECKING:
    from localarc_service.storage.postgres.connection import Address


@dataclass(frozen=True)
class Found:
    """The streams of a store, and those that are damaged."""

    streams: Mapping[str, Stream]
    damaged: Mapping[str, Quarantine]


class ImportTarget(Protocol):
    """What an import asks of a store, or of those of several workers."""

    @property
    def place(self) -> str:
        """What messages call it."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What a call raises when the database fails."""

    @property
    def quarantined(self) -> Mapping[str, Quarantine]:
        """Streams that `load` found damaged."""

    def acquire(self) -> bool:
        """Become the owner; False while another process is."""

    def load(self) -> dict[str, Stream]:
        """All streams, except for damaged ones."""

    def append(
        self, writes: Collection[PendingWrite], replaced: Mapping[str, Stream | None] | None = None
    ) -> None:
        """Replace all that is stored about some streams."""


def read_folders(folders: Sequence[Path]) -> Found:
    """The streams of the folders of a service, one per worker."""
    streams: dict[str, Stream] = {}
    damaged: dict[str, Quarantine] = {}
    for folder in folders:
        with tempfile.TemporaryDirectory(prefix="localarc-export-") as place:
            copy(folder, Path(place))
            with contextlib.closing(EventStore(Path(place))) as store:
                streams |= store.load()
                damaged |= store.quarantined
    return Found(streams, damaged)


def read_database(address: Address) -> Found:
    """The streams of a database."""
    from localarc_service.storage.postgres.reading import read

    return Found(*read(address))


def export_streams(
    found: Found, path: Path, names: Collection[str] = (), as_table: bool = False
) -> list[Stream]:
    """Write all streams to an export, or those named; or to a table of keyed streams."""
    chosen = list(names) or sorted({*found.streams, *found.damaged})
    for name in chosen:
        if name in found.damaged:
            raise ValueError(
                f"stream {name!r} is damaged: {found.damaged[name].reason}. Repair it with "
                "`localarc repair`, or name the streams to export."
            )
        if name not in found.streams:
            raise ValueError(f"there is no stream {name!r}.")
    streams = [found.streams[name] for name in dict.fromkeys(chosen)]
    if as_table:
        from localarc_service.storage import state_table

        state_table.write(path, streams)
    else:
        export_file.write(path, streams)
    return streams


def read_streams(path: Path, names: Collection[str] = ()) -> dict[str, Stream]:
    """All streams of an export or of a table of keyed streams, or those named."""
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return {stream.name: stream for stream in export_file.read(file, names)}
    from localarc_service.storage import state_table  # requires pyarrow

    return {stream.name: stream for stream in state_table.read(path, names)}


def import_streams(
    store: ImportTarget,
    path: Path,
    names: Collection[str] = (),
    replace: bool = False,
    renamed: Mapping[str, str] | None = None,
) -> list[Stream]:
    """Store all streams of a file, or those named, in one transaction of each worker.

    A name that the store has is an error, unless the stream of that name is to be replaced.
    `renamed` has new names of streams by their old ones.
    """
    streams = _renamed(list(read_streams(path, names).values()), renamed or {})
    if not store.acquire():
        raise ValueError(f"{store.place} is in use by another process: stop it first.")
    existing = sorted(streams.keys() & {*store.load(), *store.quarantined})
    if existing and not replace:
        raise ValueError(
            f"the store has a stream named {existing[0]!r}"
            + (f", and {len(existing) - 1} more of the file" if len(existing) > 1 else "")
            + ": nothing was imported. Pass --replace to replace what is stored about them."
        )
    store.append([], streams)
    return list(streams.values())


def _renamed(streams: Sequence[Stream], names: Mapping[str, str]) -> dict[str, Stream]:
    """The streams by name; those with another name were renamed now."""
    unknown = sorted(names.keys() - {stream.name for stream in streams})
    if unknown:
        raise ValueError(f"there is no stream {unknown[0]!r} to rename.")
    for stream in streams:
        if stream.name in names:
            stream.apply(events.StreamRenamed(at=time.time(), name=names[stream.name]))
    found = {stream.name: stream for stream in streams}
    if len(found) < len(streams):
        raise ValueError("two streams would have the same name: choose other names.")
    return found
