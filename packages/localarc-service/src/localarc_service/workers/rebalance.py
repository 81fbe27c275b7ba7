"""Copy a data folder for another number of workers: each stream to the store of its new owner."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from localarc_service.workers.offline import opened


def rebalance(data: Path, to: Path, workers: int) -> int:
    """Write a new folder with the same streams for that many workers; returns their number.

    The old folder keeps its streams. The new one appears when it is complete. Snapshots are copied,
    not the event log before them.
    """
    if to.exists():
        raise ValueError(f"{to} exists: choose a folder that does not.")
    partial = to.with_name(f".{to.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # of an attempt that was interrupted
    with opened(data) as store:
        streams = store.load()
        if store.quarantined:
            names = ", ".join(sorted(store.quarantined))
            raise ValueError(
                f"the stored data of {names} is damaged: decide about it with `localarc repair "
                f"--data {data}` first."
            )
        with opened(partial, workers) as target:
            target.append([], streams)
    partial.rename(to)
    _sync(to.parent)
    return len(streams)


def _sync(folder: Path) -> None:
    """Put a rename on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
