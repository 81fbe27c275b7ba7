"""Atomic writes: after a crash there is the old file or the new one, never part of one."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace the file at `path` by one with these bytes, and wait until it is on disk."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"cannot write {target}: it is a folder.")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot write {target.name}: folder {target.parent} does not exist."
        )
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    _sync_folder(target.parent)


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove what processes left that were killed while they replaced the file at `path`."""
    target = Path(path)
    for partial in target.parent.glob(f".{target.name}.*.partial"):
        partial.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Flush the rename to disk, where the platform lets a folder be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
