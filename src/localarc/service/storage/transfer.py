"""Transfer: streams leave a store in an export file and enter another, of whatever kind.

What enters is there as a whole or not at all: one transaction replaces what is stored about all
streams of the file.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from localarc.service.storage import export_file
from localarc.service.storage.interface import Store
from localarc.service.streams.stream import Stream


def export_streams(store: Store, path: Path, names: Collection[str] = ()) -> list[Stream]:
    """Write all streams of a store to a file, or those named."""
    found = store.load()
    chosen = list(names) or sorted({*found, *store.quarantined})
    for name in chosen:
        if name in store.quarantined:
            raise ValueError(
                f"stream {name!r} is damaged: {store.quarantined[name].reason}. Repair it with "
                "`localarc repair`, or name the streams to export."
            )
        if name not in found:
            raise ValueError(f"there is no stream {name!r}.")
    streams = [found[name] for name in dict.fromkeys(chosen)]
    export_file.write(path, streams)
    return streams


def import_streams(
    store: Store, path: Path, names: Collection[str] = (), replace: bool = False
) -> list[Stream]:
    """Store all streams of a file, or those named, in one transaction.

    A name that the store has is an error, unless the stream of that name is to be replaced.
    """
    with path.open("rb") as file:
        streams = {stream.name: stream for stream in export_file.read(file, names)}
    existing = sorted(streams.keys() & {*store.load(), *store.quarantined})
    if existing and not replace:
        raise ValueError(
            f"the store has a stream named {existing[0]!r}"
            + (f", and {len(existing) - 1} more of the file" if len(existing) > 1 else "")
            + ": nothing was imported. Pass --replace to replace what is stored about them."
        )
    store.append([], streams)
    return list(streams.values())
