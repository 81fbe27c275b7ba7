"""Backup of a data folder, of one process or of several workers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from localarc.service.storage.backup import backup as backup_one
from localarc.service.storage.check import FolderCheck, merged
from localarc.service.workers.layout import FILE_NAME, store_folders


def backup(data: Path, target: Path, allow_damage: bool = False) -> FolderCheck:
    """Copy a data folder to a new one, which appears complete and checked, or not at all.

    Each worker's folder is copied as of a moment of its own: no stream is in two of them.
    """
    folders = store_folders(data)
    if folders == [data]:
        return backup_one(data, target, allow_damage)
    if target.exists():
        raise ValueError(f"{target} exists: choose another name for the backup.")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    partial.mkdir(mode=0o700)
    try:
        found = [backup_one(each, partial / each.name, allow_damage) for each in folders]
        shutil.copy(data / FILE_NAME, partial / FILE_NAME)
        _sync(partial / FILE_NAME, partial)
        partial.rename(target)
        _sync(target.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return merged(found)


def _sync(*paths: Path) -> None:
    """Wait until files and folders are on disk."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
